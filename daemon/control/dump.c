/* Commands that print the cache as text; dump_cache's can be loaded again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "daemon/control/call.h"
#include "daemon/process/daemon.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/net/subnet.h"

struct dump {
	struct call *call;
	uint32_t now_s;
	const uint8_t *top; /* only what is at or below; NULL: everything */
	bool with_places;   /* include answers for a single client subnet */
	void (*say_answer)(const struct dump *d, const struct stored *s, const struct message *m);
};

static void begin(struct dump *d, struct call *c)
{
	struct timebase now = { 0 };

	timebase_read(&now);
	*d = (struct dump){ .call = c, .now_s = now.now_s };
}

static bool is_meant(const struct dump *d, const uint8_t *name)
{
	return !d->top || dname_is_under(name, d->top);
}

/* Only full answers are shown; plain ones are derived from those. Answers of a view are never
 * shown. */
static bool answer_is_meant(const struct dump *d, const struct stored *s)
{
	return !time_is_past(d->now_s, s->expires_s) && s->fits & STORED_FULL &&
	       !(s->fits & STORED_MADE) &&
	       (!s->scope || (d->with_places && s->scope == STORED_PLACED)) &&
	       is_meant(d, stored_wire(s) + MSG_HEAD_LEN);
}

/* The flags stand behind what Unbound reads of the line. */
static void say_set(const struct dump *d, const struct rrset *s)
{
	unsigned flags = s->flags & RRSET_FLAGS_KEPT & ~(unsigned)RRSET_NSEC_AT_APEX;

	if (time_is_past(d->now_s, s->expires_s))
		return;
	call_say(d->call, ";rrset%s %u %u %u %u %u",
		 s->flags & RRSET_NSEC_AT_APEX ? " nsec_apex" : "",
		 time_left(d->now_s, s->expires_s), s->count, s->sig_count, s->trust, s->security);
	if (flags)
		call_say(d->call, " %u", flags);
	call_say(d->call, "\n");
	text_rrset_print(s, d->now_s, call_line, d->call);
}

static void dump_set(const struct slab_entry *e, void *arg)
{
	const struct rrset *s = &container_of(e, struct rrset_entry, link)->set;

	if (!e->spare && is_meant(arg, rrset_owner(s)))
		say_set(arg, s);
}

/* Whether the set was made from a DNAME beside it: without that nothing proves it, so it is no RRset of the cache's, and
 * no answer with it is dumped. It is made again. */
static bool is_made(const struct message *m, const struct rrset *set)
{
	for (unsigned i = 0; set->type == TYPE_CNAME && i < m->count[SECTION_ANSWER]; i++)
		if (m->sets[i]->type == TYPE_DNAME && dname_is_strictly_under(rrset_owner(set), rrset_owner(m->sets[i])))
			return true;
	return false;
}

static bool has_made(const struct message *m)
{
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++)
		if (is_made(m, m->sets[i]))
			return true;
	return false;
}

/* RRsets held only within an answer: a reader of the dump expects them among the RRsets. */
static void dump_sets_of_answer(const struct slab_entry *e, void *arg)
{
	const struct dump *d = arg;
	const struct stored *s = container_of(e, struct stored, link);
	const struct message *m;
	struct arena arena;

	if (!answer_is_meant(d, s))
		return;
	arena_init(&arena);
	m = stored_unpack(s, &arena, d->now_s);
	for (unsigned i = 0; m && i < message_set_count(m); i++) {
		const struct rrset *set = m->sets[i];

		if (!is_made(m, set) && !rrsetcache_find(d->call->daemon->caches.rrsets, rrset_owner(set), set->type,
							 set->class_, set->flags, d->now_s))
			say_set(d, set);
	}
	arena_clear(&arena);
}

static void say_key(struct call *c, const uint8_t *name, uint16_t class_, uint16_t type)
{
	char text[DNAME_TEXT], class_text[16], type_text[16];

	call_say(c, "%s %s %s", dname_print(name, text), rr_class_name(class_, class_text),
		 rr_type_name(type, type_text));
}

/* An answer names its RRsets only; the checksum, behind what Unbound reads of the line, tells whether they are those it
 * had. */
static void dump_whole(const struct dump *d, const struct stored *s, const struct message *m)
{
	struct call *c = d->call;
	unsigned flags = FLAG_QR | FLAG_RD | FLAG_RA | msg_flags(stored_wire(s)) | s->rcode;

	if (has_made(m))
		return;
	call_say(c, "msg ");
	say_key(c, m->q.name, m->q.class_, m->q.type);
	call_say(c, " %u 1 %u %u %u %u %u %d \n", flags, time_left(d->now_s, s->expires_s),
		 s->security, m->count[SECTION_ANSWER], m->count[SECTION_AUTHORITY],
		 m->count[SECTION_ADDITIONAL], reason_ede((enum reason)s->reason));
	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *set = m->sets[i];

		say_key(c, rrset_owner(set), set->class_, set->type);
		call_say(c, " %u %016" PRIx64 "\n", set->flags, rrset_checksum(set));
	}
}

static void dump_answer(const struct slab_entry *e, void *arg)
{
	const struct dump *d = arg;
	const struct stored *s = container_of(e, struct stored, link);
	const struct message *m;
	struct arena arena;

	if (!answer_is_meant(d, s))
		return;
	arena_init(&arena);
	m = stored_unpack(s, &arena, d->now_s);
	if (m)
		d->say_answer(d, s, m);
	arena_clear(&arena);
}

/* In strides that are short in bytes, too; between them the client may take what there is. */
static void dump_each(struct slab *s, void (*each)(const struct slab_entry *e, void *arg), struct dump *d)
{
	struct slab_walk walk = { .stride = 8 };

	while (call_flows(d->call) && slab_walk(s, &walk, each, d))
		;
}

static void say_sets(struct dump *d)
{
	const struct caches *caches = &d->call->daemon->caches;

	dump_each(rrsetcache_slab(caches->rrsets), dump_set, d);
	dump_each(msgcache_slab(caches->messages), dump_sets_of_answer, d);
}

void control_dump_cache(struct call *c, struct worker *w)
{
	struct dump d;

	(void)w;
	begin(&d, c);
	call_say(c, "START_RRSET_CACHE\n");
	d.say_answer = dump_whole;
	say_sets(&d);
	call_say(c, "END_RRSET_CACHE\nSTART_MSG_CACHE\n");
	dump_each(msgcache_slab(c->daemon->caches.messages), dump_answer, &d);
	call_say(c, "END_MSG_CACHE\nEOF\n");
}

/* ---- cache_lookup ---- */

static void say_flags(struct call *c, const struct message *m)
{
	call_say(c, " qr%s%s rd ra%s", m->flags & FLAG_AA ? " aa" : "",
		 m->flags & FLAG_TC ? " tc" : "", m->security == SECURITY_SECURE ? " ad" : "");
}

/* The subnet whose clients the answer is for. */
static void show_place(const struct dump *d, const struct stored *s)
{
	struct subnet_key at;
	char net[ADDR_TEXT];
	struct question q;

	if (!stored_place(s, &at))
		return;
	stored_question(s, &q);
	call_say(d->call, "subnet %s%s ", netblock_print(&at.net, net),
		 at.coarse && at.net.bits == 0 ? " scope_zero" : "");
	say_key(d->call, q.name, q.class_, q.type);
	call_say(d->call, " %u\nsubnet ", time_left(d->now_s, s->expires_s));
}

static void show_whole(const struct dump *d, const struct stored *s, const struct message *m)
{
	struct call *c = d->call;
	unsigned flags = FLAG_QR | FLAG_RD | FLAG_RA | msg_flags(stored_wire(s)) | s->rcode;
	char rcode[16];
	int ede = reason_ede((enum reason)s->reason);

	show_place(d, s);
	call_say(c, "msg ");
	say_key(c, m->q.name, m->q.class_, m->q.type);
	say_flags(c, m);
	call_say(c, " %s %u 1 %u %u %u %u %u %d %s\n", rr_rcode_name(s->rcode, rcode), flags,
		 time_left(d->now_s, s->expires_s), s->security, m->count[SECTION_ANSWER],
		 m->count[SECTION_AUTHORITY], m->count[SECTION_ADDITIONAL], ede,
		 ede < 0 ? "\"\"" : reason_text((enum reason)s->reason));
	for (unsigned i = 0; i < message_set_count(m); i++)
		text_rrset_print(m->sets[i], d->now_s, call_line, c);
	call_say(c, "\n");
}

/* Half the cache may be below a top-level domain, so such short names require "+t". */
static bool is_deep_enough(struct call *c, const uint8_t *name)
{
	char text[DNAME_TEXT];

	if (dname_labels(name) >= 2)
		return true;
	call_say(c, "error name too short: '%s'. Need example.com. or longer, short names take much time; "
		    "+t allows them\n",
		 dname_print(name, text));
	return false;
}

void control_cache_lookup(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];
	bool any_depth;
	struct dump d;

	(void)w;
	begin(&d, c);
	d.top = name;
	d.say_answer = show_whole;
	if (!call_take_flags(c, "t", &any_depth))
		return;
	do {
		if (!call_take_name(c, name) || !(any_depth || is_deep_enough(c, name)))
			return;
		say_sets(&d);
		d.with_places = true;
		dump_each(msgcache_slab(c->daemon->caches.messages), dump_answer, &d);
		d.with_places = false;
	} while (*c->args);
}
