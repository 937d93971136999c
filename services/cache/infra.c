/* What is known of each server: small entries, republished on each change that matters.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/infra.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "services/cache/families.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"

#define VAR_UNKNOWN_MS 94 /* before any round trip is measured; the first RTO is 4 times this */
#define TIMEOUTS_MOST  255

/* The network counts as down when no server has answered since the first of the unanswered queries
 * was sent, at least this long ago, and enough of those queries could expect an answer. */
#define DOWN_AFTER_MS      2000
#define DOWN_UNSENDABLE_MS 500 /* when sending itself fails */
/* Queries already in flight when the network went down are lost as well. */
#define DOWN_EARLIER_MS     1000
#define DOWN_FROM_KNOWN     3  /* timeouts of servers that have answered before, or failed sends */
#define DOWN_FROM_STRANGERS 12 /* distinct servers that never have */

/* Kept in fractions of a millisecond (Jacobson and Karels 1988, appendix A): in whole ones the mean
 * would lag by up to 7 ms, the deviation of a steady server would reach 0, and every answer that is
 * a little slower than the mean would be given up just before it arrives. */
struct rtt {
	uint32_t srtt_8th; /* eighths of a millisecond */
	uint32_t var_4th;  /* quarters */
	bool measured;
};

struct server {
	struct slab_entry link;
	/* Updated in place, so that a busy server does not cost a new entry per answer; a pair torn
	 * between two answers does no harm. */
	_Atomic uint32_t srtt_8th, var_4th;
	uint32_t expires_s; /* from here on immutable once published */
	bool measured;
	uint32_t rto_ms;         /* backed off; 0: not, it follows from the RTT */
	uint32_t silent_from_ms; /* when the first query of this back-off was sent */
	uint32_t doubled_ms;     /* when it was last backed off */
	uint32_t probe_at_ms;
	uint8_t timeouts_a, timeouts_aaaa, timeouts_other;
	uint8_t edns, lame, subnet;
	bool probing;
	uint8_t zone_len;
	struct addr addr;
	uint8_t zone[]; /* lower case */
};

/* A period in which nobody answered: timeouts in it say nothing about a server. */
struct outage {
	uint32_t from_ms, to_ms;
};

#define OUTAGES 8

struct infra {
	struct slab *slab;
	size_t hosts; /* this and the next two lines: set by infra_reconfigure */
	_Atomic uint32_t host_ttl_s, min_rtt_ms, max_rtt_ms, unknown_rtt_ms;
	_Atomic bool keep_probing;

	/* Read by all threads, written only on a change. */
	_Atomic bool quiet; /* timeouts since the last answer: `run` is in progress */
	_Atomic bool ever_answered;
	_Atomic uint32_t answered_ms; /* approximate time of the last answer */
	_Atomic bool had_outage;
	_Atomic uint32_t outage_ended_ms; /* the last one */
	_Atomic uint32_t first_answer; /* in 16ths of ms: see infra_first_answer_ms */
	struct families families;

	pthread_mutex_t lock; /* guards the rest */
	struct {
		uint32_t from_ms; /* when the first unanswered query was sent */
		unsigned silences, from_known, unsendable;
		uint64_t strangers; /* one bit each, by hash */
	} run;
	struct outage outages[OUTAGES];
	unsigned outage_count; /* in all; the newest overwrites the oldest */
};

static const struct server *server_of(const struct slab_entry *e)
{
	return container_of(e, struct server, link);
}

static uint32_t ms_of(const struct timebase *t)
{
	return (uint32_t)(t->now_us / US_PER_MS);
}

/* Whether `a` is not later than `b`; they must be within 24 days of each other. */
static bool not_after(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) >= 0;
}

static bool same_server(const struct server *s, const struct addr *addr, const uint8_t *zone,
			size_t zone_len)
{
	return addr_equals(&s->addr, addr) &&
	       dname_equals_len(s->zone, s->zone_len, zone, zone_len);
}

static bool takes_place(const struct slab_entry *newer, const struct slab_entry *standing)
{
	const struct server *n = server_of(newer);

	return same_server(server_of(standing), &n->addr, n->zone, n->zone_len);
}

static bool has_lapsed(const struct slab_entry *e, uint32_t now_s)
{
	return time_is_past(now_s, server_of(e)->expires_s);
}

/* Bytes for `hosts` servers with zone names of typical length, the table included. */
static size_t budget_of(size_t hosts)
{
	size_t one = sizeof(struct server) + 48;

	return hosts > SIZE_MAX / 2 / one ? SIZE_MAX / 2
					  : MAX(hosts, 16) * (one + 2 * sizeof(void *));
}

#define SET(field, value) atomic_store_explicit(&(field), (value), memory_order_relaxed)
#define GET(field)        atomic_load_explicit(&(field), memory_order_relaxed)

static void take_how(struct infra *i, const struct infra_how *how)
{
	i->hosts = how->hosts;
	SET(i->host_ttl_s, MAX(how->host_ttl_s, 1u)); /* what a question found it can rely on */
	SET(i->min_rtt_ms, how->min_rtt_ms);
	SET(i->max_rtt_ms, how->max_rtt_ms);
	SET(i->unknown_rtt_ms, how->unknown_rtt_ms ? how->unknown_rtt_ms : INFRA_RTO_UNKNOWN_MS);
	SET(i->keep_probing, how->keep_probing);
}

struct infra *infra_new(const struct infra_how *how)
{
	struct infra *i = mem_zero(sizeof(*i));

	take_how(i, how);
	SET(i->first_answer, GET(i->unknown_rtt_ms) * 16);
	PROMISE(pthread_mutex_init(&i->lock, NULL) == 0);
	i->slab = slab_new(&(struct slab_how){ .name = "infra",
					       .budget = budget_of(how->hosts),
					       .slabs = how->slabs,
					       .typical = sizeof(struct server) + 48,
					       .same = takes_place,
					       .is_stale = has_lapsed });
	return i;
}

void infra_free(struct infra *i)
{
	if (!i)
		return;
	slab_free(i->slab);
	pthread_mutex_destroy(&i->lock);
	mem_free(i);
}

void infra_reconfigure(struct infra *i, const struct infra_how *how)
{
	size_t was = budget_of(i->hosts);

	take_how(i, how);
	if (budget_of(how->hosts) != was)
		slab_resize(i->slab, budget_of(how->hosts));
}

struct slab *infra_slab(struct infra *i)
{
	return i->slab;
}

static struct rtt rtt_load(const struct server *s)
{
	return (struct rtt){ .srtt_8th = GET(s->srtt_8th),
			     .var_4th = GET(s->var_4th),
			     .measured = s->measured };
}

static void rtt_store(struct server *s, struct rtt r)
{
	if (GET(s->srtt_8th) != r.srtt_8th)
		SET(s->srtt_8th, r.srtt_8th);
	if (GET(s->var_4th) != r.var_4th)
		SET(s->var_4th, r.var_4th);
}

/* ---- outages of the network ---- */

static void infra_lock(struct infra *i)
{
	PROMISE(pthread_mutex_lock(&i->lock) == 0);
}

static void infra_unlock(struct infra *i)
{
	PROMISE(pthread_mutex_unlock(&i->lock) == 0);
}

static unsigned ones(uint64_t x)
{
	unsigned n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

static bool run_is_outage(const struct infra *i, uint32_t now_ms)
{
	uint32_t since = now_ms - i->run.from_ms;

	if (!GET(i->quiet))
		return false;
	if (i->run.unsendable >= DOWN_FROM_KNOWN && since >= DOWN_UNSENDABLE_MS)
		return true;
	if (since < DOWN_AFTER_MS)
		return false;
	if (!GET(i->ever_answered) && i->run.silences >= DOWN_FROM_KNOWN)
		return true;
	return i->run.from_known + i->run.unsendable >= DOWN_FROM_KNOWN ||
	       ones(i->run.strangers) >= DOWN_FROM_STRANGERS;
}

bool infra_network_is_down(const struct infra *i, const struct timebase *t)
{
	struct infra *own = (struct infra *)(uintptr_t)i; /* for its lock */
	bool down;

	if (LIKELY(!GET(i->quiet)))
		return false;
	infra_lock(own);
	down = run_is_outage(i, ms_of(t));
	infra_unlock(own);
	return down;
}

/* A server answered: any run of timeouts is over. */
static void heard_something(struct infra *i, uint32_t now_ms)
{
	if (!GET(i->ever_answered) || now_ms - GET(i->answered_ms) >= 20)
		SET(i->answered_ms, now_ms);
	if (UNLIKELY(GET(i->quiet))) {
		infra_lock(i);
		if (run_is_outage(i, now_ms)) {
			i->outages[i->outage_count++ % OUTAGES] =
				(struct outage){ .from_ms = i->run.from_ms, .to_ms = now_ms };
			SET(i->outage_ended_ms, now_ms);
			SET(i->had_outage, true);
			families_forgive(&i->families);
		}
		memset(&i->run, 0, sizeof(i->run));
		SET(i->quiet, false);
		infra_unlock(i);
	}
	if (UNLIKELY(!GET(i->ever_answered)))
		SET(i->ever_answered, true);
}

enum unanswered { FROM_KNOWN, FROM_STRANGER, NOT_SENT };

static void heard_nothing(struct infra *i, enum unanswered what, uint64_t hash, uint32_t sent_ms)
{
	infra_lock(i);
	if (!GET(i->quiet)) {
		i->run.from_ms = sent_ms;
		SET(i->quiet, true);
	}
	if (not_after(sent_ms, i->run.from_ms))
		i->run.from_ms = sent_ms;
	i->run.silences++;
	i->run.from_known += what == FROM_KNOWN;
	i->run.unsendable += what == NOT_SENT;
	if (what == FROM_STRANGER)
		i->run.strangers |= UINT64_C(1) << (hash & 63);
	infra_unlock(i);
}

/* Whether a query sent at `sent_ms` was sent while the network was down. */
static bool sent_for_nothing(struct infra *i, uint32_t sent_ms, uint32_t now_ms)
{
	bool wasted_sends = false;

	/* no lock for what was sent after all of them */
	if (!GET(i->quiet) && (!GET(i->had_outage) || !not_after(sent_ms, GET(i->outage_ended_ms))))
		return false;
	infra_lock(i);
	if (run_is_outage(i, now_ms) && not_after(i->run.from_ms - DOWN_EARLIER_MS, sent_ms))
		wasted_sends = true;
	for (unsigned n = 0; n < MIN(i->outage_count, OUTAGES); n++) {
		if (not_after(i->outages[n].from_ms - DOWN_EARLIER_MS, sent_ms) &&
		    not_after(sent_ms, i->outages[n].to_ms))
			wasted_sends = true;
	}
	infra_unlock(i);
	return wasted_sends;
}

void infra_unsendable(struct infra *i, const struct timebase *t)
{
	heard_nothing(i, NOT_SENT, 0, ms_of(t));
}

/* ---- one server ---- */

static uint64_t hash_zone(const uint8_t *zone, size_t len)
{
	return hash_dname(zone, len, 0x1f4a);
}

struct infra_zone infra_zone(const uint8_t *name)
{
	size_t len = dname_len(name);

	return (struct infra_zone){ .name = name, .len = len, .hash = hash_zone(name, len) };
}

static const struct server *find(struct infra *i, const struct addr *server,
				 const struct infra_zone *zone, uint32_t now_s)
{
	uint64_t hash = addr_hash(server) ^ zone->hash;

	for (struct slab_entry *e = slab_first(i->slab, hash); e; e = slab_next(e, hash)) {
		const struct server *s = server_of(e);

		if (!same_server(s, server, zone->name, zone->len))
			continue;
		(void)slab_saw(i->slab, e); /* servers are not forgotten by a rule */
		return time_is_past(now_s, s->expires_s) ? NULL : s;
	}
	return NULL;
}

static uint32_t clamp(uint64_t v, uint32_t least, uint32_t most)
{
	return (uint32_t)MIN(MAX(v, least), most);
}

static uint32_t mean_ms(struct rtt r)
{
	return (r.srtt_8th + 4) / 8;
}

static uint32_t deviation_ms(struct rtt r)
{
	return (r.var_4th + 2) / 4;
}

/* RFC 6298 2.3 with a quarter of the mean for G: a needless retransmission always costs a packet,
 * waiting a little longer costs only where one was lost. */
static uint32_t rtt_of(const struct infra *i, const struct server *s)
{
	struct rtt r = rtt_load(s);
	uint32_t mean = mean_ms(r);
	uint64_t rtt = r.measured ? mean + (uint64_t)MAX(r.var_4th, mean / 4)
				  : GET(i->unknown_rtt_ms);

	return clamp(rtt, GET(i->min_rtt_ms), GET(i->max_rtt_ms));
}

static void forget_silence(struct server *s)
{
	s->rto_ms = 0;
	s->timeouts_a = s->timeouts_aaaa = s->timeouts_other = 0;
	s->probing = false;
}

/* A copy of `old` to change and publish; a new entry for an unknown server. Back-off that the
 * network was to blame for is not copied. */
static struct server *change_from(struct infra *i, const struct server *old,
				  const struct addr *server, const struct infra_zone *zone,
				  const struct timebase *t)
{
	size_t len = offsetof(struct server, zone) + zone->len;
	struct server *s = mem_zero(MAX(len, sizeof(*s)));

	if (old) {
		const size_t rest = offsetof(struct server, expires_s);

		memcpy((uint8_t *)s + rest, (const uint8_t *)old + rest, len - rest);
		rtt_store(s, rtt_load(old));
		if (s->rto_ms && sent_for_nothing(i, s->silent_from_ms, ms_of(t)))
			forget_silence(s);
		return s;
	}
	s->expires_s = t->now_s + GET(i->host_ttl_s);
	SET(s->var_4th, 4 * VAR_UNKNOWN_MS);
	s->addr = *server;
	s->zone_len = (uint8_t)zone->len;
	dname_copy_lower(s->zone, zone->name);
	return s;
}

static struct server *begin_change(struct infra *i, const struct addr *server, const uint8_t *name,
				   const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);

	return change_from(i, find(i, server, &zone, t->now_s), server, &zone, t);
}

static void end_change(struct infra *i, struct server *s, const struct timebase *t)
{
	slab_put(i->slab, addr_hash(&s->addr) ^ hash_zone(s->zone, s->zone_len), &s->link,
		 t->now_s);
}

static bool is_wary(const struct server *s, uint32_t now_ms)
{
	unsigned silences = s->timeouts_a + s->timeouts_aaaa + s->timeouts_other;

	return silences >= INFRA_WARY_SILENCES && now_ms - s->silent_from_ms >= INFRA_WARY_MS &&
	       now_ms - s->doubled_ms < INFRA_LATELY_MS;
}

static void fill_view(struct infra *i, const struct server *s, const struct timebase *t,
		      struct infra_view *out)
{
	*out = (struct infra_view){
		.known = true,
		.ping_ms = mean_ms(rtt_load(s)),
		.var_ms = deviation_ms(rtt_load(s)),
		.rtt_ms = rtt_of(i, s),
		.edns = s->edns,
		.subnet = s->subnet,
		.lame = s->lame,
		.ttl_s = time_left(t->now_s, s->expires_s),
	};
	out->rto_ms = out->rtt_ms;
	if (s->rto_ms == 0 || sent_for_nothing(i, s->silent_from_ms, ms_of(t)))
		return;
	out->rto_ms = clamp(s->rto_ms, out->rtt_ms, GET(i->max_rtt_ms));
	out->timeouts_a = s->timeouts_a;
	out->timeouts_aaaa = s->timeouts_aaaa;
	out->timeouts_other = s->timeouts_other;
	out->down = out->rto_ms >= MIN(INFRA_PROBE_MS, GET(i->max_rtt_ms)) || is_wary(s, ms_of(t));
	if (!out->down)
		return;
	if (out->rto_ms >= GET(i->max_rtt_ms) && !GET(i->keep_probing))
		out->probe_at_us = t->now_us + out->ttl_s * US_PER_S;
	else if (s->probing && !not_after(s->probe_at_ms, ms_of(t)))
		out->probe_at_us = t->now_us + (s->probe_at_ms - ms_of(t)) * US_PER_MS;
	else
		out->probe_at_us = t->now_us;
}

void infra_look(struct infra *i, const struct addr *server, const uint8_t *name,
		const struct timebase *t, struct infra_view *out)
{
	struct infra_zone zone = infra_zone(name);

	infra_look_in(i, &zone, server, t, out);
}

void infra_look_in(struct infra *i, const struct infra_zone *zone, const struct addr *server,
		   const struct timebase *t, struct infra_view *out)
{
	const struct server *s = find(i, server, zone, t->now_s);

	if (s) {
		fill_view(i, s, t, out);
		return;
	}
	*out = (struct infra_view){
		.var_ms = VAR_UNKNOWN_MS,
		.rtt_ms = clamp(GET(i->unknown_rtt_ms), GET(i->min_rtt_ms), GET(i->max_rtt_ms)),
		.edns = EDNS_UNTRIED,
	};
	out->rto_ms = out->rtt_ms;
}

/* RFC 6298 2.2, 2.3. */
static struct rtt measured(struct rtt r, uint32_t rtt_ms)
{
	uint32_t mean = mean_ms(r);

	rtt_ms = MIN(rtt_ms, 1000000);
	if (!r.measured)
		return (struct rtt){ .measured = true,
				     .srtt_8th = 8 * rtt_ms,
				     .var_4th = 2 * rtt_ms };
	r.var_4th += (rtt_ms > mean ? rtt_ms - mean : mean - rtt_ms) - r.var_4th / 4;
	r.srtt_8th += rtt_ms - r.srtt_8th / 8;
	return r;
}

/* A quantile that follows what it sees: 19 steps up for each answer that took longer, one down for each that did not. Two
 * threads may overwrite each other's step, which hardly shifts it. */
static void note_first_answer(struct infra *i, uint32_t rtt_ms)
{
	uint32_t now = GET(i->first_answer), step = now / 64 + 1, most = GET(i->unknown_rtt_ms) * 16;

	now = MIN(rtt_ms, most) * UINT32_C(16) > now ? now + 19 * step : now - MIN(step, now);
	SET(i->first_answer, MIN(now, most));
}

uint32_t infra_first_answer_ms(const struct infra *i)
{
	return GET(i->first_answer) / 16;
}

void infra_answered(struct infra *i, const struct addr *server, const uint8_t *name,
		    const struct infra_heard *heard, const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);
	const struct server *old = find(i, server, &zone, t->now_s);
	struct server *s;

	heard_something(i, ms_of(t));
	families_heard(&i->families, server->family, ms_of(t));
	/* Most answers of a busy server change nothing but the RTT. */
	if (old && old->measured && !old->rto_ms &&
	    (heard->edns == EDNS_UNTRIED || heard->edns == old->edns)) {
		rtt_store((struct server *)(uintptr_t)old, measured(rtt_load(old), heard->rtt_ms));
		return;
	}
	s = change_from(i, old, server, &zone, t);
	if (!s->measured)
		note_first_answer(i, heard->rtt_ms);
	rtt_store(s, measured(rtt_load(s), heard->rtt_ms));
	s->measured = true;
	if (heard->edns != EDNS_UNTRIED)
		s->edns = (uint8_t)heard->edns;
	forget_silence(s);
	end_change(i, s, t);
}

static void count_timeout(uint8_t *count)
{
	if (*count < TIMEOUTS_MOST)
		++*count;
}

void infra_silent(struct infra *i, const struct addr *server, const uint8_t *zone, uint16_t qtype,
		  uint32_t waited_ms, const struct timebase *t)
{
	uint32_t now_ms = ms_of(t), sent_ms = now_ms - waited_ms, rto_ms;
	struct server *s = begin_change(i, server, zone, t);

	/* If another server has answered meanwhile, this server is to blame, not the network. */
	if (!GET(i->ever_answered) || !not_after(sent_ms, GET(i->answered_ms)))
		heard_nothing(i, s->measured ? FROM_KNOWN : FROM_STRANGER, addr_hash(server),
			      sent_ms);
	if (sent_for_nothing(i, sent_ms, now_ms)) {
		mem_free(s);
		return;
	}
	families_missed(&i->families, server->family, sent_ms, now_ms);

	/* RFC 6298 5.5; of several queries in flight at the same time only one counts. */
	rto_ms = clamp(s->rto_ms, rtt_of(i, s), GET(i->max_rtt_ms));
	if (!s->rto_ms)
		s->silent_from_ms = sent_ms;
	if (!s->rto_ms || not_after(s->doubled_ms, sent_ms)) {
		s->rto_ms = clamp(2 * (uint64_t)rto_ms, rto_ms, GET(i->max_rtt_ms));
		s->doubled_ms = now_ms;
	}
	count_timeout(qtype == 1    ? &s->timeouts_a
		      : qtype == 28 ? &s->timeouts_aaaa
				    : &s->timeouts_other);
	end_change(i, s, t);
}

void infra_asked(struct infra *i, const struct addr *server, const struct timebase *t)
{
	families_asked(&i->families, server->family, ms_of(t));
}

bool infra_family_is_silent(const struct infra *i, unsigned family, const struct timebase *t)
{
	return families_is_silent(&i->families, family, ms_of(t));
}

bool infra_family_is_doubtful(const struct infra *i, unsigned family)
{
	return families_is_doubtful(&i->families, family);
}

/* Refetches are noted under an address no server can have: when the next is due, and how many there were
 * in the meantime. */
static const struct addr nobody;

static void put_refetch(struct infra *i, const uint8_t *name, uint32_t due_ms, unsigned count,
			const struct timebase *t)
{
	struct server *s = begin_change(i, &nobody, name, t);

	s->probe_at_ms = due_ms;
	s->timeouts_other = (uint8_t)count;
	end_change(i, s, t);
}

bool infra_may_refetch(struct infra *i, const uint8_t *name, const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);
	const struct server *old = find(i, &nobody, &zone, t->now_s);

	if (!old || not_after(old->probe_at_ms, ms_of(t))) {
		put_refetch(i, name, ms_of(t) + INFRA_REFETCH_MS, 1, t);
		return true;
	}
	if (old->timeouts_other >= INFRA_REFETCHES)
		return false;
	put_refetch(i, name, old->probe_at_ms, old->timeouts_other + 1u, t);
	return true;
}

void infra_refetch_helped(struct infra *i, const uint8_t *name, const struct timebase *t)
{
	put_refetch(i, name, ms_of(t), 0, t);
}

void infra_refetch_failed(struct infra *i, const uint8_t *name, const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);
	const struct server *old = find(i, &nobody, &zone, t->now_s);

	if (old && !not_after(old->probe_at_ms, ms_of(t)))
		put_refetch(i, name, old->probe_at_ms, INFRA_REFETCHES, t);
}

void infra_probed(struct infra *i, const struct addr *server, const uint8_t *zone,
		  const struct timebase *t)
{
	struct server *s = begin_change(i, server, zone, t);

	s->probing = true;
	s->probe_at_ms = ms_of(t) + clamp(s->rto_ms, rtt_of(i, s), GET(i->max_rtt_ms));
	end_change(i, s, t);
}

void infra_set_edns(struct infra *i, const struct addr *server, const uint8_t *name,
		    enum edns_known known, const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);
	const struct server *old = find(i, server, &zone, t->now_s);
	struct server *s;

	if (old && old->edns == known)
		return;
	s = change_from(i, old, server, &zone, t);
	s->edns = (uint8_t)known;
	end_change(i, s, t);
}

void infra_set_subnet(struct infra *i, const struct addr *server, const uint8_t *name,
		      enum subnet_known known, const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);
	const struct server *old = find(i, server, &zone, t->now_s);
	struct server *s;

	if (old && old->subnet == known)
		return;
	s = change_from(i, old, server, &zone, t);
	s->subnet = (uint8_t)known;
	end_change(i, s, t);
}

void infra_set_lame(struct infra *i, const struct addr *server, const uint8_t *name, unsigned lame,
		    const struct timebase *t)
{
	struct infra_zone zone = infra_zone(name);
	const struct server *old = find(i, server, &zone, t->now_s);
	struct server *s;

	if (old && (old->lame & lame) == lame)
		return;
	s = change_from(i, old, server, &zone, t);
	s->lame = (uint8_t)(s->lame | lame);
	end_change(i, s, t);
}

void infra_set_rtt(struct infra *i, const struct addr *server, const uint8_t *zone, uint32_t rtt_ms,
		   const struct timebase *t)
{
	struct server *s = begin_change(i, server, zone, t);

	rtt_store(s, (struct rtt){ .srtt_8th = 8 * rtt_ms });
	s->measured = true;
	forget_silence(s);
	if (rtt_ms >= GET(i->max_rtt_ms)) {
		s->rto_ms = rtt_ms;
		s->silent_from_ms = s->doubled_ms = ms_of(t);
	}
	end_change(i, s, t);
}

/* ---- all servers ---- */

static bool is_other_address(const struct slab_entry *e, void *arg)
{
	const struct addr *a = arg;

	return !addr_equals_ip(&server_of(e)->addr, a);
}

void infra_flush(struct infra *i, const struct addr *server)
{
	slab_sweep(i->slab, server ? is_other_address : NULL, (void *)(uintptr_t)server);
	if (!server)
		families_forgive(&i->families);
}

struct dump {
	struct infra *infra;
	const struct timebase *time;
	void (*out)(const struct infra_row *row, void *arg);
	void *arg;
};

const char *infra_row_print(const struct infra_row *r, char line[INFRA_LINE])
{
	const struct infra_view *v = &r->view;
	char addr[ADDR_TEXT], zone[DNAME_TEXT];

	addr_print(r->addr, 53, addr);
	dname_print(r->zone, zone);
	if (v->ttl_s == 0)
		snprintf(line, INFRA_LINE, "%s %s expired rto %u", addr, zone, v->rto_ms);
	else
		snprintf(line, INFRA_LINE,
			 "%s %s ttl %u ping %u var %u rtt %u rto %u tA %u tAAAA %u tother %u "
			 "ednsknown %d edns %d delay %u lame dnssec %d rec %d A %d other %d",
			 addr, zone, v->ttl_s, v->ping_ms, v->var_ms, v->rtt_ms, v->rto_ms, v->timeouts_a,
			 v->timeouts_aaaa, v->timeouts_other, v->edns != EDNS_UNTRIED,
			 v->edns == EDNS_FAILS ? -1 : 0, r->delay_s, !!(v->lame & LAME_DNSSEC),
			 !!(v->lame & LAME_RECURSIVE), !!(v->lame & LAME_ADDRESSES), !!(v->lame & LAME_OTHER));
	return line;
}

static void dump_one(const struct slab_entry *e, void *arg)
{
	const struct server *s = server_of(e);
	const struct dump *d = arg;
	struct infra_row row = { .addr = &s->addr, .zone = s->zone };
	uint64_t wait_us;

	if (!s->addr.family)
		return;
	fill_view(d->infra, s, d->time, &row.view);
	if (row.view.ttl_s == 0 && row.view.rto_ms <= row.view.rtt_ms)
		return;
	wait_us = row.view.probe_at_us > d->time->now_us ? row.view.probe_at_us - d->time->now_us : 0;
	row.delay_s = (uint32_t)((wait_us + US_PER_S - 1) / US_PER_S);
	d->out(&row, d->arg);
}

bool infra_dump(struct infra *i, struct slab_walk *at, const struct timebase *t,
		void (*out)(const struct infra_row *row, void *arg), void *arg)
{
	struct dump d = { .infra = i, .time = t, .out = out, .arg = arg };

	return slab_walk(i->slab, at, dump_one, &d);
}
