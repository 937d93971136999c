/* Random numbers: libsodium's generator in large blocks, or a repeatable one for tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/random.h"

#include <sodium.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"

/* getpid() would cost a system call per query; a fork handler costs nothing. */
static _Atomic int this_pid;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void remember_pid(void)
{
	atomic_store_explicit(&this_pid, (int)getpid(), memory_order_relaxed);
}

static void prepare(void)
{
	PROMISE(sodium_init() >= 0);
	PROMISE(pthread_atfork(NULL, NULL, remember_pid) == 0);
	remember_pid();
}

void random_init(struct random *r)
{
	*r = (struct random){ .used = sizeof(r->pool) };
}

void random_play(struct random *r, uint64_t seed)
{
	*r = (struct random){ .used = sizeof(r->pool), .played = true, .seed = seed };
}

/* The n-th number of a Weyl sequence, mixed (SplitMix64's finalizer). For tests only. */
static uint64_t played_number(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + n * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void fill(struct random *r)
{
	r->used = 0;
	if (!r->played) {
		pthread_once(&once, prepare);
		r->pid = atomic_load_explicit(&this_pid, memory_order_relaxed);
		randombytes_buf(r->pool, sizeof(r->pool));
		return;
	}
	for (size_t i = 0; i < sizeof(r->pool); i += 8) {
		uint64_t n = played_number(r->seed, ++r->stride);

		put_u32(r->pool + i, (uint32_t)(n >> 32));
		put_u32(r->pool + i + 4, (uint32_t)n);
	}
}

/* Nothing is given out of an unfilled pool, or one filled by another process. */
static bool is_ours(const struct random *r)
{
	return r->pid && r->pid == atomic_load_explicit(&this_pid, memory_order_relaxed);
}

/* What has been given out is wiped in the pool, so that memory does not reveal past IDs. */
void random_bytes(struct random *r, void *to, size_t len)
{
	uint8_t *out = to;

	if (!r->played && !is_ours(r))
		r->used = sizeof(r->pool);
	while (len) {
		size_t left = sizeof(r->pool) - r->used, n = MIN(left, len);

		if (!n) {
			fill(r);
			continue;
		}
		memcpy(out, r->pool + r->used, n);
		memset(r->pool + r->used, 0, n);
		r->used += (uint32_t)n;
		out += n;
		len -= n;
	}
}

uint16_t random_u16(struct random *r)
{
	uint8_t b[2];

	random_bytes(r, b, sizeof(b));
	return get_u16(b);
}

uint32_t random_u32(struct random *r)
{
	uint8_t b[4];

	random_bytes(r, b, sizeof(b));
	return get_u32(b);
}

uint64_t random_u64(struct random *r)
{
	uint8_t b[8];

	random_bytes(r, b, sizeof(b));
	return (uint64_t)get_u32(b) << 32 | get_u32(b + 4);
}

/* Scale a draw to the bound by multiplication; draws whose low half falls into the uneven remainder
 * are rejected (Lemire 2019), less often than once in 2^32 / bound draws. */
uint32_t random_below(struct random *r, uint32_t bound)
{
	uint32_t rest = bound ? (0 - bound) % bound : 0; /* of none, 0 */
	uint64_t scaled;

	do
		scaled = (uint64_t)random_u32(r) * bound;
	while ((uint32_t)scaled < rest);
	return (uint32_t)(scaled >> 32);
}
