/* Any text at all as a configuration: it is read to its end, and what is taken is whole.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/conftext.h"
#include "util/conf/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void count(void *arg, const char *text)
{
	PROMISE(text != NULL);
	++*(size_t *)arg;
}

/* The words, with a number of values that the name's length decides: all lie in the text. */
static void check_words(const char *text, size_t len)
{
	struct conftext_how how = { .no_includes = true };
	struct conftext *t = conftext_open_text("text", text, len, &how);
	struct conftext_word w;
	enum conftext_kind kind;
	unsigned last = 0;
	size_t words = 0;

	while ((kind = conftext_next(t, &w)) != CONFTEXT_END) {
		size_t wanted = strlen(w.text) % 4;

		PROMISE(++words <= 2 * len + 2);
		if (kind == CONFTEXT_TOPLEVEL)
			continue;
		PROMISE(w.line >= last && strcmp(w.file, "text") == 0 && strlen(w.text) <= len);
		last = w.line;
		if (kind != CONFTEXT_NAME)
			continue;
		PROMISE(*w.text);
		while (wanted-- && conftext_value(t, &w)) {
			PROMISE(w.line >= last && strlen(w.text) <= len);
			last = w.line;
			if (wanted == 2) {
				conftext_put_back(t);
				PROMISE(conftext_value(t, &w) && w.line == last);
			}
		}
	}
	conftext_close(t);
}

/* A configuration, its copy, and the same again with each line as a change of one option. */
static void check_conf(const char *text, size_t len)
{
	struct conf_how how = { .no_files = true, .no_includes = true };
	struct conf_report report = { 0 };
	struct conf *conf = conf_new(), *copy;
	struct fault f = { .set = false };
	size_t differences = 0, lines = 0;
	char *lines_text, *line, *rest;
	bool good = conf_load_text(conf, "text", text, len, &how, &report);

	PROMISE(good == (report.errors == 0));
	if (good)
		good = conf_check(conf, &how, &report);
	PROMISE(good == (report.errors == 0));
	conf_report_fault(&report, &f);
	PROMISE(f.set == !good);

	copy = conf_copy(conf);
	conf_compare(conf, copy, count, &differences);
	PROMISE(differences == 0);
	rest = lines_text = mem_new(len + 1);
	memcpy(lines_text, text, len);
	lines_text[len] = '\0';
	while (lines++ < 100 && (line = strsep(&rest, "\n"))) {
		struct fault why = { .set = false };

		PROMISE(conf_set_option(copy, line, &why) == !why.set);
	}
	mem_free(lines_text);
	conf_compare(conf, copy, count, &differences);
	conf_free(copy);
	conf_free(conf);
	conf_report_clear(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check_words((const char *)data, len);
	check_conf((const char *)data, len);
	return 0;
}
