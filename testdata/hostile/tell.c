/* A world as it happens, for people.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/replay/rrs.h"
#include "testdata/hostile/trace.h"
#include "util/base/arena.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

static void tell_message(const char *what, const struct addr *who, bool tcp, struct slice wire)
{
	char addr[ADDR_TEXT], name[DNAME_TEXT] = "-", type[16], text[400];
	struct flat_message m;
	struct arena a;

	arena_init(&a);
	if (!flat_read(wire, &a, &m)) {
		printf("%s %s%s: %zu bytes that are no message\n", what, addr_print(who, 53, addr), tcp ? " tcp" : "",
		       wire.len);
		arena_clear(&a);
		return;
	}
	printf("%s %s%s: %s %s rcode %u flags %04x%s\n", what, addr_print(who, 53, addr), tcp ? " tcp" : "",
	       m.qname ? dname_print(m.qname, name) : name, rr_type_name(m.qtype, type), m.rcode, m.flags,
	       m.edns.present ? "" : " no EDNS");
	for (unsigned s = 0; s < 3; s++)
		for (unsigned i = 0; i < m.count[s]; i++) {
			flat_rr_print(&m.rrs[s][i], text, sizeof(text));
			printf("    %c %s\n", "ANX"[s], text);
		}
	arena_clear(&a);
}

static void tell_config(struct trace *t, const char *text)
{
	(void)t;
	printf("%s", text);
}

static void tell_asked(struct trace *t, const struct addr *from, bool tcp, struct slice query)
{
	(void)t;
	tell_message("client", from, tcp, query);
}

static void tell_answered(struct trace *t, const struct addr *to, bool tcp, struct slice answer)
{
	(void)t;
	tell_message("answer to client", to, tcp, answer);
}

static void tell_sent(struct trace *t, const struct addr *to, bool tcp, struct slice query)
{
	(void)t;
	tell_message("  asks", to, tcp, query);
}

static void tell_told(struct trace *t, const struct addr *from, bool tcp, struct slice query, struct slice answer)
{
	(void)t;
	if (answer.len)
		tell_message("  answer of", from, tcp, answer);
	else
		tell_message("  silence of", from, tcp, query);
}

static void tell_passed(struct trace *t, uint64_t us)
{
	(void)t;
	if (us > 50000)
		printf("  %" PRIu64 " ms pass\n", us / 1000);
}

static void tell_noted(struct trace *t, const char *what)
{
	(void)t;
	printf("  %s\n", what);
}

struct trace trace_tell = {
	.config = tell_config,
	.asked = tell_asked,
	.answered = tell_answered,
	.sent = tell_sent,
	.told = tell_told,
	.passed = tell_passed,
	.noted = tell_noted,
};
