/* Claims about responses that are of no use, and about what is kept of the others.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/response_fixture.h"

#include "services/authzone/zones.h"
#include "util/base/log.h"

#define A   "www.example. 60 A 192.0.2.7"
#define SOA "example. 60 SOA a. b. 1 2 3 4 5"

/* ---- who is asked next ---- */

static void a_silent_server_is_passed_over(void **state)
{
	static const struct {
		const char *why, *conf;
		enum upstream_end end;
		bool refused, over_tcp;
		enum transport_kind transport;
		uint8_t tries;
		bool spent, hides; /* afterwards */
		enum reason reason;
	} rows[] = {
		{ "no answer", "", UPSTREAM_SILENT, false, false, TRANSPORT_UDP, 1, false, true, REASON_no_reachable },
		{ "garbage", "", UPSTREAM_SILENT, true, false, TRANSPORT_UDP, 1, true, false, REASON_no_reachable },
		{ "garbage, and the name stays hidden", "server: qname-minimisation-strict: yes\n", UPSTREAM_SILENT,
		  true, false, TRANSPORT_UDP, 1, true, true, REASON_no_reachable },
		{ "not reached", "", UPSTREAM_UNREACHABLE, false, false, TRANSPORT_UDP, 1, true, true,
		  REASON_no_reachable },
		{ "not reached, at once", "", UPSTREAM_UNREACHABLE, true, false, TRANSPORT_UDP, 1, true, true,
		  REASON_no_reachable },
		{ "somebody else", "", UPSTREAM_UNTRUSTED, false, true, TRANSPORT_TLS, 1, true, true, REASON_untrusted },
		{ "cut, and then nothing", "", UPSTREAM_SILENT, false, true, TRANSPORT_UDP, 2, true, true,
		  REASON_no_reachable },
		{ "cut, and then nothing, but once", "", UPSTREAM_SILENT, false, true, TRANSPORT_UDP, 1, false, true,
		  REASON_no_reachable },
		{ "nothing, twice", "", UPSTREAM_SILENT, false, false, TRANSPORT_UDP, 2, false, true,
		  REASON_no_reachable },
		{ "nothing over TCP from the beginning", "", UPSTREAM_SILENT, false, true, TRANSPORT_TCP, 2, false, true,
		  REASON_no_reachable },
		{ "which all servers are asked over", "server: tcp-upstream: yes\n", UPSTREAM_SILENT, false, true,
		  TRANSPORT_UDP, 2, false, true, REASON_no_reachable },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;

		at_example(rows[i].conf, "www.example.", TYPE_TXT, 0);
		show("www.example.", TYPE_A);
		it->at->transport = rows[i].transport;
		it->target->tries = rows[i].tries;
		heard = (struct upstream_reply){ .refused = rows[i].refused, .over_tcp = rows[i].over_tcp };
		assert_int_equal(hear_nothing(rows[i].end), ITER_ON);
		if (it->state != ITER_choose || !it->question_due || !it->target->silent ||
		    it->target->spent != rows[i].spent || it->qmin.on != rows[i].hides ||
		    it->reason != rows[i].reason || it->qmin.timeouts != 1)
			fail_msg("%s: spent %u, hidden %u, reason %u", rows[i].why, it->target->spent, it->qmin.on,
				 it->reason);
		assert_null(it->reply);
		fixture_end();
	}
}

/* What a server did is a better reason than that another did nothing. */
static void silence_is_the_reason_if_there_is_no_better(void **state)
{
	static const struct {
		const char *why;
		enum reason before;
		enum upstream_end end;
		bool is_down;
		enum reason want;
	} rows[] = {
		{ "nothing else", REASON_none, UPSTREAM_SILENT, false, REASON_no_reachable },
		{ "something else", REASON_lame, UPSTREAM_SILENT, false, REASON_lame },
		{ "somebody else", REASON_lame, UPSTREAM_UNTRUSTED, false, REASON_untrusted },
		{ "the network is down", REASON_lame, UPSTREAM_UNREACHABLE, true, REASON_network_error },
		{ "which is why nobody shows who it is", REASON_none, UPSTREAM_UNTRUSTED, true, REASON_network_error },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		at_example("", "www.example.", TYPE_A, 0);
		fixture.it.reason = rows[i].before;
		for (unsigned n = 0; rows[i].is_down && n < 20; n++) {
			infra_unsendable(fixture.env.infra, fixture.env.time);
			loop_play(fixture.loop, 100000);
		}
		assert_int_equal(infra_network_is_down(fixture.env.infra, fixture.env.time), rows[i].is_down);
		hear_nothing(rows[i].end);
		if (fixture.it.reason != rows[i].want)
			fail_msg("%s: %u", rows[i].why, fixture.it.reason);
		assert_true(!!fixture.it.reason_text == (rows[i].before != rows[i].want));
		fixture_end();
	}
}

static void a_useless_response_is_passed_over(void **state)
{
	static const struct {
		const char *why, *conf;
		uint16_t flags;
		uint8_t rcode;
		bool faltered, hides;
	} rows[] = {
		{ "SERVFAIL", "", 0, RCODE_SERVFAIL, true, false },
		{ "REFUSED", "", 0, RCODE_REFUSED, false, false },
		{ "cut over TCP, too", "", FLAG_TC | FLAG_AA, RCODE_NOERROR, false, false },
		{ "SERVFAIL, and the name stays hidden", "server: qname-minimisation-strict: yes\n", 0, RCODE_SERVFAIL,
		  true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		int wasted_sends;

		at_example(rows[i].conf, "www.example.", TYPE_TXT, 0);
		show("www.example.", TYPE_A);
		wasted_sends = fixture.q->budget->wasted_sends;
		it->reply_took = 1 + (unsigned)i; /* all of its packets were to no avail */
		hear(rows[i].flags, rows[i].rcode, rows[i].rcode ? NULL : A, NULL, NULL);
		if (it->state != ITER_choose || !it->question_due || !it->target->spent ||
		    it->target->faltered != rows[i].faltered || it->qmin.on != rows[i].hides)
			fail_msg("%s", rows[i].why);
		assert_int_equal(it->reason, REASON_no_reachable);
		assert_int_equal(fixture.q->budget->wasted_sends, wasted_sends - 1 - (int)i);
		assert_int_equal(cached("www.example.", TYPE_A, 0), 0);
		fixture_end();
	}
}

static void a_lame_server_is_known_as_such(void **state)
{
	static const struct {
		const char *why;
		uint16_t type, flags;
		const char *answer, *authority;
		uint8_t lame;
	} rows[] = {
		{ "upwards, for an address", TYPE_A, 0, NULL, ". 60 NS r.", LAME_ADDRESSES },
		{ "upwards, for something else", TYPE_AAAA, 0, NULL, ". 60 NS r.", LAME_OTHER },
		{ "it only recurses", TYPE_A, FLAG_RA, A, NULL, LAME_RECURSIVE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct infra_view view;
		struct iter *it = &fixture.it;
		int wasted_sends;

		at_example("", "www.example.", rows[i].type, 0);
		it->qmin.on = true;
		wasted_sends = fixture.q->budget->wasted_sends;
		it->reply_took = 1 + (unsigned)i; /* all of its packets were to no avail */
		hear(rows[i].flags, 0, rows[i].answer, rows[i].authority, NULL);
		infra_look(fixture.env.infra, &it->target->addr, N("example."), fixture.env.time, &view);
		if (view.lame != rows[i].lame || it->state != ITER_choose || !it->question_due || it->qmin.on)
			fail_msg("%s: %u", rows[i].why, view.lame);
		assert_int_equal(it->reason, REASON_lame);
		assert_int_equal(fixture.q->budget->wasted_sends, wasted_sends - 1 - (int)i);
		assert_false(it->target->spent);
		fixture_end();
	}
}

/* Asked to recurse, it may. */
static void a_forwarder_may_answer_without_aa(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		at_example("", "www.example.", TYPE_A, 0);
		fixture.it.at->forward = i == 1;
		fixture.it.tier = i == 2 ? TIER_RECURSOR : TIER_GOOD;
		hear(FLAG_RA, 0, A, NULL, NULL);
		assert_int_equal(fixture.it.state, i ? ITER_finish : ITER_choose);
		fixture_end();
	}
}

static void an_empty_response_is_used_if_no_server_says_more(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	hear(FLAG_AA, 0, NULL, NULL, NULL);
	assert_int_equal(it->state, ITER_choose);
	assert_true(it->question_due && it->target->spent);
	assert_ptr_equal(it->empty, heard.message);
	assert_null(it->answer);
	it->state = ITER_response;
	assert_int_equal(response_read(it), ITER_ON); /* there is nobody else */
	assert_int_equal(it->state, ITER_finish);
	assert_ptr_equal(it->answer, it->empty);
	fixture_end();

	at_example("", "www.example.", TYPE_A, 0);
	it->at->forward = true;
	hear(FLAG_RA, 0, NULL, NULL, NULL);
	assert_int_equal(it->state, ITER_finish);
	assert_ptr_equal(it->answer, heard.message);
	fixture_end();
}

static void a_spoilt_spelling_makes_several_be_compared(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	it->at->targets[1].spent = true;
	hear_nothing(UPSTREAM_MANGLED);
	assert_int_equal(it->state, ITER_choose);
	assert_true(it->caps.on);
	assert_int_equal(it->target->tries, 0);
	assert_false(it->at->targets[1].spent);
	it->state = ITER_response;
	hear(FLAG_AA, 0, A, NULL, NULL);
	assert_int_equal(it->state, ITER_choose);
	assert_null(it->answer);
	it->state = ITER_response;
	hear(FLAG_AA, 0, A, NULL, NULL);
	assert_int_equal(it->state, ITER_choose);
	assert_int_equal(it->caps.agreed, 2);

	it->state = ITER_response; /* that is enough */
	assert_int_equal(response_read(it), ITER_ON);
	assert_int_equal(it->state, ITER_finish);
	assert_false(it->caps.on);
	assert_non_null(it->answer);
	fixture_end();

	at_example("", "www.example.", TYPE_A, 0);
	hear_nothing(UPSTREAM_MANGLED);
	hear(FLAG_AA, 0, A, NULL, NULL);
	hear(FLAG_AA, 0, "www.example. 60 A 192.0.2.8", NULL, NULL);
	assert_int_equal(it->state, ITER_fail);
	assert_int_equal(it->reason, REASON_forged);
	assert_null(it->answer);
	fixture_end();
}

/* ---- signatures left out ---- */

#define SIG "www.example. 60 RRSIG A 8 2 60 20300101000000 20200101000000 1 example. AA=="
#define SOASIG "example. 60 RRSIG SOA 8 1 60 20300101000000 20200101000000 1 example. AA=="

static void who_leaves_out_signatures_is_passed_over(void **state)
{
	static const struct {
		const char *why, *conf;
		bool wanted, expected, forward;
		enum tier tier;
		unsigned sent;
		uint8_t rcode;
		const char *answer, *authority, *additional;
		bool passed;
	} rows[] = {
		{ "left out", "", true, true, false, TIER_GOOD, 0, 0, A, NULL, NULL, true },
		{ "there", "", true, true, false, TIER_GOOD, 0, 0, A "\n" SIG, NULL, NULL, false },
		{ "in a denial", "", true, true, false, TIER_GOOD, 0, 3, NULL, SOA "\n" SOASIG, NULL, false },
		{ "left out of a denial", "", true, true, false, TIER_GOOD, 0, 3, NULL, SOA, NULL, true },
		{ "only beside the answer", "server: iter-scrub-promiscuous: no\n", true, true, false, TIER_GOOD, 0,
		  0, A, "example. 60 NS ns.example.",
		  "ns.example. 60 A 192.0.2.9\nns.example. 60 RRSIG A 8 2 60 20300101000000 20200101000000 1 example. AA==",
		  true },
		{ "not wanted", "", false, true, false, TIER_GOOD, 0, 0, A, NULL, NULL, false },
		{ "not to be expected", "", true, false, false, TIER_GOOD, 0, 0, A, NULL, NULL, false },
		{ "not minded", "server: disable-dnssec-lame-check: yes\n", true, true, false, TIER_GOOD, 0, 0, A,
		  NULL, NULL, false },
		{ "by a forwarder", "", true, true, true, TIER_GOOD, 0, 0, A, NULL, NULL, false },
		{ "by the parent's servers", "", true, true, false, TIER_PARENT, 0, 0, A, NULL, NULL, true },
		{ "by all others", "", true, true, false, TIER_NO_DNSSEC, 0, 0, A, NULL, NULL, false },
		{ "thrice", "", true, true, false, TIER_GOOD, 3, 0, A, NULL, NULL, true },
		{ "too often", "", true, true, false, TIER_GOOD, 4, 0, A, NULL, NULL, false },
		{ "of a failure", "", true, true, false, TIER_GOOD, 0, RCODE_REFUSED, NULL, NULL, NULL, false },
		{ "of nothing", "", true, true, false, TIER_GOOD, 0, 0, NULL, NULL, NULL, false },
		{ "of a referral", "", true, true, false, TIER_GOOD, 0, 0, NULL,
		  "www.example. 60 NS ns.www.example.", "ns.www.example. 60 A 192.0.2.9", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;

		at_example(rows[i].conf, "www.example.", TYPE_A, 0);
		fixture.q->want_signatures = rows[i].wanted;
		it->at->expects_dnssec = rows[i].expected;
		it->at->forward = rows[i].forward;
		it->tier = rows[i].tier;
		it->sent = rows[i].sent;
		hear(rows[i].forward ? FLAG_RA : FLAG_AA, rows[i].rcode, rows[i].answer, rows[i].authority,
		     rows[i].additional);
		if (it->at->targets[0].no_dnssec != rows[i].passed)
			fail_msg("%s", rows[i].why);
		if (rows[i].passed) {
			assert_int_equal(it->state, ITER_choose);
			assert_true(it->question_due && !it->answer && !it->target->spent);
		}
		fixture_end();
	}
}

/* A signature may be all that was asked for. */
static void signatures_are_no_less_for_being_asked_for(void **state)
{
	(void)state;
	at_example("", "www.example.", TYPE_RRSIG, 0);
	fixture.q->want_signatures = fixture.it.at->expects_dnssec = true;
	hear(FLAG_AA, 0, SIG, NULL, NULL);
	assert_int_equal(fixture.it.state, ITER_finish);
	assert_false(fixture.it.target->no_dnssec);
	fixture_end();
}

static bool has_anchor;

static const uint8_t *trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	(void)q;
	(void)type;
	return has_anchor && dname_is_under(name, N("example.")) ? dname_root : NULL;
}

#define KEY "example. 60 DNSKEY 257 3 8 AA=="
#define KEYSIG "example. 60 RRSIG DNSKEY 8 1 60 20300101000000 20200101000000 1 example. AA=="

static void a_forwarder_that_leaves_out_signatures_is_passed_over(void **state)
{
	static const struct {
		const char *why, *conf;
		uint16_t type;
		bool forward;
		unsigned depth;
		bool anchored, validates;
		enum tier tier;
		unsigned sent;
		uint8_t rcode;
		const char *answer;
		bool noted, passed;
	} rows[] = {
		{ "left out of keys", "", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD, 0, 0, KEY, true, true },
		{ "of a DS", "", TYPE_DS, true, 1, true, true, TIER_GOOD, 0, 3, NULL, true, true },
		{ "there", "", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD, 0, 0, KEY "\n" KEYSIG, false, false },
		{ "of something else", "", TYPE_SOA, true, 1, true, true, TIER_GOOD, 0, 0, SOA, false, false },
		{ "by servers", "", TYPE_DNSKEY, false, 1, true, true, TIER_GOOD, 0, 0, KEY, false, false },
		{ "a client asks", "", TYPE_DNSKEY, true, 0, true, true, TIER_GOOD, 0, 0, KEY, false, false },
		{ "without an anchor", "", TYPE_DNSKEY, true, 1, false, true, TIER_GOOD, 0, 0, KEY, false, false },
		{ "nobody validates", "", TYPE_DNSKEY, true, 1, true, false, TIER_GOOD, 0, 0, KEY, false, false },
		{ "not minded", "server: disable-dnssec-lame-check: yes\n", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD,
		  0, 0, KEY, false, false },
		{ "of a failure", "", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD, 0, RCODE_REFUSED, NULL, false, false },
		{ "of nothing", "", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD, 0, 0, "", false, false },
		{ "by all of them", "", TYPE_DNSKEY, true, 1, true, true, TIER_NO_DNSSEC, 0, 0, KEY, true, false },
		{ "thrice", "", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD, 3, 0, KEY, true, true },
		{ "too often", "", TYPE_DNSKEY, true, 1, true, true, TIER_GOOD, 4, 0, KEY, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		struct infra_view view;

		at_example(rows[i].conf, "example.", rows[i].type, 0);
		fixture.q->depth = rows[i].depth;
		fixture.env.trust_point = rows[i].validates ? trust_point : NULL;
		has_anchor = rows[i].anchored;
		it->at->forward = rows[i].forward;
		it->tier = rows[i].tier;
		it->sent = rows[i].sent;
		hear(FLAG_AA | FLAG_RA, rows[i].rcode, rows[i].answer, rows[i].answer ? NULL : SOA, NULL);
		infra_look(fixture.env.infra, &it->target->addr, N("example."), fixture.env.time, &view);
		if (it->at->targets[0].no_dnssec != rows[i].noted ||
		    view.lame != (rows[i].noted ? LAME_DNSSEC : 0))
			fail_msg("%s: not noted", rows[i].why);
		if ((it->state == ITER_choose && !it->target->spent) != rows[i].passed)
			fail_msg("%s: state %u", rows[i].why, it->state);
		fixture.q->depth = 0;
		fixture_end();
	}
}

static void count_warnings(const char *line, void *count)
{
	*(unsigned *)count += strstr(line, "strips DNSSEC records") != NULL;
}

/* Each answer of such a forwarder would write a line to the log otherwise. */
static void the_operator_is_warned_once_of_a_forwarder_that_leaves_out_signatures(void **state)
{
	unsigned warnings = 0;

	(void)state;
	at_example("", "example.", TYPE_DNSKEY, 0);
	fixture.q->depth = 1;
	fixture.env.trust_point = trust_point;
	has_anchor = true;
	fixture.it.at->forward = true;
	log_capture(count_warnings, &warnings);
	for (unsigned times = 0; times < 3; times++) {
		hear(FLAG_AA | FLAG_RA, 0, KEY, NULL, NULL);
		assert_int_equal(warnings, 1);
	}
	log_capture(NULL, NULL);
	fixture.q->depth = 0;
	fixture_end();
}

/* ---- what is kept ---- */

static void sets_are_cached_where_they_are_for_everybody(void **state)
{
	static const struct {
		const char *why;
		unsigned depth;
		bool no_store, secret, partial, on_the_way, want;
	} rows[] = {
		{ "for another query", 1, false, false, false, false, true },
		{ "what a client asked for is in the message cache", 0, false, false, false, false, false },
		{ "not to be stored", 1, true, false, false, false, false },
		{ "for who has opted out", 1, false, true, false, false, false },
		{ "on the way, for everybody", 1, false, false, true, false, true },
		{ "on the way to where a subnet is told", 1, false, false, true, true, false },
		{ "at its end", 1, false, false, false, true, true },
		{ "on the way, for who has opted out", 1, false, true, true, false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		at_example("", "www.example.", TYPE_A, 0);
		fixture.q->depth = rows[i].depth;
		fixture.q->no_store = rows[i].no_store;
		fixture.q->ecs.sent = rows[i].secret ? ECS_OPTED_OUT : ECS_UNSENT;
		fixture.it.on_the_way = rows[i].on_the_way;
		fixture.it.qmin.on = rows[i].partial;
		hear(FLAG_AA, 0, A, NULL, NULL);
		assert_int_equal(fixture.it.state, rows[i].partial ? ITER_choose : ITER_finish);
		if ((cached("www.example.", TYPE_A, 0) != 0) != rows[i].want)
			fail_msg("%s", rows[i].why);
		fixture.q->depth = 0;
		fixture_end();
	}
}

/* RFC 7871 7.3.1: what a server says to one client subnet is not for the others. */
static void what_is_said_to_one_subnet_is_not_cached_for_others(void **state)
{
	(void)state;
	for (unsigned echoed = 0; echoed < 2; echoed++) {
		struct made made = { "www.example.", TYPE_A, 0, { A } };
		struct netblock told;
		struct fault f;

		assert_true(netblock_parse(&told, "10.1.2.0/24", &f));
		at_example("", "www.example.", TYPE_A, 0);
		fixture.q->depth = 1;
		fixture.it.sent_subnet = &told;
		heard = (struct upstream_reply){ .end = UPSTREAM_ANSWERED, .server = fixture.it.target->addr, .had_edns = echoed,
						 .message = made_message(fixture.arena, fixture.now_s, &made) };
		heard.message->q = fixture.it.shown;
		heard.message->flags = FLAG_QR | FLAG_AA;
		if (echoed)
			heard.message->edns = (struct edns){ .present = true,
							     .options = SLICE("\0\10\0\7\0\1\30\30\12\1\2") };
		fixture.it.reply = &heard;
		response_read(&fixture.it);
		assert_int_equal(fixture.it.state, ITER_finish);
		assert_int_equal(cached("www.example.", TYPE_A, 0) != 0, !echoed);
		fixture.q->depth = 0;
		fixture_end();
	}
}

/* Whatever is cached and better stands in the answer instead. */
static void what_is_cached_may_be_better(void **state)
{
	static const struct {
		const char *why;
		uint32_t known_s, offered_s, leeway_s, want_s;
	} rows[] = {
		{ "it is", 30, 200, 0, 30 },
		{ "it expires within the leeway, which the new one does not", 30, 200, 100, 200 },
		{ "so does the new one", 30, 100, 100, 30 },
		{ "which lives a second longer than that", 30, 101, 100, 101 },
		{ "at the end of the leeway", 100, 200, 100, 200 },
		{ "beyond it", 101, 200, 100, 101 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];

		at_example("", "www.example.", TYPE_A, 0);
		fixture.q->depth = 1;
		fixture.it.leeway_s = rows[i].leeway_s;
		snprintf(text, sizeof(text), "www.example. %u A 192.0.2.99", rows[i].known_s);
		fixture_knows(text, 0);
		snprintf(text, sizeof(text), "www.example. %u A 192.0.2.7", rows[i].offered_s);
		hear(0, 0, text, NULL, NULL); /* without AA it is worth less */
		if (fixture.it.answer->sets[0]->expires_s - fixture.now_s != rows[i].want_s)
			fail_msg("%s: %u", rows[i].why, fixture.it.answer->sets[0]->expires_s - fixture.now_s);
		fixture.q->depth = 0;
		fixture_end();
	}
	at_example("", "www.example.", TYPE_TXT, 0); /* only an answer is refreshed, not what is on the way to it */
	fixture.it.leeway_s = 100;
	show("www.example.", TYPE_A);
	fixture_knows("www.example. 30 A 192.0.2.99", 0);
	hear(0, 0, "www.example. 200 A 192.0.2.7", NULL, NULL);
	assert_int_equal(cached("www.example.", TYPE_A, 0), 30);
	fixture_end();
}

/* Without the DNAME nothing would prove it. */
static void an_alias_made_from_a_dname_is_not_kept(void **state)
{
	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	fixture.it.at->forward = true;
	hear(FLAG_RA, 0,
	     "www.example. 60 CNAME a.d.example.\nd.example. 60 DNAME e.example.\na.d.example. 60 CNAME a.e.example.\n"
	     "a.e.example. 60 CNAME d.example.\nd.example. 60 A 192.0.2.7",
	     NULL, NULL);
	assert_int_equal(cached("www.example.", TYPE_CNAME, 0), 60);
	assert_int_equal(cached("d.example.", TYPE_DNAME, 0), 60);
	assert_int_equal(cached("a.d.example.", TYPE_CNAME, 0), 0);
	assert_int_equal(cached("a.e.example.", TYPE_CNAME, 0), 60);
	fixture_end();
	at_example("", "x.d.example.", TYPE_TXT, 0); /* nor is anything else left out */
	fixture.it.at->forward = true;
	hear(FLAG_RA, 0,
	     "x.d.example. 60 CNAME x.e.example.\nd.example. 60 DNAME e.example.\n", "y.d.example. 60 NSEC z.d.example. A",
	     NULL);
	assert_int_equal(cached("y.d.example.", TYPE_NSEC, 0), 60);
	assert_int_equal(cached("x.d.example.", TYPE_CNAME, 0), 0);
	fixture_end();
	at_example("", "a.b.example.", TYPE_A, 0); /* an alias to what is above it is one like others */
	fixture.it.at->forward = true;
	hear(FLAG_RA, 0, "a.b.example. 60 CNAME b.example.\nb.example. 60 A 192.0.2.7", NULL, NULL);
	assert_int_equal(cached("a.b.example.", TYPE_CNAME, 0), 60);
	fixture_end();
}

/* The SOA of an answer has a longer time than that of a denial. */
static void a_denial_is_limited_by_its_soa(void **state)
{
	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	fixture_knows("example. 600 SOA a. b. 1 2 3 4 5", 0);
	hear(FLAG_AA, 3, NULL, "example. 600 SOA a. b. 1 2 3 4 5", NULL);
	assert_int_equal(fixture.it.answer->sets[0]->expires_s - fixture.now_s, 5);
	fixture_end();
	at_example("server: cache-max-ttl: 100\n", "www.example.", TYPE_A, 0);
	fixture.q->no_store = true;
	hear(FLAG_AA, 0, "www.example. 600 A 192.0.2.7", NULL, NULL);
	assert_int_equal(fixture.it.answer->sets[0]->expires_s - fixture.now_s, 100);
	fixture_end();
}

/* What a server says of a name on the way is a message of its own. */
static void a_step_on_the_way_is_kept(void **state)
{
	static const struct {
		const char *why;
		bool no_store, no_message, on_the_way;
		uint8_t rcode;
		const char *answer, *authority;
		bool want;
	} rows[] = {
		{ "no data", false, false, false, 0, NULL, SOA, true },
		{ "data", false, false, false, 0, "a.example. 60 A 192.0.2.7", NULL, true },
		{ "no such name", false, false, false, 3, NULL, SOA, true },
		{ "an alias", false, false, false, 0, "a.example. 60 CNAME b.example.", NULL, false },
		{ "not to be stored", true, false, false, 0, NULL, SOA, false },
		{ "not for clients", false, true, false, 0, NULL, SOA, false },
		{ "for a subnet", false, false, true, 0, "a.example. 60 A 192.0.2.7", NULL, false },
		{ "a denial is for all subnets", false, false, true, 0, NULL, SOA, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct stored *s;

		at_example("", "www.a.example.", TYPE_A, 0);
		show("a.example.", TYPE_A);
		fixture.q->no_store = rows[i].no_store;
		fixture.q->no_message = rows[i].no_message;
		fixture.it.on_the_way = rows[i].on_the_way;
		hear(FLAG_AA, rows[i].rcode, rows[i].answer, rows[i].authority, NULL);
		s = cached_answer("a.example.", TYPE_A);
		if (!!s != rows[i].want)
			fail_msg("%s", rows[i].why);
		if (s) {
			assert_int_equal(s->rcode, rows[i].rcode);
			assert_int_equal(get_u16(stored_wire(s) + 2) & FLAG_AA, 0);
			assert_int_equal(stored_wire(s)[3] & 15, rows[i].rcode);
			assert_int_equal(s->security, SECURITY_UNCHECKED);
		}
		assert_int_equal(fixture.it.state, ITER_choose);
		assert_true(fixture.it.question_due);
		fixture_end();
	}
}

/* Nor is it taken for the client's answer, though the client asked for that name before an alias led on. */
static void a_step_may_be_at_the_name_asked_for_first(void **state)
{
	(void)state;
	at_example("", "a.example.", TYPE_A, 0);
	fixture.it.want = made_question("www.a.example.", TYPE_A);
	show("a.example.", TYPE_A);
	hear(FLAG_AA, 0, "a.example. 60 A 192.0.2.7", NULL, NULL);
	assert_int_equal(cached("a.example.", TYPE_A, 0), 60);
	fixture_end();
}

static void a_step_does_not_replace_what_was_validated(void **state)
{
	static const struct {
		const char *why;
		uint8_t security;
		unsigned pass_s;
		bool stays;
	} rows[] = {
		{ "it was found secure", SECURITY_SECURE, 0, true },
		{ "it was found bogus", SECURITY_BOGUS, 0, true },
		{ "it was found secure, with signatures", SECURITY_SECURE, 0, true },
		{ "nobody looked", SECURITY_UNCHECKED, 0, false },
		{ "that has expired", SECURITY_SECURE, 60, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made made = { "a.example.", TYPE_A, 0,
				     { i == 2 ? "a.example. 60 A 192.0.2.7\na.example. 60 RRSIG A 8 2 60 20300101000000 "
						"20200101000000 1 example. AA=="
					      : "a.example. 60 A 192.0.2.7" } };
		struct msg_keep how = { 0 };
		struct message *m;

		at_example("", "www.a.example.", TYPE_A, 0);
		m = made_message(fixture.arena, fixture.now_s, &made);
		m->security = rows[i].security;
		how.now_s = fixture.now_s;
		(void)store_message(fixture.env.messages, fixture.snapshot->conf, m, &how);
		loop_play(fixture.loop, rows[i].pass_s * (uint64_t)US_PER_S);
		fixture.now_s += rows[i].pass_s;
		show("a.example.", TYPE_A);
		hear(FLAG_AA, 3, NULL, SOA, NULL);
		if ((cached_answer("a.example.", TYPE_A)->rcode == 0) != rows[i].stays)
			fail_msg("%s", rows[i].why);
		fixture_end();
	}
}

/* A large message is somewhere else, and there only as long as it is read. */
static void of_a_large_message_what_is_of_use_is_kept(void **state)
{
	struct iter *it = &fixture.it;
	struct arena own_arena;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct made made = { "www.example.", TYPE_A, 0, { A, NULL, "x.example. 60 TXT x" } };
		struct message *m;
		uint8_t *option;
		char text[512];

		at_example("", "www.example.", TYPE_A, 0);
		arena_init(&own_arena);
		m = made_message(&own_arena, fixture.now_s, &made);
		option = arena_copy(&own_arena, "\0\3\0\1x", 5);
		m->edns = (struct edns){ .present = true, .options = { option, 5 } };
		m->flags = FLAG_QR | FLAG_AA | (i ? FLAG_TC : 0);
		struct message *own = arena_copy(fixture.arena, m, sizeof(*m));
		const struct rrset **sets = own->sets;

		own->q = it->shown;
		heard = (struct upstream_reply){ .end = UPSTREAM_ANSWERED, .message = own, .own_arena = &own_arena };
		it->reply = &heard;
		response_read(it);
		assert_int_equal(it->state, i ? ITER_choose : ITER_finish);
		assert_ptr_not_equal(own->edns.options.at, option);
		assert_ptr_not_equal(own->sets, sets);
		assert_memory_equal(own->edns.options.at, "\0\3\0\1x", 5);
		assert_int_equal(message_set_count(own), !i);
		if (i == 0) {
			assert_string_equal(answered(text), "www.example./A");
			assert_ptr_equal(it->answer, own);
			assert_memory_equal(rrset_record(own->sets[0], 0).at, "\300\0\2\7", 4);
		}
		fixture_end();
		arena_clear(&own_arena);
	}
}

/* Where the zone wants failures reported to. */
static void a_reporting_agent_is_kept_where_failures_are_reported(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct made made = { "www.example.", TYPE_A, 0, { A } };

		at_example(i ? "server: dns-error-reporting: yes\n" : "", "www.example.", TYPE_A, 0);
		heard = (struct upstream_reply){ .end = UPSTREAM_ANSWERED,
						 .message = made_message(fixture.arena, fixture.now_s, &made) };
		heard.message->q = fixture.it.shown;
		heard.message->flags = FLAG_QR | FLAG_AA;
		heard.message->edns = (struct edns){ .present = true, .options = SLICE("\0\x12\0\3\1r\0") };
		fixture.it.reply = &heard;
		response_read(&fixture.it);
		assert_true(!fixture.q->report_to == !i);
		if (i)
			assert_name_is(fixture.q->report_to, "r.");
		fixture_end();
	}
}

static void private_addresses_are_the_operators_own(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		at_example("server: private-address: 10.0.0.0/8\n", "www.example.", TYPE_A, 0);
		if (i)
			fixture.it.target->addr.family = FAMILY_AUTHZONE;
		fixture.it.echoed = true;
		hear(FLAG_AA, 0, "www.example. 60 A 10.1.2.3", NULL, NULL);
		assert_int_equal(fixture.it.state, i ? ITER_finish : ITER_choose);
		assert_false(fixture.it.echoed);
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_server_is_passed_over),
		cmocka_unit_test(silence_is_the_reason_if_there_is_no_better),
		cmocka_unit_test(a_useless_response_is_passed_over),
		cmocka_unit_test(a_lame_server_is_known_as_such),
		cmocka_unit_test(a_forwarder_may_answer_without_aa),
		cmocka_unit_test(an_empty_response_is_used_if_no_server_says_more),
		cmocka_unit_test(a_spoilt_spelling_makes_several_be_compared),
		cmocka_unit_test(who_leaves_out_signatures_is_passed_over),
		cmocka_unit_test(signatures_are_no_less_for_being_asked_for),
		cmocka_unit_test(a_forwarder_that_leaves_out_signatures_is_passed_over),
		cmocka_unit_test(the_operator_is_warned_once_of_a_forwarder_that_leaves_out_signatures),
		cmocka_unit_test(what_is_said_to_one_subnet_is_not_cached_for_others),
		cmocka_unit_test(sets_are_cached_where_they_are_for_everybody),
		cmocka_unit_test(what_is_cached_may_be_better),
		cmocka_unit_test(an_alias_made_from_a_dname_is_not_kept),
		cmocka_unit_test(a_denial_is_limited_by_its_soa),
		cmocka_unit_test(a_step_on_the_way_is_kept),
		cmocka_unit_test(a_step_may_be_at_the_name_asked_for_first),
		cmocka_unit_test(a_step_does_not_replace_what_was_validated),
		cmocka_unit_test(of_a_large_message_what_is_of_use_is_kept),
		cmocka_unit_test(a_reporting_agent_is_kept_where_failures_are_reported),
		cmocka_unit_test(private_addresses_are_the_operators_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
