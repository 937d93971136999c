/* What the tests of the cache file share: caches, and a file in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHEFILE_TESTS_FIXTURE_H
#define SERVICES_CACHEFILE_TESTS_FIXTURE_H

#include "services/cachefile/cachefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"

#define NOW  5000
#define WALL 1800000000

#define SIG(owner, type) \
	owner " 300 IN RRSIG " type " 13 2 300 20300101000000 20200101000000 1 example. AAAA\n"

struct fixture {
	struct msgcache *messages;
	struct rrsetcache *rrsets;
};

static UNUSED struct fixture fixture_new(void)
{
	return (struct fixture){ .messages = msgcache_new(1 << 20, 2),
			       .rrsets = rrsetcache_new(1 << 20, 2) };
}

static UNUSED void fixture_free(struct fixture *h)
{
	msgcache_free(h->messages);
	rrsetcache_free(h->rrsets);
}

static UNUSED struct cachefile_how how_of(const struct fixture *h)
{
	return (struct cachefile_how){
		.messages = h->messages,
		.rrsets = h->rrsets,
		.now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL },
		.validation = 77,
		.most_ttl_s = 86400,
		.validates = true
	};
}

/* ---- a file in memory ---- */

struct bytes {
	uint8_t at[1 << 20];
	size_t len, read;
};

static UNUSED bool push_bytes(void *arg, const uint8_t *at, size_t len, struct fault *f)
{
	struct bytes *b = arg;

	(void)f;
	assert_true(b->len + len <= sizeof(b->at));
	memcpy(b->at + b->len, at, len);
	b->len += len;
	return true;
}

static UNUSED size_t pull_bytes(void *arg, uint8_t *to, size_t len)
{
	struct bytes *b = arg;

	len = MIN(len, b->len - b->read);
	memcpy(to, b->at + b->read, len);
	b->read += len;
	return len;
}

static struct bytes file;

static UNUSED struct cachefile_count write_fixture(const struct fixture *h)
{
	struct cachefile_how how = how_of(h);
	struct cachefile_count count;
	struct fault f = { 0 };

	file.len = 0;
	assert_true(cachefile_write(&how, push_bytes, &file, &count, &f));
	assert_int_equal(count.bytes, file.len);
	return count;
}

static UNUSED bool read_fixture(const struct cachefile_how *how, struct cachefile_count *count,
		       struct fault *f)
{
	file.read = 0;
	*f = (struct fault){ 0 };
	return cachefile_read(how, pull_bytes, &file, count, f);
}

/* ---- what is in it ---- */

static const UNUSED struct made plain = {
	"www.example.",
	TYPE_A,
	RCODE_NOERROR,
	{ "www.example. 300 A 192.0.2.1\nwww.example. 300 A 192.0.2.2\n" }
};
static const UNUSED struct made proven = { "s.example.",
				    TYPE_A,
				    RCODE_NOERROR,
				    { "s.example. 300 A 192.0.2.1\n" SIG("s.example.", "A") } };
static const UNUSED struct made denied = { "no.example.",
				    TYPE_AAAA,
				    RCODE_NXDOMAIN,
				    { NULL,
				      "example. 60 SOA a.example. b.example. 1 2 3 4 60\n" } };
static const UNUSED struct made failed = { "fail.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };

static bool keeps_whole; /* serve-original-ttl */

static UNUSED void keep(struct fixture *h, const struct made *made, uint8_t security, uint16_t scope,
		 uint32_t stored_s, uint32_t ttl_s)
{
	struct message *m;
	struct arena a;

	arena_init(&a);
	m = made_message(&a, stored_s, made);
	m->security = security;
	msgcache_store(h->messages, m,
		       &(struct msg_keep){ .now_s = stored_s,
					   .ttl_s = ttl_s,
					   .scope = scope,
					   .whole = keeps_whole });
	arena_clear(&a);
}

static UNUSED void keep_set(struct fixture *h, const char *text, uint8_t security, uint8_t trust)
{
	struct rrset *s;
	struct arena a;

	arena_init(&a);
	s = made_set(&a, NOW, text);
	s->security = security;
	s->trust = trust;
	(void)rrsetcache_put(h->rrsets, s, NOW, &a);
	arena_clear(&a);
}

static const struct stored *look_in(const struct fixture *h, const char *name, uint16_t type,
				    uint16_t scope)
{
	struct question q = made_question(name, type);

	return msgcache_find(h->messages, &q, msgcache_hash(&q), scope, true);
}

/* Three blocks: sets, answers, the end. */
static UNUSED void write_some(void)
{
	struct fixture was = fixture_new();

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	keep(&was, &proven, SECURITY_SECURE, 0, NOW, 300);
	keep_set(&was, "example. 300 NS a.example.\n", SECURITY_UNCHECKED, TRUST_AUTH_AA);
	write_fixture(&was);
	fixture_free(&was);
}

/* ---- a group of tests ---- */

static char folder[] = "/tmp/resolver-cachefile.XXXXXX", path[64], new_path[64];

static UNUSED int begin(void **state)
{
	(void)state;
	hash_start(true);
	rcu_thread_join();
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/cache", folder);
	snprintf(new_path, sizeof(new_path), "%s/cache.new", folder);
	return 0;
}

static UNUSED int end(void **state)
{
	(void)state;
	rmdir(folder);
	rcu_thread_leave();
	return 0;
}


#endif
