/* One blocklist: clause: made from the configuration, compared with that of before.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * services/blocklist/blocklist.h declares who holds it and how its table is replaced. */
#ifndef SERVICES_BLOCKLIST_CLAUSE_H
#define SERVICES_BLOCKLIST_CLAUSE_H

#include "services/blocklist/blocklist.h"

struct conf_blocklist;

/* Pinned once, with an empty table; nothing is read yet. NULL with the reason in `f`. */
struct blocklist *blocklist_new(const struct conf *conf, const struct conf_blocklist *c,
				struct fault *f) MUST_USE;
/* The list behind rules given at run time: it acts as `first` (or NULL) does. */
struct blocklist *blocklist_of_rules(const struct blocklist *first) MUST_USE;
/* Whether both are configured alike, sources included. */
bool blocklist_equals(const struct blocklist *a, const struct blocklist *b);

#endif
