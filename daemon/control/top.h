/* Top lists of all workers combined, for the command and the pages.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_TOP_H
#define DAEMON_CONTROL_TOP_H

#include "services/history/recorder.h"

struct worker;

struct top_tables { /* begins zeroed */
	struct toprows rows[TOP_KINDS];
	bool kept[TOP_KINDS]; /* whether any worker counts them */
};

void top_take(struct top_tables *t, const struct worker *w); /* on its thread */
void top_join(struct top_tables *t);
void top_clear(struct top_tables *t);

const char *top_kind_word(enum toplist_kind kind);
const char *top_text(enum toplist_kind kind, const struct toprow *row, char buf[DNAME_TEXT]);

#endif
