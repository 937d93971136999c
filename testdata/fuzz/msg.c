/* Any bytes at all from a server: what is read as a message is written and read again
 * as the same message, in whole and for every room that is too small.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/msg.h"

#include "testdata/fuzz/same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Names and data may come to more than 64 KiB once they are decompressed. */
#define ROOM (1u << 22)

static uint8_t written[ROOM];
static uint16_t offsets[1 << 16];

static void check_slices(const struct rrset *s, struct rrset_walk walk, uint16_t type)
{
	const uint8_t *end = (const uint8_t *)s + s->size;

	for (struct slice rd; rrset_next(&walk, &rd);) {
		PROMISE(rd.at + rd.len <= end);
		PROMISE(rr_rdata_is_whole(type, rd.at, rd.len));
	}
}

static void check_set(const struct rrset *s)
{
	PROMISE(dname_measure(rrset_owner(s), rrset_owner(s) + s->owner_len) == s->owner_len);
	PROMISE(s->count > 0 && s->ttl_s <= INT32_MAX && s->expires_s == 1000 + s->ttl_s);
	check_slices(s, rrset_records(s), s->type);
	check_slices(s, rrset_sigs(s), TYPE_RRSIG);
	PROMISE(rrset_same_records(s, s));
}

/* The first sets of `m`, whole and in order. */
static void check_beginning(const struct message *m, const struct message *begin, struct same how)
{
	unsigned at = 0;

	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		unsigned count, all;
		const struct rrset **got = message_section(begin, (enum section)s, &count);
		const struct rrset **want = message_section(m, (enum section)s, &all);
		PROMISE(count <= all);
		for (unsigned i = 0; i < count; i++, at++) {
			PROMISE(got[i]->ttl_s == want[i]->ttl_s);
			PROMISE(same_set(got[i], want[i], how) && same_sigs(got[i], want[i], how));
		}
	}
	PROMISE(at == message_set_count(begin));
}

static size_t write_again(const struct message *m, size_t room, struct msg_style *style)
{
	struct writer w = writer_over(written, room);

	*style = (struct msg_style){ .now_s = 1000,
				     .with_dnssec = true,
				     .ttl_offsets = offsets,
				     .ttl_room = COUNT(offsets) };
	msg_write(&w, m, style);
	PROMISE(w.bad || writer_len(&w) == style->end[SECTION_ADDITIONAL]);
	PROMISE(style->end[SECTION_ADDITIONAL] <= room);
	PROMISE(style->ttl_count ==
		(size_t)style->rr_count[0] + style->rr_count[1] + style->rr_count[2]);
	return w.bad ? 0 : writer_len(&w);
}

static void check_written(struct arena *a, const struct message *m)
{
	struct message again;
	struct msg_style style;
	struct same how = { .spelling = same_is_spelled_once(m), .order = true };
	size_t len = write_again(m, ROOM, &style);

	PROMISE(len >= MSG_HEAD_LEN);
	PROMISE(msg_parse(written, len, a, 1000, &again));
	PROMISE(message_set_count(&again) == message_set_count(m));
	PROMISE(again.id == m->id && again.flags == m->flags && again.opcode == m->opcode);
	PROMISE(question_equals(&again.q, &m->q) && again.rcode == (m->rcode & 15));
	PROMISE(!m->q.name_len || memcmp(again.q.name, m->q.name, m->q.name_len) == 0);
	check_beginning(m, &again, how);
	if (!same_when_shorter(m))
		return;
	for (size_t room = len / 8; room < len; room += len / 8 + 1) {
		write_again(m, room, &style);
		size_t end = style.end[SECTION_ADDITIONAL];
		if (end == 0)
			continue;
		PROMISE(msg_parse(written, end, a, 1000, &again));
		check_beginning(m, &again, how);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct message m;
	struct arena a;

	if (len > MSG_MAX)
		return 0;
	arena_init(&a);
	if (msg_parse(data, len, &a, 1000, &m)) {
		for (unsigned i = 0; i < message_set_count(&m); i++)
			check_set(m.sets[i]);
		check_written(&a, &m);
	} else {
		PROMISE(len < MSG_HEAD_LEN || get_u16(data + 4) || get_u32(data + 6) ||
			get_u16(data + 10));
	}
	arena_clear(&a);
	return 0;
}
