/* Zones that are held here in full: auth-zone clauses, and what is known of each now.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone.h"

#include <string.h>
#include <unistd.h>

#include "services/authzone_answer.h"
#include "services/authzone_data.h"
#include "services/zonemd.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rr.h"
#include "util/trie.h"

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

static void cell_unpin(struct zonecell *c)
{
	if (!c || atomic_fetch_sub_explicit(&c->pins, 1, memory_order_acq_rel) != 1)
		return;
	zonedata_retire(atomic_load(&c->data));
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

void authzone_publish(const struct authzone *z, struct zonedata *data, bool verified)
{
	atomic_store(&z->cell->verified, verified);
	atomic_store(&z->cell->expired, false);
	zonedata_retire(atomic_exchange_explicit(&z->cell->data, data, memory_order_acq_rel));
}

/* ---- the clauses ---- */

bool authzone_admits(const struct authzones *t, const struct authzone *z,
		     const struct zonedata *data, struct fault *f)
{
	struct fault why = { 0 };
	char name[DNAME_TEXT];

	if (!z->conf->zonemd_check && !z->conf->zonemd_reject_absence)
		return true;
	switch (zonemd_check(data, &why)) {
	case ZONEMD_RIGHT:
	case ZONEMD_UNKNOWN:
		return true;
	case ZONEMD_ABSENT:
		if (!z->conf->zonemd_reject_absence)
			return true;
		fault_set(&why, "there is no ZONEMD record");
		break;
	case ZONEMD_WRONG:
		break;
	}
	if (t->permissive) {
		log_warn("auth-zone %s: %s; it is used all the same (zonemd-permissive-mode)",
			 dname_print(z->name, name), why.text);
		return true;
	}
	fault_set(f, "%s", why.text);
	return false;
}

bool authzone_reload(const struct authzones *t, const struct authzone *z, struct fault *f)
{
	struct zonedata *data;

	if (!*z->path) {
		fault_set(f, "the zone has no zonefile");
		return false;
	}
	data = zonedata_read(z->name, z->path, z->path_inside, f);
	if (!data)
		return false;
	if (!authzone_admits(t, z, data, f)) {
		zonedata_free(data);
		return false;
	}
	authzone_publish(z, data, false);
	return true;
}

bool authzone_save(const struct authzone *z, struct fault *f)
{
	struct fault first = { 0 };

	if (!*z->path)
		return true;
	if (zonedata_write(authzone_stored(z), z->path, &first) ||
	    zonedata_write(authzone_stored(z), z->path_inside, NULL))
		return true;
	fault_set(f, "%s", first.text);
	return false;
}

static bool is_there(const struct authzone *z)
{
	return access(z->path, F_OK) == 0 || access(z->path_inside, F_OK) == 0;
}

/* A zone that is transferred begins without a file. */
static void read_first(const struct authzones *t, const struct authzone *z)
{
	struct fault why = { 0 };
	char name[DNAME_TEXT];
	bool comes = z->conf->primary.count || z->conf->url.count;

	if (!*z->path || (comes && !is_there(z)))
		return;
	if (!authzone_reload(t, z, &why))
		log_error("auth-zone %s: %s", dname_print(z->name, name), why.text);
}

static bool take_clause(struct authzones *t, const struct conf *conf,
			const struct conf_auth_zone *c, struct fault *f)
{
	struct authzone *z = &t->items[t->count];
	uint8_t name[DNAME_MAX];
	size_t len = dname_parse(name, c->name, f);

	if (len == 0)
		return false;
	t->count++;
	dname_lower(name);
	z->name = mem_copy(name, len);
	z->conf = c;
	z->path = conf_path(conf, c->zonefile);
	z->path_inside = conf_path_inside(conf, c->zonefile);
	z->cell = cell_new();
	t->downstream |= c->for_downstream;
	t->upstream |= c->for_upstream;
	trie_put(t->by_name, z->name, z);
	return true;
}

struct authzones *authzones_new(const struct conf *conf, struct fault *f)
{
	struct authzones *t = mem_zero(sizeof(*t));

	t->by_name = trie_new();
	t->items = mem_array(conf->auth_zone_count + 1, sizeof(*t->items));
	t->permissive = conf->server.zonemd_permissive_mode;
	for (size_t i = 0; i < conf->auth_zone_count; i++)
		if (!take_clause(t, conf, &conf->auth_zones[i], f)) {
			authzones_free(t);
			return NULL;
		}
	for (size_t i = 0; i < t->count; i++)
		read_first(t, &t->items[i]);
	return t;
}

void authzones_free(struct authzones *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		struct authzone *z = &t->items[i];

		cell_unpin(z->cell);
		mem_free((void *)(uintptr_t)z->name);
		mem_free(z->path);
		mem_free(z->path_inside);
	}
	trie_free(t->by_name, NULL);
	mem_free(t->items);
	mem_free(t);
}

void authzones_inherit(struct authzones *t, const struct authzones *old)
{
	for (size_t i = 0; i < t->count; i++) {
		struct authzone *z = &t->items[i];
		const struct authzone *was = authzones_find_exact(old, z->name);

		if (!was || authzone_stored(z) || strcmp(was->path, z->path) != 0)
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
	return trie_find(t->by_name, name);
}

/* ---- answers ---- */

/* What is said of a cut is the parent's. */
static const struct authzone *zone_for(const struct authzones *t, const struct question *q)
{
	if (q->type == TYPE_DS && !dname_is_root(q->name))
		return authzones_find(t, dname_parent(q->name));
	return authzones_find(t, q->name);
}

enum held_end authzones_answer(const struct authzones *t, const struct question *q, struct arena *a,
			       struct message *out)
{
	const struct authzone *z = zone_for(t, q);
	const struct zonedata *data;

	if (!z || !z->conf->for_downstream || q->class_ != CLASS_IN)
		return HELD_NOT;
	data = authzone_data(z);
	if (!data)
		return z->conf->fallback_enabled ? HELD_NOT : HELD_FAILED;
	zonedata_answer(data, q, a, out);
	return HELD_ANSWER;
}

enum held_end authzones_consult(const struct authzones *t, const uint8_t *apex,
				const struct question *q, uint32_t now_s, struct arena *a,
				struct message *out)
{
	const struct authzone *z = authzones_find_exact(t, apex);
	const struct zonedata *data;

	if (!z || !z->conf->for_upstream || q->class_ != CLASS_IN)
		return HELD_NOT;
	data = authzone_data(z);
	if (dname_equals(q->name, apex) && (q->type == TYPE_DNSKEY || q->type == TYPE_ZONEMD) &&
	    atomic_load(&z->cell->proposed))
		data = atomic_load_explicit(&z->cell->proposed, memory_order_acquire);
	if (!data)
		return z->conf->fallback_enabled ? HELD_NOT : HELD_FAILED;
	zonedata_answer(data, q, a, out);
	for (unsigned i = 0; i < message_set_count(out); i++) {
		struct rrset *mine = rrset_copy(a, out->sets[i]);

		mine->expires_s = now_s + mine->ttl_s;
		mine->trust = TRUST_NONE;
		out->sets[i] = mine;
	}
	return HELD_ANSWER;
}
