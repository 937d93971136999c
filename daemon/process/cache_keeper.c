/* Keeping the caches across restarts: cache-file is read at startup and written periodically.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/cache_keeper.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "daemon/process/shape.h"
#include "daemon/process/thread_job.h"
#include "daemon/worker/caches.h"
#include "services/cache/slab.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

#define DISTURBED_S 5 /* delay before rewriting: names are often flushed many at a time */

struct cache_keeper {
	struct loop *loop;
	struct timer timer;
	uint32_t interval_s;
	struct thread_job reader, writer;
	atomic_bool stop_reading, stop_writing;
	bool ended;          /* cache_keeper_end wrote the file */
	atomic_bool file_is_outdated; /* the file may hold what was flushed since it was written */
	pthread_mutex_t writing; /* held while the file is written */
	pthread_mutex_t lock;    /* guards what follows; held only briefly */
	char *path;              /* "": no cache-file */
	struct cachefile_how how;
	struct cache_keeper_report report;
};

static void lock(struct cache_keeper *k)
{
	PROMISE(pthread_mutex_lock(&k->lock) == 0);
}

static void unlock(struct cache_keeper *k)
{
	PROMISE(pthread_mutex_unlock(&k->lock) == 0);
}

/* ---- writing ---- */

static bool write_file(struct cache_keeper *k, const char *path, struct cachefile_how *how,
		       struct fault *f)
{
	struct cachefile_count count;
	struct timebase end = { 0 };
	bool ok;

	timebase_read(&how->now);
	ok = cachefile_save(path, how, &count, f);
	timebase_read(&end);
	lock(k);
	if (ok) {
		k->report.written = count;
		k->report.written_s = how->now.wall_s;
		k->report.took_us = end.now_us - how->now.now_us;
		log_detail("cache-file: %llu answers and %llu RRsets written, %llu bytes in "
			   "%llu ms",
			   (unsigned long long)count.answers, (unsigned long long)count.sets,
			   (unsigned long long)count.bytes,
			   (unsigned long long)(k->report.took_us / US_PER_MS));
	} else {
		k->report.failures++;
	}
	unlock(k);
	return ok;
}

static bool save(struct cache_keeper *k, const atomic_bool *stop, struct fault *f)
{
	struct cachefile_how how;
	bool reading, ok;
	char *path;

	PROMISE(pthread_mutex_lock(&k->writing) == 0);
	lock(k);
	path = mem_text(k->path);
	how = k->how;
	how.zones = keptzones_copy(&k->how.zones);
	reading = k->report.reading;
	unlock(k);
	how.stop = stop;
	if (!*path)
		fault_set(f, "there is no cache-file");
	else if (reading)
		fault_set(f, "%s is still being read", path);
	rcu_thread_join();
	ok = !f->set && write_file(k, path, &how, f);
	rcu_thread_leave();
	PROMISE(pthread_mutex_unlock(&k->writing) == 0);
	keptzones_clear(&how.zones);
	mem_free(path);
	return ok;
}

bool cache_keeper_save(struct cache_keeper *k, struct fault *f)
{
	return save(k, &k->stop_writing, f);
}

static void plan(struct cache_keeper *k)
{
	timer_stop(k->loop, &k->timer);
	if (*k->path && k->interval_s)
		timer_set(k->loop, &k->timer, k->interval_s * US_PER_S);
}

static void write_on_thread(void *arg)
{
	struct cache_keeper *k = arg;
	struct fault f = { 0 };

	if (!cache_keeper_save(k, &f) && !atomic_load(&k->stop_writing))
		log_error("cache-file: %s", f.text);
}

static void on_written(void *arg)
{
	plan(arg);
}

static void on_time(struct timer *t)
{
	struct cache_keeper *k = container_of(t, struct cache_keeper, timer);

	if (k->writer.running || k->reader.running) {
		timer_set(k->loop, &k->timer, DISTURBED_S * US_PER_S);
		return;
	}
	k->writer = (struct thread_job){
		.home = k->loop, .work = write_on_thread, .done = on_written, .arg = k
	};
	if (thread_job_start(&k->writer))
		return;
	log_error("cache-file: cannot start a thread to write it");
	plan(k);
}

/* ---- reading ---- */

static void tell_read(const char *path, const struct cachefile_count *count, uint64_t took_us)
{
	if (count->bytes)
		log_ops("cache-file: %llu answers and %llu RRsets loaded from %s in %llu ms (%llu "
			"expired, %llu skipped)",
			(unsigned long long)count->answers, (unsigned long long)count->sets, path,
			(unsigned long long)(took_us / US_PER_MS),
			(unsigned long long)count->expired, (unsigned long long)count->passed);
}

static void read_on_thread(void *arg)
{
	struct cache_keeper *k = arg;
	struct cachefile_count count;
	struct cachefile_how how;
	struct timebase end = { 0 };
	struct fault f = { 0 };
	char *path;

	lock(k);
	path = mem_text(k->path);
	how = k->how;
	how.zones = keptzones_copy(&k->how.zones);
	unlock(k);
	how.stop = &k->stop_reading;
	timebase_read(&how.now);
	if (!cachefile_load(path, &how, &count, &f))
		log_warn("cache-file: %s", f.text);
	timebase_read(&end);
	tell_read(path, &count, end.now_us - how.now.now_us);
	keptzones_clear(&how.zones);
	mem_free(path);
	lock(k);
	k->report.read = count;
	k->report.written = count; /* by the process before, until this one writes */
	k->report.written_s = count.written_s;
	k->report.reading = false;
	unlock(k);
}

static void on_read(void *arg)
{
	(void)arg;
}

void cache_keeper_begin(struct cache_keeper *k)
{
	if (!*k->path)
		return;
	k->report.reading = true;
	k->reader =
		(struct thread_job){ .home = k->loop, .work = read_on_thread, .done = on_read, .arg = k };
	if (thread_job_start(&k->reader))
		return;
	k->report.reading = false;
	log_error("cache-file: cannot start a thread to read it");
}

/* ---- life cycle ---- */

struct cache_keeper *cache_keeper_new(struct loop *l, const struct caches *caches)
{
	struct cache_keeper *k = mem_zero(sizeof *k);

	k->loop = l;
	k->timer.fire = on_time;
	k->path = mem_text("");
	k->how.messages = caches->messages;
	k->how.rrsets = caches->rrsets;
	PROMISE(pthread_mutex_init(&k->writing, NULL) == 0);
	PROMISE(pthread_mutex_init(&k->lock, NULL) == 0);
	return k;
}

/* Warn when cache-file is configured, not when the first file is lost. */
static void look_at_folder(const char *path)
{
	char *folder = mem_text(path), *slash = strrchr(folder, '/');

	if (slash)
		slash[slash == folder] = '\0';
	if (*path && access(slash ? folder : ".", W_OK | X_OK) != 0)
		log_warn("cache-file: cannot write to %s (%s): the cache will not be saved",
			 slash ? folder : "the working folder", strerror(errno));
	mem_free(folder);
}

void cache_keeper_adopt(struct cache_keeper *k, const struct snapshot *s, bool inside)
{
	const struct conf_server *c = &s->conf->server;
	uint32_t grace_s = c->serve_expired_ttl ? c->serve_expired_ttl : SLAB_FOREVER;
	char *path = inside ? conf_path_inside(s->conf, c->cache_file)
			    : conf_path(s->conf, c->cache_file);
	bool same = strcmp(path, k->path) == 0 && k->interval_s == c->cache_file_interval;
	char *old = k->path;

	lock(k);
	k->path = path;
	k->how.validation = shape_validation(s);
	k->how.shape = shape_mark(s);
	keptzones_clear(&k->how.zones);
	k->how.zones = shape_zones(s);
	k->how.most_ttl_s = c->cache_max_ttl;
	k->how.expired_s = c->serve_expired ? grace_s : 0;
	k->how.validates = s->trust != NULL;
	k->report.keeps = *path;
	unlock(k);
	mem_free(old);
	k->interval_s = c->cache_file_interval;
	if (same)
		return;
	look_at_folder(k->path);
	plan(k);
}

static void disturbed(void *arg)
{
	struct cache_keeper *k = arg;

	if (*k->path)
		timer_set(k->loop, &k->timer, DISTURBED_S * US_PER_S);
}

void cache_keeper_disturb(struct cache_keeper *k)
{
	atomic_store(&k->stop_reading, true);
	atomic_store(&k->file_is_outdated, true);
	loop_post(k->loop, disturbed, k);
}

void cache_keeper_end(struct cache_keeper *k, bool serves)
{
	struct fault f = { 0 };
	bool keeps, was_read;

	if (!k)
		return;
	timer_stop(k->loop, &k->timer);
	lock(k);
	keeps = k->report.keeps;
	was_read = !k->report.reading;
	unlock(k);
	atomic_store(&k->stop_reading, true);
	atomic_store(&k->stop_writing, true);
	thread_job_join(&k->reader);
	thread_job_join(&k->writer);
	/* A file that was not read to its end holds more than what was restored: keep it. */
	if (!keeps || !serves || !was_read)
		return;
	atomic_store(&k->file_is_outdated, false);
	k->ended = save(k, NULL, &f);
	if (!k->ended)
		log_error("cache-file: %s", f.text);
}

void cache_keeper_free(struct cache_keeper *k)
{
	struct fault f = { 0 };

	if (!k)
		return;
	if (k->ended && atomic_load(&k->file_is_outdated) && !save(k, NULL, &f))
		log_error("cache-file: %s", f.text);
	pthread_mutex_destroy(&k->lock);
	pthread_mutex_destroy(&k->writing);
	keptzones_clear(&k->how.zones);
	mem_free(k->path);
	mem_free(k);
}

struct cache_keeper_report cache_keeper_tell(struct cache_keeper *k)
{
	struct cache_keeper_report r;

	lock(k);
	r = k->report;
	unlock(k);
	return r;
}
