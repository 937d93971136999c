/* Any text at all: an address that parses prints as one that parses to the same.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/net/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_addr(const char *text)
{
	struct fault f = { .set = false };
	struct sockaddr_storage ss;
	char buf[ADDR_TEXT];
	struct addr a, again;
	socklen_t ss_len;

	if (!addr_parse(&a, text, 53, &f)) {
		PROMISE(f.set && a.family == 0);
		return;
	}
	PROMISE(!f.set);
	PROMISE(addr_parse(&again, addr_print(&a, 53, buf), 53, NULL));
	PROMISE(addr_equals(&a, &again));
	ss_len = addr_to_sockaddr(&a, &ss);
	PROMISE(addr_from_sockaddr(&again, (const struct sockaddr *)&ss, ss_len));
	PROMISE(addr_equals(&a, &again) && addr_hash(&a) == addr_hash(&again));
}

static void check_netblock(const char *text, struct netset *s)
{
	struct fault f = { .set = false };
	char buf[ADDR_TEXT];
	struct netblock n, again;

	if (!netblock_parse(&n, text, &f)) {
		PROMISE(f.set && n.net.family == 0);
		return;
	}
	PROMISE(netblock_parse(&again, netblock_print(&n, buf), NULL));
	PROMISE(n.bits == again.bits && addr_equals(&n.net, &again.net));
	PROMISE(netblock_holds(&n, &n.net));
	netset_put(s, &n, s);
	PROMISE(netset_find_exact(s, &n) == s);
	PROMISE(netset_find(s, &n.net) == s);
}

/* Each line is tried as both, and all netblocks go into one set. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = mem_new(len + 1), *line, *rest = text;
	struct netset *s = netset_new();

	memcpy(text, data, len);
	text[len] = 0;
	while ((line = strsep(&rest, "\n"))) {
		check_addr(line);
		check_netblock(line, s);
	}
	netset_free(s);
	mem_free(text);
	return 0;
}
