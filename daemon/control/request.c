/* Requests on the control channel: assembling one from pieces of any size.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/request.h"

#include <string.h>

static const char ours[CONTROL_HEAD + 1] = "UBCT1 ";
#define BLANKS " \t"
#define NAME_LEN 4 /* "UBCT"; the rest is the version */

static void feed_head(struct control_request *r, char c)
{
	if (r->len < NAME_LEN && c != ours[r->len]) {
		r->state = CONTROL_NONSENSE;
		return;
	}
	r->head[r->len++] = c;
	if (r->len < CONTROL_HEAD)
		return;
	r->other_version = memcmp(r->head, ours, CONTROL_HEAD) != 0;
	r->state = CONTROL_WANTS_LINE;
	r->len = 0;
}

/* NUL would end the line for us but not for the sender; other control characters would garble the
 * log. */
static bool is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t' && c != '\r') || c == 0x7f;
}

/* Whether the line ends in this so far: a CR may stand only before the LF, as telnet sends it. */
static bool ends_in(const struct control_request *r, char c)
{
	return r->len && r->line[r->len - 1] == c;
}

static void feed_line(struct control_request *r, char c)
{
	if (c == '\n') {
		control_request_end(r);
	} else if (is_control(c) || ends_in(r, '\r') || r->len == CONTROL_LINE - 1) {
		r->state = CONTROL_NONSENSE;
	} else {
		r->line[r->len++] = c;
	}
}

size_t control_request_feed(struct control_request *r, const char *at, size_t len)
{
	size_t n = 0;

	for (; n < len && r->state == CONTROL_WANTS_HEAD; n++)
		feed_head(r, at[n]);
	for (; n < len && r->state == CONTROL_WANTS_LINE; n++)
		feed_line(r, at[n]);
	return n;
}

void control_request_end(struct control_request *r)
{
	size_t blanks;

	if (r->state == CONTROL_WANTS_HEAD)
		r->state = CONTROL_NONSENSE;
	if (r->state != CONTROL_WANTS_LINE)
		return;
	r->len -= ends_in(r, '\r');
	r->line[r->len] = '\0';
	blanks = strspn(r->line, BLANKS);
	r->len -= blanks;
	memmove(r->line, r->line + blanks, r->len + 1);
	r->state = CONTROL_HAS_LINE;
}

char *control_word(char **at)
{
	char *word = *at, *end;

	if (!*word)
		return NULL;
	end = word + strcspn(word, BLANKS);
	*at = end + strspn(end, BLANKS);
	*end = '\0';
	return word;
}
