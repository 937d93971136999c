/* Files that others write: told when one has changed, has come or has gone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The system tells of changes at once where it can (inotify, kqueue); besides, each file is looked
 * at every few seconds, since network file systems and links tell nobody. A file that is replaced
 * by renaming, or is not there yet, is followed like any other. */
#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include "util/base.h"

struct loop;

struct file_watches;
struct file_watch;

/* All of them on one loop. Freed after its watches. */
struct file_watches *file_watches_new(struct loop *l) MUST_USE;
void file_watches_free(struct file_watches *all); /* NULL is fine */

/* `changed` is called in the loop's turns, once or more often for each change to the file, or to
 * one whose name begins with its name and a dot, and never before this returns. */
struct file_watch *file_watch_new(struct file_watches *all, const char *path,
				  void (*changed)(void *arg), void *arg) MUST_USE;
void file_watch_free(struct file_watch *w); /* NULL is fine; not while it calls */

#endif
