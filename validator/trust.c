/* The validation rules and trust anchors of one configuration.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/trust.h"

#include "util/base/mem.h"
#include "validator/clock.h"

struct trust_store *trust_new(const struct conf *conf, struct fault *f)
{
	struct trust_store *t = mem_zero(sizeof(*t));

	if (rules_read(&t->rules, conf, f) && (t->anchors = anchors_new(conf, f))) {
		anchors_drop_unsupported(t->anchors, &t->rules);
		t->clock_floor = clock_floor(conf, t);
		return t;
	}
	trust_free(t);
	return NULL;
}

void trust_free(struct trust_store *t)
{
	if (t && t->anchors)
		anchors_free(t->anchors);
	mem_free(t);
}
