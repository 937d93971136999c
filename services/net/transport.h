/* The transports for queries to other servers: UDP, TCP, TLS, HTTPS (services/net/transport.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_NET_TRANSPORT_H
#define SERVICES_NET_TRANSPORT_H

#include "util/base/base.h"

enum transport_kind {
#define TRANSPORT(id, ...) TRANSPORT_##id,
#include "services/net/transport.def"
#undef TRANSPORT
	TRANSPORTS
};

/* Whether it is encrypted. */
static inline bool transport_is_private(enum transport_kind c)
{
	static const bool is_private[] = {
#define TRANSPORT(id, private, ...) private,
#include "services/net/transport.def"
#undef TRANSPORT
	};

	return is_private[c];
}

/* The default port. */
static inline uint16_t transport_port(enum transport_kind c)
{
	static const uint16_t ports[] = {
#define TRANSPORT(id, private, port, ...) port,
#include "services/net/transport.def"
#undef TRANSPORT
	};

	return ports[c];
}

/* " over TLS" and the like, or "" where it goes without saying. */
static inline const char *transport_words(enum transport_kind c)
{
	static const char *const words[] = {
#define TRANSPORT(id, private, port, make, stat, tap, words) words,
#include "services/net/transport.def"
#undef TRANSPORT
	};

	return words[c];
}

#endif
