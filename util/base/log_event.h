/* What a line of the log says, in parts: which event, and the values of its members.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A line in text (log-format: text) is the sentence alone; one in JSON has the parts. */
#ifndef UTIL_BASE_LOG_EVENT_H
#define UTIL_BASE_LOG_EVENT_H

#include "util/base/base.h"

enum log_event {
#define EVENT(word, prose, help) LOG_EVENT_##word,
#include "util/base/log_event.def"
#undef EVENT
	LOG_EVENTS
};

enum log_member {
#define MEMBER(name, type, help) LOG_MEMBER_##name,
#include "util/base/log_member.def"
#undef MEMBER
	LOG_MEMBERS
};

enum log_member_type { LOG_MEMBER_TEXT, LOG_MEMBER_COUNT, LOG_MEMBER_FLAG, LOG_MEMBER_DECIMAL };

/* A list of them ends with LOG_MEMBERS. */
struct log_fact {
	enum log_member member;
	const char *text; /* TEXT: NULL: leave it out */
	uint64_t number;  /* COUNT, FLAG; DECIMAL: millionths */
};

#define LOG_TEXT(name, value)  { .member = LOG_MEMBER_##name, .text = (value) }
#define LOG_COUNT(name, value) { .member = LOG_MEMBER_##name, .number = (value) }
#define LOG_FACTS(...)         ((const struct log_fact[]){ __VA_ARGS__, { .member = LOG_MEMBERS } })

/* Where a line comes from, and what it is. */
struct log_origin {
	const char *file;             /* __FILE__; NULL: none in particular */
	const char *kind;             /* the word in text lines: "info", "warning", … */
	bool rare;                    /* repeats are counted (util/base/log_repeats.h) */
	enum log_event event;
	const struct log_fact *facts; /* NULL: none */
};

#endif
