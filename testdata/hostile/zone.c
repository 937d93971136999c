/* Zones: building, closing, signing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/zone.h"

#include <stdlib.h>
#include <string.h>

#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"

const uint8_t *name_make(struct arena *a, const char *text)
{
	uint8_t name[DNAME_MAX];
	size_t len = 0;

	while (*text && *text != '.') {
		size_t label = strcspn(text, ".");

		PROMISE(label <= LABEL_MAX && len + label + 2 <= DNAME_MAX);
		name[len++] = (uint8_t)label;
		memcpy(name + len, text, label);
		len += label;
		text += label + (text[label] == '.');
	}
	name[len++] = 0;
	return arena_copy(a, name, len);
}

struct zone *zdata_make(struct arena *a, const char *apex, int key)
{
	struct zone *z = arena_new(a, struct zone);

	z->apex = name_make(a, apex);
	z->key = key;
	z->arena = a;
	return z;
}

struct set *zdata_find(const struct zone *z, const uint8_t *owner, uint16_t type)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->sets[i]->type == type && dname_equals(z->sets[i]->owner, owner))
			return z->sets[i];
	return NULL;
}

struct set *zdata_add(struct zone *z, const uint8_t *owner, uint16_t type, uint32_t ttl_s, struct slice rdata)
{
	struct set *s = zdata_find(z, owner, type);

	if (!s) {
		PROMISE(z->count < ZONE_SETS);
		s = z->sets[z->count++] = arena_new(z->arena, struct set);
		s->owner = arena_copy(z->arena, owner, dname_len(owner));
		s->type = type;
		s->ttl_s = ttl_s;
	}
	PROMISE(s->count < SET_RECORDS);
	s->rdata[s->count++] = (struct slice){ arena_copy(z->arena, rdata.at, rdata.len), rdata.len };
	return s;
}

static const uint8_t *below(const struct zone *z, const char *prefix, uint8_t to[DNAME_MAX])
{
	const uint8_t *first = name_make(z->arena, prefix);

	PROMISE(dname_join(to, first, dname_len(first) - 1, z->apex));
	return to;
}

void zdata_add_name(struct zone *z, const char *prefix, uint16_t type, uint32_t ttl_s, const char *target)
{
	const uint8_t *name = name_make(z->arena, target);
	uint8_t owner[DNAME_MAX], rdata[2 + DNAME_MAX] = { 0, 10 };
	size_t head = type == TYPE_MX ? 2 : 0;

	memcpy(rdata + head, name, dname_len(name));
	zdata_add(z, below(z, prefix, owner), type, ttl_s, (struct slice){ rdata, head + dname_len(name) });
}

void zdata_add_a(struct zone *z, const char *prefix, uint32_t ttl_s, const uint8_t ip[4])
{
	uint8_t owner[DNAME_MAX];

	zdata_add(z, below(z, prefix, owner), TYPE_A, ttl_s, (struct slice){ ip, 4 });
}

void zdata_add_txt(struct zone *z, const char *prefix, uint32_t ttl_s, const char *text)
{
	uint8_t owner[DNAME_MAX], rdata[64];
	size_t len = strlen(text);

	PROMISE(len < sizeof(rdata));
	rdata[0] = (uint8_t)len;
	memcpy(rdata + 1, text, len);
	zdata_add(z, below(z, prefix, owner), TYPE_TXT, ttl_s, (struct slice){ rdata, len + 1 });
}

void zdata_add_soa(struct zone *z, uint32_t ttl_s)
{
	uint8_t rdata[2 * DNAME_MAX + 20];
	struct writer w = writer_over(rdata, sizeof(rdata));

	write_bytes(&w, "\2ns", 3);
	write_bytes(&w, z->apex, dname_len(z->apex));
	write_bytes(&w, "\5admin", 6);
	write_bytes(&w, z->apex, dname_len(z->apex));
	write_u32(&w, 1);
	write_u32(&w, 3600);
	write_u32(&w, 900);
	write_u32(&w, 86400);
	write_u32(&w, TTL_DENIAL);
	PROMISE(!w.bad);
	zdata_add(z, z->apex, TYPE_SOA, ttl_s, (struct slice){ rdata, writer_len(&w) });
}

void zdata_add_cut(struct zone *z, const uint8_t *child, uint32_t ttl_s, const char *server, int ds_key)
{
	const uint8_t *name = name_make(z->arena, server);
	uint8_t ds[KEY_DS];

	zdata_add(z, child, TYPE_NS, ttl_s, (struct slice){ name, dname_len(name) });
	if (ds_key == NO_KEY || zdata_find(z, child, TYPE_DS))
		return;
	key_ds((unsigned)ds_key, child, ds);
	zdata_add(z, child, TYPE_DS, ttl_s, (struct slice){ ds, KEY_DS });
}

void zdata_remember(struct zone *z)
{
	struct set **all = arena_array(z->arena, struct set *, z->former_count + z->count);

	if (z->former_count)
		memcpy(all, z->former, z->former_count * sizeof(*all));
	memcpy(all + z->former_count, z->sets, z->count * sizeof(*all));
	z->former = all;
	z->former_count += z->count;
}

void zdata_remove(struct zone *z, const uint8_t *name)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < z->count; i++)
		if (!dname_is_under(z->sets[i]->owner, name))
			z->sets[kept++] = z->sets[i];
	z->count = kept;
}

const struct set *zdata_cut(const struct zone *z, const uint8_t *name)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->sets[i]->type == TYPE_NS && dname_is_under(name, z->sets[i]->owner) &&
		    !dname_equals(z->sets[i]->owner, z->apex))
			return z->sets[i];
	return NULL;
}

bool zdata_holds(const struct zone *z, const uint8_t *name)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->sets[i]->type != TYPE_NSEC3 && dname_is_under(z->sets[i]->owner, name))
			return true;
	return false;
}

/* ---- the chain of denials ---- */

static size_t write_types(const struct zone *z, const uint8_t *owner, uint8_t *to)
{
	uint8_t bits[32] = { 0 };
	bool any = false, is_cut = false;
	size_t last = 0;

	for (unsigned i = 0; i < z->count; i++) {
		const struct set *s = z->sets[i];

		if (s->is_glue || s->is_denial || s->type > 255 || !dname_equals(s->owner, owner))
			continue;
		bits[s->type / 8] |= (uint8_t)(0x80 >> s->type % 8);
		is_cut |= s->type == TYPE_NS && !dname_equals(owner, z->apex);
		any = true;
	}
	if (any && (!is_cut || zdata_find(z, owner, TYPE_DS) || !z->by_hash))
		bits[TYPE_RRSIG / 8] |= (uint8_t)(0x80 >> TYPE_RRSIG % 8);
	if (!z->by_hash)
		bits[TYPE_NSEC / 8] |= (uint8_t)(0x80 >> TYPE_NSEC % 8);
	for (size_t i = 0; i < sizeof(bits); i++)
		if (bits[i])
			last = i + 1;
	if (!last)
		return 0;
	to[0] = 0;
	to[1] = (uint8_t)last;
	memcpy(to + 2, bits, last);
	return 2 + last;
}

/* The names that have a denial, each once. */
struct denied {
	const uint8_t *names[2 * ZONE_SETS];
	unsigned count;
};

static void denied_add(struct denied *d, const uint8_t *name)
{
	for (unsigned i = 0; i < d->count; i++)
		if (dname_equals(d->names[i], name))
			return;
	PROMISE(d->count < COUNT(d->names));
	d->names[d->count++] = name;
}

static void denied_collect(const struct zone *z, struct denied *d)
{
	d->count = 0;
	for (unsigned i = 0; i < z->count; i++) {
		const struct set *s = z->sets[i];
		bool unsigned_cut = s->type == TYPE_NS && !dname_equals(s->owner, z->apex) &&
				    !zdata_find(z, s->owner, TYPE_DS);

		if (s->is_glue || s->is_denial || (z->opt_out && unsigned_cut))
			continue;
		denied_add(d, s->owner);
		for (const uint8_t *at = s->owner; z->by_hash && !dname_equals(at, z->apex);
		     at = dname_parent(at))
			denied_add(d, at);
	}
}

static int by_name(const void *a, const void *b)
{
	return dname_compare(*(const uint8_t *const *)a, *(const uint8_t *const *)b);
}

static void close_by_name(struct zone *z, struct denied *d)
{
	qsort(d->names, d->count, sizeof(*d->names), by_name);
	for (unsigned i = 0; i < d->count; i++) {
		const uint8_t *next = d->names[(i + 1) % d->count];
		uint8_t rdata[DNAME_MAX + 40];
		size_t len = dname_len(next);

		memcpy(rdata, next, len);
		len += write_types(z, d->names[i], rdata + len);
		zdata_add(z, d->names[i], TYPE_NSEC, TTL_DENIAL, (struct slice){ rdata, len })->is_denial = true;
	}
}

struct hashed {
	uint8_t hash[NSEC3_HASH_LEN];
	const uint8_t *name;
};

static int by_hash(const void *a, const void *b)
{
	return memcmp(a, b, NSEC3_HASH_LEN);
}

static void close_by_hash(struct zone *z, const struct denied *d)
{
	struct hashed *h = arena_array(z->arena, struct hashed, d->count);

	for (unsigned i = 0; i < d->count; i++) {
		nsec3_hash(d->names[i], z->salt, z->iterations, h[i].hash);
		h[i].name = d->names[i];
	}
	qsort(h, d->count, sizeof(*h), by_hash);
	for (unsigned i = 0; i < d->count; i++) {
		uint8_t owner[DNAME_MAX], rdata[128], types[40];
		struct writer w = writer_over(rdata, sizeof(rdata));
		size_t len = write_types(z, h[i].name, types);

		write_u8(&w, NSEC3_SHA1);
		write_u8(&w, z->opt_out);
		write_u16(&w, z->iterations);
		write_u8(&w, (uint8_t)z->salt.len);
		write_bytes(&w, z->salt.at, z->salt.len);
		write_u8(&w, NSEC3_HASH_LEN);
		write_bytes(&w, h[(i + 1) % d->count].hash, NSEC3_HASH_LEN);
		write_bytes(&w, types, len);
		PROMISE(!w.bad && nsec3_owner(h[i].hash, z->apex, owner));
		zdata_add(z, owner, TYPE_NSEC3, TTL_DENIAL, (struct slice){ rdata, writer_len(&w) })->is_denial =
			true;
	}
}

void zdata_close(struct zone *z)
{
	struct denied *d = arena_new(z->arena, struct denied);
	unsigned kept = 0;

	for (unsigned i = 0; i < z->count; i++)
		if (!z->sets[i]->is_denial)
			z->sets[kept++] = z->sets[i];
	z->count = kept;
	for (unsigned i = 0; i < z->count; i++) {
		struct set *s = z->sets[i];
		const struct set *cut = zdata_cut(z, s->owner);

		s->is_glue = cut && (!dname_equals(cut->owner, s->owner) ||
				     (s->type != TYPE_NS && s->type != TYPE_DS));
	}
	if (z->key == NO_KEY)
		return;
	denied_collect(z, d);
	if (z->by_hash)
		close_by_hash(z, d);
	else
		close_by_name(z, d);
}

struct set *zdata_denial(const struct zone *z, const uint8_t *name)
{
	struct set *best = NULL, *last = NULL;
	uint8_t hash[NSEC3_HASH_LEN], owner[DNAME_MAX];

	if (z->key == NO_KEY)
		return NULL;
	if (z->by_hash) {
		nsec3_hash(name, z->salt, z->iterations, hash);
		PROMISE(nsec3_owner(hash, z->apex, owner));
		name = owner;
	}
	for (unsigned i = 0; i < z->count; i++) {
		struct set *s = z->sets[i];

		if (!s->is_denial)
			continue;
		if (!last || dname_compare(s->owner, last->owner) > 0)
			last = s;
		if (dname_compare(s->owner, name) <= 0 && (!best || dname_compare(s->owner, best->owner) > 0))
			best = s;
	}
	return best ? best : last;
}

/* ---- signatures (RFC 4034 3.1.8.1) ---- */

static int by_rdata(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int c = memcmp(x->at, y->at, MIN(x->len, y->len));

	return c ? c : (int)x->len - (int)y->len;
}

struct slice set_sign(struct arena *a, const struct set *s, const struct signing *how)
{
	static uint8_t data[65536];
	uint8_t rdata[18 + DNAME_MAX + KEY_SIGNATURE], owner[DNAME_MAX];
	struct slice sorted[SET_RECORDS];
	struct writer w = writer_over(rdata, sizeof(rdata));
	size_t owner_len = dname_copy_lower(owner, s->owner), head;

	write_u16(&w, s->type);
	write_u8(&w, KEY_ALGORITHM);
	write_u8(&w, (uint8_t)(dname_labels(s->owner) - dname_is_wildcard(s->owner) - how->labels_less));
	write_u32(&w, s->ttl_s);
	write_u32(&w, how->until);
	write_u32(&w, how->from);
	write_u16(&w, key_tag((unsigned)how->key));
	write_bytes(&w, how->signer, dname_len(how->signer));
	head = writer_len(&w);
	w = writer_over(data, sizeof(data));
	write_bytes(&w, rdata, head);
	memcpy(sorted, s->rdata, sizeof(sorted));
	qsort(sorted, s->count, sizeof(*sorted), by_rdata);
	for (unsigned i = 0; i < s->count; i++) {
		write_bytes(&w, owner, owner_len);
		write_u16(&w, s->type);
		write_u16(&w, CLASS_IN);
		write_u32(&w, s->ttl_s);
		write_u16(&w, (uint16_t)sorted[i].len);
		write_bytes(&w, sorted[i].at, sorted[i].len);
	}
	key_sign((unsigned)how->key, (struct slice){ data, writer_len(&w) }, rdata + head);
	return (struct slice){ arena_copy(a, rdata, head + KEY_SIGNATURE), head + KEY_SIGNATURE };
}

struct slice zdata_sig(const struct zone *z, struct set *s)
{
	struct signing how = { .key = z->key, .signer = z->apex, .from = SIGNED_FROM, .until = SIGNED_UNTIL };
	bool delegates = s->type == TYPE_NS && !dname_equals(s->owner, z->apex);

	if (z->key != NO_KEY && !s->is_glue && !delegates && !s->sig.len)
		s->sig = set_sign(z->arena, s, &how);
	return s->sig;
}
