/* Log lines for queries and replies: log-queries, log-replies, log-servfail.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In Unbound's format, for existing scripts. Callers check the configuration first. */
#ifndef SERVICES_HISTORY_QUERYLOG_H
#define SERVICES_HISTORY_QUERYLOG_H

#include "util/dns/msg.h"

struct client;
struct conf_server;

/* "192.0.2.1 www.example.com. A IN" */
void querylog_question(const struct conf_server *s, const struct client *c,
		       const struct question *q);

/* The same followed by "NOERROR 0.001234 1 45": rcode, seconds taken, whether it was cached, size;
 * with log-destaddr also " on udp 192.0.2.53 53". */
struct querylog_answer {
	const struct question *q;
	enum rcode rcode;
	uint64_t took_us;
	bool cached;
	size_t len;
};
void querylog_answer(const struct conf_server *s, const struct client *c,
		     const struct querylog_answer *a);

/* A local zone matched: "example.com. inform 192.0.2.1@53000 www.example.com. A IN"; an address in
 * an answer matched: the same with its netblock in place of the zone. */
void querylog_local(const uint8_t *zone, const char *action, const struct client *c,
		    const struct question *q);
void querylog_address(const char *block, const char *action, const struct client *c,
		      const struct question *q);

/* A policy zone matched: "rpz: applied [label] example.com. rpz-nxdomain 192.0.2.1@53000
 * www.example.com. A IN"; without a label the brackets are omitted. */
void querylog_policy(const char *label, const char *trigger, const char *action,
		     const struct client *c, const struct question *q);

/* A rate limit was exceeded: "ip_ratelimit exceeded 192.0.2.1 100 www.example.com. A IN", of the servers of a zone "ratelimit
 * exceeded example.com. 100 query www.example.com. A IN". With verbosity 1. */
void querylog_client_rate(const struct client *c, const struct question *q, uint32_t limit);
void querylog_zone_rate(const uint8_t *zone, const struct question *q, uint32_t limit);

/* log-servfail: "SERVFAIL <www.example.com. A IN>: why"; `text` says more, or is NULL. */
void querylog_failure(const struct question *q, enum reason reason, const char *text);

#endif
