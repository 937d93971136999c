/* What this project's lists say of names: one of the judges of testdata/lists/differential.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads "list N" and N lines of a list, "ask NAME TYPE CLIENT" ("-": none); writes a line for each
 * question: "pass", "block", or the parts of the answer, sorted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/blocklist/special.h"
#include "services/blocklist/table.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/net/addr.h"

#define SEED 4711

static struct blocklist_table *read_list(unsigned lines)
{
	struct blocklist_table_maker *m = blocklist_table_begin();
	struct blocklist_how how = { .rule = blocklist_table_rule, .arg = m };
	struct blocklist_reader *r = blocklist_reader_new(&how);
	struct fault f = { 0 };
	char line[5000];

	while (lines-- && fgets(line, sizeof(line), stdin))
		PROMISE(blocklist_reader_take(r, line, strlen(line), &f));
	(void)!blocklist_reader_end(r, &f);
	blocklist_reader_free(r);
	return blocklist_table_make(m, SEED);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void write_answer(const struct blocklist_match *m)
{
	static char parts[BLOCKLIST_REWRITES][600];

	for (unsigned i = 0; i < m->rewrites; i++) {
		const struct blocklist_rewrite *w = m->rewrite[i];
		char line[600], rcode[16];

		if (w->type) {
			(void)text_rr_print(line, sizeof(line), dname_root, 0, CLASS_IN, w->type,
					    (struct slice){ w->data, w->len });
			snprintf(parts[i], sizeof(parts[i]), "%s", strstr(line, "IN\t") + 3);
		} else {
			snprintf(parts[i], sizeof(parts[i]), "%s", rr_rcode_name(w->rcode, rcode));
		}
	}
	qsort(parts, m->rewrites, sizeof(parts[0]), by_text);
	for (unsigned i = 0; i < m->rewrites; i++)
		printf("%s%s", i ? "; " : "", parts[i]);
}

static void ask(const struct blocklist_table *t, const char *name, const char *type_word, const char *from)
{
	uint8_t wire[DNAME_MAX];
	struct blocklist_match m;
	struct suffixes q;
	struct addr a;
	uint16_t type;

	PROMISE(dname_parse(wire, name, NULL) && rr_type_parse(type_word, &type));
	PROMISE(*from == '-' || addr_parse(&a, from, 0, NULL));
	suffixes_find(&q, wire, SEED, blocklist_table_deepest(t));
	if (blocklist_table_find(t, &q, type, *from == '-' ? NULL : &a, &m) != BLOCKLIST_BLOCKS)
		printf("pass");
	else if (m.rewrites)
		write_answer(&m);
	else
		printf("block");
	printf("\n");
}

int main(void)
{
	struct blocklist_table *t = NULL;
	char line[1000], a[600], b[64], c[64];
	unsigned lines;

	rcu_thread_join();
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "list %u", &lines) == 1) {
			blocklist_table_unpin(t);
			t = read_list(lines);
		} else if (t && sscanf(line, "ask %599s %63s %63s", a, b, c) == 3) {
			ask(t, a, b, c);
		}
	}
	blocklist_table_unpin(t);
	rcu_flush();
	rcu_thread_leave();
	return 0;
}
