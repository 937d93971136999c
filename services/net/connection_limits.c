/* Limits on concurrent client connections: tcp-connection-limit per netblock,
 * tcp-connections-per-client per client; and proxies that may ask for others: proxy-protocol-from.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/connection_limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/net/addr.h"

enum { CHAINS = 1024, CLIENT_KEY = 9 };

struct connection_limit {
	unsigned most;
	_Atomic unsigned now;
};

struct connclient {
	struct connclient *next;
	unsigned now;
	uint8_t key[CLIENT_KEY];
};

struct connection_limits {
	_Atomic unsigned pins;
	struct netset *blocks; /* struct connection_limit */
	struct connection_limit *items;
	struct netset *proxies; /* proxy-protocol-from; NULL: any */
	bool limits_blocks;
	unsigned per_client; /* 0: no limit */
	pthread_mutex_t lock;
	struct connclient *clients[CHAINS]; /* under the lock */
};

/* "192.0.2.0/24 8"; the shape was checked with the option. */
static bool read_item(struct connection_limits *l, struct connection_limit *to, const char *text, struct fault *f)
{
	char block[ADDR_TEXT];
	size_t len = strcspn(text, " \t");
	struct fault why = { 0 };
	struct netblock n;

	to->most = (unsigned)strtoul(text + len, NULL, 10);
	if (len >= sizeof block) {
		fault_set(f, "tcp-connection-limit: '%s' is no netblock", text);
		return false;
	}
	memcpy(block, text, len);
	block[len] = '\0';
	if (!netblock_parse(&n, block, &why)) {
		fault_set(f, "tcp-connection-limit: %s", why.text);
		return false;
	}
	netset_put(l->blocks, &n, to);
	return true;
}

static bool read_proxies(struct connection_limits *l, const struct conf_list *list, struct fault *f)
{
	static char listed; /* any value but NULL */

	if (list->count)
		l->proxies = netset_new();
	for (size_t i = 0; i < list->count; i++) {
		struct fault why = { 0 };
		struct netblock n;

		if (!netblock_parse(&n, list->items[i].text, &why)) {
			fault_set(f, "proxy-protocol-from: %s", why.text);
			return false;
		}
		netset_put(l->proxies, &n, &listed);
	}
	return true;
}

bool connection_limits_may_speak_for(const struct connection_limits *l, const struct addr *proxy)
{
	return !l->proxies || netset_find(l->proxies, proxy);
}

struct connection_limits *connection_limits_new(const struct conf *conf, struct fault *f)
{
	const struct conf_list *list = &conf->server.tcp_connection_limit;
	struct connection_limits *l = mem_zero(sizeof *l);

	atomic_init(&l->pins, 1);
	pthread_mutex_init(&l->lock, NULL);
	l->per_client = conf->server.tcp_connections_per_client;
	l->limits_blocks = list->count != 0;
	l->blocks = netset_new();
	l->items = mem_array(list->count + 1, sizeof *l->items);
	for (size_t i = 0; i < list->count; i++) {
		if (!read_item(l, &l->items[i], list->items[i].text, f)) {
			connection_limits_unpin(l);
			return NULL;
		}
	}
	if (!read_proxies(l, &conf->server.proxy_protocol_from, f)) {
		connection_limits_unpin(l);
		return NULL;
	}
	return l;
}

struct connection_limits *connection_limits_pin(struct connection_limits *l)
{
	atomic_fetch_add_explicit(&l->pins, 1, memory_order_relaxed);
	return l;
}

void connection_limits_unpin(struct connection_limits *l)
{
	if (!l || atomic_fetch_sub_explicit(&l->pins, 1, memory_order_acq_rel) != 1)
		return;
	netset_free(l->blocks);
	netset_free(l->proxies);
	pthread_mutex_destroy(&l->lock);
	mem_free(l->items);
	mem_free(l);
}

void connection_limits_exchange(struct connection_limits **here, struct connection_limits *l)
{
	struct connection_limits *old = *here;

	*here = l ? connection_limits_pin(l) : NULL;
	connection_limits_unpin(old);
}

/* ---- one client ---- */

/* An IPv6 client is its /64, within which it may choose addresses freely. */
static void key_of(const struct addr *client, uint8_t key[CLIENT_KEY])
{
	key[0] = client->family;
	memcpy(key + 1, client->ip, 8); /* of which IPv4 has four, and zeros */
}

static struct connclient **client_at(struct connection_limits *l, const uint8_t key[CLIENT_KEY])
{
	struct connclient **at = &l->clients[hash_bytes(key, CLIENT_KEY) % CHAINS];

	while (*at && memcmp((*at)->key, key, sizeof (*at)->key) != 0)
		at = &(*at)->next;
	return at;
}

static bool admit_client(struct connection_limits *l, const struct addr *client, struct connclient **place)
{
	uint8_t key[CLIENT_KEY];
	struct connclient **at, *one;
	bool is_admitted;

	key_of(client, key);
	pthread_mutex_lock(&l->lock);
	at = client_at(l, key);
	if (!*at) {
		*at = mem_zero(sizeof **at);
		memcpy((*at)->key, key, sizeof (*at)->key);
	}
	one = *at;
	is_admitted = one->now < l->per_client;
	one->now += is_admitted;
	pthread_mutex_unlock(&l->lock);
	*place = is_admitted ? one : NULL;
	return is_admitted;
}

static void client_left(struct connection_limits *l, struct connclient *one)
{
	struct connclient **at;

	pthread_mutex_lock(&l->lock);
	if (--one->now == 0) {
		at = client_at(l, one->key);
		*at = one->next;
		mem_free(one);
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- admission ---- */

static bool admit_block(struct connection_limits *l, const struct addr *client, struct connection_limit **place)
{
	struct connection_limit *one = netset_find(l->blocks, client);

	if (!one)
		return true;
	if (atomic_fetch_add_explicit(&one->now, 1, memory_order_relaxed) >= one->most) {
		atomic_fetch_sub_explicit(&one->now, 1, memory_order_relaxed);
		return false;
	}
	*place = one;
	return true;
}

bool connection_limits_admit(struct connection_limits *l, const struct addr *client, struct connection_slot *place)
{
	bool is_admitted;

	*place = (struct connection_slot){ 0 };
	if (!l->limits_blocks && l->per_client == 0)
		return true;
	place->home = connection_limits_pin(l);
	is_admitted = admit_block(l, client, &place->block) &&
		      (l->per_client == 0 || admit_client(l, client, &place->client));
	if (!is_admitted)
		connection_slot_give_back(place);
	return is_admitted;
}

void connection_slot_give_back(struct connection_slot *place)
{
	if (place->block)
		atomic_fetch_sub_explicit(&place->block->now, 1, memory_order_relaxed);
	if (place->client)
		client_left(place->home, place->client);
	connection_limits_unpin(place->home);
	*place = (struct connection_slot){ 0 };
}
