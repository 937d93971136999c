/* Any bytes over any number of connections to the control channel, in any pieces, hung up at any
 * time: each is answered or closed, and nothing is kept. What is answered is as JSON what it is as text.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: a byte that says how large the pieces are and whether the client hangs up early; then what
 * connections say, one after the other (two at once where the byte says so), each ended by 0xfe.
 * Commands run against a worker that has no sockets; those that end the daemon, make its whole
 * configuration anew or write files are left out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/control/call.h"
#include "daemon/control/control.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/daemon.h"
#include "daemon/process/forget.h"
#include "daemon/process/leases.h"
#include "daemon/replay/world.h"
#include "daemon/worker/worker.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/listen/tcp.h"
#include "services/query/snapshot.h"
#include "testdata/fuzz/json_reply.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { INPUT_MOST = 8192, SESSIONS_MOST = 16, PATIENCE = 2000, END = 0xfe, HEARD_MOST = 1 << 19, PIECE_MOST = 65536 };

static const char *const left_out[] = { "stop",       "reload",     "fast_reload", "log_reopen",
					"cache_save", "set_option", "insecure_",   "verbosity" };

static struct {
	struct conf *conf;
	char folder[64], path[80];
} fixture;

static struct {
	struct daemon daemon;
	struct world world;
	struct worker *workers[1];
	struct timer pause;
} it;

/* The reply so far; HEARD_MOST bytes or more: too long to look at. */
static struct {
	char text[HEARD_MOST + PIECE_MOST];
	size_t len;
} heard;

static void enough(struct timer *t)
{
	(void)t;
	loop_stop(it.daemon.loop);
}

/* One turn of every thread there would be; `us`: and so long for those that are. */
static void turn(uint64_t us)
{
	timer_set(it.daemon.loop, &it.pause, us);
	loop_run(it.daemon.loop);
	loop_play(it.world.loop, 0);
	/* no server answers what a command wants to know */
	while (!list_is_empty(&it.world.outstanding))
		world_fail(&it.world,
			   LIST_ITEM(it.world.outstanding.next, struct outstanding, link));
}

static void skip_blanks(const uint8_t **at, size_t *len)
{
	for (; *len && (**at == ' ' || **at == '\t'); (*at)++)
		(*len)--;
}

static bool is_left_out(const uint8_t *at, size_t len)
{
	static const char head[] = "UBCT1";

	if (len < sizeof(head) || memcmp(at, head, sizeof(head) - 1) != 0)
		return false;
	at += 6, len -= 6;
	skip_blanks(&at, &len);
	if (len > 7 && memcmp(at, "--json", 6) == 0) {
		at += 6, len -= 6;
		skip_blanks(&at, &len);
	}
	/* "+i" exempts the zone from validation, and so makes the configuration anew */
	if (len > 8 && (memcmp(at, "forward_", 8) == 0 || memcmp(at, "stub_", 5) == 0) && memchr(at, '+', len))
		return true;
	for (size_t i = 0; i < COUNT(left_out); i++)
		if (len >= strlen(left_out[i]) && memcmp(at, left_out[i], strlen(left_out[i])) == 0)
			return true;
	return false;
}

static int come(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(sun.sun_path, fixture.path, strlen(fixture.path) + 1);
	PROMISE(fd >= 0 && connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0);
	PROMISE(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	turn(0);
	return fd;
}

/* False when it has been closed. */
static bool hear(int fd)
{
	ssize_t n;

	while ((n = recv(fd, heard.text + heard.len, PIECE_MOST, 0)) > 0)
		heard.len += heard.len < HEARD_MOST ? (size_t)n : 0;
	return n != 0;
}

/* With the wish for JSON the daemon itself makes it: whatever was asked, the reply is one object, whose members differ. */
static bool check_own_json(const uint8_t *at, size_t len)
{
	static const char wish[] = "--json";
	struct json_read r;

	if (len <= sizeof wish - 1 || memcmp(at, wish, sizeof wish - 1) != 0 || (at[6] != ' ' && at[6] != '\t'))
		return false;
	if (heard.len == 0) /* it hung up: no request, or a body that did not come */
		return true;
	r = json_read(heard.text, heard.len, true);
	PROMISE(r.count >= 6 && r.items[0].kind == '{' && r.items[1].kind == 'k' && r.items[3].kind == 'k');
	json_read_clear(&r);
	return true;
}

/* The whole reply to a command, as resolver-control --json shows it when the daemon makes none. */
static void check_json(const uint8_t *at, size_t len)
{
	static const char head[] = "UBCT1 ";
	char word[64];
	size_t n = 0;

	if (heard.len >= HEARD_MOST || len < sizeof(head) || memcmp(at, head, sizeof(head) - 1) != 0)
		return;
	for (at += sizeof(head) - 1, len -= sizeof(head) - 1; len && (*at == ' ' || *at == '\t'); at++)
		len--;
	if (check_own_json(at, len))
		return;
	while (n < len && n < sizeof(word) - 1 && ((at[n] >= 'a' && at[n] <= 'z') || at[n] == '_'))
		n++;
	memcpy(word, at, n);
	word[n] = '\0';
	heard.text[heard.len] = '\0';
	json_reply_check(word, heard.text, true);
}

static void say(int fd, const uint8_t *at, size_t len, size_t piece)
{
	for (unsigned i = 0; len && i < 64; i++) {
		size_t n = i == 63 ? len : MIN(piece, len);
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		at += sent;
		len -= (size_t)sent;
		turn(0);
	}
}

/* The client has said all: within a while it has its answer and the line is closed. */
static void leave(int fd)
{
	unsigned turns = 0;

	heard.len = 0;
	shutdown(fd, SHUT_WR);
	do
		turn(turns > 20 ? US_PER_MS : 0);
	while (hear(fd) && ++turns < PATIENCE);
	PROMISE(turns < PATIENCE);
	close(fd);
}

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

static void tidy(void)
{
	unlink(fixture.path);
	rmdir(fixture.folder);
}

static void begin_once(void)
{
	const char *base = getenv("TMPDIR");
	struct conf_how how = { .no_files = true, .test_switches = true };
	struct conf_report report = { 0 };
	char text[600];

	if (fixture.conf)
		return;
	hash_start(true);
	rcu_thread_join();
	log_capture(no_line, NULL);
	snprintf(fixture.folder, sizeof(fixture.folder), "%s/session-XXXXXX",
		 base && *base && strlen(base) < 40 ? base : "/tmp");
	PROMISE(mkdtemp(fixture.folder));
	snprintf(fixture.path, sizeof(fixture.path), "%s/c", fixture.folder);
	atexit(tidy);
	snprintf(
		text, sizeof(text),
		"server:\ndirectory: \"\"\nchroot: \"\"\nusername: \"\"\npidfile: "
		"\"\"\nuse-syslog: no\nauto-trust-anchor-file: \"\"\n"
		"msg-cache-size: 1m\nrrset-cache-size: 1m\nkey-cache-size: 1m\nneg-cache-size: 1m\n"
		"blocklist-directory: \"\"\nratelimit: 10\nip-ratelimit: 10\nquery-ring: 100\ntop-lists: 8\n"
		"remote-control:\ncontrol-enable: yes\ncontrol-use-cert: no\n"
		"control-interface: \"%s\"\nview:\nname: \"v\"\n",
		fixture.path);
	fixture.conf = conf_new();
	PROMISE(conf_load_text(fixture.conf, "fuzz", text, strlen(text), &how, &report) &&
		conf_check(fixture.conf, &how, &report));
	conf_report_clear(&report);
}

static void begin(void)
{
	static const struct listen_tcp_limits nobody = { .connections = 1, .idle_ms = 1000 };
	struct fault f = { 0 };

	memset(&it, 0, sizeof(it));
	it.pause.fire = enough;
	PROMISE(world_begin(&it.world, conf_copy(fixture.conf), 1000, &f));
	it.workers[0] = it.world.worker;
	it.daemon = (struct daemon){ .how = { .program = "fuzz", .conf_path = "/" },
				     .loop = loop_new(),
				     .snapshot = it.world.snapshot,
				     .caches = it.world.caches,
				     .workers = it.workers,
				     .worker_count = 1 };
	it.daemon.leases = leases_new(it.daemon.loop);
	it.daemon.cache_keeper = cache_keeper_new(it.daemon.loop, &it.daemon.caches);
	it.daemon.forgetting = forgetting_new(&it.daemon);
	it.daemon.dnstap = dnstap_new(1);
	it.daemon.querypipe = querypipe_new(1);
	/* nobody comes there; the worker frees it */
	it.workers[0]->listen_tcp = listen_tcp_new(it.world.loop, NULL, NULL, &nobody);
	it.daemon.control = control_open(&it.daemon, commands, &f);
	PROMISE(it.daemon.control);
}

static void end(void)
{
	control_close(it.daemon.control);
	leases_free(it.daemon.leases);
	forgetting_free(it.daemon.forgetting);
	cache_keeper_free(it.daemon.cache_keeper);
	changes_clear(&it.daemon.changes);
	it.world.snapshot = it.daemon.snapshot;
	world_end(&it.world);
	dnstap_free(it.daemon.dnstap);
	querypipe_free(it.daemon.querypipe);
	loop_free(it.daemon.loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t how = len ? data[0] : 0;
	int fd, other = -1;

	if (len < 2 || len > INPUT_MOST)
		return 0;
	data++, len--;
	begin_once();
	begin();
	for (unsigned i = 0; len && i < SESSIONS_MOST; i++) {
		const uint8_t *stop = memchr(data, END, len);
		size_t n = stop ? (size_t)(stop - data) : len;

		if (!is_left_out(data, n)) {
			fd = come();
			say(fd, data, n, 1 + (how & 0x3f) * 8u);
			if (how & 0x80 && other < 0) {
				other = fd; /* hangs on while others are served */
			} else if (how & 0x40 && i % 2) {
				close(fd); /* does not wait for its answer */
				turn(0);
			} else {
				leave(fd);
				check_json(data, n);
			}
		}
		n += stop != NULL;
		data += n;
		len -= n;
	}
	if (other >= 0)
		leave(other);
	end();
	return 0;
}
