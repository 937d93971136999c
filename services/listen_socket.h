/* A service socket: opened and bound as the options ask.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LISTEN_SOCKET_H
#define SERVICES_LISTEN_SOCKET_H

#include "services/interfaces.h"

struct conf;

struct listen_socket {
	int fd;
	bool stream;         /* TCP, listening; else UDP */
	struct interface at; /* where it is bound, with the port it really got */
};

struct listen_socket_how {
	const struct conf *conf;
	bool shared_port; /* other threads open the same one: SO_REUSEPORT */
	bool first;       /* first of them: look whether another program is there */
};

/* False with a sentence that names address, transport and reason. True with fd -1: the address is
 * optional and this host lacks it or its family. */
bool listen_socket_open(struct listen_socket *s, const struct interface *at, bool stream,
			const struct listen_socket_how *how, struct fault *f) MUST_USE;
/* Serve on `fd`, which somebody else bound there; takes it over. What can still be set is. */
void listen_socket_adopt(struct listen_socket *s, const struct interface *at, bool stream,
			 const struct conf *conf, int fd);
/* Another descriptor of the same socket, for a thread that cannot have one of its own. */
bool listen_socket_share(struct listen_socket *s, const struct listen_socket *from,
			 struct fault *f) MUST_USE;
void listen_socket_close(struct listen_socket *s); /* harmless when it is not open */

#endif
