/* Commands about rate limits: clients and zones whose query rate is too high.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "daemon/control/call_json.h"
#include "daemon/process/daemon.h"
#include "services/access/ratelimit.h"
#include "services/forward/zonelimits.h"
#include "services/query/snapshot.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/net/addr.h"

struct listing {
	struct call *call;
	const struct snapshot *snapshot;
	bool all;
};

static void say_rate(const struct listing *l, const char *kind, const char *whose, uint32_t rate, uint32_t limit)
{
	struct json *j = call_row(l->call);

	if (!j) {
		call_say(l->call, "%s %" PRIu32 " limit %" PRIu32 "\n", whose, rate, limit);
		return;
	}
	json_text(j, kind, whose);
	json_number(j, "rate", rate);
	json_number(j, "limit", limit);
	call_row_end(l->call);
}

static void say_zone(const uint8_t *zone, size_t len, uint32_t rate, void *arg)
{
	const struct listing *l = arg;
	uint32_t limit = zonelimits_get(l->snapshot->zone_limits, zone);
	char text[DNAME_TEXT];

	(void)len;
	if (limit && (l->all || rate > limit))
		say_rate(l, "zone", dname_print(zone, text), rate, limit);
}

static void say_client(const uint8_t *key, size_t len, uint32_t rate, void *arg)
{
	const struct listing *l = arg;
	uint32_t limit = l->snapshot->conf->server.ip_ratelimit;
	char text[ADDR_TEXT];
	struct addr client;

	if (limit && (l->all || rate > limit) && rate_key_read(key, len, &client))
		say_rate(l, "client", addr_print(&client, 0, text), rate, limit);
}

static void list(struct call *c, struct ratelimit *rates,
		 void (*say)(const uint8_t *key, size_t len, uint32_t rate, void *arg))
{
	struct listing l = { .call = c, .snapshot = call_snapshot(c) };

	if (!call_take_flags(c, "a", &l.all))
		return;
	(void)call_rows(c);
	ratelimit_each(rates, loop_time(c->daemon->loop)->now_s, say, &l);
}

void control_ratelimit_list(struct call *c, struct worker *w)
{
	(void)w;
	list(c, c->daemon->caches.zone_rates, say_zone);
}

void control_ip_ratelimit_list(struct call *c, struct worker *w)
{
	(void)w;
	list(c, c->daemon->caches.client_rates, say_client);
}
