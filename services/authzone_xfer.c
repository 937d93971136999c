/* Zones that are fetched from their primaries: SOA probes, AXFR and IXFR over TCP or TLS, NOTIFY, and
 * the timers of the SOA record (RFC 1034 4.3.5, 1995, 1996, 5936).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone_xfer.h"

#include <stdlib.h>
#include <string.h>

#include "services/authzone.h"
#include "services/authzone_data.h"
#include "services/authzone_hosts.h"
#include "services/authzone_job.h"
#include "services/authzone_primary.h"
#include "services/authzone_stream.h"
#include "services/env.h"
#include "services/mesh.h"
#include "services/snapshot.h"
#include "services/upstream.h"
#include "util/addr.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rr.h"
#include "util/text.h"

#define FIRST_US      US_PER_MS /* until a zone is fetched that is not there */
#define SILENCE_S     30        /* between two messages of a transfer */
#define BACKOFF_S     10        /* at first, when there is nothing yet */
#define BACKOFF_MAX_S 3600
#define ADDRESSES_MAX 8         /* of one primary */
#define REFRESH_S     3600 /* of a zone without SOA record, from a url */
#define AT_FIRST_S    10   /* a zone from a file may be old: its primaries are asked soon */

enum phase { PHASE_IDLE, PHASE_LOOKUP, PHASE_PROBE, PHASE_TRANSFER, PHASE_JOB, PHASE_VERIFY };

/* One zone and what is being done for it. */
struct task {
	struct xfers *xfers;
	struct arena arena;     /* of the primaries */
	struct arena scratch;   /* of one round */
	const struct authzone *z;
	struct snapshot *snapshot; /* pinned: z is part of it */
	struct authhosts *hosts;   /* who may say that it has changed, by name */
	char *authorities;         /* that servers of urls are checked against */
	struct primary *primaries;
	size_t primary_count;
	struct timer timer;
	enum phase phase;
	bool dead;              /* waits for the mesh to call back, then goes */
	bool again;             /* poked meanwhile */
	bool axfr;              /* IXFR was of no use with this primary */
	uint32_t lease_s;       /* when the zone was last known to be right */
	uint32_t backoff_s;
	/* a round: */
	size_t at;              /* the primary that is tried */
	struct addr addrs[ADDRESSES_MAX];
	unsigned addr_count, addr_at;
	uint16_t looking_for;   /* type of address */
	struct upstream_ask *ask;
	struct sending sending;
	bool sent;
	uint8_t query[MSG_HEAD_LEN + DNAME_MAX + 4 + DNAME_MAX + 10 + 2 * DNAME_MAX + 20 + TSIG_ROOM];
	struct xfr xfr;
	struct zonejob job; /* on the loader's thread in PHASE_JOB */
	size_t url_at;
	struct fetch_mark *marks; /* of each url */
	uint64_t bytes, begun_us;
	bool failed, from_file, from_url;
	struct zonedata *got; /* waits to be verified */
	struct task *next_orphan;
};

struct xfers {
	struct env *env;
	struct task **tasks;
	size_t count;
	struct task *orphans; /* whose job is still to come back */
};

static void next_address(struct task *t);
static void next_primary(struct task *t);
static void next_url(struct task *t);

static const char *name_of(const struct task *t, char buf[DNAME_TEXT])
{
	return dname_print(t->z->name, buf);
}

/* What can be built upon: records with a serial number. */
static const struct zonedata *have_of(const struct task *t)
{
	const struct zonedata *z = authzone_stored(t->z);

	return z && z->soa ? z : NULL;
}

static struct timebase *time_of(const struct task *t)
{
	return t->xfers->env->time;
}

static const struct authzones *zones_of(const struct task *t)
{
	return t->snapshot->zones;
}

static void wait_s(struct task *t, uint32_t s)
{
	timer_set(t->xfers->env->loop, &t->timer, (uint64_t)s * US_PER_S);
}

/* ---- the end of a round ---- */

static void end_round(struct task *t)
{
	t->phase = PHASE_IDLE;
	xfr_clear(&t->xfr);
	arena_clear(&t->scratch);
}

static void rest(struct task *t, uint32_t s)
{
	const struct zonedata *z = have_of(t);

	end_round(t);
	if (z) {
		uint32_t left = time_left(time_of(t)->now_s, t->lease_s + z->expire_s);

		s = left ? MIN(s, left) : s;
	}
	if (t->again) {
		t->again = false;
		timer_set(t->xfers->env->loop, &t->timer, FIRST_US);
	} else {
		wait_s(t, s);
	}
}

static uint32_t refresh_of(const struct zonedata *z)
{
	if (!z)
		return REFRESH_S;
	return z->refresh_s ? z->refresh_s : 1;
}

static void round_succeeded(struct task *t)
{
	const struct zonedata *z = have_of(t);

	t->lease_s = time_of(t)->now_s;
	t->backoff_s = 0;
	atomic_store(&t->z->cell->expired, false);
	rest(t, refresh_of(z));
}

static void round_failed(struct task *t)
{
	const struct zonedata *z = have_of(t);
	char name[DNAME_TEXT];

	log_notice("%s %s: no primary could give it", t->z->clause, name_of(t, name));
	if (z && !atomic_load(&t->z->cell->expired) &&
	    time_is_past(time_of(t)->now_s, t->lease_s + z->expire_s)) {
		log_warn("%s %s: it has expired", t->z->clause, name);
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

static void task_free(struct task *t);

/* It was stopped meanwhile: nobody waits for the job any more. */
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
	char name[DNAME_TEXT];

	if (job->why.set)
		log_error("%s %s: %s", t->z->clause, name_of(t, name), job->why.text);
	if (!is_orphan(t))
		round_succeeded(t);
}

static void take_over(struct task *t, struct zonedata *got)
{
	char name[DNAME_TEXT];

	log_ops("%s %s: serial %u, %zu records", t->z->clause, name_of(t, name), got->serial,
		got->records);
	authzone_publish(t->z, got, true);
	atomic_store(&t->z->cell->since, time_of(t)->wall_s);
	start_job(t, ZONEJOB_SAVE, on_saved);
}


static bool comes_from_elsewhere(const struct task *t)
{
	return t->primary_count || t->z->urls->count;
}

/* The next round, when nothing is under way. */
static void schedule(struct task *t)
{
	const struct zonedata *have = have_of(t);

	if (!comes_from_elsewhere(t))
		return;
	if (have && t->xfers->env->loader)
		wait_s(t, MIN(refresh_of(have), (uint32_t)AT_FIRST_S));
	else if (have) /* a played story, whose time begins with its files */
		wait_s(t, refresh_of(have));
	else
		timer_set(t->xfers->env->loop, &t->timer, FIRST_US);
}

static void on_verified(void *arg, const struct message *reply)
{
	struct task *t = arg;
	struct zonedata *got = t->got;
	char name[DNAME_TEXT];

	t->got = NULL;
	if (t->dead) {
		zonedata_retire(got);
		task_free(t);
		return;
	}
	authzone_propose(t->z, NULL);
	if (reply->rcode == RCODE_SERVFAIL || reply->security == SECURITY_BOGUS) {
		log_warn("%s %s: its signatures do not hold", t->z->clause, name_of(t, name));
		zonedata_retire(got);
		if (t->from_file) {
			t->from_file = false;
			end_round(t);
			schedule(t);
		} else if (t->from_url) {
			next_url(t);
		} else {
			next_address(t);
		}
		return;
	}
	if (t->from_file) {
		t->from_file = false;
		authzone_publish(t->z, got, true);
		end_round(t);
		schedule(t);
	} else {
		take_over(t, got);
	}
}

/* The digest is only as good as the signature of its record, where there is a chain of trust. */
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

/* Records that are whole, and right as far as their digest shows. */
static void take_records(struct task *t, struct zonedata *got)
{
	if (t->z->wants_digest && t->snapshot->trust)
		verify(t, got);
	else
		take_over(t, got);
}

static void on_put_together(struct zonejob *job)
{
	struct task *t = container_of(job, struct task, job);
	struct zonedata *got = job->got;
	char name[DNAME_TEXT];

	job->got = NULL;
	if (t->dead)
		zonedata_free(got);
	if (is_orphan(t))
		return;
	if (got) {
		take_records(t, got);
		return;
	}
	log_warn("%s %s: what was transferred cannot be used: %s", t->z->clause, name_of(t, name),
		 job->why.text);
	t->phase = PHASE_TRANSFER;
	next_address(t);
}

static void take_zone(struct task *t)
{
	t->from_url = false;
	t->job.build = t->xfr.build;
	t->job.differs = t->xfr.differs;
	t->job.base = t->xfr.base;
	t->job.goal = t->xfr.goal;
	t->xfr.build = NULL;
	start_job(t, ZONEJOB_SETTLE, on_put_together);
}

/* ---- urls, before all primaries ---- */

static void on_fetched(struct zonejob *job)
{
	struct task *t = container_of(job, struct task, job);
	struct zonedata *got = job->got;
	char name[DNAME_TEXT];

	job->got = NULL;
	if (t->dead)
		zonedata_free(got);
	if (is_orphan(t))
		return;
	t->marks[t->url_at] = job->mark;
	t->from_url = true;
	if (job->same) {
		round_succeeded(t);
	} else if (got) {
		take_records(t, got);
	} else {
		log_warn("%s %s: %s", t->z->clause, name_of(t, name), job->why.text);
		next_url(t);
	}
}

static void fetch_url_at(struct task *t)
{
	t->job.url = t->z->urls->items[t->url_at].text;
	t->job.authorities = t->authorities;
	/* what is not here any more is wanted whatever the server thinks of it */
	t->job.mark = authzone_stored(t->z) ? t->marks[t->url_at] : (struct fetch_mark){ 0 };
	start_job(t, ZONEJOB_FETCH, on_fetched);
}

static void try_primary(struct task *t);

static void next_url(struct task *t)
{
	if (++t->url_at < t->z->urls->count)
		fetch_url_at(t);
	else
		try_primary(t);
}

/* ---- transfer ---- */

static bool is_too_much(const struct task *t)
{
	return t->z->size_most && t->bytes > t->z->size_most;
}

/* The rest is done in a turn of its own: the connection must not be touched from within. */
static void on_settled(struct task *t)
{
	t->sent = false;
	timer_set(t->xfers->env->loop, &t->timer, 0);
}

static bool on_arrived(struct sending *s, const uint8_t *wire, size_t len)
{
	struct task *t = container_of(s, struct task, sending);

	t->bytes += len;
	t->failed = is_too_much(t) || !xfr_take(&t->xfr, wire, len, time_of(t)->wall_s);
	if (!t->failed && !xfr_is_done(&t->xfr)) {
		if (!timer_is_set(&t->timer) || !t->z->time_most_ms)
			wait_s(t, SILENCE_S);
		return false;
	}
	on_settled(t);
	return true;
}

static bool on_strayed(struct sending *s)
{
	(void)s;
	return false;
}

static void on_failed(struct sending *s, enum upstream_end why)
{
	struct task *t = container_of(s, struct task, sending);

	(void)why;
	t->failed = true;
	on_settled(t);
}

static void write_query(struct task *t, const struct zonedata *have)
{
	struct writer w = writer_over(t->query, sizeof(t->query));
	struct question q = { .name = t->z->name,
			      .name_len = (uint16_t)dname_len(t->z->name),
			      .type = t->xfr.axfr ? TYPE_AXFR : TYPE_IXFR,
			      .class_ = CLASS_IN };

	msg_write_query(&w, 0, 0, &q, NULL);
	if (!t->xfr.axfr) {
		struct slice soa = rrset_record(have->soa, 0);

		put_u16(t->query + 8, 1);
		write_bytes(&w, t->z->name, q.name_len);
		write_u16(&w, TYPE_SOA);
		write_u16(&w, CLASS_IN);
		write_u32(&w, have->soa->ttl_s);
		write_u16(&w, (uint16_t)soa.len);
		write_bytes(&w, soa.at, soa.len);
	}
	if (t->z->key)
		tsig_sign_question(&t->xfr.talk, t->z->key, t->query, &w, time_of(t)->wall_s);
	t->sending.len = writer_len(&w);
}

static void fetch(struct task *t)
{
	const struct zonedata *have = have_of(t);
	const struct primary *p = &t->primaries[t->at];
	struct transport *stream = upstream_stream(t->xfers->env->upstream);
	uint32_t limit_ms = t->z->time_most_ms;

	t->phase = PHASE_TRANSFER;
	t->axfr |= !have;
	t->failed = false;
	t->bytes = 0;
	xfr_begin(&t->xfr, t->z->name, t->axfr, have);
	t->sending = (struct sending){ .to = t->addrs[t->addr_at],
				       .tls = p->tls_name != NULL,
				       .tls_name = p->tls_name,
				       .wire = t->query,
				       .many = true,
				       .arrived = on_arrived,
				       .strayed = on_strayed,
				       .failed = on_failed };
	write_query(t, have);
	t->sent = true;
	if (limit_ms)
		timer_set(t->xfers->env->loop, &t->timer, (uint64_t)limit_ms * US_PER_MS);
	else
		wait_s(t, SILENCE_S);
	stream->ops->send(stream, &t->sending);
}

static void stop_sending(struct task *t)
{
	struct transport *stream = upstream_stream(t->xfers->env->upstream);

	if (t->sent)
		stream->ops->cancel(stream, &t->sending);
	t->sent = false;
}

static void end_transfer(struct task *t)
{
	bool in_vain = t->sent; /* the time is over */

	stop_sending(t);
	if (t->failed || in_vain || !xfr_is_done(&t->xfr))
		next_address(t);
	else if (!t->xfr.nothing)
		take_zone(t);
	else if (t->xfr.goal == t->xfr.base)
		round_succeeded(t);
	else
		next_address(t);
}

/* ---- probe ---- */

static void on_probed(void *owner, const struct upstream_reply *reply)
{
	struct task *t = owner;
	const struct zonedata *have = have_of(t);
	const struct rrset *soa = NULL;
	uint32_t serial;

	t->ask = NULL;
	if (reply->end == UPSTREAM_ANSWERED && reply->message->rcode == RCODE_NOERROR)
		soa = message_find(reply->message, SECTION_ANSWER, t->z->name, TYPE_SOA, CLASS_IN);
	if (!soa || !have) {
		t->axfr = true; /* nothing else is worth trying with this address */
		next_address(t);
		return;
	}
	serial = get_u32(rrset_record(soa, 0).at + rrset_record(soa, 0).len - 20);
	if (serial_is_newer(serial, have->serial)) {
		fetch(t);
		return;
	}
	if (serial == have->serial) {
		round_succeeded(t);
		return;
	}
	t->axfr = true;
	next_address(t);
}

static void probe(struct task *t)
{
	const struct primary *p = &t->primaries[t->at];
	struct upstream_question q = { .q = { .name = t->z->name,
					      .name_len = (uint16_t)dname_len(t->z->name),
					      .type = TYPE_SOA,
					      .class_ = CLASS_IN },
				       .server = t->addrs[t->addr_at],
				       .zone = t->z->name,
				       .tls = p->tls_name != NULL,
				       .tls_name = p->tls_name };

	t->phase = PHASE_PROBE;
	t->ask = upstream_ask(t->xfers->env->upstream, &q, &t->scratch, on_probed, t);
}

/* ---- primaries and their addresses, one after the other ---- */

static void try_address(struct task *t)
{
	t->axfr = false;
	if (have_of(t) && !t->z->key)
		probe(t); /* a signed question goes over a stream: there IXFR says the same */
	else
		fetch(t);
}

/* IXFR has failed: the same server may give the whole; else another. */
static void next_address(struct task *t)
{
	if (t->phase == PHASE_TRANSFER && !t->axfr) {
		t->axfr = true;
		fetch(t);
		return;
	}
	if (++t->addr_at < t->addr_count)
		try_address(t);
	else
		next_primary(t);
}

static void look_up(struct task *t, uint16_t type);

static void on_address(void *arg, const struct message *reply)
{
	struct task *t = arg;
	unsigned count;
	const struct rrset **sets;

	if (t->dead) {
		task_free(t);
		return;
	}
	sets = message_section(reply, SECTION_ANSWER, &count);
	for (unsigned i = 0; reply->rcode == RCODE_NOERROR && i < count &&
			     reply->security != SECURITY_BOGUS;
	     i++) {
		struct rrset_walk w = rrset_records(sets[i]);

		if (sets[i]->type != t->looking_for)
			continue;
		for (struct slice rd; rrset_next(&w, &rd) && t->addr_count < ADDRESSES_MAX;) {
			struct addr *a = &t->addrs[t->addr_count++];

			*a = (struct addr){ .family = t->looking_for == TYPE_A ? 4 : 6,
					    .port = t->primaries[t->at].port };
			memcpy(a->ip, rd.at, MIN(rd.len, t->looking_for == TYPE_A ? 4u : 16u));
		}
	}
	if (t->looking_for == TYPE_A && t->snapshot->conf->server.do_ip6) {
		look_up(t, TYPE_AAAA);
		return;
	}
	if (t->addr_count)
		try_address(t);
	else
		next_primary(t);
}

static void look_up(struct task *t, uint16_t type)
{
	const uint8_t *host = t->primaries[t->at].host;
	struct question q = { .name = host,
			      .name_len = (uint16_t)dname_len(host),
			      .type = type,
			      .class_ = CLASS_IN };

	t->phase = PHASE_LOOKUP;
	t->looking_for = type;
	mesh_resolve(t->xfers->env->mesh, &q, 0, on_address, t);
}

static void try_primary(struct task *t)
{
	const struct primary *p;

	if (t->at >= t->primary_count) {
		round_failed(t);
		return;
	}
	p = &t->primaries[t->at];
	t->addr_at = 0;
	t->addr_count = p->host ? 0 : 1;
	if (p->host) {
		look_up(t, TYPE_A);
		return;
	}
	t->addrs[0] = p->addr;
	try_address(t);
}

static void next_primary(struct task *t)
{
	t->at++;
	try_primary(t);
}

static void begin_round(struct task *t)
{
	t->at = t->url_at = 0;
	t->begun_us = time_of(t)->now_us;
	authhosts_refresh(t->hosts);
	if (t->z->urls->count)
		fetch_url_at(t);
	else
		try_primary(t);
}

static void on_timer(struct timer *timer)
{
	struct task *t = container_of(timer, struct task, timer);

	if (t->phase == PHASE_TRANSFER)
		end_transfer(t);
	else if (t->phase == PHASE_IDLE)
		begin_round(t);
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
	t->lease_s = x->env->time->now_s;
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

static void task_free(struct task *t)
{
	snapshot_unpin(t->snapshot);
	xfr_clear(&t->xfr);
	zonebuild_free(t->job.build);
	zonedata_free(t->job.got);
	zonedata_retire(t->got);
	mem_free(t->authorities);
	arena_clear(&t->scratch);
	arena_clear(&t->arena);
	mem_free(t);
}

/* What the mesh or the loader still have to tell cannot be taken back: then it goes once that is
 * told. */
static void task_stop(struct task *t)
{
	timer_stop(t->xfers->env->loop, &t->timer);
	if (t->ask)
		upstream_cancel(t->ask);
	t->ask = NULL;
	stop_sending(t);
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
	bool checks = t->z->wants_digest && t->snapshot->trust;
	struct zonedata *waits = checks ? authzone_take_unverified(t->z) : NULL;

	t->from_file = waits != NULL;
	if (waits)
		verify(t, waits);
	else
		schedule(t);
}

void xfers_renew(struct xfers *x)
{
	const struct authzones *zones = x->env->snapshot->zones;

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
	/* the loader has ended, and what it had to tell is not told any more */
	while (x->orphans) {
		struct task *t = x->orphans;

		x->orphans = t->next_orphan;
		task_free(t);
	}
	mem_free(x->tasks);
	mem_free(x);
}

/* ---- pokes ---- */

struct poke {
	struct xfers *xfers;
	const struct zonecell *cell;
	bool check;
};

static void on_poke(void *arg)
{
	struct poke *p = arg;

	for (size_t i = 0; i < p->xfers->count; i++) {
		struct task *t = p->xfers->tasks[i];

		if (t->z->cell != p->cell)
			continue;
		if (p->check && t->phase == PHASE_IDLE)
			task_start(t);
		else if (!p->check && comes_from_elsewhere(t) && t->phase == PHASE_IDLE)
			begin_round(t);
		else if (!p->check && comes_from_elsewhere(t))
			t->again = true;
	}
	mem_free(p);
}

static void poke(const struct authzone *z, bool check)
{
	struct xfers *x = atomic_load(&z->cell->home);
	struct poke *p;

	if (!x)
		return;
	p = mem_zero(sizeof(*p));
	*p = (struct poke){ .xfers = x, .cell = z->cell, .check = check };
	loop_post(x->env->loop, on_poke, p);
}

void xfers_poke(const struct authzone *z)
{
	poke(z, false);
}

void xfers_check(const struct authzone *z)
{
	poke(z, true);
}
