/* The pages that the daemon serves over HTTP: /metrics for Prometheus, /healthz, /status.json.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every page is run as an internal command, which visits the workers as control's commands do. */
#include "daemon/pages/pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/control/call.h"
#include "daemon/control/control.h"
#include "daemon/control/stats.h"
#include "daemon/control/top.h"
#include "daemon/control/upstreams.h"
#include "daemon/pages/http.h"
#include "daemon/pages/http_host.h"
#include "daemon/pages/sources.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "services/cache/aggressive.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/mesh/mesh.h"
#include "services/net/interfaces.h"
#include "services/query/snapshot.h"
#include "services/stats/metrics.h"
#include "util/base/fault.h"
#include "util/base/json.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "validator/keycache.h"

struct pages {
	struct daemon *daemon;
	struct http_server *http;
	int statm; /* /proc/self/statm; -1: not available */
};

/* ---- common to all pages ---- */

struct scrape {
	struct upstream_rows upstreams;
	struct top_tables tops;
	char counters[]; /* a struct gathered, gathered_room() bytes */
};

static void scrape_let_go(struct call *c)
{
	struct scrape *s = c->data;

	if (s)
		top_clear(&s->tops);
}

static struct scrape *scrape_of(struct call *c)
{
	if (!c->data)
		c->data = mem_zero(sizeof(struct scrape) +
				   gathered_room(c->daemon->worker_count));
	c->let_go = scrape_let_go;
	return c->data;
}

static void scrape_take(struct call *c, struct worker *w, bool tops)
{
	struct scrape *s = scrape_of(c);

	gathered_take(gathered_at(s->counters), w);
	upstream_rows_take(&s->upstreams, w);
	if (tops)
		top_take(&s->tops, w);
}

/* Resident memory in bytes; 0: unknown. */
static uint64_t resident(const struct pages *p)
{
	unsigned long long all, here;
	char text[128];
	ssize_t len = p && p->statm >= 0 ? pread(p->statm, text, sizeof text - 1, 0) : 0;

	text[MAX(len, 0)] = '\0';
	return sscanf(text, "%llu %llu", &all, &here) == 2
		       ? (uint64_t)here * (uint64_t)sysconf(_SC_PAGESIZE)
		       : 0;
}

static double cpu_s(void)
{
	struct rusage r = { 0 };

	(void)getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void note_cache(struct metrics_now *now, unsigned i, const char *name, struct slab_count c)
{
	now->caches[i].name = name;
	now->caches[i].bytes = c.bytes;
	now->caches[i].entries = c.entries;
	now->caches[i].limit = c.budget;
}

static void scrape_join(struct call *c, struct metrics_now *now)
{
	const struct daemon *d = c->daemon;
	const struct caches *caches = &d->caches;
	struct gathered *g = gathered_at(scrape_of(c)->counters);
	struct aggressive_count denials = aggressive_counted(caches->negative);

	gathered_join(g, d->worker_count);
	top_join(&scrape_of(c)->tops);
	*now = (struct metrics_now){
		.threads = g->one,
		.thread_count = d->worker_count,
		.total = &g->total,
		.up_s = (double)(loop_time(d->loop)->now_us - d->started_us) / US_PER_S,
		.bytes_in_use = mem_in_use(),
		.bytes_resident = resident(d->pages),
		.cpu_s = cpu_s(),
	};
	note_cache(now, 0, "message", slab_counted(msgcache_slab(caches->messages)));
	note_cache(now, 1, "rrset", slab_counted(rrsetcache_slab(caches->rrsets)));
	note_cache(now, 2, "infra", slab_counted(infra_slab(caches->infra)));
	note_cache(now, 3, "key", slab_counted(keycache_slab(caches->keys)));
	note_cache(now, 4, "negative",
		   (struct slab_count){ .entries = denials.records,
					.bytes = denials.bytes,
					.budget = denials.budget });
}

/* ---- /metrics ---- */

static void say_upstream(struct call *c, const char *name, const char *type, const char *help,
			 uint64_t (*value)(const struct upstream_row *r))
{
	const struct upstream_rows *rows = &scrape_of(c)->upstreams;

	for (size_t i = 0; i < rows->count; i++)
		metrics_print_one(&(struct metric){ .name = name,
						    .type = type,
						    .help = i ? NULL : help,
						    .label = "server",
						    .label_value = rows->at[i].name,
						    .value = (double)value(&rows->at[i]) },
				  call_line, c);
}

#define VALUE(what, is)                                          \
	static uint64_t what(const struct upstream_row *r)       \
	{                                                        \
		return is;                                       \
	}
VALUE(row_up, *r->why ? 0 : 1)
VALUE(row_connections, r->connections)
VALUE(row_questions, r->questions)
VALUE(row_answers, r->answers)
VALUE(row_handshakes, r->handshakes)
VALUE(row_resumed, r->resumed)
VALUE(row_failures, r->failures)
VALUE(row_losses, r->losses)
#undef VALUE

static void say_upstreams(struct call *c)
{
	say_upstream(c, "encrypted_upstream_up", "gauge",
		     "Whether an upstream server over TLS or HTTPS works (1) or fails (0).",
		     row_up);
	say_upstream(c, "encrypted_upstream_connections", "gauge", "Connections to it.",
		     row_connections);
	say_upstream(c, "encrypted_upstream_queries_total", "counter", "Queries sent to it.",
		     row_questions);
	say_upstream(c, "encrypted_upstream_answers_total", "counter", "Answers it gave.",
		     row_answers);
	say_upstream(c, "encrypted_upstream_handshakes_total", "counter", "TLS handshakes with it.",
		     row_handshakes);
	say_upstream(c, "encrypted_upstream_resumed_total", "counter",
		     "Those that resumed a session.", row_resumed);
	say_upstream(c, "encrypted_upstream_failures_total", "counter",
		     "Connections that could not be established.", row_failures);
	say_upstream(c, "encrypted_upstream_losses_total", "counter",
		     "Connections that broke with queries in flight.", row_losses);
}

static void say_one(struct call *c, const char *name, const char *type, const char *help,
		    double value)
{
	metrics_print_one(&(struct metric){ .name = name, .type = type, .help = help, .value = value },
			  call_line, c);
}

static void say_cache_file(struct call *c)
{
	struct cache_keeper_report r = cache_keeper_tell(c->daemon->cache_keeper);

	if (!r.keeps)
		return;
	say_one(c, "cache_file_loaded_entries", "gauge",
		"Answers and RRsets loaded from the cache file at the start.",
		(double)(r.read.answers + r.read.sets));
	say_one(c, "cache_file_failures_total", "counter",
		"Times that the cache file could not be written.", (double)r.failures);
	if (!r.written_s)
		return;
	say_one(c, "cache_file_written_timestamp_seconds", "gauge",
		"When the cache file was written, in seconds since 1970.", (double)r.written_s);
	say_one(c, "cache_file_written_bytes", "gauge", "Its size then.", (double)r.written.bytes);
	say_one(c, "cache_file_written_entries", "gauge",
		"Answers and RRsets that were written then.",
		(double)(r.written.answers + r.written.sets));
	say_one(c, "cache_file_written_seconds", "gauge", "How long that took.",
		(double)r.took_us / US_PER_S);
}

static void say_dnstap(struct call *c)
{
	static const char help[] = "Messages for dnstap's collector, by what became of them.";
	struct dnstap_status s;
	const struct {
		const char *name;
		const uint64_t *count;
	} fates[] = { { "sent", &s.counts.sent },
		      { "dropped", &s.counts.dropped },
		      { "lost", &s.counts.lost } };

	dnstap_tell(c->daemon->dnstap, &s);
	if (!s.enabled)
		return;
	metrics_print_one(&(struct metric){ .name = "dnstap_connected",
					    .type = "gauge",
					    .help = "Whether there is a connection to dnstap's collector.",
					    .value = s.connected },
			  call_line, c);
	for (size_t i = 0; i < COUNT(fates); i++)
		metrics_print_one(&(struct metric){ .name = "dnstap_messages_total",
						    .type = "counter",
						    .help = i ? NULL : help,
						    .label = "fate",
						    .label_value = fates[i].name,
						    .value = (double)*fates[i].count },
				  call_line, c);
}

static void say_querypipe(struct call *c)
{
	struct querypipe_status s;

	querypipe_tell(c->daemon->querypipe, &s);
	if (!s.enabled)
		return;
	say_one(c, "query_pipe_reader", "gauge", "Whether somebody reads the pipe of queries.", s.has_reader);
	say_one(c, "query_pipe_written_lines_total", "counter", "Lines written to the pipe of queries.",
		(double)s.written);
	say_one(c, "query_pipe_lost_lines_total", "counter",
		"Lines about queries that could not be kept for the pipe's reader.", (double)s.lost);
}

static void metrics(struct call *c, struct worker *w)
{
	struct metrics_now now;

	if (w) {
		scrape_take(c, w, w->env.snapshot->conf->metrics.metrics_top > 0);
		return;
	}
	scrape_join(c, &now);
	metrics_print(&now, call_line, c);
	say_upstreams(c);
	sources_say_metrics(c, now.total, &scrape_of(c)->tops);
	say_one(c, "log_lost_lines_total", "counter", "Lines that could not be written to the log.", (double)log_lost());
	say_one(c, "loop_longest_seconds", "gauge",
		"The longest time that a thread was busy without reading packets since the counters were reset.",
		(double)stat_get(&now.total->turn_cpu_us) / US_PER_S);
	say_cache_file(c);
	say_dnstap(c);
	say_querypipe(c);
}

/* ---- /status.json ---- */

static void put(void *arg, const char *at, size_t len)
{
	call_say(arg, "%.*s", (int)len, at);
}

static void put_caches(struct json *j, const struct metrics_now *now)
{
	json_open(j, "caches", '[');
	for (unsigned i = 0; now->caches[i].name; i++) {
		json_open(j, NULL, '{');
		json_text(j, "name", now->caches[i].name);
		json_number(j, "bytes", now->caches[i].bytes);
		json_number(j, "entries", now->caches[i].entries);
		if (now->caches[i].limit)
			json_number(j, "limit", now->caches[i].limit);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_upstreams(struct json *j, const struct upstream_rows *rows)
{
	json_open(j, "encrypted_upstreams", '[');
	for (size_t i = 0; i < rows->count; i++) {
		const struct upstream_row *r = &rows->at[i];

		json_open(j, NULL, '{');
		json_text(j, "server", r->name);
		json_bool(j, "up", !*r->why);
		if (*r->why)
			json_text(j, "reason", r->why);
		json_number(j, "connections", r->connections);
		json_number(j, "queries", r->questions);
		json_number(j, "answers", r->answers);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_dnstap(struct json *j, const struct dnstap *d)
{
	struct dnstap_status s;

	dnstap_tell(d, &s);
	if (!s.enabled)
		return;
	json_open(j, "dnstap", '{');
	json_bool(j, "connected", s.connected);
	json_number(j, "sent", s.counts.sent);
	json_number(j, "dropped", s.counts.dropped);
	json_number(j, "lost", s.counts.lost);
	json_close(j, '}');
}

static void status(struct call *c, struct worker *w)
{
	struct json j = { .out = put, .arg = c };
	const struct stats *t;
	struct metrics_now now;

	if (w) {
		scrape_take(c, w, true);
		return;
	}
	scrape_join(c, &now);
	t = now.total;
	json_open(&j, NULL, '{');
	json_text(&j, "version", PACKAGE_VERSION);
	json_number(&j, "uptime_seconds", (uint64_t)now.up_s);
	json_number(&j, "threads", now.thread_count);
	json_number(&j, "queries", stat_get(&t->count[STAT_queries]));
	json_number(&j, "cache_hits", stats_hits(t));
	json_number(&j, "cache_misses", stat_get(&t->count[STAT_cachemiss]));
	json_number(&j, "answered_from_expired", stat_get(&t->count[STAT_expired]));
	json_number(&j, "prefetches", stat_get(&t->count[STAT_prefetch]));
	json_number(&j, "lookups_in_progress", stat_get(&t->list_now));
	json_number(&j, "client_connections", stat_get(&t->tcpusage));
	json_number(&j, "memory_bytes", now.bytes_in_use);
	put_caches(&j, &now);
	put_upstreams(&j, &scrape_of(c)->upstreams);
	sources_put_json(&j, c, t, &scrape_of(c)->tops);
	put_dnstap(&j, c->daemon->dnstap);
	json_close(&j, '}');
	call_say(c, "\n");
}

/* ---- /healthz ---- */

/* Healthy if the root's NS RRset, or what stands in for it, can be resolved. */
static void on_resolved(void *arg, const struct message *reply)
{
	struct call *c = arg;
	char rcode[16];

	if (reply->rcode == RCODE_NOERROR && reply->security != SECURITY_BOGUS)
		call_say(c, "ok\n");
	else
		call_say(c, "failing: cannot resolve the NS RRset of the root: %s%s%s\n",
			 rr_rcode_name(reply->rcode, rcode), reply->reason ? ", " : "",
			 reply->reason ? reason_text(reply->reason) : "");
	call_resume(c);
}

static void health(struct call *c, struct worker *w)
{
	static const struct question root = {
		.name = dname_root, .name_len = 1, .type = TYPE_NS, .class_ = CLASS_IN
	};

	if (!w)
		return;
	c->waits = true;
	mesh_resolve(w->env.mesh, &root, 0, on_resolved, c);
}

/* ---- routing ---- */

static const struct page {
	const char *path, *type;
	struct command command;
} known[] = {
	{ "/metrics", "text/plain; version=0.0.4; charset=utf-8",
	  { .place = EVERY_WORKER, .run = metrics } },
	{ "/status.json", "application/json", { .place = EVERY_WORKER, .run = status } },
	{ "/healthz", "text/plain; charset=utf-8", { .place = FIRST_WORKER, .run = health } },
};

static void on_over(struct call *c, void *arg)
{
	const struct page *page = container_of(c->command, struct page, command);
	size_t len;
	char *text = call_reply(c, &len);
	bool fails = c->broken || strncmp(text, "failing", 7) == 0;

	http_answer(arg, fails ? 503 : 200, page->type, text, len);
	mem_free(text);
}

/* By a name that may be a stranger's: see http_host.h. Elsewhere than on loopback whoever can reach us can read the
 * pages, and names are as many as there are scrapers: there only what the operator says is checked. */
static bool is_misled(const struct pages *p, const struct http_asked *asked, char *host)
{
	const struct conf_list *names = &p->daemon->snapshot->conf->metrics.metrics_host;

	return host && (names->count || http_came_by_loopback(asked)) && !http_host_is_ours(host, names);
}

static void on_asked(void *arg, struct http_asked *asked, const char *path, char *host)
{
	static const char none[] = "404 Not Found: there are /metrics, /healthz and /status.json\n";
	static const char misled[] = "421 Misdirected Request: ask by address, or by a name of metrics-host\n";
	struct pages *p = arg;

	if (is_misled(p, asked, host)) {
		http_answer(asked, 421, "text/plain; charset=utf-8", misled, sizeof misled - 1);
		return;
	}
	for (size_t i = 0; i < COUNT(known); i++) {
		if (strcmp(known[i].path, path) == 0) {
			control_run(p->daemon->control,
				    &(struct call_plan){ .how = &known[i].command,
							 .over = on_over,
							 .arg = asked });
			return;
		}
	}
	http_answer(asked, 404, "text/plain; charset=utf-8", none, sizeof none - 1);
}

/* ---- listening ---- */

#define ADDRESSES_MOST 64

struct places {
	struct addr at[ADDRESSES_MOST];
	size_t count;
};

static void add_place(void *arg, const struct addr *a)
{
	struct places *p = arg;

	if (p->count < ADDRESSES_MOST)
		p->at[p->count++] = *a;
}

static bool serve(struct pages *p, struct fault *f)
{
	const struct conf *conf = p->daemon->snapshot->conf;
	const struct conf_list *list = &conf->metrics.metrics_interface;
	static const char *const usual[] = { "127.0.0.1", "::1" };
	size_t count = list->count ? list->count : COUNT(usual);
	struct places places = { .count = 0 };

	for (size_t i = 0; conf->metrics.metrics_enable && i < count; i++)
		if (!interface_expand(list->count ? list->items[i].text : usual[i],
				      (uint16_t)conf->metrics.metrics_port, conf->server.do_ip4,
				      conf->server.do_ip6, add_place, &places, f))
			return false;
	return http_serve(p->http, places.at, places.count, list->count == 0, f);
}

struct pages *pages_open(struct daemon *d, struct fault *f)
{
	struct pages *p = mem_zero(sizeof *p);

	p->daemon = d;
	p->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC); /* a chroot may hide it later */
	p->http = http_new(d->loop, on_asked, p);
	if (serve(p, f))
		return p;
	pages_close(p);
	return NULL;
}

void pages_reopen(struct pages *p)
{
	struct fault f = { 0 };

	if (!serve(p, &f))
		log_warn("%s; open sockets stay open", f.text);
}

void pages_close(struct pages *p)
{
	if (!p)
		return;
	http_free(p->http);
	if (p->statm >= 0)
		close(p->statm);
	mem_free(p);
}
