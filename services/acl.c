/* Who may ask: netblocks first, then the interface that was asked, else nobody.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/acl.h"

#include <stdlib.h>
#include <string.h>

#include "services/interfaces.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"

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

static const struct acl_rule nobody = { .action = ACL_REFUSE };

/* One of our addresses; port 0 and an unspecified address are any. */
struct door {
	struct addr addr;
	bool any_ip;
	struct acl_rule rule;
};

struct acl {
	struct netset *clients; /* struct acl_rule */
	struct acl_rule *rules;
	struct door *doors;
	size_t door_count;
	char **views; /* names that rules point to */
	size_t view_count;
};

const char *acl_action_name(enum acl_action a)
{
	return action_names[a];
}

/* ---- building ---- */

/* What one line says; the other half comes from the closest netblock around it. */
struct row {
	struct netblock block;
	bool has_action;
	enum acl_action action;
	const char *view;
	unsigned order;
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

/* The words before and behind the first blank; false when there are not two. */
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

static const char *keep_view(struct acl *a, const char *name)
{
	a->views = mem_grow(a->views, (a->view_count + 1) * sizeof(*a->views));
	return a->views[a->view_count++] = mem_text(name);
}

static struct row *add_row(struct rows *rows)
{
	rows->at = mem_grow(rows->at, (rows->count + 1) * sizeof(*rows->at));
	rows->at[rows->count] = (struct row){ .order = (unsigned)rows->count };
	return &rows->at[rows->count++];
}

static bool read_rows(struct acl *a, struct rows *rows, const char *option,
		      const struct conf_list *list, bool is_view, struct fault *f)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i].text, *second;
		char first[ADDR_TEXT];
		struct row *r = add_row(rows);

		if (!two_words(text, first, sizeof(first), &second) ||
		    !netblock_parse(&r->block, first, NULL) ||
		    (!is_view && !action_parse(second, &r->action))) {
			fault_set(f, "%s: '%s' is not a netblock and %s", option, text,
				  is_view ? "a view" : "an action");
			return false;
		}
		r->has_action = !is_view;
		r->view = is_view ? keep_view(a, second) : NULL;
	}
	return true;
}

static void add_default(struct rows *rows, const char *block)
{
	struct row *r = add_row(rows);

	PROMISE(netblock_parse(&r->block, block, NULL));
	r->has_action = true;
	r->action = ACL_ALLOW;
}

/* Shorter netblocks first; equal ones as they were written. */
static int by_length(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->block.bits != y->block.bits)
		return x->block.bits < y->block.bits ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* From the wide to the narrow, so that each takes over what it does not say itself. */
static void settle(struct acl *a, struct rows *rows)
{
	qsort(rows->at, rows->count, sizeof(*rows->at), by_length);
	a->rules = mem_array(rows->count, sizeof(*a->rules));
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *r = &rows->at[i];
		const struct acl_rule *around = netset_find(a->clients, &r->block.net);
		struct acl_rule *own = netset_find_exact(a->clients, &r->block);

		if (!own) {
			own = &a->rules[i];
			*own = around ? *around : nobody;
			netset_put(a->clients, &r->block, own);
		}
		if (r->has_action)
			own->action = r->action;
		else
			own->view = r->view;
	}
}

struct putting {
	struct acl *acl;
	bool has_action;
	enum acl_action action;
	const char *view;
};

static void put_door(void *arg, const struct addr *addr)
{
	static const uint8_t zeros[16];
	const struct putting *p = arg;
	struct acl *a = p->acl;
	struct door *d = NULL;

	for (size_t i = 0; i < a->door_count && !d; i++) {
		if (addr_equals(&a->doors[i].addr, addr))
			d = &a->doors[i];
	}
	if (!d) {
		a->doors = mem_grow(a->doors, (a->door_count + 1) * sizeof(*a->doors));
		d = &a->doors[a->door_count++];
		*d = (struct door){ .addr = *addr,
				    .rule = nobody,
				    .any_ip = memcmp(addr->ip, zeros, sizeof(zeros)) == 0 };
	}
	if (p->has_action)
		d->rule.action = p->action;
	else
		d->rule.view = p->view;
}

static bool read_doors(struct acl *a, const char *option, const struct conf_list *list,
		       bool is_view, struct fault *f)
{
	for (size_t i = 0; i < list->count; i++) {
		struct putting p = { .acl = a, .has_action = !is_view };
		const char *text = list->items[i].text, *second;
		char first[256];

		if (!two_words(text, first, sizeof(first), &second) ||
		    (!is_view && !action_parse(second, &p.action))) {
			fault_set(f, "%s: '%s' is not an interface and %s", option, text,
				  is_view ? "a view" : "an action");
			return false;
		}
		if (is_view)
			p.view = keep_view(a, second);
		if (!interface_expand(first, 0, true, true, put_door, &p, f))
			return false;
	}
	return true;
}

struct acl *acl_new(const struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;
	struct acl *a = mem_zero(sizeof(*a));
	struct rows rows = { 0 };
	bool good;

	a->clients = netset_new();
	/* What is written comes later and replaces these. */
	add_default(&rows, "127.0.0.0/8");
	add_default(&rows, "::1");
	good = read_rows(a, &rows, "access-control", &s->access_control, false, f) &&
	       read_rows(a, &rows, "access-control-view", &s->access_control_view, true, f) &&
	       read_doors(a, "interface-action", &s->interface_action, false, f) &&
	       read_doors(a, "interface-view", &s->interface_view, true, f);
	if (good)
		settle(a, &rows);
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
	for (size_t i = 0; i < a->view_count; i++)
		mem_free(a->views[i]);
	mem_free(a->views);
	netset_free(a->clients);
	mem_free(a->rules);
	mem_free(a->doors);
	mem_free(a);
}

/* ---- asking ---- */

static bool is_door(const struct door *d, const struct addr *listener)
{
	if (d->addr.port && d->addr.port != listener->port)
		return false;
	return d->any_ip ? d->addr.family == listener->family : addr_equals_ip(&d->addr, listener);
}

/* IPv4 in the clothes of IPv6 (RFC 4291 2.5.5.2) is judged as IPv4. */
static const struct addr *unmapped(const struct addr *client, struct addr *as4)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	if (client->family != 6 || memcmp(client->ip, prefix, sizeof(prefix)) != 0)
		return client;
	*as4 = (struct addr){ .family = 4, .port = client->port };
	memcpy(as4->ip, client->ip + 12, 4);
	return as4;
}

const struct acl_rule *acl_get(const struct acl *a, const struct addr *client,
			       const struct addr *listener)
{
	struct addr as4;
	const struct acl_rule *r = NULL;

	client = unmapped(client, &as4);
	if (client->family)
		r = netset_find(a->clients, client);
	if (r)
		return r;
	for (size_t i = 0; listener && listener->family && i < a->door_count; i++) {
		if (is_door(&a->doors[i], listener))
			return &a->doors[i].rule;
	}
	return &nobody;
}
