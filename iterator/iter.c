/* What the states of a resolution have in common: going to other servers, starting over, ending it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/iter.h"

#include <stdarg.h>
#include <stdio.h>

#include "services/mesh/mesh.h"
#include "services/policy/rpz_match.h"
#include "services/query/snapshot.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

void iter_blame(struct iter *it, enum reason reason, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	it->reason = reason;
	it->reason_text = arena_textf(it->arena, "%s", text);
}

void iter_stop_asking(struct iter *it)
{
	if (it->asked)
		upstream_cancel(it->asked);
	it->asked = NULL;
	race_cancel(it->race);
	it->race = NULL;
}

void iter_let_go(struct iter *it)
{
	iter_stop_asking(it);
	mesh_forget_children(it->q);
}

void iter_note_wasted(struct iter *it, unsigned packets)
{
	int *wasted_sends = &it->q->budget->wasted_sends;

	if (it->at && !it->at->config && !it->q->is_detached)
		budget_take(wasted_sends, MIN((int)packets, *wasted_sends));
}

void iter_note_sends(struct iter *it, const struct upstream_reply *reply)
{
	int more = reply->sends ? (int)reply->sends - 1 : 0;

	it->reply_took = (unsigned)more + 1 + reply->over_tcp;
	it->sent_in_all += (unsigned)more;
	budget_take(&it->q->budget->sends, MIN(more, it->q->budget->sends));
	if (reply->end == UPSTREAM_SILENT)
		iter_note_wasted(it, reply->sends + reply->over_tcp);
}

void iter_hide_name(struct iter *it)
{
	bool on = it->conf->qname_minimisation && !(it->q->kind & QUERY_PRIME) &&
		  it->want.class_ == CLASS_IN;

	/* a server asked for another server's addresses will be asked for both families */
	qmin_begin(&it->qmin, on, it->q->depth > 0 && it->want.type == TYPE_AAAA);
	it->qmin.hurried = it->q->depth > 1;
	it->shown.name_len = 0;
}

void iter_go_to(struct iter *it, struct delegation *d)
{
	iter_let_go(it);
	it->at = d;
	if (!it->refetch)
		it->sent = 0;
	it->lookups = 0;
	it->wants_others = false;
	it->empty = NULL;
	caps_end(&it->caps);
	it->shown.name_len = 0;
	it->question_due = true;
	if (d && d->forward)
		it->qmin.on = false;
	else if (!it->qmin.on)
		iter_hide_name(it);
}

bool iter_restart(struct iter *it)
{
	iter_go_to(it, NULL);
	iter_hide_name(it);
	if (++it->restarts <= it->conf->max_query_restarts)
		return true;
	iter_blame(it, REASON_budget_aliases, "limit of %u restarts (CNAMEs, DNAMEs) reached",
		   it->conf->max_query_restarts);
	return false;
}

enum iter_step iter_stop(struct iter *it)
{
	it->answer = arena_new(it->arena, struct message);
	*it->answer = (struct message){ .q = it->want, .flags = FLAG_QR };
	it->state = ITER_finish;
	return ITER_ON;
}

bool iter_has_server_rules(const struct iter *it)
{
	return UNLIKELY(rpz_match_exist(it->q->snapshot->zones)) && rpz_match_by_servers(it->q);
}

bool iter_is_stopped_at(struct iter *it, const struct delegation *d)
{
	struct query *q = it->q;

	for (unsigned i = 0; i < d->name_count; i++)
		rpz_match_meet(q, it->want.name, d->names[i].name, NULL);
	for (unsigned i = 0; i < d->target_count; i++)
		rpz_match_meet(q, it->want.name, NULL, &d->targets[i].addr);
	return rpz_match_stops(q);
}

bool iter_is_barred(const struct iter *it, unsigned from)
{
	for (unsigned i = from; i < it->chain.answers; i++) {
		const struct rrset *s = it->chain.answer[i];

		if (s->type == TYPE_CNAME && rpz_match_stops_at(it->q, rrset_target(s, 0)))
			return true;
	}
	return false;
}
