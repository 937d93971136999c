/* The sources of a list: as configured, finding and reading them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/blocklist/blocklist.h"
#include "services/blocklist/load_private.h"
#include "services/blocklist/rules.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#define SOURCES_MOST 10000
#define PIECE        65536

/* ---- what is configured ---- */

static void copy_list(struct blocklist_loading *g, enum blocklist_kind kind,
		      const struct conf_list *from)
{
	g->patterns[kind] = mem_array(from->count + 1, sizeof(char *));
	g->pattern_count[kind] = from->count;
	for (size_t i = 0; i < from->count; i++)
		g->patterns[kind][i] = mem_text(from->items[i].text);
}

static uint64_t spec_of(const struct blocklist_loading *g)
{
	uint64_t h = BLOCKLIST_HASH_BEGIN;
	char text[64];

	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < g->pattern_count[kind]; i++)
			h = blocklist_hash_text(h, g->patterns[kind][i]);
		h = blocklist_hash_text(h, "");
	}
	snprintf(text, sizeof(text), "%d %" PRIu64, g->tops, g->max_size);
	return blocklist_hash_text(h, text);
}

struct blocklist_loading *blocklist_loading_new(const struct conf *conf,
						const struct conf_blocklist *c)
{
	struct blocklist_loading *g = mem_zero(sizeof(*g));

	copy_list(g, BLOCKLIST_FROM_FILE, &c->file);
	copy_list(g, BLOCKLIST_FROM_URL, &c->url);
	copy_list(g, BLOCKLIST_FROM_ALLOW, &c->allow_file);
	g->name = mem_text(c->name);
	g->refresh_s = c->refresh;
	g->max_size = c->max_size;
	g->tops = c->block_tlds;
	g->spec = spec_of(g);
	g->directory = mem_text(conf->server.blocklist_directory);
	g->authorities = mem_text(conf->server.tls_cert_bundle);
	g->nat64[0] = mem_text(conf->server.dns64_prefix);
	g->nat64[1] = mem_text(conf->server.nat64_prefix);
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

void blocklist_loading_free(struct blocklist_loading *g)
{
	if (!g)
		return;
	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < g->pattern_count[kind]; i++)
			mem_free(g->patterns[kind][i]);
		mem_free(g->patterns[kind]);
	}
	blocklist_sources_clear(&g->now);
	blocklist_table_unpin(g->unsaved);
	pthread_mutex_destroy(&g->lock);
	mem_free(g->name);
	mem_free(g->directory);
	mem_free(g->authorities);
	mem_free(g->nat64[0]);
	mem_free(g->nat64[1]);
	mem_free(g);
}

bool blocklist_loading_equals(const struct blocklist_loading *a, const struct blocklist_loading *b)
{
	return a->spec == b->spec && a->refresh_s == b->refresh_s;
}

static void replace(char **text, char *by)
{
	mem_free(*text);
	*text = by;
}

void blocklist_loading_resolve_paths(struct blocklist_loading *g, const struct conf *conf, bool inside)
{
	char *(*path)(const struct conf *, const char *) = inside ? conf_path_inside : conf_path;

	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; kind != BLOCKLIST_FROM_URL && i < g->pattern_count[kind]; i++)
			replace(&g->patterns[kind][i], path(conf, g->patterns[kind][i]));
	replace(&g->directory, path(conf, g->directory));
	replace(&g->authorities, path(conf, g->authorities));
	if (*g->directory)
		(void)mkdir(g->directory, 0700); /* if it fails, it exists, or no copy can be kept */
}

/* ---- file names ---- */

uint64_t blocklist_hash_text(uint64_t h, const char *text)
{
	do
		h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return h;
}

char *blocklist_own_path(const struct blocklist_loading *g, const char *of, const char *ending)
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
			 (uint32_t)blocklist_hash_text(
				 blocklist_hash_text(BLOCKLIST_HASH_BEGIN, g->name), of),
			 ending);
}

void blocklist_sources_clear(struct sources *s)
{
	for (size_t i = 0; i < s->count; i++) {
		mem_free(s->at[i].where);
		mem_free(s->at[i].path);
	}
	mem_free(s->at);
	*s = (struct sources){ 0 };
}

/* ---- finding ---- */

static const struct source *find_source(const struct sources *s, enum blocklist_kind kind,
					const char *where)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == kind && strcmp(s->at[i].where, where) == 0)
			return &s->at[i];
	return NULL;
}

/* File system clocks tick slowly: a file written just now may be written again with the same mtime.
 * Such an mtime does not prove it unchanged next time. */
static bool is_recent(int64_t mtime_ns)
{
	struct timespec now;
	int64_t tick_ns = mtime_ns % 1000000000 ? 20000000 : 2000000000;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - mtime_ns < tick_ns;
}

void blocklist_source_look(struct source *s)
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

static void add_source(const struct blocklist_loading *g, struct sources *s,
		       enum blocklist_kind kind, const char *where)
{
	const struct source *known = find_source(&g->now, kind, where);
	struct source *new;

	if (s->count == SOURCES_MOST || find_source(s, kind, where))
		return;
	s->at = mem_grow(s->at, (s->count + 1) * sizeof(*s->at));
	new = &s->at[s->count++];
	*new = known ? *known : (struct source){ .kind = kind };
	new->where = mem_text(where);
	new->path = kind == BLOCKLIST_FROM_URL ? blocklist_own_path(g, where, ".list")
					       : mem_text(where);
	blocklist_source_look(new);
	/* A copy cut by a crash, say, is none: it is fetched again, whether it has changed or not. */
	if (kind == BLOCKLIST_FROM_URL && known && known->good_s && new->size != known->size)
		new->size = -1;
}

static void expand(const struct blocklist_loading *g, struct sources *s, enum blocklist_kind kind,
		   const char *pattern)
{
	glob_t found;

	if (kind == BLOCKLIST_FROM_URL || !strpbrk(pattern, "*?[")) {
		add_source(g, s, kind, pattern);
		return;
	}
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_source(g, s, kind, found.gl_pathv[i]);
	globfree(&found);
}

struct sources blocklist_look(const struct blocklist_loading *g)
{
	struct sources s = { 0 };

	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; i < g->pattern_count[kind]; i++)
			expand(g, &s, (enum blocklist_kind)kind, g->patterns[kind][i]);
	return s;
}

bool blocklist_sources_equal(const struct sources *a, const struct sources *b)
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

static bool read_file(const struct blocklist_loading *g, const char *path,
		      struct blocklist_reader *r, struct fault *f)
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
		good = good && blocklist_reader_take(r, piece, (size_t)n, f);
	}
	if (!good)
		fault_set(f, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	mem_free(piece);
	return good && blocklist_reader_end(r, f);
}

static bool take_piece(void *reader, const char *bytes, size_t len)
{
	struct blocklist_reader *r = reader;
	struct fault f = { 0 };

	return blocklist_reader_take(r, bytes, len, &f);
}

struct fetch_how blocklist_how_to_fetch(const struct blocklist_loading *g, const char *url)
{
	return (struct fetch_how){ .url = url,
				   .authorities = g->authorities,
				   .nat64 = { g->nat64[0], g->nat64[1] },
				   .most_bytes = g->max_size,
				   .loader = g->loader };
}

/* A URL of which no copy is kept is fetched every time. */
static bool read_url(const struct blocklist_loading *g, const struct source *s,
		     struct blocklist_reader *r, struct fault *f)
{
	struct fetch_how how = blocklist_how_to_fetch(g, s->where);
	struct fetch_mark none = { 0 };

	how.take = take_piece;
	how.arg = r;
	return fetch_url(&how, &none, f) == FETCH_NEW && blocklist_reader_end(r, f);
}

static bool read_source(const struct blocklist_loading *g, const struct source *s,
			struct blocklist_reader *r, struct fault *f)
{
	return s->path ? read_file(g, s->path, r, f) : read_url(g, s, r, f);
}

void blocklist_source_fail(struct source *s, const struct fault *f)
{
	s->failed_s = blocklist_wall_s();
	snprintf(s->why, sizeof(s->why), "%s", f->text);
}

static void log_counts(const struct blocklist_loading *g, const struct source *s)
{
	const struct blocklist_counts *c = &s->counts;

	log_detail_of(blocklist, LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(source, s->where), LOG_COUNT(count, c->rules)),
		      "blocklist %s: %s: %" PRIu64 " rules in %" PRIu64 " lines", g->name, s->where, c->rules, c->lines);
	for (int i = 0; i < BLOCKLIST_SKIP_KINDS; i++)
		if (c->skipped[i])
			log_detail_of(blocklist,
				      LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(source, s->where),
						LOG_COUNT(count, c->skipped[i]), LOG_TEXT(reason, blocklist_skip_what[i])),
				      "blocklist %s: %s: ignored: %" PRIu64 " %s", g->name, s->where, c->skipped[i],
				      blocklist_skip_what[i]);
	if (c->first_bad)
		log_detail_of(blocklist,
			      LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(source, s->where), LOG_COUNT(line, c->first_bad),
					LOG_TEXT(reason, "not a rule"), LOG_TEXT(detail, c->first_bad_text)),
			      "blocklist %s: %s:%u: not a rule: %s", g->name, s->where, c->first_bad, c->first_bad_text);
}

/* Read one source into the table being built. */
static bool put_source(const struct blocklist_loading *g, struct source *s,
		       struct blocklist_table_maker *m)
{
	struct blocklist_how how = { .tops = g->tops,
				     .allow = s->kind == BLOCKLIST_FROM_ALLOW,
				     .rows = blocklist_rows_of(s->where),
				     .rule = blocklist_table_rule,
				     .policy = blocklist_table_policy,
				     .arg = m };
	struct blocklist_reader *r = blocklist_reader_new(&how);
	struct fault f = { 0 };
	bool good = read_source(g, s, r, &f);

	s->counts = *blocklist_reader_counts(r);
	blocklist_reader_free(r);
	if (good) {
		if (s->kind != BLOCKLIST_FROM_URL || !s->path) {
			s->good_s = blocklist_wall_s();
			s->failed_s = 0;
		}
		log_counts(g, s);
	} else {
		blocklist_source_fail(s, &f);
	}
	return good;
}

/* Whether the source is yet to be fetched; until then there is nothing to read. */
static bool is_awaited(const struct blocklist_loading *g, const struct source *s)
{
	return s->kind == BLOCKLIST_FROM_URL && (s->path ? s->size < 0 : !g->loader);
}

struct blocklist_table *blocklist_make_table(const struct blocklist_loading *g, struct sources *s,
					       uint64_t seed, bool trusting, struct fault *f)
{
	struct blocklist_table_maker *m = blocklist_table_begin();
	struct blocklist_table *t;

	for (size_t i = 0; i < s->count; i++) {
		struct source *one = &s->at[i];

		if (g->loader && loader_is_ending(g->loader)) {
			fault_set(f, "the daemon is ending");
			break;
		}
		if (is_awaited(g, one)) {
			if (!one->good_s || trusting)
				continue;
			fault_set(f, "%s: its copy is not there", one->where);
			break;
		}
		if (put_source(g, one, m))
			continue;
		/* Some of its rules may be in the table already. */
		if ((one->good_s || one->counts.rules) && !trusting) {
			fault_set(f, "%s: %s", one->where, one->why);
			break;
		}
		log_rare_of("warning", blocklist,
			    LOG_FACTS(LOG_TEXT(list, g->name), LOG_TEXT(source, one->where), LOG_TEXT(reason, one->why)),
			    "blocklist %s: %s: %s", g->name, one->where, one->why);
	}
	if (f->set) {
		blocklist_table_maker_free(m);
		return NULL;
	}
	t = blocklist_table_make(m, seed);
	if (blocklist_table_dropped(t))
		log_rare_of("warning", blocklist, LOG_FACTS(LOG_TEXT(list, g->name), LOG_COUNT(count, blocklist_table_dropped(t))),
			 "blocklist %s: %" PRIu64
			 " rules with modifiers ignored: at one name, only "
			 "%d for any client and %d for each netblock are used",
			 g->name, blocklist_table_dropped(t), BLOCKLIST_RULES_AT_ONCE,
			 BLOCKLIST_RULES_AT_ONCE);
	if (blocklist_table_unknown(t))
		log_rare_of("warning", blocklist, LOG_FACTS(LOG_TEXT(list, g->name), LOG_COUNT(count, blocklist_table_unknown(t))),
			    "blocklist %s: %u malformed patterns of allowed names ignored", g->name, blocklist_table_unknown(t));
	return t;
}

/* ---- searching for a name ---- */

struct search {
	const uint8_t *name;
	const char *where;
	const struct blocklist_reader *reader;
	void (*fn)(const char *where, unsigned line, const char *text,
		   const struct blocklist_rule *r, void *arg);
	void *arg;
};

static void compare(void *search, const struct blocklist_rule *r)
{
	struct search *s = search;

	if (dname_is_under(s->name, r->name))
		s->fn(s->where, blocklist_reader_line(s->reader), blocklist_reader_text(s->reader),
		      r, s->arg);
}

void blocklist_loading_search(const struct blocklist *l, const uint8_t *name,
			      void (*fn)(const char *where, unsigned line, const char *text,
					 const struct blocklist_rule *r, void *arg),
			      void *arg)
{
	struct blocklist_loading *g = l->loading;
	struct search search = { .name = name, .fn = fn, .arg = arg };
	struct sources s;

	pthread_mutex_lock(&g->lock);
	s = blocklist_look(g);
	pthread_mutex_unlock(&g->lock);
	for (size_t i = 0; i < s.count; i++) {
		struct blocklist_how how = { .tops = g->tops,
					     .allow = s.at[i].kind == BLOCKLIST_FROM_ALLOW,
					     .rows = blocklist_rows_of(s.at[i].where),
					     .rule = compare,
					     .arg = &search };
		struct blocklist_reader *r = blocklist_reader_new(&how);
		struct fault f = { 0 };

		search.where = s.at[i].where;
		search.reader = r;
		if (s.at[i].path && s.at[i].size >= 0)
			(void)!read_file(g, s.at[i].path, r, &f);
		blocklist_reader_free(r);
	}
	blocklist_sources_clear(&s);
}
