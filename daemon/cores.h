/* The memory of a process that failed, in a file: only for who asks for it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CORES_H
#define DAEMON_CORES_H

struct conf;

/* After the user was become: no memory in a file, no debugger of the same user, unless core-dumps
 * asks for it. */
void cores_forbid(const struct conf *conf);

#endif
