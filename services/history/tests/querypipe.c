/* Claims about queries as lines in a named pipe.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/querypipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "services/history/report.h"
#include "services/history/ring.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/msgring.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

enum { PATIENCE_MS = 10000 };

static char folder[] = "/tmp/querypipe.XXXXXX", path[64], other[64];
static struct conf conf;

static atomic_uint openings, complaints;

static void listen_to_log(const char *line, void *arg)
{
	(void)arg;
	if (strstr(line, "has a reader"))
		atomic_fetch_add(&openings, 1);
	if (strstr(line, "it is no named pipe"))
		atomic_fetch_add(&complaints, 1);
}

static void set_path(const char *to)
{
	conf.server.query_pipe = (char *)(uintptr_t)to;
	conf.server.directory = conf.server.chroot = (char *)(uintptr_t)"";
}

static void hand_over(struct querypipe *p, unsigned number)
{
	struct report r = { .at_s = 1700000000 + number, .type = TYPE_A, .how = SEEN_cached };
	struct msgring *ring = querypipe_ring(p, &conf, 0);
	uint8_t *room = msgring_room(ring, REPORT_BYTES);

	assert_non_null(room);
	memcpy(r.name, N("x."), dname_len(N("x.")));
	msgring_put(ring, report_pack(&r, room));
}

/* Reads a line, of which the number is returned. */
static unsigned read_line(int fd)
{
	char line[REPORT_LINE];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n;

	while (!len || line[len - 1] != '\n') {
		assert_true(len < sizeof line);
		if (poll(&p, 1, PATIENCE_MS) != 1)
			fail_msg("no line comes");
		n = read(fd, line + len, 1);
		if (n == 0) /* no writer yet */
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		else if (n > 0)
			len++;
		else
			assert_int_equal(errno, EAGAIN);
	}
	assert_int_equal(strncmp(line, "|17", 3), 0);
	return (unsigned)(strtoul(line + 1, NULL, 10) - 1700000000);
}

static int reader(const char *of)
{
	int fd = open(of, O_RDONLY | O_NONBLOCK);

	assert_true(fd >= 0);
	return fd;
}

static struct querypipe_status status_of(const struct querypipe *p)
{
	struct querypipe_status s;

	querypipe_tell(p, &s);
	return s;
}

static void until_reader_is(const struct querypipe *p, bool there)
{
	for (unsigned i = 0; status_of(p).has_reader != there; i++) {
		assert_true(i < PATIENCE_MS);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void until_written(const struct querypipe *p, uint64_t count)
{
	for (unsigned i = 0; status_of(p).written != count; i++) {
		assert_true(i < PATIENCE_MS);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void until_end(int fd)
{
	char byte;

	for (unsigned i = 0; read(fd, &byte, 1) != 0; i++) {
		assert_true(i < PATIENCE_MS);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void without_the_option_there_is_nothing(void **state)
{
	(void)state;
	struct querypipe *p = querypipe_new(1);

	set_path("");
	querypipe_make(&conf, false);
	querypipe_adopt(p, &conf, false);
	assert_null(querypipe_ring(p, &conf, 0));
	assert_null(querypipe_ring(NULL, &conf, 0));
	assert_false(status_of(p).enabled);
	querypipe_free(p);
}

static void lines_wait_for_a_reader_who_may_come_and_go(void **state)
{
	(void)state;
	struct querypipe *p = querypipe_new(1);
	struct stat st;
	int fd;

	set_path(path);
	querypipe_make(&conf, false);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(st.st_mode & 0007, 0);
	querypipe_adopt(p, &conf, false);
	hand_over(p, 0);
	hand_over(p, 1);
	fd = reader(path);
	assert_int_equal(read_line(fd), 0);
	assert_int_equal(read_line(fd), 1);
	hand_over(p, 2);
	assert_int_equal(read_line(fd), 2);
	close(fd);
	until_reader_is(p, false);
	hand_over(p, 3);
	fd = reader(path);
	assert_int_equal(read_line(fd), 3);
	until_written(p, 4);
	assert_int_equal(status_of(p).lost, 0);
	close(fd);
	querypipe_free(p);
}

static void a_reload_leaves_the_pipe_open(void **state)
{
	(void)state;
	struct querypipe *p = querypipe_new(1);
	char byte;
	int fd = reader(path), more;

	set_path(path);
	querypipe_adopt(p, &conf, false);
	hand_over(p, 0);
	assert_int_equal(read_line(fd), 0);
	openings = 0;
	for (unsigned i = 1; i < 20; i++) {
		querypipe_adopt(p, &conf, false);
		hand_over(p, i);
		assert_int_equal(read_line(fd), i);
		assert_int_equal(read(fd, &byte, 1), -1); /* no end of the file */
	}
	assert_int_equal(openings, 0);
	/* another path is another pipe */
	assert_int_equal(mkfifo(other, 0600), 0);
	more = reader(other);
	set_path(other);
	querypipe_adopt(p, &conf, false);
	hand_over(p, 20);
	assert_int_equal(read_line(more), 20);
	until_end(fd);
	/* and none is none */
	set_path("");
	querypipe_adopt(p, &conf, false);
	assert_false(status_of(p).enabled);
	until_end(more);
	close(fd);
	close(more);
	querypipe_free(p);
}

static void another_file_is_left_alone(void **state)
{
	(void)state;
	struct querypipe *p = querypipe_new(1);
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0) {
		assert_int_equal(unlink(path), 0);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	assert_int_equal(write(fd, "keep", 4), 4);
	set_path(path);
	querypipe_make(&conf, false);
	querypipe_adopt(p, &conf, false);
	hand_over(p, 0);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	assert_false(status_of(p).has_reader);
	assert_int_equal(complaints, 1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 4);
	/* when it has made room for a pipe, that is found */
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = reader(path);
	assert_int_equal(read_line(fd), 0);
	close(fd);
	querypipe_free(p);
}

/* A reader that has stopped reading holds nobody up, and gets whole lines when it goes on. */
static void a_slow_reader_gets_whole_lines(void **state)
{
	(void)state;
	enum { MANY = 20000 };
	struct querypipe *p = querypipe_new(1);
	int fd = reader(path);
	unsigned got = 0, last = 0;

	set_path(path);
	querypipe_adopt(p, &conf, false);
	until_reader_is(p, true);
	for (unsigned i = 0; i < MANY; i++) {
		hand_over(p, i);
		if (i % 1000 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 40000000 }, NULL);
	}
	while (got < MANY) {
		unsigned number = read_line(fd);

		assert_int_equal(number, got ? last + 1 : 0);
		last = number;
		got++;
	}
	assert_int_equal(status_of(p).lost, 0);
	close(fd);
	querypipe_free(p);
}

static void what_the_ring_has_no_room_for_is_counted(void **state)
{
	(void)state;
	struct querypipe *p = querypipe_new(1);
	struct msgring *ring;
	unsigned refused = 0;

	set_path(path);
	querypipe_adopt(p, &conf, false);
	ring = querypipe_ring(p, &conf, 0);
	for (unsigned i = 0; i < 3; i++)
		refused += msgring_room(ring, 2 << 20) == NULL;
	assert_int_equal(refused, 3);
	assert_int_equal(status_of(p).lost, 3);
	querypipe_free(p);
}

static int open_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/pipe", folder);
	snprintf(other, sizeof other, "%s/other", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(path);
	(void)unlink(other);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_option_there_is_nothing),
		cmocka_unit_test(lines_wait_for_a_reader_who_may_come_and_go),
		cmocka_unit_test(a_reload_leaves_the_pipe_open),
		cmocka_unit_test(another_file_is_left_alone),
		cmocka_unit_test(a_slow_reader_gets_whole_lines),
		cmocka_unit_test(what_the_ring_has_no_room_for_is_counted),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	log_capture(listen_to_log, NULL);
	return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
