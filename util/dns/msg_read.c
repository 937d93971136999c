/* Reading messages: a client's request in place, a server's response into RRsets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/msg.h"

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"
#include "util/dns/rr.h"

#define RR_LEAST_LEN 11 /* root owner, type, class, TTL, RDLENGTH */

/* ---- what a client sends ---- */

static bool take_opt(struct edns *e, uint16_t class_, uint32_t ttl, struct slice options)
{
	if (e->present)
		return false;
	*e = (struct edns){
		.present = true,
		.udp_size = class_,
		.ext_rcode = (uint8_t)(ttl >> 24),
		.version = (uint8_t)(ttl >> 16),
		.flags = (uint16_t)ttl,
		.options = options,
	};
	return edns_is_whole(e);
}

static bool read_additional(struct reader *r, unsigned count, struct edns *e)
{
	for (; count > 0; count--) {
		const uint8_t *owner = r->at;
		msg_skip_name(r);
		uint16_t type = read_u16(r);
		uint16_t class_ = read_u16(r);
		uint32_t ttl = read_u32(r);
		uint16_t len = read_u16(r);
		const uint8_t *data = read_bytes(r, len);
		if (r->bad)
			return false;
		if (type == TYPE_OPT &&
		    (*owner != 0 || !take_opt(e, class_, ttl, (struct slice){ data, len })))
			return false;
	}
	return true;
}

/* A request without question: it has a cookie, or else nothing. */
static enum request_kind without_question(struct request *out)
{
	struct slice cookie;

	if (out->edns.version == 0 && edns_find_option(&out->edns, EDNS_COOKIE, &cookie))
		return REQUEST_COOKIE;
	out->edns = (struct edns){ 0 };
	return REQUEST_FORMERR;
}

/* The OPT of a NOTIFY, behind the SOA it may tell (RFC 1996 3.7); the formats of other opcodes are not read. */
static void read_notify_edns(struct reader *r, const uint8_t *at, struct edns *to)
{
	struct edns misplaced = { 0 };

	if (!read_additional(r, get_u16(at + 6) + get_u16(at + 8), &misplaced) || misplaced.present ||
	    !read_additional(r, get_u16(at + 10), to))
		*to = (struct edns){ 0 };
}

/* Bytes after the last record are ignored here as in responses: Unbound does so, and no RFC says
 * what they would mean. A request with TC set is malformed. */
enum request_kind msg_read_request(const uint8_t *at, size_t len, struct request *out)
{
	*out = (struct request){ 0 };
	if (len < MSG_HEAD_LEN || at[2] & FLAG_QR >> 8)
		return REQUEST_IGNORE;

	struct reader r = reader_over(at, len);
	r.at += MSG_HEAD_LEN;
	out->id = msg_id(at);
	out->flags = msg_flags(at);
	size_t name_len = get_u16(at + 4) ? dname_measure(r.at, r.end) : 0;
	if (name_len && reader_left(&r) >= name_len + 4) {
		out->q = (struct question){
			.name = r.at,
			.name_len = (uint16_t)name_len,
			.type = get_u16(r.at + name_len),
			.class_ = get_u16(r.at + name_len + 2),
		};
		r.at += name_len + 4;
	}

	if (msg_opcode(at) != OPCODE_QUERY) {
		if (msg_opcode(at) == OPCODE_NOTIFY && out->q.name_len)
			read_notify_edns(&r, at, &out->edns);
		return REQUEST_NOTIMP;
	}
	if (get_u32(at + 6) != 0) {
		/* records where a query has none: echo nothing of it */
		out->q.name_len = 0;
		return REQUEST_FORMERR;
	}
	if (get_u16(at + 4) > 1 || (get_u16(at + 4) && !out->q.name_len) || out->flags & FLAG_TC)
		return REQUEST_FORMERR;
	if (!read_additional(&r, get_u16(at + 10), &out->edns)) {
		if (!out->q.name_len)
			out->edns = (struct edns){ 0 };
		return REQUEST_FORMERR;
	}
	if (!out->q.name_len)
		return without_question(out);
	return out->edns.version > 0 ? REQUEST_BADVERS : REQUEST_GOOD;
}

/* ---- what a server sends ---- */

#define NONE        UINT32_MAX
#define FEW_RECORDS 64 /* that need no heap */
#define FEW_GROUPS  8  /* searched linearly */
#define FEW_ALIKE   16
#define CHUNK_LEN   16384

/* Records of one set, or the RRSIGs over it, in order of arrival. */
struct chain {
	uint32_t first, last, count;
};

struct record {
	struct slice rdata; /* uncompressed; in the message or in scratch */
	uint32_t next;      /* in its chain */
	uint32_t chain_id;  /* which of all the chains that is */
};

/* An RRset being assembled. RRSIGs may precede what they cover. */
struct group {
	const uint8_t *owner; /* in scratch */
	uint32_t ttl_s;
	uint16_t owner_len, type, class_, section;
	struct chain records, sigs;
};

/* Decompressed names and RDATA, until the sets are built from them. */
struct chunk {
	struct chunk *next;
	uint8_t bytes[];
};

struct parse {
	struct reader r;
	struct message *m;
	struct arena *a;

	struct record *records;
	struct group *groups;
	uint32_t record_count, group_count;
	uint32_t most;          /* upper bound of the number of records */
	uint32_t section_begin; /* first group of the current section */

	/* Open-addressed tables of indexes + 1, made only when there are many. */
	uint32_t *group_table;  /* by section, owner, type, class */
	uint32_t *record_table; /* by chain and data */
	uint32_t table_mask;

	struct writer scratch;
	struct chunk *chunks;
};

static struct writer *scratch_with(struct parse *p, size_t room)
{
	if (writer_left(&p->scratch) < room) {
		size_t len = MAX(room, CHUNK_LEN);
		struct chunk *c = mem_new(sizeof(*c) + len);
		c->next = p->chunks;
		p->chunks = c;
		p->scratch = writer_over(c->bytes, len);
	}
	return &p->scratch;
}

static uint32_t *table_new(struct parse *p)
{
	if (p->table_mask == 0) {
		uint32_t size = 64;
		while (size < 4 * p->most) /* a record may be entered three times */
			size *= 2;
		p->table_mask = size - 1;
	}
	return mem_array(p->table_mask + 1, sizeof(uint32_t));
}

/* ---- groups ---- */

struct group_key {
	const uint8_t *owner;
	size_t owner_len;
	uint16_t type, class_, section;
};

static uint64_t group_hash(const struct group_key *k)
{
	return hash_dname(k->owner, k->owner_len,
			  (uint32_t)k->type << 16 ^ k->class_ ^ (uint32_t)k->section << 8);
}

static bool group_is(const struct group *g, const struct group_key *k)
{
	return g->type == k->type && g->class_ == k->class_ && g->section == k->section &&
	       dname_equals_len(g->owner, g->owner_len, k->owner, k->owner_len);
}

static void enter_group(struct parse *p, uint32_t index, const struct group_key *k)
{
	uint32_t slot = (uint32_t)group_hash(k) & p->table_mask;

	while (p->group_table[slot])
		slot = (slot + 1) & p->table_mask;
	p->group_table[slot] = index + 1;
}

static struct group_key key_of(const struct group *g)
{
	return (struct group_key){ g->owner, g->owner_len, g->type, g->class_, g->section };
}

static bool section_is_large(const struct parse *p)
{
	return p->group_count - p->section_begin > FEW_GROUPS;
}

static struct group *find_group(struct parse *p, const struct group_key *k)
{
	if (!section_is_large(p)) {
		for (uint32_t i = p->group_count; i-- > p->section_begin;) {
			if (group_is(&p->groups[i], k))
				return &p->groups[i];
		}
		return NULL;
	}
	uint32_t slot = (uint32_t)group_hash(k) & p->table_mask;
	for (; p->group_table[slot]; slot = (slot + 1) & p->table_mask) {
		struct group *g = &p->groups[p->group_table[slot] - 1];
		if (group_is(g, k))
			return g;
	}
	return NULL;
}

static struct group *get_group(struct parse *p, const struct group_key *k)
{
	struct group *g = find_group(p, k);

	if (g)
		return g;
	struct writer *scratch = scratch_with(p, k->owner_len);
	uint32_t index = p->group_count++;
	bool was_few = index - p->section_begin <= FEW_GROUPS;

	g = &p->groups[index];
	*g = (struct group){
		.owner = scratch->at,
		.ttl_s = UINT32_MAX,
		.owner_len = (uint16_t)k->owner_len,
		.type = k->type,
		.class_ = k->class_,
		.section = k->section,
	};
	write_bytes(scratch, k->owner, k->owner_len);

	if (!section_is_large(p))
		return g;
	if (p->group_table == NULL)
		p->group_table = table_new(p);
	for (uint32_t i = was_few ? p->section_begin : index; i <= index; i++) {
		struct group_key each = key_of(&p->groups[i]);
		enter_group(p, i, &each);
	}
	return g;
}

/* ---- records ---- */

static bool same_data(const struct record *a, const struct record *b)
{
	return a->rdata.len == b->rdata.len &&
	       (a->rdata.len == 0 || memcmp(a->rdata.at, b->rdata.at, a->rdata.len) == 0);
}

/* The table slot of a record with this chain and data, or the free one where it belongs. */
static uint32_t *record_slot(struct parse *p, const struct record *wanted, uint32_t chain_id)
{
	uint64_t hash = hash_bytes(wanted->rdata.at, wanted->rdata.len);
	uint32_t slot = ((uint32_t)hash ^ chain_id * 0x9e3779b1u) & p->table_mask;

	for (; p->record_table[slot]; slot = (slot + 1) & p->table_mask) {
		const struct record *r = &p->records[p->record_table[slot] - 1];
		if (r->chain_id == chain_id && same_data(r, wanted))
			break;
	}
	return &p->record_table[slot];
}

/* Append a record to a chain; false when it is a duplicate (RFC 2181 5). */
static bool chain_add(struct parse *p, struct chain *c, uint32_t chain_id, uint32_t index)
{
	struct record *added = &p->records[index];

	if (c->count < FEW_ALIKE) {
		for (uint32_t i = c->first, n = c->count; n > 0; n--, i = p->records[i].next) {
			if (same_data(&p->records[i], added))
				return false;
		}
	} else {
		if (p->record_table == NULL)
			p->record_table = table_new(p);
		if (c->count == FEW_ALIKE) {
			for (uint32_t i = c->first, n = c->count; n > 0;
			     n--, i = p->records[i].next)
				*record_slot(p, &p->records[i], chain_id) = i + 1;
		}
		uint32_t *slot = record_slot(p, added, chain_id);
		if (*slot && *slot != index + 1) /* itself, when it comes from another chain */
			return false;
		*slot = index + 1;
	}

	added->next = NONE;
	added->chain_id = chain_id;
	if (c->count++)
		p->records[c->last].next = index;
	else
		c->first = index;
	c->last = index;
	return true;
}

static uint32_t chain_id(const struct parse *p, const struct group *g, bool sigs)
{
	return (uint32_t)(g - p->groups) * 2 + sigs;
}

static bool read_data(struct parse *p, uint16_t type, uint16_t len, struct slice *out)
{
	if (strpbrk(rr_shape(type), "Nn") == NULL) {
		*out = (struct slice){ p->r.at, len };
		return read_bytes(&p->r, len) && rr_rdata_is_whole(type, out->at, len);
	}
	struct writer *scratch = scratch_with(p, len + 2u * DNAME_MAX);
	out->at = scratch->at;
	if (!rr_read_rdata(&p->r, type, len, scratch))
		return false;
	out->len = (size_t)(scratch->at - out->at);
	return true;
}

static bool read_opt(struct parse *p, uint16_t class_, uint32_t ttl, uint16_t len)
{
	const uint8_t *options = read_bytes(&p->r, len);

	if (options == NULL)
		return false;
	return take_opt(&p->m->edns, class_, ttl,
			(struct slice){ arena_copy(p->a, options, len), len });
}

/* An address of the wrong length is left out; the rest of its set is as good without it. */
static bool is_misshapen_address(const struct parse *p, uint16_t type, uint16_t len)
{
	return ((type == TYPE_A && len != 4) || (type == TYPE_AAAA && len != 16)) &&
	       reader_left(&p->r) >= len;
}

static bool leave_out(struct parse *p, uint16_t len)
{
	p->m->reason = REASON_other;
	p->m->reason_text = "an address record of wrong length was ignored";
	return read_bytes(&p->r, len) != NULL;
}

static bool read_record(struct parse *p, enum section section)
{
	uint8_t owner[DNAME_MAX];
	struct record *record = &p->records[p->record_count];

	size_t owner_len = msg_read_name(&p->r, owner);
	uint16_t type = read_u16(&p->r);
	uint16_t class_ = read_u16(&p->r);
	uint32_t ttl = read_u32(&p->r);
	uint16_t len = read_u16(&p->r);
	if (p->r.bad)
		return false;
	if (type == TYPE_OPT)
		return section == SECTION_ADDITIONAL && owner_len == 1 &&
		       read_opt(p, class_, ttl, len);
	if (is_misshapen_address(p, type, len))
		return leave_out(p, len);
	if (!read_data(p, type, len, &record->rdata))
		return false;

	/* An RRSIG goes to the set it covers, whether that has arrived yet or not. */
	uint16_t covered = type == TYPE_RRSIG ? get_u16(record->rdata.at) : type;
	bool is_sig = covered != type;
	struct group_key key = { owner, owner_len, covered, class_, (uint16_t)section };
	struct group *g = get_group(p, &key);

	g->ttl_s = MIN(g->ttl_s, rr_ttl(ttl));
	if (chain_add(p, is_sig ? &g->sigs : &g->records, chain_id(p, g, is_sig), p->record_count))
		p->record_count++;
	return true;
}

/* RRSIGs covering no set in this section form one set of type RRSIG per owner. */
static void gather_lone_sigs(struct parse *p)
{
	for (uint32_t i = p->section_begin; i < p->group_count; i++) {
		struct group *g = &p->groups[i];
		if (g->records.count)
			continue;
		struct chain sigs = g->sigs;
		struct group_key key = key_of(g);
		key.type = TYPE_RRSIG;
		struct group *to = find_group(p, &key);

		g->sigs = (struct chain){ 0 };
		if (to == NULL) {
			to = g;
			to->type = TYPE_RRSIG;
			if (section_is_large(p))
				enter_group(p, i, &key);
		}
		to->ttl_s = MIN(to->ttl_s, g->ttl_s);
		for (uint32_t at = sigs.first, next; sigs.count > 0; sigs.count--, at = next) {
			next = p->records[at].next;
			chain_add(p, &to->records, chain_id(p, to, false), at);
		}
	}
}

/* The set an RRSIG covers, in any section. RRSIGs are not signed (RFC 4035 2.2). */
static struct group *covered_anywhere(struct parse *p, const struct group *lone, uint16_t covered)
{
	for (uint32_t i = 0; i < p->group_count && covered != TYPE_RRSIG; i++) {
		struct group *g = &p->groups[i];

		if (g->type == covered && g->class_ == lone->class_ && g->records.count &&
		    dname_equals_len(g->owner, g->owner_len, lone->owner, lone->owner_len))
			return g;
	}
	return NULL;
}

/* Some servers put an RRSIG into another section than what it covers. In messages of ordinary size
 * they are brought together. */
static void bring_sigs_home(struct parse *p)
{
	if (p->group_count > FEW_RECORDS || p->m->q.type == TYPE_RRSIG)
		return;
	for (uint32_t i = 0; i < p->group_count; i++) {
		struct group *lone = &p->groups[i];
		struct chain all = lone->records;

		if (lone->type != TYPE_RRSIG)
			continue;
		lone->records = (struct chain){ 0 };
		for (uint32_t at = all.first, next; all.count > 0; all.count--, at = next) {
			struct group *home =
				covered_anywhere(p, lone, get_u16(p->records[at].rdata.at));

			next = p->records[at].next;
			if (home)
				home->ttl_s = MIN(home->ttl_s, lone->ttl_s);
			chain_add(p, home ? &home->sigs : &lone->records,
				  chain_id(p, home ? home : lone, home != NULL), at);
		}
	}
}

/* ---- the whole message ---- */

static struct slice *chain_slices(const struct parse *p, const struct chain *c, struct slice *to)
{
	for (uint32_t i = c->first, n = c->count; n > 0; n--, i = p->records[i].next)
		*to++ = p->records[i].rdata;
	return to;
}

/* An NSEC at the zone's own apex, not the parent's at the zone cut. */
static bool nsec_is_at_apex(struct slice rdata)
{
	size_t next = dname_measure(rdata.at, rdata.at + rdata.len);
	struct slice types = { rdata.at + next, rdata.len - next };

	return next && types_hold(types, TYPE_SOA);
}

static void build_sets(struct parse *p, uint32_t now_s, struct slice *slices)
{
	unsigned sets = 0;

	p->m->sets = arena_array(p->a, const struct rrset *, p->group_count);
	for (uint32_t i = 0; i < p->group_count; i++) {
		const struct group *g = &p->groups[i];
		if (g->records.count == 0)
			continue;
		struct slice *sigs = chain_slices(p, &g->records, slices);
		chain_slices(p, &g->sigs, sigs);
		struct rrset_parts parts = {
			.owner = g->owner,
			.type = g->type,
			.class_ = g->class_,
			.ttl_s = g->ttl_s,
			.expires_s = now_s + g->ttl_s,
			.records = slices,
			.count = g->records.count,
			.sigs = sigs,
			.sig_count = g->sigs.count,
		};
		if (g->type == TYPE_NSEC && nsec_is_at_apex(slices[0]))
			parts.flags = RRSET_NSEC_AT_APEX;
		p->m->sets[sets++] = rrset_build(p->a, &parts);
		p->m->count[g->section]++;
	}
}

static bool read_question(struct parse *p, unsigned count)
{
	uint8_t name[DNAME_MAX];

	if (count == 0)
		return true;
	size_t len = msg_read_name(&p->r, name);
	uint16_t type = read_u16(&p->r);
	uint16_t class_ = read_u16(&p->r);
	if (p->r.bad || count > 1)
		return false;
	p->m->q = (struct question){ arena_copy(p->a, name, len), (uint16_t)len, type, class_ };
	return true;
}

static bool read_sections(struct parse *p, const uint8_t *counts)
{
	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		bool whole = true;
		p->section_begin = p->group_count;
		for (unsigned n = get_u16(counts + 2 * s); n > 0 && whole; n--)
			whole = read_record(p, (enum section)s);
		gather_lone_sigs(p);
		if (!whole)
			return false;
	}
	return true;
}

/* Bytes after the last record are ignored. */
bool msg_parse(const uint8_t *at, size_t len, struct arena *a, uint32_t now_s, struct message *out)
{
	struct record few_records[FEW_RECORDS];
	struct group few_groups[FEW_RECORDS];
	struct slice few_slices[FEW_RECORDS];
	uint8_t few_bytes[2048];
	struct parse p = { .r = reader_over(at, len), .m = out, .a = a };

	*out = (struct message){ 0 };
	if (len < MSG_HEAD_LEN)
		return false;
	out->id = msg_id(at);
	out->flags = msg_flags(at) & (uint16_t)~0x780f;
	out->opcode = (uint8_t)msg_opcode(at);
	p.r.at += MSG_HEAD_LEN;
	if (!read_question(&p, get_u16(at + 4)))
		return false;

	uint32_t told = (uint32_t)get_u16(at + 6) + get_u16(at + 8) + get_u16(at + 10);
	uint32_t room = (uint32_t)(reader_left(&p.r) / RR_LEAST_LEN) + 1;
	bool is_large = MIN(told, room) > FEW_RECORDS;
	struct slice *slices = few_slices;
	p.most = MIN(told, room);
	p.records = few_records;
	p.groups = few_groups;
	p.scratch = writer_over(few_bytes, sizeof(few_bytes));
	if (is_large) {
		p.records = mem_array(p.most, sizeof(*p.records));
		p.groups = mem_array(p.most, sizeof(*p.groups));
		slices = mem_array(p.most, sizeof(*slices));
	}

	bool good = read_sections(&p, at + 6) || out->flags & FLAG_TC;
	if (good) {
		bring_sigs_home(&p);
		build_sets(&p, now_s, slices);
	}
	out->rcode = (uint16_t)(msg_rcode(at) | (unsigned)out->edns.ext_rcode << 4);

	if (is_large) {
		mem_free(p.records);
		mem_free(p.groups);
		mem_free(slices);
	}
	mem_free(p.group_table);
	mem_free(p.record_table);
	while (p.chunks) {
		struct chunk *c = p.chunks;
		p.chunks = c->next;
		mem_free(c);
	}
	return good;
}

/* ---- records in place ---- */

unsigned msg_skip_to_records(struct reader *r)
{
	unsigned questions, records;

	read_bytes(r, 4);
	questions = read_u16(r);
	records = read_u16(r);
	records += read_u16(r);
	records += read_u16(r);
	while (questions-- && !r->bad) {
		msg_skip_name(r);
		read_bytes(r, 4);
	}
	return records;
}

void msg_grow_older(uint8_t *wire, size_t len, uint32_t age_s)
{
	struct reader r = reader_over(wire, len);
	unsigned records = msg_skip_to_records(&r);

	while (records-- && !r.bad) {
		uint16_t type;
		uint32_t ttl_s;
		size_t at;

		msg_skip_name(&r);
		type = read_u16(&r);
		read_bytes(&r, 2);
		at = reader_offset(&r);
		ttl_s = rr_ttl(read_u32(&r));
		read_bytes(&r, read_u16(&r));
		if (!r.bad && type != TYPE_OPT)
			put_u32(wire + at, ttl_s > age_s ? ttl_s - age_s : 0);
	}
}
