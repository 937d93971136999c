/* Claims about the language of configuration files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/conftext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct story {
	char told[2048];
	size_t len;
};

static void PRINTF_LIKE(2, 3) tell(struct story *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	s->len += (size_t)vsnprintf(s->told + s->len, sizeof(s->told) - s->len, fmt, ap);
	va_end(ap);
	assert_true(s->len < sizeof(s->told));
}

static void on_complaint(void *arg, bool is_error, const char *file, unsigned line, const char *text)
{
	(void)file;
	(void)text;
	tell(arg, "%s@%u ", is_error ? "error" : "warning", line);
}

/* Names that begin with a digit take so many values, others one: "name[value,value]@line ". */
static void read_all(struct conftext *t, struct story *s)
{
	struct conftext_word w;

	for (;;) {
		unsigned values, line;

		switch (conftext_next(t, &w)) {
		case CONFTEXT_END:
			return;
		case CONFTEXT_TOPLEVEL:
			tell(s, "TOP ");
			continue;
		case CONFTEXT_STRAY:
			tell(s, "stray(%s)@%u ", w.text, w.line);
			continue;
		case CONFTEXT_NAME:
			break;
		}
		values = w.text[0] >= '0' && w.text[0] <= '9' ? (unsigned)(w.text[0] - '0') : 1;
		line = w.line;
		tell(s, "%s[", w.text);
		for (unsigned i = 0; i < values; i++)
			tell(s, "%s%s", i ? "," : "", conftext_value(t, &w) ? w.text : "<none>");
		tell(s, "]@%u ", line);
	}
}

static void words_are_told_apart(void **state)
{
	(void)state;
	static const struct { const char *why, *text, *want; } rows[] = {
		{ "nothing", "", "" },
		{ "comments and blanks", " # a: b\n\t\r\n#c", "" },
		{ "a clause and an option", "0server:\n\tport: 53\n", "0server[]@1 port[53]@2 " },
		{ "several on one line", "a: 1 b: 2 c:3", "a[1]@1 b[2]@1 c[3]@1 " },
		{ "a value on the next line", "a:\n\n  \"x y\"\nb: 1", "a[x y]@1 b[1]@4 " },
		{ "colons in values", "a: ::1 b: 2001:db8::1 c:c:", "a[::1]@1 b[2001:db8::1]@1 c[c:]@1 " },
		{ "a hash in a word", "a: 192.0.2.1@853#dns.example # c", "a[192.0.2.1@853#dns.example]@1 " },
		{ "a hash in a name", "a#b: 1", "a#b[1]@1 " },
		{ "a hash after quotes", "a: \"x\"#c\nb: 1", "a[x]@1 b[1]@2 " },
		{ "both quotes", "a: 'x \"y\" # z' b: \"it's\"", "a[x \"y\" # z]@1 b[it's]@1 " },
		{ "an empty value", "a: \"\" b: ''", "a[]@1 b[]@1 " },
		{ "a backslash keeps the quote", "a: \"x\\\"y\"", "a[x\\\"y]@1 " },
		{ "a backslash keeps the blank", "a: x\\ y b: 1", "a[x\\ y]@1 b[1]@1 " },
		{ "two values", "2a: 10.0.0.0/8\n allow", "2a[10.0.0.0/8,allow]@1 " },
		{ "values that touch", "2a: \"x\"'y'", "2a[x,y]@1 " },
		{ "one value too many", "a: 1 2\nb: 3", "a[1]@1 stray(2)@1 b[3]@2 " },
		{ "a quoted name", "\"a\": 1", "stray(a)@1 stray(:)@1 stray(1)@1 " },
		{ "no value", "a:", "a[<none>]@1 " },
		{ "line ends of DOS", "a: 1\r\nb: 2\r\n", "a[1]@1 b[2]@2 " },
		{ "a mark of byte order", "\xef\xbb\xbf" "a: 1", "a[1]@1 " },
		{ "a quote that stays open", "a: \"x\nb: 1", "a[error@1 x]@1 b[1]@2 " },
		{ "include without a file", "include:", "error@1 " },
		{ "include of an empty name", "include: \"\"", "error@1 " },
		{ "include-toplevel ends the clause", "0a: include-toplevel: \"/*/no/match\" b: 1",
		  "0a[]@1 TOP b[1]@1 " },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct story s = { .len = 0 };
		struct conftext_how how = { .complain = on_complaint, .arg = &s };
		struct conftext *t = conftext_open_text("text", rows[i].text, strlen(rows[i].text), &how);

		read_all(t, &s);
		conftext_close(t);
		if (strcmp(s.told, rows[i].want) != 0)
			fail_msg("%s: told \"%s\", not \"%s\"", rows[i].why, s.told, rows[i].want);
	}
}

static void a_byte_0_is_an_error_and_ends_no_file(void **state)
{
	(void)state;
	static const char text[] = "a: 1\0\nb: 2";
	struct story s = { .len = 0 };
	struct conftext_how how = { .complain = on_complaint, .arg = &s };
	struct conftext *t = conftext_open_text("text", text, sizeof(text) - 1, &how);

	read_all(t, &s);
	conftext_close(t);
	assert_string_equal(s.told, "a[1]@1 error@1 b[2]@2 ");
}

static void a_value_can_be_put_back(void **state)
{
	(void)state;
	static const char text[] = "a:\nb: 1";
	struct conftext_how how = { .no_files = false };
	struct conftext *t = conftext_open_text("text", text, sizeof(text) - 1, &how);
	struct conftext_word w;

	assert_int_equal(conftext_next(t, &w), CONFTEXT_NAME);
	assert_false(conftext_line_goes_on(t));
	assert_true(conftext_value(t, &w));
	assert_string_equal(w.text, "b:");
	assert_int_equal(w.line, 2);
	conftext_put_back(t);
	assert_int_equal(conftext_next(t, &w), CONFTEXT_NAME);
	assert_string_equal(w.text, "b");
	assert_true(conftext_line_goes_on(t));
	assert_true(conftext_value(t, &w));
	assert_string_equal(w.text, "1");
	conftext_close(t);
}

/* ---- includes, in a folder of their own ---- */

static char folder[sizeof("conftext-XXXXXX")];

static void put_file(const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int make_folder(void **state)
{
	char path[256];

	(void)state;
	memcpy(folder, "conftext-XXXXXX", sizeof(folder));
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/d", folder);
	return mkdir(path, 0755);
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "main", "d/1.conf", "d/2.conf", "top", "self", "deep", "d" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
	return rmdir(folder);
}

static void read_main(struct story *s, const struct conftext_how *base, const char *text)
{
	struct conftext_how how = *base;
	char path[256];
	struct conftext *t;

	s->len = 0;
	s->told[0] = '\0';
	how.complain = on_complaint;
	how.arg = s;
	put_file("main", text);
	snprintf(path, sizeof(path), "%s/main", folder);
	t = conftext_open_file(path, &how);
	conftext_set_folder(t, folder);
	read_all(t, s);
	conftext_close(t);
}

static void includes_are_read_in_place(void **state)
{
	(void)state;
	struct conftext_how how = { .no_files = false }, lenient = { .no_files = true };
	struct conftext_how alone = { .no_includes = true }, rooted = { .chroot = "/jail/" };
	struct story s;

	put_file("d/1.conf", "b: 1");
	put_file("d/2.conf", "c: 2 d:");
	put_file("top", "0e:\nf: 3\n");
	put_file("self", "g: 1 include: self h: 1");
	put_file("deep", "include: top\ninclude: d/1.conf");

	read_main(&s, &how, "a: 0 include: d/1.conf z: 9");
	assert_string_equal(s.told, "a[0]@1 b[1]@1 z[9]@1 ");
	read_main(&s, &how, "include: \"d/*.conf\" z: 9");
	assert_string_equal(s.told, "b[1]@1 c[2]@1 d[<none>]@1 z[9]@1 ");
	read_main(&s, &how, "0a:\ninclude-toplevel: top\nz: 9");
	assert_string_equal(s.told, "0a[]@1 TOP 0e[]@1 f[3]@2 TOP z[9]@3 ");
	read_main(&s, &how, "include: deep z: 9");
	assert_string_equal(s.told, "0e[]@1 f[3]@2 b[1]@1 z[9]@1 ");
	read_main(&s, &how, "\ninclude: self z: 9");
	assert_string_equal(s.told, "g[1]@1 error@1 h[1]@1 z[9]@2 ");
	read_main(&s, &how, "\ninclude: absent\nz: 9");
	assert_string_equal(s.told, "error@2 z[9]@3 ");
	read_main(&s, &how, "\ninclude: d\nz: 9");
	assert_string_equal(s.told, "error@2 z[9]@3 ");
	read_main(&s, &lenient, "\ninclude: absent\nz: 9");
	assert_string_equal(s.told, "warning@2 z[9]@3 ");
	read_main(&s, &alone, "\ninclude: top\nz: 9");
	assert_string_equal(s.told, "warning@2 z[9]@3 ");
	read_main(&s, &how, "\ninclude: absent/*.conf\nz: 9");
	assert_string_equal(s.told, "error@2 z[9]@3 ");
	read_main(&s, &how, "\ninclude: \"d/*.none\"\nz: 9");
	assert_string_equal(s.told, "z[9]@3 ");
	read_main(&s, &lenient, "\ninclude: absent/*.conf\nz: 9");
	assert_string_equal(s.told, "warning@2 z[9]@3 ");
	read_main(&s, &rooted, "include: /jail/absent-too include: top");
	assert_string_equal(s.told, "error@1 0e[]@1 f[3]@2 ");
}

/* Long words of every kind, through several of the pieces in which a file is read. */
static void words_are_whole_wherever_they_lie(void **state)
{
	(void)state;
	enum { WORDS = 3000 };
	static const char *const kinds[] = { "%.*s", "\"%.*s:' #\"", "'\"%.*s '", "\\ %.*s\\\"" };
	static const char *const want[] = { "%.*s", "%.*s:' #", "\"%.*s ", "\\ %.*s\\\"" };
	static char text[WORDS * 400], letters[300];
	struct conftext_how how = { .no_files = false };
	struct conftext_word w;
	struct conftext *t;
	size_t len = 0;

	memset(letters, 'x', sizeof(letters));
	for (int i = 0; i < WORDS; i++) {
		len += (size_t)sprintf(text + len, "n%d: ", i);
		len += (size_t)sprintf(text + len, kinds[i % 4], 1 + i % 299, letters);
		text[len++] = '\n';
	}
	text[len] = '\0';
	put_file("main", text);
	snprintf(text, sizeof(text), "%s/main", folder);
	t = conftext_open_file(text, &how);
	for (int i = 0; i < WORDS; i++) {
		char name[16], value[320];

		sprintf(name, "n%d", i);
		sprintf(value, want[i % 4], 1 + i % 299, letters);
		assert_int_equal(conftext_next(t, &w), CONFTEXT_NAME);
		assert_string_equal(w.text, name);
		assert_true(conftext_value(t, &w));
		assert_string_equal(w.text, value);
		assert_int_equal(w.line, i + 1);
	}
	assert_int_equal(conftext_next(t, &w), CONFTEXT_END);
	conftext_close(t);
}

static void a_missing_file_is_one_error(void **state)
{
	(void)state;
	struct story s = { .len = 0 };
	struct conftext_how how = { .no_files = true, .complain = on_complaint, .arg = &s };
	struct conftext *t = conftext_open_file("/does/not/exist", &how);

	read_all(t, &s);
	conftext_close(t);
	assert_string_equal(s.told, "error@0 ");
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(words_are_told_apart),
		cmocka_unit_test(a_byte_0_is_an_error_and_ends_no_file),
		cmocka_unit_test(a_value_can_be_put_back),
		cmocka_unit_test_setup_teardown(includes_are_read_in_place, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(words_are_whole_wherever_they_lie, make_folder, remove_folder),
		cmocka_unit_test(a_missing_file_is_one_error),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
