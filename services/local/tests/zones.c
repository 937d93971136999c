/* Claims about local zones and records: looking, changing, listing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/local/zones.h"

#include <time.h>

#include "services/tests/conf.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define DIGEST "0123456789012345678901234567890123456789012345678901234567890123"

static struct localzones *zones_of(const struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;

	return localzones_new(&(struct localzones_how){ .zones = &s->local_zone,
							.data = &s->local_data,
							.ptrs = &s->local_data_ptr,
							.conf = conf,
							.defaults = true },
			      f);
}

static struct localzones *zones_from(const char *text)
{
	struct fault f = { 0 };
	struct conf *conf = conf_from(text);
	struct localzones *z = zones_of(conf, &f);

	if (!z)
		fail_msg("%s", f.text);
	conf_free(conf);
	return z;
}

static struct question asked(const char *name, uint16_t type)
{
	struct question q = { .name = N(name), .type = type, .class_ = CLASS_IN };

	q.name_len = (uint16_t)dname_len(q.name);
	return q;
}

/* "zone type" of a name, or "none". */
static const char *zone_at(const struct localzones *z, const char *name, uint16_t type)
{
	static char text[DNAME_TEXT + 40];
	struct question q = asked(name, type);
	struct localzone_match m;
	char zone[DNAME_TEXT];

	if (!localzones_find(z, &q, NULL, &m))
		return "none";
	snprintf(text, sizeof(text), "%s %s", dname_print(m.name, zone), zone_traits[m.type].word);
	return text;
}

static unsigned records_at(const struct localzones *z, const char *name, uint16_t type)
{
	struct question q = asked(name, type);
	struct localzone_match m;
	const struct localnode *n;
	const struct rrset *s;

	if (!localzones_find(z, &q, NULL, &m))
		return 0;
	n = localzones_node(z, &m, q.name, CLASS_IN);
	s = n ? localnode_set(n, type) : NULL;
	return s ? s->count : 0;
}

static bool has_node(const struct localzones *z, const char *name)
{
	struct question q = asked(name, TYPE_A);
	struct localzone_match m;

	return localzones_find(z, &q, NULL, &m) && localzones_node(z, &m, q.name, CLASS_IN);
}

static void the_longest_zone_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *want;
	} rows[] = {
		{ "a packed zone", "x.block.example.", TYPE_A, "block.example. always_nxdomain" },
		{ "with one below", "x.open.block.example.", TYPE_A,
		  "open.block.example. transparent" },
		{ "itself", "open.block.example.", TYPE_A, "open.block.example. transparent" },
		{ "nothing", "example.", TYPE_A, "none" },
		{ "what stands at the cut belongs above", "block.example.", TYPE_DS, "none" },
		{ "but not what is below it", "x.block.example.", TYPE_DS,
		  "block.example. always_nxdomain" },
		{ "a zone that is there by default", "4.3.2.10.in-addr.arpa.", TYPE_PTR,
		  "10.in-addr.arpa. static" },
		{ "one of many", "1.2.99.100.in-addr.arpa.", TYPE_PTR,
		  "99.100.in-addr.arpa. static" },
		{ "outside of them", "1.2.128.100.in-addr.arpa.", TYPE_PTR, "none" },
		{ "one that was ruled out", "1.1.168.192.in-addr.arpa.", TYPE_PTR, "none" },
		{ "one that was changed", "x.test.", TYPE_A, "test. refuse" },
		{ "localhost", "x.localhost.", TYPE_A, "localhost. redirect" },
		{ "for special use", "x.onion.", TYPE_A, "onion. static" },
		{ "made for loose records", "q.loose.", TYPE_A, "loose. transparent" },
		{ "the last of two", "twice.", TYPE_A, "twice. transparent" },
		{ "the last of two of the plain kind", "plain.", TYPE_A, "plain. refuse" },
		{ "the plain one of two", "mixed.", TYPE_A, "mixed. static" },
	};
	struct localzones *z = zones_from("server:\n local-zone: block.example always_nxdomain\n"
					  " local-zone: open.block.example transparent\n"
					  " local-zone: 168.192.in-addr.arpa nodefault\n"
					  " local-zone: test refuse\n"
					  " local-zone: twice redirect\n"
					  " local-zone: twice transparent\n"
					  " local-zone: plain static\n"
					  " local-zone: plain refuse\n"
					  " local-zone: mixed redirect\n"
					  " local-zone: mixed static\n"
					  " local-data: \"a.loose A 192.0.2.1\"\n"
					  " local-data: \"a.b.loose A 192.0.2.1\"\n");

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = zone_at(z, rows[i].name, rows[i].type);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
		if (rows[i].type == TYPE_A && strcmp(got, "none") != 0 && !strstr(got, "transp"))
			assert_true(localzones_concern(z, N(rows[i].name)));
	}
	assert_false(localzones_concern(z, N("www.example.com.")));
	localzones_unpin(z);
}

static void names_above_records_exist(void **state)
{
	(void)state;
	struct localzones *z = zones_from("server:\n local-zone: home static\n"
					  " local-data: \"a.b.c.home A 192.0.2.1\"\n"
					  " local-data: \"a.b.c.home A 192.0.2.2\"\n"
					  " local-data: \"a.b.c.home A 192.0.2.2\"\n"
					  " local-data-ptr: \"192.168.1.5 60 host.home\"\n"
					  " local-data-ptr: \"2001:db8:9::5 host.home\"\n");

	assert_int_equal(records_at(z, "a.b.c.home.", TYPE_A), 2);
	assert_true(has_node(z, "b.c.home.") && has_node(z, "c.home.") && has_node(z, "home."));
	assert_false(has_node(z, "x.home."));
	assert_int_equal(records_at(z, "5.1.168.192.in-addr.arpa.", TYPE_PTR), 1);
	assert_int_equal(records_at(z,
				    "5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.9.0.0.0.8.b.d.0.1.0.0."
				    "2.ip6.arpa.",
				    TYPE_PTR),
			 1);
	localzones_unpin(z);
}

static void what_changes_is_seen_at_once(void **state)
{
	(void)state;
	struct localzones *z = zones_from("server:\n local-zone: home static\n"
					  " local-zone: block always_nxdomain\n"
					  " local-data: \"a.b.home A 192.0.2.1\"\n");
	struct fault f = { 0 };
	size_t count = localzones_count(z);

	/* records */
	assert_true(localzones_put_record(z, "a.b.home A 192.0.2.9", &f));
	assert_int_equal(records_at(z, "a.b.home.", TYPE_A), 2);
	assert_true(localzones_put_record(z, "a.b.home. TXT x", &f));
	assert_true(localzones_remove_record(z, "a.b.home. A 192.0.2.1", &f));
	assert_int_equal(records_at(z, "a.b.home.", TYPE_A), 1);
	assert_true(localzones_remove_record(z, "a.b.home. A 192.0.2.9", &f));
	assert_int_equal(records_at(z, "a.b.home.", TYPE_A), 0);
	assert_int_equal(records_at(z, "a.b.home.", TYPE_TXT), 1);
	assert_true(localzones_put_record(z, "c.home A 192.0.2.1", &f));
	localzones_remove_name(z, N("a.b.home."), CLASS_IN);
	assert_false(has_node(z, "a.b.home.") || has_node(z, "b.home."));
	assert_true(has_node(z, "home."));
	localzones_remove_name(z, N("c.home."), CLASS_IN);
	assert_false(has_node(z, "home."));
	localzones_remove_name(z, N("c.home."), CLASS_IN); /* nothing is there */

	/* zones */
	assert_false(localzones_concern(z, N("x.new.")));
	assert_true(localzones_put_record(z, "x.new A 192.0.2.1", &f));
	assert_string_equal(zone_at(z, "y.x.new.", TYPE_A), "x.new. transparent");
	assert_true(localzones_concern(z, N("x.new.")));
	localzones_put(z, N("new."), CLASS_IN, ZONE_refuse);
	assert_string_equal(zone_at(z, "new.", TYPE_A), "new. refuse");
	localzones_remove(z, N("x.new."), CLASS_IN);
	assert_string_equal(zone_at(z, "x.new.", TYPE_A), "new. refuse");
	localzones_put(z, N("new."), CLASS_IN, ZONE_static);
	assert_string_equal(zone_at(z, "new.", TYPE_A), "new. static");
	assert_int_equal(localzones_count(z), count + 1);

	/* packed ones */
	localzones_put(z, N("block."), CLASS_IN, ZONE_always_null);
	assert_string_equal(zone_at(z, "block.", TYPE_A), "block. always_null");
	localzones_remove(z, N("block."), CLASS_IN);
	assert_string_equal(zone_at(z, "block.", TYPE_A), "none");
	localzones_remove(z, N("block."), CLASS_IN);
	assert_int_equal(localzones_count(z), count);
	localzones_put(z, N("block."), CLASS_IN, ZONE_deny);
	assert_string_equal(zone_at(z, "block.", TYPE_A), "block. deny");
	assert_int_equal(localzones_count(z), count + 1);
	rcu_flush();
	localzones_unpin(z);
}

/* The second number: of the zone above, once the one below is gone. */
static void the_ds_of_a_zone_is_in_the_zone_above(void **state)
{
	(void)state;
	struct localzones *z = zones_from("server:\n local-zone: home static\n"
					  " local-data: \"cut.loose DS 1 8 2 " DIGEST "\"\n");
	struct fault f = { 0 };

	assert_string_equal(zone_at(z, "cut.loose.", TYPE_DS), "loose. transparent");
	assert_true(localzones_put_record(z, "cut.nowhere DS 1 8 2 " DIGEST, &f));
	assert_string_equal(zone_at(z, "cut.nowhere.", TYPE_DS), "nowhere. transparent");

	assert_true(localzones_put_record(z, "cut.home DS 1 8 2 " DIGEST, &f));
	localzones_put(z, N("cut.home."), CLASS_IN, ZONE_static);
	assert_true(localzones_put_record(z, "cut.home DS 2 8 2 " DIGEST, &f));
	assert_true(localzones_put_record(z, "cut.home A 192.0.2.1", &f));
	assert_int_equal(records_at(z, "cut.home.", TYPE_DS), 2);
	assert_true(localzones_remove_record(z, "cut.home. DS 1 8 2 " DIGEST, &f));
	assert_int_equal(records_at(z, "cut.home.", TYPE_DS), 1);
	localzones_remove_name(z, N("cut.home."), CLASS_IN);
	assert_int_equal(records_at(z, "cut.home.", TYPE_DS), 0);
	assert_int_equal(records_at(z, "cut.home.", TYPE_A), 0);
	localzones_unpin(z);
}

static void a_zone_put_below_another_hides_its_records_until_it_goes(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned below, above;
	} rows[] = {
		{ "b.home.", 1, 0 }, { "a.b.home.", 1, 2 }, { "c.b.home.", 0, 1 }, { "d.b.home.", 1, 0 }
	};
	struct localzones *z = zones_from("server:\n local-zone: home static\n"
					  " local-data: \"a.b.home A 192.0.2.1\"\n"
					  " local-data: \"a.b.home A 192.0.2.2\"\n"
					  " local-data: \"c.b.home A 192.0.2.3\"\n");
	struct fault f = { 0 };

	for (unsigned again = 0; again < 2; again++) {
		localzones_put(z, N("b.home."), CLASS_IN, ZONE_static);
		for (size_t i = 0; i < COUNT(rows); i++)
			assert_int_equal(records_at(z, rows[i].name, TYPE_A), 0);
		assert_true(localzones_put_record(z, "b.home A 192.0.2.9", &f));
		assert_true(localzones_put_record(z, "d.b.home A 192.0.2.9", &f));
		assert_true(localzones_put_record(z, "a.b.home A 192.0.2.8", &f));
		assert_true(localzones_put_record(z, "a.b.home A 192.0.2.9", &f));
		assert_true(localzones_remove_record(z, "a.b.home. A 192.0.2.8", &f));
		for (size_t i = 0; i < COUNT(rows); i++)
			assert_int_equal(records_at(z, rows[i].name, TYPE_A), rows[i].below);
		assert_int_equal(localzones_records_at(z, N("a.b.home."), CLASS_IN), 3);
		if (again) /* the one above goes first: nothing of it is left */
			localzones_remove(z, N("home."), CLASS_IN);
		localzones_remove(z, N("b.home."), CLASS_IN);
		for (size_t i = 0; i < COUNT(rows); i++)
			assert_int_equal(records_at(z, rows[i].name, TYPE_A),
					 again ? 0 : rows[i].above);
		assert_int_equal(has_node(z, "b.home."), !again);
	}
	rcu_flush();
	localzones_unpin(z);
}

static void removing_says_what_is_not_there(void **state)
{
	(void)state;
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "a.nowhere A 192.0.2.1", "no zone for rr a.nowhere A 192.0.2.1" },
		{ "b.home A 192.0.2.1", "no local data for rr b.home A 192.0.2.1" },
		{ "a.home TXT x", "no rrset for rr a.home TXT x" },
		{ "a.home A 192.0.2.7", "rr a.home A 192.0.2.7 not found in rrset" },
	};
	struct localzones *z = zones_from("server:\n local-zone: home static\n"
					  " local-data: \"a.home A 192.0.2.1\"\n");

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		assert_false(localzones_remove_record(z, rows[i].line, &f));
		assert_string_equal(f.text, rows[i].want);
	}
	localzones_unpin(z);
}

static void what_cannot_be_is_refused_with_a_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *want;
	} rows[] = {
		{ "below a redirect zone",
		  "local-zone: r redirect\n local-data: \"a.r A 192.0.2.1\"\n", "at its own name" },
		{ "an alias beside an address",
		  "local-zone: r redirect\n local-data: \"r A 192.0.2.1\"\n"
		  " local-data: \"r CNAME x.\"\n",
		  "no other records" },
		{ "two aliases", "local-zone: r redirect\n local-data: \"r CNAME x.\"\n local-data: \"r CNAME y.\"\n",
		  "only one" },
		{ "a tag's zone", "define-tag: t\n local-zone-tag: nowhere t\n",
		  "no local-zone nowhere." },
		{ "an override's zone", "local-zone-override: nowhere 10.0.0.0/8 deny\n",
		  "no local-zone nowhere." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		char text[300];
		struct conf *conf;

		snprintf(text, sizeof(text), "server:\n %s", rows[i].conf);
		conf = conf_from(text);
		assert_null(zones_of(conf, &f));
		if (!strstr(f.text, rows[i].want))
			fail_msg("%s: '%s'", rows[i].why, f.text);
		conf_free(conf);
	}
}

static void zones_that_nobody_wrote_down_may_have_tags(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"define-tag: t\n local-zone-tag: 10.in-addr.arpa t\n",
		("define-tag: t\n local-data: \"a.x A 192.0.2.1\"\n local-data: \"b.x A 192.0.2.1\"\n"
		 " local-zone-tag: x t\n"),
		"local-zone-override: 10.in-addr.arpa 10.0.0.0/8 deny\n",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[300];

		snprintf(text, sizeof(text), "server:\n %s", rows[i]);
		localzones_unpin(zones_from(text));
	}
}

struct heard {
	char text[4000];
	size_t len;
};

static bool hear_zone(const uint8_t *name, enum zone_type type, void *arg)
{
	struct heard *h = arg;
	char text[DNAME_TEXT];

	if (dname_is_under(name, N("arpa.")) || type == ZONE_redirect)
		return true;
	h->len += (size_t)snprintf(h->text + h->len, sizeof(h->text) - h->len, "%s %s\n",
				   dname_print(name, text), zone_traits[type].word);
	return true;
}

static bool count_zone(const uint8_t *name, enum zone_type type, void *count)
{
	(void)name;
	(void)type;
	++*(size_t *)count;
	return true;
}

static void hear_line(const char *line, void *arg)
{
	struct heard *h = arg;

	h->len += (size_t)snprintf(h->text + h->len, sizeof(h->text) - h->len, "%s\n", line);
}

static bool hear_set(const struct rrset *set, void *arg)
{
	if (!dname_is_under(rrset_owner(set), N("arpa.")))
		text_rrset_print(set, 0, hear_line, arg);
	return true;
}

static void count_wrong(void *wrong, size_t number, const char *line, const char *why)
{
	(void)number;
	assert_non_null(strstr(why, line));
	++*(unsigned *)wrong;
}

/* Time is that of the processor: whoever builds an RRset anew for each of its records needs half a
 * minute for these. */
static void many_records_of_one_name_are_built_once(void **state)
{
	(void)state;
	static const struct {
		const char *why, *line;
		const char *name;
		uint16_t type;
		unsigned count, want;
	} rows[] = {
		{ "in a zone", " local-data: \"many.home A 10.0.%u.%u\"\n", "many.home.", TYPE_A, 4000,
		  4000 },
		{ "in none", " local-data: \"many.loose A 10.0.%u.%u\"\n", "many.loose.", TYPE_A, 4000,
		  4000 },
		{ "from addresses", " local-data-ptr: \"192.0.2.1 a%u-%u.home\"\n",
		  "1.2.0.192.in-addr.arpa.", TYPE_PTR, 4000, 4000 },
		{ "the same ones", " local-data: \"many.home A 10.0.0.0\"\n#%u %u\n", "many.home.",
		  TYPE_A, 4000, 1 },
		{ "as many as there can be", " local-data: \"many.home A 10.0.%u.%u\"\n", "many.home.",
		  TYPE_A, 65535, 65535 },
		{ "beside another", " local-data: \"many.home A 10.0.%u.%u\"\n"
				    " local-data: \"many.home TXT x\"\n", "many.home.", TYPE_TXT,
		  30000, 1 },
		{ "of more names", " local-data: \"m%u-%u.home A 10.0.0.0\"\n", "m3-7.home.", TYPE_A,
		  65536, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static const char head[] = "server:\n local-zone: home static\n";
		size_t room = sizeof(head) + (size_t)rows[i].count * 80, len = sizeof(head) - 1;
		char *text = mem_new(room);
		clock_t begun;
		struct localzones *z;

		memcpy(text, head, len);
		for (unsigned n = 0; n < rows[i].count; n++)
			len += (size_t)snprintf(text + len, room - len, rows[i].line, n >> 8, n & 255);
		begun = clock();
		z = zones_from(text);
		if (clock() - begun > 5 * CLOCKS_PER_SEC)
			fail_msg("%s: it takes too long", rows[i].why);
		if (records_at(z, rows[i].name, rows[i].type) != rows[i].want)
			fail_msg("%s: %u", rows[i].why, records_at(z, rows[i].name, rows[i].type));
		localzones_unpin(z);
		mem_free(text);
	}
}

static void an_rrset_has_so_many_records_and_no_more(void **state)
{
	(void)state;
	struct fault f = { 0 };
	size_t room = 65536 * 45 + 50, len;
	char *text = mem_new(room);
	struct conf *conf;
	struct localzones *z;

	len = (size_t)snprintf(text, room, "server:\n local-zone: home static\n");
	for (unsigned n = 0; n < 65536; n++)
		len += (size_t)snprintf(text + len, room - len, " local-data: \"many.home A 10.0.%u.%u\"\n",
					n >> 8, n & 255);
	conf = conf_from(text);
	assert_null(zones_of(conf, &f));
	assert_non_null(strstr(f.text, "too many"));
	assert_non_null(strstr(f.text, "10.0.255.255"));
	conf_free(conf);

	*strrchr(text, '\n') = '\0';
	*strrchr(text, '\n') = '\0';
	z = zones_from(strcat(text, "\n"));
	f.set = false;
	assert_true(localzones_put_record(z, "many.home A 10.0.255.254", &f));
	assert_true(localzones_put_record(z, "many.home A 10.0.255.254", &f)); /* it is there */
	assert_false(localzones_put_record(z, "many.home A 10.0.255.255", &f));
	assert_int_equal(records_at(z, "many.home.", TYPE_A), 65535);
	assert_true(localzones_put_record(z, "many.home AAAA ::1", &f));
	assert_true(localzones_remove_record(z, "many.home A 10.0.0.0", &f));
	assert_true(localzones_put_record(z, "many.home A 10.0.255.255", &f));
	assert_int_equal(records_at(z, "many.home.", TYPE_A), 65535);
	localzones_unpin(z);
	mem_free(text);
}

/* What unbound-checkconf takes is taken, odd as it may be. */
static void what_is_odd_in_a_record_costs_only_that(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		const char *want; /* as it is shown; "": taken, but there is no record; NULL: refused */
	} rows[] = {
		{ "x.home 4294967295 A 192.0.2.1", "x.home.\t2147483647\tIN\tA\t192.0.2.1\n" },
		{ "x.home 2147483648 A 192.0.2.1", "x.home.\t2147483647\tIN\tA\t192.0.2.1\n" },
		{ "x.home 2147483647 A 192.0.2.1", "x.home.\t2147483647\tIN\tA\t192.0.2.1\n" },
		{ "x.home 4294967296 A 192.0.2.1", NULL },
		{ "x.home 5 A 192.0.2.1 ; remark", "x.home.\t5\tIN\tA\t192.0.2.1\n" },
		{ "x.home 5 A 192.0.2.1 # remark", "x.home.\t5\tIN\tA\t192.0.2.1\n" },
		{ "x.home 5 A 192.0.2.1 192.0.2.2", "x.home.\t5\tIN\tA\t192.0.2.1\n" },
		{ "x.home 5 AAAA ::1 ::2", "x.home.\t5\tIN\tAAAA\t::1\n" },
		{ "x.home 5 MX 10 a. b.", "x.home.\t5\tIN\tMX\t10 a.\n" },
		{ "x.home 5 MX 65537 a.", "x.home.\t5\tIN\tMX\t1 a.\n" },
		{ "x.home 5 SRV 1 65536 2 a.", "x.home.\t5\tIN\tSRV\t1 0 2 a.\n" },
		{ "x.home 5 CAA 256 issue x", "x.home.\t5\tIN\tCAA\t0 issue \"x\"\n" },
		{ "x.home 5 TXT", "x.home.\t5\tIN\tTXT\t\"\"\n" },
		{ "x.home 5 A", "" },
		{ "x.home 5 AAAA", "" },
		{ "x.home 5 CNAME ; none", "" },
		{ "x.home 5 MX", NULL },
		{ "x.home 5 MX 10", NULL },
		{ "x.home 5 A 192.0.2", NULL },
		{ "x.home 5 MX -1 a.", NULL },
		{ "x.home 5", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct localzones *z = zones_from("server:\n local-zone: home static\n");
		struct heard h = { .len = 0 };
		struct fault f = { 0 };
		bool taken = localzones_put_record(z, rows[i].line, &f);
		const char *got;

		localzones_each_set(z, hear_set, &h);
		got = strstr(h.text, "x.home.");
		if (got)
			*(strchr(got, '\n') + 1) = '\0';
		if (taken != (rows[i].want != NULL) ||
		    (taken && strcmp(got ? got : "", rows[i].want) != 0))
			fail_msg("%s: %s %s", rows[i].line, taken ? "taken" : f.text, got ? got : "");
		localzones_unpin(z);
	}
}

/* What is added at once is what is added one by one. */
static void a_batch_is_as_good_as_one_by_one(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"a.home 300 A 192.0.2.1", "b.home A 192.0.2.9",
		"a.home 60 A 192.0.2.2",  "A.Home A 192.0.2.1", "a.home TXT one", "d.c.home A 192.0.2.3",
		"al.home CNAME a.home.",  "al.home CNAME b.home.", "al.home CNAME b.home.",
		"a.home DS 1 8 2 " DIGEST, "home DS 1 8 2 " DIGEST, "x.new A 192.0.2.1",
		"y.x.new A 192.0.2.1",    "new A 192.0.2.1", "a.home CH TXT chaos",
		"red A 192.0.2.1",        "red CNAME a.home.", "sub.red A 192.0.2.1", "red TXT x",
	};
	static const char conf[] = "server:\n local-zone: home static\n local-zone: red redirect\n";
	struct localzones *together = zones_from(conf), *alone = zones_from(conf);
	struct record_batch *b = record_batch_new();
	struct heard one = { .len = 0 }, other = { .len = 0 };
	unsigned wrong = 0, together_wrong = 0;

	for (size_t i = 0; i < COUNT(lines); i++) {
		struct fault f = { 0 };

		assert_true(record_batch_read(b, lines[i], i, &f));
		wrong += !localzones_put_record(alone, lines[i], &f);
	}
	record_batch_put(b, together,
			 &(struct record_ends){ .wrong = count_wrong, .arg = &together_wrong });
	record_batch_free(b);
	assert_int_equal(together_wrong, wrong);
	assert_int_equal(wrong, 2);
	localzones_each_set(alone, hear_set, &one);
	localzones_each_set(together, hear_set, &other);
	assert_string_equal(one.text, other.text);
	one.len = other.len = 0;
	localzones_each(alone, hear_zone, &one);
	localzones_each(together, hear_zone, &other);
	assert_string_equal(one.text, other.text);
	localzones_unpin(alone);
	localzones_unpin(together);
}

static void all_zones_are_listed_once(void **state)
{
	(void)state;
	struct localzones *z = zones_from("server:\n local-zone: b.example deny\n"
					  " local-zone: a.example deny\n"
					  " local-zone: t.example transparent\n"
					  " local-data: \"b.example A 192.0.2.1\"\n"
					  " local-data: \"chaos. CH TXT x\"\n");
	struct heard h = { .len = 0 };
	size_t count = 0;

	localzones_each(z, count_zone, &count);
	assert_int_equal(localzones_count(z), count);
	localzones_remove(z, N("a.example."), CLASS_IN);
	localzones_each(z, hear_zone, &h);
	assert_string_equal(h.text, "b.example. deny\nt.example. transparent\ninvalid. static\n"
				    "onion. static\ntest. static\nchaos. transparent\n");
	localzones_unpin(z);
}

struct tally {
	unsigned zones, sets, rests, most; /* `most`: then it has heard enough */
};

static bool tally_zone(const uint8_t *name, enum zone_type type, void *arg)
{
	struct tally *t = arg;

	(void)name, (void)type;
	return ++t->zones != t->most;
}

static bool tally_set(const struct rrset *set, void *arg)
{
	struct tally *t = arg;

	(void)set;
	return ++t->sets != t->most;
}

static bool tally_rest(void *arg)
{
	struct tally *t = arg;

	t->rests++;
	return true;
}

/* However many there are, and in whatever classes; a rest for every 64; and no more for who has heard enough. */
static void a_long_list_is_whole_and_has_rests(void **state)
{
	(void)state;
	enum { MANY = 8200 }; /* more than are copied at once */
	struct localzones *z = zones_from("server:\n local-zone: home static\n local-data: \"a.home A 192.0.2.1\"\n");
	struct fault f = { 0 };
	struct tally all = { 0 }, at_once = { 0 }, sets = { 0 };
	char line[80];

	assert_true(localzones_put_record(z, "b.chaos. CH TXT x", &f));
	localzones_put(z, N("other.chaos."), CLASS_CH, ZONE_refuse);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(line, sizeof(line), "n%u.many.", i);
		localzones_put(z, N(line), CLASS_IN, ZONE_refuse);
	}
	localzones_each(z, tally_zone, &at_once);
	localzones_list(z, tally_zone, tally_rest, &all);
	assert_int_equal(all.zones, localzones_count(z));
	assert_int_equal(at_once.zones, all.zones);
	assert_in_range(all.rests, all.zones / 64 - 2, all.zones / 64);
	localzones_each_set(z, tally_set, &sets);
	assert_true(sets.sets > 0);
	all = (struct tally){ 0 };
	localzones_list_sets(z, tally_set, tally_rest, &all);
	assert_int_equal(all.sets, sets.sets);
	for (unsigned most = 1; most <= sets.sets; most++) {
		struct tally few = { .most = most };

		localzones_list_sets(z, tally_set, tally_rest, &few);
		assert_int_equal(few.sets, most);
		few = (struct tally){ .most = most };
		localzones_each_set(z, tally_set, &few);
		assert_int_equal(few.sets, most);
	}
	for (unsigned most = 1; most <= at_once.zones; most += most < 3 ? 1 : 2731) {
		struct tally few = { .most = most };

		localzones_list(z, tally_zone, tally_rest, &few);
		assert_int_equal(few.zones, most);
		few = (struct tally){ .most = most };
		localzones_each(z, tally_zone, &few);
		assert_int_equal(few.zones, most);
	}
	localzones_unpin(z);
}

/* Zones and records of another class are others. */
static void each_class_has_its_own_zones(void **state)
{
	(void)state;
	struct localzones *z = zones_from("server:\n local-zone: home static\n local-data: \"a.home A 192.0.2.1\"\n");
	struct question q = asked("x.b.home.", TYPE_TXT);
	struct localzone_match m;
	struct fault f = { 0 };

	q.class_ = CLASS_CH;
	assert_false(localzones_find(z, &q, NULL, &m));
	assert_int_equal(localzones_records_at(z, N("a.home."), CLASS_CH), 0);
	assert_int_equal(localzones_records_at(z, N("a.home."), CLASS_IN), 1);
	assert_true(localzones_put_record(z, "b.home. CH TXT x", &f));
	assert_int_equal(localzones_records_at(z, N("b.home."), CLASS_CH), 1);
	assert_int_equal(localzones_records_at(z, N("b.home."), CLASS_IN), 0);
	assert_true(localzones_find(z, &q, NULL, &m));
	assert_int_equal(m.type, ZONE_transparent);
	assert_name_is(m.name, "b.home.");
	localzones_remove(z, N("b.home."), CLASS_CH);
	assert_false(localzones_find(z, &q, NULL, &m));
	assert_int_equal(localzones_records_at(z, N("b.home."), CLASS_CH), 0);
	assert_int_equal(localzones_records_at(z, N("a.home."), CLASS_IN), 1);
	rcu_flush();
	localzones_unpin(z);
}

/* What is to be logged is looked at, though it leaves everything to resolution. */
static void where_all_is_logged_every_zone_concerns(void **state)
{
	(void)state;
	for (unsigned logs = 0; logs < 2; logs++) {
		char text[200];
		struct localzones *z;

		snprintf(text, sizeof(text), "server:\n log-local-actions: %s\n local-zone: open.example transparent\n", logs ? "yes" : "no");
		z = zones_from(text);
		assert_int_equal(localzones_concern(z, N("x.open.example.")), logs);
		localzones_unpin(z);
	}
}

static bool is_patient(void *arg)
{
	(void)arg;
	return true;
}

struct stopped {
	unsigned zones, rests;
};

static bool count_until_rest(const uint8_t *name, enum zone_type type, void *arg)
{
	(void)name;
	(void)type;
	((struct stopped *)arg)->zones++;
	return true;
}

static bool stop_at_second(void *arg)
{
	return ++((struct stopped *)arg)->rests < 2;
}

/* As another thread lists them, packed ones and others; it may stop. */
static void a_list_in_many_turns_is_the_same(void **state)
{
	(void)state;
	char text[30000] = "server:\n";
	struct heard whole = { .len = 0 }, parts = { .len = 0 };
	struct stopped s = { 0 };
	struct localzones *z;

	for (unsigned i = 0; i < 40; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " local-zone: z%u.example static\n local-data: \"a.z%u.example A 192.0.2.1\"\n", i, i);
	z = zones_from(text);
	localzones_remove(z, N("z7.example."), CLASS_IN);
	rcu_thread_join();
	localzones_each(z, hear_zone, &whole);
	localzones_list(z, hear_zone, is_patient, &parts);
	assert_true(whole.len > 0);
	assert_string_equal(parts.text, whole.text);
	localzones_unpin(z);
	text[0] = '\0';
	snprintf(text, sizeof(text), "server:\n");
	for (unsigned i = 0; i < 400; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " local-zone: z%u.example %s\n", i,
			 i % 2 ? "static" : "refuse");
	z = zones_from(text);
	localzones_list(z, count_until_rest, stop_at_second, &s);
	assert_int_equal(s.rests, 2);
	assert_in_range(s.zones, 100, 128);
	rcu_thread_leave();
	localzones_unpin(z);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(the_longest_zone_is_found),
		cmocka_unit_test(names_above_records_exist),
		cmocka_unit_test(what_changes_is_seen_at_once),
		cmocka_unit_test(the_ds_of_a_zone_is_in_the_zone_above),
		cmocka_unit_test(a_zone_put_below_another_hides_its_records_until_it_goes),
		cmocka_unit_test(removing_says_what_is_not_there),
		cmocka_unit_test(what_cannot_be_is_refused_with_a_sentence),
		cmocka_unit_test(zones_that_nobody_wrote_down_may_have_tags),
		cmocka_unit_test(a_long_list_is_whole_and_has_rests),
		cmocka_unit_test(each_class_has_its_own_zones),
		cmocka_unit_test(where_all_is_logged_every_zone_concerns),
		cmocka_unit_test(all_zones_are_listed_once),
		cmocka_unit_test(many_records_of_one_name_are_built_once),
		cmocka_unit_test(an_rrset_has_so_many_records_and_no_more),
		cmocka_unit_test(a_batch_is_as_good_as_one_by_one),
		cmocka_unit_test(what_is_odd_in_a_record_costs_only_that),
		cmocka_unit_test(a_list_in_many_turns_is_the_same),
	};
	int failed;

	hash_start(true);
	rcu_thread_join();
	failed = cmocka_run_group_tests(claims, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
