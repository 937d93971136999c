/* Answers from what is configured here.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/local.h"

#include <string.h>

#include "daemon/worker/client_query.h"
#include "services/answer/nat64.h"
#include "services/authzone/tsig.h"
#include "services/authzone/zones.h"
#include "services/blocklist/answer.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/mesh.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "services/xfer/notify_senders.h"
#include "services/xfer/schedule.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

/* Neither a referral nor an alias that leads out of the zone held here: there is no more to it. */
static bool is_final(const struct message *m)
{
	return m->flags & FLAG_AA && (!message_is_denial(m) || message_soa(m));
}

/* Answers, if the aliases lead into a zone that is held here, and no further where the client may have
 * the rest resolved. */
static bool leads_to_authzone(struct client_query *j, const struct question *q, const struct alias_prefix *aliases,
			  struct arena *a)
{
	const struct authzones *zones = j->w->env.snapshot->zones;
	struct answer_to to = j->to;
	struct message m;

	if (LIKELY(!zones->downstream) || authzones_answer(zones, q, a, &m) != AUTHZONE_ANSWER)
		return false;
	if (!is_final(&m) && client_query_may_use_cache(j) && client_query_wants_recursion(j))
		return false;
	to.now_s = 0;
	stat_bump(&j->w->env.stats->authzone_down, 1);
	answer_message(&j->p->out, &to, alias_prefix_join(aliases, a, &j->request.q, &m, 0));
	return true;
}

/* Complete an answer that begins with these aliases: by resolving their target if the client may
 * have that done, else with what is cached. */
static enum disposition follow(struct client_query *j, const struct alias_prefix *aliases, struct arena *a)
{
	struct question q = alias_prefix_question(aliases, &j->request.q);
	struct message nothing = { .q = q };
	const struct message *end = NULL;

	if (leads_to_authzone(j, &q, aliases, a))
		return client_query_send(j);
	if (!client_query_may_use_cache(j))
		return client_query_refuse_stranger(j);
	if (client_query_wants_recursion(j)) {
		mesh_ask_behind(j->w->env.mesh, &j->request, &j->p->client, aliases);
		return DISPOSITION_LATER;
	}
	if (j->action == ACL_ALLOW_SNOOP)
		j->stored = msgcache_find(j->w->env.messages, &q, msgcache_hash(&q),
					  j->request.scope, client_query_wants_dnssec(j));
	if (j->stored && stored_is_good(j->stored) && stored_is_fresh(j->stored, j->to.now_s))
		end = stored_unpack(j->stored, a, j->to.now_s);
	answer_message(&j->p->out, &j->to,
		       alias_prefix_join(aliases, a, &j->request.q, end ? end : &nothing, j->to.now_s));
	return client_query_send(j);
}

bool local_decides(struct client_query *j, enum disposition *v)
{
	const struct policy_client who = { .rule = j->rule,
					   .client = &j->p->client,
					   .stats = j->w->env.stats,
					   .decision = j->w->env.decision };
	struct alias_prefix aliases;
	struct arena a;
	enum policy_end end;

	if (client_query_asks_meta(j) || (j->action == ACL_ALLOW_COOKIE && !j->proven))
		return false;
	arena_init(&a);
	end = policy_answer(j->w->env.snapshot->policy, &who, &j->to, &j->p->out, &a, &aliases);
	j->request.rpz_passed = end == POLICY_LET_THROUGH || (end == POLICY_FOLLOW && aliases.rpz_passed);
	if (end != POLICY_PASS && end != POLICY_LET_THROUGH)
		client_query_say(j, "decided by %s", j->w->env.decision->what);
	if (end == POLICY_FOLLOW)
		*v = follow(j, &aliases, &a);
	else
		*v = end == POLICY_SEND ? client_query_send(j) : DISPOSITION_DROP;
	arena_clear(&a);
	return end != POLICY_PASS && end != POLICY_LET_THROUGH;
}

static enum disposition answer_blocked(struct client_query *j, const struct blocklist_found *f)
{
	struct alias_prefix aliases;
	struct arena a;
	enum disposition v;

	switch (blocklist_answer(f, &j->to, &j->p->out)) {
	case BLOCKLIST_END_SENT:
		return client_query_send(j);
	case BLOCKLIST_END_DROP:
		return DISPOSITION_DROP;
	case BLOCKLIST_END_FOLLOW:
		break;
	}
	arena_init(&a);
	blocklist_alias_prefix(f, &j->request.q, &a, &aliases);
	v = follow(j, &aliases, &a);
	arena_clear(&a);
	return v;
}

bool local_blocks(struct client_query *j, enum disposition *v)
{
	const struct policy *p = j->w->env.snapshot->policy;
	const struct blocklist_asker who = { .rule = j->rule,
					     .from = &j->p->client.from,
					     .now_s = j->to.now_s };
	struct blocklist_found f;

	if (!blocklists_block(p->lists, &who, j->request.q.name, j->request.q.type, &f) &&
	    !(j->stored && blocklists_block_stored(p->lists, &who, j->stored, &f)))
		return false;
	blocklist_count(j->w->env.stats, &f);
	blocklist_tell(&f, j->w->env.decision);
	client_query_say(j, "blocked by %s", j->w->env.decision->what);
	if (UNLIKELY(p->logs))
		blocklist_log(&f, &j->p->client, &j->request.q);
	j->stored = NULL;
	*v = answer_blocked(j, &f);
	return true;
}

static void note_authzone(const struct client_query *j)
{
	const struct authzone *z;
	char name[DNAME_TEXT];

	if (!j->w->env.decision)
		return;
	z = authzones_find(j->w->env.snapshot->zones, j->request.q.name);
	client_query_decided(j, DECIDED_HERE, "auth-zone %s", z ? dname_print(z->name, name) : "");
	client_query_say(j, "answered from %s", j->w->env.decision->what);
}

bool local_answers(struct client_query *j, enum disposition *v)
{
	const struct policy_client who = client_query_client(j);
	struct answer_to to = j->to;
	struct message m;
	struct arena a;
	enum authzone_end end;

	arena_init(&a);
	end = authzones_answer(j->w->env.snapshot->zones, &j->request.q, &a, &m);
	to.now_s = 0;
	if (end == AUTHZONE_ANSWER) {
		if (j->w->env.snapshot->conf->server.minimal_responses)
			message_minimise(&m);
		answer_message(&j->p->out, &to,
			       policy_strip(j->w->env.snapshot->policy, &who, &m, j->to.now_s, &a));
		stat_bump(&j->w->env.stats->authzone_down, 1);
		*v = client_query_send(j);
	}
	if (end == AUTHZONE_FAILED) {
		*v = client_query_refuse(j, RCODE_SERVFAIL, REASON_not_ready);
		put_u16(j->p->out.start + 2, msg_flags(j->p->out.start) | FLAG_AA);
	}
	arena_clear(&a);
	if (end != AUTHZONE_NOT)
		note_authzone(j);
	return end != AUTHZONE_NOT;
}

/* Policies cannot be applied to what cannot be read: the answer is looked up as if none were cached. */
static enum disposition look_up_anew(struct client_query *j)
{
	j->stored = NULL;
	if (!client_query_wants_recursion(j))
		return client_query_refuse(j, RCODE_SERVFAIL, REASON_not_ready);
	mesh_ask(j->w->env.mesh, &j->request, &j->p->client, NULL);
	return DISPOSITION_LATER;
}

/* The AAAA set of an answer that may have been made of A records, by its prefix; or NULL. */
static const struct rrset *find_made(const struct client_query *j, const struct message *m)
{
	struct addr a = { .family = 6 }, ip4;
	struct slice rd;

	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		struct rrset_walk w = rrset_records(m->sets[i]);

		if (m->sets[i]->type != TYPE_AAAA || !rrset_next(&w, &rd) || rd.len != sizeof(a.ip))
			continue;
		memcpy(a.ip, rd.at, rd.len);
		return nat64_extract(&j->w->env.snapshot->nat64, &a, &ip4) ? m->sets[i] : NULL;
	}
	return NULL;
}

/* What is left of the denial for which the addresses `made` were: its SOA record; or NULL. */
static const struct message *find_own(const struct client_query *j, const struct rrset *made, struct arena *a)
{
	const struct rrset *soa = NULL;
	struct message *own;

	for (const uint8_t *at = rrset_owner(made); !soa; at = dname_parent(at)) {
		soa = rrsetcache_find(j->w->env.rrsets, at, TYPE_SOA, CLASS_IN, 0, j->to.now_s);
		if (!soa && dname_is_root(at))
			return NULL;
	}
	own = arena_new(a, struct message);
	*own = (struct message){ .q = j->request.q, .sets = arena_copy(a, &soa, sizeof(const struct rrset *)) };
	own->count[SECTION_AUTHORITY] = 1;
	return own;
}

/* A denial where addresses were made is valid as long as theirs is. That one may be gone from the cache before them: then `false`,
 * and who may ask on learns it anew. */
static bool bind_denial(struct client_query *j, const struct message *m, struct arena *a, struct policy_outcome *outcome)
{
	const struct rrset *made = message_is_denial(outcome->m) ? find_made(j, m) : NULL;
	const struct message *own = made ? find_own(j, made, a) : NULL;

	policy_bound(own, a, outcome);
	return !made || own || !client_query_wants_recursion(j);
}

bool local_changes(struct client_query *j, bool stale, enum disposition *v)
{
	const struct policy_client who = client_query_client(j);
	uint32_t now_s = j->to.now_s;
	const struct message *m;
	struct policy_outcome outcome;
	struct arena a;

	if (!policy_doubts(j->w->env.snapshot->policy, j->stored))
		return false;
	arena_init(&a);
	m = stale ? stored_revive(j->stored, &a, now_s, j->w->style.stale_ttl_s)
		  : stored_unpack(j->stored, &a, now_s);
	if (UNLIKELY(!m)) {
		arena_clear(&a);
		*v = look_up_anew(j);
		return true;
	}
	policy_apply(j->w->env.snapshot->policy, &who, m, now_s, &a, &outcome);
	if (UNLIKELY(who.decision && *who.decision->what))
		client_query_say(j, "%s applies", who.decision->what);
	if (outcome.end == OUTCOME_CHANGED && !bind_denial(j, m, &a, &outcome)) {
		*v = look_up_anew(j);
	} else if (outcome.end == OUTCOME_CHANGED) {
		answer_message(&j->p->out, &j->to, outcome.m);
		*v = client_query_send(j);
	} else if (outcome.end == OUTCOME_FOLLOW) {
		j->stored = NULL;
		j->request.rpz_passed |= outcome.aliases.rpz_passed;
		*v = follow(j, &outcome.aliases, &a);
	} else {
		*v = DISPOSITION_DROP;
	}
	arena_clear(&a);
	return outcome.end != OUTCOME_AS_IS;
}

/* If there is a key, a NOTIFY must be signed with it (RFC 8945 5.2). */
static enum disposition answer_signed_notify(struct client_query *j, const struct authzone *z)
{
	int64_t wall_s = j->w->env.time->wall_s;
	struct tsig_talk talk = { .key = NULL };
	uint8_t *head = j->p->out.at;

	if (tsig_check_question(&talk, z->key, j->p->in.at, j->p->in.len, wall_s) != TSIG_GOOD) {
		tsig_talk_clear(&talk);
		return client_query_reject(j, RCODE_NOTAUTH, REASON_prohibited);
	}
	xfers_notified(z);
	answer_error(&j->p->out, &j->to, RCODE_NOERROR, REASON_none);
	tsig_sign_answer(&talk, head, &j->p->out, wall_s);
	tsig_talk_clear(&talk);
	return DISPOSITION_SEND;
}

enum disposition local_notify(struct client_query *j)
{
	const struct authzones *zones = j->w->env.snapshot->zones;
	const struct question *q = &j->request.q;
	const struct authzone *z =
		q->name_len && q->class_ == CLASS_IN ? authzones_find_exact(zones, q->name) : NULL;

	if (q->name_len == 0)
		return client_query_reject(j, RCODE_FORMERR, REASON_none);
	if (j->request.edns.version > 0)
		return client_query_reject(j, RCODE_BADVERS, REASON_none);
	/* Unbound's words for both, with RA; NOTAUTH (RFC 8945 5.2) is about signatures here */
	if (!z || !authhosts_admit(z, &j->p->client.from)) {
		answer_error(&j->p->out, &j->to, RCODE_REFUSED, REASON_prohibited);
		return DISPOSITION_SEND;
	}
	if (q->type != TYPE_SOA)
		return client_query_reject(j, RCODE_FORMERR, REASON_none);
	if (z->key)
		return answer_signed_notify(j, z);
	xfers_notified(z);
	answer_error(&j->p->out, &j->to, RCODE_NOERROR, REASON_none);
	return DISPOSITION_SEND;
}
