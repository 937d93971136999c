/* Whatever servers answer, the query ends within its budget and touches nobody else's zone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A small internet: an honest root, an honest zone "victim.", and "evil.", whose servers (any
 * address but the honest ones) say what the input says. The first byte chooses the question
 * asked below evil.; each further question to an attacker is answered by the bytes that follow, as
 * records over a small set of names, or as raw bytes. At the end the victim is asked for. */
#include "iterator/iterator.h"

#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/upstream/upstream.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char options[] = "server:\n"
			      "target-fetch-policy: \"3 2 1 0 0\"\n"
			      "stub-zone: name: \".\" stub-addr: 192.0.2.53\n";

static const uint8_t root_server[4] = { 192, 0, 2, 53 };
static const uint8_t victim_server[4] = { 192, 0, 2, 1 };
static const uint8_t evil_server[4] = { 192, 0, 2, 66 };
static const uint8_t truth[4] = { 198, 51, 100, 1 };

static const uint8_t *const names[] = {
	(const uint8_t *)"",
	(const uint8_t *)"\4evil",
	(const uint8_t *)"\6victim",
	(const uint8_t *)"\1a\4evil",
	(const uint8_t *)"\1b\4evil",
	(const uint8_t *)"\1a\1a\4evil",
	(const uint8_t *)"\2ns\4evil",
	(const uint8_t *)"\2ns\1a\4evil",
	(const uint8_t *)"\2ns\6victim",
	(const uint8_t *)"\3www\6victim",
	(const uint8_t *)"\1x\3www\6victim",
	(const uint8_t *)"\1d\4evil",
	(const uint8_t *)"\1c\1d\4evil",
	(const uint8_t *)"\1*\4evil",
};

static const uint16_t types[] = { TYPE_A,  TYPE_NS, TYPE_CNAME, TYPE_SOA, TYPE_AAAA, TYPE_DNAME,
				  TYPE_MX, TYPE_DS, TYPE_NSEC,  TYPE_TXT, TYPE_RRSIG };

enum { SENDS_MOST = 200, UNDER_WAY_MOST = 256 };

static struct {
	struct conf *conf;
	struct snapshot *snapshot;
	struct stats stats;
} fixture;

struct fake {
	struct transport transport;
	struct transmission *under_way[UNDER_WAY_MOST];
	unsigned count;
};

static struct {
	struct loop *loop;
	struct env env;
	struct random random;
	struct fake udp, tcp;
	unsigned sends, told;
	bool truthful;
} world;

/* ---- the wire ---- */

static void fake_send(struct transport *t, struct transmission *s)
{
	struct fake *f = container_of(t, struct fake, transport);

	PROMISE(f->count < UNDER_WAY_MOST);
	f->under_way[f->count++] = s;
	world.sends++;
}

static void take_out(struct fake *f, unsigned at)
{
	f->under_way[at] = f->under_way[--f->count];
}

static void fake_cancel(struct transport *t, struct transmission *s)
{
	struct fake *f = container_of(t, struct fake, transport);
	unsigned at = 0;

	while (at < f->count && f->under_way[at] != s)
		at++;
	PROMISE(at < f->count);
	take_out(f, at);
}

static const struct transport_ops ops = { .name = "fake", .patient = true, .send = fake_send,
					  .cancel = fake_cancel };

/* ---- what servers say ---- */

struct said {
	struct writer w;
	uint8_t bytes[4096];
};

static size_t question_len(const struct transmission *s)
{
	return dname_len(s->wire + MSG_HEAD_LEN) + 4;
}

static void say_head(struct said *said, const struct transmission *s, uint16_t flags)
{
	said->w = writer_over(said->bytes, sizeof(said->bytes));
	write_u16(&said->w, msg_id(s->wire));
	write_u16(&said->w, flags | FLAG_QR);
	write_u16(&said->w, 1);
	write_u16(&said->w, 0);
	write_u32(&said->w, 0);
	write_bytes(&said->w, s->wire + MSG_HEAD_LEN, question_len(s));
}

static void say(struct said *said, enum section section, const uint8_t *owner, uint16_t type,
		const void *data, size_t len)
{
	uint8_t *count = said->bytes + 6 + 2 * section;

	if (writer_left(&said->w) < DNAME_MAX + 10 + len)
		return;
	write_bytes(&said->w, owner, dname_len(owner));
	write_u16(&said->w, type);
	write_u16(&said->w, CLASS_IN);
	write_u32(&said->w, 3600);
	write_u16(&said->w, (uint16_t)len);
	write_bytes(&said->w, data, len);
	put_u16(count, (uint16_t)(get_u16(count) + 1));
}

static void say_soa(struct said *said, const uint8_t *zone)
{
	static const uint8_t soa[22] = { 0 };

	say(said, SECTION_AUTHORITY, zone, TYPE_SOA, soa, sizeof(soa));
}

static void say_referral(struct said *said, const uint8_t *zone, const uint8_t *ns,
			 const uint8_t *address)
{
	say(said, SECTION_AUTHORITY, zone, TYPE_NS, ns, dname_len(ns));
	say(said, SECTION_ADDITIONAL, ns, TYPE_A, address, 4);
}

static void root_says(struct said *said, const struct transmission *s)
{
	const uint8_t *name = s->wire + MSG_HEAD_LEN;
	uint16_t type = get_u16(name + dname_len(name));

	if (dname_is_under(name, names[1])) {
		say_head(said, s, 0);
		say_referral(said, names[1], names[6], evil_server);
	} else if (dname_is_under(name, names[2])) {
		say_head(said, s, 0);
		say_referral(said, names[2], names[8], victim_server);
	} else if (dname_is_root(name) && type == TYPE_NS) {
		static const uint8_t ns[] = "\2ns";
		say_head(said, s, FLAG_AA);
		say(said, SECTION_ANSWER, dname_root, TYPE_NS, ns, sizeof(ns));
		say(said, SECTION_ADDITIONAL, ns, TYPE_A, root_server, 4);
	} else {
		say_head(said, s, FLAG_AA | RCODE_NXDOMAIN);
		say_soa(said, dname_root);
	}
}

static void victim_says(struct said *said, const struct transmission *s)
{
	const uint8_t *name = s->wire + MSG_HEAD_LEN;
	uint16_t type = get_u16(name + dname_len(name));

	if (!dname_is_under(name, names[2])) {
		say_head(said, s, RCODE_REFUSED);
		return;
	}
	say_head(said, s, FLAG_AA);
	if (type == TYPE_A && dname_equals(name, names[8]))
		say(said, SECTION_ANSWER, name, TYPE_A, victim_server, 4);
	else if (type == TYPE_A)
		say(said, SECTION_ANSWER, name, TYPE_A, truth, 4);
	else
		say_soa(said, names[2]);
}

static const uint8_t *pick_name(struct reader *r, const struct transmission *s)
{
	uint8_t n = read_u8(r);
	const uint8_t *name = s->wire + MSG_HEAD_LEN;

	if (n < COUNT(names))
		return names[n];
	for (n &= 3; n; n--)
		name = dname_parent(name);
	return name;
}

static void evil_record(struct said *said, struct reader *r, const struct transmission *s, uint8_t how)
{
	enum section section = how % 3;
	uint16_t type = types[(how / 3) % COUNT(types)];
	uint8_t owner[DNAME_MAX], data[DNAME_MAX + 32] = { 0 };
	const uint8_t *target;
	size_t len;

	dname_copy_lower(owner, pick_name(r, s));
	switch (type) {
	case TYPE_A:
		memcpy(data, evil_server, 4);
		data[3] = read_u8(r);
		len = 4;
		break;
	case TYPE_AAAA:
		data[0] = 0x20;
		data[15] = read_u8(r);
		len = 16;
		break;
	case TYPE_SOA:
		len = 22;
		break;
	case TYPE_MX:
		target = pick_name(r, s);
		len = 2 + dname_copy_lower(data + 2, target);
		break;
	case TYPE_DS:
	case TYPE_TXT:
		len = 5;
		data[0] = 4;
		break;
	case TYPE_RRSIG:
		put_u16(data, types[read_u8(r) % COUNT(types)]);
		len = 18 + dname_copy_lower(data + 18, pick_name(r, s));
		break;
	default:
		target = pick_name(r, s);
		len = dname_copy_lower(data, target);
	}
	say(said, section, owner, type, data, len);
}

/* False: it keeps silent. */
static bool evil_says(struct said *said, struct reader *r, const struct transmission *s)
{
	uint8_t how = read_u8(r);
	uint16_t flags = (uint16_t)((how & 1 ? FLAG_AA : 0) | (how & 2 ? FLAG_RA : 0) |
				    (how & 4 ? FLAG_TC : 0));
	unsigned records = read_u8(r) & 15;
	uint8_t rcode = how >> 4;

	if (r->bad || (how & 8 && rcode == 0))
		return false;
	if (how & 8 && rcode == 15) {
		say_head(said, s, flags);
		size_t len = MIN(records * 16u, reader_left(r));
		write_bytes(&said->w, read_bytes(r, len), len);
		put_u16(said->bytes + 6, (uint16_t)records);
		return true;
	}
	say_head(said, s, (uint16_t)(flags | (rcode < 8 ? rcode : 0)));
	while (records-- > 0 && reader_left(r))
		evil_record(said, r, s, read_u8(r));
	return true;
}

/* One question that is out gets what it gets. */
static void answer_one(struct fake *f, struct reader *r)
{
	unsigned at = f->count - 1;
	struct transmission *s = f->under_way[at];
	static struct said said;
	bool speaks = true;
	uint8_t *copy;

	take_out(f, at);
	if (memcmp(s->to.ip, root_server, 4) == 0 && s->to.family == 4)
		root_says(&said, s);
	else if (memcmp(s->to.ip, victim_server, 4) == 0 && s->to.family == 4)
		victim_says(&said, s);
	else
		speaks = evil_says(&said, r, s);
	if (!speaks) {
		s->failed(s, UPSTREAM_SILENT);
		return;
	}
	copy = mem_copy(said.bytes, writer_len(&said.w));
	/* where no time passes, nothing else could still come */
	bool over = s->arrived(s, copy, writer_len(&said.w));
	PROMISE(over);
	mem_free(copy);
}

/* No time passes; what the mesh has put off to its next turn is done when the wire is empty. */
static void let_traffic_flow(struct reader *r)
{
	do {
		while (world.udp.count + world.tcp.count)
			answer_one(world.udp.count ? &world.udp : &world.tcp, r);
		loop_play(world.loop, 0);
	} while (world.udp.count + world.tcp.count);
}

/* ---- asking ---- */

static void told(void *arg, const struct message *reply)
{
	(void)arg;
	world.told++;
	for (unsigned i = 0; i < message_set_count(reply); i++)
		PROMISE(reply->sets[i]->count > 0 || reply->sets[i]->sig_count > 0);
}

static void told_of_victim(void *arg, const struct message *reply)
{
	const struct rrset *set = message_find(reply, SECTION_ANSWER, names[9], TYPE_A, CLASS_IN);

	(void)arg;
	world.told++;
	world.truthful = set && set->count == 1 && memcmp(rrset_record(set, 0).at, truth, 4) == 0;
}

static void ask(const uint8_t *name, uint16_t type,
		void (*done)(void *arg, const struct message *reply))
{
	struct question q = { name, (uint16_t)dname_len(name), type, CLASS_IN };

	mesh_resolve(world.env.mesh, &q, 0, done, NULL);
}

static void fixture_open(void)
{
	struct conf_report report = { 0 };
	struct fault f = { 0 };

	if (fixture.conf)
		return;
	rcu_thread_join();
	hash_start(true);
	fixture.conf = conf_new();
	PROMISE(conf_load_text(fixture.conf, "fuzz", options, sizeof(options) - 1, NULL, &report));
	fixture.snapshot = snapshot_new(fixture.conf, &f);
	PROMISE(fixture.snapshot);
}

static void world_begin(void)
{
	static const struct module *const chain[] = { &iterator_module, NULL };
	struct infra_how how = { 1000, 1, 900, 50, 120000, false, INFRA_RTO_UNKNOWN_MS };

	memset(&world, 0, sizeof(world));
	world.loop = loop_new_played();
	timebase_play(loop_time(world.loop), 1000 * US_PER_S);
	random_play(&world.random, 1);
	world.env = (struct env){ .loop = world.loop,
				  .time = loop_time(world.loop),
				  .stats = &fixture.stats,
				  .random = &world.random,
				  .snapshot = fixture.snapshot,
				  .messages = msgcache_new(1 << 20, 1),
				  .rrsets = rrsetcache_new(1 << 20, 1),
				  .infra = infra_new(&how) };
	world.udp.transport = world.tcp.transport = (struct transport){ &ops, &world.env };
	world.env.upstream = upstream_new(&world.env, &world.udp.transport, &world.tcp.transport);
	world.env.mesh = mesh_new(&world.env, chain);
}

static void world_end(void)
{
	mesh_free(world.env.mesh);
	upstream_free(world.env.upstream);
	PROMISE(world.udp.count + world.tcp.count == 0);
	infra_free(world.env.infra);
	rrsetcache_free(world.env.rrsets);
	msgcache_free(world.env.messages);
	loop_free(world.loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct reader r = reader_over(data, len);
	uint8_t how = read_u8(&r);

	fixture_open();
	rcu_turn_begin();
	world_begin();
	ask(names[3 + how % 5], types[how / 5 % COUNT(types)], told);
	let_traffic_flow(&r);
	PROMISE(world.told == 1);
	/* a question may go out twice: once more in plain EDNS, once more over TCP */
	PROMISE(world.sends <= 4 * SENDS_MOST);

	/* once more, from what is remembered now */
	ask(names[3 + how % 5], types[how / 5 % COUNT(types)], told);
	let_traffic_flow(&r);
	PROMISE(world.told == 2);

	ask(names[9], TYPE_A, told_of_victim);
	let_traffic_flow(&r);
	PROMISE(world.told == 3);
	PROMISE(world.truthful);
	world_end();
	rcu_turn_end();
	return 0;
}
