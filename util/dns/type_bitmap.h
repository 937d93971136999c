/* Bitmaps of RR types, as NSEC, NSEC3 and CSYNC have them (RFC 4034 4.1.2).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_TYPE_BITMAP_H
#define UTIL_DNS_TYPE_BITMAP_H

#include "util/base/bytes.h"

/* Whether it contains the type; whether it is well-formed. */
bool types_hold(struct slice bitmap, uint16_t type) PURE;
bool types_are_sound(struct slice bitmap) PURE;
/* Whether a sound one contains a type of data: not RRSIG, NSEC, NSEC3, NXNAME. */
bool types_hold_data(struct slice bitmap) PURE;

#endif
