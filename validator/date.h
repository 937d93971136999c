/* Dates for people: seconds since 1970 as UTC, regardless of the machine's time zone and time_t.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_DATE_H
#define VALIDATOR_DATE_H

#include "util/base/base.h"

#define DATE_TEXT 40

struct date {
	int64_t year;
	int month, day;         /* from 1 */
	int weekday;            /* 0 is Sunday */
	int hour, minute, second;
};

void date_split(int64_t seconds, struct date *out);
int64_t date_join(const struct date *d) PURE;           /* ignores weekday */

/* "2026-11-20 08:15:00 UTC". Returns `buf`. */
const char *date_print(int64_t seconds, char buf[DATE_TEXT]);
/* As ctime(3) in UTC, without newline: "Fri Nov 20 08:15:00 2026". */
const char *date_print_ctime(int64_t seconds, char buf[DATE_TEXT]);
/* A duration in its two largest units: "1 day 3 hours". */
const char *date_print_span(int64_t seconds, char buf[DATE_TEXT]);

#endif
