/* Linux capabilities: which of them the process keeps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/capabilities.h"

#if defined(HAVE_LINUX_CAPABILITY_H) && defined(HAVE_SYS_PRCTL_H)

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "util/base/log.h"
#include "util/conf/options.h"

#define POWER(capability) ((uint64_t)1 << (capability))
#define MOST_POWERS       64

static uint64_t needed(const struct conf *conf, bool as_root)
{
	uint64_t powers = POWER(CAP_NET_BIND_SERVICE);

	if (conf->server.ip_transparent)
		powers |= POWER(CAP_NET_RAW);
	if (as_root)
		powers |= POWER(CAP_DAC_OVERRIDE) | POWER(CAP_FOWNER) | POWER(CAP_SYS_RESOURCE);
	if (as_root && (conf_was_given(conf, "so-rcvbuf") || conf_was_given(conf, "so-sndbuf")))
		powers |= POWER(CAP_NET_ADMIN); /* buffers beyond the system's limit */
	if (conf_fills_sets(conf))
		powers |= POWER(CAP_NET_ADMIN);
	return powers;
}

void capabilities_carry(void)
{
	(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
}

/* Drop the others from the bounding and ambient sets. Needs CAP_SETPCAP to be still effective. */
static void limit_bounds(uint64_t powers)
{
	for (unsigned i = 0; i < MOST_POWERS; i++)
		if (!(powers & POWER(i)))
			(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
#ifdef PR_CAP_AMBIENT
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
#endif
}

void capabilities_limit(const struct conf *conf, bool as_root)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t powers = needed(conf, as_root);

	if (syscall(SYS_capget, &head, data) != 0)
		return;
	/* What was kept across the change of user is permitted, but not effective. */
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i].effective = data[i].permitted;
	if (syscall(SYS_capset, &head, data) == 0)
		limit_bounds(powers);
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(powers >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &head, data) != 0)
		log_notice("cannot drop capabilities: %s", strerror(errno));
	(void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
}

#else

void capabilities_carry(void)
{
}

void capabilities_limit(const struct conf *conf, bool as_root)
{
	(void)conf, (void)as_root;
}

#endif
