/* Claims about the subnets that answers are kept for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/subnet_index.h"

#include "services/cache/msg.h"
#include "services/tests/made.h"
#include "util/tests/turn.h"

#define NOW 1000

static struct netblock net(const char *text)
{
	struct netblock n;

	if (!netblock_parse(&n, text, NULL))
		fail_msg("%s is no netblock", text);
	return n;
}

static void add(struct subnet_index *p, const char *text, bool coarse, uint32_t now_s, uint32_t most)
{
	struct question q = made_question("www.example.", TYPE_A);
	struct subnet_key at = { .net = net(text), .coarse = coarse };

	subnet_index_add(p, &q, &at,
		   &(struct subnet_index_how){ .now_s = now_s, .until_s = now_s + 60, .most = most });
}

/* What is found for somebody there, as text; "" for nothing. */
static const char *look(struct subnet_index *p, const char *who, uint32_t now_s)
{
	static char text[ADDR_TEXT];
	struct question q = made_question("WWW.example.", TYPE_A);
	struct netblock n = net(who);
	struct subnet_key at;

	return subnet_index_find(p, &q, 0, &n, now_s, &at) ? netblock_print(&at.net, text) : "";
}

static void the_widest_that_holds_a_client_is_its(void **state)
{
	(void)state;
	static const struct {
		const char *why, *who, *want;
	} rows[] = {
		{ "the same", "192.0.2.0/24", "192.0.2.0/24" },
		{ "a part of one", "192.0.2.128/25", "192.0.2.0/24" },
		{ "beside it", "192.0.3.0/24", "" },
		{ "it tells less than that", "192.0.0.0/16", "" },
		{ "deep in a wide one", "10.1.2.0/24", "10.0.0.0/8" },
		{ "another family", "2001:db8::/56", "" },
		{ "half a byte", "172.16.128.0/17", "172.16.128.0/17" },
		{ "its other half", "172.16.0.0/17", "" },
	};
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "192.0.2.0/24", false, NOW, 100);
	add(p, "10.0.0.0/8", false, NOW, 100);
	add(p, "172.16.128.0/17", false, NOW, 100);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = look(p, rows[i].who, NOW);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
	assert_string_equal(look(p, "192.0.2.0/24", NOW + 61), "");
	subnet_index_free(p);
}

static void what_holds_for_more_takes_the_place_of_what_it_covers(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "10.1.1.0/24", false, NOW, 100);
	add(p, "10.1.2.0/24", false, NOW, 100);
	add(p, "10.2.0.0/16", false, NOW, 100);
	add(p, "10.1.0.0/16", false, NOW + 1, 100);
	assert_string_equal(look(p, "10.1.2.0/24", NOW + 1), "10.1.0.0/16");
	assert_string_equal(look(p, "10.2.2.0/24", NOW + 1), "10.2.0.0/16");
	add(p, "0.0.0.0/0", false, NOW + 2, 100);
	assert_string_equal(look(p, "10.2.2.0/24", NOW + 2), "0.0.0.0/0");
	assert_string_equal(look(p, "0.0.0.0/0", NOW + 2), "0.0.0.0/0");
	subnet_index_free(p);
}

static void a_coarse_answer_is_for_those_who_tell_as_little(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "0.0.0.0/0", true, NOW, 100); /* for who wishes to tell nothing */
	add(p, "10.0.0.0/16", true, NOW, 100);
	assert_string_equal(look(p, "0.0.0.0/0", NOW), "0.0.0.0/0");
	assert_string_equal(look(p, "192.0.2.0/24", NOW), "");
	assert_string_equal(look(p, "10.0.0.0/16", NOW), "10.0.0.0/16");
	assert_string_equal(look(p, "10.0.3.0/24", NOW), "");
	subnet_index_free(p);
}

static void the_oldest_of_too_many_gives_way(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);
	char text[32];

	add(p, "2001:db8::/56", false, NOW, 3);
	for (unsigned i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "10.0.%u.0/24", i);
		add(p, text, false, NOW + i, 3);
	}
	for (unsigned i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "10.0.%u.0/24", i);
		assert_string_equal(look(p, text, NOW + 5), i < 2 ? "" : text);
	}
	assert_string_equal(look(p, "2001:db8::/56", NOW + 5), "2001:db8::/56");
	subnet_index_free(p);
}

/* The other family's are not counted, however old they are. */
static void each_family_has_its_own_places(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "192.0.2.0/24", false, NOW, 2);
	add(p, "2001:db8:1::/48", false, NOW + 1, 2);
	add(p, "2001:db8:2::/48", false, NOW + 2, 2);
	add(p, "2001:db8:3::/48", false, NOW + 3, 2);
	assert_string_equal(look(p, "192.0.2.0/24", NOW + 3), "192.0.2.0/24");
	assert_string_equal(look(p, "2001:db8:1::/48", NOW + 3), "");
	assert_string_equal(look(p, "2001:db8:2::/48", NOW + 3), "2001:db8:2::/48");
	assert_string_equal(look(p, "2001:db8:3::/48", NOW + 3), "2001:db8:3::/48");
	subnet_index_free(p);
}

/* A coarse answer is not for those who tell more, who keep what is for them. */
static void a_coarse_answer_takes_nobodys_place(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "10.1.2.0/24", false, NOW, 100);
	add(p, "10.0.0.0/8", true, NOW, 100);
	assert_string_equal(look(p, "10.1.2.0/24", NOW), "10.1.2.0/24");
	assert_string_equal(look(p, "10.0.0.0/8", NOW), "10.0.0.0/8");
	subnet_index_free(p);
}

/* As long as one of its answers lives; in its own scope, for its own type. */
static void a_question_has_subnets_while_one_of_them_lasts(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);
	struct question q = made_question("www.example.", TYPE_A), other = made_question("www.example.", TYPE_AAAA);
	struct subnet_key wide = { .net = net("10.0.0.0/8") }, small = { .net = net("192.0.2.0/24") };

	subnet_index_add(p, &q, &wide, &(struct subnet_index_how){ .now_s = NOW, .until_s = NOW + 600, .most = 100, .scope = 2 });
	subnet_index_add(p, &q, &small, &(struct subnet_index_how){ .now_s = NOW, .until_s = NOW + 60, .most = 100, .scope = 2 });
	assert_true(subnet_index_exist(p, &q, 2, NOW + 599));
	assert_false(subnet_index_exist(p, &q, 2, NOW + 600));
	assert_false(subnet_index_exist(p, &q, 0, NOW));
	assert_false(subnet_index_exist(p, &other, 2, NOW));
	assert_string_equal(look(p, "10.0.0.0/8", NOW), ""); /* in scope 0 */
	subnet_index_free(p);
}

/* Rows are told apart by family, length and address; of several that hold a client the widest fresh one is its, and says
 * what its servers said. */
static void many_subnets_of_one_question_are_told_apart(void **state)
{
	(void)state;
	static const char *const nets[] = { "10.1.2.0/24", "10.1.3.0/24",   "10.9.0.0/16",      "::a01:200/120",   "2001:db8:1::/48",
					    "10.1.2.128/25", "10.1.4.192/26", "2001:db8:2:1::/64", "2001:db8:1:8000::/49", "192.0.2.1/32" };
	struct subnet_index *p = subnet_index_new(1 << 20, 1);
	struct question q = made_question("www.example.", TYPE_A);
	struct subnet_key got;
	struct netblock who;

	for (unsigned turned = 0; turned < 2; turned++) {
		for (size_t i = 0; i < COUNT(nets); i++) {
			struct subnet_key at = { .net = net(nets[turned ? COUNT(nets) - 1 - i : i]) };

			at.scope = at.net.bits;
			subnet_index_add(p, &q, &at, &(struct subnet_index_how){ .now_s = NOW, .until_s = NOW + 60, .most = 100 });
		}
		for (size_t i = 0; i < COUNT(nets); i++) {
			bool covered = strstr(nets[i], "/25") || strstr(nets[i], "/49");

			who = net(nets[i]);
			assert_true(subnet_index_find(p, &q, 0, &who, NOW, &got));
			if (got.net.bits + covered != who.bits || got.scope != got.net.bits || got.coarse ||
			    !netblock_holds(&got.net, &who.net))
				fail_msg("%s: %u bits", nets[i], got.net.bits);
		}
		assert_string_equal(look(p, "10.1.4.0/24", NOW), "");
		assert_string_equal(look(p, "10.1.4.128/26", NOW), "");
		assert_string_equal(look(p, "10.1.4.192/32", NOW), "10.1.4.192/26");
		assert_string_equal(look(p, "192.0.2.0/32", NOW), "");
		assert_string_equal(look(p, "192.0.2.1/32", NOW + 59), "192.0.2.1/32");
		assert_string_equal(look(p, "192.0.2.1/32", NOW + 60), "");
		assert_string_equal(look(p, "2001:db8:2:1:1::/80", NOW), "2001:db8:2:1::/64");
	}
	subnet_index_free(p);
}

/* The lowest address of a length, behind others of a shorter one. */
static void low_addresses_are_found_behind_high_ones(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "10.0.0.0/8", false, NOW, 100);
	add(p, "0.128.0.0/9", false, NOW, 100);
	add(p, "0.0.64.0/18", false, NOW, 100);
	assert_string_equal(look(p, "0.128.1.0/24", NOW), "0.128.0.0/9");
	assert_string_equal(look(p, "0.0.65.0/24", NOW), "0.0.64.0/18");
	assert_string_equal(look(p, "0.0.0.0/24", NOW), "");
	subnet_index_free(p);
}

/* A wide one that has expired hides no closer one. */
static void what_has_expired_or_is_coarse_is_passed_over(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);
	struct question q = made_question("www.example.", TYPE_A);
	struct subnet_key wide = { .net = net("10.0.0.0/8") };

	subnet_index_add(p, &q, &wide, &(struct subnet_index_how){ .now_s = NOW, .until_s = NOW + 10, .most = 100 });
	add(p, "10.1.0.0/16", true, NOW, 100);
	add(p, "10.1.2.0/24", false, NOW, 100);
	assert_string_equal(look(p, "10.1.2.0/24", NOW + 9), "10.0.0.0/8");
	assert_string_equal(look(p, "10.1.2.0/24", NOW + 10), "10.1.2.0/24");
	assert_string_equal(look(p, "10.1.0.0/16", NOW + 10), "10.1.0.0/16");
	assert_string_equal(look(p, "10.1.0.0/17", NOW + 10), "");
	assert_string_equal(look(p, "10.2.0.0/16", NOW + 10), "");
	subnet_index_free(p);
}

struct walked {
	unsigned count, scopes, bits;
	uint32_t until_s;
};

static void note_row(const struct subnet_key *at, uint8_t scope, uint32_t until_s, void *arg)
{
	struct walked *w = arg;

	w->count++;
	w->scopes |= 1u << scope;
	w->bits += at->net.bits;
	w->until_s = MAX(w->until_s, until_s);
}

static struct walked walk(struct subnet_index *p, const char *name, uint16_t type, uint16_t class_)
{
	struct question q = made_question(name, type);
	struct walked w = { .count = 0 };

	q.class_ = class_;
	subnet_index_each(p, &q, note_row, &w);
	return w;
}

/* Of its name, type and class, in all scopes: nothing of another is forgotten with it. */
static void a_question_is_walked_and_forgotten_alone(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type, class_;
		uint8_t scope;
		const char *net;
	} rows[] = {
		{ "www.example.", TYPE_A, CLASS_IN, 0, "10.1.0.0/16" },   { "www.example.", TYPE_A, CLASS_IN, 0, "10.2.0.0/16" },
		{ "www.example.", TYPE_A, CLASS_IN, 3, "10.1.2.0/24" },   { "www.example.", TYPE_AAAA, CLASS_IN, 0, "10.1.2.0/25" },
		{ "www.example.", TYPE_A, CLASS_CH, 0, "10.1.2.0/26" },   { "example.", TYPE_A, CLASS_IN, 0, "10.1.2.0/27" },
		{ "a.b.example.", TYPE_A, CLASS_IN, 0, "10.1.2.0/28" },   { "www.example.org.", TYPE_A, CLASS_IN, 0, "10.1.2.0/29" },
	};
	struct subnet_index *p = subnet_index_new(1 << 20, 1);
	struct msgcache *c = msgcache_new(1 << 20, 1);
	struct question q;
	struct walked w;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question asked = made_question(rows[i].name, rows[i].type);
		struct subnet_key at = { .net = net(rows[i].net) };

		asked.class_ = rows[i].class_;
		subnet_index_add(p, &asked, &at,
				 &(struct subnet_index_how){ .scope = rows[i].scope, .now_s = NOW, .until_s = NOW + 60 + (uint32_t)i, .most = 9 });
	}
	w = walk(p, "www.example.", TYPE_A, CLASS_IN);
	assert_int_equal(w.count, 3);
	assert_int_equal(w.scopes, 1 << 0 | 1 << 3);
	assert_int_equal(w.bits, 16 + 16 + 24);
	assert_int_equal(w.until_s, NOW + 62);
	q = made_question("www.example.", TYPE_A);
	subnet_index_forget(p, c, &q);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(walk(p, rows[i].name, rows[i].type, rows[i].class_).count, i < 3 ? 0 : 1);
	subnet_index_forget_under(p, N("www.example."));
	assert_int_equal(walk(p, "www.example.", TYPE_AAAA, CLASS_IN).count, 0);
	for (size_t i = 5; i < COUNT(rows); i++)
		assert_int_equal(walk(p, rows[i].name, rows[i].type, rows[i].class_).count, 1);
	subnet_index_forget_under(p, N("example."));
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(walk(p, rows[i].name, rows[i].type, rows[i].class_).count, i == 7);
	msgcache_free(c);
	subnet_index_free(p);
}

/* What has expired makes way when another subnet is added; one at least is always kept. */
static void what_has_expired_takes_no_place(void **state)
{
	(void)state;
	struct subnet_index *p = subnet_index_new(1 << 20, 1);

	add(p, "10.1.0.0/16", false, NOW, 2);
	add(p, "10.2.0.0/16", false, NOW + 30, 2);
	add(p, "10.3.0.0/16", false, NOW + 60, 2);
	assert_string_equal(look(p, "10.2.0.0/16", NOW + 60), "10.2.0.0/16");
	assert_int_equal(walk(p, "www.example.", TYPE_A, CLASS_IN).count, 2);
	add(p, "10.4.0.0/16", false, NOW + 61, 0);
	assert_string_equal(look(p, "10.4.0.0/16", NOW + 61), "10.4.0.0/16");
	add(p, "10.4.0.0/16", false, NOW + 62, 100); /* the same again */
	assert_int_equal(walk(p, "www.example.", TYPE_A, CLASS_IN).until_s, NOW + 122);
	add(p, "10.5.0.0/16", false, NOW + 200, 100);
	assert_int_equal(walk(p, "www.example.", TYPE_A, CLASS_IN).count, 1);
	subnet_index_free(p);
}

static void keep_at(struct msgcache *c, const char *where, bool coarse, const char *address)
{
	struct subnet_key at = { .net = net(where), .coarse = coarse };
	struct made made = { "www.example.", TYPE_A, RCODE_NOERROR, { address } };
	struct arena a;

	arena_init(&a);
	assert_non_null(msgcache_store(
		c, made_message(&a, NOW, &made),
		&(struct msg_keep){ .now_s = NOW, .ttl_s = 60, .place = &at }));
	arena_clear(&a);
}

static void an_answer_for_a_subnet_is_found_under_that_alone(void **state)
{
	(void)state;
	struct msgcache *c = msgcache_new(1 << 20, 1);
	struct subnet_index *p = subnet_index_new(1 << 20, 1);
	struct question q = made_question("www.example.", TYPE_A);
	struct subnet_key at = { .net = net("10.0.0.0/8") }, got;
	const struct stored *s;

	keep_at(c, "10.0.0.0/8", false, "www.example. 60 A 192.0.2.10\n");
	keep_at(c, "11.0.0.0/8", false, "www.example. 60 A 192.0.2.11\n");
	assert_null(msgcache_find(c, &q, msgcache_hash(&q), 0, false));
	s = msgcache_find_at(c, &q, 0, &at, false);
	assert_non_null(s);
	assert_true(stored_place(s, &got));
	assert_int_equal(got.net.bits, 8);
	assert_true(addr_equals_ip(&got.net.net, &at.net.net));
	at.coarse = true;
	assert_null(msgcache_find_at(c, &q, 0, &at, false));
	at = (struct subnet_key){ .net = net("10.0.0.0/9") };
	assert_null(msgcache_find_at(c, &q, 0, &at, false));

	/* forgetting the question takes them along */
	add(p, "10.0.0.0/8", false, NOW, 100);
	add(p, "11.0.0.0/8", false, NOW, 100);
	subnet_index_forget(p, c, &q);
	at = (struct subnet_key){ .net = net("11.0.0.0/8") };
	assert_null(msgcache_find_at(c, &q, 0, &at, false));
	assert_string_equal(look(p, "11.0.0.0/8", NOW), "");
	subnet_index_free(p);
	msgcache_free(c);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(the_widest_that_holds_a_client_is_its),
		CLAIM(what_holds_for_more_takes_the_place_of_what_it_covers),
		CLAIM(a_coarse_answer_is_for_those_who_tell_as_little),
		CLAIM(the_oldest_of_too_many_gives_way),
		CLAIM(each_family_has_its_own_places),
		CLAIM(a_coarse_answer_takes_nobodys_place),
		CLAIM(a_question_has_subnets_while_one_of_them_lasts),
		CLAIM(many_subnets_of_one_question_are_told_apart),
		CLAIM(low_addresses_are_found_behind_high_ones),
		CLAIM(what_has_expired_or_is_coarse_is_passed_over),
		CLAIM(a_question_is_walked_and_forgotten_alone),
		CLAIM(what_has_expired_takes_no_place),
		CLAIM(an_answer_for_a_subnet_is_found_under_that_alone),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
