/* What the operator withholds from clients, whoever tells it: a name, by a policy zone, addresses of the adversary's, by that
 * zone and by response-ip, and what his servers say, by where they are.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/authzone/data.h"
#include "testdata/hostile/internet.h"
#include "util/dns/text.h"

/* One by each kind of rule; and those of IPv6 where his servers are. */
#define BY_RESPONSE_IP "203.0.113.66"
#define BY_ZONE	       "32.69.113.0.203.rpz-ip."
#define BY_ZONE6       "48.zz.66.db8.2001.rpz-ip."
#define BY_SERVER      "24.0.113.0.203.rpz-nsip."
#define BY_SERVER6     "48.zz.66.db8.2001.rpz-nsip."
static const uint8_t by_response_ip[4] = { 203, 0, 113, 66 }, by_zone[4] = { 203, 0, 113, 69 };
static const uint8_t by_zone6[6] = { 0x20, 1, 0xd, 0xb8, 0, 0x66 };
static const uint8_t instead[4] = { 198, 18, 0, 9 }; /* what is told in place of the name's own data */

static const uint8_t policy[] = "\6policy";

/* What is done about a name. */
static const char *const actions[] = { "CNAME .", "CNAME *.", "A 198.18.0.9" };

void withheld_choose(struct internet *net)
{
	const char *prefix = prefixes[draw(net->choices, CHOICES_WORLD, prefix_count)];
	const struct site *s = internet_pick(net, CHOICES_WORLD);

	net->withholds = chance(net->choices, CHOICES_WORLD, 8);
	net->bars_servers = net->withholds && chance(net->choices, CHOICES_WORLD, 30);
	net->by_command = net->withholds && chance(net->choices, CHOICES_WORLD, 40);
	net->how_withheld = draw(net->choices, CHOICES_WORLD, COUNT(actions));
	net->withheld = site_name(net, s, *prefix || !dname_is_root(s->zone->apex) ? prefix : "www");
}

char *withheld_config(struct internet *net, bool in_server)
{
	if (!net->withholds)
		return arena_textf(&net->arena, "%s", "");
	return in_server ? arena_textf(&net->arena, "\tresponse-ip: " BY_RESPONSE_IP " always_nxdomain\n")
			 : arena_textf(&net->arena, "rpz:\n\tname: \"policy\"\n\tzonefile: \"world\"\n");
}

/* ---- the policy zone ---- */

static void rule(struct internet *net, struct zonebuild *b, const char *trigger, const char *action)
{
	struct text_rr rr;

	/* a name may have become too long */
	if (text_rr_parse(&net->arena, arena_textf(&net->arena, "%spolicy. 60 IN %s", trigger, action), NULL, &rr, NULL))
		zonebuild_add(b, &rr);
}

struct zonebuild *withheld_zone(struct internet *net, const uint8_t *apex)
{
	const char *action = actions[net->how_withheld];
	struct zonebuild *b;
	char name[DNAME_TEXT];

	if (!dname_equals(apex, policy))
		return NULL;
	b = zonebuild_new(policy);
	zonebuild_spare_soa(b);
	dname_print(net->withheld, name);
	if (!net->by_command) {
		rule(net, b, name, action);
		rule(net, b, arena_textf(&net->arena, "*.%s", name), action);
	}
	rule(net, b, BY_ZONE, "CNAME .");
	rule(net, b, BY_ZONE6, "CNAME *.");
	if (net->bars_servers) {
		rule(net, b, BY_SERVER, "CNAME .");
		rule(net, b, BY_SERVER6, "CNAME .");
	}
	return b;
}

/* ---- what is told ---- */

static bool is_withheld4(const uint8_t *ip)
{
	return memcmp(ip, by_response_ip, 4) == 0 || memcmp(ip, by_zone, 4) == 0;
}

static bool is_withheld6(const uint8_t *ip)
{
	return memcmp(ip, by_zone6, sizeof(by_zone6)) == 0;
}

/* Of IPv6 addresses those count that stand for one of IPv4. */
static bool leads6(const uint8_t *ip, const struct addresses_of *what)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff }, translated[12] = { 0, 0x64, 0xff, 0x9b };

	return (what->is6 && what->is6(ip)) ||
	       ((memcmp(ip, mapped, 12) == 0 || memcmp(ip, translated, 12) == 0) && what->is4(ip + 12)) ||
	       (ip[0] == 0x20 && ip[1] == 2 && what->is4(ip + 2)); /* 6to4 */
}

/* The hints of SVCB and HTTPS records (RFC 9460 2.2, 7.3). */
static bool hints_lead(struct slice rdata, const struct addresses_of *what)
{
	struct reader r = reader_over(rdata.at, rdata.len);

	read_bytes(&r, 2);
	read_bytes(&r, dname_measure(r.at, r.end));
	while (reader_left(&r) >= 4) {
		unsigned key = read_u16(&r), len = read_u16(&r), width = key == 4 ? 4 : 16;
		const uint8_t *at = read_bytes(&r, len);

		for (unsigned i = 0; at && (key == 4 || key == 6) && i + width <= len; i += width)
			if (key == 4 ? what->is4(at + i) : leads6(at + i, what))
				return true;
	}
	return false;
}

bool record_leads_to(uint16_t type, struct slice rdata, const struct addresses_of *what)
{
	switch (type) {
	case TYPE_A:
		return rdata.len == 4 && what->is4(rdata.at);
	case TYPE_AAAA:
		return rdata.len == 16 && leads6(rdata.at, what);
	case TYPE_SVCB:
	case TYPE_HTTPS:
		return hints_lead(rdata, what);
	default:
		return false;
	}
}

bool withheld_address(uint16_t type, struct slice rdata)
{
	return record_leads_to(type, rdata, &(struct addresses_of){ is_withheld4, is_withheld6 });
}

static bool is_instead(struct slice rdata)
{
	return rdata.len >= 4 && memcmp(rdata.at + rdata.len - 4, instead, 4) == 0;
}

bool withheld_name(const struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata)
{
	return (net->denied || (net->withholds && !net->by_command)) && dname_is_under(owner, net->withheld) && type != TYPE_RRSIG && !is_instead(rdata);
}

bool withheld_servers(struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata, bool by_alias)
{
	const struct question q = { owner, (uint16_t)dname_len(owner), type, CLASS_IN };

	return net->bars_servers && !net->forwards_all && type != TYPE_RRSIG && type != TYPE_NSEC && !is_instead(rdata) &&
	       internet_site_of(net, &q, by_alias)->hostile;
}
