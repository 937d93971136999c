/* Status for the service manager: the protocol of sd_notify(3), without libsystemd.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends datagrams to the socket NOTIFY_SOCKET names; without one, nothing happens. The protocol is
 * a few lines of text with a stability promise; libsystemd would bring lzma, zstd, lz4, libcap and
 * libgcrypt into a process that faces the network. */
#ifndef DAEMON_SYSTEM_SD_NOTIFY_H
#define DAEMON_SYSTEM_SD_NOTIFY_H

#include "util/base/base.h"

void sd_notify_open(void); /* before chroot; the other calls use what it opens */

/* The line `systemctl status` shows. */
void sd_notify_status(const char *fmt, ...) PRINTF_LIKE(1, 2);
void sd_notify_ready(void);
void sd_notify_reloading(void); /* followed by sd_notify_ready when done */
void sd_notify_stopping(void);

/* The watchdog's timeout in microseconds; 0: there is no watchdog. */
uint64_t sd_notify_patience_us(void) PURE;
void sd_notify_alive(void);

void sd_notify_close(void);

#endif
