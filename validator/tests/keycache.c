/* Claims about what is kept of zones.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/keycache.h"

#include "util/base/arena.h"
#include "util/dns/rr.h"
#include "util/tests/turn.h"
#include "validator/verify.h"

#define NOW 1000

static void put(struct keycache *c, const char *name, enum key_kind kind, uint32_t ttl_s)
{
	keycache_put(c, &(struct key_news){ .name = N(name), .kind = kind,
					    .reason = REASON_sig_expired, .text = "why",
					    .ttl_s = ttl_s }, NOW);
}

static void a_zone_is_found_by_its_name_while_fresh(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint32_t now_s;
		bool found;
	} rows[] = {
		{ "as it was put", "zone.example.", NOW, true },
		{ "in other letters", "ZONE.Example.", NOW, true },
		{ "in its last second", "zone.example.", NOW + 59, true },
		{ "past its time", "zone.example.", NOW + 60, false },
		{ "below it", "a.zone.example.", NOW, false },
		{ "above it", "example.", NOW, false },
		{ "not kept at all", "brief.example.", NOW, false },
	};
	struct keycache *c = keycache_new(1 << 20, 1);

	put(c, "Zone.example.", KEYS_BOGUS, 60);
	put(c, "brief.example.", KEYS_BOGUS, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct key_entry *e = keycache_find(c, N(rows[i].name), rows[i].now_s);

		if ((e != NULL) != rows[i].found)
			fail_msg("%s", rows[i].why);
		if (e && (e->kind != KEYS_BOGUS || e->reason != REASON_sig_expired ||
			  strcmp(key_entry_text(e), "why") != 0))
			fail_msg("%s: another entry", rows[i].why);
	}
	keycache_free(c);
}

/* What is proven of a zone in one scope, as for a view with servers of its own, is not in another. */
static void each_scope_has_its_own(void **state)
{
	(void)state;
	struct keycache *c = keycache_new(1 << 20, 1), *one = keycache_scoped(c, 1), *two = keycache_scoped(c, 2);

	put(c, "example.", KEYS_BOGUS, 60);
	assert_null(keycache_find(one, N("example."), NOW));
	put(one, "example.", KEYS_NO_CUT, 60);
	put(two, "other.example.", KEYS_NONE, 60);
	assert_int_equal(keycache_find(c, N("example."), NOW)->kind, KEYS_BOGUS);
	assert_int_equal(keycache_find(one, N("example."), NOW)->kind, KEYS_NO_CUT);
	assert_null(keycache_find(two, N("example."), NOW));
	assert_null(keycache_find(c, N("other.example."), NOW));
	assert_int_equal(keycache_find(two, N("other.example."), NOW)->kind, KEYS_NONE);
	keycache_free(one);
	keycache_free(two);
	keycache_free(c);
}

static void the_latest_word_counts(void **state)
{
	(void)state;
	struct keycache *c = keycache_new(1 << 20, 1);

	put(c, "example.", KEYS_BOGUS, 60);
	put(c, "EXAMPLE.", KEYS_NO_CUT, 60);
	assert_int_equal(keycache_find(c, N("example."), NOW)->kind, KEYS_NO_CUT);
	keycache_free(c);
}

static void a_chain_of_trust_has_room_whatever_its_budget(void **state)
{
	(void)state;
	struct keycache *c = keycache_new(0, 4);

	for (unsigned resized = 0; resized < 2; resized++) {
		put(c, ".", KEYS_BOGUS, 60);
		put(c, "example.", KEYS_BOGUS, 60);
		put(c, "zone.example.", KEYS_BOGUS, 60);
		assert_non_null(keycache_find(c, N("."), NOW));
		assert_non_null(keycache_find(c, N("example."), NOW));
		assert_non_null(keycache_find(c, N("zone.example."), NOW));
		keycache_resize(c, 1);
	}
	keycache_free(c);
}

static void a_signed_zone_cuts_off_those_above(void **state)
{
	(void)state;
	static const struct {
		const char *zone, *name;
		uint32_t later_s;
		bool cut;
	} rows[] = {
		{ "test.", "www.signed.test.", 0, true },
		{ "test.", "signed.test.", 0, true },
		{ ".", "a.b.signed.test.", 0, true },
		{ "signed.test.", "www.signed.test.", 0, false },
		{ "www.signed.test.", "signed.test.", 0, false },
		{ "test.", "www.unsigned.test.", 0, false },
		{ "test.", "www.same.test.", 0, false },
		{ "test.", "www.bad.test.", 0, false },
		{ "test.", "test.", 0, false },
		{ "test.", "www.signed.test.", 100, false },
	};
	static const uint8_t rdata[] = { 1, 0, 3, 13, 1, 2, 3, 4 };
	struct keycache *c = keycache_new(1 << 20, 1);
	struct keyset *keys;
	struct arena a;

	arena_init(&a);
	keys = keyset_new(rrset_build(&a, &(struct rrset_parts){ .owner = N("test."),
								 .type = TYPE_DNSKEY,
								 .class_ = CLASS_IN,
								 .records = &(struct slice){ rdata, sizeof(rdata) },
								 .count = 1 }));
	for (unsigned i = 0; i < 2; i++)
		keycache_put(c, &(struct key_news){ .name = N(i ? "signed.test." : "test."), .kind = KEYS_TRUSTED,
						    .keys = keys, .ttl_s = 100 }, NOW);
	put(c, "unsigned.test.", KEYS_NONE, 100);
	put(c, "same.test.", KEYS_NO_CUT, 100);
	put(c, "bad.test.", KEYS_BOGUS, 100);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (keycache_cuts_off(c, N(rows[i].zone), N(rows[i].name), NOW + rows[i].later_s) != rows[i].cut)
			fail_msg("%s over %s", rows[i].zone, rows[i].name);
	keycache_free(c);
	keyset_unpin(keys);
	arena_clear(&a);
}

static void what_is_forgotten_is_as_asked(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		bool only_bogus;
		size_t gone;
	} rows[] = {
		{ "a zone and all below", "example.", false, 4 },
		{ "what is bogus of that", "example.", true, 2 },
		{ "one zone alone", "b.example.", false, 1 },
		{ "everything", ".", false, 5 },
		{ "a name like the end of another", "ample.", false, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct keycache *c = keycache_new(1 << 20, 1);
		size_t gone;

		put(c, "example.", KEYS_NO_CUT, 60);
		put(c, "a.example.", KEYS_BOGUS, 60);
		put(c, "b.example.", KEYS_NONE, 60);
		put(c, "c.b.example.", KEYS_BOGUS, 60);
		put(c, "test.", KEYS_BOGUS, 60);
		/* one row's zone has another below it */
		if (strcmp(rows[i].name, "b.example.") == 0)
			(void)keycache_forget(c, N("c.b.example."), false);
		gone = keycache_forget(c, N(rows[i].name), rows[i].only_bogus);
		if (gone != rows[i].gone)
			fail_msg("%s: %zu", rows[i].why, gone);
		keycache_free(c);
	}
}

static void keys_live_while_somebody_holds_them(void **state)
{
	(void)state;
	static const uint8_t rdata[] = { 1, 0, 3, 13, 1, 2, 3, 4 };
	struct slice record = { rdata, sizeof(rdata) };
	struct keycache *c = keycache_new(1 << 20, 1);
	struct keyset *keys;
	struct arena a;

	arena_init(&a);
	keys = keyset_new(rrset_build(&a, &(struct rrset_parts){ .owner = N("example."),
								 .type = TYPE_DNSKEY,
								 .class_ = CLASS_IN,
								 .records = &record,
								 .count = 1 }));
	keycache_put(c, &(struct key_news){ .name = N("example."), .kind = KEYS_TRUSTED,
					    .keys = keys, .ttl_s = 60 }, NOW);
	assert_int_equal(keys->pins, 2);
	assert_ptr_equal(keycache_find(c, N("example."), NOW)->keys, keys);
	(void)keycache_forget(c, dname_root, false);
	keycache_free(c);
	rcu_turn_end();
	rcu_flush();
	rcu_turn_begin();
	assert_int_equal(keys->pins, 1);
	keyset_unpin(keys);
	arena_clear(&a);
}

static void keys_are_weighed_with_their_entry(void **state)
{
	(void)state;
	static const uint8_t rdata[1000] = { 1, 0, 3, 13, 1, 2, 3, 4 };
	struct slice record = { rdata, sizeof(rdata) };
	struct keycache *c = keycache_new(64 << 10, 1);
	struct keyset *keys;
	size_t kept = 0;
	struct arena a;

	arena_init(&a);
	keys = keyset_new(rrset_build(&a, &(struct rrset_parts){ .owner = N("example."),
								 .type = TYPE_DNSKEY,
								 .class_ = CLASS_IN,
								 .records = &record,
								 .count = 1 }));
	for (unsigned i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "z%u.example.", i);
		keycache_put(c, &(struct key_news){ .name = N(name), .kind = KEYS_TRUSTED,
						    .keys = keys, .ttl_s = 60 }, NOW);
	}
	for (unsigned i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "z%u.example.", i);
		kept += keycache_find(c, N(name), NOW) != NULL;
	}
	assert_in_range(kept, 5, 64);
	keycache_free(c);
	keyset_unpin(keys);
	arena_clear(&a);
}

static void put_many(struct keycache *c, char kind, unsigned count, uint32_t ttl_s, uint32_t now_s)
{
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%c%u.example.", kind, i);
		keycache_put(c, &(struct key_news){ .name = N(name), .kind = KEYS_NO_CUT, .ttl_s = ttl_s }, now_s);
	}
}

static unsigned count_found(struct keycache *c, char kind, unsigned count, uint32_t now_s)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%c%u.example.", kind, i);
		found += keycache_find(c, N(name), now_s) != NULL;
	}
	return found;
}

/* Also where expired entries were used a moment before they expired, and those that are fresh never were. */
static void expired_entries_make_room_first(void **state)
{
	(void)state;
	enum { MANY = 250 }; /* more than half of what there is room for */
	struct keycache *c = keycache_new(64 << 10, 1);

	put_many(c, 'o', MANY, 10, NOW);
	assert_int_equal(count_found(c, 'o', MANY, NOW + 9), MANY);
	put_many(c, 'n', MANY, 1000, NOW + 20);
	put_many(c, 'm', MANY, 1000, NOW + 20);
	assert_int_equal(count_found(c, 'n', MANY, NOW + 20), MANY);
	assert_int_equal(count_found(c, 'm', MANY, NOW + 20), MANY);
	keycache_free(c);
}

static bool contradicts(const struct slab_entry *e, const void *arg)
{
	(void)e, (void)arg;
	return true;
}

/* Under another configuration what that contradicts is not found, though it is still there. */
static void what_another_configuration_contradicts_is_not_found(void **state)
{
	(void)state;
	static const struct slab_rule rule = { .goes = contradicts };
	struct keycache *c = keycache_new(1 << 20, 1);

	put(c, "example.", KEYS_BOGUS, 60);
	slab_forget_begin(keycache_slab(c), &rule);
	assert_non_null(keycache_find(c, N("example."), NOW));
	slab_enter(1);
	assert_null(keycache_find(c, N("example."), NOW));
	put(c, "other.example.", KEYS_BOGUS, 60);
	assert_non_null(keycache_find(c, N("other.example."), NOW));
	slab_forget_end(keycache_slab(c));
	slab_enter(0);
	keycache_free(c);
}

static void nothing_is_kept_for_no_time(void **state)
{
	(void)state;
	struct keycache *c = keycache_new(1 << 20, 1);

	put(c, "example.", KEYS_BOGUS, 60);
	put(c, "example.", KEYS_NO_CUT, 0);
	assert_int_equal(keycache_find(c, N("example."), NOW)->kind, KEYS_BOGUS);
	keycache_free(c);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(expired_entries_make_room_first),
		CLAIM(nothing_is_kept_for_no_time),
		CLAIM(what_another_configuration_contradicts_is_not_found),
		CLAIM(a_zone_is_found_by_its_name_while_fresh),
		CLAIM(each_scope_has_its_own),
		CLAIM(the_latest_word_counts),
		CLAIM(a_signed_zone_cuts_off_those_above),
		CLAIM(a_chain_of_trust_has_room_whatever_its_budget),
		CLAIM(what_is_forgotten_is_as_asked),
		CLAIM(keys_are_weighed_with_their_entry),
		CLAIM(keys_live_while_somebody_holds_them),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
