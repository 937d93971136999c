/* Claims about the way of a packet: where its client query ends, and with what.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/frontend.h"

#include "daemon/worker/caches.h"
#include "daemon/worker/worker.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cache/subnet_index.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/upstream/upstream.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"

#define NAME(text) ((const uint8_t *)(text))

/* ---- a worker whose network swallows everything ---- */

static void swallow(struct transport *t, struct transmission *s)
{
	(void)t, (void)s;
}

static const struct transport_ops silence = {
	.name = "silence",
	.patient = true,
	.send = swallow,
	.cancel = swallow,
};

static struct world {
	struct loop *loop;
	struct random random;
	struct transport udp, tcp;
	struct caches caches;
	struct snapshot *snapshot;
	struct worker *worker;
	unsigned dropped;
} world;

static void never_replied(const struct client *c, const uint8_t *bytes, size_t len)
{
	(void)c, (void)bytes, (void)len;
}

static void count_drop(const struct client *c)
{
	(void)c;
	world.dropped++;
}

static const struct client_ops over_udp = { .name = "udp",
					    .reply = never_replied,
					    .drop = count_drop };
static const struct client_ops over_tcp = {
	.name = "tcp",
	.stream = true,
	.reply = never_replied,
	.drop = count_drop,
};

static const char acl[] = "server:\n"
			  "local-zone: test. nodefault\n"
			  "access-control: 127.0.0.1 allow\n"
			  "access-control: 127.0.0.2 deny\n"
			  "access-control: 127.0.0.3 refuse\n"
			  "access-control: 127.0.0.4 allow_setrd\n"
			  "access-control: 127.0.0.5 allow_snoop\n"
			  "access-control: 127.0.0.6 deny_non_local\n"
			  "access-control: 127.0.0.7 refuse_non_local\n"
			  "access-control: 127.0.0.8 allow_cookie\n"
			  "do-not-query-localhost: no\n"
			  "identity: \"me\"\nversion: \"1.2\"\n"
			  "ede: yes\n";

static struct conf *conf_with(const char *more)
{
	char text[2048];

	snprintf(text, sizeof text, "%s%s", acl, more);
	return conf_from(text);
}

#define NOW_S 1000

/* "fresh", "stale", "ancient", "due", "bogus" below test.: an address each. */
static void store(const char *first, uint32_t stored_s, uint32_t ttl_s, enum security security)
{
	uint8_t name[DNAME_MAX];
	char text[64];
	struct slice address = { .at = NAME("\300\0\2\1"), .len = 4 };
	struct arena arena;
	const struct rrset *sets[1];
	struct message m = { .sets = sets, .count = { 1, 0, 0 }, .security = (uint8_t)security };

	snprintf(text, sizeof text, "%s.test.", first);
	arena_init(&arena);
	m.q = (struct question){ .name = name,
				 .name_len = (uint16_t)dname_parse(name, text, NULL),
				 .type = TYPE_A,
				 .class_ = CLASS_IN };
	m.reason = security == SECURITY_BOGUS ? REASON_bogus : REASON_none;
	sets[0] = rrset_build(&arena, &(struct rrset_parts){
					      .owner = name,
					      .type = TYPE_A,
					      .class_ = CLASS_IN,
					      .ttl_s = ttl_s,
					      .expires_s = stored_s + ttl_s,
					      .records = &address,
					      .count = 1,
					      .trust = TRUST_ANS_AA,
					      .security = (uint8_t)security,
				      });
	msgcache_store(world.caches.messages, &m,
		       &(struct msg_keep){ .now_s = stored_s, .ttl_s = ttl_s, .always = true });
	arena_clear(&arena);
}

static void fill_caches(void)
{
	rcu_thread_join();
	rcu_turn_begin();
	store("fresh", NOW_S - 10, 100, SECURITY_INSECURE);
	store("secure", NOW_S - 10, 100, SECURITY_SECURE);
	store("bogus", NOW_S - 10, 100, SECURITY_BOGUS);
	store("due", NOW_S - 95, 100, SECURITY_INSECURE);
	store("stale", NOW_S - 200, 100, SECURITY_INSECURE);
	store("ancient", NOW_S - 900, 100, SECURITY_INSECURE);
	store("secure.stale", NOW_S - 200, 100, SECURITY_SECURE);
	store("unvalidated", NOW_S - 10, 100, SECURITY_UNCHECKED);
	store("unvalidated.stale", NOW_S - 200, 100, SECURITY_UNCHECKED);
	rcu_turn_end();
}

static void open_world(const char *more)
{
	struct fault f = { 0 };

	memset(&world, 0, sizeof world);
	world.loop = loop_new_played();
	loop_play(world.loop, NOW_S * US_PER_S - loop_time(world.loop)->now_us);
	random_play(&world.random, 1);
	world.udp.ops = world.tcp.ops = &silence;
	world.snapshot = snapshot_new(conf_with(more), &f);
	if (!world.snapshot)
		fail_msg("%s", f.text);
	caches_init(&world.caches, world.snapshot->conf);
	world.worker = worker_new(
		&(struct worker_how){
			.snapshot = world.snapshot,
			.caches = &world.caches,
			.loop = world.loop,
			.random = &world.random,
			.udp = &world.udp,
			.tcp = &world.tcp,
		},
		&f);
	if (!world.worker)
		fail_msg("%s", f.text);
	fill_caches();
}

static void close_world(void)
{
	worker_free(world.worker);
	caches_clear(&world.caches);
	snapshot_unpin(world.snapshot);
	loop_free(world.loop);
	rcu_flush();
	rcu_thread_leave();
}

/* ---- packets ---- */

enum { NO_EDNS = 1, DO = 2, VERSION1 = 4, TCP = 8, CUT = 16, ANSWERS = 32, NO_QUESTION = 64, ASKS_IDLE = 128, SAYS_IDLE = 256, IS_512 = 512, IS_513 = 1024 };

struct asked {
	uint8_t from; /* 127.0.0.x */
	const char *name;
	uint16_t type, class_, flags;
	unsigned how;
};

static size_t write_request(uint8_t *to, size_t room, const struct asked *a)
{
	uint8_t name[DNAME_MAX];
	struct writer w = writer_over(to, room);
	struct question q = { .name = name, .type = a->type, .class_ = a->class_ };
	struct edns opt = { .present = !(a->how & NO_EDNS),
			    .udp_size = 1232,
			    .flags = (uint16_t)(a->how & DO ? EDNS_DO : 0),
			    .version = (a->how & VERSION1) != 0 };
	static uint8_t more[600] = { 0, EDNS_KEEPALIVE, 0, 2, 0, 9 };
	size_t padding;

	q.name_len = (uint16_t)dname_parse(name, a->name, NULL);
	assert_true(q.name_len != 0);
	more[3] = a->how & SAYS_IDLE ? 2 : 0;
	opt.options = (struct slice){ more, a->how & (ASKS_IDLE | SAYS_IDLE) ? 4u + more[3] : 0 };
	if (a->how & (IS_512 | IS_513)) {
		padding = (a->how & IS_513 ? 513u : 512u) - MSG_HEAD_LEN - q.name_len - 4 - 11 - 4;
		opt.options = (struct slice){ memset(more + 6, 0, sizeof(more) - 6), 4 + padding };
		put_u32(more + 6, 65001u << 16 | (uint32_t)padding);
	}
	msg_write_query(&w, 4711, a->flags, &q, &opt);
	assert_false(w.bad);
	if (a->how & ANSWERS)
		put_u16(to + 6, 1);
	if (a->how & NO_QUESTION)
		put_u16(to + 4, 0);
	return a->how & CUT ? MSG_HEAD_LEN + 3 : writer_len(&w);
}

static void add(char *to, const char *word)
{
	size_t len = strlen(to);

	snprintf(to + len, 128 - len, "%s%s", len ? " " : "", word);
}

static const char *rcode_text(unsigned rcode)
{
	static const char *const names[] = { "NOERROR",  "FORMERR", "SERVFAIL",
					     "NXDOMAIN", "NOTIMP",  "REFUSED" };

	return rcode < COUNT(names) ? names[rcode] : "RCODE?";
}

/* "SEND NOERROR aa rd ra 1/0/1": what came of it, rcode, flags, records. */
static void tell(char to[128], enum disposition v, const struct writer *out)
{
	static const struct {
		uint16_t bit;
		const char *name;
	} flags[] = {
		{ FLAG_AA, "aa" }, { FLAG_TC, "tc" }, { FLAG_RD, "rd" },
		{ FLAG_RA, "ra" }, { FLAG_AD, "ad" }, { FLAG_CD, "cd" },
	};
	char counts[32];

	*to = '\0';
	add(to, v == DISPOSITION_SEND ? "SEND" : v == DISPOSITION_DROP ? "DROP" : v == DISPOSITION_LATER ? "LATER" : "?");
	if (v != DISPOSITION_SEND)
		return;
	assert_true(!out->bad && writer_len(out) >= MSG_HEAD_LEN && msg_id(out->start) == 4711);
	assert_true(msg_flags(out->start) & FLAG_QR);
	add(to, rcode_text(msg_rcode(out->start)));
	for (size_t i = 0; i < COUNT(flags); i++)
		if (msg_flags(out->start) & flags[i].bit)
			add(to, flags[i].name);
	snprintf(counts, sizeof counts, "%u/%u/%u", get_u16(out->start + 6),
		 get_u16(out->start + 8), get_u16(out->start + 10));
	add(to, counts);
}

static uint8_t answer[65535];

static void take(const struct asked *a, char to[128])
{
	static uint8_t bytes[2048];
	bool stream = a->how & TCP;
	struct packet p = {
		.in = { .at = bytes, .len = write_request(bytes, sizeof bytes, a) },
		.out = writer_over(answer, stream ? sizeof answer : 4096),
		.client = { .ops = stream ? &over_tcp : &over_udp,
			    .from = { .family = 4, .ip = { 127, 0, 0, a->from }, .port = 5353 } },
	};
	enum disposition v;

	rcu_turn_begin();
	v = frontend_take(world.worker, &p);
	rcu_turn_end();
	tell(to, v, &p.out);
}

#define IN CLASS_IN
#define CH CLASS_CH
#define RD FLAG_RD

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

/* A packet with this client's address, and these options. */
static void take_from(const struct addr *from, const char *name, struct slice options, char to[128])
{
	static uint8_t bytes[512];
	uint8_t wire[DNAME_MAX];
	struct question q = { .name = wire, .type = TYPE_A, .class_ = IN };
	struct edns opt = { .present = true, .udp_size = 1232, .options = options };
	struct writer w = writer_over(bytes, sizeof bytes);
	struct packet p = { .out = writer_over(answer, 4096), .client = { .ops = &over_udp, .from = *from } };
	enum disposition v;

	q.name_len = (uint16_t)dname_parse(wire, name, NULL);
	msg_write_query(&w, 4711, RD, &q, &opt);
	p.in = (struct slice){ bytes, writer_len(&w) };
	rcu_turn_begin();
	v = frontend_take(world.worker, &p);
	rcu_turn_end();
	tell(to, v, &p.out);
}

/* RFC 7873: what a client has shown is counted; with a cookie that is valid it has a limit of its own, 0 for none. */
static void cookies_are_counted_and_have_a_limit_of_their_own(void **state)
{
	static const struct {
		const char *limit;
		unsigned answers; /* of ten */
	} rows[] = { { "0", 10 }, { "5", 4 } }; /* it was counted without one, too */
	static const struct addr client = { .family = 4, .ip = { 127, 0, 0, 1 }, .port = 5353 };
	char more[200], got[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t cookie[28] = "\0\12\0\10abcdefgh";
		const struct stats *s;
		unsigned answers = 0;

		snprintf(more, sizeof more, "answer-cookie: yes\nip-ratelimit: 2\nip-ratelimit-factor: 0\nip-ratelimit-cookie: %s\n", rows[i].limit);
		open_world(more);
		s = world.worker->env.stats;
		take_from(&client, "fresh.test.", (struct slice){ cookie, 12 }, got);
		assert_string_equal(got, "SEND NOERROR rd ra 1/0/1");
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_client]), 1);
		memcpy(cookie, answer + MSG_HEAD_LEN + 12 + 4 + 16 + OPT_FIXED_LEN, 28);
		assert_int_equal(get_u16(cookie), EDNS_COOKIE);
		for (unsigned n = 0; n < 10; n++) {
			take_from(&client, "fresh.test.", (struct slice){ cookie, 28 }, got);
			answers += strcmp(got, "SEND NOERROR rd ra 1/0/1") == 0;
		}
		assert_int_equal(answers, rows[i].answers);
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_valid]), 10);
		assert_int_equal(atomic_load(&s->count[STAT_queries_ip_ratelimited]), 10 - rows[i].answers);
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_client]), 1);
		cookie[27] ^= 1;
		take_from(&client, "fresh.test.", (struct slice){ cookie, 28 }, got);
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_invalid]), 1);
		close_world();
	}
	/* where there are none, one is passed over */
	open_world("answer-cookie: no\n");
	take_from(&client, "fresh.test.", (struct slice){ (const uint8_t *)"\0\12\0\10abcdefgh", 12 }, got);
	assert_string_equal(got, "SEND NOERROR rd ra 1/0/1");
	assert_int_equal(get_u16(answer + MSG_HEAD_LEN + 12 + 4 + 16 + 9), 0); /* no option */
	assert_int_equal(atomic_load(&world.worker->env.stats->count[STAT_queries_cookie_client]), 0);
	close_world();
}

/* An IPv6 client's network has the limit of eight: it could ask from another address each time. */
static void a_network_of_ipv6_has_a_limit_too(void **state)
{
	static const struct {
		const char *why;
		struct addr first;
		unsigned varies; /* this byte of the address */
		unsigned answers; /* of forty */
	} rows[] = {
		{ "one address", { .family = 6, .ip = { 0x20, 1, 0xd, 0xb8 } }, 16, 2 },
		{ "one network", { .family = 6, .ip = { 0x20, 1, 0xd, 0xb8 } }, 15, 16 },
		{ "many networks", { .family = 6, .ip = { 0x20, 1, 0xd, 0xb8 } }, 7, 40 },
		{ "IPv4", { .family = 4, .ip = { 127, 0, 1, 0 } }, 3, 40 },
	};
	char got[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned answers = 0;

		open_world("access-control: 2001:db8::/32 allow\nip-ratelimit: 2\nip-ratelimit-factor: 0\n");
		for (unsigned n = 0; n < 40; n++) {
			struct addr from = rows[i].first;

			if (rows[i].varies < 16)
				from.ip[rows[i].varies] = (uint8_t)(n + 1);
			take_from(&from, "fresh.test.", (struct slice){ 0 }, got);
			answers += strcmp(got, "SEND NOERROR rd ra 1/0/1") == 0;
		}
		if (answers != rows[i].answers)
			fail_msg("%s: %u", rows[i].why, answers);
		close_world();
	}
}

/* RFC 7871 7.2.2: a client that told its subnet is told the answer's scope; one that did not has the same answer without. */
static void an_answer_for_a_subnet_tells_who_asked_by_one(void **state)
{
	static const uint8_t option[] = { 0, EDNS_CLIENT_SUBNET, 0, 7, 0, 1, 24, 0, 10, 1, 2 };
	static const struct {
		const char *why;
		struct addr from;
		bool option;
		enum security security;
		const char *want;
		bool told;
	} rows[] = {
		{ "it tells", { .family = 4, .ip = { 127, 0, 0, 1 } }, true, SECURITY_INSECURE, "SEND NOERROR rd ra 1/0/1", true },
		{ "it comes from there", { .family = 4, .ip = { 10, 1, 2, 3 } }, false, SECURITY_INSECURE, "SEND NOERROR rd ra 1/0/1", false },
		{ "it comes from elsewhere", { .family = 4, .ip = { 127, 0, 0, 1 } }, false, SECURITY_INSECURE, "LATER", false },
		{ "it tells, and the answer is bogus", { .family = 4, .ip = { 127, 0, 0, 1 } }, true, SECURITY_BOGUS, "SEND SERVFAIL rd ra 0/0/1", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct subnet_key at = { .net = { .net = { .family = 4, .ip = { 10, 1 } }, .bits = 16 }, .scope = 16 };
		static const uint8_t name[] = "\6placed\4test";
		struct question q = { .name = name, .name_len = sizeof name, .type = TYPE_A, .class_ = IN };
		const struct rrset *sets[1];
		struct message m = { .q = q, .sets = sets, .count = { 1 }, .security = (uint8_t)rows[i].security };
		struct slice address = { .at = NAME("\300\0\2\1"), .len = 4 };
		struct arena arena;
		char got[128];
		size_t len;

		open_world("access-control: 10.0.0.0/8 allow\nmodule-config: \"subnetcache validator iterator\"\nsend-client-subnet: 192.0.2.0/24\n");
		arena_init(&arena);
		sets[0] = rrset_build(&arena, &(struct rrset_parts){ .owner = name, .type = TYPE_A, .class_ = IN, .ttl_s = 100, .expires_s = NOW_S + 90,
								     .records = &address, .count = 1 });
		m.reason = rows[i].security == SECURITY_BOGUS ? REASON_bogus : REASON_none;
		rcu_turn_begin();
		msgcache_store(world.caches.messages, &m, &(struct msg_keep){ .now_s = NOW_S, .ttl_s = 90, .place = &at });
		subnet_index_add(world.worker->env.subnet_index, &q, &at,
				 &(struct subnet_index_how){ .now_s = NOW_S, .until_s = NOW_S + 90, .most = 100 });
		rcu_turn_end();
		memset(answer, 0, 512);
		take_from(&rows[i].from, "placed.test.", (struct slice){ option, rows[i].option ? sizeof option : 0 }, got);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s'", rows[i].why, got);
		for (len = 0; len < 300; len++)
			if (get_u32(answer + len) == (uint32_t)(EDNS_CLIENT_SUBNET << 16 | 7))
				break;
		assert_int_equal(len < 300, rows[i].told);
		if (rows[i].told) {
			assert_int_equal(answer[len + 7], 16);
			assert_memory_equal(answer + len + 8, option + 8, 3);
		}
		arena_clear(&arena);
		close_world();
	}
}

static struct {
	unsigned replies, drops;
	unsigned rcode;
} readmitted;

static void note_reply(const struct client *c, const uint8_t *bytes, size_t len)
{
	(void)c;
	assert_true(len >= MSG_HEAD_LEN);
	readmitted.replies++;
	readmitted.rcode = msg_rcode(bytes);
}

static void note_drop(const struct client *c)
{
	(void)c;
	readmitted.drops++;
}

/* Who waited through a change of the configuration is told, dropped, or waits on, as by the new one. */
static void who_waited_is_admitted_anew(void **state)
{
	static const struct client_ops udp = { .name = "udp", .reply = note_reply, .drop = note_drop };
	static const struct client_ops tcp = { .name = "tcp", .stream = true, .reply = note_reply, .drop = note_drop };
	static const struct {
		const char *why;
		uint8_t from;
		const char *name;
		bool stream, proven;
		unsigned replies, drops, rcode;
	} rows[] = {
		{ "known by now", 1, "fresh.test.", false, false, 1, 0, RCODE_NOERROR },
		{ "still not known", 1, "other.test.", false, false, 0, 0, 0 },
		{ "denied by now", 2, "fresh.test.", false, false, 0, 1, 0 },
		{ "refused by now", 3, "fresh.test.", false, false, 1, 0, RCODE_REFUSED },
		{ "who has to prove itself, and has not", 8, "fresh.test.", false, false, 1, 0, RCODE_REFUSED },
		{ "who has shown a cookie", 8, "fresh.test.", false, true, 1, 0, RCODE_NOERROR },
		{ "who has a connection", 8, "fresh.test.", true, false, 1, 0, RCODE_NOERROR },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t name[DNAME_MAX];
		struct request r = { .id = 4711, .flags = RD, .proven = rows[i].proven };
		struct client c = { .ops = rows[i].stream ? &tcp : &udp, .from = { .family = 4, .ip = { 127, 0, 0, rows[i].from } } };

		open_world("");
		readmitted.replies = readmitted.drops = readmitted.rcode = 0;
		r.q = (struct question){ name, (uint16_t)dname_parse(name, rows[i].name, NULL), TYPE_A, IN };
		rcu_turn_begin();
		frontend_readmit(world.worker, &r, &c);
		rcu_turn_end();
		if (readmitted.replies != rows[i].replies || readmitted.drops != rows[i].drops || readmitted.rcode != rows[i].rcode)
			fail_msg("%s: %u replies, %u dropped, rcode %u", rows[i].why, readmitted.replies, readmitted.drops, readmitted.rcode);
		close_world();
	}
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

/* A refresh that has just failed is not tried again, and nobody waits for it. */
static void what_could_not_be_refreshed_is_given_at_once(void **state)
{
	static const uint8_t name[] = "\5stale\4test";
	struct question q = { .name = name, .name_len = sizeof name, .type = TYPE_A, .class_ = IN };
	char got[128];

	(void)state;
	for (unsigned failed = 0; failed < 2; failed++) {
		struct stored *s;

		open_world("serve-expired: yes\nserve-expired-client-timeout: 1800\n");
		rcu_turn_begin();
		s = (struct stored *)(uintptr_t)msgcache_find(world.caches.messages, &q, msgcache_hash(&q), 0, false);
		s->refresh_s = NOW_S + (failed ? 30u : 0u);
		rcu_turn_end();
		take(&(struct asked){ 1, "stale.test", TYPE_A, IN, RD, 0 }, got);
		assert_string_equal(got, failed ? "SEND NOERROR rd ra 1/0/1" : "LATER");
		assert_int_equal(mesh_size(world.worker->env.mesh) > 0, !failed);
		close_world();
	}
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
		cmocka_unit_test(cookies_are_counted_and_have_a_limit_of_their_own),
		cmocka_unit_test(a_network_of_ipv6_has_a_limit_too),
		cmocka_unit_test(an_answer_for_a_subnet_tells_who_asked_by_one),
		cmocka_unit_test(who_waited_is_admitted_anew),
		cmocka_unit_test(class_chaos_tells_what_is_not_hidden),
		cmocka_unit_test(stale_answers_are_given_as_told),
		cmocka_unit_test(what_could_not_be_refreshed_is_given_at_once),
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
