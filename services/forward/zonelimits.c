/* Limits on queries to the servers of a zone: ratelimit and its exceptions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/zonelimits.h"

#include <stdlib.h>
#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/names/trie.h"

struct zonelimits {
	uint32_t usual;
	struct trie *exact, *below; /* values: uint32_t, each allocated */
};

/* "DOMAIN NUMBER" */
static bool read_one(struct trie *to, const char *option, const char *item, struct fault *f)
{
	char name[DNAME_TEXT];
	uint8_t wire[DNAME_MAX];
	size_t len = strcspn(item, " ");
	uint32_t *limit;

	if (len == 0 || len >= sizeof(name) || !item[len]) {
		fault_set(f, "%s: '%s' is not a domain and a number", option, item);
		return false;
	}
	memcpy(name, item, len);
	name[len] = '\0';
	if (!dname_parse(wire, name, f))
		return false;
	limit = mem_new(sizeof(*limit));
	*limit = (uint32_t)strtoul(item + len, NULL, 10);
	mem_free(trie_put(to, wire, limit));
	return true;
}

static bool read_list(struct trie *to, const char *option, const struct conf_list *list,
		      struct fault *f)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!read_one(to, option, list->items[i].text, f))
			return false;
	}
	return true;
}

struct zonelimits *zonelimits_new(const struct conf *conf, struct fault *f)
{
	const struct conf_server *c = &conf->server;
	struct zonelimits *z = mem_zero(sizeof(*z));

	z->usual = c->ratelimit;
	z->exact = trie_new();
	z->below = trie_new();
	if (read_list(z->exact, "ratelimit-for-domain", &c->ratelimit_for_domain, f) &&
	    read_list(z->below, "ratelimit-below-domain", &c->ratelimit_below_domain, f))
		return z;
	zonelimits_free(z);
	return NULL;
}

void zonelimits_free(struct zonelimits *z)
{
	if (!z)
		return;
	trie_free(z->exact, mem_free);
	trie_free(z->below, mem_free);
	mem_free(z);
}

bool zonelimits_exist(const struct zonelimits *z)
{
	return z->usual || trie_count(z->exact) || trie_count(z->below);
}

uint32_t zonelimits_get(const struct zonelimits *z, const uint8_t *zone)
{
	const uint32_t *limit = trie_find(z->exact, zone);

	if (!limit)
		limit = trie_find_above(z->below, zone);
	return limit ? *limit : z->usual;
}
