/* Claims about the message cache.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/tests/msg_made.h"

static const struct made failed = { "www.example.com.", TYPE_A, RCODE_SERVFAIL, { NULL } };

static void an_answer_is_found_by_its_question(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type, scope;
		bool want;
	} rows[] = {
		{ "as stored", "www.example.com.", TYPE_A, 0, true },
		{ "in other case", "WWW.eXAMPLE.COM.", TYPE_A, 0, true },
		{ "another type", "www.example.com.", TYPE_AAAA, 0, false },
		{ "another name", "ww.example.com.", TYPE_A, 0, false },
		{ "for another view", "www.example.com.", TYPE_A, 1, false },
	};
	struct msgcache *c = msgcache_new(1 << 20, 4);

	keep(c, &plain_a, NOW, 300);
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int full = 0; full < 2; full++) {
			if (!!look(c, rows[i].name, rows[i].type, rows[i].scope, full) !=
			    rows[i].want)
				fail_msg("%s (full %d)", rows[i].why, full);
		}
	}
	assert_int_equal(slab_counted(msgcache_slab(c)).entries, 1);
	msgcache_free(c);
}

/* Who can make two questions fall on one hash gets no other's answer by it. */
static void the_same_hash_is_not_the_same_question(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type, class_, scope;
		bool want;
	} rows[] = {
		{ "the same", "www.example.com.", TYPE_A, CLASS_IN, 0, true },
		{ "another name of the same length", "wwx.example.com.", TYPE_A, CLASS_IN, 0, false },
		{ "a longer one", "www1.example.com.", TYPE_A, CLASS_IN, 0, false },
		{ "another type", "www.example.com.", TYPE_AAAA, CLASS_IN, 0, false },
		{ "another class", "www.example.com.", TYPE_A, CLASS_CH, 0, false },
		{ "another scope", "www.example.com.", TYPE_A, CLASS_IN, 2, false },
	};
	struct question own = made_question("www.example.com.", TYPE_A);
	struct msgcache *c = msgcache_new(1 << 20, 1);
	uint64_t hash = msgcache_hash(&own);
	struct subnet_key place;

	keep(c, &plain_a, NOW, 300);
	assert_false(stored_place(look(c, "www.example.com.", TYPE_A, 0, true), &place)); /* it is for all clients */
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q = made_question(rows[i].name, rows[i].type);

		q.class_ = rows[i].class_;
		if (!!msgcache_find(c, &q, hash, rows[i].scope, true) != rows[i].want)
			fail_msg("%s", rows[i].why);
	}
	msgcache_free(c);
}

/* A SOA record limits a denial in AUTHORITY alone; and what is given although it has expired says so, a denial as one. */
static void what_comes_out_knows_what_it_is(void **state)
{
	(void)state;
	static const struct made soa = { "example.com.", TYPE_SOA, RCODE_NOERROR, { "example.com. 300 SOA a. b. 1 2 3 4 5" } },
				 denied = { "no.example.com.", TYPE_A, RCODE_NXDOMAIN, { NULL, "example.com. 300 SOA a. b. 1 2 3 4 5" } };

	for (unsigned i = 0; i < 2; i++) {
		const struct made *how = i ? &denied : &soa;
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct message *m;
		struct arena a;

		arena_init(&a);
		keep(c, how, NOW, 300);
		m = stored_unpack(look(c, how->name, how->type, 0, true), &a, NOW);
		assert_int_equal((m->sets[0]->flags & RRSET_SOA_NEGATIVE) != 0, i);
		m = stored_revive(look(c, how->name, how->type, 0, true), &a, NOW + 1000, 30);
		assert_int_equal(m->reason, i ? REASON_stale_nxdomain : REASON_stale);
		assert_int_equal(m->sets[0]->expires_s, NOW + 1030);
		m = stored_revive(look(c, how->name, how->type, 0, true), &a, NOW + 100, 30);
		assert_int_equal(m->sets[0]->expires_s, NOW + 300);
		arena_clear(&a);
		msgcache_free(c);
	}
}

/* Of what came with 300 seconds 5 are left: once expired it is shown as the other records are (RFC 8767 4). */
static void what_was_older_may_be_shown_as_long_as_the_rest(void **state)
{
	(void)state;
	static const struct { uint32_t whole_s, left_s, stale_ttl_s, want_s; } rows[] = {
		{ 300, 5, 30, 30 }, { 300, 5, 3600, 200 }, { 100, 5, 3600, 100 }, { 300, 300, 250, 250 }, { 5, 5, 30, 5 },
	};
	static const struct made how = { "www.example.com.", TYPE_A, RCODE_NOERROR,
					 { "www.example.com. 200 A 192.0.2.1\n", "example.com. 300 NS ns.example.\n" } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct message *m;
		struct rrset *ns;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		ns = rrset_copy(&a, m->sets[1]);
		ns->ttl_s = rows[i].whole_s;
		ns->expires_s = NOW + rows[i].left_s;
		m->sets[1] = ns;
		msgcache_store(c, m, &(struct msg_keep){ .now_s = NOW, .ttl_s = rows[i].left_s });
		m = stored_revive(look(c, how.name, how.type, 0, true), &a, NOW + 1000, rows[i].stale_ttl_s);
		assert_int_equal(m->sets[1]->expires_s, NOW + 1000 + rows[i].want_s);
		arena_clear(&a);
		msgcache_free(c);
	}
}

static void an_entry_is_small(void **state)
{
	(void)state;
	static const struct made one = {
		"n123456.example.", TYPE_A, RCODE_NOERROR, { "n123456.example. 300 A 192.0.2.1\n" }
	};
	struct msgcache *c = msgcache_new(1 << 20, 1);
	const struct stored *s;

	keep(c, &one, NOW, 300);
	s = look(c, "n123456.example.", TYPE_A, 0, false);
	assert_non_null(s);
	assert_true(s->link.units * 16 <= (sizeof(void *) == 8 ? 128 : 112));
	msgcache_free(c);
}

static void times_are_kept_with_it(void **state)
{
	(void)state;
	static const struct {
		uint32_t ttl_s;
		bool kept;
		uint32_t refresh_s;
	} rows[] = {
		{ 0, false, 0 },          { 1, true, NOW + 1 },         { 10, true, NOW + 9 },
		{ 300, true, NOW + 270 }, { 86400, true, NOW + 77760 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *s;

		keep(c, &plain_a, NOW, rows[i].ttl_s);
		s = look(c, "www.example.com.", TYPE_A, 0, false);
		assert_int_equal(s != NULL, rows[i].kept);
		if (s) {
			assert_int_equal(s->stored_s, NOW);
			assert_int_equal(s->expires_s, NOW + rows[i].ttl_s);
			assert_int_equal(s->refresh_s, rows[i].refresh_s);
			assert_true(stored_is_fresh(s, NOW + rows[i].ttl_s - 1));
			assert_false(stored_is_fresh(s, NOW + rows[i].ttl_s));
		}
		msgcache_free(c);
	}
}

/* The signatures of what stands before are in one image and not in the other. */
static void addresses_behind_a_signed_alias_rotate_in_both_images(void **state)
{
	(void)state;
	static const struct made made = { "w.example.", TYPE_A, RCODE_NOERROR,
					  { "w.example. 300 CNAME s.example.\n" SIG("w.example.", "CNAME")
					    "s.example. 300 A 192.0.2.1\ns.example. 300 A 192.0.2.2\n" SIG("s.example.", "A") } };
	struct msgcache *c = msgcache_new(1 << 20, 1);

	keep(c, &made, NOW, 200);
	for (unsigned full = 0; full < 2; full++) {
		const struct stored *s = look(c, "w.example.", TYPE_A, 0, full);

		assert_non_null(s);
		assert_int_equal(get_u16(stored_wire(s) + 6), full ? 5 : 3);
		assert_int_equal(s->rotate_count, 2);
	}
	msgcache_free(c);
}

/* The places of TTLs and of what rotates are right, whatever stands before. */
static void places_in_the_image_are_right(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct made made;
		unsigned ttls, rotate, step;
	} rows[] = {
		{ "three addresses",
		  { "a.example.",
		    TYPE_A,
		    0,
		    { "a.example. 7 A 192.0.2.1\na.example. 7 A 192.0.2.2\na.example. 7 A "
		      "192.0.2.3\n" } },
		  3,
		  3,
		  16 },
		{ "one address",
		  { "a.example.", TYPE_A, 0, { "a.example. 7 A 192.0.2.1\n" } },
		  1,
		  0,
		  0 },
		{ "two behind an alias",
		  { "a.example.",
		    TYPE_AAAA,
		    0,
		    { "a.example. 7 CNAME b.other.\nb.other. 7 AAAA 2001:db8::1\n"
		      "b.other. 7 AAAA 2001:db8::2\n" } },
		  3,
		  2,
		  28 },
		{ "signed",
		  { "a.example.",
		    TYPE_A,
		    0,
		    { "a.example. 7 A 192.0.2.1\na.example. 7 A 192.0.2.2\n"
		      "a.example. 7 RRSIG A 13 2 7 20300101000000 20200101000000 1 example. "
		      "AAAA\n" } },
		  3,
		  2,
		  16 },
		{ "others than addresses",
		  { "a.example.",
		    TYPE_MX,
		    0,
		    { "a.example. 7 MX 1 b.example.\na.example. 7 MX 2 c.example.\n" } },
		  2,
		  0,
		  0 },
		{ "with the rest of the sections",
		  { "a.example.",
		    TYPE_A,
		    0,
		    { "a.example. 7 A 192.0.2.1\na.example. 7 A 192.0.2.2\n",
		      "example. 7 NS ns.example.\n", "ns.example. 7 A 192.0.2.53\n" } },
		  4,
		  2,
		  16 },
		{ "the root",
		  { ".", TYPE_A, 0, { ". 7 A 192.0.2.1\n. 7 A 192.0.2.2\n" } },
		  2,
		  0,
		  0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *s;

		keep(c, &rows[i].made, NOW, 7);
		s = look(c, rows[i].made.name, rows[i].made.type, 0, true);
		assert_non_null(s);
		if (s->ttl_count != rows[i].ttls || s->rotate_count != rows[i].rotate ||
		    (rows[i].rotate && stored_rotate_step(s) != rows[i].step))
			fail_msg("%s: %u TTLs, %u rotate by %u", rows[i].why, s->ttl_count,
				 s->rotate_count, (unsigned)stored_rotate_step(s));
		for (unsigned t = 0; t < s->ttl_count; t++)
			assert_int_equal(get_u32(stored_wire(s) + s->data[t]), 7);
		for (unsigned r = 0; r < s->rotate_count; r++)
			assert_int_equal(
				get_u32(stored_wire(s) + s->rotate_at + r * stored_rotate_step(s) + 6), 7);
		msgcache_free(c);
	}
}

static void who_wants_no_signatures_gets_none(void **state)
{
	(void)state;
	struct msgcache *c = msgcache_new(1 << 20, 1);
	const struct stored *full, *plain, *renewed;
	struct question q;

	keep(c, &signed_a, NOW, 200);
	full = look(c, "s.example.", TYPE_A, 0, true);
	assert_non_null(full);
	assert_int_equal(full->fits, STORED_FULL);
	assert_int_equal(get_u16(stored_wire(full) + 6), 3);
	assert_int_equal(get_u16(stored_wire(full) + 8), 2);

	plain = look(c, "S.example.", TYPE_A, 0, false);
	assert_non_null(plain);
	assert_int_equal(plain->fits, STORED_PLAIN);
	assert_int_equal(get_u16(stored_wire(plain) + 6), 2);
	assert_int_equal(get_u16(stored_wire(plain) + 8), 0);
	assert_int_equal(plain->expires_s, full->expires_s);
	assert_int_equal(plain->refresh_s, full->refresh_s);
	assert_int_equal(plain->rotate_count, 2);
	assert_int_equal(slab_counted(msgcache_slab(c)).entries, 2);
	assert_ptr_equal(look(c, "s.example.", TYPE_A, 0, true), full);
	assert_ptr_equal(look(c, "s.example.", TYPE_A, 0, false), plain);

	/* A newer answer takes the place of both. */
	keep(c, &signed_a, NOW + 50, 200);
	assert_int_equal(slab_counted(msgcache_slab(c)).entries, 1);
	renewed = look(c, "s.example.", TYPE_A, 0, false);
	assert_int_equal(renewed->stored_s, NOW + 50);
	q = made_question("s.example.", TYPE_A);
	msgcache_remove(c, &q);
	assert_int_equal(slab_counted(msgcache_slab(c)).entries, 0);
	msgcache_free(c);
}

static void a_failure_does_not_take_the_place_of_data(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct msg_keep how;
		bool good_stays;
		uint32_t refresh_s, expires_s;
	} rows[] = {
		{ "while it is fresh",
		  { .now_s = NOW + 280, .ttl_s = 5 },
		  true,
		  NOW + 285,
		  NOW + 300 },
		{ "unless it must",
		  { .now_s = NOW + 280, .ttl_s = 5, .always = true },
		  false,
		  0,
		  0 },
		{ "expired, it does", { .now_s = NOW + 300, .ttl_s = 5 }, false, 0, 0 },
		{ "expired and wanted",
		  { .now_s = NOW + 400, .ttl_s = 5, .keep_expired_s = 3600 },
		  true,
		  NOW + 405,
		  NOW + 300 },
		{ "wanted for longer",
		  { .now_s = NOW + 400, .ttl_s = 5, .keep_expired_s = 3600, .extend = true },
		  true,
		  NOW + 405,
		  NOW + 400 },
		{ "wanted for ever",
		  { .now_s = NOW + 400000, .ttl_s = 5, .keep_expired_s = SLAB_FOREVER },
		  true,
		  NOW + 400005,
		  NOW + 300 },
		{ "in the last second",
		  { .now_s = NOW + 3900, .ttl_s = 5, .keep_expired_s = 3600 },
		  true,
		  NOW + 3905,
		  NOW + 300 },
		{ "expired for too long",
		  { .now_s = NOW + 3901, .ttl_s = 5, .keep_expired_s = 3600 },
		  false,
		  0,
		  0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *s;
		struct arena a;

		arena_init(&a);
		keep(c, &plain_a, NOW, 300);
		msgcache_store(c, made_message(&a, rows[i].how.now_s, &failed), &rows[i].how);
		s = look(c, "www.example.com.", TYPE_A, 0, false);
		assert_non_null(s);
		if (stored_is_good(s) != rows[i].good_stays)
			fail_msg("%s: rcode %u", rows[i].why, s->rcode);
		if (rows[i].good_stays &&
		    (s->refresh_s != rows[i].refresh_s || s->expires_s != rows[i].expires_s))
			fail_msg("%s: refresh at %u, expired at %u", rows[i].why, s->refresh_s,
				 s->expires_s);
		assert_int_equal(slab_counted(msgcache_slab(c)).entries, 1);
		/* What is good always takes the place of a failure. */
		keep(c, &plain_a, rows[i].how.now_s, 300);
		assert_true(stored_is_good(look(c, "www.example.com.", TYPE_A, 0, true)));
		arena_clear(&a);
		msgcache_free(c);
	}
}

static void an_answer_never_validated_gives_way_to_the_same_found_bogus(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t was, verdict;
		uint32_t after_s;
		bool good_stays;
	} rows[] = {
		{ "never validated", SECURITY_UNCHECKED, SECURITY_BOGUS, 10, false },
		{ "nor as long as it is wanted", SECURITY_UNCHECKED, SECURITY_BOGUS, 400, false },
		{ "no verdict", SECURITY_UNCHECKED, SECURITY_UNCHECKED, 10, true },
		{ "proven", SECURITY_SECURE, SECURITY_BOGUS, 10, true },
		{ "unsigned", SECURITY_INSECURE, SECURITY_BOGUS, 10, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct msg_keep how = { .now_s = NOW, .ttl_s = 300, .keep_expired_s = 3600 };
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &plain_a);
		m->security = rows[i].was;
		assert_non_null(msgcache_store(c, m, &how));
		how.now_s += rows[i].after_s;
		m = made_message(&a, how.now_s, &failed);
		m->security = rows[i].verdict;
		msgcache_store(c, m, &how);
		if (stored_is_good(look(c, "www.example.com.", TYPE_A, 0, false)) != rows[i].good_stays)
			fail_msg("%s", rows[i].why);
		arena_clear(&a);
		msgcache_free(c);
	}
}

/* Names that fail, each asked for once more when it has failed, as who looks for an old answer does. */
static void failures_do_not_push_out_what_is_kept(void **state)
{
	(void)state;
	struct msgcache *c = msgcache_new(256 << 10, 1);
	struct made made = { .type = TYPE_A, .rcode = RCODE_NOERROR };
	char name[40], set[80];
	unsigned left = 0;

	slab_keep_stale(msgcache_slab(c), SLAB_FOREVER);
	made.name = name;
	made.section[0] = set;
	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "n%u.example.", i);
		snprintf(set, sizeof set, "%s 300 A 192.0.2.1\n", name);
		keep(c, &made, NOW, 300);
	}
	made.rcode = RCODE_SERVFAIL;
	made.section[0] = NULL;
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(name, sizeof name, "x%u.example.", i);
		keep(c, &made, NOW + i / 100, 5);
		(void)look(c, name, TYPE_A, 0, true);
	}
	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "n%u.example.", i);
		left += look(c, name, TYPE_A, 0, false) != NULL;
	}
	assert_int_equal(left, 500);
	msgcache_free(c);
}

static void a_message_comes_out_as_it_went_in(void **state)
{
	(void)state;
	struct msgcache *c = msgcache_new(1 << 20, 1);
	struct message *in, *out;
	struct arena a;

	arena_init(&a);
	in = made_message(&a, NOW, &signed_a);
	in->security = SECURITY_SECURE;
	in->reason = REASON_synthesized;
	in->flags = FLAG_AA | FLAG_RA | FLAG_AD;
	msgcache_store(c, in, &(struct msg_keep){ .now_s = NOW, .ttl_s = 200 });
	out = stored_unpack(look(c, "s.example.", TYPE_A, 0, true), &a, NOW + 50);
	assert_true(question_equals(&in->q, &out->q));
	assert_memory_equal(in->count, out->count, sizeof(in->count));
	assert_int_equal(out->security, SECURITY_SECURE);
	assert_int_equal(out->reason, REASON_synthesized);
	assert_int_equal(out->flags & (FLAG_AA | FLAG_AD), FLAG_AA);
	for (unsigned i = 0; i < message_set_count(in); i++) {
		const struct rrset *x = in->sets[i], *y = out->sets[i];

		assert_true(rrset_is(y, rrset_owner(x), x->type, x->class_));
		assert_true(rrset_same_records(x, y));
		assert_int_equal(x->sig_count, y->sig_count);
		assert_int_equal(y->expires_s, x->expires_s);
		assert_int_equal(y->ttl_s, x->ttl_s - 50);
		assert_int_equal(y->security, SECURITY_SECURE);
	}
	arena_clear(&a);
	msgcache_free(c);
}

/* No set of more than 256 records is kept, and nothing that does not fit in a message. */
/* Only a bug of ours brings that about; an answer that cannot be read is then as good as none. */
static void what_cannot_be_read_counts_as_missing(void **state)
{
	(void)state;
	struct msgcache *c = msgcache_new(1 << 20, 1);
	uint64_t before = msgcache_unreadable();
	const struct stored *s;
	struct arena a;
	uint8_t *wire;

	arena_init(&a);
	keep(c, &signed_a, NOW, 200);
	s = look(c, "s.example.", TYPE_A, 0, true);
	wire = (uint8_t *)(uintptr_t)stored_wire(s);
	/* The first record's owner, behind a question of 11 + 4 bytes, leads to itself. */
	put_u16(wire + MSG_HEAD_LEN + 15, 0xc000 | (MSG_HEAD_LEN + 15));
	assert_null(stored_unpack(s, &a, NOW));
	assert_null(stored_revive(s, &a, NOW + 500, 30));
	assert_null(look(c, "s.example.", TYPE_A, 0, false)); /* the plain one is made from it */
	assert_int_equal(msgcache_unreadable() - before, 3);
	keep(c, &signed_a, NOW, 200);
	assert_non_null(look(c, "s.example.", TYPE_A, 0, false));
	arena_clear(&a);
	msgcache_free(c);
}

static void what_is_too_large_is_not_kept(void **state)
{
	(void)state;
	static const struct {
		unsigned records, len;
		bool kept;
	} rows[] = {
		{ RRSET_RECORDS_MOST, 40, true },
		{ RRSET_RECORDS_MOST + 1, 40, false },
		{ 255, 250, false },
		{ 1, 65000, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(8 << 20, 1);
		struct slice *records = mem_array(rows[i].records, sizeof(*records));
		uint8_t *bytes = mem_zero(rows[i].records * 4 + rows[i].len);
		const struct rrset *sets[1];
		struct message m = { .sets = sets,
				     .count = { 1 },
				     .q = made_question("big.", 65280) };
		struct arena a;

		arena_init(&a);
		for (unsigned n = 0; n < rows[i].records; n++) {
			put_u32(bytes + n * 4, n);
			records[n] = (struct slice){ .at = bytes + n * 4, .len = rows[i].len };
		}
		sets[0] = rrset_build(&a, &(struct rrset_parts){ .owner = m.q.name,
								 .type = 65280,
								 .class_ = CLASS_IN,
								 .ttl_s = 60,
								 .expires_s = NOW + 60,
								 .records = records,
								 .count = rows[i].records });
		msgcache_store(c, &m, &(struct msg_keep){ .now_s = NOW, .ttl_s = 60 });
		if (!!look(c, "big.", 65280, 0, false) != rows[i].kept)
			fail_msg("%u records of %u bytes", rows[i].records, rows[i].len);
		arena_clear(&a);
		mem_free(records);
		mem_free(bytes);
		msgcache_free(c);
	}
}

/* Entries whose hashes are one stand beside each other, unless they are for one question, scope and place. */
static void the_same_hash_takes_nobodys_place(void **state)
{
	(void)state;
	static const struct subnet_key here = { .net = { .net = { .family = 4, .ip = { 192, 0, 2 } }, .bits = 24 } };
	static const struct {
		const char *name;
		uint16_t type, class_, scope;
		bool stands; /* what was there before */
	} rows[] = {
		{ "www.example.com.", TYPE_A, CLASS_IN, 0, false },    { "WWW.example.com.", TYPE_A, CLASS_IN, 0, false },
		{ "wwx.example.com.", TYPE_A, CLASS_IN, 0, true },     { "www1.example.com.", TYPE_A, CLASS_IN, 0, true },
		{ "www.example.com.", TYPE_AAAA, CLASS_IN, 0, true }, { "www.example.com.", TYPE_A, CLASS_CH, 0, true },
		{ "www.example.com.", TYPE_A, CLASS_IN, 2, true },
	};
	struct question own = made_question("www.example.com.", TYPE_A);
	uint64_t hash = msgcache_hash(&own);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made other = { rows[i].name, rows[i].type, RCODE_NXDOMAIN, { NULL, "example.com. 300 SOA a. b. 1 2 3 4 5" } };
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *mine, *others;
		struct question q = made_question(rows[i].name, rows[i].type);
		struct message *m;
		struct arena a;

		arena_init(&a);
		q.class_ = rows[i].class_;
		keep(c, &plain_a, 1000, 300);
		m = made_message(&a, 1000, &other);
		m->q.class_ = rows[i].class_;
		assert_non_null(msgcache_store(c, m, &(struct msg_keep){ .now_s = 1000, .ttl_s = 300, .hash = hash, .scope = rows[i].scope }));
		mine = msgcache_find(c, &own, hash, 0, true);
		others = msgcache_find(c, &q, hash, rows[i].scope, true);
		assert_non_null(mine);
		assert_non_null(others);
		assert_int_equal(others->rcode, RCODE_NXDOMAIN);
		if ((mine->rcode == RCODE_NOERROR) != rows[i].stands)
			fail_msg("%s: %u", rows[i].name, mine->rcode);
		/* what is for one subnet is for nobody else, and leaves what is for all */
		if (rows[i].stands) {
			m = made_message(&a, 1000, &(struct made){ "www.example.com.", TYPE_A, RCODE_NXDOMAIN, { NULL } });
			(void)msgcache_store(c, m, &(struct msg_keep){ .now_s = 1000, .ttl_s = 300, .place = &here });
			assert_int_equal(msgcache_find_at(c, &own, 0, &here, true)->rcode, RCODE_NXDOMAIN);
			assert_int_equal(msgcache_find_at(c, &own, 0, &here, false)->rcode, RCODE_NXDOMAIN);
			assert_null(msgcache_find_at(c, &own, 3, &here, true));
			assert_int_equal(msgcache_find(c, &own, hash, 0, true)->rcode, RCODE_NOERROR);
		}
		arena_clear(&a);
		msgcache_free(c);
	}
}

/* From a file or another cache: what is there and good stays; the rest keeps the times it had. */
/* One bit for each, whoever asked and however often; with and without DNSSEC records alike. */
static void an_answer_knows_in_which_lifetimes_it_was_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const struct made *made;
		bool full, asked;   /* for which of the images */
		uint32_t expired_s; /* so long ago, when the next one comes */
		uint8_t habit, want; /* before and after; in the plain image */
	} rows[] = {
		{ "nobody", &plain_a, true, false, 0, 0, 0 },
		{ "somebody", &plain_a, true, true, 0, 0, STORED_BEFORE },
		{ "again", &plain_a, true, true, 0, STORED_BEFORE, STORED_BEFORE * 3 },
		{ "not this time", &plain_a, true, false, 0, STORED_BEFORE * 3, STORED_BEFORE * 6 },
		{ "the oldest is forgotten", &plain_a, true, true, 0, STORED_BEFORE * 7, STORED_BEFORE * 7 },
		{ "just expired", &plain_a, true, true, 9, 0, STORED_BEFORE },
		{ "one lifetime ago", &plain_a, true, true, 10, 0, STORED_BEFORE * 2 },
		{ "two ago", &plain_a, true, true, 29, 0, STORED_BEFORE * 4 },
		{ "three ago", &plain_a, true, true, 30, STORED_BEFORE * 7, 0 },
		{ "ahead of time counts once", &plain_a, true, true, 0, STORED_AHEAD, STORED_BEFORE },
		{ "signed, with its signatures", &signed_a, true, true, 0, 0, STORED_BEFORE },
		{ "signed, without", &signed_a, false, true, 0, STORED_BEFORE, STORED_BEFORE * 3 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct made *made = rows[i].made;
		const struct stored *s;

		keep(c, made, NOW, 10);
		s = look(c, made->name, made->type, 0, rows[i].full);
		atomic_store(&((struct stored *)(uintptr_t)s)->habit, rows[i].habit);
		if (rows[i].asked)
			assert_int_equal(stored_note_asked(s), rows[i].habit);
		assert_int_equal(stored_was_asked(s), rows[i].asked);
		keep(c, made, NOW + 10 + rows[i].expired_s, 10);
		s = look(c, made->name, made->type, 0, false);
		if (s->habit != rows[i].want)
			fail_msg("%s: %u", rows[i].why, s->habit);
		msgcache_free(c);
	}
}

static void what_is_restored_takes_no_good_answers_place(void **state)
{
	(void)state;
	static const struct made newer = { "www.example.com.", TYPE_A, 0, { "www.example.com. 300 A 192.0.2.77" } },
				 odd = { "odd.example.com.", TYPE_A, RCODE_NXDOMAIN, { NULL, "example.com. 300 SOA a. b. 1 2 3 4 5" } };
	enum { NOTHING, GOOD, EXPIRED, FAILED };
	static const struct {
		unsigned there;
		bool want;
	} rows[] = { { NOTHING, true }, { GOOD, false }, { EXPIRED, true }, { FAILED, true } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msg_restore how = { .now_s = 1100, .stored_s = 1000, .expires_s = 1200 };
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *s;
		struct message *m;
		struct arena a;

		arena_init(&a);
		if (rows[i].there == GOOD || rows[i].there == EXPIRED)
			keep(c, &plain_a, 1000, rows[i].there == GOOD ? 300 : 50);
		else if (rows[i].there == FAILED)
			keep(c, &failed, 1090, 300);
		if (msgcache_restore(c, made_message(&a, 1000, &newer), &how) != rows[i].want)
			fail_msg("row %zu", i);
		s = look(c, "www.example.com.", TYPE_A, 0, true);
		assert_non_null(s);
		if (rows[i].want) {
			assert_int_equal(s->expires_s, 1200);
			assert_int_equal(s->stored_s, 1000);
			assert_int_equal(s->refresh_s, 1180);
		}
		m = made_message(&a, 1000, &odd);
		m->rcode = 256;
		assert_false(msgcache_restore(c, m, &how));
		m->rcode = 255;
		(void)msgcache_restore(c, m, &how);
		assert_non_null(look(c, "odd.example.com.", TYPE_A, 0, true));
		arena_clear(&a);
		msgcache_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(an_answer_is_found_by_its_question),
		CLAIM(the_same_hash_is_not_the_same_question),
		CLAIM(what_comes_out_knows_what_it_is),
		CLAIM(what_was_older_may_be_shown_as_long_as_the_rest),
		CLAIM(an_entry_is_small),
		CLAIM(times_are_kept_with_it),
		CLAIM(places_in_the_image_are_right),
		CLAIM(addresses_behind_a_signed_alias_rotate_in_both_images),
		CLAIM(who_wants_no_signatures_gets_none),
		CLAIM(a_failure_does_not_take_the_place_of_data),
		CLAIM(an_answer_never_validated_gives_way_to_the_same_found_bogus),
		CLAIM(failures_do_not_push_out_what_is_kept),
		CLAIM(a_message_comes_out_as_it_went_in),
		CLAIM(what_cannot_be_read_counts_as_missing),
		CLAIM(what_is_too_large_is_not_kept),
		CLAIM(the_same_hash_takes_nobodys_place),
		CLAIM(an_answer_knows_in_which_lifetimes_it_was_asked_for),
		CLAIM(what_is_restored_takes_no_good_answers_place),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
