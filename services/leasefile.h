/* Files that say which host has which address: leases as DHCP servers write them, and hosts files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Any bytes at all may stand in them. What cannot be read is counted, the first such lines are kept
 * with their numbers, and reading goes on. Where a server keeps a journal (ISC, Kea) the last line
 * about an address is what holds. Names are taken as they are written: services/hostnames.h judges
 * them. */
#ifndef SERVICES_LEASEFILE_H
#define SERVICES_LEASEFILE_H

#include "util/addr.h"

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
#include "services/lease_trouble.def"
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
	const char *name;  /* in the text that was read; hosts: one of the line's */
	unsigned name_len; /* 0: it has none */
	unsigned line;
	int64_t ends_s; /* wall clock */
	bool gone;      /* given back, taken away, deleted */
	bool first;     /* hosts: the line's first name, to which the address leads back */
};

struct leasefile {
	enum lease_format format; /* AUTO: nothing was read so far that tells it */
	struct lease *leases;     /* in no order */
	size_t count;
	struct lease_remarks remarks;
	uint32_t *slots; /* of `leases`, by address, plus one; NULL: addresses may repeat */
	size_t slot_count;
};

/* AUTO when nothing in the text looks like one of them. */
enum lease_format leasefile_detect(const char *text, size_t len);

/* Read a text into `f`, which begins zeroed but for `format`: AUTO goes by content. False, and
 * nothing is read, when there is something in it but none of the formats. The text outlives `f`.
 * May be called for several texts, the oldest first. */
bool leasefile_read(struct leasefile *f, const char *text, size_t len);
void leasefile_clear(struct leasefile *f);

#endif
