/* Claims about trust that rolls (RFC 5011): which keys are believed after which step, and when the next one is due.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/random.h"
#include "util/conf/options.h"
#include "validator/date.h"
#include "validator/tests/rolling.h"

/* Which end a hold-down time has, to the second, and what the options make of it. */
static void a_hold_down_ends_when_it_says(void **state)
{
	(void)state;
	enum { ADD = 30 * 86400, DEL = 20 * 86400, KEEP = 90 * 86400 };
	static const struct {
		const char *why, *first, *then, *last;
		struct autotrust_how how;
		uint32_t wait_s;        /* from the first step to the last; `then` is in the middle */
		const char *want;
	} rows[] = {
		{ "a new key, too early", "AC", "AC", "AC", { ADD, DEL, KEEP, false }, ADD - 1, "C=addpend/3 A=valid B=missing" },
		{ "a new key", "AC", "AC", "AC", { ADD, DEL, KEEP, false }, ADD, "C=valid A=valid B=missing" },
		{ "no time at all, but its TTL is the least", "AC", "AC", "AC", { 0, DEL, KEEP, false }, TTL - 1,
		  "C=addpend/3 A=valid B=missing" },
		{ "the TTL has passed", "AC", "AC", "AC", { 0, DEL, KEEP, false }, TTL, "C=valid A=valid B=missing" },
		{ "no time at all, and that is permitted", "AC", "AC", "AC", { 0, DEL, KEEP, true }, 2, "C=valid A=valid B=missing" },
		{ "a short time that is permitted", "AC", "AC", "AC", { 9, DEL, KEEP, true }, 8, "C=addpend/3 A=valid B=missing" },
		{ "the same, and it has passed", "AC", "AC", "AC", { 9, DEL, KEEP, true }, 9, "C=valid A=valid B=missing" },
		{ "a revoked key, too early", "AB!", "A", "A", { ADD, DEL, KEEP, false }, DEL - 1, "A=valid B!=revoked" },
		{ "a revoked key", "AB!", "A", "A", { ADD, DEL, KEEP, false }, DEL, "A=valid" },
		{ "a revoked key between others", "A!BC", "BC", "BC", { ADD, DEL, KEEP, false }, DEL, "C=addpend/3 B=valid" },
		{ "a revoked key that is still shown", "AB!", "AB!", "A", { ADD, DEL, KEEP, false }, DEL + 1,
		  "A=valid B!=revoked" },
		{ "one that is shown without its mark", "AB!", "AB", "A", { ADD, DEL, KEEP, false }, DEL + 1,
		  "A=valid B!=revoked" },
		{ "a missing key, too early", "A", "A", "A", { ADD, DEL, KEEP, false }, KEEP - 1, "A=valid B=missing" },
		{ "a missing key", "A", "A", "A", { ADD, DEL, KEEP, false }, KEEP, "A=valid" },
		{ "a missing key is kept for ever", "A", "A", "A", { ADD, DEL, 0, false }, 2 * KEEP, "A=valid B=missing" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = lines(dnskey_line('B'), dnskey_line('A'));
		struct world w;

		world_begin(&w, text);
		w.how = rows[i].how;
		step(&w, rows[i].first, rows[i].first);
		w.now += rows[i].wait_s / 2;
		step(&w, rows[i].then, rows[i].then);
		w.now += rows[i].wait_s - rows[i].wait_s / 2;
		step(&w, rows[i].last, rows[i].last);
		if (strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, keys_of(w.p));
		autotrust_free(w.p);
		mem_free(text);
	}
}

/* Seen twice it is, however short the time: one forged set does not make a key. */
static void a_key_is_seen_more_than_once(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL);
	struct world w;

	world_begin(&w, text);
	w.how = (struct autotrust_how){ 0, 0, 0, true };
	step(&w, "AB", "A");
	assert_string_equal(keys_of(w.p), "B=addpend/1 A=valid");
	step(&w, "AB", "A");
	assert_string_equal(keys_of(w.p), "B=valid A=valid");
	autotrust_free(w.p);
	mem_free(text);
}

/* Nobody who has no key of the missing ones' kind is left: then they are all there is. */
static void the_last_keys_are_not_given_up(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL);
	struct world w;

	world_begin(&w, text);
	step(&w, "A", "A");
	step(&w, "y", "A");
	assert_string_equal(keys_of(w.p), "A=missing");
	w.now += 400 * DAY;
	step(&w, "y", "A");
	assert_string_equal(keys_of(w.p), "A=missing");
	autotrust_free(w.p);
	mem_free(text);
}

/* A DS record goes when its key is held, and when that is revoked; it stands for no other key. */
static void a_ds_record_stands_for_its_key(void **state)
{
	(void)state;
	static const struct {
		const char *why, *ds, *keys, *signers, *want;
		unsigned actions;
	} rows[] = {
		{ "its key revokes itself", "AB", "A!B", "A!B", "B=valid A!=revoked", AUTOTRUST_KEYS | AUTOTRUST_WRITE },
		{ "its key is revoked by another", "AB", "A!B", "B", "B=valid DS=valid", AUTOTRUST_KEYS | AUTOTRUST_WRITE },
		{ "both revoke themselves", "AB", "A!B!", "A!B!", "A!=revoked B!=revoked",
		  AUTOTRUST_KEYS | AUTOTRUST_WRITE | AUTOTRUST_GONE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = lines(ds_line(rows[i].ds[1]), ds_line(rows[i].ds[0]));
		struct world w;
		unsigned actions;

		world_begin(&w, text);
		actions = step(&w, rows[i].keys, rows[i].signers);
		if (actions != rows[i].actions || strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("%s: %s, actions %u", rows[i].why, keys_of(w.p), actions);
		for (size_t n = 0; n < w.p->count; n++)
			if (w.p->keys[n].type == TYPE_DNSKEY)
				assert_int_equal(w.p->keys[n].ttl_s, TTL);
		autotrust_free(w.p);
		mem_free(text);
	}
}

/* Nor does one that is not trusted itself, as a file may have it. */
static void a_ds_record_that_waits_authenticates_nothing(void **state)
{
	static const char *const remarks[] = { "", " ;;state=2 ;;count=0 ;;lastchange=5",
					       " ;;state=1 ;;count=1 ;;lastchange=5" };

	(void)state;
	for (size_t i = 0; i < COUNT(remarks); i++) {
		char *ds = ds_line('B'), *text = lines(mem_textf("%s%s", ds, remarks[i]), dnskey_line('A'));
		struct world w;

		world_begin(&w, text);
		step(&w, "AB", "A");
		assert_string_equal(keys_of(w.p), i == 2 ? "B=addpend/1 A=valid" : "B=valid A=valid");
		autotrust_free(w.p);
		mem_free(text);
		mem_free(ds);
	}
}

/* Flags and protocol of a key that is new in a set that is believed: each alone says that it is not one to watch. */
static void only_keys_that_sign_keys_are_watched(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned flags;
		uint8_t protocol, algorithm;
		const char *want;
	} rows[] = {
		{ "a key that signs keys", DNSKEY_ZONE | DNSKEY_SEP, 3, PRETENDED, "B=addpend/1 A=valid" },
		{ "no zone key", DNSKEY_SEP, 3, PRETENDED, "A=valid" },
		{ "no SEP bit", DNSKEY_ZONE, 3, PRETENDED, "A=valid" },
		{ "revoked", DNSKEY_ZONE | DNSKEY_SEP | DNSKEY_REVOKE, 3, PRETENDED, "A=valid" },
		{ "another protocol", DNSKEY_ZONE | DNSKEY_SEP, 2, PRETENDED, "A=valid" },
		{ "another algorithm", DNSKEY_ZONE | DNSKEY_SEP, 3, UNKNOWN, "A=valid" },
		{ "the same key as another one", DNSKEY_ZONE | DNSKEY_SEP | 0x8000, 3, PRETENDED, "B=addpend/1 A=valid" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = lines(dnskey_line('A'), NULL);
		struct rrset *set;
		struct world w;
		struct arena a;

		world_begin(&w, text);
		arena_init(&a);
		set = shown(&a, "AB", "A", w.now);
		uint8_t *rd = (uint8_t *)(uintptr_t)rrset_record(set, 1).at;
		put_u16(rd, (uint16_t)rows[i].flags);
		rd[2] = rows[i].protocol;
		rd[3] = rows[i].algorithm;
		step_with(&w, set, NULL);
		if (strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, keys_of(w.p));
		arena_clear(&a);
		autotrust_free(w.p);
		mem_free(text);
	}
}

/* Two keys that differ in a flag, or in one byte of the key, are two. */
static void what_differs_in_more_than_its_revocation_is_another_key(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t at;
		uint8_t change;
		size_t count;
	} rows[] = {
		{ "nothing", 10, 0, 1 },
		{ "a flag", 0, 0x40, 2 },
		{ "the first byte of the key", 4, 1, 2 },
		{ "the last", 35, 1, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = lines(dnskey_line('A'), NULL);
		struct rrset *set;
		struct world w;
		struct arena a;

		world_begin(&w, text);
		arena_init(&a);
		set = shown(&a, "AA", "A", w.now);
		((uint8_t *)(uintptr_t)rrset_record(set, 1).at)[rows[i].at] ^= rows[i].change;
		step_with(&w, set, NULL);
		if (w.p->count != rows[i].count)
			fail_msg("%s: %s", rows[i].why, keys_of(w.p));
		arena_clear(&a);
		autotrust_free(w.p);
		mem_free(text);
	}
}

/* 64 keys, and not one more, whatever the zone shows. */
static void the_keys_of_a_point_are_bounded(void **state)
{
	(void)state;
	static const unsigned shown_keys[] = { 62, 63, 64, 100 };

	for (size_t i = 0; i < COUNT(shown_keys); i++) {
		char *text = lines(dnskey_line('A'), NULL);
		struct slice records[101], sig;
		struct rrset_parts parts = { .owner = N("example.com."), .type = TYPE_DNSKEY, .class_ = CLASS_IN,
					     .ttl_s = TTL, .records = records, .count = 1, .sigs = &sig, .sig_count = 1 };
		struct world w;
		struct arena a;

		world_begin(&w, text);
		arena_init(&a);
		records[0] = key_rdata(&a, 'A', false);
		sig = sig_rdata(&a, 'A', false, w.now);
		for (; parts.count <= shown_keys[i]; parts.count++) {
			records[parts.count] = key_rdata(&a, 'N', false);
			((uint8_t *)(uintptr_t)records[parts.count].at)[20] = (uint8_t)parts.count;
		}
		step_with(&w, rrset_build(&a, &parts), NULL);
		assert_int_equal(w.p->count, MIN(shown_keys[i] + 1, 64));
		arena_clear(&a);
		autotrust_free(w.p);
		mem_free(text);
	}
}

/* RFC 5011 2.3: half and a tenth of TTL or what is left of the signatures, whichever is less, within limits. */
static void the_next_probe_is_as_the_set_says(void **state)
{
	(void)state;
	enum { HOUR = 3600 };
	static const struct {
		const char *why;
		uint32_t ttl_s;
		int64_t left_s;         /* of the signature */
		bool small;
		uint32_t interval_s, retry_s;
	} rows[] = {
		{ "half and a tenth of the TTL", 20 * HOUR, 30 * DAY, false, 10 * HOUR, 2 * HOUR },
		{ "of the signature", 40 * HOUR, 20 * HOUR, false, 10 * HOUR, 2 * HOUR },
		{ "an hour at least", 2 * HOUR - 2, 30 * DAY, false, HOUR, HOUR },
		{ "less, if that is permitted", 2000, 30 * DAY, true, 1000, 200 },
		{ "a second at least", 1, 30 * DAY, true, 1, 1 },
		{ "fifteen days and one at most", 100 * DAY, 90 * DAY, false, 15 * DAY, DAY },
		{ "fifteen days, of a TTL", 29 * DAY, 90 * DAY, false, 29 * DAY / 2, DAY },
		{ "one day, of a signature", 100 * DAY, 9 * DAY, false, 9 * DAY / 2, 9 * DAY / 10 },
		{ "the signature has just ended", 20 * HOUR, -60, true, 1, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = lines(dnskey_line('A'), NULL);
		struct rrset *set;
		struct world w;
		struct arena a;
		struct slice sig = { NULL, 0 };
		struct rrset_walk walk;

		world_begin(&w, text);
		w.how.small_holddown = rows[i].small;
		arena_init(&a);
		set = shown(&a, "A", "A", w.now);
		set->ttl_s = rows[i].ttl_s;
		walk = rrset_sigs(set);
		assert_true(rrset_next(&walk, &sig));
		put_u32((uint8_t *)(uintptr_t)sig.at + 4, rows[i].ttl_s);
		put_u32((uint8_t *)(uintptr_t)sig.at + 8, (uint32_t)(w.now + rows[i].left_s));
		if (!(step_with(&w, set, NULL) & AUTOTRUST_WRITE) || w.p->query_interval_s != rows[i].interval_s ||
		    w.p->retry_s != rows[i].retry_s)
			fail_msg("%s: %u, %u: %s", rows[i].why, w.p->query_interval_s, w.p->retry_s, w.said);
		assert_int_equal(w.p->next_probe, w.now + rows[i].interval_s);
		assert_int_equal(autotrust_wait_s(w.p, w.now), rows[i].interval_s);
		assert_int_equal(autotrust_wait_s(w.p, w.now + rows[i].interval_s - 1), 1);
		assert_int_equal(autotrust_wait_s(w.p, w.now + rows[i].interval_s), 0);
		assert_int_equal(autotrust_wait_s(w.p, w.now + rows[i].interval_s + 1), 0);
		arena_clear(&a);
		autotrust_free(w.p);
		mem_free(text);
	}
}

/* Another set than the zone's keys is no answer: it is counted, and nothing of it is believed or told. */
static void what_was_not_asked_for_is_no_answer(void **state)
{
	(void)state;
	static const struct {
		const char *why, *owner;
		uint16_t type;
		unsigned actions;
	} rows[] = {
		{ "the keys", "example.com.", TYPE_DNSKEY, AUTOTRUST_WRITE },
		{ "of another zone", "example.org.", TYPE_DNSKEY, AUTOTRUST_FAILED },
		{ "another type", "example.com.", TYPE_CDNSKEY, AUTOTRUST_FAILED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = lines(dnskey_line('A'), NULL);
		struct slice record, sig;
		struct rrset_parts parts = { .owner = N(rows[i].owner), .type = rows[i].type, .class_ = CLASS_IN, .ttl_s = TTL,
					     .records = &record, .count = 1, .sigs = &sig, .sig_count = 1 };
		struct world w;
		struct arena a;

		world_begin(&w, text);
		step(&w, "A", "A");
		w.p->changed = false;
		arena_init(&a);
		record = key_rdata(&a, 'A', false);
		sig = sig_rdata(&a, 'A', false, w.now);
		w.now += DAY;
		if (step_with(&w, rrset_build(&a, &parts), NULL) != rows[i].actions)
			fail_msg("%s", rows[i].why);
		assert_int_equal(w.p->query_failed, 0);
		assert_int_equal(w.p->changed, rows[i].actions == AUTOTRUST_WRITE);
		assert_int_equal(w.p->last_queried, w.now);
		assert_string_equal(w.said, "");
		arena_clear(&a);
		autotrust_free(w.p);
		mem_free(text);
	}
}

static void what_has_happened_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *keys, *signers, *says;
	} rows[] = {
		{ "AB", "A", "trust anchor example.com. key %u: addpend, was start\n" },
		{ "A", "A", "trust anchor example.com. key %u: start, was addpend\n" },
		{ "A", "B", "trust anchor example.com.: DNSKEY RRset rejected: " },
	};
	char *text = lines(dnskey_line('A'), NULL);
	struct world w;

	world_begin(&w, text);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[120];

		snprintf(want, sizeof(want), rows[i].says, tag('B', false));
		step(&w, rows[i].keys, rows[i].signers);
		if (strncmp(w.said, want, strlen(want)) != 0)
			fail_msg("%s, not %s", w.said, want);
	}
	autotrust_free(w.p);
	mem_free(text);
}

/* What is handed to the validator: the trusted records alone, with the zone's name and their TTL. */
static void only_trusted_keys_become_the_anchor(void **state)
{
	(void)state;
	char *text = lines(ds_line('B'), dnskey_line('A'));
	struct rrset *ds, *keys;
	struct world w;

	world_begin(&w, text);
	ds = autotrust_ds(w.p);
	keys = autotrust_keys(w.p);
	assert_int_equal(ds->count, 1);
	assert_int_equal(ds->type, TYPE_DS);
	assert_int_equal(ds->ttl_s, 3600);
	assert_int_equal(keys->count, 1);
	assert_int_equal(keys->ttl_s, TTL);
	assert_int_equal(rrset_record(keys, 0).at[10], 'A');
	assert_true(dname_equals(rrset_owner(keys), N("example.com.")));
	mem_free(ds);
	mem_free(keys);
	step(&w, "AC", "A"); /* C waits */
	keys = autotrust_keys(w.p);
	assert_int_equal(keys->count, 1);
	mem_free(keys);
	w.p->revoked = true;
	assert_null(autotrust_ds(w.p));
	assert_null(autotrust_keys(w.p));
	autotrust_free(w.p);
	mem_free(text);
}

static void hold_down_times_are_configurable(void **state)
{
	(void)state;
	struct conf *conf = conf_new();
	struct autotrust_how how;

	autotrust_how_read(&how, conf);
	assert_int_equal(how.add_holddown_s, 30 * DAY);
	assert_int_equal(how.del_holddown_s, 30 * DAY);
	assert_int_equal(how.keep_missing_s, 366 * DAY);
	assert_false(how.small_holddown);
	conf->server.add_holddown = 11;
	conf->server.del_holddown = 22;
	conf->server.keep_missing = 33;
	conf->server.permit_small_holddown = true;
	autotrust_how_read(&how, conf);
	assert_int_equal(how.add_holddown_s, 11);
	assert_int_equal(how.del_holddown_s, 22);
	assert_int_equal(how.keep_missing_s, 33);
	assert_true(how.small_holddown);
	conf_free(conf);
}

static void a_key_rolls(void **state)
{
	(void)state;
	enum { W = AUTOTRUST_WRITE, WK = AUTOTRUST_WRITE | AUTOTRUST_KEYS };
	static const struct {
		int days;               /* that pass before */
		const char *keys, *signers;
		unsigned actions;
		const char *want;
	} rows[] = {
		{ 0, "Az", "Az", WK, "A=valid" },       /* the ZSK has served */
		{ 30, "ABz", "ABz", W, "B=addpend/1 A=valid" },
		{ 10, "ABz", "ABz", W, "B=addpend/2 A=valid" },
		{ 10, "ABz", "ABz", W, "B=addpend/3 A=valid" },
		{ 11, "ABz", "ABz", WK, "B=valid A=valid" },
		{ 30, "A!Bz", "A!Bz", WK, "B=valid A!=revoked" },
		{ 10, "ABz", "ABz", W, "B=valid A!=revoked" },  /* dead is dead */
		{ 2, "ABz", "Az", AUTOTRUST_WRITE | AUTOTRUST_FAILED, "B=valid A!=revoked" },
		{ 29, "Bz", "Bz", W, "B=valid" },       /* 31 days after it was last seen */
	};
	char *text = lines(dnskey_line('A'), dnskey_line('z'));
	struct world w;

	world_begin(&w, text);
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned actions;

		w.now += rows[i].days * DAY;
		actions = step(&w, rows[i].keys, rows[i].signers);
		if (actions != rows[i].actions || strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("step %zu: %s, actions %u: %s", i, keys_of(w.p), actions, w.said);
	}
	autotrust_free(w.p);
	mem_free(text);
}

static void the_first_dnskey_rrset_needs_a_configured_ds_or_key(void **state)
{
	(void)state;
	static const struct {
		const char *what, *dnskeys, *ds, *keys, *signers, *want;
	} rows[] = {
		{ "a DS record", "", "A", "Az", "A", "A=valid" },
		{ "a DS record, and another key", "", "A", "ABz", "AB", "B=addpend/1 A=valid" },
		{ "two DS records, one key yet to come", "", "AB", "Az", "A", "A=valid DS=valid" },
		{ "a ZSK alone", "z", "", "ABz", "ABz", "B=valid A=valid" },
		{ "a KSK, and another key", "A", "", "ABz", "AB", "B=addpend/1 A=valid" },
		{ "a KSK that is not there", "AB", "", "A", "A", "B=missing A=valid" },
		{ "a key of an unknown algorithm is not watched", "A", "", "AX", "AX", "A=valid" },
		{ "a ZSK in the set is not watched", "A", "", "Ayz", "A", "A=valid" },
		{ "a stranger's signature", "A", "", "AB", "B", "A=valid" },
		{ "a wrong DS record", "", "C", "AB", "AB", "DS=valid" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = mem_text("");
		struct world w;

		for (const char *k = rows[i].dnskeys; *k; k++)
			text = lines(text, dnskey_line(*k));
		for (const char *k = rows[i].ds; *k; k++)
			text = lines(text, ds_line(*k));
		world_begin(&w, text);
		step(&w, rows[i].keys, rows[i].signers);
		if (strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("%s: %s (%s)", rows[i].what, keys_of(w.p), w.said);
		autotrust_free(w.p);
		mem_free(text);
	}
}

static void what_is_missing_waits(void **state)
{
	(void)state;
	static const struct {
		int days;
		const char *keys, *signers, *want;
	} rows[] = {
		{ 0, "AB", "AB", "A=valid B=valid" },
		{ 1, "A", "A", "A=valid B=missing" },
		{ 1, "AB", "B", "A=valid B=valid" },            /* it is trusted all the while */
		{ 1, "A", "A", "A=valid B=missing" },
		{ 365, "A", "A", "A=valid B=missing" },
		{ 1, "A", "A", "A=valid" },
		{ 1, "ABC", "A", "C=addpend/1 B=addpend/1 A=valid" },
		{ 1, "AB", "A", "B=addpend/2 A=valid" },        /* gone before its time */
		{ 1, "ABC!", "A", "B=addpend/3 A=valid" },
		{ 1, "AB!", "B!", "B=addpend/3 A=valid" },      /* nobody who is trusted says so */
		{ 1, "AB!", "AB!", "A=valid" },                 /* RFC 5011 4.1: it is not in the set any more */
		{ 1, "AB!", "AB!", "A=valid" },
		{ 1, "AB", "A", "B=addpend/1 A=valid" },
		{ 1, "y", "A", "A=missing" },                   /* A speaks, though it is not in the set */
	};
	char *text = lines(dnskey_line('B'), dnskey_line('A'));
	struct world w;

	world_begin(&w, text);
	for (size_t i = 0; i < COUNT(rows); i++) {
		w.now += rows[i].days * DAY;
		step(&w, rows[i].keys, rows[i].signers);
		if (strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("step %zu: %s (%s)", i, keys_of(w.p), w.said);
	}
	autotrust_free(w.p);
	mem_free(text);
}

static void a_point_dies_with_its_last_key(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), dnskey_line('B')), *got, *want, when[DATE_TEXT];
	struct world w;
	unsigned actions;

	world_begin(&w, text);
	assert_int_equal(step(&w, "AB", "AB"), AUTOTRUST_WRITE);
	w.now += DAY;
	/* Not signed by the key itself: no revocation, and nothing to believe the set by. */
	assert_int_equal(step(&w, "A!B!", "B!"), AUTOTRUST_KEYS | AUTOTRUST_WRITE | AUTOTRUST_FAILED);
	assert_string_equal(keys_of(w.p), "B!=revoked A=valid");
	w.now += DAY;
	actions = step(&w, "A!B!", "A!B!");
	assert_int_equal(actions, AUTOTRUST_KEYS | AUTOTRUST_WRITE | AUTOTRUST_GONE);
	assert_string_equal(keys_of(w.p), "B!=revoked A!=revoked");
	assert_true(w.p->revoked);
	assert_null(autotrust_keys(w.p));
	assert_null(autotrust_ds(w.p));
	got = autotrust_print(w.p);
	want = mem_textf("; autotrust trust anchor file\n"
			 ";;REVOKED\n"
			 "; The zone has all keys revoked, and is\n"
			 "; considered as if it has no trust anchors.\n"
			 "; the remainder of the file is the last probe.\n"
			 "; to restart the trust anchor, overwrite this file.\n"
			 "; with one containing valid DNSKEYs or DSes.\n"
			 ";;id: example.com. 1\n"
			 ";;last_queried: 1251272800 ;;%s\n"
			 ";;last_success: 1251272800 ;;%s\n"
			 ";;next_probe_time: 0 ;;Thu Jan  1 00:00:00 1970\n",
			 date_print_ctime(w.now, when), date_print_ctime(w.now, when));
	got[strlen(want)] = '\0';
	assert_string_equal(got, want);
	/* For good: a probe changes nothing, and a file that says so is read as such. */
	w.now += DAY;
	assert_int_equal(step(&w, "AB", "AB"), 0);
	mem_free(got);
	got = autotrust_print(w.p);
	autotrust_free(w.p);
	w.p = autotrust_parse(NULL, got, strlen(got), NULL);
	assert_non_null(w.p);
	assert_true(w.p->revoked);
	assert_null(autotrust_keys(w.p));
	autotrust_free(w.p);
	mem_free(got);
	mem_free(want);
	mem_free(text);
}

static void failures_are_tried_sooner_and_bogus_sets_counted(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL);
	struct world w;

	world_begin(&w, text);
	/* Before the first success the file stays as the operator wrote it. */
	assert_int_equal(step(&w, "A", "B"), AUTOTRUST_FAILED);
	assert_int_equal(w.p->query_failed, 1);
	assert_int_equal(w.p->next_probe, START + 3600);
	assert_true(strstr(w.said, "DNSKEY RRset rejected") != NULL);
	w.now += 3600;
	assert_int_equal(autotrust_wait_s(w.p, w.now), 0);
	assert_int_equal(step(&w, "A", "A"), AUTOTRUST_WRITE);
	assert_int_equal(w.p->query_failed, 0);
	assert_int_equal(w.p->query_interval_s, 5400);
	assert_int_equal(w.p->retry_s, 3600);
	assert_int_equal(autotrust_wait_s(w.p, w.now), 5400);
	assert_int_equal(autotrust_wait_s(w.p, 0), 15 * DAY);   /* the clock was set back */
	w.now += 5400;
	assert_int_equal(step(&w, "A", "B"), AUTOTRUST_FAILED | AUTOTRUST_WRITE);
	assert_int_equal(w.p->next_probe, w.now + 3600);
	assert_int_equal(w.p->last_success, w.now - 5400);
	w.now += 3600;
	assert_int_equal(step(&w, NULL, NULL), AUTOTRUST_FAILED);       /* silence is no news */
	assert_int_equal(w.p->query_failed, 1);
	assert_int_equal(w.p->last_queried, w.now);
	assert_int_equal(autotrust_newest_time(w.p), w.p->last_success);
	autotrust_free(w.p);
	mem_free(text);
}

static void probes_are_spread_by_chance(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL);
	bool differ = false;
	struct random r;
	struct world w;

	world_begin(&w, text);
	random_play(&r, 7);
	for (unsigned i = 0; i < 50; i++) {
		struct arena a;
		int purse = 32;
		struct verify_how verify = { .rules = &w.rules, .arena = &a, .signatures = &purse,
					     .now = (uint32_t)START };
		struct autotrust_step s = { .verify = &verify, .how = &w.how, .now = START,
					    .random = &r };
		int64_t before = w.p->next_probe;

		arena_init(&a);
		s.dnskeys = shown(&a, "A", "A", START);
		autotrust_step(w.p, &s);
		arena_clear(&a);
		assert_in_range(w.p->next_probe - START, 4861, 5400);
		differ |= i > 0 && before != w.p->next_probe;
	}
	assert_true(differ);
	autotrust_free(w.p);
	mem_free(text);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(hold_down_times_are_configurable),
		cmocka_unit_test(a_key_rolls),
		cmocka_unit_test(the_first_dnskey_rrset_needs_a_configured_ds_or_key),
		cmocka_unit_test(what_is_missing_waits),
		cmocka_unit_test(a_point_dies_with_its_last_key),
		cmocka_unit_test(failures_are_tried_sooner_and_bogus_sets_counted),
		cmocka_unit_test(probes_are_spread_by_chance),
		cmocka_unit_test(a_hold_down_ends_when_it_says),
		cmocka_unit_test(a_key_is_seen_more_than_once),
		cmocka_unit_test(the_last_keys_are_not_given_up),
		cmocka_unit_test(a_ds_record_stands_for_its_key),
		cmocka_unit_test(a_ds_record_that_waits_authenticates_nothing),
		cmocka_unit_test(only_keys_that_sign_keys_are_watched),
		cmocka_unit_test(what_differs_in_more_than_its_revocation_is_another_key),
		cmocka_unit_test(the_keys_of_a_point_are_bounded),
		cmocka_unit_test(the_next_probe_is_as_the_set_says),
		cmocka_unit_test(what_was_not_asked_for_is_no_answer),
		cmocka_unit_test(what_has_happened_is_told),
		cmocka_unit_test(only_trusted_keys_become_the_anchor),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
