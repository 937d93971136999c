/* A fixture for tests of how zones are kept current, told as steps: what happens, and what comes of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The mesh, upstream, the loader and URLs are made here. What is asked of them goes into a story; what they say is a
 * step:
 *     play MS            so much time passes
 *     zone SERIAL        the whole zone comes, from who was asked for it;   part, end  its first and its last record
 *     plain SERIAL       one without a digest
 *     step FROM TO       a difference comes
 *     times REFRESH RETRY  in the SOA records that come from now on
 *     garbage, fail      what comes is no transfer; the connection fails
 *     soa SERIAL...      the SOA probe is answered, with so many records;   soa none   it is not;   soa refused   it is, without the record
 *     address A...       the lookup of an address is answered;  address bogus A...;  address servfail A...
 *     validate WORD         the validation has that outcome: insecure, secure, bogus, servfail;  with "denial", "digest"
 *     url WHAT           the next URL asked gives: fail, same, or a zone of that serial
 *     work               the loader does what it was given;  run   it does, but nobody is told yet
 *     poke, notify, check  as xfers_poke, xfers_notified and xfers_check
 *     file SERIAL        the zone's file was read
 *     renew              the configuration was loaded again;   forwards  only the forwarders have changed
 *     stop               the end
 * What comes of it is "STORY; SERIAL; TIME": the serial held, "-" for none, with "!" if it has expired, and when the
 * next timer is due. */
#ifndef SERVICES_XFER_TESTS_FIXTURE_H
#define SERVICES_XFER_TESTS_FIXTURE_H

#include "services/authzone/data.h"
#include "services/authzone/tsig.h"
#include "services/authzone/zonemd.h"
#include "services/authzone/zones.h"
#include "services/background/fetch.h"
#include "services/background/loader.h"
#include "services/cache/forget.h"
#include "services/mesh/mesh.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "services/upstream/upstream.h"
#include "services/xfer/notify_senders.h"
#include "services/xfer/schedule.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

enum { QUESTIONS = 4, RETIRED_MOST = 40, ZONES_MOST = 10 };

struct pending {
	uint8_t name[DNAME_MAX];
	uint16_t type;
	void (*done)(void *arg, const struct message *reply);
	void *arg;
};

static struct fixture {
	const char *apex;
	struct env env;
	struct loop *loop;
	struct snapshot snapshot, later; /* later: after `renew` */
	struct authzones *zones[2]; /* those in use, those before */
	struct xfers *xfers;
	struct pending pending[QUESTIONS];
	unsigned pending_count;
	void (*probed)(void *owner, const struct upstream_reply *reply);
	void *prober;
	struct transmission *transmission;
	struct tsig_talk talk; /* the primary's side */
	struct loader_task *work;
	enum fetch_end fetched;
	char url_zone[400];
	const uint8_t *trust_point;
	unsigned refresh_s, retry_s; /* of the SOA records to come */
	struct {
		struct rcu_slot *slot;
		void (*fn)(struct rcu_slot *slot);
	} retired[RETIRED_MOST];
	unsigned retired_count;
	const struct zonedata *seen[ZONES_MOST]; /* the zones that were made */
	unsigned seen_count;
	struct arena arena;
	char story[1000];
} fixture;

static inline PRINTF_LIKE(1, 2) void told(const char *fmt, ...)
{
	size_t len = strlen(fixture.story);
	va_list args;

	va_start(args, fmt);
	if (len)
		fixture.story[len++] = ' ';
	vsnprintf(fixture.story + len, sizeof(fixture.story) - len, fmt, args);
	va_end(args);
}

static inline const struct authzone *fixture_zone(void)
{
	return &fixture.zones[0]->items[0];
}

/* ---- what is freed: at the end, so that nothing is freed twice unseen ---- */

void rcu_retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *slot))
{
	for (unsigned i = 0; i < fixture.retired_count; i++)
		assert_ptr_not_equal(fixture.retired[i].slot, slot);
	assert_true(fixture.retired_count < RETIRED_MOST);
	fixture.retired[fixture.retired_count].slot = slot;
	fixture.retired[fixture.retired_count++].fn = fn;
}

void rcu_release(struct rcu_slot *slot, void (*fn)(struct rcu_slot *slot))
{
	rcu_retire(slot, fn);
}

void rcu_retire_idly(struct rcu_slot *slot, void (*fn)(struct rcu_slot *slot))
{
	rcu_retire(slot, fn);
}

void rcu_flush(void)
{
	for (unsigned i = 0; i < fixture.retired_count; i++)
		fixture.retired[i].fn(fixture.retired[i].slot);
	fixture.retired_count = 0;
}

void rcu_thread_join(void)
{
}

void rcu_thread_leave(void)
{
}

void rcu_turn_begin(void)
{
}

void rcu_turn_end(void)
{
}

void rcu_wait(void)
{
}

int rcu_fork(void)
{
	return -1;
}

static void see(const struct zonedata *z)
{
	for (unsigned i = 0; i < fixture.seen_count; i++)
		if (fixture.seen[i] == z)
			return;
	assert_true(fixture.seen_count < ZONES_MOST);
	fixture.seen[fixture.seen_count++] = z;
}

static void assert_retired(const struct zonedata *z)
{
	unsigned i = 0;

	while (i < fixture.retired_count && fixture.retired[i].slot != &z->retired)
		i++;
	if (i == fixture.retired_count)
		fail_msg("serial %u is never freed", z->serial);
}

/* Digests have an algorithm that nobody knows. */
enum zonemd_end zonemd_check(const struct zonedata *z, struct fault *f)
{
	(void)f;
	see(z);
	return ZONEMD_UNKNOWN;
}

/* ---- what is asked ---- */

struct snapshot *snapshot_pin(struct snapshot *s)
{
	atomic_fetch_add(&s->pins, 1);
	return s;
}

void snapshot_unpin(struct snapshot *s)
{
	assert_true(atomic_fetch_sub(&s->pins, 1) > 1);
}

void mesh_resolve(struct mesh *m, const struct question *q, unsigned kind,
		  void (*done)(void *arg, const struct message *reply), void *arg)
{
	struct pending *p = &fixture.pending[fixture.pending_count++];
	char name[DNAME_TEXT];
	const struct zonedata *offered = atomic_load(&fixture_zone()->cell->proposed);

	(void)m;
	assert_true(fixture.pending_count <= QUESTIONS);
	assert_int_equal(q->class_, CLASS_IN);
	assert_int_equal(q->name_len, dname_len(q->name));
	*p = (struct pending){ .type = q->type, .done = done, .arg = arg };
	dname_copy_lower(p->name, q->name);
	told("%s%s? %s", kind & QUERY_NO_CACHE ? "new " : "",
	     q->type == TYPE_A ? "A" : q->type == TYPE_AAAA ? "AAAA" : q->type == TYPE_DS ? "DS" : "ZONEMD",
	     dname_print(q->name, name));
	if (offered)
		told("of %u", offered->serial);
}

static const char *server_text(const struct addr *a, const char *tls_name, enum transport_kind transport, char *to, size_t room)
{
	char text[ADDR_TEXT];

	snprintf(to, room, "%s%s%s%s", addr_print(a, 53, text), tls_name ? "#" : "", tls_name ? tls_name : "",
		 transport == TRANSPORT_TLS ? " tls" : "");
	return to;
}

struct upstream_ask *upstream_ask(struct upstream *u, const struct upstream_question *q, struct arena *arena,
				  void (*done)(void *owner, const struct upstream_reply *reply), void *owner)
{
	char text[200];

	(void)u;
	(void)arena;
	assert_null(fixture.probed);
	assert_int_equal(q->q.type, TYPE_SOA);
	assert_int_equal(q->q.class_, CLASS_IN);
	assert_int_equal(q->q.name_len, dname_len(q->q.name));
	assert_true(dname_equals(q->q.name, fixture_zone()->name) && dname_equals(q->zone, q->q.name));
	assert_int_equal(q->transport, q->tls_name ? TRANSPORT_TLS : TRANSPORT_UDP);
	fixture.probed = done;
	fixture.prober = owner;
	told("soa %s", server_text(&q->server, q->tls_name, q->transport, text, sizeof(text)));
	return (struct upstream_ask *)&fixture;
}

void upstream_cancel(struct upstream_ask *a)
{
	assert_ptr_equal(a, &fixture);
	assert_non_null(fixture.probed);
	fixture.probed = NULL;
	told("cancelled");
}

/* The query says what it is, and from which version; its signature is one. */
static inline void read_query(const struct transmission *s, char *to, size_t room)
{
	const struct authzone *z = fixture_zone();
	const struct zonedata *have = authzone_stored(z);
	struct message m;
	const struct rrset *soa;

	assert_true(msg_parse(s->wire, s->len, &fixture.arena, 0, &m));
	assert_int_equal(m.flags | m.opcode | m.rcode, 0);
	assert_true(dname_equals(m.q.name, z->name));
	assert_int_equal(m.q.class_, CLASS_IN);
	soa = message_soa(&m);
	if (z->key) {
		tsig_talk_clear(&fixture.talk);
		assert_int_equal(tsig_check_question(&fixture.talk, z->key, s->wire, s->len, fixture.env.time->wall_s),
				 TSIG_GOOD);
	} else {
		assert_int_equal(message_set_count(&m), soa != NULL);
	}
	if (m.q.type == TYPE_AXFR) {
		assert_null(soa);
		snprintf(to, room, "axfr");
		return;
	}
	assert_int_equal(m.q.type, TYPE_IXFR);
	assert_non_null(soa);
	assert_true(dname_equals(rrset_owner(soa), z->name));
	assert_int_equal(soa->ttl_s, have->soa->ttl_s);
	assert_true(rrset_same_records(soa, have->soa));
	snprintf(to, room, "ixfr %u", have->serial);
}

static void start_sending(struct transport *t, struct transmission *s)
{
	char what[40], text[200];

	(void)t;
	assert_null(fixture.transmission);
	assert_true(s->many);
	fixture.transmission = s;
	read_query(s, what, sizeof(what));
	told("%s %s", what, server_text(&s->to, s->tls_name, s->transport, text, sizeof(text)));
}

static void cancel_sending(struct transport *t, struct transmission *s)
{
	(void)t;
	assert_ptr_equal(fixture.transmission, s);
	fixture.transmission = NULL;
	told("cut off");
}

struct transport *upstream_way(struct upstream *u, enum transport_kind transport)
{
	static const struct transport_ops ops = { .name = "made", .send = start_sending, .cancel = cancel_sending };
	static struct transport streams = { .ops = &ops };

	(void)u;
	assert_int_equal(transport, TRANSPORT_TCP);
	return &streams;
}

enum fetch_end fetch_url(const struct fetch_how *how, struct fetch_mark *mark, struct fault *f)
{
	told("get %s%s%s", how->url, *mark->etag ? " unless " : "", mark->etag);
	if (how->authorities)
		told("by %s via %s %s", how->authorities, how->nat64[0], how->nat64[1]);
	if (fixture.fetched == FETCH_FAILED)
		fault_set(f, "no");
	if (fixture.fetched != FETCH_NEW)
		return fixture.fetched;
	snprintf(mark->etag, sizeof(mark->etag), "mark");
	assert_true(how->take(how->arg, fixture.url_zone, strlen(fixture.url_zone)));
	return FETCH_NEW;
}

void loader_add(struct loader *l, struct loader_task *t, uint64_t after_us)
{
	(void)l;
	assert_null(fixture.work);
	assert_int_equal(after_us, 0);
	fixture.work = t;
	told("job");
}

/* ---- who may send NOTIFY: another room ---- */

struct authhosts *authhosts_new(struct env *env, const struct authzone *z)
{
	(void)env;
	(void)z;
	return (struct authhosts *)&fixture;
}

void authhosts_free(struct authhosts *h)
{
	(void)h;
}

void authhosts_refresh(struct authhosts *h)
{
	assert_ptr_equal(h, &fixture);
	told("round:");
}

/* ---- what happens ---- */

static inline const char *soa_text(uint32_t serial)
{
	char *to = arena_take(&fixture.arena, 200);

	snprintf(to, 200, "%s 60 SOA ns.zone. host.zone. %u %u %u 170 5\n", fixture.apex, serial, fixture.refresh_s,
		 fixture.retry_s);
	return to;
}

static inline const char *zone_text(uint32_t serial, bool whole)
{
	char *to = arena_take(&fixture.arena, 600);

	snprintf(to, 600, "%sa.zone. 60 A 192.0.2.1\n%s ZONEMD %u 1 240 000102030405060708090a0b\n%s", soa_text(serial),
		 fixture.apex, serial, whole ? soa_text(serial) : "");
	return to;
}

static inline size_t write_answer(uint8_t *to, size_t room, const char *text, struct writer *w)
{
	unsigned count = 0;

	*w = writer_over(to, room);
	memset(to, 0, MSG_HEAD_LEN);
	w->at += MSG_HEAD_LEN;
	for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
		struct text_rr rr;
		struct fault f = { 0 };
		char line[200];

		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (!text_rr_parse(&fixture.arena, line, NULL, &rr, &f))
			fail_msg("%s: %s", line, f.text);
		text_rr_write(w, &rr);
		count++;
	}
	put_u16(to + 2, FLAG_QR);
	put_u16(to + 6, (uint16_t)count);
	assert_false(w->bad);
	return writer_len(w);
}

static inline void arrive(const char *text)
{
	struct transmission *s = fixture.transmission;
	uint8_t wire[2000];
	struct writer w;

	assert_non_null(s);
	write_answer(wire, sizeof(wire), text, &w);
	if (fixture_zone()->key)
		tsig_sign_answer(&fixture.talk, wire, &w, fixture.env.time->wall_s);
	assert_false(s->strayed(s));
	if (s->arrived(s, wire, writer_len(&w)))
		fixture.transmission = NULL;
	loop_play(fixture.loop, 0);
}

static inline void answer_probe(const char *what)
{
	void (*done)(void *owner, const struct upstream_reply *reply) = fixture.probed;
	struct message *m = made_message(&fixture.arena, 0, &(struct made){ fixture.apex, TYPE_SOA, 0, { NULL } });
	struct upstream_reply reply = { .end = UPSTREAM_ANSWERED, .message = m };
	const char *second = strchr(what, ' ');
	char text[400];

	assert_non_null(done);
	snprintf(text, sizeof(text), "%s%s", soa_text((uint32_t)atoi(what)), second ? soa_text((uint32_t)atoi(second)) : "");
	fixture.probed = NULL;
	if (strcmp(what, "none") == 0)
		reply = (struct upstream_reply){ .end = UPSTREAM_SILENT };
	else if (strcmp(what, "refused") == 0)
		m->rcode = RCODE_REFUSED;
	if (strcmp(what, "none") != 0 && strcmp(what, "empty") != 0)
		m->count[SECTION_ANSWER] = (uint16_t)made_sets(&fixture.arena, 0, text, m->sets);
	done(fixture.prober, &reply);
}

static inline void answer_question(const struct message *m)
{
	struct pending p = fixture.pending[0];

	assert_true(fixture.pending_count > 0);
	memmove(fixture.pending, fixture.pending + 1, --fixture.pending_count * sizeof(p));
	p.done(p.arg, m);
}

static inline void answer_address(const char *what)
{
	const struct pending *p = &fixture.pending[0];
	struct message *m = made_message(&fixture.arena, 0, &(struct made){ "ns.zone.", p->type, 0, { NULL } });
	char text[2000] = "", words[400], *save = NULL;

	snprintf(words, sizeof(words), "%s", what);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t len = strlen(text);

		if (strcmp(word, "bogus") == 0)
			m->security = SECURITY_BOGUS;
		else if (strcmp(word, "servfail") == 0)
			m->rcode = RCODE_SERVFAIL;
		else
			snprintf(text + len, sizeof(text) - len, "ns.zone. 60 %s %s\n", strchr(word, ':') ? "AAAA" : "A", word);
	}
	m->count[SECTION_ANSWER] = (uint16_t)made_sets(&fixture.arena, 0, text, m->sets);
	answer_question(m);
}

static inline void validate(const char *what)
{
	const struct pending *p = &fixture.pending[0];
	struct message *m = made_message(&fixture.arena, 0, &(struct made){ fixture.apex, p->type, 0, { NULL } });
	char text[200];
	int serial = strstr(what, "digest") ? atoi(strstr(what, "digest") + 7) : 0;

	m->security = strstr(what, "insecure") ? SECURITY_INSECURE :
		      strstr(what, "secure")   ? SECURITY_SECURE :
		      strstr(what, "bogus")    ? SECURITY_BOGUS :
						 SECURITY_UNCHECKED;
	if (strstr(what, "servfail"))
		m->rcode = RCODE_SERVFAIL;
	snprintf(text, sizeof(text), "%s ZONEMD %d 1 240 000102030405060708090a0b\n", fixture.apex, serial);
	if (serial)
		m->count[SECTION_ANSWER] = (uint16_t)made_sets(&fixture.arena, 0, text, m->sets);
	if (strstr(what, "denial"))
		m->count[SECTION_AUTHORITY] = (uint16_t)made_sets(&fixture.arena, 0, soa_text(1), m->sets);
	if (strstr(what, "there"))
		m->count[SECTION_ANSWER] = (uint16_t)made_sets(
			&fixture.arena, 0, "zone. 60 DS 1 8 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
			m->sets);
	answer_question(m);
}

static inline struct zonedata *zone_made(uint32_t serial)
{
	struct zonebuild *b = zonebuild_new(fixture_zone()->name);
	struct fault f = { 0 };
	struct zonedata *z;
	char lines[600], *save = NULL;

	snprintf(lines, sizeof(lines), "%s", zone_text(serial, false));
	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct text_rr rr;

		assert_true(text_rr_parse(&fixture.arena, line, NULL, &rr, &f));
		zonebuild_add(b, &rr);
	}
	z = zonebuild_finish(b, &f);
	assert_non_null(z);
	see(z);
	return z;
}

static const uint8_t *made_trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	assert_ptr_equal(q->snapshot, fixture.env.snapshot);
	assert_true(dname_equals(name, fixture_zone()->name));
	assert_int_equal(type, TYPE_ZONEMD);
	return fixture.trust_point;
}

static inline void renew(void)
{
	struct fault f = { 0 };

	assert_null(fixture.zones[1]);
	fixture.zones[1] = fixture.zones[0];
	fixture.zones[0] = authzones_new(fixture.snapshot.conf, &f);
	authzones_inherit(fixture.zones[0], fixture.zones[1], true);
	fixture.later.conf = fixture.snapshot.conf;
	fixture.later.trust = fixture.snapshot.trust;
	fixture.later.zones = fixture.zones[0];
	fixture.later.pins = 1;
	fixture.env.snapshot = &fixture.later;
	xfers_renew(fixture.xfers);
}

static void forget_it(void *arg, struct forget *what)
{
	(void)arg;
	told("forgets");
	forget_free(what);
}

/* ---- a test ---- */

static inline void fixture_begin(const char *apex, const char *options)
{
	struct fault f = { 0 };
	char text[1000];

	fixture = (struct fixture){ .apex = apex, .loop = loop_new_played(), .refresh_s = 100, .retry_s = 50 };
	arena_init(&fixture.arena);
	snprintf(text, sizeof(text), "%s:\nname: \"%s\"\n%s", *options == '!' ? "rpz" : "auth-zone", apex,
		 options + (*options == '!'));
	fixture.snapshot.conf = conf_from(text);
	fixture.snapshot.pins = 1;
	fixture.zones[0] = fixture.snapshot.zones = authzones_new(fixture.snapshot.conf, &f);
	assert_non_null(fixture.zones[0]);
	fixture.env = (struct env){ .loop = fixture.loop,
				  .time = loop_time(fixture.loop),
				  .snapshot = &fixture.snapshot,
				  .trust_point = made_trust_point };
	fixture.xfers = xfers_new(&fixture.env);
}

static inline void fixture_end(void)
{
	xfers_free(fixture.xfers);
	assert_null(fixture.transmission);
	assert_null(fixture.probed);
	assert_null(atomic_load(&fixture_zone()->cell->home));
	assert_null(atomic_load(&fixture_zone()->cell->proposed));
	while (fixture.pending_count) /* nobody minds any more */
		answer_question(made_message(&fixture.arena, 0, &(struct made){ ".", TYPE_A, RCODE_SERVFAIL, { NULL } }));
	assert_int_equal(fixture.snapshot.pins, 1);
	assert_int_equal(fixture.later.pins, fixture.zones[1] != NULL);
	authzones_free(fixture.zones[0]);
	authzones_free(fixture.zones[1]);
	conf_free(fixture.snapshot.conf);
	tsig_talk_clear(&fixture.talk);
	arena_clear(&fixture.arena);
	loop_free(fixture.loop);
	for (unsigned i = 0; i < fixture.seen_count; i++)
		assert_retired(fixture.seen[i]);
	rcu_flush();
}

static inline void run_work(void)
{
	struct loader_task *work = fixture.work;

	assert_non_null(work);
	fixture.work = NULL;
	work->run(work);
}

static inline void happen(const char *what)
{
	char word[20] = "";
	const char *more = strchr(what, ' ') ? strchr(what, ' ') + 1 : "";
	unsigned n = (unsigned)atoi(more);
	const struct authzone *z = fixture_zone();

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(what, " "), what);
#define IS(text) (strcmp(word, text) == 0)
	if (IS("play")) {
		loop_play(fixture.loop, n * US_PER_MS);
	} else if (IS("zone")) {
		arrive(zone_text(n, true));
	} else if (IS("plain")) {
		char text[600];

		snprintf(text, sizeof(text), "%s%s", soa_text(n), "a.zone. 60 A 192.0.2.1\n");
		arrive(text);
		arrive(soa_text(n));
	} else if (IS("times")) {
		fixture.refresh_s = n;
		fixture.retry_s = (unsigned)atoi(strchr(more, ' '));
	} else if (IS("part")) {
		arrive(zone_text(n, false));
	} else if (IS("end")) {
		arrive(soa_text(n));
	} else if (IS("step")) {
		char text[1000];
		unsigned to = (unsigned)atoi(strchr(more, ' '));

		snprintf(text, sizeof(text), "%s%s%sb.zone. 60 A 192.0.2.%u\n%s", soa_text(to), soa_text(n), soa_text(to), to,
			 soa_text(to));
		arrive(text);
	} else if (IS("garbage")) {
		arrive("other. 60 A 192.0.2.1\n");
	} else if (IS("fail")) {
		struct transmission *s = fixture.transmission;

		assert_non_null(s);
		fixture.transmission = NULL;
		s->failed(s, UPSTREAM_SILENT);
		loop_play(fixture.loop, 0);
	} else if (IS("soa")) {
		answer_probe(more);
	} else if (IS("address")) {
		answer_address(more);
	} else if (IS("validate")) {
		validate(more);
	} else if (IS("url")) {
		fixture.fetched = strcmp(more, "fail") == 0 ? FETCH_FAILED :
				strcmp(more, "same") == 0 ? FETCH_SAME :
							    FETCH_NEW;
		snprintf(fixture.url_zone, sizeof(fixture.url_zone), "%s", n ? zone_text(n, false) : more);
	} else if (IS("work")) {
		run_work();
		loop_play(fixture.loop, 0);
	} else if (IS("run")) {
		run_work();
	} else if (IS("poke")) {
		xfers_poke(z);
		loop_play(fixture.loop, 0);
	} else if (IS("notify")) {
		xfers_notified(z);
		loop_play(fixture.loop, 0);
	} else if (IS("check")) {
		xfers_check(z);
		loop_play(fixture.loop, 0);
	} else if (IS("file")) {
		zonedata_retire(authzone_publish(z, zone_made(n), false));
	} else if (IS("start") || IS("forwards")) {
		xfers_renew(fixture.xfers);
	} else if (IS("renew")) {
		renew();
	} else if (IS("loader")) {
		fixture.env.loader = (struct loader *)&fixture;
	} else if (IS("forget")) {
		fixture.env.forget = forget_it;
	} else if (IS("validator")) {
		fixture.snapshot.trust = (struct trust_store *)&fixture;
	} else if (IS("anchor")) {
		fixture.trust_point = N(more);
	} else {
		fail_msg("%s", what);
	}
#undef IS
}

/* What has come of it. */
static inline const char *outcome(char *to, size_t room)
{
	const struct zonedata *have = authzone_stored(fixture_zone());
	uint64_t due_us = loop_next_due(fixture.loop);
	char serial[20] = "-", due[30] = "never";

	if (have)
		snprintf(serial, sizeof(serial), "%u%s", have->serial,
			 atomic_load(&fixture_zone()->cell->expired) ? "!" : "");
	if (due_us != UINT64_MAX && due_us % US_PER_S)
		snprintf(due, sizeof(due), "%u ms", (unsigned)(due_us / US_PER_MS));
	else if (due_us != UINT64_MAX)
		snprintf(due, sizeof(due), "%u s", (unsigned)(due_us / US_PER_S));
	snprintf(to, room, "%s; %s; %s", fixture.story, serial, due);
	fixture.story[0] = '\0';
	return to;
}

struct xfer_step {
	const char *what, *want; /* NULL: nothing is claimed */
};

static inline void play_steps(const char *why, const char *apex, const char *options, const struct xfer_step *steps)
{
	char got[1200];

	fixture_begin(apex, options);
	for (; steps->what; steps++) {
		happen(steps->what);
		outcome(got, sizeof(got));
		if (steps->want && strcmp(got, steps->want) != 0)
			fail_msg("%s: %s: \"%s\", not \"%s\"", why, steps->what, got, steps->want);
	}
	fixture_end();
}

#endif
