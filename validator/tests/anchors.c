/* Claims about where trust begins.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/anchors.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"
#include "validator/autotrust.h"
#include "validator/rules.h"

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define KEY    "l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4="

static char folder[300];

static int make_folder(void **state)
{
	(void)state;
	char here[250];

	if (!getcwd(here, sizeof(here)))
		return -1;
	snprintf(folder, sizeof(folder), "%s/anchors-test-XXXXXX", here);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	static const char *const names[] = { "plain", "bind-1", "bind-2", "rolling", "other" };

	for (size_t i = 0; i < COUNT(names); i++) {
		char *path = mem_textf("%s/%s", folder, names[i]);

		(void)unlink(path);
		mem_free(path);
	}
	return rmdir(folder);
}

static char *put_file(const char *name, const char *text)
{
	char *path = mem_textf("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

static void a_record_is_an_anchor(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ ". IN DS 20326 8 2 " DIGEST, true },
		{ "example. 3600 IN DNSKEY 257 3 15 " KEY, true },
		{ "example. DS 1 8 200 aabb", true },   /* of no use, but well-formed */
		{ "example. CH DS 1 8 2 " DIGEST, false },
		{ "example. IN A 192.0.2.1", false },
		{ "example. IN TXT \"a text that could be read as a digest\"", false },
		{ "example. IN CDS 1 8 2 " DIGEST, false },
		{ "example. IN CDNSKEY 257 3 15 " KEY, false },
		{ "example. IN DS 1 8", false },
		{ "example. IN DNSKEY 257 3 15", false },
		{ "nonsense", false },
		{ "", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct anchors *a = anchors_empty();
		struct fault f = { .set = false };

		if (anchors_add_text(a, rows[i].text, &f) != rows[i].good)
			fail_msg("'%s': %s", rows[i].text, f.text);
		assert_int_equal(f.set, !rows[i].good);
		assert_int_equal(anchors_count(a), rows[i].good);
		anchors_free(a);
	}
}

static void records_of_one_name_make_one_anchor(void **state)
{
	(void)state;
	struct anchors *a = anchors_empty();
	const struct anchor *got;
	uint16_t tags[8];

	assert_true(anchors_add_text(a, "example. DS 7 8 2 " DIGEST, NULL));
	assert_true(anchors_add_text(a, "EXAMPLE. DS 7 8 2 " DIGEST, NULL));    /* again */
	assert_true(anchors_add_text(a, "example. DS 7 8 4 " DIGEST DIGEST, NULL));
	assert_true(anchors_add_text(a, "example. DNSKEY 257 3 15 " KEY, NULL));
	assert_true(anchors_add_text(a, "example. DS 5 8 2 " DIGEST, NULL));
	assert_int_equal(anchors_count(a), 1);
	got = anchors_find_at(a, N("Example."));
	assert_non_null(got);
	assert_int_equal(got->ds->count, 3);
	assert_int_equal(got->ds->type, TYPE_DS);
	assert_int_equal(got->keys->count, 1);
	assert_int_equal(got->keys->type, TYPE_DNSKEY);
	assert_false(got->rolls);
	assert_int_equal(anchor_tags(got, tags, COUNT(tags)), 3);
	assert_int_equal(tags[0], 5);
	assert_int_equal(tags[1], 7);
	assert_int_equal(tags[2], 3613);
	for (size_t room = 0; room < 4; room++) { /* no more than there is room for, whatever they are */
		uint16_t some[4] = { 1, 1, 1, 1 };

		assert_in_range(anchor_tags(got, some, room), room ? 1 : 0, room);
		for (size_t i = room; i < COUNT(some); i++)
			assert_int_equal(some[i], 1);
	}
	got = anchor_pin(got);
	anchors_free(a);
	assert_name_is(got->owner, "example.");         /* whoever has pinned it keeps it */
	anchor_unpin(got);
}

static void the_closest_anchor_counts_unless_something_closer_is_insecure(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool above;
		const char *want;
	} rows[] = {
		{ ".", false, "." },
		{ ".", true, NULL },
		{ "com.", false, "." },
		{ "com.", true, "." },
		{ "example.com.", false, "example.com." },
		{ "example.com.", true, "." },
		{ "a.b.Example.COM.", false, "example.com." },
		{ "lab.example.com.", false, NULL },
		{ "lab.example.com.", true, "example.com." },
		{ "x.lab.example.com.", false, NULL },
		{ "deep.lab.example.com.", false, "deep.lab.example.com." },
		{ "x.deep.lab.example.com.", false, "deep.lab.example.com." },
		{ "deep.lab.example.com.", true, NULL },
		{ "org.", false, NULL },
		{ "x.org.", true, NULL },
		{ "both.", false, "both." },
		{ "both.", true, "." },
	};
	struct anchors *a = anchors_empty(), *none = anchors_empty();
	struct trie *insecure = trie_new();

	assert_true(anchors_add_text(a, ". DS 7 8 2 " DIGEST, NULL));
	assert_true(anchors_add_text(a, "example.com. DS 7 8 2 " DIGEST, NULL));
	assert_true(anchors_add_text(a, "deep.lab.example.com. DS 7 8 2 " DIGEST, NULL));
	assert_true(anchors_add_text(a, "both. DS 7 8 2 " DIGEST, NULL));
	trie_put(insecure, N("lab.example.com."), insecure);
	trie_put(insecure, N("org."), insecure);
	trie_put(insecure, N("both."), insecure);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct anchor *got = anchors_find(a, insecure, N(rows[i].name), rows[i].above);

		if ((got != NULL) != (rows[i].want != NULL) ||
		    (got && !dname_equals(got->owner, N(rows[i].want))))
			fail_msg("%s", rows[i].name);
		assert_null(anchors_find(none, insecure, N(rows[i].name), rows[i].above));
	}
	assert_non_null(anchors_find(a, NULL, N("lab.example.com."), false));
	trie_free(insecure, NULL);
	anchors_free(a);
	anchors_free(none);
}

static void the_root_keys_of_today_are_built_in(void **state)
{
	(void)state;
	struct anchors *a = anchors_empty();
	const char *const *lines;
	uint16_t tags[4];

	assert_int_equal(anchors_built_in(&lines), 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(anchors_add_text(a, lines[i], NULL));
	assert_int_equal(anchor_tags(anchors_find_at(a, N(".")), tags, 4), 2);
	assert_int_equal(tags[0], 20326);
	assert_int_equal(tags[1], 38696);
	assert_int_equal(anchors_find_at(a, N("."))->ds->count, 2);
	anchors_free(a);
}

/* A file with one record that cannot be an anchor is none, however good the others are: of half a trust it is not known which
 * half is missing. */
static void a_file_is_taken_as_a_whole(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text, *says;
	} rows[] = {
		{ "a record", "example. IN DS 1 8 2 " DIGEST "\n", NULL },
		{ "two", "example. IN DS 1 8 2 " DIGEST "\ntest. IN DNSKEY 257 3 15 " KEY "\n", NULL },
		{ "what else a zone has", "example. IN NS a.\nexample. IN DS 1 8 2 " DIGEST "\nexample. IN A 192.0.2.1\n", NULL },
		{ "a digest of one byte", "example. IN DS \\# 5 0001080200\n", NULL },
		{ "a key of one byte", "example. IN DNSKEY \\# 5 0101030800\n", NULL },
		{ "nothing", "", "holds no DS or DNSKEY record" },
		{ "nothing of use", "example. IN NS a.\n", "holds no DS or DNSKEY record" },
		{ "one without a digest behind a good one", "example. IN DS 1 8 2 " DIGEST "\nexample. IN DS \\# 4 00010802\n",
		  "a DS or DNSKEY record is truncated, or not of class IN" },
		{ "one without a key before a good one", "example. IN DNSKEY \\# 4 01010308\nexample. IN DS 1 8 2 " DIGEST "\n",
		  "a DS or DNSKEY record is truncated, or not of class IN" },
		{ "one of another class behind a good one", "example. IN DS 1 8 2 " DIGEST "\nexample. CH DS 1 8 2 " DIGEST "\n", "class" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct anchors *a = anchors_empty();
		struct fault f = { .set = false };
		char *path = put_file("plain", rows[i].text);

		if (anchors_add_file(a, path, &f) != !rows[i].says || f.set != !!rows[i].says ||
		    (rows[i].says && !strstr(f.text, rows[i].says)))
			fail_msg("%s: %s", rows[i].why, f.set ? f.text : "nothing is said");
		anchors_free(a);
		mem_free(path);
	}
}

static void files_of_the_other_daemon_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t count;           /* anchors; 0: a fault that says … */
		const char *says;
	} rows[] = {
		{ "trusted-keys { example. 257 3 15 \"" KEY "\"; };", 1, NULL },
		{ "trusted-keys { \"example.\" 257 3 15 \"l02Woi0iS8Aa25FQk\n  Ud9RMzZHJpBoRQwAQEX1SxZJA4=\";\n"
		  "a.example 257 3 15 \"" KEY "\"; };", 2, NULL },
		{ "managed-keys { . initial-key 257 3 15 \"" KEY "\"; };", 1, NULL },
		{ "trust-anchors { . initial-ds 20326 8 2 \"" DIGEST "\";\n"
		  "  example. static-key 257 3 15 \"" KEY "\";\n"
		  "  example. static-ds 7 8 2 \"" DIGEST "\"; };", 2, NULL },
		{ "# remark\n// another\n/* a { long } one */ options { trusted-keys \"no\"; zone { x; }; };\n"
		  "trusted-keys { . 257 3 15 \"" KEY "\"; }; logging { };", 1, NULL },
		{ "options { listen { any; }; };", 0, NULL },
		{ "", 0, NULL },
		{ "trusted-keys { . 257 3 15 \"" KEY "\" };", 0, "t:1: expected ;" },
		{ "trusted-keys {\n . 257 3 \"" KEY "\"; };", 0, "t:2: expected three numbers" },
		{ "trusted-keys {\n . 257 3 15 \"" KEY ";", 0, "a quote has no partner" },
		{ "trusted-keys { . 257 3 15 \"" KEY "\";", 0, "the clause has no end" },
		{ "trusted-keys { . 257 3 15 \"" KEY "\"; }", 0, "expected ;" },
		{ "trusted-keys { . 257 3", 0, "the clause has no end" },
		{ "trust-anchors { .", 0, "the clause has no end" },
		{ "trusted-keys . 257", 0, "expected {" },
		{ "trust-anchors { . key 257 3 15 \"" KEY "\"; };", 0, "expected static-key" },
		{ "trusted-keys { . 257 3 15 \"!!!\"; };", 0, "t:1: " },
		{ "trusted-keys { . 257 3 15 \"" KEY ") (\"; };", 0, "no place in a key" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct anchors *a = anchors_empty();
		struct fault f = { .set = false };
		bool good = anchors_add_bind_text(a, "t", rows[i].text, strlen(rows[i].text), &f);

		if (good != (rows[i].says == NULL) || (good && anchors_count(a) != rows[i].count) ||
		    (rows[i].says && !strstr(f.text, rows[i].says)))
			fail_msg("%s: %s", rows[i].text, f.text);
		anchors_free(a);
	}
}

static struct anchors *load(const char *text, struct fault *f)
{
	struct conf *conf = conf_from(text);
	struct anchors *a = anchors_new(conf, f);

	conf_free(conf);
	return a;
}

static void all_sources_of_a_configuration_are_read(void **state)
{
	(void)state;
	char *plain = put_file("plain", "; a zone file\n$ORIGIN example.\n$TTL 1h\n"
					"@ NS ns\n@ DS 7 8 2 ( " DIGEST "\n )\nsub DNSKEY 257 3 15 " KEY "\n");
	char *bind1 = put_file("bind-1", "trusted-keys { one. 257 3 15 \"" KEY "\"; };");
	char *bind2 = put_file("bind-2", "trusted-keys { two. 257 3 15 \"" KEY "\"; };");
	char *rolling = put_file("rolling", "three. IN DS 7 8 2 " DIGEST "\n");
	char *text = mem_textf("server:\ntrust-anchor: \"four. DS 7 8 2 %s\"\n"
			       "trust-anchor: \"three. DS 9 8 2 %s\"\n"
			       "trust-anchor-file: \"%s\"\ntrusted-keys-file: \"%s/bind-*\"\n"
			       "auto-trust-anchor-file: \"%s\"\n",
			       DIGEST, DIGEST, plain, folder, rolling);
	struct fault f = { .set = false };
	struct anchors *a = load(text, &f);

	if (!a)
		fail_msg("%s", f.text);
	assert_int_equal(anchors_count(a), 6);
	assert_int_equal(anchors_find_at(a, N("example."))->ds->count, 1);
	assert_non_null(anchors_find_at(a, N("sub.example."))->keys);
	assert_non_null(anchors_find_at(a, N("one.")));
	assert_non_null(anchors_find_at(a, N("two.")));
	assert_int_equal(anchors_find_at(a, N("three."))->ds->count, 2);
	assert_true(anchors_find_at(a, N("three."))->rolls);
	assert_int_equal(anchors_rolling_count(a), 1);
	assert_string_equal(anchors_rolling(a, 0)->path, rolling);
	anchors_free(a);

	/* The same point twice would be written by two. */
	mem_free(text);
	mem_free(put_file("other", "three. IN DS 7 8 2 " DIGEST "\n"));
	text = mem_textf("server:\nauto-trust-anchor-file: \"%s\"\n"
			 "auto-trust-anchor-file: \"%s/other\"\n", rolling, folder);
	assert_null(load(text, &f));
	assert_non_null(strstr(f.text, "test:3: auto-trust-anchor-file: "));
	assert_non_null(strstr(f.text, "other holds the anchor of a name that another file holds"));
	mem_free(text);
	mem_free(plain);
	mem_free(bind1);
	mem_free(bind2);
	mem_free(rolling);
}

static char said[1000];

static void listen_to(const char *line, void *arg)
{
	(void)arg;
	snprintf(said, sizeof(said), "%s", line);
}

static void what_is_not_supported_is_as_if_not_configured(void **state)
{
	(void)state;
	static const struct {
		const char *why, *first, *second;
		bool stays;
	} rows[] = {
		{ "an unknown algorithm", "example. DS 7 208 2 " DIGEST, NULL, false },
		{ "an unknown digest type", "example. DS 7 8 99 " DIGEST, NULL, false },
		{ "neither", "example. DS 7 208 2 " DIGEST, "example. DS 7 8 99 " DIGEST, false },
		{ "a key of an unknown algorithm", "example. DNSKEY 257 3 208 " KEY, NULL, false },
		{ "one of two", "example. DS 7 208 2 " DIGEST, "example. DS 7 8 2 " DIGEST, true },
		{ "a key beside it", "example. DS 7 208 2 " DIGEST, "example. DNSKEY 257 3 15 " KEY, true },
	};
	struct rules rules;

	rules_default(&rules);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct anchors *a = anchors_empty();

		assert_true(anchors_add_text(a, ". DS 7 8 2 " DIGEST, NULL));
		assert_true(anchors_add_text(a, rows[i].first, NULL));
		if (rows[i].second)
			assert_true(anchors_add_text(a, rows[i].second, NULL));
		log_capture(listen_to, NULL);
		said[0] = '\0';
		anchors_drop_unsupported(a, &rules);
		log_capture(NULL, NULL);
		if (!anchors_find_at(a, N("example.")) == rows[i].stays || !strstr(said, "example.") != rows[i].stays)
			fail_msg("%s: said '%s'", rows[i].why, said);
		if (!rows[i].stays)
			assert_name_is(anchors_find(a, NULL, N("www.example."), false)->owner, ".");
		assert_int_equal(anchors_count(a), 1 + rows[i].stays);
		anchors_free(a);
	}
}

static void mistakes_name_file_and_line(void **state)
{
	(void)state;
	char *plain = put_file("plain", "example. DS 7 8 2 " DIGEST "\nexample. DS seven\n");
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "server:\n trust-anchor: \"a. DS 1 8 2 abc\"\n", "test:2: trust-anchor: " },
		{ "server:\n\n trust-anchor-file: \"%s/missing\"\n", "test:3: trust-anchor-file: " },
		{ "server:\n trust-anchor-file: \"%s/plain\"\n", "plain:2: " },
		{ "server:\n trusted-keys-file: \"%s/none\"\n", "test:2: trusted-keys-file: " },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };
		char text[500];

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(strcspn(rows[i].text, "%")),
			 rows[i].text, strchr(rows[i].text, '%') ? folder : "",
			 strchr(rows[i].text, '%') ? strchr(rows[i].text, '%') + 2 : "");
		assert_null(load(text, &f));
		if (!strstr(f.text, rows[i].says))
			fail_msg("'%s' does not say '%s'", f.text, rows[i].says);
	}
	mem_free(plain);
}


/* The default's file, as it would be in this folder as chroot. */
static char *default_file(const char *keys)
{
	char *path = mem_textf("%s" STATE_DIR "/root.key", folder);

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	if (keys)
		mem_free(put_file(path + strlen(folder) + 1, keys));
	return path;
}

static void remove_up_to_folder(char *path)
{
	(void)unlink(path);
	while (strlen(path) > strlen(folder)) {
		(void)rmdir(path);
		*strrchr(path, '/') = '\0';
	}
}

static void without_a_word_of_anchors_the_roots_are_followed(void **state)
{
	(void)state;
	static const struct {
		const char *option, *file;
		size_t count;
		bool own; /* the file's, not those built in */
	} rows[] = {
		{ "", NULL, 1, false },
		{ "", ". 86400 IN DS 7 8 2 " DIGEST "\n", 1, true },
		{ "", "garbage\n", 1, false },
		{ "module-config: \"iterator\"", ". 86400 IN DS 7 8 2 " DIGEST "\n", 0, false },
		{ "auto-trust-anchor-file: \"\"", NULL, 0, false },
		{ "trust-anchor-file: \"\"", NULL, 0, false },
		{ "trusted-keys-file: \"\"", NULL, 0, false },
		{ "trusted-keys-file: \"/etc/none-*.key\"", NULL, 0, false },
		{ "trusted-keys-file: \"/does/not/exist/*.key\"", NULL, 0, false },
		{ "trust-anchor: \"\"", ". 86400 IN DS 7 8 2 " DIGEST "\n", 0, false },
		{ "trust-anchor: \"example. DS 7 8 2 " DIGEST "\"", ". 86400 IN DS 7 8 2 " DIGEST "\n", 1, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = default_file(rows[i].file);
		char *text = mem_textf("server:\nchroot: \"%s\"\n%s\n", folder, rows[i].option);
		struct fault f = { .set = false };
		const struct anchor *root;
		struct anchors *a;
		uint16_t tag = 0;

		log_capture(listen_to, NULL);
		said[0] = '\0';
		a = load(text, &f);
		log_capture(NULL, NULL);
		assert_non_null(a);
		/* that there is no file yet is no mistake; that there is a damaged one is */
		if (!*said != !(rows[i].file && strstr(rows[i].file, "garbage")))
			fail_msg("%s, file %s: said '%s'", rows[i].option, rows[i].file, said);
		root = anchors_find_at(a, dname_root);
		if (anchors_count(a) != rows[i].count || (!root && !strchr(rows[i].option, ':')))
			fail_msg("%s, file %s: %zu anchors", rows[i].option, rows[i].file, anchors_count(a));
		if (root) {
			assert_true(root->rolls);
			assert_true(anchor_tags(root, &tag, 1) > 0);
			assert_int_equal(tag == 7, rows[i].own);
			assert_string_equal(anchors_rolling(a, 0)->path, STATE_DIR "/root.key");
		}
		anchors_free(a);
		remove_up_to_folder(path);
		mem_free(text);
		mem_free(path);
	}
}

static void a_damaged_file_is_told_and_replaced_by_what_is_built_in(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t count;
	} rows[] = {
		{ "", 1 },
		{ "garbage\n", 1 },
		{ NULL, 1 },            /* it is not there */
		{ "; autotrust trust anchor file\n;;id: . 1\n;;last_queried: x\n", 1 },
		{ ". 86400 IN DNSKEY 257 3 8 AwEAA", 1 },
		{ ";;id: example. 1\nexample. IN DS 1\n", 0 },
		{ "example. IN DS 1\n", 0 },
		{ ";;id: example. 1\n. IN DS 1\n", 0 },
		{ ";;id: . 1\nexample. IN DS 1\n", 1 },
		{ "example. IN NS a.\n. IN DS 1\n", 1 },
		{ "; a remark\nexample. IN DNSKEY 1\n", 0 },
	};
	char *path = mem_textf("%s/rolling", folder);
	char *text = mem_textf("server:\nauto-trust-anchor-file: \"%s\"\n", path);

	log_capture(listen_to, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };
		struct anchors *a;

		(void)unlink(path);
		if (rows[i].text)
			mem_free(put_file("rolling", rows[i].text));
		said[0] = '\0';
		errno = EACCES; /* of something else */
		a = load(text, &f);
		assert_non_null(a);
		if (anchors_count(a) != rows[i].count)
			fail_msg("%s", rows[i].text);
		if (!strstr(said, path) || !strstr(said, "error"))
			fail_msg("%s: said '%s'", rows[i].text, said);
		if (rows[i].count) {
			assert_int_equal(anchors_find_at(a, N("."))->ds->count, 2);
			assert_string_equal(anchors_rolling(a, 0)->path, path);
		}
		anchors_free(a);
	}
	log_capture(NULL, NULL);
	mem_free(text);
	mem_free(path);
}

static void a_file_we_are_kept_from_is_no_damage(void **state)
{
	(void)state;
	char *path = put_file("rolling", ". IN DS 20326 8 2 " DIGEST "\n");
	char *text = mem_textf("server:\nauto-trust-anchor-file: \"%s\"\n", path);
	struct fault f = { .set = false };
	bool is_root = geteuid() == 0;

	assert_int_equal(chmod(path, 0), 0);
	assert_true(!is_root || seteuid(65534) == 0);
	assert_null(load(text, &f));
	assert_true(!is_root || seteuid(0) == 0);
	if (!strstr(f.text, "auto-trust-anchor-file: ") || !strstr(f.text, "Permission denied"))
		fail_msg("%s", f.text);
	assert_int_equal(unlink(path), 0);
	mem_free(text);
	mem_free(path);
}

static void a_point_is_published_anew_and_deleted(void **state)
{
	(void)state;
	char *path = put_file("rolling", "a.example. IN DS 7 8 2 " DIGEST "\n");
	struct fault f = { .set = false };
	struct anchors *a = anchors_empty();
	struct autotrust *p;

	rcu_thread_join();
	assert_true(anchors_add_text(a, "example. DS 7 8 2 " DIGEST, NULL));
	assert_true(anchors_add_rolling(a, path, &f));
	p = anchors_rolling(a, 0);
	assert_name_is(anchors_find(a, NULL, N("x.a.example."), false)->owner, "a.example.");
	p->revoked = true;
	anchors_republish(a, p);
	assert_name_is(anchors_find(a, NULL, N("x.a.example."), false)->owner, "example.");
	assert_null(anchors_find_at(a, N("a.example.")));
	assert_int_equal(anchors_count(a), 1);
	p->revoked = false;
	anchors_republish(a, p);
	assert_name_is(anchors_find(a, NULL, N("x.a.example."), false)->owner, "a.example.");
	anchors_republish(a, p);
	rcu_flush();
	anchors_free(a);
	rcu_thread_leave();
	mem_free(path);
}

/* Whichever comes first: the one that rolls includes what is configured, and rolls. */
static void records_configured_beside_an_anchor_that_rolls_are_a_part_of_it(void **state)
{
	(void)state;
	static const char *const records[] = { "a. DS 2 13 2 " DIGEST, "a. DNSKEY 257 3 15 " KEY };

	for (unsigned first = 0; first < 2; first++) {
		char *path = put_file("rolling", "a. DS 1 13 2 " DIGEST "\n");
		struct anchors *a = anchors_empty();
		struct fault f = { .set = false };
		const struct anchor *got;

		for (unsigned when = 0; when < 2; when++) {
			if (when == first)
				assert_true(anchors_add_rolling(a, path, &f));
			else
				for (size_t i = 0; i < COUNT(records); i++)
					assert_true(anchors_add_text(a, records[i], &f));
		}
		got = anchors_find_at(a, N("a."));
		assert_true(got->rolls);
		assert_int_equal(got->ds->count, 2);
		assert_int_equal(got->keys->count, 1);
		anchors_free(a);
		mem_free(path);
	}
}

/* One that rolls in one set only is compared by all of its records. */
static void an_anchor_that_rolls_is_not_one_that_does_not(void **state)
{
	(void)state;
	static const struct {
		const char *rolling, *fixed;
		bool same;
	} rows[] = {
		{ "a. DS 1 13 2 " DIGEST "\n", "a. DS 1 13 2 " DIGEST, true },
		{ "a. DS 1 13 2 " DIGEST "\na. DS 2 13 2 " DIGEST "\n", "a. DS 1 13 2 " DIGEST, false },
	};

	rcu_thread_join();
	rcu_turn_begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = put_file("rolling", rows[i].rolling);
		struct anchors *a = anchors_empty(), *b = anchors_empty();
		struct fault f = { .set = false };

		assert_true(anchors_add_rolling(a, path, &f));
		assert_true(anchors_add_text(b, rows[i].fixed, &f));
		assert_int_equal(anchors_are_same(a, b), rows[i].same);
		assert_int_equal(anchors_are_same(b, a), rows[i].same);
		anchors_free(a);
		anchors_free(b);
		mem_free(path);
	}
	rcu_turn_end();
	rcu_thread_leave();
}

/* Of keys or of digests, one with either rolls. */
static void an_anchor_of_keys_rolls_too(void **state)
{
	(void)state;
	char *path = put_file("rolling", "a. DNSKEY 257 3 15 " KEY "\n");
	struct anchors *a = anchors_empty();
	struct fault f = { .set = false };

	assert_true(anchors_add_rolling(a, path, &f));
	assert_true(anchors_find_at(a, N("a."))->rolls);
	assert_null(anchors_find_at(a, N("a."))->ds);
	assert_int_equal(anchors_find_at(a, N("a."))->keys->count, 1);
	anchors_free(a);
	mem_free(path);
}

static struct anchors *anchors_of(const char *const texts[2])
{
	struct anchors *a = anchors_empty();
	struct fault f = { .set = false };

	for (unsigned i = 0; i < 2 && texts[i]; i++)
		assert_true(anchors_add_text(a, texts[i], &f));
	return a;
}

static void anchors_are_compared_by_names_and_records(void **state)
{
	(void)state;
	static const char a[] = "a. DS 1 13 2 " DIGEST, a2[] = "a. DS 2 13 2 " DIGEST,
			  b[] = "b. DS 1 13 2 " DIGEST, key[] = "a. DNSKEY 257 3 15 " KEY;
	static const struct {
		const char *why, *one[2], *other[2];
		bool same;
	} rows[] = {
		{ "none", { NULL }, { NULL }, true },
		{ "in another order", { a, b }, { b, a }, true },
		{ "one more record", { a }, { a, a2 }, false },
		{ "one record less", { a, a2 }, { a2 }, false },
		{ "another record", { a }, { a2 }, false },
		{ "one more name", { a }, { a, b }, false },
		{ "one name less", { a, b }, { a }, false },
		{ "the last name is another", { a, b }, { a, "c. DS 1 13 2 " DIGEST }, false },
		{ "the key, too", { a }, { a, key }, false },
	};

	rcu_thread_join();
	rcu_turn_begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct anchors *one = anchors_of(rows[i].one), *other = anchors_of(rows[i].other);

		if (anchors_are_same(one, other) != rows[i].same)
			fail_msg("%s", rows[i].why);
		anchors_free(one);
		anchors_free(other);
	}
	rcu_turn_end();
	rcu_thread_leave();
}

static void an_anchor_that_rolls_is_the_same_as_long_as_a_key_is(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool same;
	} rows[] = {
		{ "a. DS 1 13 2 " DIGEST "\n", true },
		{ "a. DS 1 13 2 " DIGEST "\na. DS 2 13 2 " DIGEST "\n", true },
		{ "a. DS 2 13 2 " DIGEST "\n", false },
	};
	char *path = put_file("rolling", rows[0].text), *other_path;
	struct anchors *a = anchors_empty();
	struct fault f = { .set = false };

	rcu_thread_join();
	rcu_turn_begin();
	assert_true(anchors_add_rolling(a, path, &f));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct anchors *other = anchors_empty();

		other_path = put_file("other", rows[i].text);
		assert_true(anchors_add_rolling(other, other_path, &f));
		if (anchors_are_same(a, other) != rows[i].same)
			fail_msg("%s", rows[i].text);
		anchors_free(other);
		mem_free(other_path);
	}
	anchors_free(a);
	rcu_turn_end();
	rcu_thread_leave();
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(anchors_are_compared_by_names_and_records),
		cmocka_unit_test(an_anchor_that_rolls_is_the_same_as_long_as_a_key_is),
		cmocka_unit_test(records_configured_beside_an_anchor_that_rolls_are_a_part_of_it),
		cmocka_unit_test(an_anchor_that_rolls_is_not_one_that_does_not),
		cmocka_unit_test(an_anchor_of_keys_rolls_too),
		cmocka_unit_test(a_record_is_an_anchor),
		cmocka_unit_test(records_of_one_name_make_one_anchor),
		cmocka_unit_test(the_closest_anchor_counts_unless_something_closer_is_insecure),
		cmocka_unit_test(the_root_keys_of_today_are_built_in),
		cmocka_unit_test(a_file_is_taken_as_a_whole),
		cmocka_unit_test(files_of_the_other_daemon_are_read),
		cmocka_unit_test(all_sources_of_a_configuration_are_read),
		cmocka_unit_test(what_is_not_supported_is_as_if_not_configured),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(without_a_word_of_anchors_the_roots_are_followed),
		cmocka_unit_test(a_damaged_file_is_told_and_replaced_by_what_is_built_in),
		cmocka_unit_test(a_file_we_are_kept_from_is_no_damage),
		cmocka_unit_test(a_point_is_published_anew_and_deleted),
	};

	return cmocka_run_group_tests(claims, make_folder, remove_folder);
}
