/* Commands that get and set single options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/control/changes.h"
#include "daemon/process/daemon.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

static void say_value(void *call, const char *text)
{
	call_line(text, call);
}

struct values {
	struct json *json;
	struct conf_form form;
};

static void put_value(void *arg, const char *text)
{
	const struct values *v = arg;
	const char *key = v->form.list ? NULL : "value";

	if (v->form.kind == CONF_FORM_FLAG)
		json_bool(v->json, key, strcmp(text, "yes") == 0);
	else if (v->form.kind == CONF_FORM_NUMBER)
		json_value(v->json, key, text, strlen(text));
	else
		json_text(v->json, key, text);
}

/* `value`: a number, true or false, a string, or an array of strings. */
static void put_option(struct call *c, const char *name)
{
	struct values v = { .json = call_object(c), .form = conf_option_form(name) };

	json_text(v.json, "option", name);
	if (v.form.list)
		json_open(v.json, "value", '[');
	(void)conf_get_option(call_snapshot(c)->conf, name, put_value, &v);
	if (v.form.list)
		json_close(v.json, ']');
}

static void say_nothing(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static bool is_single(const struct conf *conf, const char *name)
{
	return conf_get_option(conf, name, say_nothing, NULL);
}

void control_get_option(struct call *c, struct worker *w)
{
	char *name = control_word(&c->args);
	size_t len = name ? strlen(name) : 0;

	(void)w;
	if (len && name[len - 1] == ':')
		name[len - 1] = '\0';
	if (c->json && name && is_single(call_snapshot(c)->conf, name))
		put_option(c, name);
	else if (!name || !conf_get_option(call_snapshot(c)->conf, name, say_value, c))
		call_say(c, "error unknown option\n");
}

/* Whether the line begins with the name of a known option. */
static bool is_option(const struct conf *conf, const char *line)
{
	char name[64];
	size_t len = strcspn(line, ": \t");

	if (len >= sizeof name)
		return false;
	memcpy(name, line, len);
	name[len] = '\0';
	return is_single(conf, name);
}

/* Noted, and then put into force; `conf` is taken over on success. */
static bool put_into_force(struct call *c, struct conf *conf, struct fault *f)
{
	struct daemon *d = c->daemon;
	char *command = mem_textf("set_option %s", c->args);
	bool kept = daemon_keep(d, command, f), good = kept && daemon_reconfigure(d, conf, f);

	if (kept && !good)
		control_take_back(c);
	mem_free(command);
	return good;
}

void control_set_option(struct call *c, struct worker *w)
{
	struct fault f = { 0 };
	struct conf *conf;
	const struct conf_how how = { .chroot = c->daemon->locked_in, .serves = true };
	const char *name_end = c->args + strcspn(c->args, " \t");

	(void)w;
	if (!*name_end) {
		call_say(c, "error could not find next argument after %s\n", c->args);
		return;
	}
	conf = conf_copy(call_snapshot(c)->conf);
	if (conf_set_option(conf, c->args, &f) && conf_check_change(call_snapshot(c)->conf, conf, &how, &f) &&
	    put_into_force(c, conf, &f)) {
		call_ok(c);
		return;
	}
	conf_free(conf);
	log_notice("set_option %s: %s", c->args, f.text);
	if (is_option(call_snapshot(c)->conf, c->args))
		call_say(c, "error setting option: %s\n", f.text);
	else
		call_say(c, "error setting option\n");
}
