/* Claims about connections from addresses that are drawn, as BSD compiles it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/bsd/sockets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#ifndef __linux__
int main(void)
{
	return 77; /* skipped: what is played are Linux's sockets */
}
#else

#include "services/net/dial.c"
#include "services/net/source.c"
#undef setsockopt

#include "services/tests/conf.h"

/* The system does not have it as a local address, and is told not to mind. */
static void an_address_that_is_drawn_may_be_bound_to(void **state)
{
	(void)state;
	static const struct {
		const char *why, *source;
		int want; /* -1: not asked for */
	} rows[] = {
		{ "drawn from a netblock", "2001:db8:1:2::/64", 1 },
		{ "one of the host's", "::1", -1 },
	};
	struct random random;

	random_init(&random);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sources *sources;
		struct conf *conf;
		struct addr to;
		char text[96];
		int fd;

		snprintf(text, sizeof text, "server: outgoing-interface: %s\n", rows[i].source);
		conf = conf_from(text);
		sources = sources_new(conf, false);
		assert_true(addr_parse(&to, "::1", 5399, NULL));
		wish_count = 0;
		fd = dial_begin(&conf->server, sources, &random, &to); /* whether it connects depends on the host's routes */
		if (asked_for(IPPROTO_IPV6, IPV6_BINDANY) != rows[i].want)
			fail_msg("%s: %d", rows[i].why, asked_for(IPPROTO_IPV6, IPV6_BINDANY));
		if (fd >= 0)
			close(fd);
		sources_free(sources);
		conf_free(conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_that_is_drawn_may_be_bound_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
