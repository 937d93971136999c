/* Files that map hosts to addresses: DHCP servers' lease files, and hosts files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They may contain any bytes at all. What cannot be parsed is counted, the first such lines are
 * kept with their numbers, and reading goes on. Where a server keeps a journal (ISC, Kea) the last
 * entry for an address is valid. Names are taken as written: services/leases/hostnames.h checks them. */
#ifndef SERVICES_LEASES_FILE_H
#define SERVICES_LEASES_FILE_H

#include "util/net/addr.h"

#define LEASES_MOST     262144      /* entries of one file */
#define LEASE_FILE_MOST (64u << 20) /* bytes that are read of one */
#define LEASE_FOREVER   INT64_MAX

/* X(id, as it is written in `format:`) */
#define LEASE_FORMATS(X)      \
	X(AUTO, "auto")       \
	X(HOSTS, "hosts")     \
	X(DNSMASQ, "dnsmasq") \
	X(ISC, "isc")         \
	X(KEA, "kea")         \
	X(ODHCPD, "odhcpd")

enum lease_format {
#define X(id, word) LEASES_##id,
	LEASE_FORMATS(X)
#undef X
		LEASE_FORMAT_COUNT
};

const char *lease_format_word(enum lease_format f);
bool lease_format_parse(const char *word, enum lease_format *f);

enum lease_trouble {
#define TROUBLE(word, sentence) TROUBLE_##word,
#include "services/leases/trouble.def"
#undef TROUBLE
	TROUBLES
};

const char *lease_trouble_text(enum lease_trouble t);

#define LEASE_REMARKS     8
#define LEASE_REMARK_TEXT 40

/* What was wrong: how often, and the first lines. */
struct lease_remarks {
	size_t counts[TROUBLES];
	unsigned count;
	struct lease_remark {
		enum lease_trouble what;
		unsigned line;
		char text[LEASE_REMARK_TEXT]; /* the name or the beginning of the line, printable */
	} first[LEASE_REMARKS];
};

void lease_remark(struct lease_remarks *r, enum lease_trouble what, unsigned line, const char *text,
		  size_t len);
size_t lease_remarks_count(const struct lease_remarks *r);

struct lease {
	struct addr addr;
	const char *name;  /* points into the text read; hosts: one of the line's */
	unsigned name_len; /* 0: it has none */
	unsigned line;
	int64_t ends_s; /* wall clock */
	bool gone;      /* released, revoked or deleted */
	bool first;     /* hosts: the line's first name, the target of the address's PTR */
};

struct leasefile {
	enum lease_format format; /* AUTO: not determined so far */
	struct lease *leases;     /* in no order */
	size_t count;
	struct lease_remarks remarks;
	uint32_t *slots; /* hash of addresses: index in `leases` plus one; NULL: may repeat */
	size_t slot_count;
};

/* AUTO when the text looks like none of the formats. */
enum lease_format leasefile_detect(const char *text, size_t len);

/* Parse a text into `f`, which begins zeroed but for `format`: AUTO detects it by content. False,
 * and nothing is read, when the text is not empty but in none of the formats. The text must outlive
 * `f`. May be called for several texts, the oldest first. */
bool leasefile_read(struct leasefile *f, const char *text, size_t len);
void leasefile_clear(struct leasefile *f);

#endif
