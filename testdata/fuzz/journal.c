/* Any bytes at all as a file of changes, and any line of them as a change: what is read was written whole, what is printed is
 * read again as the same, and what is no change says why.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/process/change.h"
#include "daemon/process/journal.h"
#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char path[64];

static void leave(void)
{
	(void)unlink(path);
}

static void put(const void *at, size_t len)
{
	int fd;

	if (!*path) {
		snprintf(path, sizeof path, "/tmp/fuzz-journal-%ld", (long)getpid());
		(void)atexit(leave);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	PROMISE(fd >= 0 && file_write(fd, at, len));
	close(fd);
}

struct reading {
	const uint8_t *data;
	size_t len, lines;
};

/* It is there as it is printed. */
static void on_line(void *arg, const struct journal_line *l)
{
	struct reading *s = arg;
	char *text = NULL;
	size_t len = 0;

	s->lines++;
	journal_print(&text, &len, l);
	PROMISE(memmem(s->data, s->len, text, len - 1));
	mem_free(text);
}

static void as_a_file(const uint8_t *data, size_t len)
{
	struct reading s = { .data = data, .len = len };
	struct journal j = { 0 };
	struct fault f = { .set = false };

	put(data, len);
	if (journal_read(&j, path, on_line, &s, &f))
		PROMISE(!j.unusable && !f.set && (s.lines == 0 || len > 20));
	else
		PROMISE(j.unusable && f.set && s.lines == 0);
	journal_clear(&j);
}

static void is_same(void *arg, const struct journal_line *l)
{
	const char *line = arg;

	PROMISE(!l->raw && l->number == 7 && l->drop_count == 0 && strcmp(l->text, line) == 0);
}

/* A change that can be read can be kept. */
static void as_a_change(const char *line)
{
	struct fault f = { .set = false }, again = { .set = false };
	struct change c, d;
	struct journal j = { 0 };
	char *text = NULL;
	size_t len = 0;

	if (change_read(&c, line, &f)) {
		PROMISE(c.id.kind < CHANGE_KINDS && change_read(&d, line, &again));
		PROMISE(c.id.key == d.id.key && c.id.owner_key == d.id.owner_key);
		PROMISE(change_when(c.id.kind) == CHANGE_NEVER || change_supersedes(&c, &d.id));
		change_clear(&d);
		journal_print(&text, &len, &(struct journal_line){ .raw = "resolverd-changes 1" });
		journal_print(&text, &len, &(struct journal_line){ .number = 7, .time_s = 1, .text = line });
		put(text, len);
		PROMISE(journal_read(&j, path, is_same, (void *)(uintptr_t)line, &again));
		journal_clear(&j);
	} else {
		PROMISE(f.set && *f.text);
	}
	mem_free(text);
	change_clear(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *line = mem_new(len + 1);

	memcpy(line, data, len);
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	as_a_file(data, len);
	as_a_change(line);
	mem_free(line);
	return 0;
}
