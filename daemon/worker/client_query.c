/* Ends of client queries, and what is counted, logged and kept of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/client_query.h"

#include "services/cache/msg.h"
#include "services/history/querylog.h"
#include "services/history/recorder.h"
#include "services/policy/ipset.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

static void count_flags(struct stats *s, uint16_t flags)
{
	stat_bump(&s->flag_qr, (flags & FLAG_QR) != 0);
	stat_bump(&s->flag_aa, (flags & FLAG_AA) != 0);
	stat_bump(&s->flag_tc, (flags & FLAG_TC) != 0);
	stat_bump(&s->flag_rd, (flags & FLAG_RD) != 0);
	stat_bump(&s->flag_ra, (flags & FLAG_RA) != 0);
	stat_bump(&s->flag_z, (flags & FLAG_Z) != 0);
	stat_bump(&s->flag_ad, (flags & FLAG_AD) != 0);
	stat_bump(&s->flag_cd, (flags & FLAG_CD) != 0);
}

static void count_extended(const struct client_query *j)
{
	struct stats *s = j->w->env.stats;
	const struct request *r = &j->request;

	stat_bump(&s->type[MIN(r->q.type, STAT_TYPES)], 1);
	stat_bump(&s->class_[MIN(r->q.class_, STAT_CLASSES)], 1);
	stat_bump(&s->opcode[r->flags >> 11 & 15], 1);
	count_flags(s, r->flags);
	stat_bump(&s->edns_present, r->edns.present);
	stat_bump(&s->edns_do, (r->edns.flags & EDNS_DO) != 0);
	stat_bump(&s->tcp, j->p->client.ops->stream);
	stat_bump(&s->tls, j->p->client.ops->encrypted);
	stat_bump(&s->tls_resume, j->p->client.ops->resumed);
	stat_bump(&s->https, j->p->client.ops->https);
	stat_bump(&s->ipv6, j->p->client.from.family == 6);
}

static enum rcode rcode_sent(const struct client_query *j)
{
	return writer_len(&j->p->out) >= MSG_HEAD_LEN ? msg_rcode(j->p->out.start) : RCODE_NOERROR;
}

void client_query_count_answer(const struct client_query *j)
{
	struct stats *s = j->w->env.stats;
	enum rcode rcode = rcode_sent(j);

	if (!j->w->on.extended)
		return;
	stat_bump(&s->rcode[rcode], 1);
	if (rcode == RCODE_NOERROR && writer_len(&j->p->out) >= MSG_HEAD_LEN &&
	    get_u16(j->p->out.start + 6) == 0)
		stat_bump(&s->rcode_nodata, 1);
	if (j->stored && j->stored->security == SECURITY_SECURE)
		stat_bump(&s->answer_secure, 1);
	if (j->stored && j->stored->security == SECURITY_BOGUS)
		stat_bump(&s->answer_bogus, 1);
}

void client_query_log_answer(const struct client_query *j)
{
	if (!j->w->on.log_replies)
		return;
	querylog_answer(&j->w->env.snapshot->conf->server, &j->p->client,
			&(struct querylog_answer){
				.q = &j->request.q,
				.rcode = rcode_sent(j),
				.cached = true,
				.len = writer_len(&j->p->out),
			});
}

void client_query_note_asked(const struct client_query *j)
{
	if (j->w->on.extended)
		count_extended(j);
	if (j->w->on.log_queries)
		querylog_question(&j->w->env.snapshot->conf->server, &j->p->client, &j->request.q);
}

void client_query_note_sent(const struct client_query *j)
{
	client_query_count_answer(j);
	client_query_log_answer(j);
	if (j->w->env.ipset)
		ipset_take(j->w->env.ipset, j->w->env.snapshot->policy->zones, j->p->out.start,
			     writer_len(&j->p->out), j->to.now_s);
}

static void fail_by(const struct client_query *j, enum reason reason)
{
	if (UNLIKELY(j->w->env.decision != NULL))
		j->w->env.decision->reason = reason;
}

enum disposition client_query_refuse(struct client_query *j, enum rcode rcode, enum reason reason)
{
	answer_error(&j->p->out, &j->to, rcode, reason);
	stats_ede(j->w->env.stats, reason_ede(reason));
	fail_by(j, reason);
	return client_query_send(j);
}

enum disposition client_query_reject(struct client_query *j, enum rcode rcode, enum reason reason)
{
	j->to.no_recursion = true;
	answer_error(&j->p->out, &j->to, rcode, reason);
	return DISPOSITION_SEND;
}

enum disposition client_query_refuse_stranger(struct client_query *j)
{
	if (j->action == ACL_DENY_NON_LOCAL)
		return DISPOSITION_DROP;
	j->to.no_recursion = true;
	client_query_refuse(j, RCODE_REFUSED, REASON_prohibited);
	if (j->action == ACL_ALLOW_COOKIE) /* over TCP it would be admitted */
		put_u16(j->p->out.start + 2, msg_flags(j->p->out.start) | FLAG_TC);
	return DISPOSITION_SEND;
}

void client_query_record(const struct client_query *j, enum disposition v)
{
	struct record t = { .client = &j->p->client,
			       .q = &j->request.q,
			       .how = j->stored ? SEEN_cached : SEEN_local,
			       .rcode = v == DISPOSITION_SEND ? (int)rcode_sent(j) : -1,
			       .security = j->stored ? j->stored->security : SECURITY_UNCHECKED };

	if (v == DISPOSITION_LATER)
		decision_clear(j->w->env.decision);
	if (v == DISPOSITION_LATER || j->kind != REQUEST_GOOD || j->w->env.trace)
		return;
	if (v == DISPOSITION_SEND)
		t.answer = (struct slice){ j->p->out.start, writer_len(&j->p->out) };
	if (v == DISPOSITION_DROP)
		t.how = SEEN_dropped;
	else if (t.rcode == RCODE_REFUSED)
		t.how = SEEN_refused;
	recorder_note(j->w->env.recorder, j->w->env.time, &t);
}
