/* Shorter and plainer choices that fail alike.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testdata/hostile/play.h"
#include "util/base/mem.h"

enum { STUCK_S = 10 };

/* What is wrong, without whom it happened to. */
static void kind_of(const char *why, char kind[800])
{
	const char *colon = strstr(why, ": ");

	snprintf(kind, 800, "%s", colon ? colon + 2 : why);
	kind[strcspn(kind, ";")] = '\0';
}

/* What the process says that has played it. */
struct ended {
	char why[800];
	size_t used[CHOICE_STREAMS];
};

static void play_in_child(struct choices *c, bool alone, int fd)
{
	struct play_report r;
	struct ended end = { .why = "" };

	alarm(STUCK_S);
	choices_rewind(c);
	play_world(c, alone, NULL, &r);
	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		end.used[i] = c->streams[i].at;
	if (r.failed)
		memcpy(end.why, r.why, sizeof(end.why));
	_exit(write(fd, &end, sizeof(end)) != sizeof(end));
}

bool shrink_fails(struct choices *c, bool alone, const char *why, char *got)
{
	char kind[800], wanted[800];
	struct ended end = { .why = "" };
	int fds[2], status;
	pid_t pid;

	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		c->streams[i].at = c->streams[i].len; /* all of it, for all we know */
	PROMISE(pipe(fds) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		PROMISE(freopen("/dev/null", "w", stderr));
		play_in_child(c, alone, fds[1]);
	}
	close(fds[1]);
	if (read(fds[0], &end, sizeof(end)) == sizeof(end))
		for (unsigned i = 0; i < CHOICE_STREAMS; i++)
			c->streams[i].at = end.used[i];
	close(fds[0]);
	memcpy(got, end.why, sizeof(end.why));
	PROMISE(pid > 0 && waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		snprintf(got, sizeof(end.why), "signal %d", WTERMSIG(status));
	if (!*got)
		return false;
	kind_of(got, kind);
	kind_of(why, wanted);
	return !*wanted || strcmp(kind, wanted) == 0;
}

struct shrinking {
	struct choices *c;
	bool alone;
	const char *why;
	time_t until;
	bool better;
};

/* The stream's bytes become these if it still fails. */
static bool try_bytes(struct shrinking *s, unsigned stream, uint8_t *bytes, size_t len)
{
	struct choice_bytes *b = &s->c->streams[stream], before = *b;
	char got[800];

	if (time(NULL) >= s->until)
		return false;
	b->bytes = bytes;
	b->len = len;
	if (shrink_fails(s->c, s->alone, s->why, got)) {
		for (unsigned i = 0; i < CHOICE_STREAMS; i++) /* what nobody has looked at is of no use */
			s->c->streams[i].len = MIN(s->c->streams[i].len, s->c->streams[i].at);
		mem_free(before.bytes);
		s->better = true;
		return true;
	}
	*b = before;
	return false;
}

/* Without the part from `at` on; or with zeros there. */
static bool try_part(struct shrinking *s, unsigned stream, size_t at, size_t len, bool zeros)
{
	const struct choice_bytes *b = &s->c->streams[stream];
	uint8_t *bytes = mem_copy(b->bytes, b->len + !b->len);
	size_t left = b->len;
	bool any = false;

	len = MIN(len, b->len - at);
	if (zeros) {
		for (size_t i = at; i < at + len; i++)
			any |= bytes[i] != 0;
		memset(bytes + at, 0, len);
	} else {
		any = true;
		memmove(bytes + at, bytes + at + len, b->len - at - len);
		left -= len;
	}
	if (any && try_bytes(s, stream, bytes, left))
		return true;
	mem_free(bytes);
	return false;
}

static void parts(struct shrinking *s, unsigned stream, bool zeros)
{
	size_t len = s->c->streams[stream].len;

	for (len = MAX(len, 1); len; len /= 2)
		for (size_t at = 0; at < s->c->streams[stream].len;)
			if (!try_part(s, stream, at, len, zeros) || zeros)
				at += len;
}

static void lower(struct shrinking *s, unsigned stream)
{
	for (size_t at = 0; at < s->c->streams[stream].len; at++) {
		const struct choice_bytes *b = &s->c->streams[stream];
		uint8_t *bytes;

		if (b->bytes[at] < 2)
			continue;
		bytes = mem_copy(b->bytes, b->len);
		bytes[at] /= 2;
		if (!try_bytes(s, stream, bytes, b->len))
			mem_free(bytes);
	}
}

void shrink(struct choices *c, bool alone, const char *why, unsigned seconds)
{
	struct shrinking s = { c, alone, why, time(NULL) + (time_t)seconds, true };

	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		c->streams[i].len = MIN(c->streams[i].len, MAX(c->streams[i].at, 1));
	while (s.better && time(NULL) < s.until) {
		s.better = false;
		for (unsigned stream = CHOICE_STREAMS; stream--;)
			parts(&s, stream, false);
		for (unsigned stream = CHOICE_STREAMS; stream--;)
			parts(&s, stream, true);
		for (unsigned stream = CHOICE_STREAMS; stream--;)
			lower(&s, stream);
	}
}
