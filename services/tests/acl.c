/* Claims about who may ask.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/acl.h"

#include "services/tests/conf.h"
#include "util/fault.h"
#include "util/hash.h"

static struct addr at(const char *text)
{
	struct addr a;

	if (!addr_parse(&a, text, 53, NULL))
		fail_msg("'%s' is no address", text);
	return a;
}

static void the_longest_netblock_decides(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *client;
		enum acl_action want;
		const char *view;
	} rows[] = {
		{ "loopback may, unasked", "", "127.3.2.1", ACL_ALLOW, NULL },
		{ "that of IPv6 too", "", "::1", ACL_ALLOW, NULL },
		{ "and in disguise", "", "::ffff:127.0.0.1", ACL_ALLOW, NULL },
		{ "others may not", "", "192.0.2.1", ACL_REFUSE, NULL },
		{ "not over IPv6", "", "2001:db8::1", ACL_REFUSE, NULL },
		{ "a netblock", "access-control: 192.0.2.0/24 allow", "192.0.2.7", ACL_ALLOW,
		  NULL },
		{ "in disguise", "access-control: 192.0.2.0/24 allow", "::ffff:192.0.2.7",
		  ACL_ALLOW, NULL },
		{ "beside it", "access-control: 192.0.2.0/24 allow", "192.0.3.7", ACL_REFUSE,
		  NULL },
		{ "loopback still may", "access-control: 192.0.2.0/24 allow", "127.0.0.1",
		  ACL_ALLOW, NULL },
		{ "unless told", "access-control: 127.0.0.0/8 deny", "127.0.0.1", ACL_DENY, NULL },
		{ "the narrow one, written first",
		  "access-control: 10.1.0.0/16 deny\n access-control: 10.0.0.0/8 allow", "10.1.2.3",
		  ACL_DENY, NULL },
		{ "the narrow one, written last",
		  "access-control: 10.0.0.0/8 allow\n access-control: 10.1.0.0/16 deny", "10.1.2.3",
		  ACL_DENY, NULL },
		{ "of equal ones the last",
		  "access-control: 10.0.0.0/8 allow\n access-control: 10.0.0.0/8 allow_snoop",
		  "10.1.2.3", ACL_ALLOW_SNOOP, NULL },
		{ "everybody", "access-control: 0.0.0.0/0 allow_setrd", "203.0.113.5",
		  ACL_ALLOW_SETRD, NULL },
		{ "everybody, but not over IPv6", "access-control: 0.0.0.0/0 allow", "2001:db8::1",
		  ACL_REFUSE, NULL },
		{ "cookies", "access-control: ::/0 allow_cookie", "2001:db8::1", ACL_ALLOW_COOKIE,
		  NULL },
		{ "local data", "access-control: 10.0.0.0/8 refuse_non_local", "10.0.0.1",
		  ACL_REFUSE_NON_LOCAL, NULL },
		{ "local data or silence", "access-control: 10.0.0.0/8 deny_non_local", "10.0.0.1",
		  ACL_DENY_NON_LOCAL, NULL },
		{ "a view",
		  "access-control: 10.0.0.0/8 allow\n access-control-view: 10.2.0.0/16 v\n"
		  "view:\n name: v\n",
		  "10.2.0.1", ACL_ALLOW, "v" },
		{ "outside the view",
		  "access-control: 10.0.0.0/8 allow\n access-control-view: 10.2.0.0/16 v\n"
		  "view:\n name: v\n",
		  "10.3.0.1", ACL_ALLOW, NULL },
		{ "a view without an action",
		  "access-control: 10.0.0.0/8 refuse\n access-control-view: 10.2.0.0/16 v\n"
		  "view:\n name: v\n",
		  "10.2.0.1", ACL_ALLOW, "v" },
		{ "tags without an action",
		  "define-tag: t\n access-control-tag: 192.0.2.0/24 t\n", "192.0.2.1", ACL_ALLOW, NULL },
		{ "view and action of one netblock",
		  "access-control-view: 10.0.0.0/8 v\n"
		  " access-control: 10.0.0.0/8 allow\nview:\n name: v\n",
		  "10.3.0.1", ACL_ALLOW, "v" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];
		struct fault f = { 0 };
		struct addr client = at(rows[i].client);
		const struct acl_rule *r;
		struct conf *conf;
		struct acl *a;

		snprintf(text, sizeof(text), "server:\n %s\n", rows[i].conf);
		conf = conf_from(text);
		a = acl_new(conf, &f);
		if (!a)
			fail_msg("%s: %s", rows[i].why, f.text);
		r = acl_get(a, &client, NULL);
		if (r->action != rows[i].want || !r->view != !rows[i].view ||
		    (r->view && strcmp(r->view, rows[i].view) != 0))
			fail_msg("%s: %s, view %s", rows[i].why, acl_action_name(r->action),
				 r->view ? r->view : "none");
		acl_free(a);
		conf_free(conf);
	}
}

static void the_interface_decides_for_who_is_not_listed(void **state)
{
	(void)state;
	static const char text[] = "server:\n interface-action: 192.0.2.53 allow\n"
				   " interface-action: 192.0.2.54@5353 allow_snoop\n"
				   " interface-action: ::0 deny\n"
				   " access-control: 10.0.0.0/8 refuse\n";
	static const struct {
		const char *why, *client, *listener;
		enum acl_action want;
	} rows[] = {
		{ "asked there", "203.0.113.1", "192.0.2.53", ACL_ALLOW },
		{ "at any port of it", "203.0.113.1", "192.0.2.53@5353", ACL_ALLOW },
		{ "asked elsewhere", "203.0.113.1", "192.0.2.99", ACL_REFUSE },
		{ "at this port", "203.0.113.1", "192.0.2.54@5353", ACL_ALLOW_SNOOP },
		{ "at another port", "203.0.113.1", "192.0.2.54", ACL_REFUSE },
		{ "anywhere over IPv6", "2001:db8::1", "2001:db8::53", ACL_DENY },
		{ "who is listed is judged by that", "10.1.1.1", "192.0.2.53", ACL_REFUSE },
		{ "not known where", "203.0.113.1", NULL, ACL_REFUSE },
	};
	struct conf *conf = conf_from(text);
	struct fault f = { 0 };
	struct acl *a = acl_new(conf, &f);

	assert_non_null(a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr client = at(rows[i].client), listener = { .family = 0 };
		enum acl_action got;

		if (rows[i].listener)
			listener = at(rows[i].listener);
		got = acl_get(a, &client, &listener)->action;
		if (got != rows[i].want)
			fail_msg("%s: %s", rows[i].why, acl_action_name(got));
	}
	acl_free(a);
	conf_free(conf);
}

static void an_interface_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\n interface-action: nosuchif7 allow\n");
	struct fault f = { 0 };

	assert_null(acl_new(conf, &f));
	assert_non_null(strstr(f.text, "nosuchif7"));
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(the_longest_netblock_decides),
		cmocka_unit_test(the_interface_decides_for_who_is_not_listed),
		cmocka_unit_test(an_interface_that_is_not_there_is_an_error),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
