/* Keys and values in the store of the cachedb module: an answer as bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/entry.h"

#include <sodium.h>

#include "services/mesh/cache_rules.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/dns/msg.h"

#define FORM          1
#define CLOCK_SLACK_S 300 /* largest clock difference of machines that share a store */
#define LONG_AGO_S    (UINT64_C(1) << 30) /* more than any TTL */
#define KEY_LABEL     "resolverd 1"       /* of this format of values */

void cachedb_key(char key[CACHEDB_KEY_LEN + 1], const struct question *q, const char *secret)
{
	uint8_t bytes[DNAME_MAX + 4], hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;

	for (unsigned i = 0; i < q->name_len; i++)
		bytes[i] = ascii_lower[q->name[i]];
	put_u16(bytes + q->name_len, q->type);
	put_u16(bytes + q->name_len + 2, q->class_);
	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)KEY_LABEL, sizeof(KEY_LABEL));
	crypto_hash_sha256_update(&state, bytes, q->name_len + 4u);
	crypto_hash_sha256_update(&state, (const uint8_t *)secret, strlen(secret));
	crypto_hash_sha256_final(&state, hash);
	sodium_bin2hex(key, CACHEDB_KEY_LEN + 1, hash, sizeof(hash));
}

static void write_u64(struct writer *w, uint64_t v)
{
	write_u32(w, (uint32_t)(v >> 32));
	write_u32(w, (uint32_t)v);
}

void cachedb_entry_write(struct writer *w, const struct message *m, unsigned flags, uint32_t ttl_s,
			 const struct timebase *now)
{
	struct msg_style style = { .now_s = now->now_s,
				   .with_dnssec = true,
				   .original_ttl = flags & ENTRY_WHOLE };
	struct message bare = *m;
	struct writer message;

	write_u8(w, FORM);
	write_u8(w, (uint8_t)flags);
	write_u64(w, (uint64_t)now->wall_s);
	write_u32(w, ttl_s);
	/* Compression offsets count from the first byte of the message itself. */
	message = writer_over(w->at, writer_left(w));
	bare.id = 0;
	bare.flags = 0;
	msg_write(&message, &bare, &style);
	w->at = message.at;
	w->bad |= message.bad;
}

static uint64_t read_u64(struct reader *r)
{
	uint64_t high = read_u32(r);

	return high << 32 | read_u32(r);
}

static bool read_head(struct cachedb_entry *e, struct reader *in, const struct timebase *now)
{
	unsigned form = read_u8(in);
	uint64_t stored_s, wall_s = (uint64_t)MAX(now->wall_s, 0);
	uint32_t ttl_s;

	e->flags = read_u8(in);
	stored_s = read_u64(in);
	ttl_s = read_u32(in);
	/* Behind a head that is cut there is no message. */
	if (form != FORM || stored_s > wall_s + CLOCK_SLACK_S || ttl_s > INT32_MAX)
		return false;
	e->age_s = stored_s > wall_s ? 0 : (uint32_t)MIN(wall_s - stored_s, LONG_AGO_S);
	e->left_s = (int32_t)((int64_t)ttl_s - e->age_s);
	return true;
}

bool cachedb_entry_read(struct cachedb_entry *e, struct slice value, const struct question *q,
			const struct timebase *now, struct arena *a)
{
	struct reader in = reader_over(value.at, value.len);
	struct message *m = arena_new(a, struct message);

	if (!read_head(e, &in, now) ||
	    !msg_parse(in.at, reader_left(&in), a, now->now_s - e->age_s, m) ||
	    !store_is_sound(m) || !question_equals(&m->q, q))
		return false;
	for (unsigned i = 0; i < message_set_count(m); i++) {
		/* Freshly parsed, so not shared: they may be changed. */
		struct rrset *set = (struct rrset *)(uintptr_t)m->sets[i];

		if (!(e->flags & ENTRY_WHOLE))
			set->ttl_s = time_left(now->now_s, set->expires_s);
		else if ((int32_t)(set->expires_s - now->now_s) > e->left_s)
			set->expires_s = now->now_s + (uint32_t)e->left_s;
	}
	m->q = *q;
	m->flags = FLAG_QR;
	e->reply = m;
	return true;
}
