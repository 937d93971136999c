/* Telling the service manager how we are: the protocol of sd_notify(3), by itself.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One datagram to the socket that NOTIFY_SOCKET names; nothing happens where there is none. */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include "util/base.h"

void notify_open(void); /* before chroot; later calls use what it opened */
void notify_ready(void);
void notify_reloading(void); /* and notify_ready when that is over */
void notify_stopping(void);
void notify_close(void);

#endif
