/* load_cache: loads the output of dump_cache back into the caches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The input may be of any origin and age: what is understood is loaded, an unsound RRset or answer
 * is skipped, and if the structure of the whole is broken loading ends with an error. What was
 * loaded until then is sound by itself and stays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/control/call.h"
#include "daemon/process/daemon.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define LINE_MOST    (1 << 20) /* as in zone files: an NSEC record that names every type takes 655360 bytes */
#define RECORDS_MOST 4096   /* records, and as many signatures, per RRset */
#define SETS_MOST    8192   /* RRsets per section of an answer: more than fit in a message */

/* Where in the dump we are. */
enum place { AT_BEGIN, IN_SETS, BETWEEN, IN_ANSWERS, AT_END, AT_EOF };

struct loading {
	struct arena arena; /* for the RRset or answer being read */
	enum place place;
	unsigned left; /* lines of it still to come */
	bool is_answer, is_unsound;
	bool lost; /* an error was reported: the rest of the input is discarded */
	struct rrset_parts set;
	struct slice *records, *sigs;
	struct message answer;
	uint32_t ttl_s;
	size_t sets_kept, answers_kept, passed;
};

static bool lost(struct call *c, const char *why)
{
	struct loading *l = c->data;

	call_say(c, "error: line %u of the cache's dump: %s\n", c->items, why);
	l->lost = c->refused = true;
	return false;
}

/* Parse the next word as a number up to `most`; false if it is none. */
static bool take_number(char **at, unsigned long most, unsigned long *to)
{
	char *word = control_word(at), *end = NULL;

	if (!word || *word < '0' || *word > '9')
		return false;
	*to = strtoul(word, &end, 10);
	return !*end && *to <= most;
}

/* The next word, unless it is missing: `dflt`. False if it is no number in `base`. */
static bool take_more(char **at, int base, uint64_t dflt, uint64_t *to)
{
	char *word = control_word(at), *end = NULL;

	*to = dflt;
	if (!word)
		return true;
	errno = 0;
	*to = strtoull(word, &end, base);
	return *word != '-' && *end == '\0' && errno == 0;
}

static bool take_key(struct loading *l, char **at, struct question *q)
{
	char *name = control_word(at), *class_ = control_word(at), *type = control_word(at);
	uint8_t wire[DNAME_MAX];

	if (!type || !dname_parse(wire, name, NULL) || !rr_class_parse(class_, &q->class_) ||
	    !rr_type_parse(type, &q->type))
		return false;
	q->name_len = (uint16_t)dname_len(wire);
	q->name = arena_copy(&l->arena, wire, q->name_len);
	return true;
}

static uint32_t bounded_ttl(const struct call *c, unsigned long ttl_s)
{
	return (uint32_t)MIN(ttl_s, (unsigned long)call_snapshot(c)->conf->server.cache_max_ttl);
}

/* ---- RRsets ---- */

static bool begin_set(struct call *c, struct loading *l, char *at)
{
	unsigned long ttl_s, count, sigs, trust, security;
	uint64_t flags;
	bool at_apex = strncmp(at, "nsec_apex ", 10) == 0;

	if (at_apex)
		at += 10;
	if (!take_number(&at, UINT32_MAX, &ttl_s) || !take_number(&at, RECORDS_MOST, &count) ||
	    !take_number(&at, RECORDS_MOST, &sigs) || !take_number(&at, TRUST_ULTIMATE, &trust) ||
	    !take_number(&at, SECURITY_SECURE, &security) || count + sigs == 0 ||
	    !take_more(&at, 10, 0, &flags))
		return lost(c, "this is no head of a record set");
	arena_clear(&l->arena);
	arena_init(&l->arena);
	l->left = (unsigned)(count + sigs);
	l->is_answer = l->is_unsound = false;
	l->records = arena_array(&l->arena, struct slice, l->left);
	l->sigs = arena_array(&l->arena, struct slice, l->left);
	l->ttl_s = bounded_ttl(c, ttl_s);
	l->set = (struct rrset_parts){ .ttl_s = l->ttl_s,
				       .expires_s = loop_time(c->daemon->loop)->now_s + l->ttl_s,
				       .records = l->records,
				       .sigs = l->sigs,
				       .trust = (uint8_t)trust,
				       .security = (uint8_t)security,
				       .flags = (at_apex ? RRSET_NSEC_AT_APEX : 0) |
						(uint8_t)(flags & RRSET_FLAGS_KEPT) };
	return true;
}

/* Add a record to the RRset, whose key is that of its first record. False if it does not belong. */
static bool add_record(struct loading *l, const struct text_rr *rr)
{
	struct rrset_parts *s = &l->set;
	bool is_sig = rr->type == TYPE_RRSIG && s->count && s->type != TYPE_RRSIG;

	if (!rr_rdata_is_whole(rr->type, rr->rdata.at, rr->rdata.len) ||
	    (rr_flags(rr->type) & RR_META))
		return false;
	if (!s->owner) {
		s->owner = rr->owner;
		s->type = rr->type;
		s->class_ = rr->class_;
	}
	if (!dname_equals(s->owner, rr->owner) || s->class_ != rr->class_ ||
	    (is_sig ? get_u16(rr->rdata.at) : rr->type) != s->type)
		return false;
	if (is_sig)
		l->sigs[s->sig_count++] = rr->rdata;
	else
		l->records[s->count++] = rr->rdata;
	return true;
}

static void end_set(struct call *c, struct loading *l)
{
	uint32_t now_s = loop_time(c->daemon->loop)->now_s;

	if (l->is_unsound || !l->set.count || l->set.security == SECURITY_BOGUS) {
		l->passed++;
		return;
	}
	if (l->set.security == SECURITY_SECURE) { /* that is for the validator to say, of what it has verified */
		l->set.security = SECURITY_UNCHECKED;
		l->set.trust = MIN(l->set.trust, TRUST_ANS_AA);
	}
	(void)rrsetcache_put(c->daemon->caches.rrsets, rrset_build(&l->arena, &l->set), now_s,
			     &l->arena);
	l->sets_kept++;
}

/* ---- answers ---- */

/* That is for the validator to say, of what it has verified. What it found insecure for a reason that clients are told (an
 * EDE code, -1: none) it will find again, with the reason. */
static uint8_t security_of(unsigned long was, const char *ede)
{
	bool explained = ede && *ede != '-' && was == SECURITY_INSECURE;

	return was == SECURITY_SECURE || explained ? SECURITY_UNCHECKED : (uint8_t)was;
}

static bool begin_answer(struct call *c, struct loading *l, char *at)
{
	unsigned long flags, questions, ttl_s, security, counts[3];
	struct message *m = &l->answer;

	arena_clear(&l->arena);
	arena_init(&l->arena);
	*m = (struct message){ 0 };
	if (!take_key(l, &at, &m->q) || !take_number(&at, 0xffff, &flags) ||
	    !take_number(&at, 1, &questions) || !take_number(&at, UINT32_MAX, &ttl_s) ||
	    !take_number(&at, SECURITY_SECURE, &security) ||
	    !take_number(&at, SETS_MOST, &counts[0]) || !take_number(&at, SETS_MOST, &counts[1]) ||
	    !take_number(&at, SETS_MOST, &counts[2]))
		return lost(c, "this is no head of an answer");
	m->flags = (uint16_t)(flags & (FLAG_AA | FLAG_AD));
	m->rcode = (uint16_t)(flags & 15);
	m->security = security_of(security, control_word(&at));
	l->left = (unsigned)(counts[0] + counts[1] + counts[2]);
	m->sets = arena_array(&l->arena, const struct rrset *, l->left + 1);
	for (unsigned i = 0; i < 3; i++)
		m->count[i] = (uint16_t)counts[i];
	l->ttl_s = bounded_ttl(c, ttl_s);
	l->is_answer = true;
	/* Failures are not loaded: they are to be found afresh. */
	l->is_unsound = questions != 1 || security == SECURITY_BOGUS ||
			(m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN &&
			 m->rcode != RCODE_YXDOMAIN);
	return true;
}

/* What the parent's side said is used only where that is meant: no client is answered from it. (Unbound does not
 * write down whose side an RRset is on.) */
static const struct rrset *find_set(struct call *c, const struct question *key, unsigned flags)
{
	struct rrsetcache *sets = c->daemon->caches.rrsets;
	uint32_t now_s = loop_time(c->daemon->loop)->now_s;
	const struct rrset *found = rrsetcache_find(sets, key->name, key->type, key->class_, (uint8_t)flags, now_s);

	if (found || !(flags & RRSET_PARENT_SIDE))
		return found;
	return rrsetcache_find(sets, key->name, key->type, key->class_, (uint8_t)(flags & ~(unsigned)RRSET_PARENT_SIDE),
			       now_s);
}

/* Add an RRset to the answer by its key; it must be in the RRset cache already, and be the same one if the dump
 * says which it was. */
static void add_set(struct call *c, struct loading *l, char *at)
{
	unsigned done = message_set_count(&l->answer) - l->left;
	const struct rrset *found = NULL;
	struct question key;
	unsigned long flags;
	uint64_t sum;

	if (take_key(l, &at, &key) && take_number(&at, UINT32_MAX, &flags))
		found = find_set(c, &key, flags & (RRSET_PARENT_SIDE | RRSET_NSEC_AT_APEX));
	if (found && take_more(&at, 16, 0, &sum) && (!sum || sum == rrset_checksum(found)))
		l->answer.sets[done] = rrset_copy(&l->arena, found);
	else
		l->is_unsound = true;
}

static void end_answer(struct call *c, struct loading *l)
{
	struct msg_keep keep = { .now_s = loop_time(c->daemon->loop)->now_s, .ttl_s = l->ttl_s };

	if (l->is_unsound) {
		l->passed++;
		return;
	}
	msgcache_store(c->daemon->caches.messages, &l->answer, &keep);
	l->answers_kept++;
}

/* ---- lines ---- */

static void take_part(struct call *c, struct loading *l)
{
	struct text_rr rr;

	if (l->is_answer)
		add_set(c, l, c->item);
	else if (!text_rr_parse(&l->arena, c->item, NULL, &rr, NULL) || !add_record(l, &rr))
		l->is_unsound = true;
	if (--l->left == 0)
		(l->is_answer ? end_answer : end_set)(c, l);
}

/* Whether the line is a marker between the parts of a dump, valid here; enters the next part. */
static bool take_mark(struct call *c, struct loading *l)
{
	static const struct {
		const char *text;
		enum place from, to;
	} marks[] = {
		{ "START_RRSET_CACHE", AT_BEGIN, IN_SETS },
		{ "END_RRSET_CACHE", IN_SETS, BETWEEN },
		{ "START_MSG_CACHE", BETWEEN, IN_ANSWERS },
		{ "END_MSG_CACHE", IN_ANSWERS, AT_END },
		{ "EOF", AT_END, AT_EOF },
	};

	for (size_t i = 0; i < COUNT(marks); i++) {
		if (strcmp(c->item, marks[i].text) == 0 && l->place == marks[i].from) {
			l->place = marks[i].to;
			c->over = l->place == AT_EOF;
			return true;
		}
	}
	return false;
}

static void take_line(struct call *c, struct loading *l)
{
	if (l->lost)
		c->over = strcmp(c->item, "EOF") == 0;
	else if (l->left)
		take_part(c, l);
	else if (take_mark(c, l))
		return;
	else if (l->place == IN_SETS && strncmp(c->item, ";rrset ", 7) == 0)
		(void)begin_set(c, l, c->item + 7);
	else if (l->place == IN_ANSWERS && strncmp(c->item, "msg ", 4) == 0) {
		if (begin_answer(c, l, c->item + 4) && !l->left)
			end_answer(c, l);
	} else
		(void)lost(c, "it does not belong here");
}

static void finish(struct call *c, struct loading *l)
{
	if (l->place == AT_EOF) {
		log_ops("load_cache: %zu RRsets and %zu answers loaded, %zu skipped",
			l->sets_kept, l->answers_kept, l->passed);
		call_ok(c);
	} else if (!l->lost) {
		(void)lost(c, "it ends before its end");
	}
	arena_clear(&l->arena);
}

void control_load_cache(struct call *c, struct worker *w)
{
	(void)w;
	if (c->phase == CALL_BEGIN) {
		struct loading *l = mem_zero(sizeof *l);

		arena_init(&l->arena);
		c->data = l;
		c->item_room = LINE_MOST;
	} else if (c->phase == CALL_ITEM) {
		take_line(c, c->data);
	} else {
		finish(c, c->data);
	}
}
