/* The EDNS Client Subnet option: four bytes, and as much of an address as is disclosed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/subnet.h"

enum { FAMILY_IP4 = 1, FAMILY_IP6 = 2, FIXED_LEN = 4 };

static unsigned bits_most(unsigned family)
{
	return family == FAMILY_IP4 ? 32 : family == FAMILY_IP6 ? 128 : 0;
}

/* Clear everything after the first `bits` bits. */
static void cut(uint8_t ip[16], unsigned bits)
{
	unsigned at = bits / 8;

	if (bits % 8)
		ip[at++] &= (uint8_t)(0xff00 >> bits % 8);
	memset(ip + at, 0, 16 - at);
}

bool subnet_read(struct subnet_option *to, const struct slice *data)
{
	struct reader r = reader_over(data->at, data->len);
	uint8_t whole[16];
	size_t len;

	*to = (struct subnet_option){ .family = read_u16(&r) };
	to->source = read_u8(&r);
	to->scope = read_u8(&r);
	len = (to->source + 7u) / 8;
	if (r.bad || to->family > FAMILY_IP6 || to->source > bits_most(to->family) ||
	    (to->family && to->scope > bits_most(to->family)) || reader_left(&r) != len)
		return false;
	if (len)
		memcpy(to->ip, read_bytes(&r, len), len);
	memcpy(whole, to->ip, sizeof(whole));
	cut(to->ip, to->source);
	return memcmp(whole, to->ip, sizeof(whole)) == 0;
}

size_t subnet_write(const struct subnet_option *o, uint8_t to[SUBNET_OPTION_MAX])
{
	size_t len = (o->source + 7u) / 8;

	put_u16(to, o->family);
	to[2] = o->source;
	to[3] = o->scope;
	memcpy(to + FIXED_LEN, o->ip, len);
	return FIXED_LEN + len;
}

struct netblock subnet_of(const struct addr *a, unsigned bits)
{
	struct netblock n = { .net = { .family = a->family } };

	n.bits = (uint8_t)MIN(bits, a->family == 4 ? 32u : 128u);
	memcpy(n.net.ip, a->ip, a->family == 4 ? 4 : 16);
	cut(n.net.ip, n.bits);
	return n;
}

struct netblock subnet_to_send(const struct subnet_option *o, unsigned most)
{
	struct addr a = { .family = o->family == FAMILY_IP6 ? 6 : 4 };

	memcpy(a.ip, o->ip, sizeof(a.ip));
	return subnet_of(&a, MIN(o->source, most));
}

struct subnet_option subnet_shown(const struct netblock *n)
{
	struct subnet_option o = { .family = n->net.family == 6 ? FAMILY_IP6 : FAMILY_IP4,
				   .source = n->bits };

	memcpy(o.ip, n->net.ip, sizeof(o.ip));
	return o;
}

bool subnet_echoes(const struct subnet_option *reply, const struct netblock *told)
{
	struct subnet_option o = subnet_shown(told);

	return reply->family == o.family && reply->source == o.source &&
	       memcmp(reply->ip, o.ip, sizeof(o.ip)) == 0;
}
