/* In place of the pages in a build without them: metrics-enable is refused (util/conf).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/pages/pages.h"

struct pages {
	int nothing;
};

struct pages *pages_open(struct daemon *d UNUSED, struct fault *f UNUSED)
{
	static struct pages none;

	return &none;
}

void pages_reopen(struct pages *p UNUSED)
{
}

void pages_close(struct pages *p UNUSED)
{
}
