/* What tests of scrubbing have in common: what is left of a response, as text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_TESTS_SCRUB_ROW_H
#define ITERATOR_TESTS_SCRUB_ROW_H

#include "iterator/scrub.h"
#include "services/query/snapshot.h"
#include "services/tests/made.h"
#include "util/conf/options.h"

#define NOW  1000
#define A    "www.example.com. 60 A 192.0.2.1"
#define NS   "example.com. 60 NS ns.example.com."
#define GLUE "ns.example.com. 60 A 192.0.2.53"
#define SOA  "example.com. 60 SOA ns.example.com. root.example.com. 1 2 3 4 5"

/* "owner/type owner/type | … | …" */
static inline const char *sections(const struct message *m, char *to, size_t room)
{
	char name[DNAME_TEXT], type[16];
	unsigned left = 0;
	size_t len = 0;

	to[0] = 0;
	for (unsigned s = 0; s < 3; s++) {
		if (s)
			len += (size_t)snprintf(to + len, room - len, "|");
		for (unsigned i = 0; i < m->count[s]; i++, left++)
			len += (size_t)snprintf(to + len, room - len, "%s%s/%s", i ? " " : "",
						dname_print(rrset_owner(m->sets[left]), name),
						rr_type_name(m->sets[left]->type, type));
	}
	return to;
}

static inline struct snapshot *options_with(const char *line, struct snapshot *s)
{
	struct fault f = { 0 };

	*s = (struct snapshot){ .conf = conf_new() };
	if (line && !conf_set_option(s->conf, line, &f))
		fail_msg("%s: %s", line, f.text);
	return s;
}

/* Said by a server of example.com. */
struct row {
	const char *why, *name;
	uint16_t type;
	uint8_t rcode;
	uint16_t flags;
	bool forwarder;
	const char *option;
	const char *section[3];
	const char *want; /* NULL: refused as a whole */
};

static inline void check(const struct row *row)
{
	struct made how = { row->name,
			    row->type,
			    row->rcode,
			    { row->section[0], row->section[1], row->section[2] } };
	struct snapshot options;
	struct arena a;
	struct message *m;
	char got[1024];
	uint8_t zone[DNAME_MAX];

	arena_init(&a);
	dname_copy_lower(zone, N("example.com."));
	m = made_message(&a, NOW, &how);
	m->flags = FLAG_QR | row->flags;
	struct question asked = m->q;
	bool ok = scrub(m, &(struct scrub_how){
				   .asked = &asked,
				   .zone = zone,
				   .snapshot = options_with(row->option, &options),
				   .forwarder = row->forwarder,
				   .arena = &a,
			   });
	if (ok != (row->want != NULL))
		fail_msg("%s: %s", row->why, ok ? "let through" : "refused");
	if (ok && strcmp(sections(m, got, sizeof(got)), row->want) != 0)
		fail_msg("%s: %s, not %s", row->why, got, row->want);
	conf_free(options.conf);
	arena_clear(&a);
}

#endif
