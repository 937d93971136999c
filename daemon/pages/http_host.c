/* By which names the pages may be asked for (DNS rebinding).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/pages/http_host.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "util/conf/options.h"
#include "util/net/addr.h"

#define NAME_ROOM 256

char *http_host_find(char *fields)
{
	static const char field[] = "Host:";

	for (char *line = fields; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncasecmp(line, field, sizeof field - 1) == 0) {
			char *host = line + sizeof field - 1;

			host += strspn(host, " \t");
			host[strcspn(host, " \t\r\n")] = '\0';
			return host;
		}
	return NULL;
}

static bool same_name(const char *a, const char *b)
{
	size_t len = strlen(a), other = strlen(b);

	len -= len && a[len - 1] == '.';
	other -= other && b[other - 1] == '.';
	return len == other && strncasecmp(a, b, len) == 0;
}

static bool is_below_localhost(const char *host)
{
	const char *last = strrchr(host, '.');

	return last && same_name(last + 1, "localhost");
}

bool http_host_is_ours(char *host, const struct conf_list *names)
{
	char own[NAME_ROOM] = "";
	struct addr a;

	if (*host == '[')
		return true; /* an address of IPv6 */
	host[strcspn(host, ":")] = '\0';
	if (*host && host[strlen(host) - 1] == '.')
		host[strlen(host) - 1] = '\0';
	if (!strchr(host, '.') || is_below_localhost(host) || addr_parse(&a, host, 0, NULL))
		return true;
	if (gethostname(own, sizeof own - 1) == 0 && same_name(host, own))
		return true;
	for (size_t i = 0; i < names->count; i++)
		if (same_name(host, names->items[i].text))
			return true;
	return false;
}
