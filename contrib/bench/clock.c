/* A clock that another program moves on: LD_PRELOAD, for what waits for its time through libc.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * gcc -shared -fPIC. The file that BENCH_CLOCK names begins with nanoseconds that every clock is ahead
 * of the kernel's, then the number of threads that have waited with a limit, then for each of these until when, by
 * the monotonic clock, or 0: 64-bit numbers. Who waits so looks at its clock every millisecond: time that was
 * skipped has passed for timers, too. Clocks of processor time are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000
#define LOOK   1000000 /* ns of the kernel's time from one look at the clock to the next */

enum { THREADS_MOST = 128 };

struct shared {
	int64_t ahead;
	int64_t threads;
	int64_t until[THREADS_MOST];
};

static struct shared standing;
static volatile struct shared *shared = &standing;
static __thread int64_t thread_number = -1;

__attribute__((constructor)) static void clock_open(void)
{
	const char *path = getenv("BENCH_CLOCK");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		shared = at;
	close(fd);
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}

static int64_t kernel_ns(clockid_t which)
{
	struct timespec t;

	syscall(SYS_clock_gettime, which, &t);
	return ns_of(&t);
}

static int64_t now_ns(void)
{
	return kernel_ns(CLOCK_MONOTONIC) + shared->ahead;
}

/* ---- what time it is ---- */

int clock_gettime(clockid_t which, struct timespec *t)
{
	int failed = (int)syscall(SYS_clock_gettime, which, t);

	if (failed == 0 && which != CLOCK_PROCESS_CPUTIME_ID && which != CLOCK_THREAD_CPUTIME_ID && which >= 0)
		*t = timespec_of(ns_of(t) + shared->ahead);
	return failed;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	int64_t now = kernel_ns(CLOCK_REALTIME) + shared->ahead;

	(void)zone;
	*t = (struct timeval){ .tv_sec = now / SECOND, .tv_usec = now % SECOND / 1000 };
	return 0;
}

time_t time(time_t *to)
{
	time_t now = (kernel_ns(CLOCK_REALTIME) + shared->ahead) / SECOND;

	if (to)
		*to = now;
	return now;
}

int timespec_get(struct timespec *t, int base)
{
	clock_gettime(CLOCK_REALTIME, t);
	return base;
}

/* Stamps that the kernel gives packets are by its clock: there are none. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	if (level == SOL_SOCKET && (option == SO_TIMESTAMP || option == SO_TIMESTAMPNS))
		return 0;
	return (int)syscall(SYS_setsockopt, fd, level, option, value, len);
}

/* ---- waiting ---- */

/* Tell until when this thread waits, by the monotonic clock; 0: no longer. */
static void tell(int64_t until_ns)
{
	if (thread_number < 0)
		thread_number = __atomic_fetch_add(&shared->threads, 1, __ATOMIC_RELAXED);
	if (thread_number < THREADS_MOST)
		shared->until[thread_number] = until_ns;
}

/* Until when: never, if it is negative. */
static int64_t until(int64_t wait_ns)
{
	return wait_ns < 0 ? INT64_MAX : now_ns() + wait_ns;
}

/* How long to wait next, for the kernel; false: the time is over. Who does not wait asks the kernel once. */
static int next_wait(int64_t end_ns, int first, struct timespec *to)
{
	int64_t left = end_ns == INT64_MAX ? LOOK : end_ns - now_ns();

	*to = timespec_of(left < 0 ? 0 : left < LOOK ? left : LOOK);
	tell(left > 0 ? end_ns : 0);
	return first || left > 0;
}

static int epoll_until(int fd, struct epoll_event *events, int most, int64_t wait_ns, const sigset_t *mask)
{
	int64_t end_ns = until(wait_ns);
	struct timespec t;
	int got = 0;

	if (wait_ns < 0)
		return (int)syscall(SYS_epoll_pwait, fd, events, most, -1, mask, _NSIG / 8);
	for (int first = 1; next_wait(end_ns, first, &t) && got == 0; first = 0)
		got = (int)syscall(SYS_epoll_pwait, fd, events, most, t.tv_nsec > 0, mask, _NSIG / 8);
	tell(0);
	return got;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	return epoll_until(fd, events, most, (int64_t)ms * 1000000, NULL);
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
	return epoll_until(fd, events, most, (int64_t)ms * 1000000, mask);
}

int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *wait, const sigset_t *mask)
{
	return epoll_until(fd, events, most, wait ? ns_of(wait) : -1, mask);
}

static int poll_until(struct pollfd *fds, nfds_t count, int64_t wait_ns, const sigset_t *mask)
{
	int64_t end_ns = until(wait_ns);
	struct timespec t;
	int got = 0;

	if (wait_ns < 0)
		return (int)syscall(SYS_ppoll, fds, count, NULL, mask, _NSIG / 8);
	for (int first = 1; next_wait(end_ns, first, &t) && got == 0; first = 0)
		got = (int)syscall(SYS_ppoll, fds, count, &t, mask, _NSIG / 8);
	tell(0);
	return got;
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	return poll_until(fds, count, (int64_t)ms * 1000000, NULL);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *wait, const sigset_t *mask)
{
	return poll_until(fds, count, wait ? ns_of(wait) : -1, mask);
}

int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict odd, struct timeval *restrict wait)
{
	fd_set none, all[3];
	fd_set *at[3] = { in, out, odd };
	int64_t end_ns = wait ? until((int64_t)wait->tv_sec * SECOND + (int64_t)wait->tv_usec * 1000) : 0;
	struct timespec t;
	int got = 0;

	FD_ZERO(&none);
	if (!wait)
		return (int)syscall(SYS_pselect6, count, in, out, odd, NULL, NULL);
	for (int i = 0; i < 3; i++)
		all[i] = at[i] ? *at[i] : none;
	for (int first = 1; next_wait(end_ns, first, &t) && got == 0; first = 0) {
		for (int i = 0; i < 3; i++) {
			if (at[i])
				*at[i] = all[i];
		}
		got = (int)syscall(SYS_pselect6, count, in, out, odd, &t, NULL);
	}
	tell(0);
	return got;
}

/* Asleep until then, or until a signal comes. */
static int sleep_until(int64_t end_ns, struct timespec *left)
{
	struct timespec t;

	while (next_wait(end_ns, 0, &t)) {
		if (syscall(SYS_nanosleep, &t, NULL) != 0) {
			if (left)
				*left = timespec_of(end_ns - now_ns() > 0 ? end_ns - now_ns() : 0);
			return EINTR;
		}
	}
	return 0;
}

int nanosleep(const struct timespec *wait, struct timespec *left)
{
	int failed = sleep_until(until(ns_of(wait)), left);

	errno = failed ? failed : errno;
	return failed ? -1 : 0;
}

int clock_nanosleep(clockid_t which, int flags, const struct timespec *wait, struct timespec *left)
{
	int64_t from = flags & TIMER_ABSTIME ? kernel_ns(which) + shared->ahead : 0;

	return sleep_until(until(ns_of(wait) > from ? ns_of(wait) - from : 0), flags & TIMER_ABSTIME ? NULL : left);
}

int usleep(useconds_t us)
{
	return nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L }, NULL);
}

unsigned int sleep(unsigned int seconds)
{
	struct timespec left = { 0 };

	return nanosleep(&(struct timespec){ .tv_sec = seconds }, &left) ? (unsigned int)left.tv_sec : 0;
}

/* A wait for a condition that ends early is a wakeup for nothing, which its caller expects. */
typedef int wait_fn(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int clockwait_fn(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

static struct timespec look_at(clockid_t which, const struct timespec *end, int *over)
{
	int64_t now = kernel_ns(which), left = ns_of(end) - shared->ahead - now;

	*over = left <= LOOK;
	tell(left > 0 ? now_ns() + left : 0);
	return timespec_of(now + (left < 0 ? 0 : left < LOOK ? left : LOOK));
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict lock,
			   const struct timespec *restrict end)
{
	static wait_fn *next;
	/* Which clock it is by is not told; seconds since 1970 are many more than since the start of the machine. */
	clockid_t which = end->tv_sec > 1000000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	int over, got;
	struct timespec t = look_at(which, end, &over);

	if (!next)
		*(void **)&next = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	got = next(cond, lock, &t);
	tell(0);
	return got == ETIMEDOUT && !over ? 0 : got;
}

int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict lock, clockid_t which,
			   const struct timespec *restrict end)
{
	static clockwait_fn *next;
	int over, got;
	struct timespec t = look_at(which, end, &over);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
	got = next(cond, lock, which, &t);
	tell(0);
	return got == ETIMEDOUT && !over ? 0 : got;
}
