/* DNS over HTTPS (RFC 8484): what a request asks, and how long its answer is fresh.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_DOH_H
#define SERVICES_DOH_H

#include "util/bytes.h"

struct http2_request;

#define DOH_TYPE "application/dns-message"

enum doh_status {
	DOH_GOOD = 200,
	DOH_BAD = 400, /* no question in it, or one that is not in base64url */
	DOH_NOT_HERE = 404,
	DOH_NOT_SO = 405, /* a method for other things */
	DOH_TOO_LARGE = 413,
	DOH_OTHER_TYPE = 415, /* the content is no DNS message */
	DOH_UNHEARD = 501,    /* of that method */
};

/* The question in a request for `endpoint`, a path; in the request's own memory. Otherwise the
 * status that tells what is wrong. */
unsigned doh_question(struct http2_request *r, const char *endpoint, size_t endpoint_len,
		      struct slice *question);

/* Seconds that others may keep an answer of ours: its smallest TTL, and of a denial the SOA's say
 * (RFC 8484 5.1, RFC 2308 5). 0 for failures. */
uint32_t doh_fresh_s(const uint8_t *wire, size_t len);

#endif
