/* In place of http.c in a build without DNS over HTTPS: no interface is configured for it (util/conf).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection.h"

#include "util/base/base.h"

static size_t take_nothing(struct connection *c, const uint8_t *at UNUSED, size_t len)
{
	c->cut = true;
	return len;
}

static const struct client_ops no_ops = { .name = "https", .stream = true };

const struct protocol protocol_http = { .digest = take_nothing, .plain = &no_ops, .tls = &no_ops, .resumed = &no_ops };

struct http2_shared *listen_http_new(const struct listen_tcp_limits *limits UNUSED)
{
	return NULL;
}

void listen_http_limit(struct http2_shared *h UNUSED, const struct listen_tcp_limits *limits UNUSED)
{
}

void listen_http_free(struct http2_shared *h UNUSED)
{
}

size_t listen_tcp_http_receiving(const struct listen_tcp *t UNUSED)
{
	return 0;
}

size_t listen_tcp_http_sending(const struct listen_tcp *t UNUSED)
{
	return 0;
}
