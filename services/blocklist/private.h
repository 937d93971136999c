/* The formats that the reader of lists chooses among; each is a file of its own.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_PRIVATE_H
#define SERVICES_BLOCKLIST_PRIVATE_H

#include "services/blocklist/line.h"

struct fault;
struct list_json;

/* Each parses one line of its kind, with surrounding blanks removed. */
void list_read_adblock(struct list_reader *r, struct word line);
void list_read_zone(struct list_reader *r, const char *line, bool indented);
/* A row of a table with commas: true when the line was one; it is then handled. */
bool list_read_row(struct list_reader *r, const char *line);
/* Whether a line begins a policy zone, or can only be a record of one. */
bool list_is_zone(const struct list_reader *r, const char *line);

/* JSON, from its first bracket on (json.c). */
void list_json_begin(struct list_reader *r);
void list_json_free(struct list_json *j); /* NULL is fine */
bool list_json_take(struct list_reader *r, const char *bytes, size_t len, struct fault *f);
bool list_json_end(struct list_reader *r, struct fault *f);

#endif
