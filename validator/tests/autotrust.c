/* Claims about trust that rolls (RFC 5011), and its file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/autotrust.h"

#include <sys/stat.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/random.h"
#include "util/rr.h"
#include "util/tests/wire.h"
#include "validator/crypto.h"
#include "validator/date.h"
#include "validator/verify.h"

#define START INT64_C(1251100000)       /* Mon Aug 24 07:46:40 2009 */
#define DAY   INT64_C(86400)
#define TTL   10800

/* Keys A, B, C … are so many bytes of that letter; a small letter is a zone-signing key. Their
 * signatures are believed without arithmetic. 'A!' is key A revoked; 'X' is of another algorithm. */
enum { PRETENDED = 15, UNKNOWN = 157 };

static struct slice key_rdata(struct arena *a, char letter, bool revoked)
{
	uint8_t *rd = arena_take(a, 36);

	memset(rd, letter, 36);
	put_u16(rd, (uint16_t)(DNSKEY_ZONE | (letter <= 'Z' ? DNSKEY_SEP : 0) |
			       (revoked ? DNSKEY_REVOKE : 0)));
	rd[2] = 3;
	rd[3] = letter == 'X' ? UNKNOWN : PRETENDED;
	return (struct slice){ rd, 36 };
}

static unsigned tag(char letter, bool revoked)
{
	struct arena a;
	unsigned t;

	arena_init(&a);
	t = rr_key_tag(key_rdata(&a, letter, revoked));
	arena_clear(&a);
	return t;
}

static struct slice sig_rdata(struct arena *a, char letter, bool revoked, int64_t now)
{
	static const uint8_t signer[] = "\7example\3com";
	uint8_t rd[64];
	struct writer w = writer_over(rd, sizeof(rd));

	write_u16(&w, TYPE_DNSKEY);
	write_u8(&w, letter == 'X' ? UNKNOWN : PRETENDED);
	write_u8(&w, 2);
	write_u32(&w, TTL);
	write_u32(&w, (uint32_t)(now + 30 * DAY));
	write_u32(&w, (uint32_t)(now - DAY));
	write_u16(&w, (uint16_t)tag(letter, revoked));
	write_bytes(&w, signer, sizeof(signer));
	write_bytes(&w, "sum!", 4);
	return (struct slice){ arena_copy(a, rd, writer_len(&w)), writer_len(&w) };
}

static size_t read_letters(struct arena *a, const char *text, struct slice *out, int64_t now, bool sigs)
{
	size_t count = 0;

	for (; *text; text++) {
		bool revoked = text[1] == '!';

		out[count++] = sigs ? sig_rdata(a, *text, revoked, now) : key_rdata(a, *text, revoked);
		text += revoked;
	}
	return count;
}

/* The set a zone shows: its keys, and who signed them. */
static struct rrset *shown(struct arena *a, const char *keys, const char *signers, int64_t now)
{
	struct slice records[16], sigs[16];
	struct rrset_parts parts = { .owner = N("example.com."), .type = TYPE_DNSKEY,
				     .class_ = CLASS_IN, .ttl_s = TTL, .records = records,
				     .sigs = sigs };

	parts.count = read_letters(a, keys, records, now, false);
	parts.sig_count = read_letters(a, signers, sigs, now, true);
	return rrset_build(a, &parts);
}

/* A line of the file to begin with. */
static char *dnskey_line(char letter)
{
	static const char *const base64[] = {
		['A'] = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=",
		['B'] = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=",
		['C'] = "Q0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0M=",
		['z'] = "enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6eno=",
	};

	return mem_textf("example.com.\t10800\tIN\tDNSKEY\t%d 3 15 %s", letter <= 'Z' ? 257 : 256,
			 base64[(unsigned char)letter]);
}

static char *ds_line(char letter)
{
	struct arena a;
	uint8_t digest[CRYPTO_DIGEST_MAX];
	struct slice pieces[2] = { SLICE("\7example\3com\0") };
	char hex[65], *line;

	arena_init(&a);
	pieces[1] = key_rdata(&a, letter, false);
	assert_int_equal(crypto_digest(DIGEST_SHA256, pieces, 2, digest), 32);
	for (unsigned i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	line = mem_textf("example.com. 3600 IN DS %u 15 2 %s", tag(letter, false), hex);
	arena_clear(&a);
	return line;
}

struct world {
	struct autotrust *p;
	struct rules rules;
	struct autotrust_how how;
	int64_t now;
	char said[2000];
};

static void remember(void *arg, const char *sentence)
{
	struct world *w = arg;

	snprintf(w->said + strlen(w->said), sizeof(w->said) - strlen(w->said), "%s\n", sentence);
}

static void world_begin(struct world *w, const char *text)
{
	struct fault f = { .set = false };

	rules_default(&w->rules);
	octets_put(&w->rules.fake, PRETENDED);
	w->how = (struct autotrust_how){ 30 * 86400, 30 * 86400, 366 * 86400, false };
	w->now = START;
	w->p = autotrust_parse(NULL, text, strlen(text), &f);
	if (!w->p)
		fail_msg("%s: %s", text, f.text);
}

static unsigned step(struct world *w, const char *keys, const char *signers)
{
	struct arena a;
	int purse = 32;
	unsigned actions;
	struct verify_how verify = { .rules = &w->rules, .arena = &a, .signatures = &purse,
				     .now = (uint32_t)w->now };
	struct autotrust_step s = { .verify = &verify, .how = &w->how, .now = w->now,
				    .say = remember, .arg = w };

	arena_init(&a);
	w->said[0] = '\0';
	s.dnskeys = keys ? shown(&a, keys, signers, w->now) : NULL;
	actions = autotrust_step(w->p, &s);
	arena_clear(&a);
	return actions;
}

/* "A=valid B=addpend/2": what the point holds, in the order of the file. */
static const char *keys_of(const struct autotrust *p)
{
	static const char *const states[] = {
#define X(name) #name,
		AUTOTRUST_STATES(X)
#undef X
	};
	static char text[400];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < p->count; i++) {
		const struct autotrust_key *k = &p->keys[i];
		bool revoked = k->rdata.at[1] & DNSKEY_REVOKE;

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					k->type == TYPE_DS ? "DS" : "");
		if (k->type == TYPE_DNSKEY)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%c%s",
						k->rdata.at[10], revoked ? "!" : "");
		len += (size_t)snprintf(text + len, sizeof(text) - len, "=%s", states[k->state]);
		if (k->count)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "/%u",
						(unsigned)k->count);
	}
	return text;
}

static char *lines(char *first, char *second)
{
	char *text = mem_textf("%s\n%s\n", first, second ? second : "");

	mem_free(first);
	mem_free(second);
	return text;
}

static void a_key_rolls(void **state)
{
	(void)state;
	enum { W = AUTOTRUST_WRITE, WK = AUTOTRUST_WRITE | AUTOTRUST_KEYS };
	static const struct {
		int days;               /* that pass before */
		const char *keys, *signers;
		unsigned actions;
		const char *want;
	} rows[] = {
		{ 0, "Az", "Az", WK, "A=valid" },       /* the ZSK has served */
		{ 30, "ABz", "ABz", W, "B=addpend/1 A=valid" },
		{ 10, "ABz", "ABz", W, "B=addpend/2 A=valid" },
		{ 10, "ABz", "ABz", W, "B=addpend/3 A=valid" },
		{ 11, "ABz", "ABz", WK, "B=valid A=valid" },
		{ 30, "A!Bz", "A!Bz", WK, "B=valid A!=revoked" },
		{ 10, "ABz", "ABz", W, "B=valid A!=revoked" },  /* dead is dead */
		{ 2, "ABz", "Az", AUTOTRUST_WRITE | AUTOTRUST_FAILED, "B=valid A!=revoked" },
		{ 29, "Bz", "Bz", W, "B=valid" },       /* 31 days after it was last seen */
	};
	char *text = lines(dnskey_line('A'), dnskey_line('z'));
	struct world w;

	world_begin(&w, text);
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned actions;

		w.now += rows[i].days * DAY;
		actions = step(&w, rows[i].keys, rows[i].signers);
		if (actions != rows[i].actions || strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("step %zu: %s, actions %u: %s", i, keys_of(w.p), actions, w.said);
	}
	autotrust_free(w.p);
	mem_free(text);
}

static void what_vouches_for_the_first_set(void **state)
{
	(void)state;
	static const struct {
		const char *what, *dnskeys, *ds, *keys, *signers, *want;
	} rows[] = {
		{ "a DS record", "", "A", "Az", "A", "A=valid" },
		{ "a DS record, and another key", "", "A", "ABz", "AB", "B=addpend/1 A=valid" },
		{ "two DS records, one key yet to come", "", "AB", "Az", "A", "A=valid DS=valid" },
		{ "a ZSK alone", "z", "", "ABz", "ABz", "B=valid A=valid" },
		{ "a KSK, and another key", "A", "", "ABz", "AB", "B=addpend/1 A=valid" },
		{ "a KSK that is not there", "AB", "", "A", "A", "B=missing A=valid" },
		{ "a key of an unknown algorithm is not watched", "A", "", "AX", "AX", "A=valid" },
		{ "a ZSK in the set is not watched", "A", "", "Ayz", "A", "A=valid" },
		{ "a stranger's signature", "A", "", "AB", "B", "A=valid" },
		{ "a wrong DS record", "", "C", "AB", "AB", "DS=valid" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = mem_text("");
		struct world w;

		for (const char *k = rows[i].dnskeys; *k; k++)
			text = lines(text, dnskey_line(*k));
		for (const char *k = rows[i].ds; *k; k++)
			text = lines(text, ds_line(*k));
		world_begin(&w, text);
		step(&w, rows[i].keys, rows[i].signers);
		if (strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("%s: %s (%s)", rows[i].what, keys_of(w.p), w.said);
		autotrust_free(w.p);
		mem_free(text);
	}
}

static void what_is_missing_waits(void **state)
{
	(void)state;
	static const struct {
		int days;
		const char *keys, *signers, *want;
	} rows[] = {
		{ 0, "AB", "AB", "A=valid B=valid" },
		{ 1, "A", "A", "A=valid B=missing" },
		{ 1, "AB", "B", "A=valid B=valid" },            /* it is trusted all the while */
		{ 1, "A", "A", "A=valid B=missing" },
		{ 365, "A", "A", "A=valid B=missing" },
		{ 1, "A", "A", "A=valid" },
		{ 1, "ABC", "A", "C=addpend/1 B=addpend/1 A=valid" },
		{ 1, "AB", "A", "B=addpend/2 A=valid" },        /* gone before its time */
		{ 1, "ABC!", "A", "B=addpend/3 A=valid" },
		{ 1, "AB!", "B!", "B=addpend/3 A=valid" },      /* nobody who is trusted says so */
		{ 1, "AB!", "AB!", "A=valid" },                 /* RFC 5011 4.1: it is not in the set any more */
		{ 1, "AB!", "AB!", "A=valid" },
		{ 1, "AB", "A", "B=addpend/1 A=valid" },
		{ 1, "y", "A", "A=missing" },                   /* A speaks, though it is not in the set */
	};
	char *text = lines(dnskey_line('B'), dnskey_line('A'));
	struct world w;

	world_begin(&w, text);
	for (size_t i = 0; i < COUNT(rows); i++) {
		w.now += rows[i].days * DAY;
		step(&w, rows[i].keys, rows[i].signers);
		if (strcmp(keys_of(w.p), rows[i].want) != 0)
			fail_msg("step %zu: %s (%s)", i, keys_of(w.p), w.said);
	}
	autotrust_free(w.p);
	mem_free(text);
}

static void a_point_dies_with_its_last_key(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), dnskey_line('B')), *got, *want, when[DATE_TEXT];
	struct world w;
	unsigned actions;

	world_begin(&w, text);
	assert_int_equal(step(&w, "AB", "AB"), AUTOTRUST_WRITE);
	w.now += DAY;
	/* Not signed by the key itself: no revocation, and nothing to believe the set by. */
	assert_int_equal(step(&w, "A!B!", "B!"), AUTOTRUST_KEYS | AUTOTRUST_WRITE | AUTOTRUST_FAILED);
	assert_string_equal(keys_of(w.p), "B!=revoked A=valid");
	w.now += DAY;
	actions = step(&w, "A!B!", "A!B!");
	assert_int_equal(actions, AUTOTRUST_KEYS | AUTOTRUST_WRITE | AUTOTRUST_GONE);
	assert_string_equal(keys_of(w.p), "B!=revoked A!=revoked");
	assert_true(w.p->revoked);
	assert_null(autotrust_keys(w.p));
	assert_null(autotrust_ds(w.p));
	got = autotrust_print(w.p);
	want = mem_textf("; autotrust trust anchor file\n"
			 ";;REVOKED\n"
			 "; The zone has all keys revoked, and is\n"
			 "; considered as if it has no trust anchors.\n"
			 "; the remainder of the file is the last probe.\n"
			 "; to restart the trust anchor, overwrite this file.\n"
			 "; with one containing valid DNSKEYs or DSes.\n"
			 ";;id: example.com. 1\n"
			 ";;last_queried: 1251272800 ;;%s\n"
			 ";;last_success: 1251272800 ;;%s\n"
			 ";;next_probe_time: 0 ;;Thu Jan  1 00:00:00 1970\n",
			 date_print_ctime(w.now, when), date_print_ctime(w.now, when));
	got[strlen(want)] = '\0';
	assert_string_equal(got, want);
	/* For good: a probe changes nothing, and a file that says so is read as such. */
	w.now += DAY;
	assert_int_equal(step(&w, "AB", "AB"), 0);
	mem_free(got);
	got = autotrust_print(w.p);
	autotrust_free(w.p);
	w.p = autotrust_parse(NULL, got, strlen(got), NULL);
	assert_non_null(w.p);
	assert_true(w.p->revoked);
	assert_null(autotrust_keys(w.p));
	autotrust_free(w.p);
	mem_free(got);
	mem_free(want);
	mem_free(text);
}

static void failures_are_counted_and_tried_sooner(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL);
	struct world w;

	world_begin(&w, text);
	/* Before the first success the file stays as the operator wrote it. */
	assert_int_equal(step(&w, "A", "B"), AUTOTRUST_FAILED);
	assert_int_equal(w.p->query_failed, 1);
	assert_int_equal(w.p->next_probe, START + 3600);
	assert_true(strstr(w.said, "cannot be believed") != NULL);
	w.now += 3600;
	assert_int_equal(autotrust_wait_s(w.p, w.now), 0);
	assert_int_equal(step(&w, "A", "A"), AUTOTRUST_WRITE);
	assert_int_equal(w.p->query_failed, 0);
	assert_int_equal(w.p->query_interval_s, 5400);
	assert_int_equal(w.p->retry_s, 3600);
	assert_int_equal(autotrust_wait_s(w.p, w.now), 5400);
	assert_int_equal(autotrust_wait_s(w.p, 0), 15 * DAY);   /* the clock was set back */
	w.now += 5400;
	assert_int_equal(step(&w, "A", "B"), AUTOTRUST_FAILED | AUTOTRUST_WRITE);
	assert_int_equal(w.p->next_probe, w.now + 3600);
	assert_int_equal(w.p->last_success, w.now - 5400);
	w.now += 3600;
	assert_int_equal(step(&w, NULL, NULL), AUTOTRUST_FAILED);       /* silence is no news */
	assert_int_equal(w.p->query_failed, 2);
	assert_int_equal(autotrust_newest_time(w.p), w.now);
	autotrust_free(w.p);
	mem_free(text);
}

static void probes_are_spread_by_chance(void **state)
{
	(void)state;
	char *text = lines(dnskey_line('A'), NULL);
	bool differ = false;
	struct random r;
	struct world w;

	world_begin(&w, text);
	random_play(&r, 7);
	for (unsigned i = 0; i < 50; i++) {
		struct arena a;
		int purse = 32;
		struct verify_how verify = { .rules = &w.rules, .arena = &a, .signatures = &purse,
					     .now = (uint32_t)START };
		struct autotrust_step s = { .verify = &verify, .how = &w.how, .now = START,
					    .random = &r };
		int64_t before = w.p->next_probe;

		arena_init(&a);
		s.dnskeys = shown(&a, "A", "A", START);
		autotrust_step(w.p, &s);
		arena_clear(&a);
		assert_in_range(w.p->next_probe - START, 4861, 5400);
		differ |= i > 0 && before != w.p->next_probe;
	}
	assert_true(differ);
	autotrust_free(w.p);
	mem_free(text);
}

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
	char folder[] = "autotrust-test-XXXXXX", *path, *aside, *text, *there;
	struct fault f = { .set = false };
	struct autotrust *p;
	struct stat st;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	path = mem_textf("%s/root.key", folder);
	aside = mem_textf("%s.%ld", path, (long)getpid());
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
	assert_int_not_equal(access(aside, F_OK), 0);
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
	mem_free(aside);
}

static void its_times_are_the_operators(void **state)
{
	(void)state;
	struct conf *conf = conf_new();
	struct autotrust_how how;

	autotrust_how_read(&how, conf);
	assert_int_equal(how.add_holddown_s, 30 * DAY);
	assert_int_equal(how.del_holddown_s, 30 * DAY);
	assert_int_equal(how.keep_missing_s, 366 * DAY);
	assert_false(how.small_holddown);
	conf->server.add_holddown = 11;
	conf->server.del_holddown = 22;
	conf->server.keep_missing = 33;
	conf->server.permit_small_holddown = true;
	autotrust_how_read(&how, conf);
	assert_int_equal(how.add_holddown_s, 11);
	assert_int_equal(how.del_holddown_s, 22);
	assert_int_equal(how.keep_missing_s, 33);
	assert_true(how.small_holddown);
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(its_times_are_the_operators),
		cmocka_unit_test(a_key_rolls),
		cmocka_unit_test(what_vouches_for_the_first_set),
		cmocka_unit_test(what_is_missing_waits),
		cmocka_unit_test(a_point_dies_with_its_last_key),
		cmocka_unit_test(failures_are_counted_and_tried_sooner),
		cmocka_unit_test(probes_are_spread_by_chance),
		cmocka_unit_test(the_file_is_the_one_everybody_knows),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
