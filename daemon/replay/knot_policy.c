/* Knot Resolver's policies in Deckard's dialect, as local zones and forward zones that mean the same.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A policy is a call, policy.suffix(policy.DENY, {todname('a.example')}), and of its arguments only the action and the
 * quoted texts matter. With Knot the first policy for a name decides, here the longest zone: a name below one that has
 * an earlier policy is left out. */
#include "daemon/replay/knot_policy.h"

#include <stdio.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/dns/dname.h"
#include "util/names/trie.h"

/* What Knot does, and a zone here that does it; NULL: one that sends questions to addresses. What Knot truncates is not
 * said with authority, as here it is: that has no place in this table. */
static const struct act {
	const char *name, *zone_type, *clause;
} acts[] = {
	{ "DENY", "always_nxdomain", NULL },     { "PASS", "always_transparent", NULL },
	{ "DROP", "always_deny", NULL },         { "REFUSE", "always_refuse", NULL },
	{ "FORWARD", NULL, "forward" },          { "STUB", NULL, "stub" },
};

struct policies {
	struct arena *arena;
	struct trie *ruled; /* names that have a policy */
	const char *server, *zones;
};

static bool take(const char **at, const char *word)
{
	size_t len = strlen(word);
	bool is = strncmp(*at, word, len) == 0;

	*at += is ? len : 0;
	return is;
}

/* The next quoted text before `end`; NULL: there is none. */
static char *take_quoted(struct arena *a, const char **at, const char *end)
{
	const char *begin = *at + strcspn(*at, "'\""), *close;

	if (begin >= end || !*begin || !(close = strchr(begin + 1, *begin)))
		return NULL;
	*at = close + 1;
	return arena_textf(a, "%.*s", (int)(close - begin - 1), begin + 1);
}

static const struct act *take_act(const char **at)
{
	if (!take(at, "policy."))
		return NULL;
	for (size_t i = 0; i < COUNT(acts); i++) {
		size_t len = strlen(acts[i].name);

		if (strncmp(*at, acts[i].name, len) == 0 && strchr(",()", (*at)[len])) {
			*at += len;
			return &acts[i];
		}
	}
	return NULL;
}

/* `addresses`: lines of configuration. False: it is not a name. */
static bool put(struct policies *p, const struct act *act, const char *name, const char *addresses)
{
	uint8_t wire[DNAME_MAX];

	if (!dname_parse(wire, name, NULL))
		return false;
	if (trie_find_closest(p->ruled, wire))
		return true;
	trie_put(p->ruled, wire, p);
	if (act->zone_type)
		p->server = arena_textf(p->arena, "%s\tlocal-zone: \"%s\" %s\n", p->server, name, act->zone_type);
	else
		p->zones = arena_textf(p->arena, "%s%s-zone:\n\tname: \"%s\"\n%s", p->zones, act->clause, name, addresses);
	return true;
}

/* The addresses that a FORWARD or STUB has in brackets; moves behind them. */
static const char *take_addresses(struct policies *p, const struct act *act, const char **at)
{
	const char *end = **at == '(' ? strchr(*at, ')') : NULL, *text = "";
	char *address;

	while (end && act->clause && (address = take_quoted(p->arena, at, end)))
		text = arena_textf(p->arena, "%s\t%s-addr: %s\n", text, act->clause, address);
	*at = end ? end + 1 : *at;
	return text;
}

static bool put_names(struct policies *p, const struct act *act, const char *at, bool has_common)
{
	const char *addresses = take_addresses(p, act, &at), *end = at + strlen(at);
	char *name = take_quoted(p->arena, &at, end), *next;

	if (!name || !act->zone_type != (*addresses != '\0'))
		return false;
	for (; name; name = next) {
		next = take_quoted(p->arena, &at, end);
		/* what all the names have in common is said last, and says nothing more */
		if (!(has_common && !next) && !put(p, act, name, addresses))
			return false;
	}
	return true;
}

static bool read_policy(struct policies *p, const char *at)
{
	const struct act *act;
	bool all, common = false;

	if (!take(&at, "policy=policy:add(") && !take(&at, "policy=policy.add("))
		return false;
	all = take(&at, "policy.all(");
	if (!all && !take(&at, "policy.suffix(") && !take(&at, "policy.pattern(") &&
	    !(common = take(&at, "policy.suffix_common(")))
		return false;
	act = take_act(&at);
	if (act && all)
		return put(p, act, ".", take_addresses(p, act, &at));
	return act && put_names(p, act, at, common);
}

const char *knot_policies_text(struct arena *a, const char *const *policies, size_t count, const char **foreign)
{
	struct policies p = { .arena = a, .ruled = trie_new(), .server = "", .zones = "" };

	*foreign = NULL;
	for (size_t i = 0; i < count && !*foreign; i++)
		if (!read_policy(&p, policies[i]))
			*foreign = policies[i];
	trie_free(p.ruled, NULL);
	return *foreign ? NULL : arena_textf(a, "server:\n%s%s", p.server, p.zones);
}
