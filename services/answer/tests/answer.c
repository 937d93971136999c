/* Claims about the bytes that clients get.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/answer/answer.h"

#include "services/access/cookies.h"
#include "services/tests/made.h"
#include "util/conf/options.h"
#include "util/tests/turn.h"

#define NOW 1000

static const struct answer_style usual = {
	.udp_size = 1232,
	.max_udp = 1232,
	.ede = true,
	.ede_stale = true,
	.rotate = true,
	.stale_ttl_s = 30,
};

/* One question, its answer read again, both in `a`. */
struct exchange {
	struct request request;
	struct answer_to to;
	uint8_t room[MSG_MAX];
	size_t len;
	struct message got;
};

static void ask(struct exchange *x, const char *name, uint16_t type, uint16_t flags)
{
	*x = (struct exchange){ .request = { .id = 0x1234, .flags = flags } };
	x->request.q = made_question(name, type);
	x->to = (struct answer_to){ .style = &usual, .request = &x->request, .now_s = NOW };
}

static void with_edns(struct exchange *x, uint16_t size, uint16_t flags)
{
	x->request.edns = (struct edns){ .present = true, .udp_size = size, .flags = flags };
}

static void read_again(struct exchange *x, struct arena *a, struct writer *w)
{
	assert_false(w->bad);
	x->len = writer_len(w);
	assert_true(msg_parse(x->room, x->len, a, NOW, &x->got));
	assert_int_equal(x->got.id, x->request.id);
	assert_true(x->got.flags & FLAG_QR);
}

/* From the cache, `age_s` after it was stored. */
static void get_stored(struct exchange *x, struct arena *a, const struct message *m, uint32_t age_s,
		       bool stale)
{
	struct msgcache *c = msgcache_new(4 << 20, 1);
	struct writer w = writer_over(x->room, x->to.stream ? MSG_MAX : 4096);
	const struct stored *s;

	msgcache_store(c, m, &(struct msg_keep){ .now_s = NOW, .ttl_s = 3600 });
	s = msgcache_find(c, &x->request.q, msgcache_hash(&x->request.q), 0,
			  x->request.edns.flags & EDNS_DO);
	assert_non_null(s);
	x->to.now_s = NOW + age_s;
	answer_stored(&w, &x->to, s, stale);
	read_again(x, a, &w);
	msgcache_free(c);
}

static void get_fresh(struct exchange *x, struct arena *a, const struct message *m)
{
	struct writer w = writer_over(x->room, x->to.stream ? MSG_MAX : 4096);

	answer_message(&w, &x->to, m);
	read_again(x, a, &w);
}

static const struct made www = {
	"www.Example.com.", TYPE_A, RCODE_NOERROR, { "www.example.com. 300 A 192.0.2.1\n" }
};

static void header_bits_are_as_the_rfcs_ask(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t asked, edns_flags;
		bool edns, no_recursion, secure, stale;
		uint16_t want;
	} rows[] = {
		{ "plain", 0, 0, false, false, false, false, FLAG_RA },
		{ "RD and CD are copied", FLAG_RD | FLAG_CD, 0, false, false, false, false,
		  FLAG_RD | FLAG_CD | FLAG_RA },
		{ "who may not recurse sees no RA", FLAG_RD, 0, false, true, false, false,
		  FLAG_RD },
		{ "secure, but it did not ask", 0, 0, true, false, true, false, FLAG_RA },
		{ "secure, asked by AD", FLAG_AD, 0, false, false, true, false, FLAG_RA | FLAG_AD },
		{ "secure, asked by DO", 0, EDNS_DO, true, false, true, false, FLAG_RA | FLAG_AD },
		{ "not secure, asked by AD", FLAG_AD, 0, false, false, false, false, FLAG_RA },
		{ "secure when it was fresh", FLAG_AD, 0, false, false, true, true, FLAG_RA },
		{ "odd bits go", FLAG_AA | FLAG_TC | FLAG_Z | FLAG_RD, 0, false, false, false,
		  false, FLAG_RD | FLAG_RA },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int from_cache = 0; from_cache < 2; from_cache++) {
			struct exchange x;
			struct message *m;
			struct arena a;

			arena_init(&a);
			ask(&x, "www.example.com.", TYPE_A, rows[i].asked);
			if (rows[i].edns)
				with_edns(&x, 1232, rows[i].edns_flags);
			x.to.no_recursion = rows[i].no_recursion;
			m = made_message(&a, NOW, &www);
			m->security = rows[i].secure ? SECURITY_SECURE : SECURITY_INSECURE;
			if (from_cache) {
				get_stored(&x, &a, m, 0, rows[i].stale);
			} else {
				m->reason = rows[i].stale ? REASON_stale : REASON_none;
				get_fresh(&x, &a, m);
			}
			if ((x.got.flags & ~FLAG_QR) != rows[i].want)
				fail_msg("%s (from cache %d): flags %x", rows[i].why, from_cache,
					 x.got.flags);
			assert_int_equal(x.got.edns.present, rows[i].edns);
			if (rows[i].edns) {
				assert_int_equal(x.got.edns.udp_size, 1232);
				assert_int_equal(x.got.edns.flags, rows[i].edns_flags);
			}
			assert_int_equal(x.got.count[SECTION_ANSWER], 1);
			arena_clear(&a);
		}
	}
}

static void the_name_is_spelled_as_asked(void **state)
{
	(void)state;
	for (int from_cache = 0; from_cache < 2; from_cache++) {
		struct exchange x;
		struct arena a;

		arena_init(&a);
		ask(&x, "wWw.exAMPle.COM.", TYPE_A, FLAG_RD);
		if (from_cache)
			get_stored(&x, &a, made_message(&a, NOW, &www), 0, false);
		else
			get_fresh(&x, &a, made_message(&a, NOW, &www));
		assert_name_is(x.got.q.name, "wWw.exAMPle.COM.");
		assert_name_is(rrset_owner(x.got.sets[0]), "wWw.exAMPle.COM.");
		arena_clear(&a);
	}
}

static void ttls_count_down(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t age_s;
		bool stale, original;
		uint32_t want[2];
	} rows[] = {
		{ "at once", 0, false, false, { 300, 100 } },
		{ "a minute later", 60, false, false, { 240, 40 } },
		{ "never below 0", 150, false, false, { 150, 0 } },
		{ "stale", 7000, true, false, { 30, 30 } },
		{ "as published", 60, false, true, { 300, 100 } },
	};
	static const struct made made = {
		"a.example.",
		TYPE_A,
		RCODE_NOERROR,
		{ "a.example. 300 CNAME b.example.\nb.example. 100 A 192.0.2.1\n" }
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct answer_style style = usual;
		struct exchange x;
		struct arena a;

		arena_init(&a);
		style.original_ttl = rows[i].original;
		ask(&x, "a.example.", TYPE_A, FLAG_RD);
		x.to.style = &style;
		get_stored(&x, &a, made_message(&a, NOW, &made), rows[i].age_s, rows[i].stale);
		for (int n = 0; n < 2; n++) {
			if (x.got.sets[n]->ttl_s != rows[i].want[n])
				fail_msg("%s: TTL %u", rows[i].why, x.got.sets[n]->ttl_s);
		}
		arena_clear(&a);
	}
}

static void addresses_take_turns(void **state)
{
	(void)state;
	static const struct made made = {
		"a.example.",
		TYPE_A,
		RCODE_NOERROR,
		{ "a.example. 300 A 192.0.2.1\na.example. 300 A 192.0.2.2\n"
		  "a.example. 300 A 192.0.2.3\n" }
	};
	static const struct {
		bool rotate;
		uint16_t id;
		uint8_t want[3];
	} rows[] = {
		{ true, 0, { 1, 2, 3 } },     { true, 1, { 2, 3, 1 } },
		{ true, 2, { 3, 1, 2 } },     { true, 3, { 1, 2, 3 } },
		{ true, 65535, { 1, 2, 3 } }, { true, 65534, { 3, 1, 2 } },
		{ false, 1, { 1, 2, 3 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct answer_style style = usual;
		struct exchange x;
		struct arena a;

		arena_init(&a);
		style.rotate = rows[i].rotate;
		ask(&x, "a.example.", TYPE_A, FLAG_RD);
		x.request.id = rows[i].id;
		x.to.style = &style;
		get_stored(&x, &a, made_message(&a, NOW, &made), 10, false);
		for (unsigned n = 0; n < 3; n++) {
			assert_int_equal(rrset_record(x.got.sets[0], n).at[3], rows[i].want[n]);
			assert_int_equal(x.got.sets[0]->ttl_s, 290);
		}
		arena_clear(&a);
	}
}

#define TXT(n)                                                                 \
	"big.example. 300 TXT \"" n "0123456789012345678901234567890123456789" \
	"0123456789012345678901234567890123456789012345678901234567890123456789\"\n"
#define GLUE(n)                                  \
	"ns" n ".example. 300 A 192.0.2." n "\n" \
	"ns" n ".example. 300 AAAA 2001:db8::" n "\n"

static const struct made large = {
	"big.example.",
	TYPE_TXT,
	RCODE_NOERROR,
	{ TXT("a") TXT("b") TXT("c"), "example. 300 NS ns1.example.\n",
	  GLUE("1") GLUE("2") GLUE("3") GLUE("4") GLUE("5") },
};

/* Three records, and more beside them than most clients take. */
static void get_large(struct exchange *x, struct arena *a, enum reason reason, bool from_cache)
{
	struct message *m = made_message(a, NOW, &large);

	m->reason = reason;
	if (from_cache)
		get_stored(x, a, m, 5, false);
	else
		get_fresh(x, a, m);
}

static void what_does_not_fit_is_left_out(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t edns_size, max_udp;
		bool stream, ede, tc;
		uint16_t answer, authority, additional;
		bool explained;
	} rows[] = {
		{ "all of it", 1232, 1232, false, true, false, 1, 1, 10, true },
		{ "over TCP", 0, 1232, true, false, false, 1, 1, 10, false },
		{ "512 without EDNS: the additional section goes", 0, 1232, false, false, false, 1,
		  1, 0, false },
		{ "less than 512 is 512", 100, 1232, false, false, false, 1, 1, 0, false },
		{ "our own limit", 4096, 550, false, false, false, 1, 1, 0, false },
		{ "the explanation goes first", 670, 1232, false, true, false, 1, 1, 10, false },
		{ "nothing of it", 4096, 400, false, true, true, 0, 0, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int from_cache = 0; from_cache < 2; from_cache++) {
			struct answer_style style = usual;
			struct exchange x;
			struct arena a;
			struct slice ede;

			arena_init(&a);
			ask(&x, "big.example.", TYPE_TXT, FLAG_RD);
			style.max_udp = rows[i].max_udp;
			x.to.style = &style;
			x.to.stream = rows[i].stream;
			if (rows[i].edns_size)
				with_edns(&x, rows[i].edns_size, 0);
			get_large(&x, &a, rows[i].ede ? REASON_forged : REASON_none, from_cache);
			if (!!(x.got.flags & FLAG_TC) != rows[i].tc ||
			    x.got.count[0] != rows[i].answer ||
			    x.got.count[1] != rows[i].authority ||
			    x.got.count[2] != rows[i].additional)
				fail_msg("%s (from cache %d): %zu bytes, tc %d, %u %u %u",
					 rows[i].why, from_cache, x.len, !!(x.got.flags & FLAG_TC),
					 x.got.count[0], x.got.count[1], x.got.count[2]);
			if (!rows[i].stream)
				assert_true(x.len <=
					    MIN(MAX(rows[i].edns_size, 512), rows[i].max_udp));
			if (edns_find_option(&x.got.edns, EDNS_EDE, &ede) != rows[i].explained)
				fail_msg("%s (from cache %d): EDE, %zu bytes", rows[i].why,
					 from_cache, x.len);
			assert_int_equal(x.got.edns.present, rows[i].edns_size != 0);
			arena_clear(&a);
		}
	}
}

static void a_short_size_is_obeyed_where_that_is_wanted(void **state)
{
	(void)state;
	static const uint8_t ip[4] = { 192, 0, 2, 1 };
	const struct answer_made made = { .type = TYPE_A, .ttl_s = 60, .data = { ip, sizeof ip } };
	struct answer_style style = usual;

	style.takes_short = true;
	for (int way = 0; way < 3; way++) {
		struct exchange x;
		struct arena a;

		arena_init(&a);
		ask(&x, "big.example.", way == 2 ? TYPE_A : TYPE_TXT, FLAG_RD);
		x.to.style = &style;
		with_edns(&x, way == 2 ? 50 : 100, 0);
		if (way == 2) {
			struct writer w = writer_over(x.room, 4096);

			answer_made(&w, &x.to, &made);
			read_again(&x, &a, &w);
		} else {
			get_large(&x, &a, REASON_forged, way == 1);
		}
		if (!(x.got.flags & FLAG_TC) || x.got.count[0] || x.len > (way == 2 ? 50u : 100u))
			fail_msg("way %d: %zu bytes, flags %x", way, x.len, x.got.flags);
		arena_clear(&a);
	}
}

/* RFC 7873 5.2: a client that sent a cookie may take an answer without one for a forged one. */
static void cookies_stay_whatever_does_not_fit(void **state)
{
	(void)state;
	static const uint8_t given[] = "\0\12\0\010abcdefgh", answer[COOKIE_LEN] = "abcdefgh12345678";
	static const struct {
		const char *why;
		uint16_t size;
		bool tc;
		uint16_t additional;
		bool explained;
	} rows[] = {
		{ "all of it", 1232, false, 10, true },
		{ "the explanation goes", 698, false, 10, false },
		{ "the additional section goes", 512, false, 0, false },
		{ "the answer goes", 400, true, 0, false },
		{ "the cookie is more than half of all", 80, true, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int from_cache = 0; from_cache < 2; from_cache++) {
			struct answer_style style = usual;
			struct exchange x;
			struct arena a;
			struct slice got;

			arena_init(&a);
			ask(&x, "big.example.", TYPE_TXT, FLAG_RD);
			style.max_udp = rows[i].size;
			x.to.style = &style;
			with_edns(&x, rows[i].size, 0);
			x.request.edns.options = (struct slice){ given, sizeof given - 1 };
			x.request.cookie = answer;
			get_large(&x, &a, REASON_forged, from_cache);
			if (!!(x.got.flags & FLAG_TC) != rows[i].tc ||
			    x.got.count[2] != rows[i].additional ||
			    edns_find_option(&x.got.edns, EDNS_EDE, &got) != rows[i].explained)
				fail_msg("%s (from cache %d): %zu bytes, flags %x, %u additional",
					 rows[i].why, from_cache, x.len, x.got.flags,
					 x.got.count[2]);
			if (!edns_find_option(&x.got.edns, EDNS_COOKIE, &got) ||
			    got.len != COOKIE_LEN || memcmp(got.at, answer, COOKIE_LEN) != 0)
				fail_msg("%s (from cache %d): no cookie", rows[i].why, from_cache);
			assert_true(x.len <= rows[i].size);
			arena_clear(&a);
		}
	}
}

static void reasons_are_told_where_wanted(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t rcode;
		enum reason reason;
		bool stale, edns, ede, ede_stale;
		int codes[2]; /* -1: none */
	} rows[] = {
		{ "a failure",
		  RCODE_SERVFAIL,
		  REASON_no_reachable,
		  false,
		  true,
		  true,
		  true,
		  { 22, -1 } },
		{ "not without EDNS",
		  RCODE_SERVFAIL,
		  REASON_no_reachable,
		  false,
		  false,
		  true,
		  true,
		  { -1, -1 } },
		{ "not when off",
		  RCODE_SERVFAIL,
		  REASON_no_reachable,
		  false,
		  true,
		  false,
		  false,
		  { -1, -1 } },
		{ "no reason", RCODE_NOERROR, REASON_none, false, true, true, true, { -1, -1 } },
		{ "stale", RCODE_NOERROR, REASON_none, true, true, true, true, { 3, -1 } },
		{ "a stale denial",
		  RCODE_NXDOMAIN,
		  REASON_none,
		  true,
		  true,
		  true,
		  true,
		  { 19, -1 } },
		{ "stale, but it is not to be told",
		  RCODE_NOERROR,
		  REASON_none,
		  true,
		  true,
		  true,
		  false,
		  { -1, -1 } },
		{ "both", RCODE_NOERROR, REASON_forged, true, true, true, true, { 4, 3 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made made = { "a.example.", TYPE_A, rows[i].rcode, { NULL } };
		struct answer_style style = usual;
		struct exchange x;
		struct message *m;
		struct reader r;
		struct slice value;
		struct arena a;
		uint16_t code;

		arena_init(&a);
		style.ede = rows[i].ede;
		style.ede_stale = rows[i].ede_stale;
		ask(&x, "a.example.", TYPE_A, FLAG_RD);
		x.to.style = &style;
		if (rows[i].edns)
			with_edns(&x, 1232, 0);
		m = made_message(&a, NOW, &made);
		m->reason = rows[i].reason;
		get_stored(&x, &a, m, 1, rows[i].stale);
		assert_int_equal(x.got.rcode, rows[i].rcode);
		r = reader_over(x.got.edns.options.at, x.got.edns.options.len);
		for (int n = 0; n < 2; n++) {
			bool there = edns_next_option(&r, &code, &value);

			if (there != (rows[i].codes[n] >= 0) ||
			    (there && (code != EDNS_EDE || get_u16(value.at) != rows[i].codes[n])))
				fail_msg("%s: option %d", rows[i].why, n);
		}
		arena_clear(&a);
	}
}

static void errors_echo_what_could_be_read(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool question, edns;
		uint16_t flags;
		enum rcode rcode;
		uint16_t want_flags;
	} rows[] = {
		{ "a refusal", true, false, FLAG_RD, RCODE_REFUSED, FLAG_QR | FLAG_RD | FLAG_RA },
		{ "no question", false, false, 0, RCODE_FORMERR, FLAG_QR | FLAG_RA },
		{ "an opcode is kept", true, false, 4 << 11, RCODE_NOTIMP,
		  FLAG_QR | FLAG_RA | 4 << 11 },
		{ "a version we do not know", true, true, FLAG_RD, RCODE_BADVERS,
		  FLAG_QR | FLAG_RD | FLAG_RA },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct exchange x;
		struct writer w;
		struct arena a;

		arena_init(&a);
		ask(&x, "a.Example.", TYPE_MX, rows[i].flags);
		if (!rows[i].question)
			x.request.q = (struct question){ .name_len = 0 };
		if (rows[i].edns)
			with_edns(&x, 1232, EDNS_DO);
		w = writer_over(x.room, 4096);
		answer_error(&w, &x.to, rows[i].rcode, REASON_none);
		read_again(&x, &a, &w);
		assert_int_equal(msg_flags(x.room) & ~15, rows[i].want_flags);
		if (x.got.rcode != rows[i].rcode)
			fail_msg("%s: rcode %u", rows[i].why, x.got.rcode);
		assert_int_equal(x.got.q.name_len, rows[i].question ? 11 : 0);
		assert_int_equal(x.got.edns.present, rows[i].edns);
		assert_int_equal(message_set_count(&x.got), 0);
		arena_clear(&a);
	}
}

static void signatures_go_to_who_wants_them(void **state)
{
	(void)state;
	static const struct made made = {
		"s.example.",
		TYPE_A,
		RCODE_NOERROR,
		{ "s.example. 300 A 192.0.2.1\n"
		  "s.example. 300 RRSIG A 13 2 300 20300101000000 20200101000000 1 example. AAAA\n",
		  "a.example. 300 NSEC z.example. A\n" }
	};

	for (int full = 0; full < 2; full++) {
		for (int from_cache = 0; from_cache < 2; from_cache++) {
			struct exchange x;
			struct arena a;

			arena_init(&a);
			ask(&x, "s.example.", TYPE_A, FLAG_RD);
			with_edns(&x, 1232, full ? EDNS_DO : 0);
			if (from_cache)
				get_stored(&x, &a, made_message(&a, NOW, &made), 1, false);
			else
				get_fresh(&x, &a, made_message(&a, NOW, &made));
			assert_int_equal(x.got.sets[0]->sig_count, full);
			assert_int_equal(x.got.count[SECTION_AUTHORITY], full);
			arena_clear(&a);
		}
	}
}

static void minimal_answers_keep_what_they_need(void **state)
{
	(void)state;
#define SOA  "example. 300 SOA ns.example. h.example. 1 7200 3600 604800 60\n"
#define NS   "example. 300 NS ns.example.\n"
#define NSEC "a.example. 300 NSEC z.example. A\n"
#define A    "ns.example. 300 A 192.0.2.53\n"
	static const struct {
		const char *why;
		struct made made;
		uint16_t want[3];
	} rows[] = {
		{ "an answer",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n", NS, A } },
		  { 1, 0, 0 } },
		{ "one from a wildcard",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n", NS NSEC, A } },
		  { 1, 2, 1 } },
		{ "all that there is",
		  { "www.example.", TYPE_ANY, 0, { "www.example. 300 A 192.0.2.1\n", NS, A } },
		  { 1, 1, 1 } },
		{ "NXDOMAIN",
		  { "no.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, NS SOA NSEC, A } },
		  { 0, 2, 0 } },
		{ "NODATA", { "www.example.", TYPE_A, 0, { NULL, SOA, A } }, { 0, 1, 0 } },
		{ "NODATA behind an alias",
		  { "www.example.", TYPE_A, 0, { "www.example. 300 CNAME b.example.\n", SOA } },
		  { 1, 1, 0 } },
		{ "a referral", { "www.example.", TYPE_A, 0, { NULL, NS, A } }, { 0, 1, 1 } },
		{ "the servers of a zone",
		  { "example.", TYPE_NS, 0, { NS, NULL, A } },
		  { 1, 0, 1 } },
	};
#undef SOA
#undef NS
#undef NSEC
#undef A

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &rows[i].made);
		message_minimise(m);
		if (memcmp(m->count, rows[i].want, sizeof(m->count)) != 0)
			fail_msg("%s: %u %u %u", rows[i].why, m->count[0], m->count[1],
				 m->count[2]);
		for (unsigned n = 0;
		     n < m->count[SECTION_AUTHORITY] && m->count[SECTION_ADDITIONAL] == 0; n++)
			assert_int_not_equal(m->sets[m->count[0] + n]->type, TYPE_NS);
		arena_clear(&a);
	}
}

static void the_style_is_the_configurations(void **state)
{
	(void)state;
	struct conf *conf = conf_new();
	struct answer_style s;

	answer_style_from(&s, conf);
	assert_int_equal(s.udp_size, 1232);
	assert_int_equal(s.max_udp, 1232);
	assert_int_equal(s.stale_ttl_s, 30);
	assert_true(s.rotate);
	assert_false(s.ede);
	assert_false(s.takes_short);
	assert_true(conf_set_option(conf, "ede-serve-expired: yes", NULL));
	assert_true(conf_set_option(conf, "harden-short-bufsize: no", NULL));
	answer_style_from(&s, conf);
	assert_true(s.takes_short);
	assert_false(s.ede_stale);
	conf_free(conf);
}

static void our_name_is_told_to_who_asks_for_it(void **state)
{
	(void)state;
	static const uint8_t question[] = { 0, EDNS_NSID, 0, 0 }, other[] = { 0, EDNS_COOKIE, 0, 0 };
	static const struct {
		const char *why, *option;
		struct slice asked;
		const char *want;
	} rows[] = {
		{ "text", "ascii_here", { question, 4 }, "here" },
		{ "hex digits", "68456C", { question, 4 }, "hEl" },
		{ "we have none", "", { question, 4 }, NULL },
		{ "nobody asked", "ascii_here", { NULL, 0 }, NULL },
		{ "another option", "ascii_here", { other, 4 }, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_new();
		struct answer_style style;
		struct exchange x;
		struct slice got;
		struct arena a;
		char line[64];
		bool told;

		arena_init(&a);
		snprintf(line, sizeof line, "nsid: \"%s\"", rows[i].option);
		assert_true(conf_set_option(conf, line, NULL));
		answer_style_from(&style, conf);
		ask(&x, "www.example.com.", TYPE_A, FLAG_RD);
		with_edns(&x, 1232, 0);
		x.request.edns.options = rows[i].asked;
		x.to.style = &style;
		get_stored(&x, &a, made_message(&a, NOW, &www), 1, false);
		told = edns_find_option(&x.got.edns, EDNS_NSID, &got);
		if (told != (rows[i].want != NULL) ||
		    (told && (got.len != strlen(rows[i].want) || memcmp(got.at, rows[i].want, got.len) != 0)))
			fail_msg("%s", rows[i].why);
		arena_clear(&a);
		conf_free(conf);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(header_bits_are_as_the_rfcs_ask),
		CLAIM(the_name_is_spelled_as_asked),
		CLAIM(ttls_count_down),
		CLAIM(addresses_take_turns),
		CLAIM(what_does_not_fit_is_left_out),
		CLAIM(a_short_size_is_obeyed_where_that_is_wanted),
		CLAIM(cookies_stay_whatever_does_not_fit),
		CLAIM(reasons_are_told_where_wanted),
		CLAIM(errors_echo_what_could_be_read),
		CLAIM(signatures_go_to_who_wants_them),
		CLAIM(minimal_answers_keep_what_they_need),
		CLAIM(the_style_is_the_configurations),
		CLAIM(our_name_is_told_to_who_asks_for_it),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
