/* QNAME minimisation: how little of the name to show (RFC 9156).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * On the way down each server is shown one label more than its own zone has, with type A. In the root,
 * in TLDs and in the reverse tree, whose names are mostly other people's zones, that goes on until the
 * whole name has been shown; only then is the real question asked. A long name is extended by
 * single labels at first and then in larger strides, ten queries in total. Below them, where names are
 * the zone's owner's, whose servers will see the question anyhow, one label more is shown, and then everything with its
 * own type; likewise when hurried (the name belongs to a server needed only to reach another server,
 * and may have been made long to be costly). */
#ifndef ITERATOR_QMIN_H
#define ITERATOR_QMIN_H

#include "util/dns/msg.h"

#define QMIN_STEPS_MAX    10 /* MAX_MINIMISE_COUNT */
#define QMIN_SINGLE_STEPS 4  /* MINIMISE_ONE_LAB */
#define QMIN_TIMEOUTS_MAX 3  /* timeouts for one minimised name before giving in */

struct qmin {
	bool on;
	bool open_type;       /* the type need not be hidden: ask for it at the full name */
	bool hurried;         /* see above; set after qmin_begin */
	bool again;           /* show the same name again: the last query timed out */
	const uint8_t *shown; /* a suffix of the wanted name; NULL: nothing yet */
	unsigned steps;
	unsigned timeouts;
};

/* Start with a new name; `on` false hides nothing, `open_type` does not hide the type. */
void qmin_begin(struct qmin *m, bool on, bool open_type);

/* The next question for the servers of `zone` on the way to `wanted`. True if it is minimised;
 * false if it is `wanted` itself, which ends minimisation. Each call is one step. */
bool qmin_next(struct qmin *m, const struct question *wanted, const uint8_t *zone,
	       struct question *out);

/* No response: show the same name again; after QMIN_TIMEOUTS_MAX of these, unless `strict`, stop
 * minimising. */
void qmin_unanswered(struct qmin *m, bool strict);

#endif
