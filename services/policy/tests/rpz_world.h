/* Policy zones from text, and what becomes of a question and of an answer by them: for the tests of who carries them out.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_POLICY_TESTS_RPZ_WORLD_H
#define SERVICES_POLICY_TESTS_RPZ_WORLD_H

#include "services/policy/rpz_match.h"

#include <unistd.h>

#include "services/access/acl.h"
#include "services/authzone/zones.h"
#include "services/cache/msg.h"
#include "services/net/client.h"
#include "services/policy/policy.h"
#include "services/policy/rpz_apply.h"
#include "services/history/decision.h"
#include "services/query/env.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/rcu.h"

enum { NOW = 100, ZONES = 3 };

static const struct client_ops over_udp = { .name = "udp" };

static struct world {
	struct snapshot *snapshot;
	struct stats stats;
	struct client client;
	struct decision *decision; /* what settles it is told there; or NULL */
	bool embeds;               /* the client gets AAAA records made of A records */
	int ede; /* extended error of the last answer; -1: none */
	struct arena arena;
} world;

/* Policy zones p0, p1 … of these rules, each with options of its own. */
static inline void begin(const char *options, const char *const rules[ZONES], const char *const more[ZONES])
{
	char path[ZONES][40], text[2000];
	size_t len = (size_t)snprintf(text, sizeof(text), "server:\n access-control: 10.0.0.0/8 allow\n %s\n", options);
	struct fault f = { 0 };

	for (unsigned i = 0; i < ZONES && rules[i]; i++) {
		FILE *file;

		strcpy(path[i], "/tmp/policy-zone-XXXXXX");
		file = fdopen(mkstemp(path[i]), "w");
		assert_non_null(file);
		fprintf(file, "$ORIGIN p%u.\n$TTL 60\n@ SOA a. b. 1 2 3 4 5\n%s\n", i, rules[i]);
		assert_int_equal(fclose(file), 0);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "rpz:\n name: p%u\n zonefile: \"%s\"\n%s\n", i, path[i],
					more[i] ? more[i] : "");
	}
	world = (struct world){ .client = { .ops = &over_udp } };
	arena_init(&world.arena);
	assert_true(addr_parse(&world.client.from, "10.0.0.1", 1234, NULL));
	world.snapshot = snapshot_new(conf_from(text), &f);
	if (!world.snapshot)
		fail_msg("%s", f.text);
	for (unsigned i = 0; i < ZONES && rules[i]; i++)
		unlink(path[i]);
	rcu_thread_join();
	rcu_turn_begin();
}

static inline void end(void)
{
	rcu_turn_end();
	snapshot_unpin(world.snapshot);
	arena_clear(&world.arena);
	rcu_flush();
	rcu_thread_leave();
}

static inline struct policy_client who(void)
{
	return (struct policy_client){ .rule = acl_get(world.snapshot->acl, &world.client.from, NULL), .client = &world.client,
				       .stats = &world.stats, .decision = world.decision, .embeds = world.embeds };
}

static inline size_t put_records(char *text, size_t room, const struct message *m)
{
	size_t len = 0;

	for (unsigned i = 0; i < message_set_count(m); i++)
		for (unsigned n = 0; n < m->sets[i]->count; n++) {
			char line[300];

			if (i == m->count[0])
				len += (size_t)snprintf(text + len, room - len, " /");
			(void)text_rr_print(line, sizeof(line), rrset_owner(m->sets[i]), m->sets[i]->expires_s, m->sets[i]->class_,
					    m->sets[i]->type, rrset_record(m->sets[i], n));
			for (char *c = line; *c; c++)
				*c = *c == '\t' ? ' ' : *c;
			len += (size_t)snprintf(text + len, room - len, "; %s", line);
		}
	return len;
}

/* What becomes of a question. */
static inline const char *ask(const char *name, uint16_t type)
{
	static char text[1000];
	static const struct answer_style style = { .udp_size = 1232, .max_udp = 1232, .ede = true };
	struct question q = made_question(name, type);
	struct request r = { .q = q, .flags = FLAG_RD, .edns = { .present = true, .udp_size = 1232 } };
	struct answer_to to = { .style = &style, .request = &r, .stream = world.client.ops->stream };
	struct policy_client client = who();
	struct alias_prefix aliases = { .count = 0 };
	uint8_t room[4096];
	struct writer out = writer_over(room, sizeof(room));
	char target[DNAME_TEXT];
	struct message m;
	struct slice ede;
	size_t len;

	switch (rpz_apply_answer(world.snapshot->policy, &client, &to, &out, &world.arena, &aliases)) {
	case POLICY_PASS:
		return "pass";
	case POLICY_LET_THROUGH:
		return "let through";
	case POLICY_DROP:
		return "drop";
	case POLICY_FOLLOW:
		assert_true(aliases.authoritative);
		snprintf(text, sizeof(text), "follow %u %s%s", aliases.count, dname_print(aliases.target, target), aliases.rpz_passed ? " passed" : "");
		return text;
	case POLICY_SEND:
		break;
	}
	assert_true(msg_parse(room, writer_len(&out), &world.arena, 0, &m));
	world.ede = edns_find_option(&m.edns, EDNS_EDE, &ede) ? get_u16(ede.at) : -1;
	len = (size_t)snprintf(text, sizeof(text), "%u%s%s%s", m.rcode, m.flags & FLAG_AA ? " aa" : "", m.flags & FLAG_TC ? " tc" : "",
			       m.flags & FLAG_RA ? " ra" : "");
	(void)put_records(text + len, sizeof(text) - len, &m);
	return text;
}

/* What becomes of an answer: by its aliases, or else by the rest. */
static inline const char *apply(const struct made *how, uint16_t flags, const struct met *met, bool *decided)
{
	static char text[1000];
	struct message *m = made_message(&world.arena, NOW, how);
	struct policy_client client = who();
	struct policy_outcome j = { .end = OUTCOME_AS_IS, .m = NULL, .aliases = { .count = 2, .rpz_passed = true } }; /* of before */
	char target[DNAME_TEXT];
	size_t len;

	client.met = met;
	m->flags = flags;
	m->security = SECURITY_SECURE;
	m->reason_text = "of the answer";
	*decided = rpz_apply_aliases(world.snapshot->policy, &client, m, NOW, &world.arena, &j) ||
		   rpz_apply_rest(world.snapshot->policy, &client, m, NOW, &world.arena, &j);
	if (!*decided)
		return "nothing";
	switch (j.end) {
	case OUTCOME_AS_IS:
		assert_ptr_equal(j.m, m);
		return "as is";
	case OUTCOME_DROP:
		return "drop";
	case OUTCOME_FOLLOW:
		len = (size_t)snprintf(text, sizeof(text), "follow %s%s%s", dname_print(j.aliases.target, target),
				       j.aliases.rpz_passed ? " passed" : "", j.aliases.nat64.net.family ? " nat64" : "");
		for (unsigned i = 0; i < j.aliases.count; i++) {
			assert_int_equal(j.aliases.sets[i]->sig_count, 0);
			len += (size_t)snprintf(text + len, sizeof(text) - len, "; %s %u", dname_print(rrset_owner(j.aliases.sets[i]), target),
						(unsigned)j.aliases.sets[i]->expires_s);
		}
		return text;
	case OUTCOME_CHANGED:
		break;
	}
	assert_int_equal(j.m->security, SECURITY_INSECURE);
	assert_null(j.m->reason_text);
	assert_int_equal(j.m->flags & ~(FLAG_AA | FLAG_TC), flags & ~(FLAG_AA | FLAG_TC));
	len = (size_t)snprintf(text, sizeof(text), "%u%s%s%s%s", j.m->rcode, j.m->flags & FLAG_AA ? " aa" : "", j.m->flags & FLAG_TC ? " tc" : "",
			       j.m->reason == REASON_blocked ? " blocked" : "", j.m->no_recursion ? " no-ra" : "");
	(void)put_records(text + len, sizeof(text) - len, j.m);
	return text;
}

#endif
