/* ${…}: text substitution in scenarios.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_REPLAY_MACRO_H
#define DAEMON_REPLAY_MACRO_H

#include "util/base/base.h"

struct arena;
struct fault;

struct variable {
	struct variable *next;
	const char *name, *value;
};

struct macro_env {
	struct variable *variables;
	double time_s;          /* ${time} */
	double timeout_s;       /* ${timeout}: until the earliest timer, 0 for none */
	struct arena *arena;
};

/* `text` with every ${…} replaced, innermost first. NULL with the reason in `f`. */
char *macro_expand(struct macro_env *env, const char *text, struct fault *f);
void macro_assign(struct macro_env *env, const char *name, const char *value);

#endif
