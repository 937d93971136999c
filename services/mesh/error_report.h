/* DNS error reporting (RFC 9567): a query whose name tells a zone's operators of a failure.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_MESH_ERROR_REPORT_H
#define SERVICES_MESH_ERROR_REPORT_H

#include "util/dns/edns.h"

struct arena;
struct query;
struct question;

/* The agent domain in a server's Report-Channel option, in `a`; NULL when there is none that can be
 * used: neither the root nor a name followed by other bytes. */
const uint8_t *report_agent(const struct edns *e, struct arena *a);

/* Write "_er.1.www.example.7._er.agent.example." to `to` (DNAME_MAX bytes); returns its length, 0
 * when it is too long for a name. */
size_t report_name(uint8_t *to, const struct question *q, int ede, const uint8_t *agent);

/* The client's query `q` has failed: if its servers named an agent, and the reason has an EDE code,
 * send the report query in the background. While its answer is cached it is not sent again. */
void report_failure(const struct query *q);

#endif
