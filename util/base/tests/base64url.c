/* Claims about base64url.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/base64url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void base64url_alphabet(void **state)
{
	(void)state;
	static const struct {
		const char *why, *letters, *bytes; /* bytes NULL: they do not */
	} rows[] = {
		{ "nothing", "", "" },
		{ "one byte", "Zg", "f" },
		{ "two", "Zm8", "fo" },
		{ "three", "Zm9v", "foo" },
		{ "padded", "Zg==", "f" },
		{ "padded", "Zm8=", "fo" },
		{ "both odd letters", "-_-_", "\xfb\xff\xbf" },
		{ "letters of the other alphabet", "+/+/", NULL },
		{ "one letter too many", "Zm9vZ", NULL },
		{ "padding that is not whole", "Zg=", NULL },
		{ "padding alone", "====", NULL },
		{ "padding in front", "=Zm9", NULL },
		{ "too much of it", "Z===", NULL },
		{ "bits left over", "Zh", NULL },
		{ "a blank", "Zm 9v", NULL },
		{ "a byte that is no letter", "Zm\xff", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t to[32];
		size_t len = base64url_read(to, (const uint8_t *)rows[i].letters,
					    strlen(rows[i].letters));
		size_t want = rows[i].bytes ? strlen(rows[i].bytes) : BASE64URL_BAD;

		if (len != want || (rows[i].bytes && memcmp(to, rows[i].bytes, len) != 0))
			fail_msg("%s: %zu, not %zu", rows[i].why, len, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64url_alphabet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
