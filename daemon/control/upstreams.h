/* Statistics of servers asked over TLS or HTTPS, summed over all workers.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_UPSTREAMS_H
#define DAEMON_CONTROL_UPSTREAMS_H

#include "services/upstream/peer.h"

struct worker;

/* One server, over all workers. */
struct upstream_row {
	char name[PEER_TEXT];
	bool is_https;
	char why[200]; /* why it fails; of one of the workers */
	unsigned connections, workers;
	uint64_t rtt_sum_us, rtts;
	uint64_t questions, answers, handshakes, resumed, failures, losses;
};

enum { UPSTREAM_ROWS = 1024 };

struct upstream_rows {
	size_t count;
	struct upstream_row at[UPSTREAM_ROWS];
};

/* Add a worker's counts, in its turn. Servers beyond the last row are omitted. */
void upstream_rows_take(struct upstream_rows *rows, struct worker *w);

#endif
