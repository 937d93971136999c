/* One round through a zone's primaries: addresses, SOA probes, AXFR and IXFR (RFCs 1995, 5936).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/xfer/private.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

#define SILENCE_S 30 /* between two messages of a transfer */

static void next_primary(struct task *t);

/* ---- transfer ---- */

static bool is_too_much(const struct task *t)
{
	return t->z->size_most && t->bytes > t->z->size_most;
}

/* Finish from the timer: the connection must not be touched from within its own callback. */
static void finish_later(struct task *t)
{
	t->sent = false;
	timer_set(t->xfers->env->loop, &t->timer, 0);
}

static bool on_arrived(struct transmission *s, const uint8_t *wire, size_t len)
{
	struct task *t = container_of(s, struct task, transmission);

	t->bytes += len;
	t->failed = is_too_much(t) || !xfr_take(&t->xfr, wire, len, xfer_time(t)->wall_s);
	if (!t->failed && !xfr_is_done(&t->xfr)) {
		if (!t->z->time_most_ms)
			xfer_wait_s(t, SILENCE_S);
		return false;
	}
	finish_later(t);
	return true;
}

static bool on_strayed(struct transmission *s)
{
	(void)s;
	return false;
}

static void on_failed(struct transmission *s, enum upstream_end why)
{
	struct task *t = container_of(s, struct task, transmission);

	(void)why;
	finish_later(t); /* it is not complete */
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
		struct slice soa;

		PROMISE(have);
		soa = rrset_record(have->soa, 0);
		put_u16(t->query + 8, 1);
		write_bytes(&w, t->z->name, q.name_len);
		write_u16(&w, TYPE_SOA);
		write_u16(&w, CLASS_IN);
		write_u32(&w, have->soa->ttl_s);
		write_u16(&w, (uint16_t)soa.len);
		write_bytes(&w, soa.at, soa.len);
	}
	if (t->z->key)
		tsig_sign_question(&t->xfr.talk, t->z->key, t->query, &w, xfer_time(t)->wall_s);
	t->transmission.len = writer_len(&w);
}

static void fetch(struct task *t)
{
	const struct zonedata *have = xfer_have(t);
	const struct primary *p = &t->primaries[t->at];
	struct transport *stream = upstream_way(t->xfers->env->upstream, TRANSPORT_TCP);
	uint32_t limit_ms = t->z->time_most_ms;

	t->phase = PHASE_TRANSFER;
	t->axfr |= !have;
	t->bytes = 0;
	xfr_begin(&t->xfr, t->z->name, t->axfr, have);
	t->transmission = (struct transmission){ .to = t->addrs[t->addr_at],
				       .transport = p->tls_name ? TRANSPORT_TLS : TRANSPORT_TCP,
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
		xfer_wait_s(t, SILENCE_S);
	stream->ops->send(stream, &t->transmission);
}

void xfer_stop_sending(struct task *t)
{
	struct transport *stream = upstream_way(t->xfers->env->upstream, TRANSPORT_TCP);

	if (t->sent)
		stream->ops->cancel(stream, &t->transmission);
	t->sent = false;
}

/* What is older than what is held here (it is not the same) is not taken, unless that has expired: serial numbers may have
 * begun anew. */
static bool lags_behind(const struct task *t, uint32_t serial)
{
	const struct zonedata *have = xfer_have(t);

	return have && !serial_is_newer(serial, have->serial) &&
	       !atomic_load(&t->z->cell->expired);
}

/* What is held here is what this primary has; those after it may have more. */
static void go_on_for_newer(struct task *t)
{
	t->current = true;
	t->axfr = true; /* nothing else is worth trying there */
	atomic_store(&t->z->cell->expired, false);
	xfer_next_address(t);
}

void xfer_end_transfer(struct task *t)
{
	const struct zonedata *have = xfer_have(t);

	xfer_stop_sending(t);
	if (t->failed || !xfr_is_done(&t->xfr)) {
		xfer_next_address(t);
	} else if (have && t->xfr.goal == have->serial) {
		go_on_for_newer(t);
	} else if (lags_behind(t, t->xfr.goal)) {
		t->axfr = true;
		xfer_next_address(t);
	} else if (t->xfr.nothing) {
		xfer_next_address(t);
	} else {
		t->done(t, ROUND_COMPLETE);
	}
}

/* ---- probe ---- */

static void on_probed(void *owner, const struct upstream_reply *reply)
{
	struct task *t = owner;
	const struct zonedata *have = xfer_have(t);
	const struct rrset *soa = NULL;
	uint32_t serial;

	t->ask = NULL;
	if (reply->end == UPSTREAM_ANSWERED && reply->message->rcode == RCODE_NOERROR)
		soa = message_find(reply->message, SECTION_ANSWER, t->z->name, TYPE_SOA, CLASS_IN);
	if (!soa || !have) {
		t->axfr = true; /* for this address, nothing else is worth trying */
		xfer_next_address(t);
		return;
	}
	serial = get_u32(rrset_record(soa, 0).at + rrset_record(soa, 0).len - 20);
	if (serial == have->serial) {
		go_on_for_newer(t);
		return;
	}
	t->axfr = !serial_is_newer(serial, have->serial);
	if (lags_behind(t, serial))
		xfer_next_address(t);
	else
		fetch(t);
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
				       .transport = p->tls_name ? TRANSPORT_TLS : TRANSPORT_UDP,
				       .tls_name = p->tls_name };

	t->phase = PHASE_PROBE;
	t->ask = upstream_ask(t->xfers->env->upstream, &q, &t->scratch, on_probed, t);
}

/* ---- primaries and their addresses, in order ---- */

static void try_address(struct task *t)
{
	t->axfr = false;
	if (xfer_have(t) && !t->z->key)
		probe(t); /* a signed query goes over a stream: there IXFR says as much */
	else
		fetch(t);
}

/* After a failed IXFR, AXFR from the same address; otherwise the next address. */
void xfer_next_address(struct task *t)
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
		t->done(t, ROUND_STOPPED);
		return;
	}
	sets = message_section(reply, SECTION_ANSWER, &count);
	for (unsigned i = 0;
	     reply->rcode == RCODE_NOERROR && i < count && reply->security != SECURITY_BOGUS; i++) {
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

void xfer_try_primary(struct task *t)
{
	const struct primary *p;

	if (t->at >= t->primary_count) {
		t->done(t, t->current ? ROUND_CURRENT : ROUND_FAILED);
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
	xfer_try_primary(t);
}
