/* The formats that the reader of lists chooses among; each is a file of its own.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_PRIVATE_H
#define SERVICES_BLOCKLIST_PRIVATE_H

#include "services/blocklist/line.h"

struct fault;
struct blocklist_json;

/* Each parses one line of its kind, with surrounding blanks removed. */
void blocklist_read_adblock(struct blocklist_reader *r, struct word line);
void blocklist_read_zone(struct blocklist_reader *r, const char *line, bool indented);
/* A row of a table with commas: true when the line was one; it is then handled. */
bool blocklist_read_row(struct blocklist_reader *r, const char *line);
/* Whether a line begins a policy zone, or can only be a record of one. */
bool blocklist_is_zone(const struct blocklist_reader *r, const char *line);

/* JSON, from its first bracket on (json.c). */
void blocklist_json_begin(struct blocklist_reader *r);
void blocklist_json_free(struct blocklist_json *j); /* NULL is fine */
bool blocklist_json_take(struct blocklist_reader *r, const char *bytes, size_t len,
			 struct fault *f);
bool blocklist_json_end(struct blocklist_reader *r, struct fault *f);

#endif
