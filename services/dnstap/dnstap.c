/* Messages for a dnstap collector: one thread sends what the workers put into their queues.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dnstap/dnstap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "services/dnstap/wire.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/thread.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/net/tls.h"

enum {
	PORT_USUAL = 53,       /* if dnstap-ip gives none, as in Unbound */
	PAUSE_FIRST_MS = 250,  /* before the next attempt to connect; then doubled, */
	PAUSE_MOST_MS = 10000, /* up to this; a connection that lasts as long is a success */
	LINGER_MS = 5,         /* so that messages close together are sent together */
	FAREWELL_MS = 500,     /* to send what is left when it has to end */
};

/* The settings. Immutable, but for the reference count. */
struct plan {
	unsigned holders; /* references; only the owning thread counts: main's until taken over */
	struct dnstap_place place;
	char *socket, *tls_name;
	char text[ADDR_TEXT + 256];
};

struct dnstap {
	pthread_t thread;
	bool has_thread;
	struct msgring **queues; /* one per worker; NULL: never enabled */
	unsigned count;
	int pipe[2];
	struct msgring_bell bell;
	atomic_bool called; /* the main thread has orders below */
	pthread_mutex_t lock; /* guards these orders: */
	struct plan *next;
	bool has_next, ending;
	atomic_bool enabled, connected;
	/* the dnstap thread's own */
	struct plan *plan;
	struct dnstap_how how;
	struct dnstap_wire *wire;
	struct plan *wire_plan; /* the plan the wire was opened under */
	uint32_t pause_ms;	/* before the next attempt to connect */
	uint64_t connected_us;	/* when the wire was opened */
	uint64_t until_us; /* when all waiting ends; 0: no limit */
	bool quiet;	   /* the failure to connect was logged */
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
}

/* ---- plans ---- */

static struct plan *plan_pin(struct plan *p)
{
	p->holders++;
	return p;
}

static void plan_unpin(struct plan *p)
{
	if (!p || --p->holders)
		return;
	tls_client_unpin(p->place.tls);
	mem_free(p->socket);
	mem_free(p->tls_name);
	mem_free(p);
}

static bool read_address(const struct conf_dnstap *c, struct addr *a, struct fault *f)
{
	struct fault why = { 0 };

	if (addr_parse(a, c->dnstap_ip, PORT_USUAL, &why))
		return true;
	fault_set(f, "dnstap-ip: %s", why.text);
	return false;
}

bool dnstap_check(const struct conf *conf, struct fault *f)
{
	const struct conf_dnstap *c = &conf->dnstap;
	struct addr a;

	return !c->dnstap_enable || !*c->dnstap_ip || read_address(c, &a, f);
}

static void plan_address(struct plan *p, const struct snapshot *s)
{
	const struct conf_dnstap *c = &s->conf->dnstap;
	struct fault f = { 0 };
	char at[ADDR_TEXT];

	/* It was checked before, but an interface it names may have gone since. */
	if (!read_address(c, &p->place.addr, &f))
		log_error("%s", f.text);
	snprintf(p->text, sizeof p->text, "%s%s", addr_print(&p->place.addr, 0, at),
		 c->dnstap_tls ? " over TLS" : "");
	if (!c->dnstap_tls)
		return;
	p->place.tls = s->dnstap_tls ? tls_client_pin(s->dnstap_tls) : NULL;
	p->tls_name = *c->dnstap_tls_server_name ? mem_text(c->dnstap_tls_server_name) : NULL;
	p->place.tls_name = p->tls_name;
	p->place.must_verify = *c->dnstap_tls_cert_bundle;
}

static struct plan *plan_new(const struct snapshot *s, bool locked_in)
{
	const struct conf_dnstap *c = &s->conf->dnstap;
	struct plan *p;

	if (!c->dnstap_enable)
		return NULL;
	p = mem_zero(sizeof *p);
	p->holders = 1;
	if (*c->dnstap_ip) {
		plan_address(p, s);
	} else {
		p->socket = locked_in ? conf_path_inside(s->conf, c->dnstap_socket_path)
				      : conf_path(s->conf, c->dnstap_socket_path);
		snprintf(p->text, sizeof p->text, "%.300s", p->socket);
	}
	p->place.socket = p->socket;
	p->place.text = p->text;
	p->place.bidirectional = c->dnstap_bidirectional;
	return p;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether a connection made under one is just as good under the other. */
static bool is_same(const struct plan *a, const struct plan *b)
{
	return a && b && same_text(a->socket, b->socket) && same_text(a->tls_name, b->tls_name) &&
	       strcmp(a->text, b->text) == 0 && a->place.bidirectional == b->place.bidirectional &&
	       a->place.must_verify == b->place.must_verify && !a->place.tls == !b->place.tls;
}

/* ---- waiting ---- */

static void drain_pipe(struct dnstap *d)
{
	char bytes[64];

	while (read(d->pipe[0], bytes, sizeof bytes) > 0)
		;
}

static bool is_called(const struct dnstap *d)
{
	return atomic_load_explicit(&d->called, memory_order_acquire);
}

/* When called, limit the current wait. */
static void heed_call(struct dnstap *d)
{
	if (!d->until_us && is_called(d))
		d->until_us = now_us() + FAREWELL_MS * US_PER_MS;
}

static int left_ms(uint64_t until_us)
{
	uint64_t now = now_us();

	return until_us > now ? (int)((until_us - now + 999) / 1000) : 0;
}

/* Wait for the connection (struct dnstap_how). */
static bool wait_on(void *arg, int fd, short events, uint32_t patience_ms)
{
	struct dnstap *d = arg;
	uint64_t end_us = now_us() + patience_ms * US_PER_MS;
	struct pollfd p[] = { { .fd = fd, .events = events },
			      { .fd = d->pipe[0], .events = POLLIN } };

	for (;;) {
		uint64_t until_us;
		int ms;

		heed_call(d);
		until_us = d->until_us ? MIN(d->until_us, end_us) : end_us;
		ms = left_ms(until_us);
		if (ms == 0)
			return false;
		/* once called, the pipe has nothing more to tell */
		if (poll(p, d->until_us ? 1 : 2, ms) < 0 && errno != EINTR)
			return false;
		if (p[0].revents)
			return true;
		if (p[1].revents)
			drain_pipe(d);
	}
}

/* Wait until called, or until the time is up. */
static void pause_ms(struct dnstap *d, uint32_t ms)
{
	uint64_t until_us = now_us() + ms * US_PER_MS;
	struct pollfd p = { .fd = d->pipe[0], .events = POLLIN };

	for (int left; !is_called(d) && (left = left_ms(until_us)) > 0;) {
		(void)poll(&p, 1, left);
		drain_pipe(d);
	}
}

static bool is_empty(const struct dnstap *d)
{
	for (unsigned i = 0; i < d->count; i++)
		if (!msgring_is_empty(d->queues[i]))
			return false;
	return true;
}

static void hang_up(struct dnstap *d);

/* Nothing to send: sleep until a worker rings, the main thread calls or the collector goes. */
static void rest(struct dnstap *d)
{
	struct pollfd p[] = { { .fd = d->pipe[0], .events = POLLIN },
			      { .fd = d->wire ? dnstap_wire_fd(d->wire) : -1, .events = POLLIN } };

	atomic_store_explicit(&d->bell.asleep, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (!is_called(d) && (is_empty(d) || !d->wire))
		(void)poll(p, d->wire ? 2 : 1, -1);
	atomic_store_explicit(&d->bell.asleep, false, memory_order_relaxed);
	drain_pipe(d);
	if (d->wire && p[1].revents && !dnstap_wire_is_alive(d->wire)) {
		log_warn("dnstap: %s closed the connection", d->wire_plan->text);
		hang_up(d);
	} else if (d->wire && p[0].revents && !is_called(d)) {
		nanosleep(&(struct timespec){ .tv_nsec = LINGER_MS * 1000000 }, NULL);
	}
}

/* ---- the connection ---- */

static void hang_up(struct dnstap *d)
{
	if (!d->wire)
		return;
	if (now_us() - d->connected_us >= PAUSE_MOST_MS * US_PER_MS)
		d->pause_ms = PAUSE_FIRST_MS;
	atomic_store(&d->connected, false);
	dnstap_wire_close(d->wire);
	d->wire = NULL;
	plan_unpin(d->wire_plan);
	d->wire_plan = NULL;
}

/* Connect to the collector, after a pause unless it is the first time: not only where connecting
 * fails, also where the collector goes again and again. That it fails is logged once. */
static void reach(struct dnstap *d)
{
	struct fault f = { 0 };

	pause_ms(d, d->pause_ms);
	if (is_called(d))
		return;
	d->pause_ms = d->pause_ms ? MIN(2 * d->pause_ms, (uint32_t)PAUSE_MOST_MS) : PAUSE_FIRST_MS;
	d->wire = dnstap_wire_open(&d->plan->place, &d->how, &f);
	if (d->wire) {
		d->wire_plan = plan_pin(d->plan);
		log_notice("dnstap: connected to %s", d->plan->text);
		atomic_store(&d->connected, true);
		d->quiet = false;
		d->connected_us = now_us();
		return;
	}
	if (!d->quiet && !is_called(d))
		log_warn("dnstap: cannot connect to %s: %s; will retry",
			 d->plan->text, f.text);
	d->quiet = true;
}

/* Send some of what is queued. False when there was nothing, or the connection broke. */
static bool carry(struct dnstap *d)
{
	struct slice frames[DNSTAP_FRAMES];
	bool some = false;

	for (unsigned i = 0; i < d->count && d->wire; i++) {
		unsigned count = msgring_look(d->queues[i], frames, DNSTAP_FRAMES);
		bool sent = count == 0 || dnstap_wire_write(d->wire, frames, count);

		if (count)
			msgring_done(d->queues[i], count, sent);
		some |= count != 0;
		if (sent)
			continue;
		log_warn("dnstap: connection to %s lost", d->wire_plan->text);
		hang_up(d);
	}
	return some && d->wire;
}

static void finish(struct dnstap *d)
{
	d->until_us = now_us() + FAREWELL_MS * US_PER_MS;
	while (d->wire && now_us() < d->until_us && carry(d))
		;
	hang_up(d);
	d->until_us = 0;
}

/* ---- the thread ---- */

/* Adopt another plan, or none; a connection that is as good under it is kept. */
static void renew(struct dnstap *d, struct plan *next)
{
	struct plan *old = d->plan;

	d->plan = next;
	if (d->wire && !is_same(d->wire_plan, next))
		finish(d);
	plan_unpin(old);
	d->quiet = false;
	d->pause_ms = 0;
}

/* Take the main thread's orders; false: the thread is to end. */
static bool take_orders(struct dnstap *d)
{
	struct plan *next;
	bool has_next, ending;

	d->until_us = 0;
	if (!atomic_exchange_explicit(&d->called, false, memory_order_acquire))
		return true;
	pthread_mutex_lock(&d->lock);
	ending = d->ending;
	has_next = d->has_next;
	next = d->next;
	d->has_next = false;
	d->next = NULL;
	pthread_mutex_unlock(&d->lock);
	if (has_next)
		renew(d, next);
	return !ending;
}

static void *run(void *arg)
{
	struct dnstap *d = arg;

	thread_step_back();
	thread_name("dnstap");
	while (take_orders(d)) {
		if (!d->plan)
			rest(d);
		else if (!d->wire)
			reach(d);
		else if (!carry(d) && d->wire)
			rest(d);
	}
	finish(d);
	return NULL;
}

/* ---- called by the main thread ---- */

static void call(struct dnstap *d)
{
	atomic_store_explicit(&d->called, true, memory_order_release);
	while (write(d->pipe[1], "", 1) < 0 && errno == EINTR)
		;
}

static void open_pipe(int fds[2])
{
	if (pipe(fds) < 0)
		PANIC("no pipe for dnstap: %s", strerror(errno));
	for (unsigned i = 0; i < 2; i++) {
		(void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
		(void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
	}
}

/* The thread blocks all signals: they are for the main thread. */
static void begin(struct dnstap *d)
{
	sigset_t all, before;

	open_pipe(d->pipe);
	d->bell.fd = d->pipe[1];
	d->queues = mem_array(d->count, sizeof *d->queues);
	for (unsigned i = 0; i < d->count; i++)
		d->queues[i] = msgring_new(&d->bell);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&d->thread, NULL, run, d) != 0)
		PANIC("no thread can be made for dnstap");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	d->has_thread = true;
}

struct dnstap *dnstap_new(unsigned workers)
{
	struct dnstap *d = mem_zero(sizeof *d);

	d->count = workers;
	d->how = (struct dnstap_how){ .wait = wait_on, .arg = d };
	d->pipe[0] = d->pipe[1] = -1;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

void dnstap_adopt(struct dnstap *d, const struct snapshot *s, bool locked_in)
{
	struct plan *p = plan_new(s, locked_in);

	atomic_store(&d->enabled, p != NULL);
	if (!p && !d->has_thread)
		return;
	if (!d->has_thread)
		begin(d);
	pthread_mutex_lock(&d->lock);
	plan_unpin(d->next);
	d->next = p;
	d->has_next = true;
	pthread_mutex_unlock(&d->lock);
	call(d);
}

struct msgring *dnstap_queue(struct dnstap *d, unsigned worker)
{
	return d && d->queues ? d->queues[worker] : NULL;
}

void dnstap_tell(const struct dnstap *d, struct dnstap_status *status)
{
	*status = (struct dnstap_status){ .enabled = atomic_load(&d->enabled),
					  .connected = atomic_load(&d->connected) };
	for (unsigned i = 0; d->queues && i < d->count; i++)
		msgring_count(d->queues[i], &status->counts);
}

void dnstap_free(struct dnstap *d)
{
	if (!d)
		return;
	if (d->has_thread) {
		pthread_mutex_lock(&d->lock);
		d->ending = true;
		pthread_mutex_unlock(&d->lock);
		call(d);
		pthread_join(d->thread, NULL);
		close(d->pipe[0]);
		close(d->pipe[1]);
	}
	for (unsigned i = 0; d->queues && i < d->count; i++)
		msgring_free(d->queues[i]);
	plan_unpin(d->plan);
	plan_unpin(d->next);
	mem_free(d->queues);
	pthread_mutex_destroy(&d->lock);
	mem_free(d);
}
