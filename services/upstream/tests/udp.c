/* Claims about questions over UDP: ports and ids, whom an answer may come from, how many at once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/tests/socket_pair.h"

#include "services/net/source.h"
#include "util/base/hash.h"

#include <stdlib.h>
#include <sys/resource.h>

#define SHARED "server: outgoing-port-share-above: 0\n"

/* The other side: answers each question by its tag.
 *   a  echo            i  echo with another id, then rightly
 *   s  silence         o  echo from another socket, then rightly
 *   t  two answers, of which the first is not taken
 *   e  nothing in a packet from another socket, then rightly
 *   2  another id alone, then rightly
 *   d  two answers     1  one byte, then rightly      0  nothing in a packet, then rightly */
static struct server {
	struct watch watch;
	int other;
	struct addr at;
	unsigned asked;
	uint16_t ports[QUERIES_MOST], ids[QUERIES_MOST];
	int by[QUERIES_MOST]; /* the socket at which it came */
} server;

static void reply(int fd, const uint8_t *bytes, size_t len, const struct sockaddr_storage *to,
		  socklen_t to_len)
{
	assert_int_equal(sendto(fd, bytes, len, 0, (const struct sockaddr *)to, to_len), len);
}

static void on_question(struct watch *w, unsigned what)
{
	uint8_t buf[512], other[512];
	struct sockaddr_storage ss;
	socklen_t ss_len = sizeof(ss);
	struct addr from;
	ssize_t n;

	(void)what;
	while ((n = recvfrom(w->fd, buf, sizeof(buf), 0, (struct sockaddr *)&ss, &ss_len)) > 0) {
		addr_from_sockaddr(&from, (struct sockaddr *)&ss, ss_len);
		server.by[server.asked] = w->fd;
		server.ports[server.asked] = from.port;
		server.ids[server.asked++] = get_u16(buf);
		memcpy(other, buf, sizeof(other));
		other[1] ^= 1;
		switch (buf[n - 1]) {
		case 's':
			continue;
		case 'i':
			reply(w->fd, other, (size_t)n, &ss, ss_len);
			reply(w->fd, other, 1, &ss, ss_len);
			break;
		case 'o':
			reply(server.other, buf, (size_t)n, &ss, ss_len);
			break;
		case 'e':
			reply(server.other, buf, 0, &ss, ss_len);
			break;
		case '2':
			reply(w->fd, other, 2, &ss, ss_len);
			break;
		case '0':
		case '1':
			reply(w->fd, buf, (size_t)(buf[n - 1] - '0'), &ss, ss_len);
			break;
		case 'd':
		case 't':
			reply(w->fd, buf, (size_t)n, &ss, ss_len);
			break;
		default:
			break;
		}
		reply(w->fd, buf, (size_t)n, &ss, ss_len);
		ss_len = sizeof(ss);
	}
}

static void begin(const char *conf_text)
{
	struct addr other;

	wire_begin(conf_text, upstream_udp_new);
	memset(&server, 0, sizeof(server));
	server.watch.fd = wire_socket(SOCK_DGRAM, "127.0.0.1", &server.at);
	server.watch.ready = on_question;
	server.other = wire_socket(SOCK_DGRAM, "127.0.0.1", &other);
	watch_start(wire.loop, &server.watch, WATCH_READ);
}

static void end(void)
{
	watch_stop(&server.watch);
	close(server.watch.fd);
	close(server.other);
	wire_end();
}

/* Until the other side has heard so many. */
static void wire_until_asked(unsigned count)
{
	for (unsigned n = 0; n < 500 && server.asked < count; n++)
		(void)wire_run(QUERIES_MOST, 1);
	assert_int_equal(server.asked, count);
}

static int compare_u16(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static unsigned distinct(uint16_t *values, unsigned count)
{
	unsigned found = count > 0;

	qsort(values, count, sizeof(*values), compare_u16);
	for (unsigned i = 1; i < count; i++)
		found += values[i] != values[i - 1];
	return found;
}

/* ---- claims ---- */

static void no_port_asks_often_or_long(void **state)
{
	unsigned ports;

	(void)state;
	begin(SHARED);
	for (unsigned i = 0; i < 200; i++) {
		mail_send(&server.at, 'a');
		assert_true(wire_run(i + 1, 0));
	}
	for (unsigned i = 0; i < 200; i++) {
		assert_true(wire.queries[i].arrived);
		assert_int_equal(wire.queries[i].got_len, QUERY_LEN);
	}
	assert_int_equal(server.asked, 200);
	/* within a second each asks 64 times; a slow machine opens more of them */
	assert_int_equal(server.ports[0], server.ports[1]);
	assert_int_not_equal(server.ports[0], server.ports[64]);
	ports = distinct(server.ports, 200);
	assert_in_range(ports, 4, 199);
	assert_true(distinct(server.ids, 200) >= 195);
	end();
}

static void every_question_has_a_port_of_its_own(void **state)
{
	(void)state;
	begin("");
	for (unsigned i = 0; i < 200; i++) {
		mail_send(&server.at, 'a');
		assert_true(wire_run(i + 1, 0));
	}
	assert_int_equal(server.asked, 200);
	assert_true(distinct(server.ports, 200) >= 195);
	assert_true(distinct(server.ids, 200) >= 195);
	end();
}

/* How the next value follows from this one: 0 when it does not, 1 when it is the same. */
static double serial_correlation(const uint16_t *values, unsigned count)
{
	double mean = 0, square = 0, along = 0;

	for (unsigned i = 0; i < count; i++)
		mean += (double)values[i] / count;
	for (unsigned i = 0; i < count; i++) {
		square += (values[i] - mean) * (values[i] - mean);
		along += (values[i] - mean) * (values[(i + 1) % count] - mean);
	}
	return along / square;
}

static void a_rush_does_not_make_ports_foreseeable(void **state)
{
	enum { RUSH = 2000, AT_ONCE = 50 };
	double port_r, id_r;

	(void)state;
	begin("");
	for (unsigned i = 0; i < RUSH; i += AT_ONCE) {
		for (unsigned n = 0; n < AT_ONCE; n++)
			mail_send(&server.at, 'a');
		assert_true(wire_run(i + AT_ONCE, 0));
	}
	assert_int_equal(server.asked, RUSH);
	port_r = serial_correlation(server.ports, RUSH);
	id_r = serial_correlation(server.ids, RUSH);
	/* one in 45 is typical of chance */
	assert_true(port_r < 0.1 && port_r > -0.1);
	assert_true(id_r < 0.1 && id_r > -0.1);
	assert_true(distinct(server.ports, RUSH) >= 1900);
	assert_true(distinct(server.ids, RUSH) >= 1900);
	assert_true(server.ports[RUSH - 1] - server.ports[0] >= 60000);
	end();
}

static void ports_are_shared_above_a_rate_only(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		unsigned least, most; /* ports for 200 questions at once */
	} rows[] = {
		{ "all are within the rate", "", 195, 200 },
		{ "a hundred are", "server: outgoing-port-share-above: 25\n", 100, 114 },
		{ "none is", SHARED, 25, 25 },
		{ "none may", SHARED " outgoing-port-uses: 1\n", 195, 200 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned ports;

		begin(rows[i].conf);
		for (unsigned n = 0; n < 200; n++)
			mail_send(&server.at, 'a');
		assert_true(wire_run(200, 0));
		ports = distinct(server.ports, 200);
		if (ports < rows[i].least || ports > rows[i].most)
			fail_msg("%s: %u ports", rows[i].why, ports);
		end();
	}
}

/* Who guesses ids, or looks for open ports, finds each port at most once. */
static void a_port_that_was_found_asks_no_more(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		char tag;
		bool same;
	} rows[] = {
		{ "found by nobody", "", 'a', true },
		{ "another id came", "", 'i', false },
		{ "one byte came", "", '1', false },
		{ "an empty packet came", "", '0', false },
		{ "its answer came twice", "", 'd', true },
		{ "another source, not heard", "", 'o', true },
		{ "another source, heard", " udp-connect: no\n", 'o', false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char conf[80];

		snprintf(conf, sizeof(conf), SHARED "%s", rows[i].conf);
		begin(conf);
		mail_send(&server.at, (uint8_t)rows[i].tag);
		assert_true(wire_run(1, 0));
		mail_send(&server.at, 'a');
		assert_true(wire_run(2, 0));
		if ((server.ports[0] == server.ports[1]) != rows[i].same)
			fail_msg("%s", rows[i].why);
		end();
	}
}

/* RFC 5452 9.2: an id of one port is an answer to one question at most. With these numbers the same would come twice. */
static void a_port_has_each_id_once(void **state)
{
	struct timebase clock = { .now_us = US_PER_S };

	(void)state;
	begin(SHARED);
	random_play(&wire.random, 13);
	wire.env.time = &clock;
	for (unsigned i = 0; i < 64; i++) {
		mail_send(&server.at, 'a');
		assert_true(wire_run(i + 1, 0));
	}
	assert_int_equal(server.ports[63], server.ports[0]);
	assert_int_equal(distinct(server.ids, 64), 64);
	end();
}

/* Nor does it ask more often than it may while it waits for an answer. */
static void a_port_that_is_used_up_takes_no_more(void **state)
{
	struct sent_query *m;

	(void)state;
	begin(SHARED " outgoing-port-uses: 2\n");
	m = mail_send(&server.at, 's');
	for (unsigned i = 1; i < 4; i++) {
		mail_send(&server.at, 'a');
		assert_true(wire_run(i, 0));
	}
	assert_int_equal(server.ports[1], server.ports[0]);
	assert_int_not_equal(server.ports[2], server.ports[0]);
	assert_int_equal(server.ports[3], server.ports[2]);
	wire.transport->ops->cancel(wire.transport, &m->transmission);
	end();
}

static void servers_are_asked_over_ipv6(void **state)
{
	struct watch w = { .ready = on_question };
	struct addr at;

	(void)state;
	begin("");
	w.fd = wire_socket(SOCK_DGRAM, "::1", &at);
	watch_start(wire.loop, &w, WATCH_READ);
	mail_send(&at, 'a');
	assert_true(wire_run(1, 0));
	assert_true(wire.queries[0].arrived);
	watch_stop(&w);
	close(w.fd);
	end();
}

/* Where the system has no descriptor left, a question waits for one. */
static void without_a_descriptor_questions_wait(void **state)
{
	struct rlimit was, none;
	struct sent_query *m;
	int next;

	(void)state;
	begin("");
	next = dup(0);
	assert_true(next >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	close(next);
	none = was;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	m = mail_send(&server.at, 'a');
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_true(m->transmission.queued && !m->failed);
	assert_true(wire_run(1, 0));
	assert_true(m->arrived);
	end();
}

static void a_port_asks_for_a_second(void **state)
{
	struct timebase clock = { .now_us = 7 * US_PER_S };

	(void)state;
	begin(SHARED);
	wire.env.time = &clock;
	for (unsigned i = 0; i < 3; i++) {
		mail_send(&server.at, 'a');
		assert_true(wire_run(i + 1, 0));
		clock.now_us += i ? 1 : US_PER_S - 1;
	}
	assert_int_equal(server.ports[1], server.ports[0]);
	assert_int_not_equal(server.ports[2], server.ports[0]);
	end();
}

/* Three ask from one port when an id comes that nobody sent: all hear of it, whatever one of them does then. */
static void a_wrong_id_is_reported_to_every_query_on_the_port(void **state)
{
	(void)state;
	for (unsigned ends = 0; ends < 2; ends++) {
		struct sent_query *first, *second, *third;

		begin(SHARED);
		first = mail_send(&server.at, 's');
		second = mail_send(&server.at, 's');
		third = mail_send(&server.at, 'i');
		first->gives_up = true;
		first->ends = ends ? second : NULL;
		assert_true(wire_run(2, 0));
		assert_int_equal(distinct(server.ports, 3), 1);
		assert_int_equal(first->strays, 1);
		assert_int_equal(second->strays, !ends);
		assert_int_equal(third->strays, 1);
		assert_true(third->arrived);
		if (!ends)
			wire.transport->ops->cancel(wire.transport, &second->transmission);
		end();
	}
}

static void a_port_is_drawn_from_all(void **state)
{
	(void)state;
	begin("");
	/* one that was silent is not asked from again */
	for (unsigned i = 0; i < 200; i++) {
		struct sent_query *m = mail_send(&server.at, 's');

		wire_until_asked(i + 1);
		wire.transport->ops->cancel(wire.transport, &m->transmission);
	}
	/* 200 of 59,366: one pair is likely every third time, four pairs hardly ever */
	assert_true(distinct(server.ports, 200) >= 195);
	assert_true(server.ports[0] < 10000 && server.ports[199] > 55000);
	end();
}

static void eight_at_a_time_share_a_port(void **state)
{
	(void)state;
	begin(SHARED);
	for (unsigned i = 0; i < 16; i++)
		mail_send(&server.at, 'a');
	assert_true(wire_run(16, 0));
	for (unsigned i = 0; i < 16; i++)
		assert_true(wire.queries[i].arrived);
	assert_int_equal(distinct(server.ports, 16), 2);
	end();
}

static void only_the_right_answer_counts(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		char tag;
		unsigned strays, unwanted;
	} rows[] = {
		{ "the answer", "", 'a', 0, 0 },
		{ "another id is told", "", 'i', 1, 0 },
		{ "a byte is nothing", "", '1', 0, 0 },
		{ "an id is one", "", '2', 1, 0 },
		{ "nothing from another source is not heard", "server: udp-connect: no\n", 'e', 0, 1 },
		{ "the answer twice", "", 'd', 0, 0 },
		{ "another source is not heard", "", 'o', 0, 0 },
		{ "nor is it without connect", "server: udp-connect: no\n", 'o', 0, 1 },
		{ "the answer without connect", "server: udp-connect: no\n", 'a', 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sent_query *m;

		begin(rows[i].conf);
		m = mail_send(&server.at, (uint8_t)rows[i].tag);
		assert_true(wire_run(1, 0));
		assert_true(m->arrived);
		if (m->strays != rows[i].strays)
			fail_msg("%s: %u strays", rows[i].why, m->strays);
		assert_int_equal(atomic_load(&wire.stats.unwanted_replies), rows[i].unwanted);
		end();
	}
}

static void what_is_not_taken_does_not_end_the_waiting(void **state)
{
	struct sent_query *m;

	(void)state;
	begin("");
	m = mail_send(&server.at, 't');
	m->refuse = true;
	assert_false(wire_run(1, 50));
	assert_int_equal(m->got_len, QUERY_LEN);
	assert_false(m->arrived || m->failed);
	wire.transport->ops->cancel(wire.transport, &m->transmission);
	end();
}

static void a_closed_port_is_heard_of_at_once(void **state)
{
	struct addr nobody;
	struct sent_query *m;

	(void)state;
	begin("");
	close(wire_socket(SOCK_DGRAM, "127.0.0.1", &nobody));
	m = mail_send(&nobody, 'a');
	assert_true(wire_run(1, 1000));
	assert_true(m->failed);
	assert_int_equal(m->why, UPSTREAM_SILENT);
	end();
}

static void what_cannot_leave_fails_in_a_later_turn(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *to;
	} rows[] = {
		{ "no source address of that family", "server: outgoing-interface: 127.0.0.1\n",
		  "::1" },
		{ "a source address that is not ours", "server: outgoing-interface: 192.0.2.77\n",
		  "127.0.0.1" },
		{ "no port is allowed", "server: outgoing-port-avoid: 0-65535\n", "127.0.0.1" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr to;
		struct sent_query *m;

		begin(rows[i].conf);
		assert_true(addr_parse(&to, rows[i].to, 53, NULL));
		m = mail_send(&to, 'a');
		assert_false(m->failed);
		assert_true(wire_run(1, 1000));
		if (!m->failed || m->why != UPSTREAM_UNREACHABLE)
			fail_msg("%s", rows[i].why);
		end();
	}
}

static void what_cannot_leave_closes_its_port(void **state)
{
	static uint8_t large[70000];
	struct sent_query *m;

	(void)state;
	begin(SHARED " outgoing-range: 1\n");
	mail_send(&server.at, 'a');
	assert_true(wire_run(1, 0));
	m = &wire.queries[wire.sent++];
	m->transmission = (struct transmission){ .to = server.at,
				       .wire = large,
				       .len = sizeof(large),
				       .arrived = query_arrived,
				       .failed = query_failed };
	wire.transport->ops->send(wire.transport, &m->transmission);
	assert_false(m->failed || m->transmission.queued);
	assert_true(wire_run(2, 0));
	assert_int_equal(m->why, UPSTREAM_UNREACHABLE);
	mail_send(&server.at, 'a');
	assert_true(wire_run(3, 0));
	assert_true(wire.queries[2].arrived);
	assert_int_not_equal(server.ports[1], server.ports[0]);
	end();
}

/* One of two ports, or of two addresses, is not to be had: the other is found. Without another, questions wait. */
static void what_cannot_be_bound_is_drawn_anew(void **state)
{
	struct addr taken, free;
	int fd = wire_socket(SOCK_DGRAM, "127.0.0.1", &taken), other = wire_socket(SOCK_DGRAM, "127.0.0.1", &free);
	char conf[200];

	(void)state;
	close(other);
	for (unsigned ports = 2; ports; ports--) {
		snprintf(conf, sizeof(conf), "server: outgoing-port-avoid: 0-65535\n outgoing-port-permit: %u\n outgoing-port-permit: %u\n",
			 taken.port, ports == 2 ? free.port : taken.port);
		begin(conf);
		for (unsigned i = 0; i < 10; i++) {
			mail_send(&server.at, 'a');
			assert_int_equal(wire_run(i + 1, ports == 2 ? 0 : 5), ports == 2);
			assert_int_equal(wire.queries[i].transmission.queued, ports == 1);
		}
		if (ports == 1)
			close(fd);
		assert_true(wire_run(10, 0));
		end();
	}
	begin("server: outgoing-interface: 192.0.2.77\n outgoing-interface: 127.0.0.1\n");
	for (unsigned i = 0; i < 20; i++) {
		mail_send(&server.at, 'a');
		assert_true(wire_run(i + 1, 0));
		assert_true(wire.queries[i].arrived);
	}
	end();
}

static void what_is_over_the_range_waits(void **state)
{
	(void)state;
	begin(SHARED " outgoing-range: 2\n");
	for (unsigned i = 0; i < 20; i++)
		mail_send(&server.at, i < 16 ? 's' : 'a');
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(wire.queries[i].transmission.queued, i >= 16);
	wire_until_asked(16);
	assert_false(wire_run(1, 10));
	assert_int_equal(server.asked, 16);
	/* one that waits may be given up, too; a port closes when all that it asked is over */
	wire.transport->ops->cancel(wire.transport, &wire.queries[19].transmission);
	for (unsigned i = 0; i < 8; i++)
		wire.transport->ops->cancel(wire.transport, &wire.queries[i].transmission);
	assert_true(wire_run(3, 0));
	for (unsigned i = 16; i < 19; i++)
		assert_true(wire.queries[i].arrived);
	for (unsigned i = 8; i < 16; i++)
		wire.transport->ops->cancel(wire.transport, &wire.queries[i].transmission);
	end();
}

static void only_permitted_ports_are_used(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint16_t least, most;
		size_t count;
	} rows[] = {
		{ "nothing said", "", 1024, 65535, 59366 },
		{ "a few",
		  "server: outgoing-port-avoid: 0-65535\n outgoing-port-permit: 41000-41004\n",
		  41000, 41004, 5 },
		{ "the later line wins",
		  "server: outgoing-port-avoid: 0-65535\n outgoing-port-permit: 41000-41004\n"
		  " outgoing-port-avoid: 41001-41003\n",
		  41000, 41004, 2 },
		{ "one by one", "server: outgoing-port-avoid: 0-65535\n outgoing-port-permit: 7\n",
		  7, 7, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sources *s;

		begin(rows[i].conf);
		s = sources_new(wire.snapshot.conf, true);
		if (sources_port_count(s) != rows[i].count)
			fail_msg("%s: %zu ports", rows[i].why, sources_port_count(s));
		for (unsigned n = 0; n < 1000; n++) {
			uint16_t p = sources_port(s, &wire.random);

			if (p < rows[i].least || p > rows[i].most)
				fail_msg("%s: %u", rows[i].why, p);
		}
		sources_free(s);
		end();
	}
	begin("server: outgoing-port-avoid: 0-65535\n outgoing-port-permit: 41000-41004\n");
	for (unsigned i = 0; i < 5; i++)
		mail_send(&server.at, 'a');
	assert_true(wire_run(5, 0));
	for (unsigned i = 0; i < 5; i++)
		assert_in_range(server.ports[i], 41000, 41004);
	end();
}

static void a_source_is_drawn_from_its_netblock(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint8_t family;
		bool found, drawn;
	} rows[] = {
		{ "the system chooses", "", 6, true, false },
		{ "an address", "server: outgoing-interface: 2001:db8::1\n", 6, true, false },
		{ "a netblock", "server: outgoing-interface: 2001:db8:0:1::/64\n", 6, true, true },
		{ "not of this family", "server: outgoing-interface: 2001:db8::1\n", 4, false,
		  false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sources *s;
		struct addr a, b;
		bool is_drawn;

		begin(rows[i].conf);
		s = sources_new(wire.snapshot.conf, false);
		if (sources_address(s, &wire.random, rows[i].family, &a, &is_drawn) !=
		    rows[i].found)
			fail_msg("%s", rows[i].why);
		assert_int_equal(is_drawn, rows[i].drawn);
		if (rows[i].drawn) {
			struct netblock n;

			assert_true(netblock_parse(&n, "2001:db8:0:1::/64", NULL));
			assert_true(netblock_holds(&n, &a));
			assert_true(sources_address(s, &wire.random, 6, &b, &is_drawn));
			assert_false(addr_equals_ip(&a, &b));
		}
		sources_free(s);
		end();
	}
}

static bool port_is_open(uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool taken;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	taken = bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0;
	close(fd);
	return taken;
}

static void a_port_closes_with_the_silence_of_its_question(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool cancel, open_then, open_later;
	} rows[] = {
		{ "answered", "", false, false, false },
		{ "answered, but it may ask again", SHARED " outgoing-port-uses: 2\n", false, true,
		  false },
		{ "given up", "", true, false, false },
		{ "given up, but kept for what comes late", "server: delay-close: 60\n", true, true,
		  false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct timebase clock = { .now_us = US_PER_S };
		struct sent_query *m;

		begin(rows[i].conf);
		wire.env.time = &clock;
		m = mail_send(&server.at, rows[i].cancel ? 's' : 'a');
		wire_until_asked(1);
		if (!rows[i].cancel)
			assert_true(wire_run(1, 0));
		if (rows[i].cancel) {
			assert_true(port_is_open(server.ports[0]));
			wire.transport->ops->cancel(wire.transport, &m->transmission);
		}
		if (port_is_open(server.ports[0]) != rows[i].open_then)
			fail_msg("%s", rows[i].why);
		clock.now_us += US_PER_S;
		for (unsigned n = 0; n < 50 && port_is_open(server.ports[0]); n++)
			wire_run(2, 20);
		assert_int_equal(port_is_open(server.ports[0]), rows[i].open_later);
		end();
	}
}

/* Of ports that wait for another question, 256 are kept: the longest idle one is closed for a new one. Each asks its own
 * server only. */
static void so_many_idle_ports_are_kept(void **state)
{
	enum { KEPT = 256 };
	static struct watch others[KEPT + 1];
	static struct addr at[KEPT + 1];
	struct timebase clock = { .now_us = US_PER_S };

	(void)state;
	begin(SHARED);
	wire.env.time = &clock;
	for (unsigned i = 0; i <= KEPT; i++) {
		others[i] = (struct watch){ .fd = wire_socket(SOCK_DGRAM, "127.0.0.1", &at[i]), .ready = on_question };
		watch_start(wire.loop, &others[i], WATCH_READ);
	}
	for (unsigned i = 0; i < KEPT; i++) {
		mail_send(&at[i], 'd');
		assert_true(wire_run(i + 1, 0));
	}
	assert_true(port_is_open(server.ports[0]));
	for (unsigned i = 0; i < KEPT; i++) {
		mail_send(&at[i], 'a');
		assert_true(wire_run(KEPT + i + 1, 0));
		assert_int_equal(server.by[KEPT + i], others[i].fd);
		assert_int_equal(server.ports[KEPT + i], server.ports[i]);
	}
	mail_send(&at[KEPT], 'a');
	assert_true(wire_run(2 * KEPT + 1, 0));
	assert_false(port_is_open(server.ports[0]));
	assert_true(port_is_open(server.ports[1]));
	assert_true(port_is_open(server.ports[2 * KEPT]));
	for (unsigned i = 0; i <= KEPT; i++) {
		watch_stop(&others[i]);
		close(others[i].fd);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_port_asks_often_or_long),
		cmocka_unit_test(every_question_has_a_port_of_its_own),
		cmocka_unit_test(a_rush_does_not_make_ports_foreseeable),
		cmocka_unit_test(ports_are_shared_above_a_rate_only),
		cmocka_unit_test(a_port_that_was_found_asks_no_more),
		cmocka_unit_test(a_port_has_each_id_once),
		cmocka_unit_test(a_port_that_is_used_up_takes_no_more),
		cmocka_unit_test(servers_are_asked_over_ipv6),
		cmocka_unit_test(without_a_descriptor_questions_wait),
		cmocka_unit_test(a_port_asks_for_a_second),
		cmocka_unit_test(a_wrong_id_is_reported_to_every_query_on_the_port),
		cmocka_unit_test(a_port_is_drawn_from_all),
		cmocka_unit_test(eight_at_a_time_share_a_port),
		cmocka_unit_test(only_the_right_answer_counts),
		cmocka_unit_test(what_is_not_taken_does_not_end_the_waiting),
		cmocka_unit_test(a_closed_port_is_heard_of_at_once),
		cmocka_unit_test(what_cannot_leave_fails_in_a_later_turn),
		cmocka_unit_test(what_cannot_leave_closes_its_port),
		cmocka_unit_test(what_cannot_be_bound_is_drawn_anew),
		cmocka_unit_test(what_is_over_the_range_waits),
		cmocka_unit_test(only_permitted_ports_are_used),
		cmocka_unit_test(a_source_is_drawn_from_its_netblock),
		cmocka_unit_test(a_port_closes_with_the_silence_of_its_question),
		cmocka_unit_test(so_many_idle_ports_are_kept),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
