/* Parsing a primary, the server a zone is transferred from, as configured.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/primary.h"

#include <stdlib.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/dname.h"

#define TLS_PORT 853

bool primary_read(struct arena *a, const char *text, struct primary *p)
{
	char *copy = arena_copy(a, text, strlen(text) + 1), *hash = strchr(copy, '#'), *at;
	struct fault f = { 0 };

	*p = (struct primary){ .tls_name = NULL, .port = 53 };
	if (hash) {
		*hash = '\0';
		p->tls_name = hash + 1;
		p->port = TLS_PORT;
	}
	if (addr_parse(&p->addr, copy, p->port, &f))
		return true;
	p->addr.family = 0;
	at = strchr(copy, '@');
	if (at) {
		*at = '\0';
		p->port = (uint16_t)strtoul(at + 1, NULL, 10);
	}
	p->host = arena_take(a, DNAME_MAX);
	return dname_parse((uint8_t *)(uintptr_t)p->host, copy, &f) > 0;
}
