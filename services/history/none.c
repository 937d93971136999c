/* In place of what records queries, in a build without: its options are refused (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/querypipe.h"
#include "services/history/recorder.h"

void querypipe_make(const struct conf *conf UNUSED, bool locked_in UNUSED)
{
}

struct querypipe *querypipe_new(unsigned workers UNUSED)
{
	return NULL;
}

void querypipe_adopt(struct querypipe *p UNUSED, const struct conf *conf UNUSED, bool locked_in UNUSED)
{
}

struct msgring *querypipe_ring(const struct querypipe *p UNUSED, const struct conf *conf UNUSED, unsigned worker UNUSED)
{
	return NULL;
}

void querypipe_free(struct querypipe *p UNUSED)
{
}

void querypipe_tell(const struct querypipe *p UNUSED, struct querypipe_status *status)
{
	*status = (struct querypipe_status){ .enabled = false };
}

struct recorder *recorder_renew(struct recorder *old UNUSED, const struct conf_server *c UNUSED,
				struct msgring *reports UNUSED)
{
	return NULL;
}

void recorder_free(struct recorder *w UNUSED)
{
}

void recorder_note(struct recorder *w UNUSED, const struct timebase *now UNUSED, const struct record *t UNUSED)
{
}

void queryring_retire(struct queryring *r UNUSED)
{
}
