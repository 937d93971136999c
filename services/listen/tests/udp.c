/* Claims about questions over UDP: batches, answers from the right address, late answers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/udp.h"

#include <errno.h>
#include <netinet/in.h>
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

enum { WAITERS = 256 };

/* A front end that does as a question's first byte says: 'a' answers, 'l' later, 'd' drops. */
static struct fixture {
	struct loop *loop;
	struct listen_udp *udp;
	struct conf *conf;
	struct client waiters[WAITERS];
	struct addr reached, from;
	unsigned waiting, taken;
	struct timer peek;
	unsigned taken_by_peek;
} fixture;

static enum disposition take(void *taker, struct packet *p)
{
	struct fixture *h = taker;

	h->taken++;
	h->reached = p->client.reached;
	h->from = p->client.from;
	switch (p->in.at[0]) {
	case 'l':
		assert_true(h->waiting < WAITERS);
		h->waiters[h->waiting++] = p->client;
		return DISPOSITION_LATER;
	case 'd':
		return DISPOSITION_DROP;
	default:
		write_bytes(&p->out, p->in.at, p->in.len);
		return DISPOSITION_SEND;
	}
}

static struct addr open_fixture(const char *at)
{
	struct interface where = { 0 };
	struct listen_socket s;
	struct fault f = { 0 };

	memset(&fixture, 0, sizeof fixture);
	fixture.loop = loop_new();
	fixture.udp = listen_udp_new(fixture.loop, take, &fixture);
	fixture.conf = conf_new();
	assert_true(addr_parse(&where.addr, at, 0, &f));
	where.many = strcmp(at, "0.0.0.0") == 0 || strcmp(at, "::") == 0;
	if (!listen_socket_open(&s, &where, false,
				&(struct listen_socket_how){ .conf = fixture.conf }, &f))
		fail_msg("%s", f.text);
	listen_udp_serve(fixture.udp, &s, 1);
	return s.at.addr;
}

static void close_fixture(void)
{
	for (unsigned i = 0; i < fixture.waiting; i++)
		fixture.waiters[i].ops->drop(&fixture.waiters[i]);
	listen_udp_free(fixture.udp);
	conf_free(fixture.conf);
	loop_free(fixture.loop);
}

/* Connected, so that an answer from any other address does not come through. */
static int client_of(const struct addr *server)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(server, &ss);
	int fd = socket(ss.ss_family, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&ss, len) == 0)
		return fd;
	close(fd);
	return -1;
}

static ssize_t hear(int fd, char *to, size_t room)
{
	ssize_t n = recv(fd, to, room, MSG_DONTWAIT);

	return n < 0 ? 0 : n;
}

static void answers_leave_from_the_address_that_was_asked(void **state)
{
	(void)state;
	static const struct {
		const char *why, *serve, *ask, *question;
	} rows[] = {
		{ "one address", "127.0.0.1", "127.0.0.1", "a" },
		{ "one address, later", "127.0.0.1", "127.0.0.1", "l" },
		{ "any address", "0.0.0.0", "127.0.0.1", "a" },
#ifdef __linux__
		{ "another one", "0.0.0.0", "127.9.8.7", "a" },
		{ "another one, later", "0.0.0.0", "127.9.8.7", "l" },
#endif
		{ "IPv6", "::1", "::1", "a" },
		{ "any IPv6", "::", "::1", "a" },
		{ "any IPv6, later", "::", "::1", "l" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr at = open_fixture(rows[i].serve), ask;
		char text[16];
		int fd;

		assert_true(addr_parse(&ask, rows[i].ask, at.port, NULL));
		fd = client_of(&ask);
		if (fd < 0) { /* a host without IPv6 */
			close_fixture();
			continue;
		}
		assert_int_equal(send(fd, rows[i].question, 1, 0), 1);
		run_for(fixture.loop, 5);
		assert_true(addr_equals(&fixture.reached, &ask));
		if (fixture.waiting) {
			fixture.waiters[0].ops->reply(&fixture.waiters[0], (const uint8_t *)"l", 1);
			fixture.waiting = 0;
			run_for(fixture.loop, 1);
		}
		if (hear(fd, text, sizeof text) != 1 || text[0] != *rows[i].question)
			fail_msg("%s: no answer", rows[i].why);
		close(fd);
		close_fixture();
	}
}

/* As a service manager may hand over: for both families. */
static struct addr open_fixture_for_both(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0), off = 0;
	struct interface any = { .addr = { .family = 6 }, .many = true };
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(&any.addr, &ss);
	struct listen_socket s;

	memset(&fixture, 0, sizeof fixture);
	fixture.loop = loop_new();
	fixture.udp = listen_udp_new(fixture.loop, take, &fixture);
	fixture.conf = conf_new();
	if (fd < 0)
		return (struct addr){ .family = 0 };
	assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, len), 0);
	len = sizeof ss;
	assert_int_equal(getsockname(fd, (struct sockaddr *)&ss, &len), 0);
	assert_true(addr_from_sockaddr(&any.addr, (struct sockaddr *)&ss, len));
	listen_socket_adopt(&s, &any, false, fixture.conf, fd);
	listen_udp_serve(fixture.udp, &s, 1);
	return (struct addr){ .family = 4, .ip = { 127, 0, 0, 1 }, .port = s.at.addr.port };
}

static void an_ipv4_client_of_a_socket_for_both_families_is_one(void **state)
{
	static const char questions[] = "aldL";

	(void)state;
	for (const char *q = questions; *q; q++) {
		struct addr at = open_fixture_for_both(), own = { .family = 4, .ip = { 127, 0, 0, 1 } };
		char question = *q == 'L' ? 'l' : *q, text[16];
		int fd = at.family ? client_of(&at) : -1;

		if (fd < 0) { /* a host without IPv6 */
			close_fixture();
			continue;
		}
		assert_int_equal(send(fd, &question, 1, 0), 1);
		run_for(fixture.loop, 5);
		assert_int_equal(fixture.taken, 1);
		assert_true(addr_equals_ip(&fixture.from, &own));
		if (*q == 'l') {
			fixture.waiters[0].ops->reply(&fixture.waiters[0], (const uint8_t *)"l", 1);
			fixture.waiting = 0;
			run_for(fixture.loop, 1);
		}
		assert_int_equal(hear(fd, text, sizeof text), *q == 'a' || *q == 'l');
		close(fd);
		close_fixture();
	}
}

static void every_packet_of_a_burst_has_its_own_answer(void **state)
{
	enum { ALL = 200 };
	struct addr at = open_fixture("127.0.0.1");
	unsigned heard = 0, sum = 0;
	int fd = client_of(&at);

	(void)state;
	for (unsigned i = 0; i < ALL; i++) {
		char question[2] = { (i % 4) ? 'a' : 'd', (char)i };

		assert_int_equal(send(fd, question, sizeof question, 0), 2);
	}
	for (unsigned i = 0; i < 20 && fixture.taken < ALL; i++)
		run_for(fixture.loop, 2);
	for (char text[16]; hear(fd, text, sizeof text) == 2; heard++)
		sum += (uint8_t)text[1];
	assert_int_equal(fixture.taken, ALL);
	assert_int_equal(heard, ALL * 3 / 4);
	assert_int_equal(sum, ALL * (ALL - 1) / 2 - 4 * (ALL / 4) * (ALL / 4 - 1) / 2);
	close(fd);
	close_fixture();
}

static void on_peek(struct timer *t)
{
	struct fixture *h = container_of(t, struct fixture, peek);

	h->taken_by_peek = h->taken;
}

/* What is begun must be finished, too: others get their turn first. */
static void lookups_begin_a_batch_at_a_time(void **state)
{
	enum { ALL = 96 };
	static const struct {
		const char *why, *questions;
		unsigned in_a_turn;
	} rows[] = {
		{ "answered at once", "aaaa", 8 + 16 + 32 + 32 },
		{ "dropped", "dddd", 8 + 16 + 32 + 32 },
		{ "one in four is looked up", "alaa", 8 + 16 + 32 },
		{ "all are looked up", "llll", 8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr at = open_fixture("127.0.0.1");
		int fd = client_of(&at);

		for (unsigned k = 0; k < ALL; k++)
			assert_int_equal(send(fd, rows[i].questions + k % 4, 1, 0), 1);
		fixture.peek.fire = on_peek;
		timer_set(fixture.loop, &fixture.peek, 0);
		for (unsigned k = 0; k < 20 && fixture.taken < ALL; k++)
			run_for(fixture.loop, 2);
		assert_int_equal(fixture.taken, ALL);
		if (fixture.taken_by_peek != rows[i].in_a_turn)
			fail_msg("%s: %u in a turn", rows[i].why, fixture.taken_by_peek);
		close(fd);
		close_fixture();
	}
}

static void what_is_too_large_for_a_question_is_not_taken(void **state)
{
	static char large[5000] = "a";
	struct addr at = open_fixture("127.0.0.1");
	int fd = client_of(&at);

	(void)state;
	assert_int_equal(send(fd, large, sizeof large, 0), sizeof large);
	assert_int_equal(send(fd, "a", 1, 0), 1);
	run_for(fixture.loop, 5);
	assert_int_equal(fixture.taken, 1);
	close(fd);
	close_fixture();
}

/* Each system call may wake somebody; but nothing waits longer than a round. */
static void late_answers_leave_together(void **state)
{
	static uint8_t answer[20000] = "answer";
	static const struct {
		const char *why;
		unsigned answers;
		size_t len;
		unsigned at_once;
	} rows[] = {
		{ "one", 1, 6, 0 },
		{ "a batch", 32, 6, 0 },
		{ "more than a batch", 40, 6, 32 },
		{ "more bytes than have room", 5, 4096, 4 },
		{ "too large to wait", 1, sizeof answer, 1 },
		{ "the second too large to wait", 2, sizeof answer, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr at = open_fixture("127.0.0.1");
		int fd = client_of(&at);
		static char text[sizeof answer];
		unsigned heard = 0;

		for (unsigned k = 0; k < rows[i].answers; k++)
			assert_int_equal(send(fd, "l", 1, 0), 1);
		for (unsigned k = 0; k < 20 && fixture.waiting < rows[i].answers; k++)
			run_for(fixture.loop, 2);
		assert_int_equal(fixture.waiting, rows[i].answers);
		for (; fixture.waiting; fixture.waiting--) {
			const struct client *c = &fixture.waiters[fixture.waiting - 1];

			c->ops->reply(c, answer, rows[i].len);
		}
		while (hear(fd, text, sizeof text) == (ssize_t)rows[i].len)
			heard++;
		if (heard != rows[i].at_once)
			fail_msg("%s: %u at once", rows[i].why, heard);
		run_for(fixture.loop, 1);
		while (hear(fd, text, sizeof text) == (ssize_t)rows[i].len)
			heard++;
		if (heard != rows[i].answers)
			fail_msg("%s: %u in all", rows[i].why, heard);
		close(fd);
		close_fixture();
	}
}

/* A reload that closes an address does not leave those alone who wait there. */
static void a_socket_that_is_served_no_more_answers_its_last_clients(void **state)
{
	struct addr at = open_fixture("127.0.0.1");
	int fd = client_of(&at);
	char text[16];

	(void)state;
	assert_int_equal(send(fd, "l", 1, 0), 1);
	run_for(fixture.loop, 5);
	assert_int_equal(fixture.waiting, 1);
	listen_udp_serve(fixture.udp, NULL, 0);
	assert_int_equal(send(fd, "a", 1, 0), 1);
	run_for(fixture.loop, 5);
	assert_int_equal(fixture.taken, 1);
	fixture.waiters[0].ops->reply(&fixture.waiters[0], (const uint8_t *)"late", 4);
	fixture.waiting = 0;
	assert_int_equal(hear(fd, text, sizeof text), 4);
	close(fd);
	close_fixture();
}

/* A kernel that is told to stamp packets may begin with it a little later. */
static void wait_for_stamps(int fd, const struct stats *stats)
{
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(send(fd, "d", 1, 0), 1);
		usleep(10000);
		run_for(fixture.loop, 5);
		if (atomic_load(&stats->count[STAT_queue_time_us_max]) >= 10 * US_PER_MS)
			return;
	}
	fail_msg("no packet is stamped when it comes");
}

/* Nobody waits any more for what lay there while we did not look. */
static void what_waited_too_long_is_dropped_and_counted(void **state)
{
	(void)state;
	static const struct {
		const char *why, *serve;
		uint64_t most_us;
		unsigned taken, dropped;
	} rows[] = {
		{ "nobody minds", "127.0.0.1", 0, 1, 0 },
		{ "too long", "127.0.0.1", 20 * US_PER_MS, 0, 1 },
		{ "too long, IPv6", "::1", 20 * US_PER_MS, 0, 1 },
		{ "too long, any address", "0.0.0.0", 20 * US_PER_MS, 0, 1 },
		{ "not that long", "0.0.0.0", 3600 * US_PER_S, 1, 0 },
	};
	static struct stats stats;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr at = open_fixture(rows[i].serve), ask;
		uint64_t dropped, longest_us;
		int fd;

		assert_true(addr_parse(&ask, at.family == 6 ? "::1" : "127.0.0.1", at.port, NULL));
		fd = client_of(&ask);
		if (fd < 0) { /* a host without IPv6 */
			close_fixture();
			continue;
		}
		memset(&stats, 0, sizeof stats);
		listen_udp_forget_old(fixture.udp, rows[i].most_us, &stats);
		if (rows[i].most_us)
			wait_for_stamps(fd, &stats);
		memset(&stats, 0, sizeof stats);
		fixture.taken = 0;
		assert_int_equal(send(fd, "a", 1, 0), 1);
		usleep(50000);
		run_for(fixture.loop, 5);
		dropped = atomic_load(&stats.count[STAT_queries_timed_out]);
		longest_us = atomic_load(&stats.count[STAT_queue_time_us_max]);
		if (fixture.taken != rows[i].taken || dropped != rows[i].dropped ||
		    (longest_us >= 50 * US_PER_MS) != (rows[i].most_us != 0))
			fail_msg("%s: %u taken, %u dropped, %u us", rows[i].why, fixture.taken,
				 (unsigned)dropped, (unsigned)longest_us);
		listen_udp_forget_old(fixture.udp, 0, &stats);
		assert_int_equal(send(fd, "a", 1, 0), 1);
		usleep(50000);
		run_for(fixture.loop, 5);
		assert_int_equal(fixture.taken, rows[i].taken + 1);
		close(fd);
		close_fixture();
	}
}

static void a_port_in_use_is_told_plainly(void **state)
{
	(void)state;
	for (unsigned stream = 0; stream <= 1; stream++) {
		for (unsigned shared = 0; shared <= 1; shared++) {
			struct conf *conf = conf_new();
			struct listen_socket_how how = { .conf = conf,
							 .shared_port = shared,
							 .first = true };
			struct interface where = { .addr = { .family = 4,
							     .ip = { 127, 0, 0, 1 } } };
			struct listen_socket one, two;
			struct fault f = { 0 };
			char want[128];

			assert_true(listen_socket_open(&one, &where, stream, &how, &f));
			assert_false(listen_socket_open(&two, &one.at, stream, &how, &f));
			snprintf(want, sizeof want,
				 "cannot listen on 127.0.0.1@%u over %s: another program serves "
				 "there",
				 one.at.addr.port, stream ? "TCP" : "UDP");
			assert_string_equal(f.text, want);
			listen_socket_close(&one);
			conf_free(conf);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_leave_from_the_address_that_was_asked),
		cmocka_unit_test(an_ipv4_client_of_a_socket_for_both_families_is_one),
		cmocka_unit_test(every_packet_of_a_burst_has_its_own_answer),
		cmocka_unit_test(lookups_begin_a_batch_at_a_time),
		cmocka_unit_test(what_is_too_large_for_a_question_is_not_taken),
		cmocka_unit_test(late_answers_leave_together),
		cmocka_unit_test(a_socket_that_is_served_no_more_answers_its_last_clients),
		cmocka_unit_test(what_waited_too_long_is_dropped_and_counted),
		cmocka_unit_test(a_port_in_use_is_told_plainly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
