/* The control channel: sockets, connections, and the way of a command through the threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/call.h"
#include "daemon/call_text.h"
#include "daemon/daemon.h"
#include "daemon/handed.h"
#include "daemon/knock.h"
#include "daemon/worker.h"
#include "services/interfaces.h"
#include "services/snapshot.h"
#include "services/tls_conf.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/stream.h"
#include "util/tls.h"

#define CONNECTIONS_MOST 10
#define ASK_TIME_US      (120 * US_PER_S) /* for the whole request */
#define TAKE_TIME_US     (60 * US_PER_S)  /* without taking a byte of the reply */
#define BACKLOG          16
#define ITEM_MOST        2048 /* bytes of a line of a body, its end included */

struct door {
	struct list link;
	struct control *control;
	struct knock knock;
	char *text;        /* a path, or an address with its port */
	char *path;        /* of the socket's file, as it was made; NULL for TCP */
	char *path_inside; /* the same, seen from the chroot */
	bool wanted;
};

struct connection {
	struct list link;
	struct control *control;
	struct watch watch;
	struct stream stream; /* over watch.fd */
	struct timer limit;
	struct control_request request;
	struct call *call; /* NULL until the request is whole */
	bool replies;      /* the call is over: its reply is being written */
	char *item; /* call->item_room bytes: a line of the body so far; NULL: there is no body */
	size_t item_len;
};

struct control {
	struct daemon *daemon;
	struct list doors, connections, calls;
	unsigned count;         /* connections */
	struct tls_server *tls; /* NULL: everything is plain */
};

/* ---- replies on their way out ---- */

static void call_free(struct call *c)
{
	list_remove(&c->link);
	if (c->finished)
		c->finished(c, c->finished_arg);
	call_clear(c);
	if (c->let_go)
		c->let_go(c);
	mem_free(c->data);
	mem_free(c);
}

/* The connection goes; its call, if it is under way, comes back to find nobody. */
static void connection_close(struct connection *l)
{
	struct control *control = l->control;
	bool stop = false;

	if (l->call) {
		l->call->connection = NULL;
		if (l->replies) {
			stop = l->call->stop;
			call_free(l->call);
		}
	}
	timer_stop(control->daemon->loop, &l->limit);
	watch_stop(&l->watch);
	stream_close(&l->stream);
	list_remove(&l->link);
	mem_free(l->item);
	mem_free(l);
	control->count--;
	if (stop)
		daemon_stop(control->daemon);
}

/* What the client sent too much would turn the end of the reply into a reset. */
static void swallow(int fd)
{
	char drop[4096];

	for (int i = 0; i < 64 && recv(fd, drop, sizeof drop, 0) > 0; i++)
		;
}

static void write_reply(struct connection *l)
{
	struct call *c = l->call;

	while (c->first) {
		struct call_text *t = c->first;
		ssize_t n = stream_write(&l->stream, t->bytes + t->start, t->end - t->start);

		if (n < 0 && stream_is_not_now(errno)) {
			watch_want(&l->watch, l->stream.tls && !stream_wants_write(&l->stream)
						      ? WATCH_READ
						      : WATCH_WRITE);
			return;
		}
		if (n < 0)
			break;
		timer_set(l->control->daemon->loop, &l->limit, TAKE_TIME_US);
		t->start += (size_t)n;
		if (t->start == t->end) {
			c->first = t->next;
			mem_free(t);
		}
	}
	swallow(l->watch.fd);
	connection_close(l);
}

/* ---- calls ---- */

static void call_over(struct call *c)
{
	struct connection *l = c->connection;

	if (!l) {
		bool stop = c->stop;
		struct daemon *d = c->daemon;

		call_free(c);
		if (stop)
			daemon_stop(d);
		return;
	}
	l->replies = true;
	timer_set(c->daemon->loop, &l->limit, TAKE_TIME_US);
	write_reply(l);
}

static unsigned workers_of(const struct call *c)
{
	switch (c->command->place) {
	case MAIN:
	case ASIDE:
	case BODY:
		return c->goes_round ? c->daemon->worker_count : 0;
	case FIRST_WORKER:
		return 1;
	default:
		return c->daemon->worker_count;
	}
}

static void call_on_worker(void *arg);
static void call_on_main(void *arg);

/* To the next worker, or home. */
static void call_go_on(struct call *c)
{
	if (c->next_worker < workers_of(c))
		loop_post(c->daemon->workers[c->next_worker]->env.loop, call_on_worker, c);
	else
		loop_post(c->daemon->loop, call_on_main, c);
}

static void call_on_worker(void *arg)
{
	struct call *c = arg;

	c->in_handler = true;
	c->command->run(c, c->daemon->workers[c->next_worker++]);
	c->in_handler = false;
	if (!c->waits)
		call_go_on(c);
}

void call_resume(struct call *c)
{
	c->waits = false;
	if (!c->in_handler)
		call_go_on(c);
}

static void call_on_main(void *arg)
{
	struct call *c = arg;

	c->command->run(c, NULL);
	if (c->next_worker < workers_of(c))
		call_go_on(c);
	else
		call_over(c);
}

static void work_aside(void *arg)
{
	struct call *c = arg;

	c->command->run(c, NULL);
}

static void call_is_done(void *arg)
{
	call_over(arg);
}

/* Where there can be no further thread it is done here and now. */
static void call_aside(struct call *c)
{
	c->aside = (struct aside){
		.home = c->daemon->loop, .work = work_aside, .done = call_is_done, .arg = c
	};
	if (!aside_start(&c->aside))
		call_on_main(c);
}

static const struct command *command_of(const char *line)
{
	size_t len = strcspn(line, " \t");

	for (const struct command *c = commands; c->word; c++)
		if (strlen(c->word) == len && memcmp(c->word, line, len) == 0)
			return c;
	return NULL;
}

void control_run(struct control *control, const struct call_plan *plan)
{
	struct call *c = mem_zero(sizeof *c);

	list_push_back(&control->calls, &c->link);
	c->daemon = control->daemon;
	c->control = control;
	c->command = plan->how;
	c->finished = plan->over;
	c->finished_arg = plan->arg;
	c->args = c->line;
	call_go_on(c);
}

/* ---- bodies ---- */

static void body_phase(struct call *c, enum call_phase phase, char *item)
{
	c->phase = phase;
	c->item = item;
	c->command->run(c, NULL);
}

static bool body_begin(struct connection *l)
{
	struct call *c = l->call;

	body_phase(c, CALL_BEGIN, NULL);
	if (c->refused) {
		call_over(c);
		return false;
	}
	c->item_room = MAX(c->item_room, (size_t)ITEM_MOST);
	l->item = mem_new(c->item_room);
	timer_set(c->daemon->loop, &l->limit, ASK_TIME_US);
	return true;
}

/* The connection may be gone afterwards. */
static void body_end(struct connection *l)
{
	struct call *c = l->call;

	watch_want(&l->watch, 0);
	body_phase(c, CALL_END, NULL);
	call_over(c);
}

/* False when the body has ended: the connection may be gone. */
static bool body_line(struct connection *l)
{
	size_t len = l->item_len;

	if (len && l->item[len - 1] == '\r')
		len--;
	l->item[len] = '\0';
	l->item_len = 0;
	if (len == 0 || (len == 1 && l->item[0] == 4)) {
		body_end(l);
		return false;
	}
	l->call->items++;
	body_phase(l->call, CALL_ITEM, l->item);
	if (!l->call->over)
		return true;
	body_end(l);
	return false;
}

/* Who has sent part of a body hears what became of it. */
static void on_limit(struct timer *t)
{
	struct connection *l = container_of(t, struct connection, limit);

	if (l->item && !l->replies)
		body_end(l);
	else
		connection_close(l);
}

/* False when the body has ended: the connection may be gone. */
static bool body_feed(struct connection *l, const char *at, size_t len)
{
	for (; len; at++, len--) {
		if (*at == '\n') {
			if (!body_line(l))
				return false;
		} else if (l->item_len == l->call->item_room - 1) {
			log_warn("control: a line of more than %zu bytes ends the list",
				 l->call->item_room);
			body_end(l);
			return false;
		} else {
			l->item[l->item_len++] = *at ? *at : ' ';
		}
	}
	return true;
}

/* `n` as stream_read gave it; false as above. */
static bool on_body(struct connection *l, const char *bytes, ssize_t n)
{
	if (n > 0) {
		timer_set(l->control->daemon->loop, &l->limit, ASK_TIME_US);
		return body_feed(l, bytes, (size_t)n);
	}
	if (n < 0 || l->item_len == 0 || body_line(l))
		body_end(l);
	return false;
}

/* ---- requests ---- */

/* True when its body is to follow; else the connection may be gone. */
static bool call_begin(struct connection *l)
{
	struct control *control = l->control;
	struct call *c = mem_zero(sizeof *c);

	list_push_back(&control->calls, &c->link);
	c->daemon = control->daemon;
	c->control = control;
	c->connection = l;
	l->call = c;
	watch_want(&l->watch, 0);
	memcpy(c->line, l->request.line, l->request.len + 1);
	c->args = c->line;
	c->command = command_of(c->line);
	if (l->request.other_version) {
		call_say(c, "error version mismatch\n");
		call_over(c);
		return false;
	}
	if (!c->command) {
		call_say(c, "error unknown command '%s'\n", c->line);
		call_over(c);
		return false;
	}
	log_detail("control: %s", c->line);
	(void)control_word(&c->args);
	timer_stop(c->daemon->loop, &l->limit);
	if (c->command->place == BODY)
		return body_begin(l);
	if (c->command->place == ASIDE)
		call_aside(c);
	else if (workers_of(c))
		call_go_on(c);
	else
		call_on_main(c);
	return false;
}

/* False when nothing more is to be read: the connection may be gone. */
static bool on_request(struct connection *l, const char *bytes, ssize_t n)
{
	size_t taken = 0;

	if (n < 0)
		l->request.state = CONTROL_NONSENSE;
	else if (n == 0)
		control_request_end(&l->request);
	else
		taken = control_request_feed(&l->request, bytes, (size_t)n);
	if (l->request.state == CONTROL_NONSENSE) {
		log_detail("control: a request that is none was dropped");
		connection_close(l);
		return false;
	}
	return l->request.state != CONTROL_HAS_LINE ||
	       (call_begin(l) && body_feed(l, bytes + taken, (size_t)MAX(n, 0) - taken));
}

/* Over TLS, who has not shown a certificate of ours is told nothing. */
static bool is_stranger(const struct connection *l)
{
	return l->stream.tls && tls_is_open(l->stream.tls) && !tls_is_vouched_for(l->stream.tls);
}

/* False when the connection has been closed. */
static bool is_admitted(struct connection *l, ssize_t n, int error)
{
	bool broken = l->stream.tls && n < 0 && !stream_is_not_now(error);

	if (!broken && !is_stranger(l))
		return true;
	log_notice("control: a client is not let in: %s",
		   broken ? tls_why(l->stream.tls) : "it has no certificate");
	connection_close(l);
	return false;
}

static void read_more(struct connection *l)
{
	char bytes[16384];
	bool goes_on;

	do {
		ssize_t n = stream_read(&l->stream, bytes, sizeof bytes);

		if (!l->call && !is_admitted(l, n, errno))
			return;
		if (n < 0 && stream_is_not_now(errno)) {
			watch_want(&l->watch,
				   WATCH_READ | (stream_wants_write(&l->stream) ? WATCH_WRITE : 0));
			return;
		}
		goes_on = l->item ? on_body(l, bytes, n) : on_request(l, bytes, n);
	} while (goes_on && stream_has_more(&l->stream));
	if (goes_on)
		watch_want(&l->watch, WATCH_READ);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct connection *l = container_of(w, struct connection, watch);

	(void)what;
	if (l->replies)
		write_reply(l);
	else if (l->item || !l->call)
		read_more(l);
}

/* Who has waited longest with a request that is not whole goes: silent ones lock nobody out. False:
 * all of them are being served. */
static bool make_room(struct control *c)
{
	LIST_EACH (at, &c->connections) {
		struct connection *l = LIST_ITEM(at, struct connection, link);

		if (!l->call) {
			connection_close(l);
			return true;
		}
	}
	return false;
}

static void connection_open(struct control *c, int fd)
{
	struct connection *l;
	struct tls *tls;

	if (c->count >= CONNECTIONS_MOST && !make_room(c)) {
		log_warn("control: more than %d connections at once", CONNECTIONS_MOST);
		close(fd);
		return;
	}
	tls = c->tls ? tls_accept(c->tls, fd, NULL) : NULL;
	if (c->tls && !tls) {
		close(fd);
		return;
	}
	l = mem_zero(sizeof *l);
	l->control = c;
	l->stream = (struct stream){ .fd = fd, .tls = tls };
	l->watch = (struct watch){ .fd = fd, .ready = on_ready };
	l->limit.fire = on_limit;
	list_push_back(&c->connections, &l->link);
	c->count++;
	timer_set(c->daemon->loop, &l->limit, ASK_TIME_US);
	watch_start(c->daemon->loop, &l->watch, WATCH_READ);
}

static bool make_quiet(int fd)
{
	return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static void on_knock(struct watch *w, unsigned what)
{
	struct door *d = container_of(w, struct door, knock.watch);
	int fd = knock_take(&d->knock);

	(void)what;
	if (fd >= 0)
		connection_open(d->control, fd);
}

/* ---- doors ---- */

static struct door *door_named(struct control *c, const char *text)
{
	LIST_EACH (at, &c->doors) {
		struct door *d = LIST_ITEM(at, struct door, link);

		if (strcmp(d->text, text) == 0)
			return d;
	}
	return NULL;
}

static void door_close(struct door *d)
{
	list_remove(&d->link);
	knock_stop(&d->knock);
	mem_free(d->path);
	mem_free(d->path_inside);
	mem_free(d->text);
	mem_free(d);
}

static void door_put(struct control *c, int fd, const char *text, const char *path)
{
	struct door *d = mem_zero(sizeof *d);

	d->control = c;
	d->text = mem_text(text);
	if (path) {
		d->path = mem_text(path);
		d->path_inside = conf_path_inside(c->daemon->snapshot->conf, text);
	}
	d->wanted = true;
	list_push_back(&c->doors, &d->link);
	knock_start(&d->knock, c->daemon->loop, fd, on_knock);
}

/* A socket's file stays when its daemon has died; one that answers belongs to somebody. */
static bool clear_path(const struct sockaddr_un *sun)
{
	struct stat st;
	int fd, refused;

	if (lstat(sun->sun_path, &st) != 0)
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		errno = EEXIST;
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)sun, sizeof *sun) != 0;
	close(fd);
	if (refused)
		return unlink(sun->sun_path) == 0;
	errno = EADDRINUSE;
	return false;
}

static int listen_at_path(const struct sockaddr_un *sun)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	mode_t mask;
	bool bound;

	if (fd < 0)
		return -1;
	mask = umask(0117);
	bound = bind(fd, (const struct sockaddr *)sun, sizeof *sun) == 0;
	umask(mask);
	if (bound && make_quiet(fd) && listen(fd, BACKLOG) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What the service manager opened at an address or path, or -1. */
static int handed(const struct daemon *d, const struct addr *a, const char *path)
{
	if (!d->snapshot->conf->server.use_systemd)
		return -1;
	return a ? handed_socket(a, true) : handed_path(path);
}

static bool open_path(struct control *c, const char *text, struct fault *f)
{
	const struct daemon *d = c->daemon;
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char *path = d->locked_in ? conf_path_inside(d->snapshot->conf, text) : mem_text(text);
	size_t len = strlen(path);
	int fd = handed(d, NULL, text);

	/* Its file is the service manager's. */
	if (fd >= 0) {
		door_put(c, fd, text, NULL);
		mem_free(path);
		return true;
	}
	if (len < sizeof sun.sun_path) {
		memcpy(sun.sun_path, path, len + 1);
		if (clear_path(&sun))
			fd = listen_at_path(&sun);
	} else {
		errno = ENAMETOOLONG;
	}
	if (fd >= 0) {
		privileges_give(&d->privileges, path);
		door_put(c, fd, text, path);
	} else {
		fault_set(f, "cannot open the control socket %s: %s", path, strerror(errno));
	}
	mem_free(path);
	return fd >= 0;
}

static int listen_at(const struct addr *a)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a, &ss);
	int on = 1, fd = socket(ss.ss_family, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	    (a->family == 4 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0) &&
	    bind(fd, (const struct sockaddr *)&ss, len) == 0 && make_quiet(fd) &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	close(fd);
	return -1;
}

struct opening {
	struct control *control;
	struct fault *fault;
	bool optional; /* nobody named it: a host without IPv6 does without */
	bool ok;
};

static void open_address(void *arg, const struct addr *a)
{
	struct opening *o = arg;
	char text[ADDR_TEXT];
	struct door *known;
	int fd;

	addr_print(a, 0, text);
	known = door_named(o->control, text);
	if (known) {
		known->wanted = true;
		return;
	}
	fd = handed(o->control->daemon, a, NULL);
	if (fd < 0)
		fd = listen_at(a);
	if (fd >= 0) {
		door_put(o->control, fd, text, NULL);
		return;
	}
	if (o->optional && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		return;
	fault_set(o->fault, "cannot open the control channel at %s: %s", text, strerror(errno));
	o->ok = false;
}

static bool open_one(struct opening *o, const char *text)
{
	const struct conf *conf = o->control->daemon->snapshot->conf;
	struct door *known = door_named(o->control, text);

	if (known)
		known->wanted = true;
	else if (*text == '/')
		return open_path(o->control, text, o->fault);
	else if (!interface_expand(text, (uint16_t)conf->remote_control.control_port,
				   conf->server.do_ip4, conf->server.do_ip6, open_address, o,
				   o->fault))
		return false;
	return o->ok;
}

/* Who asks from now on is met by these files; who is there goes on. */
static bool prepare_tls(struct control *c, const struct conf *conf, struct fault *f)
{
	struct tls_server *fresh = NULL;

	if (tls_conf_control(conf) && !(fresh = tls_conf_control_server(conf, f)))
		return false;
	tls_server_unpin(c->tls);
	c->tls = fresh;
	return true;
}

static bool open_all(struct control *c, const struct conf_remote_control *conf, struct fault *f)
{
	const struct conf_list *list = &conf->control_interface;
	struct opening o = { .control = c, .fault = f, .optional = list->count == 0, .ok = true };
	bool ok = true;

	if (!conf->control_enable)
		return true;
	if (!prepare_tls(c, c->daemon->snapshot->conf, f))
		return false;
	if (list->count == 0)
		return open_one(&o, "127.0.0.1") && open_one(&o, "::1");
	for (size_t i = 0; ok && i < list->count; i++)
		ok = open_one(&o, list->items[i].text);
	return ok;
}

static void remove_file(const struct door *d)
{
	if (d->path && unlink(d->path) != 0)
		(void)unlink(d->path_inside);
}

static void close_unwanted(struct control *c)
{
	LIST_EACH_SAFE (at, &c->doors) {
		struct door *d = LIST_ITEM(at, struct door, link);

		if (!d->wanted) {
			remove_file(d);
			door_close(d);
		}
	}
}

/* ---- the whole ---- */

struct control *control_open(struct daemon *d, struct fault *f)
{
	struct control *c = mem_zero(sizeof *c);

	c->daemon = d;
	list_init(&c->doors);
	list_init(&c->connections);
	list_init(&c->calls);
	if (open_all(c, &d->snapshot->conf->remote_control, f))
		return c;
	control_close(c);
	return NULL;
}

void control_reopen(struct control *c)
{
	struct fault f = { 0 };

	LIST_EACH (at, &c->doors)
		LIST_ITEM(at, struct door, link)->wanted = false;
	if (open_all(c, &c->daemon->snapshot->conf->remote_control, &f))
		close_unwanted(c);
	else
		log_warn("%s: where it was open it stays", f.text);
}

void control_close(struct control *c)
{
	if (!c)
		return;
	LIST_EACH_SAFE (at, &c->connections)
		connection_close(LIST_ITEM(at, struct connection, link));
	LIST_EACH_SAFE (at, &c->calls) {
		struct call *call = LIST_ITEM(at, struct call, link);

		aside_join(&call->aside);
		call->broken = true;
		call_free(call);
	}
	/* The file of a socket stays: who asks there for the status is refused, and knows. */
	LIST_EACH_SAFE (at, &c->doors)
		door_close(LIST_ITEM(at, struct door, link));
	tls_server_unpin(c->tls);
	mem_free(c);
}

const char *control_kind(const struct control *c)
{
	if (list_is_empty(&c->doors))
		return "";
	if (c->tls)
		return " control(ssl)";
	return LIST_ITEM(c->doors.next, struct door, link)->path ? " control(namedpipe)"
								 : " control";
}
