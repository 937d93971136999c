/* Records of a response policy zone in a list: names to block, and names to allow.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Here, every action that keeps a name from being answered means to block it, as the list blocks.
 * Triggers other than names need an rpz: clause. */
#include <string.h>
#include <strings.h>

#include "services/blocklist/private.h"

static bool is_ttl(struct word w)
{
	size_t i = 0;

	while (i < w.len && w.at[i] >= '0' && w.at[i] <= '9')
		i++;
	return i > 0 && (i == w.len || (i + 1 == w.len && strchr("smhdwSMHDW", w.at[i])));
}

/* The type after "owner [ttl] [class]"; `*at` moves past it. False: there is none. */
static bool take_type(const char **at, struct word *type)
{
	while (word_take(at, type, ";")) {
		if (!is_ttl(*type) && !word_is(*type, "IN"))
			return true;
	}
	return false;
}

bool blocklist_is_zone(const struct blocklist_reader *r, const char *line)
{
	const char *at = line;
	struct word owner, type;

	if (r->zone || strncasecmp(line, "$TTL", 4) == 0 || strncasecmp(line, "$ORIGIN", 7) == 0)
		return true;
	return word_take(&at, &owner, ";") && take_type(&at, &type) &&
	       (word_is(type, "CNAME") || word_is(type, "SOA"));
}

/* ---- names ---- */

/* Read a name, relative to the origin unless it is absolute. Its length; 0: not a name. */
static size_t read_name(const struct blocklist_reader *r, struct word w, uint8_t *to)
{
	uint8_t relative[DNAME_MAX];
	bool absolute = w.len && w.at[w.len - 1] == '.';
	enum blocklist_name n;

	if (word_is(w, "@")) {
		memcpy(to, r->has_origin ? r->origin : dname_root, r->has_origin ? dname_len(r->origin) : 1);
		return dname_len(to);
	}
	n = blocklist_name_read(w.at, w.len, relative);
	if (n != BLOCKLIST_NAME && n != BLOCKLIST_NAME_TOP)
		return 0;
	if (absolute || !r->has_origin) {
		memcpy(to, relative, dname_len(relative));
		return dname_len(to);
	}
	return dname_join(to, relative, dname_len(relative) - 1, r->origin);
}

static void set_origin(struct blocklist_reader *r, const char *at)
{
	struct word w;
	uint8_t name[DNAME_MAX];

	if (!word_take(&at, &w, ";") || (word_is(w, ".") ? (name[0] = 0, false) : !read_name(r, w, name))) {
		blocklist_skip(r, BLOCKLIST_SKIP_name);
		return;
	}
	memcpy(r->origin, name, dname_len(name));
	r->has_origin = true;
}

/* The trigger: the owner name with the zone's name taken off. False: not below the zone. */
static bool trigger_of(const struct blocklist_reader *r, const uint8_t *owner, uint8_t *to)
{
	size_t len = dname_len(owner), apex = r->has_apex ? dname_len(r->apex) : 1;

	if (r->has_apex && !dname_is_strictly_under(owner, r->apex))
		return false;
	memcpy(to, owner, len - apex);
	to[len - apex] = 0;
	return true;
}

static bool is_other_trigger(const uint8_t *name)
{
	static const char *const branches[] = { "rpz-ip", "rpz-nsip", "rpz-client-ip",
						"rpz-nsdname" };
	const uint8_t *top = dname_suffix(name, 1);

	for (size_t i = 0; i < COUNT(branches); i++)
		if (*top == strlen(branches[i]) && memcmp(top + 1, branches[i], *top) == 0)
			return true;
	return false;
}

/* ---- records ---- */

struct record {
	struct word owner, type;
	const char *data;
};

/* The bits of the rule; 0: a rewrite. */
static uint8_t action_of(const struct record *rec, const uint8_t *trigger)
{
	uint8_t target[DNAME_MAX];
	const char *at = rec->data;
	struct word w;

	if (!word_take(&at, &w, ";"))
		return 0;
	if (word_is(rec->type, "A") || word_is(rec->type, "AAAA"))
		return word_is_null_address(w) ? BLOCKLIST_BLOCK : 0;
	if (!word_is(rec->type, "CNAME"))
		return 0;
	if (word_is(w, ".") || word_is(w, "*.") || word_is(w, "rpz-drop.") ||
	    word_is(w, "rpz-drop"))
		return BLOCKLIST_BLOCK;
	if (word_is(w, "rpz-passthru.") || word_is(w, "rpz-passthru"))
		return BLOCKLIST_PASS;
	if (blocklist_name_read(w.at, w.len, target) == BLOCKLIST_NAME &&
	    dname_equals(target, trigger))
		return BLOCKLIST_PASS;
	return 0;
}

static enum blocklist_skip read_record(struct blocklist_reader *r, const struct record *rec)
{
	uint8_t trigger[DNAME_MAX], bits;

	if (!trigger_of(r, r->owner, trigger))
		return BLOCKLIST_SKIP_name;
	if (is_other_trigger(trigger))
		return BLOCKLIST_SKIP_trigger;
	bits = action_of(rec, trigger);
	if (bits == 0)
		return BLOCKLIST_SKIP_rewrite;
	return blocklist_put_name(r, trigger, bits & (r->is_below ? 0xa : 0x5));
}

/* Records that only belong to the zone itself. */
static bool is_scaffold(struct word type)
{
	static const char *const types[] = { "SOA",  "NS",    "RRSIG",      "NSEC",  "NSEC3",
					     "DNSKEY", "NSEC3PARAM", "ZONEMD" };

	for (size_t i = 0; i < COUNT(types); i++)
		if (word_is(type, types[i]))
			return true;
	return false;
}

static void begin_zone(struct blocklist_reader *r)
{
	r->zone = true;
	if (r->has_apex || !r->has_owner)
		return;
	if (!r->has_origin && dname_is_root(r->owner))
		return; /* "@" in a zone of unknown name: owners are relative */
	memcpy(r->apex, r->owner, dname_len(r->owner));
	r->has_apex = true;
	if (!r->has_origin) {
		memcpy(r->origin, r->owner, dname_len(r->owner));
		r->has_origin = true;
	}
}

static bool take_owner(struct blocklist_reader *r, const char **at, struct record *rec,
		       bool indented)
{
	struct word w;

	if (indented)
		return r->has_owner;
	(void)word_take(at, &rec->owner, ";");
	w = rec->owner;
	r->is_below = w.len > 2 && w.at[0] == '*' && w.at[1] == '.';
	if (r->is_below)
		w.at += 2, w.len -= 2;
	r->has_owner = read_name(r, w, r->owner) > 0;
	return r->has_owner;
}

static void count_brackets(struct blocklist_reader *r, const char *line)
{
	bool quoted = false;

	for (; *line && (quoted || *line != ';'); line++) {
		if (*line == '"')
			quoted = !quoted;
		else if (!quoted && *line == '(')
			r->brackets++;
		else if (!quoted && *line == ')' && r->brackets)
			r->brackets--;
	}
}

void blocklist_read_zone(struct blocklist_reader *r, const char *line, bool indented)
{
	struct record rec = { .data = line };
	bool goes_on = r->brackets > 0;

	count_brackets(r, line);
	if (goes_on || *line == ';' || (*line == '#' && !indented))
		return;
	if (*line == '$') {
		r->zone = true;
		if (strncasecmp(line, "$ORIGIN", 7) == 0)
			set_origin(r, line + 7);
		return;
	}
	if (!take_owner(r, &rec.data, &rec, indented)) {
		blocklist_skip(r, BLOCKLIST_SKIP_name);
		return;
	}
	if (!take_type(&rec.data, &rec.type)) {
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
		return;
	}
	if (word_is(rec.type, "SOA"))
		begin_zone(r);
	if (!is_scaffold(rec.type))
		blocklist_skip(r, read_record(r, &rec));
}
