/* Any message that can be read: stored, it comes out as it went in, and fits every client.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/answer.h"
#include "util/arena.h"
#include "util/hash.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NOW 1000

static const struct answer_style style = {
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
	bool stale;
};

/* Letters may change case where names share their ends, and so records become equal. */
static void same_sets(const struct message *a, const struct message *b)
{
	PROMISE(memcmp(a->count, b->count, sizeof(a->count)) == 0);
	for (unsigned i = 0; i < message_set_count(a); i++) {
		const struct rrset *x = a->sets[i], *y = b->sets[i];

		PROMISE(rrset_is(x, rrset_owner(y), y->type, y->class_));
		PROMISE(y->count <= x->count && !y->count == !x->count);
		PROMISE(y->sig_count <= x->sig_count && !y->sig_count == !x->sig_count);
	}
}

/* What is sent can be read, keeps to its size, and answers the question. */
static void check_sent(const uint8_t *at, size_t len, const struct asking *x)
{
	size_t most = MIN(MAX(512, x->request.edns.udp_size), style.max_udp);
	struct message got;
	struct arena a;

	arena_init(&a);
	PROMISE(x->to.stream || len <= MAX(most, MSG_HEAD_LEN + DNAME_MAX + 4 + OPT_FIXED_LEN));
	PROMISE(msg_parse(at, len, &a, NOW, &got));
	PROMISE(got.id == x->request.id && got.flags & FLAG_QR);
	PROMISE(question_equals(&got.q, &x->request.q));
	PROMISE(memcmp(got.q.name, x->request.q.name, got.q.name_len) == 0);
	PROMISE(got.edns.present == x->request.edns.present);
	arena_clear(&a);
}

static void send_both(const struct asking *x, const struct stored *s)
{
	static uint8_t room[MSG_MAX];
	size_t most = x->to.stream ? sizeof(room) : 4096;
	struct writer w = writer_over(room, most);

	answer_stored(&w, &x->to, s, x->stale);
	PROMISE(!w.bad);
	check_sent(room, writer_len(&w), x);
	w = writer_over(room, most);
	answer_message(&w, &x->to, x->in);
	PROMISE(!w.bad);
	check_sent(room, writer_len(&w), x);
}

static void go_through(struct asking *x, bool full)
{
	const struct stored *s =
		msgcache_find(x->cache, &x->request.q, msgcache_hash(&x->request.q), 0, full);
	struct message *again;
	struct arena a;

	if (!s)
		return; /* too large for one message when written by us */
	arena_init(&a);
	again = stored_unpack(s, &a, x->to.now_s);
	PROMISE(question_equals(&again->q, &x->in->q));
	if (full)
		same_sets(x->in, again);
	for (unsigned i = 0; i < s->ttl_count; i++)
		PROMISE(s->data[i] + 4u <= s->wire_len);
	send_both(x, s);
	arena_clear(&a);
}

/* Four bytes say who asks; the rest is the message. */
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
	if (msg_parse(data + 4, len - 4, &a, NOW, &m) && m.q.name_len && m.rcode < 16) {
		m.opcode = OPCODE_QUERY;
		m.reason = (enum reason)(data[1] % REASONS);
		m.security = data[2] % 6;
		x.in = &m;
		x.request = (struct request){ .id = get_u16(data + 2), .q = m.q };
		x.request.edns.present = data[0] & 1;
		x.request.edns.udp_size = x.request.edns.present ? (uint16_t)(data[1] * 16) : 0;
		x.to = (struct answer_to){ .style = &style,
					   .request = &x.request,
					   .stream = data[0] & 4,
					   .now_s = NOW + data[3] };
		x.stale = data[0] & 8;
		x.cache = msgcache_new(1 << 20, 1);
		msgcache_store(x.cache, &m, &(struct msg_keep){ .now_s = NOW, .ttl_s = 60 });
		go_through(&x, true);
		go_through(&x, false);
		x.request.edns.flags = x.request.edns.present ? EDNS_DO : 0;
		go_through(&x, true);
		msgcache_free(x.cache);
	}
	rcu_turn_end();
	rcu_flush();
	rcu_thread_leave();
	arena_clear(&a);
	return 0;
}
