/* Claims about who gets file descriptors where there are too few.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/fd_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "services/tests/conf.h"

static void clients_never_take_what_asking_needs(void **state)
{
	static const struct {
		const char *why, *conf;
		uint64_t limit;
		uint32_t clients, ports, servers;
	} rows[] = {
		{ "all there is", "", UINT64_MAX, 10, 4096, 10 },
		{ "enough", " incoming-num-tcp: 1000\n", 6000, 1000, 4096, 10 },
		{ "clients get half", " incoming-num-tcp: 10000\n", 1058, 500, 490, 10 },
		{ "those few want no more", "", 1058, 10, 980, 10 },
		{ "connections to servers get a quarter", " outgoing-num-tcp: 1000\n", 1058, 10, 740, 250 },
		{ "each thread has its part", " num-threads: 4\n incoming-num-tcp: 10000\n", 1088,
		  125, 115, 10 },
		{ "hardly any", " incoming-num-tcp: 10000\n", 64, 3, 4, 1 },
		{ "none at all", " incoming-num-tcp: 10000\n", 20, 2, 4, 1 },
		{ "none at all, and none wanted", " incoming-num-tcp: 0\n outgoing-range: 1\n", 20, 0, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fd_limits_share share;
		struct conf *conf;
		char text[128];

		snprintf(text, sizeof text, "server:\n%s", rows[i].conf);
		conf = conf_from(text);
		share = fd_limits_divide(conf, rows[i].limit);
		if (share.clients != rows[i].clients || share.ports != rows[i].ports ||
		    share.servers != rows[i].servers)
			fail_msg("%s: %u, %u and %u, not %u, %u and %u", rows[i].why, share.clients,
				 share.ports, share.servers, rows[i].clients, rows[i].ports,
				 rows[i].servers);
		assert_true(share.clients + share.ports <= rows[i].limit);
		conf_free(conf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_never_take_what_asking_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
