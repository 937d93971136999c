/* A listening socket, opened and bound as configured.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LISTEN_SOCKET_H
#define SERVICES_LISTEN_SOCKET_H

#include "services/net/interfaces.h"

struct conf;

struct listen_socket {
	int fd;
	bool stream;         /* TCP, listening; else UDP */
	struct interface at; /* where it is bound, with its actual port */
};

struct listen_socket_how {
	const struct conf *conf;
	bool shared_port; /* other threads open the same port: SO_REUSEPORT */
	bool first;       /* the first of them: check that no other program uses it */
};

/* False with a sentence that names address, transport and reason. True with fd -1: the address is
 * optional, and this host lacks it or its family. */
bool listen_socket_open(struct listen_socket *s, const struct interface *at, bool stream,
			const struct listen_socket_how *how, struct fault *f) MUST_USE;
/* Use `fd`, which was bound by somebody else; takes it over. Sets the options that still can be. */
void listen_socket_adopt(struct listen_socket *s, const struct interface *at, bool stream,
			 const struct conf *conf, int fd);
/* Duplicate the descriptor, for a thread that cannot have a socket of its own. */
bool listen_socket_share(struct listen_socket *s, const struct listen_socket *from,
			 struct fault *f) MUST_USE;
void listen_socket_close(struct listen_socket *s); /* harmless when not open */

/* A reload no longer names this socket: its thread will leave it, perhaps only once its last clients
 * have their answers. Until then its address cannot be bound anew, but the socket can be had back. */
void listen_socket_part(const struct listen_socket *s);
/* Have one back, as a descriptor of its own: the first that is being left at this address, or that of
 * the `number` after it. False: there is none. */
bool listen_socket_return(struct listen_socket *s, const struct interface *at, bool stream,
			  unsigned number) MUST_USE;
/* Close the descriptor of a socket that was served. */
void listen_socket_leave(int fd);

#endif
