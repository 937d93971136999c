/* A list's table in a file, together with the sources it was made from.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/saved_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/blocklist/table.h"
#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/mem.h"

#define MAGIC        UINT64_C(0x52534c4953543035)
#define SOURCES_MOST 10000

struct head {
	uint64_t magic, size_of_source, spec, source_count;
	int64_t made_s;
};

/* Bytes on their way to or from a file, and the checksum so far. */
struct stream {
	int fd;
	uint64_t sum;
	uint8_t *at; /* end of the buffered bytes not yet written */
	uint8_t buffer[65536];
};

static void add_to_sum(struct stream *s, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (; len >= 8; at += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		s->sum = (s->sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		s->sum ^= s->sum >> 29;
	}
	for (; len; at++, len--)
		s->sum = (s->sum ^ *at) * UINT64_C(0x100000001b3);
}

/* ---- writing ---- */

static bool flush(struct stream *s)
{
	bool good = file_write(s->fd, s->buffer, (size_t)(s->at - s->buffer));

	s->at = s->buffer;
	return good;
}

static bool put(void *stream, const void *bytes, size_t len)
{
	struct stream *s = stream;

	add_to_sum(s, bytes, len);
	if (len > sizeof(s->buffer) - (size_t)(s->at - s->buffer) && !flush(s))
		return false;
	if (len > sizeof(s->buffer))
		return file_write(s->fd, bytes, len);
	memcpy(s->at, bytes, len);
	s->at += len;
	return true;
}

static bool write_parts(struct stream *s, const struct stored_list *l)
{
	struct head h = { .magic = MAGIC,
			  .size_of_source = sizeof(struct stored_source),
			  .spec = l->spec,
			  .source_count = l->source_count,
			  .made_s = l->made_s };
	uint64_t sum;

	if (!put(s, &h, sizeof(h)) ||
	    !put(s, l->sources, (size_t)l->source_count * sizeof(*l->sources)) ||
	    !blocklist_table_save(l->table, put, s))
		return false;
	sum = s->sum;
	return put(s, &sum, sizeof(sum)) && flush(s);
}

bool blocklist_saved_write(const char *path, const struct stored_list *l, struct fault *f)
{
	struct stream *s = mem_zero(sizeof(*s));
	struct file_new n;
	bool good = file_new_begin(&n, path, ".new", 0600);

	s->at = s->buffer;
	s->fd = n.fd;
	good = file_new_end(&n, good && write_parts(s, l));
	if (!good)
		fault_set(f, "cannot write %s: %s", path, strerror(errno));
	mem_free(s);
	return good;
}

/* ---- reading ---- */

static bool get(void *stream, void *to, size_t len)
{
	struct stream *s = stream;

	if (file_read(s->fd, to, len) != len)
		return false;
	add_to_sum(s, to, len);
	return true;
}

static bool sources_are_good(const struct stored_list *l)
{
	for (uint64_t i = 0; i < l->source_count; i++) {
		const struct stored_source *o = &l->sources[i];

		if (!memchr(o->where, '\0', sizeof(o->where)) ||
		    !memchr(o->mark.etag, '\0', sizeof(o->mark.etag)) ||
		    !memchr(o->counts.first_bad_text, '\0', sizeof(o->counts.first_bad_text)))
			return false;
	}
	return true;
}

static bool read_parts(struct stream *s, struct stored_list *l, uint64_t size, uint64_t *seed)
{
	uint64_t sum, said, took = *seed;
	struct head h;

	if (!get(s, &h, sizeof(h)) || h.magic != MAGIC ||
	    h.size_of_source != sizeof(struct stored_source) || h.source_count > SOURCES_MOST ||
	    h.source_count * sizeof(struct stored_source) > size)
		return false;
	l->spec = h.spec;
	l->made_s = h.made_s;
	l->source_count = h.source_count;
	l->sources = mem_array((size_t)h.source_count, sizeof(*l->sources));
	if (!get(s, l->sources, (size_t)h.source_count * sizeof(*l->sources)) ||
	    !sources_are_good(l) || !(l->table = blocklist_table_load(get, s, size, &took)))
		return false;
	sum = s->sum;
	if (!get(s, &said, sizeof(said)) || said != sum)
		return false;
	*seed = took;
	return true;
}

bool blocklist_saved_read(const char *path, struct stored_list *l, uint64_t *seed)
{
	struct stream *s = mem_zero(sizeof(*s));
	struct stat st;
	bool good = false;

	*l = (struct stored_list){ 0 };
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd >= 0) {
		good = fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) &&
		       read_parts(s, l, (uint64_t)st.st_size, seed);
		close(s->fd);
	}
	if (!good) {
		mem_free(l->sources);
		blocklist_table_unpin(l->table);
		*l = (struct stored_list){ 0 };
	}
	mem_free(s);
	return good;
}
