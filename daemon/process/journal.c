/* A file of changes, one line each: checks, appending, writing anew.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/hash.h"
#include "util/base/mem.h"

#define HEAD	   "resolverd-changes "
#define FIRST_LINE HEAD "1\n"
#define CHECK_LEN  16
#define BYTES_MOST (64 << 20) /* more than CHANGES_MOST lines of the channel have */

/* ---- one line ---- */

static void check_of(const char *at, size_t len, char to[CHECK_LEN + 1])
{
	static const uint8_t key[16] = "resolverd 1"; /* it finds accidents, not forgers */
	uint8_t sum[8];

	hash_shared(sum, at, len, key);
	for (size_t i = 0; i < sizeof sum; i++)
		snprintf(to + 2 * i, 3, "%02x", sum[i]);
}

/* What `len` bytes and a NUL get. */
static size_t room_for(size_t len)
{
	size_t room = 256;

	while (room < len + 1)
		room *= 2;
	return room;
}

static void put(char **to, size_t *len, const char *at, size_t more)
{
	if (!*to || room_for(*len + more) != room_for(*len))
		*to = mem_grow(*to, room_for(*len + more));
	memcpy(*to + *len, at, more);
	*len += more;
	(*to)[*len] = '\0';
}

static void put_drops(char **to, size_t *len, const struct journal_line *l)
{
	char text[32];

	if (!l->drop_count)
		put(to, len, "-", 1);
	for (size_t i = 0; i < l->drop_count; i++) {
		int n = snprintf(text, sizeof text, "%s%" PRIu64, i ? "," : "", l->drops[i]);

		put(to, len, text, (size_t)n);
	}
}

void journal_print(char **to, size_t *len, const struct journal_line *l)
{
	size_t first = *len, body = first + CHECK_LEN + 1;
	char text[64], check[CHECK_LEN + 1];
	int n;

	if (l->raw) {
		put(to, len, l->raw, strlen(l->raw));
		put(to, len, "\n", 1);
		return;
	}
	n = snprintf(text, sizeof text, "%*s %" PRIu64 " %" PRId64 " ", CHECK_LEN, "", l->number, l->time_s);
	put(to, len, text, (size_t)n);
	put_drops(to, len, l);
	put(to, len, " ", 1);
	put(to, len, l->text, strlen(l->text));
	check_of(*to + body, *len - body, check);
	memcpy(*to + first, check, CHECK_LEN);
	put(to, len, "\n", 1);
}

/* A number and the character after it, which is advanced past. */
static bool take_number(char **at, uint64_t *n, const char *ends)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*n = strtoull(*at, &end, 10);
	if (errno || !*end || !strchr(ends, *end))
		return false;
	*at = end;
	return true;
}

static bool take_drops(char **at, struct journal_line *l)
{
	if (**at == '-') {
		++*at;
		return **at == ' ';
	}
	for (;;) {
		uint64_t n;

		if (!take_number(at, &n, ", "))
			return false;
		if ((l->drop_count & (l->drop_count - 1)) == 0)
			l->drops = mem_grow(l->drops, (l->drop_count ? 2 * l->drop_count : 1) * sizeof *l->drops);
		l->drops[l->drop_count++] = n;
		if (**at == ' ')
			return true;
		++*at;
	}
}

/* `line` is NUL-terminated, and `len` bytes long unless it has a NUL in it. */
static bool parse(char *line, size_t len, struct journal_line *l)
{
	char check[CHECK_LEN + 1], *at = line + CHECK_LEN + 1;
	uint64_t time_s;

	if (len < CHECK_LEN + 2 || strlen(line) != len || line[CHECK_LEN] != ' ')
		return false;
	check_of(at, len - (CHECK_LEN + 1), check);
	if (memcmp(check, line, CHECK_LEN) != 0 || !take_number(&at, &l->number, " "))
		return false;
	at++;
	if (!take_number(&at, &time_s, " ") || time_s > INT64_MAX)
		return false;
	at++;
	l->time_s = (int64_t)time_s;
	if (!take_drops(&at, l))
		return false;
	l->text = at + 1;
	return true;
}

/* ---- the whole file ---- */

static bool is_no_use(struct journal *j, struct fault *f, const char *why)
{
	fault_set(f, "%s", why);
	mem_free(j->unusable);
	j->unusable = mem_text(why);
	return false;
}

static bool cannot_be_read(struct journal *j, struct fault *f, const char *why)
{
	char *text = mem_textf("cannot read %s: %s", j->path, why);

	(void)is_no_use(j, f, text);
	mem_free(text);
	return false;
}

/* Others may not decide what the daemon does. Who owns the folder can put any file there. */
static const char *distrust(const char *path, const struct stat *st)
{
	char *folder = mem_text(path), *slash = strrchr(folder, '/');
	struct stat of_folder;
	bool owned;

	if (slash)
		slash[slash == folder] = '\0';
	owned = st->st_uid == 0 || st->st_uid == geteuid() ||
		(stat(slash ? folder : ".", &of_folder) == 0 && of_folder.st_uid == st->st_uid);
	mem_free(folder);
	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write to it (chmod go-w helps)";
	if (!owned)
		return "it belongs to another user";
	return st->st_size > BYTES_MOST ? "it is larger than 64 MB" : NULL;
}

/* The content, NUL-terminated, of j->bytes; NULL with a sentence, or without one if there is no file. */
static char *read_whole(struct journal *j, struct fault *f)
{
	int fd = open(j->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = NULL;
	char *text = NULL;
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (fd < 0 || fstat(fd, &st) != 0) {
		(void)cannot_be_read(j, f, strerror(errno));
	} else if ((why = distrust(j->path, &st))) {
		(void)cannot_be_read(j, f, why);
	} else {
		text = mem_new((size_t)st.st_size + 1);
		j->bytes = (off_t)file_read(fd, text, (size_t)st.st_size);
		text[j->bytes] = '\0';
		if (j->bytes != st.st_size) {
			(void)cannot_be_read(j, f, errno ? strerror(errno) : "it became shorter meanwhile");
			mem_free(text);
			text = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static void tell_lines(char *at, char *end, void (*each)(void *arg, const struct journal_line *l), void *arg)
{
	while (at < end) {
		char *lf = memchr(at, '\n', (size_t)(end - at));
		struct journal_line l = { 0 };

		*lf = '\0';
		if (!parse(at, (size_t)(lf - at), &l)) {
			mem_free(l.drops);
			l = (struct journal_line){ .raw = at };
		}
		each(arg, &l);
		if (!l.raw)
			mem_free(l.drops);
		at = lf + 1;
	}
}

static bool is_ours(struct journal *j, const char *text, struct fault *f)
{
	size_t len = strlen(FIRST_LINE);
	char *why;

	if (strncmp(text, FIRST_LINE, len) == 0)
		return true;
	if (strncmp(text, HEAD, strlen(HEAD)) == 0)
		why = mem_textf("%s was written by another version (%.*s): it is not written over", j->path,
				(int)strcspn(text, "\n") > 60 ? 60 : (int)strcspn(text, "\n"), text);
	else
		why = mem_textf("%s is something else than a file of changes: it is not written over", j->path);
	(void)is_no_use(j, f, why);
	mem_free(why);
	return false;
}

bool journal_read(struct journal *j, const char *path, void (*each)(void *arg, const struct journal_line *l), void *arg,
		  struct fault *f)
{
	char *text, *end;
	bool good = true;

	journal_clear(j);
	j->path = mem_text(path);
	text = read_whole(j, f);
	if (!text)
		return !j->unusable;
	end = text + j->bytes;
	while (end > text && end[-1] != '\n')
		end--;
	if (strncmp(FIRST_LINE, text, (size_t)j->bytes) == 0 && (size_t)j->bytes < strlen(FIRST_LINE)) {
		j->cut = true; /* empty, or never written whole */
	} else if ((good = is_ours(j, text, f))) {
		j->cut = end != text + j->bytes;
		tell_lines(text + strlen(FIRST_LINE), end, each, arg);
	}
	mem_free(text);
	return good;
}

void journal_clear(struct journal *j)
{
	mem_free(j->path);
	mem_free(j->unusable);
	*j = (struct journal){ 0 };
}

/* ---- writing ---- */

static bool cannot_write(const struct journal *j, struct fault *f, const char *why)
{
	fault_set(f, "cannot write %s: %s (nothing has changed)", j->path, why);
	return false;
}

/* What another program has written since would be lost. */
static bool is_as_left(const struct journal *j, const struct stat *st, struct fault *f)
{
	if (S_ISREG(st->st_mode) && st->st_size == j->bytes)
		return true;
	return cannot_write(j, f, "another program has changed it since it was read; a new start reads it again");
}

bool journal_rewrite(struct journal *j, const char *lines, size_t len, struct fault *f)
{
	struct file_new n;
	struct stat st;
	bool good;

	if (j->unusable) {
		fault_set(f, "%s", j->unusable);
		return false;
	}
	if (lstat(j->path, &st) == 0 && !is_as_left(j, &st, f))
		return false;
	good = file_new_begin(&n, j->path, ".new", 0600) && file_write(n.fd, FIRST_LINE, strlen(FIRST_LINE)) &&
	       file_write(n.fd, lines, len);
	if (!file_new_end(&n, good))
		return cannot_write(j, f, strerror(errno));
	j->bytes = (off_t)(strlen(FIRST_LINE) + len);
	j->former = 0;
	j->cut = false;
	return true;
}

/* What was written of a line is taken off again; if not even that is possible it is cut off before the next one. */
static void shorten(struct journal *j, int fd, off_t to)
{
	struct stat st;

	if (ftruncate(fd, to) == 0 && fsync(fd) == 0) {
		j->bytes = to;
		return;
	}
	j->cut = true;
	if (fstat(fd, &st) == 0)
		j->bytes = st.st_size;
}

bool journal_goes_on(const struct journal *j)
{
	return j->bytes && !j->cut && (access(j->path, F_OK) == 0 || errno != ENOENT);
}

bool journal_append(struct journal *j, const char *lines, size_t len, struct fault *f)
{
	struct stat st;
	bool good;
	int fd, why;

	if (j->unusable) {
		fault_set(f, "%s", j->unusable);
		return false;
	}
	fd = open(j->path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return cannot_write(j, f, strerror(errno));
	if (fstat(fd, &st) != 0 || !is_as_left(j, &st, f)) {
		close(fd);
		return false;
	}
	good = file_write(fd, lines, len) && fsync(fd) == 0;
	why = errno;
	j->former = j->bytes;
	if (good)
		j->bytes += (off_t)len;
	else
		shorten(j, fd, j->bytes);
	close(fd);
	return good || cannot_write(j, f, strerror(why));
}

bool journal_take_back(struct journal *j, struct fault *f)
{
	int fd = j->former ? open(j->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	struct stat st;
	bool good;

	if (fd < 0)
		return cannot_write(j, f, j->former ? strerror(errno) : "there is nothing to take back");
	good = fstat(fd, &st) == 0 && is_as_left(j, &st, f) && ftruncate(fd, j->former) == 0 && fsync(fd) == 0;
	if (good)
		j->bytes = j->former;
	else
		fault_set(f, "cannot write %s: %s", j->path, strerror(errno));
	j->former = 0;
	close(fd);
	return good;
}
