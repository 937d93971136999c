/* Builds local zones from a configuration: those configured and the default ones.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "services/local/private.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/names/trie.h"
#include "util/net/addr.h"

struct build {
	const struct localzones_how *how;
	struct localzones *z;
	struct trie *singled;   /* zones with tags or overrides: not packed */
	struct trie *ruled_out; /* nodefault */
	struct fault *fault;
	const char *packed_word; /* type of the packed name reviewed last, */
	int packed_type;         /* and what it is here; -1: unknown */
	size_t packed_count;     /* names reviewed */
};

static char mark; /* any value other than NULL */

/* ---- parsing ---- */

/* False: the fault came about in this line. */
static bool misplaced(struct build *b, const struct conf_item *item)
{
	fault_place(b->fault, item->file, item->line);
	return false;
}

/* Parse the first word of "name rest" as a name and return the rest. NULL, with a fault, if it is
 * not a name. */
static const char *take_name(struct build *b, const char *option, const char *text, uint8_t *name)
{
	size_t len = strcspn(text, " \t");
	char word[DNAME_TEXT];
	struct fault why = { 0 };

	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, text, len);
	word[len] = '\0';
	if (dname_parse(name, word, &why) == 0) {
		fault_set(b->fault, "%s: '%s' is not a name: %s", option, word, why.text);
		return NULL;
	}
	text += len;
	return text + strspn(text, " \t");
}

/* ---- zones ---- */

static bool single_out(struct build *b, const char *option, const struct conf_list *list)
{
	uint8_t name[DNAME_MAX];

	for (size_t i = 0; i < list->count; i++) {
		if (!take_name(b, option, list->items[i].text, name))
			return misplaced(b, &list->items[i]);
		trie_put(b->singled, name, &mark);
	}
	return true;
}

/* Whether a zone of this type, with or without records, is fully described by its type. */
static bool is_packable(enum zone_type type)
{
	return zone_traits[type].records != RECORDS_ALL && type != ZONE_transparent &&
	       type != ZONE_typetransparent && type != ZONE_inform;
}

/* The last line about a zone counts, as with Unbound. */
static void zone_retype(struct build *b, struct localzone *zone, const uint8_t *name,
			enum zone_type type)
{
	atomic_store_explicit(&zone->type, (uint8_t)type, memory_order_relaxed);
	zone_mark(b->z, &b->z->own->in, name, type);
}

/* `has_all`: everything packable is already in the maker. */
static void read_zone(struct build *b, struct nameset_maker *maker, bool has_all,
		      const uint8_t *name, enum zone_type type)
{
	struct family *f = &b->z->own->in;
	struct localzone *zone;

	if (type == ZONE_nodefault) {
		trie_put(b->ruled_out, name, &mark);
		return;
	}
	zone = nametable_find(f->zones, name);
	if (is_packable(type) && !trie_find(b->singled, name) && (has_all || !zone)) {
		if (!has_all) {
			nameset_put(maker, name, (uint8_t)type);
			zone_mark(b->z, f, name, type);
		}
		return;
	}
	if (zone)
		zone_retype(b, zone, name, type);
	else
		zone_add(b->z, f, name, type);
}

/* Names that have become more than their type since. */
static int drop_unpacked(const uint8_t *name, uint8_t number, void *build)
{
	const struct build *b = build;

	return nametable_find(b->z->own->in.zones, name) ? -1 : number;
}

/* The type of a packed name, most often that of the one before. */
static int packed_type(struct build *b, uint8_t number)
{
	const char *word = conf_names_type(number);
	enum zone_type type;

	if (word != b->packed_word) {
		b->packed_word = word;
		b->packed_type = zone_type_parse(word, &type) ? (int)type : -1;
	}
	return b->packed_type;
}

/* For a name that came packed: its type here; -1 if the zone is more than its type. */
static int review(const uint8_t *name, uint8_t number, void *build)
{
	struct build *b = build;
	struct family *f = &b->z->own->in;
	struct localzone *zone = nametable_find(f->zones, name);
	int known = packed_type(b, number);
	enum zone_type type = (enum zone_type)known;

	b->packed_count++;
	if (known < 0)
		return -1; /* its last line is an item of the list */
	if (zone) {
		zone_retype(b, zone, name, type);
		return -1;
	}
	if (trie_find(b->singled, name)) {
		zone_add(b->z, f, name, type);
		return -1;
	}
	zone_mark(b->z, f, name, type);
	return known;
}

/* Of so many lines it is not known which they are; of fewer, checkconf names each. */
static void tell_twice(const struct build *b, size_t put_count)
{
	if (put_count > b->packed_count)
		log_warn("local-zone: %zu lines name a zone that another line names; the last one counts",
			 put_count - b->packed_count);
}

static bool read_zones(struct build *b)
{
	const struct conf_list *list = b->how->zones;
	struct nameset_maker *maker = conf_names_take(list);
	bool has_all = maker != NULL;
	size_t put_count = has_all ? nameset_maker_count(maker) : 0;
	uint8_t name[DNAME_MAX];

	if (has_all)
		nameset_review(maker, review, b);
	else
		nameset_review(maker = nameset_maker_new(), drop_unpacked, b);
	for (size_t i = 0; i < list->count; i++) {
		const char *word = take_name(b, "local-zone", list->items[i].text, name);
		enum zone_type type;

		if (word && !zone_type_parse(word, &type)) {
			fault_set(b->fault, "local-zone: '%s' is not a type of zone", word);
			word = NULL;
		}
		if (!word) {
			nameset_maker_free(maker);
			return misplaced(b, &list->items[i]);
		}
		read_zone(b, maker, has_all, name, type);
	}
	b->z->own->in.packed = nameset_make(maker, b->z->own->seed);
	tell_twice(b, put_count);
	return true;
}

/* ---- tags and overrides ---- */

static struct localzone *named_zone(struct build *b, const char *option, const uint8_t *name)
{
	struct localzone *zone = nametable_find(b->z->own->in.zones, name);
	char text[DNAME_TEXT];

	if (!zone)
		fault_set(b->fault, "%s: there is no local-zone %s", option,
			  dname_print(name, text));
	return zone;
}

static bool read_tags(struct build *b)
{
	const struct conf_list *list = &b->how->conf->server.local_zone_tag;
	uint8_t name[DNAME_MAX];

	for (size_t i = 0; i < list->count; i++) {
		const char *tags = take_name(b, "local-zone-tag", list->items[i].text, name);
		struct localzone *zone = tags ? named_zone(b, "local-zone-tag", name) : NULL;
		struct fault why = { 0 };

		if (zone && tagset_add(&zone->tags, &b->how->conf->server.define_tag, tags, &why)) {
			tops_mark(b->z, name);
			continue;
		}
		if (zone)
			fault_set(b->fault, "local-zone-tag: %s", why.text);
		return misplaced(b, &list->items[i]);
	}
	return true;
}

static bool read_override(struct build *b, const char *text)
{
	static const char option[] = "local-zone-override";
	uint8_t name[DNAME_MAX];
	const char *rest = take_name(b, option, text, name);
	struct localzone *zone = rest ? named_zone(b, option, name) : NULL;
	char block[ADDR_TEXT] = "";
	struct netblock n;
	enum zone_type type;
	size_t len;

	if (!zone)
		return false;
	len = strcspn(rest, " \t");
	memcpy(block, rest, MIN(len, sizeof(block) - 1));
	rest += len;
	rest += strspn(rest, " \t");
	if (!netblock_parse(&n, block, NULL) || !zone_type_parse(rest, &type)) {
		fault_set(b->fault, "%s: '%s' is not a zone, a netblock and a type of zone", option,
			  text);
		return false;
	}
	if (!zone->overrides)
		zone->overrides = netset_new();
	netset_put(zone->overrides, &n, (void *)(uintptr_t)&zone_traits[type]);
	tops_mark(b->z, name);
	return true;
}

static bool read_overrides(struct build *b)
{
	const struct conf_list *list = &b->how->conf->server.local_zone_override;

	for (size_t i = 0; i < list->count; i++) {
		if (!read_override(b, list->items[i].text))
			return misplaced(b, &list->items[i]);
	}
	return true;
}

/* ---- defaults ---- */

static void put_line(struct localzones *z, const char *line)
{
	struct fault f = { 0 };

	if (!localzones_put_record(z, line, &f))
		PANIC("a record of our own is wrong: %s", f.text);
}

static void put_apex(struct localzones *z, const char *zone)
{
	char line[DNAME_TEXT + 100];

	snprintf(line, sizeof(line), "%s 10800 IN NS localhost.", zone);
	put_line(z, line);
	snprintf(line, sizeof(line),
		 "%s 10800 IN SOA localhost. nobody.invalid. 1 3600 1200 604800 10800", zone);
	put_line(z, line);
}

/* False if the zone is configured or ruled out. */
static bool put_default(struct build *b, const char *zone, enum zone_type type)
{
	struct family *f = &b->z->own->in;
	uint8_t name[DNAME_MAX];

	PROMISE(dname_parse(name, zone, NULL));
	if (zone_exists(f, name) || trie_find(b->ruled_out, name))
		return false;
	zone_add(b->z, f, name, type);
	put_apex(b->z, zone);
	return true;
}

struct lan {
	struct build *build;
	void (*fn)(const uint8_t *name, void *arg);
	void *arg;
};

static void each_lan(void (*fn)(const char *zone, void *arg), void *arg)
{
#define HOST_ZONE(name, type)
#define HOST_DATA(line)
#define EMPTY_ZONE(name)
#define LAN_ZONE(name) fn(name, arg);
#define LAN_ZONES(first, last, parent)                            \
	for (int i_ = first; i_ <= last; i_++) {                  \
		char zone_[40];                                   \
		snprintf(zone_, sizeof(zone_), "%d." parent, i_); \
		fn(zone_, arg);                                   \
	}
#include "services/local/default_zones.def"
#undef HOST_ZONE
#undef HOST_DATA
#undef EMPTY_ZONE
#undef LAN_ZONE
#undef LAN_ZONES
}

static void put_lan(const char *zone, void *build)
{
	put_default(build, zone, ZONE_static);
}

static void tell_lan(const char *zone, void *arg)
{
	const struct lan *l = arg;
	uint8_t name[DNAME_MAX];

	PROMISE(dname_parse(name, zone, NULL));
	l->fn(name, l->arg);
}

void default_lan_zones(void (*fn)(const uint8_t *name, void *arg), void *arg)
{
	struct lan l = { .fn = fn, .arg = arg };

	each_lan(tell_lan, &l);
}

static void put_defaults(struct build *b)
{
	bool there = false;

#define HOST_ZONE(name, type) there = put_default(b, name, ZONE_##type);
#define HOST_DATA(line) \
	if (there)      \
		put_line(b->z, line);
#define EMPTY_ZONE(name) put_default(b, name, ZONE_static);
#define LAN_ZONE(name)
#define LAN_ZONES(first, last, parent)
#include "services/local/default_zones.def"
#undef HOST_ZONE
#undef HOST_DATA
#undef EMPTY_ZONE
#undef LAN_ZONE
#undef LAN_ZONES
	if (!b->how->conf->server.unblock_lan_zones)
		each_lan(put_lan, b);
}

/* ---- records ---- */

/* Turn "192.0.2.1 [TTL] name" into a zone file line. False if the address or the name is
 * invalid. */
static bool ptr_line(const char *text, char *line, size_t room)
{
	static const char hex[] = "0123456789abcdef";
	char word[ADDR_TEXT], owner[80];
	size_t len = strcspn(text, " \t"), n = 0, ttl;
	struct addr a;

	if (len >= sizeof(word))
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	if (!addr_parse(&a, word, 0, NULL))
		return false;
	text += len + strspn(text + len, " \t");
	for (int i = a.family == 4 ? 3 : 15; i >= 0; i--) {
		unsigned byte = a.ip[i];

		if (a.family == 4)
			n += (size_t)snprintf(owner + n, sizeof(owner) - n, "%u.", byte);
		else
			n += (size_t)snprintf(owner + n, sizeof(owner) - n, "%c.%c.",
					      hex[byte & 15], hex[byte >> 4]);
	}
	snprintf(owner + n, sizeof(owner) - n, a.family == 4 ? "in-addr.arpa." : "ip6.arpa.");
	ttl = strcspn(text, " \t");
	if (text[ttl + strspn(text + ttl, " \t")] == '\0')
		ttl = 0; /* one word: the name, no TTL */
	n = (size_t)snprintf(line, room, "%s %.*s IN PTR %s", owner, (int)ttl, text,
			     text + ttl + strspn(text + ttl, " \t"));
	return n < room;
}

/* Records no zone covers yet; per class, the common ancestor of their names. */
struct loose {
	struct record_batch *batch;
	size_t count;
	struct {
		uint16_t class_;
		uint8_t common[DNAME_MAX];
	} tops[8];
	unsigned top_count;
};

/* What the callbacks of record_batch_put write to. */
struct reading {
	struct build *b;
	struct loose loose;
	bool wrong;
};

static bool put_loose(void *arg, const struct text_rr *rr, size_t number, const char *line)
{
	struct loose *l = &((struct reading *)arg)->loose;
	const uint8_t *name = name_in_zone(rr->owner, rr->type);
	unsigned i = 0;

	l->count++;
	record_batch_add(l->batch, rr, line, number);
	while (i < l->top_count && l->tops[i].class_ != rr->class_)
		i++;
	if (i < l->top_count) {
		uint8_t *common = l->tops[i].common;
		const uint8_t *rest = dname_suffix(common, dname_common(common, name));

		memmove(common, rest, dname_len(rest));
	} else if (l->top_count < COUNT(l->tops)) {
		l->tops[i].class_ = rr->class_;
		dname_copy_lower(l->tops[i].common, name);
		l->top_count++;
	}
	return false;
}

/* The line that this record stands in: those of local-data are counted first. */
static const struct conf_item *item_of(const struct build *b, size_t number)
{
	const struct conf_list *data = b->how->data;

	return number < data->count ? &data->items[number] : &b->how->ptrs->items[number - data->count];
}

/* The first counts. */
static void note_wrong(void *arg, size_t number, const char *line, const char *why)
{
	struct reading *r = arg;

	if (r->wrong)
		return;
	r->wrong = true;
	fault_set(r->b->fault, "local-data: \"%s\": %s", line, why);
	(void)misplaced(r->b, item_of(r->b, number));
}

static bool read_line(struct build *b, const char *line, size_t number, struct record_batch *batch)
{
	struct fault why = { 0 };

	if (record_batch_read(batch, line, number, &why))
		return true;
	fault_set(b->fault, "local-data: \"%s\": %s", line, why.text);
	return misplaced(b, item_of(b, number));
}

/* One transparent zone covering them all. In a class other than IN, a zone of class IN with the
 * same name sets the type. */
static void cover(struct build *b, const struct loose *l)
{
	for (unsigned i = 0; i < l->top_count; i++) {
		enum zone_type type = ZONE_transparent;
		struct question q = { .name = l->tops[i].common, .class_ = CLASS_IN };
		struct localzone_match m;

		if (l->tops[i].class_ != CLASS_IN && localzones_find(b->z, &q, NULL, &m) &&
		    dname_equals(m.name, q.name))
			type = m.type;
		zone_add(b->z, family_get(b->z, l->tops[i].class_), l->tops[i].common, type);
	}
}

static bool read_lines(struct build *b, struct record_batch *batch)
{
	const struct conf_list *data = b->how->data, *ptrs = b->how->ptrs;

	for (size_t i = 0; i < data->count; i++) {
		if (!read_line(b, data->items[i].text, i, batch))
			return false;
	}
	for (size_t i = 0; i < ptrs->count; i++) {
		char line[DNAME_TEXT + 200];

		if (!ptr_line(ptrs->items[i].text, line, sizeof(line))) {
			fault_set(b->fault, "local-data-ptr: '%s' is not an address and a name",
				  ptrs->items[i].text);
			return misplaced(b, &ptrs->items[i]);
		}
		if (!read_line(b, record_batch_keep(batch, line), data->count + i, batch))
			return false;
	}
	return true;
}

static bool read_records(struct build *b)
{
	struct record_batch *batch = record_batch_new();
	struct reading r = { .b = b, .loose = { .batch = record_batch_new() } };
	struct record_ends ends = { .wrong = note_wrong, .uncovered = put_loose, .arg = &r };
	bool good = read_lines(b, batch);

	if (good)
		record_batch_put(batch, b->z, &ends);
	ends.uncovered = NULL; /* for more classes than `tops` has */
	if (good && !r.wrong) {
		cover(b, &r.loose);
		record_batch_put(r.loose.batch, b->z, &ends);
	}
	record_batch_free(r.loose.batch);
	record_batch_free(batch);
	return good && !r.wrong;
}

/* ---- building the whole ---- */

struct tally {
	const struct nameset *packed;
	size_t count;
};

static bool count_zone(const uint8_t *name, void *value, void *arg)
{
	struct localzone *zone = value;
	struct tally *t = arg;

	t->count += atomic_load_explicit(&zone->type, memory_order_relaxed) != ZONE_nodefault;
	/* It replaces the packed one. */
	if (t->packed && nameset_find(t->packed, name) >= 0)
		t->count--;
	return true;
}

static size_t count_zones(const struct localzones *z)
{
	struct tally t = { 0 };

	for (const struct family *f = &z->own->in; f; f = RCU_READ(f->next)) {
		t.packed = f->packed;
		t.count += t.packed ? nameset_count(t.packed) : 0;
		nametable_each(f->zones, count_zone, &t);
	}
	return t.count;
}

static bool build(struct build *b)
{
	const struct conf_server *s = &b->how->conf->server;
	/* zones that were shed, or the records they are for, come from another snapshot, with their tags
	 * and overrides */
	bool plain = b->how->is_view || b->how->zones->forgotten || b->how->data->forgotten ||
		     b->how->ptrs->forgotten;

	if (!b->how->is_view && !(single_out(b, "local-zone-tag", &s->local_zone_tag) &&
				  single_out(b, "local-zone-override", &s->local_zone_override)))
		return false;
	if (!read_zones(b))
		return false;
	if (b->how->defaults)
		put_defaults(b);
	/* default zones may have tags, too, and so may the one that holds the records of no other */
	return (plain || read_overrides(b)) && read_records(b) && (plain || read_tags(b));
}

struct localzones *localzones_new(const struct localzones_how *how, struct fault *f)
{
	struct localzones *z = mem_zero(sizeof(*z));
	struct build b = { .how = how, .z = z, .fault = f };
	bool good;

	z->own = mem_zero(sizeof(*z->own));
	atomic_init(&z->own->holders, 1);
	z->own->seed = hash_bytes("suffix", 6);
	z->own->logs_all = how->conf->server.log_local_actions;
	z->own->in.class_ = CLASS_IN;
	z->own->in.zones = nametable_new(z->own->seed);
	z->own->in.nodes = nametable_new(z->own->seed);
	b.singled = trie_new();
	b.ruled_out = trie_new();
	good = build(&b);
	trie_free(b.singled, NULL);
	trie_free(b.ruled_out, NULL);
	if (!good) {
		localzones_unpin(z);
		return NULL;
	}
	z->own->published = true;
	for (struct family *fam = &z->own->in; fam; fam = RCU_READ(fam->next)) {
		nametable_publish(fam->zones);
		nametable_publish(fam->nodes);
	}
	z->own->zone_count = count_zones(z);
	return z;
}
