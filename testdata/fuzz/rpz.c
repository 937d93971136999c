/* Any text as a policy zone: what can be read holds, the rest is passed over, no question is lost.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/rpz.h"

#include "services/authzone/data.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/net/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define APEX ((const uint8_t *)"\1p\4zone")

static void check_rule(const struct rpz *r, enum rpz_trigger t, const struct rpz_rule *rule,
		       const uint8_t *name)
{
	char text[RPZ_TEXT];
	uint8_t target[DNAME_MAX];
	size_t len;

	PROMISE(rule->node && rule->action < RPZ_ACTION_COUNT);
	PROMISE(*rpz_action_word(rule->action));
	PROMISE(*rpz_trigger_text(r, t, rule, text));
	if (rule->action != RPZ_cname)
		return;
	len = rpz_target(rule, name, target);
	PROMISE(len <= DNAME_MAX && (len == 0 || dname_measure(target, target + len) == len));
}

static void ask_names(const struct rpz *r)
{
	static const char *const names[] = { "a",       "b.a",          "x.y.b.a", ".",
					     "rpz-ip",  "ns.bad",       "*.a",     "a.rpz-nsdname",
					     "A.B.C.D", "rpz-client-ip" };

	for (size_t i = 0; i < COUNT(names); i++) {
		uint8_t name[DNAME_MAX];
		struct rpz_rule rule;

		PROMISE(dname_parse(name, names[i], NULL));
		if (rpz_find_name(r, RPZ_QNAME, name, &rule))
			check_rule(r, RPZ_QNAME, &rule, name);
		if (rpz_find_name(r, RPZ_NSDNAME, name, &rule))
			check_rule(r, RPZ_NSDNAME, &rule, name);
	}
}

static void ask_addresses(const struct rpz *r)
{
	static const char *const texts[] = { "192.0.2.1",   "0.0.0.0", "255.255.255.255",
					     "2001:db8::1", "::",      "ffff::ffff" };
	static const enum rpz_trigger kinds[] = { RPZ_CLIENT_IP, RPZ_IP, RPZ_NSIP };

	for (size_t i = 0; i < COUNT(texts) * COUNT(kinds); i++) {
		enum rpz_trigger t = kinds[i % COUNT(kinds)];
		struct rpz_rule rule;
		struct addr a;

		PROMISE(addr_parse(&a, texts[i / COUNT(kinds)], 53, NULL));
		if (rpz_find_addr(r, t, &a, &rule)) {
			PROMISE(rpz_has(r, t));
			check_rule(r, t, &rule, APEX);
		}
	}
}

/* What is passed over is told of; nobody listens here. */
static void overhear(const char *line, void *arg)
{
	PROMISE(*line);
	(void)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct zonedata_how how = { .apex = APEX, .path = "input", .lenient = true };
	struct fault f = { 0 };
	struct zonedata *z;
	struct rpz *r;

	if (len == 0 || len > 1 << 16)
		return 0;
	log_capture(overhear, NULL);
	how.file = fmemopen((void *)(uintptr_t)data, len, "r");
	PROMISE(how.file);
	z = zonedata_read(&how, &f);
	PROMISE(z ? !f.set : f.set);
	if (!z)
		return 0;
	r = rpz_new(z);
	PROMISE(rpz_unusable(r) <= z->count);
	ask_names(r);
	ask_addresses(r);
	rpz_free(r);
	zonedata_free(z);
	return 0;
}
