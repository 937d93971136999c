/* Denials of DS RRsets that came with referrals (RFC 4035 3.1.4.1), kept until asked for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They have not been validated. Each is returned once, so that a forged one spoils one attempt. */
#ifndef SERVICES_CACHE_REFERRAL_DS_H
#define SERVICES_CACHE_REFERRAL_DS_H

#include "services/cache/slab.h"

struct arena;
struct referral_ds;
struct message;
struct question;

struct referral_ds *referral_ds_new(size_t budget, unsigned slabs) MUST_USE;
void referral_ds_free(struct referral_ds *h);
struct slab *referral_ds_slab(struct referral_ds *h);

void referral_ds_put(struct referral_ds *h, const struct message *referral, const uint8_t *cut,
		 uint16_t class_, uint32_t now_s);
struct message *referral_ds_take(struct referral_ds *h, const struct question *ds, struct arena *a,
			     uint32_t now_s) MUST_USE;

#endif
