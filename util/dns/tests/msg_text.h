/* Messages from text and told as text, for tests of reading and writing them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_TESTS_MSG_TEXT_H
#define UTIL_DNS_TESTS_MSG_TEXT_H

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/tests/wire.h"

/* Pieces of a question on the wire: id, flags, counts, name with type and class, OPT record. */
#define ID    "\253\315"
#define RD    "\1\0"
#define ONE_Q "\0\1\0\0\0\0\0\0"
#define Q_OPT "\0\1\0\0\0\0\0\1"
#define WWW   "\3wWw\2cz\0\0\1\0\1"
#define OPT   "\0\0\51\4\320\0\0\200\0\0\0"

/* A message from text: records of the sections stand line by line, uncompressed,
 * "-" begins the next section. */
static inline size_t compose(uint8_t *to, size_t room, uint16_t flags, const char *question,
			     const char *records)
{
	struct writer w = writer_over(to, room);
	char *copy = mem_text(records), *line, *rest = copy;
	unsigned section = 0;
	uint16_t counts[3] = { 0, 0, 0 };
	struct arena a;

	arena_init(&a);
	write_u16(&w, 0x1234);
	write_u16(&w, flags);
	write_u16(&w, 1);
	write_room(&w, 6);
	write_bytes(&w, N(question), dname_len(N(question)));
	write_u16(&w, TYPE_A);
	write_u16(&w, CLASS_IN);
	while ((line = strsep(&rest, "\n"))) {
		struct text_rr rr;
		if (*line == '\0')
			continue;
		if (strcmp(line, "-") == 0) {
			section++;
			continue;
		}
		assert_true(text_rr_parse(&a, line, NULL, &rr, NULL));
		write_bytes(&w, rr.owner, dname_len(rr.owner));
		write_u16(&w, rr.type);
		write_u16(&w, rr.class_);
		write_u32(&w, rr.ttl_s);
		write_u16(&w, (uint16_t)rr.rdata.len);
		write_bytes(&w, rr.rdata.at, rr.rdata.len);
		counts[section]++;
	}
	for (unsigned i = 0; i < 3; i++)
		put_u16(to + 6 + 2 * i, counts[i]);
	arena_clear(&a);
	mem_free(copy);
	assert_false(w.bad);
	return writer_len(&w);
}

/* "owner type records+signatures ttl" of each set, "-" between sections. */
static inline const char *describe(const struct message *m)
{
	static char text[65536];
	size_t at = 0;

	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		unsigned count;
		const struct rrset **sets = message_section(m, (enum section)s, &count);
		for (unsigned i = 0; i < count; i++) {
			char name[DNAME_TEXT], type[16];
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %u+%u %u\n",
					       dname_print(rrset_owner(sets[i]), name),
					       rr_type_name(sets[i]->type, type), sets[i]->count,
					       sets[i]->sig_count, (unsigned)sets[i]->ttl_s);
		}
		if (s < SECTION_ADDITIONAL)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "-\n");
	}
	return text;
}

/* A line that signs a set of `type`. */
#define SIG(type) " 60 RRSIG " type " 13 2 60 20300101000000 20200101000000 1 a. AAAA\n"

#endif
