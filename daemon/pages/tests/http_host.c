/* Claims about the names by which the pages may be asked for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/pages/http_host.h"

#include <stdio.h>
#include <string.h>

#include "services/tests/conf.h"
#include "util/conf/options.h"

static void a_host_is_found_among_the_fields(void **state)
{
	(void)state;
	static const struct {
		const char *fields, *want;
	} rows[] = {
		{ "Accept: */*\r\nHost: a.example:9167\r\n\r\n", "a.example:9167" },
		{ "host:\t[::1]:9167 \r\n\r\n", "[::1]:9167" },
		{ "HOST: x\n\n", "x" },
		{ "Host:\r\n\r\n", "" },
		{ "X-Host: x\r\nHostile: x\r\n\r\n", NULL },
		{ "\r\n", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char fields[100];
		const char *got;

		snprintf(fields, sizeof fields, "%s", rows[i].fields);
		got = http_host_find(fields);
		if (!got != !rows[i].want || (got && strcmp(got, rows[i].want) != 0))
			fail_msg("%s: %s", rows[i].fields, got ? got : "none");
	}
}

static void an_unknown_host_header_is_rejected(void **state)
{
	(void)state;
	static const struct {
		const char *why, *host;
		bool want;
	} rows[] = {
		{ "an address", "127.0.0.1:9167", true },
		{ "an address without a port", "192.0.2.1", true },
		{ "an address of IPv6", "[::1]:9167", true },
		{ "localhost", "localhost:9167", true },
		{ "a name below it", "metrics.LOCALHOST.:9167", true },
		{ "a name that no stranger can have", "resolver:9167", true },
		{ "no name", "", true },
		{ "a name of the configuration", "Dns.example.net:9167", true },
		{ "with the last dot", "dns.example.net.", true },
		{ "a stranger's", "evil.example:9167", false },
		{ "a stranger's with an address in it", "127.0.0.1.evil.example", false },
		{ "one below ours", "x.dns.example.net", false },
		{ "a stranger's with localhost in it", "localhost.evil.example", false },
		{ "one that ends like localhost", "evil.notlocalhost", false },
	};
	struct conf *conf = conf_from("metrics:\n\tmetrics-host: \"dns.example.net\"\n");

	for (size_t i = 0; i < COUNT(rows); i++) {
		char host[100];

		snprintf(host, sizeof host, "%s", rows[i].host);
		if (http_host_is_ours(host, &conf->metrics.metrics_host) != rows[i].want)
			fail_msg("%s: %s", rows[i].why, rows[i].host);
	}
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_found_among_the_fields),
		cmocka_unit_test(an_unknown_host_header_is_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
