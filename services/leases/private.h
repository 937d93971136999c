/* What the rooms of lease files share: lines and words, and where leases are put.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LEASES_PRIVATE_H
#define SERVICES_LEASES_PRIVATE_H

#include "services/leases/file.h"

/* A piece of the text; not ended by NUL. */
struct piece {
	const char *at;
	size_t len;
};

struct lines {
	const char *at, *end;
	unsigned line; /* number of the last line taken, from 1 */
};

bool next_line(struct lines *l, struct piece *line); /* without its end */
/* Take the next run of non-blank bytes off `line`; len 0 at the end. */
struct piece next_word(struct piece *line);
bool piece_is(struct piece p, const char *word);
/* Digits only, without a sign; false beyond 18 of them or if there is anything else. */
bool piece_number(struct piece p, int64_t *n);
/* An address alone: no port, no zone index. */
bool piece_address(struct piece p, struct addr *a);

void leasefile_put(struct leasefile *f, const struct lease *l);
void leasefile_remark(struct leasefile *f, enum lease_trouble what, unsigned line, struct piece p);

void read_isc(struct leasefile *f, struct lines *l);
void read_kea(struct leasefile *f, struct lines *l);

#endif
