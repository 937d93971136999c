/* Asks a server over UDP, checks what it says, and tells how fast and how well it answered.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: udpload [-p PORT] [-n COUNT] [-t SECONDS] [-w WINDOW] [-r RATE] [-g US] [-z EXPONENT] [-s
 * SOCKETS]
 *                [-e UDP-SIZE] [-d] [-a] [-c RCODE] [-m FILE2] [-M EVERY] [-k] [-x] ADDRESS FILE
 *
 * FILE holds "NAME TYPE" lines (A, AAAA or a number), asked in their order, again and again; with
 * -z they are drawn by a Zipf law instead, the first line most often. -w many are outstanding
 * (100), those of FILE2 beside. -r paces single packets, as long as the window has room; with -g it
 * sleeps so many microseconds between. It ends after COUNT questions or SECONDS. -e sends EDNS, -d
 * with DO. -a: every answer must hold a record in ANSWER; -c: its code is this one (0). -m: every
 * EVERYth question (10) is the next of FILE2, with times of their own. -k: an answer came when the
 * kernel got it, however late this program looks. -x: an echo is asked, which only flips the QR
 * bit. Prints one line of JSON; exits 0 also when answers were wrong. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	WINDOW_MOST = 4096,
	SOCKETS_MOST = 64,
	BATCH = 32,
	QUERY_MOST = 300,
	REPLY_MOST = 4096,
	HEAD_LEN = 12,
	DRAWS = 1 << 18, /* of the Zipf law, taken round and round */
	SUBS = 64,       /* histogram: steps in each power of two of nanoseconds */
	LOST_AFTER_MS = 3000,
	CONTROL_ROOM = 64, /* for the kernel's time of a datagram */
};

struct query {
	uint16_t len, question_len;
	uint8_t wire[QUERY_MOST];
};

/* One outstanding question; its place is the id it goes by. */
struct slot {
	const struct query *query;
	uint64_t sent_ns;
};

struct socket_state {
	int fd;
	unsigned outstanding, others; /* of FILE, of FILE2 */
	struct slot slots[WINDOW_MOST];
	uint16_t spare[WINDOW_MOST];
	unsigned spare_count;
};

static struct {
	unsigned port, window, sockets, udp_size, rcode, every, grain_us;
	uint64_t count;
	double seconds, rate, exponent;
	bool dnssec, want_answer, kernel_times, echo;
	const char *address, *file, *others;
} how = { .port = 53, .window = 100, .sockets = 8, .count = UINT64_MAX, .seconds = 5, .every = 10 };

static struct query *queries; /* of FILE, then of FILE2 */
static size_t query_room, query_count, other_count;
static uint32_t *draws;
static uint64_t sent, sent_others, wrong_rcode, wrong_id, wrong_question, empty, lost;

/* How long answers took: of FILE, of FILE2. */
static struct times {
	uint64_t count, histogram[64 * SUBS];
} times[2];

static void die(const char *what)
{
	fprintf(stderr, "udpload: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(how.kernel_times ? CLOCK_REALTIME : CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what to ask ---- */

static size_t put_name(uint8_t *to, const char *text)
{
	uint8_t *start = to;

	while (*text && strcmp(text, ".") != 0) {
		size_t n = strcspn(text, ".");

		if (n == 0 || n > 63 || (size_t)(to - start) + n + 2 > 255)
			die("a name is malformed");
		*to++ = (uint8_t)n;
		memcpy(to, text, n);
		to += n;
		text += n;
		if (*text == '.')
			text++;
	}
	*to++ = 0;
	return (size_t)(to - start);
}

static void put_u16(uint8_t *to, unsigned value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void make_query(struct query *q, const char *name, const char *type)
{
	uint8_t *w = q->wire;
	size_t n;

	memset(q, 0, sizeof(*q));
	w[2] = 1; /* RD */
	put_u16(w + 4, 1);
	n = HEAD_LEN + put_name(w + HEAD_LEN, name);
	put_u16(w + n, strcmp(type, "A") == 0      ? 1
		       : strcmp(type, "AAAA") == 0 ? 28
						   : (unsigned)atoi(type));
	put_u16(w + n + 2, 1);
	n += 4;
	q->question_len = (uint16_t)(n - HEAD_LEN);
	if (how.udp_size) {
		put_u16(w + 10, 1);
		w[n + 2] = 41;
		put_u16(w + n + 3, how.udp_size);
		w[n + 7] = how.dnssec ? 0x80 : 0;
		n += 11;
	}
	q->len = (uint16_t)n;
}

/* Behind those that are there; how many. */
static size_t read_queries(const char *path)
{
	char line[512], name[300], type[20];
	size_t count = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%299s %19s", name, type) != 2)
			continue;
		if (query_count + count == query_room) {
			query_room = query_room ? query_room * 2 : 1024;
			queries = realloc(queries, query_room * sizeof(*queries));
			if (!queries)
				die("memory");
		}
		make_query(&queries[query_count + count++], name, type);
	}
	fclose(f);
	if (!count)
		die("the file holds no question");
	return count;
}

static uint32_t seed = 1;

static double chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed / 4294967296.0;
}

static void draw_zipf(void)
{
	double *upto = calloc(query_count, sizeof(double)), total = 0;

	draws = calloc(DRAWS, sizeof(*draws));
	if (!upto || !draws)
		die("memory");
	for (size_t i = 0; i < query_count; i++)
		upto[i] = total += 1 / pow((double)(i + 1), how.exponent);
	for (size_t i = 0; i < DRAWS; i++) {
		double at = chance() * total;
		size_t low = 0, high = query_count - 1;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (upto[middle] < at)
				low = middle + 1;
			else
				high = middle;
		}
		draws[i] = (uint32_t)low;
	}
	free(upto);
}

static bool is_other(const struct query *q)
{
	return q >= queries + query_count;
}

static const struct query *next_query(void)
{
	if (other_count && sent % how.every == how.every - 1)
		return &queries[query_count + sent_others++ % other_count];
	return &queries[draws ? draws[sent % DRAWS] : sent % query_count];
}

/* ---- asking ---- */

static void socket_open(struct socket_state *s)
{
	struct sockaddr_storage ss = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ss;
	socklen_t len = sizeof(*v4);
	int size = 4 << 20;

	if (inet_pton(AF_INET, how.address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)how.port);
	} else if (inet_pton(AF_INET6, how.address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)how.port);
		len = sizeof(*v6);
	} else {
		die("the address is malformed");
	}
	s->fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&ss, len) < 0)
		die("cannot open a socket");
	setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	size = 1;
	if (how.kernel_times &&
	    setsockopt(s->fd, SOL_SOCKET, SO_TIMESTAMPNS, &size, sizeof(size)) < 0)
		die("the kernel tells no times");
	for (unsigned i = 0; i < WINDOW_MOST; i++)
		s->spare[i] = (uint16_t)(WINDOW_MOST - 1 - i);
	s->spare_count = WINDOW_MOST;
}

static unsigned *counter_of(struct socket_state *s, const struct query *q)
{
	return is_other(q) ? &s->others : &s->outstanding;
}

static void slot_free(struct socket_state *s, unsigned id)
{
	*counter_of(s, s->slots[id].query) -= 1;
	s->slots[id].query = NULL;
	s->spare[s->spare_count++] = (uint16_t)id;
}

static void ask(struct socket_state *s, unsigned most)
{
	static uint8_t wires[BATCH][QUERY_MOST];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	uint16_t ids[BATCH];
	unsigned n = most < BATCH ? most : BATCH;
	uint64_t at = now_ns();
	int done;

	if (n > s->spare_count)
		n = s->spare_count;
	for (unsigned i = 0; i < n; i++) {
		const struct query *q = next_query();

		ids[i] = s->spare[--s->spare_count];
		s->slots[ids[i]] = (struct slot){ .query = q, .sent_ns = at };
		*counter_of(s, q) += 1;
		memcpy(wires[i], q->wire, q->len);
		put_u16(wires[i], ids[i]);
		vectors[i] = (struct iovec){ .iov_base = wires[i], .iov_len = q->len };
		messages[i] =
			(struct mmsghdr){ .msg_hdr = { .msg_iov = &vectors[i], .msg_iovlen = 1 } };
		sent++;
	}
	done = sendmmsg(s->fd, messages, n, 0);
	if (done < 0)
		done = 0;
	for (unsigned i = (unsigned)done; i < n; i++) {
		slot_free(s, ids[i]);
		sent--;
	}
}

/* ---- what comes back ---- */

static void note_time(struct times *t, uint64_t ns)
{
	unsigned power = ns < SUBS ? 0 : 63 - (unsigned)__builtin_clzll(ns) - 5;
	size_t at = power ? power * (SUBS / 2) + (ns >> power) : ns;

	t->count++;
	t->histogram[at < sizeof(t->histogram) / sizeof(*t->histogram) ? at : 0]++;
}

/* Microseconds that this share of the answers did not take. */
static double time_of(const struct times *t, double share)
{
	uint64_t seen = 0, most = (uint64_t)((double)t->count * share);

	for (size_t i = 0; i < sizeof(t->histogram) / sizeof(*t->histogram); i++) {
		seen += t->histogram[i];
		if (seen > most) {
			size_t power = i < SUBS ? 0 : (i - SUBS / 2) / (SUBS / 2);
			size_t step = i - power * (SUBS / 2);

			return (double)(step << power) / 1000.0;
		}
	}
	return 0;
}

static void check(struct socket_state *s, const uint8_t *wire, size_t len, uint64_t now)
{
	unsigned id = len >= HEAD_LEN ? (unsigned)wire[0] << 8 | wire[1] : WINDOW_MOST;
	struct slot *slot = id < WINDOW_MOST ? &s->slots[id] : NULL;

	if (!slot || !slot->query || !(wire[2] & 0x80)) {
		wrong_id++;
		return;
	}
	if (len < (size_t)HEAD_LEN + slot->query->question_len ||
	    memcmp(wire + HEAD_LEN, slot->query->wire + HEAD_LEN, slot->query->question_len) != 0)
		wrong_question++;
	else if (!how.echo && (unsigned)(wire[3] & 15) != how.rcode)
		wrong_rcode++;
	else if (how.want_answer && !how.echo && wire[6] == 0 && wire[7] == 0)
		empty++;
	note_time(&times[is_other(slot->query)], now > slot->sent_ns ? now - slot->sent_ns : 0);
	slot_free(s, id);
}

static uint64_t came_ns(struct msghdr *m, uint64_t now)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); how.kernel_times && c; c = CMSG_NXTHDR(m, c)) {
		struct timespec t;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	}
	return now;
}

static bool take(struct socket_state *s)
{
	static uint8_t wires[BATCH][REPLY_MOST];
	static _Alignas(struct cmsghdr) uint8_t controls[BATCH][CONTROL_ROOM];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	uint64_t now;
	int n;

	for (unsigned i = 0; i < BATCH; i++) {
		vectors[i] = (struct iovec){ .iov_base = wires[i], .iov_len = REPLY_MOST };
		messages[i] =
			(struct mmsghdr){ .msg_hdr = { .msg_iov = &vectors[i], .msg_iovlen = 1 } };
		if (how.kernel_times) {
			messages[i].msg_hdr.msg_control = controls[i];
			messages[i].msg_hdr.msg_controllen = CONTROL_ROOM;
		}
	}
	n = recvmmsg(s->fd, messages, BATCH, 0, NULL);
	now = now_ns();
	for (int i = 0; i < n; i++)
		check(s, wires[i], messages[i].msg_len, came_ns(&messages[i].msg_hdr, now));
	return n > 0;
}

static void give_up(struct socket_state *s, uint64_t before)
{
	for (unsigned i = 0; i < WINDOW_MOST; i++) {
		if (s->slots[i].query && s->slots[i].sent_ns < before) {
			slot_free(s, i);
			lost++;
		}
	}
}

/* ---- the two manners of asking ---- */

static struct socket_state *sockets;
static struct pollfd polls[SOCKETS_MOST];

static unsigned outstanding(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < how.sockets; i++)
		n += sockets[i].outstanding + sockets[i].others;
	return n;
}

static bool is_due(uint64_t end)
{
	return sent < how.count && now_ns() < end;
}

static void fill_window(uint64_t end)
{
	unsigned each = (how.window + how.sockets - 1) / how.sockets;

	for (unsigned i = 0; i < how.sockets && is_due(end); i++) {
		uint64_t left = how.count - sent;
		unsigned room = sockets[i].outstanding < each ? each - sockets[i].outstanding : 0;

		if (room > left)
			room = (unsigned)left;
		if (room)
			ask(&sockets[i], room);
	}
}

static void wait_a_little(int ms)
{
	if (poll(polls, how.sockets, ms) <= 0)
		return;
	for (unsigned i = 0; i < how.sockets; i++)
		if (polls[i].revents)
			while (take(&sockets[i]))
				;
}

static void keep_full(uint64_t end)
{
	uint64_t looked = now_ns();

	while (is_due(end) || outstanding()) {
		uint64_t now;

		if (is_due(end))
			fill_window(end);
		wait_a_little(100);
		now = now_ns();
		if (now - looked > 500000000u) {
			for (unsigned i = 0; i < how.sockets; i++)
				give_up(&sockets[i], now - LOST_AFTER_MS * 1000000ull);
			looked = now;
		}
	}
}

/* With -g: others get the core, what became due meanwhile goes out together. */
static void sleep_a_grain(void)
{
	struct timespec t = { .tv_nsec = (long)how.grain_us * 1000 };

	if (how.grain_us && ppoll(polls, 0, &t, NULL) == 0)
		wait_a_little(0);
}

static void keep_pace(uint64_t start, uint64_t end)
{
	uint64_t step = (uint64_t)(1e9 / how.rate), due = start;
	unsigned turn = 0;

	while (is_due(end)) {
		struct socket_state *s = &sockets[turn++ % how.sockets];
		uint64_t now = now_ns();

		/* Who was held up does not make up for it with a burst. */
		due = now > due + 20 * step + 5000u * how.grain_us ? now : due + step;
		if (now < due)
			sleep_a_grain();
		while (now_ns() < due)
			wait_a_little(0);
		if (s->outstanding < (how.window + how.sockets - 1) / how.sockets)
			ask(s, 1);
	}
	end = now_ns() + LOST_AFTER_MS * 1000000ull;
	while (outstanding() && now_ns() < end)
		wait_a_little(50);
	for (unsigned i = 0; i < how.sockets; i++)
		give_up(&sockets[i], UINT64_MAX);
}

static void read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "p:n:t:w:r:g:z:s:e:dac:m:M:kx")) != -1) {
		switch (c) {
		case 'p':
			how.port = (unsigned)atoi(optarg);
			break;
		case 'n':
			how.count = strtoull(optarg, NULL, 10);
			break;
		case 't':
			how.seconds = atof(optarg);
			break;
		case 'w':
			how.window = (unsigned)atoi(optarg);
			break;
		case 'r':
			how.rate = atof(optarg);
			break;
		case 'g':
			how.grain_us = (unsigned)atoi(optarg);
			break;
		case 'z':
			how.exponent = atof(optarg);
			break;
		case 's':
			how.sockets = (unsigned)atoi(optarg);
			break;
		case 'e':
			how.udp_size = (unsigned)atoi(optarg);
			break;
		case 'd':
			how.dnssec = true;
			break;
		case 'a':
			how.want_answer = true;
			break;
		case 'c':
			how.rcode = (unsigned)atoi(optarg);
			break;
		case 'm':
			how.others = optarg;
			break;
		case 'M':
			how.every = (unsigned)atoi(optarg);
			break;
		case 'k':
			how.kernel_times = true;
			break;
		case 'x':
			how.echo = true;
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind != 2) {
		fprintf(stderr, "usage: udpload [OPTIONS] ADDRESS FILE\n");
		exit(2);
	}
	how.address = argv[optind];
	how.file = argv[optind + 1];
	if (how.sockets < 1 || how.sockets > SOCKETS_MOST || how.window < 1 ||
	    how.window > WINDOW_MOST || how.every < 1)
		die("a number is out of range");
	if (how.sockets > how.window)
		how.sockets = how.window;
}

int main(int argc, char **argv)
{
	uint64_t start, end, answered;
	double took;

	read_options(argc, argv);
	prctl(PR_SET_TIMERSLACK, 1);
	query_count = read_queries(how.file);
	if (how.others)
		other_count = read_queries(how.others);
	if (how.exponent > 0)
		draw_zipf();
	sockets = calloc(how.sockets, sizeof(*sockets));
	if (!sockets)
		die("memory");
	for (unsigned i = 0; i < how.sockets; i++) {
		socket_open(&sockets[i]);
		polls[i] = (struct pollfd){ .fd = sockets[i].fd, .events = POLLIN };
	}
	errno = 0;
	start = now_ns();
	end = start + (uint64_t)(how.seconds * 1e9);
	if (how.rate > 0)
		keep_pace(start, end);
	else
		keep_full(end);
	took = (double)(now_ns() - start) / 1e9;
	answered = times[0].count + times[1].count;
	printf("{\"sent\": %llu, \"answered\": %llu, \"lost\": %llu, \"wrong_rcode\": %llu, "
	       "\"wrong_id\": %llu, \"wrong_question\": %llu, \"empty\": %llu, \"seconds\": %.6f, "
	       "\"rate\": %.1f, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, "
	       "\"p999_us\": %.1f",
	       (unsigned long long)sent, (unsigned long long)answered, (unsigned long long)lost,
	       (unsigned long long)wrong_rcode, (unsigned long long)wrong_id,
	       (unsigned long long)wrong_question, (unsigned long long)empty, took,
	       (double)answered / took, time_of(&times[0], 0.5), time_of(&times[0], 0.9),
	       time_of(&times[0], 0.99), time_of(&times[0], 0.999));
	if (how.others)
		printf(", \"others_sent\": %llu, \"others\": %llu, \"others_p50_us\": %.1f, "
		       "\"others_p99_us\": %.1f",
		       (unsigned long long)sent_others, (unsigned long long)times[1].count,
		       time_of(&times[1], 0.5), time_of(&times[1], 0.99));
	printf("}\n");
	return 0;
}
