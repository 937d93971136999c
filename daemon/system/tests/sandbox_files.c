/* Claims about the folders of the sandbox: which places a configuration needs, and which configuration fits into those.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/system/sandbox.h"
#include "daemon/system/sandbox_private.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/mem.h"

/* In a folder of its own: real/file, real/deep/file; link, which leads to real; file-link, to real/deep/file; lost, to
 * nowhere; reals, whose name only begins like real's, and in it links out, to real/deep/file, and folder, to real. */
static char made[64] = "/tmp/sandbox-files-XXXXXX", folder[PATH_MAX];

static const char *const folders[] = { "/real", "/real/deep", "/reals" };
static const char *const files[] = { "/real/file", "/real/deep/file" };
static const char *const links[][2] = { { "/link", "real" }, { "/file-link", "real/deep/file" }, { "/lost", "nowhere" },
					{ "/reals/out", "../real/deep/file" }, { "/reals/folder", "../real" } };

static const char *path_of(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s%s", folder, name);
	return path;
}

static int make_tree(void **state)
{
	(void)state;
	if (!mkdtemp(made) || !realpath(made, folder))
		return -1;
	for (size_t i = 0; i < COUNT(folders); i++)
		assert_int_equal(mkdir(path_of(folders[i]), 0755), 0);
	for (size_t i = 0; i < COUNT(files); i++)
		close(open(path_of(files[i]), O_WRONLY | O_CREAT, 0644));
	for (size_t i = 0; i < COUNT(links); i++)
		assert_int_equal(symlink(links[i][1], path_of(links[i][0])), 0);
	return chdir(path_of("/reals"));
}

static int remove_tree(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(links); i++)
		(void)unlink(path_of(links[i][0]));
	for (size_t i = 0; i < COUNT(files); i++)
		(void)unlink(path_of(files[i]));
	for (size_t i = COUNT(folders); i--;)
		(void)rmdir(path_of(folders[i]));
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* Of a configuration in whose text each % is the folder. */
static struct conf *conf_here(const char *text)
{
	char buf[1000] = "server:\n pidfile: \"\"\n root-hints: \"\"\n auto-trust-anchor-file: \"\"\n";
	size_t len = strlen(buf);

	for (; *text; text++)
		len += (size_t)snprintf(buf + len, sizeof buf - len, "%.*s", *text == '%' ? (int)strlen(folder) : 1,
					*text == '%' ? folder : text);
	return conf_from(buf);
}

static struct sandbox *sandbox_of(const char *text, bool locked_in)
{
	struct conf *conf = conf_here(text);
	struct sandbox *s = mem_zero(sizeof *s);

	s->locked_in = locked_in;
	s->holds = true;
	sandbox_collect(s, conf);
	conf_free(conf);
	return s;
}

/* The places below the folder, "r" read, "m" made in, "w" written: "r/real w/reals". */
static const char *places_of(const struct sandbox *s)
{
	static char text[1000];
	size_t len = strlen(folder), n = 0;

	*text = '\0';
	for (size_t i = 0; i < s->count; i++)
		if (strncmp(s->places[i].path, folder, len) == 0)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%c%s", n ? " " : "", "rmw"[s->places[i].use],
					      s->places[i].path + len);
	return text;
}

static bool has_place(const struct sandbox *s, const char *path, enum conf_use use)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->places[i].path, path) == 0 && s->places[i].use == use)
			return true;
	return false;
}

static void each_file_has_its_folder(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *places;
	} rows[] = {
		{ "nothing", "", "" },
		{ "a file that is read", " root-hints: %/real/file\n", "r/real" },
		{ "one that is not there yet", " hosts-file: %/real/later\n", "r/real" },
		{ "a folder that is not there yet", " hosts-file: %/real/later/still/hosts\n", "r/real" },
		{ "a file that is written", " logfile: %/real/file\n", "w/real" },
		{ "changes that are kept", "remote-control:\n keep-changes: yes\n changes-file: %/real/changes\n", "w/real" },
		{ "changes that are not", "remote-control:\n changes-file: %/real/changes\n", "" },
		{ "a socket", "remote-control:\n control-interface: %/real/socket\n", "m/real" },
		{ "a pid file", " pidfile: %/real/pid\n", "m/real" },
		{ "a folder", " sandbox-path: %/real\n", "w/real" },
		{ "a folder that is not there yet, named as such", " sandbox-path: %/real/later\n", "w/real" },
		{ "a relative path", " directory: %/real\n root-hints: file\n logfile: deep/log\n",
		  "r/real w/real" },
		{ "a relative path, relative to nothing", " directory: \"\"\n hosts-file: hosts\n", "r/reals" },
		{ "below a folder that is read anyway", " root-hints: %/real/file\n hosts-file: %/real/deep/file\n", "r/real" },
		{ "below a folder that is written", " sandbox-path: %/real\n hosts-file: %/real/deep/file\n", "w/real" },
		{ "written below a folder that is read", " root-hints: %/real/file\n logfile: %/real/deep/file\n",
		  "r/real w/real/deep" },
		{ "read and written", " hosts-file: %/real/file\n sandbox-path: %/real\n", "w/real" },
		{ "a socket where it is read", " root-hints: %/real/file\nremote-control:\n control-interface: %/real/s\n",
		  "m/real" },
		{ "a folder whose name begins like it", " root-hints: %/real/file\n hosts-file: %/reals/file\n",
		  "r/real r/reals" },
		{ "a link to a file below it", " hosts-file: %/file-link\n", "r" },
		{ "a link to a file elsewhere", " hosts-file: %/reals/out\n", "r/reals r/real/deep" },
		{ "a link to a folder elsewhere", " hosts-file: %/reals/folder\n", "r/reals r/real" },
		{ "a link to a file elsewhere, written", " logfile: %/reals/out\n", "w/reals w/real/deep" },
		{ "a link to a folder", " hosts-file: %/link\n", "r" },
		{ "a link to a folder, written", " sandbox-path: %/real\n hosts-file: %/link\n", "w/real r" },
		{ "a file through a link", " hosts-file: %/link/file\n", "r/real" },
		{ "a file through a link and one", " hosts-file: %/link/deep/file\n", "r/real/deep" },
		{ "a link to nowhere", " hosts-file: %/lost\n", "r" },
		{ "a folder that is a link", " sandbox-path: %/link\n", "w/real" },
		{ "a pattern of files", " trusted-keys-file: %/real/*.key\n", "r/real" },
		{ "a pattern that begins in the middle", " trusted-keys-file: %/real/deep/fi[l-m]e\n", "r/real/deep" },
		{ "a pattern of folders", " trusted-keys-file: %/rea?/file\n", "r" },
		{ "a file that is a link beside a pattern", " trusted-keys-file: %/real/de*/file\n", "r/real" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sandbox *s = sandbox_of(rows[i].conf, false);

		if (strcmp(places_of(s), rows[i].places) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, places_of(s), rows[i].places);
		sandbox_free(s);
	}
}

static void the_whole_system_is_a_place_only_in_a_chroot(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *place;
		bool locked_in, want;
		enum conf_use use;
	} rows[] = {
		{ "a file in /", " logfile: /sandbox-files-log\n", "/", false, false, CONF_WRITES },
		{ "a file in the chroot's /", " logfile: /sandbox-files-log\n", "/", true, true, CONF_WRITES },
		{ "/ itself", " sandbox-path: /\n", "/", false, false, CONF_WRITES },
		{ "libraries read", "", "/etc", false, true, CONF_READS },
		{ "libraries read in a chroot", "", "/", true, true, CONF_READS },
		{ "of which that is a part", "", "/etc", true, false, CONF_READS },
		{ "nobody reads all", "", "/", false, false, CONF_READS },
		{ "nothing", "", "/dev/null", false, true, CONF_WRITES },
		{ "nothing, in a chroot", "", "/dev/null", true, true, CONF_WRITES },
		{ "a path without the chroot's", " chroot: %\n logfile: /real/file\n", "%/real", false, true, CONF_WRITES },
		{ "a path with the chroot's", " chroot: %\n logfile: %/real/file\n", "/real", true, false, CONF_WRITES },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sandbox *s = sandbox_of(rows[i].conf, rows[i].locked_in);
		const char *place = *rows[i].place == '%' ? path_of(rows[i].place + 1) : rows[i].place;

		if (has_place(s, place, rows[i].use) != rows[i].want)
			fail_msg("%s", rows[i].why);
		if (has_place(s, "nowhere", CONF_READS) || has_place(s, "", CONF_READS))
			fail_msg("%s: a place that is none", rows[i].why);
		for (size_t k = 0; k < s->count; k++)
			if (access(s->places[k].path, F_OK) != 0)
				fail_msg("%s: %s is not there", rows[i].why, s->places[k].path);
		sandbox_free(s);
	}
}

static void a_configuration_that_does_not_fit_is_refused_with_the_reason(void **state)
{
	(void)state;
	static const struct {
		const char *why, *drawn, *conf;
		const char *option, *words; /* of the fault; NULL: it is admitted */
		const char *where;
	} rows[] = {
		{ "the same", " logfile: %/real/file\n", " logfile: %/real/file\n", NULL, NULL, NULL },
		{ "nothing", "", "", NULL, NULL, NULL },
		{ "another file there", " logfile: %/real/file\n", " logfile: %/real/deep/file\n", NULL, NULL, NULL },
		{ "read elsewhere", " logfile: %/real/file\n", " hosts-file: %/reals/file\n", "hosts-file", "cannot be read",
		  "/reals" },
		{ "written elsewhere", " logfile: %/real/file\n", " logfile: %/reals/file\n", "logfile", "cannot be written",
		  "/reals" },
		{ "written where it was read", " hosts-file: %/real/file\n", " logfile: %/real/file\n", "logfile",
		  "cannot be written", "/real" },
		{ "made where it was read", " hosts-file: %/real/file\n", " pidfile: %/real/pid\n", "pidfile",
		  "cannot be made", "/real" },
		{ "made where it is made", " pidfile: %/real/pid\n", "remote-control:\n control-interface: %/real/s\n", NULL,
		  NULL, NULL },
		{ "a link whose file is elsewhere", " hosts-file: %/hosts\n", " hosts-file: %/file-link\n", NULL, NULL, NULL },
		{ "a link of a place that leads elsewhere", " root-hints: %/real/file\n", " hosts-file: %/file-link\n",
		  "hosts-file", "cannot be read", "" },
		{ "a link of a place that leads out of it", " hosts-file: %/reals/file\n", " hosts-file: %/reals/out\n",
		  "hosts-file", "cannot be read", "/real/deep" },
		{ "a link out of a place into another one", " hosts-file: %/reals/file\n root-hints: %/real/file\n",
		  " hosts-file: %/reals/out\n", NULL, NULL, NULL },
		{ "the folder above", " hosts-file: %/real/deep/file\n", " hosts-file: %/real/file\n", "hosts-file",
		  "cannot be read", "/real" },
		{ "the system's", "", " root-hints: /usr/share/dns/root.hints\n", NULL, NULL, NULL },
		{ "in /, which is no place anyway", "", " hosts-file: /sandbox-files-hosts\n", NULL, NULL, NULL },
		{ "the first thing that does not fit", "", " root-hints: %/real/file\n logfile: %/reals/file\n", NULL,
		  "cannot be", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sandbox *s = sandbox_of(rows[i].drawn, false);
		struct conf *conf = conf_here(rows[i].conf);
		struct fault f = { 0 };
		bool admits = sandbox_admits(s, conf, &f);

		if (admits != !rows[i].words)
			fail_msg("%s: %s", rows[i].why, admits ? "admitted" : f.text);
		if (!admits && ((rows[i].option && strncmp(f.text, rows[i].option, strlen(rows[i].option)) != 0) ||
				!strstr(f.text, rows[i].words) || !strstr(f.text, path_of(rows[i].where))))
			fail_msg("%s: %s", rows[i].why, f.text);
		assert_true(sandbox_admits(NULL, conf, NULL));
		s->holds = false; /* this kernel guards nothing */
		assert_true(sandbox_admits(s, conf, NULL));
		conf_free(conf);
		sandbox_free(s);
	}
}

static void rights_are_those_that_the_kernel_knows(void **state)
{
	(void)state;
	static const struct {
		long version;
		uint64_t rights;
	} rows[] = { /* linux/landlock.h: bits 0 to 12; then refer, truncate, ioctl */
		{ 1, 0x1fff }, { 2, 0x3fff }, { 3, 0x7fff }, { 4, 0x7fff }, { 5, 0xffff }, { 6, 0xffff },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(sandbox_known_rights(rows[i].version), rows[i].rights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_has_its_folder),
		cmocka_unit_test(the_whole_system_is_a_place_only_in_a_chroot),
		cmocka_unit_test(a_configuration_that_does_not_fit_is_refused_with_the_reason),
		cmocka_unit_test(rights_are_those_that_the_kernel_knows),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
