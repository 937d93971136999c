/* Claims about files that others write, as BSD's kqueue tells of them: those of watch.c, and that it does tell.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The file itself is compiled here with its branch for kqueue, over one that is played by inotify: it reports what
 * is asked for of an open descriptor, forgets a descriptor that is closed, and tells once (EV_CLEAR). */
#ifndef HAVE_SYS_INOTIFY_H
int main(void)
{
	return 77; /* skipped: watch.c is tested over the system's own kqueue */
}
#else

#include <stdio.h>
#include <string.h>
#include <sys/event.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/tests/wire.h"

enum { NOTES = 16 };

/* What is watched. `ident` -1: nothing. */
static struct note {
	int ident, watch; /* the descriptor; inotify's number for what it is */
	unsigned wanted, came;
	bool is_gone;
	void *udata;
} notes[NOTES];
static int queue = -1;
static unsigned told_by_queue;

int kqueue(void)
{
	for (size_t i = 0; i < COUNT(notes); i++)
		notes[i].ident = -1;
	return queue = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

static int play_close(int fd)
{
	for (size_t i = 0; i < COUNT(notes); i++)
		if (notes[i].ident == fd)
			notes[i] = (struct note){ .ident = -1 };
	return close(fd);
}

static int add_note(const struct kevent *e)
{
	char path[64];

	assert_int_equal(e->filter, EVFILT_VNODE);
	assert_int_equal(e->flags, EV_ADD | EV_CLEAR);
	snprintf(path, sizeof path, "/proc/self/fd/%d", (int)e->ident);
	for (size_t i = 0; i < COUNT(notes); i++) {
		if (notes[i].ident >= 0)
			continue;
		notes[i] = (struct note){ .ident = (int)e->ident, .wanted = e->fflags, .udata = e->udata };
		notes[i].watch = inotify_add_watch(queue, path, IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE |
								IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF);
		return notes[i].watch < 0 ? -1 : 0;
	}
	fail_msg("descriptors are not closed");
	return -1;
}

/* What happened to a file; to a folder, everything in it is a write to itself alone. */
static unsigned note_of(const struct inotify_event *e)
{
	if (e->len)
		return e->mask & (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) ? NOTE_WRITE : 0;
	return e->mask & IN_MOVE_SELF ? NOTE_RENAME : e->mask & IN_ATTRIB ? NOTE_ATTRIB : NOTE_WRITE | NOTE_EXTEND;
}

static void collect(void)
{
	_Alignas(struct inotify_event) char bytes[4096];
	ssize_t len = read(queue, bytes, sizeof bytes);
	struct stat st;

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *e = (const void *)(bytes + at);

		for (size_t i = 0; i < COUNT(notes); i++)
			if (notes[i].ident >= 0 && notes[i].watch == e->wd)
				notes[i].came |= note_of(e);
		at += (ssize_t)(sizeof *e + e->len);
	}
	for (size_t i = 0; i < COUNT(notes); i++) {
		if (notes[i].ident < 0 || notes[i].is_gone || fstat(notes[i].ident, &st) != 0)
			continue;
		notes[i].is_gone = st.st_nlink == 0;
		notes[i].came |= notes[i].is_gone ? NOTE_DELETE : 0;
	}
}

int kevent(int fd, const struct kevent *changes, int change_count, struct kevent *events, int room,
	   const struct timespec *patience)
{
	int count = 0;

	assert_int_equal(fd, queue);
	for (int i = 0; i < change_count; i++)
		if (add_note(&changes[i]) != 0)
			return -1;
	if (room == 0)
		return 0;
	assert_true(patience && patience->tv_sec == 0 && patience->tv_nsec == 0);
	collect();
	for (size_t i = 0; i < COUNT(notes) && count < room; i++) {
		unsigned came = notes[i].came & notes[i].wanted;

		if (notes[i].ident < 0 || !came)
			continue;
		EV_SET(&events[count], (uintptr_t)notes[i].ident, EVFILT_VNODE, EV_CLEAR, came, 0, notes[i].udata);
		notes[i].came = 0;
		count++;
	}
	told_by_queue += count > 0;
	return count;
}

#undef HAVE_SYS_INOTIFY_H
#undef HAVE_KQUEUE
#define HAVE_KQUEUE 1
#define close play_close
#include "daemon/system/watch.c"
#undef close
#define main claims_of_watch
int claims_of_watch(void);
#include "daemon/system/tests/watch.c"
#undef main

static unsigned open_notes(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < COUNT(notes); i++)
		count += notes[i].ident >= 0;
	return count;
}

/* Not by looking every few seconds: that would be the next line of the log, and too late for a name. */
static void it_is_the_queue_that_tells(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		void (*act)(void);
		unsigned followed; /* descriptors afterwards: the folder's, and the file's while there is one */
	} steps[] = {
		{ "it comes", create, 2 },
		{ "something is added", append, 2 },
		{ "another takes its place", replace, 2 },
		{ "that one is added to", append, 2 },
		{ "it is taken away", take_away, 1 },
		{ "it comes again", create, 2 },
	};
	struct file_watches *all;
	struct file_watch *w;

	strcpy(folder, "/tmp/resolver-watch.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/file", folder);
	snprintf(other, sizeof other, "%s/new", folder);
	loop = loop_new();
	all = file_watches_new(loop);
	timer_stop(loop, &all->look);
	w = file_watch_new(all, path, on_change, &told);
	assert_int_equal(open_notes(), 1);
	for (size_t i = 0; i < COUNT(steps); i++) {
		told_by_queue = 0;
		steps[i].act();
		if (!wait_for_it() || !told_by_queue)
			fail_msg("%s: nothing was told", steps[i].why);
		if (open_notes() != steps[i].followed)
			fail_msg("%s: %u descriptors", steps[i].why, open_notes());
	}
	file_watch_free(w);
	assert_int_equal(open_notes(), 0);
	file_watches_free(all);
	loop_free(loop);
	take_folder_away();
}

static void what_happened_to_another_is_not_told(void **state)
{
	(void)state;
	static unsigned told_of_other;
	char far[] = "/tmp/resolver-watch.XXXXXX", far_path[64];
	struct file_watches *all;
	struct file_watch *near, *w;

	strcpy(folder, "/tmp/resolver-watch.XXXXXX");
	assert_true(mkdtemp(folder) && mkdtemp(far));
	snprintf(path, sizeof path, "%s/file", folder);
	snprintf(far_path, sizeof far_path, "%s/file", far);
	create();
	loop = loop_new();
	all = file_watches_new(loop);
	near = file_watch_new(all, path, on_change, &told);
	w = file_watch_new(all, far_path, on_change, &told_of_other);
	append();
	assert_true(wait_for_it());
	assert_int_equal(told_of_other, 0);
	file_watch_free(near);
	file_watch_free(w);
	file_watches_free(all);
	loop_free(loop);
	take_folder_away();
	assert_int_equal(rmdir(far), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_queue_that_tells),
		cmocka_unit_test(what_happened_to_another_is_not_told),
	};

	return claims_of_watch() + cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
