/* How many connections the clients of a netblock may have at once: tcp-connection-limit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/connlimit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/addr.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"

struct connlimit {
	struct connlimits *home;
	unsigned most;
	_Atomic unsigned now;
};

struct connlimits {
	_Atomic unsigned pins;
	struct netset *blocks; /* struct connlimit */
	struct connlimit *items;
};

/* "192.0.2.0/24 8": the option's check has seen to the shape. */
static bool read_item(struct connlimits *l, struct connlimit *to, const char *text, struct fault *f)
{
	char block[ADDR_TEXT];
	size_t len = strcspn(text, " \t");
	struct fault why = { 0 };
	struct netblock n;

	to->home = l;
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

struct connlimits *connlimits_new(const struct conf *conf, struct fault *f)
{
	const struct conf_list *list = &conf->server.tcp_connection_limit;
	struct connlimits *l = mem_zero(sizeof *l);

	atomic_init(&l->pins, 1);
	l->blocks = netset_new();
	l->items = mem_array(list->count + 1, sizeof *l->items);
	for (size_t i = 0; i < list->count; i++) {
		if (!read_item(l, &l->items[i], list->items[i].text, f)) {
			connlimits_unpin(l);
			return NULL;
		}
	}
	return l;
}

struct connlimits *connlimits_pin(struct connlimits *l)
{
	atomic_fetch_add_explicit(&l->pins, 1, memory_order_relaxed);
	return l;
}

void connlimits_unpin(struct connlimits *l)
{
	if (!l || atomic_fetch_sub_explicit(&l->pins, 1, memory_order_acq_rel) != 1)
		return;
	netset_free(l->blocks);
	mem_free(l->items);
	mem_free(l);
}

bool connlimits_admit(struct connlimits *l, const struct addr *client, struct connlimit **place)
{
	struct connlimit *one = netset_find(l->blocks, client);

	*place = NULL;
	if (!one)
		return true;
	if (atomic_fetch_add_explicit(&one->now, 1, memory_order_relaxed) >= one->most) {
		atomic_fetch_sub_explicit(&one->now, 1, memory_order_relaxed);
		return false;
	}
	connlimits_pin(l);
	*place = one;
	return true;
}

void connlimit_give_back(struct connlimit *place)
{
	if (!place)
		return;
	atomic_fetch_sub_explicit(&place->now, 1, memory_order_relaxed);
	connlimits_unpin(place->home);
}
