/* Any bytes as what a Redis server says, and as the answers it keeps: what is taken for an answer
 * is whole, and comes back as it is when it is written again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/entry.h"

#include "services/cachedb/resp.h"
#include "testdata/fuzz/cached.h"
#include "testdata/fuzz/same.h"
#include "util/base/timebase.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NOW  1000
#define WALL 1800000000
#define ROOM (1 << 17)

static const struct timebase now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL };

static unsigned answer_holds(const struct message *m)
{
	unsigned count = message_set_count(m);

	PROMISE(m->security == SECURITY_UNCHECKED);
	for (unsigned i = 0; i < count; i++)
		cached_set_holds(m->sets[i], SECURITY_UNCHECKED);
	return count;
}

/* Of the question it claims to answer. */
static void take(struct slice value, struct arena *a)
{
	static uint8_t again[ROOM];
	struct writer w = writer_over(again, sizeof(again));
	struct message m;
	struct cachedb_entry e, same;
	struct same how;
	unsigned count;

	if (value.len < CACHEDB_HEAD_LEN ||
	    !msg_parse(value.at + CACHEDB_HEAD_LEN, value.len - CACHEDB_HEAD_LEN, a, NOW, &m) ||
	    !cachedb_entry_read(&e, value, &m.q, &now, a))
		return;
	PROMISE(question_equals(&e.reply->q, &m.q));
	count = answer_holds(e.reply);
	how = (struct same){ .spelling = same_is_spelled_once(e.reply), .order = true };
	cachedb_entry_write(&w, e.reply, e.flags & 0xff, 60, &now);
	if (w.bad)
		return;
	PROMISE(cachedb_entry_read(&same, (struct slice){ again, writer_len(&w) }, &m.q, &now, a));
	PROMISE(same.left_s == 60 && same.age_s == 0 && same.flags == e.flags);
	PROMISE(answer_holds(same.reply) == count);
	same_message(same.reply, e.reply, how);
	for (unsigned i = 0; i < count; i++)
		PROMISE(same.reply->sets[i]->ttl_s == e.reply->sets[i]->ttl_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct slice left = { data, len };
	struct arena a = { 0 };
	struct resp r;

	take(left, &a);
	while ((r = resp_read(left, len)).len) {
		PROMISE(r.kind != RESP_PART && r.kind != RESP_BAD && r.len <= left.len);
		PROMISE(!r.text.len ||
			(r.text.at > left.at && r.text.at + r.text.len < left.at + r.len));
		if (r.kind == RESP_VALUE)
			take(r.text, &a);
		left.at += r.len;
		left.len -= r.len;
	}
	PROMISE(r.kind == RESP_PART || r.kind == RESP_BAD);
	arena_clear(&a);
	return 0;
}
