/* The listening sockets of the control channel: TCP addresses and Unix socket paths.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/sockets.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/control/acceptor.h"
#include "daemon/process/daemon.h"
#include "daemon/process/socket_activation.h"
#include "services/net/interfaces.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

struct control_socket {
	struct list link;
	struct control_sockets *all;
	struct acceptor acceptor;
	char *text;        /* a path, or an address with its port */
	char *path;        /* socket file we made, as then seen; NULL: TCP, or service manager's */
	char *path_inside; /* the same, seen from inside the chroot */
	bool wanted, is_new; /* by the configuration that is being taken on, and because of it */
};

static void on_acceptable(struct watch *w, unsigned what)
{
	struct control_socket *d = container_of(w, struct control_socket, acceptor.watch);
	int fd = acceptor_take(&d->acceptor);

	(void)what;
	if (fd >= 0)
		d->all->connected(d->all->owner, fd);
}

static struct control_socket *control_socket_named(struct control_sockets *all, const char *text)
{
	LIST_EACH (at, &all->open) {
		struct control_socket *d = LIST_ITEM(at, struct control_socket, link);

		if (strcmp(d->text, text) == 0)
			return d;
	}
	return NULL;
}

/* The list has the order of the configuration, whatever was open before. */
static void control_socket_stays(struct control_socket *d)
{
	d->wanted = true;
	list_remove(&d->link);
	list_push_back(&d->all->open, &d->link);
}

static void control_socket_close(struct control_socket *d)
{
	list_remove(&d->link);
	acceptor_stop(&d->acceptor);
	mem_free(d->path);
	mem_free(d->path_inside);
	mem_free(d->text);
	mem_free(d);
}

static void control_socket_put(struct control_sockets *all, int fd, const char *text, const char *path)
{
	struct control_socket *d = mem_zero(sizeof *d);

	d->all = all;
	d->text = mem_text(text);
	if (path) {
		d->path = mem_text(path);
		d->path_inside = conf_path_inside(all->daemon->snapshot->conf, text);
	}
	d->wanted = d->is_new = true;
	list_push_back(&all->open, &d->link);
	acceptor_start(&d->acceptor, all->daemon->loop, fd, on_acceptable);
}

/* Remove a socket file left behind by a dead daemon. False with errno: EADDRINUSE if somebody
 * still has that socket, EEXIST if it is no socket. */
static bool clear_path(const struct sockaddr_un *sun)
{
	struct stat st;
	bool refused;
	int fd;

	if (lstat(sun->sun_path, &st) != 0)
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		errno = EEXIST;
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	/* Any other failure means that it is alive: full, or of another kind. */
	refused = connect(fd, (const struct sockaddr *)sun, sizeof *sun) != 0 && errno == ECONNREFUSED;
	close(fd);
	if (refused)
		return unlink(sun->sun_path) == 0;
	errno = EADDRINUSE;
	return false;
}

static int listen_at_path(const struct sockaddr_un *sun)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;
	mode_t mask;
	bool bound;

	if (fd < 0)
		return -1;
	mask = umask(0117);
	bound = bind(fd, (const struct sockaddr *)sun, sizeof *sun) == 0;
	umask(mask);
	if (bound && listen(fd, CONTROL_BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* The socket that the service manager opened at an address, or else a path; -1: none. */
static int activated_socket(const struct daemon *d, const struct addr *a, const char *path)
{
	if (!d->snapshot->conf->server.use_systemd)
		return -1;
	return a ? socket_activation_socket(a, true) : socket_activation_path(path);
}

/* Below /run a folder is gone after a reboot, and where no service manager makes it, nobody does. Only the last one, and
 * for the user the daemon becomes. */
static bool make_folder_of(const struct daemon *d, const char *path)
{
	char *folder = mem_text(path), *slash = strrchr(folder, '/');
	bool made = false;

	if (slash && slash != folder) {
		*slash = '\0';
		made = mkdir(folder, 0755) == 0;
	}
	if (made)
		privileges_give(&d->privileges, folder);
	mem_free(folder);
	return made;
}

static bool open_path(struct control_sockets *all, const char *text, struct fault *f)
{
	const struct daemon *d = all->daemon;
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char *path = d->locked_in ? conf_path_inside(d->snapshot->conf, text) : mem_text(text);
	size_t len = strlen(path);
	int fd = activated_socket(d, NULL, text);

	/* The file belongs to the service manager. */
	if (fd >= 0) {
		control_socket_put(all, fd, text, NULL);
		mem_free(path);
		return true;
	}
	if (len < sizeof sun.sun_path) {
		memcpy(sun.sun_path, path, len + 1);
		if (clear_path(&sun))
			fd = listen_at_path(&sun);
		if (fd < 0 && errno == ENOENT && make_folder_of(d, path))
			fd = listen_at_path(&sun);
	} else {
		errno = ENAMETOOLONG;
	}
	if (fd >= 0) {
		privileges_give(&d->privileges, path);
		control_socket_put(all, fd, text, path);
	} else {
		fault_set(f, "cannot open the control socket %s: %s", path, strerror(errno));
	}
	mem_free(path);
	return fd >= 0;
}

struct opening {
	struct control_sockets *all;
	struct fault *fault;
	bool optional; /* a default, not configured: a host without IPv6 does without */
	bool ok;
};

static void open_address(void *arg, const struct addr *a)
{
	struct opening *o = arg;
	char text[ADDR_TEXT];
	struct control_socket *known;
	int fd;

	addr_print(a, 0, text);
	known = control_socket_named(o->all, text);
	if (known) {
		control_socket_stays(known);
		return;
	}
	fd = activated_socket(o->all->daemon, a, NULL);
	if (fd < 0)
		fd = acceptor_listen(a);
	if (fd >= 0) {
		control_socket_put(o->all, fd, text, NULL);
		return;
	}
	if (o->optional && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		return;
	fault_set(o->fault, "cannot open the control channel at %s: %s", text, strerror(errno));
	o->ok = false;
}

static bool open_one(struct opening *o, const char *text)
{
	const struct conf *conf = o->all->daemon->snapshot->conf;
	struct control_socket *known = control_socket_named(o->all, text);

	if (known)
		control_socket_stays(known);
	else if (*text == '/')
		return open_path(o->all, text, o->fault);
	else if (!interface_expand(text, (uint16_t)conf->remote_control.control_port,
				   conf->server.do_ip4, conf->server.do_ip6, open_address, o,
				   o->fault))
		return false;
	return o->ok;
}

static bool open_configured(struct control_sockets *all, const struct conf_list *list, struct fault *f)
{
	struct opening o = { .all = all, .fault = f, .optional = list->count == 0, .ok = true };
	bool ok = true;

	if (list->count == 0)
		return open_one(&o, "127.0.0.1") && open_one(&o, "::1");
	for (size_t i = 0; ok && i < list->count; i++)
		ok = open_one(&o, list->items[i].text);
	return ok;
}

static void remove_file(const struct control_socket *d)
{
	if (d->path && unlink(d->path) != 0)
		(void)unlink(d->path_inside);
}

/* What is not wanted any more, or if not all that is wanted could be opened, what is new. */
static void close_some(struct control_sockets *all, bool is_complete)
{
	LIST_EACH_SAFE (at, &all->open) {
		struct control_socket *d = LIST_ITEM(at, struct control_socket, link);

		if (is_complete ? d->wanted : !d->is_new) {
			d->is_new = false;
		} else {
			remove_file(d);
			control_socket_close(d);
		}
	}
}

bool control_sockets_open(struct control_sockets *all, struct fault *f)
{
	const struct conf_remote_control *conf = &all->daemon->snapshot->conf->remote_control;
	bool ok;

	LIST_EACH (at, &all->open)
		LIST_ITEM(at, struct control_socket, link)->wanted = false;
	ok = !conf->control_enable || open_configured(all, &conf->control_interface, f);
	close_some(all, ok);
	return ok;
}

void control_sockets_close(struct control_sockets *all)
{
	LIST_EACH_SAFE (at, &all->open)
		control_socket_close(LIST_ITEM(at, struct control_socket, link));
}

bool control_sockets_are_paths(const struct control_sockets *all)
{
	return !list_is_empty(&all->open) && *LIST_ITEM(all->open.next, struct control_socket, link)->text == '/';
}
