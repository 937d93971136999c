/* The whole resolver in a small signed internet of which the input changes every answer on its way:
 * what is marked as proven is the truth, and when nobody interferes any more, so is everything.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: steps of one byte and what belongs to them (see step()). Each answer that a server gives
 * is changed by the bytes that follow, see tamper(). */
#include "daemon/replay/rrs.h"
#include "daemon/replay/world.h"
#include "testdata/fuzz/signed.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	ASKS_MOST = 24,
	SENT_MOST = 400, /* for one question, and what others fetch on its way */
	HONEST = 255,
};

static const uint8_t *const names[] = {
	W("\3www\4good"),
	W("\5alias\4good"),
	W("\3out\4good"),
	W("\3far\4good"),
	W("\3www\2dn\4good"),
	W("\1a\4wild\4good"),
	W("\3www\3sub\4good"),
	W("\1x\4star\3sub\4good"),
	W("\2no\3sub\4good"),
	W("\2no\4good"),
	W("\3www\5plain"),
	W("\4back\5plain"),
	W("\4good"),
	W("\3sub\4good"),
	W("\5plain"),
	W("\1x\2no\4good"),
	W(""),
	W("\4none"),
};

static const uint16_t types[] = { TYPE_A,   TYPE_AAAA, TYPE_TXT,    TYPE_DS,    TYPE_NS,
				  TYPE_SOA, TYPE_MX,   TYPE_DNSKEY, TYPE_CNAME, TYPE_DNAME };

static struct conf *made_conf;

static struct {
	struct world world;
	struct reader in;
	unsigned sent, asked;
	struct asking {
		struct question q;
		bool checking_disabled;
		bool is_last; /* asked when all was well again */
	} asks[ASKS_MOST + COUNT(names)];
	bool honest, is_last;
} play;

/* ---- what servers say, and what becomes of it ---- */

static const struct signed_set *any_set(uint8_t n, uint8_t m)
{
	const struct signed_zone *z = &signed_zones[n % COUNT(signed_zones)];

	return &z->sets[m % z->count];
}

/* One change of a told answer; `how` is not 0. */
static void tamper(struct told *t, struct reader *r, uint8_t how)
{
	uint8_t which = read_u8(r), more = read_u8(r);
	struct record *at = t->count ? &t->records[which % t->count] : NULL;
	static uint8_t changed[8][2048];
	static unsigned next;
	uint8_t *copy = changed[next % COUNT(changed)];

	switch (how % 12) {
	case 0:
		if (at)
			*at = t->records[--t->count];
		break;
	case 1:
		if (at)
			at->section = (enum section)(more % 3);
		break;
	case 2:
		if (at && at->rdata.len) {
			next++;
			memcpy(copy, at->rdata.at, at->rdata.len);
			copy[more % at->rdata.len] ^= (uint8_t)(1 + read_u8(r));
			at->rdata.at = copy;
		}
		break;
	case 3:
		if (at)
			at->owner = names[more % COUNT(names)];
		break;
	case 4:
		told_set(t, (enum section)(how / 12 % 3), any_set(which, more), NULL);
		break;
	case 5: /* under a name of the attacker's choice */
		told_set(t, (enum section)(how / 12 % 3), any_set(which, more),
			 names[read_u8(r) % COUNT(names)]);
		break;
	case 6:
		t->rcode = which & 15;
		break;
	case 7:
		t->authoritative = which & 1;
		break;
	case 8:
		t->count = 0;
		break;
	case 9:
		if (at)
			at->ttl_s = more & 1 ? 0x7fffffff : more;
		break;
	case 10: /* what is true of another question */
		signed_tell(&signed_zones[how / 12 % COUNT(signed_zones)],
			    &(struct question){ names[which % COUNT(names)],
						(uint16_t)dname_len(names[which % COUNT(names)]),
						types[more % COUNT(types)], CLASS_IN },
			    t);
		break;
	default: /* without what is signed, or without signatures */
		for (unsigned i = t->count; i-- > 0;)
			if ((t->records[i].type == TYPE_RRSIG) == (which & 1))
				t->records[i] = t->records[--t->count];
	}
}

static size_t write_told(uint8_t *to, size_t room, const struct told *t, const struct transmission *s)
{
	size_t question = dname_len(s->wire + MSG_HEAD_LEN) + 4;
	struct writer w = writer_over(to, room);

	write_u16(&w, msg_id(s->wire));
	write_u16(&w, (uint16_t)(FLAG_QR | (t->authoritative ? FLAG_AA : 0) | (t->rcode & 15)));
	write_u16(&w, 1);
	write_u16(&w, 0);
	write_u32(&w, 0);
	write_bytes(&w, s->wire + MSG_HEAD_LEN, question);
	for (unsigned section = 0; section < 3; section++)
		for (unsigned i = 0; i < t->count; i++) {
			const struct record *r = &t->records[i];
			uint8_t *count = to + 6 + 2 * section;

			if (r->section != section)
				continue;
			write_bytes(&w, r->owner, dname_len(r->owner));
			write_u16(&w, r->type);
			write_u16(&w, CLASS_IN);
			write_u32(&w, r->ttl_s);
			write_u16(&w, (uint16_t)r->rdata.len);
			write_bytes(&w, r->rdata.at, r->rdata.len);
			put_u16(count, (uint16_t)(get_u16(count) + 1));
		}
	write_bytes(&w, "\0\0\x29\4\xd0\0\0\x80\0\0\0", 11);
	put_u16(to + 10, (uint16_t)(get_u16(to + 10) + 1));
	PROMISE(!w.bad);
	return writer_len(&w);
}

static const struct signed_zone *zone_at(const struct addr *server)
{
	static const uint8_t net[3] = { 192, 0, 2 };

	for (unsigned i = 0; server->family == 4 && i < COUNT(signed_zones); i++)
		if (memcmp(server->ip, net, 3) == 0 && server->ip[3] == signed_zones[i].server)
			return &signed_zones[i];
	return NULL;
}

static void answer(struct outstanding *o)
{
	static uint8_t bytes[16384];
	const struct transmission *s = o->transmission;
	const struct signed_zone *z = zone_at(&s->to);
	const uint8_t *name = s->wire + MSG_HEAD_LEN;
	size_t name_len = dname_len(name), len;
	uint8_t lower[DNAME_MAX], changes = play.honest ? 0 : read_u8(&play.in);
	struct told t;

	dname_copy_lower(lower, name);
	if (!z || (changes >> 4 == 15 && changes != HONEST)) {
		world_fail(&play.world, o);
		return;
	}
	signed_tell(
		z,
		&(struct question){ lower, (uint16_t)name_len, get_u16(name + name_len), CLASS_IN },
		&t);
	for (unsigned n = changes == HONEST ? 0 : changes & 3; n; n--)
		tamper(&t, &play.in, read_u8(&play.in));
	len = write_told(bytes, sizeof(bytes), &t, s);
	if ((changes & 0xc) == 0xc && changes != HONEST) { /* cut, or truncated in due form */
		size_t keep = read_u8(&play.in);

		if (changes & 0x10)
			bytes[2] |= FLAG_TC >> 8;
		else
			len = MIN(len, keep * 2);
	}
	world_deliver(&play.world, o, &(struct slice){ bytes, len }, 1);
}

/* ---- clients ---- */

static void ask(uint8_t name, uint8_t type, uint8_t how)
{
	struct addr from = { .ip = { 127, 0, 0, 1 }, .port = 4242, .family = 4 };
	struct asking *a = &play.asks[play.asked];
	uint8_t bytes[512];
	struct writer w = writer_over(bytes, sizeof(bytes));

	if (play.asked == COUNT(play.asks))
		return;
	a->q = (struct question){ names[name % COUNT(names)], 0, types[type % COUNT(types)],
				  CLASS_IN };
	a->q.name_len = (uint16_t)dname_len(a->q.name);
	a->checking_disabled = how & 1;
	a->is_last = play.is_last;
	write_u16(&w, (uint16_t)play.asked++);
	write_u16(&w, (uint16_t)(FLAG_RD | FLAG_AD | (how & 1 ? FLAG_CD : 0)));
	write_u16(&w, 1);
	write_u32(&w, 0);
	write_u16(&w, how & 2 ? 1 : 0);
	write_bytes(&w, a->q.name, a->q.name_len);
	write_u16(&w, a->q.type);
	write_u16(&w, CLASS_IN);
	if (how & 2)
		write_bytes(&w, "\0\0\x29\4\xd0\0\0\x80\0\0\0", 11);
	PROMISE(!w.bad);
	world_ask(&play.world, &from, how & 4, (struct slice){ bytes, writer_len(&w) });
}

static bool is_told(const struct told *truth, const struct flat_rr *rr)
{
	for (unsigned i = 0; i < truth->count; i++) {
		const struct record *r = &truth->records[i];

		if (r->type == rr->type && dname_equals(r->owner, rr->owner) &&
		    r->rdata.len == rr->rdata.len &&
		    memcmp(r->rdata.at, rr->rdata.at, rr->rdata.len) == 0)
			return true;
	}
	return false;
}

static void check_answer(const struct client_answer *c)
{
	struct flat_message m;
	struct told truth;
	struct arena a;
	const struct asking *asked;
	unsigned records = 0;
	bool is_true;

	arena_init(&a);
	PROMISE(flat_read(c->wire, &a, &m) && m.flags & FLAG_QR && m.id < play.asked);
	asked = &play.asks[m.id];
	PROMISE(m.qtype == asked->q.type && dname_equals(m.qname, asked->q.name));
	signed_truth(asked->q, &truth);
	is_true = (m.rcode & 15) == truth.rcode;
	for (unsigned i = 0; i < m.count[0]; i++) {
		if (m.rrs[0][i].type == TYPE_RRSIG)
			continue;
		records++;
		is_true &= is_told(&truth, &m.rrs[0][i]);
	}
	is_true &= records == truth.count;
	if (m.flags & FLAG_AD)
		PROMISE(is_true && truth.secure);
	if (asked->is_last) {
		PROMISE(is_true);
		PROMISE(!truth.secure || asked->checking_disabled || m.flags & FLAG_AD);
	}
	arena_clear(&a);
}

static void hear_all(void)
{
	LIST_EACH_SAFE (at, &play.world.answers) {
		struct client_answer *c = LIST_ITEM(at, struct client_answer, link);

		check_answer(c);
		client_answer_free(c);
	}
}

/* ---- what happens ---- */

static void note_sent(void *arg, struct outstanding *o)
{
	(void)arg;
	(void)o;
	play.sent++;
}

static struct outstanding *oldest(void)
{
	return list_is_empty(&play.world.outstanding)
		       ? NULL
		       : LIST_ITEM(play.world.outstanding.prev, struct outstanding, link);
}

static void answer_all(void)
{
	struct outstanding *o;

	while ((o = oldest())) {
		PROMISE(play.sent <= SENT_MOST * play.asked);
		answer(o);
	}
	hear_all();
}

static void step(uint8_t what)
{
	struct outstanding *o = oldest();
	uint8_t name, type;

	switch (what & 7) {
	case 0:
	case 1:
	case 2:
		if (play.asked == ASKS_MOST)
			return;
		name = read_u8(&play.in);
		type = read_u8(&play.in);
		ask(name, type, what >> 3);
		if (what & 0x40)
			answer_all();
		break;
	case 3:
		world_pass(&play.world,
			   (uint64_t)read_u8(&play.in) * (what & 8 ? US_PER_S : 20 * US_PER_MS));
		break;
	case 4:
		answer_all();
		break;
	default:
		if (o)
			answer(o);
	}
	hear_all();
}

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

static void begin_once(void)
{
	static char text[1200];
	struct conf_how how = { .no_files = true, .test_switches = true };
	struct conf_report report = { 0 };
	char anchor[128];

	if (made_conf)
		return;
	hash_start(true);
	rcu_thread_join();
	log_capture(no_line, NULL);
	signed_make(anchor, sizeof(anchor));
	snprintf(
		text, sizeof(text),
		"server:\ndirectory: \"\"\nchroot: \"\"\nusername: \"\"\npidfile: "
		"\"\"\nuse-syslog: no\n"
		"val-override-date: \"" SIGNED_DATE "\"\nval-clock-tolerance: no\n"
		"trust-anchor-signaling: no\ndo-ip6: no\nprefetch-key: yes\naggressive-nsec: yes\n"
		"msg-cache-size: 1m\nrrset-cache-size: 1m\nkey-cache-size: 1m\nneg-cache-size: 1m\n"
		"trust-anchor: \". %s\"\n"
		"stub-zone:\nname: \".\"\nstub-addr: 192.0.2.53\n"
		"remote-control:\ncontrol-enable: no\n",
		anchor);
	made_conf = conf_new();
	PROMISE(conf_load_text(made_conf, "fuzz", text, strlen(text), &how, &report) &&
		conf_check(made_conf, &how, &report));
	conf_report_clear(&report);
}

/* Everything an attacker could have left behind is forgotten by then. */
static void find_the_truth(void)
{
	play.honest = true;
	answer_all();
	world_pass(&play.world, 2 * 86400 * US_PER_S);
	answer_all();
	world_pass(&play.world, 2 * 86400 * US_PER_S);
	play.is_last = true;
	for (unsigned i = 0; i < COUNT(names); i++) {
		ask((uint8_t)i, 0, 2);
		answer_all();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fault f = { 0 };

	begin_once();
	memset(&play, 0, sizeof(play));
	play.in = reader_over(data, len);
	play.world.sent = note_sent;
	PROMISE(world_begin(&play.world, conf_copy(made_conf), 1000, &f));
	while (reader_left(&play.in))
		step(read_u8(&play.in));
	find_the_truth();
	world_end(&play.world);
	return 0;
}
