/* Claims about the images of one answer: for whom each is, how long, and what comes out of it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/tests/msg_made.h"

/* What has no signatures any more is for nobody else than what had them: in the same scope, for the same subnet, as long. */
static void a_plain_image_is_for_whom_the_full_one_is(void **state)
{
	(void)state;
	struct subnet_key own = { .net = { .net = { .family = 4, .ip = { 10, 1 } }, .bits = 16 } }, other = own;
	struct msgcache *c = msgcache_new(1 << 20, 1);
	struct question q = made_question("s.example.", TYPE_A);
	const struct stored *full, *plain;
	struct arena a;

	arena_init(&a);
	other.net.net.ip[1] = 2;
	msgcache_store(c, made_message(&a, NOW, &signed_a), &(struct msg_keep){ .now_s = NOW, .ttl_s = 200, .scope = 2 });
	full = look(c, "s.example.", TYPE_A, 2, true);
	plain = look(c, "s.example.", TYPE_A, 2, false);
	assert_true(full && plain && full != plain);
	assert_int_equal(plain->expires_s, full->expires_s);
	assert_int_equal(plain->refresh_s, full->refresh_s);
	assert_ptr_equal(look(c, "s.example.", TYPE_A, 2, false), plain);
	for (unsigned scope = 0; scope < 4; scope++)
		for (unsigned wants = 0; wants < 2; wants++)
			assert_int_equal(look(c, "s.example.", TYPE_A, (uint16_t)scope, wants) != NULL, scope == 2);

	msgcache_store(c, made_message(&a, NOW, &signed_a), &(struct msg_keep){ .now_s = NOW, .ttl_s = 200, .scope = 3, .place = &own });
	full = msgcache_find_at(c, &q, 3, &own, true);
	plain = msgcache_find_at(c, &q, 3, &own, false);
	assert_true(full && plain && full != plain);
	assert_ptr_equal(msgcache_find_at(c, &q, 3, &own, false), plain);
	assert_ptr_equal(msgcache_find_at(c, &q, 3, &own, true), full);
	for (unsigned wants = 0; wants < 2; wants++) {
		assert_null(msgcache_find_at(c, &q, 3, &other, wants));
		assert_null(msgcache_find_at(c, &q, 2, &own, wants));
		assert_null(look(c, "s.example.", TYPE_A, 3, wants));
	}
	/* what is for all is forgotten without it, and it without that */
	msgcache_remove(c, &q);
	assert_null(look(c, "s.example.", TYPE_A, 2, true));
	assert_ptr_equal(msgcache_find_at(c, &q, 3, &own, true), full);
	msgcache_remove_at(c, &q, 3, &own);
	assert_null(msgcache_find_at(c, &q, 3, &own, true));
	assert_null(msgcache_find_at(c, &q, 3, &own, false));
	arena_clear(&a);
	msgcache_free(c);
}

/* RFC 4035 3.2.1: a DS set beside the answer is for who asks for DNSSEC, though it has no signature here. */
static void a_ds_set_is_for_who_asks_for_it(void **state)
{
	(void)state;
	static const struct {
		struct made made;
		unsigned full, plain; /* sets */
	} rows[] = {
		{ { "s.example.", TYPE_A, 0, { "s.example. 300 A 192.0.2.1\n", "s.example. 200 DS 1 8 2 00\n" } }, 2, 1 },
		{ { "s.example.", TYPE_DS, 0, { "s.example. 200 DS 1 8 2 00\n" } }, 1, 1 },
		{ { "s.example.", TYPE_A, 0, { "s.example. 300 A 192.0.2.1\n", "s.example. 200 NS a.\n" } }, 2, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct arena a;

		arena_init(&a);
		keep(c, &rows[i].made, NOW, 200);
		for (unsigned full = 0; full < 2; full++) {
			const struct message *m = stored_unpack(look(c, "s.example.", rows[i].made.type, 0, full), &a, NOW);

			assert_int_equal(message_set_count(m), full ? rows[i].full : rows[i].plain);
		}
		arena_clear(&a);
		msgcache_free(c);
	}
}

static void a_place_comes_out_as_it_went_in(void **state)
{
	(void)state;
	static const struct subnet_key rows[] = {
		{ .net = { .net = { .family = 4, .ip = { 10, 1, 2 } }, .bits = 24 } },
		{ .net = { .net = { .family = 4, .ip = { 10, 1, 2, 128 } }, .bits = 25 }, .coarse = true },
		{ .net = { .net = { .family = 4 }, .bits = 0 }, .coarse = true },
		{ .net = { .net = { .family = 6, .ip = { 32, 1, 13, 184, 0, 1, 2 } }, .bits = 56 } },
		{ .net = { .net = { .family = 6, .ip = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } }, .bits = 128 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct question q = made_question("s.example.", TYPE_A);
		struct subnet_key got;
		struct arena a;

		arena_init(&a);
		msgcache_store(c, made_message(&a, NOW, &signed_a), &(struct msg_keep){ .now_s = NOW, .ttl_s = 200, .place = &rows[i] });
		for (unsigned full = 0; full < 2; full++) {
			memset(&got, 0xff, sizeof(got));
			assert_true(stored_place(msgcache_find_at(c, &q, 0, &rows[i], full), &got));
			assert_int_equal(got.net.net.family, rows[i].net.net.family);
			assert_int_equal(got.net.bits, rows[i].net.bits);
			assert_int_equal(got.coarse, rows[i].coarse);
			assert_memory_equal(got.net.net.ip, rows[i].net.net.ip, 16);
		}
		arena_clear(&a);
		msgcache_free(c);
	}
}

/* serve-original-ttl: TTLs stay, but no set outlives the answer. */
static void a_whole_answers_sets_last_no_longer_than_it(void **state)
{
	(void)state;
	struct msgcache *c = msgcache_new(1 << 20, 1);
	const struct message *m;
	struct arena a;

	arena_init(&a);
	msgcache_store(c, made_message(&a, NOW, &plain_a), &(struct msg_keep){ .now_s = NOW, .ttl_s = 100, .whole = true });
	m = stored_unpack(look(c, "www.example.com.", TYPE_A, 0, false), &a, NOW + 50);
	assert_int_equal(m->sets[0]->ttl_s, 300);
	assert_int_equal(m->sets[0]->expires_s, NOW + 100);
	msgcache_store(c, made_message(&a, NOW, &plain_a), &(struct msg_keep){ .now_s = NOW, .ttl_s = 400, .whole = true });
	m = stored_unpack(look(c, "www.example.com.", TYPE_A, 0, false), &a, NOW + 50);
	assert_int_equal(m->sets[0]->expires_s, NOW + 300);
	arena_clear(&a);
	msgcache_free(c);
}

/* The addresses that end the chain, of those that this client gets. */
static void addresses_rotate_beside_what_the_client_does_not_get(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct made made;
		unsigned full, plain; /* addresses that rotate */
	} rows[] = {
		{ "a denial behind them", { "s.example.", TYPE_A, 0, { "s.example. 300 A 192.0.2.1\ns.example. 300 A 192.0.2.2\n" SIG("s.example.", "A")
								       "s.example. 200 NSEC z.example. A\n" SIG("s.example.", "NSEC") } }, 0, 2 },
		{ "a denial before them, asked for", { "s.example.", TYPE_ANY, 0, { "s.example. 200 NSEC z.example. A\n" SIG("s.example.", "NSEC")
										   "s.example. 300 A 192.0.2.1\ns.example. 300 A 192.0.2.2\n" } }, 2, 2 },
		{ "a denial behind them, asked for", { "s.example.", TYPE_ANY, 0, { "s.example. 300 A 192.0.2.1\ns.example. 300 A 192.0.2.2\n"
										   "s.example. 200 NSEC z.example. A\n" SIG("s.example.", "NSEC") } }, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);

		keep(c, &rows[i].made, NOW, 200);
		for (unsigned full = 0; full < 2; full++) {
			const struct stored *s = look(c, "s.example.", rows[i].made.type, 0, full);

			if (s->rotate_count != (full ? rows[i].full : rows[i].plain))
				fail_msg("%s, %u: %u", rows[i].why, full, s->rotate_count);
		}
		msgcache_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(a_plain_image_is_for_whom_the_full_one_is),
		CLAIM(a_ds_set_is_for_who_asks_for_it),
		CLAIM(a_place_comes_out_as_it_went_in),
		CLAIM(a_whole_answers_sets_last_no_longer_than_it),
		CLAIM(addresses_rotate_beside_what_the_client_does_not_get),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
