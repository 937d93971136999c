/* Any text as a scenario: the whole resolver lives through it, in whatever configuration it names.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Options that look at files, other programs or much memory are not played; whether the scenario
 * passes does not matter. */
#include "daemon/replay/play.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { INPUT_MOST = 16384 };

/* Small caches, behind what the scenario itself says of them. */
static const char tail[] =
	"\nserver:\n\tmsg-cache-size: 1m\n\trrset-cache-size: 1m\n\tkey-cache-size: 1m\n"
	"\tneg-cache-size: 1m\n\tinfra-cache-numhosts: 1000\n\tratelimit-size: 1m\n"
	"\tip-ratelimit-size: 1m\n\tblocklist-directory: \"\"\n\tcache-file: \"\"\n\tlogfile: "
	"\"\"\n";

/* Words of options that lead out of the process, or grow it. */
static const char *const foreign[] = {
	"file",   "include",  "url",    "hints",  "path",           "dump",      "directory",
	"chroot", "python",   "dnstap", "dynlib", "TEMPFILE",       "AUTOTRUST", "primary",
	"master", "-size",    "hosts",  "cert",   "key:",           "blocklist", "memory",
	"ring",   "top-list", "slabs",  "num-",   "outgoing-range", "pidfile",
};

static bool is_foreign(const char *text)
{
	for (size_t i = 0; i < COUNT(foreign); i++)
		if (strcasestr(text, foreign[i]))
			return true;
	/* a netblock's length may stand behind a slash, a path may not */
	for (const char *at = text; (at = strchr(at, '/')); at++)
		if (!isdigit((unsigned char)at[1]))
			return true;
	return false;
}

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

static void begin_once(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	hash_start(true);
	rcu_thread_join();
	log_capture(no_line, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct play_how how = { .strict = true };
	static char room[INPUT_MOST + sizeof(tail)];
	char *text = mem_new(len + 1), *end;
	struct play_result result;

	begin_once();
	memcpy(text, data, len);
	text[len] = '\0';
	end = strstr(text, "CONFIG_END");
	if (len < INPUT_MOST && end) {
		snprintf(room, sizeof(room), "%.*s%s%s", (int)(end - text), text, tail, end);
		*end = '\0';
		if (!is_foreign(text) && !strstr(room + (end - text), "TEMPFILE") &&
		    !strstr(room, "AUTOTRUST")) {
			play_text(room, &how, &result);
			PROMISE(result.end == PLAY_PASSED || *result.why);
		}
	}
	mem_free(text);
	return 0;
}
