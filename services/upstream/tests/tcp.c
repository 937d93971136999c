/* Claims about questions over TCP: shared connections, answers in any order, lost connections.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/budget.h"
#include "services/upstream/tests/socket_pair.h"

#include "util/base/hash.h"

enum { PEERS = 64, HELD = 64 };

/* The other side. What it does with a question is told by the question's tag:
 *   a  echo               h  hold, and answer all that are held when an 'r' comes, last first
 *   s  silence            b  echo byte by byte, a byte to a packet
 *   x  close              p  answer, then close
 *   i  another id first   z  a message of no bytes
 *   g  a header too short for one
 *   k  echo no question, but say that the connection is to be closed (RFC 7828) */
struct peer {
	struct watch watch;
	uint8_t in[8192];
	size_t len;
	bool in_use;
};

static struct server {
	struct watch watch;
	struct addr at;
	struct peer peers[PEERS];
	unsigned accepted, closed, asked, open, open_most;
	uint8_t held[HELD][2 + QUERY_LEN];
	unsigned held_count;
	unsigned answers_each; /* of a connection, then it is closed; 0: any number */
	unsigned answered[PEERS];
} server;

static void peer_close(struct peer *p)
{
	watch_stop(&p->watch);
	close(p->watch.fd);
	p->in_use = false;
	server.closed++;
	server.open--;
}

static void peer_say(struct peer *p, const void *bytes, size_t len)
{
	assert_int_equal(send(p->watch.fd, bytes, len, MSG_NOSIGNAL), len);
}

static void peer_echo(struct peer *p, const uint8_t *framed)
{
	peer_say(p, framed, 2 + QUERY_LEN);
}

static void release(struct peer *p)
{
	while (server.held_count)
		peer_echo(p, server.held[--server.held_count]);
}

/* False when the connection is closed now. */
static bool peer_answer(void *peer, const uint8_t *framed)
{
	/* an OPT record with a keepalive of 0 */
	uint8_t last[] = { 0, 29, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
			   41, 4, 208, 0, 0, 0, 0, 0, 6, 0, 11, 0, 2, 0, 0 };
	uint8_t other[2 + QUERY_LEN];
	struct peer *p = peer;

	server.asked++;
	switch (framed[2 + QUERY_LEN - 1]) {
	case 's':
		return true;
	case 'h':
		memcpy(server.held[server.held_count++], framed, 2 + QUERY_LEN);
		return true;
	case 'r':
		release(p);
		break;
	case 'b':
		for (unsigned i = 0; i < 2 + QUERY_LEN; i++)
			peer_say(p, framed + i, 1);
		return true;
	case 'x':
		peer_close(p);
		return false;
	case 'i':
		memcpy(other, framed, sizeof(other));
		other[3] ^= 1;
		peer_echo(p, other);
		break;
	case 'z':
		peer_say(p, "\0\0", 2);
		return true;
	case 'g':
		peer_say(p, "\0\4abcd", 6);
		return true;
	case 'k':
		memcpy(last + 2, framed + 2, 2);
		peer_say(p, last, sizeof(last));
		return true;
	default:
		break;
	}
	peer_echo(p, framed);
	if (framed[2 + QUERY_LEN - 1] == 'p' ||
	    ++server.answered[p - server.peers] == server.answers_each) {
		peer_close(p);
		return false;
	}
	return true;
}

static void on_bytes(struct watch *w, unsigned what)
{
	struct peer *p = container_of(w, struct peer, watch);
	ssize_t n = recv(w->fd, p->in + p->len, sizeof(p->in) - p->len, 0);

	(void)what;
	if (n <= 0) {
		peer_close(p);
		return;
	}
	p->len += (size_t)n;
	(void)wire_take_queries(p->in, &p->len, peer_answer, p);
}

static void on_caller(struct watch *w, unsigned what)
{
	int fd = accept(w->fd, NULL, NULL);

	(void)what;
	for (unsigned i = 0; fd >= 0 && i < PEERS; i++) {
		struct peer *p = &server.peers[i];

		if (p->in_use)
			continue;
		*p = (struct peer){ .watch = { .fd = fd, .ready = on_bytes }, .in_use = true };
		server.answered[i] = 0;
		server.accepted++;
		if (++server.open > server.open_most)
			server.open_most = server.open;
		watch_start(wire.loop, &p->watch, WATCH_READ);
		return;
	}
	fail_msg("too many connections");
}

static void begin(const char *conf_text)
{
	wire_begin(conf_text, upstream_streams_new);
	memset(&server, 0, sizeof(server));
	wire_listen(&server.watch, &server.at, on_caller);
}

static void end(void)
{
	for (unsigned i = 0; i < PEERS; i++)
		if (server.peers[i].in_use)
			peer_close(&server.peers[i]);
	watch_stop(&server.watch);
	close(server.watch.fd);
	wire_end();
}

static struct sent_query *send_tag(char tag)
{
	return mail_send(&server.at, (uint8_t)tag);
}

static void cancel(struct sent_query *m)
{
	wire.transport->ops->cancel(wire.transport, &m->transmission);
}

/* ---- claims ---- */

static void an_answer_finds_its_question(void **state)
{
	(void)state;
	static const struct {
		const char *why, *tags;
		unsigned connections, arrived, unwanted;
	} rows[] = {
		{ "one", "a", 1, 1, 0 },
		{ "some share a connection", "aaaa", 1, 4, 0 },
		{ "more are too many for a server that has not answered yet", "aaaaaaaaaa", 3, 10, 0 },
		{ "out of order", "hhhr", 1, 4, 0 },
		{ "in crumbs", "bab", 1, 3, 0 },
		{ "an id of nobody is passed over", "ia", 1, 2, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned count = (unsigned)strlen(rows[i].tags);

		begin("");
		for (unsigned n = 0; n < count; n++)
			send_tag(rows[i].tags[n]);
		if (!wire_run(count, 0))
			fail_msg("%s: %u over", rows[i].why, wire.over);
		for (unsigned n = 0; n < count; n++) {
			const struct sent_query *m = &wire.queries[n];

			assert_true(m->arrived);
			assert_int_equal(m->got_len, QUERY_LEN);
			assert_memory_equal(m->got, m->wire, QUERY_LEN);
		}
		assert_int_equal(server.accepted, rows[i].connections);
		assert_int_equal(atomic_load(&wire.stats.unwanted_replies), rows[i].unwanted);
		end();
	}
}

static void a_connection_is_kept_for_the_next_question(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		unsigned pause_ms, connections;
	} rows[] = {
		{ "kept", "", 30, 1 },
		{ "for so long only", "server: tcp-reuse-timeout: 20\n", 100, 2 },
		{ "for so many only", "server: max-reuse-tcp-queries: 1\n", 0, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].conf);
		send_tag('a');
		assert_true(wire_run(1, 0));
		if (rows[i].pause_ms)
			wire_run(0, rows[i].pause_ms);
		send_tag('a');
		assert_true(wire_run(2, 0));
		if (server.accepted != rows[i].connections)
			fail_msg("%s: %u connections", rows[i].why, server.accepted);
		end();
	}
}

static void a_lost_connection_costs_what_it_had_to(void **state)
{
	(void)state;
	static const struct {
		const char *why, *first, *then;
		unsigned answers_each, arrived, failed, connections;
	} rows[] = {
		{ "closed without a word", "", "x", 0, 0, 1, 1 },
		{ "closed while idle: asked once more", "p", "a", 0, 2, 0, 2 },
		{ "closed each time, after others were answered", "a", "x", 0, 1, 1, 2 },
		{ "one answer to a connection", "", "aaaa", 1, 4, 0, 4 },
		{ "a message of no bytes", "", "z", 0, 0, 1, 1 },
		{ "a message too short for a header", "", "g", 0, 0, 1, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned first = (unsigned)strlen(rows[i].first);
		unsigned all = first + (unsigned)strlen(rows[i].then), arrived = 0, failed = 0;

		begin("");
		server.answers_each = rows[i].answers_each;
		for (const char *t = rows[i].first; *t; t++)
			send_tag(*t);
		assert_true(!first || wire_run(first, 0));
		for (const char *t = rows[i].then; *t; t++)
			send_tag(*t);
		if (!wire_run(all, 0))
			fail_msg("%s: %u over", rows[i].why, wire.over);
		for (unsigned n = 0; n < all; n++) {
			arrived += wire.queries[n].arrived;
			failed += wire.queries[n].failed;
			if (wire.queries[n].failed)
				assert_int_equal(wire.queries[n].why, UPSTREAM_SILENT);
		}
		if (arrived != rows[i].arrived || failed != rows[i].failed ||
		    server.accepted != rows[i].connections)
			fail_msg("%s: %u arrived, %u failed, %u connections", rows[i].why, arrived,
				 failed, server.accepted);
		end();
	}
}

/* However often it is asked again, and by whatever part of the lookup. */
static void a_question_has_two_connections_to_a_server_that_never_answers(void **state)
{
	(void)state;
	static const char tags[] = { 'x', 'z', 'g' }; /* closes, or sends what is no answer */

	for (size_t t = 0; t < COUNT(tags); t++) {
		struct budget one = { .refs = 1 }, other = { .refs = 1 };
		struct transmission way = { .to = server.at, .transport = TRANSPORT_TCP, .budget = &one };

		begin("");
		way.to = server.at;
		for (unsigned n = 1; n <= 5; n++) {
			struct sent_query *m = mail_send_by(&way, (uint8_t)tags[t]);

			assert_true(wire_run(n, 0));
			assert_true(m->failed);
			assert_int_equal(m->why, UPSTREAM_SILENT);
			/* the server is not to blame for what was not sent */
			assert_int_equal(m->transmission.queued, n > 2);
			if (server.accepted != MIN(n, 2u))
				fail_msg("%c: %u connections after %u", tags[t], server.accepted, n);
		}
		way.budget = &other;
		assert_non_null(mail_send_by(&way, 'a'));
		assert_true(wire_run(6, 0));
		assert_true(wire.queries[5].arrived);
		assert_int_equal(server.accepted, 3);
		/* a connection that others have opened is free */
		way.budget = &one;
		assert_non_null(mail_send_by(&way, 'a'));
		assert_true(wire_run(7, 0));
		assert_true(wire.queries[6].arrived);
		assert_int_equal(server.accepted, 3);
		end();
	}
}

static void a_refused_tcp_connection_is_a_failure(void **state)
{
	struct addr nobody;
	struct sent_query *m;

	(void)state;
	begin("");
	close(wire_socket(SOCK_STREAM, "127.0.0.1", &nobody));
	m = mail_send(&nobody, 'a');
	assert_true(wire_run(1, 0));
	assert_true(m->failed);
	assert_int_equal(m->why, UPSTREAM_SILENT);
	end();
}

static void what_cannot_leave_fails_in_a_later_turn(void **state)
{
	struct sent_query *m;

	(void)state;
	begin("server: outgoing-interface: ::1\n");
	m = send_tag('a');
	assert_false(m->failed);
	assert_true(wire_run(1, 0));
	assert_true(m->failed);
	assert_int_equal(m->why, UPSTREAM_UNREACHABLE);
	end();
}

static void connections_are_counted(void **state)
{
	(void)state;
	/* each question needs a connection of its own */
	begin("server: outgoing-num-tcp: 2\n max-reuse-tcp-queries: 1\n");
	send_tag('s');
	send_tag('s');
	send_tag('a');
	assert_true(wire.queries[2].transmission.queued);
	assert_false(wire_run(1, 50));
	assert_int_equal(server.accepted, 2);
	cancel(&wire.queries[0]);
	assert_true(wire_run(1, 0));
	assert_true(wire.queries[2].arrived);
	assert_int_equal(server.accepted, 3);
	assert_int_equal(server.open_most, 2);
	cancel(&wire.queries[1]);
	end();
}

/* Where there are fewer descriptors than the options say. */
static void no_more_connections_than_descriptors(void **state)
{
	(void)state;
	begin("server: outgoing-num-tcp: 2\n max-reuse-tcp-queries: 1\n");
	wire.env.servers_most = 1;
	send_tag('s');
	send_tag('a');
	assert_true(wire.queries[1].transmission.queued);
	assert_false(wire_run(1, 50));
	cancel(&wire.queries[0]);
	assert_true(wire_run(1, 0));
	assert_true(wire.queries[1].arrived);
	assert_int_equal(server.open_most, 1);
	end();
}

static void an_idle_connection_makes_room(void **state)
{
	struct addr other;
	int fd;
	struct sent_query *m;

	(void)state;
	begin("server: outgoing-num-tcp: 1\n");
	send_tag('a');
	assert_true(wire_run(1, 0));
	/* somebody else, who listens but never answers */
	fd = wire_socket(SOCK_STREAM, "127.0.0.1", &other);
	assert_int_equal(listen(fd, 1), 0);
	m = mail_send(&other, 's');
	assert_false(m->transmission.queued);
	wire_run(0, 30);
	assert_int_equal(server.closed, 1);
	cancel(m);
	close(fd);
	end();
}

/* One whose answers are known does not wait long for one of which nothing is known but silence. */
static void who_has_answered_before_need_not_wait(void **state)
{
	static const struct {
		const char *why;
		bool has_answered; /* who is asked now */
		uint32_t rtt_ms;   /* of the silent server, and of this one */
		uint32_t own_rtt_ms;
		bool waits;
	} rows[] = {
		{ "it has answered before", true, 1500, 1500, false },
		{ "nor has this one, and both are far away", false, 1500, 1500, true },
		{ "nor has this one, but the other is near, and should have answered", false, 20, 1500, false },
		{ "nor has this one, but it is near, and the other has more than half of the places", false,
		  1500, 20, false },
	};

	(void)state;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		struct transmission slow = { .transport = TRANSPORT_TCP, .rtt_ms = rows[i].rtt_ms };
		struct transmission own = { .transport = TRANSPORT_TCP, .rtt_ms = rows[i].own_rtt_ms };
		struct sent_query *silent, *next;
		int fd;

		begin("server: outgoing-num-tcp: 1\n");
		fd = wire_socket(SOCK_STREAM, "127.0.0.1", &slow.to);
		assert_int_equal(listen(fd, 1), 0);
		if (rows[i].has_answered) {
			send_tag('a');
			assert_true(wire_run(1, 0));
		}
		silent = mail_send_by(&slow, 's');
		wire_run(0, 10);
		own.to = server.at;
		next = mail_send_by(&own, 's');
		assert_true(next->transmission.queued);
		wire_run(0, 200);
		if (next->transmission.queued != rows[i].waits || silent->failed == rows[i].waits)
			fail_msg("%s", rows[i].why);
		cancel(next);
		cancel(silent);
		close(fd);
		end();
	}
}

/* Where there is no room: for what came last, and what waits for the same server. */
static void a_silent_server_makes_room(void **state)
{
	struct addr others[2];
	struct sent_query *silent, *next[3];
	int fds[2];

	(void)state;
	begin("server: outgoing-num-tcp: 1\n");
	silent = mail_send(&server.at, 's');
	for (unsigned i = 0; i < 2; i++) {
		fds[i] = wire_socket(SOCK_STREAM, "127.0.0.1", &others[i]);
		assert_int_equal(listen(fds[i], 1), 0);
	}
	wire_run(0, 50);
	next[0] = mail_send(&others[1], 's');
	next[1] = mail_send(&others[0], 's');
	next[2] = mail_send(&others[1], 's');
	wire_run(0, 200);
	assert_false(silent->failed); /* it may still answer */
	assert_true(next[2]->transmission.queued);
	wire_run(0, 500);
	assert_true(silent->failed);
	assert_int_equal(silent->why, UPSTREAM_SILENT);
	assert_int_equal(server.open, 0);
	assert_false(next[0]->transmission.queued);
	assert_true(next[1]->transmission.queued);
	assert_false(next[2]->transmission.queued);
	for (unsigned i = 0; i < 3; i++)
		cancel(next[i]);
	for (unsigned i = 0; i < 2; i++)
		close(fds[i]);
	end();
}

static void who_gives_up_leaves_the_others_alone(void **state)
{
	struct sent_query *gone;

	(void)state;
	begin("");
	gone = send_tag('h');
	send_tag('h');
	wire_run(0, 30);
	cancel(gone);
	send_tag('r');
	assert_true(wire_run(2, 0));
	assert_false(gone->arrived || gone->failed);
	assert_true(wire.queries[1].arrived && wire.queries[2].arrived);
	assert_int_equal(server.accepted, 1);
	end();
}

static void what_is_not_taken_over_tcp_has_failed(void **state)
{
	struct sent_query *m;

	(void)state;
	begin("");
	m = send_tag('a');
	m->refuse = true;
	assert_true(wire_run(1, 0));
	assert_true(m->failed);
	end();
}

static void a_connection_that_never_answers_is_not_used_again(void **state)
{
	struct sent_query *m;

	(void)state;
	begin("");
	send_tag('a');
	assert_true(wire_run(1, 0));
	m = send_tag('s');
	wire_run(0, 1100);
	cancel(m);
	send_tag('a');
	assert_true(wire_run(2, 0));
	assert_int_equal(server.accepted, 2);
	end();
}

/* RFC 7828 3.2.2. */
static void who_wants_the_connection_closed_gets_no_more_questions_on_it(void **state)
{
	static const struct {
		const char *why;
		bool keepalive; /* was asked for */
		unsigned connections;
	} rows[] = {
		{ "asked, it has said so", true, 2 },
		{ "nobody has asked", false, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transmission way = { .transport = TRANSPORT_TCP, .keepalive = rows[i].keepalive };
		struct sent_query *held;

		begin("");
		way.to = server.at;
		held = send_tag('h');
		mail_send_by(&way, 'k');
		assert_true(wire_run(1, 0));
		assert_false(held->arrived || held->failed);
		assert_int_equal(server.open, 1); /* for what is held */
		send_tag('a');
		assert_true(wire_run(2, 0));
		if (server.accepted != rows[i].connections)
			fail_msg("%s: %u connections", rows[i].why, server.accepted);
		cancel(held);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_finds_its_question),
		cmocka_unit_test(a_connection_is_kept_for_the_next_question),
		cmocka_unit_test(a_lost_connection_costs_what_it_had_to),
		cmocka_unit_test(a_question_has_two_connections_to_a_server_that_never_answers),
		cmocka_unit_test(a_refused_tcp_connection_is_a_failure),
		cmocka_unit_test(what_cannot_leave_fails_in_a_later_turn),
		cmocka_unit_test(connections_are_counted),
		cmocka_unit_test(no_more_connections_than_descriptors),
		cmocka_unit_test(an_idle_connection_makes_room),
		cmocka_unit_test(a_silent_server_makes_room),
		cmocka_unit_test(who_has_answered_before_need_not_wait),
		cmocka_unit_test(who_gives_up_leaves_the_others_alone),
		cmocka_unit_test(what_is_not_taken_over_tcp_has_failed),
		cmocka_unit_test(a_connection_that_never_answers_is_not_used_again),
		cmocka_unit_test(who_wants_the_connection_closed_gets_no_more_questions_on_it),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
