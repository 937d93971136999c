/* Any text as the dump of a cache: what load_cache takes of it holds, and is dumped and loaded again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "daemon/call.h"
#include "daemon/call_text.h"
#include "daemon/daemon.h"
#include "services/snapshot.h"
#include "testdata/fuzz/cached.h"
#include "util/fault.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define TEXT_MOST 16384

static struct daemon it;

static void quiet(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

static void begin(void)
{
	struct conf *conf = conf_new();
	struct fault f = { 0 };

	hash_start(true);
	log_capture(quiet, NULL);
	conf->server.msg_cache_size = conf->server.rrset_cache_size = 1 << 20;
	it.loop = loop_new();
	it.snapshot = snapshot_new(conf, &f);
	PROMISE(it.snapshot);
	caches_init(&it.caches, conf);
	rcu_thread_join();
}

static void forget(void)
{
	slab_clear(msgcache_slab(it.caches.messages));
	slab_clear(rrsetcache_slab(it.caches.rrsets));
}

/* The text, a line each, cut up in place; the reply. */
static char *load(char *text, size_t len)
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

static void dump_and_load(void)
{
	struct call c = { .daemon = &it, .args = (char[]){ "" } };
	size_t len;
	char *text, *reply;

	control_dump_cache(&c, NULL);
	text = call_reply(&c, &len);
	call_clear(&c);
	forget();
	reply = load(text, len);
	PROMISE(strcmp(reply, "ok\n") == 0);
	cached_all_hold(it.caches.messages, it.caches.rrsets, loop_time(it.loop)->now_s,
			SECURITY_SECURE);
	mem_free(reply);
	mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char text[TEXT_MOST + 1];

	if (!it.loop)
		begin();
	if (len > TEXT_MOST)
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	mem_free(load(text, len));
	cached_all_hold(it.caches.messages, it.caches.rrsets, loop_time(it.loop)->now_s,
			SECURITY_SECURE);
	dump_and_load();
	forget();
	return 0;
}
