/* Zones held here in full: auth-zone and rpz clauses, and the current data of each.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/zones.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "services/authzone/answer.h"
#include "services/authzone/data.h"
#include "services/authzone/rpz.h"
#include "services/authzone/tsig.h"
#include "services/authzone/zonemd.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"

/* ---- cells ---- */

static struct zonecell *cell_new(void)
{
	struct zonecell *c = mem_zero(sizeof(*c));

	atomic_init(&c->pins, 1);
	return c;
}

static struct zonecell *cell_pin(struct zonecell *c)
{
	atomic_fetch_add_explicit(&c->pins, 1, memory_order_relaxed);
	return c;
}

static void free_known(struct rcu_slot *slot)
{
	mem_free(container_of(slot, struct knownhosts, retired));
}

void knownhosts_retire(struct knownhosts *k)
{
	if (k)
		rcu_retire(&k->retired, free_known);
}

static void cell_unpin(struct zonecell *c)
{
	if (!c || atomic_fetch_sub_explicit(&c->pins, 1, memory_order_acq_rel) != 1)
		return;
	zonedata_retire(atomic_load(&c->data));
	knownhosts_retire(atomic_load(&c->known));
	mem_free(c);
}

void authzone_propose(const struct authzone *z, struct zonedata *data)
{
	atomic_store_explicit(&z->cell->proposed, data, memory_order_release);
}

struct zonedata *authzone_take_unverified(const struct authzone *z)
{
	if (atomic_load(&z->cell->verified))
		return NULL;
	return atomic_exchange_explicit(&z->cell->data, NULL, memory_order_acq_rel);
}

struct zonedata *authzone_publish(const struct authzone *z, struct zonedata *data, bool verified)
{
	atomic_store(&z->cell->verified, verified);
	atomic_store(&z->cell->expired, false);
	return atomic_exchange_explicit(&z->cell->data, data, memory_order_acq_rel);
}

/* ---- the clauses ---- */

bool authzone_admits(const struct authzones *t, const struct authzone *z,
		     const struct zonedata *data, struct fault *f)
{
	struct fault why = { 0 };
	char name[DNAME_TEXT];

	if (!z->wants_digest)
		return true;
	switch (zonemd_check(data, &why)) {
	case ZONEMD_RIGHT:
	case ZONEMD_UNKNOWN:
		return true;
	case ZONEMD_ABSENT:
		if (!z->needs_digest)
			return true;
		fault_set(&why, "no ZONEMD record");
		break;
	case ZONEMD_WRONG:
		break;
	}
	if (t->permissive) {
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, dname_print(z->name, name)), LOG_TEXT(reason, why.text)),
			    "%s %s: %s; used anyway (zonemd-permissive-mode)", z->clause, name, why.text);
		return true;
	}
	fault_set(f, "%s", why.text);
	return false;
}

static void free_rules(void *rules)
{
	rpz_free(rules);
}

void authzone_ripen(const struct authzone *z, struct zonedata *data)
{
	char name[DNAME_TEXT];
	struct rpz *rules;

	if (!z->manner)
		return;
	rules = rpz_new(data);
	if (rpz_unusable(rules))
		log_rare_of("warning", zone,
			    LOG_FACTS(LOG_TEXT(zone, dname_print(z->name, name)), LOG_COUNT(count, rpz_unusable(rules))),
			    "%s %s: %zu names ignored, not valid RPZ triggers", z->clause, name, rpz_unusable(rules));
	zonedata_attach(data, rules, free_rules);
}

const struct rpz *authzone_policy(const struct authzone *z)
{
	const struct zonedata *data;

	if (atomic_load_explicit(&z->cell->disabled, memory_order_relaxed))
		return NULL;
	data = authzone_data(z);
	return data ? data->rules : NULL;
}

bool authzone_reload(const struct authzones *t, const struct authzone *z, struct zonedata **former, struct fault *f)
{
	size_t broken = 0;
	struct zonedata_how how = { .apex = z->name,
				    .path = z->path,
				    .fallback = z->path_inside,
				    .lenient = z->manner != NULL,
				    .broken = &broken };
	struct zonedata *data;
	char name[DNAME_TEXT];

	if (!*z->path) {
		fault_set(f, "the zone has no zonefile");
		return false;
	}
	data = zonedata_read(&how, f);
	if (!data)
		return false;
	if (!authzone_admits(t, z, data, f)) {
		zonedata_free(data);
		return false;
	}
	if (!data->soa && !z->manner)
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, dname_print(z->name, name)), LOG_TEXT(source, z->path)),
			    "%s %s: %s has no SOA record: what it denies is denied without a TTL, and never compared with "
			    "a primary's", z->clause, name, z->path);
	if (broken)
		log_rare_of("warning", zone,
			    LOG_FACTS(LOG_TEXT(zone, dname_print(z->name, name)), LOG_TEXT(source, z->path),
				      LOG_COUNT(count, broken)),
			    "%s %s: %zu malformed records of %s ignored", z->clause, name, broken, z->path);
	authzone_ripen(z, data);
	*former = authzone_publish(z, data, false);
	atomic_store(&z->cell->since, (int64_t)time(NULL));
	return true;
}

bool authzone_save(const struct authzone *z, struct fault *f)
{
	const struct zonedata *data = authzone_stored(z);
	struct fault first = { 0 };

	if (!*z->path || !data)
		return true;
	if (zonedata_write(data, z->path, &first) || zonedata_write(data, z->path_inside, NULL))
		return true;
	fault_set(f, "%s", first.text);
	return false;
}

static bool is_there(const struct authzone *z)
{
	return access(z->path, F_OK) == 0 || access(z->path_inside, F_OK) == 0;
}

/* A zone that is transferred or fetched may start without its file. */
static void read_first(const struct authzones *t, const struct authzone *z)
{
	struct zonedata *former = NULL; /* none: the cell is new */
	struct fault why = { 0 };
	char name[DNAME_TEXT];
	bool comes = z->primaries->count || z->urls->count;

	if (!*z->path || (comes && !is_there(z)))
		return;
	if (!authzone_reload(t, z, &former, &why))
		log_rare_of("error", zone, LOG_FACTS(LOG_TEXT(zone, dname_print(z->name, name)), LOG_TEXT(reason, why.text)),
			    "%s %s: %s", z->clause, name, why.text);
}

/* NULL with `f` set when `text` is not a name. */
static struct authzone *add_zone(struct authzones *t, const struct conf *conf, const char *text,
				 const char *file, struct fault *f)
{
	struct authzone *z = &t->items[t->count];
	uint8_t name[DNAME_MAX];
	size_t len = dname_parse(name, text, f);

	if (len == 0)
		return NULL;
	t->count++;
	dname_lower(name);
	z->name = mem_copy(name, len);
	z->path = conf_path(conf, file);
	z->path_inside = conf_path_inside(conf, file);
	z->cell = cell_new();
	return z;
}

/* The options that both clauses have in common, though each has a struct of its own. */
#define TAKE_ALIKE(t, z, c)                                             \
	do {                                                            \
		(z)->primaries = &(c)->primary;                         \
		(z)->urls = &(c)->url;                                  \
		(z)->notifiers = &(c)->allow_notify;                    \
		(z)->key = tsig_keys_find((t)->keys, (c)->tsig_key);    \
		(z)->size_most = (c)->max_transfer_size;                \
		(z)->time_most_ms = (c)->max_transfer_time;             \
		(z)->downstream = (c)->for_downstream;                  \
	} while (0)

static bool take_clause(struct authzones *t, const struct conf *conf,
			const struct conf_auth_zone *c, struct fault *f)
{
	struct authzone *z = add_zone(t, conf, c->name, c->zonefile, f);

	if (!z)
		return false;
	z->clause = "auth-zone";
	TAKE_ALIKE(t, z, c);
	z->falls_back = c->fallback_enabled;
	z->upstream = c->for_upstream;
	z->wants_digest = c->zonemd_check;
	z->needs_digest = c->zonemd_check && c->zonemd_reject_absence;
	trie_put(t->by_name, z->name, z);
	return true;
}

static int override_of(const char *word)
{
	static const struct {
		const char *word;
		enum rpz_action action;
	} words[] = {
		{ "nxdomain", RPZ_nxdomain }, { "nodata", RPZ_nodata },
		{ "passthru", RPZ_passthru }, { "drop", RPZ_drop },
		{ "cname", RPZ_cname_override }, { "disabled", RPZ_disabled },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(words[i].word, word) == 0)
			return (int)words[i].action;
	return -1;
}

static bool read_manner(struct rpz_manner *m, const struct conf *conf, const struct conf_rpz *c,
			struct fault *f)
{
	uint8_t target[DNAME_MAX];
	size_t len;

	m->override = override_of(c->rpz_action_override);
	m->log_name = c->rpz_log_name;
	m->logs = c->rpz_log;
	m->signals = c->rpz_signal_nxdomain_ra;
	if (*c->rpz_cname_override) {
		len = dname_parse(target, c->rpz_cname_override, f);
		if (len == 0)
			return false;
		m->target = mem_copy(target, len);
	}
	return !*c->tags || tagset_add(&m->tags, &conf->server.define_tag, c->tags, f);
}

static bool take_policy(struct authzones *t, const struct conf *conf, const struct conf_rpz *c,
			struct fault *f)
{
	struct authzone *z = add_zone(t, conf, c->name, c->zonefile, f);

	if (!z)
		return false;
	z->clause = "rpz";
	TAKE_ALIKE(t, z, c);
	z->manner = mem_zero(sizeof(*z->manner));
	if (z->downstream)
		trie_put(t->by_name, z->name, z);
	return read_manner(z->manner, conf, c, f);
}

static bool take_clauses(struct authzones *t, const struct conf *conf, struct fault *f)
{
	t->keys = tsig_keys_new(conf, f);
	if (!t->keys)
		return false;
	for (size_t i = 0; i < conf->auth_zone_count; i++)
		if (*conf->auth_zones[i].name && !take_clause(t, conf, &conf->auth_zones[i], f))
			return false;
	t->first_policy = t->count;
	for (size_t i = 0; i < conf->rpz_count; i++)
		if (*conf->rpzs[i].name && !take_policy(t, conf, &conf->rpzs[i], f))
			return false;
	return true;
}

struct authzones *authzones_new(const struct conf *conf, struct fault *f)
{
	struct authzones *t = mem_zero(sizeof(*t));

	t->by_name = trie_new();
	t->items = mem_array(conf->auth_zone_count + conf->rpz_count + 1, sizeof(*t->items));
	t->permissive = conf->server.zonemd_permissive_mode;
	if (!take_clauses(t, conf, f)) {
		authzones_free(t);
		return NULL;
	}
	for (size_t i = 0; i < t->count; i++) {
		t->downstream |= t->items[i].downstream;
		t->upstream |= t->items[i].upstream;
		read_first(t, &t->items[i]);
	}
	return t;
}

static void free_manner(struct rpz_manner *m)
{
	if (!m)
		return;
	tagset_clear(&m->tags);
	mem_free((void *)(uintptr_t)m->target);
	mem_free(m);
}

void authzones_free(struct authzones *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		struct authzone *z = &t->items[i];

		cell_unpin(z->cell);
		free_manner(z->manner);
		mem_free((void *)(uintptr_t)z->name);
		mem_free(z->path);
		mem_free(z->path_inside);
	}
	trie_free(t->by_name, NULL);
	tsig_keys_free(t->keys);
	mem_free(t->items);
	mem_free(t);
}

void authzones_inherit(struct authzones *t, const struct authzones *old, bool keeps)
{
	for (size_t i = 0; i < t->count; i++) {
		struct authzone *z = &t->items[i];
		const struct authzone *was = authzones_find_exact(old, z->name);

		if (was && atomic_load(&was->cell->disabled))
			atomic_store(&z->cell->disabled, true);
		if (!was || !was->manner != !z->manner || strcmp(was->path, z->path) != 0)
			continue;
		if (authzone_stored(z) && !(keeps && authzone_stored(was)))
			continue;
		cell_unpin(z->cell);
		z->cell = cell_pin(was->cell);
	}
}

const struct authzone *authzones_find(const struct authzones *t, const uint8_t *name)
{
	return trie_find_closest(t->by_name, name);
}

const struct authzone *authzones_find_exact(const struct authzones *t, const uint8_t *name)
{
	const struct authzone *z = trie_find(t->by_name, name);

	for (size_t i = t->first_policy; !z && i < t->count; i++)
		if (dname_equals(t->items[i].name, name))
			z = &t->items[i];
	return z;
}

/* ---- answers ---- */

/* The zone that answers: DS is answered by the parent side of a zone cut. */
static const struct authzone *zone_for(const struct authzones *t, const struct question *q)
{
	if (q->type == TYPE_DS && !dname_is_root(q->name))
		return authzones_find(t, dname_parent(q->name));
	return authzones_find(t, q->name);
}

const struct authzone *authzones_proposing(const struct authzones *t, const uint8_t *name,
					   uint16_t type)
{
	const struct authzone *z = type == TYPE_ZONEMD ? trie_find(t->by_name, name) : NULL;

	return z && atomic_load(&z->cell->proposed) ? z : NULL;
}

enum authzone_end authzones_answer(const struct authzones *t, const struct question *q,
				   struct arena *a, struct message *out)
{
	const struct authzone *z = zone_for(t, q);
	const struct zonedata *data;

	if (!z || !z->downstream || q->class_ != CLASS_IN)
		return AUTHZONE_NOT;
	data = authzone_data(z);
	if (!data)
		return z->falls_back ? AUTHZONE_NOT : AUTHZONE_FAILED;
	zonedata_answer(data, q, a, out);
	return AUTHZONE_ANSWER;
}

enum authzone_end authzones_resolve(const struct authzones *t, const uint8_t *apex,
				    const struct question *q, uint32_t now_s, struct arena *a,
				    struct message *out)
{
	const struct authzone *z = trie_find(t->by_name, apex);
	const struct zonedata *data = NULL;

	if (!z || q->class_ != CLASS_IN)
		return AUTHZONE_NOT;
	if (dname_equals(q->name, apex) && (q->type == TYPE_DNSKEY || q->type == TYPE_ZONEMD))
		data = atomic_load_explicit(&z->cell->proposed, memory_order_acquire);
	if (!data && !z->upstream)
		return AUTHZONE_NOT;
	if (!data)
		data = authzone_data(z);
	if (!data)
		return z->falls_back ? AUTHZONE_NOT : AUTHZONE_FAILED;
	zonedata_answer(data, q, a, out);
	for (unsigned i = 0; i < message_set_count(out); i++) {
		struct rrset *mine = rrset_copy(a, out->sets[i]);

		mine->expires_s = now_s + mine->ttl_s;
		mine->trust = TRUST_NONE;
		out->sets[i] = mine;
	}
	return AUTHZONE_ANSWER;
}
