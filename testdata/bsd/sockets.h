/* A kernel like FreeBSD's for the sockets of unit tests, played over this one: options that only BSD has are noted and
 * become this system's, control messages have BSD's form on the way in and out.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * After it the source of a file can be included: it compiles as on FreeBSD, without recvmmsg and sendmmsg. Where the
 * system has no IP_PKTINFO nothing is played, and the file is tested as it is. */
#ifndef TESTDATA_BSD_SOCKETS_H
#define TESTDATA_BSD_SOCKETS_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "util/base/base.h"

#ifdef __linux__

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif
enum { LINUX_PKTINFO = IP_PKTINFO, LINUX_FREEBIND = IPV6_FREEBIND };

/* As FreeBSD has them. */
#undef IP_PKTINFO
#define IP_RECVDSTADDR   7
#define IP_SENDSRCADDR   IP_RECVDSTADDR
#define IP_BINDANY       24
#define IPV6_BINDANY     64
#define IPV6_USE_MIN_MTU 42
#define SO_REUSEPORT_LB  0x10000
#undef HAVE_DECL_SO_REUSEPORT_LB
#define HAVE_DECL_SO_REUSEPORT_LB 1
#undef HAVE_DECL_IP_BINDANY
#define HAVE_DECL_IP_BINDANY 1
#undef HAVE_DECL_IP_TRANSPARENT
#define HAVE_DECL_IP_TRANSPARENT 0
#undef HAVE_DECL_IP_FREEBIND
#define HAVE_DECL_IP_FREEBIND 0
#undef HAVE_DECL_IP_MTU_DISCOVER
#define HAVE_DECL_IP_MTU_DISCOVER 0
#undef HAVE_DECL_IP_PMTUDISC_OMIT
#define HAVE_DECL_IP_PMTUDISC_OMIT 0
#undef HAVE_DECL_SO_TIMESTAMPNS
#define HAVE_DECL_SO_TIMESTAMPNS 0
#undef HAVE_RECVMMSG
#undef HAVE_SENDMMSG
#undef IPV6_FREEBIND
#undef SO_RCVBUFFORCE
#undef SO_SNDBUFFORCE

/* What was asked for, the last of each. */
static struct wish {
	int level, option, value;
} wishes[32];
static unsigned wish_count;

static inline int asked_for(int level, int option)
{
	for (unsigned i = wish_count; i-- > 0;)
		if (wishes[i].level == level && wishes[i].option == option)
			return wishes[i].value;
	return -1;
}

static inline int play_setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	if (wish_count < COUNT(wishes) && len == sizeof(int)) {
		wishes[wish_count] = (struct wish){ .level = level, .option = option };
		memcpy(&wishes[wish_count++].value, value, sizeof(int));
	}
	if (level == IPPROTO_IP && option == IP_RECVDSTADDR)
		option = LINUX_PKTINFO;
	else if (level == SOL_SOCKET && option == SO_REUSEPORT_LB)
		option = SO_REUSEPORT;
	else if (level == IPPROTO_IPV6 && option == IPV6_BINDANY)
		option = LINUX_FREEBIND;
	else if ((level == IPPROTO_IP && option == IP_BINDANY) || (level == IPPROTO_IPV6 && option == IPV6_USE_MIN_MTU))
		return 0;
	return setsockopt(fd, level, option, value, len);
}

static inline void put_control(struct msghdr *h, size_t room, int level, int type, const void *data, size_t len)
{
	struct cmsghdr *at;

	if (h->msg_controllen + CMSG_SPACE(len) > room) {
		h->msg_flags |= MSG_CTRUNC;
		return;
	}
	at = (void *)((char *)h->msg_control + h->msg_controllen);
	at->cmsg_level = level;
	at->cmsg_type = type;
	at->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(at), data, len);
	h->msg_controllen += CMSG_SPACE(len);
}

/* The address a packet was sent to is the data of a control message, not a field of it. */
static inline ssize_t play_recvmsg(int fd, struct msghdr *h, int flags)
{
	_Alignas(struct cmsghdr) char bytes[512];
	struct msghdr mine = *h;
	size_t room = h->msg_control ? h->msg_controllen : 0;
	ssize_t len;

	mine.msg_control = bytes;
	mine.msg_controllen = sizeof bytes;
	len = recvmsg(fd, &mine, flags);
	if (len < 0)
		return len;
	h->msg_namelen = mine.msg_namelen;
	h->msg_flags = mine.msg_flags;
	h->msg_controllen = 0;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&mine); at; at = CMSG_NXTHDR(&mine, at)) {
		struct in_pktinfo info;

		if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == LINUX_PKTINFO) {
			memcpy(&info, CMSG_DATA(at), sizeof info);
			put_control(h, room, IPPROTO_IP, IP_RECVDSTADDR, &info.ipi_addr, sizeof info.ipi_addr);
		} else {
			put_control(h, room, at->cmsg_level, at->cmsg_type, CMSG_DATA(at), at->cmsg_len - CMSG_LEN(0));
		}
	}
	return len;
}

/* As in FreeBSD a source may be given only where the socket has none, and it is an address alone. */
static inline ssize_t play_sendmsg(int fd, const struct msghdr *h, int flags)
{
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))] = { 0 };
	struct cmsghdr *at = h->msg_control ? CMSG_FIRSTHDR(h) : NULL;
	struct sockaddr_in own = { 0 };
	socklen_t len = sizeof own;
	struct in_pktinfo info = { 0 };
	struct msghdr mine = *h;

	if (!at || at->cmsg_level != IPPROTO_IP)
		return sendmsg(fd, h, flags);
	if (at->cmsg_type != IP_SENDSRCADDR || at->cmsg_len != CMSG_LEN(sizeof(struct in_addr)) ||
	    h->msg_controllen != CMSG_SPACE(sizeof(struct in_addr)) ||
	    getsockname(fd, (struct sockaddr *)&own, &len) < 0 || own.sin_addr.s_addr != INADDR_ANY) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&info.ipi_spec_dst, CMSG_DATA(at), sizeof info.ipi_spec_dst);
	mine.msg_control = bytes;
	mine.msg_controllen = 0;
	put_control(&mine, sizeof bytes, IPPROTO_IP, LINUX_PKTINFO, &info, sizeof info);
	return sendmsg(fd, &mine, flags);
}

#define setsockopt play_setsockopt
#define recvmsg    play_recvmsg
#define sendmsg    play_sendmsg

#endif
#endif
