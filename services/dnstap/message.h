/* Encodes one message in dnstap's format.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * dnstap.proto is a message of scalars within a message: encoded by hand (protobuf's wire format is
 * tags, varints and lengths), straight into the queue, so that nothing is allocated and the build
 * needs no generator. */
#ifndef SERVICES_DNSTAP_MESSAGE_H
#define SERVICES_DNSTAP_MESSAGE_H

#include "util/base/bytes.h"
#include "util/net/addr.h"

/* Message.Type, with the numbers of dnstap.proto. */
enum tap_kind {
	TAP_RESOLVER_QUERY = 3,
	TAP_RESOLVER_RESPONSE = 4,
	TAP_CLIENT_QUERY = 5,
	TAP_CLIENT_RESPONSE = 6,
	TAP_FORWARDER_QUERY = 7,
	TAP_FORWARDER_RESPONSE = 8,
};

/* Responses have even numbers. */
static inline bool tap_is_response(enum tap_kind kind)
{
	return kind % 2 == 0;
}

/* SocketProtocol */
enum tap_protocol { TAP_UDP = 1, TAP_TCP = 2, TAP_DOT = 3, TAP_DOH = 4 };

/* Our identity and version, already encoded: put in front of each message. */
#define TAP_NAME_MOST 255
struct tap_face {
	size_t len;
	uint8_t bytes[2 * (1 + 2 + TAP_NAME_MOST)];
};

/* Both may be ""; they are truncated to TAP_NAME_MOST bytes. */
void tap_face_make(struct tap_face *face, const char *identity, const char *version);

struct tap_message {
	enum tap_kind kind;
	enum tap_protocol protocol;
	const struct addr *asker, *asked; /* family 0, or all zeros: not known; port 0: not known */
	uint64_t query_ns, response_ns;   /* since 1970; 0: not known, or not yet */
	const uint8_t *zone;              /* whose server was asked; or NULL */
	struct slice wire;
};

/* What a message takes beside its wire bytes and its face, at most. */
#define TAP_MESSAGE_MOST 400

void tap_message_write(struct writer *w, const struct tap_face *face, const struct tap_message *m);

#endif
