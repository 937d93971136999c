/* Questions about the server itself: class CH (RFC 4892).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/chaos.h"

#include <string.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rr.h"

#define TEXT_MAX 255 /* one character string (RFC 1035 3.3) */

struct told {
	const uint8_t *name;
	struct rrset *set; /* NULL: there is nothing to tell, which is an answer too */
	bool hidden;
};

enum { ID_SERVER, HOSTNAME_BIND, VERSION_SERVER, VERSION_BIND, TRUSTANCHOR, TOLD };

struct chaos {
	struct arena arena;
	struct told told[TOLD];
};

#define NAME(text) ((const uint8_t *)(text))

static const uint8_t *const names[TOLD] = {
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
	c->told[which] = (struct told){ .name = names[which], .hidden = hidden };
	if (text && !hidden)
		c->told[which].set = text_set(c, names[which], text);
}

struct chaos *chaos_new(const struct conf *conf)
{
	struct chaos *c = mem_zero(sizeof *c);
	const struct conf_server *s = &conf->server;
	char host[TEXT_MAX + 1] = "";
	const char *identity = s->identity, *version = *s->version ? s->version : PACKAGE_STRING;

	if (!*identity) {
		(void)gethostname(host, sizeof host - 1);
		identity = host;
	}
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

static const struct told *find(const struct chaos *c, const struct question *q)
{
	if (q->type != TYPE_TXT && q->type != TYPE_ANY)
		return NULL;
	for (size_t i = 0; i < TOLD; i++)
		if (dname_equals(q->name, c->told[i].name))
			return c->told[i].hidden ? NULL : &c->told[i];
	return NULL;
}

void chaos_answer(const struct chaos *c, const struct answer_to *to, struct writer *out)
{
	const struct told *t = find(c, &to->request->q);
	const struct rrset *sets[1];
	struct message m = { .q = to->request->q, .sets = sets };

	if (!t) {
		answer_error(out, to, RCODE_REFUSED, REASON_none);
		return;
	}
	if (t->set) {
		sets[0] = t->set;
		m.count[SECTION_ANSWER] = 1;
	}
	answer_message(out, to, &m);
}
