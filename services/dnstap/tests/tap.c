/* Claims about what is told of messages: the form it has, the queue it goes through.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dnstap/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/base/msgring.h"
#include "services/dnstap/tests/protobuf.h"
#include "services/net/client.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"

/* ---- the form ---- */

static const struct addr client = { .ip = { 192, 0, 2, 7 }, .port = 40000, .family = 4 },
			 server = { .ip = { 0x20, 1, 0xd, 0xb8, [15] = 1 },
				    .port = 853,
				    .family = 6 },
			 any = { .port = 53, .family = 4 }, nobody = { .family = 0 };

static void a_message_says_all_that_is_known_and_nothing_else(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct tap_message m;
		unsigned family;
		bool asker, asked, asker_port, asked_port;
	} rows[] = {
		{ "a client's question",
		  { .kind = TAP_CLIENT_QUERY,
		    .protocol = TAP_UDP,
		    .asker = &client,
		    .asked = &client,
		    .query_ns = UINT64_C(1700000000123456789) },
		  1, true, true, true, true },
		{ "the answer to it, to any address of ours",
		  { .kind = TAP_CLIENT_RESPONSE,
		    .protocol = TAP_DOH,
		    .asker = &client,
		    .asked = &any,
		    .query_ns = UINT64_C(1700000000123456789),
		    .response_ns = UINT64_C(1700000001000000001) },
		  1, true, false, true, true },
		{ "a question over IPv6, from who knows where",
		  { .kind = TAP_RESOLVER_QUERY,
		    .protocol = TAP_DOT,
		    .asker = &nobody,
		    .asked = &server,
		    .query_ns = UINT64_C(1),
		    .zone = (const uint8_t *)"\7example" },
		  2, false, true, false, true },
		{ "an answer of a forwarder, asked before anybody watched",
		  { .kind = TAP_FORWARDER_RESPONSE,
		    .protocol = TAP_TCP,
		    .asker = &server,
		    .asked = &server,
		    .response_ns = UINT64_C(5000000000),
		    .zone = (const uint8_t *)"" },
		  2, true, true, true, true },
	};
	static const uint8_t wire[] = "twelve bytes and more";
	static uint8_t room[1024];
	struct field outer[FIELDS], inner[FIELDS];
	struct tap_face face;

	tap_face_make(&face, "who", "1.0");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tap_message m = rows[i].m;
		struct writer w = writer_over(room, sizeof room);
		bool answers = tap_is_response(m.kind);

		m.wire = (struct slice){ wire, sizeof wire };
		tap_message_write(&w, &face, &m);
		assert_false(w.bad);
		protobuf_take((struct slice){ room, writer_len(&w) }, outer);
		assert_true(protobuf_is(&outer[1], "who", 3) && protobuf_is(&outer[2], "1.0", 3));
		assert_int_equal(outer[15].number, 1);
		assert_int_equal(outer[14].times, 1);
		protobuf_take((struct slice){ outer[14].bytes.at, outer[14].bytes.len }, inner);
		if (inner[1].number != m.kind || inner[2].number != rows[i].family ||
		    inner[3].number != m.protocol || inner[4].times != rows[i].asker ||
		    inner[5].times != rows[i].asked ||
		    inner[6].number != (rows[i].asker_port ? m.asker->port : 0) ||
		    inner[7].number != (rows[i].asked_port ? m.asked->port : 0))
			fail_msg("%s: other circumstances", rows[i].why);
		if (rows[i].asker && !protobuf_is(&inner[4], m.asker->ip, m.asker->family == 6 ? 16 : 4))
			fail_msg("%s: another address", rows[i].why);
		if (inner[8].number * 1000000000 + inner[9].number != m.query_ns ||
		    inner[8].times != (m.query_ns != 0) || inner[12].times != answers ||
		    inner[12].number * 1000000000 + inner[13].number != m.response_ns)
			fail_msg("%s: other times", rows[i].why);
		if (!protobuf_is(&inner[answers ? 14 : 10], wire, sizeof wire) ||
		    inner[answers ? 10 : 14].times)
			fail_msg("%s: other bytes", rows[i].why);
		if (m.zone ? !protobuf_is(&inner[11], m.zone, strlen((const char *)m.zone) + 1)
			   : inner[11].times)
			fail_msg("%s: another zone", rows[i].why);
	}
}

static void names_are_left_out_or_cut(void **state)
{
	char name[400];
	struct tap_face face;
	struct field fields[FIELDS];

	(void)state;
	tap_face_make(&face, "", "");
	assert_int_equal(face.len, 0);
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	tap_face_make(&face, name, name);
	protobuf_take((struct slice){ face.bytes, face.len }, fields);
	assert_true(protobuf_is(&fields[1], name, TAP_NAME_MOST));
	assert_true(protobuf_is(&fields[2], name, TAP_NAME_MOST));
}

static void the_largest_message_has_room(void **state)
{
	static uint8_t wire[65535], room[sizeof wire + TAP_MESSAGE_MOST + sizeof(struct tap_face)];
	uint8_t zone[DNAME_MAX];
	struct tap_face face;
	struct tap_message m = { .kind = TAP_FORWARDER_RESPONSE,
				 .protocol = TAP_DOH,
				 .asker = &server,
				 .asked = &server,
				 .query_ns = UINT64_MAX,
				 .response_ns = UINT64_MAX,
				 .zone = zone,
				 .wire = { wire, sizeof wire } };
	struct writer w;

	(void)state;
	memset(zone, 'z', sizeof zone);
	for (unsigned i = 0; i < 253; i += 64)
		zone[i] = i < 192 ? 63 : 61;
	zone[DNAME_MAX - 1] = 0;
	tap_face_make(&face, "", "");
	w = writer_over(room, sizeof wire + TAP_MESSAGE_MOST);
	tap_message_write(&w, &face, &m);
	assert_false(w.bad);
}

/* ---- the queue ---- */

struct lane {
	struct msgring_bell bell;
	struct msgring *queue;
	int pipe[2];
};

static void open_lane(struct lane *l)
{
	assert_int_equal(pipe(l->pipe), 0);
	(void)fcntl(l->pipe[0], F_SETFL, O_NONBLOCK);
	l->bell = (struct msgring_bell){ .fd = l->pipe[1] };
	l->queue = msgring_new(&l->bell);
}

static void close_lane(struct lane *l)
{
	msgring_free(l->queue);
	close(l->pipe[0]);
	close(l->pipe[1]);
}

static bool was_rung(const struct lane *l)
{
	char byte;

	return read(l->pipe[0], &byte, 1) == 1;
}

static bool put(struct lane *l, const void *at, size_t len)
{
	uint8_t *room = msgring_room(l->queue, len + 100);

	if (!room)
		return false;
	memcpy(room, at, len);
	msgring_put(l->queue, len);
	return true;
}

static void what_does_not_fit_is_dropped_and_counted(void **state)
{
	static uint8_t large[65535];
	struct msgring_counts counts = { 0 };
	struct slice got[64];
	struct lane l;
	unsigned fits = 0, count;

	(void)state;
	open_lane(&l);
	assert_true(msgring_is_empty(l.queue));
	while (put(&l, large, sizeof large))
		fits++;
	assert_in_range(fits, 14, 16);
	assert_false(put(&l, large, sizeof large));
	count = msgring_look(l.queue, got, 64);
	assert_int_equal(count, fits);
	msgring_done(l.queue, count, true);
	assert_true(msgring_is_empty(l.queue));
	assert_true(put(&l, large, sizeof large));
	count = msgring_look(l.queue, got, 64);
	msgring_done(l.queue, count, false);
	msgring_count(l.queue, &counts);
	assert_int_equal(counts.sent, fits);
	assert_int_equal(counts.dropped, 2);
	assert_int_equal(counts.lost, 1);
	close_lane(&l);
}

static void only_who_sleeps_is_woken(void **state)
{
	struct lane l;

	(void)state;
	open_lane(&l);
	assert_true(put(&l, "a", 1));
	assert_false(was_rung(&l));
	atomic_store(&l.bell.asleep, true);
	assert_true(put(&l, "b", 1));
	assert_true(put(&l, "c", 1));
	assert_true(was_rung(&l));
	assert_false(was_rung(&l));
	close_lane(&l);
}

enum { MANY = 300000 };

/* Messages of all lengths, whose bytes say which they are. */
static void *put_many(void *arg)
{
	static uint8_t bytes[3000];
	struct lane *l = arg;

	for (uint32_t i = 0; i < MANY; i++) {
		size_t len = 4 + i * 7919 % (i % 50 ? 200 : 2900);

		memcpy(bytes, &i, 4);
		memset(bytes + 4, (int)(i & 0xff), len - 4);
		(void)put(l, bytes, len);
	}
	return NULL;
}

static void two_threads_see_the_same_messages_in_the_same_order(void **state)
{
	struct msgring_counts counts = { 0 };
	struct slice got[64];
	struct lane l;
	pthread_t thread;
	int64_t last = -1;

	(void)state;
	open_lane(&l);
	assert_int_equal(pthread_create(&thread, NULL, put_many, &l), 0);
	do {
		unsigned count = msgring_look(l.queue, got, 64);

		for (unsigned i = 0; i < count; i++) {
			uint32_t n;

			memcpy(&n, got[i].at, 4);
			assert_true((int64_t)n > last);
			last = n;
			assert_int_equal(got[i].len, 4 + n * 7919 % (n % 50 ? 200 : 2900));
			if (got[i].len > 4)
				assert_int_equal(got[i].at[got[i].len - 1], n & 0xff);
		}
		msgring_done(l.queue, count, true);
		counts = (struct msgring_counts){ 0 };
		msgring_count(l.queue, &counts);
	} while (counts.sent + counts.dropped < MANY);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(msgring_is_empty(l.queue));
	close_lane(&l);
}

/* ---- what is chosen ---- */

static void drop(const struct client *c)
{
	(void)c;
}

static void dnstap_samples_queries_and_responses_alike(void **state)
{
	static const struct client_ops ops = { .name = "udp", .drop = drop };
	struct conf *conf = conf_new();
	struct random random;
	struct tap tap = { .kinds = 0 };
	struct lane l;
	unsigned seen[FIELDS] = { 0 };

	(void)state;
	open_lane(&l);
	random_play(&random, 42);
	conf->dnstap.dnstap_log_client_query_messages = true;
	conf->dnstap.dnstap_log_client_response_messages = true;
	conf->dnstap.dnstap_sample_rate = 10;
	tap_adopt(&tap, conf, l.queue, &random);
	assert_int_equal(tap.kinds, 0); /* not enabled */
	conf->dnstap.dnstap_enable = true;
	tap_adopt(&tap, conf, NULL, &random);
	assert_int_equal(tap.kinds, 0); /* nowhere to go */
	tap_adopt(&tap, conf, l.queue, &random);
	for (unsigned i = 0; i < 10000; i++) {
		struct client c = { .ops = &ops, .from = client, .reached = client };
		struct slice got[4], wire = { (const uint8_t *)"0123456789ab", 12 };
		struct field outer[FIELDS], inner[FIELDS];
		unsigned count;

		tap_client_query(&tap, &c, &wire);
		assert_true(c.came_ns);
		tap_client_response(&tap, &c, wire.at, wire.len);
		count = msgring_look(l.queue, got, 4);
		for (unsigned n = 0; n < count; n++) {
			protobuf_take((struct slice){ got[n].at, got[n].len }, outer);
			protobuf_take((struct slice){ outer[14].bytes.at, outer[14].bytes.len }, inner);
			seen[inner[1].number]++;
		}
		msgring_done(l.queue, count, true);
	}
	assert_in_range(seen[TAP_CLIENT_QUERY], 850, 1150);
	assert_in_range(seen[TAP_CLIENT_RESPONSE], 850, 1150);
	conf_free(conf);
	close_lane(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_says_all_that_is_known_and_nothing_else),
		cmocka_unit_test(names_are_left_out_or_cut),
		cmocka_unit_test(the_largest_message_has_room),
		cmocka_unit_test(what_does_not_fit_is_dropped_and_counted),
		cmocka_unit_test(only_who_sleeps_is_woken),
		cmocka_unit_test(two_threads_see_the_same_messages_in_the_same_order),
		cmocka_unit_test(dnstap_samples_queries_and_responses_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
