/* Actions on answers that contain certain addresses: response-ip.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_POLICY_RESPONSE_IP_H
#define SERVICES_POLICY_RESPONSE_IP_H

#include "services/local/record_data.h"
#include "services/local/tags.h"
#include "services/local/zones.h"
#include "util/net/addr.h"

struct conf_list;
struct fault;
struct message;

struct response_ip;

/* The rule of one netblock. */
struct response_rule {
	struct netblock block;
	enum zone_type action;
	struct record_data data; /* for redirect */
	struct tagset tags;
};

struct response_ip_how {
	const struct conf_list *actions, *data;
	const struct conf_list *tags, *defined; /* NULL: a view's, which has none */
};

/* NULL without a fault when nothing is configured. */
struct response_ip *response_ip_new(const struct response_ip_how *how, struct fault *f);
void response_ip_free(struct response_ip *r); /* NULL is fine */

/* The rule of the first address in the answer section that has one, or NULL; `*set`: index of its
 * RRset. An IPv6 address in `nat64`, or one that stands for an IPv4 address (addr_stands_for), has the rules for
 * that one, too. Its tags are no condition: they select another action for clients that have them. */
const struct response_rule *response_ip_find(const struct response_ip *r,
					     const struct netblock *nat64, const struct message *m,
					     unsigned *set);

#endif
