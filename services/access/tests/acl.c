/* Claims about who may ask.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/acl.h"

#include "services/local/zones.h"
#include "services/policy/views.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/hash.h"

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
		{ "loopback, IPv4-mapped", "", "::ffff:127.0.0.1", ACL_ALLOW, NULL },
		{ "not IPv4-mapped, though it looks like it", "", "::fffe:127.0.0.1", ACL_REFUSE, NULL },
		{ "others may not", "", "192.0.2.1", ACL_REFUSE, NULL },
		{ "not over IPv6", "", "2001:db8::1", ACL_REFUSE, NULL },
		{ "a netblock", "access-control: 192.0.2.0/24 allow", "192.0.2.7", ACL_ALLOW,
		  NULL },
		{ "IPv4-mapped", "access-control: 192.0.2.0/24 allow", "::ffff:192.0.2.7",
		  ACL_ALLOW, NULL },
		{ "beside it", "access-control: 192.0.2.0/24 allow", "192.0.3.7", ACL_REFUSE,
		  NULL },
		{ "loopback still may", "access-control: 192.0.2.0/24 allow", "127.0.0.1",
		  ACL_ALLOW, NULL },
		{ "loopback denied by the configuration", "access-control: 127.0.0.0/8 deny", "127.0.0.1", ACL_DENY, NULL },
		{ "the narrow one, written first",
		  "access-control: 10.1.0.0/16 deny\n access-control: 10.0.0.0/8 allow", "10.1.2.3",
		  ACL_DENY, NULL },
		{ "the narrow one, written last",
		  "access-control: 10.0.0.0/8 allow\n access-control: 10.1.0.0/16 deny", "10.1.2.3",
		  ACL_DENY, NULL },
		{ "of equal ones the last",
		  "access-control: 10.0.0.0/8 allow\n access-control: 10.0.0.0/8 allow_snoop",
		  "10.1.2.3", ACL_ALLOW_SNOOP, NULL },
		{ "of three equal ones the last",
		  "access-control: 10.0.0.0/8 deny\n access-control: 10.0.0.0/8 refuse\n access-control: 10.0.0.0/8 allow_setrd",
		  "10.1.2.3", ACL_ALLOW_SETRD, NULL },
		{ "of equal ones the last, which is the view",
		  "access-control-view: 10.0.0.0/8 v\n access-control-view: 10.0.0.0/8 w\nview:\n name: v\nview:\n name: w\n",
		  "10.3.0.1", ACL_ALLOW, "w" },
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

/* What the tags of a client's netblock, or of the interface that it asked, imply. */
static void tags_have_their_actions_and_data(void **state)
{
	(void)state;
	enum { TAGS = 4 };
	static const struct {
		const char *why, *conf;
		const char *tags; /* of "abcd" */
		unsigned count;
		uint8_t actions[TAGS], records[TAGS];
	} rows[] = {
		{ "none", "access-control: 10.0.0.0/8 allow", "", 0, { 0 }, { 0 } },
		{ "two", "access-control-tag: 10.0.0.0/8 \"a c\"", "ac", 0, { 0 }, { 0 } },
		{ "in two lines", "access-control-tag: 10.0.0.0/8 a\n access-control-tag: 10.0.0.0/8 d", "ad", 0, { 0 }, { 0 } },
		{ "of a wider netblock", "access-control-tag: 0.0.0.0/0 a\n access-control: 10.0.0.0/8 allow", "", 0, { 0 }, { 0 } },
		{ "an action alone", "access-control-tag-action: 10.0.0.0/8 b refuse", "", 2, { 0, ZONE_refuse + 1 }, { 0 } },
		{ "the first type of zone", "access-control-tag-action: 10.0.0.0/8 a deny", "", 1, { ZONE_deny + 1 }, { 0 } },
		{ "the higher number last",
		  "access-control-tag-action: 10.0.0.0/8 a deny\n access-control-tag-action: 10.0.0.0/8 d static",
		  "", 4, { ZONE_deny + 1, 0, 0, ZONE_static + 1 }, { 0 } },
		{ "the higher number first",
		  "access-control-tag-action: 10.0.0.0/8 d static\n access-control-tag-action: 10.0.0.0/8 a deny\n"
		  " access-control-tag-action: 10.0.0.0/8 d refuse",
		  "", 4, { ZONE_deny + 1, 0, 0, ZONE_refuse + 1 }, { 0 } },
		{ "data",
		  "access-control-tag-data: 10.0.0.0/8 b \"A 192.0.2.1\"\n access-control-tag-data: 10.0.0.0/8 b \"AAAA 2001:db8::1\"\n"
		  " access-control-tag-action: 10.0.0.0/8 c redirect",
		  "", 3, { 0, 0, ZONE_redirect + 1 }, { 0, 2 } },
		{ "more data than tags before",
		  "access-control-tag-data: 10.0.0.0/8 a \"A 192.0.2.1\"\n access-control-tag-data: 10.0.0.0/8 c \"A 192.0.2.1\"",
		  "", 3, { 0 }, { 1, 0, 1 } },
		{ "all of an interface",
		  "interface-tag: 192.0.2.53 \"b d\"\n interface-tag-action: 192.0.2.53 d deny\n interface-tag-data: 192.0.2.53 a \"A 192.0.2.9\"",
		  "bd", 4, { 0, 0, 0, ZONE_deny + 1 }, { 1 } },
		{ "of another interface", "interface-tag: 192.0.2.54 a\n interface-action: 192.0.2.53 allow", "", 0, { 0 }, { 0 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr client = at("10.1.2.3"), listener = at("192.0.2.53");
		const struct acl_tags *t;
		struct fault f = { 0 };
		char text[1024];
		struct conf *conf;
		struct acl *a;

		snprintf(text, sizeof(text), "server:\n define-tag: \"a b c d\"\n %s\n", rows[i].conf);
		conf = conf_from(text);
		a = acl_new(conf, &f);
		if (!a)
			fail_msg("%s: %s", rows[i].why, f.text);
		t = acl_get(a, &client, &listener)->tags;
		if (t->count != rows[i].count)
			fail_msg("%s: %u", rows[i].why, t->count);
		for (unsigned n = 0; n < TAGS; n++) {
			struct tagset one = { 0 };

			assert_true(tagset_add(&one, &conf->server.define_tag, (char[]){ (char)('a' + n), 0 }, &f));
			if ((tagset_common(&t->set, &one) >= 0) != !!strchr(rows[i].tags, (int)('a' + n)))
				fail_msg("%s: tag %u", rows[i].why, n);
			tagset_clear(&one);
			if (n < t->count && (t->actions[n] != rows[i].actions[n] || t->data[n].count != rows[i].records[n]))
				fail_msg("%s: of tag %u action %u, data %u", rows[i].why, n, t->actions[n], t->data[n].count);
		}
		acl_free(a);
		conf_free(conf);
	}
}

static void what_a_line_does_not_say_rightly_is_an_error(void **state)
{
	(void)state;
#define LONG "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	     "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
	static const struct {
		const char *option, *text, *says;
	} rows[] = {
		{ "access-control", "10.0.0.0/8", "access-control: '10.0.0.0/8' is not a netblock" },
		{ "access-control", "10.0.0.0/8 ", "is not a netblock" },
		{ "access-control", " allow", "is not a netblock" },
		{ "access-control", "10.0.0.0/33 allow", "is not a netblock" },
		{ "access-control", "10.0.0.0/8 alow", "is not a netblock" },
		{ "access-control", "10.0.0.0/8 allow ", "is not a netblock" },
		{ "access-control", "0000000000000000000000000000000000000000000000000000000000000000000010.0.0.0/8 allow",
		  "is not a netblock" },
		{ "access-control-view", "10.0.0.0/8", "access-control-view: '10.0.0.0/8' is not a netblock" },
		{ "access-control-tag", "10.0.0.0/8 x", "access-control-tag: " },
		{ "access-control-tag-action", "10.0.0.0/8 x refuse", "'x' is no tag of define-tag" },
		{ "access-control-tag-action", "10.0.0.0/8 aa refuse", "'aa' is no tag of define-tag" },
		{ "access-control-tag-action", "10.0.0.0/8 a refused", "'refused' is not a type of zone" },
		{ "access-control-tag-data", "10.0.0.0/8 a A 192.0.2", "access-control-tag-data: 'A 192.0.2': " },
		{ "interface-action", "192.0.2.53", "interface-action: '192.0.2.53' is not an interface" },
		{ "interface-action", "192.0.2.53 alow", "is not an interface" },
		{ "interface-action", " allow", "is not an interface" },
		{ "interface-action", LONG LONG LONG LONG LONG LONG LONG LONG " allow", "interface-action: '1234" },
		{ "access-control", LONG LONG LONG LONG LONG LONG LONG LONG " allow", "access-control: '1234" },
		{ "interface-tag", "192.0.2.53 x", "interface-tag: " },
		{ "interface-tag-action", "192.0.2.53 x refuse", "'x' is no tag of define-tag" },
		{ "interface-view", "192.0.2.53", "is not an interface" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from("server:\n define-tag: \"a b\"\n");
		struct conf_server *s = &conf->server;
		/* the configuration's own check comes before: here it is left out */
		const struct {
			const char *option;
			struct conf_list *list;
		} lists[] = {
			{ "access-control", &s->access_control },
			{ "access-control-view", &s->access_control_view },
			{ "access-control-tag", &s->access_control_tag },
			{ "access-control-tag-action", &s->access_control_tag_action },
			{ "access-control-tag-data", &s->access_control_tag_data },
			{ "interface-action", &s->interface_action },
			{ "interface-view", &s->interface_view },
			{ "interface-tag", &s->interface_tag },
			{ "interface-tag-action", &s->interface_tag_action },
		};
		struct conf_item item = { .text = (char *)(uintptr_t)rows[i].text };
		struct fault f = { 0 };

		for (size_t n = 0; n < COUNT(lists); n++)
			if (strcmp(lists[n].option, rows[i].option) == 0)
				*lists[n].list = (struct conf_list){ .items = &item, .count = 1 };
		assert_null(acl_new(conf, &f));
		if (!strstr(f.text, rows[i].says))
			fail_msg("%s '%s': %s", rows[i].option, rows[i].text, f.text);
		for (size_t n = 0; n < COUNT(lists); n++)
			*lists[n].list = (struct conf_list){ 0 };
		conf_free(conf);
	}
}

static void views_are_bound_by_their_names(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\n access-control-view: 10.0.0.0/8 v\n access-control: 10.2.0.0/16 allow\n"
				      " access-control-view: 127.0.0.0/8 w\n interface-action: 192.0.2.53 refuse\n"
				      " interface-view: 192.0.2.53 w\n interface-action: 192.0.2.54 allow\n"
				      "view:\n name: v\nview:\n name: w\n");
	struct addr inside = at("10.1.1.1"), narrow = at("10.2.1.1"), other = at("203.0.113.1");
	struct addr by_interface = at("192.0.2.53"), plain = at("192.0.2.54"), own = at("127.0.0.1");
	struct fault f = { 0 };
	struct views *v = views_new(conf, &f);
	struct acl *a = acl_new(conf, &f);

	assert_non_null(v);
	assert_non_null(a);
	acl_bind_views(a, views_find, v);
	assert_non_null(views_find(v, "v"));
	assert_ptr_equal(acl_get(a, &inside, NULL)->sees, views_find(v, "v"));
	assert_null(acl_get(a, &narrow, NULL)->sees);
	assert_ptr_equal(acl_get(a, &own, NULL)->sees, views_find(v, "w"));
	assert_ptr_equal(acl_get(a, &other, &by_interface)->sees, views_find(v, "w"));
	assert_int_equal(acl_get(a, &other, &by_interface)->action, ACL_REFUSE); /* nobody has said that it may ask */
	assert_null(acl_get(a, &other, &plain)->sees);
	acl_free(a);
	views_free(v);
	conf_free(conf);
}

static void every_action_has_its_word(void **state)
{
	(void)state;
	static const char *const words[] = { "deny", "refuse", "allow", "allow_setrd", "allow_snoop", "allow_cookie",
					     "deny_non_local", "refuse_non_local" };

	for (unsigned i = 0; i < COUNT(words); i++) {
		struct addr client = at("10.1.1.1"), listener = at("192.0.2.53");
		struct fault f = { 0 };
		struct conf *conf;
		struct acl *a;
		char text[200];

		for (unsigned by_interface = 0; by_interface < 2; by_interface++) {
			snprintf(text, sizeof(text), "server:\n %s %s\n", by_interface ? "interface-action: 192.0.2.53" : "access-control: 10.0.0.0/8",
				 words[i]);
			conf = conf_from(text);
			a = acl_new(conf, &f);
			assert_non_null(a);
			assert_int_equal(acl_get(a, &client, &listener)->action, i);
			assert_string_equal(acl_action_name((enum acl_action)i), words[i]);
			acl_free(a);
			conf_free(conf);
		}
	}
}

static void interface_action_applies_to_unlisted_clients(void **state)
{
	(void)state;
	static const char text[] = "server:\n interface-action: 192.0.2.53 allow\n"
				   " interface-action: 192.0.2.54@5353 allow_snoop\n"
				   " interface-action: ::0 deny\n"
				   " interface-action: 192.0.2.55 refuse\n interface-action: 192.0.2.55 allow_setrd\n"
				   " interface-action: 192.0.2.56@54 deny\n interface-action: 192.0.2.56@55 allow_snoop\n"
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
		{ "of equal ones the last", "203.0.113.1", "192.0.2.55", ACL_ALLOW_SETRD },
		{ "one port of an address", "203.0.113.1", "192.0.2.56@54", ACL_DENY },
		{ "another one", "203.0.113.1", "192.0.2.56@55", ACL_ALLOW_SNOOP },
		{ "IPv4-mapped", "::ffff:203.0.113.1", "192.0.2.53", ACL_ALLOW },
		{ "listed, IPv4-mapped", "::ffff:10.1.1.1", "192.0.2.53", ACL_REFUSE },
		{ "who is listed is checked by that", "10.1.1.1", "192.0.2.53", ACL_REFUSE },
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
	acl_free(NULL);
	conf_free(conf);
}

/* A client without an address, as over a UNIX socket, is in no netblock; nor does it matter what lies behind an IPv4
 * address. */
static void a_client_without_address_is_in_no_netblock(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\n access-control: 0.0.0.0/0 allow\n access-control: ::/0 allow\n");
	struct addr any = { .family = 4, .ip = { [10] = 0xff, [11] = 0xff, [12] = 192, [15] = 1 } }, none = { .family = 0 };
	struct fault f = { 0 };
	struct acl *a = acl_new(conf, &f);

	assert_int_equal(acl_get(a, &none, NULL)->action, ACL_REFUSE);
	assert_int_equal(acl_get(a, &none, &none)->action, ACL_REFUSE);
	acl_free(a);
	conf_free(conf);
	conf = conf_from("server:\n access-control: 192.0.0.0/8 allow\n");
	a = acl_new(conf, &f);
	assert_int_equal(acl_get(a, &any, NULL)->action, ACL_REFUSE);
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
		cmocka_unit_test(tags_have_their_actions_and_data),
		cmocka_unit_test(what_a_line_does_not_say_rightly_is_an_error),
		cmocka_unit_test(views_are_bound_by_their_names),
		cmocka_unit_test(every_action_has_its_word),
		cmocka_unit_test(interface_action_applies_to_unlisted_clients),
		cmocka_unit_test(a_client_without_address_is_in_no_netblock),
		cmocka_unit_test(an_interface_that_is_not_there_is_an_error),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
