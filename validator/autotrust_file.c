/* The file of a rolling trust anchor: read, printed in Unbound's format, written atomically.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/mem.h"
#include "util/base/textlex.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "validator/autotrust_private.h"
#include "validator/crypto.h"
#include "validator/date.h"
#include "validator/verify.h"

#define FILE_MAX (1u << 20)
#define RETRY_S  3600

/* ---- reading ---- */

struct reading {
	struct autotrust *p;
	const char *path;
	struct arena arena;
	unsigned line;
	bool named;             /* the zone's name has been read */
	struct fault *f;
};

static bool wrong(struct reading *r, const char *what)
{
	fault_set(r->f, "%s:%u: %s", r->path ? r->path : "trust anchor", r->line, what);
	return false;
}

/* Reads the number after `word` in the entry. False: none there, negative, or above `most`. */
static bool find_number(const char *entry, const char *word, int64_t most, int64_t *out)
{
	const char *at = strstr(entry, word);
	char *end;

	if (!at)
		return false;
	at += strlen(word);
	errno = 0;
	*out = strtoll(at, &end, 10);
	return end != at && errno == 0 && *out >= 0 && *out <= most;
}

static bool read_owner(struct reading *r, const uint8_t *owner)
{
	if (!r->named)
		dname_copy_lower(r->p->owner, owner);
	r->named = true;
	return dname_equals(r->p->owner, owner) ||
	       wrong(r, "another name than before: a file holds the anchor of one zone");
}

static bool read_id(struct reading *r, const char *text)
{
	char name[DNAME_TEXT];
	uint8_t owner[DNAME_MAX];
	unsigned class_;

	if (sscanf(text, " %1024s %u", name, &class_) != 2 || class_ != CLASS_IN ||
	    dname_parse(owner, name, NULL) == 0)
		return wrong(r, "the zone's id cannot be read");
	return read_owner(r, owner);
}

/* A line ";;word: number"; unknown ones are ignored as comments. */
static bool read_remark(struct reading *r, const char *text)
{
	struct autotrust *p = r->p;
	int64_t n;

	if (strncmp(text, ";;REVOKED", 9) == 0) {
		p->revoked = true;
		return true;
	}
	if (strncmp(text, ";;id:", 5) == 0)
		return read_id(r, text + 5);
#define NUMBER(word, most, field, type)                                         \
	if (strncmp(text, ";;" word ":", sizeof(";;" word)) == 0) {             \
		if (!find_number(text, ";;" word ":", most, &n))                \
			return wrong(r, word " is no number that makes sense"); \
		p->field = (type)n;                                             \
		return true;                                                    \
	}
	NUMBER("last_queried", INT64_MAX / 2, last_queried, int64_t)
	NUMBER("last_success", INT64_MAX / 2, last_success, int64_t)
	NUMBER("next_probe_time", INT64_MAX / 2, next_probe, int64_t)
	NUMBER("query_failed", UINT32_MAX, query_failed, uint32_t)
	NUMBER("query_interval", INT32_MAX, query_interval_s, uint32_t)
	NUMBER("retry_time", INT32_MAX, retry_s, uint32_t)
#undef NUMBER
	return true;
}

static bool read_key(struct reading *r, const char *entry)
{
	struct autotrust_key k = { .state = AUTOTRUST_valid };
	struct fault why = { .set = false };
	struct text_rr rr;
	int64_t n;

	if (!text_rr_parse(&r->arena, entry, NULL, &rr, &why))
		return wrong(r, why.text);
	if (rr.class_ != CLASS_IN || (rr.type != TYPE_DNSKEY && rr.type != TYPE_DS))
		return wrong(r, "neither a DNSKEY nor a DS record of class IN");
	if (rr.rdata.len < 5)
		return wrong(r, "the record is cut");
	if (!read_owner(r, rr.owner))
		return false;
	k.type = rr.type;
	k.rdata = rr.rdata;
	k.ttl_s = rr.ttl_s;
	if (strstr(entry, ";;state=")) {
		if (!find_number(entry, ";;state=", AUTOTRUST_removed, &n))
			return wrong(r, "no such state");
		k.state = (enum autotrust_state)n;
		if (strstr(entry, ";;count=")) {
			if (!find_number(entry, ";;count=", UINT32_MAX, &n))
				return wrong(r, "the count is no number that makes sense");
			k.count = (uint32_t)n;
		}
		if (!find_number(entry, ";;lastchange=", INT64_MAX / 2, &k.last_change))
			return wrong(r, "the time of the last change is missing");
	}
	if (k.state != AUTOTRUST_start && k.state != AUTOTRUST_removed)
		autotrust_key_put(r->p, &k);
	return true;
}

/* The end of the entry at `at`: a line, or several if parenthesized. *record: whether it holds
 * anything but white space and comments; *lines: how many lines it takes. */
static const char *entry_end(const char *at, const char *end, bool *record, unsigned *lines)
{
	struct lexer x = { 0 };
	bool good = true;

	*record = false;
	for (*lines = 1; at < end; at++) {
		enum lex l = lex_char(&x, *at);

		if (l == LEX_BAD)
			good = false;
		if (*at == '\n' && (l == LEX_END || !good))
			return at;
		*lines += *at == '\n';
		*record |= l == LEX_TEXT;
	}
	return end;
}

static bool read_all(struct reading *r, const char *text, size_t len)
{
	const char *at = text, *end = text + len;

	while (at < end) {
		bool record, good;
		unsigned lines;
		const char *stop = entry_end(at, end, &record, &lines);
		char *entry = arena_take(&r->arena, (size_t)(stop - at) + 1);

		r->line++;
		memcpy(entry, at, (size_t)(stop - at));
		entry[stop - at] = '\0';
		if (strlen(entry) != (size_t)(stop - at))
			return wrong(r, "a byte 0");
		good = record ? read_key(r, entry)
			      : strncmp(entry, ";;", 2) != 0 || read_remark(r, entry);
		if (!good)
			return false;
		r->line += lines - 1;
		at = stop + 1;
	}
	return true;
}

static bool is_whole(struct reading *r)
{
	bool trusted = false;

	for (size_t i = 0; i < r->p->count; i++)
		trusted |= r->p->keys[i].state == AUTOTRUST_valid ||
			   r->p->keys[i].state == AUTOTRUST_missing;
	if (r->p->count == 0)
		fault_set(r->f, "%s: holds no key", r->path ? r->path : "trust anchor");
	else if (!trusted && !r->p->revoked)
		fault_set(r->f, "%s: none of its keys is trusted, and yet it is not revoked",
			  r->path ? r->path : "trust anchor");
	return r->p->count && (trusted || r->p->revoked);
}

struct autotrust *autotrust_parse(const char *path, const char *text, size_t len, struct fault *f)
{
	struct reading r = { .path = path, .f = f };
	bool good;

	r.p = mem_zero(sizeof(*r.p));
	r.p->query_interval_s = r.p->retry_s = RETRY_S;
	arena_init(&r.arena);
	good = read_all(&r, text, len) && is_whole(&r);
	arena_clear(&r.arena);
	if (!good) {
		autotrust_free(r.p);
		return NULL;
	}
	r.p->path = path ? mem_text(path) : NULL;
	return r.p;
}

struct autotrust *autotrust_read(const char *path, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct autotrust *p = NULL;
	char *text = NULL;
	size_t len = 0;
	ssize_t got = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		fault_set(f, "cannot read %s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
		fault_set(f, "cannot read %s: it is no file of a trust anchor", path);
	} else {
		text = mem_new((size_t)st.st_size + 1);
		while ((got = read(fd, text + len, (size_t)st.st_size - len)) > 0)
			len += (size_t)got;
		if (got < 0)
			fault_set(f, "cannot read %s: %s", path, strerror(errno));
		else
			p = autotrust_parse(path, text, len, f);
	}
	mem_free(text);
	if (fd >= 0)
		close(fd);
	return p;
}

/* ---- printing ---- */

struct growing {
	char *text;
	size_t len, room;
};

static void put(struct growing *g, const char *text)
{
	size_t len = strlen(text);

	if (g->len + len >= g->room) {
		g->room = (g->len + len + 1) * 2;
		g->text = mem_grow(g->text, g->room);
	}
	memcpy(g->text + g->len, text, len + 1);
	g->len += len;
}

static void put_number(struct growing *g, const char *word, uint64_t n)
{
	char line[80];

	snprintf(line, sizeof(line), ";;%s: %" PRIu64 "\n", word, n);
	put(g, line);
}

static void put_time(struct growing *g, const char *word, int64_t seconds)
{
	char line[80 + DATE_TEXT], when[DATE_TEXT];

	snprintf(line, sizeof(line), ";;%s: %" PRId64 " ;;%s\n", word, seconds,
		 date_print_ctime(seconds, when));
	put(g, line);
}

static void put_key(struct growing *g, const struct autotrust *p, const struct autotrust_key *k)
{
	static const char *const names[] = { "  START  ", " ADDPEND ", "  VALID  ",
					     " MISSING ", " REVOKED ", " REMOVED " };
	size_t room = 2 * k->rdata.len + DNAME_TEXT + 128;
	char *line = mem_new(room), tail[160], when[DATE_TEXT];
	struct dnskey key;

	text_rr_print(line, room, p->owner, k->ttl_s, CLASS_IN, k->type, k->rdata);
	put(g, line);
	mem_free(line);
	if (k->type == TYPE_DNSKEY && dnskey_read(k->rdata, &key)) {
		snprintf(tail, sizeof(tail), " ;{id = %u (%s), size = %ub}", rr_key_tag(k->rdata),
			 key.flags & DNSKEY_SEP ? "ksk" : "zsk",
			 crypto_key_bits(key.algorithm, key.public_key));
		put(g, tail);
	}
	snprintf(tail, sizeof(tail), " ;;state=%d [%s] ;;count=%u ;;lastchange=%" PRId64 " ;;%s\n",
		 (int)k->state, names[k->state], (unsigned)k->count, k->last_change,
		 date_print_ctime(k->last_change, when));
	put(g, tail);
}

char *autotrust_print(const struct autotrust *p)
{
	struct growing g = { 0 };
	char owner[DNAME_TEXT], id[DNAME_TEXT + 16];

	put(&g, "; autotrust trust anchor file\n");
	if (p->revoked)
		put(&g, ";;REVOKED\n"
			"; The zone has all keys revoked, and is\n"
			"; considered as if it has no trust anchors.\n"
			"; the remainder of the file is the last probe.\n"
			"; to restart the trust anchor, overwrite this file.\n"
			"; with one containing valid DNSKEYs or DSes.\n");
	snprintf(id, sizeof(id), ";;id: %s %d\n", dname_print(p->owner, owner), CLASS_IN);
	put(&g, id);
	put_time(&g, "last_queried", p->last_queried);
	put_time(&g, "last_success", p->last_success);
	put_time(&g, "next_probe_time", p->next_probe);
	put_number(&g, "query_failed", p->query_failed);
	put_number(&g, "query_interval", p->query_interval_s);
	put_number(&g, "retry_time", p->retry_s);
	for (size_t i = 0; i < p->count; i++)
		put_key(&g, p, &p->keys[i]);
	return g.text;
}

/* ---- writing ---- */

bool autotrust_replace(const char *path, const char *text, struct fault *f)
{
	char suffix[24];
	struct stat st;
	mode_t mode = stat(path, &st) == 0 ? st.st_mode & 0777 : 0644;
	struct file_new n;
	bool good;

	/* resolver-anchor may be writing it at the same time */
	snprintf(suffix, sizeof(suffix), ".%ld", (long)getpid());
	good = file_new_begin(&n, path, suffix, mode) && file_write(n.fd, text, strlen(text));
	good = file_new_end(&n, good);
	if (!good)
		fault_set(f, "cannot write %s: %s", path, strerror(errno));
	return good;
}

bool autotrust_write(struct autotrust *p, struct fault *f)
{
	char *text = autotrust_print(p);
	bool good = autotrust_replace(p->path, text, f);

	if (good)
		p->changed = false;
	mem_free(text);
	return good;
}
