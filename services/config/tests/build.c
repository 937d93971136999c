/* Claims about what a configuration becomes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/snapshot.h"

#include <pthread.h>
#include <unistd.h>

#include "services/access/acl.h"
#include "services/forward/forward.h"
#include "services/policy/policy.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/rcu.h"
#include "util/names/trie.h"
#include "util/net/addr.h"

static struct snapshot *snapshot_from(const char *text)
{
	struct fault f = { 0 };
	struct snapshot *s = snapshot_new(conf_from(text), &f);

	if (!s)
		fail_msg("%s", f.text);
	return s;
}

static bool holds(const struct netset *set, const char *ip)
{
	struct addr a;

	assert_true(addr_parse(&a, ip, 53, NULL));
	return set && netset_find(set, &a);
}

static void an_empty_file_is_a_working_resolver(void **state)
{
	(void)state;
	struct snapshot *s = snapshot_from("");
	unsigned ip4 = 0, ip6 = 0;

	assert_int_equal(s->hint_count, 26);
	for (size_t i = 0; i < s->hint_count; i++) {
		assert_true(dname_is_under(s->hints[i].name, N("root-servers.net.")));
		assert_int_equal(s->hints[i].addr->port, 53);
		assert_false(addr_is_absurd(s->hints[i].addr));
		*(s->hints[i].addr->family == 4 ? &ip4 : &ip6) += 1;
		for (size_t j = 0; j < i; j++)
			assert_false(addr_equals(s->hints[i].addr, s->hints[j].addr));
	}
	assert_int_equal(ip4, 13);
	assert_int_equal(ip6, 13);
	assert_true(holds(s->do_not_query, "127.0.0.5"));
	assert_true(holds(s->do_not_query, "::1"));
	assert_false(holds(s->do_not_query, "192.0.2.1"));
	assert_null(s->private_addresses);
	assert_int_equal(s->target_fetch_count, 5);
	assert_int_equal(s->target_fetch[0], 3);
	assert_int_equal(s->target_fetch[4], 0);
	assert_null(forwards_find(s->forwards, N("example.")));
	snapshot_unpin(s);
}

static void options_reach_their_sets(void **state)
{
	(void)state;
	struct snapshot *s = snapshot_from(
		"server:\n do-not-query-localhost: no\n do-not-query-address: 192.0.2.0/24\n"
		" private-address: 10.0.0.0/8\n private-domain: \"Home.example\"\n caps-exempt: "
		"a.example\n"
		" domain-insecure: b.example\n target-fetch-policy: \"-1 2\"\n"
		"forward-zone:\n name: f.example\n forward-addr: 192.0.2.7\n");

	assert_false(holds(s->do_not_query, "127.0.0.1"));
	assert_true(holds(s->do_not_query, "192.0.2.200"));
	assert_true(holds(s->private_addresses, "10.2.3.4"));
	assert_false(holds(s->private_addresses, "192.168.1.1"));
	assert_non_null(trie_find_closest(s->private_domains, N("x.HOME.example.")));
	assert_non_null(trie_find_closest(s->caps_exempt, N("a.example.")));
	assert_null(trie_find_closest(s->caps_exempt, N("b.example.")));
	assert_non_null(trie_find_closest(s->domain_insecure, N("x.b.example.")));
	assert_int_equal(s->target_fetch_count, 2);
	assert_int_equal(s->target_fetch[0], -1);
	assert_non_null(forwards_find(s->forwards, N("x.f.example.")));
	snapshot_unpin(s);
}

/* A hints file of this text in the folder of the test. */
static char *hints_file(const char *text)
{
	static char name[64];
	FILE *out;

	snprintf(name, sizeof(name), "snapshot-hints-%ld.tmp", (long)getpid());
	out = fopen(name, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	return name;
}

static void hints_come_from_the_file(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		size_t count;
		const char *fault;
	} rows[] = {
		{ "servers with addresses",
		  ". 3600 NS a.root.\n. NS b.root.\na.root. A 192.0.2.1\n"
		  "b.root. A 192.0.2.2\nb.root. AAAA 2001:db8::2\n",
		  3, NULL },
		{ "addresses first, others' left out",
		  "a.root. A 192.0.2.1\nx.root. A 192.0.2.9\n"
		  "; a comment\n. 3600000 IN NS A.ROOT.\n",
		  1, NULL },
		{ "no address", ". NS a.root.\n", 0, "names no server" },
		{ "no records", "what is this", 0, "root-hints" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char conf[512], folder[256];
		struct fault f = { 0 };
		struct conf *c;
		struct snapshot *s;

		assert_non_null(getcwd(folder, sizeof(folder)));
		snprintf(conf, sizeof(conf), "server:\n chroot: \"\"\n root-hints: \"%s/%s\"\n",
			 folder, hints_file(rows[i].text));
		c = conf_from(conf);
		s = snapshot_new(c, &f);
		remove(hints_file(""));
		if (!s != !rows[i].count)
			fail_msg("%s: %s", rows[i].why, f.text);
		if (s) {
			assert_int_equal(s->hint_count, rows[i].count);
			assert_name_is(s->hints[0].name, "a.root.");
			snapshot_unpin(s);
		} else {
			if (!strstr(f.text, rows[i].fault))
				fail_msg("%s: %s", rows[i].why, f.text);
			conf_free(c);
		}
	}
}

static void what_cannot_be_built_leaves_the_configuration_to_its_owner(void **state)
{
	(void)state;
	struct conf *c = conf_from("server:\n interface-action: nosuchif7 allow\n");
	struct fault f = { 0 };

	assert_null(snapshot_new(c, &f));
	assert_true(f.set);
	conf_free(c);
}

static void other_forwards_share_the_rest(void **state)
{
	(void)state;
	char *const servers[] = { (char[]){ "192.0.2.77" } };
	struct forward_change put = { .name = N("."), .servers = servers, .server_count = 1 };
	struct snapshot *old = snapshot_from(""), *new;
	struct fault f = { 0 };

	new = snapshot_with_forwards(old, forwards_changed(old->forwards, &put, &f));
	assert_true(new->number > old->number);
	assert_ptr_equal(new->conf, old->conf);
	assert_ptr_equal(new->acl, old->acl);
	assert_non_null(forwards_find(new->forwards, N("example.")));
	assert_null(forwards_find(old->forwards, N("example.")));
	/* Pins are each one's own; what is shared lives as long as the last. */
	assert_ptr_equal(snapshot_pin(old), old);
	snapshot_unpin(old);
	snapshot_unpin(old);
	assert_int_equal(new->hint_count, 26);
	assert_true(holds(new->do_not_query, "127.0.0.1"));
	snapshot_unpin(new);
	snapshot_unpin(NULL);
}

/* As set_option builds one: the local zones and records have been shed. */
static void what_was_shed_is_not_missed(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"local-zone: x.example static local-zone-tag: x.example t",
		"local-data: \"x.example A 192.0.2.1\" local-zone-tag: x.example t",
		"local-data-ptr: \"11.0.0.1 x.example\" local-zone-tag: 1.0.0.11.in-addr.arpa t",
		"local-zone: x.example static local-zone-override: x.example 192.0.2.0/24 refuse",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct fault f = { 0 };
		struct snapshot *s, *next;
		char text[300];

		snprintf(text, sizeof(text), "server: define-tag: t %s", texts[i]);
		s = snapshot_from(text);
		policy_shed(s->conf);
		next = snapshot_new(conf_copy(s->conf), &f);
		if (!next)
			fail_msg("%s: %s", texts[i], f.text);
		snapshot_unpin(next);
		snapshot_unpin(s);
	}
}

static pthread_t freed_by;
static unsigned freed;

static void note_freeing(struct trust_store *t)
{
	(void)t;
	freed_by = pthread_self();
	freed++;
}

static struct snapshot *watched(struct trust_store *t)
{
	struct snapshot *s = snapshot_from("server: local-zone: a.example static");

	snapshot_entrust(s, t, note_freeing);
	freed = 0;
	return s;
}

/* A worker, which is in a turn, has clients waiting. */
static void the_last_pin_of_a_turn_is_freed_on_another_thread(void **state)
{
	(void)state;
	static char store;
	struct snapshot *s = watched((void *)&store);

	rcu_thread_join();
	rcu_turn_begin();
	(void)snapshot_pin(s);
	snapshot_unpin(s);
	snapshot_unpin(s);
	assert_int_equal(freed, 0); /* not before the turn has ended */
	rcu_turn_end();
	rcu_flush();
	assert_int_equal(freed, 1);
	assert_false(pthread_equal(freed_by, pthread_self()));
	rcu_thread_leave();
}

static void outside_a_turn_it_is_freed_at_once(void **state)
{
	(void)state;
	static char store;
	struct snapshot *s = watched((void *)&store);

	snapshot_unpin(s);
	assert_int_equal(freed, 1);
	assert_true(pthread_equal(freed_by, pthread_self()));
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(an_empty_file_is_a_working_resolver),
		cmocka_unit_test(options_reach_their_sets),
		cmocka_unit_test(hints_come_from_the_file),
		cmocka_unit_test(what_cannot_be_built_leaves_the_configuration_to_its_owner),
		cmocka_unit_test(other_forwards_share_the_rest),
		cmocka_unit_test(the_last_pin_of_a_turn_is_freed_on_another_thread),
		cmocka_unit_test(outside_a_turn_it_is_freed_at_once),
		cmocka_unit_test(what_was_shed_is_not_missed),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
