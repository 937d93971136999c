/* What of the caches is dumped.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "daemon/control/call.h"
#include "daemon/control/call_text.h"
#include "daemon/process/daemon.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

#define NAME(text) ((const uint8_t *)(text))

static const struct rrset *alias(struct arena *a, uint16_t type, const char *owner, const char *target, uint32_t now_s)
{
	const struct slice rd = { NAME(target), dname_len(NAME(target)) };

	return rrset_build(a, &(struct rrset_parts){ .owner = NAME(owner),
						     .type = type,
						     .class_ = CLASS_IN,
						     .ttl_s = 300,
						     .expires_s = now_s + 300,
						     .records = &rd,
						     .count = 1,
						     .trust = TRUST_ANS_AA });
}

/* Else it would be an RRset of its own for who loads the dump, which nothing proves once the DNAME is gone. */
static void what_a_dname_makes_is_not_dumped(void **state)
{
	(void)state;
	struct daemon d = { .loop = loop_new() };
	struct call c = { .daemon = &d, .args = (char[]){ "" } };
	struct conf *conf = conf_new();
	struct timebase now = { 0 };
	const struct rrset *sets[2];
	struct message m = { .q = { NAME("\1w\2dn\1t"), 8, TYPE_CNAME, CLASS_IN },
			     .flags = FLAG_QR, .count = { 2 }, .sets = sets };
	struct fault f = { 0 };
	struct arena a;
	size_t len;
	char *text;

	hash_start(true);
	timebase_read(&now);
	d.snapshot = snapshot_new(conf, &f);
	assert_non_null(d.snapshot);
	caches_init(&d.caches, conf);
	rcu_thread_join();
	arena_init(&a);
	sets[0] = alias(&a, TYPE_DNAME, "\2dn\1t", "\1u", now.now_s);
	sets[1] = alias(&a, TYPE_CNAME, "\1w\2dn\1t", "\1w\1u", now.now_s);
	assert_non_null(msgcache_store(d.caches.messages, &m, &(struct msg_keep){ .now_s = now.now_s, .ttl_s = 300 }));
	control_dump_cache(&c, NULL);
	text = call_reply(&c, &len);
	assert_non_null(strstr(text, "dn.t."));
	assert_non_null(strstr(text, "DNAME"));
	assert_null(strstr(text, "CNAME"));
	mem_free(text);
	call_clear(&c);
	arena_clear(&a);
	snapshot_unpin(d.snapshot);
	rcu_flush();
	caches_clear(&d.caches);
	rcu_thread_leave();
	loop_free(d.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_dname_makes_is_not_dumped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
