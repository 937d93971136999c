/* Any path and body of a request over HTTPS, any message as an answer: a question is in the
 * request's own bytes and could be one; a time is no longer than the message says.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The first byte of the input says which method, content type and endpoint. */
#include "services/listen/doh.h"

#include <string.h>

#include "util/base/base64url.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/net/http2_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { INPUT_MOST = 70000 };

static void try_request(uint8_t how, const uint8_t *data, size_t len)
{
	static const char *const types[] = { "", DOH_TYPE, DOH_TYPE "; x", "text/plain" };
	static const char endpoint[] = "/dns-query";
	uint8_t *path = mem_new(len + sizeof endpoint + 5);
	size_t front = how & 0x10 ? sizeof endpoint + 4 : 0;
	const char *type = types[how >> 2 & 3];
	struct http2_request r = { .method = (enum http2_method)(HTTP2_GET + how % 4),
				   .path = path,
				   .type = { (const uint8_t *)type, strlen(type) },
				   .body = { data, len } };
	struct slice q = { 0 };
	unsigned status;

	memcpy(path, "/dns-query?dns=", front);
	memcpy(path + front, data, len);
	r.path_len = front + len;
	if (r.method == HTTP2_POST)
		r.path_len = MIN(r.path_len, sizeof endpoint - 1);
	status = doh_question(&r, endpoint, sizeof endpoint - 1, &q);
	PROMISE(status >= 200 && status <= 501);
	if (status == DOH_GOOD) {
		bool is_in_path = q.at >= path && q.at + q.len <= path + front + len;

		PROMISE(q.len >= MSG_HEAD_LEN && q.len <= MSG_MAX && !(q.at[2] & 0x80));
		PROMISE(is_in_path || (q.at == data && q.len == len));
	}
	mem_free(path);
}

static void try_letters(const uint8_t *data, size_t len)
{
	uint8_t *to = mem_new(len / 4 * 3 + 3), *same = mem_new(len + 1);
	size_t n = base64url_read(to, data, len);

	memcpy(same, data, len);
	PROMISE(n == BASE64URL_BAD || n <= len / 4 * 3 + 2);
	PROMISE(base64url_read(same, same, len) == n);
	PROMISE(n == BASE64URL_BAD || memcmp(to, same, n) == 0);
	mem_free(to);
	mem_free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len < 1 || len > INPUT_MOST)
		return 0;
	try_request(data[0], data + 1, len - 1);
	try_letters(data + 1, len - 1);
	(void)doh_fresh_s(data + 1, len - 1);
	return 0;
}
