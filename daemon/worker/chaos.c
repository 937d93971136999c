/* Queries about the server itself, in class CH (RFC 4892).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/chaos.h"

#include <string.h>
#include <unistd.h>

#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "validator/trust.h"

#define TEXT_MAX 255 /* one character string (RFC 1035 3.3) */

struct chaos_text {
	const uint8_t *name;
	struct rrset *set; /* NULL: hidden, or made for each query (trust anchors) */
	bool hidden;
};

enum { ID_SERVER, HOSTNAME_BIND, VERSION_SERVER, VERSION_BIND, TRUSTANCHOR, CHAOS_TEXTS };

struct chaos {
	struct arena arena;
	const struct trust_store *trust;
	struct chaos_text chaos_text[CHAOS_TEXTS];
};

#define NAME(text) ((const uint8_t *)(text))

static const uint8_t *const names[CHAOS_TEXTS] = {
	[ID_SERVER] = NAME("\2id\6server"),
	[HOSTNAME_BIND] = NAME("\10hostname\4bind"),
	[VERSION_SERVER] = NAME("\7version\6server"),
	[VERSION_BIND] = NAME("\7version\4bind"),
	[TRUSTANCHOR] = NAME("\13trustanchor\7unbound"),
};

static struct rrset *text_set(struct chaos *c, const uint8_t *name, const char *text)
{
	size_t len = MIN(strlen(text), (size_t)TEXT_MAX);
	uint8_t rdata[1 + TEXT_MAX];
	struct slice record = { .at = rdata, .len = 1 + len };

	rdata[0] = (uint8_t)len;
	memcpy(rdata + 1, text, len);
	return rrset_build(&c->arena, &(struct rrset_parts){
					      .owner = name,
					      .type = TYPE_TXT,
					      .class_ = CLASS_CH,
					      .records = &record,
					      .count = 1,
					      .trust = TRUST_ULTIMATE,
				      });
}

static void tell(struct chaos *c, unsigned which, const char *text, bool hidden)
{
	c->chaos_text[which] = (struct chaos_text){ .name = names[which], .hidden = hidden };
	if (text && !hidden)
		c->chaos_text[which].set = text_set(c, names[which], text);
}

struct chaos *chaos_new(const struct conf *conf, const struct trust_store *trust)
{
	struct chaos *c = mem_zero(sizeof *c);
	const struct conf_server *s = &conf->server;
	char host[TEXT_MAX + 1] = "";
	const char *identity = s->identity, *version = *s->version ? s->version : PACKAGE_STRING;

	if (!*identity) {
		(void)gethostname(host, sizeof host - 1);
		identity = host;
	}
	c->trust = trust;
	arena_init(&c->arena);
	tell(c, ID_SERVER, identity, s->hide_identity);
	tell(c, HOSTNAME_BIND, identity, s->hide_identity);
	tell(c, VERSION_SERVER, version, s->hide_version);
	tell(c, VERSION_BIND, version, s->hide_version);
	tell(c, TRUSTANCHOR, NULL, s->hide_trustanchor);
	return c;
}

void chaos_free(struct chaos *c)
{
	if (!c)
		return;
	arena_clear(&c->arena);
	mem_free(c);
}

static const struct chaos_text *find(const struct chaos *c, const struct question *q)
{
	if (q->type != TYPE_TXT && q->type != TYPE_ANY)
		return NULL;
	for (size_t i = 0; i < CHAOS_TEXTS; i++)
		if (dname_equals(q->name, c->chaos_text[i].name))
			return c->chaos_text[i].hidden ? NULL : &c->chaos_text[i];
	return NULL;
}

/* ---- trust anchors: listed for each query, since they roll (RFC 5011) ---- */

#define ANCHORS_MOST 64 /* in one answer */

struct anchor_list {
	struct arena *arena;
	struct slice records[ANCHORS_MOST];
	size_t count;
};

/* "example.com. 2854 31589": a name and its key tags, as one character string (RFC 1035 3.3). */
static bool list_anchor(const struct anchor *anchor, void *arg)
{
	struct anchor_list *l = arg;
	char name[DNAME_TEXT], *text;
	uint16_t tags[32];
	size_t count = anchor_tags(anchor, tags, COUNT(tags));
	uint8_t *rdata = arena_take(l->arena, 1 + TEXT_MAX);

	text = arena_textf(l->arena, "%s", dname_print(anchor->owner, name));
	for (size_t i = 0; i < count; i++)
		text = arena_textf(l->arena, "%s %u", text, tags[i]);
	rdata[0] = (uint8_t)MIN(strlen(text), (size_t)TEXT_MAX);
	memcpy(rdata + 1, text, rdata[0]);
	l->records[l->count++] = (struct slice){ rdata, 1u + rdata[0] };
	return l->count < ANCHORS_MOST;
}

static const struct rrset *anchors_set(const struct chaos *c, struct arena *a)
{
	struct anchor_list list = { .arena = a };

	if (c->trust)
		anchors_each(c->trust->anchors, list_anchor, &list);
	if (!list.count)
		return NULL;
	return rrset_build(a, &(struct rrset_parts){ .owner = names[TRUSTANCHOR],
						     .type = TYPE_TXT,
						     .class_ = CLASS_CH,
						     .records = list.records,
						     .count = list.count,
						     .trust = TRUST_ULTIMATE });
}

void chaos_answer(const struct chaos *c, const struct answer_to *to, struct writer *out)
{
	const struct chaos_text *t = find(c, &to->request->q);
	const struct rrset *sets[1];
	struct message m = { .q = to->request->q, .sets = sets };
	struct arena a;

	if (!t) {
		answer_error(out, to, RCODE_REFUSED, REASON_none);
		return;
	}
	arena_init(&a);
	sets[0] = t == &c->chaos_text[TRUSTANCHOR] ? anchors_set(c, &a) : t->set;
	m.count[SECTION_ANSWER] = sets[0] != NULL;
	answer_message(out, to, &m);
	arena_clear(&a);
}
