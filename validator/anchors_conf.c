/* Trust anchors of the configuration: its options, the files they name, and what takes the place of a damaged one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "validator/anchors.h"
#include "validator/autotrust.h"
#include "validator/bind_keys.h"

static bool item_fault(const struct conf_item *item, const char *option, const struct fault *why,
		       struct fault *f)
{
	if (*item->file)
		fault_set(f, "%s:%u: %s: %s", item->file, item->line, option, why->text);
	else
		fault_set(f, "%s: %s", option, why->text);
	return false;
}

/* The path as seen now: from outside the chroot, or from inside once there. Freed by the caller. */
static char *path_now(const struct conf *conf, const char *text)
{
	char *path = conf_path(conf, text);

	if (access(path, F_OK) != 0) {
		char *inside = conf_path_inside(conf, text);

		if (access(inside, F_OK) == 0) {
			mem_free(path);
			return inside;
		}
		mem_free(inside);
	}
	return path;
}

static bool read_plain(struct anchors *a, const struct conf *conf, struct fault *f)
{
	const struct conf_list *texts = &conf->server.trust_anchor;
	const struct conf_list *files = &conf->server.trust_anchor_file;

	for (size_t i = 0; i < texts->count; i++) {
		struct fault why = { .set = false };

		if (!anchors_add_text(a, texts->items[i].text, &why))
			return item_fault(&texts->items[i], "trust-anchor", &why, f);
	}
	for (size_t i = 0; i < files->count; i++) {
		struct fault why = { .set = false };
		char *path = path_now(conf, files->items[i].text);
		bool good = anchors_add_file(a, path, &why);

		mem_free(path);
		if (!good)
			return item_fault(&files->items[i], "trust-anchor-file", &why, f);
	}
	return true;
}

static bool take_bind(void *arg, const char *record, struct fault *why)
{
	return anchors_add_text(arg, record, why);
}

bool anchors_add_bind_text(struct anchors *a, const char *name, const char *text, size_t len,
			   struct fault *f)
{
	return bind_keys_read_text(name, text, len, take_bind, a, f);
}

/* A folder that is not there holds no keys; one that may not be read may hold those that were trusted so far. */
static int on_folder_error(const char *path, int error)
{
	(void)path;
	return error != ENOENT && error != ENOTDIR;
}

/* A pattern that no file matches names no keys, as with Unbound; Fedora's configuration has one. */
static bool find_bind_files(const char *pattern, glob_t *found, struct fault *why)
{
	int result = glob(pattern, 0, on_folder_error, found);

	if (result == 0 || (result == GLOB_NOMATCH && strpbrk(pattern, "*?[")))
		return true;
	fault_set(why, "cannot read %s: %s", pattern,
		  result == GLOB_NOMATCH ? "there is no such file" : "its folder cannot be read");
	return false;
}

static bool read_bind(struct anchors *a, const struct conf *conf, struct fault *f)
{
	const struct conf_list *files = &conf->server.trusted_keys_file;

	for (size_t i = 0; i < files->count; i++) {
		struct fault why = { .set = false };
		char *pattern = path_now(conf, files->items[i].text);
		glob_t found = { 0 };
		bool good = find_bind_files(pattern, &found, &why);

		for (size_t j = 0; good && j < found.gl_pathc; j++)
			good = bind_keys_read_file(found.gl_pathv[j], take_bind, a, &why);
		globfree(&found);
		mem_free(pattern);
		if (!good)
			return item_fault(&files->items[i], "trusted-keys-file", &why, f);
	}
	return true;
}

/* Whether a damaged file held the root's anchor, by its first record or ";;id:". If neither can be
 * read, the root is assumed, as nearly all such files are for it. */
static bool seems_of_root(const char *path)
{
	char line[300], name[256];
	FILE *file = fopen(path, "r");
	bool root = true, told = false;

	while (file && !told && fgets(line, sizeof(line), file)) {
		if (sscanf(line, ";;id: %255s", name) == 1)
			told = true;
		else if (*line != ';' && sscanf(line, "%255s", name) == 1)
			told = strstr(line, "DNSKEY") || strstr(line, "DS");
		if (told)
			root = strcmp(name, ".") == 0;
	}
	if (file)
		fclose(file);
	return root;
}

static struct autotrust *built_in_point(const char *path)
{
	const char *const *lines;
	size_t count = anchors_built_in(&lines);
	char *text = mem_textf("%s", "");
	struct autotrust *p;

	for (size_t i = 0; i < count; i++) {
		char *longer = mem_textf("%s%s\n", text, lines[i]);

		mem_free(text);
		text = longer;
	}
	p = autotrust_parse(path, text, strlen(text), NULL);
	mem_free(text);
	PROMISE(p != NULL);
	return p;
}

static void fall_back(struct anchors *a, const char *path, const struct fault *why)
{
	struct autotrust *p;

	if (!seems_of_root(path)) {
		log_rare_of("error", trust_anchor, LOG_FACTS(LOG_TEXT(source, path), LOG_TEXT(reason, why->text)),
			  "%s; nothing below its name is validated until that file is good again",
			  why->text);
		return;
	}
	p = built_in_point(path);
	if (!anchors_add_point(a, p)) {
		log_rare_of("error", trust_anchor, LOG_FACTS(LOG_TEXT(source, path), LOG_TEXT(reason, why->text)), "%s; ignored",
			    why->text);
		autotrust_free(p);
		return;
	}
	log_rare_of("error", trust_anchor, LOG_FACTS(LOG_TEXT(source, path), LOG_TEXT(reason, why->text)),
		  "%s; the built-in root trust anchor is used instead, and the file is "
		  "rewritten once its keys are confirmed",
		  why->text);
}

/* To be kept from a file is no damage: who mends the permissions has its keys again, and until then a reload fails. */
static bool is_kept_from(const char *path)
{
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 && errno == EACCES;
}

/* It is written later, by then from inside the chroot. */
static void point_move_inside(struct autotrust *point, const struct conf *conf, const char *name)
{
	if (!*conf->server.chroot)
		return;
	mem_free(point->path);
	point->path = conf_path_inside(conf, name);
}

/* The trust point that fall_back put in the place of the file's, or NULL. */
static struct autotrust *point_of_path(const struct anchors *a, const char *path)
{
	size_t count = anchors_rolling_count(a);
	struct autotrust *last = count ? anchors_rolling(a, count - 1) : NULL;

	return last && strcmp(last->path, path) == 0 ? last : NULL;
}

static bool read_point(struct anchors *a, const struct conf *conf, const char *name, struct fault *why)
{
	char *path = path_now(conf, name);
	struct autotrust *point = autotrust_read(path, why);
	bool good = point ? anchors_add_point(a, point) : !is_kept_from(path);

	if (point && !good) {
		fault_set(why, "%s holds the anchor of a name that another file holds", path);
		autotrust_free(point);
		point = NULL;
	} else if (!point && good) {
		fall_back(a, path, why);
		point = point_of_path(a, path);
	}
	mem_free(path);
	if (point)
		point_move_inside(point, conf, name);
	return good;
}

static bool read_rolling(struct anchors *a, const struct conf *conf, struct fault *f)
{
	const struct conf_list *files = &conf->server.auto_trust_anchor_file;

	for (size_t i = 0; i < files->count; i++) {
		struct fault why = { .set = false };

		if (!read_point(a, conf, files->items[i].text, &why))
			return item_fault(&files->items[i], "auto-trust-anchor-file", &why, f);
	}
	return true;
}

/* Nobody said what to trust, not even with an empty value, of which the lists have nothing: the root's keys, as this version knows them or as they have rolled since. */
static void read_default(struct anchors *a, const struct conf *conf)
{
	const char *name = conf_default_anchor(conf);
	struct fault why = { .set = false };
	struct autotrust *point;
	char *path;

	if (!name)
		return;
	path = path_now(conf, name);
	if (access(path, F_OK) == 0) {
		if (!read_point(a, conf, name, &why))
			fall_back(a, path, &why);
	} else {
		point = built_in_point(path);
		if (anchors_add_point(a, point))
			point_move_inside(point, conf, name);
		else
			autotrust_free(point);
	}
	mem_free(path);
}

struct anchors *anchors_new(const struct conf *conf, struct fault *f)
{
	struct anchors *a = anchors_empty();

	if (read_plain(a, conf, f) && read_bind(a, conf, f) && read_rolling(a, conf, f)) {
		read_default(a, conf);
		return a;
	}
	anchors_free(a);
	return NULL;
}
