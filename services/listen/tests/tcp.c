/* Claims about connections of clients: framing, pipelining, limits, and who is cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "services/listen/socket.h"
#include "services/listen/tests/run.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

/* A front end that does as the question's last byte says: 'a' answers at once with the question,
 * 'l' later, 'd' never, 'D' never but later, 'b' at once with 60,000 bytes. */
enum { WAITERS = 1024 };

struct waiter {
	struct client client;
	uint8_t bytes[64];
	size_t len;
};

static struct fixture {
	struct loop *loop;
	struct listen_tcp *tcp;
	struct waiter waiters[WAITERS];
	unsigned waiting, taken;
	int here; /* the client's end */
} fixture;

static enum disposition take(void *taker, struct packet *p)
{
	struct fixture *h = taker;
	uint8_t what = p->in.at[p->in.len - 1];
	struct waiter *w = &h->waiters[h->waiting];

	h->taken++;
	switch (what) {
	case 'l':
	case 'D':
		assert_true(h->waiting < WAITERS && p->in.len <= sizeof w->bytes);
		w->client = p->client;
		w->len = p->in.len;
		memcpy(w->bytes, p->in.at, p->in.len);
		h->waiting++;
		return DISPOSITION_LATER;
	case 'd':
		return DISPOSITION_DROP;
	case 'b':
		memset(write_room(&p->out, 60000), 'b', 60000);
		return DISPOSITION_SEND;
	default:
		write_bytes(&p->out, p->in.at, p->in.len);
		return DISPOSITION_SEND;
	}
}

/* The newest first, so that order shows. */
static void answer_waiters(struct fixture *h)
{
	while (h->waiting) {
		struct waiter w = h->waiters[--h->waiting];

		if (w.bytes[w.len - 1] == 'D')
			w.client.ops->drop(&w.client);
		else
			w.client.ops->reply(&w.client, w.bytes, w.len);
	}
}

/* The client's end of a connection from 192.0.2.`who`. */
static int connect_from(uint8_t who)
{
	struct addr somebody = { .family = 4, .ip = { 192, 0, 2, who }, .port = 4711 };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	listen_tcp_take(fixture.tcp, ends[1],
			&(struct arrival){ .from = somebody, .reached = somebody });
	return ends[0];
}

static void open_fixture(const struct listen_tcp_limits *limits)
{
	memset(&fixture, 0, sizeof fixture);
	fixture.loop = loop_new();
	fixture.tcp = listen_tcp_new(fixture.loop, take, &fixture, limits);
	fixture.here = connect_from(1);
}

static void close_fixture(void)
{
	answer_waiters(&fixture);
	listen_tcp_free(fixture.tcp);
	loop_free(fixture.loop);
	close(fixture.here);
}

static const struct listen_tcp_limits usual = {
	.connections = 10,
	.idle_ms = 5000,
	.waiting_bytes = 1 << 20,
};

/* "12 bytes" of a made message: a running number in front, what is to happen at the end. */
static size_t frame(uint8_t *to, const char *text)
{
	uint8_t body[12] = "___________";
	size_t len = strlen(text);

	memcpy(body + sizeof body - len, text, len);
	put_u16(to, sizeof body);
	memcpy(to + 2, body, sizeof body);
	return 2 + sizeof body;
}

static void send_frames_from(int here, const char *const *texts)
{
	uint8_t bytes[4096];
	size_t len = 0;

	for (; *texts; texts++)
		len += frame(bytes + len, *texts);
	assert_int_equal(write(here, bytes, len), len);
}

static void send_frames(const char *const *texts)
{
	send_frames_from(fixture.here, texts);
}

/* What came back: the texts, joined by blanks; "|" at the end of the stream. */
static void read_back(char *to, size_t room)
{
	uint8_t bytes[8192];
	ssize_t n = read(fixture.here, bytes, sizeof bytes);
	size_t len = 0;

	*to = '\0';
	for (ssize_t at = 0; n > 0 && at + 2 <= n; at += 2 + get_u16(bytes + at)) {
		const char *text = (const char *)bytes + at + 2;
		int size = get_u16(bytes + at);
		int skip = (int)strspn(text, "_");

		assert_true(at + 2 + size <= n);
		len += (size_t)snprintf(to + len, room - len, "%s%.*s", len ? " " : "", size - skip,
					text + skip);
	}
	if (n == 0 || (n > 0 && read(fixture.here, bytes, 1) == 0))
		snprintf(to + len, room - len, "|");
}

static void questions_are_answered_as_they_become_ready(void **state)
{
	(void)state;
	static const struct {
		const char *why, *ask[6], *at_once, *later;
	} rows[] = {
		{ "one", { "1a" }, "1a", "" },
		{ "many in one packet", { "1a", "2a", "3a" }, "1a 2a 3a", "" },
		{ "the slow one comes last", { "1l", "2a" }, "2a", "1l" },
		{ "slow ones overtake each other", { "1l", "2l", "3a" }, "3a", "2l 1l" },
		{ "dropped: the end", { "1a", "2d" }, "1a|", "" },
		{ "dropped: the others are answered first", { "1l", "2d" }, "", "1l|" },
		{ "nothing is read behind a drop", { "1d", "2a" }, "|", "" },
		{ "dropped later", { "1l", "2D" }, "", "1l|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[256];

		open_fixture(&usual);
		send_frames(rows[i].ask);
		run_for(fixture.loop, 5);
		read_back(text, sizeof text);
		if (strcmp(text, rows[i].at_once) != 0)
			fail_msg("%s: '%s' at once, not '%s'", rows[i].why, text, rows[i].at_once);
		answer_waiters(&fixture);
		run_for(fixture.loop, 5);
		read_back(text, sizeof text);
		if (!strchr(rows[i].at_once, '|') && strcmp(text, rows[i].later) != 0)
			fail_msg("%s: '%s' later, not '%s'", rows[i].why, text, rows[i].later);
		close_fixture();
	}
}

static void a_message_may_come_in_any_pieces(void **state)
{
	uint8_t bytes[64];
	char text[64];
	size_t len = frame(bytes, "1a");

	(void)state;
	len += frame(bytes + len, "2a");
	for (size_t piece = 1; piece < len; piece++) {
		open_fixture(&usual);
		for (size_t at = 0; at < len; at += piece) {
			size_t n = MIN(piece, len - at);

			assert_int_equal(write(fixture.here, bytes + at, n), n);
			run_for(fixture.loop, 0);
		}
		run_for(fixture.loop, 1);
		read_back(text, sizeof text);
		assert_string_equal(text, "1a 2a");
		close_fixture();
	}
}

static void nonsense_ends_the_connection(void **state)
{
	(void)state;
	static const struct {
		const char *why, *bytes;
		size_t len;
	} rows[] = {
		{ "a frame of nothing", "\0\0", 2 },
		{ "less than a header", "\0\013", 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];

		open_fixture(&usual);
		assert_int_equal(write(fixture.here, rows[i].bytes, rows[i].len), rows[i].len);
		run_for(fixture.loop, 5);
		read_back(text, sizeof text);
		if (strcmp(text, "|") != 0 || fixture.taken)
			fail_msg("%s: not closed", rows[i].why);
		assert_int_equal(listen_tcp_count(fixture.tcp), 0);
		close_fixture();
	}
}

static void a_client_that_sends_no_more_still_hears(void **state)
{
	static const char *const ask[] = { "1l", "2l", NULL };
	char text[64];

	(void)state;
	open_fixture(&usual);
	send_frames(ask);
	assert_int_equal(shutdown(fixture.here, SHUT_WR), 0);
	run_for(fixture.loop, 5);
	assert_int_equal(listen_tcp_count(fixture.tcp), 1);
	answer_waiters(&fixture);
	run_for(fixture.loop, 5);
	read_back(text, sizeof text);
	assert_string_equal(text, "2l 1l|");
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	close_fixture();
}

static void a_client_that_has_gone_is_waited_for_by_nobody(void **state)
{
	static const char *const ask[] = { "1l", "2D", "3l", NULL };

	(void)state;
	open_fixture(&usual);
	send_frames(ask);
	run_for(fixture.loop, 5);
	assert_int_equal(fixture.waiting, 3);
	close(fixture.here);
	answer_waiters(&fixture); /* into a closed connection */
	run_for(fixture.loop, 5);
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	fixture.here = dup(0);
	close_fixture();
}

static void questions_in_work_have_a_bound_and_none_is_lost(void **state)
{
	enum { ALL = 500 };
	unsigned rounds = 0, answered = 0;
	uint8_t bytes[14 * ALL];
	size_t len = 0;

	(void)state;
	open_fixture(&usual);
	for (unsigned i = 0; i < ALL; i++)
		len += frame(bytes + len, "1l");
	assert_int_equal(write(fixture.here, bytes, len), len);
	assert_int_equal(shutdown(fixture.here, SHUT_WR), 0);
	while (fixture.taken < ALL || fixture.waiting) {
		run_for(fixture.loop, 2);
		assert_true(fixture.waiting <= 128);
		answered += fixture.waiting;
		answer_waiters(&fixture);
		assert_true(rounds++ < 50);
		assert_true(read(fixture.here, bytes, sizeof bytes) != 0 || answered == ALL);
	}
	run_for(fixture.loop, 2);
	assert_int_equal(answered, ALL);
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	close_fixture();
}

static void who_is_slow_is_cut(void **state)
{
	(void)state;
	static const struct {
		const char *why, *bytes;
		size_t len;
		unsigned after_ms;
		bool cut;
	} rows[] = {
		{ "silent, but not for long", "", 0, 150, false },
		{ "silent", "", 0, 320, true },
		{ "half a message, but not for long", "\0\20ab", 4, 150, false },
		{ "half a message", "\0\20ab", 4, 320, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		open_fixture(&(struct listen_tcp_limits){
			.connections = 10, .idle_ms = 250, .waiting_bytes = 1000 });
		if (rows[i].len)
			assert_int_equal(write(fixture.here, rows[i].bytes, rows[i].len),
					 rows[i].len);
		run_for(fixture.loop, rows[i].after_ms);
		if ((listen_tcp_count(fixture.tcp) == 0) != rows[i].cut)
			fail_msg("%s: %s", rows[i].why, rows[i].cut ? "not cut" : "cut");
		close_fixture();
	}
}

/* Its message is never whole, however often something comes. */
static void a_slow_tcp_query_is_timed_out(void **state)
{
	(void)state;
	open_fixture(&(struct listen_tcp_limits){
		.connections = 10, .idle_ms = 250, .waiting_bytes = 1000 });
	assert_int_equal(write(fixture.here, "\0\377", 2), 2);
	for (unsigned i = 0; i < 10 && listen_tcp_count(fixture.tcp); i++) {
		(void)!write(fixture.here, "x", 1);
		run_for(fixture.loop, 50);
	}
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	close_fixture();
}

static void who_takes_no_answers_is_cut(void **state)
{
	static const char *const ask[] = { "b", "b", "b", "b", "b", "b", "b", "b", NULL };

	(void)state;
	open_fixture(&(struct listen_tcp_limits){
		.connections = 10, .idle_ms = 5000, .waiting_bytes = 100000 });
	for (unsigned i = 0; i < 10 && listen_tcp_count(fixture.tcp); i++) {
		send_frames(ask);
		run_for(fixture.loop, 5);
	}
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	close_fixture();
}

static bool is_cut(int here)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(here, bytes, sizeof bytes)) > 0)
		;
	return n == 0;
}

/* Whoever comes last, and has little waiting, does not pay for those who take nothing. */
static void who_leaves_the_most_untaken_makes_way(void **state)
{
	(void)state;
	enum { MANY = 8, EACH = 60002 };
	static const char *const much[] = { "b", "b", "b", "b", "b", "b", NULL }, *const *less = much + 2;
	static const struct {
		const char *why;
		uint8_t hogs[MANY]; /* clients that take nothing, by connection */
		size_t room;
		const char *cut; /* which of these connections */
	} rows[] = {
		{ "there is room for all", { 2, 3 }, 900000, "--" },
		{ "who takes nothing", { 2 }, 150000, "x" },
		{ "who takes nothing on many connections", { 3, 2, 2, 2 }, 570000, "-x--" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int hogs[MANY];
		char cut[MANY + 1] = "";
		unsigned count = 0;
		size_t got = 0;
		char bytes[30000];

		open_fixture(&(struct listen_tcp_limits){
			.connections = 20, .idle_ms = 5000, .waiting_bytes = rows[i].room });
		for (; rows[i].hogs[count]; count++) {
			hogs[count] = connect_from(rows[i].hogs[count]);
			send_frames_from(hogs[count], much);
			run_for(fixture.loop, 5);
		}
		send_frames(less);
		for (unsigned k = 0; k < 100 && got < (size_t)4 * EACH; k++) {
			ssize_t n;

			run_for(fixture.loop, 1);
			n = read(fixture.here, bytes, sizeof bytes);
			got += n > 0 ? (size_t)n : 0;
		}
		if (got != (size_t)4 * EACH)
			fail_msg("%s: %zu bytes", rows[i].why, got);
		for (unsigned k = 0; k < count; k++) {
			cut[k] = is_cut(hogs[k]) ? 'x' : '-';
			close(hogs[k]);
		}
		if (strcmp(cut, rows[i].cut) != 0)
			fail_msg("%s: %s, not %s", rows[i].why, cut, rows[i].cut);
		close_fixture();
	}
}

static void who_takes_answers_slowly_gets_them_all(void **state)
{
	enum { EACH = 60002, ALL = 32 };
	static const char *const ask[] = { "b", "b", "b", "b", "b", "b", "b", "b", NULL };
	size_t got = 0;
	char bytes[50000];

	(void)state;
	open_fixture(&(struct listen_tcp_limits){
		.connections = 10, .idle_ms = 5000, .waiting_bytes = 8 << 20 });
	for (unsigned i = 0; i < ALL / 8; i++)
		send_frames(ask);
	for (unsigned i = 0; i < 1000 && got < (size_t)ALL * EACH; i++) {
		ssize_t n;

		run_for(fixture.loop, 1);
		n = read(fixture.here, bytes, sizeof bytes);
		got += n > 0 ? (size_t)n : 0;
	}
	assert_int_equal(got, (size_t)ALL * EACH);
	assert_int_equal(fixture.taken, ALL);
	close_fixture();
}

static void idle_time_shrinks_as_connections_run_short(void **state)
{
	(void)state;
	static const struct {
		unsigned used, most;
		uint32_t idle_ms, want_ms;
	} rows[] = {
		{ 1, 10, 30000, 30000 },   { 5, 10, 30000, 30000 },  { 6, 10, 30000, 300 },
		{ 51, 100, 120000, 1200 }, { 66, 100, 120000, 240 }, { 7, 10, 30000, 200 },
		{ 81, 100, 120000, 200 },  { 10, 10, 30000, 200 },   { 11, 10, 30000, 200 },
		{ 1, 10, 100, 200 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t got = listen_tcp_idle_ms(rows[i].idle_ms, rows[i].used, rows[i].most);

		if (got != rows[i].want_ms)
			fail_msg("row %zu: %u ms, not %u", i, got, rows[i].want_ms);
	}
}

/* Real sockets: `count` clients, all at 127.0.0.1, each asks `what`. */
static void come(int *fds, unsigned count, const struct listen_socket *s, const char *what)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(&s->at.addr, &ss);
	uint8_t bytes[64];
	size_t n = *what ? frame(bytes, what) : 0;

	for (unsigned i = 0; i < count; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&ss, len), 0);
		assert_int_equal(fcntl(fds[i], F_SETFL, O_NONBLOCK), 0);
		assert_int_equal(write(fds[i], bytes, n), n);
	}
}

/* 'a': answered; 'x': closed; '-': neither, yet */
static void look(const int *fds, unsigned count, char *to)
{
	uint8_t bytes[64];

	for (unsigned i = 0; i < count; i++) {
		ssize_t n = read(fds[i], bytes, sizeof bytes);

		to[i] = n > 0 ? 'a' : n < 0 && errno == EAGAIN ? '-' : 'x';
	}
	to[count] = '\0';
}

static void connections_have_a_bound_and_make_room(void **state)
{
	enum { MOST = 3, ALL = 5 };
	(void)state;
	static const struct {
		const char *why, *first, *then, *seen_first, *seen_then;
		uint64_t idle, busy, refused;
	} rows[] = {
		{ "all are answered, one after the other", "1a", "", "aaaaa", "", 3, 0, 0 },
		{ "a new one among the silent", "", "1a", "x--", "aa", 3, 0, 0 },
		{ "questions in progress stay, of the same client", "1l", "1a", "--xxx", "xx", 0, 0, 5 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_new();
		struct interface at = { .addr = { .family = 4, .ip = { 127, 0, 0, 1 } } };
		struct listen_socket_how how = { .conf = conf };
		struct stats stats = { .list_now = 0 };
		unsigned first = (unsigned)strlen(rows[i].seen_first), then = (unsigned)strlen(rows[i].seen_then);
		struct listen_socket s;
		struct fault f = { 0 };
		char seen[ALL + 1];
		int fds[2 * ALL];

		open_fixture(&(struct listen_tcp_limits){
			.connections = MOST, .idle_ms = 5000, .waiting_bytes = 1000 });
		listen_tcp_stats(fixture.tcp, &stats);
		assert_true(listen_socket_open(&s, &at, true, &how, &f));
		listen_tcp_serve(fixture.tcp, &s, 1);
		come(fds, first, &s, rows[i].first);
		run_for(fixture.loop, 60);
		assert_int_equal(listen_tcp_count(fixture.tcp), MOST);
		look(fds, first, seen);
		if (strcmp(seen, rows[i].seen_first) != 0)
			fail_msg("%s: first %s, not %s", rows[i].why, seen, rows[i].seen_first);
		come(fds + first, then, &s, rows[i].then);
		run_for(fixture.loop, 60);
		assert_int_equal(listen_tcp_count(fixture.tcp), MOST);
		look(fds + first, then, seen);
		if (strcmp(seen, rows[i].seen_then) != 0)
			fail_msg("%s: then %s, not %s", rows[i].why, seen, rows[i].seen_then);
		assert_int_equal(stat_get(&stats.count[STAT_tcp_closed_idle]), rows[i].idle);
		assert_int_equal(stat_get(&stats.count[STAT_tcp_closed_busy]), rows[i].busy);
		assert_int_equal(stat_get(&stats.count[STAT_tcp_refused]), rows[i].refused);
		for (unsigned k = 0; k < first + then; k++)
			close(fds[k]);
		listen_tcp_serve(fixture.tcp, NULL, 0);
		conf_free(conf);
		close_fixture();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_answered_as_they_become_ready),
		cmocka_unit_test(a_message_may_come_in_any_pieces),
		cmocka_unit_test(nonsense_ends_the_connection),
		cmocka_unit_test(a_client_that_sends_no_more_still_hears),
		cmocka_unit_test(a_client_that_has_gone_is_waited_for_by_nobody),
		cmocka_unit_test(questions_in_work_have_a_bound_and_none_is_lost),
		cmocka_unit_test(who_is_slow_is_cut),
		cmocka_unit_test(a_slow_tcp_query_is_timed_out),
		cmocka_unit_test(who_takes_no_answers_is_cut),
		cmocka_unit_test(who_leaves_the_most_untaken_makes_way),
		cmocka_unit_test(who_takes_answers_slowly_gets_them_all),
		cmocka_unit_test(idle_time_shrinks_as_connections_run_short),
		cmocka_unit_test(connections_have_a_bound_and_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
