/* Commands about remembered queries, and about the most frequent names and clients.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/control/call_json.h"
#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "services/history/recorder.h"
#include "services/stats/stats.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/rr.h"

#define ROWS_USUAL 100
#define ROWS_MOST  1000000
#define TOP_USUAL  10

static bool read_count(const char *word, size_t most, size_t *count)
{
	char *end;
	unsigned long long n = strtoull(word, &end, 10);

	*count = (size_t)MIN(n, most);
	return *word >= '0' && *word <= '9' && !*end && n > 0;
}

/* ---- the queries ---- */

struct row {
	uint64_t at_us;
	char *text;
};

struct listing {
	struct call *call;
	/* which queries to list */
	size_t most;
	bool blocked, failed, by_client, by_name;
	struct netblock client;
	uint8_t name[DNAME_MAX];
	/* matches so far, pruned to the newest `most` now and then; unsorted */
	struct row *rows;
	size_t count, room;
	int64_t wall_ahead_us; /* wall clock minus monotonic clock */
};

static bool is_failure(const struct seen *s)
{
	return s->rcode == SEEN_NO_ANSWER || s->rcode == RCODE_SERVFAIL ||
	       s->rcode == RCODE_REFUSED || s->rcode == RCODE_FORMERR;
}

static bool is_wanted(const struct listing *l, const struct seen *s)
{
	if (l->blocked && s->how != SEEN_blocked)
		return false;
	if (l->failed && !is_failure(s))
		return false;
	if (l->by_client && !netblock_holds(&l->client, &s->client))
		return false;
	return !l->by_name || dname_is_under(s->name, l->name);
}

/* "2026-11-20T07:05:42.123Z" */
static void print_time(int64_t us, char *to, size_t room)
{
	time_t s = (time_t)(us / (int64_t)US_PER_S);
	struct tm tm = { 0 };
	char text[32];

	gmtime_r(&s, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(to, room, "%s.%03dZ", text, (int)(us % (int64_t)US_PER_S / 1000));
}

static const char *client_text(const struct seen *s, char buf[ADDR_TEXT])
{
	return s->client.family ? addr_print(&s->client, 0, buf) : "-";
}

/* What decided the answer, why it failed, or which server it came from. */
static void print_detail(const struct seen *s, char *to, size_t room)
{
	char addr[ADDR_TEXT];

	*to = '\0';
	if (s->reason != REASON_none && s->reason < REASONS)
		snprintf(to, room, " %s%s%s", reason_text((enum reason)s->reason),
			 s->text && *s->text ? ": " : "", s->text ? s->text : "");
	else if (s->text && *s->text)
		snprintf(to, room, " %s", s->text);
	else if (s->server.family)
		snprintf(to, room, " from %s", addr_print(&s->server, 0, addr));
}

static const char *const ways[STAT_TRANSPORTS] = {
	[STAT_UDP] = "udp", [STAT_TCP] = "tcp", [STAT_TLS] = "tls", [STAT_HTTPS] = "https"
};

struct page {
	char *text;
	size_t len, room;
};

static void write_down(void *arg, const char *at, size_t len)
{
	struct page *p = arg;

	if (p->room - p->len <= len) {
		p->room = 2 * p->room + len + 1;
		p->text = mem_grow(p->text, p->room);
	}
	memcpy(p->text + p->len, at, len);
	p->len += len;
	p->text[p->len] = '\0';
}

static void put_outcome(struct json *j, const struct seen *s)
{
	char rcode[16], server[ADDR_TEXT], ms[32];

	if (s->rcode != SEEN_NO_ANSWER)
		json_text(j, "rcode", rr_rcode_name(s->rcode, rcode));
	json_text(j, "how", seen_how_word((enum seen_how)(s->how % SEEN_KINDS)));
	snprintf(ms, sizeof ms, "%" PRIu64 ".%03u", s->took_us / 1000, (unsigned)(s->took_us % 1000));
	json_raw(j, "took_ms", ms);
	if (s->reason != REASON_none && s->reason < REASONS)
		json_text(j, "reason", reason_text((enum reason)s->reason));
	if (s->text && *s->text)
		json_text(j, "detail", s->text);
	else if (s->server.family)
		json_text(j, "server", addr_print(&s->server, 0, server));
}

static char *row_json(const struct listing *l, const struct seen *s)
{
	char at[48], client[ADDR_TEXT], name[DNAME_TEXT], type[16];
	struct page page = { .text = NULL };
	struct json j = { .out = write_down, .arg = &page };

	print_time((int64_t)s->at_us + l->wall_ahead_us, at, sizeof at);
	json_open(&j, NULL, '{');
	json_text(&j, "time", at);
	if (s->client.family)
		json_text(&j, "client", client_text(s, client));
	json_text(&j, "transport", ways[s->transport % STAT_TRANSPORTS]);
	json_text(&j, "name", dname_print(s->name, name));
	json_text(&j, "type", rr_type_name(s->type, type));
	put_outcome(&j, s);
	json_close(&j, '}');
	return page.text;
}

static char *row_text(const struct listing *l, const struct seen *s)
{
	char at[48], client[ADDR_TEXT], name[DNAME_TEXT], type[16], rcode[16], detail[400],
		line[DNAME_TEXT + 800];

	if (l->call->json)
		return row_json(l, s);
	print_time((int64_t)s->at_us + l->wall_ahead_us, at, sizeof at);
	print_detail(s, detail, sizeof detail);
	snprintf(line, sizeof line, "%s %s %s %s %s %s %s %" PRIu64 ".%03u ms%s", at,
		 client_text(s, client), ways[s->transport % STAT_TRANSPORTS],
		 dname_print(s->name, name), rr_type_name(s->type, type),
		 s->rcode == SEEN_NO_ANSWER ? "-" : rr_rcode_name(s->rcode, rcode),
		 seen_how_word((enum seen_how)(s->how % SEEN_KINDS)), s->took_us / 1000,
		 (unsigned)(s->took_us % 1000), detail);
	return mem_text(line);
}

static int by_time(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return (one->at_us > other->at_us) - (one->at_us < other->at_us);
}

/* Sort by time and keep the newest `most`; at least twice as many accumulate between prunings. */
static void keep_newest(struct listing *l)
{
	size_t excess;

	if (!l->count)
		return;
	qsort(l->rows, l->count, sizeof *l->rows, by_time);
	excess = l->count > l->most ? l->count - l->most : 0;
	for (size_t i = 0; i < excess; i++)
		mem_free(l->rows[i].text);
	memmove(l->rows, l->rows + excess, (l->count - excess) * sizeof *l->rows);
	l->count -= excess;
}

static void take_seen(const struct seen *s, void *arg)
{
	struct listing *l = arg;

	if (!is_wanted(l, s))
		return;
	if (l->count == l->room) {
		if (l->count >= 2 * l->most)
			keep_newest(l);
		if (l->count == l->room) {
			l->room = MAX(2 * l->room, (size_t)64);
			l->rows = mem_grow(l->rows, l->room * sizeof *l->rows);
		}
	}
	l->rows[l->count++] = (struct row){ .at_us = s->at_us, .text = row_text(l, s) };
}

static int64_t wall_ahead_us(void)
{
	struct timespec wall = { 0 }, since = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &wall);
	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	return ((int64_t)wall.tv_sec - (int64_t)since.tv_sec) * (int64_t)US_PER_S +
	       ((int64_t)wall.tv_nsec - (int64_t)since.tv_nsec) / 1000;
}

static bool refuse(struct call *c, const char *what, const char *word)
{
	call_say(c, "error %s%s%s\n", what, word ? ": " : "", word ? word : "");
	return false;
}

static bool read_client(struct listing *l, const char *word)
{
	struct fault f = { 0 };

	l->by_client = true;
	return (word && netblock_parse(&l->client, word, &f)) ||
	       refuse(l->call, "client needs an address or netblock", word);
}

static bool read_name(struct listing *l, const char *word)
{
	struct fault f = { 0 };

	l->by_name = true;
	return (word && dname_parse(l->name, word, &f)) ||
	       refuse(l->call, "name needs a domain name", word);
}

static bool read_wishes(struct listing *l)
{
	char *word;

	while ((word = control_word(&l->call->args)) != NULL) {
		if (strcmp(word, "blocked") == 0)
			l->blocked = true;
		else if (strcmp(word, "failed") == 0)
			l->failed = true;
		else if (strcmp(word, "client") == 0) {
			if (!read_client(l, control_word(&l->call->args)))
				return false;
		} else if (strcmp(word, "name") == 0) {
			if (!read_name(l, control_word(&l->call->args)))
				return false;
		} else if (!read_count(word, ROWS_MOST, &l->most))
			return refuse(l->call, "expected a number, blocked, failed, client or name",
				      word);
	}
	return true;
}

static bool gather(struct listing *l)
{
	const struct daemon *d = l->call->daemon;
	bool any = false;

	for (unsigned i = 0; i < d->worker_count; i++) {
		struct queryring_copy *copy;
		const struct queryring *r;

		rcu_turn_begin();
		r = RCU_READ(d->workers[i]->ring);
		copy = r ? queryring_copy(r) : NULL;
		rcu_turn_end();
		if (!copy)
			continue;
		queryring_copy_each(copy, take_seen, l);
		mem_free(copy);
		any = true;
	}
	return any || refuse(l->call, "no questions are remembered: see the option query-ring", NULL);
}

static void say_row(struct call *c, const char *text)
{
	struct json *j = call_rows(c);

	if (j)
		json_raw(j, NULL, text);
	else
		call_line(text, c);
}

void control_list_queries(struct call *c, struct worker *w)
{
	struct listing l = { .call = c, .most = ROWS_USUAL, .wall_ahead_us = wall_ahead_us() };

	(void)w;
	if (read_wishes(&l) && gather(&l)) {
		keep_newest(&l);
		(void)call_rows(c);
		for (size_t i = 0; i < l.count; i++)
			say_row(c, l.rows[i].text);
	}
	for (size_t i = 0; i < l.count; i++)
		mem_free(l.rows[i].text);
	mem_free(l.rows);
}

/* ---- toplists ---- */

static const char *const kinds[TOP_KINDS] = {
	[TOP_NAMES] = "names", [TOP_CLIENTS] = "clients", [TOP_BLOCKED] = "blocked"
};

const char *top_kind_word(enum toplist_kind kind)
{
	return kinds[kind];
}

void top_take(struct top_tables *t, const struct worker *w)
{
	for (unsigned i = 0; w->env.recorder && i < TOP_KINDS; i++)
		if (w->env.recorder->top[i]) {
			t->kept[i] = true;
			toprows_take(&t->rows[i], w->env.recorder->top[i]);
		}
}

void top_join(struct top_tables *t)
{
	for (unsigned i = 0; i < TOP_KINDS; i++)
		toprows_join(&t->rows[i]);
}

void top_clear(struct top_tables *t)
{
	for (unsigned i = 0; i < TOP_KINDS; i++)
		toprows_clear(&t->rows[i]);
}

const char *top_text(enum toplist_kind kind, const struct toprow *row, char buf[DNAME_TEXT])
{
	_Static_assert(DNAME_TEXT >= ADDR_TEXT, "both fit");

	if (kind == TOP_CLIENTS)
		return recorder_client_text(row, buf);
	return dname_print(row->key, buf);
}

struct top_call {
	struct top_tables tables;
	bool is_read, is_wrong, clears;
	enum toplist_kind kind;
	size_t most;
};

static void let_go(struct call *c)
{
	struct top_call *t = c->data;

	if (t)
		top_clear(&t->tables);
}

static bool read_kind(struct top_call *t, const char *word)
{
	for (unsigned i = 0; word && i < TOP_KINDS; i++)
		if (strcmp(word, kinds[i]) == 0) {
			t->kind = (enum toplist_kind)i;
			return true;
		}
	t->clears = word && strcmp(word, "clear") == 0;
	return t->clears;
}

static void read_top(struct top_call *t, struct call *c)
{
	char *word = control_word(&c->args);

	t->is_read = true;
	t->most = TOP_USUAL;
	if (!read_kind(t, word)) {
		t->is_wrong = true;
		call_say(c, "error expected names, clients, blocked or clear%s%s\n", word ? ": " : "",
			 word ? word : "");
		return;
	}
	word = control_word(&c->args);
	if (word && !read_count(word, ROWS_MOST, &t->most)) {
		t->is_wrong = true;
		call_say(c, "error expected how many: %s\n", word);
	}
}

static void clear_tops(const struct worker *w, struct top_call *t)
{
	for (unsigned i = 0; w->env.recorder && i < TOP_KINDS; i++)
		if (w->env.recorder->top[i]) {
			t->tables.kept[i] = true;
			toplist_clear(w->env.recorder->top[i]);
		}
}

static void put_top(struct json *j, enum toplist_kind kind, const struct toprow *row)
{
	char text[DNAME_TEXT];

	json_number(j, "count", row->count);
	json_text(j, kind == TOP_CLIENTS ? "client" : "name", top_text(kind, row, text));
	if (row->over)
		json_number(j, "over", row->over);
}

static void say_tops(struct call *c, struct top_call *t)
{
	const struct toprows *rows = &t->tables.rows[t->kind];
	char text[DNAME_TEXT];

	(void)call_rows(c);
	for (size_t i = 0; i < MIN(rows->count, t->most); i++) {
		struct json *j = call_row(c);

		if (j) {
			put_top(j, t->kind, &rows->at[i]);
			call_row_end(c);
			continue;
		}
		call_say(c, "%" PRIu64 " %s", rows->at[i].count,
			 top_text(t->kind, &rows->at[i], text));
		if (rows->at[i].over)
			call_say(c, " over=%" PRIu64, rows->at[i].over);
		call_say(c, "\n");
	}
}

void control_top(struct call *c, struct worker *w)
{
	struct top_call *t = c->data;

	if (!t) {
		c->data = t = mem_zero(sizeof *t);
		c->let_go = let_go;
		read_top(t, c);
	}
	if (t->is_wrong)
		return;
	if (w) {
		if (t->clears)
			clear_tops(w, t);
		else
			top_take(&t->tables, w);
		return;
	}
	if (!t->tables.kept[t->kind]) {
		call_say(c, "error nothing is counted: see the options top-lists and client-privacy\n");
		return;
	}
	if (t->clears) {
		call_ok(c);
		return;
	}
	top_join(&t->tables);
	say_tops(c, t);
}
