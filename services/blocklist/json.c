/* Lists in JSON, as firewalls write them for a script in the resolver: taken piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * OPNsense (dnsbl.json): {"data": {NAME: ENTRY...}, "config": {...}}. An ENTRY is an object with
 * "wildcard" (the names below, too) or an array of such, one for each policy, whose key in "config"
 * is "idx"; "bl" says which published list has the name. A policy has "source_nets", "address", "rcode"
 * and "passlist". Files of older versions have no "idx"; "config" is then the one policy ("dst_addr",
 * "rcode"), an ENTRY may have "source_net".
 *
 * pfBlockerNG: one object in each line, with "domain" for a name. */
#include <stdio.h>
#include <string.h>

#include "services/blocklist/clients.h"
#include "services/blocklist/private.h"
#include "util/base/fault.h"
#include "util/base/mem.h"

enum {
	LEVELS = 8,
	KEY = 256,
	WORD = BLOCKLIST_POLICY_TEXT / 2, /* longest string that matters */
	NETS = 4096,
};

enum lexing { BETWEEN, IN_WORD, IN_STRING, IN_ESCAPE };

/* A policy while it is read. */
struct told_policy {
	char id[KEY];
	char *nets, *pass;
	char address[64];
	bool nxdomain, has_answer;
	unsigned order; /* in "config"; 0: not there, and `id` is none that others know */
};

struct blocklist_json {
	/* the lexer */
	enum lexing state;
	char *word; /* WORD + 1 bytes */
	size_t len;
	unsigned hex_left, hex;
	/* where in the tree */
	unsigned depth; /* open brackets */
	char open[LEVELS + 1], key[LEVELS + 1][KEY];
	bool is_key_next;
	bool useful; /* something of a list has been seen */
	/* the entry being read */
	bool wildcard;
	char idx[KEY], nets[NETS], bl[BLOCKLIST_POLICY_WORD];
	bool foreign; /* a line of another kind */
	/* what "config" of the old form says for all */
	char address[64];
	bool nxdomain;
	struct told_policy *policies; /* BLOCKLIST_POLICIES, the first for entries without idx */
	unsigned policy_count, order;
	char lists[BLOCKLIST_POLICY_LISTS][BLOCKLIST_POLICY_WORD]; /* from 1 */
	unsigned list_count; /* without the first */
};

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static void copy(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from);
}

/* ---- policies ---- */

/* Its number, from 1; 0: there are too many. */
static unsigned policy_of(struct blocklist_json *j, const char *id)
{
	for (unsigned i = j->policy_count; i > 0; i--)
		if (is(j->policies[i - 1].id, id))
			return i;
	if (j->policy_count == BLOCKLIST_POLICIES)
		return 0;
	copy(j->policies[j->policy_count].id, KEY, id);
	return ++j->policy_count;
}

/* Its number, from 1; 0: it has no name, or there are too many. */
static unsigned list_of(struct blocklist_json *j, const char *name)
{
	for (unsigned i = j->list_count; i > 0; i--)
		if (is(j->lists[i], name))
			return i;
	if (!*name || j->list_count + 1 == BLOCKLIST_POLICY_LISTS)
		return 0;
	copy(j->lists[++j->list_count], sizeof(j->lists[0]), name);
	return j->list_count;
}

static void add_word(char **text, const char *word)
{
	char *longer;

	if (*text && strlen(*text) + strlen(word) + 2 > WORD)
		return;
	longer = mem_textf("%s%s%s", *text ? *text : "", *text ? " " : "", word);
	mem_free(*text);
	*text = longer;
}

static const char *address_type(const char *address)
{
	return strchr(address, ':') ? "AAAA" : "A";
}

/* Only what these firewalls block: addresses, and aliases and services that lead to some. */
#define TYPES "dnstype=A|AAAA|CNAME|HTTPS|SVCB"

/* By which names the policy and the lists are known where they come from. */
static char *describe_origin(const struct blocklist_json *j, const struct told_policy *p)
{
	bool is_known = p->order && strlen(p->id) < BLOCKLIST_POLICY_WORD && !strpbrk(p->id, "\r\n");
	char *lists = NULL, *text;

	for (unsigned i = 1; i <= j->list_count; i++)
		add_word(&lists, j->lists[i]);
	text = mem_textf("%s%s%s%s%s%s", is_known ? "id " : "", is_known ? p->id : "", is_known ? "\n" : "",
			 lists ? "lists " : "", lists ? lists : "", lists ? "\n" : "");
	mem_free(lists);
	return text;
}

static char *describe(const struct blocklist_json *j, const struct told_policy *p)
{
	bool nxdomain = p->has_answer ? p->nxdomain : j->nxdomain;
	const char *address = p->has_answer ? p->address : j->address;
	char *origin, *text;

	if (!*address)
		address = "0.0.0.0";
	origin = describe_origin(j, p);
	text = mem_textf("special " TYPES ",dnsrewrite=%s%s%s%s\n%s%s%s%s%s%s%s",
			 nxdomain ? "NXDOMAIN" : "NOERROR;", nxdomain ? "" : address_type(address),
			 nxdomain ? "" : ";", nxdomain ? "" : address, p->nets ? "nets " : "",
			 p->nets ? p->nets : "", p->nets ? "\n" : "", p->pass ? "pass " : "",
			 p->pass ? p->pass : "", p->pass ? "\n" : "", origin);
	mem_free(origin);
	return text;
}

/* In the order of "config": the first that holds for a client decides. */
static void tell_policies(struct blocklist_reader *r)
{
	struct blocklist_json *j = r->json;

	for (unsigned order = 0; r->how.policy && order <= j->order; order++) {
		for (unsigned i = 0; i < j->policy_count; i++) {
			char *text;

			if (j->policies[i].order != order)
				continue;
			text = describe(j, &j->policies[i]);
			r->how.policy(r->how.arg, i + 1, text);
			mem_free(text);
		}
	}
	if (r->how.policy)
		r->how.policy(r->how.arg, 0, NULL);
}

/* ---- what a value means ---- */

static bool in_data(const struct blocklist_json *j)
{
	return is(j->key[1], "data");
}

static bool in_config(const struct blocklist_json *j)
{
	return is(j->key[1], "config");
}

/* Addresses may have been written without a thought; what is in a description must be one word. */
static bool is_one_word(const char *text)
{
	return *text && !strpbrk(text, " \t\n,|;");
}

static void take_entry_value(struct blocklist_json *j, const char *text)
{
	const char *key = j->key[j->depth];

	if (j->open[j->depth] == '[') {
		if (is(j->key[j->depth - 1], "source_net") && is_one_word(text) &&
		    strlen(j->nets) + strlen(text) + 2 < NETS) {
			strcat(j->nets, *j->nets ? " " : "");
			strcat(j->nets, text);
		}
	} else if (is(key, "wildcard")) {
		j->wildcard = is(text, "true") || is(text, "1");
	} else if (is(key, "idx")) {
		copy(j->idx, sizeof(j->idx), text);
	} else if (is(key, "bl") && is_one_word(text) && strlen(text) < sizeof(j->bl)) {
		copy(j->bl, sizeof(j->bl), text);
	}
}

static void take_policy_value(struct blocklist_json *j, const char *text)
{
	unsigned i = is(j->key[2], "general") ? 0 : policy_of(j, j->key[2]);
	struct told_policy *p = i ? &j->policies[i - 1] : NULL;
	const char *key = j->key[3];

	if (!p)
		return;
	if (j->depth == 4 && j->open[4] == '[' && is(key, "source_nets")) {
		if (is_one_word(text))
			add_word(&p->nets, text);
	} else if (j->depth != 3) {
		return;
	} else if (is(key, "address") && is_one_word(text)) {
		copy(p->address, sizeof(p->address), text);
		p->has_answer = true;
	} else if (is(key, "rcode")) {
		p->nxdomain = is(text, "NXDOMAIN");
		p->has_answer = true;
	} else if (is(key, "passlist") && *text && !p->pass && !strpbrk(text, "\r\n")) {
		p->pass = mem_text(text);
	}
}

static void take_value(struct blocklist_reader *r, const char *text)
{
	struct blocklist_json *j = r->json;

	if (j->depth == 1 && is(j->key[1], "domain")) {
		copy(j->idx, sizeof(j->idx), text);
		j->useful = true;
	} else if (j->depth == 1 && is(j->key[1], "kind")) {
		j->foreign = !is(text, "domain");
	} else if (j->depth >= 3 && in_data(j)) {
		take_entry_value(j, text);
	} else if (j->depth >= 3 && in_config(j)) {
		take_policy_value(j, text);
	} else if (j->depth == 2 && in_config(j) && is(j->key[2], "dst_addr") && is_one_word(text)) {
		copy(j->address, sizeof(j->address), text);
	} else if (j->depth == 2 && in_config(j) && is(j->key[2], "rcode")) {
		j->nxdomain = is(text, "NXDOMAIN");
	}
}

/* For blocklist_test: the name is what the line would be. */
static void begin_line(struct blocklist_reader *r, const char *name)
{
	r->counts.lines++;
	copy(r->line, sizeof(r->line), name);
	r->len = 0;
}

static void end_entry(struct blocklist_reader *r)
{
	struct blocklist_json *j = r->json;
	const char *name = j->key[2];
	char id[KEY + NETS];

	snprintf(id, sizeof(id), "%s%s", j->idx, j->nets);
	begin_line(r, name);
	if (strlen(id) >= KEY) { /* by its networks, of which there are many */
		blocklist_skip(r, BLOCKLIST_SKIP_modifier);
		return;
	}
	r->policy = policy_of(j, id);
	r->list = list_of(j, j->bl);
	if (r->policy && *j->nets && !j->policies[r->policy - 1].nets)
		j->policies[r->policy - 1].nets = mem_text(j->nets);
	if (!r->policy)
		blocklist_skip(r, BLOCKLIST_SKIP_modifier);
	else if (strncmp(name, "*.", 2) == 0)
		blocklist_skip(r, blocklist_put(r, (struct word){ name + 2, strlen(name + 2) },
						BLOCKLIST_BLOCK));
	else
		blocklist_skip(r,
			       blocklist_put(r, (struct word){ name, strlen(name) },
					     j->wildcard ? BLOCKLIST_BLOCK : BLOCKLIST_BLOCK_SELF));
	r->policy = r->list = 0;
}

static bool is_entry(const struct blocklist_json *j)
{
	return in_data(j) && j->open[j->depth] == '{' &&
	       (j->depth == 3 || (j->depth == 4 && j->open[3] == '['));
}

static void end_object_of_line(struct blocklist_reader *r)
{
	struct blocklist_json *j = r->json;

	begin_line(r, j->idx);
	if (j->foreign || !*j->idx)
		blocklist_skip(r, BLOCKLIST_SKIP_foreign);
	else
		blocklist_skip(r, blocklist_put(r, (struct word){ j->idx, strlen(j->idx) },
						r->how.rows == BLOCKLIST_ROWS_BELOW ? BLOCKLIST_BLOCK : BLOCKLIST_BLOCK_SELF));
}

static void begin_entry(struct blocklist_json *j)
{
	j->wildcard = false;
	j->idx[0] = j->nets[0] = j->bl[0] = '\0';
	j->foreign = false;
}

/* ---- the tree ---- */

static bool open_bracket(struct blocklist_reader *r, char bracket, struct fault *f)
{
	struct blocklist_json *j = r->json;

	if (j->depth == LEVELS) {
		fault_set(f, "it is JSON nested too deep for a list");
		return false;
	}
	j->open[++j->depth] = bracket;
	j->key[j->depth][0] = '\0';
	j->is_key_next = bracket == '{';
	if (is_entry(j) || j->depth == 1)
		begin_entry(j);
	if (j->depth == 3 && in_config(j) && bracket == '{' && !is(j->key[2], "general")) {
		unsigned i = policy_of(j, j->key[2]);

		if (i && !j->policies[i - 1].order)
			j->policies[i - 1].order = ++j->order;
	}
	return true;
}

static bool close_bracket(struct blocklist_reader *r, char bracket, struct fault *f)
{
	struct blocklist_json *j = r->json;

	if (j->depth == 0 || j->open[j->depth] != (bracket == '}' ? '{' : '[')) {
		fault_set(f, "it is broken JSON");
		return false;
	}
	if (is_entry(j))
		end_entry(r);
	else if (j->depth == 1 && bracket == '}' && !in_data(j) && !in_config(j))
		end_object_of_line(r);
	j->depth--;
	j->is_key_next = false;
	return true;
}

static bool take_key(struct blocklist_reader *r, struct fault *f)
{
	static const char *const known[] = { "data", "config", "domain", "kind", "log",
					     "feed", "group",  "type" };
	struct blocklist_json *j = r->json;

	if (j->len >= KEY) {
		j->word[KEY - 1] = '\0'; /* no name is so long */
		j->len = KEY - 1;
	}
	copy(j->key[j->depth], KEY, j->word);
	j->is_key_next = false;
	if (j->depth > 1)
		return true;
	for (size_t i = 0; i < COUNT(known); i++)
		if (is(j->word, known[i])) {
			j->useful |= i < 2;
			return true;
		}
	fault_set(f, "it is JSON, not a list: '%.40s'", j->word);
	return false;
}

static bool end_word(struct blocklist_reader *r, struct fault *f)
{
	struct blocklist_json *j = r->json;

	j->word[j->len] = '\0';
	if (j->is_key_next && j->state == IN_STRING)
		return take_key(r, f);
	take_value(r, j->word);
	return true;
}

/* ---- letters ---- */

static void put_byte(struct blocklist_json *j, char c)
{
	if (j->len < WORD)
		j->word[j->len++] = c;
}

/* A character beyond ASCII in UTF-8; halves of pairs do not occur in names. */
static void put_character(struct blocklist_json *j, unsigned c)
{
	if (c == 0 || (c >= 0xd800 && c < 0xe000)) {
		put_byte(j, '?');
	} else if (c < 0x80) {
		put_byte(j, (char)c);
	} else if (c < 0x800) {
		put_byte(j, (char)(0xc0 | c >> 6));
		put_byte(j, (char)(0x80 | (c & 0x3f)));
	} else {
		put_byte(j, (char)(0xe0 | c >> 12));
		put_byte(j, (char)(0x80 | (c >> 6 & 0x3f)));
		put_byte(j, (char)(0x80 | (c & 0x3f)));
	}
}

static bool take_escape(struct blocklist_json *j, char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (j->hex_left) {
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)c - '0'
				 : c >= 'a' && c <= 'f' ? (unsigned)c - 'a' + 10
				 : c >= 'A' && c <= 'F' ? (unsigned)c - 'A' + 10
							: 16;

		if (digit == 16)
			return false;
		j->hex = j->hex << 4 | digit;
		if (--j->hex_left == 0) {
			put_character(j, j->hex);
			j->state = IN_STRING;
		}
		return true;
	}
	if (c == 'u') {
		j->hex_left = 4;
		j->hex = 0;
		return true;
	}
	at = c ? strchr(from, c) : NULL;
	if (!at)
		return false;
	put_byte(j, to[at - from]);
	j->state = IN_STRING;
	return true;
}

static bool take_between(struct blocklist_reader *r, char c, struct fault *f)
{
	struct blocklist_json *j = r->json;

	switch (c) {
	case ' ': case '\t': case '\r': case '\n': case ':':
		return true;
	case ',':
		j->is_key_next = j->open[j->depth] == '{';
		return true;
	case '{': case '[':
		return open_bracket(r, c, f);
	case '}': case ']':
		return close_bracket(r, c, f);
	case '"':
		j->state = IN_STRING;
		j->len = 0;
		return true;
	default:
		j->state = IN_WORD;
		j->len = 0;
		put_byte(j, c);
		return true;
	}
}

static bool take_letter(struct blocklist_reader *r, char c, struct fault *f)
{
	struct blocklist_json *j = r->json;

	switch (j->state) {
	case IN_ESCAPE:
		if (take_escape(j, c))
			return true;
		fault_set(f, "it is broken JSON");
		return false;
	case IN_STRING:
		if (c == '\\') {
			j->state = IN_ESCAPE;
			return true;
		}
		if (c != '"') {
			put_byte(j, c);
			return true;
		}
		if (!end_word(r, f))
			return false;
		j->state = BETWEEN;
		return true;
	case IN_WORD:
		if (!strchr(",:]} \t\r\n[{\"", c)) {
			put_byte(j, c);
			return true;
		}
		if (!end_word(r, f))
			return false;
		j->state = BETWEEN;
		break;
	case BETWEEN:
		break;
	}
	return take_between(r, c, f);
}

/* ---- the whole ---- */

void blocklist_json_begin(struct blocklist_reader *r)
{
	r->json = mem_zero(sizeof(*r->json));
	r->json->word = mem_new(WORD + 1);
	r->json->policies = mem_array(BLOCKLIST_POLICIES, sizeof(*r->json->policies));
}

void blocklist_json_free(struct blocklist_json *j)
{
	if (!j)
		return;
	for (unsigned i = 0; i < j->policy_count; i++) {
		mem_free(j->policies[i].nets);
		mem_free(j->policies[i].pass);
	}
	mem_free(j->policies);
	mem_free(j->word);
	mem_free(j);
}

bool blocklist_json_take(struct blocklist_reader *r, const char *bytes, size_t len, struct fault *f)
{
	for (size_t i = 0; i < len; i++) {
		if (!bytes[i]) {
			fault_set(f, "it is no text");
			return false;
		}
		if (!take_letter(r, bytes[i], f))
			return false;
	}
	return true;
}

bool blocklist_json_end(struct blocklist_reader *r, struct fault *f)
{
	struct blocklist_json *j = r->json;

	if (j->depth || j->state != BETWEEN) {
		fault_set(f, "the JSON ends in the middle");
		return false;
	}
	if (!j->useful) {
		fault_set(f, "it is JSON, not a list");
		return false;
	}
	r->counts.lines += r->counts.lines == 0; /* a list of nothing */
	tell_policies(r);
	return true;
}
