/* From answers to the kernel's sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/ipset.h"

#include "services/local/zones.h"
#include "services/net/addresses.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"
#include "util/dns/msgname.h"
#include "util/dns/rr.h"
#include "util/net/kernset.h"

#define RECENT   512 /* addresses remembered; a power of two */
#define RECENT_S 2   /* for so long they are not added again */

struct ipset {
	struct {
		char *name; /* as configured */
		struct kernset *set; /* NULL: none */
	} into[2]; /* IPv4, IPv6 */
	struct added {
		struct addr addr;
		uint32_t at_s;
	} recent[RECENT];
};

static struct kernset *open_set(const char *name)
{
	struct fault f = { 0 };
	struct kernset *s = *name ? kernset_open(name, &f) : NULL;

	if (*name && !s)
		log_error("ipset: set '%s' cannot be used: %s", name, f.text);
	return s;
}

struct ipset *ipset_new(const struct conf *conf)
{
	const char *names[] = { conf->ipset.name_v4, conf->ipset.name_v6 };
	struct ipset *f;

	if (!conf_fills_sets(conf))
		return NULL;
	f = mem_zero(sizeof *f);
	for (unsigned i = 0; i < COUNT(f->into); i++) {
		f->into[i].name = mem_text(names[i]);
		f->into[i].set = open_set(names[i]);
	}
	if (f->into[0].set || f->into[1].set)
		return f;
	ipset_free(f);
	return NULL;
}

void ipset_free(struct ipset *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < COUNT(f->into); i++) {
		kernset_close(f->into[i].set);
		mem_free(f->into[i].name);
	}
	mem_free(f);
}

/* ---- one address ---- */

static void add(struct ipset *f, const struct addr *a, uint32_t now_s)
{
	struct added *was = &f->recent[addr_hash(a) % RECENT];
	unsigned which = a->family == 6;
	struct fault fault = { 0 };
	char text[ADDR_TEXT];

	if (!f->into[which].set || (addr_equals(&was->addr, a) && now_s - was->at_s < RECENT_S))
		return;
	if (kernset_add(f->into[which].set, a, &fault))
		*was = (struct added){ .addr = *a, .at_s = now_s };
	else
		log_warn("ipset: %s cannot be added to '%s': %s", addr_print(a, 0, text), f->into[which].name,
			 fault.text);
}

/* ---- answers ---- */

static bool is_for_sets(const struct localzones *zones, const uint8_t *name, size_t len)
{
	const struct question q = { .name = name,
				    .name_len = (uint16_t)len,
				    .type = TYPE_A,
				    .class_ = CLASS_IN };
	struct localzone_match m;

	return len && localzones_find(zones, &q, NULL, &m) && m.type == ZONE_ipset;
}

static void add_all(struct ipset *f, struct addresses w, uint32_t now_s)
{
	struct addr a;

	while (addresses_next(&w, &a))
		add(f, &a, now_s);
}

void ipset_take(struct ipset *f, const struct localzones *zones, const uint8_t *answer, size_t len,
		  uint32_t now_s)
{
	struct reader r = reader_over(answer, len);
	uint8_t name[DNAME_MAX];
	unsigned left;
	bool all;

	if (len < MSG_HEAD_LEN || msg_rcode(answer) != RCODE_NOERROR || get_u16(answer + 4) != 1)
		return;
	left = get_u16(answer + 6);
	read_bytes(&r, MSG_HEAD_LEN);
	all = is_for_sets(zones, name, msg_read_name(&r, name));
	for (read_bytes(&r, 4); left && !r.bad; left--) {
		size_t name_len = msg_read_name(&r, name), data_len;
		uint16_t type = read_u16(&r), class_ = read_u16(&r);
		const uint8_t *rdlength;

		read_bytes(&r, 4);
		rdlength = r.at;
		data_len = read_u16(&r);
		if (read_bytes(&r, data_len) && class_ == CLASS_IN && (all || is_for_sets(zones, name, name_len)))
			add_all(f, addresses_of_record(type, rdlength), now_s);
	}
}
