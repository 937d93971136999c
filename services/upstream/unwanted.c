/* Unsolicited responses: counting them, and reacting to too many.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/unwanted.h"

#include <inttypes.h>

#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/log.h"
#include "util/conf/options.h"

void unwanted_note(struct env *e)
{
	uint32_t threshold = e->snapshot->conf->server.unwanted_reply_threshold;

	stat_bump(&e->stats->unwanted_replies, 1);
	if (threshold == 0 || ++e->unwanted < threshold)
		return;
	log_rare_of("warning", unwanted_replies, LOG_FACTS(LOG_COUNT(count, e->unwanted)),
		 "%" PRIu32 " unwanted replies (unwanted-reply-threshold): possible spoofing "
		 "attempt, all caches flushed",
		 e->unwanted);
	e->unwanted = 0;
	if (e->purge)
		e->purge(e->purge_arg);
}
