/* One field of a record's RDATA, parsed from and printed as text.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text_field.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

#include "util/base/textlex.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

static bool complain(struct text_words *t, const char *why)
{
	fault_set(&t->why, "%s", why);
	return false;
}

/* ---- words ---- */

static char *past_word(char *p)
{
	bool quoted = *p == '"';

	for (p += quoted; *p && (quoted ? *p != '"' : *p != ' '); p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return p + (quoted && *p);
}

bool text_words_end(struct text_words *t)
{
	t->at += strspn(t->at, " ");
	return *t->at == '\0';
}

char *text_words_next(struct text_words *t)
{
	if (text_words_end(t))
		return NULL;
	char *word = t->at;
	t->at = past_word(word);
	if (*t->at == ' ') {
		*t->at++ = '\0';
	} else if (*t->at) {
		complain(t, "text stands behind a closing quote");
		return NULL;
	}
	return word;
}

/* ---- hexadecimal, base32, base64 ---- */

struct code {
	unsigned bits; /* per digit */
	const char *digits;
	const char *shown; /* the digits, when printed */
	const char *why; /* the complaint about other digits */
};

/* Hexadecimal digits are upper case, as Unbound, dig and NSD write them; hashes of NSEC3, being labels, are lower. */
#define HEX_SHOWN "0123456789ABCDEF"
#define BASE32 "0123456789abcdefghijklmnopqrstuv"
#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

static const struct code hex = { 4, "0123456789abcdef", HEX_SHOWN, "there are no pairs of hexadecimal digits" };
static const struct code base32 = { 5, BASE32, BASE32, "it is no base32" };
static const struct code base64 = { 6, BASE64, BASE64, "it is no base64" };

struct decoder {
	uint32_t bits;
	unsigned count; /* bits not yet written */
	size_t digits, padding;
};

static int digit_value(const struct code *code, char c)
{
	if (code->bits < 6)
		c = (char)ascii_lower[(uint8_t)c];
	const char *p = strchr(code->digits, c);
	return p ? (int)(p - code->digits) : -1;
}

static bool decode(struct decoder *d, const struct code *code, const char *word, struct writer *w)
{
	for (; *word; word++) {
		if (*word == '=' && code->bits == 6) {
			d->padding++;
			continue;
		}
		int value = digit_value(code, *word);
		if (value < 0 || d->padding)
			return false;
		d->digits++;
		d->bits = d->bits << code->bits | (uint32_t)value;
		d->count += code->bits;
		if (d->count >= 8) {
			d->count -= 8;
			write_u8(w, (uint8_t)(d->bits >> d->count));
		}
	}
	return true;
}

/* Whether the digits make whole bytes, with the bits left over all 0. */
static bool decoded(const struct decoder *d, const struct code *code)
{
	if (d->count >= code->bits || (d->bits & ((1u << d->count) - 1)) != 0)
		return false;
	return code->bits < 6 || (d->digits + d->padding) % 4 == 0;
}

/* All remaining words, at least one. */
static bool read_coded(struct text_words *t, const struct code *code, struct writer *w)
{
	struct decoder d = { 0 };
	char *word;

	if (text_words_end(t))
		return complain(t, "data is missing");
	while ((word = text_words_next(t))) {
		if (!decode(&d, code, word, w))
			return complain(t, code->why);
	}
	return decoded(&d, code) || complain(t, code->why);
}

bool text_hex_read(struct text_words *t, struct writer *w)
{
	return text_words_end(t) || read_coded(t, &hex, w);
}

bool text_base64_read(struct text_words *t, const char *text, struct writer *w)
{
	struct decoder d = { 0 };

	return (decode(&d, &base64, text, w) && decoded(&d, &base64)) || complain(t, base64.why);
}

/* One word, written with a length byte before it; "-" is empty. */
static bool read_counted(struct text_words *t, const struct code *code, const char *word,
			 struct writer *w)
{
	struct decoder d = { 0 };
	uint8_t *len = write_room(w, 1);

	if (strcmp(word, "-") != 0 && (!decode(&d, code, word, w) || !decoded(&d, code)))
		return complain(t, code->why);
	if (w->bad || w->at - len > 256)
		return complain(t, "it is longer than 255 bytes");
	*len = (uint8_t)(w->at - len - 1);
	return true;
}

static bool print_coded(struct text_printer *p, const struct code *code, struct slice data)
{
	uint32_t bits = 0;
	unsigned count = 0, digits = 0;

	for (size_t i = 0; i < data.len; i++) {
		bits = bits << 8 | data.at[i];
		for (count += 8; count >= code->bits; digits++) {
			count -= code->bits;
			text_put(p, &code->shown[bits >> count & ((1u << code->bits) - 1)], 1);
		}
	}
	if (count > 0) {
		unsigned last = bits << (code->bits - count) & ((1u << code->bits) - 1);
		text_put(p, &code->shown[last], 1);
		digits++;
	}
	for (; code->bits == 6 && digits % 4; digits++)
		text_put(p, "=", 1);
	return data.len > 0;
}

static bool print_counted(struct text_printer *p, const struct code *code, struct slice data)
{
	if (data.len > 0)
		return print_coded(p, code, data);
	text_put(p, "-", 1);
	return true;
}

/* ---- numbers and mnemonics ---- */

/* Seconds in a unit of time; 0 when it is not one. */
static uint32_t unit_seconds(char c)
{
	switch (ascii_lower[(uint8_t)c]) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return 604800;
	default:
		return 0;
	}
}

bool text_number(const char *text, bool units, uint32_t *out)
{
	uint64_t sum = 0;

	do {
		uint64_t n = 0;
		if (!lex_is_digit(*text))
			return false;
		for (; lex_is_digit(*text) && n <= UINT32_MAX; text++)
			n = n * 10 + (uint64_t)(*text - '0');
		if (units && unit_seconds(*text))
			n *= unit_seconds(*text++);
		sum += n;
		if (sum > UINT32_MAX)
			return false;
	} while (*text && units);
	*out = (uint32_t)sum;
	return *text == '\0';
}

struct mnemonic {
	uint16_t number;
	const char *word;
};

/* IANA's DNSSEC algorithm numbers, for fields of one byte. */
static const struct mnemonic algorithms[] = {
	{ 1, "RSAMD5" },
	{ 2, "DH" },
	{ 3, "DSA" },
	{ 5, "RSASHA1" },
	{ 6, "DSA-NSEC3-SHA1" },
	{ 7, "RSASHA1-NSEC3-SHA1" },
	{ 8, "RSASHA256" },
	{ 10, "RSASHA512" },
	{ 12, "ECC-GOST" },
	{ 13, "ECDSAP256SHA256" },
	{ 14, "ECDSAP384SHA384" },
	{ 15, "ED25519" },
	{ 16, "ED448" },
	{ 252, "INDIRECT" },
	{ 253, "PRIVATEDNS" },
	{ 254, "PRIVATEOID" },
};

/* Certificate types of RFC 4398 2.1. */
static const struct mnemonic certificates[] = {
	{ 1, "PKIX" }, { 2, "SPKI" },   { 3, "PGP" },     { 4, "IPKIX" }, { 5, "ISPKI" },
	{ 6, "IPGP" }, { 7, "ACPKIX" }, { 8, "IACPKIX" }, { 253, "URI" }, { 254, "OID" },
};

/* How a child's zone tells its parent: RFC 9859 2.1. */
static const struct mnemonic schemes[] = { { 1, "NOTIFY" } };

/* Of a number too large for its field the low bytes, where somebody is told that this is odd. */
static bool is_cut(const struct text_zone *z, const char *word)
{
	char why[100];

	if (!z->odd)
		return false;
	snprintf(why, sizeof(why), "the number %.20s is too large, and only its low bits count", word);
	z->odd(z->odd_arg, why);
	return true;
}

static bool read_number(struct text_words *t, const char *word, unsigned bytes,
			const struct mnemonic *known, size_t known_count,
			const struct text_zone *z, struct writer *w)
{
	uint32_t value = 0;
	bool good = text_number(word, bytes == 4, &value);

	for (size_t i = 0; i < known_count && !good; i++) {
		if (strcasecmp(word, known[i].word) == 0) {
			value = known[i].number;
			good = true;
		}
	}
	if (!good || (bytes < 4 && value >> 8 * bytes && !is_cut(z, word)))
		return complain(t, "a number is expected, or it is too large");
	if (bytes == 1)
		write_u8(w, (uint8_t)value);
	else if (bytes == 2)
		write_u16(w, (uint16_t)value);
	else
		write_u32(w, value);
	return true;
}

/* ---- times: RFC 4034 3.2 ---- */

static const uint16_t days_before_month[] = {
	0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334
};

static bool is_leap(unsigned year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t days_before_year(unsigned year)
{
	unsigned before = year - 1;

	return (year - 1970) * 365 + (before / 4 - before / 100 + before / 400) - 477;
}

static unsigned two_digits(const char *p)
{
	return (unsigned)(p[0] - '0') * 10 + (unsigned)(p[1] - '0');
}

/* YYYYMMDDHHmmSS, or seconds since 1970; 32 bits hold times up to 2106. */
static bool read_time(struct text_words *t, const char *word, struct writer *w)
{
	uint32_t seconds;

	if (strlen(word) != 14 || strspn(word, "0123456789") != 14)
		return text_number(word, false, &seconds) ? (write_u32(w, seconds), true)
							  : complain(t, "a time is expected");
	unsigned year = two_digits(word) * 100 + two_digits(word + 2);
	unsigned month = two_digits(word + 4), day = two_digits(word + 6);
	unsigned hour = two_digits(word + 8), minute = two_digits(word + 10);
	unsigned second = two_digits(word + 12);
	if (year < 1970 || year > 2106 || month < 1 || month > 12 || day < 1 || day > 31 ||
	    hour > 23 || minute > 59 || second > 59)
		return complain(t, "a time is expected");
	uint64_t days = days_before_year(year) + days_before_month[month - 1] +
			(month > 2 && is_leap(year)) + day - 1;
	uint64_t sum = days * 86400 + hour * 3600 + minute * 60 + second;
	if (sum > UINT32_MAX)
		return complain(t, "a time is expected");
	write_u32(w, (uint32_t)sum);
	return true;
}

static void print_time(struct text_printer *p, uint32_t seconds)
{
	uint32_t days = seconds / 86400, left = seconds % 86400;
	unsigned year = 1970 + days / 366, month = 12;

	while (days_before_year(year + 1) <= days)
		year++;
	days -= days_before_year(year);
	while (month > 1 &&
	       days < (uint32_t)days_before_month[month - 1] + (month > 2 && is_leap(year)))
		month--;
	days -= (uint32_t)days_before_month[month - 1] + (month > 2 && is_leap(year));
	text_putf(p, "%04u%02u%02u%02u%02u%02u", year, month, (unsigned)days + 1,
		  (unsigned)left / 3600, (unsigned)left / 60 % 60, (unsigned)left % 60);
}

/* ---- bitmaps of types: RFC 4034 4.1.2 ---- */

static bool read_bitmap(struct text_words *t, struct writer *w)
{
	uint8_t bits[8192] = { 0 };
	uint8_t lens[256] = { 0 }; /* of the blocks */
	char *word;

	while ((word = text_words_next(t))) {
		uint16_t type;
		if (!rr_type_parse(word, &type))
			return complain(t, "a type is unknown");
		bits[type / 8] |= (uint8_t)(0x80 >> type % 8);
		lens[type >> 8] = MAX(lens[type >> 8], (uint8_t)(type % 256 / 8 + 1));
	}
	for (unsigned window = 0; window < 256; window++) {
		if (lens[window] == 0)
			continue;
		write_u8(w, (uint8_t)window);
		write_u8(w, lens[window]);
		write_bytes(w, bits + 32 * window, lens[window]);
	}
	return true;
}

static bool print_bitmap(struct text_printer *p, struct slice data)
{
	struct reader r = reader_over(data.at, data.len);
	int last = -1;
	bool first = true;
	char buf[16];

	while (reader_left(&r)) {
		int window = read_u8(&r);
		unsigned len = read_u8(&r);
		const uint8_t *block = read_bytes(&r, len);
		if (block == NULL || window <= last || len == 0 || len > 32 || block[len - 1] == 0)
			return false;
		last = window;
		for (unsigned i = 0; i < 8 * len; i++) {
			if (!(block[i / 8] & 0x80 >> i % 8))
				continue;
			text_put(p, " ", first ? 0 : 1);
			text_puts(p, rr_type_name((uint16_t)(window * 256 + (int)i), buf));
			first = false;
		}
	}
	return true;
}

/* ---- strings ---- */

static bool read_text(struct text_words *t, const char *word, struct writer *w)
{
	const char *end = word + strlen(word);

	if (*word == '"') {
		word++;
		end--;
	}
	while (word < end) {
		int c = lex_byte(&word);
		if (c < 0)
			return complain(
				t, "a backslash stands before neither a character nor 000 to 255");
		write_u8(w, (uint8_t)c);
	}
	return true;
}

static bool read_string(struct text_words *t, const char *word, struct writer *w)
{
	uint8_t *len = write_room(w, 1);

	if (!read_text(t, word, w))
		return false;
	if (w->bad || w->at - len > 256)
		return complain(t, "a character string is longer than 255 bytes");
	*len = (uint8_t)(w->at - len - 1);
	return true;
}

static bool read_strings(struct text_words *t, const char *word, struct writer *w)
{
	do {
		if (!read_string(t, word, w))
			return false;
	} while ((word = text_words_next(t)));
	return true;
}

static bool print_text(struct text_printer *p, struct slice text)
{
	text_put(p, "\"", 1);
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.at[i];
		if (c < ' ' || c >= 127)
			text_putf(p, "\\%03u", c);
		else if (c == '"' || c == '\\')
			text_putf(p, "\\%c", c);
		else
			text_put(p, (const char *)&text.at[i], 1);
	}
	text_put(p, "\"", 1);
	return true;
}

/* A string that needs no quotes: the tag of CAA. */
static bool print_word(struct text_printer *p, struct slice word)
{
	for (size_t i = 0; i < word.len; i++) {
		uint8_t c = ascii_lower[word.at[i]];
		if (!lex_is_digit((char)c) && (c < 'a' || c > 'z'))
			return false;
	}
	text_put(p, (const char *)word.at, word.len);
	return word.len > 0;
}

/* ---- other fields ---- */

static bool is_absolute(const char *name)
{
	size_t len = strlen(name), slashes = 0;

	if (len == 0 || name[len - 1] != '.')
		return false;
	while (slashes + 1 < len && name[len - 2 - slashes] == '\\')
		slashes++;
	return slashes % 2 == 0;
}

size_t text_name_parse(const struct text_zone *z, const char *text, uint8_t *to, struct fault *f)
{
	if (strcmp(text, "@") == 0)
		return dname_join(to, NULL, 0, z->origin);
	size_t len = dname_parse(to, text, f);
	if (len == 0 || is_absolute(text))
		return len;
	len = dname_join(to, to, len - 1, z->origin);
	if (len == 0)
		fault_set(f, "'%s' is no domain name: with its origin it is longer than 255 bytes",
			  text);
	return len;
}

static bool read_name(struct text_words *t, const char *word, const struct text_zone *z,
		      struct writer *w)
{
	uint8_t name[DNAME_MAX];
	size_t len = text_name_parse(z, word, name, &t->why);

	write_bytes(w, name, len);
	return len > 0;
}

static bool read_address(struct text_words *t, const char *word, int family, struct writer *w)
{
	uint8_t address[16];

	if (inet_pton(family, word, address) != 1)
		return complain(t, family == AF_INET ? "an IPv4 address is expected"
						     : "an IPv6 address is expected");
	write_bytes(w, address, family == AF_INET ? 4 : 16);
	return true;
}

static bool print_address(struct text_printer *p, int family, const uint8_t *at)
{
	char buf[INET6_ADDRSTRLEN];

	text_puts(p, inet_ntop(family, at, buf, sizeof(buf)));
	return true;
}

static bool read_type(struct text_words *t, const char *word, struct writer *w)
{
	uint16_t type;

	if (!rr_type_parse(word, &type))
		return complain(t, "a type is unknown");
	write_u16(w, type);
	return true;
}

bool text_field_read(struct text_words *t, char field, const struct text_zone *z, struct writer *w)
{
	if (field == 'x')
		return read_coded(t, &hex, w);
	if (field == 'b')
		return read_coded(t, &base64, w);
	if (field == 'B')
		return read_bitmap(t, w);

	const char *word = text_words_next(t);
	if (word == NULL)
		return complain(t, "data is missing");
	switch (field) {
	case '1':
		return read_number(t, word, 1, algorithms, COUNT(algorithms), z, w);
	case '2':
		return read_number(t, word, 2, NULL, 0, z, w);
	case '4':
		return read_number(t, word, 4, NULL, 0, z, w);
	case 'c':
		return read_number(t, word, 2, certificates, COUNT(certificates), z, w);
	case 'y':
		return read_number(t, word, 1, schemes, COUNT(schemes), z, w);
	case 't':
		return read_type(t, word, w);
	case 'T':
		return read_time(t, word, w);
	case 'a':
		return read_address(t, word, AF_INET, w);
	case '6':
		return read_address(t, word, AF_INET6, w);
	case 'h':
		return read_counted(t, &hex, word, w);
	case 'H':
		return read_counted(t, &base32, word, w);
	case 's':
	case 'w':
		return read_string(t, word, w);
	case 'S':
		return read_strings(t, word, w);
	case 'q':
		return read_text(t, word, w);
	default:
		return read_name(t, word, z, w);
	}
}

/* Take the first `len` bytes off `rest`. */
static struct slice take(struct slice *rest, size_t len)
{
	struct slice taken = { rest->at, len };

	rest->at += len;
	rest->len -= len;
	return taken;
}

/* A length byte, and that many bytes. */
static struct slice take_counted(struct slice *rest)
{
	size_t len = *take(rest, 1).at;

	return take(rest, len);
}

static bool print_strings(struct text_printer *p, struct slice *rest)
{
	print_text(p, take_counted(rest));
	while (rest->len) {
		text_put(p, " ", 1);
		print_text(p, take_counted(rest));
	}
	return true;
}

static bool print_name(struct text_printer *p, struct slice *rest)
{
	char buf[DNAME_TEXT];

	text_puts(p, dname_print(rest->at, buf));
	take(rest, dname_len(rest->at));
	return true;
}

static bool print_number(struct text_printer *p, uint32_t n)
{
	text_putf(p, "%u", (unsigned)n);
	return true;
}

bool text_field_print(struct text_printer *p, char field, struct slice *rest)
{
	char buf[16];

	switch (field) {
	case '1':
	case 'y':
		return print_number(p, *take(rest, 1).at);
	case '2':
	case 'c':
		return print_number(p, get_u16(take(rest, 2).at));
	case '4':
		return print_number(p, get_u32(take(rest, 4).at));
	case 't':
		text_puts(p, rr_type_name(get_u16(take(rest, 2).at), buf));
		return true;
	case 'T':
		print_time(p, get_u32(take(rest, 4).at));
		return true;
	case 'a':
		return print_address(p, AF_INET, take(rest, 4).at);
	case '6':
		return print_address(p, AF_INET6, take(rest, 16).at);
	case 'x':
		return print_coded(p, &hex, take(rest, rest->len));
	case 'b':
		return print_coded(p, &base64, take(rest, rest->len));
	case 'B':
		return print_bitmap(p, take(rest, rest->len));
	case 'h':
		return print_counted(p, &hex, take_counted(rest));
	case 'H':
		return print_counted(p, &base32, take_counted(rest));
	case 's':
		return print_text(p, take_counted(rest));
	case 'S':
		return print_strings(p, rest);
	case 'w':
		return print_word(p, take_counted(rest));
	case 'q':
		return print_text(p, take(rest, rest->len));
	default:
		return print_name(p, rest);
	}
}

/* ---- printing ---- */

void text_put(struct text_printer *p, const char *text, size_t len)
{
	if (p->len + 1 < p->room)
		memcpy(p->to + p->len, text, MIN(len, p->room - p->len - 1));
	p->len += len;
	if (p->room)
		p->to[MIN(p->len, p->room - 1)] = '\0';
}

void text_puts(struct text_printer *p, const char *text)
{
	text_put(p, text, strlen(text));
}

void text_putf(struct text_printer *p, const char *fmt, ...)
{
	char buf[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	text_puts(p, buf);
}
