/* Parsing records that are malformed on purpose.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/loose.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/rr.h"

/* Cut off a comment (outside quotes) and the blanks before it. */
static void cut_comment(char *line)
{
	bool quoted = false;
	char *at;

	for (at = line; *at && (quoted || *at != ';'); at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '"')
			quoted = !quoted;
	}
	while (at > line && isspace((unsigned char)at[-1]))
		at--;
	*at = '\0';
}

/* The RDATA of "\# length hex…" (RFC 3597 5), valid for the type or not. */
static bool raw_data(struct arena *a, const char *text, struct text_rr *out)
{
	char *hex;
	size_t len = strtoul(text, &hex, 10), got = 0;
	uint8_t *data = arena_zero(a, len + 1);

	for (; *hex; hex++) {
		char pair[3] = { hex[0], hex[1], '\0' };

		if (isspace((unsigned char)*hex))
			continue;
		if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]) ||
		    got == len)
			return false;
		data[got++] = (uint8_t)strtoul(pair, NULL, 16);
		hex++;
	}
	out->rdata = (struct slice){ data, len };
	return got == len;
}

/* "owner … type \# n hex": parse the head as TYPE65280, which takes any RDATA, then restore the
 * real type. */
static bool parse_raw(struct arena *a, char *line, struct text_zone *z, struct text_rr *out)
{
	char *mark = strstr(line, "\\#"), *end, *word, *plain;
	uint16_t type;

	if (!mark)
		return false;
	for (end = mark; end > line && isspace((unsigned char)end[-1]);)
		end--;
	for (word = end; word > line && !isspace((unsigned char)word[-1]);)
		word--;
	plain = arena_textf(a, "%.*s", (int)(end - word), word);
	if (!rr_type_parse(plain, &type))
		return false;
	plain = arena_textf(a, "%.*s TYPE65280 \\# 0", (int)(word - line), line);
	if (!text_rr_parse(a, plain, z, out, NULL))
		return false;
	out->type = type;
	return raw_data(a, mark + 2, out);
}

/* An RRSIG with an empty signature: append three bytes to parse it, then remove them. */
static bool parse_empty_signature(struct arena *a, const char *line, struct text_zone *z,
				  struct text_rr *out)
{
	if (!text_rr_parse(a, arena_textf(a, "%s AAAA", line), z, out, NULL) ||
	    out->type != TYPE_RRSIG)
		return false;
	out->rdata.len -= 3;
	return true;
}

/* A signature or key that is not base64 (of an unknown algorithm): any bytes will do. */
static bool parse_odd_base64(struct arena *a, const char *line, struct text_zone *z,
			     struct text_rr *out)
{
	const char *at = strstr(line, "RRSIG");
	int words = 9; /* up to the signature: RRSIG, then 8 fields from type covered to signer */

	if (!at) {
		at = strstr(line, "DNSKEY");
		words = 4; /* up to the key: DNSKEY, flags, protocol, algorithm */
	}
	for (; at && words > 0; words--) {
		at += strcspn(at, " \t");
		at += strspn(at, " \t");
	}
	return at && *at &&
	       text_rr_parse(a, arena_textf(a, "%.*s AAAA", (int)(at - line), line), z, out, NULL);
}

/* Class ANY or NONE (RFC 2136), which no zone file may have. */
static bool parse_odd_class(struct arena *a, char *line, struct text_zone *z, struct text_rr *out)
{
	static const struct { const char *word; uint16_t class_; } odd[] = {
		{ " ANY ", CLASS_ANY }, { " NONE ", CLASS_NONE },
	};

	for (size_t i = 0; i < COUNT(odd); i++) {
		char *at = strstr(line, odd[i].word);

		if (at && text_rr_parse(a, arena_textf(a, "%.*s IN %s", (int)(at - line), line,
						       at + strlen(odd[i].word)), z, out, NULL)) {
			out->class_ = odd[i].class_;
			return true;
		}
	}
	return false;
}

/* Try without the last character, or without the last word. */
static bool parse_shortened(struct arena *a, char *line, struct text_zone *z, struct text_rr *out)
{
	size_t len = strlen(line);
	char *space = strrchr(line, ' ');

	if (len && text_rr_parse(a, arena_textf(a, "%.*s", (int)len - 1, line), z, out, NULL))
		return true;
	return space &&
	       text_rr_parse(a, arena_textf(a, "%.*s", (int)(space - line), line), z, out, NULL);
}

bool loose_rr_parse(struct arena *a, const char *line, struct text_zone *z, struct text_rr *out,
		    struct fault *f)
{
	char *copy;

	if (text_rr_parse(a, line, z, out, f))
		return true;
	copy = arena_textf(a, "%s", line);
	cut_comment(copy);
	if (parse_raw(a, copy, z, out) || parse_empty_signature(a, copy, z, out) ||
	    parse_odd_class(a, copy, z, out) || parse_shortened(a, copy, z, out) ||
	    parse_odd_base64(a, copy, z, out)) {
		if (f)
			f->set = false;
		return true;
	}
	return false;
}
