/* TLS streams: keys of session tickets that the process makes itself, and renews.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tls_private.h"

#include <pthread.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#define RENEW_S (12 * 3600) /* twice that is the longest that a ticket can be read */

/* Our own ticket keys, all servers' that have none from files: the present one, and the one before it, which is accepted
 * until the next change. The main thread writes them, workers copy them out. */
static struct {
	pthread_mutex_t lock;
	unsigned count; /* 0: not begun */
	uint8_t keys[2][TICKET_KEY];
	uint64_t since_s;
} own_tickets = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool tls_tickets_begin(void)
{
	bool good;

	pthread_mutex_lock(&own_tickets.lock);
	if (!own_tickets.count && RAND_bytes(own_tickets.keys[0], TICKET_KEY) == 1)
		own_tickets.count = 1;
	good = own_tickets.count;
	pthread_mutex_unlock(&own_tickets.lock);
	return good;
}

void tls_tickets_renew(uint64_t now_s)
{
	uint8_t fresh[TICKET_KEY];

	pthread_mutex_lock(&own_tickets.lock);
	if (!own_tickets.since_s)
		own_tickets.since_s = now_s;
	if (own_tickets.count && now_s - own_tickets.since_s >= RENEW_S &&
	    RAND_bytes(fresh, TICKET_KEY) == 1) {
		memcpy(own_tickets.keys[1], own_tickets.keys[0], TICKET_KEY);
		memcpy(own_tickets.keys[0], fresh, TICKET_KEY);
		own_tickets.count = 2;
		own_tickets.since_s = now_s;
	}
	pthread_mutex_unlock(&own_tickets.lock);
	OPENSSL_cleanse(fresh, sizeof fresh);
}

int tls_tickets_find(const uint8_t *name, uint8_t key[TICKET_KEY])
{
	unsigned i = 0;
	bool found;

	pthread_mutex_lock(&own_tickets.lock);
	while (name && i < own_tickets.count && memcmp(own_tickets.keys[i], name, TICKET_NAME) != 0)
		i++;
	found = i < own_tickets.count;
	if (found)
		memcpy(key, own_tickets.keys[i], TICKET_KEY);
	pthread_mutex_unlock(&own_tickets.lock);
	return found ? (int)i : -1;
}
