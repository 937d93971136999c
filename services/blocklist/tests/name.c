/* Claims about names as lists write them: what is one, and what it is in the DNS.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/name.h"

#include <stdio.h>
#include <string.h>

#include "util/base/hash.h"
#include "util/dns/dname.h"
#include "util/tests/wire.h"

/* Whether this build reads such names. */
static bool is_read(const char *text)
{
#ifdef HAVE_LIBIDN2
	(void)text;
	return true;
#else
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
#endif
}

static enum blocklist_name read_text(const char *text, size_t len, char *name)
{
	uint8_t wire[DNAME_MAX];
	enum blocklist_name n;

	memset(wire, 0xee, sizeof(wire));
	n = blocklist_name_read(text, len, wire);
	*name = '\0';
	if (n == BLOCKLIST_NAME || n == BLOCKLIST_NAME_TOP) {
		assert_true(dname_measure(wire, wire + sizeof(wire)) > 0);
		(void)dname_print(wire, name);
	}
	return n;
}

static void a_name_has_labels_of_letters_digits_and_hyphens(void **state)
{
	(void)state;
#define L9  "123456789"
#define L63 L9 L9 L9 L9 L9 L9 L9
#define U10 "\303\274\303\274\303\274\303\274\303\274\303\274\303\274\303\274\303\274\303\274"
	static const struct {
		const char *text;
		enum blocklist_name want;
		const char *name;
	} rows[] = {
		{ "a.example", BLOCKLIST_NAME, "a.example." },
		{ "a.example.", BLOCKLIST_NAME, "a.example." },
		{ "WWW.Example", BLOCKLIST_NAME, "www.example." },
		{ "_x.-y-.z_", BLOCKLIST_NAME, "_x.-y-.z_." },
		{ "1.a2", BLOCKLIST_NAME, "1.a2." },
		{ "1.2b", BLOCKLIST_NAME, "1.2b." },
		{ "example", BLOCKLIST_NAME_TOP, "example." },
		{ "example.", BLOCKLIST_NAME_TOP, "example." },
		{ "", BLOCKLIST_NAME_BAD, "" },
		{ ".", BLOCKLIST_NAME_BAD, "" },
		{ "..", BLOCKLIST_NAME_BAD, "" },
		{ ".a.b", BLOCKLIST_NAME_BAD, "" },
		{ "a..b", BLOCKLIST_NAME_BAD, "" },
		{ "a.b..", BLOCKLIST_NAME_BAD, "" },
		{ "a b.example", BLOCKLIST_NAME_BAD, "" },
		{ "a.example(b", BLOCKLIST_NAME_BAD, "" },
		{ L63 ".example", BLOCKLIST_NAME, L63 ".example." },
		{ "a." L63, BLOCKLIST_NAME_BAD, "" },
		{ "a.x" L63, BLOCKLIST_NAME_BAD, "" },
		{ "x" L63 ".example", BLOCKLIST_NAME_BAD, "" },
		{ L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 L9 "123456a", BLOCKLIST_NAME,
		  L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 L9 "123456a." },
		{ L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 L9 "123456a.", BLOCKLIST_NAME,
		  L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 L9 "123456a." },
		{ L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 L9 "1234567a", BLOCKLIST_NAME_BAD, "" },
		{ L63 "." L63 "." L63 "." L63 "." L63 ".a", BLOCKLIST_NAME_BAD, "" },
		{ "192.0.2.1", BLOCKLIST_NAME_ADDRESS, "" },
		{ "192.0.2.1.", BLOCKLIST_NAME_ADDRESS, "" },
		{ "192.0.2.0/24", BLOCKLIST_NAME_ADDRESS, "" },
		{ "2001:db8::1", BLOCKLIST_NAME_ADDRESS, "" },
		{ "[2001:db8::1]", BLOCKLIST_NAME_ADDRESS, "" },
		{ "[2001:db8::1", BLOCKLIST_NAME_URL, "" },
		{ "2001:db8::1]", BLOCKLIST_NAME_URL, "" },
		{ "192.0.2.256", BLOCKLIST_NAME_BAD, "" },
		{ "192.0.2", BLOCKLIST_NAME_BAD, "" },
		{ "a.1", BLOCKLIST_NAME_BAD, "" },
		{ "1", BLOCKLIST_NAME_BAD, "" },
		{ "https://a.example/", BLOCKLIST_NAME_URL, "" },
		{ "a.example/b", BLOCKLIST_NAME_URL, "" },
		{ "a.example:80", BLOCKLIST_NAME_URL, "" },
		{ "a.example?b", BLOCKLIST_NAME_URL, "" },
		{ "a=b.example", BLOCKLIST_NAME_URL, "" },
		{ "*.example/", BLOCKLIST_NAME_URL, "" },
		{ "*.example", BLOCKLIST_NAME_PATTERN, "" },
		{ "a*.example", BLOCKLIST_NAME_PATTERN, "" },
		{ "\303\274", BLOCKLIST_NAME_TOP, "xn--tda." },
		{ "\303\274.", BLOCKLIST_NAME_TOP, "xn--tda." },
		{ "A.\303\274.B_", BLOCKLIST_NAME, "a.xn--tda.b_." },
		{ "\303\274.1", BLOCKLIST_NAME_BAD, "" },
		{ ".\303\274", BLOCKLIST_NAME_BAD, "" },
		{ "\303\274..a", BLOCKLIST_NAME_BAD, "" },
		{ "\303\274.a b", BLOCKLIST_NAME_BAD, "" },
		{ "\303\274.a/", BLOCKLIST_NAME_URL, "" },
		{ "\303\274/.a", BLOCKLIST_NAME_URL, "" },
		{ "*.\303\274", BLOCKLIST_NAME_PATTERN, "" },
		{ "\303\274." L63, BLOCKLIST_NAME_BAD, "" },
		{ "\303\274." L63 ".a", BLOCKLIST_NAME, "xn--tda." L63 ".a." },
		{ "\303\274.x" L63, BLOCKLIST_NAME_BAD, "" },
		{ "\303\274." L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 "12a", BLOCKLIST_NAME,
		  "xn--tda." L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 "12a." },
		{ "\303\274." L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 "1234567a", BLOCKLIST_NAME,
		  "xn--tda." L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 "1234567a." },
		{ "\303\274." L63 "." L63 "." L63 "." L9 L9 L9 L9 L9 L9, BLOCKLIST_NAME_BAD, "" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\303\274", BLOCKLIST_NAME_BAD, "" }, /* a byte too long */
		{ U10 U10 U10 U10 U10 U10 U10, BLOCKLIST_NAME_BAD, "" },
		/* no UTF-8 */
		{ "\200", BLOCKLIST_NAME_BAD, "" },
		{ "\277.a", BLOCKLIST_NAME_BAD, "" },
		{ "\303.a", BLOCKLIST_NAME_BAD, "" },
		{ "\303", BLOCKLIST_NAME_BAD, "" },
		{ "\303a", BLOCKLIST_NAME_BAD, "" },
		{ "\303\303", BLOCKLIST_NAME_BAD, "" },
		{ "\342\230", BLOCKLIST_NAME_BAD, "" },
		{ "\360\237\222", BLOCKLIST_NAME_BAD, "" },
		{ "\301\241", BLOCKLIST_NAME_BAD, "" },             /* in more bytes than are needed */
		{ "\340\203\274", BLOCKLIST_NAME_BAD, "" },
		{ "\340\237\277", BLOCKLIST_NAME_BAD, "" },
		{ "\360\200\203\274", BLOCKLIST_NAME_BAD, "" },
		{ "\360\217\277\277", BLOCKLIST_NAME_BAD, "" },
		{ "\355\240\200", BLOCKLIST_NAME_BAD, "" },         /* half of a pair of UTF-16 */
		{ "\355\277\277", BLOCKLIST_NAME_BAD, "" },
		{ "\364\220\200\200", BLOCKLIST_NAME_BAD, "" },     /* beyond Unicode */
		{ "\365\200\200\200", BLOCKLIST_NAME_BAD, "" },
		{ "\371\200\200\200", BLOCKLIST_NAME_BAD, "" },
		{ "\376\200\200\200", BLOCKLIST_NAME_BAD, "" },
		{ "\377", BLOCKLIST_NAME_BAD, "" },
		{ "\302\200", BLOCKLIST_NAME_BAD, "" },              /* control characters, and a blank */
		{ "\302\240", BLOCKLIST_NAME_BAD, "" },
		/* what IDNA does not allow: signs, what is not assigned, a hyphen at an end */
		{ "\303\200\303\226\303\227\303\230\303\236\303\237.x", BLOCKLIST_NAME_BAD, "" },
		{ "\342\230\203.x", BLOCKLIST_NAME_BAD, "" },
		{ "\360\237\222\251.x", BLOCKLIST_NAME_BAD, "" },
		{ "\302\241.x", BLOCKLIST_NAME_BAD, "" },
		{ "\364\217\277\277.x", BLOCKLIST_NAME_BAD, "" },
		{ "\357\277\277.x", BLOCKLIST_NAME_BAD, "" },
		{ "\337\277.x", BLOCKLIST_NAME_BAD, "" },
		{ "\355\237\277.x", BLOCKLIST_NAME_BAD, "" },
		{ "\356\200\200.x", BLOCKLIST_NAME_BAD, "" },
		{ "-\303\274.x", BLOCKLIST_NAME_BAD, "" },
		/* a full stop of another script */
		{ "\346\227\245\346\234\254\350\252\236\343\200\202example", BLOCKLIST_NAME, "xn--wgv71a119e.example." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[DNAME_TEXT];
		enum blocklist_name got = read_text(rows[i].text, strlen(rows[i].text), name);

		if (is_read(rows[i].text) && (got != rows[i].want || strcmp(name, rows[i].name) != 0))
			fail_msg("'%s': %d, '%s'", rows[i].text, (int)got, name);
	}
}

/* As browsers do (UTS 46). */
static void what_is_not_ascii_becomes_punycode(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "b\303\274cher", "xn--bcher-kva" },
		{ "B\303\234CHER", "xn--bcher-kva" },
		{ "\343\203\211\343\203\241\343\202\244\343\203\263", "xn--eckwd4c7c" },
		{ "\320\277\320\276\321\207\321\202\320\260", "xn--80a1acny" },
		{ "\320\237\320\236\320\247\320\242\320\220", "xn--80a1acny" },
		{ "\320\201\320\233\320\232\320\220", "xn--80atc1g" },
		{ "\320\200\320\217", "xn--51a4a" },
		{ "\316\221\316\251", "xn--mxa2c" },
		{ "\316\206\316\217", "xn--hxa2e" },
		{ "\324\261\325\226", "xn--y9a8e" },
		{ "\304\200\304\266", "xn--yda2i" },
		{ "\304\271\305\207", "xn--lfa2a" },
		{ "\304\272\305\210", "xn--lfa2a" },
		{ "\305\212\305\267", "xn--2fa2g" },
		{ "\305\270\305\271", "xn--wda0w" },
		{ "\321\240\322\200", "xn--n2a8d" },
		{ "pro\304\215prost\304\233nemluv\303\255\304\215esky", "xn--proprostnemluvesky-uyb24dma41a" },
		{ "\327\234\327\236\327\224\327\224\327\235\327\244\327\251\327\225\327\230\327\234\327\220\327\236\327\223\327\221\327\250\327\231\327\235\327\242\327\221\327\250\327\231\327\252", "xn--4dbcagdahymbxekheh6e0a7fei0b" },
		{ "\320\277\320\276\321\207\320\265\320\274\321\203\320\266\320\265\320\276\320\275\320\270\320\275\320\265\320\263\320\276\320\262\320\276\321\200\321\217\321\202\320\277\320\276\321\200\321\203\321\201\321\201\320\272\320\270", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l" },
		{ "\344\273\226\344\273\254\344\270\272\344\273\200\344\271\210\344\270\215\350\257\264\344\270\255\346\226\207", "xn--ihqwcrb4cv8a8dqg056pqjye" },
		{ "porqu\303\251nopuedensimplementehablarenespa\303\261ol", "xn--porqunopuedensimplementehablarenespaol-fmd56a" },
		{ "t\341\272\241isaoh\341\273\215kh\303\264ngth\341\273\203ch\341\273\211n\303\263iti\341\272\277ngvi\341\273\207t", "xn--tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g" },
		{ "3\345\271\264b\347\265\204\351\207\221\345\205\253\345\205\210\347\224\237", "xn--3b-ww4c5e180e575a65lsy2b" },
		{ "a-\303\274", "xn--a--yka" },
		{ "_\303\274", "xn--_-eha" },
		{ "\303\277", "xn--wda" },
		{ "\340\240\200", "xn--4tb" },
		{ "\360\220\200\200", "xn--2n7c" },
		{ "\303\274\303\274\303\274\303\274\303\274\303\274\303\274\303\274", "xn--tdaaaaaaaa" },
		{ "abcdefghijklmnopqrstuvwxyz\303\2740123456789abcdefghijklmnopq", "xn--abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopq-crf" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\303\274", "xn--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-8yf" },
		/* other forms of the same: capitals, letters not composed (NFD) */
		{ "\305\275ENA", "xn--ena-b3a" },
		{ "\305\270VES", "xn--ves-soa" },
		{ "VI\341\273\206T", "xn--vit-5kz" },
		{ "z\314\214ena", "xn--ena-b3a" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[300], want[300], name[DNAME_TEXT];

		snprintf(text, sizeof(text), "%s.x", rows[i].text);
		snprintf(want, sizeof(want), "%s.x.", rows[i].want);
		if (is_read(text) && (read_text(text, strlen(text), name) != BLOCKLIST_NAME || strcmp(name, want) != 0))
			fail_msg("'%s': '%s', not '%s'", text, name, want);
	}
}

/* Each byte in the middle of a label, also of one that has letters beyond ASCII. */
static void no_other_byte_is_part_of_a_name(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 128; byte++) {
		char text[] = { 'a', (char)byte, 'b', '.', 'x' }, beyond[] = { '\303', '\274', (char)byte, '.', 'x' };
		char name[DNAME_TEXT], lower = (char)(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
		bool good = (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_';
		enum blocklist_name other = byte == '*' ? BLOCKLIST_NAME_PATTERN : byte && strchr("/:?=", (int)byte) ? BLOCKLIST_NAME_URL : BLOCKLIST_NAME_BAD;

		if (byte == '.')
			continue;
		assert_int_equal(read_text(text, sizeof(text), name),
				 good ? BLOCKLIST_NAME : other);
		if (good)
			assert_true(name[0] == 'a' && name[1] == lower && name[2] == 'b');
		if (is_read("\303\274"))
			assert_int_equal(read_text(beyond, sizeof(beyond), name),
					 good && byte != '-' ? BLOCKLIST_NAME : other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_labels_of_letters_digits_and_hyphens),
		cmocka_unit_test(what_is_not_ascii_becomes_punycode),
		cmocka_unit_test(no_other_byte_is_part_of_a_name),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
