/* Claims about answers as one client or another may hear them: which rules, in what order, and what is left.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/policy.h"

#include "services/history/decision.h"
#include "services/net/client.h"
#include "services/policy/views.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/rcu.h"

enum { NOW = 100 };

static const struct client_ops no_ops = { .name = "test" };

/* The client, beside its address. */
struct asked {
	bool embeds, sees_bogus, let_through;
	const char *own; /* the authority section of a denial for which addresses were made */
	uint8_t security;
	uint16_t flags;
	bool strips; /* policy_strip alone */
};

static void put_sets(char *text, size_t room, const struct message *m, const char *end)
{
	size_t len = (size_t)snprintf(text, room, "%s %u%s%s", end, m->rcode, m->flags & FLAG_AA ? " aa" : "",
				      m->security == SECURITY_SECURE ? " secure" : "");

	for (unsigned i = 0, section = 0, left = m->count[0]; i < message_set_count(m); i++, left--) {
		const struct rrset *s = m->sets[i];
		char line[300];

		while (!left) {
			left = m->count[++section];
			len += (size_t)snprintf(text + len, room - len, " /");
		}
		for (unsigned n = 0; n < s->count; n++) {
			(void)text_rr_print(line, sizeof(line), rrset_owner(s), s->expires_s - NOW, s->class_, s->type, rrset_record(s, n));
			for (char *c = line; *c; c++)
				*c = *c == '\t' ? ' ' : *c;
			len += (size_t)snprintf(text + len, room - len, "; %s%s", line, s->sig_count ? " signed" : "");
		}
	}
}

static unsigned heard;

static void hear(const char *line, void *arg)
{
	(void)line;
	(void)arg;
	heard++;
}

/* "END RCODE; records / authority / additional". A client of 10.0.0.1. */
static const char *apply(const char *conf_lines, const struct asked *asked, const struct made *how)
{
	static char text[2000];
	struct fault f = { 0 };
	struct conf *c = conf_from(conf_lines);
	struct acl *lists = acl_new(c, &f);
	struct policy *p = policy_new(c, &f);
	struct client client = { .ops = &no_ops };
	struct decision decision = { 0 };
	struct policy_client who = { .client = &client, .decision = &decision, .embeds = asked->embeds,
				     .sees_bogus = asked->sees_bogus, .let_through = asked->let_through };
	struct message *m;
	struct policy_outcome j = { .end = OUTCOME_AS_IS };
	struct arena a;

	if (!lists || !p)
		fail_msg("%s", f.text);
	acl_bind_views(lists, views_find, p->views);
	arena_init(&a);
	assert_true(addr_parse(&client.from, "10.0.0.1", 1234, NULL));
	who.rule = acl_get(lists, &client.from, NULL);
	m = made_message(&a, NOW, how);
	m->security = asked->security;
	m->flags = asked->flags;
	if (asked->own)
		who.own = made_message(&a, NOW, &(struct made){ how->name, how->type, 0, { NULL, asked->own, NULL } });
	assert_int_equal(policy_has_answer_rules(p), strstr(conf_lines, "response-ip:") != NULL);
	heard = 0;
	log_capture(hear, NULL);
	if (asked->strips)
		j.m = policy_strip(p, &who, m, NOW, &a);
	else
		policy_apply(p, &who, m, NOW, &a, &j);
	log_capture(NULL, NULL);
	assert_int_equal(heard, !asked->strips && strstr(conf_lines, "inform"));
	if (asked->strips && j.m != m)
		j.end = OUTCOME_CHANGED;
	if (j.end == OUTCOME_DROP) {
		snprintf(text, sizeof(text), "drop");
	} else if (j.end == OUTCOME_FOLLOW) {
		char name[DNAME_TEXT];
		size_t len = (size_t)snprintf(text, sizeof(text), "follow %s", dname_print(j.aliases.target, name));

		for (unsigned i = 0; i < j.aliases.count; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "; %s %u%s", dname_print(rrset_owner(j.aliases.sets[i]), name),
						(unsigned)j.aliases.sets[i]->expires_s, j.aliases.sets[i]->sig_count ? " signed" : "");
		if (j.aliases.nat64.net.family)
			snprintf(text + len, sizeof(text) - len, " embedded");
	} else {
		put_sets(text, sizeof(text), j.m, j.end == OUTCOME_CHANGED ? "changed" : "as is");
	}
	if (decision.how == DECIDED_HERE || decision.how == DECIDED_BLOCKED)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " | %s", decision.what);
	arena_clear(&a);
	policy_free(p);
	acl_free(lists);
	conf_free(c);
	return text;
}

struct row {
	const char *why, *conf;
	struct made is;
	struct asked asked;
	const char *want;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[600];
		const char *got;

		snprintf(text, sizeof(text), "server:\n access-control: 10.0.0.0/8 allow\n %s", rows[i].conf);
		got = apply(text, &rows[i].asked, &rows[i].is);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s:\n%s\nnot\n%s", rows[i].why, got, rows[i].want);
	}
}

/* ---- claims ---- */

#define A1     "w.exm. 60 A 192.0.2.1"
#define A1_IS  "w.exm. 60 IN A 192.0.2.1"
#define W(...) { "w.exm.", TYPE_A, 0, { __VA_ARGS__ } }
#define SIGNED "\nw.exm. 60 RRSIG CNAME 13 2 60 20300101000000 20200101000000 1 exm. AA=="

static void an_address_is_denied_as_its_rule_says(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "no rule", "response-ip: 192.0.2.9 deny", W(A1), { .security = SECURITY_SECURE, .flags = FLAG_AA }, "as is 0 aa secure; " A1_IS },
		{ "dropped", "response-ip: 192.0.2.1 deny", W(A1), { .embeds = false }, "drop | response-ip 192.0.2.1/32 deny" },
		{ "refused", "response-ip: 192.0.2.1 always_refuse", W(A1, "exm. 60 NS a."), { .security = SECURITY_SECURE, .flags = FLAG_AA },
		  "changed 5 | response-ip 192.0.2.1/32 always_refuse" },
		{ "denied", "response-ip: 192.0.2.1 always_nxdomain", W(A1, "exm. 60 NS a."), { .security = SECURITY_SECURE, .flags = FLAG_AA },
		  "changed 3 | response-ip 192.0.2.1/32 always_nxdomain" },
		{ "no data", "response-ip: 192.0.2.1 always_nodata", W(A1), { .embeds = false }, "changed 0 | response-ip 192.0.2.1/32 always_nodata" },
		{ "by a view alone", "access-control-view: 10.0.0.1 v\nview:\n name: v\n response-ip: 192.0.2.1 always_refuse\n", W(A1), { .embeds = false },
		  "changed 5 | response-ip 192.0.2.1/32 always_refuse" },
		{ "only told", "response-ip: 192.0.2.1 inform", W(A1), { .embeds = false }, "as is 0; " A1_IS },
		{ "the aliases before it stay", "response-ip: 192.0.2.1 always_nxdomain", W("w.exm. 60 CNAME x.exm.\nx.exm. 60 A 192.0.2.1"), { .embeds = false },
		  "changed 3; w.exm. 60 IN CNAME x.exm. | response-ip 192.0.2.1/32 always_nxdomain" },
		{ "but not for ANY", "response-ip: 192.0.2.1 always_nxdomain",
		  { "w.exm.", TYPE_ANY, 0, { "w.exm. 60 TXT a\nw.exm. 60 A 192.0.2.1" } }, { .embeds = false },
		  "changed 3 | response-ip 192.0.2.1/32 always_nxdomain" },
		{ "ANY, redirected", "response-ip: 192.0.2.1 redirect\n response-ip-data: 192.0.2.1 \"30 A 192.0.2.9\"",
		  { "w.exm.", TYPE_ANY, 0, { "w.exm. 60 TXT a\nw.exm. 60 A 192.0.2.1" } }, { .embeds = false },
		  "changed 0; w.exm. 60 IN TXT \"a\"; w.exm. 30 IN A 192.0.2.9 | response-ip 192.0.2.1/32 redirect" },
		{ "what comes after it goes", "response-ip: 192.0.2.1 redirect\n response-ip-data: 192.0.2.1 \"30 A 192.0.2.9\"",
		  W("w.exm. 60 A 192.0.2.1\ny.exm. 60 A 192.0.2.2", "exm. 60 NS a."), { .security = SECURITY_SECURE, .flags = FLAG_AA },
		  "changed 0; w.exm. 30 IN A 192.0.2.9 | response-ip 192.0.2.1/32 redirect" },
		{ "redirected to nothing", "response-ip: 192.0.2.1 redirect", W(A1), { .embeds = false }, "changed 0 | response-ip 192.0.2.1/32 redirect" },
		{ "beside a denial", "response-ip: 192.0.2.1 deny", { "w.exm.", TYPE_A, RCODE_NXDOMAIN, { A1 } }, { .embeds = false },
		  "drop | response-ip 192.0.2.1/32 deny" },
		{ "beside a denial, refused", "response-ip: 192.0.2.1 always_refuse", { "w.exm.", TYPE_A, RCODE_NXDOMAIN, { A1 } }, { .embeds = false },
		  "changed 5 | response-ip 192.0.2.1/32 always_refuse" },
		{ "in a failure there is none", "response-ip: 192.0.2.1 deny", { "w.exm.", TYPE_A, RCODE_SERVFAIL, { NULL } }, { .embeds = false }, "as is 2" },
	};

	check(rows, COUNT(rows));
}

static void aliases_lead_on(void **state)
{
	(void)state;
#define TO_WALL "response-ip: 192.0.2.1 redirect\n response-ip-data: 192.0.2.1 \"30 CNAME wall.\""
	static const struct row rows[] = {
		{ "at once", TO_WALL, W(A1), { .embeds = false }, "follow wall.; w.exm. 30 | response-ip 192.0.2.1/32 redirect" },
		{ "behind aliases, for as long as these are valid", TO_WALL, W("w.exm. 60 CNAME x.exm." SIGNED "\nx.exm. 50 CNAME y.exm.\ny.exm. 9 A 192.0.2.1"),
		  { .embeds = false }, "follow wall.; w.exm. 60; x.exm. 50; y.exm. 30 | response-ip 192.0.2.1/32 redirect" },
		{ "a DNAME is no alias", TO_WALL, W("exm. 60 DNAME z.\nw.exm. 60 CNAME w.z.\nw.z. 9 A 192.0.2.1"), { .embeds = false },
		  "follow wall.; w.exm. 60; w.z. 30 | response-ip 192.0.2.1/32 redirect" },
		{ "as many as there may be", TO_WALL,
		  W("w.exm. 1 CNAME b.\nb. 1 CNAME c.\nc. 1 CNAME d.\nd. 1 CNAME e.\ne. 1 CNAME f.\nf. 1 CNAME g.\ng. 1 CNAME h.\nh. 1 CNAME i.\n"
		    "i. 1 CNAME j.\nj. 1 CNAME k.\nk. 1 A 192.0.2.1"), { .embeds = false },
		  "follow wall.; w.exm. 1; b. 1; c. 1; d. 1; e. 1; f. 1; g. 1; h. 1; i. 1; j. 1; k. 30 | response-ip 192.0.2.1/32 redirect" },
		{ "more", TO_WALL,
		  W("w.exm. 1 CNAME b.\nb. 1 CNAME c.\nc. 1 CNAME d.\nd. 1 CNAME e.\ne. 1 CNAME f.\nf. 1 CNAME g.\ng. 1 CNAME h.\nh. 1 CNAME i.\n"
		    "i. 1 CNAME j.\nj. 1 CNAME k.\nk. 1 CNAME l.\nl. 1 A 192.0.2.1"), { .embeds = false },
		  "changed 2 | response-ip 192.0.2.1/32 redirect" },
		{ "far more", TO_WALL,
		  W("w.exm. 1 CNAME b.\nb. 1 CNAME c.\nc. 1 CNAME d.\nd. 1 CNAME e.\ne. 1 CNAME f.\nf. 1 CNAME g.\ng. 1 CNAME h.\nh. 1 CNAME i.\n"
		    "i. 1 CNAME j.\nj. 1 CNAME k.\nk. 1 CNAME l.\nl. 1 CNAME m.\nm. 1 CNAME n.\nn. 1 A 192.0.2.1"), { .embeds = false },
		  "changed 2 | response-ip 192.0.2.1/32 redirect" },
	};

	check(rows, COUNT(rows));
}

/* Rules for the IPv4 address that one of IPv6 leads to, or that is to be embedded. */
static void what_is_embedded_is_denied_as_such(void **state)
{
	(void)state;
#define SIX    { "w.exm.", TYPE_AAAA, 0, { "w.exm. 60 AAAA 64:ff9b::192.0.2.1" } }
#define GREEN  "define-tag: green\n access-control-tag: 10.0.0.1 green\n response-ip: 192.0.2.1 redirect\n response-ip-tag: 192.0.2.1 green\n"
#define RULE   " | response-ip 192.0.2.1/32 "
#define DENIAL "exm. 90 SOA a. b. 1 2 3 4 90\ntest. 90 RRSIG SOA 13 1 90 20300101000000 20200101000000 1 exm. AA=="
	static const struct row rows[] = {
		{ "dropped", "response-ip: 192.0.2.1 deny", SIX, { .embeds = false }, "changed 0" RULE "deny" },
		{ "refused", "response-ip: 192.0.2.1 always_refuse", SIX, { .embeds = false }, "changed 0" RULE "always_refuse" },
		{ "denied", "response-ip: 192.0.2.1 always_nxdomain", SIX, { .embeds = false }, "changed 0" RULE "always_nxdomain" },
		{ "of A records to be embedded", "response-ip: 192.0.2.1 always_refuse", W(A1), { .embeds = true }, "changed 0" RULE "always_refuse" },
		{ "of A records for themselves", "response-ip: 192.0.2.1 always_refuse", W(A1), { .embeds = false }, "changed 5" RULE "always_refuse" },
		{ "for the IPv6 address itself", "response-ip: 64:ff9b::192.0.2.1 always_refuse", SIX, { .embeds = false },
		  "changed 5 | response-ip 64:ff9b::c000:201/128 always_refuse" },
		{ "as long as it is denied", "response-ip: 192.0.2.1 always_refuse", SIX, { .own = DENIAL },
		  "changed 0 /; exm. 90 IN SOA a. b. 1 2 3 4 90" RULE "always_refuse" },
		{ "behind an alias", "response-ip: 192.0.2.1 always_refuse", { "w.exm.", TYPE_AAAA, 0, { "w.exm. 60 CNAME x.exm.\nx.exm. 60 AAAA 64:ff9b::192.0.2.1" } },
		  { .own = DENIAL }, "changed 0; w.exm. 60 IN CNAME x.exm. /; exm. 90 IN SOA a. b. 1 2 3 4 90" RULE "always_refuse" },
		{ "no SOA", "response-ip: 192.0.2.1 always_refuse", SIX, { .own = "exm. 60 NS a." }, "changed 0" RULE "always_refuse" },
		{ "truncated", "response-ip: 192.0.2.1 always_refuse", SIX, { .own = DENIAL, .flags = FLAG_TC }, "changed 0" RULE "always_refuse" },
		{ "not denied", "response-ip: 192.0.2.9 always_refuse", SIX, { .own = DENIAL }, "as is 0; w.exm. 60 IN AAAA 64:ff9b::c000:201" },
		{ "denied for itself", "response-ip: 64:ff9b::192.0.2.1 always_nxdomain", SIX, { .own = DENIAL },
		  "changed 3 | response-ip 64:ff9b::c000:201/128 always_nxdomain" },
		{ "redirected to A records", "response-ip: 192.0.2.1 redirect\n response-ip-data: 192.0.2.1 \"30 A 192.0.2.9\"", SIX, { .own = DENIAL },
		  "changed 0; w.exm. 30 IN AAAA 64:ff9b::c000:209" RULE "redirect" },
		{ "redirected to AAAA records first",
		  GREEN " access-control-tag-data: 10.0.0.1 green \"30 A 192.0.2.9\"\n access-control-tag-data: 10.0.0.1 green \"30 AAAA ::9\"", SIX,
		  { .embeds = false }, "changed 0; w.exm. 30 IN AAAA ::9" RULE "redirect" },
		{ "redirected to neither", GREEN " access-control-tag-data: 10.0.0.1 green \"30 TXT a\"", SIX, { .own = DENIAL },
		  "changed 0 /; exm. 90 IN SOA a. b. 1 2 3 4 90" RULE "redirect" },
		{ "redirected to a name", TO_WALL, SIX, { .embeds = false }, "follow wall.; w.exm. 30 embedded" RULE "redirect" },
	};

	check(rows, COUNT(rows));
}

/* A host that connects to ::ffff:192.0.2.1 connects to 192.0.2.1: the same rules are for both. */
static void what_stands_for_an_ipv4_address_has_its_rules(void **state)
{
	(void)state;
#define STANDS(text) { "w.exm.", TYPE_AAAA, 0, { "w.exm. 60 AAAA 2001:db8::1\nw.exm. 60 AAAA " text } }
	static const struct row rows[] = {
		{ "mapped", "response-ip: 192.0.2.1 always_refuse", STANDS("::ffff:192.0.2.1"), { .embeds = false }, "changed 5" RULE "always_refuse" },
		{ "6to4", "response-ip: 192.0.2.1 always_nxdomain", STANDS("2002:c000:201::1"), { .embeds = false }, "changed 3" RULE "always_nxdomain" },
		{ "translated", "response-ip: 192.0.2.1 deny", STANDS("::ffff:0:192.0.2.1"), { .embeds = false }, "drop" RULE "deny" },
		{ "by a translator elsewhere", "dns64-prefix: 2001:db8:64::/96\n response-ip: 192.0.2.1 always_nodata", STANDS("64:ff9b::192.0.2.1"),
		  { .embeds = false }, "changed 0" RULE "always_nodata" },
		{ "redirected", "response-ip: 192.0.2.1 redirect\n response-ip-data: 192.0.2.1 \"30 A 192.0.2.9\"", STANDS("::ffff:192.0.2.1"),
		  { .embeds = false }, "changed 0" RULE "redirect" },
		{ "redirected to a name", TO_WALL, STANDS("::ffff:192.0.2.1"), { .embeds = false }, "follow wall.; w.exm. 30" RULE "redirect" },
		{ "a hint", "response-ip: 192.0.2.1 always_refuse", { "w.exm.", TYPE_HTTPS, 0, { "w.exm. 60 HTTPS 1 . ipv6hint=::ffff:192.0.2.1" } },
		  { .embeds = false }, "changed 5" RULE "always_refuse" },
		{ "another", "response-ip: 192.0.2.2 always_refuse", STANDS("::ffff:192.0.2.1"), { .embeds = false },
		  "as is 0; w.exm. 60 IN AAAA 2001:db8::1; w.exm. 60 IN AAAA ::ffff:192.0.2.1" },
	};

	check(rows, COUNT(rows));
}

static void what_is_bogus_is_not_looked_into(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "hidden anyway", "response-ip: 192.0.2.1 always_refuse", W(A1), { .security = SECURITY_BOGUS }, "as is 0; " A1_IS },
		{ "seen", "response-ip: 192.0.2.1 always_refuse", W(A1), { .security = SECURITY_BOGUS, .sees_bogus = true },
		  "changed 5 | response-ip 192.0.2.1/32 always_refuse" },
		{ "not bogus", "response-ip: 192.0.2.1 always_refuse", W(A1), { .sees_bogus = false }, "changed 5 | response-ip 192.0.2.1/32 always_refuse" },
	};

	check(rows, COUNT(rows));
}

/* What stands beside an answer is told only if the client, asking for it, would be told the same. */
static void nothing_beside_an_answer_gets_past_the_rules(void **state)
{
	(void)state;
#define MX(...) { "w.exm.", TYPE_MX, 0, { "w.exm. 60 MX 1 m.exm.", "exm. 60 NS n.exm.", __VA_ARGS__ } }
#define MX_IS   "; w.exm. 60 IN MX 1 m.exm. /; exm. 60 IN NS n.exm."
#define M4      "m.exm. 60 A 192.0.2.1"
#define N6      "\nn.exm. 60 AAAA 2001:db8::1"
#define N6_IS   "; n.exm. 60 IN AAAA 2001:db8::1"
	static const struct row rows[] = {
		{ "nothing is there", "response-ip: 192.0.2.1 deny", MX(NULL), { .strips = true }, "as is 0" MX_IS },
		{ "nothing that concerns it", "response-ip: 192.0.2.9 deny", MX(M4 N6), { .strips = true },
		  "as is 0" MX_IS " /; m.exm. 60 IN A 192.0.2.1" N6_IS },
		{ "an address with a rule", "response-ip: 192.0.2.1 deny", MX(M4 N6), { .strips = true }, "changed 0" MX_IS " /" N6_IS },
		{ "the second", "response-ip: 2001:db8::1 always_nodata", MX(M4 N6), { .strips = true },
		  "changed 0" MX_IS " /; m.exm. 60 IN A 192.0.2.1" },
		{ "all", "response-ip: 192.0.2.1 always_refuse\n response-ip: 2001:db8::1 redirect", MX(M4 N6), { .strips = true }, "changed 0" MX_IS },
		{ "one that is only told of", "response-ip: 192.0.2.1 inform", MX(M4), { .strips = true },
		  "as is 0" MX_IS " /; m.exm. 60 IN A 192.0.2.1" },
		{ "a local zone", "local-zone: m.exm refuse", MX(M4 N6), { .strips = true }, "changed 0" MX_IS " /" N6_IS },
		{ "a local record", "local-data: \"m.exm. A 192.0.2.7\"", MX(M4 N6), { .strips = true }, "changed 0" MX_IS " /" N6_IS },
		{ "a local record of a zone that passes other types on", "local-zone: m.exm typetransparent\n local-data: \"m.exm. A 192.0.2.7\"",
		  MX(M4 N6), { .strips = true }, "changed 0" MX_IS " /" N6_IS },
		{ "one of another type", "local-zone: m.exm typetransparent\n local-data: \"m.exm. AAAA 2001:db8::7\"",
		  MX(M4), { .strips = true }, "as is 0" MX_IS " /; m.exm. 60 IN A 192.0.2.1" },
		{ "a local zone of others", "local-zone: x.exm refuse", MX(M4), { .strips = true }, "as is 0" MX_IS " /; m.exm. 60 IN A 192.0.2.1" },
		{ "and when it is checked", "response-ip: 192.0.2.1 deny", MX(M4 N6), { .strips = false }, "changed 0" MX_IS " /" N6_IS },
		{ "and when that changes more", "response-ip: 192.0.2.1 deny\n response-ip: 192.0.2.2 always_refuse",
		  W("w.exm. 60 A 192.0.2.2", NULL, M4), { .strips = false }, "changed 5 | response-ip 192.0.2.2/32 always_refuse" },
	};

	check(rows, COUNT(rows));
}

static void a_tag_chooses_the_action_or_the_data(void **state)
{
	(void)state;
#define TAGGED "define-tag: \"red green\"\n access-control-tag: 10.0.0.1 \"green\"\n response-ip: 192.0.2.1 redirect\n" \
	       " response-ip-data: 192.0.2.1 \"30 A 192.0.2.9\"\n"
	static const struct row rows[] = {
		{ "no tag of the rule", TAGGED " access-control-tag-action: 10.0.0.1 green refuse", W(A1), { .embeds = false },
		  "changed 0; w.exm. 30 IN A 192.0.2.9 | response-ip 192.0.2.1/32 redirect" },
		{ "an action", TAGGED " response-ip-tag: 192.0.2.1 green\n access-control-tag-action: 10.0.0.1 green refuse", W(A1), { .embeds = false },
		  "changed 5 | response-ip 192.0.2.1/32 refuse" },
		{ "the first kind of action", TAGGED " response-ip-tag: 192.0.2.1 green\n access-control-tag-action: 10.0.0.1 green deny", W(A1),
		  { .embeds = false }, "drop | response-ip 192.0.2.1/32 deny" },
		{ "data", TAGGED " response-ip-tag: 192.0.2.1 green\n access-control-tag-data: 10.0.0.1 green \"40 A 192.0.2.7\"", W(A1), { .embeds = false },
		  "changed 0; w.exm. 40 IN A 192.0.2.7 | response-ip 192.0.2.1/32 redirect" },
		{ "neither", TAGGED " response-ip-tag: 192.0.2.1 green", W(A1), { .embeds = false },
		  "changed 0; w.exm. 30 IN A 192.0.2.9 | response-ip 192.0.2.1/32 redirect" },
		{ "of a lower number only", TAGGED " response-ip-tag: 192.0.2.1 green\n access-control-tag-action: 10.0.0.1 red refuse", W(A1),
		  { .embeds = false }, "changed 0; w.exm. 30 IN A 192.0.2.9 | response-ip 192.0.2.1/32 redirect" },
	};

	check(rows, COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_denied_as_its_rule_says),
		cmocka_unit_test(aliases_lead_on),
		cmocka_unit_test(what_is_embedded_is_denied_as_such),
		cmocka_unit_test(what_stands_for_an_ipv4_address_has_its_rules),
		cmocka_unit_test(what_is_bogus_is_not_looked_into),
		cmocka_unit_test(nothing_beside_an_answer_gets_past_the_rules),
		cmocka_unit_test(a_tag_chooses_the_action_or_the_data),
	};
	int failed;

	hash_start(true);
	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
