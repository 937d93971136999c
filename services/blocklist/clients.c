/* Policies of a list: names that are blocked for some clients, and what these are told.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/clients.h"

#include <string.h>

#include "services/blocklist/read.h"
#include "util/base/mem.h"
#include "util/base/pattern.h"
#include "util/names/nameset.h"

static void read_nets(struct blocklist_policy *p, const char *at, const char *end)
{
	p->nets = mem_array((size_t)(end - at) / 2 + 1, sizeof(*p->nets));
	while (at < end) {
		size_t len = strcspn(at, " \n");
		char word[ADDR_TEXT + 8];

		if (len && len < sizeof(word)) {
			memcpy(word, at, len);
			word[len] = '\0';
			if (netblock_parse(&p->nets[p->net_count], word, NULL))
				p->net_count++;
		}
		at += len + 1;
	}
	if (p->net_count == 0) /* a network nobody has, not everybody's */
		p->nets[p->net_count++] = (struct netblock){ 0 };
	p->nets = mem_grow(p->nets, p->net_count * sizeof(*p->nets));
}

static bool begins(const char *at, const char *with)
{
	return strncmp(at, with, strlen(with)) == 0;
}

void blocklist_policy_init(struct blocklist_policy *p, const char *text)
{
	*p = (struct blocklist_policy){ .text = mem_text(text) };
	for (const char *at = text, *end; *at; at = end + (*end != '\0')) {
		end = at + strcspn(at, "\n");
		if (begins(at, "nets ") && !p->nets) {
			read_nets(p, at + 5, end);
		} else if (begins(at, "special ")) {
			char *special = mem_textf("%.*s", (int)(end - at - 8), at + 8);

			blocklist_special_clear(&p->special);
			(void)!blocklist_special_parse(&p->special, special);
			mem_free(special);
		} else if (begins(at, "pass ") && !p->pass) {
			p->pass = pattern_new(at + 5, (size_t)(end - at - 5), &p->unknown);
		} else if (begins(at, "id ")) {
			p->id = p->text + (at + 3 - text);
		} else if (begins(at, "lists ")) {
			p->lists = p->text + (at + 6 - text);
		}
	}
}

void blocklist_policy_clear(struct blocklist_policy *p)
{
	mem_free(p->text);
	mem_free(p->nets);
	nameset_free(p->names);
	pattern_free(p->pass);
	blocklist_special_clear(&p->special);
	*p = (struct blocklist_policy){ 0 };
}

size_t blocklist_policy_bytes(const struct blocklist_policy *p)
{
	return strlen(p->text) + 1 + p->net_count * sizeof(*p->nets) +
	       blocklist_special_bytes(&p->special) +
	       (p->names ? nameset_bytes(p->names) : 0) + (p->pass ? pattern_bytes(p->pass) : 0);
}

bool blocklist_policy_is_for(const struct blocklist_policy *p, const struct blocklist_asked *asked)
{
	if (!blocklist_special_meets(&p->special, asked))
		return false;
	for (size_t i = 0; asked->from && i < p->net_count; i++)
		if (netblock_holds(&p->nets[i], asked->from))
			return true;
	return p->net_count == 0;
}

unsigned blocklist_policy_find(const struct blocklist_policy *p, const struct suffixes *q, unsigned *list)
{
	if (!p->names)
		return 0;
	for (unsigned labels = MIN(q->hashed, nameset_deepest(p->names)); labels > 0; labels--) {
		int value = nameset_at(p->names, q, labels);

		if (value <= 0 || !(value & (labels == q->count ? BLOCKLIST_BLOCK_SELF : BLOCKLIST_BLOCK_BELOW)))
			continue;
		if (list)
			*list = (unsigned)value / BLOCKLIST_POLICY_LIST;
		return labels;
	}
	return 0;
}

static void copy_word(char to[BLOCKLIST_POLICY_WORD], const char *from, const char *ends)
{
	size_t len = MIN(strcspn(from, ends), (size_t)BLOCKLIST_POLICY_WORD - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

void blocklist_policy_id(const struct blocklist_policy *p, char id[BLOCKLIST_POLICY_WORD])
{
	copy_word(id, p->id ? p->id : "", "\n");
}

void blocklist_policy_list(const struct blocklist_policy *p, unsigned list, char name[BLOCKLIST_POLICY_WORD])
{
	const char *at = p->lists && list ? p->lists : "";

	for (; list > 1 && *at && *at != '\n'; list--) {
		at += strcspn(at, " \n");
		at += *at == ' ';
	}
	copy_word(name, at, " \n");
}

bool blocklist_policy_passes(const struct blocklist_policy *p, const uint8_t *name)
{
	char text[DNAME_TEXT];
	size_t len;

	if (LIKELY(!p->pass))
		return false;
	dname_print(name, text);
	len = strlen(text);
	return pattern_meets(p->pass, text, len - (len > 1));
}
