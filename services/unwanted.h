/* Answers that nobody asked for: counted, and what follows from too many (unwanted-reply-threshold).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Somebody who guesses ports and ids fills this long before he guesses right. What he may have got in
 * by then is not known: everything cached goes. */
#ifndef SERVICES_UNWANTED_H
#define SERVICES_UNWANTED_H

struct env;

void unwanted_note(struct env *e);

#endif
