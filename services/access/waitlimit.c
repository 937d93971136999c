/* How many answers one client may be waiting for: wait-limit and related options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/waitlimit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/net/addr.h"

/* ---- rules ---- */

/* For clients without a cookie, or with one. */
struct table {
	uint32_t usual;
	struct netset *blocks;
	uint32_t *limits; /* what the values in `blocks` point to */
};

struct waitrules {
	bool off; /* wait-limit: 0 */
	struct table plain, proven;
};

static const char *const unlimited[] = { "127.0.0.0/8 -1", "::1/128 -1" };

static bool put_block(struct table *t, uint32_t *limit, const char *text, struct fault *f)
{
	size_t len = strcspn(text, " \t");
	long most = strtol(text + len, NULL, 10);
	char block[ADDR_TEXT];
	struct netblock n;

	if (len >= sizeof block) {
		fault_set(f, "'%s' is no netblock", text);
		return false;
	}
	memcpy(block, text, len);
	block[len] = '\0';
	if (!netblock_parse(&n, block, f))
		return false;
	*limit = most < 0 ? WAIT_ANY : (uint32_t)MIN(most, (long)INT32_MAX);
	netset_put(t->blocks, &n, limit);
	return true;
}

/* Configured loopback entries are put after the built-in ones, and override them. */
static bool read_table(struct table *t, uint32_t usual, const struct conf_list *list,
		       const char *option, struct fault *f)
{
	struct fault why = { 0 };
	bool ok = true;

	t->usual = usual ? usual : WAIT_ANY;
	t->blocks = netset_new();
	t->limits = mem_array(COUNT(unlimited) + list->count, sizeof *t->limits);
	for (size_t i = 0; i < COUNT(unlimited); i++)
		ok = ok && put_block(t, &t->limits[i], unlimited[i], &why);
	for (size_t i = 0; i < list->count; i++)
		ok = ok && put_block(t, &t->limits[COUNT(unlimited) + i], list->items[i].text, &why);
	if (!ok)
		fault_set(f, "%s: %s", option, why.text);
	return ok;
}

struct waitrules *waitrules_new(const struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;
	struct waitrules *r = mem_zero(sizeof *r);

	r->off = s->wait_limit == 0;
	if (read_table(&r->plain, s->wait_limit, &s->wait_limit_netblock, "wait-limit-netblock", f) &&
	    read_table(&r->proven, s->wait_limit_cookie, &s->wait_limit_cookie_netblock,
		       "wait-limit-cookie-netblock", f))
		return r;
	waitrules_free(r);
	return NULL;
}

static void table_clear(struct table *t)
{
	if (t->blocks)
		netset_free(t->blocks);
	mem_free(t->limits);
}

void waitrules_free(struct waitrules *r)
{
	if (!r)
		return;
	table_clear(&r->plain);
	table_clear(&r->proven);
	mem_free(r);
}

uint32_t waitrules_limit(const struct waitrules *r, const struct addr *client, bool has_cookie)
{
	const struct table *t = has_cookie ? &r->proven : &r->plain;
	const uint32_t *limit;

	if (r->off)
		return WAIT_ANY;
	limit = netset_find(t->blocks, client);
	return limit ? *limit : t->usual;
}

/* ---- counts ---- */

enum { PARTS = 16, CHAINS = 64, KEY = 9 };

struct waiting_client {
	struct waiting_client *next;
	unsigned count;
	uint64_t burst_us; /* when `burst` was computed */
	uint64_t burst;    /* bytes of late answers not yet drained */
	uint8_t key[KEY];
};

/* Partitioned, so that threads rarely contend. */
struct part {
	pthread_mutex_t lock; /* guards `chains` and their entries */
	struct waiting_client *chains[CHAINS];
};

struct waits {
	struct part parts[PARTS];
};

struct waits *waits_new(void)
{
	struct waits *w = mem_zero(sizeof *w);

	for (unsigned i = 0; i < PARTS; i++)
		pthread_mutex_init(&w->parts[i].lock, NULL);
	return w;
}

void waits_free(struct waits *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < PARTS; i++) {
		for (unsigned k = 0; k < CHAINS; k++)
			PROMISE(w->parts[i].chains[k] == NULL);
		pthread_mutex_destroy(&w->parts[i].lock);
	}
	mem_free(w);
}

struct spot {
	struct part *part;
	struct waiting_client **chain;
	uint8_t key[KEY];
};

static void find_spot(struct waits *w, const struct addr *client, struct spot *s)
{
	uint64_t hash;

	s->key[0] = client->family;
	memcpy(s->key + 1, client->ip, 8); /* of which IPv4 has four, and zeros */
	hash = hash_bytes(s->key, sizeof s->key);
	s->part = &w->parts[hash % PARTS];
	s->chain = &s->part->chains[hash / PARTS % CHAINS];
}

/* Under the lock: the link to the client's entry, or where it would be added. */
static struct waiting_client **client_at(const struct spot *s)
{
	struct waiting_client **at = s->chain;

	while (*at && memcmp((*at)->key, s->key, sizeof s->key) != 0)
		at = &(*at)->next;
	return at;
}

bool waits_begin(struct waits *w, const struct addr *client, uint32_t most)
{
	struct waiting_client **at;
	bool is_admitted;
	struct spot s;

	find_spot(w, client, &s);
	pthread_mutex_lock(&s.part->lock);
	at = client_at(&s);
	is_admitted = (*at ? (*at)->count : 0) < most;
	if (is_admitted && !*at) {
		*at = mem_zero(sizeof **at);
		memcpy((*at)->key, s.key, sizeof s.key);
	}
	if (is_admitted)
		(*at)->count++;
	pthread_mutex_unlock(&s.part->lock);
	return is_admitted;
}

void waits_end(struct waits *w, const struct addr *client)
{
	struct waiting_client **at, *one;
	struct spot s;

	find_spot(w, client, &s);
	pthread_mutex_lock(&s.part->lock);
	at = client_at(&s);
	one = *at;
	PROMISE(one != NULL);
	if (--one->count == 0) {
		*at = one->next;
		mem_free(one);
	}
	pthread_mutex_unlock(&s.part->lock);
}

bool waits_may_send(struct waits *w, const struct addr *client, size_t len, uint64_t now_us)
{
	struct waiting_client *one;
	uint64_t drained;
	bool may;
	struct spot s;

	find_spot(w, client, &s);
	pthread_mutex_lock(&s.part->lock);
	one = *client_at(&s);
	PROMISE(one != NULL);
	/* Workers' clocks may differ by a turn. */
	drained = now_us > one->burst_us ? (now_us - one->burst_us) * WAITS_PER_MS / US_PER_MS : 0;
	if (drained) {
		one->burst -= MIN(drained, one->burst);
		one->burst_us = now_us;
	}
	may = one->burst + len <= WAITS_BURST;
	if (may)
		one->burst += len;
	pthread_mutex_unlock(&s.part->lock);
	return may;
}

unsigned waits_count(struct waits *w, const struct addr *client)
{
	const struct waiting_client *one;
	unsigned count;
	struct spot s;

	find_spot(w, client, &s);
	pthread_mutex_lock(&s.part->lock);
	one = *client_at(&s);
	count = one ? one->count : 0;
	pthread_mutex_unlock(&s.part->lock);
	return count;
}
