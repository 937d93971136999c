/* Claims about the way of a packet: where its client query ends, and with what.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/tests/world.h"

struct row {
	const char *why;
	struct asked asked;
	const char *want;
};

static void check_rows(const char *more, const struct row *rows, size_t count)
{
	open_world(more);
	for (size_t i = 0; i < count; i++) {
		char got[128];

		take(&rows[i].asked, got);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
	close_world();
}

static void every_packet_has_one_outcome(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "known", { 1, "fresh.test", TYPE_A, IN, RD, 0 }, "SEND NOERROR rd ra 1/0/1" },
		{ "known, no EDNS",
		  { 1, "fresh.test", TYPE_A, IN, RD, NO_EDNS },
		  "SEND NOERROR rd ra 1/0/0" },
		{ "known, over TCP",
		  { 1, "fresh.test", TYPE_A, IN, RD, TCP },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "secure, not asked about it",
		  { 1, "secure.test", TYPE_A, IN, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "secure, DO",
		  { 1, "secure.test", TYPE_A, IN, RD, DO },
		  "SEND NOERROR rd ra ad 1/0/1" },
		{ "bogus", { 1, "bogus.test", TYPE_A, IN, RD, 0 }, "SEND SERVFAIL rd ra 0/0/1" },
		{ "bogus, CD",
		  { 1, "bogus.test", TYPE_A, IN, RD | FLAG_CD, 0 },
		  "SEND NOERROR rd ra cd 1/0/1" },
		{ "unknown", { 1, "other.test", TYPE_A, IN, RD, 0 }, "LATER" },
		{ "unknown type of a known name",
		  { 1, "fresh.test", TYPE_MX, IN, RD, 0 },
		  "LATER" },
		{ "expired", { 1, "stale.test", TYPE_A, IN, RD, 0 }, "LATER" },

		{ "RD=0 is refused",
		  { 1, "fresh.test", TYPE_A, IN, 0, 0 },
		  "SEND REFUSED ra 0/0/1" },
		{ "deny", { 2, "fresh.test", TYPE_A, IN, RD, 0 }, "DROP" },
		{ "deny, malformed", { 2, "fresh.test", TYPE_A, IN, RD, ANSWERS }, "DROP" },
		{ "refuse", { 3, "fresh.test", TYPE_A, IN, RD, 0 }, "SEND REFUSED rd 0/0/1" },
		{ "refuse, a response", { 3, "fresh.test", TYPE_A, IN, FLAG_QR, 0 }, "DROP" },
		{ "refuse, even of class CH",
		  { 3, "version.bind", TYPE_TXT, CH, RD, 0 },
		  "SEND REFUSED rd 0/0/1" },
		{ "allow_setrd",
		  { 4, "fresh.test", TYPE_A, IN, 0, 0 },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "allow_setrd, unknown", { 4, "other.test", TYPE_A, IN, 0, 0 }, "LATER" },
		{ "allow_snoop", { 5, "fresh.test", TYPE_A, IN, 0, 0 }, "SEND NOERROR ra 1/0/1" },
		{ "allow_snoop, unknown",
		  { 5, "other.test", TYPE_A, IN, 0, 0 },
		  "SEND SERVFAIL ra 0/0/1" },
		{ "allow_snoop, with RD", { 5, "other2.test", TYPE_A, IN, RD, 0 }, "LATER" },
		{ "deny_non_local", { 6, "fresh.test", TYPE_A, IN, RD, 0 }, "DROP" },
		{ "refuse_non_local",
		  { 7, "fresh.test", TYPE_A, IN, RD, 0 },
		  "SEND REFUSED rd 0/0/1" },
		{ "refuse_non_local, class CH",
		  { 7, "version.bind", TYPE_TXT, CH, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "allow_cookie without one",
		  { 8, "fresh.test", TYPE_A, IN, RD, 0 },
		  "SEND REFUSED tc rd 0/0/1" },
		{ "allow_cookie over TCP",
		  { 8, "fresh.test", TYPE_A, IN, RD, TCP },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "nobody's netblock",
		  { 9, "fresh.test", TYPE_A, IN, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1" },

		{ "cut", { 1, "fresh.test", TYPE_A, IN, RD, CUT }, "SEND FORMERR rd 0/0/0" },
		{ "with answers",
		  { 1, "fresh.test", TYPE_A, IN, RD, ANSWERS | NO_EDNS },
		  "SEND FORMERR rd 0/0/0" },
		{ "without a question",
		  { 1, "fresh.test", TYPE_A, IN, RD, NO_QUESTION | NO_EDNS },
		  "SEND FORMERR rd 0/0/0" },
		{ "a response", { 1, "fresh.test", TYPE_A, IN, FLAG_QR, 0 }, "DROP" },
		{ "STATUS",
		  { 1, "fresh.test", TYPE_A, IN, OPCODE_STATUS << 11, 0 },
		  "SEND NOTIMP 0/0/0" },
		{ "UPDATE",
		  { 1, "fresh.test", TYPE_SOA, IN, OPCODE_UPDATE << 11, 0 },
		  "SEND NOTIMP 0/0/0" },
		{ "EDNS version 1: BADVERS is 16",
		  { 1, "fresh.test", TYPE_A, IN, RD, VERSION1 },
		  "SEND NOERROR rd ra 0/0/1" },

		{ "AXFR", { 1, "fresh.test", TYPE_AXFR, IN, RD, 0 }, "SEND REFUSED rd 0/0/1" },
		{ "IXFR", { 1, "fresh.test", TYPE_IXFR, IN, RD, TCP }, "SEND REFUSED rd 0/0/1" },
		{ "MAILB", { 1, "fresh.test", 253, IN, RD, 0 }, "SEND FORMERR rd ra 0/0/1" },
		{ "OPT", { 1, "fresh.test", TYPE_OPT, IN, RD, 0 }, "SEND FORMERR rd ra 0/0/1" },
		{ "TSIG", { 1, "fresh.test", 250, IN, RD, 0 }, "SEND FORMERR rd ra 0/0/1" },
		{ "another meta type",
		  { 1, "fresh.test", 128, IN, RD, 0 },
		  "SEND FORMERR rd ra 0/0/1" },
		{ "ANY", { 1, "any.test", TYPE_ANY, IN, RD, 0 }, "LATER" },
		{ "class HS",
		  { 1, "fresh.test", TYPE_A, CLASS_HS, RD, 0 },
		  "SEND REFUSED rd ra 0/0/1" },
		{ "class 0", { 1, "fresh.test", TYPE_A, 0, RD, 0 }, "SEND REFUSED rd ra 0/0/1" },
	};

	static const struct row denied[] = {
		{ "ANY under deny-any", { 1, "any.test", TYPE_ANY, IN, RD, 0 }, "SEND NOERROR rd ra 0/0/1" },
	};

	check_rows("", rows, COUNT(rows));
	check_rows("deny-any: yes\n", denied, COUNT(denied));
}

/* RFC 7828 3.2.1, and harden-large-queries: over UDP, 512 bytes. */
static void what_a_request_may_not_say(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "asks", { 1, "fresh.test", TYPE_A, IN, RD, TCP | ASKS_IDLE }, "SEND NOERROR rd ra 1/0/1" },
		{ "says", { 1, "fresh.test", TYPE_A, IN, RD, TCP | SAYS_IDLE }, "SEND FORMERR rd ra 0/0/1" },
		{ "says over UDP", { 1, "fresh.test", TYPE_A, IN, RD, SAYS_IDLE }, "SEND NOERROR rd ra 1/0/1" },
		{ "512 bytes", { 1, "fresh.test", TYPE_A, IN, RD, IS_512 }, "SEND NOERROR rd ra 1/0/1" },
		{ "over TCP", { 1, "fresh.test", TYPE_A, IN, RD, TCP | IS_513 }, "SEND NOERROR rd ra 1/0/1" },
		{ "513 bytes", { 1, "fresh.test", TYPE_A, IN, RD, IS_513 }, "DROP" },
	};

	check_rows("edns-tcp-keepalive: yes\nharden-large-queries: yes\n", rows, COUNT(rows));
	check_rows("", (const struct row[]){ { "513 bytes", { 1, "fresh.test", TYPE_A, IN, RD, IS_513 }, "SEND NOERROR rd ra 1/0/1" } }, 1);
}

/* A cookie to fetch is no way around ip-ratelimit: an address that somebody else forges is not
 * answered any more either. */
static void who_asks_too_often_is_not_even_given_a_cookie(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "the first", { 8, "fresh.test", TYPE_A, IN, RD, 0 }, "SEND REFUSED tc rd ra 0/0/1" },
		{ "the second", { 8, "fresh.test", TYPE_A, IN, RD, 0 }, "SEND REFUSED tc rd ra 0/0/1" },
		{ "the third", { 8, "fresh.test", TYPE_A, IN, RD, 0 }, "DROP" },
		{ "over TCP", { 8, "fresh.test", TYPE_A, IN, RD, TCP }, "DROP" },
		{ "somebody else", { 1, "fresh.test", TYPE_A, IN, RD, 0 }, "SEND NOERROR rd ra 1/0/1" },
	};

	check_rows("answer-cookie: yes\nip-ratelimit: 2\nip-ratelimit-factor: 0\n", rows,
		   COUNT(rows));
}

/* What comes back for a packet without question, with this cookie (RFC 7873 5.4); the cookie of the
 * answer is put in its place. */
static void take_cookie(const char *more, uint8_t cookie[64], size_t *len, char to[128])
{
	static uint8_t bytes[512];
	struct writer w = writer_over(bytes, sizeof bytes);
	struct packet p = {
		.out = writer_over(answer, 4096),
		.client = { .ops = &over_udp,
			    .from = { .family = 4, .ip = { 127, 0, 0, 1 }, .port = 5353 } },
	};
	const uint8_t *opt = answer + MSG_HEAD_LEN;
	enum disposition v;

	write_bytes(&w, "\22\147\1\0\0\0\0\0\0\0\0\1\0\0\51\4\320\0\0\0\0", MSG_HEAD_LEN + 9);
	write_u16(&w, (uint16_t)(4 + *len));
	write_u16(&w, EDNS_COOKIE);
	write_u16(&w, (uint16_t)*len);
	write_bytes(&w, cookie, *len);
	p.in = (struct slice){ bytes, writer_len(&w) };
	open_world(more);
	rcu_turn_begin();
	v = frontend_take(world.worker, &p);
	rcu_turn_end();
	close_world();
	tell(to, v, &p.out);
	*len = 0;
	snprintf(to + strlen(to), 16, " %u", opt[5] << 4 | (answer[3] & 15));
	assert_int_equal(get_u16(answer + 4), 0);
	if (get_u16(opt + 9) == 0)
		return;
	assert_int_equal(writer_len(&p.out), MSG_HEAD_LEN + OPT_FIXED_LEN + 4 + 24);
	assert_int_equal(get_u16(opt + 11), EDNS_COOKIE);
	*len = get_u16(opt + 13);
	memcpy(cookie, opt + 15, *len);
}

static void a_cookie_may_be_had_without_a_question(void **state)
{
	static const char on[] = "answer-cookie: yes\n"
				 "cookie-secret: 000102030405060708090a0b0c0d0e0f\n";
	uint8_t cookie[64] = "abcdefgh", given[64];
	size_t len = 8;
	char got[128];

	(void)state;
	take_cookie(on, cookie, &len, got);
	assert_string_equal(got, "SEND NOERROR rd ra 0/0/1 0");
	assert_int_equal(len, 24);
	assert_memory_equal(cookie, "abcdefgh", 8);
	memcpy(given, cookie, len);
	take_cookie(on, given, &len, got);
	assert_string_equal(got, "SEND NOERROR rd ra 0/0/1 0");
	assert_memory_equal(given, cookie, 24);
	given[23] ^= 1;
	take_cookie(on, given, &len, got);
	assert_string_equal(got, "SEND RCODE? rd ra 0/0/1 23");
	assert_memory_equal(given, cookie, 24);
	len = 9;
	take_cookie(on, given, &len, got);
	assert_string_equal(got, "SEND FORMERR rd 0/0/1 1");
	len = 24;
	take_cookie("", given, &len, got);
	assert_string_equal(got, "SEND FORMERR rd 0/0/1 1");
}

static void class_chaos_tells_what_is_not_hidden(void **state)
{
	(void)state;
	static const struct row open_rows[] = {
		{ "id.server",
		  { 1, "id.server", TYPE_TXT, CH, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "in other letters",
		  { 1, "HostName.BIND", TYPE_TXT, CH, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "version.server",
		  { 1, "version.server", TYPE_TXT, CH, 0, 0 },
		  "SEND NOERROR ra 1/0/1" },
		{ "type ANY",
		  { 1, "version.bind", TYPE_ANY, CH, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1" },
		{ "no anchors",
		  { 1, "trustanchor.unbound", TYPE_TXT, CH, RD, 0 },
		  "SEND NOERROR rd ra 0/0/1" },
		{ "another type",
		  { 1, "version.bind", TYPE_A, CH, RD, 0 },
		  "SEND REFUSED rd ra 0/0/1" },
		{ "another name",
		  { 1, "authors.bind", TYPE_TXT, CH, RD, 0 },
		  "SEND REFUSED rd ra 0/0/1" },
	};
	static const struct row hidden_rows[] = {
		{ "id.server",
		  { 1, "id.server", TYPE_TXT, CH, RD, 0 },
		  "SEND REFUSED rd ra 0/0/1" },
		{ "hostname.bind",
		  { 1, "hostname.bind", TYPE_TXT, CH, RD, 0 },
		  "SEND REFUSED rd ra 0/0/1" },
		{ "version.bind", { 1, "version.bind", TYPE_TXT, CH, RD, 0 }, "SEND REFUSED rd ra 0/0/1" },
		{ "trustanchor.unbound",
		  { 1, "trustanchor.unbound", TYPE_TXT, CH, RD, 0 },
		  "SEND REFUSED rd ra 0/0/1" },
	};
	static const uint8_t version[] = "\0\20\0\3\0\0\0\0\0\4\0031.2";
	char got[128];

	check_rows("", open_rows, COUNT(open_rows));
	check_rows("hide-identity: yes\nhide-version: yes\nhide-trustanchor: yes\n", hidden_rows,
		   COUNT(hidden_rows));

	/* Behind header and question: a pointer to the name, then what RFC 1035 3.2.1 wants. */
	open_world("");
	take(&(struct asked){ 1, "version.bind", TYPE_TXT, CH, RD, NO_EDNS }, got);
	assert_memory_equal(answer + MSG_HEAD_LEN + 14 + 4 + 2, version, sizeof version - 1);
	close_world();
}

static void stale_answers_are_given_as_told(void **state)
{
	(void)state;
	static const struct row at_once[] = {
		{ "stale", { 1, "stale.test", TYPE_A, IN, RD, 0 }, "SEND NOERROR rd ra 1/0/1" },
		{ "too old", { 1, "ancient.test", TYPE_A, IN, RD, 0 }, "LATER" },
	};
	static const struct row after_a_wait[] = {
		{ "stale", { 1, "stale.test", TYPE_A, IN, RD, 0 }, "LATER" },
	};
	static const struct row for_ever[] = {
		{ "ancient", { 1, "ancient.test", TYPE_A, IN, RD, 0 }, "SEND NOERROR rd ra 1/0/1" },
	};

	check_rows("serve-expired: yes\nserve-expired-client-timeout: 0\nserve-expired-ttl: 500\n",
		   at_once, COUNT(at_once));
	check_rows("serve-expired: yes\nserve-expired-client-timeout: 1800\n", after_a_wait,
		   COUNT(after_a_wait));
	check_rows("serve-expired: yes\nserve-expired-client-timeout: 0\nserve-expired-ttl: 0\n",
		   for_ever, COUNT(for_ever));
}

/* As answers of the cache file are that were proven once. */
static void what_is_not_validated_yet_is_given_to_nobody_where_answers_are_validated(void **state)
{
	static const struct {
		const char *why;
		struct asked asked;
		const char *unvalidating, *validating;
	} rows[] = {
		{ "fresh", { 1, "unvalidated.test", TYPE_A, IN, RD, 0 }, "SEND NOERROR rd ra 1/0/1", "LATER" },
		{ "expired",
		  { 1, "unvalidated.stale.test", TYPE_A, IN, RD, 0 },
		  "SEND NOERROR rd ra 1/0/1",
		  "LATER" },
		{ "to who only looks",
		  { 5, "unvalidated.stale.test", TYPE_A, IN, 0, 0 },
		  "SEND NOERROR ra 1/0/1",
		  "SEND SERVFAIL ra 0/0/1" },
		{ "CD", { 1, "unvalidated.test", TYPE_A, IN, RD | FLAG_CD, 0 }, "SEND NOERROR rd ra cd 1/0/1", "LATER" },
	};
	char got[128];

	(void)state;
	for (unsigned validates = 0; validates < 2; validates++) {
		open_world("serve-expired: yes\nserve-expired-client-timeout: 0\n");
		world.worker->on.validates = validates;
		for (size_t i = 0; i < COUNT(rows); i++) {
			const char *want = validates ? rows[i].validating : rows[i].unvalidating;

			take(&rows[i].asked, got);
			if (strcmp(got, want) != 0)
				fail_msg("%s, %u: '%s', not '%s'", rows[i].why, validates, got, want);
		}
		close_world();
	}
}

/* As the cache fills, what has expired goes first, unless it may still be given. */
static void what_has_expired_is_kept_as_the_latest_configuration_says(void **state)
{
	static const struct {
		const char *before, *after;
		bool goes;
	} rows[] = {
		{ "", "", true },
		{ "", "serve-expired: yes\n", false },
		{ "serve-expired: yes\n", "serve-expired: yes\n", false },
		{ "serve-expired: yes\n", "", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char before[128], name[16];
		struct slab_count n;
		struct conf *after = conf_with(rows[i].after);
		unsigned count = 0;

		snprintf(before, sizeof before, "msg-cache-size: 256k\nmsg-cache-slabs: 1\n%s",
			 rows[i].before);
		open_world(before);
		after->server.msg_cache_size = world.snapshot->conf->server.msg_cache_size;
		caches_resize(&world.caches, world.snapshot->conf, after);
		conf_free(after);
		rcu_turn_begin();
		do {
			snprintf(name, sizeof name, "n%u", count++);
			store(name, NOW_S, 100, SECURITY_INSECURE);
			n = slab_counted(msgcache_slab(world.caches.messages));
		} while (n.bytes < n.budget - n.budget / 16 && count < 10000);
		rcu_turn_end();
		if ((n.evictions != 0) != rows[i].goes)
			fail_msg("row %zu: %u evictions", i, (unsigned)n.evictions);
		close_world();
	}
}

static void a_hit_near_its_end_is_fetched_again_in_the_background(void **state)
{
	static const struct {
		const char *conf, *name;
		unsigned lookups;
	} rows[] = {
		{ "prefetch: yes\n", "due.test", 2 },
		{ "prefetch: yes\n", "fresh.test", 0 },
		{ "prefetch: no\n", "due.test", 0 },
		{ "prefetch: yes\nresponse-ip: 192.0.2.1 redirect\n"
		  "response-ip-data: 192.0.2.1 \"A 192.0.2.9\"\n",
		  "due.test", 2 },
	};
	char got[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		open_world(rows[i].conf);
		for (unsigned k = 0; k < 4; k++) { /* with CD that is another question */
			take(&(struct asked){ 1, rows[i].name, TYPE_A, IN, (uint16_t)(k % 2 ? RD | FLAG_CD : RD), 0 }, got);
			assert_string_equal(got, k % 2 ? "SEND NOERROR rd ra cd 1/0/1" : "SEND NOERROR rd ra 1/0/1");
		}
		assert_int_equal(atomic_load(&world.worker->env.stats->count[STAT_prefetch]),
				 rows[i].lookups);
		close_world();
	}
}

static uint64_t counted(enum stat_id id)
{
	return atomic_load(&world.worker->env.stats->count[id]);
}

static void hits_and_misses_add_up_to_questions(void **state)
{
	static const struct asked ask[] = {
		{ 1, "fresh.test", TYPE_A, IN, RD, 0 },
		{ 1, "other.test", TYPE_A, IN, RD, 0 },
		{ 1, "version.bind", TYPE_TXT, CH, RD, 0 },
		{ 2, "fresh.test", TYPE_A, IN, RD, 0 },
		{ 3, "fresh.test", TYPE_A, IN, RD, 0 },
		{ 1, "fresh.test", TYPE_A, IN, RD, ANSWERS },
	};
	char got[128];

	(void)state;
	open_world("");
	for (size_t i = 0; i < COUNT(ask); i++)
		take(&ask[i], got);
	assert_int_equal(counted(STAT_queries), 3);
	assert_int_equal(stats_hits(world.worker->env.stats), 2);
	assert_int_equal(counted(STAT_cachemiss), 1);
	assert_int_equal(atomic_load(&world.worker->env.stats->unwanted_queries), 2);
	close_world();
}

/* Whoever waits when a worker ends is dropped, once. */
static void a_worker_that_ends_drops_who_waits(void **state)
{
	char got[128];

	(void)state;
	open_world("");
	take(&(struct asked){ 1, "other.test", TYPE_A, IN, RD, 0 }, got);
	take(&(struct asked){ 1, "other.test", TYPE_A, IN, RD, TCP }, got);
	assert_int_equal(world.dropped, 0);
	close_world();
	assert_int_equal(world.dropped, 2);
}

/* Another configuration is adopted between two turns. */
static void a_worker_takes_another_configuration(void **state)
{
	struct fault f = { 0 };
	struct snapshot *other;
	char got[128];

	(void)state;
	open_world("");
	take(&(struct asked){ 1, "version.bind", TYPE_TXT, CH, RD, 0 }, got);
	assert_string_equal(got, "SEND NOERROR rd ra 1/0/1");
	other = snapshot_new(conf_with("hide-version: yes\naccess-control: 127.0.0.1 refuse\n"),
			     &f);
	assert_non_null(other);
	worker_adopt(world.worker, other);
	snapshot_unpin(other);
	take(&(struct asked){ 4, "version.bind", TYPE_TXT, CH, RD, 0 }, got);
	assert_string_equal(got, "SEND REFUSED rd ra 0/0/1");
	take(&(struct asked){ 1, "fresh.test", TYPE_A, IN, RD, 0 }, got);
	assert_string_equal(got, "SEND REFUSED rd 0/0/1");
	close_world();
}

/* An expired answer that is not given is no answer from the cache, and none that was validated. */
static void what_is_not_given_is_not_counted(void **state)
{
	static const struct asked validated = { 5, "secure.test", TYPE_A, IN, 0, 0 },
				  expired = { 5, "secure.stale.test", TYPE_A, IN, 0, 0 };
	char got[128];

	(void)state;
	open_world("trust-anchor: \"test. DS 4711 13 2 0011223344556677889900112233445566778899001122334455667788990011\"\n"
		   "extended-statistics: yes\n");
	take(&expired, got);
	assert_string_equal(got, "SEND SERVFAIL ra 0/0/1");
	assert_int_equal(world.worker->env.stats->answer_secure, 0);
	take(&validated, got);
	assert_string_equal(got, "SEND NOERROR ra 1/0/1");
	assert_int_equal(world.worker->env.stats->answer_secure, 1);
	close_world();
}

static void ignore_line(const char *line, void *arg)
{
	(void)line, (void)arg;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_has_one_outcome),
		cmocka_unit_test(what_a_request_may_not_say),
		cmocka_unit_test(who_asks_too_often_is_not_even_given_a_cookie),
		cmocka_unit_test(a_cookie_may_be_had_without_a_question),
		cmocka_unit_test(class_chaos_tells_what_is_not_hidden),
		cmocka_unit_test(stale_answers_are_given_as_told),
		cmocka_unit_test(what_is_not_validated_yet_is_given_to_nobody_where_answers_are_validated),
		cmocka_unit_test(what_has_expired_is_kept_as_the_latest_configuration_says),
		cmocka_unit_test(a_hit_near_its_end_is_fetched_again_in_the_background),
		cmocka_unit_test(hits_and_misses_add_up_to_questions),
		cmocka_unit_test(a_worker_that_ends_drops_who_waits),
		cmocka_unit_test(a_worker_takes_another_configuration),
		cmocka_unit_test(what_is_not_given_is_not_counted),
	};

	hash_start(true);
	log_capture(ignore_line, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
