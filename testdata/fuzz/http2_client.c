/* Any bytes from an HTTP/2 server, in any pieces, between requests and second thoughts: requests
 * end at most once, answers are no longer than allowed, what we say in return is bounded.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The input is a list of steps: a byte that says how many of the next bytes come together (none: a
 * request is made; 255: the oldest is dropped). */
#include "util/net/http2_client.h"

#include <string.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ANSWER_MOST = 600, REQUESTS_MOST = 32, SAID_MOST = 1 << 20 };

static struct {
	struct http2_client *client;
	struct asked {
		struct http2_request *request;
		bool over;
	} asked[REQUESTS_MOST];
	unsigned count;
	size_t said;
} world;

static void post(void)
{
	struct asked *a;

	if (world.count == REQUESTS_MOST)
		return;
	a = &world.asked[world.count++];
	*a = (struct asked){ .over = false };
	a->request = http2_client_post(world.client, "a question", 10, a);
	a->over = !a->request;
}

static void on_ended(void *owner, void *of, const struct http2_answer *answer)
{
	struct asked *a = of;
	uint8_t sum = 0;

	PROMISE(owner == &world && !a->over);
	a->over = true;
	PROMISE(answer->len <= ANSWER_MOST && answer->status < 1000);
	for (size_t i = 0; i < answer->len; i++)
		sum ^= answer->body[i];
	if (sum & 1)
		post();
}

static void drop_oldest(void)
{
	for (unsigned i = 0; i < world.count; i++) {
		struct asked *a = &world.asked[i];

		if (a->over)
			continue;
		a->over = true;
		http2_client_drop(world.client, a->request);
		return;
	}
}

static void say(void)
{
	const uint8_t *at;
	size_t n;

	while ((n = http2_client_write(world.client, &at)))
		world.said += n;
	PROMISE(world.said < SAID_MOST);
	PROMISE(http2_client_width(world.client) >= 1);
	(void)http2_client_is_leaving(world.client);
	(void)http2_client_has_to_write(world.client);
}

static bool step(struct reader *r)
{
	size_t n = read_u8(r);
	uint8_t *copy;
	bool good;

	if (n == 0 || n == 255) {
		if (n)
			drop_oldest();
		else
			post();
		return true;
	}
	n = MIN(n, reader_left(r));
	copy = mem_copy(read_bytes(r, n), n); /* exactly so long, for the sanitizer's sake */
	good = http2_client_read(world.client, copy, n, 0);
	mem_free(copy);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct http2_client_how how = { .authority = "dns.test",
						     .path = "/dns-query",
						     .type = "application/dns-message",
						     .agent = "fuzz",
						     .answer_most = ANSWER_MOST,
						     .ended = on_ended,
						     .owner = &world };
	struct reader r = reader_over(data, len);
	bool good = true;

	memset(&world, 0, sizeof(world));
	world.client = http2_client_new(&how);
	post();
	say();
	while (good && reader_left(&r)) {
		good = step(&r);
		if (good)
			say();
	}
	http2_client_free(world.client);
	return 0;
}
