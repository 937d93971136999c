/* A daemon with nothing but caches: for targets that dump and load them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_FUZZ_DUMPED_H
#define TESTDATA_FUZZ_DUMPED_H

#include <string.h>

#include "daemon/control/call.h"
#include "daemon/control/call_text.h"
#include "daemon/process/daemon.h"
#include "services/query/snapshot.h"
#include "testdata/fuzz/cached.h"
#include "testdata/fuzz/kept.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/conf/options.h"

static struct daemon it;

static void dumped_quiet(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

/* Once. */
static inline void dumped_begin(uint64_t bytes)
{
	struct conf *conf = conf_new();
	struct fault f = { 0 };

	hash_start(true);
	log_capture(dumped_quiet, NULL);
	conf->server.msg_cache_size = conf->server.rrset_cache_size = bytes;
	it.loop = loop_new();
	it.snapshot = snapshot_new(conf, &f);
	PROMISE(it.snapshot);
	caches_init(&it.caches, conf);
	rcu_thread_join();
}

static inline void dumped_forget(void)
{
	slab_clear(msgcache_slab(it.caches.messages));
	slab_clear(rrsetcache_slab(it.caches.rrsets));
}

static inline uint32_t dumped_now_s(void)
{
	return loop_time(it.loop)->now_s;
}

/* The text, a line each, cut up in place; the reply. */
static inline char *dumped_load(char *text, size_t len)
{
	struct call c = { .daemon = &it, .args = (char[]){ "" }, .phase = CALL_BEGIN };
	char *reply;
	size_t reply_len;

	control_load_cache(&c, NULL);
	PROMISE(!c.refused);
	c.phase = CALL_ITEM;
	for (char *at = text, *end = text + len; at < end && !c.over;) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		*stop = '\0';
		PROMISE((size_t)(stop - at) < c.item_room);
		c.item = at;
		c.items++;
		rcu_turn_begin();
		control_load_cache(&c, NULL);
		rcu_turn_end();
		at = stop + 1;
	}
	c.phase = CALL_END;
	control_load_cache(&c, NULL);
	mem_free(c.data);
	reply = call_reply(&c, &reply_len);
	call_clear(&c);
	return reply;
}

static inline char *dumped_text(size_t *len)
{
	struct call c = { .daemon = &it, .args = (char[]){ "" } };
	char *text;

	control_dump_cache(&c, NULL);
	text = call_reply(&c, len);
	call_clear(&c);
	return text;
}

/* ---- the same after it was dumped and loaded ---- */

static inline bool dumped_is_shown(const struct kept_answer *s, uint32_t now_s)
{
	return !s->scope && s->fits & STORED_FULL && !(s->fits & STORED_MADE) &&
	       !time_is_past(now_s, s->expires_s);
}

/* What is bogus or failed is not loaded, and nothing as proven. */
static inline uint8_t dumped_security(uint8_t was)
{
	return was == SECURITY_SECURE ? SECURITY_UNCHECKED : was;
}

static inline void dumped_set_is_same(const struct rrset *was, const struct rrset *is, uint32_t now_s)
{
	struct same exactly = { .spelling = true, .order = true };
	uint32_t most_s = it.snapshot->conf->server.cache_max_ttl;
	uint8_t security = dumped_security(was->security);

	PROMISE(same_set(is, was, exactly) && same_sigs(is, was, exactly));
	PROMISE(time_left(now_s, is->expires_s) == MIN(time_left(now_s, was->expires_s), most_s));
	PROMISE(is->security == security && is->flags == was->flags);
	PROMISE(is->trust == (was->security == SECURITY_SECURE ? MIN(was->trust, TRUST_ANS_AA) : was->trust));
}

/* An answer is there again with the records it had, or not at all. */
static inline void dumped_answer_is_same(const struct kept_answer *was, const struct kept_answer *is,
					 uint32_t now_s)
{
	struct same any = { .order = true };
	bool explained = reason_ede((enum reason)was->reason) >= 0 && was->security == SECURITY_INSECURE;
	uint32_t most_s = it.snapshot->conf->server.cache_max_ttl;

	PROMISE(is->rcode == was->rcode && (is->m->flags & FLAG_AA) == (was->m->flags & FLAG_AA));
	PROMISE(is->security == (explained ? SECURITY_UNCHECKED : dumped_security(was->security)));
	PROMISE(time_left(now_s, is->expires_s) == MIN(time_left(now_s, was->expires_s), most_s));
	PROMISE(is->m->rcode == was->m->rcode && memcmp(is->m->q.name, was->m->q.name, is->m->q.name_len) == 0);
	if (same_when_shorter(was->m))
		same_message(is->m, was->m, any);
}

static inline void dumped_is_same(const struct kept *before, const struct kept *after, uint32_t now_s)
{
	for (unsigned i = 0; i < after->answer_count; i++) {
		const struct kept_answer *is = &after->answers[i], *was = kept_answer(before, &is->m->q);

		PROMISE(was && dumped_is_shown(was, now_s));
		dumped_answer_is_same(was, is, now_s);
	}
	for (unsigned i = 0; i < before->set_count; i++) {
		const struct rrset *was = before->sets[i], *is = kept_set(after, was, was->flags);

		if (time_is_past(now_s, was->expires_s) || was->security == SECURITY_BOGUS)
			continue;
		PROMISE(is);
		if (rrset_same_records(is, was))
			dumped_set_is_same(was, is, now_s);
	}
}

/* All that is cached, as it is before and after it was dumped and loaded again; the text and reply are gone. Now, or 0:
 * meanwhile a second has passed, and less is left of everything. */
static inline uint32_t dumped_and_loaded(struct kept *before, struct kept *after)
{
	struct timebase now = { 0 };
	size_t len;
	char *text, *reply;

	kept_take(before, it.caches.messages, it.caches.rrsets);
	text = dumped_text(&len);
	dumped_forget();
	reply = dumped_load(text, len);
	PROMISE(strcmp(reply, "ok\n") == 0);
	cached_all_hold(it.caches.messages, it.caches.rrsets, dumped_now_s(), SECURITY_SECURE_SENTINEL_FAIL);
	kept_take(after, it.caches.messages, it.caches.rrsets);
	mem_free(reply);
	mem_free(text);
	timebase_read(&now);
	return now.now_s == dumped_now_s() ? now.now_s : 0;
}

#endif
