/* Gives a program's UDP sockets room for a thousand questions where it has no option for it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * gcc -shared -fPIC, LD_PRELOAD. What net.core.rmem_default would do, for one program and its
 * children: in a benchmark all servers get the same, and losses are the servers' own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>

int bind(int fd, const struct sockaddr *at, socklen_t len)
{
	int (*next)(int, const struct sockaddr *, socklen_t);
	int type = 0, size = 4 << 20;
	socklen_t type_len = sizeof(type);

	*(void **)&next = dlsym(RTLD_NEXT, "bind");
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_DGRAM &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return next(fd, at, len);
}
