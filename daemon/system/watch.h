/* Watches files written by others: for changes, creation and removal.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Changes are reported at once where the system supports it (inotify, kqueue); each file is also
 * checked every few seconds, since network file systems and symbolic links report nothing. Files
 * replaced by renaming, or not there yet, are watched like any other. */
#ifndef DAEMON_SYSTEM_WATCH_H
#define DAEMON_SYSTEM_WATCH_H

#include "util/base/base.h"

struct loop;

struct file_watches;
struct file_watch;

/* All watches on one loop. Free it after its watches. */
struct file_watches *file_watches_new(struct loop *l) MUST_USE;
void file_watches_free(struct file_watches *all); /* NULL is fine */

/* `changed` is called in turns of the loop, at least once for each change to the file or to one
 * whose name is its name, a dot, and more; never before this returns. */
struct file_watch *file_watch_new(struct file_watches *all, const char *path,
				  void (*changed)(void *arg), void *arg) MUST_USE;
void file_watch_free(struct file_watch *w); /* NULL is fine; not from within `changed` */

#endif
