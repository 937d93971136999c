/* Claims about connections of the control channel: who is let in, what is read, who makes room for others.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/tests/fixture.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "daemon/worker/worker.h"
#include "services/config/tls.h"
#include "services/local/zones.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "util/dns/rr.h"
#include "util/net/tls.h"

#define SOCKET    " control-interface: %/s\n"
#define ASK       "UBCT1 get_option control-enable\n"
#define ANSWER    "yes\n|"
#define BODY      "UBCT1 view_local_datas v\n"
#define ASK_TIME  (120 * US_PER_S)
#define TAKE_TIME (60 * US_PER_S)
#define REST_TIME (1 * US_PER_S)
#define TURN_TIME (5 * US_PER_S)

enum { MOST = 32 };

/* Whether the view has records of that name. */
static bool is_held(const char *name)
{
	struct view *v = views_find(fixture.daemon.snapshot->policy->views, "v");
	struct localzones *zones = v ? atomic_load(&v->zones) : NULL;

	return zones && localzones_records_at(zones, N(name), CLASS_IN) > 0;
}

/* ---- requests ---- */

static void a_command_is_known_by_its_whole_word(void **state)
{
	(void)state;
	static const struct {
		const char *request, *said;
	} rows[] = {
		{ ASK, ANSWER },
		{ "UBCT1 get_option\tcontrol-enable\n", ANSWER },
		{ "UBCT1 get_optio control-enable\n", "error unknown command 'get_optio control-enable'\n|" },
		{ "UBCT1 get_options control-enable\n", "error unknown command 'get_options control-enable'\n|" },
		{ "UBCT1 GET_OPTION control-enable\n", "error unknown command 'GET_OPTION control-enable'\n|" },
		{ "UBCT1 \n", "error unknown command ''\n|" },
		{ "UBCT2 get_option control-enable\n", "error version mismatch\n|" },
		{ "GET / HTTP/1.1\n", "|" },
		{ "UBCT1 get_option", "" },
	};

	fixture_open(SOCKET);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *said = answer_to("s", rows[i].request);

		if (strncmp(said, rows[i].said, strlen(rows[i].said)) != 0 || !*said != !*rows[i].said)
			fail_msg("%s: %s", rows[i].request, said);
	}
	fixture_close();
}

static void a_request_and_its_body_may_come_in_pieces(void **state)
{
	static const char *const pieces[] = { "UB", "CT1 view_local", "_datas v\na.test. A 192.0.2.1\nb.te",
					      "st. A 192.0.2.2\n", "c.test. A 192.0.2.3\r\n" };
	static const char *const ends[] = { "\n", "\r\n", "\4\n" };
	int fd;

	(void)state;
	fixture_open(SOCKET);
	for (size_t e = 0; e < COUNT(ends); e++) {
		fd = dial("s");
		for (size_t i = 0; i < COUNT(pieces); i++) {
			tell(fd, pieces[i]);
			assert_string_equal(heard(fd), "");
		}
		tell(fd, ends[e]);
		assert_string_equal(heard(fd), "added 3 datas\n|");
		close(fd);
	}
	fixture_close();
}

static void a_body_ends_where_its_sender_does(void **state)
{
	int fd;

	(void)state;
	fixture_open(SOCKET);
	fd = dial("s");
	tell(fd, BODY "a.test. A 192.0.2.1\nb.test. A 192.0.2.2");
	assert_string_equal(heard(fd), "");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(heard(fd), "added 2 datas\n|");
	close(fd);
	fixture_close();
}

/* ---- time ---- */

static void who_says_nothing_is_not_waited_for_for_ever(void **state)
{
	(void)state;
	static const struct {
		const char *why, *sent;
		uint64_t most_us;
		const char *said;
	} rows[] = {
		{ "nothing", "", ASK_TIME, "|" },
		{ "half a request", "UBCT1 get_opt", ASK_TIME, "|" },
		{ "half a body", BODY "a.test. A 192.0.2.1\nb.te", ASK_TIME, "added 1 datas\n|" },
	};

	fixture_open(SOCKET);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int fd = dial("s");

		rounds();
		later(rows[i].most_us / 2); /* a request has so long as a whole, a body since its last line */
		tell(fd, rows[i].sent);
		rounds();
		later((strncmp(rows[i].sent, BODY, 9) == 0 ? rows[i].most_us : rows[i].most_us / 2) - 1);
		if (*heard(fd))
			fail_msg("%s: too early", rows[i].why);
		later(1);
		assert_string_equal(heard(fd), rows[i].said);
		close(fd);
	}
	fixture_close();
}

/* Takes what has come. False: it was closed, and "added" is the end of a whole reply. */
static bool take_all(int fd, bool *whole)
{
	static char text[65536];
	ssize_t n, last = 0;

	while ((n = recv(fd, text, sizeof text - 1, 0)) > 0)
		last = n;
	text[last] = '\0';
	*whole = last >= 14 && strcmp(text + last - 14, "added 0 datas\n") == 0;
	return n < 0;
}

/* What is wrong with a line is told with the line: a long reply. */
static void who_takes_nothing_is_not_waited_for_for_ever(void **state)
{
	static char line[1800];
	bool whole;
	int fd;

	(void)state;
	memset(line, 'z', sizeof line);
	line[sizeof line - 1] = '\n';
	for (unsigned takes = 0; takes < 2; takes++) {
		fixture_open(SOCKET);
		fd = dial("s");
		tell(fd, BODY);
		for (unsigned i = 0; i < 500; i++)
			while (send(fd, line, sizeof line, MSG_NOSIGNAL) < 0)
				rounds();
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		rounds();
		for (unsigned i = 0; i < 2; i++) { /* whoever takes a part has as long for the next */
			later(TAKE_TIME - 1);
			assert_true(take_all(fd, &whole));
			assert_false(whole);
			rounds();
		}
		later(TAKE_TIME - takes);
		while (take_all(fd, &whole))
			rounds();
		assert_int_equal(whole, takes);
		close(fd);
		fixture_close();
	}
}

/* A worker that takes no turn, and its loop. */
static void fixture_has_a_stuck_worker(void)
{
	static struct worker *workers[1];

	workers[0] = mem_zero(sizeof *workers[0]);
	workers[0]->env.loop = loop_new_played();
	fixture.daemon.workers = workers;
	fixture.daemon.worker_count = 1;
}

static void fixture_has_none(void)
{
	struct worker *w = fixture.daemon.workers[0];

	fixture.daemon.worker_count = 0;
	fixture_close();
	loop_free(w->env.loop);
	mem_free(w);
}

static void a_worker_that_takes_no_turn_is_not_waited_for_for_ever(void **state)
{
	int fd;

	(void)state;
	fixture_open(SOCKET);
	fixture_has_a_stuck_worker();
	fd = dial("s");
	tell(fd, "UBCT1 stats_noreset\n");
	assert_string_equal(heard(fd), "");
	later(TURN_TIME);
	later(TURN_TIME - 1);
	assert_string_equal(heard(fd), "");
	later(1);
	assert_string_equal(heard(fd), "error thread 0 has not responded for more than 5 s: the command continues when it does\n|");
	close(fd);
	fixture_has_none();
}

/* ---- room ---- */

/* Clients, and which of them were closed. */
static struct {
	int fd;
	bool gone;
} clients[MOST + 2];

static void client_comes(unsigned at, const char *sent)
{
	clients[at].fd = dial("s");
	clients[at].gone = false;
	tell(clients[at].fd, sent);
	rounds();
}

/* A letter for each that was closed since the last look; what they heard, with a | each, in `said`. */
static const char *closed_since(unsigned count, char said[100])
{
	static char which[MOST + 3];
	unsigned n = 0;

	*said = '\0';
	for (unsigned i = 0; i < count; i++) {
		const char *text = clients[i].gone ? "" : heard(clients[i].fd);

		if (strchr(text, '|')) {
			clients[i].gone = true;
			which[n++] = (char)('A' + i);
			snprintf(said + strlen(said), 100 - strlen(said), "%s", text);
		}
	}
	which[n] = '\0';
	return which;
}

static void who_was_silent_for_longest_makes_room(void **state)
{
	(void)state;
	static const struct {
		const char *why, *sent;
		const char *first_sent; /* by the first one, with that */
		const char *speaks; /* what the second says when all have come */
		const char *comes;  /* what each further one says */
		const char *first, *second; /* who goes */
	} rows[] = {
		{ "all are silent", "", "", "", "", "A", "B" },
		{ "a request that is not complete counts as silence", "UBCT1 get", "", "_opt", "", "A", "B" },
		{ "lines of a body count as speech", BODY "a.test. A 192.0.2.1\n", "", "b.test. A 192.0.2.2\n", BODY, "A",
		  "C" },
		{ "who has asked nothing goes before whose body is not complete", BODY "a.test. A 192.0.2.1\n", "", "", "",
		  "A", "a" },
		{ "who has just come is not who was silent for longest", BODY, "a.test. A 192.0.2.1\n", "", BODY, "A", "B" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char said[100];

		fixture_open(SOCKET);
		for (unsigned k = 0; k < MOST; k++) {
			client_comes(k, rows[i].sent);
			tell(clients[0].fd, k == 0 ? rows[i].first_sent : "");
			rounds();
		}
		tell(clients[1].fd, rows[i].speaks);
		if (*closed_since(MOST, said))
			fail_msg("%s: closed though there was room", rows[i].why);
		for (unsigned k = MOST; k < MOST + 2; k++) {
			const char *want = k == MOST ? rows[i].first : rows[i].second;
			const char *who;

			client_comes(k, rows[i].comes);
			who = closed_since(k + 1, said);
			if (strcmp(who, want) != 0 || strcmp(said, "|") != 0)
				fail_msg("%s: %s instead of %s, which heard %s", rows[i].why, who, want, said);
		}
		for (unsigned k = 0; k < MOST + 2; k++)
			close(clients[k].fd);
		rounds();
		assert_int_equal(is_held("a.test."),
				 strstr(rows[i].sent, "a.test.") || strstr(rows[i].first_sent, "a.test."));
		fixture_close();
	}
}

static void who_is_being_served_makes_no_room(void **state)
{
	char said[100];

	(void)state;
	fixture_open(SOCKET);
	fixture_has_a_stuck_worker();
	for (unsigned k = 0; k < MOST; k++)
		client_comes(k, "UBCT1 stats_noreset\n");
	client_comes(MOST, ASK);
	assert_string_equal(closed_since(MOST + 1, said), "a");
	assert_string_equal(said, "|");
	for (unsigned k = 0; k <= MOST; k++)
		close(clients[k].fd);
	fixture_has_none();
}

/* ---- over TLS ---- */

#define OVER_TLS " control-interface: 127.0.0.1\n control-port: !\n"
#define SERVER   " server-key-file: %/ca.key\n server-cert-file: %/ca.pem\n"
#define GOOD     " control-key-file: %/good.key\n control-cert-file: %/good.pem\n"

/* -1: nobody listens. */
static int try_tcp(void)
{
	struct sockaddr_storage ss;
	struct addr at = { .family = 4, .ip = { 127, 0, 0, 1 }, .port = (uint16_t)fixture.port };
	socklen_t len = addr_to_sockaddr(&at, &ss);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(fd, (struct sockaddr *)&ss, len) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	close(fd);
	return -1;
}

static int dial_tcp(void)
{
	int fd = try_tcp();

	assert_true(fd >= 0);
	return fd;
}

struct caller {
	int fd;
	struct tls_client *client;
	struct tls *tls;
};

/* With the files that `files` names; NULL: without a certificate. */
static void call_up(struct caller *c, const char *files)
{
	struct fault f = { 0 };
	char path[160];

	c->fd = dial_tcp();
	if (files) {
		struct conf *conf = fixture_conf(files);

		c->client = tls_conf_control_client(conf, &f);
		conf_free(conf);
	} else {
		snprintf(path, sizeof path, "%s", in_folder("ca.pem"));
		c->client = tls_client_new(&(struct tls_client_how){ .bundle.path = path }, &f);
		assert_true(tls_client_load(c->client, &f));
	}
	c->tls = c->client ? tls_connect(c->client, &(struct tls_call){ .fd = c->fd, .place = "here", .must_verify = true }, &f)
			   : NULL;
	if (!c->tls)
		fail_msg("%s", f.text);
	for (unsigned i = 0; i < 4 && tls_shake(c->tls) < 0 && errno == EAGAIN; i++)
		rounds();
}

static void call_off(struct caller *c)
{
	tls_free(c->tls);
	tls_client_unpin(c->client);
	close(c->fd);
}

/* As much as goes out at once, before anybody reads. */
static void caller_tells(struct caller *c, const char *text, size_t len)
{
	while (len) {
		ssize_t n = tls_write(c->tls, text, len);

		if (n < 0 && errno != EAGAIN)
			return; /* not let in */
		if (n < 0)
			rounds();
		text += MAX(n, 0);
		len -= (size_t)MAX(n, 0);
	}
	rounds();
}

static const char *caller_heard(struct caller *c)
{
	static char text[4096];
	size_t len = 0;
	ssize_t n;

	do {
		rounds();
		n = tls_read(c->tls, text + len, sizeof text - 2 - len);
		len += (size_t)MAX(n, 0);
	} while (n > 0);
	if (n == 0 || errno != EAGAIN)
		text[len++] = '|';
	text[len] = '\0';
	return text;
}

static void who_has_no_certificate_of_ours_is_told_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *why, *files, *said;
	} rows[] = {
		{ "signed by the server's", SERVER GOOD, ANSWER },
		{ "the server's own", SERVER " control-key-file: %/ca.key\n control-cert-file: %/ca.pem\n", ANSWER },
		{ "none", NULL, "|" },
		{ "signed by another", SERVER " control-key-file: %/stranger.key\n control-cert-file: %/stranger.pem\n", "|" },
		{ "expired", SERVER " control-key-file: %/old.key\n control-cert-file: %/old.pem\n", "|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *said;
		struct caller c;

		fixture_open(OVER_TLS SERVER);
		assert_string_equal(control_kind(fixture.daemon.control), " control(ssl)");
		call_up(&c, rows[i].files);
		caller_tells(&c, ASK, strlen(ASK));
		said = caller_heard(&c);
		if (strcmp(said, rows[i].said) != 0)
			fail_msg("%s: %s", rows[i].why, said);
		call_off(&c);
		fixture_close();
	}
}

static void who_speaks_no_tls_is_told_nothing(void **state)
{
	int fd;
	char text[10];

	(void)state;
	fixture_open(OVER_TLS SERVER);
	fd = dial_tcp();
	tell(fd, ASK ASK);
	rounds();
	while (recv(fd, text, 1, 0) > 0)
		assert_true(*text < 'A' || *text > 'z'); /* at most an alert */
	rounds();
	assert_true(recv(fd, text, 1, 0) <= 0 && errno != EAGAIN);
	close(fd);
	fixture_close();
}

static void a_body_of_any_size_comes_through_tls(void **state)
{
	static char body[90000] = BODY;
	size_t len = strlen(body), head = len;
	struct caller c;

	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		len += (size_t)sprintf(body + len, "n%u.test. A 192.0.2.1\n", i);
	fixture_open(OVER_TLS SERVER);
	call_up(&c, SERVER GOOD);
	caller_tells(&c, body, 3);
	caller_tells(&c, body + 3, head - 3);
	assert_string_equal(caller_heard(&c), "");
	body[len++] = '\n';
	caller_tells(&c, body + head, len - head);
	assert_string_equal(caller_heard(&c), "added 3000 datas\n|");
	call_off(&c);
	fixture_close();
}

/* Lines that have come count, however their sender goes. */
static void what_breaks_in_the_middle_of_a_body_only_ends_it(void **state)
{
	static const char text[] = BODY "a.test. A 192.0.2.1\n";
	struct caller c;

	(void)state;
	fixture_open(OVER_TLS SERVER);
	call_up(&c, SERVER GOOD);
	caller_tells(&c, text, strlen(text));
	assert_string_equal(caller_heard(&c), "");
	tell(c.fd, "this is no record of TLS, but garbage");
	rounds();
	call_off(&c);
	assert_true(is_held("a.test."));
	fixture_close();
}

static void other_certificates_count_from_a_reload_on(void **state)
{
	struct caller old, new;

	(void)state;
	fixture_open(OVER_TLS SERVER);
	call_up(&old, SERVER GOOD);
	fixture_configure(OVER_TLS " server-key-file: %/other.key\n server-cert-file: %/other.pem\n");
	control_reopen(fixture.daemon.control);
	caller_tells(&old, BODY, strlen(BODY));
	call_up(&new, SERVER GOOD);
	caller_tells(&new, ASK, strlen(ASK));
	assert_string_equal(caller_heard(&new), "|");
	caller_tells(&old, "\n", 1);
	assert_string_equal(caller_heard(&old), "added 0 datas\n|");
	call_off(&old);
	call_off(&new);

	/* nor does a file that is not there close the channel, or open it to everybody */
	fixture_configure(OVER_TLS " server-key-file: %/none.key\n server-cert-file: %/other.pem\n");
	control_reopen(fixture.daemon.control);
	assert_string_equal(control_kind(fixture.daemon.control), " control(ssl)");
	fixture_close();
}

/* Where the channel stays open because it cannot be opened elsewhere, it takes no one in who was not let in before. */
static void what_fails_half_way_opens_nothing(void **state)
{
	int fd;

	(void)state;
	fixture_open(OVER_TLS SERVER);
	fixture_configure(" control-interface: %/none/of/s\n");
	control_reopen(fixture.daemon.control);
	fd = dial_tcp();
	tell(fd, ASK);
	if (strstr(heard(fd), "yes"))
		fail_msg("whoever connects is served");
	close(fd);
	assert_string_equal(control_kind(fixture.daemon.control), " control(ssl)");
	fixture_close();

	fixture_open(SOCKET);
	fixture_configure(OVER_TLS " control-interface: %/t\n control-interface: %/none/of/s\n" SERVER);
	control_reopen(fixture.daemon.control);
	assert_string_equal(answer_to("t", ASK), "nobody there");
	assert_int_not_equal(access(in_folder("t"), F_OK), 0);
	assert_int_equal(try_tcp(), -1);
	assert_string_equal(answer_to("s", ASK), ANSWER);
	fixture_close();
}

static void without_its_files_the_channel_does_not_open(void **state)
{
	(void)state;
	assert_false(fixture_opens(OVER_TLS " server-key-file: %/none.key\n server-cert-file: %/ca.pem\n"));
	assert_non_null(strstr(fixture.fault.text, "none.key"));
	fixture_close();
	fixture_open(OVER_TLS " control-use-cert: no\n server-key-file: %/none.key\n");
	assert_string_equal(control_kind(fixture.daemon.control), " control");
	fixture_close();
}

static int begin(void **state)
{
	int bad = fixture_begin(state);
	FILE *f = ca_create(&fixture.ca, "ca.key");

	PEM_write_PrivateKey(f, fixture.ca.key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	f = ca_create(&fixture.ca, "other.key");
	PEM_write_PrivateKey(f, fixture.ca.other_key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	ca_issue(&fixture.ca, "good", "DNS:good.test", false, -1, 30);
	ca_issue(&fixture.ca, "old", "DNS:good.test", false, -30, -1);
	ca_issue(&fixture.ca, "stranger", "DNS:good.test", true, -1, 30);
	return bad;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_known_by_its_whole_word),
		cmocka_unit_test(a_request_and_its_body_may_come_in_pieces),
		cmocka_unit_test(a_body_ends_where_its_sender_does),
		cmocka_unit_test(who_says_nothing_is_not_waited_for_for_ever),
		cmocka_unit_test(who_takes_nothing_is_not_waited_for_for_ever),
		cmocka_unit_test(a_worker_that_takes_no_turn_is_not_waited_for_for_ever),
		cmocka_unit_test(who_was_silent_for_longest_makes_room),
		cmocka_unit_test(who_is_being_served_makes_no_room),
		cmocka_unit_test(who_has_no_certificate_of_ours_is_told_nothing),
		cmocka_unit_test(who_speaks_no_tls_is_told_nothing),
		cmocka_unit_test(a_body_of_any_size_comes_through_tls),
		cmocka_unit_test(what_breaks_in_the_middle_of_a_body_only_ends_it),
		cmocka_unit_test(other_certificates_count_from_a_reload_on),
		cmocka_unit_test(what_fails_half_way_opens_nothing),
		cmocka_unit_test(without_its_files_the_channel_does_not_open),
	};

	return cmocka_run_group_tests(tests, begin, fixture_end);
}
