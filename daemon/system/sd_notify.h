/* Status for the service manager: the protocol of sd_notify(3), without libsystemd.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends datagrams to the socket NOTIFY_SOCKET names; without one, nothing happens. The protocol is
 * a few lines of text with a stability promise; libsystemd would bring lzma, zstd, lz4, libcap and
 * libgcrypt into a process that faces the network. */
#ifndef DAEMON_SYSTEM_SD_NOTIFY_H
#define DAEMON_SYSTEM_SD_NOTIFY_H

#include "util/base/base.h"

void notify_open(void); /* before chroot; the other calls use what it opens */

/* The line `systemctl status` shows. */
void notify_status(const char *fmt, ...) PRINTF_LIKE(1, 2);
void notify_ready(void);
void notify_reloading(void); /* followed by notify_ready when done */
void notify_stopping(void);

/* The watchdog's timeout in microseconds; 0: there is no watchdog. */
uint64_t notify_patience_us(void) PURE;
void notify_alive(void);

void notify_close(void);

#endif
