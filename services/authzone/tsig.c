/* Authenticated messages: TSIG (RFC 8945). Calls OpenSSL, for HMAC and base64.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/tsig.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

#define FUDGE_S      300
#define CLASS_OF_ANY 255
#define SILENT_MOST  99 /* unsigned messages between two signed ones: RFC 8945 5.3.1 */

static const struct algorithm {
	const char *name;
	const uint8_t *wire;
	const char *digest;
} algorithms[] = {
	{ "hmac-sha256", (const uint8_t *)"\13hmac-sha256", "SHA256" },
	{ "hmac-sha384", (const uint8_t *)"\13hmac-sha384", "SHA384" },
	{ "hmac-sha512", (const uint8_t *)"\13hmac-sha512", "SHA512" },
	{ "hmac-sha224", (const uint8_t *)"\13hmac-sha224", "SHA224" },
	{ "hmac-sha1", (const uint8_t *)"\11hmac-sha1", "SHA1" },
};

struct tsig_key {
	uint8_t name[DNAME_MAX]; /* lower case */
	const struct algorithm *algorithm;
	uint8_t *secret;
	size_t secret_len;
};

struct tsig_keys {
	struct tsig_key *items;
	size_t count;
};

/* ---- keys ---- */

static const struct algorithm *find_algorithm(const char *name)
{
	for (size_t i = 0; i < COUNT(algorithms); i++)
		if (strcasecmp(algorithms[i].name, name) == 0)
			return &algorithms[i];
	return NULL;
}

/* OpenSSL takes "=" for a digit, and leaves out what it knows no digit in. */
static bool read_secret(struct tsig_key *k, const char *text, struct fault *f)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(text), padding = len - strspn(text, digits);
	int got = -1;

	k->secret = mem_zero(len + 4);
	if (padding <= 2 && strspn(text + len - padding, "=") == padding)
		got = EVP_DecodeBlock(k->secret, (const uint8_t *)text, (int)len);
	if (got <= (int)padding) {
		fault_set(f, "the secret is no base64");
		return false;
	}
	k->secret_len = (size_t)got - padding;
	return true;
}

/* NULL: OpenSSL does not compute it, as its configuration (FIPS) may have it. */
static EVP_MAC_CTX *mac_new(const struct tsig_key *k)
{
	EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
	OSSL_PARAM params[2];

	EVP_MAC_free(hmac);
	params[0] = OSSL_PARAM_construct_utf8_string(
		OSSL_MAC_PARAM_DIGEST, (char *)(uintptr_t)k->algorithm->digest, 0);
	params[1] = OSSL_PARAM_construct_end();
	if (mac && EVP_MAC_init(mac, k->secret, k->secret_len, params))
		return mac;
	EVP_MAC_CTX_free(mac);
	return NULL;
}

static bool is_computed(const struct tsig_key *k)
{
	EVP_MAC_CTX *mac = mac_new(k);

	EVP_MAC_CTX_free(mac);
	return mac != NULL;
}

static bool read_key(struct tsig_key *k, const struct conf_key *c, struct fault *f)
{
	struct fault why = { 0 };

	if (dname_parse(k->name, c->name, &why) == 0) {
		fault_set(f, "key: '%s': %s", c->name, why.text);
		return false;
	}
	dname_lower(k->name);
	k->algorithm = find_algorithm(c->algorithm);
	if (!k->algorithm)
		fault_set(&why, "there is no algorithm '%s'", c->algorithm);
	else if (read_secret(k, c->secret, &why) && is_computed(k))
		return true;
	else if (k->secret_len)
		fault_set(&why, "OpenSSL does not compute %s with this secret", c->algorithm);
	fault_set(f, "key: '%s': %s", c->name, why.text);
	return false;
}

struct tsig_keys *tsig_keys_new(const struct conf *conf, struct fault *f)
{
	struct tsig_keys *k = mem_zero(sizeof(*k));

	k->items = mem_zero((conf->key_count + 1) * sizeof(*k->items));
	for (size_t i = 0; i < conf->key_count; i++) {
		k->count++;
		if (!read_key(&k->items[i], &conf->keys[i], f)) {
			tsig_keys_free(k);
			return NULL;
		}
	}
	return k;
}

void tsig_keys_free(struct tsig_keys *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->count; i++) {
		if (k->items[i].secret)
			OPENSSL_cleanse(k->items[i].secret, k->items[i].secret_len);
		mem_free(k->items[i].secret);
	}
	mem_free(k->items);
	mem_free(k);
}

const struct tsig_key *tsig_keys_find(const struct tsig_keys *k, const char *name)
{
	uint8_t wire[DNAME_MAX];

	if (!*name || dname_parse(wire, name, NULL) == 0)
		return NULL;
	for (size_t i = 0; i < k->count; i++)
		if (dname_equals(k->items[i].name, wire))
			return &k->items[i];
	return NULL;
}

/* ---- the MAC ---- */

static void hash_begin(struct tsig_talk *t)
{
	EVP_MAC_CTX_free(t->running);
	t->running = mac_new(t->key);
	PROMISE(t->running);
}

static void hash(struct tsig_talk *t, const void *at, size_t len)
{
	PROMISE(EVP_MAC_update(t->running, at, len));
}

static void hash_u16(struct tsig_talk *t, uint16_t v)
{
	uint8_t bytes[2];

	put_u16(bytes, v);
	hash(t, bytes, 2);
}

/* Each MAC covers the previous one. */
static void hash_begin_behind(struct tsig_talk *t)
{
	hash_begin(t);
	if (t->mac_len == 0)
		return;
	hash_u16(t, (uint16_t)t->mac_len);
	hash(t, t->mac, t->mac_len);
}

static void hash_end(struct tsig_talk *t)
{
	PROMISE(EVP_MAC_final(t->running, t->mac, &t->mac_len, sizeof(t->mac)));
}

void tsig_talk_clear(struct tsig_talk *t)
{
	EVP_MAC_CTX_free(t->running);
	*t = (struct tsig_talk){ 0 };
}

/* ---- the record ---- */

struct tsig {
	size_t at; /* in the message */
	uint8_t name[DNAME_MAX], algorithm[DNAME_MAX];
	uint64_t time_s;
	uint16_t fudge_s, id, error;
	struct slice mac, other;
};

static void write_u48(struct writer *w, uint64_t v)
{
	write_u16(w, (uint16_t)(v >> 32));
	write_u32(w, (uint32_t)v);
}

static bool skip_record(struct reader *r, uint16_t *type)
{
	uint16_t len;

	msg_skip_name(r);
	*type = read_u16(r);
	read_bytes(r, 6);
	len = read_u16(r);
	read_bytes(r, len);
	return !r->bad;
}

static bool read_tsig(struct reader *r, size_t at, struct tsig *out)
{
	uint16_t class_, len, high;
	const uint8_t *end;
	uint32_t ttl;

	out->at = at;
	(void)msg_read_name(r, out->name);
	read_u16(r);
	class_ = read_u16(r);
	ttl = read_u32(r);
	len = read_u16(r);
	if (r->bad || len > reader_left(r) || class_ != CLASS_OF_ANY || ttl)
		return false;
	end = r->at + len;
	(void)msg_read_name(r, out->algorithm);
	high = read_u16(r);
	out->time_s = (uint64_t)high << 32 | read_u32(r);
	out->fudge_s = read_u16(r);
	out->mac.len = read_u16(r);
	out->mac.at = read_bytes(r, out->mac.len);
	out->id = read_u16(r);
	out->error = read_u16(r);
	out->other.len = read_u16(r);
	out->other.at = read_bytes(r, out->other.len);
	return !r->bad && r->at == end && r->at == r->end;
}

/* TSIG_OPEN: the message has none. */
static enum tsig_end find_tsig(const uint8_t *wire, size_t len, struct tsig *out)
{
	struct reader r = reader_over(wire, len);
	unsigned records;
	uint16_t type = 0;
	size_t at = 0;

	if (len < MSG_HEAD_LEN)
		return TSIG_BAD;
	if (get_u16(wire + 10) == 0)
		return TSIG_OPEN;
	for (records = msg_skip_to_records(&r); records; records--) {
		at = (size_t)(r.at - wire);
		if (!skip_record(&r, &type) || (type == TYPE_TSIG && records > 1))
			return TSIG_BAD;
	}
	if (type != TYPE_TSIG)
		return TSIG_OPEN;
	r = reader_over(wire, len);
	read_bytes(&r, at);
	return read_tsig(&r, at, out) ? TSIG_GOOD : TSIG_BAD;
}

/* ---- signing ---- */

static void hash_times(struct tsig_talk *t, uint64_t time_s, uint16_t fudge_s)
{
	uint8_t bytes[8];
	struct writer w = writer_over(bytes, sizeof(bytes));

	write_u48(&w, time_s);
	write_u16(&w, fudge_s);
	hash(t, bytes, sizeof(bytes));
}

/* RFC 8945 4.3.3 */
static void hash_variables(struct tsig_talk *t, uint64_t time_s, uint16_t fudge_s, uint16_t error,
			   struct slice other)
{
	const uint8_t *algorithm = t->key->algorithm->wire;

	hash(t, t->key->name, dname_len(t->key->name));
	hash_u16(t, CLASS_OF_ANY);
	hash_u16(t, 0);
	hash_u16(t, 0);
	hash(t, algorithm, dname_len(algorithm));
	hash_times(t, time_s, fudge_s);
	hash_u16(t, error);
	hash_u16(t, (uint16_t)other.len);
	hash(t, other.at, other.len);
}

static void sign(struct tsig_talk *t, uint8_t *head, struct writer *w, int64_t wall_s)
{
	const uint8_t *algorithm = t->key->algorithm->wire;
	uint64_t time_s = (uint64_t)wall_s;
	uint8_t *len_at, *from;

	hash_begin_behind(t);
	hash(t, head, (size_t)(w->at - head));
	hash_variables(t, time_s, FUDGE_S, 0, (struct slice){ 0 });
	hash_end(t);
	write_bytes(w, t->key->name, dname_len(t->key->name));
	write_u16(w, TYPE_TSIG);
	write_u16(w, CLASS_OF_ANY);
	write_u32(w, 0);
	len_at = w->at;
	write_u16(w, 0);
	from = w->at;
	write_bytes(w, algorithm, dname_len(algorithm));
	write_u48(w, time_s);
	write_u16(w, FUDGE_S);
	write_u16(w, (uint16_t)t->mac_len);
	write_bytes(w, t->mac, t->mac_len);
	write_u16(w, get_u16(head));
	write_u16(w, 0);
	write_u16(w, 0);
	if (w->bad)
		return;
	put_u16(len_at, (uint16_t)(w->at - from));
	put_u16(head + 10, (uint16_t)(get_u16(head + 10) + 1));
}

void tsig_sign_question(struct tsig_talk *t, const struct tsig_key *key, uint8_t *head,
			struct writer *w, int64_t wall_s)
{
	tsig_talk_clear(t);
	t->key = key;
	sign(t, head, w, wall_s);
	hash_begin_behind(t);
}

void tsig_sign_answer(struct tsig_talk *t, uint8_t *head, struct writer *w, int64_t wall_s)
{
	sign(t, head, w, wall_s);
}

/* ---- checking ---- */

static bool is_in_time(const struct tsig *s, int64_t wall_s)
{
	uint64_t now_s = (uint64_t)wall_s;
	uint64_t apart = s->time_s > now_s ? s->time_s - now_s : now_s - s->time_s;

	return apart <= s->fudge_s;
}

/* Hashes the message as it was when signed. */
static void hash_message(struct tsig_talk *t, const uint8_t *wire, const struct tsig *s)
{
	uint8_t head[MSG_HEAD_LEN];

	memcpy(head, wire, sizeof(head));
	put_u16(head, s->id);
	put_u16(head + 10, (uint16_t)(get_u16(head + 10) - 1));
	hash(t, head, sizeof(head));
	hash(t, wire + MSG_HEAD_LEN, s->at - MSG_HEAD_LEN);
}

static bool is_right(struct tsig_talk *t, const uint8_t *wire, const struct tsig *s, bool whole,
		     int64_t wall_s)
{
	if (!dname_equals(s->name, t->key->name) ||
	    !dname_equals(s->algorithm, t->key->algorithm->wire))
		return false;
	hash_message(t, wire, s);
	if (whole)
		hash_variables(t, s->time_s, s->fudge_s, s->error, s->other);
	else
		hash_times(t, s->time_s, s->fudge_s);
	hash_end(t);
	return s->mac.len == t->mac_len && CRYPTO_memcmp(s->mac.at, t->mac, t->mac_len) == 0 &&
	       s->error == 0 && is_in_time(s, wall_s);
}

enum tsig_end tsig_check_answer(struct tsig_talk *t, const uint8_t *wire, size_t len,
				int64_t wall_s)
{
	struct tsig s;
	enum tsig_end end = find_tsig(wire, len, &s);

	if (end == TSIG_BAD)
		return end;
	if (end == TSIG_OPEN) {
		hash(t, wire, len);
		return t->answered && ++t->unsigned_count <= SILENT_MOST ? TSIG_OPEN : TSIG_BAD;
	}
	if (!is_right(t, wire, &s, !t->answered, wall_s))
		return TSIG_BAD;
	t->answered = true;
	t->unsigned_count = 0;
	hash_begin_behind(t);
	return TSIG_GOOD;
}

enum tsig_end tsig_check_question(struct tsig_talk *t, const struct tsig_key *key,
				  const uint8_t *wire, size_t len, int64_t wall_s)
{
	struct tsig s;
	enum tsig_end end = find_tsig(wire, len, &s);

	t->key = key;
	if (end != TSIG_GOOD)
		return end;
	hash_begin(t);
	return is_right(t, wire, &s, true, wall_s) ? TSIG_GOOD : TSIG_BAD;
}
