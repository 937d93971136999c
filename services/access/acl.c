/* Who may query: decided by netblock, else by the interface that was asked, else nobody may.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/acl.h"

#include <string.h>

#include "services/local/zones.h"
#include "services/net/interfaces.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

static const char *const action_names[] = {
	[ACL_DENY] = "deny",
	[ACL_REFUSE] = "refuse",
	[ACL_ALLOW] = "allow",
	[ACL_ALLOW_SETRD] = "allow_setrd",
	[ACL_ALLOW_SNOOP] = "allow_snoop",
	[ACL_ALLOW_COOKIE] = "allow_cookie",
	[ACL_DENY_NON_LOCAL] = "deny_non_local",
	[ACL_REFUSE_NON_LOCAL] = "refuse_non_local",
};

static const struct acl_tags no_tags;
static const struct acl_rule nobody = { .action = ACL_REFUSE, .tags = &no_tags };

/* A listening address; port 0 and the unspecified address match any. */
struct listener {
	struct addr addr;
	bool any_ip;
	struct acl_rule rule;
};

struct acl {
	struct netset *clients; /* struct acl_rule */
	struct acl_rule *rules;
	size_t rule_count;
	struct listener *listeners;
	size_t listener_count;
	struct arena arena;   /* names, tags and records the rules point to */
	struct acl_tags **tagged; /* those whose tag sets are on the heap */
	size_t tagged_count;
};

const char *acl_action_name(enum acl_action a)
{
	return action_names[a];
}

/* ---- building ---- */

/* What an option line sets. */
enum subject { SAYS_ACTION, SAYS_VIEW, SAYS_TAGS, SAYS_TAG_ACTION, SAYS_TAG_DATA };

/* One option line; a netblock without access-control is allowed, as Unbound documents it. */
struct row {
	struct netblock block;
	enum subject subject;
	const char *option, *text; /* text: what follows the netblock or interface */
	const struct conf_item *item; /* NULL: none wrote it */
};

/* One list option, for netblocks or for interfaces. */
struct source {
	enum subject subject;
	const char *option;
	const struct conf_list *list;
};

struct rows {
	struct row *at;
	size_t count;
};

static bool action_parse(const char *text, enum acl_action *action)
{
	for (size_t i = 0; i < COUNT(action_names); i++) {
		if (strcmp(text, action_names[i]) == 0) {
			*action = (enum acl_action)i;
			return true;
		}
	}
	return false;
}

/* Split at the first blank; false when there are not two words. */
static bool two_words(const char *text, char *first, size_t room, const char **second)
{
	size_t len = strcspn(text, " ");

	if (len == 0 || len >= room || text[len] == 0)
		return false;
	memcpy(first, text, len);
	first[len] = 0;
	*second = text + len + 1;
	return true;
}

/* ---- rules ---- */

/* The rule's own tags, writable; created on first use. */
static struct acl_tags *own_tags(struct acl *a, struct acl_rule *r)
{
	struct acl_tags *t = (struct acl_tags *)(uintptr_t)r->tags;

	if (t != &no_tags)
		return t;
	t = arena_new(&a->arena, struct acl_tags);
	a->tagged = mem_grow(a->tagged, (a->tagged_count + 1) * sizeof(struct acl_tags *));
	a->tagged[a->tagged_count++] = t;
	r->tags = t;
	return t;
}

/* Make room for the action and data of tag number `n`. */
static void make_room(struct acl *a, struct acl_tags *t, unsigned n)
{
	uint8_t *actions;
	struct record_data *data;

	if (n < t->count)
		return;
	actions = arena_array(&a->arena, uint8_t, n + 1);
	data = arena_array(&a->arena, struct record_data, n + 1);
	for (unsigned i = 0; i < t->count; i++) {
		actions[i] = t->actions[i];
		data[i] = t->data[i];
	}
	t->actions = actions;
	t->data = data;
	t->count = n + 1;
}

/* "tag rest" */
static bool say_of_tag(struct acl *a, const struct conf *conf, struct acl_rule *r,
		       const struct row *row, struct fault *f)
{
	size_t len = strcspn(row->text, " \t");
	const char *rest = row->text + len + strspn(row->text + len, " \t");
	int tag = tag_find(&conf->server.define_tag, row->text, len);
	struct acl_tags *t = own_tags(a, r);
	struct fault why = { 0 };
	enum zone_type type;

	if (tag < 0 || tag >= TAGS_MOST) {
		fault_set(f, "%s: '%.*s' is no tag of define-tag", row->option, (int)len,
			  row->text);
		return false;
	}
	make_room(a, t, (unsigned)tag);
	if (row->subject == SAYS_TAG_DATA) {
		struct record_data *data = (struct record_data *)(uintptr_t)&t->data[tag];

		if (record_data_add(data, &a->arena, rest, &why))
			return true;
		fault_set(f, "%s: '%s': %s", row->option, rest, why.text);
		return false;
	}
	if (!zone_type_parse(rest, &type)) {
		fault_set(f, "%s: '%s' is not a type of zone", row->option, rest);
		return false;
	}
	((uint8_t *)(uintptr_t)t->actions)[tag] = (uint8_t)(type + 1);
	return true;
}

static bool say(struct acl *a, const struct conf *conf, struct acl_rule *r, const struct row *row,
		struct fault *f)
{
	struct fault why = { 0 };

	switch (row->subject) {
	case SAYS_ACTION:
		return action_parse(row->text, &r->action);
	case SAYS_VIEW:
		r->view = arena_copy(&a->arena, row->text, strlen(row->text) + 1);
		return true;
	case SAYS_TAGS:
		if (tagset_add(&own_tags(a, r)->set, &conf->server.define_tag, row->text, &why))
			return true;
		fault_set(f, "%s: %s", row->option, why.text);
		return false;
	default:
		return say_of_tag(a, conf, r, row, f);
	}
}

/* ---- netblocks ---- */

static struct row *add_row(struct rows *rows)
{
	rows->at = mem_grow(rows->at, (rows->count + 1) * sizeof(*rows->at));
	rows->at[rows->count] = (struct row){ 0 };
	return &rows->at[rows->count++];
}

static bool is_sound(const struct source *s, const char *text)
{
	enum acl_action action;

	return s->subject != SAYS_ACTION || action_parse(text, &action);
}

static bool read_rows(struct rows *rows, const struct source *s, struct fault *f)
{
	for (size_t i = 0; i < s->list->count; i++) {
		const char *text = s->list->items[i].text;
		char first[ADDR_TEXT];
		struct row *r = add_row(rows);

		if (!two_words(text, first, sizeof(first), &r->text) ||
		    !netblock_parse(&r->block, first, NULL) || !is_sound(s, r->text)) {
			fault_set(f, "%s: '%s' is not a netblock and what it stands for", s->option,
				  text);
			return false;
		}
		r->subject = s->subject;
		r->option = s->option;
		r->item = &s->list->items[i];
	}
	return true;
}

static void add_default(struct rows *rows, const char *block)
{
	struct row *r = add_row(rows);

	PROMISE(netblock_parse(&r->block, block, NULL));
	r->subject = SAYS_ACTION;
	r->text = "allow";
}

/* In their order. Nothing is inherited: who is given a view or tags, and no action, may ask. */
static bool make_rules(struct acl *a, const struct conf *conf, struct rows *rows, struct fault *f)
{
	a->rules = mem_array(rows->count, sizeof(*a->rules));
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *r = &rows->at[i];
		struct acl_rule *own = netset_find_exact(a->clients, &r->block);

		if (!own) {
			own = &a->rules[a->rule_count++];
			*own = nobody;
			own->action = ACL_ALLOW;
			netset_put(a->clients, &r->block, own);
		}
		if (!say(a, conf, own, r, f)) {
			if (r->item)
				fault_place(f, r->item->file, r->item->line);
			return false;
		}
	}
	return true;
}

/* ---- interfaces ---- */

struct putting {
	struct acl *acl;
	const struct conf *conf;
	struct row row;
	struct fault *fault;
	bool good;
};

static void put_listener(void *arg, const struct addr *addr)
{
	static const uint8_t zeros[16];
	struct putting *p = arg;
	struct acl *a = p->acl;
	struct listener *d = NULL;

	for (size_t i = 0; i < a->listener_count && !d; i++) {
		if (addr_equals(&a->listeners[i].addr, addr))
			d = &a->listeners[i];
	}
	if (!d) {
		a->listeners = mem_grow(a->listeners, (a->listener_count + 1) * sizeof(*a->listeners));
		d = &a->listeners[a->listener_count++];
		*d = (struct listener){ .addr = *addr,
				    .rule = nobody,
				    .any_ip = memcmp(addr->ip, zeros, sizeof(zeros)) == 0 };
	}
	p->good = p->good && say(a, p->conf, &d->rule, &p->row, p->fault);
}

static bool read_listener(struct acl *a, const struct conf *conf, const struct source *s, const char *text,
			  struct fault *f)
{
	struct putting p = { .acl = a, .conf = conf, .fault = f, .good = true };
	char first[256];

	p.row = (struct row){ .subject = s->subject, .option = s->option };
	if (!two_words(text, first, sizeof(first), &p.row.text) || !is_sound(s, p.row.text)) {
		fault_set(f, "%s: '%s' is not an interface and what it stands for", s->option, text);
		return false;
	}
	return interface_expand(first, 0, true, true, put_listener, &p, f) && p.good;
}

static bool read_listeners(struct acl *a, const struct conf *conf, const struct source *s, struct fault *f)
{
	for (size_t i = 0; i < s->list->count; i++) {
		const struct conf_item *item = &s->list->items[i];

		if (!read_listener(a, conf, s, item->text, f)) {
			fault_place(f, item->file, item->line);
			return false;
		}
	}
	return true;
}

struct acl *acl_new(const struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;
	const struct source blocks[] = {
		{ SAYS_ACTION, "access-control", &s->access_control },
		{ SAYS_VIEW, "access-control-view", &s->access_control_view },
		{ SAYS_TAGS, "access-control-tag", &s->access_control_tag },
		{ SAYS_TAG_ACTION, "access-control-tag-action", &s->access_control_tag_action },
		{ SAYS_TAG_DATA, "access-control-tag-data", &s->access_control_tag_data },
	};
	const struct source listeners[] = {
		{ SAYS_ACTION, "interface-action", &s->interface_action },
		{ SAYS_VIEW, "interface-view", &s->interface_view },
		{ SAYS_TAGS, "interface-tag", &s->interface_tag },
		{ SAYS_TAG_ACTION, "interface-tag-action", &s->interface_tag_action },
		{ SAYS_TAG_DATA, "interface-tag-data", &s->interface_tag_data },
	};
	struct acl *a = mem_zero(sizeof(*a));
	struct rows rows = { 0 };
	bool good = true;

	a->clients = netset_new();
	arena_init(&a->arena);
	/* Configured lines come later and replace these. */
	add_default(&rows, "127.0.0.0/8");
	add_default(&rows, "::1");
	for (size_t i = 0; good && i < COUNT(blocks); i++)
		good = read_rows(&rows, &blocks[i], f);
	good = good && make_rules(a, conf, &rows, f);
	for (size_t i = 0; good && i < COUNT(listeners); i++)
		good = read_listeners(a, conf, &listeners[i], f);
	mem_free(rows.at);
	if (good)
		return a;
	acl_free(a);
	return NULL;
}

void acl_free(struct acl *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->tagged_count; i++)
		tagset_clear(&a->tagged[i]->set);
	mem_free(a->tagged);
	netset_free(a->clients);
	mem_free(a->rules);
	mem_free(a->listeners);
	arena_clear(&a->arena);
	mem_free(a);
}

void acl_bind_views(struct acl *a, acl_find_view *find, const struct views *v)
{
	for (size_t i = 0; i < a->rule_count; i++)
		a->rules[i].sees = a->rules[i].view ? find(v, a->rules[i].view) : NULL;
	for (size_t i = 0; i < a->listener_count; i++)
		a->listeners[i].rule.sees = a->listeners[i].rule.view ? find(v, a->listeners[i].rule.view) : NULL;
}

/* ---- lookup ---- */

static bool is_listener(const struct listener *d, const struct addr *listener)
{
	if (d->addr.port && d->addr.port != listener->port)
		return false;
	return d->any_ip ? d->addr.family == listener->family : addr_equals_ip(&d->addr, listener);
}

const struct acl_rule *acl_get(const struct acl *a, const struct addr *client,
			       const struct addr *listener)
{
	const struct acl_rule *r = NULL;
	struct addr from;

	if (client->family == 6) {
		from = *client;
		if (addr_unmap(&from))
			client = &from;
	}
	if (client->family)
		r = netset_find(a->clients, client);
	if (r)
		return r;
	for (size_t i = 0; listener && i < a->listener_count; i++) {
		if (is_listener(&a->listeners[i], listener))
			return &a->listeners[i].rule;
	}
	return &nobody;
}
