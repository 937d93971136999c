/* A forwarder that the resolver asks everything of, as it is if it is honest: it follows aliases as the public sees them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/internet.h"

#include "util/base/mem.h"

enum { STEPS_MOST = 12 };

bool server_is_forwarder(const struct internet *net, const struct addr *server)
{
	return net->forwards_all && server_number(server) == FORWARDER;
}

struct site *forwarder_site(struct internet *net, const struct question *q)
{
	struct site *best = &net->sites[SITE_ROOT];

	for (unsigned i = 1; i < SITES; i++) {
		struct site *s = &net->sites[i];

		if (!s->zone || s->gone || s->hidden || !dname_is_under(q->name, s->zone->apex) ||
		    (q->type == TYPE_DS && dname_equals(q->name, s->zone->apex)))
			continue;
		if (dname_labels(s->zone->apex) > dname_labels(best->zone->apex))
			best = s;
	}
	return best;
}

/* Where its alias leads, if it is one that is to be followed. */
static bool follow(const struct told *step, struct question *q)
{
	for (unsigned i = 0; i < step->count && q->type != TYPE_CNAME; i++)
		if (step->records[i].section == SECTION_ANSWER && step->records[i].type == TYPE_CNAME &&
		    dname_equals(step->records[i].owner, q->name)) {
			q->name = step->records[i].rdata.at;
			q->name_len = (uint16_t)step->records[i].rdata.len;
			return true;
		}
	return false;
}

static bool has(const struct told *t, const struct told_record *r)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->records[i].type == r->type && t->records[i].rdata.at == r->rdata.at &&
		    dname_equals(t->records[i].owner, r->owner))
			return true;
	return false;
}

void forwarder_tell(struct internet *net, struct told *t, const struct question *asked)
{
	static struct told step;
	struct question q = *asked;
	bool follows = true;

	told_begin(t);
	for (unsigned n = 0; follows && n < STEPS_MOST; n++) {
		told_honest(&step, forwarder_site(net, &q)->zone, &q, &net->arena);
		for (unsigned i = 0; i < step.count; i++)
			if (step.records[i].section != SECTION_ADDITIONAL && !has(t, &step.records[i]))
				told_record(t, step.records[i].section, step.records[i].owner, step.records[i].type,
					    step.records[i].ttl_s, step.records[i].rdata);
		follows = follow(&step, &q);
		t->rcode = step.rcode;
	}
	t->flags = FLAG_RA;
}
