/* Claims about what is answered without asking anyone, and what answers may not say.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/policy.h"

#include "services/net/client.h"
#include "services/policy/views.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/rcu.h"

static const char conf_text[] =
	"server:\n"
	" define-tag: \"red green\"\n"
	" access-control: 10.0.0.0/8 allow\n"
	" access-control-tag: 10.0.0.1 \"red green\"\n"
	" access-control-tag: 10.0.0.2 green\n"
	" access-control-tag-action: 10.0.0.1 red always_nxdomain\n"
	" access-control-tag-action: 10.0.0.2 green redirect\n"
	" access-control-tag-data: 10.0.0.2 green \"A 192.0.2.77\"\n"
	" access-control-view: 10.0.0.3 own\n"
	" access-control-view: 10.0.0.4 more\n"
	" access-control-view: 10.0.0.5 bare\n"
	" local-zone: deny.x deny\n"
	" local-data: \"a.deny.x A 192.0.2.1\"\n"
	" local-zone: refuse.x refuse\n"
	" local-zone: static.x static\n"
	" local-data: \"a.b.static.x A 192.0.2.1\"\n"
	" local-zone: soa.x static\n"
	" local-data: \"soa.x SOA a. b. 1 2 3 4 5\"\n"
	" local-zone: trans.x transparent\n"
	" local-data: \"a.b.trans.x A 192.0.2.1\"\n"
	" local-zone: tt.x typetransparent\n"
	" local-data: \"a.tt.x A 192.0.2.1\"\n"
	" local-zone: redir.x redirect\n"
	" local-data: \"redir.x A 192.0.2.1\"\n"
	" local-zone: inform.x inform\n"
	" local-zone: nx.x always_nxdomain\n"
	" local-zone: nodata.x always_nodata\n"
	" local-zone: null.x always_null\n"
	" local-data: \"a.null.x A 192.0.2.1\"\n"
	" local-zone: arefuse.x always_refuse\n"
	" local-zone: adeny.x always_deny\n"
	" local-zone: atrans.x always_transparent\n"
	" local-data: \"a.atrans.x A 192.0.2.1\"\n"
	" local-zone: noa.x block_a\n"
	" local-zone: noaw.x block_aaaa_wdata\n"
	" local-data: \"a.noaw.x AAAA ::7\"\n"
	" local-zone: trunc.x truncate\n"
	" local-zone: out.x redirect\n"
	" local-data: \"out.x CNAME www.out.x\"\n"
	" local-zone: wild.x redirect\n"
	" local-data: \"wild.x CNAME *.walled.garden\"\n"
	" local-data: \"alias.static.x CNAME a.b.static.x\"\n"
	" local-data: \"lost.static.x CNAME none.static.x\"\n"
	" local-data: \"away.static.x CNAME www.example.com\"\n"
	" local-data: \"one.static.x CNAME two.static.x\"\n"
	" local-data: \"two.static.x CNAME one.static.x\"\n"
	" local-zone: tagged.x static\n"
	" local-zone-tag: tagged.x red\n"
	" local-zone: green.x static\n"
	" local-zone-tag: green.x green\n"
	" local-zone: over.x static\n"
	" local-zone-override: over.x 10.0.0.2 refuse\n"
	" local-data: \"viewed.x TXT global\"\n"
	" local-data: \"chaos.x CH TXT x\"\n"
	"view:\n name: own\n local-data: \"viewed.x TXT own\"\n"
	"view:\n name: more\n view-first: yes\n local-data: \"viewed.x TXT more\"\n"
	" local-zone: redir.x noview\n"
	"view:\n name: bare\n";

static struct conf *conf;
static struct acl *acl;
static struct policy *policy;

static const struct client_ops no_ops = { .name = "test" };

/* What becomes of a question, in a few words: the end, or rcode, AA, extended error, and the answer's records. */
static const char *answer_to_client(const char *from, const struct question *q, bool stream)
{
	static char text[600];
	static const struct answer_style style = { .udp_size = 1232, .max_udp = 1232, .ede = true };
	static const char *const rcodes[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
					      "NOTIMP",  "REFUSED", "YXDOMAIN" };
	struct client client = { .ops = &no_ops };
	struct request r = { .q = *q, .flags = FLAG_RD, .edns = { .present = true, .udp_size = 1232 } };
	struct answer_to to = { .style = &style, .request = &r, .stream = stream };
	struct policy_client who = { .client = &client };
	uint8_t room[4096];
	struct writer out = writer_over(room, sizeof(room));
	struct slice ede;
	struct message m;
	struct alias_prefix aliases;
	struct arena a;
	size_t len;

	assert_true(addr_parse(&client.from, from, 1234, NULL));
	who.rule = acl_get(acl, &client.from, NULL);
	if (!policy_concerns(policy, who.rule, q))
		return "none";
	arena_init(&a);
	switch (policy_answer(policy, &who, &to, &out, &a, &aliases)) {
	case POLICY_PASS:
		snprintf(text, sizeof(text), "pass");
		break;
	case POLICY_LET_THROUGH:
		snprintf(text, sizeof(text), "let through");
		break;
	case POLICY_DROP:
		snprintf(text, sizeof(text), "drop");
		break;
	case POLICY_FOLLOW: {
		char name[DNAME_TEXT];

		snprintf(text, sizeof(text), "follow %u %s", aliases.count,
			 dname_print(aliases.target, name));
		break;
	}
	case POLICY_SEND:
		assert_true(msg_parse(room, writer_len(&out), &a, 0, &m));
		len = (size_t)snprintf(text, sizeof(text), "%s%s%s", rcodes[m.rcode],
				       m.flags & FLAG_AA ? " aa" : "",
				       m.flags & FLAG_TC ? " tc" : "");
		if (edns_find_option(&m.edns, EDNS_EDE, &ede))
			len += (size_t)snprintf(text + len, sizeof(text) - len, " (%u: %.*s)", get_u16(ede.at),
						(int)ede.len - 2, (const char *)ede.at + 2);
		for (unsigned i = 0; i < m.count[0] + m.count[1]; i++) {
			char line[200];

			text_rr_print(line, sizeof(line), rrset_owner(m.sets[i]), m.sets[i]->ttl_s,
				      m.sets[i]->class_, m.sets[i]->type,
				      rrset_record(m.sets[i], 0));
			for (char *c = line; *c; c++)
				*c = *c == '\t' ? ' ' : *c;
			len += (size_t)snprintf(text + len, sizeof(text) - len, "; %s", line);
		}
		break;
	}
	arena_clear(&a);
	return text;
}

struct row {
	const char *from, *name;
	uint16_t type;
	const char *want;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct question q = made_question(rows[i].name, rows[i].type);
		const char *got = answer_to_client(rows[i].from, &q, false);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s of %s: '%s', not '%s'", rows[i].from, rows[i].name, got,
				 rows[i].want);
	}
}

#define ME "10.9.9.9"

static void each_kind_of_zone_has_its_answer(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ ME, "b.deny.x.", TYPE_A, "drop" },
		{ ME, "a.deny.x.", TYPE_A, "NOERROR aa; a.deny.x. 3600 IN A 192.0.2.1" },
		{ ME, "a.refuse.x.", TYPE_A, "REFUSED aa" },
		{ ME, "a.b.static.x.", TYPE_A, "NOERROR aa; a.b.static.x. 3600 IN A 192.0.2.1" },
		{ ME, "a.b.static.x.", TYPE_MX, "NOERROR aa" },
		{ ME, "b.static.x.", TYPE_A, "NOERROR aa" },
		{ ME, "c.static.x.", TYPE_A, "NXDOMAIN aa" },
		{ ME, "a.soa.x.", TYPE_A, "NXDOMAIN aa; soa.x. 5 IN SOA a. b. 1 2 3 4 5" },
		{ ME, "soa.x.", TYPE_SOA, "NOERROR aa; soa.x. 3600 IN SOA a. b. 1 2 3 4 5" },
		{ ME, "a.b.trans.x.", TYPE_MX, "NOERROR aa" },
		{ ME, "b.trans.x.", TYPE_A, "pass" },
		{ ME, "c.trans.x.", TYPE_A, "pass" },
		{ ME, "a.tt.x.", TYPE_A, "NOERROR aa; a.tt.x. 3600 IN A 192.0.2.1" },
		{ ME, "a.tt.x.", TYPE_MX, "pass" },
		{ ME, "q.redir.x.", TYPE_A, "NOERROR aa; q.redir.x. 3600 IN A 192.0.2.1" },
		{ ME, "q.redir.x.", TYPE_MX, "NOERROR aa" },
		{ ME, "q.inform.x.", TYPE_A, "pass" },
		{ ME, "q.nx.x.", TYPE_A, "NXDOMAIN aa" },
		{ ME, "q.nodata.x.", TYPE_A, "NOERROR aa" },
		{ ME, "q.null.x.", TYPE_A, "NOERROR aa; q.null.x. 3600 IN A 0.0.0.0" },
		{ ME, "q.null.x.", TYPE_AAAA, "NOERROR aa; q.null.x. 3600 IN AAAA ::" },
		{ ME, "q.null.x.", TYPE_MX, "NOERROR aa" },
		{ ME, "a.null.x.", TYPE_A, "NOERROR aa; a.null.x. 3600 IN A 192.0.2.1" },
		{ ME, "q.arefuse.x.", TYPE_A, "REFUSED aa" },
		{ ME, "q.adeny.x.", TYPE_A, "drop" },
		{ ME, "a.atrans.x.", TYPE_A, "pass" },
		{ ME, "q.noa.x.", TYPE_A, "NOERROR aa" },
		{ ME, "q.noa.x.", TYPE_AAAA, "pass" },
		{ ME, "q.noaw.x.", TYPE_AAAA, "NOERROR aa" },
		{ ME, "a.noaw.x.", TYPE_AAAA, "NOERROR aa; a.noaw.x. 3600 IN AAAA ::7" },
		{ ME, "q.noaw.x.", TYPE_A, "pass" },
		{ ME, "q.trunc.x.", TYPE_A, "NOERROR aa tc" },
		{ ME, "www.example.com.", TYPE_A, "none" },
		{ ME, "q.localhost.", TYPE_AAAA, "NOERROR aa; q.localhost. 10800 IN AAAA ::1" },
		{ ME, "1.0.0.127.in-addr.arpa.", TYPE_PTR,
		  "NOERROR aa; 1.0.0.127.in-addr.arpa. 10800 IN PTR localhost." },
		{ ME, "9.9.9.10.in-addr.arpa.", TYPE_PTR,
		  "NXDOMAIN aa; 10.in-addr.arpa. 10800 IN SOA localhost. nobody.invalid. 1 3600 "
		  "1200 604800 10800" },
	};

	check(rows, COUNT(rows));
}

static void aliases_are_followed(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ ME, "alias.static.x.", TYPE_A,
		  "NOERROR aa; alias.static.x. 3600 IN CNAME a.b.static.x.; a.b.static.x. 3600 IN "
		  "A "
		  "192.0.2.1" },
		{ ME, "alias.static.x.", TYPE_CNAME,
		  "NOERROR aa; alias.static.x. 3600 IN CNAME a.b.static.x." },
		{ ME, "lost.static.x.", TYPE_A,
		  "NXDOMAIN aa; lost.static.x. 3600 IN CNAME none.static.x." },
		{ ME, "away.static.x.", TYPE_A, "follow 1 www.example.com." },
		{ ME, "one.static.x.", TYPE_A, "SERVFAIL (0: )" },
		/* the way to a name of the same zone leads outside: it would never end */
		{ ME, "google.out.x.", TYPE_A, "follow 1 www.out.x." },
		{ ME, "www.out.x.", TYPE_A, "SERVFAIL (0: )" },
		{ ME, "foo.wild.x.", TYPE_A, "follow 1 foo.wild.x.walled.garden." },
	};
	static const struct row literally[] = {
		{ ME, "alias.static.x.", TYPE_A,
		  "NOERROR aa; alias.static.x. 3600 IN CNAME a.b.static.x." },
		{ ME, "foo.wild.x.", TYPE_A, "follow 1 foo.wild.x.walled.garden." },
	};

	check(rows, COUNT(rows));
	policy->follows = false;
	check(literally, COUNT(literally));
	policy->follows = true;
}

static void an_alias_that_gets_too_long_is_an_error(void **state)
{
	(void)state;
	char name[260];
	struct question q;

	memset(name, 'a', sizeof(name));
	for (int i = 60; i < 240; i += 60)
		name[i] = '.';
	strcpy(name + 240, ".wild.x.");
	q = made_question(name, TYPE_A);
	assert_string_equal(answer_to_client(ME, &q, false), "YXDOMAIN aa (0: the CNAME expanded from a wildcard is too long)");
}

static void tags_views_and_overrides_tell_clients_apart(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ ME, "q.tagged.x.", TYPE_A, "pass" },
		{ "10.0.0.1", "q.tagged.x.", TYPE_A, "NXDOMAIN aa" },
		{ "10.0.0.2", "q.tagged.x.", TYPE_A, "pass" },
		{ "10.0.0.1", "q.green.x.", TYPE_A, "NXDOMAIN aa" },
		{ "10.0.0.2", "q.green.x.", TYPE_A, "NOERROR aa; q.green.x. 3600 IN A 192.0.2.77" },
		{ "10.0.0.2", "q.green.x.", TYPE_AAAA, "NOERROR aa" },
		{ ME, "q.over.x.", TYPE_A, "NXDOMAIN aa" },
		{ "10.0.0.2", "q.over.x.", TYPE_A, "REFUSED aa" },
		{ ME, "viewed.x.", TYPE_TXT, "NOERROR aa; viewed.x. 3600 IN TXT \"global\"" },
		{ "10.0.0.3", "viewed.x.", TYPE_TXT, "NOERROR aa; viewed.x. 3600 IN TXT \"own\"" },
		{ "10.0.0.4", "viewed.x.", TYPE_TXT, "NOERROR aa; viewed.x. 3600 IN TXT \"more\"" },
		{ "10.0.0.5", "viewed.x.", TYPE_TXT,
		  "NOERROR aa; viewed.x. 3600 IN TXT \"global\"" },
		{ "10.0.0.3", "q.refuse.x.", TYPE_A, "pass" },
		{ "10.0.0.4", "q.refuse.x.", TYPE_A, "REFUSED aa" },
		{ "10.0.0.4", "q.redir.x.", TYPE_A, "NOERROR aa; q.redir.x. 3600 IN A 192.0.2.1" },
		{ "10.0.0.3", "q.localhost.", TYPE_A,
		  "NOERROR aa; q.localhost. 10800 IN A 127.0.0.1" },
	};

	check(rows, COUNT(rows));
}

static void other_classes_are_apart(void **state)
{
	(void)state;
	struct question q = made_question("chaos.x.", TYPE_TXT);

	assert_string_equal(answer_to_client(ME, &q, false), "pass");
	q.class_ = CLASS_CH;
	assert_string_equal(answer_to_client(ME, &q, false),
			    "NOERROR aa; chaos.x. 3600 CH TXT \"x\"");
}

static void truncation_is_for_udp(void **state)
{
	(void)state;
	struct question q = made_question("q.trunc.x.", TYPE_A);

	assert_string_equal(answer_to_client(ME, &q, true), "pass");
}

static char heard[300];

static void hear(const char *line, void *arg)
{
	(void)arg;
	snprintf(heard, sizeof(heard), "%s", line);
}

static void inform_actions_are_logged(void **state)
{
	(void)state;
	struct question q = made_question("a.inform.x.", TYPE_A);

	log_capture(hear, NULL);
	answer_to_client(ME, &q, false);
	log_capture(NULL, NULL);
	assert_non_null(strstr(heard, "inform.x. inform 10.9.9.9@1234 a.inform.x. A IN"));
}

/* ---- answers ---- */

static const char *apply(const char *conf_lines, const char *from, const struct made *how)
{
	static char text[DNAME_TEXT + 200];
	struct fault f = { 0 };
	struct conf *c = conf_from(conf_lines);
	struct acl *lists = acl_new(c, &f);
	struct policy *p = policy_new(c, &f);
	struct client client = { .ops = &no_ops };
	struct policy_client who = { .client = &client };
	struct policy_outcome j;
	struct arena a;
	char line[DNAME_TEXT + 100] = "-";

	if (!lists || !p)
		fail_msg("%s", f.text);
	acl_bind_views(lists, views_find, p->views);
	arena_init(&a);
	assert_true(addr_parse(&client.from, from, 1234, NULL));
	who.rule = acl_get(lists, &client.from, NULL);
	policy_apply(p, &who, made_message(&a, 100, how), 100, &a, &j);
	if (j.end == OUTCOME_FOLLOW)
		dname_print(j.aliases.target, line);
	else if (j.m->count[0])
		text_rr_print(line, sizeof(line), rrset_owner(j.m->sets[j.m->count[0] - 1]),
			      j.m->sets[j.m->count[0] - 1]->expires_s - 100, CLASS_IN,
			      j.m->sets[j.m->count[0] - 1]->type,
			      rrset_record(j.m->sets[j.m->count[0] - 1], 0));
	snprintf(text, sizeof(text), "%s %u %u %s",
		 (const char *const[]){ "as is", "changed", "drop", "follow" }[j.end], j.m->rcode,
		 j.end == OUTCOME_FOLLOW ? j.aliases.count : j.m->count[0], line);
	arena_clear(&a);
	policy_free(p);
	acl_free(lists);
	conf_free(c);
	return text;
}

#define RED "define-tag: red\n access-control-tag: 10.0.0.1 red\n "

static void addresses_in_answers_are_checked(void **state)
{
	(void)state;
	static const struct made answer = {
		.name = "www.example.",
		.type = TYPE_A,
		.section = { "www.example. 60 CNAME host.example.\n"
			     "host.example. 60 A 192.0.2.5\nhost.example. 60 A 192.0.2.6" }
	};
	static const struct {
		const char *why, *conf, *from, *want;
	} rows[] = {
		{ "nothing said", "response-ip: 198.51.100.0/24 deny\n", ME,
		  "as is 0 2 host.example.\t60\tIN\tA\t192.0.2.5" },
		{ "dropped", "response-ip: 192.0.2.0/24 deny\n", ME,
		  "drop 0 2 host.example.\t60\tIN\tA\t192.0.2.5" },
		{ "the longest netblock",
		  "response-ip: 192.0.2.0/24 deny\n response-ip: 192.0.2.5 always_refuse\n", ME,
		  "changed 5 0 -" },
		{ "any of the addresses", "response-ip: 192.0.2.6 always_nxdomain\n", ME,
		  "changed 3 1 www.example.\t60\tIN\tCNAME\thost.example." },
		{ "nodata", "response-ip: 192.0.2.6 always_nodata\n", ME,
		  "changed 0 1 www.example.\t60\tIN\tCNAME\thost.example." },
		{ "let alone", "response-ip: 192.0.2.6 always_transparent\n", ME,
		  "as is 0 2 host.example.\t60\tIN\tA\t192.0.2.5" },
		{ "redirected",
		  "response-ip: 192.0.2.6 redirect\n response-ip-data: 192.0.2.6 \"30 A "
		  "198.51.100.9\"\n",
		  ME, "changed 0 2 host.example.\t30\tIN\tA\t198.51.100.9" },
		{ "to nothing of this type", "response-ip: 192.0.2.6 redirect\n", ME,
		  "changed 0 1 www.example.\t60\tIN\tCNAME\thost.example." },
		{ "to a name",
		  "response-ip: 192.0.2.6 redirect\n response-ip-data: 192.0.2.6 \"CNAME wall.\"\n",
		  ME, "follow 0 2 wall." },
		{ "a tag is no condition",
		  RED "response-ip: 192.0.2.6 deny\n response-ip-tag: 192.0.2.6 red\n", ME,
		  "drop 0 2 host.example.\t60\tIN\tA\t192.0.2.5" },
		{ "it may choose another action",
		  RED "response-ip: 192.0.2.6 deny\n response-ip-tag: 192.0.2.6 red\n"
		      " access-control-tag-action: 10.0.0.1 red refuse\n",
		  "10.0.0.1", "changed 5 0 -" },
		{ "a view's own",
		  "response-ip: 192.0.2.6 deny\n access-control-view: 10.0.0.1 v\n"
		  "view:\n name: v\n response-ip: 192.0.2.5 always_refuse\n",
		  "10.0.0.1", "changed 5 0 -" },
		{ "a view without any",
		  "response-ip: 192.0.2.6 deny\n access-control-view: 10.0.0.1 v\n"
		  "view:\n name: v\n",
		  "10.0.0.1", "as is 0 2 host.example.\t60\tIN\tA\t192.0.2.5" },
		{ "a view without any that comes first",
		  "response-ip: 192.0.2.6 deny\n access-control-view: 10.0.0.1 v\n"
		  "view:\n name: v\n view-first: yes\n",
		  "10.0.0.1", "drop 0 2 host.example.\t60\tIN\tA\t192.0.2.5" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[400];
		const char *got;

		snprintf(text, sizeof(text), "server:\n %s", rows[i].conf);
		got = apply(text, rows[i].from, &answer);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
}

static void an_address_that_leads_to_another_is_checked_as_both(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *address, *want;
	} rows[] = {
		{ "what it leads to", "response-ip: 192.0.2.0/24 always_refuse\n", "64:ff9b::192.0.2.5",
		  "changed 0 0 -" },
		{ "behind another prefix", "response-ip: 192.0.2.0/24 always_refuse\n",
		  "2001:db8::192.0.2.5", "as is 0 1 w.example.\t60\tIN\tAAAA\t2001:db8::c000:205" },
		{ "behind a prefix of 40 bits",
		  "dns64-prefix: 2001:db8:100::/40\n response-ip: 192.0.2.33 always_refuse\n",
		  "2001:db8:1c0:2:21::", "changed 0 0 -" },
		{ "itself, which is longer",
		  "response-ip: 192.0.2.0/24 deny\n response-ip: 64:ff9b::192.0.2.5 always_refuse\n",
		  "64:ff9b::192.0.2.5", "changed 5 0 -" },
		{ "what it leads to, which is longer",
		  "response-ip: 192.0.2.0/24 always_refuse\n response-ip: 64:ff9b::/119 deny\n",
		  "64:ff9b::192.0.2.5", "changed 0 0 -" },
		{ "itself, where both are as long",
		  "response-ip: 192.0.0.0/8 deny\n response-ip: 64:ff9b::c000:0/104 always_refuse\n",
		  "64:ff9b::192.0.2.5", "changed 5 0 -" },
		{ "the name is still there", "response-ip: 192.0.2.5 always_nxdomain\n",
		  "64:ff9b::192.0.2.5", "changed 0 0 -" },
		{ "and so are we", "response-ip: 192.0.2.5 deny\n", "64:ff9b::192.0.2.5",
		  "changed 0 0 -" },
		{ "redirected to what leads to an address",
		  "response-ip: 192.0.2.5 redirect\n response-ip-data: 192.0.2.5 \"30 A 192.0.2.9\"\n",
		  "64:ff9b::192.0.2.5", "changed 0 1 w.example.\t30\tIN\tAAAA\t64:ff9b::c000:209" },
		{ "redirected itself",
		  "response-ip: 64:ff9b::192.0.2.5 redirect\n response-ip-data: 64:ff9b::192.0.2.5 \"30 AAAA ::9\"\n",
		  "64:ff9b::192.0.2.5", "changed 0 1 w.example.\t30\tIN\tAAAA\t::9" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[400], records[100];
		struct made answer = { .name = "w.example.", .type = TYPE_AAAA, .section = { records } };
		const char *got;

		snprintf(text, sizeof(text), "server:\n %s", rows[i].conf);
		snprintf(records, sizeof(records), "w.example. 60 AAAA %s", rows[i].address);
		got = apply(text, ME, &answer);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(each_kind_of_zone_has_its_answer),
		cmocka_unit_test(aliases_are_followed),
		cmocka_unit_test(an_alias_that_gets_too_long_is_an_error),
		cmocka_unit_test(tags_views_and_overrides_tell_clients_apart),
		cmocka_unit_test(other_classes_are_apart),
		cmocka_unit_test(truncation_is_for_udp),
		cmocka_unit_test(inform_actions_are_logged),
		cmocka_unit_test(addresses_in_answers_are_checked),
		cmocka_unit_test(an_address_that_leads_to_another_is_checked_as_both),
	};
	struct fault f = { 0 };
	int failed;

	hash_start(true);
	rcu_thread_join();
	conf = conf_from(conf_text);
	acl = acl_new(conf, &f);
	policy = acl ? policy_new(conf, &f) : NULL;
	if (!policy) {
		fprintf(stderr, "%s\n", f.text);
		return 1;
	}
	acl_bind_views(acl, views_find, policy->views);
	failed = cmocka_run_group_tests(claims, NULL, NULL);
	policy_free(policy);
	acl_free(acl);
	conf_free(conf);
	rcu_thread_leave();
	return failed;
}
