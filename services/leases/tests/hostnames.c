/* Claims about names of hosts: which are good, which are the operator's, what changes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/leases/hostnames.h"

#include <stdio.h>

#include "services/local/zones.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

static struct localzones *zones_from(const char *text)
{
	struct conf *conf = conf_from(text);
	const struct conf_server *s = &conf->server;
	struct fault f = { 0 };
	struct localzones *z = localzones_new(&(struct localzones_how){ .zones = &s->local_zone,
									.data = &s->local_data,
									.ptrs = &s->local_data_ptr,
									.conf = conf,
									.defaults = true },
					      &f);

	if (!z)
		fail_msg("%s", f.text);
	conf_free(conf);
	return z;
}

/* Hosts with one file in zones of their own. */
struct fixture {
	struct hostnames *names;
	struct localzones *zones;
	struct host_source *source;
};

static struct host_source *add(struct fixture *h, bool of_leases)
{
	struct fault f = { 0 };
	struct host_source *s = hostnames_add(
		h->names,
		&(struct host_source_how){
			.path = "file", .domain = "lan", .ttl_s = 60, .of_leases = of_leases },
		&f);

	assert_non_null(s);
	return s;
}

static struct fixture fixture_from(const char *conf, bool of_leases)
{
	struct fixture h = { .names = hostnames_new(), .zones = zones_from(conf) };

	hostnames_attach(h.names, h.zones);
	h.source = add(&h, of_leases);
	return h;
}

static void fixture_clear(struct fixture *h)
{
	hostnames_free(h->names);
	localzones_unpin(h->zones);
}

static struct hosts_change take(struct fixture *h, struct host_source *s, const char *text,
				int64_t now_s)
{
	struct leasefile f = { 0 };

	assert_true(leasefile_read(&f, text, strlen(text)));
	host_source_take(s, &f);
	leasefile_clear(&f);
	return hostnames_publish(h->names, now_s);
}

static bool put_line(const struct rrset *set, void *text)
{
	char *to = text;

	for (unsigned i = 0; i < set->count; i++) {
		char line[512], *tab;

		if (set->type == TYPE_SOA || set->type == TYPE_NS)
			continue;
		text_rr_print(line, sizeof(line), rrset_owner(set), 0, set->class_, set->type,
			      rrset_record(set, i));
		while ((tab = strchr(line, '\t')))
			*tab = ' ';
		if (!strstr(line, "localhost"))
			sprintf(to + strlen(to), "%s%s", *to ? "; " : "", line);
	}
	return true;
}

/* What is in the zones but the defaults, without TTL and class. */
static const char *all_of(const struct localzones *z)
{
	static char text[8192];
	char *at;

	*text = '\0';
	localzones_each_set(z, put_line, text);
	while ((at = strstr(text, " 0 IN ")))
		memmove(at + 1, at + 6, strlen(at + 6) + 1);
	return text;
}

#define LEASE(address, name) "1000 - " address " " name " -\n"

static void hostnames_from_dhcp_clients_are_checked(void **state)
{
	(void)state;
	static const struct {
		const char *why, *lines, *names;
		enum lease_trouble trouble; /* TROUBLES: none */
	} rows[] = {
		{ "a plain one", LEASE("192.0.2.7", "laptop"), "laptop.lan. A 192.0.2.7",
		  TROUBLES },
		{ "another case", LEASE("192.0.2.7", "LapTop"), "laptop.lan. A 192.0.2.7",
		  TROUBLES },
		{ "with the domain", LEASE("192.0.2.7", "pc.LAN."), "pc.lan. A 192.0.2.7",
		  TROUBLES },
		{ "of digits", LEASE("192.0.2.7", "42"), "42.lan. A 192.0.2.7", TROUBLES },
		{ "IPv6", LEASE("2001:db8::7", "pc"), "pc.lan. AAAA 2001:db8::7", TROUBLES },
		{ "two addresses", LEASE("192.0.2.7", "pc") LEASE("192.0.2.8", "pc"),
		  "pc.lan. A 192.0.2.7; pc.lan. A 192.0.2.8", TROUBLES },
		{ "wpad", LEASE("192.0.2.7", "wpad"), "", TROUBLE_reserved },
		{ "WPAD with the domain", LEASE("192.0.2.7", "WPAD.lan"), "", TROUBLE_reserved },
		{ "isatap", LEASE("192.0.2.7", "isatap"), "", TROUBLE_reserved },
		{ "localhost", LEASE("192.0.2.7", "LocalHost"), "", TROUBLE_reserved },
		{ "two labels", LEASE("192.0.2.7", "www.bank"), "", TROUBLE_domain },
		{ "a name of somebody else", LEASE("192.0.2.7", "www.example.com"), "",
		  TROUBLE_domain },
		{ "below the domain, not in it", LEASE("192.0.2.7", "a.b.lan"), "",
		  TROUBLE_domain },
		{ "a wildcard", LEASE("192.0.2.7", "*.lan"), "", TROUBLE_letters },
		{ "an underscore", LEASE("192.0.2.7", "_ldap"), "", TROUBLE_letters },
		{ "a hyphen in front", LEASE("192.0.2.7", "-x"), "", TROUBLE_letters },
		{ "a hyphen behind", LEASE("192.0.2.7", "x-"), "", TROUBLE_letters },
		{ "dots alone", LEASE("192.0.2.7", ".."), "", TROUBLE_letters },
		{ "escapes", LEASE("192.0.2.7", "x\\032y"), "", TROUBLE_letters },
		{ "bytes of no letter", LEASE("192.0.2.7", "caf\xc3\xa9"), "", TROUBLE_letters },
		{ "63 letters",
		  LEASE("192.0.2.7",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.lan. A "
		  "192.0.2.7",
		  TROUBLES },
		{ "64 letters",
		  LEASE("192.0.2.7",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		  "", TROUBLE_length },
		{ "nobody's address", LEASE("0.0.0.0", "pc"), "", TROUBLE_address },
		{ "our own address", LEASE("127.0.0.1", "pc"), "", TROUBLE_address },
		{ "many hosts' address", LEASE("224.0.0.251", "pc"), "", TROUBLE_address },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture h =
			fixture_from("server:\n local-zone: in-addr.arpa. nodefault\n", true);
		struct host_report r;
		char names[512] = "", *ptr;

		take(&h, h.source, rows[i].lines, 0);
		for (char *at = strtok((char *)(uintptr_t)all_of(h.zones), ";"); at;
		     at = strtok(NULL, ";")) {
			ptr = strstr(at, " PTR ");
			at += *at == ' ';
			if (!ptr)
				sprintf(names + strlen(names), "%s%s", *names ? "; " : "", at);
		}
		if (strcmp(names, rows[i].names) != 0)
			fail_msg("%s: '%s'", rows[i].why, names);
		host_source_report(h.names, h.source, &r);
		if (rows[i].trouble != TROUBLES && r.remarks.counts[rows[i].trouble] != 1)
			fail_msg("%s: it was not left out for the right reason", rows[i].why);
		fixture_clear(&h);
	}
}

static void addresses_get_ptr_records(void **state)
{
	(void)state;
	struct fixture h = fixture_from("server:\n", true);

	take(&h, h.source, LEASE("192.168.1.7", "pc") LEASE("2001:db8::7", "pc"), 0);
	assert_string_equal(
		all_of(h.zones),
		"7.1.168.192.in-addr.arpa. PTR pc.lan.; "
		"7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. PTR "
		"pc.lan.; pc.lan. A 192.168.1.7; pc.lan. AAAA 2001:db8::7");
	fixture_clear(&h);
}

static void the_operators_word_comes_first(void **state)
{
	(void)state;
	struct fixture h = fixture_from("server:\n local-data: \"nas.lan. AAAA fd00::1\"\n"
				    " local-data-ptr: \"192.168.1.9 printer.lan\"\n",
				    true);
	struct host_report r;
	struct fault f = { 0 };

	/* nas is held; 192.168.1.9 leads to the printer, but the host there has its name */
	take(&h, h.source, LEASE("192.168.1.7", "nas") LEASE("192.168.1.9", "pc"), 0);
	assert_string_equal(all_of(h.zones), "9.1.168.192.in-addr.arpa. PTR printer.lan.; "
					     "nas.lan. AAAA fd00::1; pc.lan. A 192.168.1.9");
	host_source_report(h.names, h.source, &r);
	assert_int_equal(r.remarks.counts[TROUBLE_held], 1);

	/* later, too */
	assert_true(localzones_put_record(h.zones, "pc.lan. TXT mine", &f));
	hostnames_publish(h.names, 0);
	assert_string_equal(all_of(h.zones), "9.1.168.192.in-addr.arpa. PTR printer.lan.; "
					     "nas.lan. AAAA fd00::1; pc.lan. TXT \"mine\"");
	localzones_remove_name(h.zones, N("pc.lan."), CLASS_IN);
	hostnames_publish(h.names, 0);
	assert_string_equal(all_of(h.zones), "9.1.168.192.in-addr.arpa. PTR printer.lan.; "
					     "nas.lan. AAAA fd00::1; pc.lan. A 192.168.1.9");
	fixture_clear(&h);
}

static void only_what_differs_is_changed(void **state)
{
	(void)state;
	static const struct {
		const char *why, *lines;
		int64_t now_s;
		size_t put, removed;
		const char *all;
	} steps[] = {
		{ "both are new", LEASE("192.0.2.7", "a") LEASE("192.0.2.8", "b"), 0, 4, 0, NULL },
		{ "nothing has changed", LEASE("192.0.2.8", "b") LEASE("192.0.2.7", "a"), 0, 0, 0,
		  NULL },
		{ "one has moved", LEASE("192.0.2.9", "a") LEASE("192.0.2.8", "b"), 0, 2, 2, NULL },
		{ "one has gone", LEASE("192.0.2.8", "b"), 0, 0, 2,
		  "8.2.0.192.in-addr.arpa. PTR b.lan.; b.lan. A 192.0.2.8" },
		{ "its time is not over", LEASE("192.0.2.8", "b"), 999, 0, 0, NULL },
		{ "its time is over", LEASE("192.0.2.8", "b"), 1000, 0, 2, "" },
	};
	struct fixture h = fixture_from("server:\n", true);

	for (size_t i = 0; i < COUNT(steps); i++) {
		struct hosts_change c = take(&h, h.source, steps[i].lines, steps[i].now_s);

		if (c.put != steps[i].put || c.removed != steps[i].removed)
			fail_msg("%s: %zu more, %zu fewer", steps[i].why, c.put, c.removed);
		if (c.next_s != (steps[i].now_s < 1000 ? 1000 : LEASE_FOREVER))
			fail_msg("%s: the next ends at %lld", steps[i].why, (long long)c.next_s);
		if (steps[i].all && strcmp(all_of(h.zones), steps[i].all) != 0)
			fail_msg("%s: %s", steps[i].why, all_of(h.zones));
	}
	fixture_clear(&h);
}

static void other_zones_get_all_of_them(void **state)
{
	(void)state;
	struct fixture h = fixture_from("server:\n", true);
	struct localzones *other = zones_from("server:\n local-data: \"b.lan. TXT held\"\n");
	struct hosts_change c;

	take(&h, h.source, LEASE("192.0.2.7", "a") LEASE("192.0.2.8", "b"), 0);
	hostnames_attach(h.names, other);
	c = hostnames_publish(h.names, 0);
	assert_int_equal(c.put, 2);
	assert_string_equal(all_of(other),
			    "7.2.0.192.in-addr.arpa. PTR a.lan.; a.lan. A 192.0.2.7; "
			    "b.lan. TXT \"held\"");
	localzones_unpin(other);
	fixture_clear(&h);
}

static void hosts_files_are_the_operators(void **state)
{
	(void)state;
	struct fixture h = fixture_from("server:\n local-data: \"a.lan. A 192.0.2.1\"\n", false);

	take(&h, h.source,
	     "127.0.0.1 localhost localhost.localdomain\n192.0.2.7 pc.lan pc _x.example.com wpad\n"
	     "192.0.2.7 again\n192.0.2.9 a.lan b..c\n",
	     0);
	assert_string_equal(all_of(h.zones),
			    "again. A 192.0.2.7; 7.2.0.192.in-addr.arpa. PTR pc.lan.; "
			    "_x.example.com. A 192.0.2.7; a.lan. A 192.0.2.1; "
			    "pc.lan. A 192.0.2.7; pc. A 192.0.2.7; wpad. A 192.0.2.7");
	fixture_clear(&h);
}

static void the_first_file_names_an_address(void **state)
{
	(void)state;
	struct fixture h = fixture_from("server:\n", false);
	struct host_source *leases = add(&h, true);

	take(&h, leases, LEASE("192.0.2.7", "aaa"), 0);
	take(&h, h.source, "192.0.2.7 zzz\n", 0);
	assert_string_equal(all_of(h.zones),
			    "7.2.0.192.in-addr.arpa. PTR zzz.; aaa.lan. A 192.0.2.7; "
			    "zzz. A 192.0.2.7");
	hostnames_drop(h.names, h.source);
	hostnames_publish(h.names, 0);
	assert_string_equal(all_of(h.zones),
			    "7.2.0.192.in-addr.arpa. PTR aaa.lan.; aaa.lan. A 192.0.2.7");
	fixture_clear(&h);
}

static void a_name_has_a_most_of_addresses(void **state)
{
	(void)state;
	struct fixture h = fixture_from("server:\n", true);
	char text[4096] = "";
	struct host_report r;

	for (unsigned i = 0; i < HOST_ADDRESSES + 5; i++)
		sprintf(text + strlen(text), LEASE("192.0.2.%u", "pc"), i + 1);
	take(&h, h.source, text, 0);
	assert_int_equal(localzones_records_at(h.zones, N("pc.lan."), CLASS_IN), HOST_ADDRESSES);
	host_source_report(h.names, h.source, &r);
	assert_int_equal(r.remarks.counts[TROUBLE_crowd], 5);
	fixture_clear(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostnames_from_dhcp_clients_are_checked),
		cmocka_unit_test(addresses_get_ptr_records),
		cmocka_unit_test(the_operators_word_comes_first),
		cmocka_unit_test(only_what_differs_is_changed),
		cmocka_unit_test(other_zones_get_all_of_them),
		cmocka_unit_test(hosts_files_are_the_operators),
		cmocka_unit_test(the_first_file_names_an_address),
		cmocka_unit_test(a_name_has_a_most_of_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
