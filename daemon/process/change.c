/* One change made by a command: reading it, and carrying it out again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/authzone/zones.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/names/trie.h"

#define BLANKS " \t"
#define VIEW   "view_"
#define PAUSE_MOST_S 31536000 /* what blocklist_pause takes at most */

enum ends { PUT, REMOVE, REPLACE };

/* ---- arguments ---- */

/* The next word, NUL-terminated in place; NULL if there is none. */
static char *take_word(char **at)
{
	char *word = *at, *end;

	if (!*word)
		return NULL;
	end = word + strcspn(word, BLANKS);
	*at = end + strspn(end, BLANKS);
	*end = '\0';
	return word;
}

/* The same in every process: it is compared with what an earlier one has written. */
static uint64_t sum(const void *at, size_t len)
{
	static const uint8_t key[16] = "of what things";
	uint8_t to[8];

	hash_shared(to, at, len, key);
	return get_u64(to);
}

static bool parse_name(uint8_t *to, const char *text, struct fault *f)
{
	struct fault why = { 0 };

	if (!text || !*text)
		fault_set(f, "a domain name is missing");
	else if (dname_parse(to, text, &why))
		return true;
	else
		fault_set(f, "cannot parse name %s: %s", text, why.text);
	return false;
}

/* All that is there. */
static bool read_name(struct change *c, char **at, struct fault *f)
{
	return parse_name(c->name, *at, f);
}

static bool read_first_name(struct change *c, char **at, struct fault *f)
{
	return parse_name(c->name, take_word(at), f);
}

static bool read_nothing(struct change *c, char **at, struct fault *f)
{
	(void)c;
	(void)at;
	(void)f;
	return true;
}

static bool read_zone(struct change *c, char **at, struct fault *f)
{
	const char *first = take_word(at);

	if (!first || !**at) {
		fault_set(f, "could not find next argument after %s", first ? first : "");
		return false;
	}
	if (!parse_name(c->name, first, f))
		return false;
	if (zone_type_parse(*at, &c->type))
		return true;
	fault_set(f, "not a zone type. %s", *at);
	return false;
}

/* What is odd about it was said when it was given. */
static void no_odd(void *arg, const char *why)
{
	(void)arg;
	(void)why;
}

static uint64_t record_sum(const struct text_rr *rr)
{
	size_t len = 4 + rr->rdata.len;
	uint8_t *bytes = mem_new(len);
	uint64_t n;

	put_u16(bytes, rr->type);
	put_u16(bytes + 2, rr->class_);
	memcpy(bytes + 4, rr->rdata.at, rr->rdata.len);
	n = sum(bytes, len);
	mem_free(bytes);
	return n;
}

static bool read_record(struct change *c, char **at, struct fault *f)
{
	struct text_zone z;
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	text_zone_init(&z);
	z.odd = no_odd;
	good = text_rr_parse(&a, *at, &z, &rr, f);
	if (good) {
		memcpy(c->name, rr.owner, dname_len(rr.owner));
		c->id.key = record_sum(&rr);
		c->rest = *at;
	}
	arena_clear(&a);
	return good;
}

static bool read_name_or_record(struct change *c, char **at, struct fault *f)
{
	return strpbrk(*at, BLANKS) ? read_record(c, at, f) : read_name(c, at, f);
}

static bool read_option(struct change *c, char **at, struct fault *f)
{
	size_t len = strcspn(*at, ": \t");
	char *name;

	if (!(*at)[len]) {
		fault_set(f, "could not find next argument after %s", *at);
		return false;
	}
	c->rest = *at;
	name = mem_copy(*at, len + 1);
	name[len] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = '-';
	/* A value is added to a list, so that only the same value is the same thing. */
	c->id.key = conf_option_form(name).list ? sum(*at, strlen(*at)) : sum(name, len);
	mem_free(name);
	return true;
}

static bool read_servers(struct change *c, char **at, struct fault *f)
{
	const char *flags = **at == '+' ? take_word(at) : "";

	c->tls = strchr(flags, 't') != NULL;
	c->prime = strchr(flags, 'p') != NULL;
	if (!read_first_name(c, at, f))
		return false;
	while (c->server_count < CHANGE_SERVERS_MOST && (c->servers[c->server_count] = take_word(at)) != NULL)
		c->server_count++;
	if (c->server_count)
		return true;
	fault_set(f, "an address is missing");
	return false;
}

static bool read_until(struct change *c, char **at, struct fault *f)
{
	const char *word = take_word(at);
	char *end = NULL;

	errno = 0;
	if (word && strncmp(word, "until=", 6) == 0)
		c->until_s = strtoll(word + 6, &end, 10);
	if (!end || *end || errno || c->until_s < 0) {
		fault_set(f, "until=SECONDS was expected");
		return false;
	}
	c->view = **at ? *at : NULL;
	return true;
}

/* ---- the table ---- */

static const struct kind {
	const char *word;
	enum change_thing thing;
	bool (*read)(struct change *c, char **at, struct fault *f);
	enum change_when when;
	enum ends ends;
} kinds[] = {
#define CHANGE(word, thing, arguments, when, ends) { #word, CHANGE_##thing, read_##arguments, CHANGE_##when, ends },
#include "daemon/process/changes.def"
#undef CHANGE
};

const char *change_word(enum change_kind kind)
{
	return kinds[kind].word;
}

enum change_when change_when(enum change_kind kind)
{
	return kinds[kind].when;
}

enum change_thing change_thing(enum change_kind kind)
{
	return kinds[kind].thing;
}

static bool is_local(enum change_kind kind)
{
	return kinds[kind].thing == CHANGE_ZONE || kinds[kind].thing == CHANGE_DATA;
}

static bool find_kind(struct change *c, const char *word)
{
	bool of_view = strncmp(word, VIEW, strlen(VIEW)) == 0;

	if (of_view)
		word += strlen(VIEW);
	for (c->id.kind = 0; c->id.kind < CHANGE_KINDS; c->id.kind++)
		if (strcmp(kinds[c->id.kind].word, word) == 0)
			return !of_view || is_local(c->id.kind);
	return false;
}

static void set_keys(struct change *c)
{
	size_t view = c->view ? strlen(c->view) + 1 : 0, len = dname_len(c->name);
	uint8_t *bytes = mem_new(1 + view + len);

	bytes[0] = (uint8_t)(kinds[c->id.kind].thing << 1 | (c->view != NULL));
	if (view)
		memcpy(bytes + 1, c->view, view);
	dname_copy_lower(bytes + 1 + view, c->name);
	c->id.owner_key = sum(bytes, 1 + view + len);
	c->id.key ^= c->id.owner_key;
	mem_free(bytes);
}

bool change_read(struct change *c, const char *line, struct fault *f)
{
	const char *word;
	char *at;

	*c = (struct change){ .text = mem_text(line) };
	at = c->text + strspn(c->text, BLANKS);
	word = take_word(&at);
	if (!word || !find_kind(c, word)) {
		fault_set(f, "%s is no change that can be kept", word ? word : "an empty line");
		return false;
	}
	if (strncmp(word, VIEW, strlen(VIEW)) == 0 && !(c->view = take_word(&at))) {
		fault_set(f, "could not find next argument after ");
		return false;
	}
	if (!kinds[c->id.kind].read(c, &at, f))
		return false;
	set_keys(c);
	return true;
}

void change_clear(struct change *c)
{
	mem_free(c->text);
	*c = (struct change){ 0 };
}

bool change_removes(const struct change *c)
{
	return kinds[c->id.kind].ends == REMOVE;
}

bool change_supersedes(const struct change *c, const struct change_id *earlier)
{
	const struct kind *k = &kinds[c->id.kind];

	if (c->id.kind == CHANGE_blocklist_resume)
		return earlier->kind == CHANGE_blocklist_pause;
	if (k->thing == CHANGE_DATA && k->ends == REMOVE && !c->rest)
		return kinds[earlier->kind].thing == CHANGE_DATA && earlier->owner_key == c->id.owner_key;
	return earlier->key == c->id.key && (k->ends != PUT || earlier->kind == c->id.kind);
}

/* ---- options ---- */

static bool is_written(const char *text, const uint8_t *name)
{
	uint8_t written[DNAME_MAX];
	struct fault f = { 0 };

	return dname_parse(written, text, &f) && dname_equals(written, name);
}

/* Remove the name from the list. */
static void strike(struct conf_list *list, const uint8_t *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (is_written(list->items[i].text, name))
			mem_free(list->items[i].text);
		else
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

bool change_insecure(struct conf *conf, const uint8_t *zone, bool insecure, struct fault *f)
{
	char text[DNAME_TEXT], line[DNAME_TEXT + 32];

	strike(&conf->server.domain_insecure, zone);
	if (!insecure)
		return true;
	snprintf(line, sizeof line, "domain-insecure: \"%s\"", dname_print(zone, text));
	return conf_set_option(conf, line, f);
}

static void on_difference(void *at_once, const char *name)
{
	enum conf_acts acts = conf_option_acts(name);

	if (acts == CONF_AT_START || acts == CONF_WITH_ZONES)
		*(bool *)at_once = false;
}

/* What set_option refuses while the daemon runs is not to be had by way of a file that a command has written. */
static bool acts_at_once(const struct conf *conf, const struct conf *changed, struct fault *f)
{
	bool at_once = true;

	conf_compare(conf, changed, on_difference, &at_once);
	if (!at_once)
		fault_set(f, "this option is for the configuration file alone");
	return at_once;
}

bool change_configure(const struct change *c, struct conf *conf, struct conf *scratch, const struct conf_how *how,
		      struct fault *f)
{
	if (c->id.kind == CHANGE_insecure_add || c->id.kind == CHANGE_insecure_remove) {
		bool insecure = c->id.kind == CHANGE_insecure_add;

		return change_insecure(scratch, c->name, insecure, f) && change_insecure(conf, c->name, insecure, f);
	}
	return conf_set_option(scratch, c->rest, f) && acts_at_once(conf, scratch, f) &&
	       conf_check_change(conf, scratch, how, f) && conf_set_option(conf, c->rest, f);
}

/* ---- tables ---- */

struct localzones *change_place(const struct change *c, const struct snapshot *s, struct fault *f)
{
	struct view *v = c->view ? views_find(s->policy->views, c->view) : NULL;

	if (!c->view)
		return s->policy->zones;
	if (!v) {
		fault_set(f, "no view with name: %s", c->view);
		return NULL;
	}
	return change_removes(c) ? atomic_load(&v->zones) : views_zones(v, s->conf);
}

static bool is_zone(const struct localzones *z, const uint8_t *name)
{
	struct question q = { .name = name, .type = TYPE_A, .class_ = CLASS_IN };
	struct localzone_match m;

	return localzones_find(z, &q, NULL, &m) && dname_equals(m.name, name);
}

bool change_local(const struct change *c, struct localzones *z, bool *had_effect, struct fault *f)
{
	unsigned before = localzones_records_at(z, c->name, CLASS_IN);
	bool good = true, effect = true;

	if (c->id.kind == CHANGE_local_zone) {
		/* the records of a default zone stay; what it does not know is asked for elsewhere */
		localzones_put(z, c->name, CLASS_IN, c->type == ZONE_nodefault ? ZONE_transparent : c->type);
	} else if (c->id.kind == CHANGE_local_zone_remove) {
		effect = is_zone(z, c->name);
		localzones_remove(z, c->name, CLASS_IN);
	} else if (c->id.kind == CHANGE_local_data) {
		good = localzones_put_record(z, c->rest, f);
	} else if (c->rest) {
		good = localzones_remove_record(z, c->rest, f);
		effect = localzones_records_at(z, c->name, CLASS_IN) != before;
	} else {
		effect = before != 0;
		localzones_remove_name(z, c->name, CLASS_IN);
	}
	if (had_effect)
		*had_effect = effect;
	return good;
}

struct forward_change change_forward(const struct change *c)
{
	bool removes = c->id.kind == CHANGE_forward_remove || c->id.kind == CHANGE_stub_remove;

	return (struct forward_change){ .name = c->name,
					.is_stub = kinds[c->id.kind].thing == CHANGE_STUB,
					.prime = c->prime,
					.tls = c->tls,
					.remove = removes,
					.servers = c->servers,
					.server_count = c->server_count };
}

char *change_forward_print(const struct forward_change *fc)
{
	const char *kind = fc->is_stub ? "stub" : "forward";
	char name[DNAME_TEXT], *text, *longer;

	dname_print(fc->name, name);
	if (fc->remove)
		return mem_textf("%s_remove %s", kind, name);
	text = mem_textf("%s_add %s%s%s%s%s", kind, fc->tls || fc->prime ? "+" : "", fc->tls ? "t" : "",
			 fc->prime ? "p" : "", fc->tls || fc->prime ? " " : "", name);
	for (size_t i = 0; i < fc->server_count; i++) {
		longer = mem_textf("%s %s", text, fc->servers[i]);
		mem_free(text);
		text = longer;
	}
	return text;
}

/* ---- what a reload leaves as it is ---- */

static bool run_policy_zone(const struct change *c, const struct snapshot *s, struct fault *f)
{
	const struct authzone *z = authzones_find_exact(s->zones, c->name);

	if (!z || !z->manner) {
		fault_set(f, "there is no such policy zone");
		return false;
	}
	atomic_store(&z->cell->disabled, true);
	return true;
}

void change_enable(const struct change *c, const struct snapshot *s)
{
	const struct authzone *z = authzones_find_exact(s->zones, c->name);

	if (z)
		atomic_store(&z->cell->disabled, false);
}

static bool run_pause(const struct change *c, const struct snapshot *s, uint32_t now_s, int64_t wall_s, struct fault *f)
{
	if (c->view && !views_find(s->policy->views, c->view)) {
		fault_set(f, "no view with name: %s", c->view);
		return false;
	}
	if (c->until_s > wall_s)
		blocklists_pause(s->policy->lists, c->view, now_s + (uint32_t)MIN(c->until_s - wall_s, (int64_t)PAUSE_MOST_S));
	return true;
}

bool change_run(const struct change *c, const struct snapshot *s, uint32_t now_s, int64_t wall_s, struct fault *f)
{
	switch (kinds[c->id.kind].thing) {
	case CHANGE_POLICY_ZONE:
		return run_policy_zone(c, s, f);
	case CHANGE_PAUSE:
		return run_pause(c, s, now_s, wall_s, f);
	case CHANGE_RULE:
		if (c->id.kind == CHANGE_blocklist_allow)
			blocklists_allow(s->policy->lists, c->name);
		else
			blocklists_deny(s->policy->lists, c->name);
		return true;
	default:
		return true;
	}
}
