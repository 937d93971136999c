/* Commands about the caches: flushing them, the infra cache, writing cache-file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "services/cache/aggressive.h"
#include "services/cache/infra.h"
#include "services/cache/mention.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cache/subnet_index.h"
#include "services/cachedb/cachedb.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "validator/keycache.h"

/* ---- what lies behind the caches ---- */

/* "+c" includes the store behind the caches (services/cachedb/cachedb.h): `gone` then collects the keys to
 * remove there. NULL if not asked for, or if there is no store. False, with the error in the reply,
 * for another flag. */
static bool take_store(struct call *c, struct cachedb_keys **gone)
{
	const struct conf *conf = call_snapshot(c)->conf;
	bool given[1] = { false };

	*gone = NULL;
	if (!call_take_flags(c, "c", given))
		return false;
	if (given[0] && conf_has_module(conf, cachedb_module.name))
		*gone = cachedb_keys_new(conf);
	return true;
}

/* A removal from the store, done by one worker on behalf of all. */
struct removal {
	struct worker *worker;
	struct cachedb_keys *gone;
};

static void remove_in_store(void *arg)
{
	struct removal *r = arg;

	cachedb_remove(r->worker->env.cachedb, r->gone);
	mem_free(r);
}

static void forget_in_store(struct call *c, struct cachedb_keys *gone)
{
	struct removal *r;

	if (!gone)
		return;
	r = mem_new(sizeof(*r));
	*r = (struct removal){ .worker = c->daemon->workers[0], .gone = gone };
	loop_post(r->worker->env.loop, remove_in_store, r);
}

/* ---- flushing by a rule ---- */

/* Which entries are removed; a NULL rule removes none. */
struct flushing {
	const uint8_t *top;
	const struct flushed *one;
	struct cachedb_keys *gone; /* keys to remove from the store, or NULL */
	bool bogus_keys;           /* of the key cache, remove bogus entries only */
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
	const struct stored *s = container_of(e, struct stored, link);
	struct question q;

	if (!f->answer_goes(f, s))
		return true;
	if (f->gone) {
		stored_question(s, &q);
		cachedb_keys_add(f->gone, &q);
	}
	return false;
}

static void say_removed(struct call *c, size_t sets, size_t answers, size_t keys)
{
	struct json *j = call_object(c);

	if (!j) {
		call_say(c, "ok removed %zu rrsets, %zu messages and %zu key entries\n", sets, answers, keys);
		return;
	}
	json_number(j, "rrsets", sets);
	json_number(j, "messages", answers);
	json_number(j, "keys", keys);
}

static void sweep(struct call *c, struct flushing *f)
{
	const struct caches *caches = &c->daemon->caches;
	size_t sets = 0, answers = 0, keys;

	cache_keeper_disturb(c->daemon->cache_keeper);
	if (f->set_goes)
		sets = slab_sweep(rrsetcache_slab(caches->rrsets), keep_set, f);
	if (f->answer_goes)
		answers = slab_sweep(msgcache_slab(caches->messages), keep_answer, f);
	keys = keycache_forget(caches->keys, f->top ? f->top : dname_root, f->bogus_keys);
	forget_in_store(c, f->gone);
	say_removed(c, sets, answers, keys);
}

static const uint8_t *asked_name(const struct stored *s)
{
	return stored_wire(s) + MSG_HEAD_LEN;
}

static bool set_is_under(const struct flushing *f, const struct rrset *s)
{
	return dname_is_under(rrset_owner(s), f->top);
}

static bool record_is_under(const struct mention *m, void *top)
{
	return dname_is_under(m->owner, top) || (m->target && dname_is_under(m->target, top));
}

static bool answer_is_under(const struct flushing *f, const struct stored *s)
{
	return dname_is_under(asked_name(s), f->top) ||
	       stored_mentions(s, record_is_under, (void *)(uintptr_t)f->top);
}

void control_flush_zone(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];
	struct flushing f = { .top = name,
			      .set_goes = set_is_under,
			      .answer_goes = answer_is_under };

	(void)w;
	if (!take_store(c, &f.gone))
		return;
	if (!call_take_name(c, name)) {
		cachedb_keys_free(f.gone);
		return;
	}
	aggressive_forget(c->daemon->caches.negative, name);
	aggressive_forget_name(c->daemon->caches.negative, name, CLASS_IN);
	if (c->daemon->caches.subnet_index)
		subnet_index_forget_under(c->daemon->caches.subnet_index, name);
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
	if (take_store(c, &f.gone))
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
	if (!take_store(c, &f.gone))
		return;
	aggressive_forget(c->daemon->caches.negative, dname_root);
	sweep(c, &f);
}

/* ---- flushing one name ---- */

static const uint16_t common_types[] = {
	TYPE_A,  TYPE_AAAA, TYPE_NS,  TYPE_SOA,   TYPE_CNAME, TYPE_DNAME,
	TYPE_MX, TYPE_PTR,  TYPE_SRV, TYPE_NAPTR, TYPE_SVCB,  TYPE_HTTPS,
};

/* Some types at a name, and the type that the answer in question was asked for. */
struct flushed {
	const uint8_t *name;
	const uint16_t *types;
	size_t count;
	uint16_t asked;
};

static bool is_flushed(const struct flushed *f, uint16_t type)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->types[i] == type)
			return true;
	return false;
}

/* An answer that leads to the name without a record there denies the type asked for. */
static bool record_is_flushed(const struct mention *m, void *arg)
{
	const struct flushed *f = arg;

	return (is_flushed(f, m->type) && dname_equals(m->owner, f->name)) ||
	       (m->target && is_flushed(f, f->asked) && dname_equals(m->target, f->name));
}

static bool answer_is_flushed(const struct flushing *f, const struct stored *s)
{
	struct flushed one = *f->one;
	struct question q;

	stored_question(s, &q);
	one.asked = q.type;
	return stored_mentions(s, record_is_flushed, &one);
}

static void forget(struct call *c, const uint8_t *name, uint16_t type, struct cachedb_keys *gone)
{
	const struct caches *caches = &c->daemon->caches;
	struct question q = { .name = name,
			      .name_len = (uint16_t)dname_len(name),
			      .type = type,
			      .class_ = CLASS_IN };

	(void)rrsetcache_remove(caches->rrsets, name, type, CLASS_IN);
	msgcache_remove(caches->messages, &q);
	if (caches->subnet_index)
		subnet_index_forget(caches->subnet_index, caches->messages, &q);
	if (gone)
		cachedb_keys_add(gone, &q);
}

/* What answers the name itself is found by its key; for what contains it besides, behind an alias above all, every
 * answer is looked at. */
static void flush(struct call *c, const struct flushed *one, struct cachedb_keys *gone)
{
	struct flushing f = { .one = one, .gone = gone, .answer_goes = answer_is_flushed };

	cache_keeper_disturb(c->daemon->cache_keeper);
	aggressive_forget_name(c->daemon->caches.negative, one->name, CLASS_IN);
	for (size_t i = 0; i < one->count; i++)
		forget(c, one->name, one->types[i], gone);
	(void)slab_sweep(msgcache_slab(c->daemon->caches.messages), keep_answer, &f);
	forget_in_store(c, gone);
	call_ok(c);
}

void control_flush(struct call *c, struct worker *w)
{
	struct cachedb_keys *gone;
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!take_store(c, &gone))
		return;
	if (!call_take_name(c, name)) {
		cachedb_keys_free(gone);
		return;
	}
	flush(c, &(struct flushed){ .name = name, .types = common_types, .count = COUNT(common_types) }, gone);
}

static bool take_type(struct call *c, uint16_t *type)
{
	const char *word = control_word(&c->args);

	if (word && rr_type_parse(word, type))
		return true;
	if (word)
		call_say(c, "error parsing RRset type: '%s'\n", word);
	else
		call_say(c, "error could not find next argument after name\n");
	return false;
}

void control_flush_type(struct call *c, struct worker *w)
{
	struct cachedb_keys *gone;
	uint8_t name[DNAME_MAX];
	uint16_t type;

	(void)w;
	if (!take_store(c, &gone))
		return;
	if (!call_take_name(c, name) || !take_type(c, &type)) {
		cachedb_keys_free(gone);
		return;
	}
	flush(c, &(struct flushed){ .name = name, .types = &type, .count = 1 }, gone);
}

/* ---- the infra cache ---- */

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

static void put_lame(struct json *j, unsigned lame)
{
	json_open(j, "lame", '{');
	json_bool(j, "dnssec", lame & LAME_DNSSEC);
	json_bool(j, "rec", lame & LAME_RECURSIVE);
	json_bool(j, "A", lame & LAME_ADDRESSES);
	json_bool(j, "other", lame & LAME_OTHER);
	json_close(j, '}');
}

static void put_server(struct json *j, const struct infra_row *r)
{
	const struct infra_view *v = &r->view;
	char addr[ADDR_TEXT], zone[DNAME_TEXT];

	json_text(j, "server", addr_print(r->addr, 53, addr));
	json_text(j, "zone", dname_print(r->zone, zone));
	json_bool(j, "expired", v->ttl_s == 0);
	json_number(j, "rto", v->rto_ms);
	if (v->ttl_s == 0)
		return;
	json_number(j, "ttl", v->ttl_s);
	json_number(j, "ping", v->ping_ms);
	json_number(j, "var", v->var_ms);
	json_number(j, "rtt", v->rtt_ms);
	json_number(j, "tA", v->timeouts_a);
	json_number(j, "tAAAA", v->timeouts_aaaa);
	json_number(j, "tother", v->timeouts_other);
	json_bool(j, "ednsknown", v->edns != EDNS_UNTRIED);
	json_signed(j, "edns", v->edns == EDNS_FAILS ? -1 : 0);
	json_number(j, "delay", r->delay_s);
	put_lame(j, v->lame);
}

static void say_server(const struct infra_row *r, void *call)
{
	char line[INFRA_LINE];
	struct json *j = call_row(call);

	if (!j) {
		call_line(infra_row_print(r, line), call);
		return;
	}
	put_server(j, r);
	call_row_end(call);
}

void control_dump_infra(struct call *c, struct worker *w)
{
	struct slab_walk walk = { 0 };
	struct timebase now = { 0 };

	(void)w;
	timebase_read(&now);
	(void)call_rows(c);
	while (infra_dump(c->daemon->caches.infra, &walk, &now, say_server, c) && call_flows(c))
		;
}

/* ---- cache-file ---- */

void control_cache_save(struct call *c, struct worker *w)
{
	struct fault f = { 0 };

	(void)w;
	if (cache_keeper_save(c->daemon->cache_keeper, &f))
		call_ok(c);
	else
		call_say(c, "error %s\n", f.text);
}
