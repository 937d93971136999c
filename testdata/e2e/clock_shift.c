/* A clock that stands elsewhere, for programs it is loaded into first (LD_PRELOAD).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The file named in CLOCK_SHIFT holds seconds, eight bytes in the machine's order, that are added to
 * the wall clock; it may change at any time. What only counts (CLOCK_MONOTONIC) is as ever. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CLOCK_SHIFT");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		shift = at;
	if (fd >= 0)
		close(fd);
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int got = (int)syscall(SYS_clock_gettime, id, ts);

	if (got == 0 && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ts->tv_sec += *shift;
	return got;
}

time_t time(time_t *at)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &ts);
	if (at)
		*at = ts.tv_sec;
	return ts.tv_sec;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts = { 0, 0 };

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}
