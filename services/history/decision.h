/* Records what settled a question without asking any server, for the query ring and
 * `resolver-control why`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A NULL `struct settled *` means that nobody wants to know: then no text is made. It is cleared
 * between questions. */
#ifndef SERVICES_HISTORY_DECISION_H
#define SERVICES_HISTORY_DECISION_H

#include "util/dns/dname.h"
#include "util/dns/reason.h"

enum settled_how {
	SETTLED_NOT,     /* nothing: it was resolved as usual */
	SETTLED_HERE,    /* local configuration */
	SETTLED_BLOCKED, /* the client is not told what exists */
	SETTLED_EXPIRED, /* an expired answer from the cache */
};

struct settled {
	enum settled_how how;
	enum reason reason;          /* of a failure */
	char what[DNAME_TEXT + 300]; /* "local-zone example. static"; empty: nothing to say */
};

static inline void settled_clear(struct settled *s)
{
	s->how = SETTLED_NOT;
	s->reason = REASON_none;
	s->what[0] = '\0';
}

void settled_say(struct settled *s, enum settled_how how, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The arguments are only evaluated when somebody wants to know. */
#define settle(s, how, ...)                                    \
	do {                                                   \
		if (UNLIKELY((s) != NULL))                     \
			settled_say((s), (how), __VA_ARGS__);  \
	} while (0)

#endif
