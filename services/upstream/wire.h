/* A query to a server as bytes, and whether a message that came back answers it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_UPSTREAM_WIRE_H
#define SERVICES_UPSTREAM_WIRE_H

#include "services/forward/server_text.h"
#include "services/upstream/upstream.h"
#include "util/dns/dname.h"
#include "util/dns/msg.h"
#include "util/net/subnet.h"

struct env;
struct random;

enum {
	UPSTREAM_PADDED_MAX = 512, /* bytes a query is padded to, whatever the block size */
	UPSTREAM_OPTIONS_MAX = 4 + SERVER_TEXT_MAX + 4 + 4 + SUBNET_OPTION_MAX,
	UPSTREAM_WIRE_MAX =
		MAX(MSG_HEAD_LEN + DNAME_MAX + 4 + OPT_FIXED_LEN + UPSTREAM_OPTIONS_MAX,
		    UPSTREAM_PADDED_MAX),
};

/* How the question is put this time. */
struct upstream_form {
	enum transport_kind way;
	bool with_edns;
	bool capped; /* random query case (0x20) */
};

/* Write the query, with id 0: flags, OPT and the options this server is to get (the text
 * configured for it, client subnet, keepalive), padded where it is encrypted (RFC 8467). Returns
 * its length. */
size_t upstream_write(const struct env *env, const struct upstream_question *q,
		      const struct upstream_form *form, uint8_t wire[UPSTREAM_WIRE_MAX]) MUST_USE;

/* A server that answers many queries over one connection is asked how long it may stay idle
 * (RFC 7828). */
bool upstream_asks_keepalive(const struct upstream_question *q, const struct upstream_form *form);

enum upstream_echo {
	ECHO_NONE, /* not a response to our query */
	ECHO_TRUE,
	ECHO_MANGLED, /* it is, but the name's case differs from ours */
	ECHO_ABSENT,  /* no question, from a server that understood nothing: FORMERR or NOTIMP */
};

/* Whether a message is a response to the query `sent`, by QR, opcode and question (RFC 5452 9.1);
 * address, port and id are the transport's to compare. `capped`: query case must match. */
enum upstream_echo upstream_check_echo(const uint8_t *sent, bool capped, const uint8_t *got,
				       size_t len) MUST_USE;

/* A server without EDNS (RFC 6891 7) says FORMERR or NOTIMP, some with our OPT sent back; or BADVERS. */
bool upstream_refuses_edns(const struct message *m) PURE;

#endif
