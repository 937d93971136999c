/* Commands about zones that are held in full: auth-zones and policy zones.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <time.h>

#include "daemon/control/call_json.h"
#include "daemon/control/changes.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/daemon.h"
#include "daemon/process/forget.h"
#include "services/authzone/changes.h"
#include "services/authzone/data.h"
#include "services/authzone/zonemd.h"
#include "services/authzone/zones.h"
#include "services/query/snapshot.h"
#include "services/xfer/schedule.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"

static void say_since(struct call *c, const struct authzone *z)
{
	time_t since = (time_t)atomic_load(&z->cell->since);
	struct tm at;
	char text[32];

	if (since && localtime_r(&since, &at) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &at))
		call_say(c, "\tsince %lld %s", (long long)since, text);
}

static void put_zone(struct json *j, const struct authzone *z, const char *name)
{
	const struct zonedata *data = authzone_stored(z);
	int64_t since = atomic_load(&z->cell->since);

	json_text(j, "zone", name);
	json_bool(j, "policy", z->manner != NULL);
	json_bool(j, "expired", atomic_load(&z->cell->expired));
	if (data && data->soa)
		json_number(j, "serial", data->serial);
	if (data)
		json_number(j, "records", data->records);
	if (since)
		json_signed(j, "since", since);
}

void control_list_auth_zones(struct call *c, struct worker *w)
{
	const struct authzones *zones = call_snapshot(c)->zones;
	char name[DNAME_TEXT];

	(void)w;
	(void)call_rows(c);
	for (size_t i = 0; i < zones->count; i++) {
		const struct authzone *z = &zones->items[i];
		const struct zonedata *data = authzone_stored(z);
		struct json *j = call_row(c);

		dname_print(z->name, name);
		if (j) {
			put_zone(j, z, name);
			call_row_end(c);
			continue;
		}
		call_say(c, "%s\t", name);
		if (atomic_load(&z->cell->expired)) {
			call_say(c, "expired");
		} else if (data && data->soa) {
			call_say(c, "serial %u", data->serial);
			say_since(c, z);
		} else {
			call_say(c, "no serial");
		}
		call_say(c, "\n");
	}
}

/* The zone that the argument `*said` names; NULL if there is none, with the error in the reply, worded
 * `otherwise`. Errors repeat the argument as it came, as Unbound's. */
static const struct authzone *take_zone(struct call *c, const char *otherwise, const char **said)
{
	const struct authzone *z;
	uint8_t name[DNAME_MAX];

	*said = c->args;
	if (!call_take_name(c, name))
		return NULL;
	z = authzones_find_exact(call_snapshot(c)->zones, name);
	if (!z)
		call_say(c, "error %s %s\n", otherwise, *said);
	return z;
}

void control_auth_zone_reload(struct call *c, struct worker *w)
{
	const char *said;
	const struct authzone *z = take_zone(c, "no auth-zone", &said);
	struct zonedata *former;
	struct forget *outdated;
	struct fault f = { 0 };
	char name[DNAME_TEXT];

	(void)w;
	if (!z)
		return;
	if (!authzone_reload(call_snapshot(c)->zones, z, &former, &f)) {
		call_say(c, "error failed to read %s: %s\n", said, f.text);
		return;
	}
	rcu_thread_join();
	rcu_turn_begin();
	if (z->wants_digest && zonemd_check(authzone_stored(z), NULL) == ZONEMD_RIGHT)
		call_say(c, "%s: ZONEMD verification successful\n", dname_print(z->name, name));
	outdated = authzone_outdated(z, former);
	zonedata_retire(former);
	rcu_turn_end();
	rcu_thread_leave();
	xfers_check(z);
	cache_keeper_disturb(c->daemon->cache_keeper);
	if (outdated)
		(void)forget_now(&c->daemon->caches, outdated);
	call_ok(c);
}

void control_auth_zone_transfer(struct call *c, struct worker *w)
{
	const char *said;
	const struct authzone *z = take_zone(c, "zone xfr task not found", &said);

	(void)w;
	if (!z)
		return;
	if (z->primaries->count + z->urls->count == 0) {
		call_say(c, "error zone xfr task not found %s\n", said);
		return;
	}
	xfers_poke(z);
	call_ok(c);
}

/* The policy zone that the argument names; NULL, with the error in the reply, if there is none. */
static const struct authzone *take_policy(struct call *c)
{
	const char *said;
	const struct authzone *z = take_zone(c, "no auth-zone", &said);

	if (!z || z->manner)
		return z;
	call_say(c, "error auth-zone %s not RPZ\n", said);
	return NULL;
}

static void switch_policy(struct call *c, bool on)
{
	const struct authzone *z = take_policy(c);

	char name[DNAME_TEXT], *command;
	bool kept;

	if (!z)
		return;
	command = control_change_print(on ? "rpz_enable" : "rpz_disable", NULL, dname_print(z->name, name));
	kept = control_keep(c, command);
	mem_free(command);
	if (!kept)
		return;
	atomic_store(&z->cell->disabled, !on);
	call_ok(c);
}

void control_rpz_enable(struct call *c, struct worker *w)
{
	(void)w;
	switch_policy(c, true);
}

void control_rpz_disable(struct call *c, struct worker *w)
{
	(void)w;
	switch_policy(c, false);
}
