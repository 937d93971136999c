/* A reply in the words of unbound-host, for scripts that read them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_TOOLS_HOST_WORDS_H
#define DAEMON_TOOLS_HOST_WORDS_H

#include "util/base/base.h"

struct message;

/* `name` as it was given, or made of an address. `tells`: also what is not there, and the security of each line. */
void host_words_print(const char *name, uint16_t type, const struct message *m, uint32_t now_s, bool tells);
/* The name under which an address is looked up (RFC 1035 3.5, RFC 3596 2.5), without the last dot. False: it is none. */
bool host_words_reverse(const char *text, char name[80]);

#endif
