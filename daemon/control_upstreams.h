/* Servers that are asked over TLS or HTTPS, over all workers: what is counted of each.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_UPSTREAMS_H
#define DAEMON_CONTROL_UPSTREAMS_H

#include "services/upstream_peer.h"

struct worker;

/* One server, over all workers. */
struct upstream_row {
	char name[PEER_TEXT];
	bool is_https;
	char why[200]; /* of a worker that cannot do without it */
	unsigned connections, workers;
	uint64_t rtt_sum_us, rtts;
	uint64_t questions, answers, handshakes, resumed, failures, losses;
};

enum { UPSTREAM_ROWS = 1024 };

struct upstream_rows {
	size_t count;
	struct upstream_row at[UPSTREAM_ROWS];
};

/* Add what a worker counts, in its turn. Servers beyond the last row are left out. */
void upstream_rows_take(struct upstream_rows *rows, struct worker *w);

#endif
