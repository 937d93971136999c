/* Any bytes over a client's connection to the https-port, in any pieces: whatever is taken is a
 * question, nothing is kept when the connection is gone, and what is sent has a bound.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The first byte of the input says how large the pieces are, and whether the preface of HTTP/2 and
 * some settings are sent before. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/listen/tcp.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/net/http2_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { INPUT_MOST = 8192, LATER_MOST = 256 };

static struct {
	struct loop *loop;
	struct listen_tcp *listener;
	struct timer pause;
	struct client later[LATER_MOST];
	unsigned later_count;
} world;

static void enough(struct timer *t)
{
	(void)t;
	loop_stop(world.loop);
}

/* Some questions are answered at once, some later, some never. */
static enum disposition take(void *taker, struct packet *p)
{
	(void)taker;
	PROMISE(p->in.len >= MSG_HEAD_LEN && p->in.len <= MSG_MAX && !(p->in.at[2] & 0x80));
	if (p->in.at[0] % 4 == 1 && world.later_count < LATER_MOST) {
		world.later[world.later_count++] = p->client;
		return DISPOSITION_LATER;
	}
	if (p->in.at[0] % 4 == 2)
		return DISPOSITION_DROP;
	write_bytes(&p->out, p->in.at, p->in.len);
	return DISPOSITION_SEND;
}

static void answer_later(void)
{
	static const uint8_t bytes[600];

	while (world.later_count) {
		struct client c = world.later[--world.later_count];

		if (world.later_count % 2)
			c.ops->reply(&c, bytes, sizeof bytes);
		else
			c.ops->drop(&c);
	}
}

static void run(void)
{
	timer_set(world.loop, &world.pause, 0);
	loop_run(world.loop);
}

static void begin(void)
{
	static const struct listen_tcp_limits limits = { .connections = 4,
							 .idle_ms = 1000,
							 .waiting_bytes = 1 << 20,
							 .pad_block = 468,
							 .http_streams = 20,
							 .http_query_bytes = 1 << 17,
							 .http_answer_bytes = 1 << 17 };

	hash_start(true);
	world.loop = loop_new();
	world.pause.fire = enough;
	world.listener = listen_tcp_new(world.loop, take, NULL, &limits);
}

static void say(int fd, const uint8_t *at, size_t len, size_t piece)
{
	uint8_t heard[65536];

	for (unsigned i = 0; len && i < 64; i++) {
		ssize_t n = send(fd, at, i == 63 ? len : MIN(piece, len), MSG_NOSIGNAL);

		if (n <= 0)
			return;
		at += n;
		len -= (size_t)n;
		run();
		if (i % 2)
			answer_later();
		PROMISE(listen_tcp_http_receiving(world.listener) <= 1 << 17);
		PROMISE(listen_tcp_http_sending(world.listener) <= 1 << 17);
		while (recv(fd, heard, sizeof heard, 0) > 0)
			;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t opening[] = HTTP2_PREFACE "\0\0\0\4\0\0\0\0\0";
	int fd[2];

	if (len < 2 || len > INPUT_MOST || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return 0;
	if (!world.loop)
		begin();
	listen_tcp_take(world.listener, fd[0],
			&(struct arrival){ .from = { .family = 4, .port = 53 },
					   .reached = { .family = 4, .port = 443 },
					   .service = SERVICE_HTTP,
					   .proxied = data[0] & 0x40 });
	if (data[0] & 0x80)
		say(fd[1], opening, sizeof opening - 1, sizeof opening);
	say(fd[1], data + 1, len - 1, 1 + (data[0] & 0x3f) * 16u);
	answer_later();
	run();
	close(fd[1]);
	run();
	run();
	answer_later();
	run();
	PROMISE(listen_tcp_count(world.listener) == 0);
	PROMISE(listen_tcp_http_receiving(world.listener) == 0);
	PROMISE(listen_tcp_http_sending(world.listener) == 0);
	return 0;
}
