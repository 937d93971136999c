/* Claims about reasons.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <strings.h>

#include "util/dns/reason.h"

#include "util/tests/wire.h"

/* IANA's registry "Extended DNS Error Codes". */
static const char *const registered[] = {
	"Other Error", "Unsupported DNSKEY Algorithm", "Unsupported DS Digest Type", "Stale Answer",
	"Forged Answer", "DNSSEC Indeterminate", "DNSSEC Bogus", "Signature Expired",
	"Signature Not Yet Valid", "DNSKEY Missing", "RRSIGs Missing", "No Zone Key Bit Set",
	"NSEC Missing", "Cached Error", "Not Ready", "Blocked", "Censored", "Filtered", "Prohibited",
	"Stale NXDOMAIN Answer", "Not Authoritative", "Not Supported", "No Reachable Authority",
	"Network Error", "Invalid Data", "Signature Expired before Valid", "Too Early",
	"Unsupported NSEC3 Iterations Value", "Unable to conform to policy", "Synthesized",
	"Invalid Query Type",
};

static void a_phrase_begins_with_the_registered_name_of_its_code(void **state)
{
	(void)state;

	for (enum reason r = REASON_none + 1; r < REASONS; r++) {
		const char *text = reason_text(r), *name = registered[reason_ede(r)];
		size_t len = strlen(name);

		if (strncasecmp(text, name, len) != 0 || (text[len] && !strchr(": ", text[len])))
			fail_msg("'%s' does not begin with '%s'", text, name);
	}
}

static void every_reason_is_a_phrase_with_a_registered_code(void **state)
{
	(void)state;

	for (enum reason r = REASON_none; r < REASONS; r++) {
		const char *text = reason_text(r);
		int code = reason_ede(r);
		assert_in_range(code + 1, 0, 31);
		if (r == REASON_none) {
			assert_int_equal(code, -1);
			assert_string_equal(text, "");
			continue;
		}
		assert_true(*text && text[strlen(text) - 1] != '.');
		for (enum reason other = REASON_none; other < r; other++)
			assert_string_not_equal(text, reason_text(other));
	}
	assert_int_equal(reason_ede(REASON_bogus), 6);
	assert_int_equal(reason_ede(REASON_nsec3_iterations), 27);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_phrase_begins_with_the_registered_name_of_its_code),
		cmocka_unit_test(every_reason_is_a_phrase_with_a_registered_code),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
