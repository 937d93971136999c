/* Watching files that others write: by inotify or kqueue, and by polling every few seconds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(HAVE_SYS_INOTIFY_H)
#include <sys/inotify.h>
#elif defined(HAVE_KQUEUE)
#include <sys/event.h>
#include <sys/time.h>
#endif

#include "util/base/list.h"
#include "util/base/loop.h"
#include "util/base/mem.h"

#define LOOK_NOTICED_US   (5 * US_PER_S) /* polling interval with notification by the system */
#define LOOK_UNNOTICED_US (1 * US_PER_S)

/* The metadata by which a change is noticed. */
struct looks {
	bool there;
	dev_t device;
	ino_t number;
	off_t size;
	int64_t changed_s, changed_ns;
};

struct file_watch {
	struct list link;
	struct file_watches *all;
	char *path, *folder;
	const char *name; /* in `path` */
	struct looks looks;
	void (*changed)(void *arg);
	void *arg;
	int folder_handle, file_handle; /* inotify watch, or kqueue's descriptors; -1: none */
};

struct file_watches {
	struct loop *loop;
	struct list watches;
	struct watch notices; /* inotify or kqueue; fd -1: no notification */
	struct timer look;
};

/* ---- comparing ---- */

static void look_at(const char *path, struct looks *to)
{
	struct stat st;

	memset(to, 0, sizeof(*to));
	if (stat(path, &st) != 0)
		return;
	to->there = true;
	to->device = st.st_dev;
	to->number = st.st_ino;
	to->size = st.st_size;
#if defined(HAVE_STRUCT_STAT_ST_MTIM)
	to->changed_s = st.st_mtim.tv_sec;
	to->changed_ns = st.st_mtim.tv_nsec;
#else
	to->changed_s = st.st_mtime;
#endif
}

static bool looks_the_same(const struct looks *a, const struct looks *b)
{
	return a->there == b->there && a->device == b->device && a->number == b->number &&
	       a->size == b->size && a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

static void tell(struct file_watch *w)
{
	look_at(w->path, &w->looks);
	w->changed(w->arg);
}

/* ---- notification ---- */

#if defined(HAVE_SYS_INOTIFY_H)

#define EVENTS                                                                              \
	(IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
	 IN_ONLYDIR)

/* Watch the whole folder, since files in it may be replaced by renaming. */
static void ask_for_notices(struct file_watch *w)
{
	if (w->all->notices.fd >= 0 && w->folder_handle < 0)
		w->folder_handle = inotify_add_watch(w->all->notices.fd, w->folder, EVENTS);
}

static void ask_no_more(struct file_watch *w)
{
	if (w->folder_handle < 0)
		return;
	LIST_EACH (at, &w->all->watches) {
		const struct file_watch *other = LIST_ITEM(at, struct file_watch, link);

		if (other != w && other->folder_handle == w->folder_handle)
			return;
	}
	(void)inotify_rm_watch(w->all->notices.fd, w->folder_handle);
}

static bool is_about(const struct file_watch *w, const struct inotify_event *e)
{
	size_t len = strlen(w->name);

	return e->len && strncmp(e->name, w->name, len) == 0 &&
	       (e->name[len] == '\0' || e->name[len] == '.');
}

static void take_event(struct file_watches *all, const struct inotify_event *e)
{
	LIST_EACH_SAFE (at, &all->watches) {
		struct file_watch *w = LIST_ITEM(at, struct file_watch, link);

		if (w->folder_handle != e->wd)
			continue;
		if (e->mask & IN_IGNORED)
			w->folder_handle = -1; /* the folder is gone: on_look tries again */
		else if (is_about(w, e))
			tell(w);
	}
}

static void on_notice(struct watch *notices, unsigned what)
{
	struct file_watches *all = container_of(notices, struct file_watches, notices);
	_Alignas(struct inotify_event) char events[4096];
	ssize_t len = read(notices->fd, events, sizeof(events));

	(void)what;
	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *e = (const void *)(events + at);

		take_event(all, e);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
}

static int open_notices(void)
{
	return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

#elif defined(HAVE_KQUEUE)

static int follow(struct file_watches *all, const char *path, struct file_watch *w)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct kevent e;

	if (fd < 0)
		return -1;
	EV_SET(&e, (uintptr_t)fd, EVFILT_VNODE, EV_ADD | EV_CLEAR,
	       NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_ATTRIB, 0, w);
	if (kevent(all->notices.fd, &e, 1, NULL, 0, NULL) == 0)
		return fd;
	close(fd);
	return -1;
}

static void close_handle(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A folder reports what is created and removed in it, a file what is written to it. */
static void ask_for_notices(struct file_watch *w)
{
	if (w->all->notices.fd < 0)
		return;
	if (w->folder_handle < 0)
		w->folder_handle = follow(w->all, w->folder, w);
	if (w->file_handle < 0)
		w->file_handle = follow(w->all, w->path, w);
}

static void ask_no_more(struct file_watch *w)
{
	close_handle(&w->folder_handle);
	close_handle(&w->file_handle);
}

static void on_notice(struct watch *notices, unsigned what)
{
	struct file_watches *all = container_of(notices, struct file_watches, notices);
	static const struct timespec at_once;
	struct kevent e[16];
	int count = kevent(notices->fd, NULL, 0, e, (int)COUNT(e), &at_once);

	(void)what;
	for (int i = 0; i < count; i++) {
		LIST_EACH_SAFE (at, &all->watches) {
			struct file_watch *w = LIST_ITEM(at, struct file_watch, link);

			if ((void *)e[i].udata != (void *)w)
				continue;
			if ((int)e[i].ident == w->folder_handle &&
			    e[i].fflags & (NOTE_DELETE | NOTE_RENAME))
				close_handle(&w->folder_handle);
			close_handle(&w->file_handle); /* it may be another file by now */
			ask_for_notices(w);
			tell(w);
		}
	}
}

static int open_notices(void)
{
	return kqueue();
}

#else

static void ask_for_notices(struct file_watch *w)
{
	(void)w;
}

static void ask_no_more(struct file_watch *w)
{
	(void)w;
}

static void on_notice(struct watch *notices, unsigned what)
{
	(void)notices;
	(void)what;
}

static int open_notices(void)
{
	return -1;
}

#endif

/* ---- polling ---- */

static void on_look(struct timer *t)
{
	struct file_watches *all = container_of(t, struct file_watches, look);

	LIST_EACH_SAFE (at, &all->watches) {
		struct file_watch *w = LIST_ITEM(at, struct file_watch, link);
		struct looks now;

		ask_for_notices(w);
		look_at(w->path, &now);
		if (!looks_the_same(&now, &w->looks))
			tell(w);
	}
	timer_set(all->loop, t, all->notices.fd >= 0 ? LOOK_NOTICED_US : LOOK_UNNOTICED_US);
}

/* ---- life cycle ---- */

struct file_watches *file_watches_new(struct loop *l)
{
	struct file_watches *all = mem_zero(sizeof(*all));

	all->loop = l;
	list_init(&all->watches);
	all->notices = (struct watch){ .fd = open_notices(), .ready = on_notice };
	if (all->notices.fd >= 0)
		watch_start(l, &all->notices, WATCH_READ);
	all->look.fire = on_look;
	timer_set(l, &all->look, LOOK_UNNOTICED_US);
	return all;
}

void file_watches_free(struct file_watches *all)
{
	if (!all)
		return;
	PROMISE(list_is_empty(&all->watches));
	timer_stop(all->loop, &all->look);
	if (all->notices.fd >= 0) {
		watch_stop(&all->notices);
		close(all->notices.fd);
	}
	mem_free(all);
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_text(".");
	return mem_textf("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

struct file_watch *file_watch_new(struct file_watches *all, const char *path,
				  void (*changed)(void *arg), void *arg)
{
	struct file_watch *w = mem_zero(sizeof(*w));
	const char *slash;

	w->all = all;
	w->path = mem_text(path);
	w->folder = folder_of(path);
	slash = strrchr(w->path, '/');
	w->name = slash ? slash + 1 : w->path;
	w->changed = changed;
	w->arg = arg;
	w->folder_handle = w->file_handle = -1;
	list_push_back(&all->watches, &w->link);
	ask_for_notices(w);
	look_at(w->path, &w->looks);
	return w;
}

void file_watch_free(struct file_watch *w)
{
	if (!w)
		return;
	ask_no_more(w);
	list_remove(&w->link);
	mem_free(w->path);
	mem_free(w->folder);
	mem_free(w);
}
