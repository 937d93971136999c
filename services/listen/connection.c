/* One client connection: reading, answering, timing out, closing. Internal to this room.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <errno.h>
#include <string.h>

#include "services/net/edns_conn.h"
#include "services/net/shares.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/net/proxy2.h"
#include "util/net/tls.h"

#define IDLE_LEAST_MS 200
#define ASKED_LEAST_MS 5000                 /* for a client that has asked something */
#define GONE_US       (100 * US_PER_MS)     /* between looks whether a client that is not read is gone */
#define HURRY_US      (100 * US_PER_MS)
#define RECENT_US   (10 * US_PER_MS)      /* a connection that did something just now is not idle … */
#define READING_US    (200 * US_PER_MS)     /* … nor one whose client has just taken a part of an answer */
#define TAKEN_LEAST   1024 /* bytes a slow client must accept at a time */
#define CROWDS        256

/* ---- queues ---- */

static void queue_free(struct queue *q)
{
	mem_free(q->at);
	*q = (struct queue){ 0 };
}

static void queue_put(struct queue *q, const uint8_t *from, size_t len)
{
	if (q->start && q->end + len > q->room) {
		memmove(q->at, q->at + q->start, queue_len(q));
		q->end -= q->start;
		q->start = 0;
	}
	if (q->end + len > q->room) {
		q->room = MAX(2 * q->room, q->end + len);
		q->at = mem_grow(q->at, q->room);
	}
	memcpy(q->at + q->end, from, len);
	q->end += len;
}

static void queue_take(struct queue *q, size_t len)
{
	q->start += len;
	if (q->start == q->end)
		queue_free(q);
}

/* ---- lifetime of a connection ---- */

void connection_free(struct connection *c)
{
	if (c->protocol->end)
		c->protocol->end(c);
	list_remove(&c->link);
	mem_free(c);
}

/* Soon, if others keep questions of it. */
static void bid_farewell(struct connection *c)
{
	struct listen_tcp *t = c->home;

	if (list_is_empty(&c->waiting))
		return;
	list_remove(&c->link);
	list_push_back(&t->gone, &c->link);
	timer_set(t->loop, &t->farewell, 0);
}

/* The struct is freed once the last answer still outstanding has arrived. */
void connection_close(struct connection *c)
{
	struct listen_tcp *t = c->home;

	if (c->dead)
		return;
	c->dead = true;
	timer_stop(t->loop, &c->limit);
	timer_stop(t->loop, &c->resume);
	watch_stop(&c->watch);
	stream_close(&c->stream);
	connection_slot_give_back(&c->place);
	connection_table_remove(t->table, &c->entry);
	t->untaken -= queue_len(&c->out) + c->tls_pending;
	c->tls_pending = 0;
	queue_free(&c->in);
	queue_free(&c->out);
	t->count--;
	if (c->protocol->end)
		c->protocol->end(c);
	bid_farewell(c);
	if (!timer_is_set(&t->reopen) && t->next.fd < 0)
		listeners_watch(t, true);
}

struct list *connection_waiting(const struct client *client)
{
	return &((struct connection *)client->via)->waiting;
}

/* Those who keep its questions are told in a turn of their own: they may be at work on an answer to it just now. */
void connection_farewells(struct timer *timer)
{
	struct listen_tcp *t = container_of(timer, struct listen_tcp, farewell);

	while (!list_is_empty(&t->gone)) {
		struct connection *c = LIST_ITEM(t->gone.next, struct connection, link);

		list_remove(&c->link);
		list_push_back(&t->connections, &c->link);
		if (!t->leave)
			continue;
		if (t->stats)
			stat_bump(&t->stats->count[STAT_queries_client_gone], c->asked);
		t->leave(t->taker, &c->waiting, NULL, NULL);
	}
}

static bool is_done(const struct connection *c)
{
	return (c->cut || (c->ended && !c->full)) && c->asked == 0 && queue_len(&c->out) == 0 &&
	       c->tls_pending == 0;
}

uint32_t listen_tcp_idle_ms(uint32_t idle_ms, unsigned used, unsigned most)
{
	unsigned vacant = most > used ? most - used : 0;
	uint64_t percent = most ? (uint64_t)vacant * 100 / most : 0;

	if (percent < 20)
		idle_ms = 0;
	else if (percent < 35)
		idle_ms /= 500;
	else if (percent < 50)
		idle_ms /= 100;
	return MAX(idle_ms, (uint32_t)IDLE_LEAST_MS);
}

static enum waits_for what_is_next(const struct connection *c)
{
	enum waits_for more;

	if (queue_len(&c->out) || c->tls_pending)
		return FOR_CLIENT;
	if (c->full || c->ended || c->cut)
		return FOR_NOTHING;
	more = c->protocol->waits_for ? c->protocol->waits_for(c) : FOR_NOTHING;
	if (more != FOR_NOTHING)
		return more;
	if (queue_len(&c->in) || c->proxied)
		return FOR_REST;
	return c->asked ? FOR_NOTHING : FOR_QUESTION;
}

static bool may_read(const struct connection *c)
{
	return !c->full && !c->ended && !c->cut && c->asked < ASKED_MOST &&
	       queue_len(&c->out) + c->tls_pending < UNTAKEN_MOST;
}

uint32_t connection_idle_ms(const struct connection *c)
{
	const struct listen_tcp_limits *l = &c->home->limits;
	uint32_t usual = c->kept ? l->keepalive_ms : l->idle_ms;
	uint32_t ms = listen_tcp_idle_ms(usual, c->home->count, l->connections);

	return c->has_asked ? MAX(ms, MIN(usual, (uint32_t)ASKED_LEAST_MS)) : ms;
}

static uint64_t now_us(const struct connection *c)
{
	return loop_time(c->home->loop)->now_us;
}

static uint64_t idle_left_us(const struct connection *c)
{
	uint64_t until = c->entry.since_us + US_PER_MS * connection_idle_ms(c), now = now_us(c);

	return until > now ? until - now : 0;
}

/* Watch for the events that can come next, with a time limit. The limit restarts when the client
 * `moved`: a whole message arrived or it accepted bytes; a trickle of bytes does not count. */
static void connection_wait(struct connection *c)
{
	struct listen_tcp *t = c->home;
	enum waits_for next = what_is_next(c);

	watch_want(
		&c->watch,
		(may_read(c) ? WATCH_READ : 0u) |
			(queue_len(&c->out) || stream_wants_write(&c->stream) ? WATCH_WRITE : 0u));
	if (may_read(c) && stream_has_more(&c->stream))
		timer_set(t->loop, &c->resume, 0);
	if (next != c->waits_for || c->moved || c->entry.busy != (c->asked != 0))
		connection_table_note(t->table, &c->entry, c->asked != 0, now_us(c));
	if (next == FOR_NOTHING && (!c->asked || may_read(c)))
		timer_stop(t->loop, &c->limit);
	else if (next == FOR_NOTHING && (c->waits_for != FOR_NOTHING || !timer_is_set(&c->limit)))
		timer_set(t->loop, &c->limit, GONE_US);
	else if (next != FOR_NOTHING && (next != c->waits_for || c->moved))
		timer_set(t->loop, &c->limit, US_PER_MS * connection_idle_ms(c));
	c->waits_for = next;
	c->moved = false;
}

/* Call after every step: close if finished, free if no longer referenced, otherwise wait. */
static void connection_after_event(struct connection *c)
{
	if (!c->dead && is_done(c))
		connection_close(c);
	if (!c->dead)
		connection_wait(c);
	else if (c->asked == 0)
		connection_free(c);
	else
		bid_farewell(c);
}

/* Of a client that is not read, and so cannot say that it has gone. */
static void look_after(struct connection *c)
{
	if (!stream_is_gone(&c->stream)) {
		timer_set(c->home->loop, &c->limit, GONE_US);
		return;
	}
	connection_close(c);
	connection_after_event(c);
}

static bool has_question_waiting(const struct connection *c)
{
	return c->waits_for == FOR_QUESTION && may_read(c) && stream_has_arrived(&c->stream);
}

static void say_goodbye_and_close(struct connection *c)
{
	if (c->protocol->goodbye && c->waits_for == FOR_QUESTION)
		c->protocol->goodbye(c);
	connection_close(c);
	connection_after_event(c);
}

static void on_limit(struct timer *timer)
{
	struct connection *c = container_of(timer, struct connection, limit);

	if (c->waits_for == FOR_NOTHING)
		look_after(c);
	else if (has_question_waiting(c))
		timer_set(c->home->loop, &c->limit, US_PER_MS);
	else
		say_goodbye_and_close(c);
}

/* ---- room for another connection ---- */

static bool may_go(const struct connection_entry *e, bool has_more)
{
	const struct connection *c = container_of(e, struct connection, entry);
	uint64_t idle_us = now_us(c) - e->since_us;

	if (!has_more && c->waits_for == FOR_CLIENT && idle_us < READING_US)
		return false;
	return (has_more || idle_us >= RECENT_US) && !has_question_waiting(c);
}

enum connroom connection_room(struct listen_tcp *t, const struct addr *client)
{
	while (t->count >= t->limits.connections) {
		struct connection_entry *e;
		struct connection *c;
		enum connroom room = connection_table_make_room(t->table, client_hash(client),
							 loop_time(t->loop)->now_us, may_go, &e);

		if (room != CONNROOM_MADE)
			return room;
		c = container_of(e, struct connection, entry);
		if (t->stats)
			stat_add(t->stats, c->asked ? STAT_tcp_closed_busy : STAT_tcp_closed_idle);
		say_goodbye_and_close(c);
	}
	return CONNROOM_MADE;
}

static void hurry(struct connection_entry *e)
{
	struct connection *c = container_of(e, struct connection, entry);
	uint64_t left_us = idle_left_us(c);

	if (timer_is_set(&c->limit) && c->waits_for != FOR_NOTHING &&
	    c->limit.due_us > now_us(c) + left_us)
		timer_set(c->home->loop, &c->limit, left_us);
}

/* The table has become fuller: what idle connections have left is what they would get now. */
void connection_hurry(struct timer *timer)
{
	connection_table_each_idle(container_of(timer, struct listen_tcp, hurry)->table, hurry);
}

/* ---- room for what waits for clients ---- */

static size_t untaken_by(const struct connection *c)
{
	return queue_len(&c->out) + c->tls_pending;
}

/* Of the connections of the client for which the most waits, once `c` has `more`, the one that has
 * the most. Clients are told apart by a hash: mistaken for one another, they share a sum. */
static struct connection *find_largest(const struct connection *c, connection_measure *waiting,
				       size_t more)
{
	const struct listen_tcp *t = c->home;
	size_t sums[CROWDS] = { 0 }, most = 0;
	struct connection *largest = NULL;

	LIST_EACH (at, &t->connections) {
		const struct connection *one = LIST_ITEM(at, struct connection, link);

		sums[one->whose % CROWDS] += waiting(one);
	}
	if (more)
		most = sums[c->whose % CROWDS] += more;
	LIST_EACH (at, &t->connections) {
		struct connection *one = LIST_ITEM(at, struct connection, link);
		size_t sum = sums[one->whose % CROWDS];

		if (!waiting(one) || sum < most)
			continue;
		if (!largest || sum > most || waiting(one) > waiting(largest))
			largest = one;
		most = sum;
	}
	return largest;
}

/* Close `largest`, perhaps `c` itself. False: it is on the stack, and will be freed from there. */
static bool push_out(struct connection *largest, const struct connection *c)
{
	bool is_busy = largest == c || largest->digesting || largest->speaking;

	connection_close(largest);
	if (!is_busy && !largest->asked)
		connection_free(largest);
	return !is_busy;
}

bool connection_makes_way(const struct connection *c, connection_measure *waiting, size_t more)
{
	struct connection *largest = find_largest(c, waiting, more);

	return largest && largest->whose != c->whose && push_out(largest, c);
}

/* Close connections until what waits to be taken is no more than allowed. */
static void make_room(const struct connection *c)
{
	const struct listen_tcp *t = c->home;
	struct connection *largest;

	while (t->untaken > t->limits.waiting_bytes && (largest = find_largest(c, untaken_by, 0)))
		(void)push_out(largest, c);
}

/* ---- answers ---- */

/* False if the connection failed. */
static bool write_out(struct connection *c, const uint8_t *from, size_t len, size_t *written)
{
	*written = 0;
	while (*written < len) {
		ssize_t n = stream_write(&c->stream, from + *written, len - *written);

		if (n <= 0)
			return n < 0 && stream_is_not_now(errno);
		*written += (size_t)n;
		c->has_written = true;
	}
	return true;
}

void connection_send(struct connection *c, const uint8_t *from, size_t len)
{
	struct listen_tcp *t = c->home;
	size_t written = 0;

	if (queue_len(&c->out) == 0 && !write_out(c, from, len, &written)) {
		connection_close(c);
		return;
	}
	if (written == len)
		return;
	t->untaken += len - written;
	queue_put(&c->out, from + written, len - written);
	make_room(c);
}

/* Bytes TLS has not yet written out count as unsent like the rest. */
static void count_held(struct connection *c)
{
	struct listen_tcp *t = c->home;
	size_t held = stream_pending(&c->stream);
	bool is_more = held > c->tls_pending;

	t->untaken += held - c->tls_pending;
	c->tls_pending = held;
	if (is_more)
		make_room(c);
}

void connection_hold(struct connection *c)
{
	stream_hold(&c->stream);
}

void connection_release(struct connection *c)
{
	if (c->dead)
		return;
	if (stream_release(&c->stream))
		count_held(c);
	else
		connection_close(c);
}

unsigned connection_options_due(struct connection *c, const uint8_t *question, size_t len)
{
	const struct listen_tcp_limits *l = &c->home->limits;
	unsigned possible = (l->keepalive_ms && !c->http ? EDNS_CONN_KEEPALIVE : 0u) |
			    (l->pad_block && c->stream.tls ? EDNS_CONN_PADDING : 0u);
	unsigned due = possible ? possible & edns_conn_asked(question, len) : 0;

	c->has_asked = true;
	c->kept |= due & EDNS_CONN_KEEPALIVE ? 1 : 0;
	return due | (c->kept ? possible & EDNS_CONN_KEEPALIVE : 0u);
}

size_t connection_add_options(const struct connection *c, unsigned due, uint8_t *wire, size_t len)
{
	return due ? edns_conn_add(wire, len, MESSAGE_MAX,
			     &(struct edns_conn){ .options = due,
					    .pad_block = c->home->limits.pad_block,
					    .keepalive_ms = connection_idle_ms(c) })
		   : len;
}

/* When there is room for more queries, resume reading those already received, in a turn of their
 * own. */
static void resume_soon(struct connection *c)
{
	if (c->full && c->asked <= ASKED_MOST / 2 && queue_len(&c->out) == 0)
		timer_set(c->home->loop, &c->resume, 0);
}

void connection_left(struct connection *c)
{
	c->asked--;
	if (c->digesting)
		return;
	if (!c->dead) {
		connection_table_note(c->home->table, &c->entry, c->asked != 0, now_us(c));
		resume_soon(c);
	}
	connection_after_event(c);
}

const struct client_ops *connection_ops(const struct connection *c)
{
	if (!c->stream.tls)
		return c->protocol->plain;
	return tls_is_resumed(c->stream.tls) ? c->protocol->resumed : c->protocol->tls;
}

/* ---- queries ---- */

bool connection_may_ask(const struct connection *c)
{
	return !c->dead && !c->cut && c->asked < ASKED_MOST && queue_len(&c->out) < UNTAKEN_MOST;
}

/* Keep for later what was not processed: part of a message, or whole messages of a client with too
 * many queries in progress. */
static void keep_rest(struct connection *c, const uint8_t *at, size_t len)
{
	queue_free(&c->in);
	if (len && !c->dead && !c->cut && (c->full || !c->ended))
		queue_put(&c->in, at, len);
}

/* What was read had no answer that would carry the acknowledgement: a client that leaves Nagle's algorithm on (RFC 9293
 * 3.7.4) holds back the rest of its request, or its next question, until that comes, which a delayed one does after 40 ms. */
static void acknowledge(const struct connection *c)
{
#ifdef TCP_QUICKACK
	int on = 1;

	if (!c->has_written)
		(void)setsockopt(c->stream.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
#else
	(void)c;
#endif
}

/* Process the kept bytes followed by `len` new ones, all in t->in. */
static void on_bytes(struct connection *c, size_t len)
{
	struct listen_tcp *t = c->home;
	size_t done;

	c->full = false;
	c->digesting = true;
	done = c->protocol->digest(c, t->in, len);
	c->digesting = false;
	if (c->dead && c->protocol->end)
		c->protocol->end(c);
	keep_rest(c, t->in + done, len - done);
	if (!c->dead) {
		acknowledge(c);
		resume_soon(c);
	}
	connection_after_event(c);
}

static size_t take_rest(struct connection *c)
{
	size_t had = queue_len(&c->in);

	if (had)
		memcpy(c->home->in, c->in.at + c->in.start, had);
	return had;
}

/* ---- accepting or refusing ---- */

/* Now that the client is known. False: refused. */
static bool admit(struct connection *c)
{
	struct listen_tcp *t = c->home;

	return !t->connection_limits || connection_limits_admit(t->connection_limits, &c->from, &c->place);
}

/* A proxy has said whose it is. */
static void pass_on(struct connection *c)
{
	c->whose = client_hash(&c->from);
	connection_table_pass_on(c->home->table, &c->entry, c->whose);
}

static bool may_speak_for(const struct connection *c)
{
	return !c->home->connection_limits || connection_limits_may_speak_for(c->home->connection_limits, &c->from);
}

/* False: TLS is required but cannot be set up; never fall back to cleartext. */
static bool begin_tls(struct connection *c)
{
	struct listen_tcp *t = c->home;

	if (c->service != SERVICE_TLS && c->service != SERVICE_HTTPS)
		return true;
	if (t->keys)
		c->stream.tls =
			tls_accept(t->keys, c->stream.fd, c->service == SERVICE_TLS ? "dot" : "h2");
	return c->stream.tls != NULL;
}

/* Read no further than the PROXY header: what follows may be TLS. */
static void read_proxy(struct connection *c)
{
	uint8_t *at = c->home->in;
	size_t had = take_rest(c), whole = PROXY2_LEAST;
	struct proxy2 head;
	enum proxy2_end end;
	ssize_t n;

	if (had >= PROXY2_LEAST)
		whole += get_u16(at + PROXY2_LEAST - 2);
	n = recv(c->stream.fd, at + had, whole - had, 0);
	if (n < 0 && stream_is_not_now(errno)) {
		connection_wait(c);
		return;
	}
	end = n > 0 ? proxy2_read(at, had + (size_t)n, &head) : PROXY2_BAD;
	if (end == PROXY2_BAD) {
		connection_close(c);
	} else if (end == PROXY2_GOOD) {
		queue_free(&c->in);
		c->proxied = false;
		c->moved = true;
		if (head.is_for)
			c->from = head.from;
		pass_on(c);
		if (!admit(c) || !begin_tls(c))
			connection_close(c);
	} else {
		queue_put(&c->in, at + had, (size_t)n);
	}
	connection_after_event(c);
}

static void on_readable(struct connection *c)
{
	size_t had;
	ssize_t n;

	if (!may_read(c))
		return;
	if (c->proxied) {
		read_proxy(c);
		return;
	}
	had = take_rest(c);
	c->has_written = false;
	n = stream_read(&c->stream, c->home->in + had, READ_ROOM - had);
	if (n > 0) {
		on_bytes(c, had + (size_t)n);
		return;
	}
	if (n < 0 && stream_is_not_now(errno)) {
		acknowledge(c);
		connection_wait(c);
		return;
	}
	if (n < 0)
		connection_close(c);
	else
		c->ended = true;
	queue_free(&c->in);
	connection_after_event(c);
}

static void on_resume(struct timer *timer)
{
	struct connection *c = container_of(timer, struct connection, resume);

	if (may_read(c) && stream_has_more(&c->stream))
		on_readable(c);
	else
		on_bytes(c, take_rest(c));
}

static void on_writable(struct connection *c)
{
	size_t written;

	if (!write_out(c, c->out.at + c->out.start, queue_len(&c->out), &written)) {
		connection_close(c);
	} else {
		c->home->untaken -= written;
		queue_take(&c->out, written);
		c->moved |= written >= TAKEN_LEAST || queue_len(&c->out) == 0;
		if (c->protocol->more && queue_len(&c->out) == 0)
			c->protocol->more(c);
		if (!c->dead)
			resume_soon(c);
	}
	connection_after_event(c);
}

static void on_pushable(struct connection *c)
{
	size_t before = c->tls_pending;

	if (stream_push(&c->stream))
		count_held(c);
	else
		connection_close(c);
	if (!c->dead) {
		c->moved |= before - c->tls_pending >= TAKEN_LEAST || c->tls_pending == 0;
		if (c->tls_pending == 0 && queue_len(&c->out) == 0 && c->protocol->more)
			c->protocol->more(c);
	}
	if (!c->dead)
		resume_soon(c);
	connection_after_event(c);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct connection *c = container_of(w, struct connection, watch);

	if (what & WATCH_WRITE && c->tls_pending)
		on_pushable(c);
	else if ((what & WATCH_WRITE) && queue_len(&c->out))
		on_writable(c);
	else if (what & WATCH_READ || stream_wants_write(&c->stream))
		on_readable(c);
	/* the connection may be freed by now; any other readiness is reported again */
}

/* ---- opening ---- */

void connection_begin(struct listen_tcp *t, int fd, const struct arrival *how, const struct protocol *protocol)
{
	struct connection *c = mem_zero(sizeof *c);
	int on = 1;

	c->home = t;
	c->protocol = protocol;
	c->service = how->service;
	c->proxied = how->proxied;
	c->stream = (struct stream){ .fd = fd };
	c->from = how->from;
	c->reached = how->reached;
	c->whose = client_hash(&c->from);
	if (c->proxied ? !may_speak_for(c) : !admit(c) || !begin_tls(c)) {
		if (t->stats)
			stat_add(t->stats, STAT_tcp_refused);
		connection_slot_give_back(&c->place);
		stream_close(&c->stream);
		mem_free(c);
		return;
	}
	if (!c->protocol->https || t->limits.http_nodelay)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	c->watch = (struct watch){ .fd = fd, .ready = on_ready };
	c->limit.fire = on_limit;
	c->resume.fire = on_resume;
	c->moved = true;
	list_init(&c->waiting);
	list_push_back(&t->connections, &c->link);
	connection_table_add(t->table, &c->entry, c->whose, now_us(c));
	t->count++;
	if (!timer_is_set(&t->hurry))
		timer_set(t->loop, &t->hurry, HURRY_US);
	watch_start(t->loop, &c->watch, WATCH_READ);
	connection_wait(c);
}
