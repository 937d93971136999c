/* Commands that change what is kept: noted before they are acted on.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_CHANGES_H
#define DAEMON_CONTROL_CHANGES_H

#include "util/base/base.h"

struct call;

/* The command of a change: "word args", or "view_word view args" if `view` is not NULL. Free with mem_free. */
char *control_change_print(const char *word, const char *view, const char *args) MUST_USE;

/* Note a change (daemon_keep) before it is acted on. False, with the error in the reply. */
bool control_keep(struct call *c, const char *command) MUST_USE;
/* It was not acted on after all. */
void control_take_back(struct call *c);

/* Changes that are noted together. */
struct kept_lines { /* begins zeroed */
	char **lines;     /* the commands */
	size_t *numbers; /* of the lines they came in */
	size_t count;
};

void kept_lines_add(struct kept_lines *k, char *command, size_t number); /* takes over `command` */
void kept_lines_remove(struct kept_lines *k, size_t number);             /* if it is there */
void kept_lines_clear(struct kept_lines *k);
bool control_keep_lines(struct call *c, const struct kept_lines *k) MUST_USE;

#endif
