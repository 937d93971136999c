/* Keeping transferred zones current: rounds, URLs, taking over what came, NOTIFY, and the timers of
 * the SOA record (RFCs 1034 4.3.5, 1996).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/xfer/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/xfer/notify_senders.h"
#include "services/xfer/private.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define FIRST_US      US_PER_MS /* until a missing zone is fetched */
#define NOTIFY_US     US_PER_S  /* from one round to the next for a NOTIFY, where there have been many … */
#define NOTIFY_BURST  4         /* … which is so many */
#define BACKOFF_S     10        /* first retry, when the zone has no data yet */
#define BACKOFF_MAX_S 3600
#define REFRESH_S     3600 /* of a zone without SOA record, from a URL */
#define AT_FIRST_S    10   /* a zone from a file may be old: ask its primaries soon */

static void next_url(struct task *t);

static const char *name_of(const struct task *t, char buf[DNAME_TEXT])
{
	return dname_print(t->z->name, buf);
}

static const struct authzones *zones_of(const struct task *t)
{
	return t->snapshot->zones;
}

static void task_free(struct task *t)
{
	snapshot_unpin(t->snapshot);
	xfr_clear(&t->xfr);
	zonejob_clear(&t->job);
	zonedata_retire(t->got);
	zonedata_retire(t->file);
	mem_free(t->authorities);
	arena_clear(&t->scratch);
	arena_clear(&t->arena);
	mem_free(t);
}

/* ---- the end of a round ---- */

static void end_round(struct task *t)
{
	t->phase = PHASE_IDLE;
	xfr_clear(&t->xfr);
	arena_clear(&t->scratch);
}

/* A file was read meanwhile, or its records could not be verified: the timer is set for that. */
static bool verifies_soon(struct task *t)
{
	if (t->file)
		timer_set(t->xfers->env->loop, &t->timer, FIRST_US);
	return t->file != NULL;
}

/* It belongs to the zone, since tasks are made anew with each snapshot. */
static void renew_lease(struct task *t)
{
	atomic_store(&t->z->cell->lease_s, xfer_time(t)->now_s);
	atomic_store(&t->z->cell->leased, true);
}

static uint32_t lease_ends_s(const struct task *t, const struct zonedata *z)
{
	return atomic_load(&t->z->cell->lease_s) + z->expire_s;
}

/* How long a NOTIFY has to wait (a leaky bucket: each round adds a second, of which as many are free as NOTIFY_BURST says). */
static uint64_t notify_wait_us(const struct task *t)
{
	uint64_t free_us = xfer_time(t)->now_us + (NOTIFY_BURST - 1) * NOTIFY_US;

	return t->paid_until_us > free_us ? t->paid_until_us - free_us : 0;
}

static void rest(struct task *t, uint32_t s)
{
	const struct zonedata *z = xfer_have(t);

	end_round(t);
	if (verifies_soon(t))
		return;
	if (z) {
		uint32_t left = time_left(xfer_time(t)->now_s, lease_ends_s(t, z));

		s = left ? MIN(s, left) : s;
	}
	if (t->again)
		timer_set(t->xfers->env->loop, &t->timer, FIRST_US);
	else if (t->notified)
		timer_set(t->xfers->env->loop, &t->timer, MAX(notify_wait_us(t), FIRST_US));
	else
		xfer_wait_s(t, s);
	t->again = t->notified = false;
}

static uint32_t refresh_of(const struct zonedata *z)
{
	if (!z)
		return REFRESH_S;
	return z->refresh_s ? z->refresh_s : 1;
}

static void succeeded(struct task *t)
{
	const struct zonedata *z = xfer_have(t);

	renew_lease(t);
	t->backoff_s = 0;
	atomic_store(&t->z->cell->expired, false);
	rest(t, refresh_of(z));
}

static void failed(struct task *t)
{
	const struct zonedata *z = xfer_have(t);
	char name[DNAME_TEXT];

	log_rare_of("notice", zone, LOG_FACTS(LOG_TEXT(zone, name_of(t, name))),
		    "%s %s: transfer failed from every primary", t->z->clause, name);
	if (z && !atomic_load(&t->z->cell->expired) &&
	    time_is_past(xfer_time(t)->now_s, lease_ends_s(t, z))) {
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, name)), "%s %s: zone expired", t->z->clause, name);
		atomic_store(&t->z->cell->expired, true);
	}
	t->backoff_s = t->backoff_s ? MIN(t->backoff_s * 2, BACKOFF_MAX_S) : BACKOFF_S;
	rest(t, z && z->retry_s ? z->retry_s : t->backoff_s);
}

/* ---- what was fetched ---- */

static void start_job(struct task *t, enum zonejob_kind kind, void (*done)(struct zonejob *job))
{
	t->phase = PHASE_JOB;
	t->job.kind = kind;
	t->job.zones = zones_of(t);
	t->job.z = t->z;
	t->job.done = done;
	zonejob_start(&t->job, t->xfers->env);
}

/* Whether the task was stopped while its job ran; if so, it is freed here. */
static bool is_orphan(struct task *t)
{
	struct task **at = &t->xfers->orphans;

	if (!t->dead)
		return false;
	while (*at != t)
		at = &(*at)->next_orphan;
	*at = t->next_orphan;
	task_free(t);
	return true;
}

static void on_saved(struct zonejob *job)
{
	struct task *t = container_of(job, struct task, job);
	const struct env *env = t->xfers->env;
	char name[DNAME_TEXT];

	if (job->why.set)
		log_rare_of("error", zone, LOG_FACTS(LOG_TEXT(zone, name_of(t, name)), LOG_TEXT(reason, job->why.text)),
			    "%s %s: %s", t->z->clause, name, job->why.text);
	if (job->outdated)
		env->forget(env->purge_arg, job->outdated);
	job->outdated = NULL;
	if (!is_orphan(t))
		succeeded(t);
}

static void take_over(struct task *t, struct zonedata *got)
{
	char name[DNAME_TEXT];

	log_ops_of(zone,
		   LOG_FACTS(LOG_TEXT(zone, name_of(t, name)), LOG_COUNT(serial, got->serial), LOG_COUNT(records, got->records)),
		   "%s %s: serial %u, %zu records", t->z->clause, name, got->serial, got->records);
	t->job.former = authzone_publish(t->z, got, true);
	atomic_store(&t->z->cell->since, xfer_time(t)->wall_s);
	start_job(t, ZONEJOB_SAVE, on_saved);
}


static bool comes_from_elsewhere(const struct task *t)
{
	return t->primary_count || t->z->urls->count;
}

/* Set the timer of the next round, when nothing is in progress. */
static void schedule(struct task *t)
{
	const struct zonedata *have = xfer_have(t);

	if (verifies_soon(t) || !comes_from_elsewhere(t))
		return;
	if (have && t->xfers->env->loader)
		xfer_wait_s(t, MIN(refresh_of(have), (uint32_t)AT_FIRST_S));
	else if (have) /* a replayed scenario: its time starts with its files */
		xfer_wait_s(t, refresh_of(have));
	else
		timer_set(t->xfers->env->loop, &t->timer, FIRST_US);
}

/* The records of a file do not hold, or what shows it could not be asked yet (a router that starts
 * before its network does): where nobody else has the zone, look again later. */
static void file_fails(struct task *t, struct zonedata *got)
{
	t->from_file = false;
	end_round(t);
	if (t->file || comes_from_elsewhere(t)) {
		zonedata_retire(got);
		schedule(t);
		return;
	}
	t->file = got;
	t->backoff_s = t->backoff_s ? MIN(t->backoff_s * 2, BACKOFF_MAX_S) : BACKOFF_S;
	xfer_wait_s(t, t->backoff_s);
}

/* The verdict about the new data: `holds`, or its signatures do not. */
static void verified(struct task *t, bool holds)
{
	bool permissive = t->snapshot->conf->server.zonemd_permissive_mode;
	struct zonedata *got = t->got;
	char name[DNAME_TEXT];

	t->got = NULL;
	if (t->dead) {
		zonedata_retire(got);
		task_free(t);
		return;
	}
	if (!holds)
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, name_of(t, name))),
			    "%s %s: DNSSEC validation of the zone failed%s", t->z->clause, name,
			    permissive ? "; used anyway (zonemd-permissive-mode)" : "");
	if (!holds && !permissive) {
		if (t->from_file) {
			file_fails(t, got);
			return;
		}
		zonedata_retire(got);
		if (t->from_url) {
			t->marks[t->url_at] = (struct fetch_mark){ 0 };
			next_url(t);
		} else {
			xfer_next_address(t);
		}
		return;
	}
	if (t->from_file) {
		t->from_file = false;
		t->backoff_s = 0;
		zonedata_retire(authzone_publish(t->z, got, true)); /* none: they were withdrawn */
		end_round(t);
		schedule(t);
	} else {
		take_over(t, got);
	}
}

/* A zone that its parent proves to be unsigned, or not to be there at all, has no chain of trust. */
static void on_parent(void *arg, const struct message *reply)
{
	verified(arg, reply->security == SECURITY_SECURE && message_is_denial(reply));
}

/* Where it has a trust anchor of its own, no zone above has a say. */
static bool is_island(const struct task *t)
{
	const struct env *e = t->xfers->env;
	const struct query nobody = { .snapshot = t->snapshot };
	const uint8_t *point =
		e->trust_point ? e->trust_point(&nobody, t->z->name, TYPE_ZONEMD) : NULL;

	return point && dname_equals(point, t->z->name);
}

/* What was validated may have come from the zone's servers, where the new records did not hold. */
static bool is_of(const struct message *reply, const struct zonedata *got)
{
	const struct rrset *own = zonenode_set(zonedata_node(got, got->apex), TYPE_ZONEMD);
	const struct rrset *proven =
		message_find(reply, SECTION_ANSWER, got->apex, TYPE_ZONEMD, CLASS_IN);

	return own && proven ? rrset_same_records(own, proven) : !own && !proven;
}

static void on_verified(void *arg, const struct message *reply)
{
	struct task *t = arg;
	bool holds = reply->rcode != RCODE_SERVFAIL && reply->security != SECURITY_BOGUS &&
		     (reply->security != SECURITY_SECURE || is_of(reply, t->got));
	struct question q = { .name = t->z->name,
			      .name_len = (uint16_t)dname_len(t->z->name),
			      .type = TYPE_DS,
			      .class_ = CLASS_IN };

	if (!t->dead)
		authzone_propose(t->z, NULL);
	if (holds || t->dead || q.name_len == 1 || is_island(t))
		verified(t, holds);
	else
		mesh_resolve(t->xfers->env->mesh, &q, 0, on_parent, t);
}

/* Where there is a chain of trust, the digest is only as good as the signature of its record:
 * validate the ZONEMD of the new data. */
static void verify(struct task *t, struct zonedata *got)
{
	struct question q = { .name = t->z->name,
			      .name_len = (uint16_t)dname_len(t->z->name),
			      .type = TYPE_ZONEMD,
			      .class_ = CLASS_IN };

	t->phase = PHASE_VERIFY;
	t->got = got;
	authzone_propose(t->z, got);
	mesh_resolve(t->xfers->env->mesh, &q, QUERY_NO_CACHE, on_verified, t);
}

static void verify_file(struct task *t)
{
	struct zonedata *got = t->file;

	t->file = NULL;
	t->from_file = true;
	verify(t, got);
}

/* Records of a file that are to be verified first are not served before. */
static void take_file(struct task *t)
{
	bool checks = t->z->wants_digest && t->snapshot->trust;
	struct zonedata *waits = checks ? authzone_take_unverified(t->z) : NULL;

	if (!waits)
		return;
	zonedata_retire(t->file);
	t->file = waits;
}

/* The records are complete, and right as far as their digest shows. */
static void take_records(struct task *t, struct zonedata *got)
{
	if (t->z->wants_digest && t->snapshot->trust)
		verify(t, got);
	else
		take_over(t, got);
}

/* The task of a job that has ended, and what that made; NULL when nobody wants it any more. */
static struct task *end_job(struct zonejob *job, struct zonedata **got)
{
	struct task *t = container_of(job, struct task, job);

	*got = job->got;
	job->got = NULL;
	if (t->dead)
		zonedata_free(*got);
	return is_orphan(t) ? NULL : t;
}

static void on_put_together(struct zonejob *job)
{
	struct zonedata *got;
	struct task *t = end_job(job, &got);
	char name[DNAME_TEXT];

	if (!t)
		return;
	if (got) {
		take_records(t, got);
		return;
	}
	log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, name_of(t, name)), LOG_TEXT(reason, job->why.text)),
		    "%s %s: transfer rejected: %s", t->z->clause, name, job->why.text);
	t->phase = PHASE_TRANSFER;
	xfer_next_address(t);
}

static void put_together(struct task *t)
{
	t->from_url = false;
	t->job.build = t->xfr.build;
	t->job.differs = t->xfr.differs;
	t->job.base = t->xfr.base;
	t->job.goal = t->xfr.goal;
	t->xfr.build = NULL;
	start_job(t, ZONEJOB_FINISH, on_put_together);
}

/* ---- URLs, tried before the primaries ---- */

static void on_fetched(struct zonejob *job)
{
	struct zonedata *got;
	struct task *t = end_job(job, &got);
	char name[DNAME_TEXT];

	if (!t)
		return;
	t->marks[t->url_at] = job->mark;
	t->from_url = true;
	if (job->same) {
		succeeded(t);
	} else if (got) {
		take_records(t, got);
	} else {
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, name_of(t, name)), LOG_TEXT(reason, job->why.text)),
			    "%s %s: %s", t->z->clause, name, job->why.text);
		next_url(t);
	}
}

static void fetch_url_at(struct task *t)
{
	t->job.url = t->z->urls->items[t->url_at].text;
	t->job.authorities = t->authorities;
	t->job.nat64[0] = t->snapshot->conf->server.dns64_prefix;
	t->job.nat64[1] = t->snapshot->conf->server.nat64_prefix;
	/* data we no longer have is fetched unconditionally */
	t->job.mark = authzone_stored(t->z) ? t->marks[t->url_at] : (struct fetch_mark){ 0 };
	start_job(t, ZONEJOB_FETCH, on_fetched);
}

static void next_url(struct task *t)
{
	if (++t->url_at < t->z->urls->count)
		fetch_url_at(t);
	else
		xfer_try_primary(t);
}

static void begin_round(struct task *t)
{
	t->at = t->url_at = 0;
	t->current = false;
	t->begun_us = xfer_time(t)->now_us;
	t->paid_until_us = MAX(t->paid_until_us, t->begun_us) + NOTIFY_US;
	authhosts_refresh(t->hosts);
	if (t->z->urls->count)
		fetch_url_at(t);
	else
		xfer_try_primary(t);
}

static void on_timer(struct timer *timer)
{
	struct task *t = container_of(timer, struct task, timer);

	if (t->phase == PHASE_TRANSFER)
		xfer_end_transfer(t);
	else if (t->phase == PHASE_IDLE && t->file)
		verify_file(t);
	else if (t->phase == PHASE_IDLE)
		begin_round(t);
}

/* All that could be asked has been, or a transfer is complete. */
static void on_round(struct task *t, enum round_end how)
{
	switch (how) {
	case ROUND_CURRENT:
		succeeded(t);
		break;
	case ROUND_FAILED:
		failed(t);
		break;
	case ROUND_COMPLETE:
		put_together(t);
		break;
	case ROUND_STOPPED:
		task_free(t);
		break;
	}
}

/* ---- tasks ---- */

static struct task *task_new(struct xfers *x, const struct authzone *z)
{
	const struct conf_list *list = z->primaries;
	struct task *t = mem_zero(sizeof(*t));

	t->xfers = x;
	t->z = z;
	t->snapshot = snapshot_pin(x->env->snapshot);
	t->timer.fire = on_timer;
	t->done = on_round;
	if (!atomic_load(&z->cell->leased))
		renew_lease(t);
	arena_init(&t->arena);
	arena_init(&t->scratch);
	t->hosts = authhosts_new(x->env, z);
	if (*t->snapshot->conf->server.tls_cert_bundle)
		t->authorities = conf_path(t->snapshot->conf,
					   t->snapshot->conf->server.tls_cert_bundle);
	t->marks = arena_zeros(&t->arena, z->urls->count + 1, sizeof(*t->marks));
	t->primaries = arena_zeros(&t->arena, list->count + 1, sizeof(*t->primaries));
	for (size_t i = 0; i < list->count; i++)
		if (primary_read(&t->arena, list->items[i].text, &t->primaries[t->primary_count]))
			t->primary_count++;
	return t;
}

/* A callback pending in the mesh or the loader cannot be cancelled: then it frees the task. */
static void task_stop(struct task *t)
{
	timer_stop(t->xfers->env->loop, &t->timer);
	if (t->ask)
		upstream_cancel(t->ask);
	xfer_stop_sending(t);
	if (t->phase == PHASE_VERIFY)
		authzone_propose(t->z, NULL);
	authhosts_free(t->hosts);
	t->hosts = NULL;
	t->dead = t->phase == PHASE_LOOKUP || t->phase == PHASE_VERIFY || t->phase == PHASE_JOB;
	if (!t->dead) {
		task_free(t);
	} else if (t->phase == PHASE_JOB) {
		t->next_orphan = t->xfers->orphans;
		t->xfers->orphans = t;
	}
}

static void task_start(struct task *t)
{
	take_file(t);
	if (t->file)
		verify_file(t);
	else
		schedule(t);
}

void xfers_renew(struct xfers *x)
{
	const struct authzones *zones = x->env->snapshot->zones;

	/* only forwarders have changed: what is under way goes on */
	if (x->count && zones_of(x->tasks[0]) == zones)
		return;
	for (size_t i = 0; i < x->count; i++)
		task_stop(x->tasks[i]);
	mem_free(x->tasks);
	x->tasks = mem_array(zones->count + 1, sizeof(*x->tasks));
	x->count = 0;
	for (size_t i = 0; i < zones->count; i++) {
		struct task *t = x->tasks[x->count++] = task_new(x, &zones->items[i]);

		atomic_store(&zones->items[i].cell->home, x);
		task_start(t);
	}
}

struct xfers *xfers_new(struct env *env)
{
	struct xfers *x = mem_zero(sizeof(*x));

	x->env = env;
	return x;
}

void xfers_free(struct xfers *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->count; i++) {
		atomic_store(&x->tasks[i]->z->cell->home, NULL);
		task_stop(x->tasks[i]);
	}
	/* the loader has ended: no callback will come for these */
	while (x->orphans) {
		struct task *t = x->orphans;

		x->orphans = t->next_orphan;
		task_free(t);
	}
	mem_free(x->tasks);
	mem_free(x);
}

/* ---- requests from other threads ---- */

enum poke_kind { POKE_ASK, POKE_NOTIFY, POKE_CHECK };

struct poke {
	struct xfers *xfers;
	const struct zonecell *cell;
	enum poke_kind kind;
};

static void check_file(struct task *t)
{
	if (t->phase == PHASE_IDLE)
		task_start(t);
	else
		take_file(t); /* verified when the round is over */
}

static void ask_primaries(struct task *t, bool notified)
{
	uint64_t wait_us = notified ? notify_wait_us(t) : 0;

	if (!comes_from_elsewhere(t))
		return;
	if (t->phase != PHASE_IDLE && notified)
		t->notified = true;
	else if (t->phase != PHASE_IDLE)
		t->again = true;
	else if (wait_us && !t->file)
		timer_set(t->xfers->env->loop, &t->timer, wait_us);
	else if (!wait_us)
		begin_round(t);
}

static void on_poke(void *arg)
{
	struct poke *p = arg;

	for (size_t i = 0; i < p->xfers->count; i++) {
		struct task *t = p->xfers->tasks[i];

		if (t->z->cell != p->cell)
			continue;
		if (p->kind == POKE_CHECK)
			check_file(t);
		else
			ask_primaries(t, p->kind == POKE_NOTIFY);
	}
	mem_free(p);
}

static void poke(const struct authzone *z, enum poke_kind kind)
{
	struct xfers *x = atomic_load(&z->cell->home);
	struct poke *p;

	if (!x)
		return;
	p = mem_zero(sizeof(*p));
	*p = (struct poke){ .xfers = x, .cell = z->cell, .kind = kind };
	loop_post(x->env->loop, on_poke, p);
}

void xfers_poke(const struct authzone *z)
{
	poke(z, POKE_ASK);
}

void xfers_notified(const struct authzone *z)
{
	poke(z, POKE_NOTIFY);
}

void xfers_check(const struct authzone *z)
{
	poke(z, POKE_CHECK);
}
