/* What a hit costs: request read, answer found and written, from a thousand hot names.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: micro_hit [HITS [THREADS [ENTRIES]]]. Prints nanoseconds of CPU for each hit of one
 * thread and of each of THREADS, and the bytes that an entry takes. Under valgrind --tool=callgrind
 * with
 * --toggle-collect='hit*', instructions divided by HITS are the figure to watch. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "services/answer/answer.h"
#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"

#define NAMES  1000
#define TURN   32 /* hits between rcu_turn_begin and _end, as a batch of packets has */
#define ENOUGH 64

static struct msgcache *cache;
static uint8_t packets[NAMES][ENOUGH];
static size_t packet_len[NAMES];
static unsigned long hits = 2000000;

static const struct answer_style style = { .udp_size = 1232, .max_udp = 1232, .rotate = true };

static uint16_t name_of(uint8_t name[DNAME_MAX], unsigned n)
{
	char text[32];

	snprintf(text, sizeof(text), "n%u.bench.test.", n);
	return (uint16_t)dname_parse(name, text, NULL);
}

static void store(unsigned n)
{
	uint8_t name[DNAME_MAX], ip[4] = { 192, 0, (uint8_t)(n >> 8), (uint8_t)n };
	struct slice record = { .at = ip, .len = 4 };
	const struct rrset *sets[1];
	struct message m = { .sets = sets, .count = { 1 } };
	struct arena a;

	arena_init(&a);
	m.q = (struct question){
		.name = name, .name_len = name_of(name, n), .type = TYPE_A, .class_ = CLASS_IN
	};
	sets[0] = rrset_build(&a, &(struct rrset_parts){ .owner = name,
							 .type = TYPE_A,
							 .class_ = CLASS_IN,
							 .ttl_s = 86400,
							 .expires_s = 86401,
							 .records = &record,
							 .count = 1 });
	msgcache_store(cache, &m, &(struct msg_keep){ .now_s = 1, .ttl_s = 86400 });
	arena_clear(&a);
}

static void make_packet(unsigned n)
{
	uint8_t name[DNAME_MAX];
	struct question q = { .name = name, .type = TYPE_A, .class_ = CLASS_IN };
	struct edns opt = { .present = true, .udp_size = 1232 };
	struct writer w = writer_over(packets[n], ENOUGH);

	q.name_len = name_of(name, n);
	msg_write_query(&w, (uint16_t)n, FLAG_RD, &q, &opt);
	packet_len[n] = writer_len(&w);
}

__attribute__((noinline)) static size_t hit(unsigned n, uint8_t *out)
{
	struct request r;
	struct answer_to to = { .style = &style, .request = &r, .now_s = 60 };
	struct writer w = writer_over(out, 4096);
	const struct stored *s;

	if (msg_read_request(packets[n], packet_len[n], &r) != REQUEST_GOOD)
		return 0;
	s = msgcache_find(cache, &r.q, msgcache_hash(&r.q), 0, false);
	if (!s)
		return 0;
	answer_stored(&w, &to, s, false);
	return writer_len(&w);
}

static void *run(void *arg)
{
	struct timespec from, to;
	static _Thread_local uint8_t out[4096];
	uint32_t seed = 12345;
	size_t bytes = 0;
	double *ns = arg;

	rcu_thread_join();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (unsigned long i = 0; i < hits; i++) {
		if (i % TURN == 0)
			rcu_turn_begin();
		seed = seed * 1664525 + 1013904223;
		bytes += hit((seed >> 8) % NAMES, out);
		if (i % TURN == TURN - 1)
			rcu_turn_end();
	}
	if (hits % TURN)
		rcu_turn_end();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	rcu_thread_leave();
	PROMISE(bytes >= hits * MSG_HEAD_LEN);
	*ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	      (double)hits;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
	unsigned entries = argc > 3 ? (unsigned)atoi(argv[3]) : 100000;
	pthread_t thread[64];
	double ns[64];
	struct slab_count c;

	if (argc > 1)
		hits = strtoul(argv[1], NULL, 10);
	threads = MIN(MAX(threads, 1), 64);
	hash_start(false);
	rcu_thread_join();
	rcu_turn_begin();
	cache = msgcache_new((size_t)MAX(entries, NAMES) * 256 + (1 << 20), 4);
	for (unsigned n = 0; n < MAX(entries, NAMES); n++)
		store(n);
	for (unsigned n = 0; n < NAMES; n++)
		make_packet(n);
	rcu_turn_end();
	c = slab_counted(msgcache_slab(cache));
	printf("%zu entries, %.0f bytes each\n", c.entries, (double)c.bytes / (double)c.entries);
	run(&ns[0]);
	printf("one thread: %.1f ns a hit\n", ns[0]);
	for (unsigned i = 0; i < threads; i++)
		PROMISE(pthread_create(&thread[i], NULL, run, &ns[i]) == 0);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		printf("of %u threads: %.1f ns a hit\n", threads, ns[i]);
	}
	msgcache_free(cache);
	rcu_thread_leave();
	return 0;
}
