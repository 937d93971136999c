/* A worker with a few answers in its cache and a network that swallows everything, for tests of the front end.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_TESTS_WORLD_H
#define DAEMON_WORKER_TESTS_WORLD_H

#include "daemon/worker/frontend.h"

#include "daemon/worker/caches.h"
#include "daemon/worker/worker.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
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

static inline void swallow(struct transport *t, struct transmission *s)
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

static inline void never_replied(const struct client *c, const uint8_t *bytes, size_t len)
{
	(void)c, (void)bytes, (void)len;
}

static inline void count_drop(const struct client *c)
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

static inline struct conf *conf_with(const char *more)
{
	char text[2048];

	snprintf(text, sizeof text, "%s%s", acl, more);
	return conf_from(text);
}

#define NOW_S 1000

/* "fresh", "stale", "ancient", "due", "bogus" below test.: an address each. */
static inline void store(const char *first, uint32_t stored_s, uint32_t ttl_s, enum security security)
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

static inline void fill_caches(void)
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

static inline void open_world(const char *more)
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

static inline void close_world(void)
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

static inline size_t write_request(uint8_t *to, size_t room, const struct asked *a)
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

static inline void add(char *to, const char *word)
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
static inline void tell(char to[128], enum disposition v, const struct writer *out)
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

static inline void take(const struct asked *a, char to[128])
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

#endif
