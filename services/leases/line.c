/* Lines and words of lease files, and where leases are put.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/leases/private.h"

#include <string.h>

#include "util/base/mem.h"

void lease_remark(struct lease_remarks *r, enum lease_trouble what, unsigned line, const char *text,
		  size_t len)
{
	struct lease_remark *at;

	r->counts[what]++;
	if (r->count == LEASE_REMARKS)
		return;
	at = &r->first[r->count++];
	*at = (struct lease_remark){ .what = what, .line = line };
	for (size_t i = 0; i < len && i < sizeof(at->text) - 1; i++)
		at->text[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
}

void leasefile_remark(struct leasefile *f, enum lease_trouble what, unsigned line, struct piece p)
{
	lease_remark(&f->remarks, what, line, p.at, p.len);
}

bool next_line(struct lines *l, struct piece *line)
{
	const char *end;

	if (l->at == l->end)
		return false;
	end = memchr(l->at, '\n', (size_t)(l->end - l->at));
	*line = (struct piece){ l->at, (size_t)((end ? end : l->end) - l->at) };
	l->at = end ? end + 1 : l->end;
	l->line++;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct piece next_word(struct piece *line)
{
	const char *at = line->at, *end = at + line->len;
	struct piece word;

	while (at < end && is_blank(*at))
		at++;
	word.at = at;
	while (at < end && !is_blank(*at))
		at++;
	word.len = (size_t)(at - word.at);
	*line = (struct piece){ at, (size_t)(end - at) };
	return word;
}

bool piece_is(struct piece p, const char *word)
{
	return p.len == strlen(word) && memcmp(p.at, word, p.len) == 0;
}

bool piece_number(struct piece p, int64_t *n)
{
	int64_t sum = 0;

	if (p.len == 0 || p.len > 18)
		return false;
	for (size_t i = 0; i < p.len; i++) {
		if (p.at[i] < '0' || p.at[i] > '9')
			return false;
		sum = sum * 10 + (p.at[i] - '0');
	}
	*n = sum;
	return true;
}

bool piece_address(struct piece p, struct addr *a)
{
	char text[ADDR_TEXT];

	if (p.len == 0 || p.len >= sizeof(text) || memchr(p.at, '@', p.len) ||
	    memchr(p.at, '%', p.len) || memchr(p.at, '\0', p.len))
		return false;
	memcpy(text, p.at, p.len);
	text[p.len] = '\0';
	return addr_parse(a, text, 0, NULL);
}

/* ---- leases ---- */

static size_t slot_of(const struct leasefile *f, const struct addr *a)
{
	size_t i = (size_t)addr_hash(a) & (f->slot_count - 1);

	while (f->slots[i] && !addr_equals_ip(&f->leases[f->slots[i] - 1].addr, a))
		i = (i + 1) & (f->slot_count - 1);
	return i;
}

static void grow_slots(struct leasefile *f)
{
	f->slot_count = f->slot_count ? 2 * f->slot_count : 256;
	mem_free(f->slots);
	f->slots = mem_array(f->slot_count, sizeof(*f->slots));
	for (size_t i = 0; i < f->count; i++)
		f->slots[slot_of(f, &f->leases[i].addr)] = (uint32_t)i + 1;
}

static void append(struct leasefile *f, const struct lease *l)
{
	if (f->count == LEASES_MOST) {
		lease_remark(&f->remarks, TROUBLE_many, l->line, l->name, l->name_len);
		return;
	}
	if ((f->count & (f->count - 1)) == 0)
		f->leases = mem_grow(f->leases, MAX(2 * f->count, 16) * sizeof(*l));
	f->leases[f->count++] = *l;
}

/* In a hosts file an address may have many names; in other files its last line replaces the ones
 * before. */
void leasefile_put(struct leasefile *f, const struct lease *l)
{
	size_t i;

	if (f->format == LEASES_HOSTS) {
		append(f, l);
		return;
	}
	if (2 * (f->count + 1) > f->slot_count)
		grow_slots(f);
	i = slot_of(f, &l->addr);
	if (f->slots[i]) {
		f->leases[f->slots[i] - 1] = *l;
		return;
	}
	append(f, l);
	if (f->count && addr_equals_ip(&f->leases[f->count - 1].addr, &l->addr))
		f->slots[i] = (uint32_t)f->count;
}
