/* Stands before name servers and makes them slow: questions wait, answers come back at once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: delay MS PORT ADDRESS...: what comes to 127.0.0.1@PORT is for the first ADDRESS, at port
 * 53, PORT + 1 stands for the second. UDP; until it is killed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { WAITING_MOST = 65536, PACKET = 4096, QUESTION_MOST = 512, TARGETS_MOST = 64 };

/* One question on its way; its place is the id that the server sees. */
struct waiting {
	uint64_t due_ns;
	struct sockaddr_in from;
	uint16_t len;
	uint8_t wire[QUESTION_MOST];
};

static struct target {
	int front, back; /* towards those who ask, towards the server */
	struct waiting *ring;
	uint64_t came, gone; /* in all; what lies between waits */
} targets[TARGETS_MOST];

static uint64_t delay_ns;

static void die(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void target_open(struct target *t, unsigned port, const char *address)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int size = 4 << 20;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	t->front = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	t->back = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (t->front < 0 || t->back < 0 || bind(t->front, (struct sockaddr *)&at, sizeof(at)) < 0)
		die("cannot listen");
	at.sin_port = htons(53);
	if (inet_pton(AF_INET, address, &at.sin_addr) != 1 ||
	    connect(t->back, (struct sockaddr *)&at, sizeof(at)) < 0)
		die(address);
	setsockopt(t->front, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(t->back, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	t->ring = calloc(WAITING_MOST, sizeof(*t->ring));
	if (!t->ring)
		die("memory");
}

static void take_questions(struct target *t, uint64_t now)
{
	while (t->came - t->gone < WAITING_MOST) {
		struct waiting *w = &t->ring[t->came % WAITING_MOST];
		socklen_t len = sizeof(w->from);
		ssize_t n = recvfrom(t->front, w->wire, sizeof(w->wire), 0,
				     (struct sockaddr *)&w->from, &len);

		if (n < 0)
			return;
		if (n < 12)
			continue;
		w->len = (uint16_t)n;
		w->due_ns = now + delay_ns;
		t->came++;
	}
}

/* The place keeps the asker's own id, which stands in the wire no more, at its front. */
static void pass_on(struct target *t, uint64_t now)
{
	for (; t->gone < t->came && t->ring[t->gone % WAITING_MOST].due_ns <= now; t->gone++) {
		struct waiting *w = &t->ring[t->gone % WAITING_MOST];
		uint16_t place = htons((uint16_t)(t->gone % WAITING_MOST)), id;

		memcpy(&id, w->wire, sizeof(id));
		memcpy(w->wire, &place, sizeof(place));
		send(t->back, w->wire, w->len, 0);
		memcpy(w->wire, &id, sizeof(id));
	}
}

static void bring_back(struct target *t)
{
	uint8_t wire[PACKET];
	ssize_t n;

	while ((n = recv(t->back, wire, sizeof(wire), 0)) >= 12) {
		struct waiting *w = &t->ring[wire[0] << 8 | wire[1]];

		memcpy(wire, w->wire, 2);
		sendto(t->front, wire, (size_t)n, 0, (struct sockaddr *)&w->from, sizeof(w->from));
	}
}

/* Milliseconds until the next one is due, for poll. */
static int until_due(unsigned count, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < count; i++) {
		struct target *t = &targets[i];

		if (t->gone < t->came && t->ring[t->gone % WAITING_MOST].due_ns < next)
			next = t->ring[t->gone % WAITING_MOST].due_ns;
	}
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000 + 1);
}

int main(int argc, char **argv)
{
	struct pollfd polls[2 * TARGETS_MOST];
	unsigned count = argc > 3 ? (unsigned)argc - 3 : 0;

	if (!count || count > TARGETS_MOST) {
		fprintf(stderr, "usage: delay MS PORT ADDRESS...\n");
		return 2;
	}
	delay_ns = strtoull(argv[1], NULL, 10) * 1000000u;
	for (unsigned i = 0; i < count; i++) {
		target_open(&targets[i], (unsigned)atoi(argv[2]) + i, argv[i + 3]);
		polls[2 * i] = (struct pollfd){ .fd = targets[i].front, .events = POLLIN };
		polls[2 * i + 1] = (struct pollfd){ .fd = targets[i].back, .events = POLLIN };
	}
	for (;;) {
		uint64_t now;

		poll(polls, 2 * count, until_due(count, now_ns()));
		now = now_ns();
		for (unsigned i = 0; i < count; i++) {
			take_questions(&targets[i], now);
			pass_on(&targets[i], now);
			bring_back(&targets[i]);
		}
	}
}
