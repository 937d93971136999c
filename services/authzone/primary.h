/* A server to transfer a zone from, as configured: "192.0.2.53@5353", "ns.example.org",
 * "192.0.2.53@853#ns.example.org".
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_AUTHZONE_PRIMARY_H
#define SERVICES_AUTHZONE_PRIMARY_H

#include "util/net/addr.h"

struct arena;

struct primary {
	struct addr addr; /* family 0: a host */
	const uint8_t *host;
	const char *tls_name;
	uint16_t port;
};

/* Parse `text`; results are in the arena. False: neither an address nor a host name. */
bool primary_read(struct arena *a, const char *text, struct primary *p) MUST_USE;

#endif
