/* The control channel: connections, and the route of a command through the threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/control.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/control/call.h"
#include "daemon/control/call_json.h"
#include "daemon/control/call_text.h"
#include "daemon/control/sockets.h"
#include "daemon/process/daemon.h"
#include "daemon/process/forget.h"
#include "daemon/worker/worker.h"
#include "services/config/tls.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/net/addr.h"
#include "util/net/stream.h"
#include "util/net/tls.h"

#define CONNECTIONS_MOST 32
#define ASK_TIME_US      (120 * US_PER_S) /* for the whole request; then between reads of a body */
#define TAKE_TIME_US     (60 * US_PER_S)  /* without accepting a byte of the reply */
#define REST_TIME_US     (1 * US_PER_S)   /* without another line of a refused body */
#define TURN_TIME_S      5 /* seen twice, so far apart, waiting for the same turn of a worker: waited for no longer */
#define LEFT_MOST        32 /* calls that such workers hold, before no further one is begun */
#define OWN_MOST         64 /* calls of our own under way: pages, and statistics for the log */
#define ITEM_MOST        2048 /* bytes per line of a body, its end included; or item_room if more */

struct connection {
	struct list link;
	struct control *control;
	struct watch watch;
	struct stream stream; /* over watch.fd */
	struct timer limit;
	struct control_request request;
	struct call *call; /* NULL until the request is complete */
	bool replies;      /* the call is over and its reply is being written */
	bool streams;      /* it is not over, and its reply is being written as it grows */
	char *item; /* partial line of the body, call->item_room bytes; NULL: no body */
	size_t item_len;
	uint64_t moved;    /* control->moves when it last sent or took anything */
	unsigned hops;     /* call->hops at the last look */
	char peer[ADDR_TEXT];
};

struct control {
	struct daemon *daemon;
	const struct command *commands;
	struct control_sockets client_sockets;
	struct list connections, calls;
	unsigned count;         /* connections */
	uint64_t moves;         /* so often did one of them send or take something */
	unsigned left;          /* calls whose clients no longer wait for a worker */
	unsigned own;           /* calls of control_run */
	struct tls_server *tls; /* NULL: no TLS */
};

/* ---- writing replies ---- */

/* A reply of at least this many pieces, such as dump_cache's, returns its memory to the system. */
#define LONG_REPLY_PIECES 64

static void call_free(struct call *c)
{
	bool was_long = c->pieces >= LONG_REPLY_PIECES;

	list_remove(&c->link);
	c->control->left -= c->is_left;
	c->control->own -= c->is_own;
	if (c->finished)
		c->finished(c, c->finished_arg);
	call_clear(c);
	call_json_free(c);
	call_flow_free(c->flow);
	if (c->let_go)
		c->let_go(c);
	if (c->snapshot)
		snapshot_unpin(c->snapshot);
	mem_free(c->data);
	mem_free(c);
	if (was_long)
		mem_trim();
}

/* Close and free the connection. A call still under way lives on without it. */
static void connection_close(struct connection *l)
{
	struct control *control = l->control;
	bool stop = false;

	if (l->call) {
		l->call->connection = NULL;
		call_flow_end(l->call->flow);
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

static void connection_moves(struct connection *l)
{
	l->moved = ++l->control->moves;
}

/* Drain excess input: closing with unread bytes would reset the connection and lose the end of the
 * reply. */
static void swallow(int fd)
{
	char drop[4096];

	for (int i = 0; i < 64 && recv(fd, drop, sizeof drop, 0) > 0; i++)
		;
}

/* What there is of it; the end closes the connection. */
static void write_reply(struct connection *l)
{
	struct call *c = l->call;
	struct call_text *t;

	while ((t = call_next_piece(c, l->replies))) {
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
		connection_moves(l);
		t->start += (size_t)n;
		if (t->start == t->end)
			call_piece_sent(c);
	}
	if (!t && !l->replies) { /* it is not the client that is slow */
		watch_want(&l->watch, 0);
		timer_stop(l->control->daemon->loop, &l->limit);
		return;
	}
	swallow(l->watch.fd);
	connection_close(l);
}

/* ---- calls ---- */

/* Write the reply, or free the call if its client has gone. */
static void call_ends(struct call *c)
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
	call_json_end(c);
	l->replies = true;
	timer_set(c->daemon->loop, &l->limit, TAKE_TIME_US);
	write_reply(l);
}

/* Some of a long reply is there while the call is under way. A reply that is being written goes on by itself. */
static void on_more(void *arg)
{
	struct call *c = arg;
	struct connection *l = c->connection;

	if (!l || l->replies)
		return;
	if (!timer_is_set(&l->limit))
		timer_set(c->daemon->loop, &l->limit, TAKE_TIME_US);
	l->streams = true;
	write_reply(l);
}

static void tell_more(struct call *c)
{
	loop_post(c->daemon->loop, on_more, c);
}

/* ---- through the threads ---- */

/* On to the next thread. The main thread looks at where it is (on_turn_limit), and at nothing else of it. */
static void call_to_worker(struct call *c, unsigned number, void (*run)(void *call))
{
	atomic_store_explicit(&c->at_worker, (int)number, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->hops, 1, memory_order_relaxed);
	loop_post(c->daemon->workers[number]->env.loop, run, c);
}

static void call_to_main(struct call *c, void (*run)(void *call))
{
	atomic_store_explicit(&c->at_worker, CALL_AT_NONE, memory_order_relaxed);
	loop_post(c->daemon->loop, run, c);
}

/* Its client does not wait for ever for a worker that takes no turn. On the main thread, before the call leaves it. */
static void limit_turns(struct call *c)
{
	if (c->connection && !c->connection->streams)
		timer_set(c->daemon->loop, &c->connection->limit, TURN_TIME_S * US_PER_S);
}

static void pass_workers(struct call *c);

static void passed_worker(void *arg)
{
	pass_workers(arg);
}

static void forgot(void *arg)
{
	call_ends(arg);
}

static void passed_all_workers(void *arg)
{
	struct call *c = arg;

	if (!forgetting_after(c->daemon->forgetting, forgot, c))
		call_ends(c);
}

/* Pass through every worker's loop, behind whatever was posted to it before. */
static void pass_workers(struct call *c)
{
	if (c->visited < c->daemon->worker_count)
		call_to_worker(c, c->visited++, passed_worker);
	else
		call_to_main(c, passed_all_workers);
}

/* If anything was published meanwhile, reply only once it is in force on every worker, and what it makes untrue is
 * forgotten. */
static void call_over(struct call *c)
{
	if (c->published != c->daemon->published) {
		limit_turns(c);
		pass_workers(c);
	} else {
		call_ends(c);
	}
}

/* A handler that runs elsewhere than on the main thread, which publishes snapshots, is given the one of the beginning. */
static void pin_snapshot(struct call *c)
{
	if (c->command && c->command->place != MAIN && c->command->place != BODY)
		c->snapshot = snapshot_pin(c->daemon->snapshot);
}

static unsigned workers_of(const struct call *c)
{
	switch (c->command->place) {
	case MAIN:
	case OWN_THREAD:
	case BODY:
		return c->asks_parent ? c->daemon->worker_count : 0;
	case FIRST_WORKER:
		return 1;
	default:
		return c->daemon->worker_count;
	}
}

static void call_on_worker(void *arg);
static void call_on_main(void *arg);

/* Post the call to the next worker, or back to the main thread. */
static void call_go_on(struct call *c)
{
	if (c->next_worker < workers_of(c))
		call_to_worker(c, c->next_worker, call_on_worker);
	else
		call_to_main(c, call_on_main);
}

static void call_on_worker(void *arg)
{
	struct call *c = arg;

	c->in_handler = true;
	c->command->run(c, c->daemon->workers[c->next_worker++]);
	c->in_handler = false;
	if (c->waits) /* not for this worker, which takes turns */
		atomic_store_explicit(&c->at_worker, CALL_AT_NONE, memory_order_relaxed);
	else
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
	if (c->next_worker < workers_of(c)) {
		limit_turns(c);
		call_go_on(c);
	} else {
		call_over(c);
	}
}

static void work_on_own_thread(void *arg)
{
	struct call *c = arg;

	c->command->run(c, NULL);
}

static void call_is_done(void *arg)
{
	call_over(arg);
}

/* If no thread can be created, the command runs on the main thread right away. */
static void call_on_own_thread(struct call *c)
{
	c->flow = call_flow_new(tell_more);
	c->job = (struct thread_job){
		.home = c->daemon->loop, .work = work_on_own_thread, .done = call_is_done, .arg = c
	};
	if (thread_job_start(&c->job))
		return;
	call_flow_free(c->flow);
	c->flow = NULL;
	call_on_main(c);
}

static const struct command *command_of(const struct control *control, const char *line)
{
	size_t len = strcspn(line, " \t");

	for (const struct command *c = control->commands; c->word; c++)
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
	c->published = c->daemon->published;
	c->command = plan->how;
	c->finished = plan->over;
	c->finished_arg = plan->arg;
	c->args = c->line;
	c->at_worker = CALL_AT_NONE;
	c->is_own = true;
	if (control->own++ >= OWN_MOST) {
		log_warn("control: a thread does not respond: %d requests for pages and statistics wait for it", OWN_MOST);
		call_say(c, "a thread does not respond\n");
		c->broken = true;
		call_free(c);
		return;
	}
	pin_snapshot(c);
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

/* A body ends once: nothing that comes later, such as the limit of time, may find it open again while the call waits for
 * the workers. May free the connection. */
static void body_end(struct connection *l)
{
	struct call *c = l->call;

	watch_want(&l->watch, 0);
	timer_stop(c->daemon->loop, &l->limit);
	mem_free(l->item);
	l->item = NULL;
	body_phase(c, CALL_END, NULL);
	call_over(c);
}

/* Take the line in l->item. False if the body has ended: the connection may have been freed. */
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
	if (l->call->refused)
		timer_set(l->control->daemon->loop, &l->limit, REST_TIME_US);
	if (!l->call->over)
		return true;
	body_end(l);
	return false;
}

/* Not the client is late, but a worker, perhaps: the call is the worker's, and goes on without its client. */
static void on_turn_limit(struct connection *l)
{
	struct call *c = l->call;
	int at = atomic_load_explicit(&c->at_worker, memory_order_relaxed);
	unsigned hops = atomic_load_explicit(&c->hops, memory_order_relaxed);
	char said[256];

	if (at == CALL_AT_NONE || hops != l->hops) {
		l->hops = hops;
		limit_turns(c);
		return;
	}
	call_print_late(c, at, TURN_TIME_S, said, sizeof said);
	log_warn("control: %s: thread %d has not responded for more than %d s", c->command->word, at,
		 TURN_TIME_S);
	c->is_left = true;
	l->control->left++;
	(void)stream_write(&l->stream, said, strlen(said));
	swallow(l->watch.fd);
	connection_close(l);
}

/* A client that has sent part of a body is told what became of it. */
static void on_limit(struct timer *t)
{
	struct connection *l = container_of(t, struct connection, limit);

	if (l->item && !l->replies)
		body_end(l);
	else if (l->call && !l->replies && !l->streams)
		on_turn_limit(l);
	else
		connection_close(l);
}

/* False if the body has ended: the connection may have been freed. */
static bool body_feed(struct connection *l, const char *at, size_t len)
{
	for (; len; at++, len--) {
		if (*at == '\n') {
			if (!body_line(l))
				return false;
		} else if (l->item_len == l->call->item_room - 1) {
			log_warn("control: list truncated: a line is longer than %zu bytes",
				 l->call->item_room);
			body_end(l);
			return false;
		} else {
			l->item[l->item_len++] = *at ? *at : ' ';
		}
	}
	return true;
}

/* `n` is stream_read's result; false as above. */
static bool on_body(struct connection *l, const char *bytes, ssize_t n)
{
	if (n > 0) {
		timer_set(l->control->daemon->loop, &l->limit, ASK_TIME_US);
		connection_moves(l);
		return body_feed(l, bytes, (size_t)n);
	}
	if (n < 0 || l->item_len == 0 || body_line(l))
		body_end(l);
	return false;
}

/* ---- requests ---- */

/* True if a body is to follow; otherwise the connection may have been freed. */
static bool call_begin(struct connection *l)
{
	struct control *control = l->control;
	struct call *c = mem_zero(sizeof *c);

	list_push_back(&control->calls, &c->link);
	c->daemon = control->daemon;
	c->control = control;
	c->published = c->daemon->published;
	c->connection = l;
	c->at_worker = CALL_AT_NONE;
	l->call = c;
	watch_want(&l->watch, 0);
	call_take_line(c, l->request.line);
	c->command = command_of(control, c->line);
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
	if (control->left >= LEFT_MOST && workers_of(c)) {
		call_say(c, "error a thread does not respond: %u commands wait for it\n", control->left);
		call_over(c);
		return false;
	}
	log_detail("control: %s", c->line);
	(void)control_word(&c->args);
	timer_stop(c->daemon->loop, &l->limit);
	pin_snapshot(c);
	if (c->command->place == BODY)
		return body_begin(l);
	if (c->command->place == OWN_THREAD) {
		call_on_own_thread(c);
	} else if (workers_of(c)) {
		limit_turns(c);
		call_go_on(c);
	} else {
		call_on_main(c);
	}
	return false;
}

/* False if nothing more is to be read: the connection may have been freed. */
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
		log_detail("control: malformed request, connection closed");
		connection_close(l);
		return false;
	}
	return l->request.state != CONTROL_HAS_LINE ||
	       (call_begin(l) && body_feed(l, bytes + taken, (size_t)MAX(n, 0) - taken));
}

/* Over TLS, a client that has not presented a certificate of ours is told nothing. */
static bool is_stranger(const struct connection *l)
{
	return l->stream.tls && tls_is_open(l->stream.tls) && !tls_is_peer_verified(l->stream.tls);
}

/* False if the connection has been closed (and freed). */
static bool is_admitted(struct connection *l, ssize_t n, int error)
{
	bool broken = l->stream.tls && n < 0 && !stream_is_not_now(error);
	const char *why;

	if (!broken && !is_stranger(l))
		return true;
	why = broken ? tls_why(l->stream.tls) : "no client certificate";
	log_rare_of("notice", control_rejected, LOG_FACTS(LOG_TEXT(client, l->peer), LOG_TEXT(reason, why)),
		    "control: connection from %s rejected: %s", l->peer, why);
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
	if (l->replies || l->streams)
		write_reply(l);
	else if (l->item || !l->call)
		read_more(l);
}

/* The connection whose client has sent or taken nothing for longest, of those that wait for their clients: for a request
 * (`asks`), or else for the rest of a body, or to take a reply. NULL: there is none. */
static struct connection *longest_idle(const struct control *c, bool asks)
{
	struct connection *found = NULL;

	LIST_EACH (at, &c->connections) {
		struct connection *l = LIST_ITEM(at, struct connection, link);
		bool waits = l->call && (l->item || l->replies || l->streams);

		if ((asks ? !l->call : waits) && (!found || l->moved < found->moved))
			found = l;
	}
	return found;
}

/* Close one, so that silent clients lock nobody out. Lines of a body that have come count. False if all are being served. */
static bool make_room(struct control *c)
{
	struct connection *l = longest_idle(c, true);
	struct call *cut = NULL;

	if (!l && !(l = longest_idle(c, false)))
		return false;
	if (l->item) {
		cut = l->call;
		body_phase(cut, CALL_END, NULL);
	}
	log_detail("control: idle connection of %s closed for another client", l->peer);
	connection_close(l);
	if (cut)
		call_over(cut);
	return true;
}

static void name_peer(struct connection *l)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	struct addr a;

	if (getpeername(l->stream.fd, (struct sockaddr *)&ss, &len) == 0 &&
	    addr_from_sockaddr(&a, (const struct sockaddr *)&ss, len))
		addr_print(&a, 0, l->peer);
	else
		strcpy(l->peer, "a local client");
}

static void connection_open(void *control, int fd)
{
	struct control *c = control;
	struct connection *l;
	struct tls *tls;

	if (c->count >= CONNECTIONS_MOST && !make_room(c)) {
		log_rare_of("warning", control_rejected, LOG_FACTS(LOG_COUNT(count, CONNECTIONS_MOST)),
			    "control: connection rejected: limit of %d connections reached", CONNECTIONS_MOST);
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
	name_peer(l);
	connection_moves(l);
	list_push_back(&c->connections, &l->link);
	c->count++;
	timer_set(c->daemon->loop, &l->limit, ASK_TIME_US);
	watch_start(c->daemon->loop, &l->watch, WATCH_READ);
}

/* ---- the channel ---- */

/* New connections use the key and certificates that the configuration names; existing ones are unaffected. All or nothing:
 * what listens where another configuration says does so under its rules. */
static bool open_all(struct control *c, struct fault *f)
{
	const struct conf *conf = c->daemon->snapshot->conf;
	struct tls_server *fresh = NULL;

	if (tls_conf_control(conf) && !(fresh = tls_conf_control_server(conf, f)))
		return false;
	if (!control_sockets_open(&c->client_sockets, f)) {
		tls_server_unpin(fresh);
		return false;
	}
	tls_server_unpin(c->tls);
	c->tls = fresh;
	return true;
}

struct control *control_open(struct daemon *d, const struct command *table, struct fault *f)
{
	struct control *c = mem_zero(sizeof *c);

	c->daemon = d;
	c->commands = table;
	c->client_sockets = (struct control_sockets){ .daemon = d, .connected = connection_open, .owner = c };
	list_init(&c->client_sockets.open);
	list_init(&c->connections);
	list_init(&c->calls);
	if (open_all(c, f))
		return c;
	control_close(c);
	return NULL;
}

void control_reopen(struct control *c)
{
	struct fault f = { 0 };

	if (!open_all(c, &f))
		log_warn("%s; open sockets stay open", f.text);
}

void control_close(struct control *c)
{
	if (!c)
		return;
	LIST_EACH_SAFE (at, &c->connections)
		connection_close(LIST_ITEM(at, struct connection, link));
	LIST_EACH_SAFE (at, &c->calls) {
		struct call *call = LIST_ITEM(at, struct call, link);

		thread_job_join(&call->job);
		call->broken = true;
		call_free(call);
	}
	control_sockets_close(&c->client_sockets);
	tls_server_unpin(c->tls);
	mem_free(c);
}

const char *control_kind(const struct control *c)
{
	if (list_is_empty(&c->client_sockets.open))
		return "";
	if (c->tls)
		return " control(ssl)";
	return control_sockets_are_paths(&c->client_sockets) ? " control(namedpipe)" : " control";
}
