/* Any messages as the answer to AXFR or IXFR, signed or not: a zone comes of it, which its file keeps, or nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: a byte of FLAGS, then messages, each behind its length of two bytes. Signed ones are of a
 * time that stands still. */
#include "services/authzone/stream.h"

#include "services/authzone/answer.h"
#include "testdata/fuzz/zones.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define APEX   ((const uint8_t *)"\4zone")
#define WALL_S 1700000000

enum { FLAG_WHOLE = 1, FLAG_SIGNED = 2, FLAG_BASED = 4 };

static struct tsig_keys *keys;

static void begin_once(void)
{
	static const char text[] = "key:\n\tname: k.\n\tsecret: \"c2VjcmV0IG9mIHR3byBzZXJ2ZXJz\"\n";
	struct conf_how how = { .no_files = true };
	struct conf_report report = { 0 };
	struct conf *conf;

	if (keys)
		return;
	conf = conf_new();
	PROMISE(conf_load_text(conf, "key", text, sizeof(text) - 1, &how, &report));
	keys = tsig_keys_new(conf, NULL);
	PROMISE(keys && tsig_keys_find(keys, "K"));
	conf_report_clear(&report);
	conf_free(conf);
}

static void put(struct zonebuild *b, struct arena *a, const char *line)
{
	struct text_rr rr;
	struct fault f = { 0 };

	PROMISE(text_rr_parse(a, line, NULL, &rr, &f));
	zonebuild_add(b, &rr);
}

/* What stands when changes are asked for. */
static struct zonedata *make_base(void)
{
	struct zonebuild *b = zonebuild_new(APEX);
	struct zonedata *z;
	struct arena a;

	arena_init(&a);
	put(b, &a, "zone. 60 SOA ns.zone. host.zone. 1 2 3 4 5");
	put(b, &a, "zone. 60 NS ns.zone.");
	put(b, &a, "a.zone. 60 A 192.0.2.1");
	put(b, &a, "b.zone. 60 TXT \"old\"");
	arena_clear(&a);
	z = zonebuild_finish(b, NULL);
	PROMISE(z);
	return z;
}

static void count_one(const struct text_rr *rr, void *count)
{
	PROMISE(dname_is_under(rr->owner, APEX));
	++*(size_t *)count;
}

static void check_zone(const struct zonedata *z, uint32_t goal)
{
	static const uint8_t names[][8] = { "\4zone", "\1a\4zone", "\1*\4zone", "\1q\4zone" };
	size_t records = 0;
	struct arena a;

	PROMISE(z->soa && (z->serial == goal || z->soa->count == 1));
	zonedata_each(z, count_one, &records);
	PROMISE(records <= z->records);
	arena_init(&a);
	for (size_t i = 0; i < COUNT(names); i++) {
		struct question q = { .name = names[i],
				      .name_len = (uint16_t)dname_len(names[i]),
				      .type = i % 2 ? TYPE_A : TYPE_ANY,
				      .class_ = CLASS_IN };
		struct message m;

		zonedata_answer(z, &q, &a, &m);
		PROMISE(m.rcode == RCODE_NOERROR || m.rcode == RCODE_NXDOMAIN ||
			m.rcode == RCODE_YXDOMAIN);
	}
	arena_clear(&a);
	zones_check_written(z, APEX, false);
}

static bool take_all(struct xfr *x, struct reader r)
{
	while (reader_left(&r) && !xfr_is_done(x)) {
		size_t len = read_u16(&r);
		const uint8_t *at;

		len = MIN(len, reader_left(&r));
		at = read_bytes(&r, len);
		if (!at || !xfr_take(x, at, len, WALL_S))
			return false;
	}
	return xfr_is_done(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct reader r = reader_over(data, len);
	unsigned flags = read_u8(&r);
	struct zonedata *base, *z;
	struct xfr x = { .apex = NULL };

	begin_once();
	base = flags & FLAG_BASED ? make_base() : NULL;
	xfr_begin(&x, APEX, flags & FLAG_WHOLE, base);
	if (flags & FLAG_SIGNED) {
		uint8_t query[MSG_HEAD_LEN + TSIG_ROOM] = { 0 };
		struct writer w = writer_over(query, sizeof(query));

		w.at += MSG_HEAD_LEN;
		tsig_sign_question(&x.talk, tsig_keys_find(keys, "k."), query, &w, WALL_S);
		PROMISE(!w.bad);
	}
	if (take_all(&x, r) && !x.nothing) {
		PROMISE(x.differs == false || base != NULL);
		if (x.differs)
			zonebuild_put_under(x.build, base);
		z = zonebuild_finish(x.build, NULL);
		x.build = NULL;
		if (z)
			check_zone(z, x.goal);
		zonedata_free(z);
	}
	xfr_clear(&x);
	zonedata_free(base);
	return 0;
}
