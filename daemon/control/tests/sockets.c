/* Claims about the sockets of the control channel: which are opened, by whom they can be used, what stands in their way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/tests/fixture.h"

#include "daemon/control/acceptor.h"
#include "daemon/process/socket_activation.h"

#define ASK    "UBCT1 get_option control-use-cert\n"
#define ANSWER "no\n|"
#define PLAIN  " control-use-cert: no\n"
#define SOCKET PLAIN " control-interface: %/s\n"

/* ---- what stands at a path ---- */

static int other = -1, crowd[CONTROL_BACKLOG];

static void nothing(void)
{
}

static void bind_at(int kind)
{
	struct sockaddr_un sun = sun_of(in_folder("s"));

	(void)unlink(sun.sun_path);
	other = socket(AF_UNIX, kind, 0);
	assert_true(other >= 0 && bind(other, (struct sockaddr *)&sun, sizeof sun) == 0);
}

static void somebody(void)
{
	bind_at(SOCK_STREAM);
	assert_int_equal(listen(other, 5), 0);
}

static void somebody_of_another_kind(void)
{
	bind_at(SOCK_DGRAM);
}

static void somebody_with_no_room(void)
{
	size_t n = 0;

	bind_at(SOCK_STREAM);
	assert_int_equal(listen(other, 0), 0);
	while (n < COUNT(crowd) && (crowd[n] = dial("s")) >= 0)
		n++;
}

static void nobody_any_more(void)
{
	somebody();
	close(other);
	other = -1;
}

static void a_file(void)
{
	fclose(ca_create(&fixture.ca, "s"));
}

static void a_link_to_nowhere(void)
{
	assert_int_equal(symlink("nowhere", in_folder("s")), 0);
}

static void a_path_is_taken_only_from_the_dead(void **state)
{
	(void)state;
	static const struct {
		void (*what)(void);
		const char *why, *fault; /* NULL: it opens */
	} rows[] = {
		{ nothing, "nothing", NULL },
		{ nobody_any_more, "a socket that nobody listens at", NULL },
		{ somebody, "a socket of somebody", "Address already in use" },
		{ somebody_of_another_kind, "a socket of another kind", "Address already in use" },
		{ somebody_with_no_room, "a socket of somebody who is busy", "Address already in use" },
		{ a_file, "a file", "File exists" },
		{ a_link_to_nowhere, "a link", "File exists" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stat before = { 0 }, after = { 0 };
		bool opens;

		memset(crowd, -1, sizeof crowd);
		rows[i].what();
		(void)lstat(in_folder("s"), &before);
		opens = fixture_opens(SOCKET);
		(void)lstat(in_folder("s"), &after);
		if (opens != !rows[i].fault || (!opens && !strstr(fixture.fault.text, rows[i].fault)))
			fail_msg("%s: %s", rows[i].why, fixture.fault.text);
		if (!opens && (before.st_ino != after.st_ino || before.st_mode != after.st_mode))
			fail_msg("%s was touched", rows[i].why);
		if (opens)
			assert_string_equal(answer_to("s", ASK), ANSWER);
		fixture_close();
		for (size_t n = 0; n < COUNT(crowd); n++)
			if (crowd[n] >= 0)
				close(crowd[n]);
		close(other);
		other = -1;
		(void)unlink(in_folder("s"));
	}
}

static void a_folder_that_is_gone_is_made(void **state)
{
	uid_t uid = geteuid() ? geteuid() : 65534;
	struct stat st;

	(void)state;
	fixture.daemon.privileges = (struct privileges){ .change = true, .uid = uid, .gid = getegid() };
	fixture_open(PLAIN " control-interface: %/gone/s\n");
	assert_string_equal(answer_to("gone/s", ASK), ANSWER);
	assert_int_equal(stat(in_folder("gone"), &st), 0);
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_mode & S_IWOTH, 0);
	fixture_close();
	fixture.daemon.privileges = (struct privileges){ 0 };
	(void)unlink(in_folder("gone/s"));
	assert_int_equal(rmdir(in_folder("gone")), 0);
}

static void a_path_is_as_long_as_fits(void **state)
{
	struct sockaddr_un sun;
	char folder[200], path[240], line[400];

	(void)state;
	for (size_t len = sizeof sun.sun_path - 2; len <= sizeof sun.sun_path; len++) {
		bool fits = len < sizeof sun.sun_path;

		snprintf(folder, sizeof folder, "%s/", fixture.ca.folder);
		snprintf(path, sizeof path, "%s%0*d", folder, (int)(len - strlen(folder)), 0);
		assert_int_equal(strlen(path), len);
		snprintf(line, sizeof line, PLAIN " control-interface: %%%s\n", path + strlen(fixture.ca.folder));
		assert_int_equal(fixture_opens(line), fits);
		if (!fits)
			assert_non_null(strstr(fixture.fault.text, "too long"));
		fixture_close();
		(void)unlink(path);
	}
	assert_false(fixture_opens(PLAIN " control-interface: %/none/of/s\n"));
	assert_non_null(strstr(fixture.fault.text, "none/of/s: No such file"));
	fixture_close();
}

/* ---- who may use it ---- */

/* The descriptor that listens at the socket of that name; -1: none. */
static int listener_at(const char *name)
{
	const char *path = in_folder(name);

	for (int fd = 0; fd < 100; fd++) {
		struct sockaddr_un sun = { 0 };
		socklen_t len = sizeof sun;
		int listens = 0;

		if (getsockname(fd, (struct sockaddr *)&sun, &len) == 0 && sun.sun_family == AF_UNIX &&
		    strcmp(sun.sun_path, path) == 0 &&
		    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, (len = sizeof listens, &len)) == 0 && listens)
			return fd;
	}
	return -1;
}

static void a_socket_is_for_owner_and_group_alone(void **state)
{
	static const mode_t masks[] = { 0, 022, 077 };

	(void)state;
	for (size_t i = 0; i < COUNT(masks); i++) {
		mode_t before = umask(masks[i]), mask;
		struct stat st;
		int fd;

		fixture_open(SOCKET);
		mask = umask(before);
		assert_int_equal(mask, masks[i]);
		assert_int_equal(stat(in_folder("s"), &st), 0);
		assert_int_equal(st.st_mode & 07777, 0660);
		fd = listener_at("s");
		assert_true(fd >= 0);
		assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		fixture_close();
	}
}

static void a_socket_belongs_to_the_user_the_daemon_becomes(void **state)
{
	struct stat st;
	uid_t uid = geteuid() ? geteuid() : 65534;

	(void)state;
	fixture.daemon.privileges = (struct privileges){ .change = true, .uid = uid, .gid = getegid() };
	fixture_open(SOCKET);
	assert_int_equal(stat(in_folder("s"), &st), 0);
	assert_int_equal(st.st_uid, uid);
	fixture_close();
	fixture.daemon.privileges = (struct privileges){ 0 };
}

/* Standard input may have been closed by whoever started us. */
static void a_socket_may_be_descriptor_0(void **state)
{
	int saved = dup(0);

	(void)state;
	nobody_any_more();
	fixture_configure(SOCKET);
	fixture.daemon.loop = loop_new();
	close(0);
	fixture.daemon.control = control_open(&fixture.daemon, commands, &fixture.fault);
	assert_non_null(fixture.daemon.control);
	assert_int_equal(listener_at("s"), 0);
	assert_string_equal(answer_to("s", ASK), ANSWER);
	fixture_close();
	(void)dup2(saved, 0);
	close(saved);
}

/* ---- addresses ---- */

static bool anybody_at(const char *address)
{
	struct sockaddr_storage ss;
	struct addr at;
	socklen_t len;
	int fd;
	bool there;

	assert_true(addr_parse(&at, address, (uint16_t)fixture.port, NULL));
	len = addr_to_sockaddr(&at, &ss);
	fd = socket(ss.ss_family, SOCK_STREAM, 0);
	there = fd >= 0 && connect(fd, (struct sockaddr *)&ss, len) == 0;
	if (there) {
		tell(fd, ASK);
		assert_string_equal(heard(fd), ANSWER);
	}
	close(fd);
	return there;
}

static void the_channel_listens_where_the_configuration_says(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *kind;
		bool socket, other_socket, four, six;
	} rows[] = {
		{ "a path", PLAIN " control-interface: %/s\n", " control(namedpipe)", true, false, false, false },
		{ "an address", PLAIN " control-port: !\n control-interface: 127.0.0.1\n", " control", false, false, true,
		  false },
		{ "the other family", PLAIN " control-port: !\n control-interface: ::1\n", " control", false, false, false,
		  true },
		{ "loopback of both families, by default", PLAIN " control-port: !\n", " control", false, false, true, true },
		{ "an address with its port", PLAIN " control-interface: 127.0.0.1@!\n", " control", false, false, true,
		  false },
		{ "some of each", PLAIN " control-port: !\n control-interface: 127.0.0.1\n control-interface: %/s\n",
		  " control", true, false, true, false },
		{ "one of them twice", PLAIN " control-port: !\n control-interface: %/s\n control-interface: 127.0.0.1\n"
		  " control-interface: %/s\n control-interface: 127.0.0.1\n control-interface: %/t\n",
		  " control(namedpipe)", true, true, true, false },
		{ "nowhere", " control-enable: no\n", "", false, false, false, false },
	};

	for (unsigned again = 0; again < 2; again++) { /* after a start, and after a reload */
		for (size_t i = 0; i < COUNT(rows); i++) {
			bool six;

			if (!again || i == 0) {
				fixture_open(rows[i].conf);
			} else {
				fixture_configure(rows[i].conf);
				control_reopen(fixture.daemon.control);
			}
			six = anybody_at("::1");
			assert_string_equal(control_kind(fixture.daemon.control), rows[i].kind);
			if ((strcmp(answer_to("s", ASK), ANSWER) == 0) != rows[i].socket ||
			    (strcmp(answer_to("t", ASK), ANSWER) == 0) != rows[i].other_socket ||
			    anybody_at("127.0.0.1") != rows[i].four || (six && !rows[i].six))
				fail_msg("%s", rows[i].why);
			if (again && access(in_folder("s"), F_OK) == 0 && !rows[i].socket)
				fail_msg("%s: a socket is left behind", rows[i].why);
			if (!again || i == COUNT(rows) - 1)
				fixture_close();
			if (!again)
				(void)unlink(in_folder("s"));
		}
	}
}

/* A client that has connected keeps its connection, and one that is about to does not find a gap. */
static void what_stays_in_the_configuration_stays_open(void **state)
{
	int before, client, waits;

	(void)state;
	fixture_open(SOCKET " control-interface: 127.0.0.1@!\n");
	before = listener_at("s");
	client = dial("s");
	rounds();
	waits = dial("s");
	fixture_configure(SOCKET " control-interface: %/t\n");
	control_reopen(fixture.daemon.control);
	assert_int_equal(listener_at("s"), before);
	tell(client, ASK);
	assert_string_equal(heard(client), ANSWER);
	tell(waits, ASK);
	assert_string_equal(heard(waits), ANSWER);
	close(client);
	close(waits);
	fixture_close();
}

static void what_cannot_be_opened_closes_nothing(void **state)
{
	char said[300];

	(void)state;
	fixture_open(SOCKET);
	fixture_configure(PLAIN " control-interface: %/none/of/s\n");
	control_reopen(fixture.daemon.control);
	assert_string_equal(answer_to("s", ASK), ANSWER);
	fixture_close();

	/* an address of nobody here, as it is written */
	assert_false(fixture_opens(PLAIN " control-interface: 192.0.2.1@1\n"));
	if (!strstr(fixture.fault.text, "cannot open the control channel at 192.0.2.1@1: "))
		fail_msg("%s", fixture.fault.text);
	fixture_close();
	snprintf(said, sizeof said, "cannot open the control channel at 127.0.0.1@%u: Address already in use", fixture.port);
	fixture_open(PLAIN " control-interface: 127.0.0.1@!\n");
	{
		struct fixture first = fixture;

		fixture.daemon.snapshot = NULL;
		assert_false(fixture_opens(PLAIN " control-interface: %/s\n control-interface: 127.0.0.1@!\n"));
		assert_string_equal(fixture.fault.text, said);
		fixture_close();
		assert_false(fixture_opens(PLAIN " control-port: !\n"));
		assert_string_equal(fixture.fault.text, said);
		fixture_close();
		fixture = first;
	}
	fixture_close();
}

/* ---- from the service manager ---- */

static void sockets_of_the_service_manager_are_used_and_stay_its_own(void **state)
{
	struct sockaddr_storage ss;
	struct addr at = { .family = 4, .ip = { 127, 0, 0, 1 }, .port = (uint16_t)fixture.port };
	socklen_t len = addr_to_sockaddr(&at, &ss);
	struct stat before, after;
	char pid[20];
	int fd, on = 1;

	(void)state;
	somebody();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
		    bind(fd, (struct sockaddr *)&ss, len) == 0 && listen(fd, 5) == 0);
	fd = dup2(fd, 20);
	assert_int_equal(dup2(other, 3), 3);
	assert_int_equal(dup2(fd, 4), 4);
	for (fd = 5; fd < 30; fd++)
		close(fd);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "2", 1);
	socket_activation_open();
	assert_int_equal(stat(in_folder("s"), &before), 0);

	fixture_open(SOCKET " control-interface: 127.0.0.1@!\nserver:\n use-systemd: yes\n");
	assert_string_equal(answer_to("s", ASK), ANSWER);
	assert_true(anybody_at("127.0.0.1"));
	fixture_configure(" control-enable: no\nserver:\n use-systemd: yes\n");
	control_reopen(fixture.daemon.control);
	assert_int_equal(stat(in_folder("s"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	fixture_close();

	/* only where that is wanted */
	assert_false(fixture_opens(SOCKET));
	assert_non_null(strstr(fixture.fault.text, "Address already in use"));
	fixture_close();
	socket_activation_close();
	other = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_taken_only_from_the_dead),
		cmocka_unit_test(a_folder_that_is_gone_is_made),
		cmocka_unit_test(a_path_is_as_long_as_fits),
		cmocka_unit_test(a_socket_is_for_owner_and_group_alone),
		cmocka_unit_test(a_socket_belongs_to_the_user_the_daemon_becomes),
		cmocka_unit_test(a_socket_may_be_descriptor_0),
		cmocka_unit_test(the_channel_listens_where_the_configuration_says),
		cmocka_unit_test(what_stays_in_the_configuration_stays_open),
		cmocka_unit_test(what_cannot_be_opened_closes_nothing),
		cmocka_unit_test(sockets_of_the_service_manager_are_used_and_stay_its_own),
	};

	return cmocka_run_group_tests(tests, fixture_begin, fixture_end);
}
