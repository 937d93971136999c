/* The transport of TCP, TLS and HTTPS: one pool of connections, and what is spoken on each.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/pool.h"

struct transport *upstream_streams_new(struct env *env)
{
	static const struct framing *const framings[TRANSPORTS] = { [TRANSPORT_TCP] = &framing_tcp,
								  [TRANSPORT_TLS] = &framing_tls,
								  [TRANSPORT_HTTPS] = &framing_https };

	return pool_new(env, framings);
}
