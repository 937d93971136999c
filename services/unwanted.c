/* Unsolicited responses: counting them, and reacting to too many.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/unwanted.h"

#include <inttypes.h>

#include "services/cache/msg.h"
#include "services/cache/negative.h"
#include "services/cache/rrset.h"
#include "services/env.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "util/dname.h"
#include "util/log.h"
#include "util/options.h"

void unwanted_note(struct env *e)
{
	uint32_t threshold = e->snapshot->conf->server.unwanted_reply_threshold;

	stat_bump(&e->stats->unwanted_replies, 1);
	if (threshold == 0 || ++e->unwanted < threshold)
		return;
	log_warn("%" PRIu32 " answers came that nobody had asked for (unwanted-reply-threshold): "
		 "somebody may be forging them, all caches are emptied",
		 e->unwanted);
	e->unwanted = 0;
	if (e->emptied)
		e->emptied(e->emptied_arg);
	(void)slab_sweep(msgcache_slab(e->messages), NULL, NULL);
	(void)slab_sweep(rrsetcache_slab(e->rrsets), NULL, NULL);
	(void)negcache_forget(e->negative, dname_root);
}
