/* Log lines for each query and each response: log-queries, log-replies, log-servfail.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/querylog.h"

#include <inttypes.h>
#include <stdio.h>

#include "services/net/client.h"
#include "util/base/log.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

struct asked_text {
	char from[ADDR_TEXT], name[DNAME_TEXT], type[16], class_[16];
	const char *type_at, *class_at;
};

static void print_asked(struct asked_text *t, const struct client *c, const struct question *q)
{
	struct addr from = c->from;

	from.port = 0;
	addr_print(&from, 0, t->from);
	if (q->name_len == 0) {
		snprintf(t->name, sizeof t->name, "null");
		t->type_at = "TYPE0";
		t->class_at = "CLASS0";
		return;
	}
	dname_print(q->name, t->name);
	t->type_at = rr_type_name(q->type, t->type);
	t->class_at = rr_class_name(q->class_, t->class_);
}

void querylog_question(const struct conf_server *s, const struct client *c,
		       const struct question *q)
{
	struct asked_text t;

	print_asked(&t, c, q);
	log_line(s->log_tag_queryreply ? "query" : "info", "%s %s %s %s", t.from, t.name, t.type_at,
		 t.class_at);
}

/* log-destaddr: " on udp 192.0.2.53 53". */
static const char *destination(const struct conf_server *s, const struct client *c, char *buf,
			       size_t room)
{
	static const char *const ways[STAT_TRANSPORTS] = {
		[STAT_UDP] = "udp", [STAT_TCP] = "tcp", [STAT_TLS] = "dot", [STAT_HTTPS] = "doh"
	};
	struct addr at = c->reached;
	char text[ADDR_TEXT];

	*buf = '\0';
	if (!s->log_destaddr)
		return buf;
	at.port = 0;
	if (at.family)
		snprintf(buf, room, " on %s %s %u", ways[client_transport(c->ops)],
			 addr_print(&at, 0, text), (unsigned)c->reached.port);
	else
		snprintf(buf, room, " on %s", ways[client_transport(c->ops)]);
	return buf;
}

void querylog_answer(const struct conf_server *s, const struct client *c,
		     const struct querylog_answer *a)
{
	struct asked_text t;
	char rcode[16], on[ADDR_TEXT + 24];

	print_asked(&t, c, a->q);
	log_line(s->log_tag_queryreply ? "reply" : "info",
		 "%s %s %s %s %s %" PRIu64 ".%06" PRIu64 " %d %zu%s", t.from, t.name, t.type_at,
		 t.class_at, rr_rcode_name(a->rcode, rcode), a->took_us / US_PER_S,
		 a->took_us % US_PER_S, a->cached, a->len,
		 destination(s, c, on, sizeof on));
}

void querylog_failure(const struct question *q, enum reason reason, const char *text)
{
	char name[DNAME_TEXT], type[16], class_[16];

	log_line("error", "SERVFAIL <%s %s %s>: %s%s%s", dname_print(q->name, name),
		 rr_type_name(q->type, type), rr_class_name(q->class_, class_), reason_text(reason),
		 text ? ": " : "", text ? text : "");
}

void querylog_address(const char *block, const char *action, const struct client *c,
		      const struct question *q)
{
	struct asked_text t;

	print_asked(&t, c, q);
	log_line("info", "%s %s %s@%u %s %s %s", block, action, t.from, (unsigned)c->from.port,
		 t.name, t.type_at, t.class_at);
}

void querylog_local(const uint8_t *zone, const char *action, const struct client *c,
		    const struct question *q)
{
	uint8_t lower[DNAME_MAX];
	char text[DNAME_TEXT];

	dname_copy_lower(lower, zone);
	querylog_address(dname_print(lower, text), action, c, q);
}

void querylog_policy(const char *label, const char *trigger, const char *action,
		     const struct client *c, const struct question *q)
{
	struct asked_text t;

	print_asked(&t, c, q);
	log_line("info", "rpz: applied %s%s%s%s rpz-%s %s@%u %s %s %s", *label ? "[" : "", label,
		 *label ? "] " : "", trigger, action, t.from, (unsigned)c->from.port, t.name,
		 t.type_at, t.class_at);
}
