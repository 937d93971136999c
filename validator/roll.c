/* Probing the rolling trust anchors (RFC 5011), one at a time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/roll.h"

#include "services/mesh/mesh.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/autotrust.h"
#include "validator/clock.h"
#include "validator/keycache.h"
#include "validator/trust.h"
#include "validator/verify.h"

#define CLOCK_S 10u /* between looks at a clock known to be wrong */
#define CHECKS 32 /* budget of signature checks per probe */

struct roll {
	struct env *env;
	struct timer timer;
	struct probe *out;      /* under way, or NULL */
};

/* One query for an anchor's keys. The roll may abandon it; it is freed when the mesh answers. */
struct probe {
	struct roll *roll;              /* NULL: abandoned */
	struct snapshot *snapshot;      /* pinned: whose anchors these are */
	struct autotrust *point;
	unsigned tries;
};

static struct anchors *anchors_of(const struct snapshot *s)
{
	return s->trust ? s->trust->anchors : NULL;
}

/* ---- when ---- */

/* The point to probe next, and how long until then; NULL when there is none. */
static struct autotrust *next_point(const struct roll *r, uint32_t *wait_s)
{
	const struct anchors *a = anchors_of(r->env->snapshot);
	struct autotrust *first = NULL;

	for (size_t i = 0; a && i < anchors_rolling_count(a); i++) {
		struct autotrust *p = anchors_rolling(a, i);
		uint32_t s = autotrust_wait_s(p, r->env->time->wall_s);

		if (!p->revoked && (!first || s < *wait_s)) {
			first = p;
			*wait_s = s;
		}
	}
	return first;
}

/* Whether the clock is known to be wrong: then anchors are not rolled. */
static bool has_no_clock(const struct roll *r)
{
	return clock_is_behind(r->env->snapshot->trust, r->env->time->wall_s);
}

static void wait_for_next(struct roll *r)
{
	uint32_t wait_s;

	if (!r->out && next_point(r, &wait_s))
		timer_set(r->env->loop, &r->timer,
			  (has_no_clock(r) ? MAX(wait_s, CLOCK_S) : wait_s) * US_PER_S);
}

/* ---- the results of a probe ---- */

static void say(void *arg, const char *sentence)
{
	(void)arg;
	log_line_of("notice", trust_anchor, NULL, "%s", sentence);
}

static void write_file(struct autotrust *p)
{
	struct fault f = { 0 };

	if (p->path && !autotrust_write(p, &f))
		log_rare_of("error", trust_anchor, LOG_FACTS(LOG_TEXT(reason, f.text)),
			    "the trust anchor file is not up to date: %s", f.text);
}

static void obey(struct roll *r, const struct probe *p, unsigned actions)
{
	char name[DNAME_TEXT];

	if (actions & (AUTOTRUST_KEYS | AUTOTRUST_GONE)) {
		anchors_republish(anchors_of(p->snapshot), p->point);
		if (r->env->keys)
			keycache_forget(r->env->keys, p->point->owner, false);
	}
	if (actions & AUTOTRUST_GONE)
		log_line_of("warning", trust_anchor, LOG_FACTS(LOG_TEXT(zone, dname_print(p->point->owner, name))),
			    "all keys of trust anchor %s are revoked: names below it are not validated any more", name);
	if (actions & AUTOTRUST_FAILED)
		log_detail_of(trust_anchor, LOG_FACTS(LOG_TEXT(zone, dname_print(p->point->owner, name))),
			      "the DNSKEY RRset of trust anchor %s could not be fetched or is bogus", name);
	if (actions & AUTOTRUST_WRITE)
		write_file(p->point);
}

/* Takes a step with the keys received (NULL: none). True: they are not believed, and another server
 * may give others. */
static bool learn(struct roll *r, const struct probe *p, const struct rrset *dnskeys)
{
	int64_t due = p->point->next_probe;
	unsigned actions;
	int purse = CHECKS;
	struct arena a;
	struct autotrust_how how;
	struct verify_how verify = {
		.rules = &p->snapshot->trust->rules,
		.arena = &a,
		.now = rules_now(&p->snapshot->trust->rules, r->env->time->wall_s),
		.signatures = &purse,
	};
	struct autotrust_step step = {
		.verify = &verify,
		.how = &how,
		.random = r->env->random,
		.now = r->env->time->wall_s,
		.dnskeys = dnskeys,
		.say = say,
	};

	arena_init(&a);
	autotrust_how_read(&how, p->snapshot->conf);
	actions = autotrust_step(p->point, &step);
	if (actions & AUTOTRUST_FAILED && p != r->out)
		p->point->next_probe = due; /* a set received in passing delays no probe */
	obey(r, p, actions);
	arena_clear(&a);
	return actions & AUTOTRUST_FAILED && step.dnskeys;
}

static const struct rrset *keys_of(const struct probe *p, const struct message *reply)
{
	return reply->rcode == RCODE_NOERROR ?
		       message_find(reply, SECTION_ANSWER, p->point->owner, TYPE_DNSKEY, CLASS_IN) :
		       NULL;
}

static void ask(struct probe *p);

static void probe_done(void *arg, const struct message *reply)
{
	struct probe *p = arg;
	struct roll *r = p->roll;

	if (r) {
		/* without QR the message is not an answer: the query was dropped */
		if (reply->flags & FLAG_QR && p->snapshot->trust == r->env->snapshot->trust &&
		    learn(r, p, keys_of(p, reply)) && p->tries++ < p->snapshot->conf->server.val_max_restart) {
			ask(p);
			return;
		}
		r->out = NULL;
		wait_for_next(r);
	}
	snapshot_unpin(p->snapshot);
	mem_free(p);
}

/* ---- probing ---- */

static void ask(struct probe *p)
{
	struct question q = { .name = p->point->owner,
			      .name_len = (uint16_t)dname_len(p->point->owner),
			      .type = TYPE_DNSKEY, .class_ = CLASS_IN };
	char name[DNAME_TEXT];

	log_detail("fetching the DNSKEY RRset of trust anchor %s", dname_print(q.name, name));
	mesh_resolve(p->roll->env->mesh, &q, QUERY_CD | QUERY_NO_VALIDATE | QUERY_NO_CACHE,
		     probe_done, p);
}

static void probe(struct roll *r, struct autotrust *point)
{
	r->out = mem_zero(sizeof(*r->out));
	*r->out = (struct probe){ .roll = r, .snapshot = snapshot_pin(r->env->snapshot),
				  .point = point };
	ask(r->out);
}

static void fire(struct timer *t)
{
	struct roll *r = container_of(t, struct roll, timer);
	struct autotrust *point;
	uint32_t wait_s;

	if (r->out)
		return;
	point = next_point(r, &wait_s);
	if (point && wait_s == 0 && !has_no_clock(r))
		probe(r, point);
	else
		wait_for_next(r);
}

void roll_hear(struct roll *r, const struct snapshot *s, const struct rrset *dnskeys)
{
	const struct anchors *a = anchors_of(s);
	struct probe heard = { .roll = r, .snapshot = (struct snapshot *)(uintptr_t)s };

	if (s->trust != r->env->snapshot->trust || has_no_clock(r))
		return;
	for (size_t i = 0; a && i < anchors_rolling_count(a); i++) {
		heard.point = anchors_rolling(a, i);
		if (heard.point->revoked || !dname_equals(heard.point->owner, rrset_owner(dnskeys)))
			continue;
		learn(r, &heard, dnskeys);
		wait_for_next(r);
		return;
	}
}

/* ---- life ---- */

struct roll *roll_new(struct env *env)
{
	struct roll *r = mem_zero(sizeof(*r));

	r->env = env;
	r->timer.fire = fire;
	wait_for_next(r);
	return r;
}

void roll_renew(struct roll *r)
{
	if (r->out)
		r->out->roll = NULL;
	r->out = NULL;
	wait_for_next(r);
}

void roll_free(struct roll *r)
{
	if (!r)
		return;
	timer_stop(r->env->loop, &r->timer);
	if (r->out) {
		/* the mesh is gone and will not answer */
		snapshot_unpin(r->out->snapshot);
		mem_free(r->out);
	}
	mem_free(r);
}
