/* File descriptors: how many this configuration may need, and who gets them where there are fewer.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A daemon that runs out of descriptors can neither ask nor take connections. So it has as many as
 * it may need, if the system lets it; if not, it says so and keeps its clients' connections few
 * enough that asking goes on, and that commands, zones and lists find some, too. */
#ifndef DAEMON_FILES_H
#define DAEMON_FILES_H

#include "util/base.h"

struct conf;

/* For each worker. */
struct files_share {
	uint32_t clients; /* connections of clients */
	uint32_t ports;   /* UDP ports to ask from */
};

/* The most that may ever be open at once. */
uint64_t files_needed(const struct conf *conf) PURE;
/* Who may have how many when all in all `limit` may be open: never more than the options say. */
struct files_share files_divide(const struct conf *conf, uint64_t limit) PURE;

/* Raise the limit of this process as far as needed and allowed, and tell the operator where that is
 * too little. */
void files_raise(const struct conf *conf);
struct files_share files_share(const struct conf *conf);

#endif
