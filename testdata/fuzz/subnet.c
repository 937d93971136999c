/* Any bytes at all as a client subnet: what is well-formed is written as it was.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/subnet.h"

#include "util/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[SUBNET_OPTION_MAX];
	struct subnet_option o;

	if (!subnet_read(&o, &(struct slice){ data, len }))
		return 0;
	PROMISE(len <= sizeof(again) && subnet_write(&o, again) == len);
	PROMISE(memcmp(again, data, len) == 0);
	for (unsigned most = 0; o.family && most <= 128; most++) {
		struct netblock n = subnet_to_send(&o, most);
		struct subnet_option shown = subnet_shown(&n);
		struct addr whole = { .family = n.net.family };

		memcpy(whole.ip, o.ip, sizeof(whole.ip));
		PROMISE(n.bits <= most && n.bits <= o.source && netblock_holds(&n, &whole));
		PROMISE(subnet_echoes(&shown, &n));
	}
	return 0;
}
