/* Any bytes as a list: every rule has a whole name, the table finds it, and where the bytes are cut
 * makes no difference. Any text as modifiers of a rule; any bytes as a saved table.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The first byte says which, and how: 0x80 a saved table, 0x40 modifiers, else a list, of which
 * bits 0 to 3 are options and the rest is where it is cut. */
#include "services/blocklist/table.h"

#include <stdio.h>

#include "services/blocklist/clients.h"
#include "services/blocklist/special.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"

#define SEED 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* ---- lists ---- */

enum { RULES_MOST = 500 };

struct seen {
	struct blocklist_table_maker *m;
	struct {
		uint8_t name[DNAME_MAX];
		uint8_t bits;
		bool operators;
	} rules[RULES_MOST];
	size_t count, all, removals;
	uint64_t sum;
};

static void on_rule(void *arg, const struct blocklist_rule *r)
{
	struct seen *s = arg;
	size_t len = dname_measure(r->name, r->name + DNAME_MAX);

	PROMISE(len > 1 && r->bits);
	for (size_t i = 0; i < len; i++) {
		PROMISE(r->name[i] < 'A' || r->name[i] > 'Z');
		s->sum = (s->sum ^ r->name[i]) * UINT64_C(0x100000001b3);
	}
	s->sum = (s->sum ^ r->bits) * UINT64_C(0x100000001b3);
	s->all++;
	s->removals += r->removes;
	if (s->m)
		blocklist_table_rule(s->m, r);
	if (s->count < RULES_MOST && !r->special && !r->removes && !r->policy) {
		memcpy(s->rules[s->count].name, r->name, len);
		s->rules[s->count].operators = r->operators;
		s->rules[s->count++].bits = r->bits;
	}
}

static void on_policy(void *arg, unsigned number, const char *text)
{
	struct seen *s = arg;

	PROMISE(number <= BLOCKLIST_POLICIES && (text != NULL) == (number != 0));
	PROMISE(!text || strlen(text) <= BLOCKLIST_POLICY_TEXT);
	for (; text && *text; text++)
		s->sum = (s->sum ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	if (s->m)
		blocklist_table_policy(s->m, number, text ? text : "");
}

static bool read_list(const uint8_t *data, size_t len, unsigned how, size_t step, struct seen *s)
{
	struct blocklist_how h = { .tops = how & 1,
				   .allow = how & 2,
				   .rows = (enum blocklist_rows)(how >> 2 & 3),
				   .rule = on_rule,
				   .policy = on_policy,
				   .arg = s };
	struct blocklist_reader *r = blocklist_reader_new(&h);
	struct fault f = { 0 };
	bool good = true;

	for (size_t i = 0; good && i < len; i += step)
		good = blocklist_reader_take(r, (const char *)data + i, MIN(step, len - i), &f);
	good = good && blocklist_reader_end(r, &f);
	PROMISE(good != f.set);
	blocklist_reader_free(r);
	return good;
}

static void check_found(const struct blocklist_table *t, const struct seen *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct blocklist_match m = { 0 };
		struct suffixes q;
		enum blocklist_verdict v;

		suffixes_find(&q, s->rules[i].name, SEED, blocklist_table_deepest(t));
		v = blocklist_table_find(t, &q, TYPE_A, NULL, &m);
		PROMISE(s->removals || s->rules[i].operators || blocklist_table_mentions(t, &q));
		if (s->rules[i].bits & 0x55 && !s->removals) /* for the name itself */
			PROMISE(v != BLOCKLIST_SAYS_NOTHING && m.labels > 0 && m.labels <= q.count);
	}
}

static void check_list(const uint8_t *data, size_t len, uint8_t how)
{
	static struct seen whole, cut;
	bool good;
	struct blocklist_table *t;

	memset(&whole, 0, sizeof(whole));
	memset(&cut, 0, sizeof(cut));
	whole.m = blocklist_table_begin();
	good = read_list(data, len, how, len + 1, &whole);
	PROMISE(read_list(data, len, how, 1 + how / 4u, &cut) == good);
	/* A list that turns out to be none may have told more of its rules when it came in one piece. */
	PROMISE(!good || (cut.sum == whole.sum && cut.all == whole.all));
	t = blocklist_table_make(whole.m, SEED);
	check_found(t, &whole);
	blocklist_table_unpin(t);
}

/* ---- tables ---- */

struct file {
	const uint8_t *at;
	size_t left;
};

static bool get(void *file, void *to, size_t len)
{
	struct file *f = file;

	if (len > f->left)
		return false;
	memcpy(to, f->at, len);
	f->at += len;
	f->left -= len;
	return true;
}

static void check_table(const uint8_t *data, size_t len)
{
	static const uint8_t *const names[] = { (const uint8_t *)"\3www\3ads\7example",
						(const uint8_t *)"\1a", dname_root };
	struct file f = { data, len };
	uint64_t seed = 0;
	struct blocklist_table *t = blocklist_table_load(get, &f, len, &seed);

	for (size_t i = 0; t && i < COUNT(names); i++) {
		struct blocklist_match m;
		struct suffixes q;

		suffixes_find(&q, names[i], seed, blocklist_table_deepest(t));
		(void)blocklist_table_find(t, &q, TYPE_A, NULL, &m);
	}
	blocklist_table_unpin(t);
}

/* ---- modifiers ---- */

static void check_special(const uint8_t *data, size_t len)
{
	char text[600];
	struct blocklist_special s;
	struct addr a = { .family = 4 };

	len = MIN(len, sizeof(text) - 1);
	memcpy(text, data, len);
	text[len] = '\0';
	if (!blocklist_special_parse(&s, text))
		return;
	PROMISE(!s.rewrite || s.rewrite->type != TYPE_CNAME ||
		dname_measure(s.rewrite->data, s.rewrite->data + s.rewrite->len) == s.rewrite->len);
	(void)blocklist_special_meets(&s, &(struct blocklist_asked){ dname_root, TYPE_A, &a });
	(void)blocklist_special_meets(&s, &(struct blocklist_asked){ dname_root, TYPE_A, NULL });
	blocklist_special_clear(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool joined;

	if (!joined)
		rcu_thread_join();
	joined = true;
	if (len == 0)
		return 0;
	if (data[0] & 0x80)
		check_table(data + 1, len - 1);
	else if (data[0] & 0x40)
		check_special(data + 1, len - 1);
	else
		check_list(data + 1, len - 1, data[0]);
	return 0;
}
