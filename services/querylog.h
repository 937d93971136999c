/* Lines about each question and each answer: log-queries, log-replies, log-servfail.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In Unbound's form, for the scripts that read it. Callers ask the configuration first. */
#ifndef SERVICES_QUERYLOG_H
#define SERVICES_QUERYLOG_H

#include "util/msg.h"

struct client;
struct conf_server;

/* "192.0.2.1 www.example.com. A IN" */
void querylog_question(const struct conf_server *s, const struct client *c,
		       const struct question *q);

/* The same and "NOERROR 0.001234 1 45": rcode, seconds since it was asked, whether it was cached,
 * size; with log-destaddr " on udp 192.0.2.53 53" behind it. */
struct querylog_answer {
	const struct question *q;
	enum rcode rcode;
	uint64_t took_us;
	bool cached;
	size_t len;
};
void querylog_answer(const struct conf_server *s, const struct client *c,
		     const struct querylog_answer *a);

/* Local data acted: "example.com. inform 192.0.2.1@53000 www.example.com. A IN"; an address in an
 * answer did: the same with its netblock in front. */
void querylog_local(const uint8_t *zone, const char *action, const struct client *c,
		    const struct question *q);
void querylog_address(const char *block, const char *action, const struct client *c,
		      const struct question *q);

/* A policy zone did: "rpz: applied [label] example.com. rpz-nxdomain 192.0.2.1@53000 www.example.com. A
 * IN"; without a label the brackets are left out. */
void querylog_policy(const char *label, const char *trigger, const char *action,
		     const struct client *c, const struct question *q);

/* log-servfail: "SERVFAIL <www.example.com. A IN>: why"; `text` says more, or is NULL. */
void querylog_failure(const struct question *q, enum reason reason, const char *text);

#endif
