/* Commands that read the configuration again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/control/call_text.h"
#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "services/mesh/mesh.h"
#include "util/base/fault.h"
#include "util/base/mem.h"

static void say_changed(void *arg, const char *option, bool waits)
{
	struct json *j = call_row(arg);

	if (j) {
		json_text(j, "option", option);
		json_bool(j, "at_next_start", waits);
		call_row_end(arg);
		return;
	}
	call_say(arg, "changed %s%s\n", option, waits ? " (at the next start)" : "");
}

/* "+v" lists the options that changed, and which of them take effect only at the next start. */
void control_reload(struct call *c, struct worker *w)
{
	struct reload r = { .arg = c };
	struct fault f = { 0 };
	bool given[1];

	(void)w;
	if (!call_take_flags(c, "v", given))
		return;
	if (given[0])
		r.changed = say_changed;
	if (daemon_reload(c->daemon, &r, &f)) {
		if (given[0])
			(void)call_rows(c);
		call_ok(c);
		return;
	}
	call_clear(c);
	call_say(c, "error: reload failed, old configuration stays in use: %s\n", f.text);
}

void control_reload_keep_cache(struct call *c, struct worker *w)
{
	control_reload(c, w);
}

/* ---- fast_reload ---- */

static void say_time(struct call *c, const char *what, uint64_t us)
{
	call_say(c, "%-10s %3" PRIu64 ".%6.6" PRIu64 "s\n", what, us / US_PER_S, us % US_PER_S);
}

static void put_progress(struct json *j, const struct call *c, const struct reload *r)
{
	json_text(j, "file", c->daemon->how.conf_path);
	json_seconds(j, "read", r->read_us);
	json_seconds(j, "construct", r->construct_us);
	json_seconds(j, "reload", r->swap_us);
	json_seconds(j, "deletes", r->shed_us);
	json_seconds(j, "total", r->read_us + r->construct_us + r->swap_us + r->shed_us);
}

static void say_progress(struct call *c, const struct reload *r)
{
	struct json *j = call_object(c);

	if (j) {
		put_progress(j, c, r);
		return;
	}
	call_say(c, "start fast_reload\nthread started\ndone read config file %s\n",
		 c->daemon->how.conf_path);
	say_time(c, "read disk", r->read_us);
	say_time(c, "construct", r->construct_us);
	say_time(c, "reload", r->swap_us);
	say_time(c, "deletes", r->shed_us);
	say_time(c, "total time", r->read_us + r->construct_us + r->swap_us + r->shed_us);
}

static void say_memory(struct call *c)
{
	struct json *j = call_object(c);

	if (j)
		json_number(j, "memory", mem_in_use());
	else
		call_say(c, "memory use %zu bytes\n", mem_in_use());
}

/* "+p" (do not pause) makes no difference: we never pause. */
static void fast_begin(struct call *c)
{
	bool is_wordy = *c->args == '+' && strstr(c->args, "vv");
	struct reload r = { .at_once = true };
	struct fault f = { 0 };
	bool given[3]; /* v, d, p */

	if (!call_take_flags(c, "vdp", given))
		return;
	if (!daemon_reload(c->daemon, &r, &f)) {
		call_say(c, "error: reload failed, old configuration stays in use: %s\n", f.text);
		return;
	}
	if (given[0])
		say_progress(c, &r);
	if (is_wordy)
		say_memory(c);
	c->asks_parent = given[1];
	if (!given[1])
		call_ok(c);
}

void control_fast_reload(struct call *c, struct worker *w)
{
	if (w)
		mesh_drop_all(w->env.mesh);
	else if (!c->asks_parent)
		fast_begin(c);
	else
		call_ok(c);
}
