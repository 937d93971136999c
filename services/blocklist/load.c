/* Loading a list: fetching its sources, swapping in new tables, keeping a copy on disk.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "services/blocklist/blocklist.h"
#include "services/blocklist/load_private.h"
#include "services/blocklist/saved_table.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"

#define FIRST_RETRY_S 60

/* ---- the table saved by the last run ---- */

static struct stored_source to_store(const struct source *s)
{
	struct stored_source o = { .kind = (uint8_t)s->kind,
				   .size = s->size,
				   .mtime_ns = s->mtime_ns,
				   .good_s = s->good_s,
				   .mark = s->mark,
				   .counts = s->counts };

	snprintf(o.where, sizeof(o.where), "%s", s->where);
	return o;
}

static void save(struct blocklist_loading *g, const struct sources *s, struct blocklist_table *t)
{
	struct stored_list l = { .spec = g->spec, .made_s = blocklist_wall_s(), .table = t };
	char *path = blocklist_own_path(g, "", ".table");
	struct fault f = { 0 };

	if (!path)
		return;
	l.source_count = s->count;
	l.sources = mem_array(s->count + 1, sizeof(*l.sources));
	for (size_t i = 0; i < s->count; i++)
		l.sources[i] = to_store(&s->at[i]);
	if (!blocklist_saved_write(path, &l, &f) && !g->table_told) {
		log_rare_of("warning", blocklist, LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(reason, f.text)),
			    "blocklist %s: copy not saved: %s", g->name, f.text);
		g->table_told = true;
	}
	mem_free(l.sources);
	mem_free(path);
}

static void remember(struct blocklist_loading *g, const struct stored_list *l)
{
	for (uint64_t i = 0; i < l->source_count; i++) {
		const struct stored_source *o = &l->sources[i];
		struct source *s;

		g->now.at = mem_grow(g->now.at, (g->now.count + 1) * sizeof(*g->now.at));
		s = &g->now.at[g->now.count++];
		*s = (struct source){ .kind = (enum blocklist_kind)o->kind,
				      .where = mem_text(o->where),
				      .size = o->size,
				      .mtime_ns = o->mtime_ns,
				      .good_s = o->good_s,
				      .mark = o->mark,
				      .counts = o->counts };
		if (s->kind == BLOCKLIST_FROM_URL)
			s->due_s = o->good_s + g->refresh_s;
	}
	g->made_s = l->made_s;
}

/* ---- swapping ---- */

static void tell_sources(struct blocklist_loading *g, struct sources *s)
{
	struct sources old;

	pthread_mutex_lock(&g->lock);
	old = g->now;
	g->now = *s;
	*s = (struct sources){ 0 };
	pthread_mutex_unlock(&g->lock);
	blocklist_sources_clear(&old);
}

static void tell_stale(struct blocklist_loading *g, const char *why)
{
	pthread_mutex_lock(&g->lock);
	snprintf(g->stale, sizeof(g->stale), "%s", why);
	pthread_mutex_unlock(&g->lock);
}

static void publish(struct blocklist *l, const struct sources *s, struct blocklist_table *t,
		    uint64_t began_us)
{
	struct blocklist_loading *g = l->loading;
	struct timebase now = { 0 };

	timebase_read(&now);
	log_ops_of(blocklist,
		   LOG_FACTS(LOG_TEXT(list, g->name), LOG_COUNT(names, blocklist_table_count(t)),
			     LOG_COUNT(size, blocklist_table_bytes(t)), LOG_COUNT(duration, now.now_us - began_us)),
		   "blocklist %s: %zu names, %zu bytes, from %zu sources in %" PRIu64 " ms", g->name,
		   blocklist_table_count(t), blocklist_table_bytes(t), s->count, (now.now_us - began_us) / US_PER_MS);
	blocklist_publish(l, blocklist_table_pin(t));
	pthread_mutex_lock(&g->lock);
	g->made_s = blocklist_wall_s();
	g->stale[0] = '\0';
	pthread_mutex_unlock(&g->lock);
	if (g->loader) {
		save(g, s, t);
		blocklist_table_unpin(t);
	} else {
		blocklist_table_unpin(g->unsaved);
		g->unsaved = t;
	}
	mem_trim();
}

static bool all_failed(const struct sources *s, struct fault *f)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->at[i].failed_s)
			return false;
	if (s->count)
		fault_set(f, "%s: %s", s->at[0].where, s->at[0].why);
	return s->count > 0;
}

/* Rebuild from all sources, unless one that was good is broken: then the old table stays. */
static void renew(struct blocklist *l, struct sources *s, uint64_t seed)
{
	struct blocklist_loading *g = l->loading;
	struct timebase began = { 0 };
	struct fault f = { 0 };
	struct blocklist_table *t;

	timebase_read(&began);
	t = blocklist_make_table(g, s, seed, false, &f);
	if (!t && !g->made_s) { /* no table yet: use whatever can be read */
		struct fault again = { 0 };

		t = blocklist_make_table(g, s, seed, true, &again);
	}
	/* An empty table is no better than what this list's name had before a reload. */
	if (t && all_failed(s, &f) && blocklist_table_count(RCU_READ(l->table)) > 0) {
		blocklist_table_unpin(t);
		t = NULL;
	}
	if (t) {
		publish(l, s, t, began.now_us);
		return;
	}
	log_rare_of("warning", blocklist, LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(reason, f.text)),
		    "blocklist %s: update failed, old list stays in use: %s", g->name, f.text);
	tell_stale(g, f.text);
}

/* ---- start ---- */

static uint64_t seed_new(void)
{
	struct random r;
	uint64_t seed;

	random_init(&r);
	do
		seed = (uint64_t)random_u32(&r) << 32 | random_u32(&r);
	while (seed == 0);
	return seed;
}

void blocklist_loading_begin(struct blocklist *l, uint64_t *seed)
{
	struct blocklist_loading *g = l->loading;
	char *path = blocklist_own_path(g, "", ".table");
	struct stored_list stored = { 0 };
	struct sources s;

	if (path && blocklist_saved_read(path, &stored, seed) && stored.spec == g->spec) {
		remember(g, &stored);
		log_ops_of(blocklist,
			   LOG_FACTS(LOG_TEXT(list, g->name), LOG_COUNT(names, blocklist_table_count(stored.table)),
				     LOG_TEXT(source, path)),
			   "blocklist %s: %zu names from %s", g->name, blocklist_table_count(stored.table), path);
		blocklist_publish(l, stored.table);
	} else {
		blocklist_table_unpin(stored.table);
	}
	mem_free(stored.sources);
	mem_free(path);
	s = blocklist_look(g);
	if (*seed == 0)
		*seed = seed_new();
	if (!g->made_s || !blocklist_sources_equal(&s, &g->now))
		renew(l, &s, *seed);
	tell_sources(g, &s);
}

/* ---- keeping it up to date ---- */

static void count_rule(void *arg, const struct blocklist_rule *r)
{
	(void)arg;
	(void)r;
}

/* Incoming bytes go into the copy and to a reader that checks them. */
struct copying {
	FILE *to;
	struct blocklist_reader *reader;
	struct fault *fault;
};

static bool copy_piece(void *copying, const char *bytes, size_t len)
{
	struct copying *c = copying;

	if (!blocklist_reader_take(c->reader, bytes, len, c->fault))
		return false;
	if (fwrite(bytes, 1, len, c->to) == len)
		return true;
	fault_set(c->fault, "the copy cannot be written: %s", strerror(errno));
	return false;
}

static bool check_copy(const struct blocklist_reader *r, struct fault *f)
{
	if (blocklist_reader_counts(r)->rules)
		return true;
	fault_set(f, "it holds no rule");
	return false;
}

/* Closes it. On the disk first, so that a crash leaves one of the two whole. */
static bool take_its_place(FILE *copy, const char *new, const char *path)
{
	bool good = fflush(copy) == 0 && fsync(fileno(copy)) == 0;

	good = fclose(copy) == 0 && good;
	return good && rename(new, path) == 0;
}

/* Fetch a URL and replace its copy, if what came is a list. */
static enum fetch_end fetch_copy(const struct blocklist_loading *g, struct source *s,
				 struct fault *f)
{
	struct blocklist_how count = { .tops = g->tops, .rule = count_rule };
	struct fetch_how how = blocklist_how_to_fetch(g, s->where);
	struct copying c = { .fault = f };
	struct fetch_mark mark = s->size >= 0 ? s->mark : (struct fetch_mark){ 0 };
	char *new = mem_textf("%s.new", s->path);
	enum fetch_end end = FETCH_FAILED;

	c.to = fopen(new, "we");
	if (!c.to) {
		fault_set(f, "no copy can be written: %s: %s", new, strerror(errno));
		mem_free(new);
		return FETCH_FAILED;
	}
	c.reader = blocklist_reader_new(&count);
	how.take = copy_piece;
	how.arg = &c;
	end = fetch_url(&how, &mark, f);
	if (end == FETCH_NEW && !(blocklist_reader_end(c.reader, f) && check_copy(c.reader, f)))
		end = FETCH_FAILED;
	if (end != FETCH_NEW) {
		(void)fclose(c.to);
	} else if (take_its_place(c.to, new, s->path)) {
		s->mark = mark;
	} else {
		fault_set(f, "the copy cannot be written: %s", strerror(errno));
		end = FETCH_FAILED;
	}
	if (end != FETCH_NEW)
		(void)unlink(new);
	blocklist_reader_free(c.reader);
	mem_free(new);
	return end;
}

static uint32_t retry_s(const struct blocklist_loading *g, unsigned failures)
{
	uint64_t s = (uint64_t)FIRST_RETRY_S << MIN(failures, 10);

	return (uint32_t)MIN(s, g->refresh_s);
}

static void fetch(const struct blocklist_loading *g, struct source *s)
{
	struct fault f = { 0 };
	enum fetch_end end = fetch_copy(g, s, &f);

	if (end == FETCH_FAILED) {
		blocklist_source_fail(s, &f);
		s->due_s = blocklist_wall_s() + retry_s(g, s->failures++);
		log_rare_of("warning", blocklist,
			    LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(source, s->where), LOG_TEXT(reason, s->why)),
			    "blocklist %s: %s: %s%s", g->name, s->where, s->why,
			    s->size >= 0 ? "; old copy stays in use" : "");
		return;
	}
	s->good_s = blocklist_wall_s();
	s->failed_s = 0;
	s->failures = 0;
	s->due_s = s->good_s + g->refresh_s;
	blocklist_source_look(s);
}

/* Fetch the URLs that are due, or all of them. */
static void fetch_due(const struct blocklist_loading *g, struct sources *s, bool all)
{
	for (size_t i = 0; i < s->count; i++) {
		struct source *one = &s->at[i];

		if (loader_is_ending(g->loader))
			return;
		if (one->kind == BLOCKLIST_FROM_URL && one->path &&
		    (all || blocklist_source_is_due(one, g->refresh_s, blocklist_wall_s())))
			fetch(g, one);
	}
}

static bool has_uncopied(const struct sources *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == BLOCKLIST_FROM_URL && !s->at[i].path)
			return true;
	return false;
}

static uint32_t next_look_s(const struct blocklist_loading *g, const struct sources *s)
{
	int64_t now = blocklist_wall_s(), next = now + g->refresh_s;

	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == BLOCKLIST_FROM_URL && s->at[i].path)
			next = MIN(next, s->at[i].due_s);
	if (!g->made_s || *g->stale)
		next = MIN(next, now + FIRST_RETRY_S);
	return (uint32_t)MAX(next - now, 1);
}

static void again(struct blocklist_loading *g, uint32_t after_s)
{
	pthread_mutex_lock(&g->lock);
	g->next_s = blocklist_wall_s() + after_s;
	pthread_mutex_unlock(&g->lock);
	loader_add(g->loader, &g->task, after_s * US_PER_S);
	/* A request that came meanwhile has just been put off: repeat it. */
	if (atomic_load(&g->hurried) || atomic_load(&g->ended))
		loader_add(g->loader, &g->task, 0);
}

static void on_task(struct loader_task *t)
{
	struct blocklist_loading *g = container_of(t, struct blocklist_loading, task);
	struct blocklist *l = g->list;
	bool hurried;
	struct sources s;
	uint32_t after_s;

	if (atomic_load(&g->ended)) {
		g->list = NULL;
		blocklist_unpin(l);
		return;
	}
	if (g->unsaved)
		save(g, &g->now, g->unsaved);
	blocklist_table_unpin(g->unsaved);
	g->unsaved = NULL;
	hurried = atomic_exchange(&g->hurried, false);
	s = blocklist_look(g);
	fetch_due(g, &s, hurried);
	if (!loader_is_ending(g->loader) &&
	    (!blocklist_sources_equal(&s, &g->now) || has_uncopied(&s) ||
	     (hurried && (*g->stale || !g->made_s))))
		renew(l, &s, atomic_load_explicit(&l->state->seed, memory_order_relaxed));
	after_s = next_look_s(g, &s);
	tell_sources(g, &s);
	again(g, after_s);
}

/* Microseconds until the first look: 0 when something is missing or due. */
static uint64_t first_look_us(const struct blocklist_loading *g)
{
	if (g->unsaved)
		return 0;
	for (size_t i = 0; i < g->now.count; i++) {
		const struct source *s = &g->now.at[i];

		if (s->kind == BLOCKLIST_FROM_URL &&
		    blocklist_source_is_due(s, g->refresh_s, blocklist_wall_s()))
			return 0;
	}
	return next_look_s(g, &g->now) * US_PER_S;
}

void blocklist_loading_attend(struct blocklist *l, struct loader *loader)
{
	struct blocklist_loading *g = l->loading;
	uint64_t after_us = first_look_us(g);

	g->loader = loader;
	g->list = blocklist_pin(l);
	g->task.run = on_task;
	g->next_s = blocklist_wall_s() + (int64_t)(after_us / US_PER_S);
	loader_add(loader, &g->task, after_us);
}

void blocklist_loading_hurry(struct blocklist *l)
{
	struct blocklist_loading *g = l->loading;

	if (!g->loader)
		return;
	atomic_store(&g->hurried, true);
	loader_add(g->loader, &g->task, 0);
}

void blocklist_loading_end(struct blocklist *l)
{
	struct blocklist_loading *g = l->loading;

	if (!g->loader || atomic_exchange(&g->ended, true))
		return;
	if (loader_is_ending(g->loader)) { /* no task will run */
		struct blocklist *pinned = g->list;

		g->list = NULL;
		blocklist_unpin(pinned);
	} else {
		loader_add(g->loader, &g->task, 0);
	}
}

/* ---- status ---- */

void blocklist_loading_tell(const struct blocklist *l, struct blocklist_age *age, char *stale,
			    size_t room, void (*fn)(const struct blocklist_source *s, void *arg),
			    void *arg)
{
	struct blocklist_loading *g = l->loading;

	pthread_mutex_lock(&g->lock);
	snprintf(stale, room, "%s", g->stale);
	*age = (struct blocklist_age){ .made_s = g->made_s,
				       .next_s = g->next_s,
				       .stale = *stale ? stale : NULL };
	for (size_t i = 0; i < g->now.count; i++) {
		const struct source *s = &g->now.at[i];

		if (!fn)
			break;
		fn(&(struct blocklist_source){ .kind = s->kind,
					       .where = s->where,
					       .counts = &s->counts,
					       .good_s = s->good_s,
					       .failed_s = s->failed_s,
					       .why = s->why },
		   arg);
	}
	pthread_mutex_unlock(&g->lock);
}
