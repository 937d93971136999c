/* What all workers share: answers, RRsets, and what is known about other servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/caches.h"

#include <string.h>

#include "services/access/ratelimit.h"
#include "services/access/waitlimit.h"
#include "services/cache/aggressive.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cache/subnet_index.h"
#include "services/forward/subnets.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "validator/keycache.h"

/* `wanted` (0: one per thread) rounded up to a power of two, at most 256. */
static unsigned slabs_of(uint32_t wanted, uint32_t threads)
{
	unsigned slabs = 1;

	while (slabs < (wanted ? wanted : threads) && slabs < 256)
		slabs *= 2;
	return slabs;
}

static struct infra_how infra_how_of(const struct conf_server *s)
{
	struct infra_how how;

	memset(&how, 0, sizeof how);
	how.hosts = s->infra_cache_numhosts;
	how.slabs = slabs_of(s->infra_cache_slabs, s->num_threads);
	how.host_ttl_s = s->infra_host_ttl;
	how.min_rtt_ms = MIN(s->infra_cache_min_rtt, s->infra_cache_max_rtt);
	how.max_rtt_ms = s->infra_cache_max_rtt;
	how.keep_probing = s->infra_keep_probing;
	how.unknown_rtt_ms = s->unknown_server_time_limit;
	return how;
}

/* With serve-expired, an expired answer is still worth keeping (RFC 8767). */
static void keep_expired(struct caches *c, const struct conf_server *s)
{
	uint32_t grace_s = s->serve_expired_ttl ? s->serve_expired_ttl : SLAB_FOREVER;

	slab_keep_stale(msgcache_slab(c->messages), s->serve_expired ? grace_s : 0);
}

/* The answers themselves count against msg-cache-size; which clients they are for takes at most an
 * eighth of that on top. */
static size_t subnet_index_size(const struct conf_server *s)
{
	return (size_t)s->msg_cache_size / 8;
}

void caches_init(struct caches *c, const struct conf *conf)
{
	const struct conf_server *s = &conf->server;
	struct infra_how how = infra_how_of(s);

	c->messages = msgcache_new((size_t)s->msg_cache_size,
				   slabs_of(s->msg_cache_slabs, s->num_threads));
	c->rrsets = rrsetcache_new((size_t)s->rrset_cache_size,
				   slabs_of(s->rrset_cache_slabs, s->num_threads));
	c->infra = infra_new(&how);
	c->keys = keycache_new((size_t)s->key_cache_size, slabs_of(s->key_cache_slabs, s->num_threads));
	c->negative = aggressive_new((size_t)s->neg_cache_size, slabs_of(0, s->num_threads));
	c->client_rates = ratelimit_new((size_t)s->ip_ratelimit_size,
					slabs_of(s->ip_ratelimit_slabs, s->num_threads));
	c->zone_rates = ratelimit_new((size_t)s->ratelimit_size,
				      slabs_of(s->ratelimit_slabs, s->num_threads));
	c->waits = waits_new();
	c->subnet_index = subnets_configured(conf)
			    ? subnet_index_new(subnet_index_size(s), slabs_of(s->msg_cache_slabs, s->num_threads))
			    : NULL;
	keep_expired(c, s);
}

void caches_clear(struct caches *c)
{
	msgcache_free(c->messages);
	subnet_index_free(c->subnet_index);
	rrsetcache_free(c->rrsets);
	infra_free(c->infra);
	keycache_free(c->keys);
	aggressive_free(c->negative);
	ratelimit_free(c->client_rates);
	ratelimit_free(c->zone_rates);
	waits_free(c->waits);
	*c = (struct caches){ 0 };
}

void caches_leave(struct caches *c)
{
	static struct caches *volatile left; /* keeps them reachable for leak checkers */

	left = mem_copy(c, sizeof(*c));
	(void)left;
	*c = (struct caches){ 0 };
}

struct caches_gone caches_empty(const struct caches *c)
{
	return (struct caches_gone){ .answers = slab_sweep(msgcache_slab(c->messages), NULL, NULL),
				     .sets = slab_sweep(rrsetcache_slab(c->rrsets), NULL, NULL),
				     .denials = aggressive_forget(c->negative, dname_root) };
}

/* Member by member, since padding is indeterminate. */
static bool is_same_infra(const struct infra_how *a, const struct infra_how *b)
{
	return a->hosts == b->hosts && a->slabs == b->slabs && a->host_ttl_s == b->host_ttl_s &&
	       a->min_rtt_ms == b->min_rtt_ms && a->max_rtt_ms == b->max_rtt_ms && a->keep_probing == b->keep_probing &&
	       a->unknown_rtt_ms == b->unknown_rtt_ms;
}

void caches_resize(struct caches *c, const struct conf *before, const struct conf *conf)
{
	struct infra_how was = infra_how_of(&before->server), how = infra_how_of(&conf->server);

	if (before->server.msg_cache_size != conf->server.msg_cache_size)
		slab_resize(msgcache_slab(c->messages), (size_t)conf->server.msg_cache_size);
	if (c->subnet_index && before->server.msg_cache_size != conf->server.msg_cache_size)
		slab_resize(subnet_index_slab(c->subnet_index), subnet_index_size(&conf->server));
	if (before->server.rrset_cache_size != conf->server.rrset_cache_size)
		slab_resize(rrsetcache_slab(c->rrsets), (size_t)conf->server.rrset_cache_size);
	if (before->server.key_cache_size != conf->server.key_cache_size)
		keycache_resize(c->keys, (size_t)conf->server.key_cache_size);
	if (before->server.neg_cache_size != conf->server.neg_cache_size)
		aggressive_resize(c->negative, (size_t)conf->server.neg_cache_size);
	if (!is_same_infra(&was, &how))
		infra_reconfigure(c->infra, &how);
	keep_expired(c, &conf->server);
}
