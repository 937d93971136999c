/* Counts unsolicited responses; too many empty the caches (unwanted-reply-threshold).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An attacker who guesses ports and ids reaches the threshold long before guessing right. As what
 * may have been injected by then is unknown, everything cached is dropped. */
#ifndef SERVICES_UPSTREAM_UNWANTED_H
#define SERVICES_UPSTREAM_UNWANTED_H

struct env;

/* Count one that this worker received; at the threshold call env->purge and begin at 0. */
void unwanted_note(struct env *e);

#endif
