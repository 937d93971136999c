/* The zones whose servers or records were configured when a cache file was written, and which of them differ now.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/zones.h"

#include "services/cache/forget.h"
#include "services/cachefile/block.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/rrset.h"
#include "util/names/trie.h"

#define MARK_LEN 8

/* Marks of now less those of the file: 0 where the zone is the same. */
struct balance {
	uint64_t marks;
};

void keptzones_add(struct keptzones *z, const uint8_t *name, uint64_t mark)
{
	size_t name_len = dname_len(name);
	uint8_t *at;

	z->at = mem_grow(z->at, z->len + MARK_LEN + name_len);
	at = z->at + z->len;
	put_u32(at, (uint32_t)(mark >> 32));
	put_u32(at + 4, (uint32_t)mark);
	dname_copy_lower(at + MARK_LEN, name);
	z->len += MARK_LEN + name_len;
}

struct keptzones keptzones_copy(const struct keptzones *z)
{
	return (struct keptzones){ z->len ? mem_copy(z->at, z->len) : NULL, z->len };
}

void keptzones_clear(struct keptzones *z)
{
	mem_free(z->at);
	*z = (struct keptzones){ 0 };
}

/* The next entry; false at the end. */
static bool next(struct reader *in, struct slice *entry)
{
	size_t left = reader_left(in), name_len;

	if (left < ZONE_ENTRY_LEAST)
		return false;
	name_len = dname_measure(in->at + MARK_LEN, in->at + left);
	entry->len = MARK_LEN + name_len;
	entry->at = read_bytes(in, entry->len);
	return name_len && entry->at;
}

void keptzones_write(const struct keptzones *z, struct block_writer *to)
{
	struct reader in = reader_over(z->at, z->len);
	struct slice entry;

	while (next(&in, &entry))
		memcpy(block_entry(to, BLOCK_ZONES, entry.len), entry.at, entry.len);
}

static struct balance *balance_of(struct trie *t, const uint8_t *name)
{
	struct balance *b = trie_find(t, name);

	if (!b) {
		b = mem_zero(sizeof(*b));
		(void)trie_put(t, name, b);
	}
	return b;
}

static uint64_t mark_of(struct slice entry)
{
	return (uint64_t)get_u32(entry.at) << 32 | get_u32(entry.at + 4);
}

struct trie *keptzones_open(const struct keptzones *now)
{
	struct reader in = reader_over(now->at, now->len);
	struct trie *t = trie_new();
	struct slice entry;

	while (next(&in, &entry))
		balance_of(t, entry.at + MARK_LEN)->marks += mark_of(entry);
	return t;
}

bool keptzones_take(struct trie *t, struct slice entry)
{
	if (entry.len < ZONE_ENTRY_LEAST ||
	    dname_measure(entry.at + MARK_LEN, entry.at + entry.len) != entry.len - MARK_LEN)
		return false;
	balance_of(t, entry.at + MARK_LEN)->marks -= mark_of(entry);
	return true;
}

static bool put_if_apart(const uint8_t *name, void *value, void *apart)
{
	const struct balance *b = value;

	if (b->marks)
		forget_below(apart, name, FORGET_EVERY_SCOPE);
	return true;
}

struct forget *keptzones_close(struct trie *t)
{
	struct forget *apart = forget_new(0);

	trie_each(t, put_if_apart, apart);
	trie_free(t, mem_free);
	if (!forget_is_empty(apart))
		return apart;
	forget_free(apart);
	return NULL;
}

static bool set_touches(const struct forget *apart, const struct rrset *set)
{
	struct slice rd;

	if (forget_name(apart, rrset_owner(set), 0))
		return true;
	if (set->type != TYPE_CNAME)
		return false;
	for (struct rrset_walk walk = rrset_records(set); rrset_next(&walk, &rd);)
		if (forget_name(apart, rd.at, 0))
			return true;
	return false;
}

bool keptzones_touch(const struct forget *apart, const struct message *m)
{
	if (!apart)
		return false;
	if (forget_name(apart, m->q.name, 0))
		return true;
	for (unsigned i = 0; i < message_set_count(m); i++)
		if (set_touches(apart, m->sets[i]))
			return true;
	return false;
}
