/* Where the names of a list come from: looking, fetching, reading, swapping.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist_load.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "services/blocklist.h"
#include "services/blocklist_store.h"
#include "services/loader.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/random.h"
#include "util/rcu.h"
#include "util/timebase.h"

#define SOURCES_MOST  10000
#define FIRST_RETRY_S 60
#define PIECE         65536

/* A file or URL, with what is known of it. */
struct source {
	enum list_kind kind;
	char *where; /* as it is told: the path, the URL */
	char *path;  /* of the file or the copy; NULL: a URL without a copy */
	int64_t size, mtime_ns; /* of the file that is in use; size -1: there is none */
	struct list_counts counts;
	int64_t good_s, failed_s, due_s;
	unsigned failures;
	struct fetch_mark mark;
	char why[sizeof(((struct fault *)0)->text)];
};

struct sources {
	struct source *at;
	size_t count;
};

struct list_loading {
	/* as configured */
	char **patterns[3]; /* by enum list_kind */
	size_t pattern_count[3];
	char *name;
	uint32_t refresh_s;
	uint64_t max_size;
	bool tops;
	uint64_t spec;
	/* list_loading_settle */
	char *directory, *authorities; /* "" or a path */
	/* the loader's thread alone, once it attends */
	struct loader_task task;
	struct loader *loader;
	struct blocklist *list;
	bool table_told; /* that it cannot be saved */
	struct list_table *unsaved; /* of the start, which does not wait for disks; or NULL */
	_Atomic bool ended, hurried;
	/* told to others */
	pthread_mutex_t lock; /* of what follows; written by the loader's thread */
	struct sources now;
	int64_t made_s, next_s;
	char stale[sizeof(((struct fault *)0)->text)];
};

static int64_t wall_s(void)
{
	return (int64_t)time(NULL);
}

/* ---- what is configured ---- */

static uint64_t hash_text(uint64_t h, const char *text)
{
	do
		h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return h;
}

static void copy_list(struct list_loading *g, enum list_kind kind, const struct conf_list *from)
{
	g->patterns[kind] = mem_array(from->count + 1, sizeof(char *));
	g->pattern_count[kind] = from->count;
	for (size_t i = 0; i < from->count; i++)
		g->patterns[kind][i] = mem_text(from->items[i].text);
}

static uint64_t spec_of(const struct list_loading *g)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	char text[64];

	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < g->pattern_count[kind]; i++)
			h = hash_text(h, g->patterns[kind][i]);
		h = hash_text(h, "");
	}
	snprintf(text, sizeof(text), "%d %" PRIu64, g->tops, g->max_size);
	return hash_text(h, text);
}

struct list_loading *list_loading_new(const struct conf *conf, const struct conf_blocklist *c)
{
	struct list_loading *g = mem_zero(sizeof(*g));

	copy_list(g, LIST_FROM_FILE, &c->file);
	copy_list(g, LIST_FROM_URL, &c->url);
	copy_list(g, LIST_FROM_ALLOW, &c->allow_file);
	g->name = mem_text(c->name);
	g->refresh_s = c->refresh;
	g->max_size = c->max_size;
	g->tops = c->block_tlds;
	g->spec = spec_of(g);
	g->directory = mem_text(conf->server.blocklist_directory);
	g->authorities = mem_text(conf->server.tls_cert_bundle);
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

static void sources_clear(struct sources *s)
{
	for (size_t i = 0; i < s->count; i++) {
		mem_free(s->at[i].where);
		mem_free(s->at[i].path);
	}
	mem_free(s->at);
	*s = (struct sources){ 0 };
}

void list_loading_free(struct list_loading *g)
{
	if (!g)
		return;
	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < g->pattern_count[kind]; i++)
			mem_free(g->patterns[kind][i]);
		mem_free(g->patterns[kind]);
	}
	sources_clear(&g->now);
	list_table_unpin(g->unsaved);
	pthread_mutex_destroy(&g->lock);
	mem_free(g->name);
	mem_free(g->directory);
	mem_free(g->authorities);
	mem_free(g);
}

bool list_loading_equals(const struct list_loading *a, const struct list_loading *b)
{
	return a->spec == b->spec && a->refresh_s == b->refresh_s;
}

static void replace(char **text, char *by)
{
	mem_free(*text);
	*text = by;
}

void list_loading_settle(struct list_loading *g, const struct conf *conf, bool inside)
{
	char *(*path)(const struct conf *, const char *) = inside ? conf_path_inside : conf_path;

	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; kind != LIST_FROM_URL && i < g->pattern_count[kind]; i++)
			replace(&g->patterns[kind][i], path(conf, g->patterns[kind][i]));
	replace(&g->directory, path(conf, g->directory));
	replace(&g->authorities, path(conf, g->authorities));
	if (*g->directory)
		(void)mkdir(g->directory, 0700); /* or it is there, or no copy can be kept */
}

/* ---- names of files ---- */

/* A file of the list in the directory; NULL: there is no directory. */
static char *own_path(const struct list_loading *g, const char *of, const char *ending)
{
	char safe[41];
	size_t i;

	if (!*g->directory)
		return NULL;
	for (i = 0; i + 1 < sizeof(safe) && g->name[i]; i++) {
		char c = g->name[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_';

		safe[i] = plain ? c : '_';
	}
	safe[i] = '\0';
	return mem_textf("%s/%s-%08" PRIx32 "%s", g->directory, safe,
			 (uint32_t)hash_text(hash_text(UINT64_C(0xcbf29ce484222325), g->name), of),
			 ending);
}

/* ---- looking ---- */

static const struct source *find_source(const struct sources *s, enum list_kind kind,
					const char *where)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == kind && strcmp(s->at[i].where, where) == 0)
			return &s->at[i];
	return NULL;
}

/* A file that was written just now may be written again without its time telling; clocks of file
 * systems tick slowly. Such a time is no proof the next time. */
static bool is_recent(int64_t mtime_ns)
{
	struct timespec now;
	int64_t tick_ns = mtime_ns % 1000000000 ? 20000000 : 2000000000;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - mtime_ns < tick_ns;
}

static void look_at(struct source *s)
{
	struct stat st;

	s->size = -1;
	s->mtime_ns = 0;
	if (!s->path || stat(s->path, &st) != 0)
		return;
	s->size = (int64_t)st.st_size;
#ifdef HAVE_STRUCT_STAT_ST_MTIM
	s->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
#else
	s->mtime_ns = (int64_t)st.st_mtime * 1000000000;
#endif
	if (is_recent(s->mtime_ns))
		s->mtime_ns = -s->mtime_ns;
}

static void add_source(const struct list_loading *g, struct sources *s, enum list_kind kind,
		       const char *where)
{
	const struct source *known = find_source(&g->now, kind, where);
	struct source *new;

	if (s->count == SOURCES_MOST || find_source(s, kind, where))
		return;
	s->at = mem_grow(s->at, (s->count + 1) * sizeof(*s->at));
	new = &s->at[s->count++];
	*new = known ? *known : (struct source){ .kind = kind };
	new->where = mem_text(where);
	new->path = kind == LIST_FROM_URL ? own_path(g, where, ".list") : mem_text(where);
	look_at(new);
}

static void expand(const struct list_loading *g, struct sources *s, enum list_kind kind,
		   const char *pattern)
{
	glob_t found;

	if (kind == LIST_FROM_URL || !strpbrk(pattern, "*?[")) {
		add_source(g, s, kind, pattern);
		return;
	}
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_source(g, s, kind, found.gl_pathv[i]);
	globfree(&found);
}

/* What there is now, with what was known of it. */
static struct sources look(const struct list_loading *g)
{
	struct sources s = { 0 };

	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; i < g->pattern_count[kind]; i++)
			expand(g, &s, (enum list_kind)kind, g->patterns[kind][i]);
	return s;
}

static bool same_sources(const struct sources *a, const struct sources *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct source *x = &a->at[i], *y = find_source(b, x->kind, x->where);

		if (!y || x->size != y->size || x->mtime_ns != y->mtime_ns || x->mtime_ns < 0)
			return false;
	}
	return true;
}

/* ---- reading ---- */

static bool read_file(const struct list_loading *g, const char *path, struct list_reader *r,
		      struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *piece = mem_new(PIECE);
	bool good = fd >= 0;
	uint64_t len = 0;
	ssize_t n = 1;

	while (good && n > 0) {
		n = read(fd, piece, PIECE);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		good = n >= 0;
		len += n > 0 ? (uint64_t)n : 0;
		if (len > g->max_size) {
			fault_set(f, "it is longer than max-size: %" PRIu64, g->max_size);
			good = false;
		}
		good = good && list_reader_take(r, piece, (size_t)n, f);
	}
	if (!good)
		fault_set(f, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	mem_free(piece);
	return good && list_reader_end(r, f);
}

static bool take_piece(void *reader, const char *bytes, size_t len)
{
	struct list_reader *r = reader;
	struct fault f = { 0 };

	return list_reader_take(r, bytes, len, &f);
}

static struct fetch_how how_to_fetch(const struct list_loading *g, const char *url)
{
	return (struct fetch_how){ .url = url,
				   .authorities = g->authorities,
				   .most_bytes = g->max_size,
				   .loader = g->loader };
}

/* A URL of which no copy is kept: every time anew. */
static bool read_url(const struct list_loading *g, const struct source *s, struct list_reader *r,
		     struct fault *f)
{
	struct fetch_how how = how_to_fetch(g, s->where);
	struct fetch_mark none = { 0 };

	how.take = take_piece;
	how.arg = r;
	return fetch_url(&how, &none, f) == FETCH_NEW && list_reader_end(r, f);
}

static void count_rule(void *arg, const struct list_rule *r)
{
	(void)arg;
	(void)r;
}

static bool read_source(const struct list_loading *g, const struct source *s,
			struct list_reader *r, struct fault *f)
{
	return s->path ? read_file(g, s->path, r, f) : read_url(g, s, r, f);
}

static void fail(struct source *s, const struct fault *f)
{
	s->failed_s = wall_s();
	snprintf(s->why, sizeof(s->why), "%s", f->text);
}

static void log_counts(const struct list_loading *g, const struct source *s)
{
	const struct list_counts *c = &s->counts;

	log_detail("blocklist %s: %s: %" PRIu64 " rules in %" PRIu64 " lines", g->name, s->where,
		   c->rules, c->lines);
	for (int i = 0; i < LIST_SKIP_KINDS; i++)
		if (c->skipped[i])
			log_detail("blocklist %s: %s: left alone: %" PRIu64 " %s", g->name, s->where,
				   c->skipped[i], list_skip_what[i]);
	if (c->first_bad)
		log_detail("blocklist %s: %s:%u: no rule: %s", g->name, s->where, c->first_bad,
			   c->first_bad_text);
}

/* One source into the table that is being made. */
static bool put_source(const struct list_loading *g, struct source *s, struct list_table_maker *m)
{
	struct list_how how = { .tops = g->tops,
				.allow = s->kind == LIST_FROM_ALLOW,
				.rule = list_table_rule,
				.arg = m };
	struct list_reader *r = list_reader_new(&how);
	struct fault f = { 0 };
	bool good = read_source(g, s, r, &f);

	s->counts = *list_reader_counts(r);
	list_reader_free(r);
	if (good) {
		if (s->kind != LIST_FROM_URL || !s->path) {
			s->good_s = wall_s();
			s->failed_s = 0;
		}
		log_counts(g, s);
	} else {
		fail(s, &f);
	}
	return good;
}

/* It will be fetched; until then there is nothing. */
static bool is_awaited(const struct list_loading *g, const struct source *s)
{
	return s->kind == LIST_FROM_URL && (s->path ? s->size < 0 : !g->loader);
}

/* NULL, with the reason: a source that was good before is not any more. Others that are broken are
 * left out. */
static struct list_table *make_table(const struct list_loading *g, struct sources *s,
				     uint64_t seed, bool trusting, struct fault *f)
{
	struct list_table_maker *m = list_table_begin();

	for (size_t i = 0; i < s->count; i++) {
		struct source *one = &s->at[i];

		if (g->loader && loader_is_ending(g->loader)) {
			fault_set(f, "the daemon is ending");
			break;
		}
		if (is_awaited(g, one) || put_source(g, one, m))
			continue;
		/* A part of what it says may be in the table already. */
		if ((one->good_s || one->counts.rules) && !trusting) {
			fault_set(f, "%s: %s", one->where, one->why);
			break;
		}
		log_warn("blocklist %s: %s: %s", g->name, one->where, one->why);
	}
	if (f->set) {
		list_table_maker_free(m);
		return NULL;
	}
	if (list_table_dropped(m))
		log_warn("blocklist %s: %" PRIu64 " rules with conditions are too many", g->name,
			 list_table_dropped(m));
	return list_table_make(m, seed);
}

/* ---- the file of the last time ---- */

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

static void save(struct list_loading *g, const struct sources *s, struct list_table *t)
{
	struct stored_list l = { .spec = g->spec, .made_s = wall_s(), .table = t };
	char *path = own_path(g, "", ".table");
	struct fault f = { 0 };

	if (!path)
		return;
	l.source_count = s->count;
	l.sources = mem_array(s->count + 1, sizeof(*l.sources));
	for (size_t i = 0; i < s->count; i++)
		l.sources[i] = to_store(&s->at[i]);
	if (!list_store_write(path, &l, &f) && !g->table_told) {
		log_warn("blocklist %s: no copy is kept: %s", g->name, f.text);
		g->table_told = true;
	}
	mem_free(l.sources);
	mem_free(path);
}

static void remember(struct list_loading *g, const struct stored_list *l)
{
	for (uint64_t i = 0; i < l->source_count; i++) {
		const struct stored_source *o = &l->sources[i];
		struct source *s;

		g->now.at = mem_grow(g->now.at, (g->now.count + 1) * sizeof(*g->now.at));
		s = &g->now.at[g->now.count++];
		*s = (struct source){ .kind = (enum list_kind)o->kind,
				      .where = mem_text(o->where),
				      .size = o->size,
				      .mtime_ns = o->mtime_ns,
				      .good_s = o->good_s,
				      .mark = o->mark,
				      .counts = o->counts };
		if (s->kind == LIST_FROM_URL)
			s->due_s = o->good_s + g->refresh_s;
	}
	g->made_s = l->made_s;
}

/* ---- swapping ---- */

static void tell_sources(struct list_loading *g, struct sources *s)
{
	struct sources old;

	pthread_mutex_lock(&g->lock);
	old = g->now;
	g->now = *s;
	*s = (struct sources){ 0 };
	pthread_mutex_unlock(&g->lock);
	sources_clear(&old);
}

static void tell_stale(struct list_loading *g, const char *why)
{
	pthread_mutex_lock(&g->lock);
	snprintf(g->stale, sizeof(g->stale), "%s", why);
	pthread_mutex_unlock(&g->lock);
}

static void publish(struct blocklist *l, const struct sources *s, struct list_table *t,
		    uint64_t began_us)
{
	struct list_loading *g = l->loading;
	struct timebase now = { 0 };

	timebase_read(&now);
	log_ops("blocklist %s: %zu names, %zu bytes, from %zu places in %" PRIu64 " ms", g->name,
		list_table_count(t), list_table_bytes(t), s->count,
		(now.now_us - began_us) / US_PER_MS);
	blocklist_publish(l, list_table_pin(t));
	pthread_mutex_lock(&g->lock);
	g->made_s = wall_s();
	g->stale[0] = '\0';
	pthread_mutex_unlock(&g->lock);
	if (g->loader) {
		save(g, s, t);
		list_table_unpin(t);
	} else {
		list_table_unpin(g->unsaved);
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

/* From all sources, unless one that was good is broken: then what there is stays. */
static void renew(struct blocklist *l, struct sources *s, uint64_t seed)
{
	struct list_loading *g = l->loading;
	struct timebase began = { 0 };
	struct fault f = { 0 };
	struct list_table *t;

	timebase_read(&began);
	t = make_table(g, s, seed, false, &f);
	if (!t && !g->made_s) { /* there is nothing to go on with: what can be read, then */
		struct fault again = { 0 };

		t = make_table(g, s, seed, true, &again);
	}
	/* Nothing at all is no better than what a list of this name had before a reload. */
	if (t && all_failed(s, &f) && list_table_count(RCU_READ(l->table)) > 0) {
		list_table_unpin(t);
		t = NULL;
	}
	if (t) {
		publish(l, s, t, began.now_us);
		return;
	}
	log_warn("blocklist %s: not renewed, what was there stays: %s", g->name, f.text);
	tell_stale(g, f.text);
}

/* ---- the start ---- */

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

void list_loading_begin(struct blocklist *l, uint64_t *seed)
{
	struct list_loading *g = l->loading;
	char *path = own_path(g, "", ".table");
	struct stored_list stored = { 0 };
	struct sources s;

	if (path && list_store_read(path, &stored, seed) && stored.spec == g->spec) {
		remember(g, &stored);
		log_ops("blocklist %s: %zu names from %s", g->name, list_table_count(stored.table),
			path);
		blocklist_publish(l, stored.table);
	} else {
		list_table_unpin(stored.table);
	}
	mem_free(stored.sources);
	mem_free(path);
	s = look(g);
	if (*seed == 0)
		*seed = seed_new();
	if (!g->made_s || !same_sources(&s, &g->now))
		renew(l, &s, *seed);
	tell_sources(g, &s);
}

/* ---- keeping it up to date ---- */

/* What arrives, into the copy and into a reader that judges it. */
struct copying {
	FILE *to;
	struct list_reader *reader;
	struct fault *fault;
};

static bool copy_piece(void *copying, const char *bytes, size_t len)
{
	struct copying *c = copying;

	if (!list_reader_take(c->reader, bytes, len, c->fault))
		return false;
	if (fwrite(bytes, 1, len, c->to) == len)
		return true;
	fault_set(c->fault, "the copy cannot be written: %s", strerror(errno));
	return false;
}

static bool judge_copy(const struct list_reader *r, struct fault *f)
{
	if (list_reader_counts(r)->rules)
		return true;
	fault_set(f, "it holds no rule");
	return false;
}

/* The copy is replaced by what the URL has, when that is a list. */
static enum fetch_end fetch_copy(const struct list_loading *g, struct source *s, struct fault *f)
{
	struct list_how count = { .tops = g->tops, .rule = count_rule };
	struct fetch_how how = how_to_fetch(g, s->where);
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
	c.reader = list_reader_new(&count);
	how.take = copy_piece;
	how.arg = &c;
	end = fetch_url(&how, &mark, f);
	if (end == FETCH_NEW && !(list_reader_end(c.reader, f) && judge_copy(c.reader, f)))
		end = FETCH_FAILED;
	if (fclose(c.to) != 0 && end == FETCH_NEW) {
		fault_set(f, "the copy cannot be written: %s", strerror(errno));
		end = FETCH_FAILED;
	}
	if (end == FETCH_NEW && rename(new, s->path) == 0)
		s->mark = mark;
	else
		(void)unlink(new);
	list_reader_free(c.reader);
	mem_free(new);
	return end;
}

static uint32_t retry_s(const struct list_loading *g, unsigned failures)
{
	uint64_t s = (uint64_t)FIRST_RETRY_S << MIN(failures, 10);

	return (uint32_t)MIN(s, g->refresh_s);
}

static void fetch(const struct list_loading *g, struct source *s)
{
	struct fault f = { 0 };
	enum fetch_end end = fetch_copy(g, s, &f);

	if (end == FETCH_FAILED) {
		fail(s, &f);
		s->due_s = wall_s() + retry_s(g, s->failures++);
		log_warn("blocklist %s: %s: %s%s", g->name, s->where, s->why,
			 s->size >= 0 ? "; the copy serves on" : "");
		return;
	}
	s->good_s = wall_s();
	s->failed_s = 0;
	s->failures = 0;
	s->due_s = s->good_s + g->refresh_s;
	look_at(s);
}

/* Whether something was fetched that is not in the table. */
static void fetch_due(const struct list_loading *g, struct sources *s, bool all)
{
	for (size_t i = 0; i < s->count; i++) {
		struct source *one = &s->at[i];

		if (loader_is_ending(g->loader))
			return;
		if (one->kind == LIST_FROM_URL && one->path &&
		    (all || one->size < 0 || one->due_s <= wall_s()))
			fetch(g, one);
	}
}

static bool has_uncopied(const struct sources *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == LIST_FROM_URL && !s->at[i].path)
			return true;
	return false;
}

static uint32_t next_look_s(const struct list_loading *g, const struct sources *s)
{
	int64_t now = wall_s(), next = now + g->refresh_s;

	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == LIST_FROM_URL && s->at[i].path)
			next = MIN(next, s->at[i].due_s);
	if (!g->made_s || *g->stale)
		next = MIN(next, now + FIRST_RETRY_S);
	return (uint32_t)MAX(next - now, 1);
}

static void again(struct list_loading *g, uint32_t after_s)
{
	pthread_mutex_lock(&g->lock);
	g->next_s = wall_s() + after_s;
	pthread_mutex_unlock(&g->lock);
	loader_add(g->loader, &g->task, after_s * US_PER_S);
	/* Who wanted it sooner meanwhile has just been put off. */
	if (atomic_load(&g->hurried) || atomic_load(&g->ended))
		loader_add(g->loader, &g->task, 0);
}

static void on_task(struct loader_task *t)
{
	struct list_loading *g = container_of(t, struct list_loading, task);
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
	list_table_unpin(g->unsaved);
	g->unsaved = NULL;
	hurried = atomic_exchange(&g->hurried, false);
	s = look(g);
	fetch_due(g, &s, hurried);
	if (!loader_is_ending(g->loader) && (!same_sources(&s, &g->now) || has_uncopied(&s) ||
					     (hurried && (*g->stale || !g->made_s))))
		renew(l, &s, l->state->seed);
	after_s = next_look_s(g, &s);
	tell_sources(g, &s);
	again(g, after_s);
}

/* When the first look is due: at once where something is missing. */
static uint64_t first_look_us(const struct list_loading *g)
{
	if (g->unsaved)
		return 0;
	for (size_t i = 0; i < g->now.count; i++) {
		const struct source *s = &g->now.at[i];

		if (s->kind == LIST_FROM_URL && (s->size < 0 || s->due_s <= wall_s()))
			return 0;
	}
	return next_look_s(g, &g->now) * US_PER_S;
}

void list_loading_attend(struct blocklist *l, struct loader *loader)
{
	struct list_loading *g = l->loading;
	uint64_t after_us = first_look_us(g);

	g->loader = loader;
	g->list = blocklist_pin(l);
	g->task.run = on_task;
	g->next_s = wall_s() + (int64_t)(after_us / US_PER_S);
	loader_add(loader, &g->task, after_us);
}

void list_loading_hurry(struct blocklist *l)
{
	struct list_loading *g = l->loading;

	if (!g->loader)
		return;
	atomic_store(&g->hurried, true);
	loader_add(g->loader, &g->task, 0);
}

void list_loading_end(struct blocklist *l)
{
	struct list_loading *g = l->loading;

	if (!g->loader || atomic_exchange(&g->ended, true))
		return;
	if (loader_is_ending(g->loader)) { /* no task runs any more */
		struct blocklist *pinned = g->list;

		g->list = NULL;
		blocklist_unpin(pinned);
	} else {
		loader_add(g->loader, &g->task, 0);
	}
}

/* ---- telling ---- */

void list_loading_tell(const struct blocklist *l, struct list_age *age, char *stale, size_t room,
		       void (*fn)(const struct list_source *s, void *arg), void *arg)
{
	struct list_loading *g = l->loading;

	pthread_mutex_lock(&g->lock);
	snprintf(stale, room, "%s", g->stale);
	*age = (struct list_age){ .made_s = g->made_s,
				  .next_s = g->next_s,
				  .stale = *stale ? stale : NULL };
	for (size_t i = 0; i < g->now.count; i++) {
		const struct source *s = &g->now.at[i];

		if (!fn)
			break;
		fn(&(struct list_source){ .kind = s->kind,
					  .where = s->where,
					  .counts = &s->counts,
					  .good_s = s->good_s,
					  .failed_s = s->failed_s,
					  .why = s->why },
		   arg);
	}
	pthread_mutex_unlock(&g->lock);
}

struct search {
	const uint8_t *name;
	const char *where;
	const struct list_reader *reader;
	void (*fn)(const char *where, unsigned line, const char *text, const struct list_rule *r,
		   void *arg);
	void *arg;
};

static void compare(void *search, const struct list_rule *r)
{
	struct search *s = search;

	if (dname_is_under(s->name, r->name))
		s->fn(s->where, list_reader_line(s->reader), list_reader_text(s->reader), r,
		      s->arg);
}

void list_loading_search(const struct blocklist *l, const uint8_t *name,
			 void (*fn)(const char *where, unsigned line, const char *text,
				    const struct list_rule *r, void *arg),
			 void *arg)
{
	struct list_loading *g = l->loading;
	struct search search = { .name = name, .fn = fn, .arg = arg };
	struct sources s;

	pthread_mutex_lock(&g->lock);
	s = look(g);
	pthread_mutex_unlock(&g->lock);
	for (size_t i = 0; i < s.count; i++) {
		struct list_how how = { .tops = g->tops,
					.allow = s.at[i].kind == LIST_FROM_ALLOW,
					.rule = compare,
					.arg = &search };
		struct list_reader *r = list_reader_new(&how);
		struct fault f = { 0 };

		search.where = s.at[i].where;
		search.reader = r;
		if (s.at[i].path && s.at[i].size >= 0)
			(void)!read_file(g, s.at[i].path, r, &f);
		list_reader_free(r);
	}
	sources_clear(&s);
}
