/* The messages a worker receives and sends, reported to dnstap.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dnstap/tap.h"

#include <time.h>
#include <unistd.h>

#include "util/base/msgring.h"
#include "services/net/client.h"
#include "util/base/random.h"
#include "util/conf/options.h"

/* ---- selection ---- */

static unsigned kinds_of(const struct conf_dnstap *c)
{
	const struct {
		bool wanted;
		enum tap_kind kind;
	} rows[] = {
		{ c->dnstap_log_resolver_query_messages, TAP_RESOLVER_QUERY },
		{ c->dnstap_log_resolver_response_messages, TAP_RESOLVER_RESPONSE },
		{ c->dnstap_log_client_query_messages, TAP_CLIENT_QUERY },
		{ c->dnstap_log_client_response_messages, TAP_CLIENT_RESPONSE },
		{ c->dnstap_log_forwarder_query_messages, TAP_FORWARDER_QUERY },
		{ c->dnstap_log_forwarder_response_messages, TAP_FORWARDER_RESPONSE },
	};
	unsigned kinds = 0;

	for (size_t i = 0; i < COUNT(rows); i++)
		kinds |= rows[i].wanted ? 1u << rows[i].kind : 0;
	return kinds;
}

static void make_face(struct tap *t, const struct conf_dnstap *c)
{
	char host[TAP_NAME_MOST + 1] = "";
	const char *identity = "", *version = "";

	if (c->dnstap_send_identity) {
		if (!*c->dnstap_identity && gethostname(host, sizeof host - 1) != 0)
			*host = '\0';
		identity = *c->dnstap_identity ? c->dnstap_identity : host;
	}
	if (c->dnstap_send_version)
		version = *c->dnstap_version ? c->dnstap_version : PACKAGE_STRING;
	tap_face_make(&t->face, identity, version);
}

void tap_adopt(struct tap *t, const struct conf *conf, struct msgring *queue,
	       struct random *random)
{
	const struct conf_dnstap *c = &conf->dnstap;

	t->queue = queue;
	t->random = random;
	t->kinds = queue && c->dnstap_enable ? kinds_of(c) : 0;
	t->one_of = MAX(c->dnstap_sample_rate, 1u);
	make_face(t, c);
}

/* ---- reporting ---- */

uint64_t tap_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* At random, not by counting: where queries and responses alternate, every second message would
 * always be a query. */
static bool is_chosen(const struct tap *t, enum tap_kind kind)
{
	return t->kinds & 1u << kind && (t->one_of == 1 || random_below(t->random, t->one_of) == 0);
}

static void tell(struct tap *t, const struct tap_message *m)
{
	size_t most = t->face.len + TAP_MESSAGE_MOST + m->wire.len;
	uint8_t *room = msgring_room(t->queue, most);
	struct writer w;

	if (!room)
		return;
	w = writer_over(room, most);
	tap_message_write(&w, &t->face, m);
	if (!w.bad)
		msgring_put(t->queue, writer_len(&w));
}

static enum tap_protocol protocol_of(const struct client_ops *ops)
{
	switch (client_transport(ops)) {
	case STAT_HTTPS:
		return TAP_DOH;
	case STAT_TLS:
		return TAP_DOT;
	case STAT_TCP:
		return TAP_TCP;
	default:
		return TAP_UDP;
	}
}

void tap_client_query(struct tap *t, struct client *c, const struct slice *wire)
{
	c->came_ns = tap_now_ns();
	if (is_chosen(t, TAP_CLIENT_QUERY))
		tell(t, &(struct tap_message){ .kind = TAP_CLIENT_QUERY,
					       .protocol = protocol_of(c->ops),
					       .asker = &c->from,
					       .asked = &c->reached,
					       .query_ns = c->came_ns,
					       .wire = *wire });
}

void tap_client_response(struct tap *t, const struct client *c, const uint8_t *wire, size_t len)
{
	if (is_chosen(t, TAP_CLIENT_RESPONSE))
		tell(t, &(struct tap_message){ .kind = TAP_CLIENT_RESPONSE,
					       .protocol = protocol_of(c->ops),
					       .asker = &c->from,
					       .asked = &c->reached,
					       .query_ns = c->came_ns,
					       .response_ns = tap_now_ns(),
					       .wire = { wire, len } });
}

static void tell_asking(struct tap *t, const struct tap_asking *a, enum tap_kind kind,
			const struct slice *wire)
{
	if (is_chosen(t, kind))
		tell(t, &(struct tap_message){ .kind = kind,
					       .protocol = a->protocol,
					       .asker = a->from,
					       .asked = a->server,
					       .query_ns = a->asked_ns,
					       .response_ns = tap_is_response(kind) ? tap_now_ns()
										    : 0,
					       .zone = a->zone,
					       .wire = *wire });
}

void tap_server_query(struct tap *t, const struct tap_asking *a, const struct slice *wire)
{
	tell_asking(t, a, a->forwarder ? TAP_FORWARDER_QUERY : TAP_RESOLVER_QUERY, wire);
}

void tap_server_response(struct tap *t, const struct tap_asking *a, const struct slice *wire)
{
	tell_asking(t, a, a->forwarder ? TAP_FORWARDER_RESPONSE : TAP_RESOLVER_RESPONSE, wire);
}
