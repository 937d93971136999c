/* Following lease and hosts files: reread when they change, published as local records.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/leases.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/system/watch.h"
#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#define QUIET_US   (50 * US_PER_MS)  /* from a change to reading the file */
#define AGAIN_US    (100 * US_PER_MS) /* between tries while the file looks unfinished */
#define TRIES       5
#define REST        10 /* pause after work on a file, as a multiple of the CPU time it took */
#define LOOK_S      60 /* longest time between checks for ended leases, whatever the clock does */
#define DISTURB_US  (1 * US_PER_S)
#define HOSTS_TTL_S 60

struct followed {
	struct list link;
	struct leases *leases;
	char *path, *domain;
	uint32_t ttl_s;
	bool of_leases, wanted;
	enum lease_format format; /* as configured */
	struct file_watch *watch;
	struct host_source *source;
	struct timer quiet;
	unsigned tries;
	uint64_t rest_us;
	int64_t read_s;
	struct fault trouble;
	size_t told; /* number of remarks when last checked for logging */
};

struct leases {
	struct loop *loop;
	struct file_watches *watches; /* NULL: nothing is followed */
	struct hostnames *names;
	struct list files;
	struct timer look;
	uint64_t rest_us; /* least time to the next publication, unless a file changes */
};

/* ---- the cost of work ---- */

/* CPU time that this thread has used so far. */
static uint64_t worked_us(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
}

/* ---- reading ---- */

struct text {
	char *at; /* NULL: none was read */
	size_t len;
	bool whole; /* it did not change while it was read, and its last line is terminated */
};

static bool read_all(int fd, const char *path, struct text *t, struct fault *f)
{
	struct stat before, after;

	if (fstat(fd, &before) != 0 || !S_ISREG(before.st_mode)) {
		fault_set(f, "%s is no file", path);
		return false;
	}
	if (before.st_size > (off_t)LEASE_FILE_MOST) {
		fault_set(f, "%s is larger than %u MB", path, LEASE_FILE_MOST >> 20);
		return false;
	}
	t->at = mem_new((size_t)before.st_size + 1);
	t->len = file_read(fd, t->at, (size_t)before.st_size);
	if (t->len < (size_t)before.st_size && errno) {
		fault_set(f, "cannot read %s: %s", path, strerror(errno));
		return false;
	}
	t->whole = fstat(fd, &after) == 0 && after.st_size == (off_t)t->len &&
		   t->len == (size_t)before.st_size && after.st_mtime == before.st_mtime &&
		   (t->len == 0 || t->at[t->len - 1] == '\n');
	return true;
}

static void text_clear(struct text *t)
{
	mem_free(t->at);
	*t = (struct text){ .at = NULL };
}

static bool read_text(const char *path, struct text *t, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool good;

	*t = (struct text){ .at = NULL };
	if (fd < 0) {
		fault_set(f, "cannot open %s: %s", path, strerror(errno));
		return false;
	}
	good = read_all(fd, path, t, f);
	close(fd);
	if (!good)
		text_clear(t);
	return good;
}

static bool read_beside(const struct followed *w, const char *ending, struct text *t)
{
	char *path = mem_textf("%s%s", w->path, ending);
	struct fault f = { 0 };
	bool good = read_text(path, t, &f);

	mem_free(path);
	return good;
}

/* Kea's lease file cleanup uses files beside the journal: read its finished output, or else its
 * previous output and the journal it is cleaning up. */
static void read_kea_journals(const struct followed *w, struct text beside[2])
{
	if (read_beside(w, ".completed", &beside[0]))
		return;
	(void)read_beside(w, ".2", &beside[0]);
	(void)read_beside(w, ".1", &beside[1]);
}

static bool take_texts(struct followed *w, const struct text *now, struct text beside[2])
{
	struct leasefile file = { .format = w->format };
	bool good;

	if (file.format == LEASES_AUTO)
		file.format = leasefile_detect(now->at, now->len);
	if (file.format == LEASES_KEA)
		read_kea_journals(w, beside);
	for (unsigned i = 0; i < 2; i++)
		if (beside[i].at)
			(void)leasefile_read(&file, beside[i].at, beside[i].len);
	good = leasefile_read(&file, now->at, now->len);
	if (good)
		host_source_take(w->source, &file);
	else
		fault_set(&w->trouble, "%s: no lease or hosts file that we know looks like that",
			  w->path);
	leasefile_clear(&file);
	return good;
}

/* Whether the file seems complete. An empty one that had names may just be being written. */
static bool is_decided(const struct followed *w, const struct text *t)
{
	struct host_report r;

	if (w->tries >= TRIES)
		return true;
	host_source_report(w->leases->names, w->source, &r);
	return t->whole && (t->len || r.hosts == 0);
}

/* ---- logging ---- */

static void tell_trouble(const struct followed *w, bool had)
{
	if (w->trouble.set && !had)
		log_warn("%s; its former records stay in use", w->trouble.text);
	if (!w->trouble.set && had)
		log_notice("%s is readable again", w->path);
}

static void tell_remarks(struct followed *w)
{
	struct host_report r;
	size_t count;

	host_source_report(w->leases->names, w->source, &r);
	count = lease_remarks_count(&r.remarks);
	if (count && count != w->told) {
		const struct lease_remark *first = &r.remarks.first[0];

		log_warn("%s:%u: '%s' ignored: %s (%zu in all)", w->path, first->line,
			 first->text, lease_trouble_text(first->what), count);
	}
	w->told = count;
}

/* ---- publishing ---- */

static void publish(struct leases *l)
{
	int64_t wall_s = (int64_t)time(NULL); /* the loop's may be stale */
	uint64_t before_us = worked_us();
	struct hosts_change change = hostnames_publish(l->names, wall_s);
	int64_t wait_s = MIN(LOOK_S, change.next_s - wall_s);

	l->rest_us = REST * (worked_us() - before_us);

	if (change.put || change.removed)
		log_detail("host records: %zu added, %zu removed", change.put,
			   change.removed);
	LIST_EACH (at, &l->files)
		tell_remarks(LIST_ITEM(at, struct followed, link));
	timer_set(l->loop, &l->look, MAX((uint64_t)MAX(wait_s, 1) * US_PER_S, l->rest_us));
}

static void on_look(struct timer *t)
{
	publish(container_of(t, struct leases, look));
}

void leases_disturb(struct leases *l)
{
	uint64_t soon_us = loop_time(l->loop)->now_us + DISTURB_US;

	if (leases_exist(l) && (!timer_is_set(&l->look) || l->look.due_us > soon_us))
		timer_set(l->loop, &l->look, DISTURB_US);
}

/* ---- following ---- */

/* False if the file is to be read again soon. */
static bool read_file(struct followed *w)
{
	bool had_trouble = w->trouble.set;
	struct text now, beside[2] = { { .at = NULL } };

	w->trouble = (struct fault){ 0 };
	if (read_text(w->path, &now, &w->trouble)) {
		if (!is_decided(w, &now)) {
			text_clear(&now);
			w->trouble.set = had_trouble;
			return false;
		}
		if (take_texts(w, &now, beside))
			w->read_s = loop_time(w->leases->loop)->wall_s;
	}
	text_clear(&now);
	text_clear(&beside[0]);
	text_clear(&beside[1]);
	tell_trouble(w, had_trouble);
	return true;
}

static void on_quiet(struct timer *t)
{
	struct followed *w = container_of(t, struct followed, quiet);
	struct loop *loop = w->leases->loop;
	uint64_t before_us = worked_us();

	if (!read_file(w)) {
		w->tries++;
		timer_set(loop, t, AGAIN_US);
		return;
	}
	w->tries = 0;
	publish(w->leases);
	w->rest_us = REST * (worked_us() - before_us);
}

static void on_change(void *followed)
{
	struct followed *w = followed;

	if (!timer_is_set(&w->quiet))
		timer_set(w->leases->loop, &w->quiet, MAX(QUIET_US, w->rest_us));
}

static void unfollow(struct followed *w)
{
	timer_stop(w->leases->loop, &w->quiet);
	file_watch_free(w->watch);
	hostnames_drop(w->leases->names, w->source);
	list_remove(&w->link);
	mem_free(w->path);
	mem_free(w->domain);
	mem_free(w);
}

/* ---- the files to follow ---- */

struct wanted {
	const char *path, *domain;
	uint32_t ttl_s;
	bool of_leases;
	enum lease_format format;
};

static struct followed *find_followed(const struct leases *l, const struct wanted *want)
{
	LIST_EACH (at, &l->files) {
		struct followed *w = LIST_ITEM(at, struct followed, link);

		if (!w->wanted && strcmp(w->path, want->path) == 0 &&
		    strcmp(w->domain, want->domain) == 0 && w->ttl_s == want->ttl_s &&
		    w->of_leases == want->of_leases && w->format == want->format)
			return w;
	}
	return NULL;
}

static struct followed *follow(struct leases *l, const struct wanted *want)
{
	struct host_source_how how = { .path = want->path,
				       .domain = want->domain,
				       .ttl_s = want->ttl_s,
				       .of_leases = want->of_leases };
	struct followed *w = mem_zero(sizeof(*w));
	struct fault f = { 0 };

	w->leases = l;
	w->path = mem_text(want->path);
	w->domain = mem_text(want->domain);
	w->ttl_s = want->ttl_s;
	w->of_leases = want->of_leases;
	w->format = want->format;
	w->quiet.fire = on_quiet;
	w->source = hostnames_add(l->names, &how, &f);
	if (!w->source)
		PANIC("a domain that was checked is none: %s", f.text);
	if (!l->watches)
		l->watches = file_watches_new(l->loop);
	w->watch = file_watch_new(l->watches, w->path, on_change, w);
	w->tries = TRIES; /* take the file as it is, without retrying */
	read_file(w);
	w->tries = 0;
	return w;
}

/* Follow the file, if new, and move it to the end of the order, in which earlier files win. */
static void want(struct leases *l, const struct wanted *want)
{
	struct followed *w = find_followed(l, want);

	if (!w)
		w = follow(l, want);
	else
		list_remove(&w->link);
	w->wanted = true;
	list_push_back(&l->files, &w->link);
	hostnames_last(l->names, w->source);
}

static void want_all(struct leases *l, const struct conf *conf, bool inside)
{
	const struct conf_list *hosts = &conf->server.hosts_file;

	for (size_t i = 0; i < hosts->count; i++) {
		struct wanted file = { .domain = ".",
				       .ttl_s = HOSTS_TTL_S,
				       .format = LEASES_HOSTS };
		char *path = inside ? conf_path_inside(conf, hosts->items[i].text)
				    : conf_path(conf, hosts->items[i].text);

		file.path = path;
		if (*path)
			want(l, &file);
		mem_free(path);
	}
	for (size_t i = 0; i < conf->dhcp_leases_count; i++) {
		const struct conf_dhcp_leases *c = &conf->dhcp_leases[i];

		for (size_t j = 0; j < c->file.count; j++) {
			struct wanted file = { .domain = c->domain,
					       .ttl_s = c->ttl,
					       .of_leases = true };
			char *path = inside ? conf_path_inside(conf, c->file.items[j].text)
					    : conf_path(conf, c->file.items[j].text);

			PROMISE(lease_format_parse(c->format, &file.format));
			file.path = path;
			want(l, &file);
			mem_free(path);
		}
	}
}

void leases_adopt(struct leases *l, const struct conf *conf, struct localzones *zones, bool inside)
{
	LIST_EACH (at, &l->files)
		LIST_ITEM(at, struct followed, link)->wanted = false;
	want_all(l, conf, inside);
	LIST_EACH_SAFE (at, &l->files) {
		struct followed *w = LIST_ITEM(at, struct followed, link);

		if (!w->wanted)
			unfollow(w);
	}
	hostnames_attach(l->names, zones);
	if (leases_exist(l) || hostnames_count(l->names))
		publish(l);
	if (!leases_exist(l)) {
		timer_stop(l->loop, &l->look);
		file_watches_free(l->watches);
		l->watches = NULL;
	}
}

/* ---- life cycle, and queries by control ---- */

struct leases *leases_new(struct loop *loop)
{
	struct leases *l = mem_zero(sizeof(*l));

	l->loop = loop;
	l->names = hostnames_new();
	l->look.fire = on_look;
	list_init(&l->files);
	return l;
}

void leases_free(struct leases *l)
{
	if (!l)
		return;
	timer_stop(l->loop, &l->look);
	LIST_EACH_SAFE (at, &l->files)
		unfollow(LIST_ITEM(at, struct followed, link));
	file_watches_free(l->watches);
	hostnames_free(l->names);
	mem_free(l);
}

bool leases_exist(const struct leases *l)
{
	return !list_is_empty(&l->files);
}

void leases_each_file(const struct leases *l, void (*fn)(const struct lease_status *s, void *arg),
		      void *arg)
{
	LIST_EACH (at, &l->files) {
		const struct followed *w = LIST_ITEM(at, struct followed, link);
		struct lease_status s = { .read_s = w->read_s, .trouble = w->trouble.text };

		host_source_report(l->names, w->source, &s.report);
		fn(&s, arg);
	}
}

const struct hostnames *leases_names(const struct leases *l)
{
	return l->names;
}
