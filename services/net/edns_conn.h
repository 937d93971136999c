/* EDNS options specific to one connection: padding (RFC 7830) and keepalive (RFC 7828).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An answer from the cache is the same for all clients; these options are added last, to the OPT
 * record at its end. */
#ifndef SERVICES_NET_EDNS_CONN_H
#define SERVICES_NET_EDNS_CONN_H

#include "util/base/base.h"

enum { EDNS_CONN_PADDING = 1, EDNS_CONN_KEEPALIVE = 2 };

#define EDNS_CONN_KEEPALIVE_LEN 6

/* Which of them (EDNS_CONN_*) the query has. */
unsigned edns_conn_asked(const uint8_t *wire, size_t len);

/* Whether a response says how long its connection may be idle. */
bool edns_conn_keepalive(const uint8_t *wire, size_t len, uint32_t *rest_ms);

struct edns_conn {
	unsigned options; /* EDNS_CONN_* to be added */
	size_t pad_block; /* the message is padded to a multiple of it, if there is room */
	uint32_t keepalive_ms;
};

/* Add them to a response of ours; returns its new length. One without OPT is left unchanged. */
size_t edns_conn_add(uint8_t *wire, size_t len, size_t room, const struct edns_conn *add);

#endif
