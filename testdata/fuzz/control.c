/* What must hold for any bytes on the control channel.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/request.h"

#include <string.h>

#include "util/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Cut in two anywhere, the request is the same one. */
static void feed(struct control_request *r, const uint8_t *data, size_t len, size_t cut)
{
	size_t used = control_request_feed(r, (const char *)data, cut);

	PROMISE(used <= cut);
	if (used == cut)
		used += control_request_feed(r, (const char *)data + cut, len - cut);
	PROMISE(used <= len);
	control_request_end(r);
	PROMISE(r->state == CONTROL_HAS_LINE || r->state == CONTROL_NONSENSE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct control_request whole = { 0 }, pieces = { 0 };
	char *at, *word;
	size_t words = 0;

	feed(&whole, data, len, len);
	feed(&pieces, data, len, len ? data[len - 1] % (len + 1) : 0);
	PROMISE(whole.state == pieces.state);
	if (whole.state != CONTROL_HAS_LINE)
		return 0;
	PROMISE(strcmp(whole.line, pieces.line) == 0 &&
		whole.other_version == pieces.other_version);
	PROMISE(strlen(whole.line) == whole.len && whole.len < CONTROL_LINE);
	PROMISE(whole.line[0] != ' ' && whole.line[0] != '\t');
	for (at = whole.line; (word = control_word(&at)) != NULL; words++)
		PROMISE(strcspn(word, " \t\n") == strlen(word) && at <= whole.line + whole.len);
	PROMISE(words <= CONTROL_LINE / 2);
	return 0;
}
