/* Actions on answers that contain certain addresses: response-ip.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/response_ip.h"

#include <string.h>

#include "services/answer/nat64.h"
#include "services/net/addresses.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

struct response_ip {
	struct netset *blocks; /* values: struct response_rule */
	struct arena arena;    /* holds the rules */
	struct response_rule **rules;
	size_t count;
};

/* Parses "netblock rest"; NULL with a fault. */
static struct response_rule *take_rule(struct response_ip *r, const char *option, const char *text,
				       const char **rest, struct fault *f)
{
	size_t len = strcspn(text, " \t");
	struct response_rule *rule;
	char word[ADDR_TEXT];
	struct netblock n;

	if (len < sizeof(word)) {
		memcpy(word, text, len);
		word[len] = '\0';
	}
	if (len >= sizeof(word) || !netblock_parse(&n, word, NULL)) {
		fault_set(f, "%s: '%s' does not begin with a netblock", option, text);
		return NULL;
	}
	*rest = text + len + strspn(text + len, " \t");
	rule = netset_find_exact(r->blocks, &n);
	if (rule)
		return rule;
	rule = arena_new(&r->arena, struct response_rule);
	rule->block = n;
	rule->action = ZONE_always_transparent;
	netset_put(r->blocks, &n, rule);
	r->rules = mem_grow(r->rules, (r->count + 1) * sizeof(struct response_rule *));
	r->rules[r->count++] = rule;
	return rule;
}

static bool read_action(struct response_ip *r, const char *text, struct fault *f)
{
	const char *word;
	size_t before = r->count;
	struct response_rule *rule = take_rule(r, "response-ip", text, &word, f);
	enum zone_type action;

	if (!rule)
		return false;
	if (!zone_type_parse(word, &action)) {
		fault_set(f, "response-ip: '%s' is no action", word);
		return false;
	}
	if (r->count > before) /* of several for a netblock the first counts, as with Unbound */
		rule->action = action;
	return true;
}

/* Addresses of the block's own family, or an alias. */
static bool fits_block(const struct response_rule *rule)
{
	for (unsigned i = 0; i < rule->data.count; i++) {
		uint16_t type = rule->data.sets[i]->type;

		if (type != TYPE_CNAME && type != (rule->block.net.family == 4 ? TYPE_A : TYPE_AAAA))
			return false;
	}
	return true;
}

static bool read_datum(struct response_ip *r, const char *line, struct fault *f)
{
	struct fault why = { 0 };
	const char *text;
	struct response_rule *rule = take_rule(r, "response-ip-data", line, &text, f);

	if (!rule)
		return false;
	if (!record_data_add(&rule->data, &r->arena, text, &why)) {
		fault_set(f, "response-ip-data: '%s': %s", line, why.text);
		return false;
	}
	if (zone_traits[rule->action].records != RECORDS_ALL) {
		fault_set(f, "response-ip-data: '%s': no response-ip says redirect for the netblock", line);
		return false;
	}
	if (!fits_block(rule)) {
		fault_set(f, "response-ip-data: '%s': addresses of the netblock's own family, or a CNAME, "
			     "can stand for it", line);
		return false;
	}
	return true;
}

static bool read_tag(struct response_ip *r, const struct conf_list *defined, const char *line, struct fault *f)
{
	struct fault why = { 0 };
	const char *text;
	struct response_rule *rule = take_rule(r, "response-ip-tag", line, &text, f);

	if (!rule)
		return false;
	if (!tagset_add(&rule->tags, defined, text, &why)) {
		fault_set(f, "response-ip-tag: %s", why.text);
		return false;
	}
	return true;
}

/* The line of a fault is told. */
static bool read_all(struct response_ip *r, const struct response_ip_how *how, struct fault *f)
{
	const struct conf_list *const lists[] = { how->actions, how->data, how->tags };

	for (unsigned l = 0; l < COUNT(lists); l++) {
		for (size_t i = 0; lists[l] && i < lists[l]->count; i++) {
			const struct conf_item *item = &lists[l]->items[i];
			bool good = l == 0 ? read_action(r, item->text, f) :
				    l == 1 ? read_datum(r, item->text, f) :
					     read_tag(r, how->defined, item->text, f);

			fault_place(f, item->file, item->line);
			if (!good)
				return false;
		}
	}
	return true;
}

struct response_ip *response_ip_new(const struct response_ip_how *how, struct fault *f)
{
	struct response_ip *r;

	if (how->actions->count == 0 && how->data->count == 0)
		return NULL;
	r = mem_zero(sizeof(*r));
	r->blocks = netset_new();
	arena_init(&r->arena);
	if (read_all(r, how, f))
		return r;
	response_ip_free(r);
	return NULL;
}

void response_ip_free(struct response_ip *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		tagset_clear(&r->rules[i]->tags);
	mem_free(r->rules);
	netset_free(r->blocks);
	arena_clear(&r->arena);
	mem_free(r);
}

/* Of the rules for an address and for the IPv4 address that it leads to the one with the longer netblock. */
static const struct response_rule *find_rule(const struct response_ip *r,
					     const struct netblock *nat64, const struct addr *a)
{
	const struct response_rule *rule = netset_find(r->blocks, a), *inner;
	struct addr ip4;

	if (!nat64_extract(nat64, a, &ip4) && !addr_stands_for(a, &ip4))
		return rule;
	inner = netset_find(r->blocks, &ip4);
	return inner && (!rule || inner->block.bits + 96 > rule->block.bits) ? inner : rule;
}

static const struct response_rule *find_in(const struct response_ip *r,
					   const struct netblock *nat64, const struct rrset *s)
{
	struct addresses w = addresses_of(s);
	const struct response_rule *rule = NULL;
	struct addr a;

	while (!rule && addresses_next(&w, &a))
		rule = find_rule(r, nat64, &a);
	return rule;
}

const struct response_rule *response_ip_find(const struct response_ip *r,
					     const struct netblock *nat64, const struct message *m,
					     unsigned *set)
{
	for (*set = 0; *set < m->count[SECTION_ANSWER]; ++*set) {
		const struct rrset *s = m->sets[*set];
		const struct response_rule *rule = NULL;

		if (addresses_in(s))
			rule = find_in(r, nat64, s);
		if (rule)
			return rule;
	}
	return NULL;
}
