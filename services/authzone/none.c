/* In place of the room in a build without: clauses for such zones are refused (util/conf/parts.def), so there is none.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/changes.h"
#include "services/authzone/tsig.h"
#include "services/authzone/zones.h"
#include "util/base/mem.h"

struct authzones *authzones_new(const struct conf *conf UNUSED, struct fault *f UNUSED)
{
	return mem_zero(sizeof(struct authzones));
}

void authzones_free(struct authzones *t)
{
	mem_free(t);
}

void authzones_inherit(struct authzones *t UNUSED, const struct authzones *old UNUSED, bool keeps UNUSED)
{
}

const struct authzone *authzones_find(const struct authzones *t UNUSED, const uint8_t *name UNUSED)
{
	return NULL;
}

const struct authzone *authzones_find_exact(const struct authzones *t UNUSED, const uint8_t *name UNUSED)
{
	return NULL;
}

const struct authzone *authzones_proposing(const struct authzones *t UNUSED, const uint8_t *name UNUSED,
					   uint16_t type UNUSED)
{
	return NULL;
}

enum authzone_end authzones_answer(const struct authzones *t UNUSED, const struct question *q UNUSED,
				   struct arena *a UNUSED, struct message *out UNUSED)
{
	return AUTHZONE_NOT;
}

enum authzone_end authzones_resolve(const struct authzones *t UNUSED, const uint8_t *apex UNUSED,
				    const struct question *q UNUSED, uint32_t now_s UNUSED, struct arena *a UNUSED,
				    struct message *out UNUSED)
{
	return AUTHZONE_NOT;
}

void authzone_changes(const struct zonedata *old UNUSED, const struct zonedata *next UNUSED, struct forget *f UNUSED)
{
}

enum tsig_end tsig_check_question(struct tsig_talk *t UNUSED, const struct tsig_key *key UNUSED,
				  const uint8_t *wire UNUSED, size_t len UNUSED, int64_t wall_s UNUSED)
{
	return TSIG_BAD;
}

void tsig_sign_answer(struct tsig_talk *t UNUSED, uint8_t *head UNUSED, struct writer *w UNUSED, int64_t wall_s UNUSED)
{
}

void tsig_talk_clear(struct tsig_talk *t UNUSED)
{
}
