/* A Frame Streams connection to a dnstap collector: the only user of libfstrm.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For a thread that may block. All waiting is done by the caller's `wait`, which can end it. */
#ifndef SERVICES_DNSTAP_WIRE_H
#define SERVICES_DNSTAP_WIRE_H

#include "util/base/bytes.h"
#include "util/net/addr.h"

struct dnstap_wire;
struct fault;
struct tls_client;

struct dnstap_place {
	const char *text;       /* for the log */
	const char *socket;     /* path of a Unix socket; or NULL, then: */
	struct addr addr;
	struct tls_client *tls; /* NULL: no TLS */
	const char *tls_name;   /* that the certificate must be for; NULL: any */
	bool must_verify;           /* without a name: the certificate must be from a trusted CA */
	bool bidirectional;     /* handshakes at start and end (Frame Streams) */
};

enum { DNSTAP_FRAMES = 64 }; /* maximum per write */

struct dnstap_how {
	/* Wait until `fd` is ready for `events` (poll(2)); false: give up. */
	bool (*wait)(void *arg, int fd, short events, uint32_t patience_ms);
	void *arg;
};

/* Connect and shake hands; NULL with a sentence in `f`. `place` and `how` must stay until it is
 * closed. */
struct dnstap_wire *dnstap_wire_open(const struct dnstap_place *place, const struct dnstap_how *how,
				     struct fault *f) MUST_USE;
/* Write at most DNSTAP_FRAMES frames. False: the connection is broken. */
bool dnstap_wire_write(struct dnstap_wire *w, const struct slice *frames,
		       unsigned count) MUST_USE;
int dnstap_wire_fd(const struct dnstap_wire *w);
/* Call when the descriptor is readable: false when the collector has gone. */
bool dnstap_wire_is_alive(struct dnstap_wire *w);
/* Ends the stream, unless it is broken, waiting for the reply. */
void dnstap_wire_close(struct dnstap_wire *w);

#endif
