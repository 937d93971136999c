/* resolver-control: sends one command to the daemon and shows its reply.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Speaks the protocol of unbound-control, so that either program can drive either daemon. */
#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/tools/control_json.h"
#include "daemon/tools/control_man.h"
#include "services/config/tls.h"
#include "services/net/interfaces.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/conf/options.h"
#include "util/net/addr.h"
#include "util/net/stream.h"
#include "util/net/tls.h"

#define CONNECT_MS   5000
#define EXIT_STOPPED 3 /* of "status" when the daemon is not running */

struct client {
	const char *program;
	const char *conf_path;
	const char *server; /* -s, or NULL */
	bool quiet, json;
};

static void complain(const struct client *c, const char *what)
{
	fprintf(stderr, "%s: %s\n", c->program, what);
}

/* The daemon's table of commands, without their handlers. A topic has no help. */
static const struct {
	const char *word, *args, *place, *help;
} known[] = {
#define CMD(word_, args_, place_, help_) \
	{ .word = #word_, .args = args_, .place = #place_, .help = help_ },
#define TOPIC(title) { .word = title },
#include "daemon/control/control.def"
#undef CMD
};

#define ARGS_WIDTH 42 /* of the column of commands in the usage text */

static void print_usage(const char *program)
{
	printf("usage:  %s [options] command [arguments]\n"
	       "\tcontrol a running %s.\n"
	       "-c file\tconfig file, default is %s\n"
	       "-s server\taddress, address@port or path of the socket, instead of the config "
	       "file's\n"
	       "-q\tquiet: print nothing unless it fails\n"
	       "--json\tprint the reply as a JSON object\n"
	       "--man\tprint the commands as in the manual page\n"
	       "-V, --version\tprint the version\n"
	       "-h, --help, help\tthis help.\n"
	       "Commands:\n"
	       "  %-*s  %s\n",
	       program, PACKAGE_NAME, CONF_FILE, ARGS_WIDTH, "start", "start the daemon");
	for (size_t i = 0; i < COUNT(known); i++) {
		char line[80];

		if (!known[i].help) {
			printf("\n%s\n", known[i].word);
			continue;
		}
		snprintf(line, sizeof line, "%s %s", known[i].word, known[i].args);
		if (strlen(line) > ARGS_WIDTH)
			printf("  %s\n  %*s  %s\n", line, ARGS_WIDTH, "", known[i].help);
		else
			printf("  %-*s  %s\n", ARGS_WIDTH, line, known[i].help);
	}
	printf("Version %s\n", PACKAGE_VERSION);
}

/* ---- the server's address ---- */

struct place {
	struct sockaddr_storage at;
	socklen_t len;
	struct tls_client *tls; /* NULL: no TLS */
	char text[128];         /* for people */
};

static bool place_path(struct place *p, const char *path, struct fault *f)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof sun.sun_path) {
		fault_set(f, "the path %s is too long for a socket", path);
		return false;
	}
	memcpy(sun.sun_path, path, strlen(path) + 1);
	memcpy(&p->at, &sun, sizeof sun);
	snprintf(p->text, sizeof p->text, "%s", path);
	p->len = sizeof sun;
	return true;
}

/* A server listening on the wildcard address is reached by loopback. */
static void mend_wildcard(struct addr *a)
{
	static const uint8_t zeros[16];

	if (memcmp(a->ip, zeros, sizeof zeros) != 0)
		return;
	if (a->family == 4)
		a->ip[0] = 127, a->ip[3] = 1;
	else
		a->ip[15] = 1;
}

static void put_first(void *addr, const struct addr *a)
{
	struct addr *first = addr;

	if (!first->family)
		*first = *a;
}

/* An address, or the first of an interface of this host. */
static bool find_address(struct addr *a, const char *text, const struct conf *conf, struct fault *f)
{
	uint16_t port = (uint16_t)conf->remote_control.control_port;

	if (addr_parse(a, text, port, NULL))
		return true;
	*a = (struct addr){ .family = 0 };
	if (!interface_expand(text, port, conf->server.do_ip4, conf->server.do_ip6, put_first, a, f))
		return false;
	if (!a->family)
		fault_set(f, "the interface %s has no address", text);
	return a->family;
}

static bool find_place(struct place *p, const struct client *c, const struct conf *conf,
		       struct fault *f)
{
	const struct conf_remote_control *r = &conf->remote_control;
	const char *text = conf->server.do_ip4 ? "127.0.0.1" : "::1";
	struct addr a;
	bool tls;

	if (r->control_interface.count)
		text = r->control_interface.items[0].text;
	tls = r->control_use_cert && *text != '/';
	if (c->server)
		text = c->server;
	if (*text == '/')
		return place_path(p, text, f);
	if (!find_address(&a, text, conf, f))
		return false;
	mend_wildcard(&a);
	(void)addr_print(&a, 0, p->text);
	p->len = addr_to_sockaddr(&a, &p->at);
	p->tls = tls ? tls_conf_control_client(conf, f) : NULL;
	return p->tls || !tls;
}

/* ---- the conversation ---- */

/* A path says EAGAIN while as many wait there as may: it comes to us, too. */
static int connect_patiently(int fd, const struct place *p)
{
	int r = -1;

	for (int ms = 0; ms < CONNECT_MS; ms += 10) {
		r = connect(fd, (const struct sockaddr *)&p->at, p->len);
		if (r == 0 || errno != EAGAIN)
			break;
		(void)poll(NULL, 0, 10);
		errno = EAGAIN;
	}
	return r;
}

static int connect_in_time(const struct place *p)
{
	int fd = socket(p->at.ss_family, SOCK_STREAM, 0), error = 0;
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof error;

	if (fd < 0)
		return -1;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	if (connect_patiently(fd, p) != 0) {
		if (errno != EINPROGRESS)
			error = errno;
		else if (poll(&ready, 1, CONNECT_MS) <= 0)
			error = ETIMEDOUT;
		else
			(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* Wait until the socket is ready for `event`, or for what TLS needs next. */
static bool wait_for(const struct stream *s, short event)
{
	struct pollfd ready = { .fd = s->fd, .events = event };

	if (s->tls)
		ready.events = stream_wants_write(s) ? POLLOUT : POLLIN;
	return poll(&ready, 1, -1) > 0 || errno == EINTR;
}

static bool send_bytes(struct stream *s, const char *at, size_t len)
{
	while (len) {
		ssize_t n = stream_write(s, at, len);

		if (n < 0 && (!stream_is_not_now(errno) || !wait_for(s, POLLOUT)))
			return false;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return true;
}

static bool send_text(struct stream *s, const char *text)
{
	return send_bytes(s, text, strlen(text));
}

/* Like a blocking read(2). */
static ssize_t take_bytes(struct stream *s, char *to, size_t room)
{
	ssize_t n;

	while ((n = stream_read(s, to, room)) < 0)
		if (!stream_is_not_now(errno) || !wait_for(s, POLLIN))
			return -1;
	return n;
}

#define WISH "--json"

/* The request line; each word is preceded by a blank, as unbound-control sends them. */
static bool send_command(struct stream *s, char **words, bool json)
{
	bool ok = send_text(s, "UBCT1 ") && (!json || send_text(s, " " WISH));

	for (; ok && *words; words++)
		ok = send_text(s, " ") && send_text(s, *words);
	return ok && send_text(s, "\n");
}

/* Whether the command takes lines of input. */
static bool has_body(const char *word)
{
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i].help && strcmp(known[i].word, word) == 0)
			return strcmp(known[i].place, "BODY") == 0;
	return false;
}

/* Send the standard input, then the end mark. A dump ends with its own "EOF" line, after which
 * nothing may follow. */
static bool send_body(struct stream *s, bool is_dump)
{
	char bytes[1024];
	bool at_begin = true, ended = false;

	while (!ended && fgets(bytes, sizeof bytes, stdin)) {
		if (!send_text(s, bytes))
			return false;
		ended = is_dump && at_begin && strcmp(bytes, "EOF\n") == 0;
		at_begin = strchr(bytes, '\n');
	}
	/* An unterminated last line still counts as a line. */
	return ended || ((at_begin || send_text(s, "\n")) && send_text(s, "\004\n"));
}

/* Print the reply: 1 if it is an error, otherwise 0; -1 if reading failed. `quiet`: print
 * errors only. */
static int show_reply(struct stream *s, bool quiet)
{
	char bytes[4096];
	size_t begin = 0;
	bool failed = false, is_known = false;
	ssize_t n;

	while ((n = take_bytes(s, bytes + begin, sizeof bytes - 1 - begin)) != 0) {
		size_t len;

		if (n < 0)
			return -1;
		len = begin + (size_t)n;
		if (!is_known && len < 6 && memcmp(bytes, "error", MIN(len, 5u)) == 0) {
			begin = len;
			continue;
		}
		bytes[len] = '\0';
		failed = is_known ? failed : control_is_error(bytes);
		is_known = true;
		begin = 0;
		if (!quiet || failed)
			fwrite(bytes, 1, len, stdout);
	}
	bytes[begin] = '\0'; /* what was too short to check */
	failed = is_known ? failed : control_is_error(bytes);
	if (!quiet || failed)
		fwrite(bytes, 1, begin, stdout);
	fflush(stdout);
	return failed;
}

#define NO_JSON 2 /* the daemon does not know the wish */

/* `json`: it was asked for. A daemon that does not make any (Unbound) says which command it does not know. */
static int show_whole(const char *command, char *reply, bool json)
{
	static const char unknown[] = "error unknown command '" WISH;
	int result = control_is_error(reply);

	if (json && *reply == '{') {
		fputs(reply, stdout);
		return control_json_failed(reply);
	}
	if (json && strncmp(reply, unknown, sizeof unknown - 1) == 0 && !has_body(command))
		return NO_JSON;
	control_json(stdout, command, reply);
	return result;
}

/* Likewise, but print the whole reply as JSON, once it is complete. */
static int show_json(struct stream *s, const char *command, bool json)
{
	size_t len = 0, room = 0;
	char *reply = NULL;
	int result = -1;
	ssize_t n;

	do {
		if (room - len < 2) {
			room = room ? 2 * room : 65536;
			reply = mem_grow(reply, room);
		}
		n = take_bytes(s, reply + len, room - len - 1);
		len += (size_t)MAX(n, 0);
	} while (n > 0);
	reply[len] = '\0';
	if (n == 0)
		result = show_whole(command, reply, json);
	mem_free(reply);
	return result;
}

static int cannot_connect(const struct client *c, const struct place *p, bool asks_status)
{
	if (asks_status && errno == ECONNREFUSED) {
		if (!c->quiet)
			printf("%s is stopped\n", strncmp(c->program, "unbound", 7) == 0 ? "unbound" : DAEMON_NAME);
		return EXIT_STOPPED;
	}
	fprintf(stderr, "%s: cannot connect to the daemon at %s: %s\n", c->program, p->text,
		strerror(errno));
	return 1;
}

static bool begin_tls(struct stream *s, struct tls_client *tls, struct fault *f)
{
	struct tls_call call = { .fd = s->fd, .place = "the daemon", .must_verify = true };

	if (tls)
		s->tls = tls_connect(tls, &call, f);
	return s->tls || !tls;
}

/* A daemon that refuses a command does not wait for its input: what it said is read although sending failed, and
 * the failure is the result if it said nothing of an error. */
static int exchange(const struct client *c, struct stream *s, char **words, bool json)
{
	bool sent = send_command(s, words, json) &&
		    (!has_body(words[0]) || send_body(s, strcmp(words[0], "load_cache") == 0));
	int error = errno, result;

	if (!sent && error != EPIPE && error != ECONNRESET)
		return -1;
	result = c->json ? show_json(s, words[0], json) : show_reply(s, c->quiet);
	if (sent || result > 0)
		return result;
	errno = error;
	return -1;
}

/* `json`: ask for it. */
static int converse(const struct client *c, const struct place *p, char **words, bool json)
{
	struct stream s = { .fd = connect_in_time(p) };
	struct fault f = { 0 };
	int result = -1;

	if (s.fd < 0)
		return cannot_connect(c, p, strcmp(words[0], "status") == 0);
	if (begin_tls(&s, p->tls, &f))
		result = exchange(c, &s, words, json);
	if (result < 0)
		fprintf(stderr, "%s: the daemon broke off: %s\n", c->program,
			f.set   ? f.text
			: s.tls ? tls_why(s.tls)
				: strerror(errno));
	stream_close(&s);
	if (result == NO_JSON)
		return converse(c, p, words, false);
	return result ? 1 : 0;
}

/* ---- the command line ---- */

static struct conf *read_conf(const struct client *c, struct fault *f)
{
	struct conf_how how = { .no_files = true };
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();

	if (!conf_load_file(conf, c->conf_path, &how, &report)) {
		conf_report_fault(&report, f);
		fault_set(f, "%s cannot be used", c->conf_path);
		conf_free(conf);
		conf = NULL;
	}
	conf_report_clear(&report);
	return conf;
}

static int start_daemon(const struct client *c)
{
	execlp(DAEMON_NAME, DAEMON_NAME, "-c", c->conf_path, (char *)NULL);
	fprintf(stderr, "%s: cannot start %s: %s\n", c->program, DAEMON_NAME, strerror(errno));
	return 1;
}

static int command(const struct client *c, char **words)
{
	struct fault f = { 0 };
	struct place place = { .len = 0 };
	struct conf *conf;
	bool found;
	int code;

	if (strcmp(words[0], "start") == 0)
		return start_daemon(c);
	conf = read_conf(c, &f);
	found = conf && find_place(&place, c, conf, &f);
	if (conf && !conf->remote_control.control_enable)
		complain(c,
			 "control-enable is 'no' in the config file: the daemon does not listen");
	conf_free(conf);
	if (!found) {
		complain(c, f.text);
		return 1;
	}
	code = converse(c, &place, words, c->json);
	tls_client_unpin(place.tls);
	return code;
}

int main(int argc, char **argv)
{
	struct client c = { .program = program_name(argv, "resolver-control"),
			    .conf_path = CONF_FILE };
	static const struct option long_options[] = { { "json", no_argument, NULL, 'j' },
						      { "man", no_argument, NULL, 'm' },
						      { "version", no_argument, NULL, 'V' },
						      { "help", no_argument, NULL, 'H' },
						      { NULL, 0, NULL, 0 } };
	int option;

	hash_start(false);
	(void)signal(SIGPIPE, SIG_IGN);
	while ((option = getopt_long(argc, argv, "+c:s:qhjV", long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			c.conf_path = optarg;
			break;
		case 's':
			c.server = optarg;
			break;
		case 'j':
			c.json = true;
			break;
		case 'q':
			c.quiet = true;
			break;
		case 'V':
			return program_print_version() ? 0 : 1;
		case 'H':
			print_usage(c.program);
			return 0;
		case 'm':
			control_man(stdout);
			return fflush(stdout) == 0 ? 0 : 1;
		default:
			print_usage(c.program);
			return 1;
		}
	}
	if (optind == argc) {
		print_usage(c.program);
		return 1;
	}
	if (strcmp(argv[optind], "help") == 0) {
		print_usage(c.program);
		return 0;
	}
	return command(&c, argv + optind);
}
