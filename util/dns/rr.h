/* Record types and classes: numbers, mnemonics, and the layout of RDATA.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * util/dns/rrtype.def declares each type once: number, mnemonic, shape, flags. A shape is
 * a short string with one character per field:
 *     N          a name that may be compressed in answers (types of RFC 1035 only)
 *     n          another name that canonical form lower-cases (RFC 4034 6.2, 6840 5.1)
 *     m          a name left as it is
 *     1 2 4      a number of that many bytes
 *     t T c      a type, a time (RFC 4034 3.2), a certificate's kind (RFC 4398)
 *     y          a scheme, of one byte (RFC 9859 2.1)
 *     a 6        an IPv4 address, an IPv6 address
 *     s S w      a character-string, one or more of them, one that is a word
 *     h H        length-prefixed bytes: hexadecimal, base32
 *     x b B q *  the rest: hexadecimal, base64, a bitmap of types, text, anything
 * In RDATA read from a message, compression pointers are followed in 'N' and 'n'. */
#ifndef UTIL_DNS_RR_H
#define UTIL_DNS_RR_H

#include "util/base/base.h"

struct reader;
struct slice;
struct writer;

enum rr_type {
#define RRTYPE(number, name, shape, flags) TYPE_##name = number,
#include "util/dns/rrtype.def"
#undef RRTYPE
};

enum rr_class { CLASS_IN = 1, CLASS_CH = 3, CLASS_HS = 4, CLASS_NONE = 254, CLASS_ANY = 255 };

/* Flags in a type's row. */
enum {
	RR_META   = 1,          /* only a QTYPE: ANY AXFR IXFR MAILB; or OPT TSIG TKEY */
	RR_DNSSEC = 2,          /* sent only if DO is set: RRSIG NSEC NSEC3 (not DNSKEY, DS) */
	RR_SINGLE = 4,          /* at most one record per set: CNAME DNAME SOA */
	RR_PLAIN  = 8,          /* the shape also describes the presentation format */
	RR_BESIDE = 16,         /* may stand beside a CNAME (RFC 4035 2.5): NSEC RRSIG KEY */
};

/* A TTL as it was received: one with its top bit set is a long time (RFC 8767 4), of which 31 bits are kept. */
static inline uint32_t rr_ttl(uint32_t ttl_s)
{
	return MIN(ttl_s, (uint32_t)INT32_MAX);
}

/* The shape of a type's RDATA; "*" for unknown types (RFC 3597). */
const char *rr_shape(uint16_t type) PURE;
unsigned rr_flags(uint16_t type) PURE;

/* "A", "TYPE65280"; "IN", "CLASS7". Returns `buf` or a constant. */
const char *rr_type_name(uint16_t type, char buf[16]);
const char *rr_class_name(uint16_t class_, char buf[16]);
/* In Unbound's spelling: "NOTIMPL", "RCODE17". */
const char *rr_rcode_name(unsigned rcode, char buf[16]);
/* From text in any case, including "TYPEn" and "CLASSn". False when unknown. */
bool rr_type_parse(const char *text, uint16_t *type);
bool rr_class_parse(const char *text, uint16_t *class_);

/* Read the RDATA of a record of `type`, exactly `rdlen` bytes at the reader, and
 * write it to `w` with names decompressed (pointers only where the type allows them,
 * RFC 3597 4). False when malformed; `r` is then at no particular place. */
bool rr_read_rdata(struct reader *r, uint16_t type, uint16_t rdlen, struct writer *w);

/* Whether `rdata` is well-formed uncompressed RDATA of `type`. */
bool rr_rdata_is_whole(uint16_t type, const uint8_t *rdata, size_t len) PURE;

/* Lower-case, in place, the names that canonical form lower-cases. */
void rr_canonical_rdata(uint16_t type, uint8_t *rdata, size_t len);

/* The first name in the RDATA (NS, CNAME, DNAME, PTR: the target; MX, SRV: the host;
 * RRSIG: the signer), borrowed; NULL if the type has none. */
const uint8_t *rr_rdata_name(uint16_t type, const uint8_t *rdata, size_t len) PURE;

/* The tag of a DNSKEY's RDATA: RFC 4034 appendix B, with the exception for algorithm 1. */
uint16_t rr_key_tag(struct slice rdata) PURE;

#endif
