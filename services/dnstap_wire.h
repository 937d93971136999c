/* A connection to a collector, and Frame Streams on it: the only door to libfstrm.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For a thread that may wait. All waiting is done by its `wait`, which says when it is enough. */
#ifndef SERVICES_DNSTAP_WIRE_H
#define SERVICES_DNSTAP_WIRE_H

#include "util/addr.h"
#include "util/bytes.h"

struct dnstap_wire;
struct fault;
struct tls_client;

struct dnstap_place {
	const char *text;       /* for the log */
	const char *socket;     /* path of a Unix socket; or NULL, then: */
	struct addr addr;
	struct tls_client *tls; /* NULL: in clear */
	const char *tls_name;   /* that the certificate must have; NULL: any */
	bool vouched;           /* without a name: somebody we know has signed it */
	bool bidirectional;     /* greetings and good-byes */
};

enum { DNSTAP_FRAMES = 64 }; /* to one write */

struct dnstap_how {
	/* Until `fd` can do what `events` (poll(2)) says; false: no longer. */
	bool (*wait)(void *arg, int fd, short events, uint32_t patience_ms);
	void *arg;
};

/* Connected, and greeted; NULL with a sentence in `f`. Both `place` and `how` stay until it is
 * closed. */
struct dnstap_wire *dnstap_wire_open(const struct dnstap_place *place, const struct dnstap_how *how,
				     struct fault *f) MUST_USE;
/* At most DNSTAP_FRAMES of them. False: it is broken. */
bool dnstap_wire_write(struct dnstap_wire *w, const struct slice *frames,
		       unsigned count) MUST_USE;
int dnstap_wire_fd(const struct dnstap_wire *w);
/* Its descriptor can be read: false when the collector has gone. */
bool dnstap_wire_is_alive(struct dnstap_wire *w);
/* Says good-bye, unless it is broken, and waits for the answer. */
void dnstap_wire_close(struct dnstap_wire *w);

#endif
