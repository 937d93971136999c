/* The dns64 module: synthesizes AAAA records for names that have only A records (RFC 6147).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It is above the validating module, so that it synthesizes from validated records; the result is
 * as secure as they are (5.5), and records that are bogus or cannot be had make a failure, not an
 * empty answer (5.1.2, 5.1.6, 5.5). It acts on clients' queries only: the resolver itself uses
 * addresses as they are. */
#include "services/dns64/dns64.h"

#include <stdio.h>
#include <string.h>

#include "services/answer/nat64.h"
#include "services/mesh/mesh.h"
#include "services/mesh/subnet_group.h"
#include "services/policy/rpz_match.h"
#include "services/query/snapshot.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"
#include "util/net/addr.h"

enum {
	UNTOLD_TTL_S = 600, /* RFC 6147 5.1.7, if there is no SOA */
	FINDING_TTL_S = 86400,
};

struct dns64 {
	struct netblock prefix;
	struct message *own; /* the name's own answer; NULL: not asked for yet */
	bool asked, for_name, done;
};

/* ---- addresses ---- */

static int nibble(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The address of a reverse name under ip6.arpa; lower-case, as all questions are. */
static bool reverse_read(const uint8_t *name, struct addr *a)
{
	static const uint8_t tail[] = "\3ip6\4arpa";

	*a = (struct addr){ .family = 6 };
	for (int i = 31; i >= 0; i--, name += 2) {
		int n = name[0] == 1 ? nibble(name[1]) : -1;

		if (n < 0)
			return false;
		a->ip[i / 2] |= (uint8_t)(i % 2 ? n : n << 4);
	}
	return dname_equals(name, tail);
}

static void reverse_write(const uint8_t ip4[4], uint8_t to[DNAME_MAX])
{
	char text[40];

	snprintf(text, sizeof(text), "%u.%u.%u.%u.in-addr.arpa.", ip4[3], ip4[2], ip4[1], ip4[0]);
	(void)dname_parse(to, text, NULL);
}

/* ---- queries ---- */

static const struct conf_server *conf_of(const struct query *q)
{
	return &q->snapshot->conf->server;
}

static bool is_for_others(const struct query *q)
{
	return q->depth > 0 || q->question.class_ != CLASS_IN ||
	       (q->kind & QUERY_CD && q->question.type != TYPE_PTR) ||
	       q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE | QUERY_NO_VALIDATE);
}

/* Whether the name's own AAAA records are ignored. */
static bool is_bare(const struct query *q)
{
	return conf_of(q)->dns64_synthall ||
	       trie_find_closest(q->snapshot->dns64_ignored, q->question.name);
}

/* Once at most. */
static bool ask_for(struct query *q, struct dns64 *d, const uint8_t *name, uint16_t type)
{
	d->asked = mesh_child_alike(q, name, type, CLASS_IN) != NULL;
	return d->asked;
}

static bool ask_reverse(struct query *q, struct dns64 *d)
{
	uint8_t name[DNAME_MAX];
	struct addr a, ip4;

	if (!reverse_read(q->question.name, &a) || !nat64_extract(&d->prefix, &a, &ip4))
		return false;
	reverse_write(ip4.ip, name);
	d->for_name = true;
	return ask_for(q, d, name, TYPE_PTR);
}

/* ---- synthesis ---- */

static bool has_type(const struct message *m, uint16_t type)
{
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		if (m->sets[i]->type == type && m->sets[i]->class_ == CLASS_IN)
			return true;
	}
	return false;
}

/* Its AAAA records, for at most so long. */
static const struct rrset *made_of(struct query *q, const struct netblock *prefix,
				   const struct rrset *s, uint32_t most_s)
{
	struct rrset *made = nat64_embed_set(&q->arena, prefix, s);
	uint32_t now_s = q->env->time->now_s;

	made->ttl_s = MIN(most_s, time_left(now_s, s->expires_s));
	made->expires_s = now_s + made->ttl_s;
	return made;
}

/* A message of our own with copies of all RRsets, which belong to another query. */
static struct message *copy_of(struct query *q, const struct message *m)
{
	struct message *new = arena_copy(&q->arena, m, sizeof(*m));
	unsigned count = message_set_count(m);

	new->q = q->question;
	new->sets = arena_array(&q->arena, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		new->sets[i] = rrset_copy(&q->arena, m->sets[i]);
	new->reason_text = NULL;
	return new;
}

/* RFC 6147 5.1.4: nobody is at an address in ::ffff:0:0/96, so that it counts as none. */
static bool is_excluded(struct slice rd)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return rd.len == 16 && memcmp(rd.at, mapped, sizeof(mapped)) == 0;
}

static unsigned excluded_of(const struct rrset *s)
{
	struct rrset_walk w = rrset_records(s);
	unsigned count = 0;

	if (s->type != TYPE_AAAA || s->class_ != CLASS_IN)
		return 0;
	for (struct slice rd; rrset_next(&w, &rd);)
		count += is_excluded(rd);
	return count;
}

static bool has_excluded(const struct message *m)
{
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		if (excluded_of(m->sets[i]))
			return true;
	}
	return false;
}

/* The other addresses of the set, of which there are some. */
static const struct rrset *others_of(struct query *q, const struct rrset *s)
{
	struct slice *records = arena_array(&q->arena, struct slice, s->count);
	struct rrset_walk w = rrset_records(s);
	struct rrset_parts p = { .owner = rrset_owner(s),
				 .type = s->type,
				 .class_ = s->class_,
				 .ttl_s = s->ttl_s,
				 .expires_s = s->expires_s,
				 .records = records,
				 .trust = s->trust,
				 .security = SECURITY_INSECURE };

	for (struct slice rd; rrset_next(&w, &rd);)
		if (!is_excluded(rd))
			records[p.count++] = rd;
	return rrset_build(&q->arena, &p);
}

/* The answer without such addresses: what is left of it is not proven. */
static struct message *without_excluded(struct query *q, const struct message *m)
{
	struct message *new = copy_of(q, m);
	unsigned answers = m->count[SECTION_ANSWER], count = 0;

	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *s = new->sets[i];
		unsigned excluded = i < answers ? excluded_of(s) : 0;

		if (excluded == s->count)
			new->count[SECTION_ANSWER]--;
		else
			new->sets[count++] = excluded ? others_of(q, s) : s;
	}
	new->made_up = true;
	new->security = SECURITY_INSECURE;
	return new;
}

static bool is_failure(const struct message *m)
{
	return (m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN) ||
	       m->security == SECURITY_BOGUS;
}

/* RFC 6147 5.1.7: no longer than the negative answer for AAAA is valid. */
static uint32_t most_ttl(const struct query *q, const struct dns64 *d)
{
	uint32_t ttl_s = UINT32_MAX;

	if (d->own && !is_failure(d->own))
		ttl_s = message_ttl(d->own, q->env->time->now_s, UINT32_MAX);
	return d->own && !message_soa(d->own) ? MIN(ttl_s, (uint32_t)UNTOLD_TTL_S) : ttl_s;
}

static struct message *with_addresses(struct query *q, const struct dns64 *d,
				      const struct message *m)
{
	struct message *new = copy_of(q, m);
	uint32_t ttl_s = most_ttl(q, d);

	for (unsigned i = 0; i < new->count[SECTION_ANSWER]; i++) {
		if (new->sets[i]->type == TYPE_A)
			new->sets[i] = made_of(q, &d->prefix, new->sets[i], ttl_s);
	}
	new->made_up = true;
	/* 5.5: secure only if the absence of AAAA records is secure, too */
	if (d->own)
		new->security = MIN(new->security, d->own->security);
	if (new->security == SECURITY_UNCHECKED)
		new->security = SECURITY_INSECURE;
	return new;
}

/* The answer for the in-addr.arpa name, given for the ip6.arpa name that was asked for. */
static struct message *with_name(struct query *q, const struct message *m)
{
	struct message *new = copy_of(q, m);

	for (unsigned i = 0; i < new->count[SECTION_ANSWER]; i++) {
		if (dname_equals(rrset_owner(new->sets[i]), m->q.name))
			new->sets[i] = rrset_rename(&q->arena, new->sets[i], q->question.name, 0);
	}
	if (m->security != SECURITY_BOGUS)
		new->security = SECURITY_INSECURE;
	new->made_up = true;
	return new;
}

/* ---- the names by which clients find the prefix: RFC 7050, RFC 8880 7 ---- */

static const uint8_t finding[] = "\10ipv4only\4arpa";
static const uint8_t well_known[2][4] = { { 192, 0, 0, 170 }, { 192, 0, 0, 171 } };

/* The one of them that a name is at or below; NULL: none. */
static const uint8_t *finding_above(const uint8_t *name)
{
	static const uint8_t *const names[] = {
		finding,
		(const uint8_t *)"\003170\0010\0010\003192\7in-addr\4arpa",
		(const uint8_t *)"\003171\0010\0010\003192\7in-addr\4arpa",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (dname_is_under(name, names[i]))
			return names[i];
	return NULL;
}

/* What is there, of the type asked for; NULL: nothing. */
static const struct rrset *found_at(struct query *q, const struct dns64 *d, const uint8_t *name)
{
	struct slice addresses[] = { { well_known[0], 4 }, { well_known[1], 4 } };
	struct slice back = { finding, sizeof(finding) };
	bool forth = name == finding;
	struct rrset_parts p = { .owner = q->question.name,
				 .type = forth ? TYPE_A : TYPE_PTR,
				 .class_ = CLASS_IN,
				 .ttl_s = FINDING_TTL_S,
				 .expires_s = q->env->time->now_s + FINDING_TTL_S,
				 .records = forth ? addresses : &back,
				 .count = forth ? COUNT(addresses) : 1,
				 .security = SECURITY_INSECURE };
	const struct rrset *s = rrset_build(&q->arena, &p);

	if (forth && q->question.type == TYPE_AAAA)
		return nat64_embed_set(&q->arena, &d->prefix, s);
	return q->question.type == p.type ? s : NULL;
}

/* Such names are answered from here, but for DS, which shows that they are not signed. */
static bool answers_finders(struct query *q, const struct dns64 *d)
{
	const uint8_t *name = finding_above(q->question.name);
	const struct rrset *found = NULL;
	struct message *m;

	if (!name || q->question.class_ != CLASS_IN || q->question.type == TYPE_DS)
		return false;
	m = arena_new(&q->arena, struct message);
	*m = (struct message){ .q = q->question,
			       .flags = FLAG_QR,
			       .security = SECURITY_INSECURE,
			       .made_up = true };
	if (dname_equals(q->question.name, name))
		found = found_at(q, d, name);
	else
		m->rcode = RCODE_NXDOMAIN;
	if (found) {
		m->sets = arena_array(&q->arena, const struct rrset *, 1);
		m->sets[0] = found;
		m->count[SECTION_ANSWER] = 1;
	}
	q->reply = m;
	return true;
}

/* ---- events ---- */

/* Nothing could be synthesized: reply with the name's own answer. */
static enum step fall_back(struct query *q, struct dns64 *d)
{
	d->done = true;
	if (!d->own)
		return STEP_DOWN;
	q->reply = d->own;
	return STEP_UP;
}

/* RFC 6147 5.1.6: an error in place of the A records is passed on to the client. */
static enum step fail_like(struct query *q, struct dns64 *d, const struct message *m)
{
	struct message *failure = arena_new(&q->arena, struct message);
	bool bogus = m->security == SECURITY_BOGUS;

	*failure = (struct message){ .q = q->question,
				     .flags = FLAG_QR,
				     .rcode = bogus ? RCODE_SERVFAIL : m->rcode,
				     .security = SECURITY_INSECURE,
				     .made_up = true,
				     .reason = m->reason };
	d->done = true;
	q->reply = failure;
	return STEP_UP;
}

static enum step on_ask(struct query *q, struct dns64 *d)
{
	uint16_t type = q->question.type;

	d->done = !netblock_parse(&d->prefix, conf_of(q)->dns64_prefix, NULL);
	if (!d->done && answers_finders(q, d))
		return STEP_UP;
	d->done |= is_for_others(q);
	if (d->done)
		return STEP_DOWN;
	if (type == TYPE_PTR && ask_reverse(q, d))
		return STEP_WAIT;
	if (type == TYPE_AAAA && is_bare(q) && ask_for(q, d, q->question.name, TYPE_A))
		return STEP_WAIT;
	return STEP_DOWN;
}

static enum step on_answer(struct query *q, struct dns64 *d)
{
	const struct message *m = q->reply;

	if (q->question.type != TYPE_AAAA || q->stopped || q->ecs.need == ECS_REQUIRED)
		return STEP_UP;
	if (d->done) {
		bool differs = is_bare(q) || !has_type(m, TYPE_AAAA) || has_excluded(m);

		/* a client that sets CD gets the plain answer, which must not be kept for others */
		q->no_store |= differs && q->depth == 0 && q->kind & QUERY_CD;
		/* what a lookup of our own finds is not what clients are told, who do not find it as long as it is
		 * unchecked */
		q->no_message |= differs && q->depth && (m->security != SECURITY_UNCHECKED || !q->snapshot->trust);
		return STEP_UP;
	}
	/* 5.1.2, 5.1.3: an error or a timeout counts as an empty answer; a bogus one does not */
	if (m->rcode == RCODE_NXDOMAIN || m->security == SECURITY_BOGUS)
		return STEP_UP;
	if (has_excluded(m))
		q->reply = without_excluded(q, m);
	if (has_type(q->reply, TYPE_AAAA))
		return STEP_UP;
	d->own = q->reply;
	return ask_for(q, d, q->question.name, TYPE_A) ? STEP_WAIT : STEP_UP;
}

static enum step on_child(struct query *q, struct dns64 *d, const struct query *child)
{
	const struct message *m = child->reply;

	if (!d->asked)
		return STEP_STUCK;
	q->no_store |= child->no_store;
	if (UNLIKELY(subnet_groups_depend(q, child))) {
		d->done = true;
		return STEP_DOWN;
	}
	if (d->for_name) {
		rpz_match_inherit(q, child);
		q->reply = with_name(q, m);
		return STEP_UP;
	}
	if (is_failure(m) && d->own)
		return fail_like(q, d, m);
	if (m->rcode != RCODE_NOERROR || m->security == SECURITY_BOGUS || !has_type(m, TYPE_A))
		return fall_back(q, d);
	rpz_match_inherit(q, child);
	q->own = d->own;
	q->reply = with_addresses(q, d, m);
	return STEP_UP;
}

static enum step operate(struct query *q, void *state, const struct event *ev)
{
	struct dns64 *d = state;

	switch (ev->kind) {
	case EVENT_ASK:
		return on_ask(q, d);
	case EVENT_ANSWER:
		return on_answer(q, d);
	case EVENT_CHILD:
		return on_child(q, d, ev->child);
	default:
		return STEP_STUCK;
	}
}

/* Apart from its child, which the mesh knows of, it waits for nothing. */
static bool waits(const void *state)
{
	(void)state;
	return false;
}

const struct module dns64_module = {
	.name = "dns64",
	.state_size = sizeof(struct dns64),
	.wakes = WAKE_CHILD,
	.operate = operate,
	.waits = waits,
};
