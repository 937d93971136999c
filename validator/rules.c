/* Validation policy from the configuration: algorithms, digests, dates and limits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/base/fault.h"
#include "util/conf/options.h"
#include "validator/crypto.h"
#include "validator/date.h"

static const struct {
	uint8_t number;
	bool is_sha1;
} algorithms[] = {
#define ALGORITHM(number, name, kind, digest, curve, point, sig, is_sha1) { number, is_sha1 },
#include "validator/algorithm.def"
#undef ALGORITHM
};

/* Accepts the algorithms and digests that can be computed; SHA-1 only as the arguments allow. */
static void believe(struct rules *r, bool sha1_signatures, bool sha1_digests)
{
	static const uint8_t digests[] = { DIGEST_SHA1, DIGEST_SHA256, DIGEST_SHA384 };

	for (size_t i = 0; i < COUNT(algorithms); i++)
		if (crypto_knows(algorithms[i].number) &&
		    (sha1_signatures || !algorithms[i].is_sha1))
			octets_put(&r->algorithms, algorithms[i].number);
	for (size_t i = 0; i < COUNT(digests); i++)
		if (crypto_digest_len(digests[i]) && (sha1_digests || digests[i] != DIGEST_SHA1))
			octets_put(&r->digests, digests[i]);
}

static void begin(struct rules *r)
{
	*r = (struct rules){
		.skew_min_s = 3600,
		.skew_max_s = 86400,
		.sigs_per_set = 8,
		.keys_per_tag = 2,
		.ds_failures = 4,
	};
}

void rules_default(struct rules *r)
{
	begin(r);
	believe(r, false, true);
	r->nsec3_count = 1;
	r->nsec3[0].bits = UINT16_MAX;
	r->nsec3[0].iterations = 150;
}

static void pretend(struct rules *r, uint8_t algorithm)
{
	octets_put(&r->algorithms, algorithm);
	octets_put(&r->fake, algorithm);
}

/* Accepts signatures of these algorithms unchecked, for tests of everything around them. */
static void pretend_all(struct rules *r, bool sha1, bool dsa)
{
	if (sha1 || dsa) {
		pretend(r, ALGORITHM_DSA);
		pretend(r, ALGORITHM_DSA_NSEC3);
	}
	if (!sha1)
		return;
	octets_put(&r->digests, DIGEST_SHA1);
	for (size_t i = 0; i < COUNT(algorithms); i++)
		if (algorithms[i].is_sha1)
			pretend(r, algorithms[i].number);
}

static bool read_date(struct rules *r, const char *text, struct fault *f)
{
	struct date d = { .weekday = 0 };
	int year;

	r->date = DATE_FIXED;
	if (strcmp(text, "-1") == 0)
		r->date = DATE_ANY;
	else if (strcmp(text, "0") == 0 || *text == '\0')
		r->date = DATE_CLOCK;
	else if (strlen(text) != 14)
		r->fixed_date = (uint32_t)strtoul(text, NULL, 10);
	else if (sscanf(text, "%4d%2d%2d%2d%2d%2d", &year, &d.month, &d.day, &d.hour, &d.minute,
			&d.second) == 6 &&
		 d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31) {
		d.year = year;
		r->fixed_date = (uint32_t)date_join(&d);
	} else {
		fault_set(f, "val-override-date: '%s' is no date", text);
		return false;
	}
	return true;
}

static bool read_nsec3(struct rules *r, const char *text, struct fault *f)
{
	for (r->nsec3_count = 0; *text;) {
		char *end;
		unsigned long bits = strtoul(text, &end, 10);
		unsigned long iterations = strtoul(end, &end, 10);

		if (end == text || bits > UINT16_MAX || iterations > UINT16_MAX ||
		    r->nsec3_count == RULES_NSEC3) {
			fault_set(f,
				  "val-nsec3-keysize-iterations: '%s' are not at most %d pairs of "
				  "numbers up to 65535",
				  text, RULES_NSEC3);
			return false;
		}
		r->nsec3[r->nsec3_count].bits = (uint16_t)bits;
		r->nsec3[r->nsec3_count++].iterations = (uint16_t)iterations;
		text = end + strspn(end, " \t");
	}
	return true;
}

bool rules_read(struct rules *r, const struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;

	begin(r);
	believe(r, strcmp(s->val_sha1, "all") == 0, strcmp(s->val_sha1, "none") != 0);
	pretend_all(r, s->fake_sha1, s->fake_dsa);
	r->every_algorithm = s->harden_algo_downgrade;
	r->skew_min_s = s->val_sig_skew_min;
	r->skew_max_s = s->val_sig_skew_max;
	r->least_ttl_s = s->serve_original_ttl ? 0 : s->cache_min_ttl;
	return read_date(r, s->val_override_date, f) &&
	       read_nsec3(r, s->val_nsec3_keysize_iterations, f);
}

bool rules_are_same(const struct rules *a, const struct rules *b)
{
	for (unsigned i = 0; i < MAX(a->nsec3_count, b->nsec3_count); i++)
		if (a->nsec3[i].bits != b->nsec3[i].bits || a->nsec3[i].iterations != b->nsec3[i].iterations)
			return false;
	return memcmp(&a->algorithms, &b->algorithms, sizeof(a->algorithms)) == 0 &&
	       memcmp(&a->digests, &b->digests, sizeof(a->digests)) == 0 &&
	       memcmp(&a->fake, &b->fake, sizeof(a->fake)) == 0 &&
	       a->every_algorithm == b->every_algorithm && a->date == b->date &&
	       a->fixed_date == b->fixed_date && a->skew_min_s == b->skew_min_s &&
	       a->skew_max_s == b->skew_max_s && a->nsec3_count == b->nsec3_count;
}

uint32_t rules_now(const struct rules *r, int64_t wall_s)
{
	return r->date == DATE_FIXED ? r->fixed_date : (uint32_t)wall_s;
}

unsigned rules_nsec3_limit(const struct rules *r, unsigned bits)
{
	unsigned i = 0;

	if (r->nsec3_count == 0)
		return 0;
	while (i + 1 < r->nsec3_count && bits > r->nsec3[i].bits)
		i++;
	return r->nsec3[i].iterations;
}
