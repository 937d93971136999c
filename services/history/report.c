/* One line for each client query, for the logger of OPNsense's reporting page.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "services/history/ring.h"
#include "util/base/bytes.h"
#include "util/dns/msg.h"
#include "util/dns/msgname.h"
#include "util/dns/rr.h"

enum report_action { PASSED, BLOCKED, DROPPED };
enum report_source { RECURSION, LOCAL, LOCAL_DATA, CACHE };

struct meaning {
	enum report_action action;
	enum report_source source;
};

/* A failure is called a drop, as by that script, whether it was cached or not. */
static struct meaning meaning_of(const struct report *r)
{
	static const struct meaning meanings[SEEN_KINDS] = {
		[SEEN_cached] = { PASSED, CACHE },
		[SEEN_expired] = { PASSED, CACHE },
		[SEEN_resolved] = { PASSED, RECURSION },
		[SEEN_local] = { PASSED, LOCAL_DATA },
		[SEEN_blocked] = { BLOCKED, LOCAL },
		[SEEN_refused] = { DROPPED, LOCAL },
		[SEEN_dropped] = { DROPPED, LOCAL },
	};

	if (r->rcode == RCODE_SERVFAIL && r->how != SEEN_blocked)
		return (struct meaning){ DROPPED, LOCAL };
	return meanings[r->how];
}

/* dname_print escapes what is no printable character; "|" is one. */
static void print_name(const uint8_t *name, char to[4 * DNAME_MAX])
{
	uint8_t lower[DNAME_MAX];
	char text[DNAME_TEXT];

	dname_copy_lower(lower, name);
	dname_print(lower, text);
	for (const char *at = text; *at; at++) {
		if (*at != '|') {
			*to++ = *at;
			continue;
		}
		memcpy(to, "\\124", 4);
		to += 4;
	}
	*to = '\0';
}

/* From a list of others: nothing there may end a field. */
static const char *clean(const char *word, char to[DECISION_WORD])
{
	size_t len = strnlen(word, DECISION_WORD - 1);

	for (size_t i = 0; i < len; i++)
		to[i] = (unsigned char)word[i] < ' ' || word[i] == '|' || word[i] == 127 ? '_' : word[i];
	to[len] = '\0';
	return to;
}

/* What is before its texts, as it is; then each of them. */
enum { PLAIN = offsetof(struct report, policy) };

size_t report_pack(const struct report *r, uint8_t *to)
{
	size_t policy = strlen(r->policy) + 1, list = strlen(r->list) + 1, name = dname_len(r->name);

	memcpy(to, r, PLAIN);
	memcpy(to + PLAIN, r->policy, policy);
	memcpy(to + PLAIN + policy, r->list, list);
	memcpy(to + PLAIN + policy + list, r->name, name);
	return PLAIN + policy + list + name;
}

void report_unpack(struct report *r, const uint8_t *from)
{
	size_t policy = strlen((const char *)from + PLAIN) + 1;
	size_t list = strlen((const char *)from + PLAIN + policy) + 1;

	memcpy(r, from, PLAIN);
	memcpy(r->policy, from + PLAIN, policy);
	memcpy(r->list, from + PLAIN + policy, list);
	memcpy(r->name, from + PLAIN + policy + list, dname_len(from + PLAIN + policy + list));
}

size_t report_line(const struct report *r, char line[REPORT_LINE])
{
	char client[ADDR_TEXT] = "", type[16], name[4 * DNAME_MAX], policy[DECISION_WORD], list[DECISION_WORD];
	unsigned rcode = r->rcode == SEEN_NO_ANSWER ? RCODE_SERVFAIL : r->rcode;
	struct meaning is = meaning_of(r);
	int len;

	if (r->client.family)
		addr_print(&r->client, 0, client);
	print_name(r->name, name);
	len = snprintf(line, REPORT_LINE, "%s|%" PRId64 "|%s|%s|%s|%s|%u|%u|%s|%u|%" PRIu32 "|%u|%" PRIu32 "\n",
		       clean(r->policy, policy), r->at_s, client,
		       r->client.family == 4 ? "ip4" : r->client.family == 6 ? "ip6" : "",
		       rr_type_name(r->type, type), name, (unsigned)is.action, (unsigned)is.source,
		       clean(r->list, list), rcode, MIN(r->took_ms, (uint32_t)INT32_MAX), (unsigned)r->security,
		       MIN(r->ttl_s, (uint32_t)INT32_MAX));
	return (size_t)len;
}

/* Of the next record, OPT aside; UINT32_MAX: it has none. */
static uint32_t next_ttl(struct reader *r)
{
	uint16_t type;
	uint32_t ttl_s;

	msg_skip_name(r);
	type = read_u16(r);
	read_bytes(r, 2);
	ttl_s = rr_ttl(read_u32(r));
	read_bytes(r, read_u16(r));
	return r->bad || type == TYPE_OPT ? UINT32_MAX : ttl_s;
}

uint32_t report_ttl(const uint8_t *wire, size_t len)
{
	struct reader r = reader_over(wire, len);
	unsigned answers = len < MSG_HEAD_LEN ? 0 : get_u16(wire + 6);
	unsigned records = len < MSG_HEAD_LEN ? 0 : msg_skip_to_records(&r);
	unsigned count = answers ? MIN(answers, records) : MIN(records, 1u);
	uint32_t least_s = UINT32_MAX;

	while (count-- && !r.bad) {
		uint32_t ttl_s = next_ttl(&r);

		least_s = MIN(least_s, ttl_s);
	}
	return least_s == UINT32_MAX ? 0 : least_s;
}
