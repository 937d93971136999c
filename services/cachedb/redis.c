/* A Redis server as the store of the cachedb module.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One connection, with replies in the order of the commands: when one is overdue, so are all after
 * it, and the connection is given up. While there is no connection, nothing is looked up or
 * written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "services/cachedb/resp.h"
#include "services/cachedb/store.h"
#include "services/mesh/mesh.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/list.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/net/addr.h"

#define PENDING_MOST 4096 /* unanswered commands; beyond that none are sent */
#define RETRY_US     US_PER_S
#define PATIENCE_MS  100 /* where all timeouts are 0 */

enum {
	VALUE_MOST = CACHEDB_HEAD_LEN + MSG_MAX,
	IN_ROOM = VALUE_MOST + 32,
	OUT_ROOM = 4 * VALUE_MOST, /* not yet sent; a command that does not fit is dropped */
};

struct redis {
	struct cachedb_store store;
	struct env *env;
	char *host, *path, *password; /* path: of a socket instead of the host, or NULL */
	uint16_t port;
	unsigned database;
	uint32_t connect_ms, command_ms;
	struct watch watch; /* fd -1: no connection */
	uint8_t *in, *out;  /* IN_ROOM, OUT_ROOM bytes, while connected */
	size_t in_len, out_len;
	unsigned greetings;  /* commands of greet() not yet answered */
	bool ready, said;    /* it takes commands; its failure was logged */
	bool complained;     /* an error it replied with on this connection was logged */
	bool looks_up;       /* mesh_resolve is looking up the host */
	bool dead;           /* free it when that is done */
	const char *broken;  /* why to give the connection up as soon as possible, or NULL */
	struct list pending; /* commands, oldest first */
	unsigned count;
	struct timer patience; /* for connecting, or for the oldest command */
	struct timer retry;
	uint16_t type; /* of the host's addresses being looked up */
};

struct command {
	struct list link;
	struct cachedb_find *find; /* the lookup to notify, or NULL */
	bool greets;
	uint64_t due_us;
};

static struct redis *redis_of(struct cachedb_store *s)
{
	return container_of(s, struct redis, store);
}

static struct slice word(const char *text)
{
	return (struct slice){ .at = (const uint8_t *)text, .len = strlen(text) };
}

/* ---- failures ---- */

static const char *where(const struct redis *r, char text[ADDR_TEXT])
{
	(void)snprintf(text, ADDR_TEXT, "%s@%u", r->host, r->port);
	return r->path ? r->path : text;
}

static void command_end(struct redis *r, struct command *c, struct slice value)
{
	struct cachedb_find *f = c->find;

	list_remove(&c->link);
	r->count--;
	mem_free(c);
	if (!f)
		return;
	f->pending = NULL;
	f->found(f, value);
}

static void close_connection(struct redis *r)
{
	r->ready = false;
	r->broken = NULL;
	timer_stop(r->env->loop, &r->patience);
	if (r->watch.fd >= 0) {
		watch_stop(&r->watch);
		(void)close(r->watch.fd);
	}
	r->watch.fd = -1;
	mem_free(r->in);
	mem_free(r->out);
	r->in = r->out = NULL;
	r->in_len = r->out_len = 0;
	r->greetings = 0;
	/* A callback that starts another lookup finds the store not ready. */
	while (!list_is_empty(&r->pending))
		command_end(r, LIST_ITEM(r->pending.next, struct command, link),
			    (struct slice){ .at = NULL });
}

/* Close the connection and try again later; until then queries go to servers. */
static void give_up(struct redis *r, const char *why)
{
	char text[ADDR_TEXT];

	if (!r->said)
		log_warn("cachedb: Redis at %s: %s; disabled until a retry works",
			 where(r, text), why);
	r->said = true;
	close_connection(r);
	timer_set(r->env->loop, &r->retry, RETRY_US);
}

static void on_patience(struct timer *t)
{
	struct redis *r = container_of(t, struct redis, patience);

	if (r->broken)
		give_up(r, r->broken);
	else
		give_up(r, r->ready ? "no answer in time" : "no connection in time");
}

static void watch_oldest(struct redis *r)
{
	uint64_t now_us = r->env->time->now_us;
	const struct command *c;

	if (r->broken)
		return;
	if (list_is_empty(&r->pending)) {
		timer_stop(r->env->loop, &r->patience);
		return;
	}
	c = LIST_ITEM(r->pending.next, struct command, link);
	timer_set(r->env->loop, &r->patience, c->due_us > now_us ? c->due_us - now_us : 0);
}

/* ---- sending ---- */

/* Give up later, from the timer, since a caller may be in the middle of using the connection. */
static void break_soon(struct redis *r, const char *why)
{
	r->broken = why;
	timer_set(r->env->loop, &r->patience, 0);
}

static void send_out(struct redis *r)
{
	ssize_t n = send(r->watch.fd, r->out, r->out_len, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
		break_soon(r, strerror(errno));
		return;
	}
	if (n > 0) {
		r->out_len -= (size_t)n;
		memmove(r->out, r->out + n, r->out_len);
	}
	watch_want(&r->watch, r->out_len ? WATCH_READ | WATCH_WRITE : WATCH_READ);
}

/* Queue a command. NULL when it cannot be taken now. */
static struct command *give(struct redis *r, const struct slice *words, unsigned count)
{
	struct writer w;
	struct command *c;

	if (r->count == PENDING_MOST || r->broken)
		return NULL;
	w = writer_over(r->out + r->out_len, OUT_ROOM - r->out_len);
	resp_write(&w, words, count);
	if (w.bad)
		return NULL;
	c = mem_zero(sizeof(*c));
	c->due_us = r->env->time->now_us + r->command_ms * US_PER_MS;
	list_push_back(&r->pending, &c->link);
	r->count++;
	r->out_len += writer_len(&w);
	send_out(r);
	if (r->ready && r->count == 1)
		watch_oldest(r);
	return c;
}

/* ---- the connection ---- */

static void greet_with(struct redis *r, const char *command, const char *argument)
{
	const struct slice words[] = { word(command), word(argument) };
	struct command *c = give(r, words, COUNT(words));

	r->greetings++;
	if (c)
		c->greets = true;
}

/* It is not used before it has answered. Clusters and proxies have one database only and may know
 * neither SELECT nor PING, so that there it is asked for a value. */
static void greet(struct redis *r)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%u", r->database);
	if (*r->password)
		greet_with(r, "AUTH", r->password);
	if (r->database)
		greet_with(r, "SELECT", number);
	else
		greet_with(r, "GET", "resolverd");
}

static void greeted(struct redis *r)
{
	char text[ADDR_TEXT];

	if (--r->greetings)
		return;
	r->ready = true;
	if (r->said)
		log_notice("cachedb: Redis at %s is in use again", where(r, text));
	r->said = false;
}

/* False: the connection is gone. */
static bool take_reply(struct redis *r, const struct resp *reply)
{
	struct command *c = LIST_ITEM(r->pending.next, struct command, link);
	char text[128];

	if (reply->kind == RESP_BAD || list_is_empty(&r->pending)) {
		give_up(r, "it does not speak as a Redis server does");
		return false;
	}
	(void)snprintf(text, sizeof(text), "%.*s", (int)MIN(reply->text.len, 100u),
		       (const char *)reply->text.at);
	if (c->greets && reply->kind == RESP_ERROR) {
		give_up(r, text);
		return false;
	}
	if (reply->kind == RESP_ERROR && !r->complained)
		log_warn("cachedb: Redis at %s: error reply: %s", where(r, (char[ADDR_TEXT]){ 0 }), text);
	r->complained |= reply->kind == RESP_ERROR;
	if (c->greets)
		greeted(r);
	command_end(r, c, reply->kind == RESP_VALUE ? reply->text : (struct slice){ .at = NULL });
	return true;
}

static void take_replies(struct redis *r)
{
	size_t at = 0;

	for (;;) {
		struct resp reply = resp_read(
			(struct slice){ .at = r->in + at, .len = r->in_len - at }, VALUE_MOST);

		if (reply.kind == RESP_PART)
			break;
		if (!take_reply(r, &reply))
			return;
		at += reply.len;
	}
	r->in_len -= at;
	memmove(r->in, r->in + at, r->in_len);
	if (r->ready)
		watch_oldest(r);
}

static void receive(struct redis *r)
{
	ssize_t n = recv(r->watch.fd, r->in + r->in_len, IN_ROOM - r->in_len, 0);

	if (n > 0) {
		r->in_len += (size_t)n;
		take_replies(r);
	} else if (n == 0) {
		give_up(r, "it has closed the connection");
	} else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
		give_up(r, strerror(errno));
	}
}

static void on_ready(struct watch *w, unsigned what)
{
	struct redis *r = container_of(w, struct redis, watch);
	int trouble = 0;
	socklen_t len = sizeof(trouble);

	if (!r->greetings && !r->ready) {
		(void)getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &trouble, &len);
		if (trouble)
			give_up(r, strerror(trouble));
		else
			greet(r);
		return;
	}
	if (what & WATCH_WRITE && r->out_len)
		send_out(r);
	if (what & WATCH_READ)
		receive(r);
}

/* A socket that is connecting, or -1. */
static int dial(const struct redis *r, const struct addr *to)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct sockaddr_storage ss;
	socklen_t len = r->path ? sizeof(local) : addr_to_sockaddr(to, &ss);
	int on = 1, fd;

	if (r->path && strlen(r->path) >= sizeof(local.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (r->path)
		memcpy(local.sun_path, r->path, strlen(r->path));
	fd = socket(r->path ? AF_UNIX : ss.ss_family, SOCK_STREAM, 0);
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
	    (connect(fd, r->path ? (struct sockaddr *)&local : (struct sockaddr *)&ss, len) == 0 ||
	     errno == EINPROGRESS)) {
		if (!r->path)
			(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		return fd;
	}
	on = errno;
	(void)close(fd);
	errno = on;
	return -1;
}

static void connect_to(struct redis *r, const struct addr *to)
{
	r->watch.fd = dial(r, to);
	if (r->watch.fd < 0) {
		give_up(r, strerror(errno));
		return;
	}
	r->complained = false;
	r->in = mem_new(IN_ROOM);
	r->out = mem_new(OUT_ROOM);
	watch_start(r->env->loop, &r->watch, WATCH_WRITE);
	timer_set(r->env->loop, &r->patience, r->connect_ms * US_PER_MS);
}

/* ---- the host's address ---- */

static void look_up(struct redis *r, uint16_t type);

static bool first_address(const struct message *m, uint16_t type, uint16_t port, struct addr *a)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++) {
		struct slice rd = rrset_record(sets[i], 0);

		if (sets[i]->type != type || rd.len > sizeof(a->ip))
			continue;
		*a = (struct addr){ .family = type == TYPE_A ? 4 : 6, .port = port };
		memcpy(a->ip, rd.at, rd.len);
		return true;
	}
	return false;
}

static void on_address(void *arg, const struct message *m)
{
	struct redis *r = arg;
	struct addr a;

	r->looks_up = false;
	if (r->dead) {
		mem_free(r);
	} else if (m->rcode == RCODE_NOERROR && m->security != SECURITY_BOGUS &&
		   first_address(m, r->type, r->port, &a)) {
		connect_to(r, &a);
	} else if (r->type == TYPE_A) {
		look_up(r, TYPE_AAAA);
	} else {
		give_up(r, "its name has no address");
	}
}

static void look_up(struct redis *r, uint16_t type)
{
	uint8_t name[DNAME_MAX];
	struct question q = { .name = name, .type = type, .class_ = CLASS_IN };

	if (!dname_parse(name, r->host, NULL)) {
		give_up(r, "that is neither an address nor a name");
		return;
	}
	q.name_len = (uint16_t)dname_len(name);
	r->looks_up = true;
	r->type = type;
	mesh_resolve(r->env->mesh, &q, 0, on_address, r);
}

static void on_retry(struct timer *t)
{
	struct redis *r = container_of(t, struct redis, retry);
	struct addr a;

	if (r->path)
		connect_to(r, NULL);
	else if (addr_parse(&a, r->host, r->port, NULL))
		connect_to(r, &a);
	else
		look_up(r, TYPE_A);
}

/* ---- commands ---- */

static bool find(struct cachedb_store *s, const char *key, struct cachedb_find *f)
{
	struct redis *r = redis_of(s);
	struct slice words[] = { word("GET"), word(key) };
	struct command *c = r->ready ? give(r, words, COUNT(words)) : NULL;

	if (!c)
		return false;
	c->find = f;
	f->pending = c;
	return true;
}

static void forget(struct cachedb_store *s, struct cachedb_find *f)
{
	struct command *c = f->pending;

	(void)s;
	if (c)
		c->find = NULL;
	f->pending = NULL;
}

static void put(struct cachedb_store *s, const char *key, struct slice value, uint32_t expires_s)
{
	struct redis *r = redis_of(s);
	char seconds[16];
	struct slice words[] = { word("SET"), word(key), value, word("EX"), { .at = NULL } };

	(void)snprintf(seconds, sizeof(seconds), "%u", (unsigned)expires_s);
	words[4] = word(seconds);
	if (r->ready)
		(void)give(r, words, expires_s ? 5 : 3);
}

static void remove_key(struct cachedb_store *s, const char *key)
{
	struct redis *r = redis_of(s);
	struct slice words[] = { word("DEL"), word(key) };

	if (r->ready)
		(void)give(r, words, COUNT(words));
}

/* ---- life cycle ---- */

static void redis_free(struct cachedb_store *s)
{
	struct redis *r = redis_of(s);

	r->dead = true;
	timer_stop(r->env->loop, &r->retry);
	close_connection(r);
	mem_wipe(r->password, strlen(r->password));
	mem_free(r->password);
	mem_free(r->host);
	mem_free(r->path);
	if (!r->looks_up)
		mem_free(r);
}

static uint32_t patience_of(uint32_t own_ms, uint32_t common_ms)
{
	return own_ms ? own_ms : common_ms ? common_ms : PATIENCE_MS;
}

struct cachedb_store *cachedb_redis_new(struct env *env, const struct conf *conf, bool replica)
{
	static const struct cachedb_store_ops ops = {
		.find = find, .forget = forget, .put = put, .remove = remove_key, .free = redis_free
	};
	const struct conf_cachedb *c = &conf->cachedb;
	const char *path = replica ? c->redis_replica_server_path : c->redis_server_path;
	struct redis *r = mem_zero(sizeof(*r));

	r->store.ops = &ops;
	r->env = env;
	r->path = *path ? conf_path_inside(conf, path) : NULL;
	r->host = mem_text(replica ? c->redis_replica_server_host : c->redis_server_host);
	r->port = (uint16_t)(replica ? c->redis_replica_server_port : c->redis_server_port);
	r->password =
		mem_text(replica ? c->redis_replica_server_password : c->redis_server_password);
	r->database = replica ? c->redis_replica_logical_db : c->redis_logical_db;
	r->connect_ms = replica ? patience_of(c->redis_replica_connect_timeout, c->redis_replica_timeout)
				: patience_of(c->redis_connect_timeout, c->redis_timeout);
	r->command_ms = replica ? patience_of(c->redis_replica_command_timeout, c->redis_replica_timeout)
				: patience_of(c->redis_command_timeout, c->redis_timeout);
	list_init(&r->pending);
	r->watch = (struct watch){ .fd = -1, .ready = on_ready };
	r->patience.fire = on_patience;
	r->retry.fire = on_retry;
	timer_set(env->loop, &r->retry, 0);
	return &r->store;
}
