/* Records what decided a question without asking any server, for the query ring and
 * `resolver-control why`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A NULL `struct decision *` means that nobody wants to know: then no text is made. It is cleared
 * between questions. */
#ifndef SERVICES_HISTORY_DECISION_H
#define SERVICES_HISTORY_DECISION_H

#include "util/dns/dname.h"
#include "util/dns/reason.h"

enum decision_how {
	DECIDED_NOT,     /* nothing: it was resolved as usual */
	DECIDED_HERE,    /* local configuration */
	DECIDED_BLOCKED, /* the client is not told what exists */
	DECIDED_EXPIRED, /* an expired answer from the cache */
};

enum { DECISION_WORD = 64 }; /* with NUL */

struct decision {
	enum decision_how how;
	enum reason reason;          /* of a failure */
	char what[DNAME_TEXT + 300]; /* "local-zone example. static"; empty: nothing to say */
	char policy[DECISION_WORD];  /* of a blocklist, the id of its policy; or empty */
	char list[DECISION_WORD];    /* the blocklist, by the name its source has for it; or empty */
};

static inline void decision_clear(struct decision *s)
{
	s->how = DECIDED_NOT;
	s->reason = REASON_none;
	s->what[0] = s->policy[0] = s->list[0] = '\0';
}

void decision_say(struct decision *s, enum decision_how how, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The arguments are only evaluated when somebody wants to know. */
#define decision_note(s, how, ...)                             \
	do {                                                   \
		if (UNLIKELY((s) != NULL))                     \
			decision_say((s), (how), __VA_ARGS__);  \
	} while (0)

#endif
