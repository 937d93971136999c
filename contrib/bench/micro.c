/* Small pieces of work, each done again and again, for callgrind to count.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: micro WHAT TIMES; WHAT is a name in the table below. Under valgrind --tool=callgrind with
 * --toggle-collect='do_*', instructions divided by TIMES are what one costs (contrib/bench/
 * micro_count does that for all of them). The answer worked on is one a hosting company's server
 * gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iterator/scrub.h"
#include "services/blocklist/table.h"
#include "services/local/zones.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

static struct {
	uint8_t name[DNAME_MAX], same[DNAME_MAX], zone[DNAME_MAX], listed[DNAME_MAX];
	uint8_t question[128], answer[512];
	size_t question_len, answer_len;
	struct question q;
	struct message whole;
	const struct rrset *sets[8];
	struct question blocked;
	struct localzones *zones;
	struct blocklist_table *list;
	struct snapshot snapshot;
	struct arena arena, turn;
	uint64_t sum; /* so that nothing is done for nothing */
} on;

static void add_set(const char *text, enum section section)
{
	struct text_rr rr;
	struct fault f = { 0 };

	if (!text_rr_parse(&on.arena, text, NULL, &rr, &f))
		PANIC("%s: %s", text, f.text);
	on.sets[message_set_count(&on.whole)] =
		rrset_build(&on.arena, &(struct rrset_parts){ .owner = rr.owner,
							      .type = rr.type,
							      .class_ = CLASS_IN,
							      .ttl_s = rr.ttl_s,
							      .expires_s = 1 + rr.ttl_s,
							      .records = &rr.rdata,
							      .count = 1 });
	on.whole.count[section]++;
}

#define BLOCKED 20000 /* names in the list */

static void prepare_blocked(void)
{
	struct conf *conf = conf_new();
	struct conf_how how = { .no_files = true };
	struct conf_report report = { 0 };
	struct fault f = { 0 };
	struct blocklist_table_maker *list = blocklist_table_begin();
	char *text = mem_new(BLOCKED * 64);
	size_t len = (size_t)sprintf(text, "server:\n");

	for (unsigned n = 0; n < BLOCKED; n++) {
		uint8_t name[DNAME_MAX];

		sprintf(text + len, "track%u.example.net.", n);
		dname_parse(name, text + len, NULL);
		blocklist_table_rule(
			list, &(struct blocklist_rule){ .name = name, .bits = BLOCKLIST_BLOCK });
	}
	on.list = blocklist_table_make(list, 1);
	for (unsigned n = 0; n < BLOCKED; n++)
		len += (size_t)sprintf(text + len,
				       "local-zone: track%u.example.net always_nxdomain\n", n);
	PROMISE(conf_load_text(conf, "list", text, len, &how, &report));
	on.zones = localzones_new(&(struct localzones_how){ .zones = &conf->server.local_zone,
							    .data = &conf->server.local_data,
							    .ptrs = &conf->server.local_data_ptr,
							    .conf = conf },
				  &f);
	PROMISE(on.zones);
	on.blocked = (struct question){ .name = on.listed, .type = TYPE_A, .class_ = CLASS_IN };
	on.blocked.name_len = (uint16_t)dname_parse(on.listed, "www.track4711.example.net.", NULL);
	mem_free(text);
	conf_report_clear(&report);
	conf_free(conf);
}

static void prepare(void)
{
	struct edns opt = { .present = true, .udp_size = 1232 };
	struct msg_style style = { .now_s = 1 };
	struct writer w;

	arena_init(&on.arena);
	arena_init(&on.turn);
	on.snapshot.conf = conf_new();
	on.q = (struct question){ .name = on.name, .type = TYPE_A, .class_ = CLASS_IN };
	on.q.name_len = (uint16_t)dname_parse(on.name, "www.amber-bridge17.example.com.", NULL);
	dname_parse(on.same, "WWW.Amber-Bridge17.Example.com.", NULL);
	dname_parse(on.zone, "amber-bridge17.example.com.", NULL);
	on.whole = (struct message){ .flags = FLAG_QR | FLAG_AA, .q = on.q, .sets = on.sets };
	add_set("www.amber-bridge17.example.com. 300 A 192.0.2.1", SECTION_ANSWER);
	add_set("amber-bridge17.example.com. 300 NS ns1.amber-bridge17.example.com.",
		SECTION_AUTHORITY);
	add_set("ns1.amber-bridge17.example.com. 300 A 192.0.2.53", SECTION_ADDITIONAL);
	w = writer_over(on.answer, sizeof(on.answer));
	msg_write(&w, &on.whole, &style);
	on.answer_len = writer_len(&w);
	w = writer_over(on.question, sizeof(on.question));
	msg_write_query(&w, 1, FLAG_RD, &on.q, &opt);
	on.question_len = writer_len(&w);
	prepare_blocked();
}

/* ---- the pieces ---- */

#define PIECE __attribute__((noinline)) static void

PIECE do_parse_question(void)
{
	struct request r;

	PROMISE(msg_read_request(on.question, on.question_len, &r) == REQUEST_GOOD);
	on.sum += r.q.name_len;
}

PIECE do_hash(void)
{
	on.sum += hash_dname(on.name, on.q.name_len, TYPE_A);
}

PIECE do_compare_names(void)
{
	on.sum += dname_equals_len(on.name, on.q.name_len, on.same, on.q.name_len);
}

PIECE do_encode(void)
{
	uint8_t wire[512];
	struct msg_style style = { .now_s = 1 };
	struct writer w = writer_over(wire, sizeof(wire));

	msg_write(&w, &on.whole, &style);
	on.sum += writer_len(&w);
}

PIECE do_blocklist(void)
{
	struct suffixes s;
	struct blocklist_match m;

	suffixes_find(&s, on.listed, 1, blocklist_table_deepest(on.list));
	PROMISE(blocklist_table_find(on.list, &s, TYPE_A, NULL, &m) == BLOCKLIST_BLOCKS);
	on.sum += m.labels;
}

PIECE do_localzone(void)
{
	struct localzone_match m;

	PROMISE(localzones_concern(on.zones, on.listed) &&
		localzones_find(on.zones, &on.blocked, NULL, &m));
	on.sum += m.type;
}

PIECE do_parse_answer(struct message *m)
{
	PROMISE(msg_parse(on.answer, on.answer_len, &on.turn, 1, m));
}

PIECE do_scrub(struct message *m)
{
	PROMISE(scrub(m, &(struct scrub_how){ .asked = &on.q,
					      .zone = on.zone,
					      .snapshot = &on.snapshot,
					      .arena = &on.turn }));
}

static void parse_answer(void)
{
	struct message m;

	do_parse_answer(&m);
	arena_clear(&on.turn);
}

static void scrub_answer(void)
{
	struct message m;

	PROMISE(msg_parse(on.answer, on.answer_len, &on.turn, 1, &m));
	do_scrub(&m);
	arena_clear(&on.turn);
}

static const struct {
	const char *name;
	void (*work)(void);
} pieces[] = {
	{ "parse_question", do_parse_question }, { "hash", do_hash },
	{ "compare_names", do_compare_names },   { "encode", do_encode },
	{ "parse_answer", parse_answer },        { "scrub", scrub_answer },
	{ "blocklist", do_blocklist },           { "localzone", do_localzone },
};

int main(int argc, char **argv)
{
	unsigned long times = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	hash_start(true);
	prepare();
	for (size_t i = 0; times && i < COUNT(pieces); i++) {
		if (strcmp(argv[1], pieces[i].name) != 0)
			continue;
		for (unsigned long n = 0; n < times; n++)
			pieces[i].work();
		return on.sum == 1;
	}
	fprintf(stderr, "usage: micro WHAT TIMES; WHAT is one of");
	for (size_t i = 0; i < COUNT(pieces); i++)
		fprintf(stderr, " %s", pieces[i].name);
	fprintf(stderr, "\n");
	return 2;
}
