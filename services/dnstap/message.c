/* Encodes one message in dnstap's format.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dnstap/message.h"

#include "util/dns/dname.h"

#define NS_PER_S UINT64_C(1000000000)

/* Field numbers from dnstap.proto. */
enum { DNSTAP_IDENTITY = 1, DNSTAP_VERSION = 2, DNSTAP_MESSAGE = 14, DNSTAP_TYPE = 15 };
enum { DNSTAP_TYPE_MESSAGE = 1 };
enum {
	M_TYPE = 1,
	M_FAMILY,
	M_PROTOCOL,
	M_QUERY_ADDRESS,
	M_RESPONSE_ADDRESS,
	M_QUERY_PORT,
	M_RESPONSE_PORT,
	M_QUERY_S,
	M_QUERY_NS,
	M_QUERY,
	M_ZONE,
	M_RESPONSE_S,
	M_RESPONSE_NS,
	M_RESPONSE,
};
enum { FAMILY_INET = 1, FAMILY_INET6 = 2 };

/* ---- protobuf ---- */

enum shape { VARINT = 0, BYTES = 2, FIXED32 = 5 };

static void put_varint(struct writer *w, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		write_u8(w, (uint8_t)(v | 0x80));
	write_u8(w, (uint8_t)v);
}

static void put_tag(struct writer *w, unsigned field, enum shape shape)
{
	put_varint(w, field << 3 | shape);
}

static void put_number(struct writer *w, unsigned field, uint64_t v)
{
	put_tag(w, field, VARINT);
	put_varint(w, v);
}

static void put_fixed(struct writer *w, unsigned field, uint32_t v)
{
	put_tag(w, field, FIXED32);
	for (unsigned i = 0; i < 4; i++, v >>= 8)
		write_u8(w, (uint8_t)v);
}

/* The header of a field of `len` bytes. */
static void put_length(struct writer *w, unsigned field, size_t len)
{
	put_tag(w, field, BYTES);
	put_varint(w, len);
}

static void put_bytes(struct writer *w, unsigned field, const void *at, size_t len)
{
	put_length(w, field, len);
	write_bytes(w, at, len);
}

/* ---- our identity ---- */

static void put_name(struct writer *w, unsigned field, const char *name)
{
	size_t len = strlen(name);

	if (len)
		put_bytes(w, field, name, MIN(len, (size_t)TAP_NAME_MOST));
}

void tap_face_make(struct tap_face *face, const char *identity, const char *version)
{
	struct writer w = writer_over(face->bytes, sizeof face->bytes);

	put_name(&w, DNSTAP_IDENTITY, identity);
	put_name(&w, DNSTAP_VERSION, version);
	face->len = writer_len(&w);
}

/* ---- the message ---- */

static bool is_known(const struct addr *a)
{
	static const uint8_t any[sizeof a->ip];

	return a->family && memcmp(a->ip, any, sizeof any) != 0;
}

static void put_address(struct writer *w, unsigned field, const struct addr *a)
{
	if (is_known(a))
		put_bytes(w, field, a->ip, a->family == 6 ? 16 : 4);
}

static void put_port(struct writer *w, unsigned field, const struct addr *a)
{
	if (a->family && a->port)
		put_number(w, field, a->port);
}

static void put_time(struct writer *w, unsigned field_s, unsigned field_ns, uint64_t ns)
{
	if (!ns)
		return;
	put_number(w, field_s, ns / NS_PER_S);
	put_fixed(w, field_ns, (uint32_t)(ns % NS_PER_S));
}

static void put_family(struct writer *w, const struct tap_message *m)
{
	uint8_t family = m->asker->family ? m->asker->family : m->asked->family;

	if (family)
		put_number(w, M_FAMILY, family == 6 ? FAMILY_INET6 : FAMILY_INET);
}

/* Everything but the wire bytes, which come last. */
static void put_circumstances(struct writer *w, const struct tap_message *m)
{
	put_number(w, M_TYPE, m->kind);
	put_family(w, m);
	put_number(w, M_PROTOCOL, m->protocol);
	put_address(w, M_QUERY_ADDRESS, m->asker);
	put_address(w, M_RESPONSE_ADDRESS, m->asked);
	put_port(w, M_QUERY_PORT, m->asker);
	put_port(w, M_RESPONSE_PORT, m->asked);
	put_time(w, M_QUERY_S, M_QUERY_NS, m->query_ns);
	if (m->zone)
		put_bytes(w, M_ZONE, m->zone, dname_len(m->zone));
	if (tap_is_response(m->kind))
		put_time(w, M_RESPONSE_S, M_RESPONSE_NS, m->response_ns);
	put_length(w, tap_is_response(m->kind) ? M_RESPONSE : M_QUERY, m->wire.len);
}

void tap_message_write(struct writer *w, const struct tap_face *face, const struct tap_message *m)
{
	uint8_t room[TAP_MESSAGE_MOST];
	struct writer about = writer_over(room, sizeof room);

	put_circumstances(&about, m);
	write_bytes(w, face->bytes, face->len);
	put_number(w, DNSTAP_TYPE, DNSTAP_TYPE_MESSAGE);
	put_length(w, DNSTAP_MESSAGE, writer_len(&about) + m->wire.len);
	write_bytes(w, room, writer_len(&about));
	write_bytes(w, m->wire.at, m->wire.len);
	w->bad |= about.bad;
}
