/* Any bytes over a client's connection, in any pieces: whole messages are taken, each once and in
 * order, and nothing after the first that is no message.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The first byte of the input says how large the pieces are. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/listen/tcp.h"
#include "services/net/edns_conn.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { INPUT_MOST = 4096, HEADER = 12 };

static struct {
	struct loop *loop;
	struct listen_tcp *listener;
	struct timer pause;
	const uint8_t *at; /* what should be taken next */
	const uint8_t *end;
	bool cut; /* nothing more should be */
} world;

static void enough(struct timer *t)
{
	(void)t;
	loop_stop(world.loop);
}

static void try_options(const uint8_t *message, size_t len)
{
	static uint8_t copy[INPUT_MOST + 600];
	struct edns_conn add = { .options = EDNS_CONN_PADDING | EDNS_CONN_KEEPALIVE,
			   .pad_block = 1 + message[0],
			   .keepalive_ms = message[1] * 1000u };
	size_t grown, room = MIN(len + message[2], sizeof copy);

	PROMISE(edns_conn_asked(message, len) <= (EDNS_CONN_PADDING | EDNS_CONN_KEEPALIVE));
	memcpy(copy, message, len);
	grown = edns_conn_add(copy, len, room, &add);
	PROMISE(grown >= len && grown <= room);
}

static enum disposition take(void *taker, struct packet *p)
{
	size_t len = get_u16(world.at);

	(void)taker;
	PROMISE(!world.cut && (size_t)(world.end - world.at) >= 2 + len);
	PROMISE(len >= HEADER && p->in.len == len && memcmp(p->in.at, world.at + 2, len) == 0);
	world.at += 2 + len;
	try_options(p->in.at, len);
	if (p->in.at[3] & 1) {
		world.cut = true;
		return DISPOSITION_DROP;
	}
	write_bytes(&p->out, p->in.at, len);
	return DISPOSITION_SEND;
}

static void run(void)
{
	timer_set(world.loop, &world.pause, 0);
	loop_run(world.loop);
}

/* A message that is whole, as far as has been sent, has been taken when all is quiet. */
static void check_nothing_is_left(const uint8_t *sent)
{
	if (world.cut || sent - world.at < 2)
		return;
	if (get_u16(world.at) < HEADER) {
		world.cut = true;
		return;
	}
	PROMISE((size_t)(sent - world.at) < 2u + get_u16(world.at));
}

static void begin(void)
{
	static const struct listen_tcp_limits limits = { .connections = 4,
							 .idle_ms = 1000,
							 .waiting_bytes = 1 << 20,
							 .keepalive_ms = 2000,
							 .pad_block = 468 };

	hash_start(true);
	world.loop = loop_new();
	world.pause.fire = enough;
	world.listener = listen_tcp_new(world.loop, take, NULL, &limits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct addr nobody = { .family = 4, .port = 53 };
	size_t piece = len ? 1 + data[0] * 4u : 1;
	const uint8_t *sent = data + 1;
	int fd[2];

	if (len < 2 || len > INPUT_MOST || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return 0;
	if (!world.loop)
		begin();
	world.at = data + 1;
	world.end = data + len;
	world.cut = false;
	listen_tcp_take(world.listener, fd[0],
			&(struct arrival){ .from = nobody, .reached = nobody });
	for (unsigned i = 0; sent < world.end && i < 64; i++) {
		ssize_t n = send(fd[1], sent, MIN(piece, (size_t)(world.end - sent)), MSG_NOSIGNAL);

		if (n <= 0)
			break;
		sent += n;
		run();
		run();
		check_nothing_is_left(sent);
	}
	close(fd[1]);
	run();
	run();
	PROMISE(listen_tcp_count(world.listener) == 0);
	return 0;
}
