/* In place of rpz_match.c and rpz_apply.c in a build without zones held in full: no policy zone has a rule for anything.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/rpz_apply.h"
#include "services/policy/rpz_match.h"

bool rpz_match_doubt(const struct authzones *z UNUSED, const struct stored *s UNUSED)
{
	return false;
}

bool rpz_match_zones_name_servers(const struct authzones *zones UNUSED)
{
	return false;
}

bool rpz_match_by_servers(const struct query *q UNUSED)
{
	return false;
}

void rpz_match_meet(struct query *q UNUSED, const uint8_t *wanted UNUSED, const uint8_t *name UNUSED,
		    const struct addr *addr UNUSED)
{
}

void rpz_match_inherit(struct query *q UNUSED, const struct query *child UNUSED)
{
}

bool rpz_match_stops(struct query *q UNUSED)
{
	return false;
}

bool rpz_match_stops_at(struct query *q UNUSED, const uint8_t *target UNUSED)
{
	return false;
}

bool rpz_match_hides(const struct query *q UNUSED, const uint8_t *name UNUSED)
{
	return false;
}

enum policy_end rpz_apply_answer(const struct policy *p UNUSED, const struct policy_client *who UNUSED,
				 const struct answer_to *to UNUSED, struct writer *out UNUSED, struct arena *a UNUSED,
				 struct alias_prefix *aliases UNUSED)
{
	return POLICY_PASS;
}

bool rpz_apply_spare(const struct policy *p UNUSED, const struct policy_client *who UNUSED,
		     const struct question *q UNUSED)
{
	return false;
}

bool rpz_apply_aliases(const struct policy *p UNUSED, const struct policy_client *who UNUSED,
		       const struct message *m UNUSED, uint32_t now_s UNUSED, struct arena *a UNUSED,
		       struct policy_outcome *j UNUSED)
{
	return false;
}

bool rpz_apply_rest(const struct policy *p UNUSED, const struct policy_client *who UNUSED,
		    const struct message *m UNUSED, uint32_t now_s UNUSED, struct arena *a UNUSED,
		    struct policy_outcome *j UNUSED)
{
	return false;
}

bool rpz_apply_withhold(const struct policy *p UNUSED, const struct policy_client *who UNUSED,
			const struct message *m UNUSED)
{
	return false;
}
