/* Whether a whole address family is silent: a few counters for each.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/families.h"

#define ANSWERED_EVERY_MS 20 /* more often the time of the last answer is not written */
#define PROBES_DOUBLE     4

#define SET(field, value) atomic_store_explicit(&(field), (value), memory_order_relaxed)
#define GET(field)        atomic_load_explicit(&(field), memory_order_relaxed)

/* Whether `a` is not later than `b`; they must be within 24 days of each other. */
static bool not_after(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) >= 0;
}

static struct family *of(const struct families *f, unsigned family)
{
	struct families *own = (struct families *)(uintptr_t)f;

	return family == 4 ? &own->v4 : family == 6 ? &own->v6 : NULL;
}

static void forgive(struct family *f)
{
	if (GET(f->silences))
		SET(f->silences, 0);
	if (GET(f->probes))
		SET(f->probes, 0);
}

void families_heard(struct families *f, unsigned family, uint32_t now_ms)
{
	struct family *own = of(f, family);

	if (!own)
		return;
	if (!GET(own->answered) || now_ms - GET(own->answered_ms) >= ANSWERED_EVERY_MS)
		SET(own->answered_ms, now_ms);
	if (UNLIKELY(!GET(own->answered)))
		SET(own->answered, true);
	forgive(own);
}

void families_missed(struct families *f, unsigned family, uint32_t sent_ms, uint32_t now_ms)
{
	struct family *own = of(f, family);
	uint32_t silences;

	if (!own || (GET(own->answered) && not_after(sent_ms, GET(own->answered_ms))))
		return; /* others of it were not silent meanwhile */
	silences = GET(own->silences);
	if (silences == 0)
		SET(own->from_ms, sent_ms);
	if (silences + 1 == FAMILY_SILENCES)
		SET(own->probe_ms, now_ms + FAMILY_PROBE_MS);
	if (silences < FAMILY_SILENCES)
		SET(own->silences, silences + 1);
}

static bool is_silent(const struct families *f, unsigned family)
{
	const struct family *own = of(f, family), *other = of(f, 10 - family);

	return own && GET(own->silences) >= FAMILY_SILENCES && GET(other->silences) < FAMILY_SILENCES &&
	       GET(other->answered) && not_after(GET(own->from_ms), GET(other->answered_ms));
}

void families_asked(struct families *f, unsigned family, uint32_t now_ms)
{
	struct family *own = of(f, family);

	if (LIKELY(!is_silent(f, family)) || !not_after(GET(own->probe_ms), now_ms))
		return;
	if (GET(own->probes) < PROBES_DOUBLE)
		SET(own->probes, GET(own->probes) + 1);
	SET(own->probe_ms, now_ms + (FAMILY_PROBE_MS << GET(own->probes)));
}

bool families_is_silent(const struct families *f, unsigned family, uint32_t now_ms)
{
	return UNLIKELY(is_silent(f, family)) && !not_after(GET(of(f, family)->probe_ms), now_ms);
}

bool families_is_doubtful(const struct families *f, unsigned family)
{
	const struct family *own = of(f, family);

	return own && (UNLIKELY(!GET(own->answered)) || UNLIKELY(GET(own->silences)));
}

void families_forgive(struct families *f)
{
	forgive(&f->v4);
	forgive(&f->v6);
}
