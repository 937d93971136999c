/* Worlds as scenarios: what happened, line by line, and servers' answers gathered by what they answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/script.h"

#include <string.h>

#include "daemon/replay/rrs.h"
#include "testdata/hostile/play.h"
#include "util/base/timebase.h"
#include "util/dns/text.h"

enum line_kind { LINE_ASKED, LINE_ANSWERED, LINE_TOLD, LINE_PASSED };

struct script_line {
	struct script_line *next;
	enum line_kind kind;
	unsigned step;	   /* from which on it holds */
	unsigned id;	   /* of a client's question */
	const char *server; /* TOLD */
	const char *key;   /* TOLD: what is answered */
	const char *text;
	bool written;
};

static struct script *script_of(struct trace *t)
{
	return container_of(t, struct script, trace);
}

static struct script_line *line_add(struct script *s, enum line_kind kind, const char *text)
{
	struct script_line *l = arena_new(&s->arena, struct script_line);

	l->kind = kind;
	l->text = text;
	l->step = s->step;
	if (s->last)
		s->last->next = l;
	else
		s->first = l;
	s->last = l;
	return l;
}

/* ---- messages as entries ---- */

static const struct {
	uint16_t flag;
	const char *word;
} flag_words[] = { { FLAG_QR, "QR " }, { FLAG_AA, "AA " }, { FLAG_TC, "TC " }, { FLAG_RD, "RD " },
		   { FLAG_RA, "RA " }, { FLAG_AD, "AD " }, { FLAG_CD, "CD " } };

static const char *const rcode_words[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED" };

static char *reply_line(struct arena *a, uint16_t flags, bool dnssec, unsigned rcode)
{
	char *text = arena_textf(a, "REPLY ");

	for (unsigned i = 0; i < COUNT(flag_words); i++)
		if (flags & flag_words[i].flag)
			text = arena_textf(a, "%s%s", text, flag_words[i].word);
	return arena_textf(a, "%s%s%s\n", text, dnssec ? "DO " : "", rcode_words[rcode]);
}

static char *question_lines(struct arena *a, const uint8_t *name, uint16_t type)
{
	char text[DNAME_TEXT], type_name[16];

	return arena_textf(a, "SECTION QUESTION\n%s IN %s\n", dname_print(name, text),
			   rr_type_name(type, type_name));
}

static char *record_lines(struct arena *a, const struct flat_message *m)
{
	static const char *const names[] = { "ANSWER", "AUTHORITY", "ADDITIONAL" };
	static char line[8192];
	char *text = arena_textf(a, "%s", "");

	for (unsigned s = 0; s < 3; s++) {
		if (m->count[s])
			text = arena_textf(a, "%sSECTION %s\n", text, names[s]);
		for (unsigned i = 0; i < m->count[s]; i++) {
			flat_rr_print(&m->rrs[s][i], line, sizeof(line));
			text = arena_textf(a, "%s%s\n", text, line);
		}
	}
	return text;
}

/* Whether its text is all of it. */
static bool is_plain(const struct flat_message *m, const struct flat_message *query)
{
	for (unsigned s = 0; s < 3; s++)
		for (unsigned i = 0; i < m->count[s]; i++)
			if (m->rrs[s][i].ttl_s > INT32_MAX) /* no text has that */
				return false;
	return m->qname && m->qtype == query->qtype && dname_equals(m->qname, query->qname) &&
	       m->rcode < COUNT(rcode_words) && m->edns.present && m->edns.version == 0 && !m->edns.options.len;
}

static char *hex_lines(struct arena *a, struct slice wire)
{
	char *text = arena_textf(a, "HEX_ANSWER_BEGIN\n"), line[100];

	for (size_t i = 0; i < wire.len; i += 32) {
		size_t used = 0;

		for (size_t n = i; n < wire.len && n < i + 32; n++)
			used += (size_t)sprintf(line + used, "%02x", wire.at[n]);
		text = arena_textf(a, "%s%s\n", text, line);
	}
	return arena_textf(a, "%sHEX_ANSWER_END\n", text);
}

/* ---- what is told of ---- */

static void on_config(struct trace *t, const char *text)
{
	struct script *s = script_of(t);

	const char *own = strstr(text, "\tdo-ip6"); /* what resolver-replay has of its own stands before it */

	s->config = arena_textf(&s->arena, "%s", own ? own : text);
}

static void on_asked(struct trace *t, const struct addr *from, bool tcp, struct slice query)
{
	struct script *s = script_of(t);
	struct arena *a = &s->arena;
	struct flat_message m;
	char addr[ADDR_TEXT];

	if (s->waited_us >= US_PER_S)
		line_add(s, LINE_PASSED,
			 arena_textf(a, "TIME_PASSES ELAPSE %llu", (unsigned long long)(s->waited_us / US_PER_S)));
	s->waited_us = 0;
	if (!flat_read(query, a, &m))
		return;
	s->step += 10;
	line_add(s, LINE_ASKED,
		 arena_textf(a, "QUERY ADDRESS %s\nENTRY_BEGIN\n%s%s%sENTRY_END\n", addr_print(from, from->port, addr),
			     tcp ? "MATCH TCP\n" : "", reply_line(a, m.flags, m.edns.flags & EDNS_DO, 0),
			     question_lines(a, m.qname, m.qtype)));
}

static void on_answered(struct trace *t, const struct addr *to, bool tcp, struct slice answer)
{
	struct script *s = script_of(t);
	struct arena *a = &s->arena;
	struct flat_message m;

	(void)to;
	(void)tcp;
	if (!flat_read(answer, a, &m) || !m.qname)
		return;
	if (m.rcode >= COUNT(rcode_words))
		return;
	m.count[1] = m.count[2] = 0;
	line_add(s, LINE_ANSWERED,
		 arena_textf(a, "CHECK_ANSWER\nENTRY_BEGIN\nMATCH rcode flags question answer\n%s%s%sENTRY_END\n",
			     reply_line(a, m.flags, m.edns.present, m.rcode), question_lines(a, m.qname, m.qtype),
			     record_lines(a, &m)))
		->id = m.id;
}

static void on_truth(struct trace *t, unsigned id, const struct truth *truth, bool dnssec, bool proven)
{
	struct script *s = script_of(t);
	struct arena *a = &s->arena;
	const struct question *q = &truth->asked;
	static char line[8192];
	char *text;

	/* signatures are not part of the truth */
	text = arena_textf(a, "CHECK_ANSWER\nENTRY_BEGIN\nMATCH rcode flags question%s\n%s%s", dnssec ? "" : " answer",
			   reply_line(a, (uint16_t)(FLAG_QR | FLAG_RD | FLAG_RA | (proven ? FLAG_AD : 0)), dnssec,
				      truth->told.rcode),
			   question_lines(a, q->name, q->type));
	text = arena_textf(a, "%s%s", text, dnssec ? "" : "SECTION ANSWER\n");
	for (unsigned i = 0; !dnssec && i < truth->told.count; i++) {
		const struct told_record *r = &truth->told.records[i];

		text_rr_print(line, sizeof(line), r->owner, r->ttl_s, CLASS_IN, r->type, r->rdata);
		text = arena_textf(a, "%s%s\n", text, line);
	}
	for (struct script_line *l = s->first; l; l = l->next)
		if (l->kind == LINE_ANSWERED && l->id == id)
			l->text = arena_textf(a, "%sENTRY_END\n", text);
}

static void on_sent(struct trace *t, const struct addr *to, bool tcp, struct slice query)
{
	(void)t;
	(void)to;
	(void)tcp;
	(void)query;
}

static void on_told(struct trace *t, const struct addr *from, bool tcp, struct slice query, struct slice answer)
{
	struct script *s = script_of(t);
	struct arena *a = &s->arena;
	struct flat_message q, m;
	struct script_line *l;
	char addr[ADDR_TEXT];
	uint8_t lower[DNAME_MAX];
	const char *head, *question;

	if (!flat_read(query, a, &q) || !q.qname)
		return;
	dname_copy_lower(lower, q.qname);
	question = question_lines(a, lower, q.qtype);
	head = arena_textf(a, "MATCH opcode qtype qname%s\n", tcp ? " TCP" : "");
	l = line_add(s, LINE_TOLD, NULL);
	l->server = arena_textf(a, "%s", addr_print(from, 53, addr));
	l->key = arena_textf(a, "%s%s%s", l->server, head, question);
	if (!answer.len)
		l->text = arena_textf(a, "%sADJUST do_not_answer\nREPLY QR NOERROR\n%s", head, question);
	else if (flat_read(answer, a, &m) && is_plain(&m, &q))
		l->text = arena_textf(a, "%sADJUST copy_id copy_query\n%s%s%s", head,
				      reply_line(a, m.flags, true, m.rcode), question, record_lines(a, &m));
	else
		l->text = arena_textf(a, "%sADJUST copy_id\nREPLY QR NOERROR\n%s%s", head, question,
				      hex_lines(a, answer));
}

static void on_passed(struct trace *t, uint64_t us)
{
	script_of(t)->waited_us += us;
}

static void on_noted(struct trace *t, const char *what)
{
	(void)t;
	(void)what;
}

void script_begin(struct script *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->arena);
	s->trace = (struct trace){ .config = on_config,
				   .asked = on_asked,
				   .answered = on_answered,
				   .truth = on_truth,
				   .sent = on_sent,
				   .told = on_told,
				   .passed = on_passed,
				   .noted = on_noted };
}

void script_clear(struct script *s)
{
	arena_clear(&s->arena);
}

/* ---- written ---- */

/* The next different answer to the same ends this one's range. */
static unsigned ends(const struct script_line *l)
{
	for (const struct script_line *next = l->next; next; next = next->next)
		if (next->kind == LINE_TOLD && strcmp(next->key, l->key) == 0 && strcmp(next->text, l->text) != 0 &&
		    next->step > l->step)
			return next->step - 1;
	return 1000000;
}

static void write_entry(const struct script_line *l, FILE *out)
{
	fprintf(out, "ENTRY_BEGIN\n%sENTRY_END\n", l->text);
}

/* Said already, by an earlier line whose range goes on. */
static void mark_same(struct script_line *l, unsigned until)
{
	for (struct script_line *other = l->next; other; other = other->next)
		if (other->kind == LINE_TOLD && other->step <= until && strcmp(other->key, l->key) == 0)
			other->written = true;
}

static bool is_first(const struct script *s, const struct script_line *l)
{
	for (const struct script_line *other = s->first; other != l; other = other->next)
		if (other->kind == LINE_TOLD && strcmp(other->key, l->key) == 0)
			return false;
	return true;
}

static void write_range(struct script *s, struct script_line *l, FILE *out)
{
	unsigned from = is_first(s, l) ? 0 : l->step, until = ends(l);

	fprintf(out, "RANGE_BEGIN %u %u\n\tADDRESS %s\n", from, until, l->server);
	for (struct script_line *other = l; other; other = other->next) {
		if (other->kind != LINE_TOLD || other->written || strcmp(other->server, l->server) != 0 ||
		    ends(other) != until || (is_first(s, other) ? 0 : other->step) != from)
			continue;
		write_entry(other, out);
		other->written = true;
		mark_same(other, until);
	}
	fprintf(out, "RANGE_END\n\n");
}

void script_write(struct script *s, const char *moral, FILE *out)
{
	unsigned step = 0;

	fprintf(out, "; %s\nserver:\n\tval-override-date: \"20260921141320\"\n\ttrust-anchor-signaling: no\n%sCONFIG_END\n\nSCENARIO_BEGIN %s\n\n",
		moral, s->config, moral);
	for (struct script_line *l = s->first; l; l = l->next)
		if (l->kind == LINE_TOLD && !l->written)
			write_range(s, l, out);
	for (const struct script_line *l = s->first; l; l = l->next) {
		if (l->kind == LINE_TOLD)
			continue;
		step = MAX(step + 1, l->step);
		fprintf(out, "STEP %u %s\n", step, l->text);
	}
	fprintf(out, "SCENARIO_END\n");
}
