/* The connections of one thread's clients: how many each client has, and who makes room for another.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A client is told by its hash (client_hash: an IPv4 address or an IPv6 /64). A connection is busy while a question
 * of it is in progress, otherwise idle. When all places are taken, the next connection gets that of
 *   - the longest idle connection of the client that would hold the most places, be it the newcomer's;
 *   - else the longest idle one of any client that holds no fewer than the newcomer would;
 *   - else, where another client holds more than the newcomer would, its connection that has been busy longest;
 *   - else one that has been busy for CONN_PATIENCE_US: the newcomer's own, or, if this is its only one, anybody's.
 * Otherwise the newcomer waits for one of these, or, if all its own connections are busy, is refused. */
#ifndef SERVICES_LISTEN_CONNECTION_TABLE_H
#define SERVICES_LISTEN_CONNECTION_TABLE_H

#include "util/base/base.h"
#include "util/base/list.h"

#define CONN_PATIENCE_US UINT64_C(2000000) /* most clients have asked again by then */

struct connclient_held; /* what one client has */
struct connection_table;

/* Embedded in a connection; must not move while it is in the table. */
struct connection_entry {
	struct list by_age;    /* idle ones and busy ones, the longest so first */
	struct list of_client; /* likewise, of its client */
	struct connclient_held *client; /* NULL: not in the table */
	uint64_t since_us;
	bool busy;
};

struct connection_table *connection_table_new(void) MUST_USE;
void connection_table_free(struct connection_table *t); /* empty; NULL is fine */

void connection_table_add(struct connection_table *t, struct connection_entry *e, uint64_t client, uint64_t now_us);
/* It is another client's, as a proxy says. */
void connection_table_pass_on(struct connection_table *t, struct connection_entry *e, uint64_t client);
/* It is busy or idle from now on; also where it was idle before, but has moved on. Busy it is from the first of its
 * questions on until none is in progress, however many come and go. */
void connection_table_note(struct connection_table *t, struct connection_entry *e, bool busy, uint64_t now_us);
void connection_table_remove(struct connection_table *t, struct connection_entry *e); /* harmless when it is not there */

unsigned connection_table_held(const struct connection_table *t, uint64_t client); /* connections of this client */

enum connroom { CONNROOM_MADE, CONNROOM_LATER, CONNROOM_NONE };

/* Who makes room for a connection of `client`: then `*e` is it, to be closed by the caller (CONNROOM_MADE). `may_go`
 * says whether an idle one can be closed now; `has_more`: its client holds more than the newcomer would. */
enum connroom connection_table_make_room(struct connection_table *t, uint64_t client, uint64_t now_us,
				  bool (*may_go)(const struct connection_entry *e, bool has_more),
				  struct connection_entry **e) MUST_USE;

/* Call `fn` for each idle one, the longest idle first; it may close that one. */
void connection_table_each_idle(struct connection_table *t, void (*fn)(struct connection_entry *e));

#endif
