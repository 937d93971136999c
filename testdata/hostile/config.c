/* The resolver's configuration in a world.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "testdata/hostile/internet.h"
#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "util/dns/text.h"

static const char fixed[] =
	"server:\n\tdirectory: \"\"\n\tchroot: \"\"\n\tusername: \"\"\n\tpidfile: \"\"\n\tuse-syslog: no\n"
	"\tauto-trust-anchor-file: \"\"\n\tval-clock-tolerance: no\n\ttrust-anchor-signaling: no\n\tdiscard-timeout: 0\n";

static char *anchor(struct internet *net, const struct site *s)
{
	uint8_t ds[KEY_DS];
	char name[DNAME_TEXT], *text;

	if (!s->zone)
		return arena_textf(&net->arena, "%s", "");
	key_ds((unsigned)s->zone->key, s->zone->apex, ds);
	text = arena_textf(&net->arena, "\ttrust-anchor: \"%s DS %u %u %u ", dname_print(s->zone->apex, name),
			   get_u16(ds), ds[2], ds[3]);
	for (unsigned i = 4; i < sizeof(ds); i++)
		text = arena_textf(&net->arena, "%s%02x", text, ds[i]);
	return arena_textf(&net->arena, "%s\"\n", text);
}

/* What a local zone holds literally is what it says. */
static char *local_zone(struct internet *net, struct zone *z)
{
	char *text = arena_textf(&net->arena, "\tlocal-zone: \"own.t\" static\n");
	unsigned kept = 0;

	for (unsigned i = 0; i < z->count; i++) {
		const struct set *s = z->sets[i];
		char line[1000];

		if (dname_is_wildcard(s->owner) ||
		    (s->type != TYPE_A && s->type != TYPE_TXT && s->type != TYPE_SOA))
			continue;
		z->sets[kept++] = z->sets[i];
		for (unsigned n = 0; n < s->count; n++) {
			text_rr_print(line, sizeof(line), s->owner, s->ttl_s, CLASS_IN, s->type, s->rdata[n]);
			text = arena_textf(&net->arena, "%s\tlocal-data: '%s'\n", text, line);
		}
	}
	z->count = kept;
	return text;
}

/* Several forwarders are asked at once. */
static const char *race(const struct internet *net)
{
	return net->races ? "\tforward-strategy: race 2\n" : "";
}

static char *own_zone(struct internet *net, bool in_server)
{
	struct site *s = &net->sites[SITE_OWN];

	if (!s->zone || net->own_off)
		return arena_textf(&net->arena, "%s", "");
	if (in_server)
		return net->own_kind == OWN_LOCAL ? local_zone(net, s->zone)
						  : arena_textf(&net->arena, "\tdomain-insecure: \"own.t\"\n");
	if (net->own_kind == OWN_STUB)
		return arena_textf(&net->arena, "stub-zone:\n\tname: \"own.t\"%s%s\n", internet_server_lines(net, "\n\tstub-addr: ", s, false),
				   s->second ? internet_server_lines(net, "\n\tstub-addr: ", s, true) : "");
	if (net->own_kind == OWN_FORWARD)
		return arena_textf(&net->arena, "forward-zone:\n\tname: \"own.t\"%s%s\n%s", internet_server_lines(net, "\n\tforward-addr: ", s, false),
				   s->second ? internet_server_lines(net, "\n\tforward-addr: ", s, true) : "", race(net));
	return arena_textf(&net->arena, "%s", "");
}

/* Zones of RFC 6303 and the like, in which nobody here asks: to build them takes longer than a world. */
static const char lan_zones[] = "\tunblock-lan-zones: yes\n";

/* Switches that must not change what is true (harden-glue does: without it, SRV sets bring other zones' addresses). */
static const char *const switches[] = {
	"qname-minimisation: no", "aggressive-nsec: no",	    "prefetch: yes",
	"prefetch-key: yes",	  "harden-referral-path: yes",	    "use-caps-for-id: yes",
	"minimal-responses: no",  "harden-below-nxdomain: no",	    "val-clean-additional: no",
	"rrset-roundrobin: yes",  "target-fetch-policy: \"0 0 0 0 0\"", "prefer-ip6: yes",
};

const char *internet_switch(struct internet *net, enum choice_stream stream)
{
	return switches[draw(net->choices, stream, COUNT(switches))];
}

static char *switched(struct internet *net)
{
	char *text = arena_textf(&net->arena, "%s", "");

	for (unsigned i = 0; i < COUNT(switches); i++)
		if (chance(net->choices, CHOICES_WORLD, i < 2 ? 30 : 15))
			text = arena_textf(&net->arena, "%s\t%s\n", text, switches[i]);
	return text;
}

/* Limits that many questions at once reach, and one after the other do not. */
static char *scarce(struct internet *net, char *text)
{
	static const char *const limits[] = { "ratelimit: 40",	 "max-global-quota: 60",      "wait-limit: 6",
					      "ip-ratelimit: 30", "num-queries-per-thread: 8", "ratelimit-backoff: yes" };

	for (unsigned i = 0; i < COUNT(limits); i++)
		if (chance(net->choices, CHOICES_WORLD, 40))
			text = arena_textf(&net->arena, "%s\t%s\n", text, limits[i]);
	return text;
}

char *internet_config(struct internet *net)
{
	const char *size = net->tiny ? "8k" : "2m";
	const struct site *s;
	char *text = arena_textf(
		&net->arena,
		"%s\tdo-ip6: %s\n\tmsg-cache-size: %s\n\trrset-cache-size: %s\n\tkey-cache-size: %s\n\tneg-cache-size: %s\n"
		"\tmsg-cache-slabs: 1\n\trrset-cache-slabs: 1\n\tkey-cache-slabs: 1\n\tinfra-cache-slabs: 1\n%s%s%s%s%s%s%s",
		fixed, net->six ? "yes" : "no", size, size, size, size, net->has_lans ? "" : lan_zones, switched(net), anchor(net, &net->sites[SITE_ROOT]),
		anchor(net, &net->sites[SITE_ISLAND]), anchor(net, &net->sites[SITE_ISLE]),
		anchor(net, &net->sites[SITE_OWNV]), own_zone(net, true));

	if (net->synthesizes || net->placed)
		text = arena_textf(&net->arena, "%s\tmodule-config: \"%s%svalidator iterator\"\n%s", text, net->placed ? "subnetcache " : "",
				   net->synthesizes ? "dns64 " : "", places_config(net));
	if (net->scarce)
		text = scarce(net, text);
	if (net->hides)
		text = arena_textf(&net->arena, "%s\tprivate-address: 198.51.100.0/24\n", text);
	text = arena_textf(&net->arena, "%s%s", text, withheld_config(net, true));
	if (net->keeps)
		text = arena_textf(&net->arena, "%s\tserve-expired: yes\n\tede: yes\n\tede-serve-expired: yes\n", text);
	if (net->has_view)
		text = arena_textf(&net->arena, "%s\taccess-control-view: 127.0.1.2/32 \"other\"\n\taccess-control-view: 127.0.2.2/32 \"other\"\n", text);
	if (net->forwards_all)
		text = arena_textf(&net->arena, "%sforward-zone:\n\tname: \".\"\n\tforward-addr: %s\n%s%s", text,
				   net->forwarder_lies ? "203.0.113.40" : "192.0.2.40",
				   net->two_forwarders ? "\tforward-addr: 192.0.2.40\n" : "", race(net));
	else if (!net->primes)
		text = arena_textf(&net->arena, "%sstub-zone:\n\tname: \".\"%s\n", text,
				   internet_server_lines(net, "\n\tstub-addr: ", &net->sites[SITE_ROOT], false));
	if (net->root_unloaded)
		text = arena_textf(&net->arena, "%sauth-zone:\n\tname: \".\"\n\tprimary: 192.0.2.250\n"
						"\tfallback-enabled: yes\n\tfor-downstream: no\n\tfor-upstream: yes\n",
				   text);
	text = arena_textf(&net->arena, "%s%s", text, own_zone(net, false));
	text = arena_textf(&net->arena, "%s%s%s", text, held_config(net), withheld_config(net, false));
	s = &net->sites[SITE_OWNV];
	if (s->zone)
		text = arena_textf(&net->arena, "%sstub-zone:\n\tname: \"own.v.t\"%s%s\n", text,
				   internet_server_lines(net, "\n\tstub-addr: ", s, false),
				   s->second ? internet_server_lines(net, "\n\tstub-addr: ", s, true) : "");
	if (net->has_view)
		text = arena_textf(&net->arena, "%sview:\n\tname: \"other\"\n\tview-first: yes\n"
						"\tlocal-zone: \"www.v.t\" static\n\tlocal-data: \"www.v.t 60 A 198.18.0.1\"\n",
				   text);
	return arena_textf(&net->arena, "%sremote-control:\n\tcontrol-enable: no\n", text);
}
