/* Host names from lease and hosts files, published as local data.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each time the whole book of records is rebuilt and sorted; its difference from the published book
 * is the change to make. */
#include "services/leases/hostnames.h"

#include <stdlib.h>
#include <string.h>

#include "services/local/zones.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

struct host {
	const uint8_t *name; /* lower case */
	struct addr addr;
	int64_t ends_s;
	unsigned line;
	uint8_t name_len;
	bool leads_back; /* its address gets a PTR record */
};

struct host_source {
	struct list link;
	char *path;
	uint8_t domain[DNAME_MAX];
	uint32_t ttl_s;
	bool of_leases;
	enum lease_format format;
	struct arena names;
	struct host *hosts;
	size_t count, nameless;
	struct lease_remarks told;   /* about the file and its names */
	struct lease_remarks untold; /* from its last publication */
};

/* Sorted records, with all they point to. */
struct book {
	struct arena arena;
	struct host_record *at;
	size_t count;
};

struct hostnames {
	struct localzones *zones;
	struct list sources;
	struct book published;
};

/* ---- names ---- */

static bool is_host_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-';
}

/* Parse labels of letters, digits and hyphens as a name; hosts files may also use underscores. */
static enum lease_trouble read_labels(const char *text, size_t len, bool strict, uint8_t *name)
{
	size_t at = 0, label = 0;

	if (len == 0 || len > DNAME_MAX - 2)
		return len ? TROUBLE_length : TROUBLE_letters;
	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? text[i] : '.';

		if (c != '.') {
			if (!is_host_byte(c) && (strict || c != '_'))
				return TROUBLE_letters;
			name[1 + i] = (uint8_t)c;
			continue;
		}
		label = i - at;
		if (label > LABEL_MAX)
			return TROUBLE_length;
		if (label == 0 || (strict && (text[at] == '-' || text[i - 1] == '-')))
			return TROUBLE_letters;
		name[at] = (uint8_t)label;
		at = i + 1;
	}
	name[at] = 0;
	dname_lower(name);
	return TROUBLES;
}

/* Services are found by these names; a host that got one could intercept them. */
static bool is_reserved(const uint8_t *label)
{
	static const uint8_t *const names[] = {
		(const uint8_t *)"\4wpad",
		(const uint8_t *)"\6isatap",
		(const uint8_t *)"\11localhost",
	};

	for (unsigned i = 0; i < COUNT(names); i++)
		if (memcmp(label, names[i], 1u + names[i][0]) == 0)
			return true;
	return false;
}

/* A client's name: one label, optionally followed by the domain. */
static enum lease_trouble read_client(const struct host_source *s, const char *text, size_t len,
				      uint8_t *name)
{
	uint8_t own[DNAME_MAX + 1];
	enum lease_trouble t;

	if (len && text[len - 1] == '.')
		len--;
	t = read_labels(text, len, true, own);
	if (t != TROUBLES)
		return t;
	if (own[1u + own[0]] != 0 && !dname_equals(dname_parent(own), s->domain))
		return TROUBLE_domain;
	if (is_reserved(own))
		return TROUBLE_reserved;
	return dname_join(name, own, 1u + own[0], s->domain) ? TROUBLES : TROUBLE_length;
}

static enum lease_trouble read_name(const struct host_source *s, const struct lease *l,
				    uint8_t *name)
{
	size_t len = l->name_len;

	if (s->of_leases)
		return read_client(s, l->name, len, name);
	if (len && l->name[len - 1] == '.')
		len--;
	return read_labels(l->name, len, false, name);
}

static bool is_usable(const struct host_source *s, const struct addr *a)
{
	return !s->of_leases || (!addr_is_absurd(a) && !addr_is_loopback(a));
}

/* ---- sources ---- */

/* RFC 6761 6.3: its addresses are fixed. */
static bool is_localhost(const uint8_t *name)
{
	return dname_is_under(name, (const uint8_t *)"\11localhost");
}

static void take_host(struct host_source *s, const struct lease *l)
{
	uint8_t name[DNAME_MAX + 1];
	enum lease_trouble t;
	struct host *h;

	if (l->gone)
		return;
	if (l->name_len == 0) {
		s->nameless++;
		return;
	}
	t = is_usable(s, &l->addr) ? read_name(s, l, name) : TROUBLE_address;
	if (t != TROUBLES) {
		lease_remark(&s->told, t, l->line, l->name, l->name_len);
		return;
	}
	if (!s->of_leases && is_localhost(name))
		return;
	h = &s->hosts[s->count++];
	*h = (struct host){ .addr = l->addr,
			    .ends_s = l->ends_s,
			    .line = l->line,
			    .name_len = (uint8_t)dname_len(name),
			    .leads_back = s->of_leases || l->first };
	h->name = arena_copy(&s->names, name, h->name_len);
}

static int by_line(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static void forget_hosts(struct host_source *s)
{
	arena_clear(&s->names);
	mem_free(s->hosts);
	s->hosts = NULL;
	s->count = s->nameless = 0;
	memset(&s->told, 0, sizeof(s->told));
}

void host_source_take(struct host_source *s, const struct leasefile *f)
{
	forget_hosts(s);
	s->format = f->format;
	s->told = f->remarks;
	s->hosts = mem_array(f->count, sizeof(*s->hosts));
	for (size_t i = 0; i < f->count; i++)
		take_host(s, &f->leases[i]);
	if (s->count)
		qsort(s->hosts, s->count, sizeof(*s->hosts), by_line);
}

struct host_source *hostnames_add(struct hostnames *h, const struct host_source_how *how,
				  struct fault *f)
{
	struct host_source *s;
	uint8_t domain[DNAME_MAX];

	if (dname_parse(domain, how->domain, f) == 0)
		return NULL;
	s = mem_zero(sizeof(*s));
	s->path = mem_text(how->path);
	dname_copy_lower(s->domain, domain);
	s->ttl_s = how->ttl_s;
	s->of_leases = how->of_leases;
	arena_init(&s->names);
	list_push_back(&h->sources, &s->link);
	return s;
}

void hostnames_last(struct hostnames *h, struct host_source *s)
{
	list_remove(&s->link);
	list_push_back(&h->sources, &s->link);
}

void hostnames_drop(struct hostnames *h, struct host_source *s)
{
	for (size_t i = 0; i < h->published.count; i++)
		if (h->published.at[i].source == s)
			h->published.at[i].source = NULL;
	list_remove(&s->link);
	forget_hosts(s);
	mem_free(s->path);
	mem_free(s);
}

const char *host_source_path(const struct host_source *s)
{
	return s->path;
}

/* ---- books ---- */

static void book_clear(struct book *b)
{
	arena_clear(&b->arena);
	mem_free(b->at);
	b->at = NULL;
	b->count = 0;
}

static struct host_record *book_add(struct book *b)
{
	if ((b->count & (b->count - 1)) == 0)
		b->at = mem_grow(b->at, MAX(2 * b->count, 64) * sizeof(*b->at));
	return &b->at[b->count++];
}

static size_t reverse_name(const struct addr *a, uint8_t *to)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	for (int i = a->family == 4 ? 3 : 15; i >= 0; i--) {
		unsigned byte = a->ip[i];
		char digits[4];
		size_t len = 0;

		if (a->family == 6) {
			to[n++] = 1;
			to[n++] = (uint8_t)hex[byte & 15];
			to[n++] = 1;
			to[n++] = (uint8_t)hex[byte >> 4];
			continue;
		}
		do
			digits[len++] = (char)('0' + byte % 10);
		while (byte /= 10);
		to[n++] = (uint8_t)len;
		while (len)
			to[n++] = (uint8_t)digits[--len];
	}
	if (a->family == 4)
		memcpy(to + n, "\7in-addr\4arpa", 14);
	else
		memcpy(to + n, "\3ip6\4arpa", 10);
	return n + (a->family == 4 ? 14 : 10);
}

static void add_host(struct book *b, const struct host_source *s, const struct host *h)
{
	struct host_record r = { .source = s,
				 .ends_s = h->ends_s,
				 .ttl_s = s->ttl_s,
				 .line = h->line,
				 .rank = (uint32_t)b->count,
				 .type = h->addr.family == 4 ? TYPE_A : TYPE_AAAA,
				 .owner_len = h->name_len,
				 .rdata_len = h->addr.family == 4 ? 4 : 16 };
	uint8_t back[DNAME_MAX];

	r.owner = arena_copy(&b->arena, h->name, h->name_len);
	r.rdata = arena_copy(&b->arena, h->addr.ip, r.rdata_len);
	*book_add(b) = r;
	if (!h->leads_back)
		return;
	r.rdata = r.owner;
	r.rdata_len = r.owner_len;
	r.type = TYPE_PTR;
	r.owner_len = (uint8_t)reverse_name(&h->addr, back);
	r.owner = arena_copy(&b->arena, back, r.owner_len);
	*book_add(b) = r;
}

static int compare_owners(const struct host_record *a, const struct host_record *b)
{
	int order = memcmp(a->owner, b->owner, MIN(a->owner_len, b->owner_len));

	return order ? order : (int)a->owner_len - b->owner_len;
}

/* Equal: two records are the same one. */
static int compare(const struct host_record *a, const struct host_record *b)
{
	int order = compare_owners(a, b);

	if (order || (order = (int)a->type - b->type))
		return order;
	order = memcmp(a->rdata, b->rdata, MIN(a->rdata_len, b->rdata_len));
	return order ? order : (int)a->rdata_len - b->rdata_len;
}

static int compare_for_sort(const void *a, const void *b)
{
	const struct host_record *x = a, *y = b;
	int order = compare(x, y);

	return order ? order : x->rank < y->rank ? -1 : 1;
}

/* End of the group with the same owner, starting at `i`. */
static size_t group_end(const struct book *b, size_t i)
{
	size_t end = i + 1;

	while (end < b->count && compare_owners(&b->at[i], &b->at[end]) == 0)
		end++;
	return end;
}

/* ---- which records are admitted ---- */

static void refuse(const struct host_record *r, enum lease_trouble why)
{
	struct host_source *s = (struct host_source *)(uintptr_t)r->source;
	char text[DNAME_TEXT];

	dname_print(r->owner, text);
	lease_remark(&s->untold, why, r->line, text, strlen(text));
}

static size_t find_published(const struct hostnames *h, const struct host_record *r, size_t *from)
{
	const struct book *p = &h->published;
	size_t count = 0;

	while (*from < p->count && compare_owners(&p->at[*from], r) < 0)
		++*from;
	while (*from + count < p->count && compare_owners(&p->at[*from + count], r) == 0)
		count++;
	return count;
}

/* The lowest rank among an owner's PTR records: that of its address's first name. */
static uint32_t first_rank(const struct host_record *at, size_t count)
{
	uint32_t rank = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		if (at[i].type == TYPE_PTR)
			rank = MIN(rank, at[i].rank);
	return rank;
}

/* Keep the first few addresses of a name, and the first name of an address. */
static size_t thin_out(struct host_record *at, size_t count)
{
	uint32_t first = first_rank(at, count);
	unsigned of_type[2] = { 0, 0 };
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && compare(&at[kept - 1], &at[i]) == 0) {
			at[kept - 1].ends_s = MAX(at[kept - 1].ends_s, at[i].ends_s);
			continue;
		}
		if (at[i].type == TYPE_PTR) {
			if (at[i].rank == first)
				at[kept++] = at[i];
			continue;
		}
		if (of_type[at[i].type == TYPE_AAAA]++ < HOST_ADDRESSES)
			at[kept++] = at[i];
		else
			refuse(&at[i], TROUBLE_crowd);
	}
	return kept;
}

/* Names owned by the operator, sorted. */
struct held {
	const struct host_record **at;
	size_t count;
};

static void add_held(struct book *b, struct held *held, const struct host_record *r)
{
	if ((held->count & (held->count - 1)) == 0)
		held->at = mem_grow(held->at, MAX(2 * held->count, 16) * sizeof(*held->at));
	held->at[held->count++] = arena_copy(&b->arena, r, sizeof(*r));
}

static int compare_with_held(const void *key, const void *held)
{
	return compare_owners(key, *(const struct host_record *const *)held);
}

/* Also drop PTR records that point to such names. */
static void drop_held_targets(struct book *b, const struct held *held)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct host_record *r = &b->at[i];
		struct host_record target = { .owner = r->rdata, .owner_len = r->rdata_len };

		if (r->type == TYPE_PTR &&
		    bsearch(&target, held->at, held->count, sizeof(*held->at), compare_with_held))
			continue;
		b->at[kept++] = *r;
	}
	b->count = kept;
}

/* A name with local data that we did not put there belongs to the operator. */
static void drop_held(struct hostnames *h, struct book *b)
{
	size_t kept = 0, published = 0;
	struct held held = { .at = NULL };

	for (size_t i = 0, end; i < b->count; i = end) {
		size_t ours = find_published(h, &b->at[i], &published);

		end = group_end(b, i);
		if (localzones_records_at(h->zones, b->at[i].owner, CLASS_IN) > ours) {
			if (b->at[i].type != TYPE_PTR) {
				refuse(&b->at[i], TROUBLE_held);
				add_held(b, &held, &b->at[i]);
			}
			continue;
		}
		memmove(&b->at[kept], &b->at[i], (end - i) * sizeof(*b->at));
		kept += end - i;
	}
	b->count = kept;
	if (held.count)
		drop_held_targets(b, &held);
	mem_free(held.at);
}

static void merge(struct hostnames *h, struct book *b)
{
	size_t kept = 0;

	drop_held(h, b);
	for (size_t i = 0, end; i < b->count; i = end) {
		end = group_end(b, i);
		memmove(&b->at[kept], &b->at[i], (end - i) * sizeof(*b->at));
		kept += thin_out(&b->at[kept], end - i);
	}
	b->count = kept;
}

static void make_book(struct hostnames *h, struct book *b, int64_t wall_s, int64_t *next_s)
{
	*next_s = LEASE_FOREVER;
	LIST_EACH (at, &h->sources) {
		struct host_source *s = LIST_ITEM(at, struct host_source, link);

		memset(&s->untold, 0, sizeof(s->untold));
		for (size_t i = 0; i < s->count; i++) {
			if (s->hosts[i].ends_s <= wall_s)
				continue;
			add_host(b, s, &s->hosts[i]);
			*next_s = MIN(*next_s, s->hosts[i].ends_s);
		}
	}
	if (b->count)
		qsort(b->at, b->count, sizeof(*b->at), compare_for_sort);
	merge(h, b);
}

/* ---- publishing ---- */

static struct text_rr rr_of(const struct host_record *r)
{
	return (struct text_rr){ .owner = r->owner,
				 .ttl_s = r->ttl_s,
				 .type = r->type,
				 .class_ = CLASS_IN,
				 .rdata = { r->rdata, r->rdata_len } };
}

/* Where to create a zone if none exists: at the domain of leases, or above all reverse names. A
 * transparent zone changes nothing for names in it that have no records. */
static const uint8_t *cover_of(const struct host_record *r)
{
	if (r->type == TYPE_PTR)
		return dname_suffix(r->owner, 2);
	return r->source->of_leases ? r->source->domain : dname_root;
}

/* Call `fn` for the records in `a` but not in `b`, in order. */
static size_t differences(const struct book *a, const struct book *b,
			  bool (*fn)(void *arg, size_t i, const struct host_record *r), void *arg)
{
	size_t count = 0, j = 0;

	for (size_t i = 0; i < a->count; i++) {
		int order = -1;

		while (j < b->count && (order = compare(&b->at[j], &a->at[i])) < 0)
			j++;
		if (j == b->count || order != 0)
			count += fn(arg, i, &a->at[i]);
	}
	return count;
}

/* Records that come, as one batch. */
struct arrival {
	struct hostnames *h;
	const struct book *book;
	struct record_batch *batch;
	bool *refused; /* of the book's records */
	size_t refused_count;
};

static bool gather(void *arg, size_t i, const struct host_record *r)
{
	struct arrival *a = arg;
	struct text_rr rr = rr_of(r);

	record_batch_add(a->batch, &rr, "", i);
	return true;
}

static void note_refused(void *arg, size_t i, const char *line, const char *why)
{
	struct arrival *a = arg;

	(void)line;
	(void)why;
	refuse(&a->book->at[i], TROUBLE_untaken);
	a->refused[i] = true;
	a->refused_count++;
}

static bool put_cover(void *arg, const struct text_rr *rr, size_t i, const char *line)
{
	struct arrival *a = arg;

	(void)line;
	localzones_put(a->h->zones, cover_of(&a->book->at[i]), rr->class_, ZONE_transparent);
	return true;
}

/* Put what is new in the book, and strike out what was refused. Returns how many were put. */
static size_t put_new(struct hostnames *h, struct book *book)
{
	struct arrival a = { .h = h,
			     .book = book,
			     .batch = record_batch_new(),
			     .refused = arena_zeros(&book->arena, book->count + 1, sizeof(bool)) };
	struct record_ends ends = { .wrong = note_refused, .uncovered = put_cover, .arg = &a };
	size_t count = differences(book, &h->published, gather, &a), kept = 0;

	record_batch_put(a.batch, h->zones, &ends);
	record_batch_free(a.batch);
	for (size_t i = 0; i < book->count; i++)
		if (!a.refused[i])
			book->at[kept++] = book->at[i];
	book->count = kept;
	return count - a.refused_count;
}

/* The record may have been removed by remote control already. */
static bool take_back(void *arg, size_t i, const struct host_record *r)
{
	struct hostnames *h = arg;
	struct text_rr rr = rr_of(r);
	struct fault f = { 0 };

	(void)i;
	return localzones_remove_rr(h->zones, &rr, &f);
}

struct hosts_change hostnames_publish(struct hostnames *h, int64_t wall_s)
{
	struct hosts_change change = { 0 };
	struct book new = { .at = NULL };

	arena_init(&new.arena);
	make_book(h, &new, wall_s, &change.next_s);
	change.put = put_new(h, &new);
	change.removed = differences(&h->published, &new, take_back, h);
	book_clear(&h->published);
	h->published = new;
	return change;
}

/* ---- lifetime ---- */

struct hostnames *hostnames_new(void)
{
	struct hostnames *h = mem_zero(sizeof(*h));

	list_init(&h->sources);
	arena_init(&h->published.arena);
	return h;
}

void hostnames_free(struct hostnames *h)
{
	if (!h)
		return;
	book_clear(&h->published);
	LIST_EACH_SAFE (at, &h->sources)
		hostnames_drop(h, LIST_ITEM(at, struct host_source, link));
	localzones_unpin(h->zones);
	mem_free(h);
}

void hostnames_attach(struct hostnames *h, struct localzones *z)
{
	if (h->zones == z)
		return;
	localzones_unpin(h->zones);
	h->zones = localzones_pin(z);
	book_clear(&h->published);
}

/* ---- lookup ---- */

static void join(struct lease_remarks *to, const struct lease_remarks *from)
{
	for (unsigned i = 0; i < TROUBLES; i++)
		to->counts[i] += from->counts[i];
	for (unsigned i = 0; i < from->count && to->count < LEASE_REMARKS; i++)
		to->first[to->count++] = from->first[i];
}

void host_source_report(const struct hostnames *h, const struct host_source *s,
			struct host_report *r)
{
	*r = (struct host_report){ .path = s->path,
				   .format = s->format,
				   .hosts = s->count,
				   .nameless = s->nameless,
				   .remarks = s->told };
	join(&r->remarks, &s->untold);
	for (size_t i = 0; i < h->published.count; i++)
		r->records += h->published.at[i].source == s;
}

void hostnames_each(const struct hostnames *h, void (*fn)(const struct host_record *r, void *arg),
		    void *arg)
{
	for (size_t i = 0; i < h->published.count; i++)
		fn(&h->published.at[i], arg);
}

size_t hostnames_count(const struct hostnames *h)
{
	return h->published.count;
}
