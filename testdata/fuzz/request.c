/* Any bytes at all from a client: what is read lies in the packet, and what is good
 * is read alike as a message.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/mem.h"
#include "util/dns/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_inside(const uint8_t *data, size_t len, const uint8_t *at, size_t part)
{
	PROMISE(at >= data && part <= len && at + part <= data + len);
}

/* What we would ask ourselves, in the same words. */
static void check_written(const struct request *r)
{
	uint8_t *packet = mem_new(MSG_MAX);
	struct writer w = writer_over(packet, MSG_MAX);
	struct request again;

	msg_write_query(&w, r->id, r->flags, &r->q, &r->edns);
	PROMISE(!w.bad);
	PROMISE(msg_read_request(packet, writer_len(&w), &again) == REQUEST_GOOD);
	PROMISE(question_equals(&r->q, &again.q) && again.id == r->id && again.flags == r->flags);
	PROMISE(again.edns.present == r->edns.present && again.edns.flags == r->edns.flags);
	PROMISE(again.edns.options.len == r->edns.options.len);
	mem_free(packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct request r;
	enum request_kind kind = msg_read_request(data, len, &r);

	PROMISE((kind == REQUEST_IGNORE) == (len < MSG_HEAD_LEN || data[2] & 0x80));
	if (r.q.name_len) {
		check_inside(data, len, r.q.name, r.q.name_len + 4u);
		PROMISE(dname_measure(r.q.name, data + len) == r.q.name_len);
	}
	if (r.edns.present && r.edns.options.len)
		check_inside(data, len, r.edns.options.at, r.edns.options.len);
	if (kind == REQUEST_GOOD || kind == REQUEST_BADVERS)
		PROMISE(r.q.name_len && edns_is_whole(&r.edns));
	if (kind == REQUEST_COOKIE)
		PROMISE(!r.q.name_len && r.edns.present && edns_is_whole(&r.edns));
	if (kind == REQUEST_GOOD && len <= MSG_MAX)
		check_written(&r);
	return 0;
}
