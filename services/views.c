/* Views: local data of their own for some clients.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/views.h"

#include <string.h>

#include "services/localzone.h"
#include "services/response_ip.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"

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
	if (c->local_zone.count || c->local_data.count || c->local_data_ptr.count)
		v->zones = localzones_new(&zones, &why);
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
		localzones_unpin(v->at[i].zones);
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

void views_inherit(struct views *v, const struct views *old)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct view *from = views_find(old, v->at[i].name);

		if (!from || !from->zones)
			continue;
		localzones_unpin(v->at[i].zones);
		v->at[i].zones = localzones_pin(from->zones);
	}
}
