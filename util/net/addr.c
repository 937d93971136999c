/* Addresses and netblocks: conversions, comparison, and the trie behind a set of netblocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/addr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "util/base/bytes.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"

static size_t ip_len(const struct addr *a)
{
	return a->family == 4 ? 4 : 16;
}

static unsigned ip_bits(const struct addr *a)
{
	return a->family == 4 ? 32 : 128;
}

/*
 * Sockets.
 */

bool addr_from_sockaddr(struct addr *a, const struct sockaddr *sa, socklen_t len)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	*a = (struct addr){ .family = 0 };
	if (len >= sizeof(in4) && sa->sa_family == AF_INET) {
		memcpy(&in4, sa, sizeof(in4));
		memcpy(a->ip, &in4.sin_addr, 4);
		a->port = ntohs(in4.sin_port);
		a->family = 4;
		return true;
	}
	if (len >= sizeof(in6) && sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		memcpy(a->ip, &in6.sin6_addr, 16);
		a->port = ntohs(in6.sin6_port);
		a->scope = in6.sin6_scope_id;
		a->family = 6;
		return true;
	}
	return false;
}

socklen_t addr_to_sockaddr(const struct addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	memset(ss, 0, sizeof(*ss));
	if (a->family == 4) {
		in4.sin_port = htons(a->port);
		memcpy(&in4.sin_addr, a->ip, 4);
		memcpy(ss, &in4, sizeof(in4));
		return sizeof(in4);
	}
	PROMISE(a->family == 6);
	in6.sin6_port = htons(a->port);
	in6.sin6_scope_id = a->scope;
	memcpy(&in6.sin6_addr, a->ip, 16);
	memcpy(ss, &in6, sizeof(in6));
	return sizeof(in6);
}

/*
 * Text.
 */

/* A decimal number, digits only, at most `most`. */
static bool parse_number(const char *text, uint32_t most, uint32_t *out)
{
	uint64_t n = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (uint64_t)(*text - '0');
		if (n > most)
			return false;
	}
	*out = (uint32_t)n;
	return true;
}

/* Copy the part of `text` before the first `mark` into `head`; returns what follows it, or NULL
 * where there is none. Text too long for `head` leaves it empty, which is no valid address. */
static const char *split(const char *text, char mark, char *head, size_t room)
{
	const char *at = strchr(text, mark);
	size_t len = at ? (size_t)(at - text) : strlen(text);

	if (len >= room)
		len = 0;
	memcpy(head, text, len);
	head[len] = 0;
	return at ? at + 1 : NULL;
}

static bool parse_zone(const char *zone, uint32_t *scope)
{
	if (parse_number(zone, UINT32_MAX, scope))
		return *scope != 0;
	*scope = if_nametoindex(zone);
	return *scope != 0;
}

static bool parse_ip(struct addr *a, const char *text)
{
	char ip[INET6_ADDRSTRLEN];
	const char *zone = split(text, '%', ip, sizeof(ip));

	*a = (struct addr){ .family = 0 };
	if (!zone && inet_pton(AF_INET, ip, a->ip) == 1) {
		a->family = 4;
		return true;
	}
	*a = (struct addr){ .family = 0 };
	if (inet_pton(AF_INET6, ip, a->ip) != 1 || (zone && !parse_zone(zone, &a->scope))) {
		*a = (struct addr){ .family = 0 };
		return false;
	}
	a->family = 6;
	return true;
}

bool addr_parse(struct addr *a, const char *text, uint16_t port, struct fault *f)
{
	char head[ADDR_TEXT];
	const char *tail = split(text, '@', head, sizeof(head));
	uint32_t number = port;

	if (!parse_ip(a, head)) {
		fault_set(f, "'%s' is not an IP address", text);
		return false;
	}
	if (tail && !parse_number(tail, UINT16_MAX, &number)) {
		*a = (struct addr){ .family = 0 };
		fault_set(f, "the port of '%s' is not a number from 0 to 65535", text);
		return false;
	}
	a->port = (uint16_t)number;
	return true;
}

/* Print the address alone into `buf`; returns its length. */
static size_t print_ip(const struct addr *a, char buf[ADDR_TEXT])
{
	char zone[IF_NAMESIZE];
	size_t len;

	if (a->family == 0)
		return (size_t)snprintf(buf, ADDR_TEXT, "none");
	if (!inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->ip, buf, ADDR_TEXT))
		PANIC("an address of family %u has no text", a->family);
	len = strlen(buf);
	if (!a->scope)
		return len;
	if (if_indextoname(a->scope, zone))
		return len + (size_t)snprintf(buf + len, ADDR_TEXT - len, "%%%s", zone);
	return len + (size_t)snprintf(buf + len, ADDR_TEXT - len, "%%%u", a->scope);
}

const char *addr_print(const struct addr *a, uint16_t usual_port, char buf[ADDR_TEXT])
{
	size_t len = print_ip(a, buf);

	if (a->family && a->port != usual_port)
		snprintf(buf + len, ADDR_TEXT - len, "@%u", a->port);
	return buf;
}

/*
 * Comparing and classifying.
 */

bool addr_equals_ip(const struct addr *a, const struct addr *b)
{
	return a->family == b->family && a->scope == b->scope &&
	       memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

bool addr_equals(const struct addr *a, const struct addr *b)
{
	return a->port == b->port && addr_equals_ip(a, b);
}

uint64_t addr_hash(const struct addr *a)
{
	uint8_t b[sizeof(a->ip) + 4 + 2 + 1];

	if (a->family == 4) /* the rest is always 0: a single word */
		return hash_word((uint64_t)get_u32(a->ip) << 16 | a->port);
	memcpy(b, a->ip, sizeof(a->ip));
	put_u32(b + 16, a->scope);
	put_u16(b + 20, a->port);
	b[22] = a->family;
	return hash_bytes(b, sizeof(b));
}

static bool all_zero(const uint8_t *at, size_t len)
{
	uint8_t seen = 0;

	while (len)
		seen |= at[--len];
	return !seen;
}

bool addr_is_loopback(const struct addr *a)
{
	if (a->family == 4)
		return a->ip[0] == 127;
	return a->family == 6 && all_zero(a->ip, 15) && a->ip[15] == 1;
}

bool addr_is_absurd(const struct addr *a)
{
	if (a->family == 4)
		return get_u32(a->ip) == 0 ||       /* this host, RFC 6890 2.2.2 */
		       (a->ip[0] & 0xf0) == 0xe0 || /* multicast */
		       get_u32(a->ip) == UINT32_MAX;
	if (a->family != 6 || a->ip[0] == 0xff)
		return true;
	/* ::, and embedded IPv4 addresses: RFC 4291 2.5.5. */
	return (all_zero(a->ip, 12) && !addr_is_loopback(a)) ||
	       (all_zero(a->ip, 10) && get_u16(a->ip + 10) == 0xffff);
}

/* Whether it may lead to an IPv4 address by a translator of this network: nowhere else it means anything. */
static bool is_translated_here(const struct addr *a)
{
	return (all_zero(a->ip, 8) && get_u32(a->ip + 8) == 0xffff0000) ||
	       (get_u32(a->ip) == 0x0064ff9b && get_u16(a->ip + 4) == 1);
}

static bool is_mapped_ip(const uint8_t *ip)
{
	return all_zero(ip, 10) && get_u16(ip + 10) == 0xffff;
}

bool addr_unmap(struct addr *a)
{
	struct addr ip4 = { .family = 4, .port = a->port };

	if (a->family != 6 || !is_mapped_ip(a->ip))
		return false;
	memcpy(ip4.ip, a->ip + 12, 4);
	*a = ip4;
	return true;
}

bool addr_stands_for(const struct addr *a, struct addr *ip4)
{
	bool is_mapped = is_mapped_ip(a->ip);
	bool is_nat64 = get_u32(a->ip) == 0x0064ff9b && all_zero(a->ip + 4, 8);
	bool is_6to4 = get_u16(a->ip) == 0x2002;

	if (a->family != 6 ||
	    !(is_mapped || is_nat64 || is_6to4 || is_translated_here(a) || all_zero(a->ip, 12)))
		return false;
	*ip4 = (struct addr){ .family = 4 };
	memcpy(ip4->ip, a->ip + (is_6to4 ? 2 : 12), 4);
	return true;
}

bool addr_is_public(const struct addr *a)
{
	static const struct {
		uint8_t family, bits;
		uint8_t ip[8]; /* the first bytes */
	} special[] = {
		{ 4, 8, { 0 } },		    { 4, 8, { 10 } },
		{ 4, 10, { 100, 64 } },		    { 4, 8, { 127 } },
		{ 4, 16, { 169, 254 } },	    { 4, 12, { 172, 16 } },
		{ 4, 24, { 192, 0, 0 } },	    { 4, 16, { 192, 168 } },
		{ 4, 15, { 198, 18 } },		    { 4, 3, { 224 } },
		{ 6, 8, { 0 } },		    { 6, 8, { 1 } },
		{ 6, 7, { 0xfc } },		    { 6, 9, { 0xfe } },
		{ 6, 9, { 0xfe, 0x80 } },	    { 6, 8, { 0xff } },
		{ 6, 32, { 0x20, 0x01, 0, 0 } }, /* Teredo: any address behind a relay */
		{ 6, 48, { 0x20, 0x01, 0, 0x02 } }, /* benchmarks */
		{ 6, 28, { 0x20, 0x01, 0, 0x10 } }, /* ORCHID: no addresses */
	};
	struct addr ip4;

	if (!is_translated_here(a) && addr_stands_for(a, &ip4))
		return addr_is_public(&ip4);
	for (size_t i = 0; i < COUNT(special); i++) {
		unsigned whole = special[i].bits / 8, rest = special[i].bits % 8;

		if (a->family == special[i].family && memcmp(a->ip, special[i].ip, whole) == 0 &&
		    (rest == 0 || ((a->ip[whole] ^ special[i].ip[whole]) & 0xff00 >> rest & 0xff) == 0))
			return false;
	}
	return a->family != 0;
}

/*
 * Netblocks.
 */

/* An address as one 128-bit number, its first bit the most significant. */
struct bits {
	uint64_t high, low;
};

static struct bits bits_of(const struct addr *a)
{
	return (struct bits){
		.high = (uint64_t)get_u32(a->ip) << 32 | get_u32(a->ip + 4),
		.low = (uint64_t)get_u32(a->ip + 8) << 32 | get_u32(a->ip + 12),
	};
}

static unsigned bits_at(struct bits b, unsigned n)
{
	return (unsigned)(n < 64 ? b.high >> (63 - n) : b.low >> (127 - n)) & 1;
}

static unsigned leading_zeros(uint64_t x)
{
#if defined(__GNUC__)
	return x ? (unsigned)__builtin_clzll(x) : 64;
#else
	unsigned n = 0;

	while (n < 64 && !(x >> (63 - n) & 1))
		n++;
	return n;
#endif
}

/* Length of the common prefix, in bits. */
static unsigned bits_shared(struct bits a, struct bits b)
{
	unsigned n = leading_zeros(a.high ^ b.high);

	return n < 64 ? n : 64 + leading_zeros(a.low ^ b.low);
}

bool netblock_parse(struct netblock *n, const char *text, struct fault *f)
{
	char head[ADDR_TEXT];
	const char *tail = split(text, '/', head, sizeof(head));
	uint32_t bits;

	*n = (struct netblock){ .bits = 0 };
	if (!parse_ip(&n->net, head) || n->net.scope) {
		n->net = (struct addr){ .family = 0 };
		fault_set(f, "'%s' is not a netblock: an IP address, '/' and its length", text);
		return false;
	}
	bits = ip_bits(&n->net);
	if (tail && !parse_number(tail, bits, &bits)) {
		fault_set(f, "the length of netblock '%s' is not a number from 0 to %u", text,
			  ip_bits(&n->net));
		n->net = (struct addr){ .family = 0 };
		return false;
	}
	n->bits = (uint8_t)bits;
	for (size_t i = 0; i < ip_len(&n->net); i++) {
		unsigned keep = bits > 8 * i ? MIN(bits - 8 * (unsigned)i, 8) : 0;

		n->net.ip[i] &= (uint8_t)(0xff00 >> keep);
	}
	return true;
}

const char *netblock_print(const struct netblock *n, char buf[ADDR_TEXT])
{
	size_t len = print_ip(&n->net, buf);

	snprintf(buf + len, ADDR_TEXT - len, "/%u", n->bits);
	return buf;
}

bool netblock_holds(const struct netblock *n, const struct addr *a)
{
	return n->net.family == a->family && bits_shared(bits_of(&n->net), bits_of(a)) >= n->bits;
}

/*
 * Sets of netblocks: two binary tries, one per family. A fork is a point where netblocks diverge,
 * or a netblock itself; bits between two forks are skipped and compared at the lower one. All forks
 * are in one array; index 0 means none.
 */

struct fork {
	struct bits key; /* bits beyond `len` are 0 */
	void *value;
	uint32_t child[2]; /* indexed by the bit after `len` */
	uint8_t len;
	bool holds; /* a netblock was put here */
};

struct netset {
	struct fork *forks;
	uint32_t count, room;
	uint32_t root[2]; /* IPv4, IPv6 */
	size_t netblocks;
};

struct netset *netset_new(void)
{
	struct netset *s = mem_zero(sizeof(*s));

	s->room = 8;
	s->forks = mem_array(s->room, sizeof(*s->forks));
	s->count = 1;
	return s;
}

void netset_free(struct netset *s)
{
	if (s)
		mem_free(s->forks);
	mem_free(s);
}

static struct bits bits_cut(struct bits b, unsigned len)
{
	if (len < 64) {
		b.low = 0;
		b.high &= len ? ~UINT64_C(0) << (64 - len) : 0;
	} else if (len < 128) {
		b.low &= len > 64 ? ~UINT64_C(0) << (128 - len) : 0;
	}
	return b;
}

static uint32_t fork_new(struct netset *s, struct bits key, unsigned len)
{
	if (s->count == s->room) {
		PROMISE(s->room < UINT32_MAX / 2);
		s->room *= 2;
		s->forks = mem_grow(s->forks, s->room * sizeof(*s->forks));
	}
	s->forks[s->count] = (struct fork){ .key = bits_cut(key, len), .len = (uint8_t)len };
	return s->count++;
}

/* Find the fork with exactly this key and length, or create it where it belongs. */
static uint32_t fork_get(struct netset *s, int family, struct bits key, unsigned len)
{
	uint32_t parent = 0, at = s->root[family], made;
	unsigned shared = 0, side = 0;

	while (at) {
		shared = MIN(bits_shared(key, s->forks[at].key), len);
		if (shared < s->forks[at].len)
			break;
		if (s->forks[at].len == len)
			return at;
		parent = at;
		side = bits_at(key, s->forks[at].len);
		at = s->forks[at].child[side];
	}
	made = fork_new(s, key, at ? shared : len);
	if (parent)
		s->forks[parent].child[side] = made;
	else
		s->root[family] = made;
	if (!at)
		return made;
	s->forks[made].child[bits_at(s->forks[at].key, shared)] = at;
	if (shared == len)
		return made;
	/* They diverge before either ends: a bare fork above both. */
	at = fork_new(s, key, len);
	s->forks[made].child[bits_at(key, shared)] = at;
	return at;
}

void netset_put(struct netset *s, const struct netblock *n, void *value)
{
	uint32_t at = fork_get(s, n->net.family == 6, bits_of(&n->net), n->bits);

	s->netblocks += !s->forks[at].holds;
	s->forks[at].holds = true;
	s->forks[at].value = value;
}

void *netset_find(const struct netset *s, const struct addr *a)
{
	struct bits key = bits_of(a);
	uint32_t at = a->family ? s->root[a->family == 6] : 0;
	const unsigned whole = ip_bits(a);
	void *best = NULL;

	while (at) {
		const struct fork *k = &s->forks[at];

		if (bits_shared(key, k->key) < k->len)
			break;
		if (k->holds)
			best = k->value;
		if (k->len == whole)
			break;
		at = k->child[bits_at(key, k->len)];
	}
	return best;
}

void *netset_find_exact(const struct netset *s, const struct netblock *n)
{
	struct bits key = bits_of(&n->net);
	uint32_t at = s->root[n->net.family == 6];

	while (at) {
		const struct fork *k = &s->forks[at];

		if (k->len > n->bits || bits_shared(key, k->key) < k->len)
			return NULL;
		if (k->len == n->bits)
			return k->holds ? k->value : NULL;
		at = k->child[bits_at(key, k->len)];
	}
	return NULL;
}

size_t netset_count(const struct netset *s)
{
	return s->netblocks;
}
