/* A store for the cachedb module that holds one entry in memory, for tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/cachedb/store.h"
#include "util/base/mem.h"

struct frame {
	struct cachedb_store store;
	char key[CACHEDB_KEY_LEN + 1]; /* empty: no entry */
	uint8_t *value;
	size_t len;
};

static struct frame *frame_of(struct cachedb_store *s)
{
	return container_of(s, struct frame, store);
}

static bool find(struct cachedb_store *s, const char *key, struct cachedb_find *f)
{
	struct frame *frame = frame_of(s);
	bool known = strcmp(frame->key, key) == 0;

	f->found(f, known ? (struct slice){ .at = frame->value, .len = frame->len }
			  : (struct slice){ .at = NULL });
	return true;
}

static void forget(struct cachedb_store *s, struct cachedb_find *f)
{
	(void)s;
	(void)f;
}

static void put(struct cachedb_store *s, const char *key, struct slice value, uint32_t expires_s)
{
	struct frame *frame = frame_of(s);

	(void)expires_s;
	mem_free(frame->value);
	frame->value = mem_copy(value.at, value.len);
	frame->len = value.len;
	memcpy(frame->key, key, sizeof(frame->key));
}

static void remove_entry(struct cachedb_store *s, const char *key)
{
	struct frame *frame = frame_of(s);

	if (strcmp(frame->key, key) == 0)
		frame->key[0] = '\0';
}

static void frame_free(struct cachedb_store *s)
{
	struct frame *frame = frame_of(s);

	mem_free(frame->value);
	mem_free(frame);
}

struct cachedb_store *cachedb_frame_new(void)
{
	static const struct cachedb_store_ops ops = { .find = find,
						      .forget = forget,
						      .put = put,
						      .remove = remove_entry,
						      .free = frame_free };
	struct frame *frame = mem_zero(sizeof(*frame));

	frame->store.ops = &ops;
	return &frame->store;
}
