/* Claims about tables of pf: what the kernel is asked, and what is said of its answers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The file itself is compiled here, over a kernel that is played; testdata/bsd has what it needs to know of pf. */
#ifndef HAVE_PF
#define HAVE_PF 1
#endif

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <net/pfvar.h>

#include "util/tests/wire.h"

enum { PF = 77 }; /* the descriptor of the device */

static struct {
	int open_error, error; /* errno of the next call that opens or asks; 0: it succeeds */
	unsigned interruptions; /* before it does */
	unsigned opened, asked;
	int flags, fd;
	unsigned long number;
	struct pfioc_table request;
	struct pfr_addr element;
} kernel;

static int result(int error, int value)
{
	errno = error;
	return error ? -1 : value;
}

static int play_open(const char *path, int flags)
{
	assert_string_equal(path, "/dev/pf");
	kernel.opened++;
	kernel.flags = flags;
	return result(kernel.open_error, PF);
}

static int play_ioctl(int fd, unsigned long number, struct pfioc_table *request)
{
	kernel.asked++;
	kernel.fd = fd;
	kernel.number = number;
	kernel.request = *request;
	kernel.element = *(struct pfr_addr *)request->pfrio_buffer;
	if (kernel.interruptions) {
		kernel.interruptions--;
		memset(request, 0xff, sizeof *request); /* whatever an interrupted call leaves */
		return result(EINTR, 0);
	}
	return result(kernel.error, 0);
}

#define open(path, flags)           play_open(path, flags)
#define ioctl(fd, number, request)  play_ioctl(fd, number, request)
#include "util/net/kernset_pf.c"

#define THIRTY_ONE "x234567890123456789012345678901"

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof kernel);
	device.fd = -1;
	device.why_not = 0;
	return 0;
}

static void a_name_is_one_word(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *fault; /* NULL: it is a name */
	} rows[] = {
		{ "a table", "tunnel4", NULL },
		{ "blanks and tabs around", " \t tunnel4 \t", NULL },
		{ "as long as may be", THIRTY_ONE, NULL },
		{ "too long", THIRTY_ONE "2", "at most 31 characters" },
		{ "nothing", "", "expected the name of a table of pf" },
		{ "blanks", "  ", "expected the name of a table of pf" },
		{ "a set of nftables", "inet fw4 tunnel4", "expected the name of a table of pf" },
	};

	assert_null(kernset_lack());
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		bool good = kernset_check(rows[i].name, &f);

		if (good != !rows[i].fault || (rows[i].fault && !strstr(f.text, rows[i].fault)))
			fail_msg("%s: %s", rows[i].why, good ? "it is a name" : f.text);
		memset(&f, 0, sizeof f);
		if (!good && (kernset_open(rows[i].name, &f) || !strstr(f.text, rows[i].fault) || kernel.opened))
			fail_msg("%s: it was opened, or '%s'", rows[i].why, f.text);
	}
}

static struct kernset *open_set(const char *name)
{
	struct fault f = { 0 };
	struct kernset *s = kernset_open(name, &f);

	if (!s)
		fail_msg("%s", f.text);
	return s;
}

static void the_request_is_one_host_for_one_table(void **state)
{
	(void)state;
	static const struct {
		const char *why, *table, *addr;
		int family, bits;
	} rows[] = {
		{ "IPv4", "tunnel4", "198.51.100.7", AF_INET, 32 },
		{ "IPv6", " tunnel6 ", "2001:db8::7", AF_INET6, 128 },
		{ "a long name", THIRTY_ONE, "192.0.2.1", AF_INET, 32 },
	};
	static const struct pfr_table no_table;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kernset *s = open_set(rows[i].table);
		struct fault f = { 0 };
		struct addr a;

		assert_true(addr_parse(&a, rows[i].addr, 0, &f));
		if (!kernset_add(s, &a, &f))
			fail_msg("%s: %s", rows[i].why, f.text);
		assert_int_equal(kernel.fd, PF);
		assert_true(kernel.number == DIOCRADDADDRS);
		assert_int_equal(kernel.request.pfrio_size, 1);
		assert_int_equal(kernel.request.pfrio_esize, sizeof(struct pfr_addr));
		assert_int_equal(kernel.request.pfrio_flags, 0);
		assert_int_equal(kernel.element.pfra_af, rows[i].family);
		assert_int_equal(kernel.element.pfra_net, rows[i].bits);
		assert_int_equal(kernel.element.pfra_not, 0);
		assert_int_equal(kernel.element.pfra_fback, 0);
		assert_memory_equal(&kernel.element.pfra_u, a.ip, (size_t)rows[i].bits / 8);
		/* pf refuses a table that has anything behind its name, or that is in an anchor which is not there. */
		assert_string_equal(kernel.request.pfrio_table.pfrt_name, s->table);
		assert_int_equal(strlen(s->table), strlen(rows[i].table) - 2 * (rows[i].table[0] == ' '));
		memset(kernel.request.pfrio_table.pfrt_name, 0, strlen(s->table));
		assert_memory_equal(&kernel.request.pfrio_table, &no_table, sizeof no_table);
		kernset_close(s);
	}
	assert_int_equal(kernel.asked, COUNT(rows));
}

static void the_device_is_opened_once_by_who_prepares(void **state)
{
	(void)state;
	struct kernset *four, *six;

	kernset_prepare();
	assert_int_equal(kernel.flags & O_ACCMODE, O_RDWR);
	assert_true(kernel.flags & O_CLOEXEC);
	kernel.open_error = EACCES; /* from here on, as for a user in a chroot */
	kernset_prepare();
	four = open_set("tunnel4");
	six = open_set("tunnel6");
	assert_int_equal(kernel.opened, 1);
	kernset_close(four);
	kernset_close(six);
	kernset_close(NULL);
}

static void a_device_that_cannot_be_opened_is_told_with_the_first_reason(void **state)
{
	(void)state;
	static const struct {
		int error, later;
		const char *fault;
	} rows[] = {
		{ ENOENT, EACCES, "cannot open /dev/pf: pf is not loaded" },
		{ EACCES, ENOENT, "cannot open /dev/pf: Permission denied" },
		{ EBUSY, EACCES, "cannot open /dev/pf: Device or resource busy" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		setup(state);
		kernel.open_error = rows[i].error;
		kernset_prepare();
		kernel.open_error = rows[i].later;
		assert_null(kernset_open("tunnel4", &f));
		if (!strstr(f.text, rows[i].fault))
			fail_msg("'%s', not '%s'", f.text, rows[i].fault);
	}
	kernel.open_error = 0; /* it came to be there */
	kernset_close(open_set("tunnel4"));
}

static void what_the_kernel_answers_is_told(void **state)
{
	(void)state;
	static const struct {
		int error;
		const char *fault;
	} rows[] = {
		{ ESRCH, "there is no such table" },
		{ EPERM, "the table may not be changed" },
		{ ENOMEM, "limit of entries" },
		{ ENODEV, "No such device" },
	};
	struct kernset *s = open_set("tunnel4");
	struct addr a;

	assert_true(addr_parse(&a, "192.0.2.1", 0, NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		kernel.error = rows[i].error;
		if (kernset_add(s, &a, &f) || !strstr(f.text, rows[i].fault))
			fail_msg("'%s', not '%s'", f.text, rows[i].fault);
	}
	kernel.error = 0; /* the table is there now: nothing is remembered */
	assert_true(kernset_add(s, &a, NULL));
	kernset_close(s);
}

static void a_signal_is_no_failure(void **state)
{
	(void)state;
	struct kernset *s = open_set("tunnel4");
	struct fault f = { 0 };
	struct addr a;

	assert_true(addr_parse(&a, "192.0.2.1", 0, NULL));
	kernel.interruptions = 2;
	assert_true(kernset_add(s, &a, &f));
	assert_int_equal(kernel.asked, 3);
	assert_string_equal(kernel.request.pfrio_table.pfrt_name, "tunnel4"); /* the whole request anew */
	assert_int_equal(kernel.request.pfrio_size, 1);
	kernel.interruptions = 1;
	kernel.error = ESRCH;
	assert_false(kernset_add(s, &a, &f));
	assert_string_equal(f.text, "there is no such table");
	kernset_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_name_is_one_word, setup),
		cmocka_unit_test_setup(the_request_is_one_host_for_one_table, setup),
		cmocka_unit_test_setup(the_device_is_opened_once_by_who_prepares, setup),
		cmocka_unit_test_setup(a_device_that_cannot_be_opened_is_told_with_the_first_reason, setup),
		cmocka_unit_test_setup(what_the_kernel_answers_is_told, setup),
		cmocka_unit_test_setup(a_signal_is_no_failure, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
