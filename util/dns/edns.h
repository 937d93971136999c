/* The OPT record (RFC 6891) and its options.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_EDNS_H
#define UTIL_DNS_EDNS_H

#include "util/base/bytes.h"

enum edns_option {
	EDNS_NSID = 3,
	EDNS_CLIENT_SUBNET = 8,
	EDNS_COOKIE = 10,
	EDNS_KEEPALIVE = 11,
	EDNS_PADDING = 12,
	EDNS_KEY_TAG = 14,
	EDNS_EDE = 15,
	EDNS_REPORT_CHANNEL = 18,
};

enum { EDNS_DO = 0x8000, EDNS_CO = 0x4000 };

#define EDNS_OPTIONS_MAX 100    /* options examined in a message; any beyond are ignored */

struct edns {
	bool present;
	uint8_t version;
	uint8_t ext_rcode;      /* upper eight bits of the extended RCODE */
	uint16_t udp_size;
	uint16_t flags;         /* EDNS_DO, EDNS_CO */
	struct slice options;   /* borrowed from the message */
};

/* The next option, its value borrowed from the message. False at the end, and at
 * the first malformed option (then `options->bad`). */
bool edns_next_option(struct reader *options, uint16_t *code, struct slice *value);
bool edns_find_option(const struct edns *e, uint16_t code, struct slice *value);
/* Whether the first EDNS_OPTIONS_MAX options are well-formed. */
bool edns_is_whole(const struct edns *e);

/* Append an OPT record with `e`'s fields and options. Counting it in ARCOUNT is
 * left to the caller. */
void edns_write(struct writer *w, const struct edns *e);
void edns_write_option(struct writer *w, uint16_t code, const void *value, size_t len);

#define OPT_FIXED_LEN 11        /* bytes of an OPT record that has no options */

#endif
