/* DNS over HTTPS (RFC 8484): the query in a request, and how long a response is fresh.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/doh.h"

#include <string.h>
#include <strings.h>

#include "util/base/base64url.h"
#include "util/dns/msg.h"
#include "util/dns/msgname.h"
#include "util/dns/rr.h"
#include "util/net/http2_server.h"

/* ---- requests ---- */

/* The value of the parameter `dns` in a URL's query string; NULL if there is none. */
static uint8_t *find_dns(uint8_t *query, size_t len, size_t *value_len)
{
	uint8_t *at = query, *end = query + len;

	while (at < end) {
		uint8_t *next = memchr(at, '&', (size_t)(end - at)), *behind = next ? next : end;

		if (behind - at >= 4 && memcmp(at, "dns=", 4) == 0) {
			*value_len = (size_t)(behind - at - 4);
			return at + 4;
		}
		at = next ? next + 1 : end;
	}
	return NULL;
}

static unsigned from_query(uint8_t *query, size_t len, struct slice *question)
{
	size_t text_len, wire_len;
	uint8_t *text = find_dns(query, len, &text_len);

	if (!text)
		return DOH_BAD;
	wire_len = base64url_read(text, text, text_len);
	if (wire_len == BASE64URL_BAD)
		return DOH_BAD;
	*question = (struct slice){ text, wire_len };
	return wire_len > MSG_MAX ? (unsigned)DOH_TOO_LARGE : (unsigned)DOH_GOOD;
}

/* Parameters may follow (RFC 9110 8.3.1); they are ignored. */
static bool is_dns_type(const struct slice *type)
{
	size_t len = sizeof DOH_TYPE - 1;

	return type->len >= len && strncasecmp((const char *)type->at, DOH_TYPE, len) == 0 &&
	       (type->len == len || type->at[len] == ';' || type->at[len] == ' ');
}

static unsigned from_body(const struct http2_request *r, struct slice *question)
{
	if (!is_dns_type(&r->type))
		return DOH_OTHER_TYPE;
	*question = r->body;
	return r->body.len > MSG_MAX ? (unsigned)DOH_TOO_LARGE : (unsigned)DOH_GOOD;
}

unsigned doh_question(struct http2_request *r, const char *endpoint, size_t endpoint_len,
		      struct slice *question)
{
	uint8_t *query = r->path_len ? memchr(r->path, '?', r->path_len) : NULL;
	size_t path_len = query ? (size_t)(query - r->path) : r->path_len;
	unsigned status = r->refused;

	if (status)
		return status;
	if (r->method == HTTP2_UNHEARD)
		return DOH_UNHEARD;
	if (path_len != endpoint_len || memcmp(r->path, endpoint, path_len) != 0)
		return DOH_NOT_HERE;
	if (r->method == HTTP2_GET)
		status = query ? from_query(query + 1, r->path_len - path_len - 1, question)
			       : (unsigned)DOH_BAD;
	else if (r->method == HTTP2_POST)
		status = from_body(r, question);
	else
		return DOH_NOT_SO;
	/* what is not a query gets no response: refuse it, so that the client does not wait */
	if (status == DOH_GOOD &&
	    (question->len < MSG_HEAD_LEN || msg_flags(question->at) & FLAG_QR))
		return DOH_BAD;
	return status;
}

/* ---- answers ---- */

/* The smallest TTL of the next `count` records, UINT32_MAX if none. With `only`, just records of
 * that type count, and for SOA also the MINIMUM field. */
static uint32_t least_ttl(struct reader *r, unsigned count, uint16_t only)
{
	uint32_t least = UINT32_MAX;

	while (count-- && !r->bad) {
		uint16_t type, len;
		uint32_t ttl;

		msg_skip_name(r);
		type = read_u16(r);
		read_bytes(r, 2);
		ttl = read_u32(r);
		len = read_u16(r);
		read_bytes(r, len);
		if (r->bad || (only && type != only))
			continue;
		least = MIN(least, ttl);
		if (only == TYPE_SOA && len >= 22)
			least = MIN(least, get_u32(r->at - 4));
	}
	return least;
}

uint32_t doh_fresh_s(const uint8_t *wire, size_t len)
{
	struct reader r = reader_over(wire, len);
	unsigned answers, authorities;
	uint32_t least;

	if (len < MSG_HEAD_LEN ||
	    (msg_rcode(wire) != RCODE_NOERROR && msg_rcode(wire) != RCODE_NXDOMAIN))
		return 0;
	answers = get_u16(wire + 6);
	authorities = get_u16(wire + 8);
	(void)msg_skip_to_records(&r);
	least = least_ttl(&r, answers, 0);
	/* a negative answer, possibly after aliases */
	if (answers == 0 || msg_rcode(wire) == RCODE_NXDOMAIN) {
		uint32_t denial = least_ttl(&r, authorities, TYPE_SOA);

		least = MIN(least, denial);
	}
	return r.bad || least == UINT32_MAX ? 0 : least;
}
