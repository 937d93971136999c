/* Trust anchors in BIND's syntax: trusted-keys, managed-keys and trust-anchors clauses, with static-key, static-ds,
 * initial-key and initial-ds. Everything else in the text is ignored.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_BIND_KEYS_H
#define VALIDATOR_BIND_KEYS_H

#include "util/base/base.h"

struct fault;

/* Gets each DS or DNSKEY record in presentation format. False, with `why`: it is refused, and reading ends. */
typedef bool bind_keys_take(void *arg, const char *record, struct fault *why);

/* False, with a sentence in `f` (file, line, what): some were taken perhaps. `name` is the text's, for that sentence. */
bool bind_keys_read_text(const char *name, const char *text, size_t len, bind_keys_take *take,
			 void *arg, struct fault *f) MUST_USE;
bool bind_keys_read_file(const char *path, bind_keys_take *take, void *arg,
			 struct fault *f) MUST_USE;

#endif
