/* DNS over HTTPS (RFC 8484): the query in a request, and the freshness of its response.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LISTEN_DOH_H
#define SERVICES_LISTEN_DOH_H

#include "util/base/bytes.h"

struct http2_request;

#define DOH_TYPE "application/dns-message"

enum doh_status {
	DOH_GOOD = 200,
	DOH_BAD = 400, /* no query in it, or not valid base64url */
	DOH_NOT_HERE = 404,
	DOH_NOT_SO = 405, /* method not allowed */
	DOH_TOO_LARGE = 413,
	DOH_OTHER_TYPE = 415, /* not application/dns-message */
	DOH_UNHEARD = 501,    /* unknown method */
};

/* Returns DOH_GOOD and the query in a request for `endpoint`, a path; it is in the request's
 * memory. Otherwise returns the status for the error. */
unsigned doh_question(struct http2_request *r, const char *endpoint, size_t endpoint_len,
		      struct slice *question);

/* Seconds for which HTTP caches may keep a response: its smallest TTL; for a denial also bounded by
 * the SOA (RFC 8484 5.1, RFC 2308 5). 0 for failures. */
uint32_t doh_fresh_s(const uint8_t *wire, size_t len);

#endif
