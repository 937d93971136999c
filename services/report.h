/* Telling a zone's operators that something of theirs fails (RFC 9567): a question whose name says it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_REPORT_H
#define SERVICES_REPORT_H

#include "util/edns.h"

struct arena;
struct query;
struct question;

/* The agent's name in a server's Report-Channel option, in `a`; NULL when there is none that can be
 * used. A name with anything behind it, and the root, are none. */
const uint8_t *report_agent(const struct edns *e, struct arena *a);

/* "_er.1.www.example.7._er.agent.example.": its length, 0 when that is too long for a name. `to` holds
 * DNAME_MAX bytes. */
size_t report_name(uint8_t *to, const struct question *q, int ede, const uint8_t *agent);

/* The client's query `q` has failed: if its servers named an agent, and the failure has a reason with
 * a code, ask for the report in the background. An answer that is cached is a report that was made. */
void report_failure(const struct query *q);

#endif
