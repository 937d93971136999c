/* Commands about what is not validated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control_trust.h"

#include <stdio.h>

#include "daemon/call.h"
#include "daemon/daemon.h"
#include "services/snapshot.h"
#include "util/dname.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/trie.h"

static bool say_name(const uint8_t *name, void *value, void *call)
{
	char text[DNAME_TEXT];

	(void)value;
	call_line(dname_print(name, text), call);
	return true;
}

void control_list_insecure(struct call *c, struct worker *w)
{
	(void)w;
	trie_each(c->daemon->snapshot->domain_insecure, say_name, c);
}

static bool is_written(const char *text, const uint8_t *name)
{
	uint8_t written[DNAME_MAX];
	struct fault f = { 0 };

	return dname_parse(written, text, &f) && dname_equals(written, name);
}

/* Take the name out of the list. */
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

static bool add(struct conf *conf, const uint8_t *name, struct fault *f)
{
	char text[DNAME_TEXT], line[DNAME_TEXT + 32];

	snprintf(line, sizeof line, "domain-insecure: \"%s\"", dname_print(name, text));
	return conf_set_option(conf, line, f);
}

bool control_exempt(struct daemon *d, const uint8_t *zone, bool insecure, struct fault *f)
{
	bool listed = trie_find(d->snapshot->domain_insecure, zone);
	struct conf *conf;

	if (listed == insecure)
		return true;
	conf = conf_copy(d->snapshot->conf);
	if (!insecure)
		strike(&conf->server.domain_insecure, zone);
	if ((!insecure || add(conf, zone, f)) && daemon_reconfigure(d, conf, f))
		return true;
	conf_free(conf);
	return false;
}

static void change(struct call *c, bool insecure)
{
	uint8_t name[DNAME_MAX];
	struct fault f = { 0 };

	if (!call_take_name(c, name))
		return;
	if (control_exempt(c->daemon, name, insecure, &f))
		call_ok(c);
	else
		call_say(c, "error %s\n", f.text);
}

void control_insecure_add(struct call *c, struct worker *w)
{
	(void)w;
	change(c, true);
}

void control_insecure_remove(struct call *c, struct worker *w)
{
	(void)w;
	change(c, false);
}
