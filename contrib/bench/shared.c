/* Counts what is written that another thread writes, too: linked with a build whose atomics are calls.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For contrib/bench/shared, which says how to build with it. clang replaces each operation on an atomic by a call of a
 * function of the thread sanitizer's runtime; these here do the operation and count it, by who called. So are the
 * mutexes that are locked, of libraries too. What a site wrote is *shared* when another thread had written
 * to the same line of cache before. The counts are in the file that SHARED_COUNTS names, so that they can be read at
 * any time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITES = 4096, LINES = 1 << 20, LINE_BITS = 6, THREADS_TOLD = 32 };

enum kind { LOAD, STORE, CHANGE, LOCK };

struct site {
	uint64_t caller, kind, own, shared;
};

static struct counts {
	uint64_t base; /* where the program was loaded */
	struct site sites[SITES];
} *counts;

static struct line {
	uintptr_t address;
	uint32_t threads; /* a bit for each that has written */
} *lines;

static _Thread_local uint32_t own_bit;
static uint32_t threads;

static int note_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1; /* the first one is the program */
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("SHARED_COUNTS");
	int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, sizeof *counts) != 0)
		return;
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	lines = mmap(NULL, LINES * sizeof *lines, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	close(fd);
	if (counts == MAP_FAILED || lines == MAP_FAILED)
		abort();
	dl_iterate_phdr(note_base, &counts->base);
}

/* Whether another thread has written there. Of lines that fall together, or lose a race, one is forgotten: a count is a
 * little too low then. */
static bool is_shared(uintptr_t at)
{
	uintptr_t address = at >> LINE_BITS;
	struct line *l = &lines[(address * 0x9e3779b97f4a7c15u) >> 44];

	if (!own_bit)
		own_bit = 1u << (__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % THREADS_TOLD);
	if (l->address != address)
		*l = (struct line){ .address = address };
	l->threads |= own_bit;
	return l->threads != own_bit;
}

static void note(const volatile void *at, enum kind kind, void *caller)
{
	uint64_t who = (uint64_t)(uintptr_t)caller;
	bool shared;

	if (!counts || kind == LOAD)
		return;
	shared = is_shared((uintptr_t)at);
	for (uint64_t i = who * 0x9e3779b97f4a7c15u >> 52, tries = 0; tries < SITES; tries++, i = (i + 1) % SITES) {
		struct site *s = &counts->sites[i];
		uint64_t none = 0;

		if (s->caller != who && !__atomic_compare_exchange_n(&s->caller, &none, who, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
		    none != who)
			continue;
		s->kind = kind;
		__atomic_fetch_add(shared ? &s->shared : &s->own, 1, __ATOMIC_RELAXED);
		return;
	}
}

#define CALLER __builtin_return_address(0)

/* ---- what clang calls: all as strong as can be ---- */

#define SIZE(bits, type) \
	type __tsan_atomic##bits##_load(const volatile type *at, int order); \
	type __tsan_atomic##bits##_load(const volatile type *at, int order) \
	{ \
		(void)order; \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST); \
	} \
	void __tsan_atomic##bits##_store(volatile type *at, type value, int order); \
	void __tsan_atomic##bits##_store(volatile type *at, type value, int order) \
	{ \
		(void)order; \
		note(at, STORE, CALLER); \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST); \
	} \
	type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order); \
	type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) \
	{ \
		(void)order; \
		note(at, CHANGE, CALLER); \
		return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); \
	} \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type was, type value, int order, int other); \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type was, type value, int order, int other) \
	{ \
		(void)order, (void)other; \
		note(at, CHANGE, CALLER); \
		__atomic_compare_exchange_n(at, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		return was; \
	}

#define FETCH(bits, type, what) \
	type __tsan_atomic##bits##_fetch_##what(volatile type *at, type value, int order); \
	type __tsan_atomic##bits##_fetch_##what(volatile type *at, type value, int order) \
	{ \
		(void)order; \
		note(at, CHANGE, CALLER); \
		return __atomic_fetch_##what(at, value, __ATOMIC_SEQ_CST); \
	}

#define ALL(bits, type) \
	SIZE(bits, type) \
	FETCH(bits, type, add) \
	FETCH(bits, type, sub) \
	FETCH(bits, type, and) \
	FETCH(bits, type, or) \
	FETCH(bits, type, xor)

ALL(8, uint8_t)
ALL(16, uint16_t)
ALL(32, uint32_t)
ALL(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_acquire(void *at);
void __tsan_acquire(void *at)
{
	(void)at;
}

void __tsan_release(void *at);
void __tsan_release(void *at)
{
	(void)at;
}

/* ---- mutexes ---- */

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*theirs)(pthread_mutex_t *m);

	if (!theirs)
		*(void **)&theirs = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	note(m, LOCK, CALLER);
	return theirs(m);
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	static int (*theirs)(pthread_mutex_t *m);

	if (!theirs)
		*(void **)&theirs = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
	note(m, LOCK, CALLER);
	return theirs(m);
}
