/* What is recorded of each client query.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/recorder.h"

#include <string.h>

#include "services/history/report.h"
#include "services/net/client.h"
#include "util/base/mem.h"
#include "util/base/msgring.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

#define CLIENT_KEY 17 /* address family, address */

/* ---- configuration ---- */

static void set_privacy(struct recorder *w, const struct conf_server *c)
{
	const char *word = c->client_privacy;

	w->client_bits[0] = 32;
	w->client_bits[1] = 128;
	if (strcmp(word, "network") == 0) {
		w->client_bits[0] = 24;
		w->client_bits[1] = 56;
	} else if (strcmp(word, "hide") == 0) {
		w->client_bits[0] = w->client_bits[1] = 0;
	}
}

static void make_tops(struct recorder *w)
{
	for (unsigned i = 0; i < TOP_KINDS; i++) {
		toplist_free(w->top[i]);
		w->top[i] = NULL;
		if (w->counters && (i != TOP_CLIENTS || w->client_bits[0]))
			w->top[i] = toplist_new(w->counters,
						i == TOP_CLIENTS ? CLIENT_KEY : DNAME_MAX);
	}
}

static void free_but_ring(struct recorder *w)
{
	for (unsigned i = 0; w && i < TOP_KINDS; i++)
		toplist_free(w->top[i]);
	mem_free(w);
}

struct recorder *recorder_renew(struct recorder *old, const struct conf_server *c,
				struct msgring *reports)
{
	size_t entries = c->query_ring ? MAX(c->query_ring / c->num_threads, (uint64_t)1) : 0;
	unsigned char bits[2] = { old ? old->client_bits[0] : 0, old ? old->client_bits[1] : 0 };
	struct recorder *w = old;
	bool other_privacy; /* client addresses are kept to another length */

	if (!entries && !c->top_lists && !reports) {
		free_but_ring(old);
		return NULL;
	}
	if (!w)
		w = mem_zero(sizeof(*w));
	w->reports = reports;
	set_privacy(w, c);
	/* What was recorded with other settings is discarded. */
	other_privacy = old && (bits[0] != w->client_bits[0] || bits[1] != w->client_bits[1]);
	if (w->entries != entries || other_privacy) {
		w->ring = entries ? queryring_new(entries) : NULL;
		w->entries = entries;
	}
	if (w->counters != c->top_lists || other_privacy) {
		w->counters = (unsigned)c->top_lists;
		make_tops(w);
	}
	return w;
}

void recorder_free(struct recorder *w)
{
	if (!w)
		return;
	queryring_retire(w->ring);
	free_but_ring(w);
}

/* ---- recording ---- */

static const struct addr nobody;

static struct addr client_kept(const struct recorder *w, const struct addr *from)
{
	struct addr a = { .family = from->family };
	unsigned bits = w->client_bits[a.family == 6], bytes = bits / 8;

	if (!bits || !from->family)
		return nobody;
	memcpy(a.ip, from->ip, bytes);
	return a;
}

static enum seen_how how_of(const struct recorder *w, const struct record *t)
{
	switch (w->decision.how) {
	case DECIDED_HERE:
		return SEEN_local;
	case DECIDED_BLOCKED:
		return SEEN_blocked;
	case DECIDED_EXPIRED:
		return SEEN_expired;
	default:
		return t->how;
	}
}

static void count_tops(struct recorder *w, const struct question *q, const struct addr *client,
		       bool blocked)
{
	uint8_t lower[DNAME_MAX], key[CLIENT_KEY];

	key[0] = client->family;
	dname_copy_lower(lower, q->name);
	toplist_count(w->top[TOP_NAMES], lower, q->name_len);
	if (blocked)
		toplist_count(w->top[TOP_BLOCKED], lower, q->name_len);
	if (!w->top[TOP_CLIENTS] || !client->family)
		return;
	memcpy(key + 1, client->ip, 16);
	toplist_count(w->top[TOP_CLIENTS], key, client->family == 4 ? 5 : 17);
}

static void put(struct recorder *w, const struct timebase *now, const struct record *t,
		const struct addr *client, enum seen_how how)
{
	enum reason reason = t->reason ? t->reason : w->decision.reason;
	const char *text = *w->decision.what ? w->decision.what : t->text;

	queryring_put(w->ring, &(struct seen){
		.at_us = now->now_us - t->took_us,
		.took_us = t->took_us,
		.client = *client,
		.server = t->server ? *t->server : nobody,
		.name = t->q->name,
		.name_len = t->q->name_len,
		.type = t->q->type,
		.class_ = t->q->class_,
		.how = (uint8_t)how,
		.rcode = (uint8_t)(t->rcode < 0 ? SEEN_NO_ANSWER : t->rcode),
		.transport = (uint8_t)client_transport(t->client->ops),
		.reason = (uint8_t)reason,
		.text = text,
	});
}

static void report(struct recorder *w, const struct timebase *now, const struct record *t,
		   const struct addr *client, enum seen_how how)
{
	struct report r;
	uint8_t *room = msgring_room(w->reports, REPORT_BYTES);

	if (!room)
		return;
	r = (struct report){
		.at_s = now->wall_s - (int64_t)(t->took_us / US_PER_S),
		.took_ms = (uint32_t)MIN((t->took_us + US_PER_MS / 2) / US_PER_MS, UINT32_MAX),
		.ttl_s = report_ttl(t->answer.at, t->answer.len),
		.client = *client,
		.type = t->q->type,
		.how = (uint8_t)how,
		.rcode = (uint8_t)(t->rcode < 0 ? SEEN_NO_ANSWER : t->rcode),
		.security = t->security,
	};
	memcpy(r.policy, w->decision.policy, sizeof r.policy);
	memcpy(r.list, w->decision.list, sizeof r.list);
	memcpy(r.name, t->q->name, t->q->name_len);
	msgring_put(w->reports, report_pack(&r, room));
}

void recorder_note(struct recorder *w, const struct timebase *now, const struct record *t)
{
	struct addr client = client_kept(w, &t->client->from);
	enum seen_how how = how_of(w, t);

	if (t->q->name_len) {
		if (w->counters)
			count_tops(w, t->q, &client, how == SEEN_blocked);
		if (w->ring)
			put(w, now, t, &client, how);
		if (w->reports)
			report(w, now, t, &client, how);
	}
	decision_clear(&w->decision);
}

const char *recorder_client_text(const struct toprow *row, char buf[ADDR_TEXT])
{
	struct addr a = { .family = row->len ? row->key[0] : 0 };

	memcpy(a.ip, row->key + 1, row->len - 1u);
	return addr_print(&a, 0, buf);
}
