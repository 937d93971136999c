/* In place of the room in a build without: dnstap-enable is refused (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dnstap/dnstap.h"
#include "services/dnstap/tap.h"

bool dnstap_check(const struct conf *conf UNUSED, struct fault *f UNUSED)
{
	return true;
}

struct dnstap *dnstap_new(unsigned workers UNUSED)
{
	return NULL;
}

void dnstap_adopt(struct dnstap *d UNUSED, const struct snapshot *s UNUSED, bool locked_in UNUSED)
{
}

struct msgring *dnstap_queue(struct dnstap *d UNUSED, unsigned worker UNUSED)
{
	return NULL;
}

void dnstap_free(struct dnstap *d UNUSED)
{
}

void dnstap_tell(const struct dnstap *d UNUSED, struct dnstap_status *status)
{
	*status = (struct dnstap_status){ .enabled = false };
}

void tap_adopt(struct tap *t, const struct conf *conf UNUSED, struct msgring *queue UNUSED,
	       struct random *random UNUSED)
{
	t->kinds = 0;
}

void tap_client_query(struct tap *t UNUSED, struct client *c UNUSED, const struct slice *wire UNUSED)
{
}

void tap_client_response(struct tap *t UNUSED, const struct client *c UNUSED, const uint8_t *wire UNUSED, size_t len UNUSED)
{
}

void tap_server_query(struct tap *t UNUSED, const struct tap_asking *a UNUSED, const struct slice *wire UNUSED)
{
}

void tap_server_response(struct tap *t UNUSED, const struct tap_asking *a UNUSED, const struct slice *wire UNUSED)
{
}

uint64_t tap_now_ns(void)
{
	return 0;
}
