/* Values of options: parsing into fields, defaults, copying, and freeing a configuration.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <ctype.h>
#include <string.h>

#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/dns/dname.h"
#include "util/names/nameset.h"


/* ---- numbers and sizes ---- */

/* If `text` ends in one of the suffixes, strip it and return its factor; 1 when there is none. */
struct suffix {
	char letter;
	uint64_t factor;
};

static const struct suffix second_suffixes[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 },
						 { 'd', 86400 }, { 'w', 604800 }, { 0, 0 } };
static const struct suffix ms_suffixes[] = { { 's', 1000 }, { 0, 0 } };
static const struct suffix size_suffixes[] = { { 'k', 1024 }, { 'm', 1024 * 1024 },
					       { 'g', 1024 * 1024 * 1024 }, { 0, 0 } };

static uint64_t take_suffix(const struct suffix *list, const char *text, size_t *len)
{
	for (; list->letter; list++) {
		if (*len > 1 && tolower((unsigned char)text[*len - 1]) == list->letter) {
			(*len)--;
			return list->factor;
		}
	}
	return 1;
}

static void trim(const char **text, size_t *len)
{
	while (*len && isspace((unsigned char)**text))
		(*text)++, (*len)--;
	while (*len && isspace((unsigned char)(*text)[*len - 1]))
		(*len)--;
}

/* Numbers of all kinds, in the field's unit. */
static bool read_amount(enum conf_type type, const char *text, uint64_t *out)
{
	size_t len = strlen(text);
	uint64_t factor = 1;

	trim(&text, &len);
	if (type == CONF_SECONDS_T) {
		factor = take_suffix(second_suffixes, text, &len);
	} else if (type == CONF_MS_T) {
		if (len > 2 && strncmp(text + len - 2, "ms", 2) == 0)
			len -= 2;
		else
			factor = take_suffix(ms_suffixes, text, &len);
	} else if (type == CONF_SIZE_T) {
		if (len > 1 && tolower((unsigned char)text[len - 1]) == 'b')
			len--;
		factor = take_suffix(size_suffixes, text, &len);
		trim(&text, &len);
	}
	if (!conf_read_digits(text, len, out) || *out > UINT64_MAX / factor)
		return false;
	*out *= factor;
	return *out <= (type == CONF_SIZE_T ? (uint64_t)SIZE_MAX : UINT32_MAX);
}

static void describe_amount(const struct option *o, char *buf, size_t room)
{
	const char *what = "a number", *least = conf_option_least(o), *most = conf_option_most(o);

	if (o->type == CONF_SECONDS_T)
		what = "a number of seconds, or one with s, m, h, d or w";
	else if (o->type == CONF_MS_T)
		what = "a number of milliseconds";
	else if (o->type == CONF_SIZE_T)
		what = "a number of bytes, or one with k, m or g";
	if (*least && *most)
		snprintf(buf, room, "%s, from %s to %s", what, least, most);
	else if (*least && strcmp(least, "0") != 0)
		snprintf(buf, room, "%s, at least %s", what, least);
	else
		snprintf(buf, room, "%s", what);
}

/* `meant`: what the operator may have had in mind, or "". */
static void word_is_bad(const struct conf_place *p, const char *text, const char *expected, const char *meant)
{
	conf_remark(p->report, CONF_ERROR, p->file, p->line, "%s: '%.200s' is wrong, expected %s%s",
		    p->name, text, expected, meant);
}

static void value_is_bad(const struct conf_place *p, const char *text, const char *expected)
{
	word_is_bad(p, text, expected, "");
}

static bool put_amount(const struct option *o, void *at, const char *text, const struct conf_place *p)
{
	uint64_t n, limit;
	char expected[160];

	if (o->check == CHECK_EMPTY_IS_0 && !*text)
		text = "0";
	describe_amount(o, expected, sizeof(expected));
	if (!read_amount(o->type, text, &n)) {
		value_is_bad(p, text, expected);
		return false;
	}
	for (int upper = 0; upper < 2; upper++) {
		const char *bound = upper ? conf_option_most(o) : conf_option_least(o);

		if (!*bound || !read_amount(o->type, bound, &limit) ||
		    (upper ? n <= limit : n >= limit))
			continue;
		if (o->check != CHECK_CLAMP) {
			value_is_bad(p, text, expected);
			return false;
		}
		n = limit;
		conf_remark(p->report, CONF_WARNING, p->file, p->line,
			    "%s: '%s' is out of range, %s is used", p->name, text, bound);
	}
	if (o->type == CONF_SIZE_T)
		*(conf_SIZE *)at = n;
	else
		*(uint32_t *)at = (uint32_t)n;
	return true;
}

static bool put_flag(const struct option *o, void *at, const char *text, const struct conf_place *p)
{
	*(conf_FLAG *)at = strcmp(text, "yes") == 0;
	if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
		return true;
	if (o->check == CHECK_ELSE_NO) {
		conf_remark(p->report, CONF_WARNING, p->file, p->line, "%s: '%.200s' is taken as no",
			    p->name, text);
		return true;
	}
	value_is_bad(p, text, "yes or no");
	return false;
}

static void put_text(void *at, const char *text)
{
	char **field = at;

	mem_free(*field);
	*field = mem_text(text);
}

/* Unbound takes "dns-query" for "/dns-query". */
static void put_endpoint(void *at, const char *text)
{
	char **field = at;

	mem_free(*field);
	*field = mem_textf("/%s", text);
}

const char *conf_keep_file(struct conf *conf, const char *file)
{
	struct conf_private *own = conf->own;

	if (!*file)
		return "";
	for (size_t i = own->file_count; i-- > 0;)
		if (strcmp(own->files[i], file) == 0)
			return own->files[i];
	own->files = mem_grow(own->files, (own->file_count + 1) * sizeof(*own->files));
	own->files[own->file_count] = mem_text(file);
	return own->files[own->file_count++];
}

static void put_item(struct conf *conf, void *at, const char *text, const char *file, unsigned line)
{
	struct conf_list *list = at;

	if ((list->count & (list->count - 1)) == 0)
		list->items = mem_grow(list->items, (list->count ? 2 * list->count : 1) *
							    sizeof(*list->items));
	list->items[list->count++] = (struct conf_item){ .text = mem_text(text),
							 .file = conf_keep_file(conf, file),
							 .line = line,
							 .order = conf->own->order++ };
}

/* ---- packing hundreds of thousands of local zones ---- */

#define MOST_ZONE_ITEMS 1000

/* Fold in another text with its NUL (FNV-1a). Without the key of util/base/hash.h, which is drawn after
 * the first configuration is read: a collision hurts nobody but the operator. */
static uint64_t fold(uint64_t hash, const char *text)
{
	hash ^= UINT64_C(0xcbf29ce484222325);
	do
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

struct conf_names {
	struct nameset_maker *maker; /* NULL: taken */
};

/* Zones of these types, without tags and the like, consist only of their name. */
static const char *const packed_types[] = {
	"always_nxdomain", "always_null", "always_nodata", "always_refuse",
	"always_deny",     "static",      "refuse",        "deny",
};

const char *conf_names_type(unsigned number)
{
	return number < COUNT(packed_types) ? packed_types[number] : "";
}

struct nameset_maker *conf_names_take(const struct conf_list *list)
{
	struct nameset_maker *m = list->names ? list->names->maker : NULL;

	if (m)
		list->names->maker = NULL;
	return m;
}

/* False: it has to be kept as an item. Its name is put all the same, since the last line counts. */
static bool pack_zone(struct conf_names *names, const char *name, const char *type)
{
	uint8_t wire[DNAME_MAX];
	unsigned i = 0;

	if (!dname_parse(wire, name, NULL))
		return false;
	while (i < COUNT(packed_types) && strcmp(type, packed_types[i]) != 0)
		i++;
	nameset_put(names->maker, wire, (uint8_t)i);
	return i < COUNT(packed_types);
}

static void begin_packing(struct conf_list *list)
{
	list->names = mem_new(sizeof(*list->names));
	list->names->maker = nameset_maker_new();
	for (size_t i = 0; i < list->count; i++) {
		char *blank = strchr(list->items[i].text, ' ');

		*blank = '\0';
		(void)pack_zone(list->names, list->items[i].text, blank + 1);
		*blank = ' ';
	}
}

bool conf_pack_zone(struct conf_list *list, const char *const *words)
{
	if (list->count < MOST_ZONE_ITEMS)
		return false;
	if (!list->names)
		begin_packing(list);
	if (!pack_zone(list->names, words[0], words[1]))
		return false;
	list->packed = fold(fold(list->packed, words[0]), words[1]);
	return true;
}

static void names_free(struct conf_list *list)
{
	if (list->names)
		nameset_maker_free(list->names->maker);
	mem_free(list->names);
}

static void put_words(struct conf *conf, const struct option *o, void *at,
		      const char *const *words, const struct conf_place *p)
{
	unsigned count = conf_word_count(o->check);
	bool adds_scheme = o->check == CHECK_ZONE_URL && !strstr(words[0], "://");
	char *text = count == 1 ? mem_textf("%s%s", adds_scheme ? "https://" : "", words[0]) :
		     count == 2 ? mem_textf("%s %s", words[0], words[1]) :
				  mem_textf("%s %s %s", words[0], words[1], words[2]);

	put_item(conf, at, text, p->file, p->line);
	mem_free(text);
}

/* Routers write "" for no file, no tag and no anchor. */
static bool empty_is_none(const struct option *o)
{
	return o->type == CONF_LIST_T &&
	       (o->check == CHECK_READABLE || o->check == CHECK_READABLE_GLOB ||
		o->check == CHECK_ANCHOR_FILE || o->check == CHECK_ANCHOR || o->check == CHECK_TAGS);
}

static bool is_local_zone(const struct option *o)
{
	return (o->clause == CLAUSE_server && o->at == offsetof(struct conf_server, local_zone)) ||
	       (o->clause == CLAUSE_view && o->at == offsetof(struct conf_view, local_zone));
}

bool conf_put_value(struct conf *conf, const struct option *o, void *base,
		    const char *const *words, const struct conf_place *p)
{
	void *at = (char *)base + o->at;
	unsigned count = conf_word_count(o->check);
	bool may_be_empty = empty_is_none(o) || (o->type >= CONF_STRING_T && o->type <= CONF_WORD_T &&
						 strcmp(o->name, "name") != 0 && !*o->dflt);
	char meant[160];

	for (unsigned i = 0; i < count && !(may_be_empty && !*words[0]); i++) {
		const char *expected = conf_word_expected(o->check, i, words[i]);

		if (!expected)
			continue;
		conf_word_meant(o->check, i, p->name, words[i], meant, sizeof(meant));
		word_is_bad(p, words[i], expected, meant);
		return false;
	}

	switch (o->type) {
	case CONF_FLAG_T:
		return put_flag(o, at, words[0], p);
	case CONF_NUMBER_T:
	case CONF_SECONDS_T:
	case CONF_MS_T:
	case CONF_SIZE_T:
		return put_amount(o, at, words[0], p);
	case CONF_STRING_T:
	case CONF_FILE_T:
	case CONF_DOMAIN_T:
	case CONF_WORD_T:
		if (o->check == CHECK_ENDPOINT && words[0][0] != '/')
			put_endpoint(at, words[0]);
		else
			put_text(at, words[0]);
		break;
	case CONF_LIST_T:
		if (p->packs && is_local_zone(o) && conf_pack_zone(at, words))
			break;
		if (*words[0] || !empty_is_none(o))
			put_words(conf, o, at, words, p);
		break;
	}
	/* As in Unbound: naming a log file means using it. */
	if (base == &conf->server && o->at == offsetof(struct conf_server, logfile) && p->report)
		conf->server.use_syslog = false;
	return true;
}

/* ---- defaults, copying, freeing ---- */

/* Variables in defaults: their values in this installation, and in the generic example. */
static const struct place {
	const char *word, *here, *usual;
} places[] = {
	{ "$user", DAEMON_USER, "resolver" },
	{ "$daemon", DAEMON_NAME, "resolverd" },
	{ "$product", PRODUCT_NAME, "resolver" },
	{ "$rundir", RUN_DIR, "/run" },
	{ "$statedir", STATE_DIR, "/var/lib/resolver" },
	{ "$confdir", SYSCONFDIR "/" PRODUCT_NAME, "/etc/resolver" },
};

static const struct place *place_at(const char *at)
{
	for (size_t i = 0; i < COUNT(places); i++)
		if (strncmp(at, places[i].word, strlen(places[i].word)) == 0)
			return &places[i];
	return NULL;
}

char *conf_default(const struct option *o, bool for_example)
{
	const char *at = o->dflt, *dollar;
	char *text = mem_text(""), *longer;

	while (o->type != CONF_LIST_T && (dollar = strchr(at, '$'))) {
		const struct place *p = place_at(dollar);

		PROMISE(p);
		longer = mem_textf("%s%.*s%s", text, (int)(dollar - at), at,
				   for_example ? p->usual : p->here);
		mem_free(text);
		text = longer;
		at = dollar + strlen(p->word);
	}
	longer = mem_textf("%s%s", text, at);
	mem_free(text);
	return longer;
}

static void set_defaults(struct conf *conf, enum conf_clause clause, void *base)
{
	struct conf_place p = { .name = "", .file = "" };

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];
		const char *words[CONF_MOST_WORDS];
		char *text;

		if (o->clause != clause || o->row != ROW_OPTION || o->type == CONF_LIST_T)
			continue;
		text = conf_default(o, false);
		words[0] = words[1] = words[2] = text;
		if (!*text && o->type >= CONF_STRING_T)
			put_text((char *)base + o->at, text);
		else if (!conf_put_value(conf, o, base, words, &p))
			PANIC("options.def: the default of %s is no good", o->name);
		mem_free(text);
	}
}

void *conf_add_clause(struct conf *conf, enum conf_clause clause, const char *file, unsigned line)
{
	const struct conf_clause_info *info = &conf_clauses[clause];
	char *at = (char *)conf + info->at, *array, *made;
	size_t *count = (size_t *)(void *)((char *)conf + info->count_at);
	const char *kept = conf_keep_file(conf, file);

	memcpy(&array, at, sizeof(array));
	array = mem_grow(array, (*count + 1) * info->size);
	memcpy(at, &array, sizeof(array));
	made = array + (*count)++ * info->size;
	memset(made, 0, info->size);
	memcpy(made + info->file_at, &kept, sizeof(kept));
	memcpy(made + info->line_at, &line, sizeof(line));
	set_defaults(conf, clause, made);
	return made;
}

struct conf *conf_new(void)
{
	struct conf *conf = mem_zero(sizeof(*conf));

	conf->own = mem_zero(sizeof(*conf->own));
	conf->own->given = mem_zero(conf_option_count * sizeof(*conf->own->given));
	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		if (!conf_clauses[c].many)
			set_defaults(conf, (enum conf_clause)c,
				     conf_clause_get(conf, (enum conf_clause)c, 0));
	return conf;
}

static bool is_secret(const struct option *o)
{
	return o->check == CHECK_BASE64 || o->check == CHECK_COOKIE_SECRET || strstr(o->name, "password");
}

static void free_items(struct conf_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		mem_free(list->items[i].text);
	mem_free(list->items);
	names_free(list);
}

static void clear_field(const struct option *o, void *base)
{
	void *at = (char *)base + o->at;

	if (o->type == CONF_LIST_T) {
		free_items(at);
		*(struct conf_list *)at = (struct conf_list){ 0 };
	} else if (o->type >= CONF_STRING_T) {
		if (is_secret(o) && *(char **)at)
			mem_wipe(*(char **)at, strlen(*(char **)at));
		mem_free(*(char **)at);
		*(char **)at = NULL;
	}
}

static void copy_field(struct conf *to, const struct option *o, void *base, const void *from)
{
	void *at = (char *)base + o->at;
	const void *source = (const char *)from + o->at;

	if (o->type == CONF_LIST_T) {
		const struct conf_list *list = source;

		for (size_t i = 0; i < list->count; i++) {
			put_item(to, at, list->items[i].text, list->items[i].file,
				 list->items[i].line);
			((struct conf_list *)at)->items[i].order = list->items[i].order;
		}
		((struct conf_list *)at)->forgotten = list->forgotten;
	} else if (o->type >= CONF_STRING_T) {
		put_text(at, *(char *const *)source);
	} else if (o->type == CONF_FLAG_T) {
		*(conf_FLAG *)at = *(const conf_FLAG *)source;
	} else if (o->type == CONF_SIZE_T) {
		*(conf_SIZE *)at = *(const conf_SIZE *)source;
	} else {
		*(uint32_t *)at = *(const uint32_t *)source;
	}
}

struct conf *conf_copy(const struct conf *conf)
{
	struct conf *copy = conf_new();

	for (size_t i = 0; i < conf->own->file_count; i++)
		conf_keep_file(copy, conf->own->files[i]);
	for (unsigned c = 0; c < CLAUSE_COUNT; c++) {
		enum conf_clause clause = (enum conf_clause)c;
		const struct conf_clause_info *info = &conf_clauses[c];

		for (size_t n = 0; n < conf_clause_size(conf, clause); n++) {
			const char *from = conf_clause_get(conf, clause, n);
			const char *file = "";
			unsigned line = 0;
			void *to;

			if (info->many) {
				memcpy(&file, from + info->file_at, sizeof(file));
				memcpy(&line, from + info->line_at, sizeof(line));
			}
			to = info->many ? conf_add_clause(copy, clause, file, line) :
					  conf_clause_get(copy, clause, 0);
			for (size_t i = 0; i < conf_option_count; i++) {
				const struct option *o = &conf_options[i];

				if (o->clause == clause && o->row == ROW_OPTION)
					copy_field(copy, o, to, from);
			}
		}
	}
	copy->own->order = conf->own->order;
	for (size_t i = 0; i < conf_option_count; i++)
		if (conf->own->given[i].file)
			copy->own->given[i] = (struct conf_origin){
				.file = conf_keep_file(copy, conf->own->given[i].file),
				.line = conf->own->given[i].line,
			};
	return copy;
}

uint64_t conf_list_hash(const struct conf_list *list)
{
	uint64_t hash = list->forgotten;

	for (size_t i = 0; i < list->count; i++)
		hash = fold(hash, list->items[i].text);
	return hash + 31 * list->packed;
}

void conf_list_clear(struct conf_list *list)
{
	uint64_t hash = conf_list_hash(list);

	free_items(list);
	*list = (struct conf_list){ .forgotten = hash };
}

void conf_free(struct conf *conf)
{
	if (!conf)
		return;
	for (unsigned c = 0; c < CLAUSE_COUNT; c++) {
		enum conf_clause clause = (enum conf_clause)c;

		for (size_t n = 0; n < conf_clause_size(conf, clause); n++)
			for (size_t i = 0; i < conf_option_count; i++)
				if (conf_options[i].clause == clause && conf_options[i].row == ROW_OPTION)
					clear_field(&conf_options[i],
						    conf_clause_get(conf, clause, n));
		if (conf_clauses[c].many)
			mem_free(conf_clause_get(conf, clause, 0));
	}
	for (size_t i = 0; i < conf->own->file_count; i++)
		mem_free(conf->own->files[i]);
	mem_free(conf->own->files);
	mem_free(conf->own->given);
	mem_free(conf->own);
	mem_free(conf);
}
