/* Any message that can be read: stored, unpacked, written for a client and read again it is the same message, or
 * one that says that it is shorter.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: four bytes that say who asks and how (see asking_of), then the message. */
#include <string.h>

#include "services/answer/answer.h"
#include "testdata/fuzz/same.h"
#include "util/base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NOW 1000

static struct answer_style style = {
	.udp_size = 1232,
	.max_udp = 1232,
	.ede = true,
	.ede_stale = true,
	.rotate = true,
	.stale_ttl_s = 30,
};

struct asking {
	struct msgcache *cache;
	struct request request;
	struct answer_to to;
	const struct message *in;
	uint8_t name[DNAME_MAX];
	struct same how;
	bool stale;
};

/* What was sent to whom, when it was cut and when not. */
struct sent {
	const struct asking *x;
	struct slice bytes;
	bool is_stored, is_whole; /* from the cache; nothing had to be left out */
	uint32_t age_s;		  /* since the TTLs of `in` */
};

/* ---- what a client is to get ---- */

static bool wants_dnssec(const struct asking *x)
{
	return x->request.edns.present && x->request.edns.flags & EDNS_DO;
}

static bool is_asked_for(const struct asking *x, uint16_t type, enum section s)
{
	return s == SECTION_ANSWER && (x->in->q.type == type || x->in->q.type == TYPE_ANY);
}

/* RFC 4035 3.1: without DO nothing that is only there to be verified, unless it is what was asked for. */
static bool is_meant(const struct asking *x, const struct rrset *set, enum section s)
{
	if (wants_dnssec(x) || is_asked_for(x, set->type, s))
		return true;
	return set->type != TYPE_RRSIG && set->type != TYPE_NSEC && set->type != TYPE_NSEC3 &&
	       !(set->type == TYPE_DS && s == SECTION_AUTHORITY);
}

static uint32_t ttl_meant(const struct sent *t, uint32_t ttl_s)
{
	if (ttl_s > t->age_s)
		return ttl_s - t->age_s;
	return t->is_stored && t->x->stale ? MIN(ttl_s, style.stale_ttl_s) : 0;
}

static void check_set(const struct sent *t, const struct rrset *got, const struct rrset *want, enum section s)
{
	const struct asking *x = t->x;
	struct rrset_walk none = { .left = 0 };

	PROMISE(same_set(got, want, x->how));
	PROMISE(got->ttl_s == ttl_meant(t, want->ttl_s));
	PROMISE(same_records(rrset_sigs(got),
			     wants_dnssec(x) || is_asked_for(x, TYPE_RRSIG, s) ? rrset_sigs(want) : none,
			     TYPE_RRSIG, x->how));
}

/* A section as it is to be, or as much of its beginning as there is; true: as it is to be. */
static bool check_section(const struct sent *t, const struct message *got, enum section s)
{
	unsigned have, all, at = 0;
	const struct rrset **sets = message_section(got, s, &have);
	const struct rrset **want = message_section(t->x->in, s, &all);

	for (unsigned i = 0; i < all; i++) {
		if (!is_meant(t->x, want[i], s))
			continue;
		if (at == have)
			return false;
		check_set(t, sets[at++], want[i], s);
	}
	PROMISE(at == have);
	return true;
}

/* RFC 2181 9: TC is set where something is missing of what the client needs; ADDITIONAL may be left out whole. */
static void check_sections(const struct sent *t, const struct message *got)
{
	bool cut = got->flags & FLAG_TC, whole[3];

	if (!same_when_shorter(t->x->in) && (cut || !t->is_whole || !wants_dnssec(t->x)))
		return;
	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++)
		whole[s] = check_section(t, got, (enum section)s);
	if (t->is_whole)
		PROMISE(!cut && whole[0] && whole[1] && whole[2]);
	PROMISE(cut || (whole[0] && whole[1] && (whole[2] || !got->count[2])));
	/* The answer is there in whole, and its proofs in part, or there is nothing. */
	PROMISE(!cut || !message_set_count(got) || (!t->is_stored && whole[0] && !got->count[2]));
}

/* ---- header and OPT ---- */

static void check_flags(const struct sent *t, const struct message *got)
{
	const struct asking *x = t->x;
	const struct message *in = x->in;
	bool stale = t->is_stored ? x->stale
				  : in->reason == REASON_stale || in->reason == REASON_stale_nxdomain;
	bool understands = x->request.flags & FLAG_AD || wants_dnssec(x);
	unsigned flags = FLAG_QR | FLAG_RA | (x->request.flags & (FLAG_RD | FLAG_CD)) | (in->flags & FLAG_AA);

	if (in->security == SECURITY_SECURE && !stale && understands)
		flags |= FLAG_AD;
	if (got->flags & FLAG_TC && !t->is_stored && !(got->flags & FLAG_AA))
		flags &= ~(unsigned)FLAG_AA; /* nothing of the message is left */
	PROMISE((got->flags & ~FLAG_TC) == flags);
	PROMISE(got->opcode == OPCODE_QUERY && got->id == x->request.id);
	PROMISE(got->rcode == (got->edns.present ? in->rcode : in->rcode & 15));
}

static int ede_meant(const struct sent *t)
{
	if (t->is_stored && t->x->stale)
		return reason_ede(t->x->in->rcode == RCODE_NXDOMAIN ? REASON_stale_nxdomain : REASON_stale);
	return reason_ede(t->x->in->reason);
}

/* RFC 6891 7, RFC 8914 2: OPT where there was one, with the reason in it unless there is no room. */
static void check_edns(const struct sent *t, const struct message *got)
{
	struct slice text;
	bool explained = edns_find_option(&got->edns, EDNS_EDE, &text);
	int code = ede_meant(t);

	PROMISE(got->edns.present == t->x->request.edns.present);
	if (!got->edns.present)
		return;
	PROMISE(edns_is_whole(&got->edns) && got->edns.version == 0 && got->edns.udp_size == style.udp_size);
	PROMISE((got->edns.flags & EDNS_DO) == (t->x->request.edns.flags & EDNS_DO));
	PROMISE(!explained || (text.len >= 2 && get_u16(text.at) == code) ||
		(t->is_stored && text.len == 2 && get_u16(text.at) == reason_ede(t->x->in->reason)));
	if (t->is_whole)
		PROMISE(explained == (code >= 0 || (t->is_stored && reason_ede(t->x->in->reason) >= 0)));
}

static void check_sent(const struct sent *t)
{
	const struct request *r = &t->x->request;
	struct message got;
	struct arena a;

	arena_init(&a);
	PROMISE(msg_parse(t->bytes.at, t->bytes.len, &a, NOW, &got));
	PROMISE(question_equals(&got.q, &r->q) && memcmp(got.q.name, r->q.name, got.q.name_len) == 0);
	check_flags(t, &got);
	check_edns(t, &got);
	check_sections(t, &got);
	arena_clear(&a);
}

/* ---- writing ---- */

/* Of all that is to be sent, were there room for it. */
static size_t len_of_all(const struct asking *x, const struct stored *s)
{
	static uint8_t room[1 << 22]; /* names may come to more than 64 KiB where few are compressed */
	struct msg_style how = { .now_s = x->to.now_s, .with_dnssec = wants_dnssec(x) };
	struct writer w = writer_over(room, sizeof(room));
	size_t len = 0, ede = 4 + 2;

	if (x->request.edns.present)
		len += OPT_FIXED_LEN;
	if (x->request.edns.present && reason_ede(x->in->reason) >= 0)
		len += ede + (!s && x->in->reason_text ? strlen(x->in->reason_text) : 0);
	if (x->request.edns.present && s && x->stale)
		len += ede;
	if (s)
		return len + s->wire_len;
	msg_write(&w, x->in, &how);
	PROMISE(!w.bad);
	return len + writer_len(&w);
}

static void send_one(const struct asking *x, const struct stored *s, bool stream)
{
	static uint8_t room[MSG_MAX];
	size_t most = stream ? MSG_MAX : MIN(MAX(512, x->request.edns.udp_size), style.max_udp);
	struct answer_to to = x->to;
	struct writer w = writer_over(room, stream ? MSG_MAX : 4096);
	struct sent t = { .x = x, .bytes.at = room, .is_stored = s, .age_s = x->to.now_s - NOW };

	to.stream = stream;
	if (s)
		answer_stored(&w, &to, s, x->stale);
	else
		answer_message(&w, &to, x->in);
	t.is_whole = len_of_all(x, s) <= most;
	t.bytes.len = writer_len(&w);
	PROMISE(!w.bad && (!t.is_whole || t.bytes.len == len_of_all(x, s)));
	PROMISE(t.bytes.len <= MAX(most, MSG_HEAD_LEN + DNAME_MAX + 4 + OPT_FIXED_LEN));
	check_sent(&t);
}

/* `s` NULL: the message as it came, not from the cache. */
static void send_to(const struct asking *x, const struct stored *s)
{
	send_one(x, s, true);
	send_one(x, s, false);
}

/* ---- the cache ---- */

/* In the shape for clients with DO or that for the others. */
static void check_stored(const struct asking *x, const struct stored *s)
{
	struct message *again, filtered = *x->in;
	struct arena a;

	arena_init(&a);
	again = stored_unpack(s, &a, NOW);
	PROMISE(again && again->security == x->in->security && again->reason == x->in->reason);
	PROMISE(again->flags == (x->in->flags & FLAG_AA) && again->made_up == x->in->made_up);
	filtered.rcode = again->rcode;
	PROMISE(again->rcode == x->in->rcode);
	if (wants_dnssec(x)) {
		same_message(again, &filtered, x->how);
		for (unsigned i = 0; i < message_set_count(again); i++)
			PROMISE(again->sets[i]->ttl_s == x->in->sets[i]->ttl_s);
	}
	for (unsigned i = 0; i < s->ttl_count; i++)
		PROMISE(s->data[i] + 4u <= s->wire_len);
	arena_clear(&a);
}

/* Rotated or not, they are the same records. */
static void go_through(struct asking *x)
{
	const struct stored *s =
		msgcache_find(x->cache, &x->request.q, msgcache_hash(&x->request.q), 0, wants_dnssec(x));

	send_to(x, NULL);
	if (!s)
		return; /* too large for one message when written by us */
	check_stored(x, s);
	x->how.order = !style.rotate;
	send_to(x, s);
	x->how.order = true;
}

/* ---- the input ---- */

static void asking_of(struct asking *x, const uint8_t data[4], struct message *m)
{
	m->opcode = OPCODE_QUERY;
	m->reason = (enum reason)(data[1] % REASONS);
	m->reason_text = data[2] & 0x40 ? "in other words" : NULL;
	m->security = data[2] % 6;
	m->flags &= FLAG_AA;
	m->made_up = data[2] & 0x80;
	x->in = m;
	x->how = (struct same){ .spelling = same_is_spelled_once(m), .order = true };
	x->request = (struct request){ .id = get_u16(data + 2), .q = m->q };
	x->request.flags = (uint16_t)((data[0] & 0x10 ? FLAG_AD : 0) | (data[0] & 0x20 ? FLAG_CD : 0) |
				      (data[0] & 0x40 ? FLAG_RD : 0));
	x->request.edns.present = data[0] & 1;
	x->request.edns.udp_size = x->request.edns.present ? (uint16_t)(data[1] * 16) : 0;
	x->to = (struct answer_to){ .style = &style, .request = &x->request, .now_s = NOW + data[3] };
	x->stale = data[0] & 8;
	style.rotate = data[0] & 4;
}

/* The client spells the name in its own way. */
static void spell(struct asking *x)
{
	for (unsigned i = 0; i < x->in->q.name_len; i++) {
		uint8_t c = x->in->q.name[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		x->name[i] = letter && i % 3 == 1 ? c ^ 0x20 : c;
	}
	x->request.q.name = x->name;
	x->how.spelling = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct asking x = { .cache = NULL };
	struct message m;
	struct arena a;

	if (len < 4)
		return 0;
	arena_init(&a);
	hash_start(true);
	rcu_thread_join();
	rcu_turn_begin();
	if (msg_parse(data + 4, len - 4, &a, NOW, &m) && m.q.name_len && m.rcode <= UINT8_MAX) {
		asking_of(&x, data, &m);
		x.cache = msgcache_new(1 << 20, 1);
		msgcache_store(x.cache, &m, &(struct msg_keep){ .now_s = NOW, .ttl_s = 60 });
		x.request.edns.flags = x.request.edns.present ? EDNS_DO : 0;
		go_through(&x);
		x.request.edns.flags = 0;
		go_through(&x);
		spell(&x);
		go_through(&x);
		msgcache_free(x.cache);
	}
	rcu_turn_end();
	rcu_flush();
	rcu_thread_leave();
	arena_clear(&a);
	return 0;
}
