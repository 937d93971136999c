/* Claims about asking one server: what goes out, what counts as its answer, which way is taken.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/tests/fixture.h"

#include "services/query/budget.h"

static void equal_questions_go_out_once(void **state)
{
	struct upstream_question q;

	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	assert_non_null(ask_plainly());
	assert_int_equal(world.udp.count, 1);
	q = question();
	q.server.port = 5353;
	assert_non_null(ask(&q));
	assert_int_equal(world.udp.count, 2);
	world.udp.count = 1;
	assert_true(answer(&world.udp));
	assert_int_equal(world.told_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(world.told[i].end, UPSTREAM_ANSWERED);
		assert_int_equal(world.told[i].message->count[SECTION_ANSWER], 1);
		assert_true(dname_equals(world.told[i].message->q.name, www));
		assert_true(world.told[i].had_edns);
		assert_false(world.told[i].over_tcp);
	}
	world.udp.count = 2;
	world_end();
}

/* Both are asked, and once more: those that differ in anything that is sent, or in whom it is sent to, go out each. */
static void check_pair(const char *why, const struct upstream_question *a, const struct upstream_question *b, bool same)
{
	unsigned sent;

	world_begin("");
	assert_non_null(ask(a));
	assert_non_null(ask(b));
	assert_non_null(ask(a));
	sent = world.udp.count + world.tcp.count;
	if (sent != (same ? 1 : 2))
		fail_msg("%s: %u go out", why, sent);
	world_end();
}

static void questions_that_differ_go_out_each(void **state)
{
	static const uint8_t upper[] = "\3WWW\7example", other[] = "\3www\7exampla";
	struct netblock wide, narrow, elsewhere, again;
	struct upstream_question q = question(), r;
	char name[] = "a", path[] = "/a";

	(void)state;
	assert_true(netblock_parse(&wide, "192.0.2.0/24", NULL) && netblock_parse(&narrow, "192.0.2.0/25", NULL));
	assert_true(netblock_parse(&elsewhere, "192.0.3.0/24", NULL) && netblock_parse(&again, "192.0.2.0/24", NULL));
#define PAIR(why, what, same) (r = question(), (what), check_pair(why, &q, &r, same))
	PAIR("equal", (void)0, true);
	PAIR("another case", r.q.name = upper, true);
	PAIR("known beforehand of another zone", r.zone = dname_root, true);
	PAIR("another name", r.q.name = other, false);
	PAIR("another type", r.q.type = TYPE_AAAA, false);
	PAIR("another class", r.q.class_ = CLASS_CH, false);
	PAIR("another port", r.server.port = 54, false);
	PAIR("another address", r.server.ip[3] ^= 1, false);
	PAIR("a name for the certificate", r.tls_name = "a", false);
	PAIR("a path", r.http_path = "/a", false);
	PAIR("a subnet", r.subnet = &wide, false);
	q.tls_name = name;
	q.http_path = path;
	q.subnet = &wide;
#define SAME r.tls_name = "a", r.http_path = "/a", r.subnet = &again
	PAIR("equal texts elsewhere", SAME, true);
	PAIR("another certificate", (SAME, r.tls_name = "b"), false);
	PAIR("no certificate", (SAME, r.tls_name = NULL), false);
	PAIR("another path", (SAME, r.http_path = "/b"), false);
	PAIR("no path", (SAME, r.http_path = NULL), false);
	PAIR("a narrower subnet", (SAME, r.subnet = &narrow), false);
	PAIR("another subnet", (SAME, r.subnet = &elsewhere), false);
	PAIR("no subnet", (SAME, r.subnet = NULL), false);
#undef PAIR
#undef SAME
}

static void each_flag_of_a_question_counts(void **state)
{
	(void)state;
	for (unsigned way = TRANSPORT_UDP; way <= TRANSPORT_HTTPS; way++) {
		world_begin("");
		for (unsigned i = 0; i < 64; i++) {
			struct upstream_question q = question();

			q.recurse = i & 1;
			q.checking_disabled = i & 2;
			q.dnssec = i & 4;
			q.caps = i & 8;
			q.insists = i & 16;
			q.transport = i & 32 ? TRANSPORT_TCP : (enum transport_kind)way;
			assert_non_null(ask(&q));
			assert_non_null(ask(&q));
		}
		assert_int_equal(world.udp.count + world.tcp.count, way == TRANSPORT_TCP ? 32 : 64);
		world_end();
	}
}

/* Who has its answer from elsewhere leaves: nobody is told, and what the server does counts all the same. */
static void what_is_left_still_tells_about_the_server(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool answers, comes_back;
		unsigned timeouts, told;
	} rows[] = {
		{ "an answer", true, false, 0, 0 },
		{ "silence, of one try", false, false, 1, 0 },
		{ "somebody asks again", true, true, 0, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q = question();
		struct infra_view view;

		world_begin("");
		upstream_leave(ask_plainly());
		assert_int_equal(world.udp.cancelled, 0);
		if (rows[i].comes_back)
			assert_non_null(ask_plainly());
		assert_int_equal(world.udp.count, 1);
		loop_play(world.loop, 20000);
		if (rows[i].answers)
			assert_true(answer(&world.udp));
		loop_play(world.loop, US_PER_S);
		infra_look(world.env.infra, &q.server, q.zone, world.env.time, &view);
		if (!view.known || view.timeouts_a != rows[i].timeouts || (rows[i].answers && view.ping_ms != 20))
			fail_msg("%s: %u timeouts, ping %u", rows[i].why, view.timeouts_a, view.ping_ms);
		assert_int_equal(world.udp.count, 1);
		assert_int_equal(world.told_count, rows[i].told);
		world_end();
	}
}

static void what_does_not_match_is_not_the_answer(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t len;
		size_t at;
		uint8_t value;
	} rows[] = {
		{ "two bytes", 2, 0, 0x40 },
		{ "another name", 0, 13, 'x' },
		{ "more records than there are", 0, 7, 9 },
		{ "a pointer to itself", 0, 30, 29 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bytes b;

		world_begin("");
		assert_non_null(ask_plainly());
		b = echo_of(&world.udp, FLAG_AA, true, true, 0);
		b.at[rows[i].at] = rows[i].value;
		if (rows[i].len)
			b.len = rows[i].len;
		if (deliver(&world.udp, &b) || world.told_count)
			fail_msg("%s was taken", rows[i].why);
		assert_int_equal(atomic_load(&world.stats.unwanted_replies), 1);
		assert_true(answer(&world.udp));
		assert_int_equal(world.told_count, 1);
		assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);
		assert_int_equal(world.udp.count, 1);
		world_end();
	}
}

/* Over a connection nobody else can answer: what comes there and does not match is the end, and known at once; but for a
 * played world, where it is as good as silence. */
static void what_does_not_match_over_a_connection_is_the_end(void **state)
{
	(void)state;
	for (unsigned played = 0; played < 2; played++) {
		struct upstream_question q = question();
		struct bytes b;

		world_begin_with("", played ? &patient : &hasty);
		q.transport = TRANSPORT_TCP;
		assert_non_null(ask(&q));
		assert_int_equal(world.tcp.count, 1);
		b = echo_of(&world.tcp, FLAG_AA, true, true, 0);
		b.at[13] = 'x'; /* another name */
		assert_true(deliver(&world.tcp, &b));
		assert_int_equal(world.told_count, 1);
		assert_int_equal(world.told[0].end, UPSTREAM_SILENT);
		assert_int_equal(world.told[0].refused, !played);
		assert_int_equal(world.tcp.cancelled, 0);
		world_end();
	}
}

/* Nor is it the answer to what was left: that is still waited for, to know the server by. A cut answer tells as much. */
static void what_is_left_hears_its_own_answer_alone(void **state)
{
	(void)state;
	struct bytes b;

	world_begin("");
	upstream_leave(ask_plainly());
	loop_play(world.loop, 20000);
	b = echo_of(&world.udp, FLAG_AA, true, true, 0);
	b.at[13] = 'x';
	assert_false(deliver(&world.udp, &b));
	assert_false(view().known);
	assert_true(answer(&world.udp));
	assert_int_equal(view().ping_ms, 20);
	world_end();
	world_begin("");
	assert_non_null(ask_plainly());
	loop_play(world.loop, 30000);
	b = echo_of(&world.udp, FLAG_AA | FLAG_TC, false, true, 0);
	assert_true(deliver(&world.udp, &b));
	assert_int_equal(world.udp.cancelled, 0);
	assert_int_equal(world.tcp.count, 1);
	assert_true(view().known);
	assert_int_equal(view().ping_ms, 30);
	assert_int_equal(view().edns, EDNS_UNTRIED);
	loop_play(world.loop, 900000); /* the connection is set up as well, which tells nothing of the way there and back */
	assert_true(answer(&world.tcp));
	assert_int_equal(view().ping_ms, 30);
	assert_int_equal(view().edns, EDNS_WORKS);
	world_end();
}

static void three_wrong_ids_move_a_query_to_tcp(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool over_tcp;
	} rows[] = {
		{ "three strays", "", true },
		{ "where there is no TCP, waiting goes on", "server: outgoing-num-tcp: 0\n",
		  false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transmission *s;

		world_begin(rows[i].conf);
		assert_non_null(ask_plainly());
		s = world.udp.sent[0];
		assert_false(s->strayed(s));
		assert_false(s->strayed(s));
		if (s->strayed(s) != rows[i].over_tcp)
			fail_msg("%s", rows[i].why);
		assert_int_equal(world.tcp.count, rows[i].over_tcp);
		assert_int_equal(world.udp.cancelled, 0); /* it has ended by itself */
		assert_true(answer(rows[i].over_tcp ? &world.tcp : &world.udp));
		assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);
		assert_int_equal(world.told[0].over_tcp, rows[i].over_tcp);
		world_end();
	}
}

static void guesses_are_not_heard_for_ever(void **state)
{
	struct transmission *s;

	(void)state;
	world_begin("server: outgoing-num-tcp: 0\n");
	assert_non_null(ask_plainly());
	s = world.udp.sent[0];
	for (unsigned n = 1; n <= 16; n++)
		assert_int_equal(s->strayed(s), n == 16);
	assert_int_equal(world.told_count, 1);
	assert_int_equal(world.told[0].end, UPSTREAM_SILENT);
	assert_false(world.told[0].refused); /* another port may be tried */
	assert_int_equal(world.udp.cancelled, 0);
	world_end();
}

/* What comes over UDP so that the exchange turns to TCP. */
enum doubt { STRAYS, STRAY_AND_SILENCE, CUT };

static void raise_doubt(enum doubt doubt)
{
	struct transmission *s = world.udp.sent[world.udp.count - 1];
	struct bytes b;

	switch (doubt) {
	case STRAYS:
		assert_false(s->strayed(s));
		assert_false(s->strayed(s));
		assert_true(s->strayed(s));
		break;
	case STRAY_AND_SILENCE:
		assert_false(s->strayed(s));
		loop_play(world.loop, INFRA_RTO_UNKNOWN_MS * US_PER_MS);
		break;
	case CUT:
		b = echo_of(&world.udp, FLAG_TC, false, true, 0);
		assert_true(deliver(&world.udp, &b));
		break;
	}
}

/* How TCP is not to be had. */
enum lack { REFUSED, BROKEN, UNHEARD, GARBAGE };

static void lack_tcp(enum lack lack)
{
	struct transmission *s = world.tcp.sent[world.tcp.count - 1];

	switch (lack) {
	case REFUSED:
		s->failed(s, UPSTREAM_UNREACHABLE);
		break;
	case BROKEN:
		s->failed(s, UPSTREAM_SILENT);
		break;
	case UNHEARD:
		loop_play(world.loop, 3000 * US_PER_MS);
		break;
	case GARBAGE:
		assert_true(s->strayed(s));
		break;
	}
}

static void without_tcp_there_is_a_way_back(void **state)
{
	(void)state;
	for (unsigned doubt = STRAYS; doubt <= CUT; doubt++) {
		for (unsigned lack = REFUSED; lack <= GARBAGE; lack++) {
			struct transmission *s;

			world_begin("");
			assert_non_null(ask_plainly());
			raise_doubt(doubt);
			assert_int_equal(world.tcp.count, 1);
			assert_int_equal(world.told_count, 0);
			lack_tcp(lack);
			if (world.udp.count != 2 || world.told_count)
				fail_msg("doubt %u, lack %u: asked %u times", doubt, lack, world.udp.count);
			/* as many wrong ones as before do not matter now */
			s = world.udp.sent[1];
			for (unsigned n = 0; n < 15; n++)
				assert_false(s->strayed(s));
			assert_true(answer(&world.udp));
			assert_int_equal(world.told_count, 1);
			assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);
			assert_true(world.told[0].over_tcp);
			assert_int_equal(world.told[0].sends, 3);
			assert_int_equal(world.tcp.count, 1);
			world_end();
		}
	}
}

static void the_way_back_is_gone_once(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned strays;
		bool cut;
		enum upstream_end end;
	} rows[] = {
		{ "silence", 0, false, UPSTREAM_SILENT },
		{ "a wrong one, and silence", 1, false, UPSTREAM_SILENT },
		{ "too many wrong ones", 16, false, UPSTREAM_SILENT },
		{ "cut again: that is all there is", 0, true, UPSTREAM_ANSWERED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transmission *s;
		struct bytes b;

		world_begin("");
		assert_non_null(ask_plainly());
		raise_doubt(CUT);
		lack_tcp(REFUSED);
		s = world.udp.sent[1];
		for (unsigned n = 1; n <= rows[i].strays; n++)
			assert_int_equal(s->strayed(s), n == 16);
		if (rows[i].cut) {
			b = echo_of(&world.udp, FLAG_TC, false, true, 0);
			assert_true(deliver(&world.udp, &b));
		}
		loop_play(world.loop, 6000 * US_PER_MS);
		if (world.told_count != 1 || world.told[0].end != rows[i].end)
			fail_msg("%s: %u told", rows[i].why, world.told_count);
		assert_true(world.told[0].over_tcp);
		assert_int_equal(world.udp.count, 2);
		assert_int_equal(world.tcp.count, 1);
		world_end();
	}
}

/* A refusal of EDNS that TCP cannot confirm goes on over UDP without, and ends, whatever comes. */
static void a_refusal_without_tcp_ends(void **state)
{
	struct upstream_question q;
	struct bytes b;

	(void)state;
	world_begin("");
	q = question();
	q.insists = true;
	assert_non_null(ask(&q));
	b = echo_of(&world.udp, RCODE_FORMERR, false, false, 0);
	assert_true(deliver(&world.udp, &b));
	lack_tcp(REFUSED);
	assert_int_equal(world.udp.count, 2);
	assert_int_equal(get_u16(world.udp.sent[1]->wire + 10), 0);
	raise_doubt(STRAYS);
	lack_tcp(BROKEN);
	assert_int_equal(world.udp.count, 3);
	assert_int_equal(get_u16(world.udp.sent[2]->wire + 10), 0);
	b = echo_of(&world.udp, FLAG_AA, true, false, 0);
	assert_true(deliver(&world.udp, &b));
	assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);
	assert_int_equal(world.tcp.count, 2);
	world_end();
}

/* Where TCP is what was asked for, UDP is no way back. */
static void tcp_that_was_wanted_is_not_replaced(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		enum transport_kind transport;
	} rows[] = {
		{ "a zone over TCP", "", TRANSPORT_TCP },
		{ "TLS", "", TRANSPORT_TLS },
		{ "tcp-upstream", "server: tcp-upstream: yes\n", TRANSPORT_UDP },
		{ "no UDP", "server: do-udp: no\n", TRANSPORT_UDP },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q;

		world_begin(rows[i].conf);
		q = question();
		q.transport = rows[i].transport;
		assert_non_null(ask(&q));
		lack_tcp(BROKEN);
		if (world.udp.count || world.told_count != 1)
			fail_msg("%s: %u over UDP", rows[i].why, world.udp.count);
		assert_int_equal(world.told[0].end, UPSTREAM_SILENT);
		world_end();
	}
}

static void a_cut_answer_is_asked_for_over_tcp(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool over_tcp;
	} rows[] = {
		{ "TC", "", true },
		{ "without TCP it is all there is", "server: do-tcp: no\n", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bytes b;

		world_begin(rows[i].conf);
		assert_non_null(ask_plainly());
		b = echo_of(&world.udp, FLAG_TC, false, true, 0);
		assert_true(deliver(&world.udp, &b));
		assert_int_equal(world.told_count, !rows[i].over_tcp);
		if (rows[i].over_tcp) {
			/* over TCP, TC means nothing any more */
			b = echo_of(&world.tcp, FLAG_TC, true, true, 0);
			assert_true(deliver(&world.tcp, &b));
		}
		assert_int_equal(world.told_count, 1);
		assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);
		if (world.told[0].over_tcp != rows[i].over_tcp)
			fail_msg("%s", rows[i].why);
		assert_int_equal(atomic_load(&world.stats.tcp_out), rows[i].over_tcp);
		world_end();
	}
}

static void edns_is_left_out_where_it_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t rcode;
		bool opt;
		uint8_t ext;
		bool again;
		uint16_t second; /* rcode of the answer without */
		enum edns_known known;
	} rows[] = {
		{ "FORMERR", RCODE_FORMERR, false, 0, true, RCODE_NOERROR, EDNS_FAILS },
		{ "NOTIMP", RCODE_NOTIMP, false, 0, true, RCODE_NXDOMAIN, EDNS_FAILS },
		{ "BADVERS", 0, true, 1, true, RCODE_NOERROR, EDNS_FAILS },
		{ "a refusal that is no better without", RCODE_FORMERR, false, 0, true,
		  RCODE_FORMERR, EDNS_UNTRIED },
		{ "FORMERR with our OPT sent back", RCODE_FORMERR, true, 0, true, RCODE_NOERROR,
		  EDNS_FAILS },
		{ "SERVFAIL is no refusal", RCODE_SERVFAIL, false, 0, false, 0, EDNS_UNTRIED },
		{ "an answer without OPT is an answer", RCODE_NOERROR, false, 0, false, 0,
		  EDNS_WORKS },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bytes b;

		world_begin("");
		assert_non_null(ask_plainly());
		b = echo_of(&world.udp, rows[i].rcode, false, rows[i].opt, rows[i].ext);
		assert_true(deliver(&world.udp, &b));
		if (world.udp.count != 1u + rows[i].again)
			fail_msg("%s: asked %u times", rows[i].why, world.udp.count);
		if (rows[i].again) {
			assert_int_equal(get_u16(world.udp.sent[1]->wire + 10), 0);
			b = echo_of(&world.udp, rows[i].second, false, false, 0);
			assert_true(deliver(&world.udp, &b));
		}
		assert_int_equal(world.told_count, 1);
		assert_int_equal(world.told[0].had_edns, !rows[i].again);
		if (view().edns != rows[i].known)
			fail_msg("%s: known as %u", rows[i].why, view().edns);
		world_end();
	}
}

/* What TCP says of EDNS after a cut answer is remembered, if it says anything. */
static void edns_is_learnt_over_tcp_too(void **state)
{
	static const struct {
		uint16_t rcode;
		enum edns_known before, after;
	} rows[] = {
		{ RCODE_NOERROR, EDNS_UNTRIED, EDNS_WORKS },
		{ RCODE_SERVFAIL, EDNS_UNTRIED, EDNS_UNTRIED },
		{ RCODE_SERVFAIL, EDNS_WORKS, EDNS_WORKS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q;
		struct bytes b;

		world_begin("");
		q = question();
		infra_set_edns(world.env.infra, &q.server, zone, rows[i].before, world.env.time);
		assert_non_null(ask(&q));
		raise_doubt(CUT);
		b = echo_of(&world.tcp, rows[i].rcode, false, true, 0);
		assert_true(deliver(&world.tcp, &b));
		assert_int_equal(world.told_count, 1);
		if (view().edns != rows[i].after)
			fail_msg("row %zu: known as %u", i, view().edns);
		world_end();
	}
}

static void who_wants_signatures_hears_a_refusal_over_tcp(void **state)
{
	(void)state;
	for (unsigned known = EDNS_UNTRIED; known <= EDNS_FAILS; known++) {
		struct upstream_question q;
		struct bytes b;

		world_begin("");
		q = question();
		q.insists = true;
		infra_set_edns(world.env.infra, &q.server, zone, known, world.env.time);
		assert_non_null(ask(&q));
		assert_int_equal(get_u16(world.udp.sent[0]->wire + 10), 1);
		b = echo_of(&world.udp, RCODE_FORMERR, false, false, 0);
		assert_true(deliver(&world.udp, &b));
		assert_int_equal(world.tcp.count, 1);
		assert_int_equal(get_u16(world.tcp.sent[0]->wire + 10), 1);
		assert_true(answer(&world.tcp));
		assert_true(world.told[0].had_edns);
		world_end();
	}
}

static void a_bare_refusal_counts_as_one(void **state)
{
	struct bytes b;

	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	b = echo_of(&world.udp, RCODE_FORMERR, false, false, 0);
	b.at[5] = 0;
	b.len = MSG_HEAD_LEN;
	assert_true(deliver(&world.udp, &b));
	assert_int_equal(world.udp.count, 2);
	b = echo_of(&world.udp, RCODE_FORMERR, false, false, 0);
	b.at[5] = 0;
	b.len = MSG_HEAD_LEN;
	assert_true(deliver(&world.udp, &b));
	assert_int_equal(world.told_count, 1);
	assert_true(dname_equals(world.told[0].message->q.name, www));
	world_end();
}

static void what_is_known_of_edns_is_used(void **state)
{
	struct upstream_question q;

	(void)state;
	world_begin("");
	q = question();
	infra_set_edns(world.env.infra, &q.server, zone, EDNS_FAILS, world.env.time);
	assert_non_null(ask_plainly());
	assert_int_equal(get_u16(world.udp.sent[0]->wire + 10), 0);
	world_end();
}

static void the_configuration_may_rule_out_a_way(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		enum transport_kind transport;
		unsigned udps, tcps;
	} rows[] = {
		{ "UDP is the usual way", "", TRANSPORT_UDP, 1, 0 },
		{ "asked for TCP", "", TRANSPORT_TCP, 0, 1 },
		{ "tcp-upstream", "server: tcp-upstream: yes\n", TRANSPORT_UDP, 0, 1 },
		{ "no UDP", "server: do-udp: no\n", TRANSPORT_UDP, 0, 1 },
		{ "no UDP for clients only",
		  "server: do-udp: no\n udp-upstream-without-downstream: yes\n", TRANSPORT_UDP, 1,
		  0 },
		{ "no way at all", "server: do-udp: no\n do-tcp: no\n", TRANSPORT_UDP, 0, 0 },
		{ "no TCP where it must be", "server: do-tcp: no\n", TRANSPORT_TCP, 0, 0 },
		{ "never in the open what is to be private", "", TRANSPORT_TLS, 0, 1 },
		{ "tls-upstream", "server: tls-upstream: yes\n", TRANSPORT_UDP, 0, 1 },
		{ "nor when there is no way", "server: do-tcp: no\n", TRANSPORT_TLS, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q;

		world_begin(rows[i].conf);
		q = question();
		q.transport = rows[i].transport;
		assert_non_null(ask(&q));
		if (world.udp.count != rows[i].udps || world.tcp.count != rows[i].tcps)
			fail_msg("%s: %u, %u", rows[i].why, world.udp.count, world.tcp.count);
		for (unsigned n = 0; n < world.tcp.count; n++)
			assert_int_equal(world.tcp.sent[n]->transport,
					 rows[i].transport == TRANSPORT_TLS ||
							 strstr(rows[i].conf, "tls-upstream")
						 ? TRANSPORT_TLS
						 : TRANSPORT_TCP);
		assert_int_equal(world.told_count, 0);
		loop_play(world.loop, 0);
		assert_int_equal(world.told_count, !rows[i].udps && !rows[i].tcps);
		if (world.told_count)
			assert_int_equal(world.told[0].end, UPSTREAM_UNREACHABLE);
		world_end();
	}
}

/* The first to ask pays, and an answer over a connection makes up for those so far. */
static void connections_are_paid_for_by_who_asks(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum transport_kind transport;
		bool answers, pays;
	} rows[] = {
		{ "an answer over TCP", TRANSPORT_TCP, true, false },
		{ "none over TCP", TRANSPORT_TCP, false, true },
		{ "an answer over UDP says nothing of TCP", TRANSPORT_UDP, true, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct budget b = { .refs = 1 };
		struct upstream_question q;
		struct fake *f = rows[i].transport == TRANSPORT_UDP ? &world.udp : &world.tcp;

		world_begin("");
		q = question();
		q.transport = rows[i].transport;
		q.budget = &b;
		budget_connects(&b, addr_hash(&q.server));
		budget_connects(&b, addr_hash(&q.server));
		assert_non_null(ask(&q));
		assert_int_equal(b.refs, 2);
		assert_ptr_equal(f->sent[0]->budget, &b);
		if (rows[i].answers)
			assert_true(answer(f));
		else
			f->sent[0]->failed(f->sent[0], UPSTREAM_SILENT);
		assert_int_equal(world.told_count, 1);
		if (budget_may_connect(&b, addr_hash(&q.server)) == rows[i].pays)
			fail_msg("%s", rows[i].why);
		assert_int_equal(b.refs, 1);
		/* one that is cancelled holds it no longer */
		upstream_cancel(ask(&q));
		assert_int_equal(b.refs, 1);
		world_end();
	}
}

static void the_spelling_must_come_back(void **state)
{
	struct upstream_question q;
	uint8_t first[sizeof(www)];
	struct bytes b;

	(void)state;
	world_begin("");
	q = question();
	q.caps = true;
	assert_non_null(ask(&q));
	memcpy(first, world.udp.sent[0]->wire + MSG_HEAD_LEN, sizeof(first));
	assert_true(dname_equals(first, www));
	assert_true(memcmp(first, www, sizeof(www)) != 0);
	loop_play(world.loop, INFRA_RTO_UNKNOWN_MS * US_PER_MS);
	assert_true(memcmp(first, world.udp.sent[1]->wire + MSG_HEAD_LEN, sizeof(first)) != 0);
	assert_true(answer(&world.udp));
	assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);

	assert_non_null(ask(&q));
	b = echo_of(&world.udp, 0, true, true, 0);
	dname_lower(b.at + MSG_HEAD_LEN);
	assert_true(deliver(&world.udp, &b));
	assert_int_equal(world.told_count, 2);
	assert_int_equal(world.told[1].end, UPSTREAM_MANGLED);

	/* where it was not random, any case will do */
	q.caps = false;
	assert_non_null(ask(&q));
	b = echo_of(&world.udp, 0, true, true, 0);
	b.at[MSG_HEAD_LEN + 1] = 'W';
	assert_true(deliver(&world.udp, &b));
	assert_int_equal(world.told[2].end, UPSTREAM_ANSWERED);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_questions_go_out_once),
		cmocka_unit_test(questions_that_differ_go_out_each),
		cmocka_unit_test(each_flag_of_a_question_counts),
		cmocka_unit_test(what_is_left_still_tells_about_the_server),
		cmocka_unit_test(what_does_not_match_is_not_the_answer),
		cmocka_unit_test(what_does_not_match_over_a_connection_is_the_end),
		cmocka_unit_test(what_is_left_hears_its_own_answer_alone),
		cmocka_unit_test(three_wrong_ids_move_a_query_to_tcp),
		cmocka_unit_test(guesses_are_not_heard_for_ever),
		cmocka_unit_test(without_tcp_there_is_a_way_back),
		cmocka_unit_test(the_way_back_is_gone_once),
		cmocka_unit_test(a_refusal_without_tcp_ends),
		cmocka_unit_test(tcp_that_was_wanted_is_not_replaced),
		cmocka_unit_test(a_cut_answer_is_asked_for_over_tcp),
		cmocka_unit_test(edns_is_left_out_where_it_is_refused),
		cmocka_unit_test(edns_is_learnt_over_tcp_too),
		cmocka_unit_test(who_wants_signatures_hears_a_refusal_over_tcp),
		cmocka_unit_test(a_bare_refusal_counts_as_one),
		cmocka_unit_test(what_is_known_of_edns_is_used),
		cmocka_unit_test(the_configuration_may_rule_out_a_way),
		cmocka_unit_test(connections_are_paid_for_by_who_asks),
		cmocka_unit_test(the_spelling_must_come_back),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
