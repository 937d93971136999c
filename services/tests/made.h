/* Record sets and messages from text, for tests of this floor.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_TESTS_MADE_H
#define SERVICES_TESTS_MADE_H

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/denial.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/tests/wire.h"

#define MADE_SETS 32
#define MADE_RRS  320

static inline bool made_is_at_apex(struct slice nsec)
{
	size_t next = dname_len(nsec.at);

	return types_hold((struct slice){ nsec.at + next, nsec.len - next }, TYPE_SOA);
}

/* Sets of the records in `text`, a line each, those of one owner and type together, RRSIGs with
 * what they cover; appended to `sets`. Returns how many. */
static inline unsigned made_sets(struct arena *a, uint32_t now_s, const char *text,
				 const struct rrset **sets)
{
	struct text_rr rr[MADE_RRS];
	bool used[MADE_RRS] = { false };
	unsigned rrs = 0, count = 0;

	for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
		struct fault f = { 0 };
		char line[512];

		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (!text_rr_parse(a, line, NULL, &rr[rrs++], &f))
			fail_msg("'%s': %s", line, f.text);
	}
	for (unsigned i = 0; i < rrs; i++) {
		struct slice records[MADE_RRS], sigs[MADE_RRS];
		struct rrset_parts p = {
			.owner = rr[i].owner,
			.type = rr[i].type,
			.class_ = rr[i].class_,
			.ttl_s = rr[i].ttl_s,
			.expires_s = now_s + rr[i].ttl_s,
			.records = records,
			.sigs = sigs,
			.trust = TRUST_ANS_AA,
		};

		if (used[i])
			continue;
		for (unsigned j = i; j < rrs; j++) {
			if (used[j] || !dname_equals(rr[j].owner, rr[i].owner))
				continue;
			if (rr[j].type == rr[i].type) {
				records[p.count++] = rr[j].rdata;
				used[j] = true;
			} else if (rr[j].type == TYPE_RRSIG &&
				   get_u16(rr[j].rdata.at) == rr[i].type) {
				sigs[p.sig_count++] = rr[j].rdata;
				used[j] = true;
			}
		}
		if (p.type == TYPE_NSEC && made_is_at_apex(records[0]))
			p.flags = RRSET_NSEC_AT_APEX;
		sets[count++] = rrset_build(a, &p);
	}
	return count;
}

static inline struct rrset *made_set(struct arena *a, uint32_t now_s, const char *text)
{
	const struct rrset *sets[MADE_SETS];

	assert_int_equal(made_sets(a, now_s, text, sets), 1);
	return (struct rrset *)(uintptr_t)sets[0];
}

static inline struct question made_question(const char *name, uint16_t type)
{
	uint8_t *wire = N(name);

	return (struct question){ .name = wire,
				  .name_len = (uint16_t)dname_len(wire),
				  .type = type,
				  .class_ = CLASS_IN };
}

/* So many addresses of one name. */
static inline struct rrset *made_addresses(struct arena *a, uint32_t now_s, const char *name,
					   unsigned count)
{
	struct slice *records = arena_array(a, struct slice, count);
	struct rrset_parts p = { .owner = N(name),
				 .type = TYPE_A,
				 .class_ = CLASS_IN,
				 .ttl_s = 300,
				 .expires_s = now_s + 300,
				 .records = records,
				 .count = count,
				 .trust = TRUST_ANS_AA };

	for (unsigned i = 0; i < count; i++) {
		uint8_t *ip = arena_take(a, 4);

		put_u32(ip, 0x0a000000 + i);
		records[i] = (struct slice){ .at = ip, .len = 4 };
	}
	return rrset_build(a, &p);
}

struct made {
	const char *name;
	uint16_t type;
	uint8_t rcode;
	const char *section[3]; /* NULL: empty */
};

static inline struct message *made_message(struct arena *a, uint32_t now_s, const struct made *how)
{
	struct message *m = arena_new(a, struct message);
	const struct rrset **sets = arena_array(a, const struct rrset *, MADE_SETS);
	unsigned count = 0;

	m->q = made_question(how->name, how->type);
	m->q.name = arena_copy(a, m->q.name, m->q.name_len);
	m->rcode = how->rcode;
	m->sets = sets;
	for (int s = 0; s < 3; s++) {
		if (!how->section[s])
			continue;
		m->count[s] = (uint16_t)made_sets(a, now_s, how->section[s], sets + count);
		count += m->count[s];
	}
	return m;
}

#endif
