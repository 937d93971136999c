/* Answers for blocked names, and blocking answers whose aliases lead to blocked names.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/answer.h"

#include <stdio.h>

#include "services/blocklist/clients.h"
#include "services/blocklist/special.h"
#include "services/history/decision.h"
#include "services/history/querylog.h"
#include "services/stats/stats.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"

#define BLOCK_TTL_S 60 /* of synthesized records: lists change, and pauses are short */

/* ---- the blocking answer ---- */

static const uint8_t zeros[16];

static void put_address(struct answer_made *made, uint16_t type, const struct addr *a)
{
	if ((a->family == 4 && type == TYPE_A) || (a->family == 6 && type == TYPE_AAAA)) {
		made->type = type;
		made->data.at = a->ip;
		made->data.len = a->family == 4 ? 4 : 16;
	}
}

static void put_null(struct answer_made *made, uint16_t type)
{
	made->type = type;
	made->data.at = zeros;
	made->data.len = type == TYPE_A ? 4 : type == TYPE_AAAA ? 16 : 0;
}

/* An answer with room for the records of rules that say what to answer. */
struct made_up {
	struct answer_made made;
	struct slice more[BLOCKLIST_REWRITES];
};

static void make_rewritten(const struct blocklist_match *m, uint16_t type, struct made_up *up)
{
	struct answer_made *made = &up->made;

	made->rcode = (enum rcode)m->rewrite[0]->rcode;
	made->type = type;
	made->more = up->more;
	for (unsigned i = 0; i < m->rewrites; i++) {
		const struct blocklist_rewrite *w = m->rewrite[i];
		struct slice data = { .at = w->data, .len = w->len };

		if (w->type != type || !w->len)
			continue;
		if (!made->data.len)
			made->data = data;
		else
			up->more[made->more_count++] = data;
	}
}

static void make(const struct blocklist_found *f, uint16_t type, struct made_up *up)
{
	const struct blocklist *l = f->list;
	struct answer_made *made = &up->made;

	*made = (struct answer_made){ .reason = l->reason,
				      .reason_text = l->reason_text,
				      .ttl_s = BLOCK_TTL_S };
	if (f->match.rewrites) {
		make_rewritten(&f->match, type, up);
		return;
	}
	switch (l->action) {
	case BLOCKLIST_NXDOMAIN:
		made->rcode = RCODE_NXDOMAIN;
		break;
	case BLOCKLIST_REFUSE:
		made->rcode = RCODE_REFUSED;
		break;
	case BLOCKLIST_NULL:
		put_null(made, type);
		break;
	case BLOCKLIST_ADDRESS:
		put_address(made, type, &l->addr[type == TYPE_AAAA]);
		break;
	case BLOCKLIST_NODATA:
	case BLOCKLIST_DROP:
		break;
	}
}

static bool drops(const struct blocklist_found *f)
{
	return !f->match.rewrites && f->list->action == BLOCKLIST_DROP;
}

bool blocklist_leads_on(const struct blocklist_found *f, uint16_t type)
{
	return f->match.rewrites && f->match.rewrite[0]->type == TYPE_CNAME && type != TYPE_CNAME;
}

enum blocklist_end blocklist_answer(const struct blocklist_found *f, const struct answer_to *to,
				    struct writer *out)
{
	struct made_up up;

	if (UNLIKELY(drops(f)))
		return BLOCKLIST_END_DROP;
	if (UNLIKELY(blocklist_leads_on(f, to->request->q.type)))
		return BLOCKLIST_END_FOLLOW;
	make(f, to->request->q.type, &up);
	answer_made(out, to, &up.made);
	return BLOCKLIST_END_SENT;
}

void blocklist_alias_prefix(const struct blocklist_found *f, const struct question *q, struct arena *a,
		    struct alias_prefix *aliases)
{
	const struct blocklist_rewrite *w = f->match.rewrite[0];
	struct slice record = { .at = w->data, .len = w->len };

	*aliases = (struct alias_prefix){ 0 };
	PROMISE(alias_prefix_add(aliases, a,
			 rrset_build(a, &(struct rrset_parts){ .owner = q->name,
							       .type = TYPE_CNAME,
							       .class_ = CLASS_IN,
							       .ttl_s = BLOCK_TTL_S,
							       .expires_s = BLOCK_TTL_S,
							       .records = &record,
							       .count = 1 })));
}

const struct message *blocklist_message(const struct blocklist_found *f, const struct message *m,
					uint32_t now_s, struct arena *a)
{
	struct slice records[1 + BLOCKLIST_REWRITES];
	const struct answer_made *made;
	struct message *new;
	struct made_up up;

	if (drops(f))
		return NULL;
	make(f, m->q.type, &up);
	made = &up.made;
	new = arena_copy(a, m, sizeof(*m));
	new->rcode = (uint16_t)made->rcode;
	new->flags &= (uint16_t)~FLAG_AA;
	new->security = SECURITY_INSECURE;
	new->reason = made->reason;
	new->reason_text = made->reason_text;
	memset(new->count, 0, sizeof(new->count));
	if (made->data.len) {
		records[0] = made->data;
		for (unsigned i = 0; i < made->more_count; i++)
			records[1 + i] = made->more[i];
		new->sets = arena_array(a, const struct rrset *, 1);
		new->sets[0] = rrset_build(a, &(struct rrset_parts){ .owner = m->q.name,
								     .type = made->type,
								     .class_ = CLASS_IN,
								     .ttl_s = made->ttl_s,
								     .expires_s = now_s + made->ttl_s,
								     .records = records,
								     .count = 1 + made->more_count });
		new->count[SECTION_ANSWER] = 1;
	}
	return new;
}

void blocklist_log(const struct blocklist_found *f, const struct client *c,
		   const struct question *q)
{
	querylog_address(f->list->name, "blocklist", c, q);
}

_Static_assert((int)DECISION_WORD >= (int)BLOCKLIST_POLICY_WORD, "they fit");

static void tell_origin(const struct blocklist_found *f, struct decision *s)
{
	const struct blocklist_match *m = &f->match;

	if (m->policy) {
		blocklist_policy_id(m->policy, s->policy);
		blocklist_policy_list(m->policy, m->list, s->list);
	} else if (!f->at_run_time) {
		snprintf(s->list, sizeof s->list, "%s", f->list->name);
	}
}

void blocklist_tell(const struct blocklist_found *f, struct decision *s)
{
	decision_note(s, DECIDED_BLOCKED, "%s%s", f->at_run_time ? "" : "blocklist ",
	       f->at_run_time ? "blocklist_deny" : f->list->name);
	if (UNLIKELY(s != NULL))
		tell_origin(f, s);
}

void blocklist_count(struct stats *s, const struct blocklist_found *f)
{
	if (!s)
		return;
	stat_bump(&s->blocked, 1);
	stat_bump(&s->blocked_by[f->list->slot], 1);
}

/* ---- aliases in answers ---- */

enum alias_end { NO_MORE_ALIASES, ALIAS, NO_ALIAS };

/* Read the next answer record; if it is a CNAME, its target as well. */
static enum alias_end next_alias(struct reader *r, unsigned *left, uint8_t *target)
{
	uint16_t type, len;
	const uint8_t *end;

	if (r->bad || *left == 0)
		return NO_MORE_ALIASES;
	--*left;
	msg_skip_name(r);
	type = read_u16(r);
	(void)read_u16(r);
	(void)read_u32(r);
	len = read_u16(r);
	if (r->bad || len > reader_left(r))
		return NO_MORE_ALIASES;
	end = r->at + len;
	if (type == TYPE_CNAME && msg_read_name(r, target) == 0)
		return NO_MORE_ALIASES;
	r->at = end;
	return type == TYPE_CNAME ? ALIAS : NO_ALIAS;
}

bool blocklists_block_stored(const struct blocklists *b, const struct blocklist_asker *who,
			     const struct stored *s, struct blocklist_found *f)
{
	/* read first: a change made meanwhile is then noticed next time */
	uint32_t generation = blocklists_generation(b);
	const uint8_t *wire = stored_wire(s);
	struct reader r = reader_over(wire, s->wire_len);
	unsigned left = get_u16(wire + 6);
	uint8_t target[DNAME_MAX];
	struct question q;
	enum alias_end end;
	bool harmless;

	stored_question(s, &q);
	harmless = !blocklists_might_block(b, q.name);
	(void)read_bytes(&r, MSG_HEAD_LEN + s->qname_len + 4u);
	while ((end = next_alias(&r, &left, target)) != NO_MORE_ALIASES) {
		if (end == NO_ALIAS || !blocklists_might_block(b, target))
			continue;
		harmless = false;
		if (blocklists_block_alias(b, who, q.name, target, q.type, f))
			return true;
	}
	if (harmless && generation) /* one of the two writes to a cached entry: for later queries */
		atomic_store_explicit(&((struct stored *)(uintptr_t)s)->harmless, generation,
				      memory_order_relaxed);
	return false;
}

bool blocklists_block_message(const struct blocklists *b, const struct blocklist_asker *who,
			      const struct message *m, struct blocklist_found *f)
{
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		const struct rrset *s = m->sets[i];

		if (s->type == TYPE_CNAME && s->count &&
		    blocklists_block_alias(b, who, m->q.name, rrset_target(s, 0), m->q.type, f))
			return true;
	}
	return false;
}
