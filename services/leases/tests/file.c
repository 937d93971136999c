/* Claims about lease and hosts files: what each server's lines say, and what is left out.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/leases/file.h"

#include <stdio.h>

#include "util/tests/wire.h"

#define KEA4                                                                                   \
	"address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname," \
	"state,user_context,pool_id\n"
#define KEA6                                                                          \
	"address,duid,valid_lifetime,expire,subnet_id,pref_lifetime,lease_type,iaid," \
	"prefix_len,fqdn_fwd,fqdn_rev,hostname,hwaddr,state,user_context,hwtype,"     \
	"hwaddr_source,pool_id\n"
#define ISC_HEAD "# The format of this file is documented.\nauthoring-byte-order little-endian;\n\n"

/* "address name ends; ..." of what is not gone; "gone" for the others. */
static void describe(const struct leasefile *f, char *to, size_t room)
{
	size_t n = 0;

	*to = '\0';
	for (size_t i = 0; i < f->count && n < room; i++) {
		const struct lease *l = &f->leases[i];
		char address[ADDR_TEXT], ends[32] = "never";

		if (l->ends_s != LEASE_FOREVER)
			snprintf(ends, sizeof(ends), "%lld", (long long)l->ends_s);
		n += (size_t)snprintf(to + n, room - n, "%s%s %.*s %s", i ? "; " : "",
				      addr_print(&l->addr, 0, address),
				      l->name_len ? (int)l->name_len : 1,
				      l->name_len ? l->name : "-", l->gone ? "gone" : ends);
	}
}

static void lines_of_every_server_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text, *format, *says;
		size_t left_out;
	} rows[] = {
		{ "dnsmasq, IPv4",
		  "1700000000 02:00:00:00:00:01 192.0.2.7 laptop 01:02:00:00:00:00:01\n", "dnsmasq",
		  "192.0.2.7 laptop 1700000000", 0 },
		{ "dnsmasq, without a name, without an end", "0 02:00:00:00:00:01 192.0.2.7 * *\n",
		  "dnsmasq", "192.0.2.7 - never", 0 },
		{ "dnsmasq, IPv6 behind the server's own id",
		  "duid 00:01:00:01:2c:aa\n1700000000 7812 2001:db8::7 laptop 00:01:00:01\n"
		  "1700000000 T7812 2001:db8::8 laptop 00:01:00:01\n",
		  "dnsmasq", "2001:db8::7 laptop 1700000000; 2001:db8::8 laptop 1700000000", 0 },
		{ "dnsmasq, a line that was cut off",
		  "1700000000 02:00:00:00:00:01 192.0.2.7 laptop *\n1700000000 02:00:00", "dnsmasq",
		  "192.0.2.7 laptop 1700000000", 1 },
		{ "ISC, IPv4",
		  ISC_HEAD "lease 192.0.2.7 {\n  starts 4 2023/11/14 21:13:20;\n"
			   "  ends 2 2023/11/14 22:13:20;\n  cltt 2 2023/11/14 22:13:20;\n"
			   "  binding state active;\n  next binding state free;\n"
			   "  hardware ethernet 02:00:00:00:00:01;\n  uid \"\\001;}\\002\";\n"
			   "  client-hostname \"laptop\";\n}\n",
		  "isc", "192.0.2.7 laptop 1700000000", 0 },
		{ "ISC, the last word counts",
		  "lease 192.0.2.7 { ends never; binding state active; client-hostname \"a\"; }\n"
		  "lease 192.0.2.7 { ends epoch 1700000000; # Tue\n binding state free; }\n",
		  "isc", "192.0.2.7 - gone", 0 },
		{ "ISC, as OpenBSD writes it: without a state",
		  "lease 192.0.2.7 {\n\tends 2 2023/11/14 22:13:20 UTC;\n\tclient-hostname "
		  "\"pc\";\n}\n"
		  "lease 192.0.2.8 {\n\tabandoned;\n}\n",
		  "isc", "192.0.2.7 pc 1700000000; 192.0.2.8 - gone", 0 },
		{ "ISC, IPv6",
		  "server-duid \"\\000\\001\";\n"
		  "ia-na \"\\001\\002{\" {\n  cltt 2 2023/11/14 21:13:20;\n"
		  "  iaaddr 2001:db8::7 {\n    binding state active;\n    max-life 600;\n"
		  "    ends 2 2023/11/14 22:13:20;\n    set ddns-fwd-name = \"pc.example.net\";\n"
		  "    on expiry { set a = \"b\"; }\n  }\n}\n"
		  "ia-pd \"\\001\" { iaprefix 2001:db8:1::/48 { binding state active; } }\n",
		  "isc", "2001:db8::7 pc.example.net 1700000000", 0 },
		{ "ISC, a client that calls itself what no host can be called",
		  "lease 192.0.2.7 { ends never; set ddns-fwd-name = \"printer.lan\"; client-hostname \"Bob's}1\\\"\"; }\n"
		  "lease 192.0.2.8 { ends never; set ddns-fwd-name = \"other.lan\"; client-hostname \"pc\"; }\n",
		  "isc", "192.0.2.7 printer.lan never; 192.0.2.8 pc never", 0 },
		{ "ISC, other blocks are passed over",
		  "failover peer \"a\" state { my state normal at 4 2023/11/14 22:13:20; }\n"
		  "host pc { dynamic; fixed-address 192.0.2.9; }\n"
		  "group { lease { x; } }\nlease 192.0.2.7 { binding state active; ends never; }\n",
		  "isc", "192.0.2.7 - never", 0 },
		{ "ISC, a journal that ends in the middle",
		  "lease 192.0.2.6 { ends never; }\nlease 192.0.2.7 {\n  ends", "isc",
		  "192.0.2.6 - never", 1 },
		{ "Kea, IPv4",
		  KEA4 "192.0.2.7,02:00:00:00:00:01,,3600,1700000000,1,0,0,laptop,0,,0\n", "kea",
		  "192.0.2.7 laptop 1700000000", 0 },
		{ "Kea, the last line counts, and takes back",
		  KEA4 "192.0.2.7,02:00:00:00:00:01,,3600,1700000000,1,0,0,laptop,0,,0\n"
		       "192.0.2.7,02:00:00:00:00:01,,0,1700000000,1,0,0,laptop,0,,0\n"
		       "192.0.2.8,02:00:00:00:00:02,,3600,1700000000,1,0,0,,1,,0\n",
		  "kea", "192.0.2.7 laptop gone; 192.0.2.8 - gone", 0 },
		{ "Kea, IPv6, a prefix is nobody's address",
		  KEA6 "2001:db8::7,00:01,3600,1700000000,1,1800,0,7,128,0,0,pc.lan.,,0,,,,0\n"
		       "2001:db8:1::,00:01,3600,1700000000,1,1800,2,7,56,0,0,pc,,0,,,,0\n",
		  "kea", "2001:db8::7 pc.lan. 1700000000", 0 },
		{ "Kea, for ever", KEA4 "192.0.2.7,,,4294967295,9999999999,1,0,0,pc,0,,0\r\n",
		  "kea", "192.0.2.7 pc never", 0 },
		{ "Kea, columns in another order",
		  "address,expire,state,hostname\n192.0.2.7,5,0,pc\n", "kea", "192.0.2.7 pc 5", 0 },
		{ "Kea, a line of something else", KEA4 "hello\n192.0.2.7,,,x,5,1,0,0,pc,0,,0\n",
		  "kea", "", 2 },
		{ "odhcpd, both families",
		  "# br-lan 000100012c 7812 laptop 1700000000 5ff 128 2001:db8::5ff/128 "
		  "fd00::5ff/128\n"
		  "2001:db8::5ff\tlaptop.lan\tlaptop\n"
		  "# br-lan 020000000001 ipv4 phone -1 7 32 192.0.2.7/32\n",
		  "odhcpd",
		  "2001:db8::5ff laptop 1700000000; fd00::5ff laptop 1700000000; 192.0.2.7 phone "
		  "never",
		  0 },
		{ "odhcpd, what is over, what is a prefix, what the server itself leaves out",
		  "# br-lan 0001 1 a 0 5 128 2001:db8::5/128\n# br-lan 0002 1 b 99 4 62 "
		  "2001:db8:0:4::/62\n# br-lan 0003 1 broken\\x20c 99 6 128 2001:db8::6/128\n"
		  "# br-lan 0004 1 - 99 7 128 2001:db8::7/128\n",
		  "odhcpd", "2001:db8::5 a gone; 2001:db8::6 - 99; 2001:db8::7 - 99", 0 },
		{ "hosts",
		  "127.0.0.1\tlocalhost\n\n# a remark\n192.0.2.7 pc.lan pc # mine\nfe80::1%lo0 x\n"
		  "no.address x\n::1 ip6-localhost",
		  "hosts",
		  "127.0.0.1 localhost never; 192.0.2.7 pc.lan never; 192.0.2.7 pc never; ::1 "
		  "ip6-localhost never",
		  2 },
		{ "remarks alone", "# nothing yet\n\n", "auto", "", 0 },
		{ "an empty file", "", "auto", "", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct leasefile f = { 0 };
		char says[1024];

		if (!leasefile_read(&f, rows[i].text, strlen(rows[i].text)))
			fail_msg("%s: no format was found", rows[i].why);
		describe(&f, says, sizeof(says));
		if (strcmp(lease_format_word(f.format), rows[i].format) != 0)
			fail_msg("%s: it is %s", rows[i].why, lease_format_word(f.format));
		if (strcmp(says, rows[i].says) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, says, rows[i].says);
		if (lease_remarks_count(&f.remarks) != rows[i].left_out)
			fail_msg("%s: %zu left out", rows[i].why, lease_remarks_count(&f.remarks));
		leasefile_clear(&f);
	}
}

static void what_is_no_such_file_is_told_apart(void **state)
{
	(void)state;
	static const char *const rows[] = { "<html><body>404</body></html>\n", "\177ELF\2\1\1",
					    "hello", "192.0.2.1\n", "{\"leases\": []}\n" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct leasefile f = { 0 };

		if (leasefile_read(&f, rows[i], strlen(rows[i])))
			fail_msg("'%s' was taken for %s", rows[i], lease_format_word(f.format));
		leasefile_clear(&f);
	}
}

/* What Kea clears up lies beside its journal, and is older. */
static void several_texts_are_one_journal(void **state)
{
	(void)state;
	static const char older[] = KEA4 "192.0.2.7,,,60,100,1,0,0,old,0,,0\n"
					 "192.0.2.8,,,60,100,1,0,0,other,0,,0\n";
	static const char newer[] = KEA4 "192.0.2.7,,,60,200,1,0,0,new,0,,0\n";
	struct leasefile f = { 0 };
	char says[256];

	assert_true(leasefile_read(&f, older, strlen(older)));
	assert_true(leasefile_read(&f, newer, strlen(newer)));
	describe(&f, says, sizeof(says));
	assert_string_equal(says, "192.0.2.7 new 200; 192.0.2.8 other 100");
	leasefile_clear(&f);
}

/* However long the journal is: as much is kept as there are addresses, and those are counted. */
static void entries_of_a_lease_file_are_limited(void **state)
{
	(void)state;
	size_t lines = LEASES_MOST + 10, len = 0;
	char *text = malloc(lines * 40);
	struct leasefile f = { 0 };

	for (size_t i = 0; i < lines; i++)
		len += (size_t)sprintf(text + len, "9 - 10.%zu.%zu.%zu h%zu -\n", i >> 16 & 255,
				       i >> 8 & 255, i & 255, i);
	assert_true(leasefile_read(&f, text, len));
	assert_int_equal(f.count, LEASES_MOST);
	assert_int_equal(f.remarks.counts[TROUBLE_many], 10);
	assert_int_equal(f.remarks.first[0].line, LEASES_MOST + 1);
	leasefile_clear(&f);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_every_server_are_read),
		cmocka_unit_test(what_is_no_such_file_is_told_apart),
		cmocka_unit_test(several_texts_are_one_journal),
		cmocka_unit_test(entries_of_a_lease_file_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
