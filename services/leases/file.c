/* Files that map hosts to addresses: hosts files, and leases of dnsmasq and odhcpd.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/leases/file.h"

#include <string.h>

#include "services/leases/private.h"
#include "util/base/mem.h"

/* ---- words for messages ---- */

static const char *const format_words[LEASE_FORMAT_COUNT] = {
#define X(id, word) [LEASES_##id] = word,
	LEASE_FORMATS(X)
#undef X
};

const char *lease_format_word(enum lease_format f)
{
	return format_words[f];
}

bool lease_format_parse(const char *word, enum lease_format *f)
{
	for (unsigned i = 0; i < LEASE_FORMAT_COUNT; i++) {
		if (strcmp(word, format_words[i]) == 0) {
			*f = (enum lease_format)i;
			return true;
		}
	}
	return false;
}

const char *lease_trouble_text(enum lease_trouble t)
{
	static const char *const sentences[TROUBLES] = {
#define TROUBLE(word, sentence) [TROUBLE_##word] = sentence,
#include "services/leases/trouble.def"
#undef TROUBLE
	};

	return sentences[t];
}

size_t lease_remarks_count(const struct lease_remarks *r)
{
	size_t n = 0;

	for (unsigned i = 0; i < TROUBLES; i++)
		n += r->counts[i];
	return n;
}

void leasefile_clear(struct leasefile *f)
{
	mem_free(f->leases);
	mem_free(f->slots);
	*f = (struct leasefile){ .format = f->format };
}

/* ---- hosts: address name... # comment ---- */

static struct piece without_remark(struct piece line)
{
	const char *hash = memchr(line.at, '#', line.len);

	if (hash)
		line.len = (size_t)(hash - line.at);
	return line;
}

static void read_hosts(struct leasefile *f, struct lines *l)
{
	struct piece line, whole, word;

	while (next_line(l, &line)) {
		struct lease lease = { .line = l->line, .ends_s = LEASE_FOREVER, .first = true };

		whole = line = without_remark(line);
		word = next_word(&line);
		if (word.len == 0)
			continue;
		if (!piece_address(word, &lease.addr)) {
			/* An address with a zone id means nothing to other hosts. */
			leasefile_remark(f,
					 memchr(word.at, '%', word.len) ? TROUBLE_address
									: TROUBLE_garbled,
					 l->line, whole);
			continue;
		}
		for (; (word = next_word(&line)).len; lease.first = false) {
			lease.name = word.at;
			lease.name_len = (unsigned)MIN(word.len, 1024u);
			leasefile_put(f, &lease);
		}
	}
}

/* ---- dnsmasq: expiry, hardware address or number, address, name or *, client id ---- */

static bool take_dnsmasq(struct piece line, struct lease *lease)
{
	struct piece expiry = next_word(&line), hardware = next_word(&line),
		     address = next_word(&line), name = next_word(&line);

	if (!piece_number(expiry, &lease->ends_s) || hardware.len == 0 || name.len == 0 ||
	    !piece_address(address, &lease->addr))
		return false;
	if (lease->ends_s == 0)
		lease->ends_s = LEASE_FOREVER;
	if (!piece_is(name, "*")) {
		lease->name = name.at;
		lease->name_len = (unsigned)MIN(name.len, 1024u);
	}
	return true;
}

static void read_dnsmasq(struct leasefile *f, struct lines *l)
{
	struct piece line;

	while (next_line(l, &line)) {
		struct lease lease = { .line = l->line };
		struct piece rest = line, word = next_word(&rest);

		if (word.len == 0 || piece_is(word, "duid")) /* the server's own DUID */
			continue;
		if (take_dnsmasq(line, &lease))
			leasefile_put(f, &lease);
		else
			leasefile_remark(f, TROUBLE_garbled, l->line, line);
	}
}

/* ---- odhcpd: # interface id number name expiry assigned length address/length... ---- */

/* Parse an address; `*whole` is false for a delegated prefix, which is no host's address. False if
 * it is neither. */
static bool take_prefixed(struct piece word, struct addr *a, bool *whole)
{
	const char *slash = memchr(word.at, '/', word.len);
	struct piece address = word;
	int64_t bits;

	if (!slash)
		return false;
	address.len = (size_t)(slash - word.at);
	if (!piece_number((struct piece){ slash + 1, word.len - address.len - 1 }, &bits) ||
	    !piece_address(address, a))
		return false;
	*whole = bits == (a->family == 4 ? 32 : 128);
	return true;
}

struct odhcpd_line {
	struct lease lease;
	struct piece addresses;
};

static bool take_odhcpd(struct piece line, struct odhcpd_line *o)
{
	static const char broken[] = "broken\\x20";
	struct piece words[8];
	struct piece name;

	for (unsigned i = 0; i < COUNT(words); i++) {
		words[i] = next_word(&line);
		if (words[i].len == 0)
			return false;
	}
	if (!piece_is(words[0], "#"))
		return false;
	name = words[4];
	if (piece_is(words[5], "-1"))
		o->lease.ends_s = LEASE_FOREVER;
	else if (!piece_number(words[5], &o->lease.ends_s))
		return false;
	o->lease.gone = o->lease.ends_s == 0;
	if (name.len >= sizeof(broken) - 1 && memcmp(name.at, broken, sizeof(broken) - 1) == 0)
		name.len = 0; /* the server considers the name invalid, too */
	if (!piece_is(name, "-") && name.len) {
		o->lease.name = name.at;
		o->lease.name_len = (unsigned)MIN(name.len, 1024u);
	}
	o->addresses = line;
	return true;
}

/* Lines without a hash repeat the same data for readers of hosts files. */
static void read_odhcpd(struct leasefile *f, struct lines *l)
{
	struct piece line, word;

	while (next_line(l, &line)) {
		struct odhcpd_line o = { .lease = { .line = l->line } };
		bool whole;

		if (line.len == 0 || *line.at != '#')
			continue;
		if (!take_odhcpd(line, &o)) {
			leasefile_remark(f, TROUBLE_garbled, l->line, line);
			continue;
		}
		while ((word = next_word(&o.addresses)).len) {
			if (!take_prefixed(word, &o.lease.addr, &whole))
				leasefile_remark(f, TROUBLE_garbled, l->line, word);
			else if (whole)
				leasefile_put(f, &o.lease);
		}
	}
}

/* ---- detecting the format ---- */

static bool begins(struct piece line, const char *with)
{
	return line.len >= strlen(with) && memcmp(line.at, with, strlen(with)) == 0;
}

static bool looks_isc(struct piece line)
{
	static const char *const words[] = { "lease ",   "ia-na ",      "ia-ta ",
					     "ia-pd ",   "server-duid", "authoring-byte-order",
					     "failover " };

	for (unsigned i = 0; i < COUNT(words); i++)
		if (begins(line, words[i]))
			return true;
	return false;
}

static enum lease_format format_of_line(struct piece line)
{
	struct lease lease = { 0 };
	struct odhcpd_line o;
	struct piece rest = line, word = next_word(&rest);

	if (begins(line, "address,"))
		return LEASES_KEA;
	if (looks_isc(line))
		return LEASES_ISC;
	if (take_odhcpd(line, &o))
		return LEASES_ODHCPD;
	if (begins(line, "duid ") || take_dnsmasq(line, &lease))
		return LEASES_DNSMASQ;
	if (piece_address(word, &lease.addr) && next_word(&rest).len)
		return LEASES_HOSTS;
	return LEASES_AUTO;
}

#define LINES_TO_TELL 200 /* lines to try before giving up */

enum lease_format leasefile_detect(const char *text, size_t len)
{
	struct lines l = { .at = text, .end = text + len };
	enum lease_format f = LEASES_AUTO;
	struct piece line;

	while (f == LEASES_AUTO && l.line < LINES_TO_TELL && next_line(&l, &line))
		f = format_of_line(line);
	return f;
}

/* Only blanks and comments. */
static bool is_bare(const char *text, size_t len)
{
	struct lines l = { .at = text, .end = text + len };
	struct piece line;

	while (next_line(&l, &line)) {
		struct piece word = next_word(&line);

		if (word.len && *word.at != '#')
			return false;
	}
	return true;
}

bool leasefile_read(struct leasefile *f, const char *text, size_t len)
{
	static void (*const readers[LEASE_FORMAT_COUNT])(struct leasefile *, struct lines *) = {
		[LEASES_HOSTS] = read_hosts,   [LEASES_DNSMASQ] = read_dnsmasq,
		[LEASES_ODHCPD] = read_odhcpd, [LEASES_ISC] = read_isc,
		[LEASES_KEA] = read_kea,
	};
	struct lines l = { .at = text, .end = text + len };

	if (len == 0)
		return true;
	if (f->format == LEASES_AUTO)
		f->format = leasefile_detect(text, len);
	if (f->format == LEASES_AUTO)
		return is_bare(text, len);
	readers[f->format](f, &l);
	return true;
}
