/* Claims about dns64: which addresses are made, for whom, for how long, and how secure they are (RFC 6147, 6052, 7050).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dns64/dns64.h"

#include "services/answer/nat64.h"
#include "services/cache/rrset.h"
#include "services/cache/subnet_index.h"
#include "services/mesh/tests/fixture.h"
#include "services/tests/made.h"
#include "util/names/trie.h"

/* What the modules below answer to one question. */
struct known {
	struct made is;
	uint8_t security;
	bool passing; /* it may not be stored */
};

/* ---- a module below that knows some answers, and one above that sees what becomes of them ---- */

static struct {
	const struct known *known; /* up to one without a name */
	char asked[200], told[900];
} play;

static enum step below_operate(struct query *q, void *state, const struct event *ev)
{
	char name[DNAME_TEXT], type[16];

	(void)state;
	(void)ev;
	snprintf(play.asked + strlen(play.asked), sizeof(play.asked) - strlen(play.asked), "%s%s %s", *play.asked ? ", " : "",
		 dname_print(q->question.name, name), rr_type_name(q->question.type, type));
	for (const struct known *k = play.known; k->is.name; k++) {
		struct message *m;

		if (k->is.type != q->question.type || !dname_equals(N(k->is.name), q->question.name))
			continue;
		m = made_message(&q->arena, q->env->time->now_s, &k->is);
		m->q = q->question;
		m->security = k->security;
		if (k->security == SECURITY_BOGUS)
			m->reason = REASON_bogus;
		q->no_store |= k->passing;
		q->reply = m;
		return STEP_UP;
	}
	answer_with(q, RCODE_SERVFAIL);
	return STEP_UP;
}

/* "RCODE security"; "made" if it was, "passing" if it is not stored; then its records, each with the seconds left. */
static void note(const struct query *q)
{
	static const char *const securities[] = {
		[SECURITY_UNCHECKED] = "unchecked", [SECURITY_BOGUS] = "bogus", [SECURITY_INDETERMINATE] = "indeterminate",
		[SECURITY_INSECURE] = "insecure", [SECURITY_SECURE] = "secure",
	};
	const struct message *m = q->reply;
	char rcode[16];
	size_t len = (size_t)snprintf(play.told, sizeof(play.told), "%s %s%s%s", rr_rcode_name(m->rcode, rcode),
				      securities[m->security], m->made_up ? " made" : "", q->no_store ? " passing" : "");

	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *s = m->sets[i];

		for (unsigned n = 0; n < s->count; n++) {
			char line[200];

			(void)text_rr_print(line, sizeof(line), rrset_owner(s), s->expires_s - q->env->time->now_s, s->class_,
					    s->type, rrset_record(s, n));
			for (char *c = line; *c; c++)
				*c = *c == '\t' ? ' ' : *c;
			len += (size_t)snprintf(play.told + len, sizeof(play.told) - len, "; %s", line);
			if (s->ttl_s != s->expires_s - q->env->time->now_s)
				fail_msg("%s has another TTL", line);
		}
	}
	assert_true(!message_set_count(m) || m->sets[0]->type != q->question.type || m->count[SECTION_ANSWER]);
	assert_true(dname_equals(m->q.name, q->question.name));
	assert_int_equal(m->q.type, q->question.type);
}

static enum step above_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ASK)
		return STEP_DOWN;
	if (q->depth == 0)
		note(q);
	return STEP_UP;
}

#define PREFIX "dns64-prefix: 2001:db8:64::/96\n"

static void ask_below(const char *options, const struct known *known, const char *name, uint16_t type, uint16_t flags)
{
	static const struct module above = { .name = "above", .state_size = 1, .operate = above_operate };
	static const struct module below = { .name = "below", .state_size = 1, .operate = below_operate };
	static const struct module *const chain[] = { &above, &dns64_module, &below, NULL };
	static const struct module *const last[] = { &finder, NULL };
	struct client c = { .ops = &datagram, .from = { .family = 4, .ip = { 192, 0, 2, 7 } }, .tag = 7 };
	struct request r = { .id = 7, .flags = (uint16_t)(FLAG_RD | flags), .q = made_question(name, type) };
	char conf[200];
	static int ignored;

	snprintf(conf, sizeof(conf), "server:\n%s", options);
	memset(&play, 0, sizeof(play));
	play.known = known;
	world_begin(conf);
	mesh_free(world.mesh);
	world.snapshot.dns64_ignored = trie_new();
	trie_put(world.snapshot.dns64_ignored, N("broken.test."), &ignored);
	world.env.subnet_index = subnet_index_new(1 << 20, 1);
	world.env.rrsets = rrsetcache_new(1 << 20, 1);
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	mesh_ask(world.mesh, &r, &c, NULL);
	loop_play(world.loop, 9 * US_PER_S);
	assert_int_equal(world.heard_count, 1);
	mesh_free(world.mesh);
	world.env.mesh = world.mesh = mesh_new(&world.env, last);
	subnet_index_free(world.env.subnet_index);
	rrsetcache_free(world.env.rrsets);
	trie_free(world.snapshot.dns64_ignored, NULL);
	world_end();
}

/* ---- claims ---- */

#define SOA(ttl)  "test. " ttl " SOA ns.test. admin.test. 1 2 3 4 " ttl "\n"
#define A1        "a.test. 300 A 198.51.100.1\n"
#define IS(name, type, rcode, ...) { name, type, RCODE_##rcode, { __VA_ARGS__ } }
#define DENIED(name)    { IS(name, TYPE_AAAA, NOERROR, NULL, SOA("200")), SECURITY_UNCHECKED, false }
#define MADE "a.test. 200 IN AAAA 2001:db8:64::c633:6401"

struct row {
	const char *why, *name;
	uint16_t type, flags;
	struct known known[3];
	const char *told, *asked, *options;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *r = &rows[i];

		ask_below(r->options ? r->options : PREFIX, r->known, r->name, r->type, r->flags);
		if (strcmp(play.told, r->told) != 0 || (r->asked && strcmp(play.asked, r->asked) != 0))
			fail_msg("%s:\n%s\nnot\n%s\nasked %s, not %s", r->why, play.told, r->told, play.asked, r->asked);
	}
}

static void addresses_are_made_where_there_are_none(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "its own", "a.test.", TYPE_AAAA, 0, { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA 2001:db8::1\n"), 0, 0 } },
		  "NOERROR unchecked; a.test. 300 IN AAAA 2001:db8::1", "a.test. AAAA", NULL },
		{ "none", "a.test.", TYPE_AAAA, 0, { DENIED("a.test."), { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR insecure made; " MADE, "a.test. AAAA, a.test. A", NULL },
		{ "denied for longer than the A records live", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, NULL, SOA("900")), 0, 0 }, { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR insecure made; a.test. 300 IN AAAA 2001:db8:64::c633:6401", NULL, NULL },
		{ "denied for longer than ten minutes", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, NULL, SOA("900")), 0, 0 }, { IS("a.test.", TYPE_A, NOERROR, "a.test. 950 A 198.51.100.1\n"), 0, 0 } },
		  "NOERROR insecure made; a.test. 900 IN AAAA 2001:db8:64::c633:6401", NULL, NULL },
		{ "denied without an SOA: for ten minutes", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, NULL), 0, 0 }, { IS("a.test.", TYPE_A, NOERROR, "a.test. 900 A 198.51.100.1\n"), 0, 0 } },
		  "NOERROR insecure made; a.test. 600 IN AAAA 2001:db8:64::c633:6401", NULL, NULL },
		{ "a failure counts as a denial", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, SERVFAIL, NULL), 0, 0 }, { IS("a.test.", TYPE_A, NOERROR, "a.test. 900 A 198.51.100.1\n"), 0, 0 } },
		  "NOERROR insecure made; a.test. 600 IN AAAA 2001:db8:64::c633:6401", NULL, NULL },
		{ "a failure says nothing of times", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, SERVFAIL, NULL, SOA("10")), 0, 0 }, { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR insecure made; a.test. 300 IN AAAA 2001:db8:64::c633:6401", NULL, NULL },
		{ "no such name", "a.test.", TYPE_AAAA, 0, { { IS("a.test.", TYPE_AAAA, NXDOMAIN, NULL, SOA("200")), 0, 0 } },
		  "NXDOMAIN unchecked; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", "a.test. AAAA", NULL },
		{ "a forged denial", "a.test.", TYPE_AAAA, 0, { { IS("a.test.", TYPE_AAAA, NOERROR, NULL, SOA("200")), SECURITY_BOGUS, 0 } },
		  "NOERROR bogus; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", "a.test. AAAA", NULL },
		{ "no A records either", "a.test.", TYPE_AAAA, 0, { DENIED("a.test."), { IS("a.test.", TYPE_A, NOERROR, NULL, SOA("200")), 0, 0 } },
		  "NOERROR unchecked; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", "a.test. AAAA, a.test. A", NULL },
		{ "the A records say that there is no such name", "a.test.", TYPE_AAAA, 0,
		  { DENIED("a.test."), { IS("a.test.", TYPE_A, NXDOMAIN, NULL), 0, 0 } },
		  "NOERROR unchecked; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", NULL, NULL },
		{ "A records of a name that there is not", "a.test.", TYPE_AAAA, 0,
		  { DENIED("a.test."), { IS("a.test.", TYPE_A, NXDOMAIN, A1), 0, 0 } },
		  "NOERROR unchecked; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", NULL, NULL },
		{ "the A records are not to be had", "a.test.", TYPE_AAAA, 0, { DENIED("a.test."), { IS("a.test.", TYPE_A, REFUSED, NULL), 0, 0 } },
		  "REFUSED insecure made", NULL, NULL },
		{ "or forged", "a.test.", TYPE_AAAA, 0, { DENIED("a.test."), { IS("a.test.", TYPE_A, NOERROR, A1), SECURITY_BOGUS, 0 } },
		  "SERVFAIL insecure made", NULL, NULL },
		{ "or not to be stored", "a.test.", TYPE_AAAA, 0, { DENIED("a.test."), { IS("a.test.", TYPE_A, NOERROR, A1), 0, true } },
		  "NOERROR insecure made passing; " MADE, NULL, NULL },
		{ "behind an alias", "b.test.", TYPE_AAAA, 0,
		  { { IS("b.test.", TYPE_AAAA, NOERROR, "b.test. 300 CNAME a.test.\n", SOA("200")), 0, 0 },
		    { IS("b.test.", TYPE_A, NOERROR, "b.test. 300 CNAME a.test.\n" A1, "test. 90 NS ns.test.\n", "ns.test. 90 A 198.51.100.9\n"), 0, 0 } },
		  "NOERROR insecure made; b.test. 300 IN CNAME a.test.; " MADE "; test. 90 IN NS ns.test.; ns.test. 90 IN A 198.51.100.9",
		  NULL, NULL },
		{ "another type", "a.test.", TYPE_A, 0, { { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR unchecked; a.test. 300 IN A 198.51.100.1", "a.test. A", NULL },
		{ "the prefix of the standard", "a.test.", TYPE_AAAA, 0, { DENIED("a.test."), { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR insecure made; a.test. 200 IN AAAA 64:ff9b::c633:6401", NULL, "" },
	};

	check(rows, COUNT(rows));
}

static void they_are_as_secure_as_both_answers(void **state)
{
	static const struct {
		uint8_t own, other;
		const char *is;
	} rows[] = {
		{ SECURITY_SECURE, SECURITY_SECURE, "secure" },
		{ SECURITY_SECURE, SECURITY_INSECURE, "insecure" },
		{ SECURITY_INSECURE, SECURITY_SECURE, "insecure" },
		{ SECURITY_UNCHECKED, SECURITY_SECURE, "insecure" },
		{ SECURITY_SECURE, SECURITY_UNCHECKED, "insecure" },
		{ SECURITY_INDETERMINATE, SECURITY_SECURE, "indeterminate" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		const struct known known[] = { { IS("a.test.", TYPE_A, NOERROR, A1), rows[i / 2].other, false },
					       { IS("a.test.", TYPE_AAAA, NOERROR, NULL, SOA("200")), rows[i / 2].own, false },
					       { .passing = false } };
		char want[100];
		bool alone = i % 2; /* with nothing but the A records: as secure as these */

		if (alone && rows[i / 2].own != SECURITY_SECURE)
			continue;
		ask_below(alone ? PREFIX "dns64-synthall: yes\n" : PREFIX, known, "a.test.", TYPE_AAAA, 0);
		snprintf(want, sizeof(want), "NOERROR %s made; a.test. %s IN AAAA 2001:db8:64::c633:6401", rows[i / 2].is, alone ? "300" : "200");
		assert_string_equal(play.told, want);
	}
}

static void some_names_have_none_that_count(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "all are made", "a.test.", TYPE_AAAA, 0, { { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR insecure made; a.test. 300 IN AAAA 2001:db8:64::c633:6401", "a.test. A", PREFIX "dns64-synthall: yes\n" },
		{ "but its own, if there is none to make", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_A, NOERROR, NULL), 0, 0 }, { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA 2001:db8::1\n"), 0, 0 } },
		  "NOERROR unchecked; a.test. 300 IN AAAA 2001:db8::1", "a.test. A, a.test. AAAA", PREFIX "dns64-synthall: yes\n" },
		{ "and none, if there is nothing of either", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_A, NOERROR, NULL), 0, 0 }, { IS("a.test.", TYPE_AAAA, NOERROR, NULL), 0, 0 } },
		  "NOERROR unchecked", "a.test. A, a.test. AAAA", PREFIX "dns64-synthall: yes\n" },
		{ "or none to be had", "a.test.", TYPE_AAAA, 0, { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA 2001:db8::1\n"), 0, 0 } },
		  "NOERROR unchecked; a.test. 300 IN AAAA 2001:db8::1", "a.test. A, a.test. AAAA", PREFIX "dns64-synthall: yes\n" },
		{ "a name of which they are ignored", "a.broken.test.", TYPE_AAAA, 0,
		  { { IS("a.broken.test.", TYPE_A, NOERROR, "a.broken.test. 300 A 198.51.100.1\n"), 0, 0 } },
		  "NOERROR insecure made; a.broken.test. 300 IN AAAA 2001:db8:64::c633:6401", "a.broken.test. A", NULL },
		{ "other types of all names", "a.broken.test.", TYPE_TXT, 0, { { IS("a.broken.test.", TYPE_TXT, NOERROR, NULL), 0, 0 } },
		  "NOERROR unchecked", "a.broken.test. TXT", NULL },
		{ "nobody is at a mapped address", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA ::ffff:192.0.2.1\n", SOA("200")), 0, 0 }, { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR insecure made; " MADE, "a.test. AAAA, a.test. A", NULL },
		{ "nor does it stand beside others", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA ::ffff:192.0.2.1\na.test. 300 AAAA 2001:db8::1\na.test. 300 AAAA ::fffe:192.0.2.1\n"),
		      SECURITY_SECURE, 0 } },
		  "NOERROR insecure made; a.test. 300 IN AAAA 2001:db8::1; a.test. 300 IN AAAA ::fffe:c000:201", "a.test. AAAA", NULL },
		{ "but in other sections", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA 2001:db8::1\na.test. 300 AAAA ::ffff:192.0.2.1\n", NULL, "b.test. 300 AAAA ::ffff:192.0.2.1\n"), 0, 0 } },
		  "NOERROR insecure made; a.test. 300 IN AAAA 2001:db8::1; b.test. 300 IN AAAA ::ffff:192.0.2.1", NULL, NULL },
		{ "where all are, they are what is told", "a.test.", TYPE_AAAA, 0,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA ::ffff:192.0.2.1\n"), SECURITY_SECURE, 0 }, { IS("a.test.", TYPE_A, NOERROR, NULL), 0, 0 } },
		  "NOERROR insecure made", NULL, NULL },
	};

	check(rows, COUNT(rows));
}

static void who_checks_gets_what_is_there_and_nobody_else_that(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "none", "a.test.", TYPE_AAAA, FLAG_CD, { DENIED("a.test.") },
		  "NOERROR unchecked passing; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", "a.test. AAAA", NULL },
		{ "its own: anybody's answer", "a.test.", TYPE_AAAA, FLAG_CD, { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA 2001:db8::1\n"), 0, 0 } },
		  "NOERROR unchecked; a.test. 300 IN AAAA 2001:db8::1", "a.test. AAAA", NULL },
		{ "a mapped one", "a.test.", TYPE_AAAA, FLAG_CD,
		  { { IS("a.test.", TYPE_AAAA, NOERROR, "a.test. 300 AAAA 2001:db8::1\na.test. 300 AAAA ::ffff:192.0.2.1\n"), 0, 0 } },
		  "NOERROR unchecked passing; a.test. 300 IN AAAA 2001:db8::1; a.test. 300 IN AAAA ::ffff:192.0.2.1", "a.test. AAAA", NULL },
		{ "what is ignored", "a.broken.test.", TYPE_AAAA, FLAG_CD, { { IS("a.broken.test.", TYPE_AAAA, NOERROR, "a.broken.test. 300 AAAA 2001:db8::1\n"), 0, 0 } },
		  "NOERROR unchecked passing; a.broken.test. 300 IN AAAA 2001:db8::1", "a.broken.test. AAAA", NULL },
		{ "other types", "a.test.", TYPE_A, FLAG_CD, { { IS("a.test.", TYPE_A, NOERROR, A1), 0, 0 } },
		  "NOERROR unchecked; a.test. 300 IN A 198.51.100.1", "a.test. A", NULL },
	};

	check(rows, COUNT(rows));
}

#define ZEROS "0.0.0.0.0.0.0.0.0.0.0.0."
#define BACK  "1.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa."
#define REV   "1.100.51.198.in-addr.arpa."

static void names_of_made_addresses_are_those_of_the_others(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "renamed", BACK, TYPE_PTR, 0, { { IS(REV, TYPE_PTR, NOERROR, REV " 300 PTR a.test.\n"), SECURITY_SECURE, 0 } },
		  "NOERROR insecure made; " BACK " 300 IN PTR a.test.", REV " PTR", NULL },
		{ "for who checks, too", BACK, TYPE_PTR, FLAG_CD, { { IS(REV, TYPE_PTR, NOERROR, REV " 300 PTR a.test.\n"), 0, 0 } },
		  "NOERROR insecure made; " BACK " 300 IN PTR a.test.", REV " PTR", NULL },
		{ "behind an alias", BACK, TYPE_PTR, 0,
		  { { IS(REV, TYPE_PTR, NOERROR, REV " 300 CNAME 1.sub.test.\n1.sub.test. 300 PTR a.test.\n"), 0, 0 } },
		  "NOERROR insecure made; " BACK " 300 IN CNAME 1.sub.test.; 1.sub.test. 300 IN PTR a.test.", REV " PTR", NULL },
		{ "no name", BACK, TYPE_PTR, 0, { { IS(REV, TYPE_PTR, NXDOMAIN, NULL, SOA("200")), 0, 0 } },
		  "NXDOMAIN insecure made; test. 200 IN SOA ns.test. admin.test. 1 2 3 4 200", REV " PTR", NULL },
		{ "a forged one", BACK, TYPE_PTR, 0, { { IS(REV, TYPE_PTR, NOERROR, REV " 300 PTR a.test.\n"), SECURITY_BOGUS, 0 } },
		  "NOERROR bogus made; " BACK " 300 IN PTR a.test.", REV " PTR", NULL },
		{ "not below the prefix", "1.0.4.6.3.3.6.c." ZEROS "5.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, 0,
		  { { IS("1.0.4.6.3.3.6.c." ZEROS "5.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", NULL, NULL },
		{ "a label too many", "0." BACK, TYPE_PTR, 0, { { IS("0." BACK, TYPE_PTR, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", NULL, NULL },
		{ "a label too few", "0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, 0,
		  { { IS("0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", NULL, NULL },
		{ "no hexadecimal digit", "g.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, 0,
		  { { IS("g.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", NULL, NULL },
		{ "two digits in a label", "10.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, 0,
		  { { IS("10.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", TYPE_PTR, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", NULL, NULL },
		{ "elsewhere", "1.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.test.", TYPE_PTR, 0,
		  { { IS("1.0.4.6.3.3.6.c." ZEROS "4.6.0.0.8.b.d.0.1.0.0.2.ip6.test.", TYPE_PTR, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", NULL, NULL },
		{ "another type of it", BACK, TYPE_TXT, 0, { { IS(BACK, TYPE_TXT, NXDOMAIN, NULL), 0, 0 } }, "NXDOMAIN unchecked", BACK " TXT", NULL },
	};

	check(rows, COUNT(rows));
}

#define IPV4ONLY "ipv4only.arpa."

static void the_names_of_the_prefix_are_known(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "forth", IPV4ONLY, TYPE_AAAA, 0, { { .passing = false } },
		  "NOERROR insecure made; ipv4only.arpa. 86400 IN AAAA 2001:db8:64::c000:aa; ipv4only.arpa. 86400 IN AAAA 2001:db8:64::c000:ab", "", NULL },
		{ "for who checks", IPV4ONLY, TYPE_A, FLAG_CD, { { .passing = false } },
		  "NOERROR insecure made; ipv4only.arpa. 86400 IN A 192.0.0.170; ipv4only.arpa. 86400 IN A 192.0.0.171", "", NULL },
		{ "nothing else is there", IPV4ONLY, TYPE_PTR, 0, { { .passing = false } }, "NOERROR insecure made", "", NULL },
		{ "nor below", "a." IPV4ONLY, TYPE_AAAA, 0, { { .passing = false } }, "NXDOMAIN insecure made", "", NULL },
		{ "above it others are asked", "arpa.", TYPE_A, 0, { { IS("arpa.", TYPE_A, NOERROR, NULL), 0, 0 } }, "NOERROR unchecked", "arpa. A", NULL },
		{ "and of its signers", IPV4ONLY, TYPE_DS, 0, { { IS(IPV4ONLY, TYPE_DS, NOERROR, NULL), 0, 0 } }, "NOERROR unchecked", IPV4ONLY " DS", NULL },
		{ "back", "170.0.0.192.in-addr.arpa.", TYPE_PTR, 0, { { .passing = false } },
		  "NOERROR insecure made; 170.0.0.192.in-addr.arpa. 86400 IN PTR ipv4only.arpa.", "", NULL },
		{ "and from the other", "171.0.0.192.in-addr.arpa.", TYPE_PTR, 0, { { .passing = false } },
		  "NOERROR insecure made; 171.0.0.192.in-addr.arpa. 86400 IN PTR ipv4only.arpa.", "", NULL },
		{ "without addresses", "171.0.0.192.in-addr.arpa.", TYPE_A, 0, { { .passing = false } }, "NOERROR insecure made", "", NULL },
		{ "nor below that", "1.170.0.0.192.in-addr.arpa.", TYPE_PTR, 0, { { .passing = false } }, "NXDOMAIN insecure made", "", NULL },
	};

	check(rows, COUNT(rows));
}

/* RFC 6052 2.4 */
static void an_address_is_embedded_in_a_prefix_of_any_length(void **state)
{
	(void)state;
	static const struct {
		const char *prefix, *made;
	} rows[] = {
		{ "2001:db8::/32", "2001:db8:c000:221::" },
		{ "2001:db8:100::/40", "2001:db8:1c0:2:21::" },
		{ "2001:db8:122::/48", "2001:db8:122:c000:2:2100::" },
		{ "2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::" },
		{ "2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::" },
		{ "2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33" },
	};
	static const uint8_t ip4[4] = { 192, 0, 2, 33 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr made = { .family = 6 }, want, back, mapped;
		struct conf_server c = { .do_nat64 = true, .nat64_prefix = (char *)(uintptr_t)rows[i].prefix };
		struct netblock prefix;

		assert_true(netblock_parse(&prefix, rows[i].prefix, NULL));
		assert_true(addr_parse(&want, rows[i].made, 5353, NULL));
		nat64_embed(&prefix, ip4, made.ip);
		if (!addr_equals_ip(&made, &want))
			fail_msg("%s", rows[i].prefix);
		if (prefix.bits == 32)
			made.ip[9] = 7; /* behind it */
		assert_true(nat64_extract(&prefix, &made, &back));
		assert_int_equal(back.family, 4);
		assert_memory_equal(back.ip, ip4, 4);
		assert_int_equal(back.ip[4], 0);
		made.ip[3] ^= 1;
		assert_false(nat64_extract(&prefix, &made, &back));
		/* so are the addresses of servers, where those without cannot be reached */
		mapped = (struct addr){ .family = 4, .port = 5353 };
		memcpy(mapped.ip, ip4, 4);
		nat64_map(&c, &mapped);
		assert_true(addr_equals(&mapped, &want));
		nat64_map(&c, &mapped); /* this one can be */
		assert_true(addr_equals(&mapped, &want));
		c.do_nat64 = false;
		nat64_map(&c, &back);
		assert_int_equal(back.family, 4);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(nat64_reaches_ip4(&(struct conf_server){ .do_ip4 = i & 1, .do_nat64 = i & 2 }), i != 0);
}

static void what_is_no_address_is_not_embedded(void **state)
{
	static const struct slice records[] = { { (const uint8_t *)"\300\0\2\1", 4 }, { (const uint8_t *)"\300\0\2", 3 },
						{ (const uint8_t *)"\300\0\2\1\1", 5 } };
	struct rrset_parts p = { .owner = N("a.test."), .type = TYPE_A, .class_ = CLASS_IN, .ttl_s = 60, .expires_s = 90,
				 .records = records, .count = COUNT(records), .trust = TRUST_ANS_AA, .security = SECURITY_SECURE };
	struct netblock prefix;
	struct rrset *made;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(netblock_parse(&prefix, "2001:db8::/96", NULL));
	made = nat64_embed_set(&a, &prefix, rrset_build(&a, &p));
	assert_int_equal(made->count, 1);
	assert_int_equal(made->type, TYPE_AAAA);
	assert_int_equal(made->class_, CLASS_IN);
	assert_int_equal(made->ttl_s, 60);
	assert_int_equal(made->expires_s, 90);
	assert_int_equal(made->trust, TRUST_ANS_AA);
	assert_int_equal(made->security, SECURITY_INSECURE);
	assert_int_equal(rrset_record(made, 0).len, 16);
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_made_where_there_are_none),
		cmocka_unit_test(they_are_as_secure_as_both_answers),
		cmocka_unit_test(some_names_have_none_that_count),
		cmocka_unit_test(who_checks_gets_what_is_there_and_nobody_else_that),
		cmocka_unit_test(names_of_made_addresses_are_those_of_the_others),
		cmocka_unit_test(the_names_of_the_prefix_are_known),
		cmocka_unit_test(an_address_is_embedded_in_a_prefix_of_any_length),
		cmocka_unit_test(what_is_no_address_is_not_embedded),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
