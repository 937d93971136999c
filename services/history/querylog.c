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

/* The parts that all these lines have. */
#define ASKED(t, c)                                                                           \
	LOG_TEXT(client, (t)->from), LOG_COUNT(port, (c)->from.port), LOG_TEXT(name, (t)->name), \
		LOG_TEXT(type, (t)->type_at), LOG_TEXT(class, (t)->class_at)

void querylog_question(const struct conf_server *s, const struct client *c,
		       const struct question *q)
{
	struct asked_text t;

	print_asked(&t, c, q);
	log_line_of(s->log_tag_queryreply ? "query" : "info", query, LOG_FACTS(ASKED(&t, c)),
		    "%s %s %s %s", t.from, t.name, t.type_at, t.class_at);
}

struct destination_text {
	const char *way, *at; /* NULL: not to be logged, or not known */
	char text[ADDR_TEXT], line[ADDR_TEXT + 24];
};

/* log-destaddr: " on udp 192.0.2.53 53". */
static void print_destination(struct destination_text *t, const struct conf_server *s, const struct client *c)
{
	static const char *const ways[STAT_TRANSPORTS] = {
		[STAT_UDP] = "udp", [STAT_TCP] = "tcp", [STAT_TLS] = "dot", [STAT_HTTPS] = "doh"
	};
	struct addr at = c->reached;

	t->way = t->at = NULL;
	t->line[0] = '\0';
	if (!s->log_destaddr)
		return;
	t->way = ways[client_transport(c->ops)];
	at.port = 0;
	if (at.family)
		t->at = addr_print(&at, 0, t->text);
	if (t->at)
		snprintf(t->line, sizeof t->line, " on %s %s %u", t->way, t->at, (unsigned)c->reached.port);
	else
		snprintf(t->line, sizeof t->line, " on %s", t->way);
}

void querylog_answer(const struct conf_server *s, const struct client *c,
		     const struct querylog_answer *a)
{
	struct destination_text on;
	struct asked_text t;
	char text[16];
	const char *rcode = rr_rcode_name(a->rcode, text);

	print_asked(&t, c, a->q);
	print_destination(&on, s, c);
	log_line_of(s->log_tag_queryreply ? "reply" : "info", reply,
		    LOG_FACTS(ASKED(&t, c), LOG_TEXT(rcode, rcode), LOG_COUNT(duration, a->took_us),
			      LOG_COUNT(cached, a->cached), LOG_COUNT(size, a->len), LOG_TEXT(transport, on.way),
			      LOG_TEXT(local_address, on.at),
			      { .member = on.at ? LOG_MEMBER_local_port : LOG_MEMBERS, .number = c->reached.port }),
		    "%s %s %s %s %s %" PRIu64 ".%06" PRIu64 " %d %zu%s", t.from, t.name, t.type_at, t.class_at, rcode,
		    a->took_us / US_PER_S, a->took_us % US_PER_S, a->cached, a->len, on.line);
}

void querylog_failure(const struct question *q, enum reason reason, const char *text)
{
	char name[DNAME_TEXT], type_text[16], class_text[16];
	const char *type = rr_type_name(q->type, type_text), *class_ = rr_class_name(q->class_, class_text);

	dname_print(q->name, name);
	log_line_of("error", servfail,
		    LOG_FACTS(LOG_TEXT(name, name), LOG_TEXT(type, type), LOG_TEXT(class, class_),
			      LOG_TEXT(reason, reason_text(reason)), LOG_TEXT(detail, text)),
		    "SERVFAIL <%s %s %s>: %s%s%s", name, type, class_, reason_text(reason), text ? ": " : "",
		    text ? text : "");
}

void querylog_address(const char *block, const char *action, const struct client *c,
		      const struct question *q)
{
	struct asked_text t;

	print_asked(&t, c, q);
	log_line_of("info", local_action,
		    LOG_FACTS(ASKED(&t, c), LOG_TEXT(zone, block), LOG_TEXT(action, action)),
		    "%s %s %s@%u %s %s %s", block, action, t.from, (unsigned)c->from.port, t.name, t.type_at, t.class_at);
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
	log_line_of("info", policy,
		    LOG_FACTS(ASKED(&t, c), LOG_TEXT(label, *label ? label : NULL), LOG_TEXT(trigger, trigger),
			      LOG_TEXT(action, action)),
		    "rpz: applied %s%s%s%s rpz-%s %s@%u %s %s %s", *label ? "[" : "", label, *label ? "] " : "", trigger,
		    action, t.from, (unsigned)c->from.port, t.name, t.type_at, t.class_at);
}

void querylog_client_rate(const struct client *c, const struct question *q, uint32_t limit)
{
	struct asked_text t;

	if (!log_on(LOG_OPS))
		return;
	print_asked(&t, c, q);
	log_line_of("info", ratelimit, LOG_FACTS(ASKED(&t, c), LOG_COUNT(limit, limit)),
		    "ip_ratelimit exceeded %s %" PRIu32 " %s %s %s", t.from, limit, t.name, t.type_at, t.class_at);
}

void querylog_zone_rate(const uint8_t *zone, const struct question *q, uint32_t limit)
{
	char name[DNAME_TEXT], zone_text[DNAME_TEXT], type_text[16], class_text[16];
	const char *type = rr_type_name(q->type, type_text), *class_ = rr_class_name(q->class_, class_text);

	log_ops_of(ratelimit,
		   LOG_FACTS(LOG_TEXT(zone, dname_print(zone, zone_text)), LOG_TEXT(name, dname_print(q->name, name)),
			     LOG_TEXT(type, type), LOG_TEXT(class, class_), LOG_COUNT(limit, limit)),
		   "ratelimit exceeded %s %" PRIu32 " query %s %s %s", zone_text, limit, name, type, class_);
}
