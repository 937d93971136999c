/* Options as text: queried one by one, compared, listed, and as an example file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <inttypes.h>
#include <string.h>

#include "util/base/mem.h"

#define LINE_WIDTH 96   /* of the example file's comments */

const char *conf_status_name(enum conf_status status)
{
	return status == CONF_WORKS ? "works" : status == CONF_PLANNED ? "planned" : "none";
}

/* ---- values ---- */

/* Each tag, as Unbound shows them. */
static void write_words(const char *text, void (*write)(void *arg, const char *text), void *arg)
{
	size_t len;

	for (text += strspn(text, " \t"); (len = strcspn(text, " \t")) > 0;
	     text += len, text += strspn(text, " \t")) {
		char *word = mem_textf("%.*s", (int)len, text);

		write(arg, word);
		mem_free(word);
	}
}

/* YYYYMMDDhhmmss as seconds since 1970, as Unbound shows it. */
static void write_date(const char *text, void (*write)(void *arg, const char *text), void *arg)
{
	static const unsigned before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	unsigned year, month, day, hour, minute, second;
	int64_t days;
	char buf[24];

	if (!*text) {
		write(arg, "0");
		return;
	}
	if (strlen(text) != 14 || sscanf(text, "%4u%2u%2u%2u%2u%2u", &year, &month, &day, &hour, &minute,
					 &second) != 6 || month < 1 || month > 12) {
		write(arg, text);
		return;
	}
	days = 365 * ((int64_t)year - 1970) + before[month - 1] + day - 1;
	year -= month <= 2; /* leap days before that year; 477 before 1970 */
	days += (int64_t)year / 4 - year / 100 + year / 400 - 477;
	snprintf(buf, sizeof(buf), "%" PRId64, ((days * 24 + hour) * 60 + minute) * 60 + second);
	write(arg, buf);
}

void conf_write_values(const struct option *o, const void *base,
		       void (*write)(void *arg, const char *text), void *arg)
{
	const void *at = (const char *)base + o->at;
	const struct conf_list *list = at;
	char buf[24];

	switch (o->type) {
	case CONF_FLAG_T:
		write(arg, *(const conf_FLAG *)at ? "yes" : "no");
		break;
	case CONF_NUMBER_T:
	case CONF_SECONDS_T:
	case CONF_MS_T:
		snprintf(buf, sizeof(buf), "%" PRIu32, *(const uint32_t *)at);
		write(arg, buf);
		break;
	case CONF_SIZE_T:
		snprintf(buf, sizeof(buf), "%" PRIu64, *(const conf_SIZE *)at);
		write(arg, buf);
		break;
	case CONF_STRING_T:
	case CONF_FILE_T:
	case CONF_DOMAIN_T:
	case CONF_WORD_T:
		if (o->check == CHECK_DATE)
			write_date(*(char *const *)at, write, arg);
		else
			write(arg, *(char *const *)at);
		break;
	case CONF_LIST_T:
		for (size_t i = 0; i < list->count; i++)
			if (o->check == CHECK_TAGS)
				write_words(list->items[i].text, write, arg);
			else
				write(arg, list->items[i].text);
		break;
	}
}

/* ---- as Unbound shows them ---- */

/* Whether `word` is one of the words of `text`. */
static bool has_word(const char *text, const char *word, size_t len)
{
	size_t n;

	for (text += strspn(text, " \t"); (n = strcspn(text, " \t")) > 0;
	     text += n, text += strspn(text, " \t")) {
		if (n == len && memcmp(text, word, len) == 0)
			return true;
	}
	return false;
}

/* "a.example green red" with the tags in the order in which they are defined. */
static char *with_tags_in_order(const struct conf *conf, const char *text)
{
	const struct conf_list *defined = &conf->server.define_tag;
	size_t first = strcspn(text, " \t"), n;
	char *out = mem_textf("%.*s", (int)first, text);

	for (size_t i = 0; i < defined->count; i++) {
		const char *tag = defined->items[i].text;

		for (tag += strspn(tag, " \t"); (n = strcspn(tag, " \t")) > 0;
		     tag += n, tag += strspn(tag, " \t")) {
			char *longer;

			if (!has_word(text + first, tag, n))
				continue;
			longer = mem_textf("%s %.*s", out, (int)n, tag);
			mem_free(out);
			out = longer;
		}
	}
	return out;
}

/* Unbound shows most lists with the newest first. */
static bool shows_oldest_first(const struct option *o)
{
	static const char *const names[] = { "interface", "outgoing_interface", "control_interface",
					     "tls_session_ticket_keys", "python_script", "dynlib_file", NULL };
	size_t i = 0;

	while (names[i] && strcmp(o->name, names[i]) != 0)
		i++;
	return o->check == CHECK_TAGS || names[i];
}

static void write_list(const struct conf *conf, const struct option *o,
		       void (*write)(void *arg, const char *text), void *arg)
{
	const struct conf_list *list = (const void *)((const char *)conf_clause_get(conf, o->clause, 0) + o->at);

	for (size_t i = list->count; i-- > 0;) {
		char *text = list->items[i].text;
		bool tagged = o->check == CHECK_NETBLOCK_TAGS || o->check == CHECK_INTERFACE_TAGS ||
			      o->check == CHECK_DOMAIN_TAGS;
		char *ordered = tagged ? with_tags_in_order(conf, text) : NULL;

		write(arg, ordered ? ordered : text);
		mem_free(ordered);
	}
}

bool conf_get_option(const struct conf *conf, const char *name,
		     void (*write)(void *arg, const char *text), void *arg)
{
	const struct option *o = conf_find_single(name, strlen(name));

	if (!o)
		return false;
	if (o->type == CONF_LIST_T && !shows_oldest_first(o))
		write_list(conf, o, write, arg);
	else
		conf_write_values(o, conf_clause_get(conf, o->clause, 0), write, arg);
	return true;
}

struct conf_form conf_option_form(const char *name)
{
	const struct option *o = conf_find_single(name, strlen(name));
	struct conf_form form = { .list = o && o->type == CONF_LIST_T };

	if (o && o->type == CONF_FLAG_T)
		form.kind = CONF_FORM_FLAG;
	else if (o && o->type < CONF_STRING_T)
		form.kind = CONF_FORM_NUMBER;
	return form;
}

const char *conf_option_clause(const char *line)
{
	const struct option *o = conf_find_single(line, strcspn(line, ": \t"));

	return o ? conf_clauses[o->clause].name : NULL;
}

bool conf_was_given(const struct conf *conf, const char *name)
{
	const struct option *o = conf_find_single(name, strlen(name));

	return o && conf->own->given[o - conf_options].file;
}

bool conf_is_path(const char *name)
{
	const struct option *o = conf_find_single(name, strlen(name));

	return o && (o->type == CONF_FILE_T || o->check == CHECK_READABLE ||
		     o->check == CHECK_READABLE_GLOB || o->check == CHECK_ANCHOR_FILE ||
		     o->check == CHECK_FOLLOWED);
}

/* ---- what changed ---- */

struct text {
	char *at;
	size_t len, room;
};

static void text_add(void *arg, const char *more)
{
	struct text *t = arg;
	size_t len = strlen(more) + 1;

	if (t->len + len > t->room) {
		t->room = 2 * (t->len + len);
		t->at = mem_grow(t->at, t->room);
	}
	PROMISE(t->at);
	memcpy(t->at + t->len, more, len);
	t->len += len;
}

static bool same_text(const struct text *a, const struct text *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->at, b->at, a->len) == 0);
}

static void text_of_option(struct text *t, const struct conf *conf, const struct option *o, size_t n)
{
	const char *base = conf_clause_get(conf, o->clause, n);
	char hash[24];

	t->len = 0;
	if (o->type != CONF_LIST_T) {
		conf_write_values(o, base, text_add, t);
		return;
	}
	snprintf(hash, sizeof(hash), "%" PRIx64, conf_list_hash((const void *)(base + o->at)));
	text_add(t, hash);
}

static bool clauses_differ(const struct conf *a, const struct conf *b, enum conf_clause clause,
			   struct text *ta, struct text *tb)
{
	size_t count = conf_clause_size(a, clause);

	if (count != conf_clause_size(b, clause))
		return true;
	for (size_t n = 0; n < count; n++) {
		for (size_t i = 0; i < conf_option_count; i++) {
			const struct option *o = &conf_options[i];

			if (o->clause != clause || o->row != ROW_OPTION)
				continue;
			text_of_option(ta, a, o, n);
			text_of_option(tb, b, o, n);
			if (!same_text(ta, tb))
				return true;
		}
	}
	return false;
}

void conf_compare(const struct conf *a, const struct conf *b,
		  void (*differs)(void *arg, const char *name), void *arg)
{
	struct text ta = { 0 }, tb = { 0 };
	char name[CONF_NAME];

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];

		if (o->row != ROW_OPTION || conf_clauses[o->clause].many)
			continue;
		text_of_option(&ta, a, o, 0);
		text_of_option(&tb, b, o, 0);
		if (!same_text(&ta, &tb))
			differs(arg, conf_name_print(o->name, name));
	}
	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		if (conf_clauses[c].many && clauses_differ(a, b, (enum conf_clause)c, &ta, &tb))
			differs(arg, conf_name_print(conf_clauses[c].name, name));
	mem_free(ta.at);
	mem_free(tb.at);
}

/* ---- the table ---- */

void conf_print_options(FILE *out)
{
	char clause[CONF_NAME], name[CONF_NAME];

	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		fprintf(out, "(top)\t%s\tworks\t-\n", conf_name_print(conf_clauses[c].name, name));
	fprintf(out, "(top)\tinclude\tworks\t-\n(top)\tinclude-toplevel\tworks\t-\n");
	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i], *real = o;
		char *dflt;

		if (o->row == ROW_HEADING)
			continue;
		if (o->row == ROW_ALIAS)
			real = conf_find_option(o->clause, conf_name_print(o->name, name),
						strlen(o->name));
		dflt = conf_default(real, false);
		fprintf(out, "%s\t%s\t%s\t%s%s\n",
			conf_name_print(conf_clauses[o->clause].name, clause),
			conf_name_print(o->name, name), conf_status_name(real->status),
			*dflt ? dflt : "\"\"", real->acts == CONF_AT_START ? "\tstart" : "");
		mem_free(dflt);
	}
}

static void print_wrapped(FILE *out, const char *indent, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (len == 0)
			break;
		if (column && column + 1 + len > LINE_WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (column == 0)
			column = (size_t)fprintf(out, "%s# ", indent);
		else
			column += (size_t)(fputc(' ', out) == ' ');
		column += (size_t)fprintf(out, "%.*s", (int)len, text);
		text += len;
	}
	fputc('\n', out);
}

/* A sample value of a list, to show its form. */
static const char *sample(const struct option *o)
{
	static const struct {
		enum conf_check check;
		const char *text;
	} rows[] = {
		{ CHECK_INTERFACE, "192.0.2.1" },
		{ CHECK_OUTGOING, "192.0.2.2" },
		{ CHECK_PORT_RANGE, "32768-60999" },
		{ CHECK_PORT, "8853" },
		{ CHECK_NETBLOCK, "192.0.2.0/24" },
		{ CHECK_NETBLOCK_NUMBER, "192.0.2.0/24 100" },
		{ CHECK_NETBLOCK_LIMIT, "192.0.2.0/24 -1" },
		{ CHECK_NETBLOCK_ACTION, "192.0.2.0/24 allow" },
		{ CHECK_NETBLOCK_TAGS, "192.0.2.0/24 \"guests children\"" },
		{ CHECK_NETBLOCK_TAG_TYPE, "192.0.2.0/24 guests redirect" },
		{ CHECK_NETBLOCK_TAG_DATA, "192.0.2.0/24 guests \"A 192.0.2.3\"" },
		{ CHECK_NETBLOCK_VIEW, "192.0.2.0/24 inside" },
		{ CHECK_NETBLOCK_TEXT, "192.0.2.53/32 \"a text\"" },
		{ CHECK_NETBLOCK_IP_ACTION, "198.51.100.0/24 redirect" },
		{ CHECK_NETBLOCK_DATA, "198.51.100.0/24 \"A 192.0.2.3\"" },
		{ CHECK_INTERFACE_ACTION, "eth0 allow" },
		{ CHECK_INTERFACE_TAGS, "eth0 \"guests children\"" },
		{ CHECK_INTERFACE_TAG_TYPE, "eth0 guests redirect" },
		{ CHECK_INTERFACE_TAG_DATA, "eth0 guests \"A 192.0.2.3\"" },
		{ CHECK_INTERFACE_VIEW, "eth0 inside" },
		{ CHECK_CONTROL_INTERFACE, "/run/resolverd/control" },
		{ CHECK_SERVER_ADDRESS, "192.0.2.53@5353" },
		{ CHECK_SERVER_HOST, "ns.example.net" },
		{ CHECK_SERVER, "192.0.2.53" },
		{ CHECK_NOTIFIER, "192.0.2.53" },
		{ CHECK_DOMAIN, "example.com" },
		{ CHECK_DOMAIN_NUMBER, "example.com 1000" },
		{ CHECK_DOMAIN_TAGS, "example.com \"guests children\"" },
		{ CHECK_ZONE_TYPE, "example.com static" },
		{ CHECK_ZONE_NETBLOCK_TYPE, "example.com 192.0.2.0/24 always_nxdomain" },
		{ CHECK_RECORD, "\"host.example.com. 3600 IN A 192.0.2.4\"" },
		{ CHECK_PTR_RECORD, "\"192.0.2.4 3600 host.example.com.\"" },
		{ CHECK_ANCHOR, "\". IN DS 20326 8 2 "
				"e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d\"" },
		{ CHECK_TAGS, "\"guests children\"" },
		{ CHECK_BASE64, "\"c2VjcmV0IG9mIHR3byBzZXJ2ZXJz\"" },
		{ CHECK_URL, "\"https://www.example.net/zone\"" },
		{ CHECK_ZONE_URL, "\"https://www.example.net/zone\"" },
		{ CHECK_READABLE, "\"/etc/resolver/file\"" },
		{ CHECK_FOLDER, "\"/srv/lists\"" },
		{ CHECK_FOLLOWED, "\"/etc/hosts\"" },
		{ CHECK_READABLE_GLOB, "\"/etc/resolver/*.keys\"" },
		{ CHECK_ANCHOR_FILE, "\"/etc/resolver/root.key\"" },
		{ CHECK_NONEMPTY, "inside" },
		{ CHECK_LIST_FILES, "lists/*.txt" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].check == o->check)
			return rows[i].text;
	return "\"\"";
}

static void print_option(FILE *out, const struct option *o)
{
	char name[CONF_NAME];
	char *dflt = conf_default(o, true), *help;

	help = mem_textf("%s%s%s%s%s%s", conf_option_help(o), o->type == CONF_LIST_T ? " Without: " : "",
			 o->type == CONF_LIST_T ? dflt : "", o->type == CONF_LIST_T ? "." : "",
			 o->status == CONF_PLANNED ? " (Has no effect yet.)" : "",
			 o->status == CONF_NONE ? " (Has no effect here.)" : "");
	print_wrapped(out, "\t", help);
	fprintf(out, "\t# %s: ", conf_name_print(o->name, name));
	if (o->type == CONF_LIST_T || o->type == CONF_DOMAIN_T || !strcmp(o->name, "name") ||
	    o->check == CHECK_BASE64)
		fprintf(out, "%s\n\n", sample(o));
	else if (o->type >= CONF_STRING_T)
		fprintf(out, "\"%s\"\n\n", dflt);
	else
		fprintf(out, "%s\n\n", dflt);
	mem_free(dflt);
	mem_free(help);
}

static void print_heading(FILE *out, const struct option *o, bool first)
{
	bool many = conf_clauses[o->clause].many, server = o->clause == CLAUSE_server;
	char name[CONF_NAME];

	if (first && !server)
		fprintf(out, "# %s%s\n", o->text, many ? "; the clause may be repeated." : ".");
	if (first)
		fprintf(out, "%s%s:\n%s", many ? "# " : "",
			conf_name_print(conf_clauses[o->clause].name, name), server ? "\n" : "");
	if (server)
		fprintf(out, "\t# ---- %s ----\n\n", o->text);
}

void conf_walk_shown(FILE *out, void (*heading)(FILE *out, const struct option *o, bool first),
		     void (*option)(FILE *out, const struct option *o))
{
	enum conf_clause open = CLAUSE_none;

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];

		if (o->row == ROW_HEADING)
			heading(out, o, o->clause != open);
		else if (o->row == ROW_OPTION && o->status != CONF_TEST_ONLY)
			option(out, o);
		open = o->clause;
	}
}

void conf_print_example(FILE *out)
{
	fprintf(out, "# Every option of resolverd. What is commented out is the default or, of an option\n"
		     "# that may be repeated, an example. Printed by resolver-checkconf --example.\n\n");
	conf_walk_shown(out, print_heading, print_option);
	fprintf(out, "# More files in place of this line; those of a glob in the order of their names.\n"
		     "# include-toplevel: \"/etc/resolver/resolver.conf.d/*.conf\"\n");
}
