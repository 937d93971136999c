/* Leases as Kea keeps them in a file: comma-separated, with column names in the first line.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/leases/private.h"

enum column { ADDRESS, LIFETIME, EXPIRE, KIND, NAME, STATE, COLUMNS };

#define NO_COLUMN  255
#define INFINITE_S INT64_C(0xffffffff)
#define DELEGATED  2 /* lease type: a delegated prefix */

struct head {
	uint8_t at[COLUMNS];
};

static struct piece next_cell(struct piece *line)
{
	const char *comma = memchr(line->at, ',', line->len);
	struct piece cell = { line->at, comma ? (size_t)(comma - line->at) : line->len };

	line->at += cell.len + (comma ? 1u : 0u);
	line->len -= cell.len + (comma ? 1u : 0u);
	while (cell.len && cell.at[cell.len - 1] == '\r')
		cell.len--;
	return cell;
}

/* False if it is no header line, or a required column is missing. */
static bool take_head(struct piece line, struct head *h)
{
	static const char *const names[COLUMNS] = {
		[ADDRESS] = "address", [LIFETIME] = "valid_lifetime", [EXPIRE] = "expire",
		[KIND] = "lease_type", [NAME] = "hostname",           [STATE] = "state",
	};

	memset(h->at, NO_COLUMN, sizeof(h->at));
	for (uint8_t i = 0; line.len && i < NO_COLUMN; i++) {
		struct piece cell = next_cell(&line);

		for (unsigned c = 0; c < COLUMNS; c++)
			if (piece_is(cell, names[c]))
				h->at[c] = i;
	}
	return h->at[ADDRESS] == 0 && h->at[EXPIRE] != NO_COLUMN && h->at[NAME] != NO_COLUMN;
}

static bool take_lease(struct piece line, const struct head *h, struct lease *lease,
		       bool *is_prefix)
{
	struct piece cells[COLUMNS] = { { NULL, 0 } };
	int64_t state = 0, kind = 0, lifetime_s = 1;

	for (uint8_t i = 0; line.len && i < NO_COLUMN; i++) {
		struct piece cell = next_cell(&line);

		for (unsigned c = 0; c < COLUMNS; c++)
			if (h->at[c] == i)
				cells[c] = cell;
	}
	if (!piece_address(cells[ADDRESS], &lease->addr) ||
	    !piece_number(cells[EXPIRE], &lease->ends_s) ||
	    (cells[STATE].len && !piece_number(cells[STATE], &state)) ||
	    (cells[KIND].len && !piece_number(cells[KIND], &kind)) ||
	    (cells[LIFETIME].len && !piece_number(cells[LIFETIME], &lifetime_s)))
		return false;
	if (lifetime_s == INFINITE_S)
		lease->ends_s = LEASE_FOREVER;
	lease->gone = state != 0 || lifetime_s == 0;
	lease->name = cells[NAME].at;
	lease->name_len = (unsigned)MIN(cells[NAME].len, 1024u);
	*is_prefix = kind == DELEGATED;
	return true;
}

void read_kea(struct leasefile *f, struct lines *l)
{
	struct head h;
	struct piece line;
	bool has_head = false, is_prefix;

	while (next_line(l, &line)) {
		struct lease lease = { .line = l->line };

		if (line.len == 0)
			continue;
		if (line.len > 8 && memcmp(line.at, "address,", 8) == 0) {
			has_head = take_head(line, &h);
			if (has_head)
				continue;
		}
		if (!has_head || !take_lease(line, &h, &lease, &is_prefix))
			leasefile_remark(f, TROUBLE_garbled, l->line, line);
		else if (!is_prefix)
			leasefile_put(f, &lease);
	}
}
