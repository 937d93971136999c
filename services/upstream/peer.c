/* Servers queried over TLS or HTTPS: statistics of each, and which to avoid for a while.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/peer.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"

enum {
	BUCKETS = 64,
	PEERS_MOST = 1024,  /* above this, unreferenced ones are forgotten */
	HOLD_S = 2,         /* after a bad certificate */
	TELL_S = 60,        /* between two log lines about one server */
	GIVE_S = 60,        /* how long it is remembered that a server closed early */
	FULFILLED_MUCH = 8, /* connections answered in full before the next may carry more */
};

struct peers {
	struct list all;
	unsigned count;
	struct peer *buckets[BUCKETS];
};

struct peers *peers_new(void)
{
	struct peers *p = mem_zero(sizeof *p);

	list_init(&p->all);
	return p;
}

static struct peer **bucket_of(struct peers *p, const struct addr *at)
{
	return &p->buckets[addr_hash(at) % BUCKETS];
}

static void forget(struct peers *p, struct peer *peer)
{
	struct peer **at = bucket_of(p, &peer->at);

	while (*at != peer)
		at = &(*at)->bucket_next;
	*at = peer->bucket_next;
	list_remove(&peer->link);
	p->count--;
	mem_free(peer->name);
	mem_free(peer->path);
	mem_free(peer);
}

static void make_room(struct peers *p)
{
	LIST_EACH_SAFE (at, &p->all) {
		struct peer *peer = LIST_ITEM(at, struct peer, link);

		if (p->count < PEERS_MOST)
			return;
		if (!peer->refs)
			forget(p, peer);
	}
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

struct peer *peers_get(struct peers *p, const struct addr *at, const char *name, const char *path)
{
	struct peer *peer = *bucket_of(p, at);

	while (peer && !(addr_equals(&peer->at, at) && is_same_text(peer->name, name) &&
			 is_same_text(peer->path, path)))
		peer = peer->bucket_next;
	if (!peer) {
		make_room(p);
		peer = mem_zero(sizeof *peer);
		peer->at = *at;
		peer->name = name ? mem_text(name) : NULL;
		peer->path = path ? mem_text(path) : NULL;
		addr_print(at, 0, peer->place);
		peer->bucket_next = *bucket_of(p, at);
		*bucket_of(p, at) = peer;
		list_init(&peer->link);
		p->count++;
	}
	list_remove(&peer->link);
	list_push_back(&p->all, &peer->link);
	peer->refs++;
	return peer;
}

void peer_drop(struct peer *peer)
{
	if (!peer)
		return;
	PROMISE(peer->refs > 0);
	peer->refs--;
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	LIST_EACH_SAFE (at, &p->all)
		forget(p, LIST_ITEM(at, struct peer, link));
	mem_free(p);
}

void peer_shaken(struct peer *peer, bool resumed)
{
	peer->handshakes++;
	peer->resumed += resumed;
	peer->why[0] = '\0';
	peer->held_until_us = 0;
}

void peer_answered(struct peer *peer, uint64_t took_us)
{
	uint32_t us = (uint32_t)MIN(took_us, (uint64_t)UINT32_MAX / 8);

	peer->answers++;
	peer->why[0] = '\0';
	peer->rtt_us = peer->rtt_us ? (peer->rtt_us * 7 + us) / 8 : us;
}

const char *peer_print(const struct peer *peer, char to[PEER_TEXT])
{
	snprintf(to, PEER_TEXT, "%s%s%s%s", peer->place, peer->name ? "#" : "",
		 peer->name ? peer->name : "", peer->path ? peer->path : "");
	return to;
}

/* Counts a failure; true if it is time to log it again. */
static bool note(struct peer *peer, const char *why, uint64_t now_us)
{
	peer->failures++;
	if (why != peer->why)
		snprintf(peer->why, sizeof peer->why, "%s", why);
	if (peer->told && now_us - peer->told_us < TELL_S * US_PER_S)
		return false;
	peer->told = true;
	peer->told_us = now_us;
	return true;
}

void peer_failed(struct peer *peer, const char *why, bool untrusted, uint64_t now_us)
{
	char who[PEER_TEXT];

	if (untrusted)
		peer->held_until_us = now_us + HOLD_S * US_PER_S;
	if (note(peer, why, now_us))
		log_rare_of("warning", upstream_failure,
			    LOG_FACTS(LOG_TEXT(server, peer_print(peer, who)),
				      LOG_TEXT(transport, peer->path ? "https" : "tls"), LOG_TEXT(reason, peer->why)),
			    "no %s with %s: %s%s", peer->path ? "HTTPS" : "TLS", who, peer->why,
			    untrusted ? " (no query sent, and no fallback to cleartext)" : "");
}

void peer_refused(struct peer *peer, const char *why, uint64_t now_us)
{
	char who[PEER_TEXT];

	if (note(peer, why, now_us))
		log_rare_of("warning", upstream_failure,
			    LOG_FACTS(LOG_TEXT(server, peer_print(peer, who)),
				      LOG_TEXT(transport, peer->path ? "https" : "tls"), LOG_TEXT(reason, peer->why)),
			    "no answer from %s: %s", who, peer->why);
}

static bool has_lost_lately(const struct peer *peer, uint64_t now_us)
{
	return peer->gave_us && peer->gave_us + GIVE_S * US_PER_S > now_us;
}

void peer_lost(struct peer *peer, unsigned answers, uint64_t now_us)
{
	peer->losses++;
	peer->fulfilled = 0;
	/* once may be an accident; twice is a habit */
	peer->carries = has_lost_lately(peer, now_us)
				? MAX(MAX(answers, peer->gave), MAX(peer->carries / 2, 1u))
				: 0;
	peer->gave = answers;
	peer->gave_us = now_us;
}

void peer_fulfilled(struct peer *peer)
{
	if (!peer->carries || ++peer->fulfilled < FULFILLED_MUCH)
		return;
	peer->fulfilled = 0;
	peer->carries = MIN(peer->carries, UINT_MAX / 2) * 2;
}

unsigned peer_carries(const struct peer *peer, uint64_t now_us)
{
	return peer->carries && has_lost_lately(peer, now_us) ? peer->carries : UINT_MAX;
}

bool peer_is_held(const struct peer *peer, uint64_t now_us)
{
	return peer->held_until_us > now_us;
}

void peers_each(const struct peers *p, void (*fn)(const struct peer *peer, void *arg), void *arg)
{
	LIST_EACH (at, &p->all)
		fn(LIST_ITEM(at, struct peer, link), arg);
}
