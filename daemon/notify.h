/* Telling the service manager how we are: the protocol of sd_notify(3), by itself.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One datagram to the socket that NOTIFY_SOCKET names; nothing happens where there is none. The
 * protocol is lines of text with a promise to stay as it is: that is less than what libsystemd
 * brings along (lzma, zstd, lz4, libcap, libgcrypt), some of it into a process that faces the network. */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include "util/base.h"

void notify_open(void); /* before chroot; later calls use what it opened */

/* What `systemctl status` shows beside the state; one line. */
void notify_status(const char *fmt, ...) PRINTF_LIKE(1, 2);
void notify_ready(void);
void notify_reloading(void); /* and notify_ready when that is over */
void notify_stopping(void);

/* How long the service manager waits for a sign of life, in microseconds; 0: it does not. */
uint64_t notify_patience_us(void) PURE;
void notify_alive(void);

void notify_close(void);

#endif
