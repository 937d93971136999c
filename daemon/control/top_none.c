/* In place of top.c in a build without records of queries.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/top.h"

#include "daemon/control/call.h"

void top_take(struct top_tables *t UNUSED, const struct worker *w UNUSED)
{
}

void top_join(struct top_tables *t UNUSED)
{
}

void top_clear(struct top_tables *t UNUSED)
{
}

const char *top_kind_word(enum toplist_kind kind UNUSED)
{
	return "";
}

const char *top_text(enum toplist_kind kind UNUSED, const struct toprow *row UNUSED, char buf[DNAME_TEXT] UNUSED)
{
	return "";
}

void control_list_queries(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_HISTORY);
}

/* For every worker, and once more at the end. */
void control_top(struct call *c, struct worker *w)
{
	if (!w)
		call_lacks(c, PART_HISTORY);
}
