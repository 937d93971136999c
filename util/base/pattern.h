/* Patterns over short texts such as names: regular expressions without backtracking.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Understood are letters, `.`, classes (`[a-z]`, `[^.]`, `\d`, `\w`, `\s` and their opposites),
 * groups, `|`, `*`, `+`, `?`, `^` and `$`; case is ignored. The time to match is bounded by the
 * length of the text times that of the pattern, whatever both contain. */
#ifndef UTIL_BASE_PATTERN_H
#define UTIL_BASE_PATTERN_H

#include "util/base/base.h"

struct pattern;

/* An alternative (of those that `|` separates outside of groups) that uses more than is understood,
 * or has more than 250 letters, is left out and counted in `*unknown`. */
struct pattern *pattern_new(const char *text, size_t len, unsigned *unknown) MUST_USE;
void pattern_free(struct pattern *p); /* NULL is fine */
/* Whether it matches from the beginning of the text on; what follows the match does not matter,
 * unless `$` says so. */
bool pattern_meets(const struct pattern *p, const char *text, size_t len);
size_t pattern_bytes(const struct pattern *p);

#endif
