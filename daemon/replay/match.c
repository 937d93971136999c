/* Entries of a scenario: matching packets, adjusting replies to a query.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/entry.h"

#include <stdio.h>
#include <string.h>

#include "daemon/replay/rrs.h"
#include "util/base/arena.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

/* ---- comparing ---- */

#define DIFFER(...) \
	do { \
		if (why) \
			snprintf(why, why_len, __VA_ARGS__); \
		return false; \
	} while (0)

/* Remove the first such option from the message's OPT, in a copy; false if there is none. `number`:
 * INFO-CODE for EDE (or EDE_ANY), value length for COOKIE. */
static bool take_option(struct flat_message *m, struct arena *a, uint16_t wanted, int number)
{
	struct reader r = reader_over(m->edns.options.at, m->edns.options.len);
	uint8_t *room = arena_take(a, m->edns.options.len + 1);
	struct writer w = writer_over(room, m->edns.options.len);
	uint16_t code;
	struct slice value;
	bool found = false;

	while (reader_left(&r) && edns_next_option(&r, &code, &value)) {
		bool is_it = code == wanted;

		if (is_it && wanted == EDNS_EDE && number != EDE_ANY)
			is_it = value.len >= 2 && get_u16(value.at) == number;
		if (is_it && wanted == EDNS_COOKIE)
			is_it = (int)value.len == number;
		if (is_it && !found)
			found = true;
		else
			edns_write_option(&w, code, value.at, value.len);
	}
	m->edns.options = (struct slice){ room, writer_len(&w) };
	return found;
}

static bool slice_equals(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static bool qname_equals_text(const uint8_t *a, const uint8_t *b)
{
	return a && b && dname_len(a) == dname_len(b) && memcmp(a, b, dname_len(a)) == 0;
}

/* Of a question of ours the case does not count: Unbound's player has the configuration's spelling,
 * and none at random (use-caps-for-id). */
static bool qname_fits(const uint8_t *name, const uint8_t *written, bool asked)
{
	return asked ? name && written && dname_equals(name, written)
		     : qname_equals_text(name, written);
}

static bool question_same(const struct flat_message *p, const struct flat_message *e)
{
	if (p->questions != e->questions)
		return false;
	return p->questions == 0 || (p->qtype == e->qtype && p->qclass == e->qclass &&
				     dname_equals(p->qname, e->qname));
}

static bool edns_same(const struct flat_message *p, const struct flat_message *e, bool with_flags)
{
	if (p->edns.present != e->edns.present)
		return false;
	return !p->edns.present ||
	       (p->edns.udp_size == e->edns.udp_size &&
		slice_equals(p->edns.options, e->edns.options) &&
		(!with_flags || (p->edns.flags == e->edns.flags &&
				 p->edns.ext_rcode == e->edns.ext_rcode &&
				 p->edns.version == e->edns.version)));
}

static bool section_fits(const struct flat_message *p, const struct flat_message *e,
			 unsigned section, bool ttl, bool ordered, char *why, size_t why_len)
{
	static const char *const names[] = { "answer", "authority", "additional" };

	if (flat_section_equals(p, e, section, ttl, ordered))
		return true;
	if (p->count[section] != e->count[section])
		DIFFER("%s has %u records, not %u", names[section], p->count[section],
		       e->count[section]);
	for (unsigned i = 0; i < e->count[section]; i++) {
		bool there = false;
		char text[160];

		for (unsigned j = 0; j < p->count[section] && !there; j++)
			there = flat_rr_equals(&p->rrs[section][j], &e->rrs[section][i], ttl);
		if (!there) {
			flat_rr_print(&e->rrs[section][i], text, sizeof(text));
			DIFFER("%s lacks %s", names[section], text);
		}
	}
	DIFFER("%s is in another order", names[section]);
}

static bool nsid_same(const struct flat_message *p, const struct flat_message *m)
{
	struct slice mine, theirs;
	bool has = edns_find_option(&p->edns, EDNS_NSID, &mine);

	return has == edns_find_option(&m->edns, EDNS_NSID, &theirs) &&
	       (!has || slice_equals(mine, theirs));
}

static bool serial_is(const struct flat_message *p, uint32_t serial)
{
	const struct flat_rr *soa = p->count[SECTION_AUTHORITY] ? &p->rrs[SECTION_AUTHORITY][0] : NULL;

	return soa && soa->type == TYPE_SOA && soa->rdata.len >= 20 &&
	       get_u32(soa->rdata.at + soa->rdata.len - 20) == serial;
}

/* The words that mean the same in both dialects. */
static bool header_fits(unsigned match, const struct flat_message *p, const struct flat_message *m,
			char *why, size_t why_len)
{
	const uint16_t header = FLAG_QR | FLAG_AA | FLAG_TC | FLAG_RD | FLAG_RA | FLAG_AD | FLAG_CD;

	if ((match & MATCH_OPCODE) && (p->flags & 0x7800) != (m->flags & 0x7800))
		DIFFER("another opcode");
	if ((match & MATCH_QTYPE) && p->qtype != m->qtype)
		DIFFER("qtype %u, not %u", p->qtype, m->qtype);
	if ((match & MATCH_QCASE) && !qname_equals_text(p->qname, m->qname))
		DIFFER("qname in another case");
	if ((match & MATCH_SUBDOMAIN) && m->qname &&
	    (!p->qname || !dname_is_under(p->qname, m->qname)))
		DIFFER("qname is not below");
	if ((match & MATCH_FLAGS) && (p->flags & header) != (m->flags & header))
		DIFFER("flags %04x, not %04x", p->flags & header, m->flags & header);
	return true;
}

static bool edns_fits(const struct entry *e, const struct flat_message *p,
		      const struct flat_message *m, char *why, size_t why_len)
{
	unsigned match = e->match;

	if ((match & MATCH_DO) && !(p->edns.flags & EDNS_DO))
		DIFFER("DO is not set");
	if ((match & MATCH_CO) && !(p->edns.flags & EDNS_CO))
		DIFFER("CO is not set");
	if ((match & MATCH_NOEDNS) && p->edns.present)
		DIFFER("there is an OPT");
	if ((match & MATCH_EDNSDATA) && !slice_equals(p->edns.options, m->edns.options))
		DIFFER("EDNS options differ");
	if ((match & MATCH_EDNS) &&
	    (p->edns.present != m->edns.present || p->edns.version != m->edns.version ||
	     p->edns.udp_size != m->edns.udp_size))
		DIFFER("another OPT");
	if ((match & MATCH_NSID) && !nsid_same(p, m))
		DIFFER("another NSID");
	if ((match & MATCH_SERIAL) && !serial_is(p, e->serial))
		DIFFER("serial is not %u", e->serial);
	return true;
}

static bool transport_fits(unsigned match, bool tcp, char *why, size_t why_len)
{
	if ((match & MATCH_UDP) && tcp)
		DIFFER("it came over TCP");
	if ((match & MATCH_TCP) && !tcp)
		DIFFER("it came over UDP");
	return true;
}

static bool sections_fit(unsigned match, const struct flat_message *p, const struct flat_message *m,
			 bool ttl, bool ordered, char *why, size_t why_len)
{
	static const unsigned bits[] = { MATCH_ANSWER, MATCH_AUTHORITY, MATCH_ADDITIONAL };

	for (unsigned s = 0; s < 3; s++)
		if ((match & bits[s]) && !section_fits(p, m, s, ttl, ordered, why, why_len))
			return false;
	return true;
}

/* Match by the words of Deckard's dialect. */
static bool deckard_fits(const struct entry *e, const struct flat_message *p,
			 const struct flat_message *m, char *why, size_t why_len)
{
	unsigned match = e->match;

	if (match & MATCH_ALL)
		match |= MATCH_OPCODE | MATCH_QTYPE | MATCH_QNAME | MATCH_FLAGS | MATCH_RCODE |
			 MATCH_ANSWER | MATCH_AUTHORITY | MATCH_ADDITIONAL;
	if (match & MATCH_QUESTION)
		match |= MATCH_QTYPE | MATCH_QNAME;
	if (!header_fits(match, p, m, why, why_len))
		return false;
	if ((match & MATCH_QNAME) &&
	    (p->questions != m->questions || (m->questions && !dname_equals(p->qname, m->qname))))
		DIFFER("another qname");
	if ((match & MATCH_RCODE) && p->rcode != m->rcode)
		DIFFER("rcode %u, not %u", p->rcode, m->rcode);
	return sections_fit(match, p, m, false, false, why, why_len);
}

/* Match by the words of Unbound's dialect. */
static bool unbound_fits(const struct entry *e, const struct flat_message *p,
			 const struct flat_message *m, const struct entry_how *how, char *why,
			 size_t why_len)
{
	unsigned match = e->match;
	bool ttl = match & MATCH_TTL;

	if (!header_fits(match, p, m, why, why_len))
		return false;
	if ((match & MATCH_QNAME) && !qname_fits(p->qname, m->qname, how->asked))
		DIFFER("another qname");
	if ((match & MATCH_RCODE) && (p->flags & 15) != (m->flags & 15))
		DIFFER("rcode %u, not %u", p->flags & 15, m->flags & 15);
	if ((match & MATCH_QUESTION) && !question_same(p, m))
		DIFFER("another question");
	if (match & (MATCH_ALL | MATCH_ALL_NOEDNS)) {
		if (p->flags != m->flags)
			DIFFER("flags and rcode %04x, not %04x", p->flags, m->flags);
		if (!question_same(p, m))
			DIFFER("another question");
		match |= MATCH_ANSWER | MATCH_AUTHORITY | MATCH_ADDITIONAL;
	}
	if (!sections_fit(match, p, m, ttl, how->strict, why, why_len))
		return false;
	if ((match & MATCH_ALL) && !edns_same(p, m, ttl))
		DIFFER("OPT: %s %u bytes options %zu, not %s %u %zu",
		       p->edns.present ? "there" : "none", p->edns.udp_size, p->edns.options.len,
		       m->edns.present ? "there" : "none", m->edns.udp_size, m->edns.options.len);
	return true;
}

static bool flat_fits(const struct entry *e, struct slice packet, const struct entry_how *how,
		      struct arena *a, char *why, size_t why_len)
{
	struct flat_message p, m;

	if (!flat_read(packet, a, &p))
		DIFFER("the packet cannot be read");
	if (!flat_read(e->matched, a, &m))
		DIFFER("the entry's own message cannot be read");
	if (e->ede != EDE_UNCHECKED && !take_option(&p, a, EDNS_EDE, e->ede))
		DIFFER("extended error %d is not there", e->ede);
	if ((e->match & MATCH_CLIENT_COOKIE) && !take_option(&p, a, EDNS_COOKIE, 8))
		DIFFER("no client cookie");
	if ((e->match & MATCH_SERVER_COOKIE) && !take_option(&p, a, EDNS_COOKIE, 24))
		DIFFER("no server cookie");
	if (e->deckard ? !deckard_fits(e, &p, &m, why, why_len) :
			 !unbound_fits(e, &p, &m, how, why, why_len))
		return false;
	return edns_fits(e, &p, &m, why, why_len) && transport_fits(e->match, how->tcp, why, why_len);
}

bool entry_fits(const struct entry *e, struct slice packet, const struct entry_how *how, char *why,
		size_t why_len)
{
	struct arena scratch;
	bool fits;

	arena_init(&scratch);
	fits = flat_fits(e, packet, how, &scratch, why, why_len);
	arena_clear(&scratch);
	return fits;
}

/* ---- adjusting ---- */

/* Offset just past the question of a message; 0 if there is no readable one. */
static size_t question_end(struct slice wire, size_t *name_len)
{
	struct reader r = reader_over(wire.at, wire.len);
	uint8_t name[DNAME_MAX];

	if (wire.len < MSG_HEAD_LEN || get_u16(wire.at + 4) != 1)
		return 0;
	r.at += MSG_HEAD_LEN;
	*name_len = msg_read_name(&r, name);
	if (*name_len == 0 || !read_bytes(&r, 4) || reader_offset(&r) != MSG_HEAD_LEN + *name_len + 4)
		return 0;
	return reader_offset(&r);
}

/* The entry's message with its question replaced by the query's; as it stands where there are questions
 * that cannot be told from what follows them. */
static struct slice with_query(struct slice wire, struct slice query, struct arena *a)
{
	size_t name_len, mine = question_end(wire, &name_len), theirs = question_end(query, &name_len);
	struct writer w;

	if (theirs == 0 || wire.len < MSG_HEAD_LEN || (mine == 0 && get_u16(wire.at + 4) != 0))
		return wire;
	if (mine == 0)
		mine = MSG_HEAD_LEN;
	w = writer_over(arena_take(a, wire.len + theirs), wire.len + theirs);
	write_bytes(&w, wire.at, MSG_HEAD_LEN);
	put_u16(w.start + 4, 1);
	write_bytes(&w, query.at + MSG_HEAD_LEN, theirs - MSG_HEAD_LEN);
	write_bytes(&w, wire.at + mine, wire.len - mine);
	return (struct slice){ w.start, writer_len(&w) };
}

/* Drop the answer's OPT if the query has none; otherwise give it the query's version and flags. */
static struct slice with_query_edns(struct slice wire, struct slice query, struct arena *a)
{
	struct flat_message q, m;
	struct writer w;
	size_t opt_len;

	if (!flat_read(query, a, &q) || !flat_read(wire, a, &m) || !m.edns.present)
		return wire;
	opt_len = OPT_FIXED_LEN + m.edns.options.len;
	w = writer_over(arena_take(a, wire.len), wire.len);
	write_bytes(&w, wire.at, wire.len - opt_len);
	if (q.edns.present) {
		m.edns.version = q.edns.version;
		m.edns.flags = q.edns.flags;
		edns_write(&w, &m.edns);
	} else {
		put_u16(w.start + 10, (uint16_t)(get_u16(w.start + 10) - 1));
	}
	return (struct slice){ w.start, writer_len(&w) };
}

/* Replace the options by the query's client subnet (RFC 7871), SCOPE PREFIX-LENGTH set to its
 * SOURCE PREFIX-LENGTH (or one more). */
static struct slice with_query_ecs(struct slice wire, struct slice query, bool more, struct arena *a)
{
	struct flat_message q, m;
	struct slice ecs;
	uint8_t *copy, *options;
	struct writer w, ow;
	size_t old_opt;

	if (!flat_read(query, a, &q) || !flat_read(wire, a, &m) ||
	    !edns_find_option(&q.edns, EDNS_CLIENT_SUBNET, &ecs) || ecs.len < 4)
		return wire;
	copy = arena_copy(a, ecs.at, ecs.len);
	copy[3] = (uint8_t)(copy[2] + more);
	options = arena_take(a, ecs.len + 4);
	ow = writer_over(options, ecs.len + 4);
	edns_write_option(&ow, EDNS_CLIENT_SUBNET, copy, ecs.len);
	old_opt = m.edns.present ? OPT_FIXED_LEN + m.edns.options.len : 0;
	w = writer_over(arena_take(a, wire.len + ecs.len + 32), wire.len + ecs.len + 32);
	write_bytes(&w, wire.at, wire.len - old_opt);
	if (!m.edns.present) {
		m.edns = (struct edns){ .present = true, .udp_size = OPT_SIZE_UNBOUND };
		put_u16(w.start + 10, (uint16_t)(get_u16(w.start + 10) + 1));
	}
	m.edns.options = (struct slice){ options, writer_len(&ow) };
	edns_write(&w, &m.edns);
	return (struct slice){ w.start, writer_len(&w) };
}

struct slice entry_answer(const struct entry *e, const struct entry_packet *p, struct slice query,
			  struct arena *a)
{
	struct slice wire = p->wire;
	size_t name_len, end;
	uint8_t *copy;

	if ((!p->hex || !e->deckard) && (e->adjust & ADJUST_QUERY))
		wire = with_query(wire, query, a);
	if (!p->hex && e->deckard)
		wire = with_query_edns(wire, query, a);
	if (!p->hex && (e->adjust & ADJUST_ECS))
		wire = with_query_ecs(wire, query, e->adjust & ADJUST_ECS_SCOPE, a);
	copy = arena_copy(a, wire.at, wire.len);
	if (wire.len >= 2 && query.len >= 2 &&
	    (!p->hex || (e->adjust & (ADJUST_ID | ADJUST_RAW_ID))))
		memcpy(copy, query.at, 2);

	/* A name that differs from the query's in case only comes back as the query spelled it; not in bytes
	 * that are sent as they are (raw_id). */
	end = question_end((struct slice){ copy, wire.len }, &name_len);
	if ((!p->hex || (e->adjust & ADJUST_ID && !e->deckard)) && end &&
	    end == question_end(query, &name_len) &&
	    dname_equals(copy + MSG_HEAD_LEN, query.at + MSG_HEAD_LEN))
		memcpy(copy + MSG_HEAD_LEN, query.at + MSG_HEAD_LEN, name_len);
	return (struct slice){ copy, wire.len };
}
