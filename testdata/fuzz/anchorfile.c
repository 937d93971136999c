/* Any text as the file of a trust anchor: what is taken is whole, and is the same when read again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"
#include "validator/anchors.h"
#include "validator/autotrust.h"
#include "validator/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_rolling(const char *text, size_t len)
{
	struct fault f = { .set = false };
	struct autotrust *p = autotrust_parse(NULL, text, len, &f), *again;
	struct rrset *set;
	char *one, *two;

	PROMISE((p == NULL) == f.set);
	if (!p)
		return;
	PROMISE(p->count > 0);
	set = autotrust_keys(p);
	PROMISE(!set || set->type == TYPE_DNSKEY);
	mem_free(set);
	set = autotrust_ds(p);
	PROMISE(!set || set->type == TYPE_DS);
	mem_free(set);
	one = autotrust_print(p);
	/* Twice, since reading turns the order of keys round. */
	again = autotrust_parse(NULL, one, strlen(one), &f);
	PROMISE(again && again->count == p->count && again->revoked == p->revoked);
	two = autotrust_print(again);
	autotrust_free(again);
	again = autotrust_parse(NULL, two, strlen(two), &f);
	PROMISE(again != NULL);
	mem_free(two);
	two = autotrust_print(again);
	PROMISE(strcmp(one, two) == 0);
	autotrust_free(again);
	autotrust_free(p);
	mem_free(one);
	mem_free(two);
}

static void check_plain(const char *text, size_t len)
{
	struct anchors *a = anchors_empty();
	struct fault f = { .set = false };
	uint16_t tags[4];
	const struct anchor *root;

	PROMISE(anchors_add_bind_text(a, "text", text, len, &f) == !f.set);
	f.set = false;
	PROMISE(anchors_add_text(a, text, &f) == !f.set);
	root = anchors_find(a, NULL, (const uint8_t *)"", false);
	if (root)
		PROMISE(anchor_tags(root, tags, 4) >= 1);
	anchors_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = mem_new(len + 1);

	memcpy(text, data, len);
	text[len] = '\0';
	check_rolling(text, len);
	check_plain(text, len);
	mem_free(text);
	return 0;
}
