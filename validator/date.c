/* Calendar dates: seconds since 1970 in UTC, independent of the machine's time zone and time_t.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/date.h"

#include <inttypes.h>
#include <stdio.h>

#define DAY INT64_C(86400)

/* Years start in March here, so that a leap day is the last day of its year. ERA is the number of
 * days in 400 years, after which the calendar repeats; EPOCH, those from 0000-03-01 to 1970. */
#define ERA   INT64_C(146097)
#define EPOCH INT64_C(719468)

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int64_t date_join(const struct date *d)
{
	int64_t year = d->month > 2 ? d->year : d->year - 1;
	int64_t month = d->month > 2 ? d->month - 3 : d->month + 9;
	int64_t days = year * 365 + floor_div(year, 4) - floor_div(year, 100) +
		       floor_div(year, 400) + (month * 153 + 2) / 5 + d->day - 1 - EPOCH;

	return days * DAY + d->hour * 3600 + d->minute * 60 + d->second;
}

void date_split(int64_t seconds, struct date *out)
{
	int64_t days = floor_div(seconds, DAY);
	int64_t rest = seconds - days * DAY;
	int64_t era = floor_div(days + EPOCH, ERA);
	int64_t day = days + EPOCH - era * ERA; /* in the era */
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month;

	day -= year * 365 + year / 4 - year / 100; /* in the year */
	month = (5 * day + 2) / 153;
	out->day = (int)(day - (153 * month + 2) / 5) + 1;
	out->month = (int)(month < 10 ? month + 3 : month - 9);
	out->year = era * 400 + year + (out->month <= 2);
	out->weekday = (int)((days % 7 + 11) % 7); /* 1970 began on a Thursday */
	out->hour = (int)(rest / 3600);
	out->minute = (int)(rest / 60 % 60);
	out->second = (int)(rest % 60);
}

const char *date_print(int64_t seconds, char buf[DATE_TEXT])
{
	struct date d;

	date_split(seconds, &d);
	snprintf(buf, DATE_TEXT, "%04" PRId64 "-%02d-%02d %02d:%02d:%02d UTC", d.year, d.month,
		 d.day, d.hour, d.minute, d.second);
	return buf;
}

const char *date_print_ctime(int64_t seconds, char buf[DATE_TEXT])
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct date d;

	date_split(seconds, &d);
	snprintf(buf, DATE_TEXT, "%.3s %.3s %2d %02d:%02d:%02d %" PRId64, days + 3 * d.weekday,
		 months + 3 * (d.month - 1), d.day, d.hour, d.minute, d.second, d.year);
	return buf;
}

const char *date_print_span(int64_t seconds, char buf[DATE_TEXT])
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 365 * DAY, "year" },
		      { DAY, "day" },
		      { 3600, "hour" },
		      { 60, "minute" },
		      { 1, "second" } };
	unsigned u = 0;
	int64_t first, second = 0;

	while (u + 1 < COUNT(units) && seconds < units[u].seconds)
		u++;
	first = seconds / units[u].seconds;
	if (u + 1 < COUNT(units))
		second = seconds % units[u].seconds / units[u + 1].seconds;
	if (second == 0)
		snprintf(buf, DATE_TEXT, "%" PRId64 " %s%s", first, units[u].name,
			 first == 1 ? "" : "s");
	else
		snprintf(buf, DATE_TEXT, "%" PRId64 " %s%s %" PRId64 " %s%s", first, units[u].name,
			 first == 1 ? "" : "s", second, units[u + 1].name, second == 1 ? "" : "s");
	return buf;
}
