/* Claims about policy zones: which rule meets a name or an address.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/rpz.h"

#include <strings.h>

#include "services/authzone/data.h"
#include "services/tests/made.h"
#include "util/net/addr.h"

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

static struct zonedata *zone_of(const char *const *text, size_t count)
{
	struct zonebuild *b = zonebuild_new(N("p.example."));
	struct fault f = { 0 };
	struct zonedata *z;
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < count; i++) {
		struct text_rr rr;

		if (!text_rr_parse(&a, text[i], NULL, &rr, &f))
			fail_msg("'%s': %s", text[i], f.text);
		zonebuild_add(b, &rr);
	}
	arena_clear(&a);
	z = zonebuild_finish(b, &f);
	if (!z)
		fail_msg("%s", f.text);
	return z;
}

static struct zonedata *make(void)
{
	return zone_of(lines, COUNT(lines));
}

#define SOA "p.example. SOA a.example. b.example. 1 2 3 4 5"

/* A zone of one rule. */
static struct zonedata *zone_with(const char *rule)
{
	const char *const text[] = { SOA, rule };

	return zone_of(text, COUNT(text));
}

static void an_address_is_written_backwards(void **state)
{
	(void)state;
	static const struct {
		const char *owner;
		const char *in, *out; /* NULL: the owner is no rule; `out` NULL: all are in */
		unsigned bits;
		const char *text;
	} rows[] = {
		{ "32.1.2.0.192", "192.0.2.1", "192.0.2.2", 128, "192.0.2.1/32" },
		{ "24.0.2.0.192", "192.0.2.255", "192.0.3.0", 120, "192.0.2.0/24" },
		{ "0.0.0.0.0", "203.0.113.1", "2001:db8::1", 96, "0.0.0.0/0" },
		{ "32.255.255.255.255", "255.255.255.255", "255.255.255.254", 128, "255.255.255.255/32" },
		{ "33.1.2.0.192", NULL, NULL, 0, NULL },
		{ "32.256.2.0.192", NULL, NULL, 0, NULL },
		{ "32.1.2.0.192.1", NULL, NULL, 0, NULL },
		{ "32.1.2.0", NULL, NULL, 0, NULL },
		{ "32.a.2.0.192", NULL, NULL, 0, NULL },
		{ "x.1.2.0.192", NULL, NULL, 0, NULL },
		{ "-1.1.2.0.192", NULL, NULL, 0, NULL },
		{ "4294967328.1.2.0.192", NULL, NULL, 0, NULL },
		{ "18446744073709551648.1.2.0.192", NULL, NULL, 0, NULL },
		{ "128.8.7.6.5.4.3.2.1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:9", 128, "1:2:3:4:5:6:7:8/128" },
		{ "48.zz.8.db8.2001", "2001:db8:8::1", "2001:db8:9::1", 48, "2001:db8:8::/48" },
		{ "48.ZZ.8.DB8.2001", "2001:db8:8::1", "2001:db8:9::1", 48, "2001:db8:8::/48" },
		{ "128.1.zz.2001", "2001::1", "2001::2", 128, "2001::1/128" },
		{ "128.ffff.zz", "::ffff", "::fffe", 128, "::ffff/128" },
		{ "128.zz", "::", "::1", 128, "::/128" },
		{ "0.zz", "2001:db8::1", "192.0.2.1", 0, "::/0" },
		{ "128.8.7.6.5.4.3.2.zz", "0:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", 128, "0:2:3:4:5:6:7:8/128" },
		{ "128.zz.7.6.5.4.3.2.1", "1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:8", 128, "1:2:3:4:5:6:7:0/128" },
		{ "16.zz.0.0.0.2001", "2001::1", "2002::1", 16, "2001::/16" },
		{ "129.zz", NULL, NULL, 0, NULL },
		{ "128.10000.zz", NULL, NULL, 0, NULL },
		{ "128.g.zz", NULL, NULL, 0, NULL },
		{ "128.zz.1.zz", NULL, NULL, 0, NULL },
		{ "128.7.6.5.4.3.2.1", NULL, NULL, 0, NULL },
		{ "128.9.8.7.6.5.4.3.2.1", NULL, NULL, 0, NULL },
		{ "128.8.7.6.5.zz.4.3.2.1", NULL, NULL, 0, NULL },
		{ "24", NULL, NULL, 0, NULL },
		{ "zz", NULL, NULL, 0, NULL },
		{ "*.0.2.0.192", NULL, NULL, 0, NULL },
	};

	for (size_t i = 0; i < COUNT(rows) * 3; i++) {
		static const char *const branches[] = { "client-ip", "ip", "nsip" };
		static const enum rpz_trigger triggers[] = { RPZ_CLIENT_IP, RPZ_IP, RPZ_NSIP };
		size_t n = i / 3;
		struct rpz_rule rule;
		struct zonedata *z;
		char line[200], text[RPZ_TEXT];
		struct addr in, out;
		struct rpz *r;

		snprintf(line, sizeof(line), "%s.rpz-%s.p.example. CNAME .", rows[n].owner, branches[i % 3]);
		z = zone_with(line);
		r = rpz_new(z);
		if (rpz_unusable(r) != !rows[n].in)
			fail_msg("%s: %zu cannot be used", line, rpz_unusable(r));
		if (rows[n].in) {
			assert_true(addr_parse(&in, rows[n].in, 53, NULL) && addr_parse(&out, rows[n].out, 53, NULL));
			for (unsigned t = 0; t < 3; t++)
				if (rpz_find_addr(r, triggers[t], &in, &rule) != (t == i % 3))
					fail_msg("%s: %s, trigger %u", line, rows[n].in, t);
			assert_true(rpz_has(r, triggers[i % 3]) && !rpz_has(r, triggers[(i + 1) % 3]));
			assert_true(rpz_find_addr(r, triggers[i % 3], &in, &rule));
			assert_int_equal(rule.action, RPZ_nxdomain);
			assert_int_equal(rule.bits, rows[n].bits);
			assert_string_equal(rpz_trigger_text(r, triggers[i % 3], &rule, text), rows[n].text);
			if (rpz_find_addr(r, triggers[i % 3], &out, &rule))
				fail_msg("%s: %s", line, rows[n].out);
		}
		rpz_free(r);
		zonedata_free(z);
	}
	rpz_free(NULL);
}

static void what_an_alias_means_is_told_by_its_target(void **state)
{
	(void)state;
	static const struct {
		const char *record;
		enum rpz_action action; /* RPZ_ACTION_COUNT: no rule */
		bool unusable, passes;
	} rows[] = {
		{ "CNAME .", RPZ_nxdomain, false, false },
		{ "CNAME *.", RPZ_nodata, false, false },
		{ "CNAME rpz-passthru.", RPZ_passthru, false, true },
		{ "CNAME RPZ-PASSTHRU.", RPZ_passthru, false, true },
		{ "CNAME rpz-drop.", RPZ_drop, false, false },
		{ "CNAME rpz-tcp-only.", RPZ_tcp_only, false, false },
		{ "CNAME *.a.", RPZ_cname, false, false },
		{ "CNAME a.", RPZ_cname, false, false },
		{ "CNAME rpz.", RPZ_cname, false, false },
		{ "CNAME rpx-drop.", RPZ_cname, false, false },
		{ "CNAME rpz-drop.a.", RPZ_cname, false, false },
		{ "CNAME rpz-.", RPZ_ACTION_COUNT, true, false },
		{ "CNAME rpz-drops.", RPZ_ACTION_COUNT, true, false },
		{ "CNAME a.rPz-drop.", RPZ_ACTION_COUNT, true, false },
		{ "A 192.0.2.1", RPZ_data, false, false },
		{ "TXT rpz-drop.", RPZ_data, false, false },
		{ "DNAME a.", RPZ_ACTION_COUNT, false, false },
		{ "NS a.", RPZ_ACTION_COUNT, false, false },
		{ "NSEC a. A", RPZ_ACTION_COUNT, false, false },
		{ "DS 1 13 2 00", RPZ_ACTION_COUNT, false, false },
	};

	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		struct rpz_rule rule;
		struct addr a;
		struct zonedata *z;
		char line[200];
		bool found;
		struct rpz *r;

		/* of a name, and of an address */
		snprintf(line, sizeof(line), "%s.p.example. %s", i % 2 ? "32.1.2.0.192.rpz-ip" : "x.test", rows[i / 2].record);
		z = zone_with(line);
		r = rpz_new(z);
		assert_true(addr_parse(&a, "192.0.2.1", 53, NULL));
		found = i % 2 ? rpz_find_addr(r, RPZ_IP, &a, &rule) : rpz_find_name(r, RPZ_QNAME, N("x.test."), &rule);
		if (found != (rows[i / 2].action != RPZ_ACTION_COUNT) || (found && rule.action != rows[i / 2].action))
			fail_msg("%s: %s", line, found ? rpz_action_word(rule.action) : "nothing");
		assert_int_equal(rpz_unusable(r), rows[i / 2].unusable);
		assert_int_equal(rpz_has(r, i % 2 ? RPZ_IP : RPZ_QNAME), found);
		assert_int_equal(rpz_passes_addresses(r), i % 2 && rows[i / 2].passes);
		assert_ptr_equal(rpz_zone(r), z);
		rpz_free(r);
		zonedata_free(z);
	}
}

static void records_that_sign_or_delegate_are_no_policy(void **state)
{
	static const uint16_t none[] = { TYPE_RRSIG, TYPE_NSEC, TYPE_NSEC3, TYPE_NSEC3PARAM, TYPE_DNSKEY, TYPE_DS, TYPE_SOA, TYPE_NS, TYPE_DNAME };

	(void)state;
	for (unsigned type = 0; type < 300; type++) {
		bool is = true;

		for (size_t i = 0; i < COUNT(none); i++)
			is &= type != none[i];
		if (rpz_is_policy((uint16_t)type) != is)
			fail_msg("type %u", type);
	}
}

/* As many as there are: each is found, in any case, and nothing beside them. */
static void names_are_found_among_many(void **state)
{
	enum { MANY = 700 };
	static char text[MANY + 1][60];
	const char *each[MANY + 1];
	struct zonedata *z;
	struct rpz *r;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		snprintf(text[i], sizeof(text[i]), "N%u.x.%s.p.example. CNAME %s", i, i % 2 ? "test" : "Test", i % 7 ? "." : "rpz-drop.");
	snprintf(text[MANY], sizeof(text[MANY]), SOA);
	for (unsigned i = 0; i <= MANY; i++)
		each[i] = text[i];
	z = zone_of(each, MANY + 1);
	r = rpz_new(z);
	for (unsigned i = 0; i < 2 * MANY; i++) {
		struct rpz_rule rule;
		char name[60], back[RPZ_TEXT];

		snprintf(name, sizeof(name), "n%u.x.test.", i);
		if (rpz_find_name(r, RPZ_QNAME, N(name), &rule) != (i < MANY))
			fail_msg("%s", name);
		if (i >= MANY)
			continue;
		assert_int_equal(rule.action, i % 7 ? RPZ_nxdomain : RPZ_drop);
		assert_int_equal(strcasecmp(rpz_trigger_text(r, RPZ_QNAME, &rule, back), name), 0);
	}
	rpz_free(r);
	zonedata_free(z);
}

#define L63 "123456789012345678901234567890123456789012345678901234567890123"

/* However long a name is, the wildcards above it hold; but an alias may have no room for it. */
static void the_longest_names_meet_wildcards(void **state)
{
	static const char *const text[] = { SOA, "*.p.example. CNAME *.b.", "*.rpz-nsdname.p.example. CNAME ." };
	struct zonedata *z = zone_of(text, COUNT(text));
	struct rpz *r = rpz_new(z);
	uint8_t to[DNAME_MAX];
	struct rpz_rule rule;

	(void)state;
	for (unsigned last = 40; last <= 61; last++) {
		char name[260];
		size_t len;

		snprintf(name, sizeof(name), "%s.%s.%s.%.*s.", L63, L63, L63, (int)last, L63);
		len = dname_len(N(name));
		assert_true(rpz_find_name(r, RPZ_QNAME, N(name), &rule));
		if ((rpz_target(&rule, N(name), to) > 0) != (len + 2 <= DNAME_MAX))
			fail_msg("%zu bytes carried", len);
		if (!rpz_find_name(r, RPZ_NSDNAME, N(name), &rule))
			fail_msg("%zu bytes of a server", len);
	}
	rpz_free(r);
	zonedata_free(z);
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
		if (found && rows[i].trigger == RPZ_NSDNAME) {
			char text[RPZ_TEXT];

			assert_string_equal(rpz_trigger_text(r, RPZ_NSDNAME, &rule, text), "ns.bad.example.");
		}
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
		cmocka_unit_test(an_address_is_written_backwards),
		cmocka_unit_test(what_an_alias_means_is_told_by_its_target),
		cmocka_unit_test(records_that_sign_or_delegate_are_no_policy),
		cmocka_unit_test(names_are_found_among_many),
		cmocka_unit_test(the_longest_names_meet_wildcards),
		cmocka_unit_test(a_name_meets_the_rule_that_is_closest),
		cmocka_unit_test(an_address_meets_the_longest_netblock),
		cmocka_unit_test(an_alias_may_carry_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
