/* Views: local data of their own for some clients.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/views.h"

#include <string.h>

#include "services/localzone.h"
#include "services/response_ip.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rcu.h"

struct views {
	struct view *at;
	size_t count;
};

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
	if (*why.text)
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

bool views_judge(const struct views *v)
{
	for (size_t i = 0; i < v->count; i++) {
		if (v->at[i].addresses)
			return true;
	}
	return false;
}

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
