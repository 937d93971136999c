/* Commands about what is cached: showing it, forgetting it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "daemon/call.h"
#include "daemon/daemon.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/negative.h"
#include "services/cache/rrset.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/rr.h"
#include "util/text.h"
#include "validator/keycache.h"

/* ---- one name ---- */

static const uint16_t common_types[] = {
	TYPE_A,  TYPE_AAAA, TYPE_NS,  TYPE_SOA,   TYPE_CNAME, TYPE_DNAME,
	TYPE_MX, TYPE_PTR,  TYPE_SRV, TYPE_NAPTR, TYPE_SVCB,  TYPE_HTTPS,
};

static void forget(const struct caches *caches, const uint8_t *name, uint16_t type)
{
	struct question q = { .name = name,
			      .name_len = (uint16_t)dname_len(name),
			      .type = type,
			      .class_ = CLASS_IN };

	msgcache_remove(caches->messages, &q);
	negcache_forget_name(caches->negative, name, CLASS_IN);
	(void)rrsetcache_remove(caches->rrsets, name, type, CLASS_IN);
}

/* "+c" is about a second cache behind this one; without one it says nothing. */
static bool take_second_cache(struct call *c)
{
	bool given[1];

	return call_take_flags(c, "c", given);
}

void control_flush(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!take_second_cache(c) || !call_take_name(c, name))
		return;
	for (size_t i = 0; i < COUNT(common_types); i++)
		forget(&c->daemon->caches, name, common_types[i]);
	call_ok(c);
}

void control_flush_type(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];
	uint16_t type;
	const char *word;

	(void)w;
	if (!take_second_cache(c) || !call_take_name(c, name))
		return;
	word = control_word(&c->args);
	if (!word) {
		call_say(c, "error could not find next argument after name\n");
		return;
	}
	if (!rr_type_parse(word, &type)) {
		call_say(c, "error parsing RRset type: '%s'\n", word);
		return;
	}
	forget(&c->daemon->caches, name, type);
	call_ok(c);
}

/* ---- whatever a rule says ---- */

/* Which entries go; a NULL rule takes none. */
struct flushing {
	const uint8_t *top;
	bool bogus_keys; /* only what is known to be broken of zones' keys goes */
	bool (*set_goes)(const struct flushing *f, const struct rrset *s);
	bool (*answer_goes)(const struct flushing *f, const struct stored *s);
};

static bool keep_set(const struct slab_entry *e, void *arg)
{
	const struct flushing *f = arg;

	return !f->set_goes(f, &container_of(e, struct rrset_entry, link)->set);
}

static bool keep_answer(const struct slab_entry *e, void *arg)
{
	const struct flushing *f = arg;

	return !f->answer_goes(f, container_of(e, struct stored, link));
}

static void sweep(struct call *c, struct flushing *f)
{
	const struct caches *caches = &c->daemon->caches;
	size_t sets = 0, answers = 0, keys;

	if (f->set_goes)
		sets = slab_sweep(rrsetcache_slab(caches->rrsets), keep_set, f);
	if (f->answer_goes)
		answers = slab_sweep(msgcache_slab(caches->messages), keep_answer, f);
	keys = keycache_forget(caches->keys, f->top ? f->top : dname_root, f->bogus_keys);
	call_say(c, "ok removed %zu rrsets, %zu messages and %zu key entries\n", sets, answers,
		 keys);
}

static const uint8_t *asked_name(const struct stored *s)
{
	return stored_wire(s) + MSG_HEAD_LEN;
}

static bool set_is_under(const struct flushing *f, const struct rrset *s)
{
	return dname_is_under(rrset_owner(s), f->top);
}

static bool answer_is_under(const struct flushing *f, const struct stored *s)
{
	return dname_is_under(asked_name(s), f->top);
}

void control_flush_zone(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];
	struct flushing f = { .top = name,
			      .set_goes = set_is_under,
			      .answer_goes = answer_is_under };

	(void)w;
	if (!take_second_cache(c) || !call_take_name(c, name))
		return;
	negcache_forget(c->daemon->caches.negative, name);
	negcache_forget_name(c->daemon->caches.negative, name, CLASS_IN);
	sweep(c, &f);
}

static bool set_is_bogus(const struct flushing *f, const struct rrset *s)
{
	(void)f;
	return s->security == SECURITY_BOGUS;
}

static bool answer_is_bogus(const struct flushing *f, const struct stored *s)
{
	(void)f;
	return s->security == SECURITY_BOGUS;
}

void control_flush_bogus(struct call *c, struct worker *w)
{
	struct flushing f = { .bogus_keys = true,
			      .set_goes = set_is_bogus,
			      .answer_goes = answer_is_bogus };

	(void)w;
	if (take_second_cache(c))
		sweep(c, &f);
}

static bool answer_is_negative(const struct flushing *f, const struct stored *s)
{
	(void)f;
	return s->rcode != RCODE_NOERROR || get_u16(stored_wire(s) + 6) == 0;
}

void control_flush_negative(struct call *c, struct worker *w)
{
	struct flushing f = { .bogus_keys = true, .answer_goes = answer_is_negative };

	(void)w;
	if (!take_second_cache(c))
		return;
	negcache_forget(c->daemon->caches.negative, dname_root);
	sweep(c, &f);
}

/* ---- the dump ---- */

struct dump {
	struct call *call;
	uint32_t now_s;
};

static void say_set(const struct dump *d, const struct rrset *s)
{
	if (time_is_past(d->now_s, s->expires_s))
		return;
	call_say(d->call, ";rrset%s %u %u %u %u %u\n",
		 s->flags & RRSET_NSEC_AT_APEX ? " nsec_apex" : "",
		 time_left(d->now_s, s->expires_s), s->count, s->sig_count, s->trust, s->security);
	text_rrset_print(s, d->now_s, call_line, d->call);
}

static bool dump_set(const struct slab_entry *e, void *arg)
{
	say_set(arg, &container_of(e, struct rrset_entry, link)->set);
	return true;
}

/* Sets that are kept with their answer alone: whoever reads the dump looks for them among the others. */
static bool dump_sets_of_answer(const struct slab_entry *e, void *arg)
{
	const struct dump *d = arg;
	const struct stored *s = container_of(e, struct stored, link);
	const struct message *m;
	struct arena arena;

	if (time_is_past(d->now_s, s->expires_s) || !(s->fits & STORED_FULL) || s->scope)
		return true;
	arena_init(&arena);
	m = stored_unpack(s, &arena, d->now_s);
	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *set = m->sets[i];

		if (!rrsetcache_find(d->call->daemon->caches.rrsets, rrset_owner(set), set->type,
				     set->class_, 0, d->now_s))
			say_set(d, set);
	}
	arena_clear(&arena);
	return true;
}

static void say_key(struct call *c, const uint8_t *name, uint16_t class_, uint16_t type)
{
	char text[DNAME_TEXT], class_text[16], type_text[16];

	call_say(c, "%s %s %s", dname_print(name, text), rr_class_name(class_, class_text),
		 rr_type_name(type, type_text));
}

static void dump_whole(const struct dump *d, const struct stored *s, const struct message *m)
{
	struct call *c = d->call;
	unsigned flags = FLAG_QR | FLAG_RD | FLAG_RA | msg_flags(stored_wire(s)) | s->rcode;

	call_say(c, "msg ");
	say_key(c, m->q.name, m->q.class_, m->q.type);
	call_say(c, " %u 1 %u %u %u %u %u %d \n", flags, time_left(d->now_s, s->expires_s),
		 s->security, m->count[SECTION_ANSWER], m->count[SECTION_AUTHORITY],
		 m->count[SECTION_ADDITIONAL], reason_ede((enum reason)s->reason));
	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *set = m->sets[i];

		say_key(c, rrset_owner(set), set->class_, set->type);
		call_say(c, " %u\n", set->flags);
	}
}

/* A plain shape of an answer was made from its full one, which is dumped. */
static bool dump_answer(const struct slab_entry *e, void *arg)
{
	const struct dump *d = arg;
	const struct stored *s = container_of(e, struct stored, link);
	struct arena arena;

	if (time_is_past(d->now_s, s->expires_s) || !(s->fits & STORED_FULL) || s->scope)
		return true;
	arena_init(&arena);
	dump_whole(d, s, stored_unpack(s, &arena, d->now_s));
	arena_clear(&arena);
	return true;
}

void control_dump_cache(struct call *c, struct worker *w)
{
	const struct caches *caches = &c->daemon->caches;
	struct dump d = { .call = c, .now_s = loop_time(c->daemon->loop)->now_s };

	(void)w;
	call_say(c, "START_RRSET_CACHE\n");
	(void)slab_sweep(rrsetcache_slab(caches->rrsets), dump_set, &d);
	(void)slab_sweep(msgcache_slab(caches->messages), dump_sets_of_answer, &d);
	call_say(c, "END_RRSET_CACHE\nSTART_MSG_CACHE\n");
	(void)slab_sweep(msgcache_slab(caches->messages), dump_answer, &d);
	call_say(c, "END_MSG_CACHE\nEOF\n");
}

/* ---- what is known of other servers ---- */

void control_flush_infra(struct call *c, struct worker *w)
{
	struct addr a;

	(void)w;
	if (strcmp(c->args, "all") == 0) {
		infra_flush(c->daemon->caches.infra, NULL);
	} else if (addr_parse(&a, c->args, 53, NULL)) {
		infra_flush(c->daemon->caches.infra, &a);
	} else {
		call_say(c, "error parsing ip addr: '%s'\n", c->args);
		return;
	}
	call_ok(c);
}

void control_dump_infra(struct call *c, struct worker *w)
{
	(void)w;
	infra_dump(c->daemon->caches.infra, loop_time(c->daemon->loop), call_line, c);
}
