/* Claims about keeping transferred zones current: when who is asked for what, and what is done with it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/xfer/tests/fixture.h"
#include "util/base/log.h"

#define ONE   "primary: 192.0.2.1\n"
#define TWO   "primary: 192.0.2.1\nprimary: 192.0.2.2\n"
#define URL   "url: \"https://a.zone/z\"\n"
#define CHECK "zonemd-check: yes\n"
#define BEGIN { "start", "; -; 1 ms" }, { "play 1", "round: axfr 192.0.2.1; -; 30 s" }
#define SEVEN { "start", NULL }, { "play 1", NULL }, { "zone 7", "; 7; 100 s" }
#define SECOND                                                                                                       \
	{ "forget", NULL }, BEGIN, { "zone 7", NULL }, { "work", NULL }, { "work", "; 7; 100 s" },                   \
		{ "play 100000", NULL }, { "soa 8", NULL }, { "step 7 8", NULL }, { "work", "job; 8; never" }
#define PROBE { "play 100000", "round: soa 192.0.2.1; 7; never" }

struct story {
	const char *why, *options;
	struct xfer_step steps[30];
};

static void tell_all(const char *apex, const struct story *stories, size_t count)
{
	for (size_t i = 0; i < count; i++)
		play_steps(stories[i].why, apex, stories[i].options, stories[i].steps);
}

static void a_zone_that_is_missing_is_fetched(void **state)
{
	(void)state;
	static const struct story stories[] = {
		{ "in one message", ONE, { BEGIN, { "zone 7", "; 7; 100 s" } } },
		{ "in two",
		  ONE,
		  { BEGIN, { "play 20000", "; -; 10 s" }, { "part 7", "; -; 30 s" }, { "play 29000", "; -; 1 s" },
		    { "end 7", "; 7; 100 s" } } },
		{ "silence", ONE, { BEGIN, { "part 7", NULL }, { "play 30000", "cut off; -; 10 s" } } },
		{ "no transfer", TWO, { BEGIN, { "garbage", "axfr 192.0.2.2; -; 30 s" }, { "zone 7", "; 7; 100 s" } } },
		{ "waits longer each time, and begins anew once it is there",
		  ONE "zonemd-check: no\n",
		  { BEGIN,
		    { "times 100 0", NULL },
		    { "fail", "; -; 10 s" },
		    { "play 10000", "round: axfr 192.0.2.1; -; 30 s" },
		    { "fail", "; -; 20 s" },
		    { "play 20000", NULL },
		    { "fail", "; -; 40 s" },
		    { "play 40000", NULL },
		    { "fail", "; -; 80 s" },
		    { "play 80000", NULL },
		    { "zone 7", "; 7; 100 s" },
		    PROBE,
		    { "soa none", "; 7; 10 s" },
		    { "play 10000", "round: soa 192.0.2.1; 7; never" },
		    { "soa none", "; 7; 20 s" } } },
		{ "not longer than an hour",
		  ONE,
		  { BEGIN,
		    { "fail", "; -; 10 s" }, { "play 10000", NULL }, { "fail", NULL }, { "play 20000", NULL },
		    { "fail", NULL }, { "play 40000", NULL }, { "fail", NULL }, { "play 80000", NULL },
		    { "fail", NULL }, { "play 160000", NULL }, { "fail", NULL }, { "play 320000", NULL },
		    { "fail", NULL }, { "play 640000", NULL }, { "fail", "; -; 1280 s" }, { "play 1280000", NULL },
		    { "fail", "; -; 2560 s" }, { "play 2560000", NULL }, { "fail", "; -; 3600 s" }, { "play 3600000", NULL },
		    { "fail", "; -; 3600 s" } } },
		{ "over TLS",
		  "primary: \"192.0.2.1#ns.zone\"\n",
		  { { "start", NULL },
		    { "play 1", "round: axfr 192.0.2.1@853#ns.zone tls; -; 30 s" },
		    { "zone 7", "; 7; 100 s" },
		    { "play 100000", "round: soa 192.0.2.1@853#ns.zone tls; 7; never" } } },
		{ "signed, without a probe",
		  ONE "tsig-key: one\nkey:\nname: one\nsecret: \"c2VjcmV0IG9mIHR3byBzZXJ2ZXJz\"\n",
		  { BEGIN,
		    { "zone 7", "; 7; 100 s" },
		    { "play 100000", "round: ixfr 7 192.0.2.1; 7; 30 s" },
		    { "end 7", "; 7; 100 s" },
		    { "play 100000", "round: ixfr 7 192.0.2.1; 7; 30 s" },
		    { "step 7 8", "; 8; 100 s" } } },
		{ "as large as is allowed", ONE "max-transfer-size: 124\n", { BEGIN, { "part 7", "; -; 30 s" }, { "end 7", "; -; 10 s" } } },
		{ "larger", ONE "max-transfer-size: 123\n", { BEGIN, { "part 7", "; -; 10 s" } } },
		{ "of any size", ONE "max-transfer-size: 0\n", { BEGIN, { "zone 7", "; 7; 100 s" } } },
		{ "in the time allowed",
		  ONE "max-transfer-time: 45000\n",
		  { { "start", NULL },
		    { "play 1", "round: axfr 192.0.2.1; -; 45 s" },
		    { "play 40000", "; -; 5 s" },
		    { "part 7", "; -; 5 s" },
		    { "end 7", "; 7; 100 s" } } },
		{ "later",
		  ONE "max-transfer-time: 45000\n",
		  { { "start", NULL },
		    { "play 1", NULL },
		    { "play 44000", NULL },
		    { "part 7", "; -; 1 s" },
		    { "play 1000", "cut off; -; 10 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void a_zone_is_brought_up_to_date(void **state)
{
	(void)state;
	static const struct story stories[] = {
		{ "nothing is newer", ONE, { SEVEN, PROBE, { "soa 7", "; 7; 100 s" } } },
		{ "a difference", ONE, { SEVEN, PROBE, { "soa 8", "ixfr 7 192.0.2.1; 7; 30 s" }, { "step 7 8", "; 8; 100 s" } } },
		{ "the whole in place of it",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "zone 8", "; 8; 100 s" } } },
		{ "differences cannot be had",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "fail", "axfr 192.0.2.1; 7; 30 s" }, { "zone 8", "; 8; 100 s" } } },
		{ "nor can the whole",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "fail", NULL }, { "fail", "; 7; 50 s" } } },
		{ "differences to something else",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "step 6 8", "axfr 192.0.2.1; 7; 30 s" } } },
		{ "differences that do not fit",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "times 100 51", NULL }, { "step 7 8", "axfr 192.0.2.1; 7; 30 s" },
		    { "zone 8", "; 8; 100 s" } } },
		{ "nothing newer after all", ONE, { SEVEN, PROBE, { "soa 8", NULL }, { "end 7", "; 7; 100 s" } } },
		{ "the whole is no newer after all",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "fail", NULL }, { "zone 7", "; 7; 100 s" } } },
		{ "something older after all", ONE, { SEVEN, PROBE, { "soa 8", NULL }, { "end 6", "; 7; 50 s" } } },
		{ "the whole is older after all",
		  ONE,
		  { SEVEN, PROBE, { "soa 8", NULL }, { "fail", NULL }, { "zone 6", "; 7; 50 s" } } },
		{ "of two records the first counts", ONE, { SEVEN, PROBE, { "soa 7 8", "; 7; 100 s" } } },
		{ "of two records the second does not",
		  ONE,
		  { SEVEN, PROBE, { "soa 8 7", "ixfr 7 192.0.2.1; 7; 30 s" } } },
		{ "an older one is not taken", ONE, { SEVEN, PROBE, { "soa 6", "; 7; 50 s" } } },
		{ "a refusal", ONE, { SEVEN, PROBE, { "soa refused", "; 7; 50 s" } } },
		{ "no record", ONE, { SEVEN, PROBE, { "soa empty", "; 7; 50 s" } } },
		{ "the next one has more",
		  TWO,
		  { SEVEN, PROBE, { "soa 7", "soa 192.0.2.2; 7; never" }, { "soa 8", "ixfr 7 192.0.2.2; 7; 30 s" } } },
		{ "the next one is silent", TWO, { SEVEN, PROBE, { "soa 7", NULL }, { "soa none", "; 7; 100 s" } } },
		{ "the next one is behind", TWO, { SEVEN, PROBE, { "soa 7", NULL }, { "soa 6", "; 7; 100 s" } } },
		{ "the first one is silent",
		  TWO,
		  { SEVEN, PROBE, { "soa none", "soa 192.0.2.2; 7; never" }, { "soa 7", "; 7; 100 s" } } },
		{ "the first one is behind",
		  TWO,
		  { SEVEN, PROBE, { "soa 6", "soa 192.0.2.2; 7; never" }, { "soa 8", "ixfr 7 192.0.2.2; 7; 30 s" } } },
		{ "what one round has found is nothing for the next",
		  ONE,
		  { SEVEN, PROBE, { "soa 7", "; 7; 100 s" }, PROBE, { "soa none", "; 7; 50 s" } } },
		{ "no time between looks", ONE, { { "times 0 50", NULL }, BEGIN, { "zone 7", "; 7; 1 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

/* 170 seconds after it was last known to be current. */
static void a_zone_expires(void **state)
{
	(void)state;
#define EXPIRED                                                                                              \
	SEVEN, PROBE, { "soa none", "; 7; 50 s" }, { "play 50000", NULL }, { "soa none", "; 7; 20 s" },          \
		{ "play 20000", NULL }, { "soa none", "; 7!; 50 s" }, { "play 50000", "round: soa 192.0.2.1; 7!; never" }
	static const struct story stories[] = {
		{ "its time has not come",
		  ONE,
		  { SEVEN, PROBE, { "soa 7", "; 7; 100 s" }, { "play 100000", NULL }, { "soa none", "; 7; 50 s" },
		    { "play 50000", NULL }, { "soa none", "; 7; 20 s" } } },
		{ "it is still current", ONE, { EXPIRED, { "soa 7", "; 7; 100 s" } } },
		{ "it stays expired", ONE, { EXPIRED, { "soa none", "; 7!; 50 s" } } },
		{ "a newer one", ONE, { EXPIRED, { "soa 8", "ixfr 7 192.0.2.1; 7!; 30 s" }, { "step 7 8", "; 8; 100 s" } } },
		{ "an older one, as a whole",
		  ONE,
		  { EXPIRED, { "soa 6", "axfr 192.0.2.1; 7!; 30 s" }, { "zone 6", "; 6; 100 s" } } },
		{ "an older one in place of a difference",
		  ONE,
		  { EXPIRED, { "soa 8", NULL }, { "end 6", "axfr 192.0.2.1; 7!; 30 s" }, { "zone 6", "; 6; 100 s" } } },
		{ "another one has nothing to say",
		  TWO,
		  { SEVEN, { "play 200000", NULL }, { "soa none", NULL }, { "soa none", "; 7!; 50 s" },
		    { "play 50000", NULL }, { "soa 7", "soa 192.0.2.2; 7; never" }, { "soa none", "; 7; 100 s" } } },
		{ "a new configuration does not renew it",
		  ONE,
		  { SEVEN, { "play 90000", NULL }, { "renew", "; 7; 100 s" }, { "play 100000", NULL },
		    { "soa none", "; 7!; 50 s" } } },
		{ "but it does not expire before it was asked for",
		  ONE,
		  { { "file 7", NULL }, { "play 1000000", NULL }, { "start", "; 7; 100 s" }, { "play 100000", NULL },
		    { "soa none", "; 7; 50 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void a_primary_has_the_addresses_of_its_name(void **state)
{
	(void)state;
#define HOST { "start", NULL }, { "play 1", "round: A? ns.zone.; -; never" }
	static const struct story stories[] = {
		{ "all of them, in order",
		  "primary: ns.zone\n",
		  { HOST,
		    { "address 192.0.2.1 192.0.2.2", "AAAA? ns.zone.; -; never" },
		    { "address 2001:db8::1", "axfr 192.0.2.1; -; 30 s" },
		    { "fail", "axfr 192.0.2.2; -; 30 s" },
		    { "fail", "axfr 2001:db8::1; -; 30 s" },
		    { "fail", "; -; 10 s" } } },
		{ "differences from each of them first",
		  "primary: ns.zone\nserver:\ndo-ip6: no\n",
		  { HOST, { "address 192.0.2.1 192.0.2.2", NULL }, { "zone 7", NULL }, { "play 100000", NULL },
		    { "address 192.0.2.1 192.0.2.2", "soa 192.0.2.1; 7; never" }, { "soa none", "soa 192.0.2.2; 7; never" },
		    { "soa 8", "ixfr 7 192.0.2.2; 7; 30 s" } } },
		{ "at its port", "primary: ns.zone@5353\nserver:\ndo-ip6: no\n", { HOST, { "address 192.0.2.1", "axfr 192.0.2.1@5353; -; 30 s" } } },
		{ "without IPv6", "primary: ns.zone\nserver:\ndo-ip6: no\n", { HOST, { "address 192.0.2.1", "axfr 192.0.2.1; -; 30 s" } } },
		{ "not those that are bogus",
		  "primary: ns.zone\n",
		  { HOST, { "address bogus 192.0.2.1", "AAAA? ns.zone.; -; never" }, { "address", "; -; 10 s" } } },
		{ "not those of a failure",
		  "primary: ns.zone\n",
		  { HOST, { "address servfail 192.0.2.1", NULL }, { "address servfail 2001:db8::1", "; -; 10 s" } } },
		{ "not those of another type",
		  "primary: ns.zone\n",
		  { HOST, { "address 2001:db8::1", NULL }, { "address 192.0.2.1", "; -; 10 s" } } },
		{ "eight at most",
		  "primary: ns.zone\n",
		  { HOST,
		    { "address 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6 192.0.2.7 192.0.2.8 192.0.2.9", NULL },
		    { "address 2001:db8::1", NULL }, { "fail", NULL }, { "fail", NULL }, { "fail", NULL }, { "fail", NULL },
		    { "fail", NULL }, { "fail", NULL }, { "fail", "axfr 192.0.2.8; -; 30 s" }, { "fail", "; -; 10 s" } } },
		{ "the next primary",
		  "primary: ns.zone\nprimary: 192.0.2.9\n",
		  { HOST, { "address", NULL }, { "address", "axfr 192.0.2.9; -; 30 s" } } },
		{ "another name, looked up anew",
		  "primary: ns.zone\nprimary: nt.zone\nserver:\ndo-ip6: no\n",
		  { HOST, { "address 192.0.2.1", NULL }, { "fail", "A? nt.zone.; -; never" }, { "address 192.0.2.2", "axfr 192.0.2.2; -; 30 s" },
		    { "fail", "; -; 10 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void urls_come_before_primaries(void **state)
{
	(void)state;
#define GET "round: get https://a.zone/z"
	static const struct story stories[] = {
		{ "fetched, and again if it has changed",
		  URL,
		  { { "url 7", NULL }, { "start", "; -; 1 ms" }, { "play 1", GET "; 7; 100 s" }, { "url same", NULL },
		    { "play 100000", GET " unless mark; 7; 100 s" }, { "url 8", NULL },
		    { "play 100000", GET " unless mark; 8; 100 s" } } },
		{ "unchanged, it does not expire",
		  URL,
		  { { "url 7", NULL }, { "start", NULL }, { "play 1", NULL }, { "url same", NULL }, { "play 100000", NULL },
		    { "url fail", NULL }, { "play 100000", GET " unless mark; 7; 50 s" } } },
		{ "it fails", URL, { { "url fail", NULL }, { "start", NULL }, { "play 1", GET "; -; 10 s" } } },
		{ "it is no zone", URL, { { "url x", NULL }, { "start", NULL }, { "play 1", GET "; -; 10 s" }, { "play 10000", GET "; -; 20 s" } } },
		{ "the next one, and then the primaries",
		  URL "url: \"https://b.zone/z\"\n" ONE,
		  { { "url fail", NULL }, { "start", NULL }, { "play 1", GET " get https://b.zone/z axfr 192.0.2.1; -; 30 s" },
		    { "zone 7", "; 7; 100 s" }, { "play 100000", GET " get https://b.zone/z soa 192.0.2.1; 7; never" } } },
		{ "with the certificates and prefixes that are configured",
		  URL "server:\ntls-cert-bundle: \"/x\"\ndns64-prefix: 64:ff9b:1::/96\nnat64-prefix: 64:ff9b:2::/96\n",
		  { { "url fail", NULL }, { "start", NULL },
		    { "play 1", GET " by /x via 64:ff9b:1::/96 64:ff9b:2::/96; -; 10 s" } } },
		{ "a policy zone without an SOA record",
		  "!" URL,
		  { { "url x.zone. 60 CNAME .\n", NULL }, { "start", NULL }, { "play 1", GET "; 0; 3600 s" } } },
		{ "its signatures do not hold: not taken, nor thought to be known",
		  URL "url: \"https://b.zone/z\"\n" CHECK,
		  { { "validator", NULL }, { "url 7", NULL }, { "start", NULL }, { "play 1", GET " new ZONEMD? zone. of 7; -; never" },
		    { "validate bogus", NULL }, { "validate secure there", "get https://b.zone/z new ZONEMD? zone. of 7; -; never" },
		    { "validate insecure", "; 7; 100 s" }, { "url fail", NULL },
		    { "play 100000", GET " get https://b.zone/z unless mark; 7; 50 s" } } },
		{ "gone, it is fetched whether or not it has changed",
		  URL CHECK,
		  { { "validator", NULL }, { "url 7", NULL }, { "start", NULL }, { "play 1", NULL }, { "validate insecure", "; 7; 100 s" },
		    { "file 9", NULL }, { "check", "new ZONEMD? zone. of 9; -; 100 s" }, { "validate bogus", NULL },
		    { "validate secure there", "; -; 1 ms" }, { "url 9", NULL }, { "play 1", GET " new ZONEMD? zone. of 9; -; never" } } },
		{ "a failed transfer does not go back to them",
		  URL ONE CHECK,
		  { { "validator", NULL }, { "url fail", NULL }, { "start", NULL }, { "play 1", GET " axfr 192.0.2.1; -; 30 s" },
		    { "zone 7", "new ZONEMD? zone. of 7; -; never" }, { "validate bogus", NULL }, { "validate secure there", "; -; 10 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void where_there_is_a_validator_a_digest_is_only_as_good_as_its_signature(void **state)
{
	(void)state;
#define ARRIVED { "validator", NULL }, BEGIN, { "zone 7", "new ZONEMD? zone. of 7; -; never" }
	static const struct story stories[] = {
		{ "unsigned", ONE CHECK, { ARRIVED, { "validate insecure", "; 7; 100 s" } } },
		{ "signed", ONE CHECK, { ARRIVED, { "validate secure digest 7", "; 7; 100 s" } } },
		{ "signed, but not this digest", ONE CHECK, { ARRIVED, { "validate secure digest 8", "DS? zone.; -; never" } } },
		{ "signed to be without", ONE CHECK, { ARRIVED, { "validate secure", "DS? zone.; -; never" } } },
		{ "signed to be without, and so it came",
		  ONE CHECK,
		  { { "validator", NULL }, BEGIN, { "plain 7", NULL }, { "validate secure", "; 7; 100 s" } } },
		{ "signed to have one, but it came without",
		  ONE CHECK,
		  { { "validator", NULL }, BEGIN, { "plain 7", NULL }, { "validate secure digest 7", "DS? zone.; -; never" } } },
		{ "bogus, but its parent has proven that it is not signed",
		  ONE CHECK,
		  { ARRIVED, { "validate bogus", "DS? zone.; -; never" }, { "validate secure denial", "; 7; 100 s" } } },
		{ "unknown, but its parent has proven that it is not signed",
		  ONE CHECK,
		  { ARRIVED, { "validate servfail", "DS? zone.; -; never" }, { "validate secure denial", "; 7; 100 s" } } },
		{ "bogus, and its parent has not",
		  ONE CHECK,
		  { ARRIVED, { "validate bogus", NULL }, { "validate insecure denial", "; -; 10 s" } } },
		{ "bogus, and its parent says that it is signed",
		  TWO CHECK,
		  { ARRIVED, { "validate bogus", NULL }, { "validate secure there", "axfr 192.0.2.2; -; 30 s" } } },
		{ "bogus, and it has a trust anchor of its own",
		  ONE CHECK,
		  { { "anchor zone.", NULL }, ARRIVED, { "validate bogus", "; -; 10 s" } } },
		{ "bogus, and only a zone above has",
		  ONE CHECK,
		  { { "anchor .", NULL }, ARRIVED, { "validate bogus", "DS? zone.; -; never" } } },
		{ "what is there stays until then, and if not",
		  TWO CHECK,
		  { ARRIVED, { "validate insecure", NULL }, PROBE, { "soa 8", NULL },
		    { "step 7 8", "new ZONEMD? zone. of 8; 7; never" }, { "validate bogus", NULL },
		    { "validate secure there", "soa 192.0.2.2; 7; never" } } },
		{ "no digest is asked for", ONE, { { "validator", NULL }, BEGIN, { "zone 7", "; 7; 100 s" } } },
		{ "there is no validator", ONE CHECK, { BEGIN, { "zone 7", "; 7; 100 s" } } },
	};
	static const struct story roots[] = {
		{ "nobody is above the root",
		  ONE CHECK,
		  { { "validator", NULL }, BEGIN, { "zone 7", "new ZONEMD? . of 7; -; never" }, { "validate bogus", "; -; 10 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
	tell_all(".", roots, COUNT(roots));
}

static void the_records_of_a_file_are_verified_before_they_are_served(void **state)
{
	(void)state;
#define FROM_FILE { "validator", NULL }, { "file 5", NULL }, { "start", "new ZONEMD? zone. of 5; -; never" }
	static const struct story stories[] = {
		{ "they hold", CHECK, { FROM_FILE, { "validate insecure", "; 5; never" } } },
		{ "later they do, and were not taken before",
		  CHECK,
		  { FROM_FILE, { "validate bogus", NULL }, { "validate secure there", "; -; 10 s" },
		    { "play 10000", "new ZONEMD? zone. of 5; -; never" }, { "validate bogus", NULL },
		    { "validate secure there", "; -; 20 s" }, { "play 20000", NULL }, { "validate insecure", "; 5; never" },
		    { "file 6", NULL }, { "check", "new ZONEMD? zone. of 6; -; never" }, { "validate bogus", NULL },
		    { "validate secure there", "; -; 10 s" } } },
		{ "a primary has others",
		  ONE CHECK,
		  { FROM_FILE, { "validate bogus", NULL }, { "validate secure there", "; -; 1 ms" },
		    { "play 1", "round: axfr 192.0.2.1; -; 30 s" }, { "zone 7", NULL }, { "validate insecure", "; 7; 100 s" },
		    PROBE } },
		{ "a primary may have newer ones", ONE CHECK, { FROM_FILE, { "validate insecure", "; 5; 100 s" } } },
		{ "a primary may have newer ones, and soon",
		  ONE CHECK,
		  { { "loader", NULL }, FROM_FILE, { "validate insecure", "; 5; 10 s" } } },
		{ "read once more meanwhile",
		  CHECK,
		  { FROM_FILE, { "file 6", NULL }, { "check", "; -; never" }, { "validate bogus", NULL },
		    { "validate secure there", "; -; 1 ms" }, { "play 1", "new ZONEMD? zone. of 6; -; never" },
		    { "validate insecure", "; 6; never" } } },
		{ "read once more meanwhile, and a primary has others",
		  ONE CHECK,
		  { FROM_FILE, { "file 6", NULL }, { "check", "; -; never" }, { "validate insecure", "; 5; 1 ms" },
		    { "play 1", "new ZONEMD? zone. of 6; 5; never" }, { "validate bogus", NULL },
		    { "validate secure there", "; 5; 100 s" } } },
		{ "read during a transfer",
		  ONE CHECK,
		  { { "validator", NULL }, BEGIN, { "file 5", NULL }, { "check", "; -; 30 s" }, { "file 6", NULL },
		    { "check", "; -; 30 s" }, { "fail", "; -; 1 ms" }, { "play 1", "new ZONEMD? zone. of 6; -; never" },
		    { "validate insecure", "; 6; 100 s" } } },
		{ "once they are verified they stay",
		  CHECK,
		  { FROM_FILE, { "validate insecure", NULL }, { "check", "; 5; never" } } },
		{ "no digest is asked for", ONE, { { "validator", NULL }, { "file 5", NULL }, { "start", "; 5; 100 s" } } },
		{ "there is no validator", CHECK, { { "file 5", NULL }, { "start", "; 5; never" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void a_notify_has_the_primaries_asked(void **state)
{
	(void)state;
	static const struct story stories[] = {
		{ "there are none", "", { { "start", "; -; never" }, { "poke", "; -; never" }, { "check", "; -; never" } } },
		{ "nobody is there yet", ONE, { { "poke", "; -; never" }, { "check", "; -; never" }, BEGIN } },
		{ "at rest", ONE, { SEVEN, { "poke", "round: soa 192.0.2.1; 7; 100 s" }, { "soa 8", "ixfr 7 192.0.2.1; 7; 30 s" } } },
		{ "at rest, from a URL", URL, { { "start", NULL }, { "url 7", NULL }, { "poke", "round: get https://a.zone/z; 7; 100 s" } } },
		{ "after the round that is under way",
		  ONE,
		  { BEGIN, { "poke", "; -; 30 s" }, { "zone 7", "; 7; 1 ms" }, { "play 1", "round: soa 192.0.2.1; 7; never" },
		    { "soa 7", "; 7; 100 s" } } },
		{ "of a new file the timers begin anew", ONE, { SEVEN, { "play 30000", NULL }, { "check", "; 7; 100 s" } } },
		{ "but not those of a round",
		  ONE,
		  { SEVEN, PROBE, { "check", "; 7; never" }, { "soa 7", "; 7; 100 s" } } },
		{ "a timer of before disturbs no lookup",
		  ONE,
		  { SEVEN, { "poke", "round: soa 192.0.2.1; 7; 100 s" }, { "play 100000", "; 7; never" }, { "soa 7", "; 7; 100 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

#define NOTIFIED { "notify", "round: soa 192.0.2.1; 7; 100 s" }, { "soa 7", "; 7; 100 s" }

static void who_notifies_has_the_primaries_asked_a_few_times_then_once_a_second(void **state)
{
	(void)state;
	static const struct story stories[] = {
		{ "there are none", "", { { "start", "; -; never" }, { "notify", "; -; never" } } },
		{ "at once after a round", ONE, { SEVEN, NOTIFIED } },
		{ "after four rounds a second later, however often",
		  ONE,
		  { SEVEN, NOTIFIED, NOTIFIED, NOTIFIED, { "play 300", NULL }, { "notify", "; 7; 700 ms" }, { "play 100", NULL },
		    { "notify", "; 7; 600 ms" }, { "play 600", "round: soa 192.0.2.1; 7; never" }, { "soa 7", "; 7; 100 s" } } },
		{ "what is paid is paid off in time",
		  ONE,
		  { SEVEN, NOTIFIED, NOTIFIED, NOTIFIED, { "play 2000", NULL },
		    { "notify", "round: soa 192.0.2.1; 7; 98 s" }, { "soa 7", "; 7; 100 s" }, NOTIFIED, { "notify", "; 7; 1 s" } } },
		{ "during a round, too",
		  ONE,
		  { SEVEN, NOTIFIED, NOTIFIED, { "notify", "round: soa 192.0.2.1; 7; 100 s" }, { "notify", "; 7; 100 s" },
		    { "play 200", NULL }, { "soa 7", "; 7; 800 ms" }, { "play 800", "round: soa 192.0.2.1; 7; never" } } },
		{ "but not who asks for it by hand",
		  ONE,
		  { SEVEN, NOTIFIED, NOTIFIED, NOTIFIED, { "notify", "; 7; 1 s" }, { "poke", "round: soa 192.0.2.1; 7; 1 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void with_the_configuration_it_begins_anew_wherever_it_is(void **state)
{
	(void)state;
	static const struct story stories[] = {
		{ "at rest", ONE, { SEVEN, { "play 90000", NULL }, { "renew", "; 7; 100 s" } } },
		{ "in a transfer", ONE, { BEGIN, { "renew", "cut off; -; 1 ms" }, { "play 1", "round: axfr 192.0.2.1; -; 30 s" } } },
		{ "in a probe", ONE, { SEVEN, PROBE, { "renew", "cancelled; 7; 100 s" } } },
		{ "in a lookup",
		  "primary: ns.zone\n",
		  { { "start", NULL }, { "play 1", NULL }, { "renew", "; -; 1 ms" }, { "address 192.0.2.1", "; -; 1 ms" } } },
		{ "in a validation",
		  ONE CHECK,
		  { ARRIVED, { "renew", "; -; 1 ms" }, { "validate insecure", "; -; 1 ms" } } },
		{ "in a failing one",
		  ONE CHECK,
		  { ARRIVED, { "renew", "; -; 1 ms" }, { "validate bogus", "; -; 1 ms" } } },
		{ "in that of the parent",
		  ONE CHECK,
		  { ARRIVED, { "validate bogus", NULL }, { "renew", "; -; 1 ms" }, { "validate secure denial", "; -; 1 ms" } } },
		{ "in a job",
		  ONE,
		  { { "loader", NULL }, BEGIN, { "zone 7", "job; -; never" }, { "renew", "; -; 1 ms" }, { "work", "; -; 1 ms" } } },
		{ "in the job of records that are to be verified",
		  ONE CHECK,
		  { { "loader", NULL }, { "validator", NULL }, BEGIN, { "zone 7", "job; -; never" }, { "renew", "; -; 1 ms" },
		    { "work", "; -; 1 ms" } } },
		{ "in the last job",
		  ONE,
		  { { "loader", NULL }, BEGIN, { "zone 7", NULL }, { "work", "job; 7; never" }, { "renew", "; 7; 10 s" },
		    { "work", "; 7; 10 s" } } },
		{ "in the job of a URL",
		  URL,
		  { { "loader", NULL }, { "url 7", NULL }, { "start", NULL }, { "play 1", "round: job; -; never" },
		    { "renew", "; -; 1 ms" }, { "work", "get https://a.zone/z; -; 1 ms" } } },
		{ "not if only forwarders have changed", ONE, { BEGIN, { "forwards", "; -; 30 s" }, { "zone 7", "; 7; 100 s" } } },
		{ "in a transfer that ends nobody waits for it", ONE, { BEGIN } },
		{ "nor for a job", ONE, { { "loader", NULL }, BEGIN, { "zone 7", NULL } } },
		{ "nor for a validation", ONE CHECK, { ARRIVED } },
		{ "nor for the last job, begun", ONE, { { "loader", NULL }, SECOND, { "run", "; 8; never" } } },
		{ "or not", ONE, { { "loader", NULL }, SECOND } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

static void what_was_cached_of_a_zone_is_forgotten_when_it_changes(void **state)
{
	(void)state;
	static const struct story stories[] = {
		{ "a second version",
		  ONE,
		  { { "forget", NULL }, BEGIN, { "loader", NULL }, { "zone 7", "job; -; never" }, { "work", "job; 7; never" },
		    { "work", "; 7; 100 s" }, PROBE, { "soa 8", NULL }, { "step 7 8", "job; 7; never" },
		    { "work", "job; 8; never" }, { "work", "forgets; 8; 100 s" } } },
	};

	tell_all("zone.", stories, COUNT(stories));
}

int main(void)
{
	atomic_store(&log_verbosity, LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zone_that_is_missing_is_fetched),
		cmocka_unit_test(a_zone_is_brought_up_to_date),
		cmocka_unit_test(a_zone_expires),
		cmocka_unit_test(a_primary_has_the_addresses_of_its_name),
		cmocka_unit_test(urls_come_before_primaries),
		cmocka_unit_test(where_there_is_a_validator_a_digest_is_only_as_good_as_its_signature),
		cmocka_unit_test(the_records_of_a_file_are_verified_before_they_are_served),
		cmocka_unit_test(a_notify_has_the_primaries_asked),
		cmocka_unit_test(who_notifies_has_the_primaries_asked_a_few_times_then_once_a_second),
		cmocka_unit_test(with_the_configuration_it_begins_anew_wherever_it_is),
		cmocka_unit_test(what_was_cached_of_a_zone_is_forgotten_when_it_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
