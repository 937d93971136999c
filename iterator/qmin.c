/* QNAME minimisation: how little of the name to show (RFC 9156).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/qmin.h"

#include "util/dns/rr.h"

void qmin_begin(struct qmin *m, bool on, bool open_type)
{
	*m = (struct qmin){ .on = on, .open_type = open_type };
}

/* How many labels to add: the remaining ones are spread over the remaining steps (RFC 9156 2.3). */
static unsigned stride(unsigned all, unsigned left, unsigned step)
{
	if (all <= QMIN_STEPS_MAX || step <= QMIN_SINGLE_STEPS)
		return 1;
	if (step >= QMIN_STEPS_MAX)
		return left;
	unsigned steps_left = QMIN_STEPS_MAX - step + 1;
	return (left + steps_left - 1) / steps_left;
}

/* Whether names below it are likely to be its owner's: all but those of the root, of TLDs, and of the reverse tree. */
static bool is_of_one_owner(const uint8_t *zone)
{
	static const uint8_t arpa[] = "\4arpa";

	return dname_labels(zone) > 1 && !dname_is_under(zone, arpa);
}

bool qmin_next(struct qmin *m, const struct question *wanted, const uint8_t *zone,
	       struct question *out)
{
	*out = *wanted;
	if (!m->on)
		return false;
	if (m->shown == NULL || !dname_is_under(m->shown, zone)) {
		m->shown = dname_suffix(wanted->name, dname_labels(zone));
		m->steps = 0;
		m->again = false;
	}

	unsigned all = dname_labels(wanted->name);
	unsigned shown = dname_labels(m->shown);
	if (!m->again) {
		m->steps++;
		m->timeouts = 0;
		if (shown == all) {
			m->on = false;
			return false;
		}
		bool rest = shown > dname_labels(zone) && (m->hurried || is_of_one_owner(zone));
		m->shown = dname_suffix(wanted->name,
					rest ? all : shown + stride(all, all - shown, m->steps));
	}
	m->again = false;

	/* servers that deny NSEC3 beside a CNAME say that there is one when another type is asked for */
	bool whole = dname_labels(m->shown) == all, is_shown = is_of_one_owner(zone) && wanted->type != TYPE_NSEC3;
	if (whole && (m->open_type || wanted->type == TYPE_A || wanted->type == TYPE_DS ||
		      rr_flags(wanted->type) & RR_BESIDE || is_shown)) {
		m->on = false;
		return false;
	}
	out->name = m->shown;
	out->name_len = (uint16_t)dname_len(m->shown);
	out->type = TYPE_A;
	return true;
}

void qmin_unanswered(struct qmin *m, bool strict)
{
	if (!m->on)
		return;
	m->again = true;
	if (++m->timeouts >= QMIN_TIMEOUTS_MAX && !strict)
		m->on = false;
}
