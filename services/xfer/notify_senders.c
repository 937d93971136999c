/* Who may send NOTIFY for a zone (RFC 1996 3.10).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/xfer/notify_senders.h"

#include <string.h>

#include "services/authzone/zones.h"
#include "services/mesh/mesh.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/net/addr.h"

enum {
	HOSTS_MOST = 16,
	AGAIN_S = 3600, /* at least this often, whatever the zone's refresh */
	RETRY_S = 60,   /* when a name could not be resolved: the uplink may not be there yet */
};

struct authhosts {
	struct env *env;
	const struct authzone *z;
	uint8_t names[HOSTS_MOST][DNAME_MAX];
	unsigned count, at; /* at: the one being looked up */
	uint16_t type;
	bool busy, dead;
	bool failed; /* a name was not resolved in this round */
	struct timer timer;
	struct knownhosts found;
};

/* ---- parsing what is configured ---- */

/* The host of "https://host:port/path" or "host@port#name"; on the heap. */
static char *host_of(const char *text)
{
	const char *from = strstr(text, "://");
	char *host;

	if (!from) {
		host = mem_text(text);
		host[strcspn(host, "#@")] = '\0';
		return host;
	}
	from += 3;
	if (strcspn(from, "@") < strcspn(from, "/"))
		from += strcspn(from, "@") + 1;
	host = mem_text(*from == '[' ? from + 1 : from);
	host[strcspn(host, *from == '[' ? "]" : ":/?#")] = '\0';
	return host;
}

static bool is_address(const char *host)
{
	struct netblock block;
	struct addr a;

	return addr_parse(&a, host, 53, NULL) || netblock_parse(&block, host, NULL);
}

static void take_hosts(struct authhosts *h, const struct conf_list *list)
{
	for (size_t i = 0; i < list->count && h->count < HOSTS_MOST; i++) {
		char *host = host_of(list->items[i].text);

		if (!is_address(host) && dname_parse(h->names[h->count], host, NULL))
			h->count++;
		mem_free(host);
	}
}

static void on_timer(struct timer *t)
{
	authhosts_refresh(container_of(t, struct authhosts, timer));
}

struct authhosts *authhosts_new(struct env *env, const struct authzone *z)
{
	struct authhosts *h = mem_zero(sizeof(*h));

	h->env = env;
	h->z = z;
	h->timer.fire = on_timer;
	take_hosts(h, z->primaries);
	take_hosts(h, z->urls);
	take_hosts(h, z->notifiers);
	if (h->count)
		timer_set(env->loop, &h->timer, 0);
	return h;
}

void authhosts_free(struct authhosts *h)
{
	if (!h)
		return;
	timer_stop(h->env->loop, &h->timer);
	h->dead = true;
	if (!h->busy)
		mem_free(h);
}

/* ---- looking up names ---- */

static void publish(struct authhosts *h)
{
	struct knownhosts *new = mem_copy(&h->found, sizeof(h->found));

	knownhosts_retire(atomic_exchange_explicit(&h->z->cell->known, new, memory_order_acq_rel));
}

static void look_up(struct authhosts *h);

/* All names have been looked up. What was known stays if one of them could not be. */
static void end_round(struct authhosts *h)
{
	h->busy = false;
	if (!h->failed || !atomic_load_explicit(&h->z->cell->known, memory_order_acquire))
		publish(h);
	timer_set(h->env->loop, &h->timer, (h->failed ? RETRY_S : AGAIN_S) * US_PER_S);
}

static void take_addresses(struct authhosts *h, const struct message *m)
{
	uint8_t family = h->type == TYPE_A ? 4 : 6;
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++) {
		struct rrset_walk w = rrset_records(sets[i]);

		if (sets[i]->type != h->type)
			continue;
		for (struct slice rd; rrset_next(&w, &rd) && h->found.count < KNOWNHOSTS_MOST;) {
			struct addr *a = &h->found.addrs[h->found.count++];

			*a = (struct addr){ .family = family, .port = 53 };
			memcpy(a->ip, rd.at, MIN(rd.len, family == 4 ? 4u : 16u));
		}
	}
}

static void on_found(void *arg, const struct message *m)
{
	struct authhosts *h = arg;

	if (h->dead) {
		mem_free(h);
		return;
	}
	if (m->rcode == RCODE_NOERROR && m->security != SECURITY_BOGUS)
		take_addresses(h, m);
	else
		h->failed |= m->rcode != RCODE_NXDOMAIN;
	if (h->type == TYPE_A) {
		h->type = TYPE_AAAA;
	} else {
		h->type = TYPE_A;
		h->at++;
	}
	if (h->at < h->count) {
		look_up(h);
		return;
	}
	end_round(h);
}

static void look_up(struct authhosts *h)
{
	struct question q = { .name = h->names[h->at],
			      .name_len = (uint16_t)dname_len(h->names[h->at]),
			      .type = h->type,
			      .class_ = CLASS_IN };

	mesh_resolve(h->env->mesh, &q, 0, on_found, h);
}

void authhosts_refresh(struct authhosts *h)
{
	if (h->busy || h->count == 0)
		return;
	h->busy = true;
	h->failed = false;
	h->at = 0;
	h->type = TYPE_A;
	h->found.count = 0;
	look_up(h);
}

/* ---- checking a sender ---- */

static bool lists(const struct conf_list *list, const struct addr *from)
{
	for (size_t i = 0; i < list->count; i++) {
		char *host = host_of(list->items[i].text);
		struct netblock block;
		struct addr a;
		bool is = (addr_parse(&a, host, 53, NULL) && addr_equals_ip(&a, from)) ||
			  (netblock_parse(&block, host, NULL) && netblock_holds(&block, from));

		mem_free(host);
		if (is)
			return true;
	}
	return false;
}

static bool is_known(const struct knownhosts *k, const struct addr *from)
{
	for (size_t i = 0; k && i < k->count; i++)
		if (addr_equals_ip(&k->addrs[i], from))
			return true;
	return false;
}

bool authhosts_admit(const struct authzone *z, const struct addr *from)
{
	return lists(z->primaries, from) || lists(z->urls, from) || lists(z->notifiers, from) ||
	       is_known(RCU_READ(z->cell->known), from);
}
