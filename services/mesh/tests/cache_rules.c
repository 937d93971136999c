/* Claims about what of an answer is kept, and for how long.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/cache_rules.h"

#include "services/cache/msg.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/tests/turn.h"

#define NOW 1000
#define SOA(ttl, minimum) \
	"example. " ttl " SOA ns.example. h.example. 1 7200 3600 604800 " minimum "\n"
#define NSEC(ttl) "a.example. " ttl " NSEC z.example. A\n"

static void answers_are_kept_as_long_as_their_records_say(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		struct made made;
		uint8_t security;
		enum reason reason;
		uint32_t ttl_s;
	} rows[] = {
		{ "the least of all sections",
		  "",
		  { "www.example.",
		    TYPE_A,
		    0,
		    { "www.example. 300 A 192.0.2.1\n", "example. 200 NS ns.example.\n",
		      "ns.example. 100 A 192.0.2.53\n" } },
		  0,
		  0,
		  100 },
		{ "TTL 0",
		  "",
		  { "www.example.", TYPE_A, 0, { "www.example. 0 A 192.0.2.1\n" } },
		  0,
		  0,
		  0 },
		{ "the most",
		  "server:\n cache-max-ttl: 60\n",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" } },
		  0,
		  0,
		  60 },
		{ "less than the least",
		  "server:\n cache-max-ttl: 60\n cache-min-ttl: 100\n",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" } },
		  0,
		  0,
		  60 },
		{ "the least allowed",
		  "server:\n cache-min-ttl: 30\n",
		  { "www.example.", TYPE_A, 0, { "www.example. 0 A 192.0.2.1\n" } },
		  0,
		  0,
		  30 },
		{ "original TTLs have no limits",
		  "server:\n cache-max-ttl: 60\n serve-original-ttl: yes\n",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" } },
		  0,
		  0,
		  300 },
		{ "NXDOMAIN: the SOA's minimum",
		  "",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "60") } },
		  0,
		  0,
		  60 },
		{ "NXDOMAIN: the SOA's TTL",
		  "",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("30", "60") } },
		  0,
		  0,
		  30 },
		{ "NXDOMAIN: an hour at most",
		  "",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("86400", "86400") } },
		  0,
		  0,
		  3600 },
		{ "NXDOMAIN: the least of all answers is its least, too",
		  "server:\n cache-min-ttl: 120\n",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "10") } },
		  0,
		  0,
		  120 },
		{ "NXDOMAIN: no longer than told",
		  "server:\n cache-min-ttl: 120\n cache-max-negative-ttl: 7\n",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "10") } },
		  0,
		  0,
		  7 },
		{ "NXDOMAIN: as long as told",
		  "server:\n cache-min-negative-ttl: 120\n",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "10") } },
		  0,
		  0,
		  120 },
		{ "NODATA",
		  "",
		  { "www.example.", TYPE_AAAA, 0, { NULL, SOA("900", "60") } },
		  0,
		  0,
		  60 },
		{ "an answer beside a SOA record",
		  "",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n", SOA("900", "60") } },
		  0,
		  0,
		  300 },
		{ "NODATA behind an alias",
		  "",
		  { "a.example.",
		    TYPE_AAAA,
		    0,
		    { "a.example. 300 CNAME b.example.\n", SOA("900", "60") } },
		  0,
		  0,
		  60 },
		{ "an alias shorter than the denial",
		  "",
		  { "a.example.",
		    TYPE_AAAA,
		    RCODE_NXDOMAIN,
		    { "a.example. 20 CNAME b.example.\n", SOA("900", "60") } },
		  0,
		  0,
		  20 },
		{ "a proof shorter than the SOA",
		  "",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "60") NSEC("40") } },
		  0,
		  0,
		  40 },
		{ "a denial without SOA",
		  "",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL } },
		  0,
		  0,
		  STORE_FAILURE_S },
		{ "a SOA that was asked for",
		  "",
		  { "example.", TYPE_SOA, 0, { SOA("900", "60") } },
		  0,
		  0,
		  900 },
		{ "a referral",
		  "",
		  { "www.example.", TYPE_A, 0, { NULL, "example. 200 NS ns.example.\n" } },
		  0,
		  0,
		  200 },
		{ "SERVFAIL",
		  "",
		  { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } },
		  0,
		  0,
		  STORE_FAILURE_S },
		{ "REFUSED",
		  "",
		  { "www.example.", TYPE_A, RCODE_REFUSED, { NULL } },
		  0,
		  REASON_lame,
		  STORE_FAILURE_S },
		{ "the network's fault",
		  "",
		  { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } },
		  0,
		  REASON_network_error,
		  STORE_OUTAGE_S },
		{ "bogus",
		  "server:\n val-bogus-ttl: 77\n",
		  { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } },
		  SECURITY_BOGUS,
		  REASON_bogus,
		  77 },
		{ "bogus data of TTL 0",
		  "",
		  { "www.example.", TYPE_A, 0, { "www.example. 0 A 192.0.2.1\n" } },
		  SECURITY_BOGUS,
		  REASON_bogus,
		  STORE_FAILURE_S },
		{ "bogus data of TTL 0, and nothing bogus is to be kept",
		  "server:\n val-bogus-ttl: 0\n",
		  { "www.example.", TYPE_A, 0, { "www.example. 0 A 192.0.2.1\n" } },
		  SECURITY_BOGUS,
		  REASON_bogus,
		  0 },
		{ "bogus data for who checks himself",
		  "",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" } },
		  SECURITY_BOGUS,
		  REASON_bogus,
		  60 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].conf);
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *s;
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &rows[i].made);
		m->security = rows[i].security;
		m->reason = rows[i].reason;
		/* Twice is as once, and a second later changes no time it ends. */
		store_limit_ttls(conf, m, &a, NOW);
		if (store_ttl(conf, m, NOW) != rows[i].ttl_s)
			fail_msg("%s: %u seconds", rows[i].why, store_ttl(conf, m, NOW));
		store_limit_ttls(conf, m, &a, NOW + 1);
		if (store_ttl(conf, m, NOW) != rows[i].ttl_s)
			fail_msg("%s: %u seconds when limited twice", rows[i].why,
				 store_ttl(conf, m, NOW));

		store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW });
		s = msgcache_find(c, &m->q, msgcache_hash(&m->q), 0, true);
		assert_int_equal(s != NULL, rows[i].ttl_s != 0);
		if (s)
			assert_int_equal(s->expires_s - NOW, rows[i].ttl_s);
		arena_clear(&a);
		msgcache_free(c);
		conf_free(conf);
	}
}

static void limits_leave_borrowed_sets_alone(void **state)
{
	(void)state;
	static const struct made denial = {
		"no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "60") NSEC("900") }
	};
	struct conf *conf = conf_from("server:\n cache-max-ttl: 500\n");
	const struct rrset *before[2];
	struct message *m;
	struct arena a;

	arena_init(&a);
	m = made_message(&a, NOW, &denial);
	memcpy(before, m->sets, sizeof(before));
	store_limit_ttls(conf, m, &a, NOW);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(before[i]->ttl_s, 900);
		assert_int_equal(m->sets[i]->ttl_s, 60);
		assert_int_equal(m->sets[i]->expires_s, NOW + 60);
	}
	assert_true(m->sets[0]->flags & RRSET_SOA_NEGATIVE);
	arena_clear(&a);
	conf_free(conf);
}

/* The SOA record and the proofs of a denial show the time that the denial is kept, be it longer or shorter than theirs; those beside
 * an answer, as of a name made from a wildcard, keep their own. */
static void only_denials_have_the_time_of_denials(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		struct made made;
		unsigned first; /* of the sets below */
		uint32_t soa_s, nsec_s;
		bool negative;
	} rows[] = {
		{ "a denial", "server:", { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("900", "60") NSEC("700") } }, 0, 60, 60, true },
		{ "raised", "server:\n cache-min-negative-ttl: 120\n",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA("10", "60") NSEC("700") } }, 0, 120, 120, true },
		{ "an answer", "server:",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n", SOA("900", "60") NSEC("700") } }, 1, 900, 700, false },
		{ "an answer, and short denials", "server:\n cache-max-negative-ttl: 7\n",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n", SOA("900", "60") NSEC("700") } }, 1, 900, 700, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].conf);
		struct arena a;
		struct message *m;
		const struct rrset *const *sets;

		arena_init(&a);
		m = made_message(&a, NOW, &rows[i].made);
		store_limit_ttls(conf, m, &a, NOW);
		sets = m->sets + rows[i].first;
		if (sets[0]->ttl_s != rows[i].soa_s || sets[0]->expires_s != NOW + rows[i].soa_s || sets[1]->ttl_s != rows[i].nsec_s ||
		    sets[1]->expires_s != NOW + rows[i].nsec_s || !(sets[0]->flags & RRSET_SOA_NEGATIVE) == rows[i].negative)
			fail_msg("%s: SOA %u, NSEC %u, %d", rows[i].why, sets[0]->ttl_s, sets[1]->ttl_s,
				 sets[0]->flags & RRSET_SOA_NEGATIVE);
		arena_clear(&a);
		conf_free(conf);
	}
}

/* What is left of a cached set is not raised to cache-min-ttl again. */
static void the_least_ttl_prolongs_nothing(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\n cache-min-ttl: 60\n");
	const struct rrset *once, *later;
	struct arena a;

	arena_init(&a);
	once = store_limit_ttl(conf, made_set(&a, NOW, "a.example. 10 A 192.0.2.1"), &a);
	assert_int_equal(once->expires_s, NOW + 60);
	later = store_limit_ttl(conf, once, &a);
	assert_ptr_equal(later, once);
	arena_clear(&a);
	conf_free(conf);
}

static void a_failed_refresh_leaves_what_may_be_served(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint32_t at;
		uint8_t rcode;
	} rows[] = {
		{ "expired is gone", "", NOW + 400, RCODE_SERVFAIL },
		{ "expired is served", "server:\n serve-expired: yes\n", NOW + 400, RCODE_NOERROR },
		{ "for a while", "server:\n serve-expired: yes\n serve-expired-ttl: 50\n",
		  NOW + 400, RCODE_SERVFAIL },
		{ "for ever", "server:\n serve-expired: yes\n serve-expired-ttl: 0\n",
		  NOW + 4000000, RCODE_NOERROR },
	};
	static const struct made good = {
		"www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" }
	};
	static const struct made bad = { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].conf);
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct question q = made_question("www.example.", TYPE_A);
		const struct stored *s;
		struct arena a;

		arena_init(&a);
		store_message(c, conf, made_message(&a, NOW, &good),
			      &(struct msg_keep){ .now_s = NOW });
		store_message(c, conf, made_message(&a, rows[i].at, &bad),
			      &(struct msg_keep){ .now_s = rows[i].at });
		s = msgcache_find(c, &q, msgcache_hash(&q), 0, false);
		assert_non_null(s);
		if (s->rcode != rows[i].rcode)
			fail_msg("%s: rcode %u", rows[i].why, s->rcode);
		if (s->rcode == RCODE_NOERROR)
			assert_int_equal(s->refresh_s, rows[i].at + STORE_FAILURE_S);
		arena_clear(&a);
		msgcache_free(c);
		conf_free(conf);
	}
}

static void what_fails_again_at_once_is_left_alone_longer(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t at[6], want[6];
		uint8_t security;
		enum reason reason;
	} rows[] = {
		{ "at once", { 0, 5, 15, 35, 55 }, { 5, 10, 20, 20, 20 }, 0, REASON_no_reachable },
		{ "a while later", { 0, 9, 28 }, { 5, 10, 20 }, 0, REASON_no_reachable },
		{ "just soon enough", { 0, 10, 30 }, { 5, 10, 20 }, 0, REASON_no_reachable },
		{ "long after", { 0, 11, 60 }, { 5, 5, 5 }, 0, REASON_no_reachable },
		{ "the network's fault", { 0, 1, 2 }, { 1, 1, 1 }, 0, REASON_network_error },
		{ "bogus", { 0, 60 }, { 60, 60 }, SECURITY_BOGUS, REASON_bogus },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from("");
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct made made = { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };
		struct arena a;

		arena_init(&a);
		for (size_t n = 0; rows[i].want[n]; n++) {
			uint32_t now_s = NOW + rows[i].at[n];
			struct message *m = made_message(&a, now_s, &made);
			const struct stored *s;

			m->security = rows[i].security;
			m->reason = rows[i].reason;
			s = store_message(c, conf, m, &(struct msg_keep){ .now_s = now_s });
			assert_non_null(s);
			if (s->expires_s - now_s != rows[i].want[n])
				fail_msg("%s: failure %zu is kept for %u s, not %u", rows[i].why, n,
					 s->expires_s - now_s, rows[i].want[n]);
		}
		arena_clear(&a);
		msgcache_free(c);
		conf_free(conf);
	}
}

/* How long something else was kept says nothing of a failure: a bogus answer, one while the network was down, or a good one. */
static void a_failure_that_follows_another_kind_is_the_first(void **state)
{
	(void)state;
	static const struct {
		enum security security;
		enum reason reason;
		uint32_t at;
		const char *answer;
	} rows[] = { { SECURITY_BOGUS, REASON_bogus, 61, NULL },
		     { SECURITY_UNCHECKED, REASON_network_error, 2, NULL },
		     { SECURITY_UNCHECKED, REASON_none, 301, "www.example. 300 A 192.0.2.1" } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made made = { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct conf *conf = conf_from("");
		const struct stored *s;
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &(struct made){ "www.example.", TYPE_A, rows[i].answer ? RCODE_NOERROR : RCODE_SERVFAIL, { rows[i].answer } });
		m->security = (uint8_t)rows[i].security;
		m->reason = rows[i].reason;
		assert_non_null(store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW }));
		m = made_message(&a, NOW, &made);
		m->reason = REASON_no_reachable;
		s = store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW + rows[i].at });
		assert_int_equal(s->expires_s - s->stored_s, 5);
		arena_clear(&a);
		msgcache_free(c);
		conf_free(conf);
	}
}

static void of_what_is_too_large_that_it_is_bogus_is_kept(void **state)
{
	(void)state;
	static const uint8_t securities[] = { SECURITY_SECURE, SECURITY_BOGUS };
	struct conf *conf = conf_from("");

	for (size_t i = 0; i < COUNT(securities); i++) {
		struct msgcache *c = msgcache_new(1 << 20, 1);
		struct made made = { "many.example.", TYPE_A, 0, { NULL } };
		const struct stored *s;
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &made);
		m->sets[0] = made_addresses(&a, NOW, "many.example.", RRSET_RECORDS_MOST + 1);
		m->count[SECTION_ANSWER] = 1;
		m->security = securities[i];
		s = store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW });
		assert_int_equal(s != NULL, securities[i] == SECURITY_BOGUS);
		if (s) {
			assert_int_equal(s->rcode, RCODE_SERVFAIL);
			assert_int_equal(s->expires_s, NOW + 60);
			assert_true(s->wire_len < 64);
		}
		arena_clear(&a);
		msgcache_free(c);
	}
	conf_free(conf);
}

/* Sets that are each small enough, but too much for a message when few names are compressed. */
static void of_what_fits_no_message_that_it_is_bogus_is_kept(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\n serve-expired: yes\n");
	struct msgcache *c = msgcache_new(1 << 20, 1);
	struct made made = { "many.example.", TYPE_A, RCODE_NXDOMAIN, { NULL } };
	const struct rrset *sets[300];
	const struct stored *s;
	struct message *m;
	struct arena a;

	arena_init(&a);
	m = made_message(&a, NOW, &made);
	for (size_t i = 0; i < COUNT(sets); i++) {
		char line[600];

		snprintf(line, sizeof(line), "n%zu.example. 300 TXT %0250d", i, 0);
		sets[i] = made_set(&a, NOW, line);
	}
	m->sets = sets;
	m->count[SECTION_AUTHORITY] = COUNT(sets);
	assert_null(store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW }));
	m->security = SECURITY_BOGUS;
	s = store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW });
	assert_non_null(s);
	assert_int_equal(s->rcode, RCODE_SERVFAIL);
	assert_int_equal(s->security, SECURITY_BOGUS);
	assert_int_equal(s->expires_s, NOW + 60);
	arena_clear(&a);
	msgcache_free(c);
	conf_free(conf);
}

/* Not even by TTL 0, which ends what had expired otherwise. */
static void what_is_bogus_ends_nothing_expired(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\n serve-expired: yes\n val-bogus-ttl: 0\n");
	struct msgcache *c = msgcache_new(1 << 20, 1);
	static const struct made good = { "www.example.", TYPE_A, 0, { "www.example. 9 A 192.0.2.1\n" } },
				 brief = { "www.example.", TYPE_A, 0, { "www.example. 0 A 192.0.2.9\n" } };
	static const uint8_t securities[] = { SECURITY_BOGUS, SECURITY_INSECURE };
	struct message *m;
	struct arena a;

	arena_init(&a);
	store_message(c, conf, made_message(&a, NOW, &good), &(struct msg_keep){ .now_s = NOW });
	for (size_t i = 0; i < COUNT(securities); i++) {
		m = made_message(&a, NOW + 20, &brief);
		m->security = securities[i];
		store_message(c, conf, m, &(struct msg_keep){ .now_s = NOW + 20 });
		assert_int_equal(msgcache_find(c, &m->q, msgcache_hash(&m->q), 0, true) != NULL,
				 securities[i] == SECURITY_BOGUS);
	}
	arena_clear(&a);
	msgcache_free(c);
	conf_free(conf);
}

/* What others keep for us may have been made by anybody: only what could have been an answer to a question is taken back. */
static void only_answers_are_taken_back_from_cachedb(void **state)
{
	(void)state;
	enum { NOTHING, NO_NAME, OPCODE, REASON, FLAGS, AA, EDNS, META, ANY, FAILURE, DENIAL, TOO_LONG };

	for (unsigned what = NOTHING; what <= TOO_LONG; what++) {
		bool want = what == NOTHING || what == AA || what == ANY || what == DENIAL || what == TOO_LONG;
		struct message m = { .q = made_question("www.example.", TYPE_A) };

		if (what == NO_NAME)
			m.q.name_len = 0;
		m.opcode = what == OPCODE ? OPCODE_NOTIFY : OPCODE_QUERY;
		m.reason = what == REASON ? REASON_stale : REASON_none;
		m.flags = what == FLAGS ? FLAG_AD : what == AA ? FLAG_AA : 0;
		m.edns.present = what == EDNS;
		m.q.type = what == META ? TYPE_AXFR : what == ANY ? TYPE_ANY : TYPE_A;
		m.rcode = what == FAILURE ? RCODE_SERVFAIL : what == DENIAL ? RCODE_NXDOMAIN : what == TOO_LONG ? RCODE_YXDOMAIN : RCODE_NOERROR;
		if (store_is_sound(&m) != want)
			fail_msg("case %u", what);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(only_denials_have_the_time_of_denials),
		CLAIM(answers_are_kept_as_long_as_their_records_say),
		CLAIM(limits_leave_borrowed_sets_alone),
		CLAIM(the_least_ttl_prolongs_nothing),
		CLAIM(a_failed_refresh_leaves_what_may_be_served),
		CLAIM(what_fails_again_at_once_is_left_alone_longer),
		CLAIM(of_what_is_too_large_that_it_is_bogus_is_kept),
		CLAIM(a_failure_that_follows_another_kind_is_the_first),
		CLAIM(of_what_fits_no_message_that_it_is_bogus_is_kept),
		CLAIM(what_is_bogus_ends_nothing_expired),
		CLAIM(only_answers_are_taken_back_from_cachedb),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
