/* What FreeBSD's pf(4) says of filling a table, so that util/net/kernset_pf.c is tested where there is no pf.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_BSD_NET_PFVAR_H
#define TESTDATA_BSD_NET_PFVAR_H

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#define PF_TABLE_NAME_SIZE 32

struct pfr_addr {
	union {
		struct in_addr v4;
		struct in6_addr v6;
	} pfra_u;
	uint8_t pfra_af, pfra_net, pfra_not, pfra_fback;
};
#define pfra_ip4addr pfra_u.v4
#define pfra_ip6addr pfra_u.v6

struct pfr_table {
	char pfrt_anchor[1024], pfrt_name[PF_TABLE_NAME_SIZE];
	uint32_t pfrt_flags;
	uint8_t pfrt_fback;
};

struct pfioc_table {
	struct pfr_table pfrio_table;
	void *pfrio_buffer;
	int pfrio_esize, pfrio_size, pfrio_size2;
	int pfrio_nadd, pfrio_ndel, pfrio_nchange;
	int pfrio_flags;
	uint32_t pfrio_ticket;
};

#define DIOCRADDADDRS _IOWR('D', 67, struct pfioc_table)

#endif
