/* Clients in different subnets, of whom some servers are told, and who get other addresses of one name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "testdata/hostile/internet.h"
#include "util/base/mem.h"
#include "util/dns/edns.h"

enum { OPTION_HEAD = 8 };

void places_choose(struct internet *net)
{
	static const enum site_number victims[] = { SITE_V, SITE_I, SITE_W, SITE_J, SITE_SUB };
	struct site *s = &net->sites[victims[draw(net->choices, CHOICES_WORLD, COUNT(victims))]];
	struct set *www;

	if (!s->zone || !chance(net->choices, CHOICES_WORLD, 20))
		return;
	www = zdata_find(s->zone, site_name(net, s, "www"), TYPE_A);
	net->placed = s;
	net->shows_all = chance(net->choices, CHOICES_WORLD, 50);
	if (chance(net->choices, CHOICES_WORLD, 50))
		net->focus = s;
	net->near[0] = www;
	for (unsigned i = 1; i < PLACES; i++) {
		struct set *near = net->near[i] = arena_copy(&net->arena, www, sizeof(*www));

		for (unsigned n = 0; n < near->count; n++) {
			uint8_t ip[4] = { 198, 51, (uint8_t)(100 + i), near->rdata[n].at[3] };

			near->rdata[n].at = arena_copy(&net->arena, ip, sizeof(ip));
		}
	}
}

char *places_config(struct internet *net)
{
	char name[DNAME_TEXT];

	if (!net->placed)
		return arena_textf(&net->arena, "%s", "");
	if (net->shows_all)
		return arena_textf(&net->arena, "\tsend-client-subnet: 192.0.2.0/24\n\tsend-client-subnet: 203.0.113.0/24\n"
						"\tsend-client-subnet: 2001:db8::/32\n");
	return arena_textf(&net->arena, "\tclient-subnet-zone: \"%s\"\n", dname_print(net->placed->zone->apex, name));
}

void places_tell(struct internet *net, const struct site *s, struct told *t)
{
	struct set *www = net->near[0], *near = net->near[net->place];

	if (s != net->placed || !net->placed || !net->place)
		return;
	for (unsigned i = 0; i < t->count; i++) {
		struct told_record *r = &t->records[i];

		for (unsigned n = 0; n < www->count && r->type == TYPE_A; n++)
			if (r->rdata.at == www->rdata[n].at) {
				r->rdata = near->rdata[n];
				break;
			}
		if (r->type == TYPE_RRSIG && www->sig.len && r->rdata.at == www->sig.at)
			r->rdata = zdata_sig(s->zone, near);
	}
}

void places_read(struct internet *net, struct slice query)
{
	size_t at = MSG_HEAD_LEN + dname_len(query.at + MSG_HEAD_LEN) + 4 + OPT_FIXED_LEN;

	net->place = 0;
	net->shown.len = 0;
	while (get_u16(query.at + 10) && at + OPTION_HEAD <= query.len) {
		size_t len = 4u + get_u16(query.at + at + 2);

		if (get_u16(query.at + at) == EDNS_CLIENT_SUBNET && at + len <= query.len) {
			net->shown = (struct slice){ query.at + at, len };
			if (len >= OPTION_HEAD + 3)
				net->place = (1u + query.at[at + OPTION_HEAD + 2]) % PLACES;
			return;
		}
		at += len;
	}
}

struct slice places_echo(struct internet *net, unsigned scope)
{
	uint8_t *echo;

	if (!net->shown.len)
		return net->shown;
	echo = arena_copy(&net->arena, net->shown.at, net->shown.len);
	echo[OPTION_HEAD - 1] = (uint8_t)scope;
	return (struct slice){ echo, net->shown.len };
}

bool places_has(const struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata)
{
	for (unsigned i = 0; i < PLACES && net->placed && type == TYPE_A; i++)
		for (unsigned n = 0; n < net->near[i]->count; n++)
			if (rdata.len == 4 && memcmp(net->near[i]->rdata[n].at, rdata.at, 4) == 0 &&
			    dname_equals(net->near[i]->owner, owner))
				return true;
	return false;
}
