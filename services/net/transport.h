/* The transports for queries to other servers: UDP, TCP, TLS, HTTPS (services/net/transport.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_NET_TRANSPORT_H
#define SERVICES_NET_TRANSPORT_H

#include "util/base/base.h"

enum carrier {
#define CARRIER(id, ...) CARRIER_##id,
#include "services/net/transport.def"
#undef CARRIER
	CARRIERS
};

/* Whether it is encrypted. */
static inline bool carrier_is_private(enum carrier c)
{
	static const bool is_private[] = {
#define CARRIER(id, private, ...) private,
#include "services/net/transport.def"
#undef CARRIER
	};

	return is_private[c];
}

/* The default port. */
static inline uint16_t carrier_port(enum carrier c)
{
	static const uint16_t ports[] = {
#define CARRIER(id, private, port, ...) port,
#include "services/net/transport.def"
#undef CARRIER
	};

	return ports[c];
}

/* " over TLS" and the like, or "" where it goes without saying. */
static inline const char *carrier_words(enum carrier c)
{
	static const char *const words[] = {
#define CARRIER(id, private, port, make, stat, tap, words) words,
#include "services/net/transport.def"
#undef CARRIER
	};

	return words[c];
}

#endif
