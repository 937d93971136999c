/* Views: separate local data for some clients.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/views.h"

#include <pthread.h>
#include <string.h>

#include "services/forward/forward.h"
#include "services/local/zones.h"
#include "services/policy/response_ip.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/names/trie.h"

struct views {
	struct view *at;
	size_t count;
};

/* ---- scopes ---- */

/* The scope for a view of this name; 0 if there have been too many. */
static uint8_t scope_of(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the other two */
	static char *names[VIEWS_SCOPED];
	static unsigned count;
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (i < count && strcmp(names[i], name) != 0)
		i++;
	if (i == count && i < VIEWS_SCOPED)
		names[count++] = mem_text(name);
	pthread_mutex_unlock(&lock);
	return (uint8_t)(i < VIEWS_SCOPED ? i + 1 : 0);
}

static void put_insecure(const uint8_t *name, void *trie)
{
	static char listed;

	trie_put(trie, name, &listed);
}

static void put_all_insecure(struct trie *t, const struct conf_list *list)
{
	uint8_t name[DNAME_MAX];

	for (size_t i = 0; i < list->count; i++)
		if (dname_parse(name, list->items[i].text, NULL))
			put_insecure(name, t);
}

/* Where a view's differ from those of all; else NULL. */
static struct trie *insecure_of_view(const struct conf *conf, const struct conf_view *c, const struct forwards *own)
{
	struct trie *t;

	if (!c->view_domain_insecure.count && !(own && conf_default_anchor(conf)))
		return NULL;
	t = trie_new();
	put_all_insecure(t, &conf->server.domain_insecure);
	put_all_insecure(t, &c->view_domain_insecure);
	if (conf->server.insecure_lan_zones)
		default_lan_zones(put_insecure, t);
	forwards_each_unproven(conf, NULL, put_insecure, t);
	forwards_each_unproven(conf, c->name, put_insecure, t);
	return t;
}

static void fill_ways(struct view *v, const struct conf *conf, const struct conf_view *c,
		      struct fault *f)
{
	v->proves_nothing = strcmp(c->view_dnssec, "no") == 0;
	v->permissive = strcmp(c->view_dnssec, "permissive") == 0;
	v->forwards = forwards_of_view(conf, c->name, f);
	v->insecure = insecure_of_view(conf, c, v->forwards);
	if (!v->forwards && !v->insecure && !v->proves_nothing && !v->permissive)
		return;
	v->scope = scope_of(c->name);
	if (!v->scope)
		fault_set(
			f,
			"there have been more than %d views with ways of their own since the start",
			VIEWS_SCOPED);
}

/* ---- construction ---- */

static bool fill(struct view *v, const struct conf *conf, const struct conf_view *c,
		 struct fault *f)
{
	struct localzones_how zones = { .zones = &c->local_zone,
					.data = &c->local_data,
					.ptrs = &c->local_data_ptr,
					.conf = conf,
					.defaults = !c->view_first,
					.is_view = true };
	struct response_ip_how addresses = { .actions = &c->response_ip,
					     .data = &c->response_ip_data };
	struct fault why = { 0 };

	v->name = mem_text(c->name);
	v->first = c->view_first;
	atomic_init(&v->zones, NULL);
	if (c->local_zone.count || c->local_data.count || c->local_data_ptr.count)
		atomic_init(&v->zones, localzones_new(&zones, &why));
	if (!*why.text)
		v->addresses = response_ip_new(&addresses, &why);
	if (!*why.text)
		fill_ways(v, conf, c, &why);
	if (why.placed)
		fault_set(f, "%s", why.text);
	else if (*why.text)
		fault_set(f, "view %s: %s", c->name, why.text);
	return !*why.text;
}

struct views *views_new(const struct conf *conf, struct fault *f)
{
	struct views *v = mem_zero(sizeof(*v));

	v->at = mem_array(conf->view_count, sizeof(*v->at));
	for (size_t i = 0; i < conf->view_count; i++) {
		v->count++;
		if (!fill(&v->at[i], conf, &conf->views[i], f)) {
			views_free(v);
			return NULL;
		}
	}
	return v;
}

void views_free(struct views *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->count; i++) {
		mem_free(v->at[i].name);
		localzones_unpin(RCU_READ(v->at[i].zones));
		response_ip_free(v->at[i].addresses);
		forwards_free(v->at[i].forwards);
		trie_free((struct trie *)(uintptr_t)v->at[i].insecure, NULL);
	}
	mem_free(v->at);
	mem_free(v);
}

struct view *views_find(const struct views *v, const char *name)
{
	for (size_t i = 0; i < v->count; i++) {
		if (strcmp(v->at[i].name, name) == 0)
			return &v->at[i];
	}
	return NULL;
}

bool views_have_address_rules(const struct views *v)
{
	for (size_t i = 0; i < v->count; i++) {
		if (v->at[i].addresses)
			return true;
	}
	return false;
}

/* ---- resolution settings of its own ---- */

const struct view *views_of_scope(const struct views *v, uint8_t scope)
{
	for (size_t i = 0; i < v->count; i++) {
		if (v->at[i].scope == scope)
			return &v->at[i];
	}
	return NULL;
}

unsigned views_highest_scope(const struct views *v)
{
	unsigned highest = 0;

	for (size_t i = 0; i < v->count; i++)
		highest = MAX(highest, v->at[i].scope);
	return highest;
}

void views_each_forwards(const struct views *v, void (*fn)(const struct forwards *t, void *arg),
			 void *arg)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].forwards)
			fn(v->at[i].forwards, arg);
}

static const struct forward_zone *nearer(const struct forward_zone *own,
					 const struct forward_zone *servers)
{
	if (!own || !servers)
		return own ? own : servers;
	return dname_labels(own->name) >= dname_labels(servers->name) ? own : servers;
}

const struct forward_zone *views_forward(const struct view *v, const struct forwards *server,
					 const uint8_t *name)
{
	const struct forward_zone *z;

	if (LIKELY(!v || !v->forwards))
		return forwards_find(server, name);
	z = nearer(forwards_find_any(v->forwards, name), forwards_find_any(server, name));
	return z && z->server_count ? z : NULL;
}

const struct forward_zone *views_forward_exact(const struct view *v, const struct forwards *server,
					       const uint8_t *name)
{
	const struct forward_zone *z =
		v && v->forwards ? forwards_find_exact(v->forwards, name) : NULL;

	return z ? z : forwards_find_exact(server, name);
}

const struct forward_zone *views_stub(const struct view *v, const struct forwards *server,
				      const uint8_t *name)
{
	return nearer(v && v->forwards ? forwards_find_stub(v->forwards, name) : NULL,
		      forwards_find_stub(server, name));
}

/* ---- its local data ---- */

struct localzones *views_zones(struct view *v, const struct conf *conf)
{
	static const struct conf_list none;
	struct localzones_how how = { .zones = &none,
				      .data = &none,
				      .ptrs = &none,
				      .conf = conf,
				      .defaults = !v->first,
				      .is_view = true };
	struct localzones *z = RCU_READ(v->zones);
	struct fault f = { 0 };

	if (z)
		return z;
	z = localzones_new(&how, &f);
	if (!z)
		PANIC("an empty view cannot be made: %s", f.text);
	RCU_PUBLISH(v->zones, z);
	return z;
}

void views_inherit(struct views *v, const struct views *old)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct view *from = views_find(old, v->at[i].name);

		struct localzones *zones = from ? RCU_READ(from->zones) : NULL;

		if (!zones)
			continue;
		localzones_unpin(RCU_READ(v->at[i].zones));
		RCU_PUBLISH(v->at[i].zones, localzones_pin(zones));
	}
}
