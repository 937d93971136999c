/* Claims about policy zones: which rule meets a name or an address.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/rpz.h"

#include "services/authzone_data.h"
#include "services/tests/made.h"
#include "util/addr.h"

static const char *const lines[] = {
	"p.example. SOA a.example. b.example. 1 2 3 4 5",
	"p.example. NS a.example.",
	"gone.example.p.example. CNAME .",
	"*.gone.example.p.example. CNAME *.",
	"kept.gone.example.p.example. CNAME rpz-passthru.",
	"dropped.example.p.example. CNAME RPZ-Drop.",
	"slow.example.p.example. CNAME rpz-tcp-only.",
	"moved.example.p.example. CNAME walled.garden.example.",
	"*.moved.example.p.example. CNAME *.garden.example.",
	"itself.example.p.example. CNAME itself.example.",
	"local.example.p.example. A 192.0.2.1",
	"misspelt.example.p.example. CNAME rpz-passtru.",
	"too.long.example.p.example. CNAME now.RPZ-drop.",
	"lead.example.p.example. CNAME rpz-drop.example.",
	"signed.example.p.example. NSEC a.example.",
	"ns.bad.example.rpz-nsdname.p.example. CNAME .",
	"24.0.2.0.192.rpz-client-ip.p.example. CNAME rpz-drop.",
	"32.7.2.0.192.rpz-client-ip.p.example. CNAME rpz-passthru.",
	"16.0.0.51.198.rpz-ip.p.example. CNAME .",
	"32.zz.db8.2001.rpz-ip.p.example. CNAME *.",
	"128.1.zz.8.db8.2001.rpz-nsip.p.example. CNAME .",
	"128.8.7.6.5.4.3.2.1.rpz-nsip.p.example. CNAME .",
	"33.0.0.51.198.rpz-ip.p.example. CNAME .",
	"8.zz.zz.2001.rpz-ip.p.example. CNAME .",
	"what.rpz-ip.p.example. CNAME .",
};

static struct zonedata *make(void)
{
	struct zonebuild *b = zonebuild_new(N("p.example."));
	struct fault f = { 0 };
	struct zonedata *z;
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct text_rr rr;

		if (!text_rr_parse(&a, lines[i], NULL, &rr, &f))
			fail_msg("'%s': %s", lines[i], f.text);
		zonebuild_add(b, &rr);
	}
	arena_clear(&a);
	z = zonebuild_finish(b, &f);
	if (!z)
		fail_msg("%s", f.text);
	return z;
}

static void a_name_meets_the_rule_that_is_closest(void **state)
{
	(void)state;
	static const struct {
		enum rpz_trigger trigger;
		const char *name, *action; /* NULL: none */
	} rows[] = {
		{ RPZ_QNAME, "gone.example.", "nxdomain" },
		{ RPZ_QNAME, "GONE.Example.", "nxdomain" },
		{ RPZ_QNAME, "www.gone.example.", "nodata" },
		{ RPZ_QNAME, "a.b.gone.example.", "nodata" },
		{ RPZ_QNAME, "kept.gone.example.", "passthru" },
		{ RPZ_QNAME, "www.kept.gone.example.", NULL },
		{ RPZ_QNAME, "dropped.example.", "drop" },
		{ RPZ_QNAME, "www.dropped.example.", NULL },
		{ RPZ_QNAME, "slow.example.", "tcp-only" },
		{ RPZ_QNAME, "moved.example.", "local-data" },
		{ RPZ_QNAME, "itself.example.", "passthru" },
		{ RPZ_QNAME, "local.example.", "local-data" },
		{ RPZ_QNAME, "misspelt.example.", NULL },
		{ RPZ_QNAME, "too.long.example.", NULL },
		{ RPZ_QNAME, "lead.example.", "local-data" },
		{ RPZ_QNAME, "signed.example.", NULL },
		{ RPZ_QNAME, "example.", NULL },
		{ RPZ_QNAME, ".", NULL },
		{ RPZ_QNAME, "24.0.2.0.192.rpz-client-ip.", NULL },
		{ RPZ_NSDNAME, "ns.bad.example.", "nxdomain" },
		{ RPZ_NSDNAME, "gone.example.", NULL },
		{ RPZ_QNAME, "ns.bad.example.", NULL },
	};
	struct zonedata *z = make();
	struct rpz *r = rpz_new(z);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rpz_rule rule;
		bool found = rpz_find_name(r, rows[i].trigger, N(rows[i].name), &rule);
		const char *got = found ? rpz_action_word(rule.action) : "nothing";

		if (strcmp(got, rows[i].action ? rows[i].action : "nothing") != 0)
			fail_msg("%s: %s", rows[i].name, got);
	}
	rpz_free(r);
	zonedata_free(z);
}

static void an_address_meets_the_longest_netblock(void **state)
{
	(void)state;
	static const struct {
		enum rpz_trigger trigger;
		const char *addr, *action;
	} rows[] = {
		{ RPZ_CLIENT_IP, "192.0.2.1", "drop" },
		{ RPZ_CLIENT_IP, "192.0.2.7", "passthru" },
		{ RPZ_CLIENT_IP, "192.0.3.1", NULL },
		{ RPZ_IP, "192.0.2.1", NULL },
		{ RPZ_IP, "198.51.9.9", "nxdomain" },
		{ RPZ_IP, "2001:db8::5", "nodata" },
		{ RPZ_NSIP, "2001:db8:8::1", "nxdomain" },
		{ RPZ_NSIP, "2001:db8:8::2", NULL },
		{ RPZ_NSIP, "1:2:3:4:5:6:7:8", "nxdomain" },
	};
	struct zonedata *z = make();
	struct rpz *r = rpz_new(z);

	assert_int_equal(rpz_unusable(r), 5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rpz_rule rule;
		struct addr a;

		assert_true(addr_parse(&a, rows[i].addr, 53, NULL));
		bool found = rpz_find_addr(r, rows[i].trigger, &a, &rule);
		const char *got = found ? rpz_action_word(rule.action) : "nothing";
		if (strcmp(got, rows[i].action ? rows[i].action : "nothing") != 0)
			fail_msg("%s: %s", rows[i].addr, got);
	}
	rpz_free(r);
	zonedata_free(z);
}

static void an_alias_may_carry_the_name(void **state)
{
	(void)state;
	static const struct { const char *name, *target; } rows[] = {
		{ "moved.example.", "walled.garden.example." },
		{ "www.moved.example.", "www.moved.example.garden.example." },
	};
	struct zonedata *z = make();
	struct rpz *r = rpz_new(z);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rpz_rule rule;
		uint8_t to[DNAME_MAX];

		assert_true(rpz_find_name(r, RPZ_QNAME, N(rows[i].name), &rule));
		assert_true(rpz_target(&rule, N(rows[i].name), to) > 0);
		assert_name_is(to, rows[i].target);
	}
	rpz_free(r);
	zonedata_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_meets_the_rule_that_is_closest),
		cmocka_unit_test(an_address_meets_the_longest_netblock),
		cmocka_unit_test(an_alias_may_carry_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
