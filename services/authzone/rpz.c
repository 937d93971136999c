/* The rules of a response policy zone: triggers and actions, read from the records of the zone.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/rpz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "services/authzone/data.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/net/addr.h"

#define LABEL_TEXT (LABEL_MAX + 1)

struct rpz {
	const struct zonedata *z;
	struct netset *blocks[RPZ_TRIGGERS]; /* values are struct zonenode */
	uint32_t *slots; /* nodes of names, by hash: node number + 1; 0: empty */
	size_t slot_mask, names, longest; /* bytes of the longest name's front */
	unsigned deepest;                 /* labels of the front that has most */
	bool has[RPZ_TRIGGERS], passes_addresses;
	size_t unusable;
};

/* The zone's branches, in wire format. */
static const uint8_t *const branches[RPZ_TRIGGERS] = {
	[RPZ_CLIENT_IP] = (const uint8_t *)"\15rpz-client-ip",
	[RPZ_IP] = (const uint8_t *)"\6rpz-ip",
	[RPZ_NSDNAME] = (const uint8_t *)"\13rpz-nsdname",
	[RPZ_NSIP] = (const uint8_t *)"\10rpz-nsip",
};

const char *rpz_action_word(enum rpz_action a)
{
	static const char *const words[] = {
#define X(name, word) [RPZ_##name] = word,
		RPZ_ACTIONS(X)
#undef X
	};

	return words[a];
}

/* ---- actions ---- */

static const struct {
	const char *target;
	size_t len;
	enum rpz_action action;
} special[] = {
	{ "\0", 1, RPZ_nxdomain },
	{ "\1*\0", 3, RPZ_nodata },
	{ "\14rpz-passthru\0", 14, RPZ_passthru },
	{ "\10rpz-drop\0", 10, RPZ_drop },
	{ "\14rpz-tcp-only\0", 14, RPZ_tcp_only },
};

/* Records for signing or denial make no rule. */
bool rpz_is_policy(uint16_t type)
{
	return type != TYPE_RRSIG && type != TYPE_NSEC && type != TYPE_NSEC3 &&
	       type != TYPE_NSEC3PARAM && type != TYPE_DNSKEY && type != TYPE_DS &&
	       type != TYPE_SOA && type != TYPE_NS && type != TYPE_DNAME;
}

static bool has_policy(const struct zonenode *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		if (rpz_is_policy(n->sets[i]->type))
			return true;
	return false;
}

/* Targets below such top labels are kept for actions; those that are none of ours make no rule, as
 * nobody wants an alias that leads there. */
static bool is_reserved(const uint8_t *target)
{
	static const uint8_t start[] = { 'r', 'p', 'z', '-' };
	const uint8_t *top = dname_suffix(target, 1);

	for (unsigned i = 0; i < sizeof(start); i++)
		if (*top <= i || ascii_lower[top[i + 1]] != start[i])
			return false;
	return true;
}

static struct rpz_rule rule_of(const struct zonenode *n)
{
	const struct rrset *alias = zonenode_set(n, TYPE_CNAME);
	struct rpz_rule rule = { .action = RPZ_data, .node = n };

	if (!alias)
		return rule;
	rule.action = RPZ_cname;
	rule.target = rrset_target(alias, 0);
	for (size_t i = 0; i < COUNT(special); i++)
		if (dname_equals_len(rule.target, dname_len(rule.target),
				     (const uint8_t *)special[i].target, special[i].len))
			rule.action = special[i].action;
	return rule;
}

/* ---- addresses: "24.0.2.0.192" is 192.0.2.0/24, "48.zz.8.db8.2001" is 2001:db8:8::/48 ---- */

static const char *label_text(const uint8_t *label, char to[LABEL_TEXT])
{
	memcpy(to, label + 1, *label);
	to[*label] = '\0';
	return to;
}

static bool read_number(const char *text, int base, unsigned long most, unsigned long *out)
{
	char *end;

	if (!*text || strspn(text, base == 10 ? "0123456789" : "0123456789abcdefABCDEF") !=
			      strlen(text))
		return false;
	*out = strtoul(text, &end, base);
	return *end == '\0' && *out <= most;
}

static bool read_ipv4(const uint8_t *const *labels, struct addr *a)
{
	char text[LABEL_TEXT];
	unsigned long n;

	a->family = 4;
	for (unsigned i = 0; i < 4; i++) {
		if (!read_number(label_text(labels[i], text), 10, 255, &n))
			return false;
		a->ip[3 - i] = (uint8_t)n;
	}
	return true;
}

/* The last group comes first; "zz" stands for "::". */
static bool read_ipv6(const uint8_t *const *labels, unsigned count, struct addr *a)
{
	char text[LABEL_TEXT];
	unsigned at = 8;
	bool gap = false;

	a->family = 6;
	for (unsigned i = 0; i < count; i++) {
		unsigned long n;

		if (strcasecmp(label_text(labels[i], text), "zz") == 0) {
			unsigned rest = count - i - 1;

			if (gap || rest >= at)
				return false;
			gap = true;
			at = rest;
			continue;
		}
		if (at == 0 || !read_number(text, 16, 0xffff, &n))
			return false;
		put_u16(a->ip + 2 * --at, (uint16_t)n);
	}
	return at == 0;
}

static bool has_gap(const uint8_t *const *labels, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (labels[i][0] == 2 && (labels[i][1] | 32) == 'z' && (labels[i][2] | 32) == 'z')
			return true;
	return false;
}

/* The first `count` labels, those before the branch, as a netblock. */
static bool read_block(const uint8_t *name, unsigned count, struct netblock *out)
{
	const uint8_t *labels[16];
	char text[LABEL_TEXT], addr[ADDR_TEXT], block[ADDR_TEXT + 8];
	struct addr a = { .family = 0 };
	unsigned long bits;
	bool v4 = count == 5;

	if (count < 2 || count > 9)
		return false;
	for (unsigned i = 0; i < count; i++, name = dname_parent(name))
		labels[i] = name;
	v4 = v4 && !has_gap(labels + 1, count - 1);
	if (!read_number(label_text(labels[0], text), 10, v4 ? 32 : 128, &bits) ||
	    !(v4 ? read_ipv4(labels + 1, &a) : read_ipv6(labels + 1, count - 1, &a)))
		return false;
	a.port = 53;
	snprintf(block, sizeof(block), "%s/%lu", addr_print(&a, 53, addr), bits);
	return netblock_parse(out, block, NULL);
}

/* ---- building ---- */

static bool is_branch(const uint8_t *label, enum rpz_trigger t)
{
	const uint8_t *b = branches[t];

	if (!b || *label != *b)
		return false;
	for (unsigned i = 1; i <= *b; i++)
		if (ascii_lower[label[i]] != b[i])
			return false;
	return true;
}

/* The branch a name of the zone belongs to: RPZ_QNAME if it is in no other. */
static enum rpz_trigger branch_of(const uint8_t *top_label)
{
	for (int t = RPZ_QNAME + 1; t < RPZ_TRIGGERS; t++)
		if (is_branch(top_label, (enum rpz_trigger)t))
			return (enum rpz_trigger)t;
	return RPZ_QNAME;
}

static bool is_misspelt(const struct zonenode *n)
{
	struct rpz_rule rule = rule_of(n);

	return rule.action == RPZ_cname && is_reserved(rule.target);
}

/* The kind of trigger a node is; RPZ_TRIGGERS: none. */
static enum rpz_trigger kind_of(const struct rpz *r, const struct zonenode *n)
{
	unsigned above = r->z->apex_labels + 1;

	if (dname_labels(n->name) < above || !has_policy(n) || is_misspelt(n))
		return RPZ_TRIGGERS;
	return branch_of(dname_suffix(n->name, above));
}

static bool is_name(const struct rpz *r, const struct zonenode *n)
{
	enum rpz_trigger t = kind_of(r, n);

	return t == RPZ_QNAME || t == RPZ_NSDNAME;
}

static void take_node(struct rpz *r, const struct zonenode *n)
{
	unsigned above = r->z->apex_labels + 1;
	enum rpz_trigger t = kind_of(r, n);
	struct netblock block;

	if (t == RPZ_TRIGGERS) {
		r->unusable += is_misspelt(n);
		return;
	}
	r->has[t] = true;
	if (t == RPZ_QNAME || t == RPZ_NSDNAME) {
		r->names++;
		return;
	}
	if (!read_block(n->name, dname_labels(n->name) - above, &block)) {
		r->unusable++;
		return;
	}
	if (!r->blocks[t])
		r->blocks[t] = netset_new();
	netset_put(r->blocks[t], &block, (void *)(uintptr_t)n);
	r->passes_addresses |= t == RPZ_IP && rule_of(n).action == RPZ_passthru;
}

static void gather_names(struct rpz *r);

struct rpz *rpz_new(const struct zonedata *z)
{
	struct rpz *r = mem_zero(sizeof(*r));

	r->z = z;
	for (size_t i = 0; i < z->count; i++)
		take_node(r, &z->nodes[i]);
	gather_names(r);
	return r;
}

void rpz_free(struct rpz *r)
{
	if (!r)
		return;
	for (int t = 0; t < RPZ_TRIGGERS; t++)
		if (r->blocks[t])
			netset_free(r->blocks[t]);
	mem_free(r->slots);
	mem_free(r);
}

size_t rpz_unusable(const struct rpz *r)
{
	return r->unusable;
}

/* ---- lookup ---- */

/* The labels in front of the zone's own name, as a key: `len` bytes, lower case. A server's name may be as long as any:
 * with its branch it is then that of no rule, but below a wildcard all the same. */
struct front {
	uint8_t bytes[DNAME_MAX + 16];
	size_t len;
};

static size_t slot_of(const struct rpz *r, const uint8_t *front, size_t len)
{
	return (size_t)hash_bytes(front, len) & r->slot_mask;
}

static void front_of(struct front *f, const uint8_t *name, size_t len)
{
	f->len = len;
	for (size_t i = 0; i < len; i++)
		f->bytes[i] = ascii_lower[name[i]];
}

static void put_slot(struct rpz *r, uint32_t i)
{
	const uint8_t *name = r->z->nodes[i].name;
	struct front f;
	size_t at;

	front_of(&f, name, dname_len(name) - dname_len(r->z->apex));
	r->longest = MAX(r->longest, f.len);
	r->deepest = MAX(r->deepest, dname_labels(name) - r->z->apex_labels);
	for (at = slot_of(r, f.bytes, f.len); r->slots[at]; at = (at + 1) & r->slot_mask)
		;
	r->slots[at] = i + 1;
}

static const struct zonenode *find_slot(const struct rpz *r, const uint8_t *front, size_t len)
{
	for (size_t at = slot_of(r, front, len); r->slots[at]; at = (at + 1) & r->slot_mask) {
		const struct zonenode *n = &r->z->nodes[r->slots[at] - 1];
		size_t i = 0;

		while (i < len && ascii_lower[n->name[i]] == front[i])
			i++;
		if (i == len && dname_equals(n->name + i, r->z->apex))
			return n;
	}
	return NULL;
}

static void gather_names(struct rpz *r)
{
	size_t count = 16;

	while (count < r->names + r->names / 2)
		count *= 2;
	r->slots = mem_zero(count * sizeof(*r->slots));
	r->slot_mask = count - 1;
	for (size_t i = 0; i < r->z->count; i++)
		if (is_name(r, &r->z->nodes[i]))
			put_slot(r, (uint32_t)i);
}

static bool find_front(const struct rpz *r, const struct front *f, struct rpz_rule *out)
{
	const struct zonenode *n = find_slot(r, f->bytes, f->len);

	if (!n)
		return false;
	*out = rule_of(n);
	return true;
}

/* Look up "*." followed by the last `len` bytes of `whole`, which is at least a label longer. */
static bool find_wildcard(const struct rpz *r, const struct front *whole, size_t len,
			  struct rpz_rule *out)
{
	struct front f = { .bytes = { 1, '*' }, .len = len + 2 };

	memcpy(f.bytes + 2, whole->bytes + whole->len - len, len);
	return find_front(r, &f, out);
}

/* Whether a rule may have such a front. A client's name of a hundred labels is not to cost a hundred lookups in each zone. */
static bool may_be_there(const struct rpz *r, size_t len, unsigned labels)
{
	return len <= r->longest && labels <= r->deepest;
}

bool rpz_find_name(const struct rpz *r, enum rpz_trigger t, const uint8_t *name,
		   struct rpz_rule *out)
{
	const uint8_t *branch = branches[t];
	size_t len = dname_len(name) - 1, at = 0;
	unsigned labels = dname_labels(name) + (t == RPZ_NSDNAME);
	struct front f;

	if (!r->has[t])
		return false;
	if (t == RPZ_QNAME && len && branch_of(dname_suffix(name, 1)) != RPZ_QNAME)
		return false; /* such names are other kinds of trigger */
	front_of(&f, name, len);
	if (t == RPZ_NSDNAME) {
		memcpy(f.bytes + len, branch, 1u + *branch);
		f.len += 1u + *branch;
	}
	if (len && may_be_there(r, f.len, labels) && find_front(r, &f, out)) {
		if (out->action == RPZ_cname && dname_equals(out->target, name))
			out->action = RPZ_passthru; /* the older way to write it */
		return true;
	}
	while (at < len) {
		at += 1u + name[at];
		if (!may_be_there(r, f.len - at, --labels))
			continue;
		if (find_wildcard(r, &f, f.len - at, out))
			return true;
		if (find_slot(r, f.bytes + at, f.len - at))
			return false; /* the closest encloser has no wildcard below it (RFC 4592) */
	}
	return false;
}

/* The length of the netblock that a node is for: its first label. */
static unsigned bits_of(const struct zonenode *n)
{
	char text[LABEL_TEXT];
	unsigned long bits = 0;

	return read_number(label_text(n->name, text), 10, 128, &bits) ? (unsigned)bits : 0;
}

bool rpz_find_addr(const struct rpz *r, enum rpz_trigger t, const struct addr *a,
		   struct rpz_rule *out)
{
	const struct zonenode *n = r->blocks[t] ? netset_find(r->blocks[t], a) : NULL;

	if (!n)
		return false;
	*out = rule_of(n);
	out->bits = bits_of(n) + (a->family == 4 ? 96 : 0);
	return true;
}

bool rpz_has(const struct rpz *r, enum rpz_trigger t)
{
	return r->has[t];
}

bool rpz_passes_addresses(const struct rpz *r)
{
	return r->passes_addresses;
}

const struct zonedata *rpz_zone(const struct rpz *r)
{
	return r->z;
}

const char *rpz_trigger_text(const struct rpz *r, enum rpz_trigger t, const struct rpz_rule *rule,
			     char buf[RPZ_TEXT])
{
	const uint8_t *owner = rule->node->name;
	unsigned above = r->z->apex_labels + (t == RPZ_NSDNAME), labels = dname_labels(owner);
	uint8_t name[DNAME_MAX], *end = name;
	struct netblock block;

	if (t != RPZ_QNAME && t != RPZ_NSDNAME) {
		if (!read_block(owner, labels - above - 1, &block))
			return "?";
		return netblock_print(&block, buf);
	}
	for (unsigned i = above; i < labels; i++, owner = dname_parent(owner)) {
		memcpy(end, owner, 1u + *owner);
		end += 1 + *owner;
	}
	*end = 0;
	return dname_print(name, buf);
}

size_t rpz_target(const struct rpz_rule *rule, const uint8_t *qname, uint8_t *to)
{
	size_t len = dname_len(rule->target);

	if (dname_is_wildcard(rule->target))
		return dname_join(to, qname, dname_len(qname) - 1, dname_parent(rule->target));
	memcpy(to, rule->target, len);
	return len;
}
