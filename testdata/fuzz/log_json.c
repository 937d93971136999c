/* Any bytes as what a line of the log in JSON has to say: the line is a whole object, not too long, and says it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: a byte for the event, one for the number of members; of each member one that says which it is, and two of how long
 * its text is, of which the first fifteen bits count: the text; what is left is the sentence. */
#include <string.h>

#include "testdata/fuzz/json_read.h"
#include "util/base/log_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { FACTS_MOST = 8 };

static const char *const names[] = {
#define MEMBER(name, type, help) #name,
#include "util/base/log_member.def"
#undef MEMBER
};

static const enum log_member_type types[] = {
#define MEMBER(name, type, help) LOG_MEMBER_##type,
#include "util/base/log_member.def"
#undef MEMBER
};

struct input {
	const uint8_t *at, *end;
};

static uint8_t take(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static char *take_text(struct input *in, size_t most)
{
	size_t len = MIN(most, (size_t)(in->end - in->at));
	char *text = mem_new(len + 1);

	memcpy(text, in->at, len);
	text[len] = '\0';
	in->at += len;
	return text;
}

static bool item_is(const struct json_read *r, size_t i, char kind, const char *text)
{
	const struct json_item *item = &r->items[i];

	return i < r->count && item->kind == kind && (!text || (item->len == strlen(text) &&
								  memcmp(r->text + item->at, text, item->len) == 0));
}

/* What was given of a string is in the line, from its beginning on. Bytes that are no UTF-8 are read as Latin-1, so only what
 * comes before the first of them is compared. */
static void check_text(const struct json_read *r, const struct json_item *item, const char *given, bool cut)
{
	size_t same = 0, len = strlen(given);

	while (same < len && (unsigned char)given[same] < 0x80)
		same++;
	PROMISE(memcmp(r->text + item->at, given, MIN(same, item->len)) == 0);
	PROMISE(cut || item->len >= len);
}

static void check(const struct json_read *r, const struct log_fact *facts)
{
	bool cut = r->count >= 3 && item_is(r, r->count - 3, 'k', "cut");
	size_t at = 0;

	PROMISE(item_is(r, 0, '{', NULL) && item_is(r, 1, 'k', "time") && item_is(r, 3, 'k', "level"));
	PROMISE(item_is(r, r->count - 1, '}', NULL));
	for (const struct log_fact *f = facts; f->member != LOG_MEMBERS; f++) {
		while (at < r->count && !item_is(r, at, 'k', names[f->member]))
			at++;
		if (at == r->count) {
			PROMISE(cut);
			return;
		}
		at++;
		switch (types[f->member]) {
		case LOG_MEMBER_TEXT:
			PROMISE(r->items[at].kind == 's');
			check_text(r, &r->items[at], f->text, cut);
			break;
		case LOG_MEMBER_FLAG:
			PROMISE(r->items[at].kind == (f->number ? 't' : 'f'));
			break;
		default:
			PROMISE(r->items[at].kind == 'n');
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, data + len };
	struct log_fact facts[FACTS_MOST + 1] = { { .member = LOG_MEMBERS } };
	struct log_origin o = { .file = "util/base/x.c", .kind = "info", .facts = facts };
	struct log_head head = { .time = { .tv_sec = 1795182994 }, .pid = 1 };
	char line[LOG_JSON_MOST + 1], *texts[FACTS_MOST + 2] = { NULL };
	struct json_read r;
	unsigned count;
	size_t n;

	if (len > 65536)
		return 0;
	o.event = take(&in) % LOG_EVENTS;
	head.local_time = take(&in) & 1;
	texts[FACTS_MOST] = take_text(&in, take(&in) % 64);
	head.ident = texts[FACTS_MOST];
	count = take(&in) % (FACTS_MOST + 1);
	for (unsigned i = 0; i < count; i++) {
		facts[i].member = take(&in) % LOG_MEMBERS;
		n = (size_t)take(&in) << 8;
		n |= take(&in);
		facts[i].number = n * n * n * n;
		facts[i].text = texts[i] = take_text(&in, n & 0x7fff);
	}
	facts[count].member = LOG_MEMBERS;
	texts[FACTS_MOST + 1] = take_text(&in, SIZE_MAX);
	n = log_json_build(line, &head, &o, texts[FACTS_MOST + 1]);
	PROMISE(n < LOG_JSON_MOST);
	line[n] = '\n';
	r = json_read(line, n + 1, false);
	check(&r, facts);
	json_read_clear(&r);
	for (size_t i = 0; i < COUNT(texts); i++)
		mem_free(texts[i]);
	return 0;
}
