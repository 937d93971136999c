/* In place of https.c in a build without DNS over HTTPS: no server is configured for it (util/conf).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/pool.h"

#include "util/base/base.h"

static void nothing(struct conn *c)
{
	c->broken = true;
}

static unsigned none(const struct conn *c UNUSED)
{
	return 1;
}

static void refuse(struct conn *c, struct stream_query *l)
{
	c->no_more_queries = true;
	peer_refused(l->peer, "this program was built without DNS over HTTPS", pool_now_us(l->pool));
	stream_query_fails(l, UPSTREAM_SILENT, false);
}

static void forget(struct conn *c UNUSED, struct stream_query *l UNUSED)
{
}

static size_t take_nothing(struct conn *c, const uint8_t *at UNUSED, size_t len)
{
	c->broken = true;
	return len;
}

const struct framing framing_https = {
	.begin = nothing,
	.end = nothing,
	.width = none,
	.put = refuse,
	.fill = nothing,
	.forget = forget,
	.take = take_nothing,
};
