/* Whether what a client was told is true, whole, and came in time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "daemon/replay/rrs.h"
#include "testdata/hostile/play.h"
#include "testdata/hostile/trace.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"

static bool is_told(const struct told *t, const struct flat_rr *rr)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct told_record *r = &t->records[i];

		if (r->type == rr->type && dname_equals(r->owner, rr->owner) && r->rdata.len == rr->rdata.len &&
		    memcmp(r->rdata.at, rr->rdata.at, r->rdata.len) == 0)
			return true;
	}
	return false;
}

/* The question, and what is wrong with the answer. */
static void fail(struct play *p, const struct ask *ask, const struct flat_message *m, const char *what)
{
	char name[DNAME_TEXT], type[16], got[300] = "";
	size_t used = 0;

	for (unsigned s = 0; m && s < 3; s++)
		for (unsigned i = 0; i < m->count[s] && used < sizeof(got) - 120; i++) {
			flat_rr_print(&m->rrs[s][i], got + used + 2, 100);
			got[used] = ' ';
			got[used + 1] = "ANX"[s];
			used = strlen(got);
		}
	play_fail(p, "%s %s%s%s%s: %s; got rcode %u%s:%s", dname_print(ask->q.name, name),
		  rr_type_name(ask->q.type, type), ask->flags & ASK_CD ? " +cd" : "",
		  ask->flags & ASK_DO ? " +do" : "", p->afterwards ? " (afterwards)" : "", what, m ? m->rcode : 0,
		  m && m->flags & FLAG_AD ? " ad" : "", got);
}

/* The other view's own data, and what its local zone denies below. */
static bool is_of_view(const struct play *p, const struct ask *ask, const uint8_t *name)
{
	return p->net.has_view && ask->flags & ASK_OTHER_VIEW &&
	       dname_is_under(name, (const uint8_t *)"\3www\1v\1t");
}

static bool touches_view(const struct play *p, const struct ask *ask, const struct truth *truth)
{
	if (is_of_view(p, ask, ask->q.name))
		return true;
	for (unsigned i = 0; i < truth->told.count; i++)
		if (truth->told.records[i].type == TYPE_CNAME &&
		    is_of_view(p, ask, truth->told.records[i].rdata.at))
			return true;
	return false;
}

/* Of the island below his own zone he may prove, in full, that there is no such zone. */
static bool touches_isle(const struct play *p, const struct ask *ask, const struct truth *truth)
{
	const struct zone *isle = p->net.sites[SITE_ISLE].zone;
	bool touches = isle && dname_is_under(ask->q.name, isle->apex);

	for (unsigned i = 0; isle && i < truth->told.count; i++)
		touches |= truth->told.records[i].type == TYPE_CNAME &&
			   dname_is_under(truth->told.records[i].rdata.at, isle->apex);
	return touches;
}

/* Both are right: of what is gone, until the parent's delegation has expired. He may tell for ever what was signed before. */
static bool is_undecided(const struct play *p, const struct ask *ask, const struct truth *truth)
{
	const struct site *s = &p->net.sites[SITE_GONE];

	if (ask->q.type == TYPE_NSEC) /* stands beside an alias, which may be followed as well; and led to what is gone */
		return true;
	if (!s->gone || !dname_is_under(ask->q.name, s->zone->apex))
		return false;
	if (truth->contested)
		return true;
	if (p->afterwards)
		return false;
	return p->net.keeps || !(ask->flags & ASK_FRESH) || ask->at_us < p->removed_us + (s->cut_ttl_s + 1) * US_PER_S;
}

/* What DNS64 made, as what it was made of; whether there is IPv6 besides was for who leads there to say. */
static struct flat_rr unembedded(const struct play *p, const struct flat_rr *rr)
{
	static const uint8_t prefix[12] = { 0, 0x64, 0xff, 0x9b };
	struct flat_rr four = *rr;

	if (p->net.synthesizes && rr->type == TYPE_AAAA && rr->rdata.len == 16 && memcmp(rr->rdata.at, prefix, sizeof(prefix)) == 0) {
		four.type = TYPE_A;
		four.rdata = (struct slice){ rr->rdata.at + sizeof(prefix), 4 };
	}
	return four;
}

/* Whether DNS64 made what it tells: where he has a server, its error in place of AAAA counts as none (RFC 6147 5.1.2). */
static bool is_made(const struct play *p, const struct flat_message *m)
{
	bool made = false;

	for (unsigned i = 0; i < m->count[0]; i++) {
		made |= unembedded(p, &m->rrs[0][i]).type != m->rrs[0][i].type;
		if (m->rrs[0][i].type == TYPE_AAAA && unembedded(p, &m->rrs[0][i]).type == TYPE_AAAA)
			return false;
	}
	return made;
}

/* Records of victims in any answer are true, whoever was asked for. */
static void check_records(struct play *p, const struct ask *ask, const struct flat_message *m)
{
	static struct truth truth;

	for (unsigned i = 0; i < m->count[0] && !p->failed; i++) {
		const struct flat_rr four = unembedded(p, &m->rrs[0][i]), *rr = &four;
		struct question q = { rr->owner, (uint16_t)dname_len(rr->owner), rr->type, CLASS_IN };
		bool by_alias = !dname_equals(rr->owner, ask->q.name);
		const struct site *s = internet_site_of(&p->net, &q, by_alias);

		if (rr->type == TYPE_RRSIG || s->hostile || site_is_contested(s) || is_of_view(p, ask, rr->owner))
			continue;
		if (p->net.sites[SITE_GONE].gone && dname_is_under(rr->owner, p->net.sites[SITE_GONE].zone->apex))
			continue;
		if (p->net.sites[SITE_GONE].gone && rr->type == TYPE_NSEC && !p->afterwards)
			continue; /* the one of before, which led there */
		internet_truth(&p->net, &q, by_alias, &truth);
		if (!is_told(&truth.told, rr))
			fail(p, ask, m, "a record that is not true");
	}
}

static void check_whole(struct play *p, const struct ask *ask, const struct flat_message *m,
			const struct truth *truth)
{
	unsigned records = 0;

	if (m->rcode != truth->told.rcode) {
		fail(p, ask, m, truth->told.rcode ? "it does not exist" : "it exists");
		return;
	}
	for (unsigned i = 0; i < m->count[0]; i++) {
		if (m->rrs[0][i].type == TYPE_RRSIG)
			continue;
		records++;
		if (!is_told(&truth->told, &m->rrs[0][i]))
			fail(p, ask, m, "not true");
	}
	if (records != truth->told.count)
		fail(p, ask, m, "not whole");
}

static void check_beside(struct play *p, const struct ask *ask, const struct flat_message *m)
{
	for (unsigned s = 1; s < 3; s++)
		for (unsigned i = 0; i < m->count[s]; i++) {
			const struct flat_rr *rr = &m->rrs[s][i];

			if (rr->type != TYPE_RRSIG && !internet_has(&p->net, rr->owner, rr->type, rr->rdata))
				fail(p, ask, m, "beside the answer is what is not true");
		}
}

static bool is_operators(const struct play *p, const uint8_t *name)
{
	const struct site *own = &p->net.sites[SITE_OWN];

	for (unsigned i = 0; i < SITES; i++)
		if (p->net.sites[i].held && dname_is_under(name, p->net.sites[i].zone->apex))
			return true;
	return own->zone && dname_is_under(name, own->zone->apex);
}

static bool is_private(const uint8_t *ip)
{
	return memcmp(ip, "\306\063\144", 3) == 0;
}

/* Addresses that are private are in no answer but the operator's own. */
static void check_hidden(struct play *p, const struct ask *ask, const struct flat_message *m)
{
	for (unsigned s = 0; s < 3; s++)
		for (unsigned i = 0; i < m->count[s]; i++) {
			const struct flat_rr *rr = &m->rrs[s][i];

			if (record_leads_to(rr->type, rr->rdata, &(struct addresses_of){ is_private, NULL }) &&
			    !is_operators(p, rr->owner))
				fail(p, ask, m, "a private address");
		}
}

/* What the operator withholds is in no answer but his own, however it came there: by an alias, as a hint, beside something else, out
 * of a cache, or expired. */
static void check_withheld(struct play *p, const struct ask *ask, const struct flat_message *m)
{
	for (unsigned s = 0; s < 3; s++)
		for (unsigned i = 0; i < m->count[s] && !p->failed; i++) {
			const struct flat_rr *rr = &m->rrs[s][i];

			if (is_operators(p, rr->owner) || is_of_view(p, ask, rr->owner))
				continue;
			if (p->net.withholds && withheld_address(rr->type, rr->rdata))
				fail(p, ask, m, "an address that is withheld");
			else if (s != SECTION_AUTHORITY && withheld_name(&p->net, rr->owner, rr->type, rr->rdata))
				fail(p, ask, m, "a name that is withheld");
			else if (s == SECTION_ANSWER && p->net.withholds && withheld_servers(&p->net, rr->owner, rr->type, rr->rdata,
									       !dname_equals(rr->owner, ask->q.name)))
				fail(p, ask, m, "said by servers that are withheld");
		}
}

/* Whether something of it may have expired: that lives for 30 seconds at most (RFC 8767 5.2). What is fresh beside it, an
 * alias that leads there, say, keeps its own TTL. */
static bool is_short_lived(const struct flat_message *m)
{
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < m->count[s]; i++)
			if (m->rrs[s][i].ttl_s <= EXPIRED_TTL_S)
				return true;
	return !m->count[0] && !m->count[1];
}

/* Whether a denial is told beside data: a wildcard has made them, which holds no longer than the denial does. */
static bool is_of_wildcard(const struct truth *truth)
{
	bool data = false, denial = false;

	for (unsigned i = 0; i < truth->told.count; i++) {
		const struct told_record *r = &truth->told.records[i];

		data |= r->section == SECTION_ANSWER;
		denial |= r->section == SECTION_AUTHORITY && (r->type == TYPE_NSEC || r->type == TYPE_NSEC3);
	}
	return data && denial;
}

/* What has expired has no AD, as its proof has expired, too (doc/DESIGN.md, Resolution). */
static bool may_be_expired(const struct play *p, const struct flat_message *m, const struct truth *truth)
{
	return p->net.keeps && (is_short_lived(m) || is_of_wildcard(truth)) && !(m->flags & FLAG_AD);
}

/* A denial without SOA is kept for less time than the NSEC records beside it, and no record says how long. */
static bool is_denial_without_soa(const struct flat_message *m)
{
	for (unsigned i = 0; i < m->count[1]; i++)
		if (m->rrs[1][i].type == TYPE_SOA)
			return false;
	return !m->count[0];
}

/* Which answers are expired is said (RFC 8914 4.4, 4.20). What made one expire need not be told: a denial beside what a
 * wildcard made, or whatever he says at once of his own zones, or where he has a server. */
static void check_expired(struct play *p, const struct ask *ask, const struct flat_message *m, const struct truth *truth)
{
	struct slice ede;
	bool expired = edns_find_option(&m->edns, EDNS_EDE, &ede) && ede.len >= 2 &&
		       (get_u16(ede.at) == 3 || get_u16(ede.at) == 19);

	if (expired && m->flags & FLAG_AD)
		fail(p, ask, m, "expired, and with AD");
	if (expired && !p->net.keeps)
		fail(p, ask, m, "expired, which is not allowed");
	if (expired && !is_short_lived(m) && !is_denial_without_soa(m) && !is_of_wildcard(truth) && !truth->hostile && !truth->contested)
		fail(p, ask, m, "expired, and with a long TTL");
}

/* What is wrong with the answer to a question of which this is the truth. */
static void check_against(struct play *p, const struct ask *ask, const struct flat_message *m,
			  const struct truth *truth)
{
	/* an NXDOMAIN may be about what the alias that was asked for leads to, if that is proven (RFC 6604 3) */
	if (truth->contested && m->rcode == RCODE_NXDOMAIN &&
	    (touches_isle(p, ask, truth) || (ask->q.type == TYPE_CNAME && truth->told.count)))
		return;
	/* and what DNS64 makes of no IPv4 address is the denial of the other */
	if (truth->contested && truth->made && !m->rcode && !is_made(p, m) && touches_isle(p, ask, truth))
		return;
	if (m->flags & FLAG_AD && !truth->secure)
		fail(p, ask, m, "AD, but it is not proven");
	/* an error counts as that there is none: then only the IPv4 addresses are proven (RFC 6147 5.1.2) */
	if (truth->contested && truth->made && truth->secure && !(ask->flags & ASK_CD) && !(m->flags & FLAG_AD) && !m->rcode) {
		check_whole(p, ask, m, truth);
		return;
	}
	if (truth->contested && !(m->flags & FLAG_AD)) {
		if (truth->secure && !may_be_expired(p, m, truth) && !is_made(p, m) && !(ask->flags & ASK_CD) && (m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN))
			fail(p, ask, m, "not proven, though it could be, but told");
		return;
	}
	if (!truth->contested && ask->flags & ASK_CD && !p->honest)
		return;
	check_whole(p, ask, m, truth);
	if (truth->contested)
		return;
	if (truth->secure && !(ask->flags & ASK_CD) && !(m->flags & FLAG_AD) && !may_be_expired(p, m, truth))
		fail(p, ask, m, "proven, but without AD");
	if (!(ask->flags & ASK_OTHER_VIEW))
		check_beside(p, ask, m);
	if (ask->flags & ASK_JUDGED && play_now_us(p) - ask->at_us > VICTIM_MS * US_PER_MS)
		fail(p, ask, m, "too late");
	if (ask->flags & ASK_JUDGED && p->packets - ask->packets > PACKETS_VICTIM + PACKETS_ALIAS * (truth->steps - 1))
		fail(p, ask, m, "too many packets");
}

static struct truth truth; /* of what is checked */

static void check_truth(struct play *p, const struct ask *ask, const struct flat_message *m)
{
	internet_truth(&p->net, &ask->q, false, &truth);
	if (touches_view(p, ask, &truth) || is_undecided(p, ask, &truth))
		return;
	if (!(ask->flags & ASK_CD))
		check_records(p, ask, m);
	if (p->honest)
		truth.hostile = truth.contested = false;
	if (!truth.hostile && !p->failed)
		check_against(p, ask, m, &truth);
}

static void check(struct play *p, const struct ask *ask, const struct flat_message *m)
{
	if (ask->straddles || (p->net.scarce && !(ask->flags & ASK_JUDGED) && (m->rcode == RCODE_SERVFAIL || m->rcode == RCODE_REFUSED)))
		return;
	if (p->net.hides) {
		check_hidden(p, ask, m);
		return;
	}
	if (p->net.withholds || p->net.denied) {
		check_withheld(p, ask, m);
		return;
	}
	p->net.wants_own = ask->flags & ASK_CD;
	p->net.place = play_place(ask->flags) + 1;
	internet_truth(&p->net, &ask->q, false, &truth);
	check_expired(p, ask, m, &truth);
	if (p->failed)
		return;
	check_truth(p, ask, m);
	/* without the option, or where it is not shown, servers tell what is for everybody */
	if (p->failed && p->net.placed && p->net.place) {
		p->net.place = 0;
		p->failed = false;
		check_truth(p, ask, m);
	}
	if (p->failed && p->trace && p->trace->truth && !truth.hostile)
		p->trace->truth(p->trace, (unsigned)(ask - p->asks), &truth, ask->flags & ASK_DO, truth.secure && !(ask->flags & ASK_CD));
}

void judge_answer(struct play *p, struct ask *ask, const struct client_answer *answer)
{
	struct flat_message m;
	struct arena a;

	arena_init(&a);
	if (ask->alone && p->packets - ask->packets > PACKETS_MOST)
		fail(p, ask, NULL, "too many packets, whoever's it is");
	if (ask->q.name_len % 16 == 1 && mem_in_use() > p->memory + MEMORY_MOST)
		fail(p, ask, NULL, "too much memory");
	if (!flat_read(answer->wire, &a, &m) || !(m.flags & FLAG_QR))
		play_fail(p, "a client got what is no message");
	else if (!m.qname || m.qtype != ask->q.type || !dname_equals(m.qname, ask->q.name))
		play_fail(p, "a client got another question's answer");
	else if (!(m.flags & FLAG_TC))
		check(p, ask, &m);
	arena_clear(&a);
}

static void ask_judged(struct play *p, const uint8_t *name, uint16_t type, unsigned flags)
{
	struct ask *ask;

	if (p->net.scarce)
		play_run(p, SCARCE_S * US_PER_S);
	ask = play_ask(p, name, type, ASK_JUDGED | flags);
	if (!ask)
		return;
	play_until_answered(p);
	if (!p->failed && !ask->answered)
		fail(p, ask, NULL, "no answer");
}

static void judge_below(struct play *p, const uint8_t *above)
{
	const uint8_t *label = name_make(&p->net.arena, arena_textf(&p->net.arena, "fresh%u", p->ask_count));
	uint8_t name[DNAME_MAX];
	size_t len = dname_join(name, label, dname_len(label) - 1, above);

	if (len)
		ask_judged(p, arena_copy(&p->net.arena, name, len), TYPE_A, ASK_FRESH);
}

/* Names that nobody has asked for: below what was delegated below gone.t, and below that itself last, for that nothing is
 * there says so for all of it. */
static void judge_gone(struct play *p)
{
	const struct site *s = &p->net.sites[SITE_GONE];

	for (unsigned i = 0; s->gone && i < COUNT(p->net.ghosts) && p->net.ghosts[i] && !p->failed; i++)
		judge_below(p, p->net.ghosts[i]);
	if (s->gone && !p->failed)
		judge_below(p, s->zone->apex);
}

void judge_change(struct play *p)
{
	unsigned count = draw(&p->choices, CHOICES_STORY, 4);

	while (count-- && !p->failed) {
		const struct site *s = internet_pick(&p->net, CHOICES_STORY);
		unsigned what = draw(&p->choices, CHOICES_STORY, 8);

		if (what & 1 && p->net.sites[SITE_OWN].zone)
			s = &p->net.sites[SITE_OWN];
		ask_judged(p, site_name(&p->net, s, prefixes[draw(&p->choices, CHOICES_STORY, prefix_count)]),
			   what & 2 ? TYPE_A : asked_types[draw(&p->choices, CHOICES_STORY, asked_type_count)],
			   what & 4 ? ASK_DO : 0);
	}
}

/* The name that is another for each subnet, and what leads there, from each, in any order. */
static void judge_places(struct play *p)
{
	static const char *const names[] = { "www", "alias", "far", "www" };
	unsigned turn = draw(&p->choices, CHOICES_STORY, 16);

	for (unsigned i = 0; i < PLACES && turn && p->net.placed && !p->failed; i++)
		ask_judged(p, site_name(&p->net, p->net.placed, names[draw(&p->choices, CHOICES_STORY, COUNT(names))]), TYPE_A,
			   (turn + i) & 1 ? ASK_FAR : 0);
}

void judge_victims(struct play *p)
{
	judge_gone(p);
	judge_places(p);
	for (unsigned i = 0; i < SITES && !p->failed; i++) {
		const struct site *s = &p->net.sites[i];

		if (!s->zone || (s->hostile && (s->gone || !p->honest)) ||
		    !internet_knows(&p->net, i))
			continue;
		for (unsigned n = 0; n < prefix_count && !p->failed; n++) {
			unsigned how = draw(&p->choices, CHOICES_STORY, 8);
			uint16_t type = how < 5 ? TYPE_A : asked_types[draw(&p->choices, CHOICES_STORY, asked_type_count)];

			/* the plainest world asks nothing, and is judged by what is left */
			if (!how || (n > 2 && how & 1) || (p->afterwards && how & 4))
				continue;
			ask_judged(p, site_name(&p->net, s, prefixes[n]), type,
				   (how & 2 ? ASK_DO : 0) | (p->net.placed && draw(&p->choices, CHOICES_STORY, 2) ? ASK_FAR : 0));
		}
	}
}
