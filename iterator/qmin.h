/* How little of the name to show (RFC 9156).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * On the way down every server is shown one label more than its own zone has, and type A, until
 * the whole name has been shown; only then comes the question itself. A long name goes label by
 * label at first and then in larger strides, ten questions in all. In a hurry (it names a server that
 * only another server's name led to, and may have been made long to cost much) each zone's
 * servers are shown one label more, and then all. */
#ifndef ITERATOR_QMIN_H
#define ITERATOR_QMIN_H

#include "util/msg.h"

#define QMIN_STEPS_MAX    10 /* MAX_MINIMISE_COUNT */
#define QMIN_SINGLE_STEPS 4  /* MINIMISE_ONE_LAB */
#define QMIN_TIMEOUTS_MAX 3  /* silences about one shown name before we give in */

struct qmin {
	bool on;
	bool open_type;       /* the type is no secret: at the whole name ask for it at once */
	bool hurried;         /* see above; set after qmin_begin */
	bool again;           /* show the same name once more: the last try was not answered */
	const uint8_t *shown; /* a suffix of the wanted name; NULL: nothing yet */
	unsigned steps;
	unsigned timeouts;
};

/* A new name is wanted, or (`on` false) nothing is to be hidden. `open_type`: not the type, at
 * least. */
void qmin_begin(struct qmin *m, bool on, bool open_type);

/* The question that `zone`'s servers should be asked on behalf of `wanted`. Returns whether it is
 * less than `wanted`; when it is not, minimising is over. Each call is one step. */
bool qmin_next(struct qmin *m, const struct question *wanted, const uint8_t *zone,
	       struct question *out);

/* Nobody answered: ask the same again; or, after some of that and unless `strict`, stop hiding. */
void qmin_unanswered(struct qmin *m, bool strict);

#endif
