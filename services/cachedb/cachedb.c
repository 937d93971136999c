/* The cachedb module: a store of answers outside this process, behind the in-memory caches.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/cachedb.h"

#include <string.h>

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cachedb/store.h"
#include "services/mesh/cache_rules.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "services/stats/stats.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#define VALUE_MOST (CACHEDB_HEAD_LEN + MSG_MAX)
#define KEYS_MOST  (1u << 20) /* that one command may remove */

/* State of a worker. */
struct cachedb {
	struct cachedb_store *reads, *writes; /* the same if there is no replica */
	char *where;                          /* their settings, to notice a change */
	uint8_t value[VALUE_MOST];            /* being written */
};

/* State of a query. */
struct lookup {
	struct cachedb_find find;
	struct query *q;
	bool waits;            /* for the store */
	bool keeps;            /* the answer from below is to be written there */
	bool stood;            /* the store has an entry for the question */
	bool revived;          /* the entry had expired; it is in the cache now */
	struct message *reply; /* ready to send, or NULL */
};

static const struct conf_cachedb *conf_of(const struct query *q)
{
	return &q->snapshot->conf->cachedb;
}

/* ---- looking up ---- */

static bool is_for_all(const struct query *q)
{
	return q->scope == 0 && !(q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE));
}

/* Whether the caches have it: then the module below finds it without the store. */
static bool is_known(const struct query *q)
{
	const struct question *asked = &q->question;
	uint32_t now_s = q->env->time->now_s;
	const struct stored *s =
		msgcache_find(q->env->messages, asked, query_message_hash(q), 0, true);

	return (s && stored_is_fresh(s, now_s)) ||
	       rrsetcache_find(q->cache.rrsets, asked->name, asked->type, asked->class_, 0, now_s);
}

/* Asked again, to refresh an answer or because it failed validation: the store may have that same
 * answer. */
static bool is_asked_anew(const struct query *q)
{
	return q->kind & QUERY_NO_CACHE || q->avoid_count;
}

/* Expired answers may be served as they are only where nothing is validated. */
static bool may_serve_expired(const struct query *q, const struct cachedb_entry *e)
{
	const struct conf_server *conf = &q->snapshot->conf->server;

	return conf->serve_expired && !q->env->trust_point &&
	       (!conf->serve_expired_ttl || (uint32_t)-e->left_s <= conf->serve_expired_ttl);
}

static bool take_expired(struct query *q, const struct cachedb_entry *e)
{
	uint32_t now_s = q->env->time->now_s;

	return may_serve_expired(q, e) &&
	       msgcache_restore(q->env->messages, e->reply,
				&(struct msg_restore){ .now_s = now_s,
						       .stored_s = now_s - e->age_s,
						       .expires_s = now_s + (uint32_t)e->left_s,
						       .whole = e->flags & ENTRY_WHOLE });
}

static void take(struct lookup *l, const struct cachedb_entry *e)
{
	struct query *q = l->q;

	if (q->want_signatures && !(e->flags & ENTRY_SIGNED))
		return;
	if (e->left_s <= 0) {
		l->revived = take_expired(q, e);
		return;
	}
	store_limit_ttls(q->snapshot->conf, e->reply, &q->arena, q->env->time->now_s);
	l->reply = e->reply;
}

/* Whether it was stored under a configuration that has shaped what is cached otherwise. */
static bool is_from_before(const struct query *q, const struct cachedb_entry *e)
{
	return q->snapshot->shaped_s && q->env->time->wall_s - (int64_t)e->age_s <= q->snapshot->shaped_s;
}

static void on_found(struct cachedb_find *find, struct slice value)
{
	struct lookup *l = container_of(find, struct lookup, find);
	struct query *q = l->q;
	struct cachedb_entry e;

	l->stood = value.at;
	if (value.at && cachedb_entry_read(&e, value, &q->question, q->env->time, &q->arena) && !is_from_before(q, &e))
		take(l, &e);
	mesh_wake(q, &(struct event){ .kind = EVENT_TURN });
}

/* Servers must be asked; clients need not wait for that if an expired answer will do. */
static enum step ask_servers(struct query *q, const struct lookup *l)
{
	mesh_allow_stale(q, l->revived);
	return STEP_DOWN;
}

static enum step on_ask(struct query *q, struct lookup *l)
{
	struct cachedb_store *s = q->env->cachedb->reads;
	char key[CACHEDB_KEY_LEN + 1];

	/* Nothing stays of what it was asked before. */
	*l = (struct lookup){ .find.found = on_found,
			      .q = q,
			      .keeps = is_for_all(q) && (is_asked_anew(q) || !is_known(q)) };
	if (!l->keeps || is_asked_anew(q))
		return STEP_DOWN;
	cachedb_key(key, &q->question, conf_of(q)->secret_seed);
	l->waits = true;
	if (s && s->ops->find(s, key, &l->find))
		return STEP_WAIT;
	l->waits = false;
	return ask_servers(q, l);
}

static enum step on_looked(struct query *q, struct lookup *l)
{
	if (!l->waits)
		return STEP_STUCK;
	l->waits = false;
	if (!l->reply)
		return ask_servers(q, l);
	tell(q, "found in cachedb");
	stat_bump(&q->env->stats->from_store, 1);
	q->reply = l->reply;
	return STEP_UP;
}

/* ---- writing ---- */

static uint32_t drop_after(const struct query *q, uint32_t ttl_s)
{
	const struct conf_server *conf = &q->snapshot->conf->server;

	if (!conf_of(q)->redis_expire_records || (conf->serve_expired && !conf->serve_expired_ttl))
		return 0; /* it never becomes useless */
	return ttl_s + (conf->serve_expired ? conf->serve_expired_ttl : 0);
}

/* Such answers are not stored. */
static bool is_for_some(const struct query *q)
{
	return q->ecs.need == ECS_REQUIRED || query_is_for_some(q);
}

static bool is_worth_keeping(const struct query *q)
{
	const struct message *m = q->reply;

	return !q->no_store && !q->no_message && !q->stopped && !is_for_some(q) &&
	       m->reason == REASON_none && m->security != SECURITY_BOGUS &&
	       (m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN ||
		m->rcode == RCODE_YXDOMAIN);
}

static void keep(struct query *q)
{
	struct cachedb *db = q->env->cachedb;
	uint32_t ttl_s = store_ttl(q->snapshot->conf, q->reply, q->env->time->now_s);
	struct writer w = writer_over(db->value, sizeof(db->value));
	char key[CACHEDB_KEY_LEN + 1];

	if (!db->writes || !ttl_s || conf_of(q)->cachedb_no_store)
		return;
	cachedb_entry_write(&w, q->reply,
			    (q->want_signatures ? ENTRY_SIGNED : 0) |
				    (q->snapshot->conf->server.serve_original_ttl ? ENTRY_WHOLE : 0),
			    ttl_s, q->env->time);
	if (w.bad)
		return;
	cachedb_key(key, &q->question, conf_of(q)->secret_seed);
	db->writes->ops->put(db->writes, key,
			     (struct slice){ .at = db->value, .len = writer_len(&w) },
			     drop_after(q, ttl_s));
}

/* Remove an answer stored for all clients before it came to depend on the client's subnet. */
static void remove_old(const struct query *q)
{
	struct cachedb_store *s = q->env->cachedb->writes;
	char key[CACHEDB_KEY_LEN + 1];

	if (!s || conf_of(q)->cachedb_no_store)
		return;
	cachedb_key(key, &q->question, conf_of(q)->secret_seed);
	s->ops->remove(s, key);
}

static enum step on_answer(struct query *q, struct lookup *l)
{
	if (l->keeps && is_worth_keeping(q))
		keep(q);
	else if (l->stood && is_for_some(q))
		remove_old(q);
	return STEP_UP;
}

/* ---- removing ---- */

struct cachedb_keys {
	char *secret;
	size_t count, room;
	char (*keys)[CACHEDB_KEY_LEN + 1];
};

struct cachedb_keys *cachedb_keys_new(const struct conf *conf)
{
	struct cachedb_keys *k = mem_zero(sizeof(*k));

	k->secret = mem_text(conf->cachedb.secret_seed);
	return k;
}

void cachedb_keys_add(struct cachedb_keys *k, const struct question *q)
{
	if (k->count == KEYS_MOST)
		return;
	if (k->count == k->room) {
		k->room = MAX(16, 2 * k->room);
		k->keys = mem_grow(k->keys, k->room * sizeof(*k->keys));
	}
	cachedb_key(k->keys[k->count++], q, k->secret);
}

void cachedb_keys_free(struct cachedb_keys *k)
{
	if (!k)
		return;
	mem_free(k->secret);
	mem_free(k->keys);
	mem_free(k);
}

void cachedb_remove(struct cachedb *db, struct cachedb_keys *k)
{
	for (size_t i = 0; db && db->writes && i < k->count; i++)
		db->writes->ops->remove(db->writes, k->keys[i]);
	cachedb_keys_free(k);
}

/* ---- life cycle ---- */

static void close_stores(struct cachedb *db)
{
	struct cachedb_store *reads = db->reads, *writes = db->writes;

	/* Queries told that nothing was found go on at once, and must see no store. */
	db->reads = db->writes = NULL;
	if (writes)
		writes->ops->free(writes);
	if (reads != writes)
		reads->ops->free(reads);
}

static bool has_replica(const struct conf_cachedb *c)
{
	return *c->redis_replica_server_host || *c->redis_replica_server_path;
}

static void open_stores(struct env *env)
{
	const struct conf *conf = env->snapshot->conf;
	struct cachedb *db = env->cachedb;

	if (strcmp(conf->cachedb.backend, "testframe") == 0)
		db->reads = db->writes = cachedb_frame_new();
	else
		db->reads = db->writes = cachedb_redis_new(env, conf, false);
	if (strcmp(conf->cachedb.backend, "redis") == 0 && has_replica(&conf->cachedb))
		db->reads = cachedb_redis_new(env, conf, true);
}

static char *where_of(const struct conf_cachedb *c)
{
	return mem_textf("%s %s\n%u %s %s %u %u %u %u\n%s\n%u %s %s %u %u %u %u", c->backend,
			 c->redis_server_host, c->redis_server_port, c->redis_server_path,
			 c->redis_server_password, c->redis_timeout, c->redis_command_timeout,
			 c->redis_connect_timeout, c->redis_logical_db,
			 c->redis_replica_server_host, c->redis_replica_server_port,
			 c->redis_replica_server_path, c->redis_replica_server_password,
			 c->redis_replica_timeout, c->redis_replica_command_timeout,
			 c->redis_replica_connect_timeout, c->redis_replica_logical_db);
}

/* It has passwords in it. */
static void where_free(char *where)
{
	if (where)
		mem_wipe(where, strlen(where));
	mem_free(where);
}

/* A connection that also suits the new configuration is kept. */
static void renewed(struct env *env)
{
	struct cachedb *db = env->cachedb;
	char *where = where_of(&env->snapshot->conf->cachedb);
	bool same = db->where && strcmp(db->where, where) == 0;

	where_free(db->where);
	db->where = where;
	if (same)
		return;
	close_stores(db); /* pending lookups are told that nothing was found */
	open_stores(env);
}

static bool init(struct env *env, struct fault *f)
{
	(void)f;
	env->cachedb = mem_zero(sizeof(*env->cachedb));
	renewed(env);
	return true;
}

static void deinit(struct env *env)
{
	close_stores(env->cachedb);
	where_free(env->cachedb->where);
	mem_free(env->cachedb);
	env->cachedb = NULL;
}

static enum step operate(struct query *q, void *state, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_ASK:
		return on_ask(q, state);
	case EVENT_TURN:
		return on_looked(q, state);
	case EVENT_ANSWER:
		return on_answer(q, state);
	default:
		return STEP_STUCK;
	}
}

static void clear(struct query *q, void *state)
{
	struct lookup *l = state;

	if (l->find.pending)
		q->env->cachedb->reads->ops->forget(q->env->cachedb->reads, &l->find);
}

static bool waits(const void *state)
{
	const struct lookup *l = state;

	return l->waits;
}

const struct module cachedb_module = {
	.name = "cachedb",
	.state_size = sizeof(struct lookup),
	.init = init,
	.wakes = WAKE_TURN,
	.operate = operate,
	.waits = waits,
	.clear = clear,
	.renewed = renewed,
	.deinit = deinit,
};
