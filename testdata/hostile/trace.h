/* What happened in a world, for who writes it down.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_HOSTILE_TRACE_H
#define TESTDATA_HOSTILE_TRACE_H

#include "util/base/bytes.h"
#include "util/net/addr.h"

struct truth;

struct trace {
	void (*config)(struct trace *t, const char *text);
	void (*asked)(struct trace *t, const struct addr *from, bool tcp, struct slice query);
	void (*answered)(struct trace *t, const struct addr *to, bool tcp, struct slice answer);
	/* what the client's question number `id` should have been told and was not; or NULL */
	void (*truth)(struct trace *t, unsigned id, const struct truth *truth, bool dnssec, bool proven);
	void (*sent)(struct trace *t, const struct addr *to, bool tcp, struct slice query);
	/* `answer` is empty for silence */
	void (*told)(struct trace *t, const struct addr *from, bool tcp, struct slice query, struct slice answer);
	void (*passed)(struct trace *t, uint64_t us);
	void (*noted)(struct trace *t, const char *what);
};

extern struct trace trace_tell; /* tell.c: prints it */

#endif
