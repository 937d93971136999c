/* Commands that read the configuration again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "daemon/control/call.h"
#include "daemon/control/call_text.h"
#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "services/mesh/mesh.h"
#include "util/base/fault.h"
#include "util/base/mem.h"

static void say_changed(void *arg, const char *option, bool waits)
{
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

static void say_progress(struct call *c, const struct reload *r)
{
	call_say(c, "start fast_reload\nthread started\ndone read config file %s\n",
		 c->daemon->how.conf_path);
	say_time(c, "read disk", r->read_us);
	say_time(c, "construct", r->construct_us);
	say_time(c, "reload", r->swap_us);
	say_time(c, "deletes", r->shed_us);
	say_time(c, "total time", r->read_us + r->construct_us + r->swap_us + r->shed_us);
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
		call_say(c, "memory use %zu bytes\n", mem_in_use());
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
