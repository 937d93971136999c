/* What FreeBSD's kqueue(2) says of watching files, so that daemon/system/watch.c is tested where there is no kqueue.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_BSD_SYS_EVENT_H
#define TESTDATA_BSD_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

struct kevent {
	uintptr_t ident;
	short filter;
	unsigned short flags;
	unsigned fflags;
	int64_t data;
	void *udata;
};

#define EV_SET(e, id, kind, what, which, extra, arg)                                     \
	(*(e) = (struct kevent){ .ident = (id), .filter = (kind), .flags = (what), .fflags = (which), \
				 .data = (extra), .udata = (arg) })

#define EVFILT_VNODE (-4)
#define EV_ADD       0x0001
#define EV_CLEAR     0x0020
#define NOTE_DELETE  0x0001
#define NOTE_WRITE   0x0002
#define NOTE_EXTEND  0x0004
#define NOTE_ATTRIB  0x0008
#define NOTE_RENAME  0x0020

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int room,
	   const struct timespec *patience);

#endif
