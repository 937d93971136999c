/* Ends the process in time: a thread that stands still is left behind.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From stopper_start on, each worker has STOPPER_MS to take a turn, and from stopper_join on to end its loop. If
 * one does not, an error in the log names it, the pid file goes, and the process ends with exit code 1. What the
 * main thread does in between, such as writing the cache file, may take as long as it likes while the workers take
 * turns: clients are still being answered. Once they have ended nobody is, and the main thread, too, has a limit for
 * what is left to do. A thread of its own watches, so that the main thread may wait for what it has to. */
#ifndef DAEMON_PROCESS_STOPPER_H
#define DAEMON_PROCESS_STOPPER_H

#include "util/base/base.h"

struct daemon;
struct stopper;

#define STOPPER_MS 1500u
#define STOPPER_REST_MS 20000u /* the cache file may be written once more */

/* The daemon is to stop; its workers run. NULL, with a line in the log, if there can be no further thread: then
 * nobody watches. */
struct stopper *stopper_start(struct daemon *d) MUST_USE;
/* Workers have been, or are about to be, asked to end. NULL is fine. */
void stopper_join(struct stopper *s);
/* They have all ended, and are looked at no more; the main thread has so long for the rest. NULL is fine. */
void stopper_rest(struct stopper *s, unsigned ms);
/* All is done. NULL is fine. */
void stopper_end(struct stopper *s);

#endif
