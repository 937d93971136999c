/* Claims about the file of a trust anchor that rolls: read, printed, replaced.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "validator/tests/rolling.h"

/* Spacing included: other programs read it. */
static void the_file_is_the_one_everybody_knows(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL), *line_a = dnskey_line('A'), *line_b = dnskey_line('B');
	char *got, *again, *want;
	struct world w;

	world_begin(&w, text);
	step(&w, "A", "A");
	w.now += 30 * DAY;
	step(&w, "AB", "AB");
	got = autotrust_print(w.p);
	want = mem_textf("; autotrust trust anchor file\n"
			 ";;id: example.com. 1\n"
			 ";;last_queried: 1253692000 ;;Wed Sep 23 07:46:40 2009\n"
			 ";;last_success: 1253692000 ;;Wed Sep 23 07:46:40 2009\n"
			 ";;next_probe_time: 1253697400 ;;Wed Sep 23 09:16:40 2009\n"
			 ";;query_failed: 0\n"
			 ";;query_interval: 5400\n"
			 ";;retry_time: 3600\n"
			 "%s ;{id = %u (ksk), size = 256b} ;;state=1 [ ADDPEND ] ;;count=1 "
			 ";;lastchange=1253692000 ;;Wed Sep 23 07:46:40 2009\n"
			 "%s ;{id = %u (ksk), size = 256b} ;;state=2 [  VALID  ] ;;count=0 "
			 ";;lastchange=1251100000 ;;Mon Aug 24 07:46:40 2009\n",
			 line_b, tag('B', false), line_a, tag('A', false));
	assert_string_equal(got, want);
	autotrust_free(w.p);
	/* Read and written twice it is the same again: reading turns the keys round. */
	for (unsigned i = 0; i < 2; i++) {
		w.p = autotrust_parse(NULL, got, strlen(got), NULL);
		assert_non_null(w.p);
		again = autotrust_print(w.p);
		autotrust_free(w.p);
		mem_free(got);
		got = again;
	}
	assert_string_equal(got, want);
	mem_free(got);
	mem_free(want);
	mem_free(line_a);
	mem_free(line_b);
	mem_free(text);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
#define RR "example.com. 3600 IN DS 7 8 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	static const struct {
		const char *text, *says;        /* NULL: it is good */
	} rows[] = {
		{ RR, NULL },
		{ RR "\n" RR "\n", NULL },
		{ "example.com. IN DS 7 8 2 ( 00112233445566778899aabbccddeeff\n"
		  " 00112233445566778899aabbccddeeff ) ; a remark\n\n; another\n", NULL },
		{ RR " ;;state=2 ;;count=0 ;;lastchange=5 ;;x\n", NULL },
		{ "\r\n" RR "\r\n", NULL },
		{ "", "holds no key" },
		{ "; nothing but remarks\n", "holds no key" },
		{ RR " ;;state=9 ;;lastchange=5\n", "no such state" },
		{ RR " ;;state=2 [  VALID  ]\n", "the last change" },
		{ RR " ;;state=2 ;;count=-1 ;;lastchange=5\n", "the count" },
		{ RR " ;;state=4 ;;count=0 ;;lastchange=5\n", "not revoked" },
		{ RR " ;;state=0 ;;count=0 ;;lastchange=5\n", "holds no key" },
		{ RR "\nexample.org. IN DS 7 8 2 00\n", "t:2: another name" },
		{ ";;id: example.org. 1\n" RR "\n", "t:2: another name" },
		{ ";;id: example.com. 3\n" RR "\n", "t:1: the zone's id" },
		{ ";;last_queried: yesterday\n" RR "\n", "t:1: last_queried" },
		{ ";;query_interval: 99999999999\n" RR "\n", "query_interval" },
		{ "example.com. IN A 192.0.2.1\n", "neither a DNSKEY nor a DS" },
		{ "example.com. IN DS 7 8 2 ( 00\n", "t:1: " },
		{ "what is this", "t:1: " },
		{ ")\n" RR "\n", NULL },  /* the line alone, which says nothing */
		{ RR " ;;state=5 ;;count=0 ;;lastchange=5\n", "holds no key" },
		{ RR " ;;state=6 ;;count=0 ;;lastchange=5\n", "no such state" },
		{ RR " ;;state= ;;count=0 ;;lastchange=5\n", "no such state" },
		{ RR " ;;state=-1 ;;count=0 ;;lastchange=5\n", "no such state" },
		{ RR " ;;state=99999999999999999999 ;;lastchange=5\n", "no such state" },
		{ RR " ;;state=1 ;;count=0 ;;lastchange=5\n", "not revoked" },
		{ RR " ;;state=3 ;;count=4294967295 ;;lastchange=5\n", NULL },
		{ RR " ;;state=2 ;;count=4294967296 ;;lastchange=5\n", "the count" },
		{ RR " ;;state=2 ;;lastchange=5\n", NULL },
		{ RR " ;;state=2 ;;lastchange=-5\n", "the last change" },
		{ RR " ;;state=2 ;;lastchange=4611686018427387903\n", NULL },
		{ RR " ;;state=2 ;;lastchange=4611686018427387904\n", "the last change" },
		{ ";;last_queried: 4611686018427387903\n" RR "\n", NULL },
		{ ";;last_queried: 4611686018427387904\n" RR "\n", "t:1: last_queried" },
		{ ";;query_interval: 2147483647\n" RR "\n", NULL },
		{ ";;query_interval: 2147483648\n" RR "\n", "t:1: query_interval" },
		{ ";;retry_time: 2147483648\n" RR "\n", "t:1: retry_time" },
		{ ";;query_failed: 4294967295\n" RR "\n", NULL },
		{ ";;query_failed: 4294967296\n" RR "\n", "t:1: query_failed" },
		{ ";;next_probe_time: -1\n" RR "\n", "t:1: next_probe_time" },
		{ ";;last_success:\n" RR "\n", "t:1: last_success" },
		{ "; a remark\n\n" RR "\nexample.org. IN DS 7 8 2 00\n", "t:4: another name" },
		{ "example.com. IN DS 7 8 2 ( 00112233445566778899aabbccddeeff\n"
		  " 00112233445566778899aabbccddeeff )\nexample.com. IN A 192.0.2.1\n", "t:3: neither" },
		{ ";;id: example.com. 1\n;;id: EXAMPLE.com. 1\n" RR "\n", NULL },
		{ ";;id: example.com.\n" RR "\n", "t:1: the zone's id" },
		{ ";;id: example..com. 1\n" RR "\n", "t:1: the zone's id" },
		{ ";;id: . 1\n. 3600 IN DS 7 8 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n", NULL },
		{ ";;id: . 1\n" RR "\n", "t:2: another name" },
		{ RR "\n;;id: . 1\n", "t:2: another name" },
		{ "example.com. 3600 CH DS 7 8 2 00\n", "neither a DNSKEY nor a DS" },
		{ "example.com. 3600 IN DS 7 8 2 00\n", NULL },
		{ "example.com. 3600 IN DS \\# 4 00010203\n", "the record is cut" },
		{ "example.com. 3600 IN DNSKEY \\# 4 01010308\n", "the record is cut" },
		{ ";;REVOKED\n" RR " ;;state=4 ;;count=0 ;;lastchange=5\n", NULL },
		{ ";;REVOKED\n", "holds no key" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };
		struct autotrust *p = autotrust_parse("t", rows[i].text, strlen(rows[i].text), &f);

		if ((p == NULL) != (rows[i].says != NULL) || (!p && !strstr(f.text, rows[i].says)))
			fail_msg("%s: %s", rows[i].text, f.text);
		autotrust_free(p);
	}
	assert_null(autotrust_parse("t", RR "\0\n", sizeof(RR) + 1, NULL));
}

static char *slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = mem_zero(10000);

	assert_non_null(file);
	(void)!fread(text, 1, 9999, file);
	fclose(file);
	return text;
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
	(void)state;
	char folder[] = "autotrust-test-XXXXXX", *path, *new_path, *text, *there;
	struct fault f = { .set = false };
	struct autotrust *p;
	struct stat st;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	path = mem_textf("%s/root.key", folder);
	new_path = mem_textf("%s.%ld", path, (long)getpid());
	assert_null(autotrust_read(path, &f));
	assert_non_null(strstr(f.text, "No such file"));
	file = fopen(path, "w");
	text = lines(dnskey_line('A'), NULL);
	assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
	assert_int_equal(chmod(path, 0640), 0);
	p = autotrust_read(path, &f);
	assert_non_null(p);
	p->changed = true;
	assert_true(autotrust_write(p, &f));
	assert_false(p->changed);
	mem_free(text);
	text = autotrust_print(p);
	there = slurp(path);
	assert_string_equal(there, text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_not_equal(access(new_path, F_OK), 0);
	mem_free(there);

	/* Where it cannot be renamed to, nothing is left behind. */
	mem_free(p->path);
	p->path = mem_textf("%s/sub", folder);
	assert_int_equal(mkdir(p->path, 0755), 0);
	p->changed = true;
	f.set = false;
	assert_false(autotrust_write(p, &f));
	assert_true(p->changed);
	assert_non_null(strstr(f.text, "/sub: Is a directory"));
	assert_int_equal(rmdir(p->path), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	autotrust_free(p);
	mem_free(text);
	mem_free(path);
	mem_free(new_path);
}

/* What is read is what stood there: every field of the point and of its keys, in each state. */
static void each_field_is_read_and_printed(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum autotrust_state state;
	} states[] = { { " ADDPEND ", AUTOTRUST_addpend }, { "  VALID  ", AUTOTRUST_valid },
		       { " MISSING ", AUTOTRUST_missing }, { " REVOKED ", AUTOTRUST_revoked } };
	char *record = dnskey_line('A'), *other = dnskey_line('z');

	for (size_t i = 0; i < COUNT(states); i++) {
		char *text = mem_textf("; autotrust trust anchor file\n"
				       ";;id: example.com. 1\n"
				       ";;last_queried: 1253692001 ;;Wed Sep 23 07:46:41 2009\n"
				       ";;last_success: 1253692002 ;;Wed Sep 23 07:46:42 2009\n"
				       ";;next_probe_time: 1253692003 ;;Wed Sep 23 07:46:43 2009\n"
				       ";;query_failed: 4\n"
				       ";;query_interval: 5\n"
				       ";;retry_time: 6\n"
				       "%s ;{id = %u (ksk), size = 256b} ;;state=%d [%s] ;;count=7 "
				       ";;lastchange=1253692008 ;;Wed Sep 23 07:46:48 2009\n"
				       "%s ;{id = %u (zsk), size = 256b} ;;state=2 [  VALID  ] ;;count=0 "
				       ";;lastchange=0 ;;Thu Jan  1 00:00:00 1970\n",
				       record, tag('A', false), (int)states[i].state, states[i].name, other, tag('z', false));
		struct autotrust *p = autotrust_parse("t", text, strlen(text), NULL);
		const struct autotrust_key *k = &p->keys[1];
		char *again;

		assert_string_equal(p->path, "t");
		assert_int_equal(p->last_queried, 1253692001);
		assert_int_equal(p->last_success, 1253692002);
		assert_int_equal(p->next_probe, 1253692003);
		assert_int_equal(p->query_failed, 4);
		assert_int_equal(p->query_interval_s, 5);
		assert_int_equal(p->retry_s, 6);
		assert_int_equal(p->count, 2);
		assert_int_equal(k->state, states[i].state);
		assert_int_equal(k->count, 7);
		assert_int_equal(k->last_change, 1253692008);
		assert_int_equal(k->ttl_s, TTL);
		/* printed, and read once more, to have them in the order of the file */
		again = autotrust_print(p);
		autotrust_free(p);
		p = autotrust_parse(NULL, again, strlen(again), NULL);
		mem_free(again);
		again = autotrust_print(p);
		assert_string_equal(again, text);
		assert_null(p->path);
		mem_free(again);
		mem_free(text);
		autotrust_free(p);
	}
	mem_free(record);
	mem_free(other);
}

/* Records alone, of the root: it is asked for at once, and again after an hour. */
static void to_begin_with_a_record_is_enough(void **state)
{
	(void)state;
	static const char text[] = ". IN DS 7 8 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	struct autotrust *p = autotrust_parse(NULL, text, strlen(text), NULL);
	char *printed;

	assert_non_null(p);
	assert_true(dname_is_root(p->owner));
	assert_int_equal(p->owner[1], 0);
	assert_int_equal(p->keys[0].state, AUTOTRUST_valid);
	assert_int_equal(p->keys[0].last_change, 0);
	assert_int_equal(p->next_probe, 0);
	assert_int_equal(p->query_interval_s, 3600);
	assert_int_equal(p->retry_s, 3600);
	assert_false(p->revoked);
	printed = autotrust_print(p);
	assert_non_null(strstr(printed, "\n;;id: . 1\n"));
	assert_null(strstr(printed, "id ="));
	mem_free(printed);
	autotrust_free(p);
}

/* A megabyte is read, whatever is in it; a byte more, or what is no file, is not. */
static void what_is_read_is_a_file_of_bounded_size(void **state)
{
	(void)state;
	static const struct {
		size_t size;
		const char *says;
	} rows[] = { { 1 << 20, NULL }, { (1 << 20) + 1, "no file of a trust anchor" } };
	char folder[] = "autotrust-test-XXXXXX", *path;
	struct fault f = { .set = false };

	assert_non_null(mkdtemp(folder));
	assert_null(autotrust_read(folder, &f));
	assert_non_null(strstr(f.text, "no file of a trust anchor"));
	path = mem_textf("%s/root.key", folder);
	for (size_t i = 0; i < COUNT(rows); i++) {
		FILE *file = fopen(path, "w");
		struct autotrust *p;

		fprintf(file, "%s\n", RR);
		while ((size_t)ftell(file) < rows[i].size)
			fputc(';', file);
		fclose(file);
		f.set = false;
		p = autotrust_read(path, &f);
		if ((p == NULL) != (rows[i].says != NULL) || (!p && !strstr(f.text, rows[i].says)))
			fail_msg("%zu bytes: %s", rows[i].size, f.text);
		autotrust_free(p);
	}
	assert_int_equal(unlink(path), 0);
	/* where there was none, everybody may read it: its keys are public */
	assert_true(autotrust_replace(path, "one\n", &f));
	assert_true(autotrust_replace(path, "two\n", &f));
	struct rlimit most, none;
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(st.st_size, 4);
	/* what cannot be written whole leaves the file as it is, and nothing beside it */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &most), 0);
	none = (struct rlimit){ 2, most.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	f.set = false;
	assert_false(autotrust_replace(path, "three\n", &f));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(strstr(f.text, "File too large"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	f.set = false;
	assert_false(autotrust_replace(path, "three\n", &f));
	assert_non_null(strstr(f.text, "No such file or directory"));
	mem_free(path);
}

/* However long a key is, its record is one line. */
static void a_long_key_is_printed_whole(void **state)
{
	(void)state;
	static const size_t lengths[] = { 5, 1000, 20000 };

	for (size_t i = 0; i < COUNT(lengths); i++) {
		char *hex = mem_zero(2 * lengths[i] + 1), *text, *printed;
		struct autotrust *p, *again;

		memset(hex, 'a', 2 * lengths[i]);
		text = mem_textf("example.com. 3600 IN DNSKEY \\# %zu %s", lengths[i], hex);
		p = autotrust_parse(NULL, text, strlen(text), NULL);
		assert_non_null(p);
		printed = autotrust_print(p);
		again = autotrust_parse(NULL, printed, strlen(printed), NULL);
		assert_non_null(again);
		assert_int_equal(again->keys[0].rdata.len, lengths[i]);
		assert_memory_equal(again->keys[0].rdata.at, p->keys[0].rdata.at, lengths[i]);
		autotrust_free(p);
		autotrust_free(again);
		mem_free(printed);
		mem_free(text);
		mem_free(hex);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(the_file_is_the_one_everybody_knows),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
		cmocka_unit_test(each_field_is_read_and_printed),
		cmocka_unit_test(a_long_key_is_printed_whole),
		cmocka_unit_test(to_begin_with_a_record_is_enough),
		cmocka_unit_test(what_is_read_is_a_file_of_bounded_size),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
