/* Sets of addresses in the kernel's packet filter: tables of pf, on BSD.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As pf(4) says: DIOCRADDADDRS on /dev/pf, whose right to write is looked at when it is opened. The
 * one descriptor serves all sets and threads: the kernel keeps nothing with it. */
#include "util/net/kernset.h"

#ifdef HAVE_PF

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <net/if.h>
#include <net/pfvar.h>
#include <sys/ioctl.h>

#include "util/base/fault.h"
#include "util/base/mem.h"

#define DEVICE "/dev/pf"

struct kernset {
	char table[PF_TABLE_NAME_SIZE];
};

static struct {
	int fd;       /* of DEVICE; -1: not open */
	int why_not;  /* errno of the first attempt to open it, which had the best chance; 0: none failed */
} device = { .fd = -1 };

/* ---- names ---- */

static bool read_name(const char *text, struct kernset *to, struct fault *f)
{
	const char *at = text + strspn(text, " \t");
	size_t len = strcspn(at, " \t");

	if (len == 0 || at[len + strspn(at + len, " \t")] != '\0') {
		fault_set(f, "'%s': expected the name of a table of pf, which is one word", text);
		return false;
	}
	if (len >= sizeof to->table) {
		fault_set(f, "'%s': names of pf's tables have at most %d characters", text, (int)sizeof to->table - 1);
		return false;
	}
	*to = (struct kernset){ 0 };
	memcpy(to->table, at, len);
	return true;
}

bool kernset_check(const char *name, struct fault *f)
{
	struct kernset s;

	return read_name(name, &s, f);
}

const char *kernset_lack(void)
{
	return NULL;
}

/* ---- the device ---- */

void kernset_prepare(void)
{
	if (device.fd >= 0)
		return;
	device.fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (device.fd < 0 && device.why_not == 0)
		device.why_not = errno;
}

struct kernset *kernset_open(const char *name, struct fault *f)
{
	struct kernset n, *s;

	if (!read_name(name, &n, f))
		return NULL;
	kernset_prepare();
	if (device.fd < 0) {
		fault_set(f, "cannot open " DEVICE ": %s",
			  device.why_not == ENOENT ? "pf is not loaded" : strerror(device.why_not));
		return NULL;
	}
	s = mem_new(sizeof *s);
	*s = n;
	return s;
}

void kernset_close(struct kernset *s)
{
	mem_free(s);
}

/* ---- adding ---- */

static struct pfr_addr element_of(const struct addr *a)
{
	struct pfr_addr e = { 0 };

	if (a->family == 4) {
		e.pfra_af = AF_INET;
		e.pfra_net = 32;
		memcpy(&e.pfra_ip4addr, a->ip, 4);
	} else {
		e.pfra_af = AF_INET6;
		e.pfra_net = 128;
		memcpy(&e.pfra_ip6addr, a->ip, 16);
	}
	return e;
}

static const char *words_of(int error)
{
	return error == ESRCH ? "there is no such table"
	       : error == EPERM || error == EACCES ? "the table may not be changed: it is const, or the securelevel forbids it"
	       : error == ENOMEM ? "pf's limit of entries in tables is reached"
				 : strerror(error);
}

/* An address that is in the table already is no error, and is left as it is. */
bool kernset_add(struct kernset *s, const struct addr *a, struct fault *f)
{
	struct pfr_addr element = element_of(a);
	struct pfioc_table request;
	int error;

	do {
		memset(&request, 0, sizeof request);
		memcpy(request.pfrio_table.pfrt_name, s->table, sizeof s->table);
		request.pfrio_buffer = &element;
		request.pfrio_esize = sizeof element;
		request.pfrio_size = 1;
		error = ioctl(device.fd, DIOCRADDADDRS, &request) < 0 ? errno : 0;
	} while (error == EINTR);
	if (error == 0)
		return true;
	fault_set(f, "%s", words_of(error));
	return false;
}

#endif
