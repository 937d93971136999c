/* A reply in the words of unbound-host, for scripts that read them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/tools/host_words.h"

#include <stdio.h>
#include <string.h>

#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/net/addr.h"

struct saying {
	const char *name;
	uint16_t type;
	const char *security; /* with a blank in front; or "" */
	bool is_told;         /* a record was printed */
};

/* What is said of a record, and of there being none. */
static const struct words {
	uint16_t type;
	const char *has, *lacks;
} words[] = {
	{ TYPE_A, "has address", "has no address" },
	{ TYPE_AAAA, "has IPv6 address", "has no IPv6 address" },
	{ TYPE_MX, "mail is handled by", "has no mail handler record" },
	{ TYPE_PTR, "domain name pointer", "has no domain name ptr" },
};

static const struct words *words_for(uint16_t type)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (words[i].type == type)
			return &words[i];
	return NULL;
}

static const char *security_of(const struct message *m)
{
	switch ((enum security)m->security) {
	case SECURITY_SECURE:
		return " (secure)";
	case SECURITY_BOGUS:
		return " (BOGUS (security failure))";
	default:
		return " (insecure)";
	}
}

/* A line of text_rrset_print: owner, TTL, class, type, data. */
static void say_record(const char *line, void *arg)
{
	struct saying *s = arg;
	const struct words *w = words_for(s->type);
	const char *data = line;
	char type[16];

	for (unsigned field = 0; field < 4; field++) {
		data += strcspn(data, " \t");
		data += strspn(data, " \t");
	}
	if (w)
		printf("%s %s %s%s\n", s->name, w->has, data, s->security);
	else
		printf("%s has %s record %s%s\n", s->name, rr_type_name(s->type, type), data, s->security);
	s->is_told = true;
}

static void say_set(const struct rrset *set, uint32_t now_s, struct saying *s)
{
	struct rrset *bare = mem_copy(set, set->size);

	bare->sig_count = 0;
	text_rrset_print(bare, now_s, say_record, s);
	mem_free(bare);
}

static void say_none(const struct saying *s)
{
	const struct words *w = words_for(s->type);
	char type[16];

	if (w)
		printf("%s %s%s\n", s->name, w->lacks, s->security);
	else
		printf("%s has no %s record%s\n", s->name, rr_type_name(s->type, type), s->security);
}

/* A name without its last dot. */
static void bare_name(const uint8_t *name, char text[DNAME_TEXT])
{
	size_t len = strlen(dname_print(name, text));

	if (len > 1)
		text[len - 1] = '\0';
}

/* Where the CNAMEs lead; NULL: there are none. */
static const uint8_t *end_of_aliases(const struct message *m)
{
	const uint8_t *at = m->q.name;

	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++)
		if (m->sets[i]->type == TYPE_CNAME && dname_equals(rrset_owner(m->sets[i]), at))
			at = rrset_target(m->sets[i], 0);
	return at == m->q.name ? NULL : at;
}

void host_words_print(const char *name, uint16_t type, const struct message *m, uint32_t now_s, bool tells)
{
	struct saying s = { .name = name, .type = type, .security = tells ? security_of(m) : "" };
	const uint8_t *end = type == TYPE_CNAME || type == TYPE_ANY ? NULL : end_of_aliases(m);
	char target[DNAME_TEXT], rcode[16];

	if (m->rcode != RCODE_NOERROR) {
		printf("Host %s not found: %u(%s).%s\n", name, m->rcode, rr_rcode_name(m->rcode, rcode), s.security);
	} else {
		if (end) {
			bare_name(end, target);
			printf("%s is an alias for %s%s\n", name, target, s.security);
			s.name = target;
		}
		for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++)
			if (m->sets[i]->type == type || type == TYPE_ANY)
				say_set(m->sets[i], now_s, &s);
		if (!s.is_told && tells)
			say_none(&s);
	}
	if (m->security == SECURITY_BOGUS)
		printf("%s\n", m->reason_text && *m->reason_text ? m->reason_text : reason_text(m->reason));
}

bool host_words_reverse(const char *text, char name[80])
{
	struct addr a;
	size_t at = 0;

	if (!addr_parse(&a, text, 0, NULL))
		return false;
	for (unsigned i = a.family == 4 ? 4 : 16; i-- > 0;)
		if (a.family == 4)
			at += (size_t)snprintf(name + at, 80 - at, "%u.", a.ip[i]);
		else
			at += (size_t)snprintf(name + at, 80 - at, "%x.%x.", a.ip[i] & 15u, a.ip[i] >> 4);
	snprintf(name + at, 80 - at, a.family == 4 ? "in-addr.arpa" : "ip6.arpa");
	return true;
}
