/* Claims about rules for addresses in answers: how they are written, and which one an address has.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/response_ip.h"

#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/fault.h"
#include "util/base/hash.h"

enum { LINES = 4 };

/* From lines of the three options, each of them begun by its letter: a(ction), d(ata), t(ag). */
static struct response_ip *make(const char *const lines[LINES], struct fault *f)
{
	static const char letters[] = "adt";
	struct conf_item items[COUNT(letters)][LINES], tags[] = { { .text = (char *)(uintptr_t)"a b" } };
	struct conf_list lists[COUNT(letters)] = { { .count = 0 } }, defined = { .items = tags, .count = 1 };
	struct response_ip_how how = { .actions = &lists[0], .data = &lists[1], .tags = &lists[2], .defined = &defined };

	for (unsigned l = 0; l < 3; l++) {
		lists[l].items = items[l];
		for (unsigned i = 0; i < LINES && lines[i]; i++)
			if (lines[i][0] == letters[l])
				items[l][lists[l].count++] =
					(struct conf_item){ .text = (char *)(uintptr_t)lines[i] + 2, .file = "t", .line = i + 1 };
	}
	return response_ip_new(&how, f);
}

static void what_cannot_be_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *lines[LINES], *want; /* NULL: it can; "": there is nothing */
	} rows[] = {
		{ { NULL }, "" },
		{ { "t 192.0.2.0/24 a" }, "" },
		{ { "a 192.0.2.0/24 deny" }, NULL },
		{ { "a 192.0.2.0/24 \t  deny" }, NULL },
		{ { "a 192.0.2.0/24\tdeny" }, NULL },
		{ { "a 192.0.2.300/24 deny" }, "response-ip: '192.0.2.300/24 deny' does not begin with a netblock" },
		{ { "a 1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111 deny" },
		  "does not begin with a netblock" },
		{ { "a 192.0.2.0/24 sometimes" }, "response-ip: 'sometimes' is no action" },
		{ { "a 192.0.2.0/24 deny", "a 10.0.0.0/8 never" }, "response-ip: 'never' is no action" },
		{ { "d 192.0.2.0/24 A 192.0.2.1" },
		  "response-ip-data: '192.0.2.0/24 A 192.0.2.1': no response-ip says redirect for the netblock" },
		{ { "a 192.0.2.0/24 deny", "d 192.0.2.0/24 A 192.0.2.1" },
		  "response-ip-data: '192.0.2.0/24 A 192.0.2.1': no response-ip says redirect for the netblock" },
		{ { "a 192.0.2.0/24 redirect", "d 192.0.2.0/24 A 192.0.2.1" }, NULL },
		{ { "a 192.0.2.0/24 redirect", "d 192.0.2.0/24 CNAME a.b." }, NULL },
		{ { "a 192.0.2.0/24 redirect", "d 192.0.2.0/24 AAAA ::1" }, "the netblock's own family" },
		{ { "a ::/24 redirect", "d ::/24 AAAA ::1" }, NULL },
		{ { "a ::/24 redirect", "d ::/24 A 192.0.2.1" }, "the netblock's own family" },
		{ { "a 192.0.2.0/24 redirect", "d 192.0.2.0/24 A 192.0.2.1", "d 192.0.2.0/24 AAAA ::1" },
		  "response-ip-data: '192.0.2.0/24 AAAA ::1': addresses of the netblock's own family, or a CNAME, can stand for it" },
		{ { "a 192.0.2.0/24 redirect", "d 192.0.2.0/24 A nonsense" }, "response-ip-data: '192.0.2.0/24 A nonsense': " },
		{ { "a 192.0.2.0/24 redirect", "d x A 192.0.2.1" }, "response-ip-data: 'x A 192.0.2.1' does not begin with a netblock" },
		{ { "a 192.0.2.0/24 deny", "t 192.0.2.0/24 a b" }, NULL },
		{ { "a 192.0.2.0/24 deny", "t 192.0.2.0/24 c" }, "response-ip-tag: 'c' is no tag of define-tag" },
		{ { "a 192.0.2.0/24 deny", "t x a" }, "response-ip-tag: 'x a' does not begin with a netblock" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct response_ip *r = make(rows[i].lines, &f);

		if ((r == NULL) != (rows[i].want != NULL))
			fail_msg("row %zu: %s", i, f.text);
		if (rows[i].want && *rows[i].want ? !strstr(f.text, rows[i].want) || !f.placed : *f.text)
			fail_msg("row %zu: '%s'", i, f.text);
		response_ip_free(r);
	}
}

/* The first address that has a rule, in the ANSWER section; of two rules for a netblock the first. */
static void the_first_address_with_a_rule_has_it(void **state)
{
	(void)state;
	static const char *const lines[LINES] = { "a 192.0.2.0/24 deny", "a 192.0.2.0/24 refuse", "a 192.0.2.128/25 always_nxdomain",
						  "a 2001:db8::/32 always_refuse" };
	static const struct {
		struct made made;
		int action; /* -1: none */
		unsigned set;
	} rows[] = {
		{ { "w.", TYPE_A, 0, { "w. 60 A 192.0.2.1" } }, ZONE_deny, 0 },
		{ { "w.", TYPE_A, 0, { "w. 60 A 192.0.2.129" } }, ZONE_always_nxdomain, 0 },
		{ { "w.", TYPE_A, 0, { "w. 60 A 192.0.3.1" } }, -1, 1 },
		{ { "w.", TYPE_A, 0, { "w. 60 A 192.0.3.1\nw. 60 A 192.0.2.1\nw. 60 A 192.0.2.129" } }, ZONE_deny, 0 },
		{ { "w.", TYPE_A, 0, { "w. 60 CNAME b.\nb. 60 A 192.0.2.1" } }, ZONE_deny, 1 },
		{ { "w.", TYPE_ANY, 0, { "w. 60 A 192.0.3.1\nw. 60 AAAA 2001:db8::1" } }, ZONE_always_refuse, 1 },
		{ { "w.", TYPE_A, 0, { "w. 60 A 192.0.3.1", NULL, "w. 60 AAAA 2001:db8::1" } }, -1, 1 },
		{ { "w.", TYPE_TXT, 0, { "w. 60 TXT \"2001:db8::1\"" } }, -1, 1 },
	};
	struct netblock no_prefix = { .bits = 0 };
	struct fault f = { 0 };
	struct response_ip *r = make(lines, &f);
	struct arena a;

	assert_non_null(r);
	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned set = 99;
		const struct response_rule *rule = response_ip_find(r, &no_prefix, made_message(&a, 0, &rows[i].made), &set);

		if ((rule ? (int)rule->action : -1) != rows[i].action || set != rows[i].set)
			fail_msg("row %zu: %d in %u", i, rule ? (int)rule->action : -1, set);
	}
	arena_clear(&a);
	response_ip_free(r);
}

/* Tags alone say whose answers are looked at, and nothing of what is to be done. */
static void a_netblock_with_tags_alone_changes_nothing(void **state)
{
	(void)state;
	static const char *const lines[LINES] = { "a 10.0.0.0/8 deny", "t 192.0.2.0/24 a" };
	static const struct made made = { "w.", TYPE_A, 0, { "w. 60 A 192.0.2.1" } };
	struct netblock no_prefix = { .bits = 0 };
	const struct response_rule *rule;
	struct fault f = { 0 };
	struct response_ip *r = make(lines, &f);
	struct arena a;
	unsigned set;

	assert_non_null(r);
	arena_init(&a);
	rule = response_ip_find(r, &no_prefix, made_message(&a, 0, &made), &set);
	assert_non_null(rule);
	assert_int_equal(rule->action, ZONE_always_transparent);
	assert_false(tagset_is_empty(&rule->tags));
	arena_clear(&a);
	response_ip_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_is_refused_with_its_line),
		cmocka_unit_test(the_first_address_with_a_rule_has_it),
		cmocka_unit_test(a_netblock_with_tags_alone_changes_nothing),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
