/* DNS cookies for clients (RFCs 7873, 9018): which clients have proven their source address.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/cookies.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"
#include "util/net/addr.h"

enum {
	COOKIE_VERSION = 1,
	HEAD_LEN = 16,      /* client cookie, version, reserved bytes, timestamp */
	GIVEN_LEAST = 16,   /* RFC 7873 4: a server cookie has 8 to 32 bytes */
	GIVEN_MOST = 40,
	AGE_MOST_S = 3600,  /* RFC 9018 4.3 */
	AGE_FRESH_S = 1800, /* older ones are replaced */
	AHEAD_MOST_S = 300, /* clocks of other servers differ */
};

/* ---- making and checking ---- */

/* An IPv4-mapped IPv6 address counts as IPv4. */
static size_t put_address(uint8_t *to, const struct addr *client)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool as4 = client->family == 6 && memcmp(client->ip, mapped, sizeof(mapped)) == 0;
	size_t len = client->family == 6 && !as4 ? 16 : 4;

	memcpy(to, client->ip + (as4 ? 12 : 0), len);
	return len;
}

/* `head` is everything before the hash. */
static void hash_into(uint8_t hash[8], const uint8_t *secret, const uint8_t head[HEAD_LEN],
		      const struct addr *client)
{
	uint8_t in[HEAD_LEN + 16];
	size_t len = HEAD_LEN;

	memcpy(in, head, HEAD_LEN);
	len += put_address(in + HEAD_LEN, client);
	hash_shared(hash, in, len, secret);
}

static bool is_ours(const uint8_t *secret, const struct addr *client, const uint8_t given[COOKIE_LEN])
{
	uint8_t want[8];

	hash_into(want, secret, given, client);
	return hash_same(want, given + HEAD_LEN, sizeof(want));
}

static void make(const struct cookies *c, const struct addr *client, uint32_t now_s,
		 const uint8_t *client_part, uint8_t answer[COOKIE_LEN])
{
	memcpy(answer, client_part, COOKIE_CLIENT_LEN);
	put_u32(answer + 8, (uint32_t)COOKIE_VERSION << 24);
	put_u32(answer + 12, now_s);
	hash_into(answer + HEAD_LEN, c->secret[0], answer, client);
}

enum cookie_state cookies_verify(const struct cookies *c, const struct addr *client, int64_t wall_s,
				const struct slice *given, uint8_t answer[COOKIE_LEN])
{
	uint32_t now_s = (uint32_t)wall_s;
	int32_t age_s;
	unsigned i = 0;

	if (!given || !c->count)
		return COOKIE_ABSENT;
	if (given->len != COOKIE_CLIENT_LEN && (given->len < GIVEN_LEAST || given->len > GIVEN_MOST))
		return COOKIE_MALFORMED;
	make(c, client, now_s, given->at, answer);
	if (given->len == COOKIE_CLIENT_LEN)
		return COOKIE_NEW;
	if (given->len != COOKIE_LEN || given->at[8] != COOKIE_VERSION)
		return COOKIE_INVALID;
	age_s = (int32_t)(now_s - get_u32(given->at + 12)); /* RFC 1982 */
	if (age_s > AGE_MOST_S || age_s < -AHEAD_MOST_S)
		return COOKIE_INVALID;
	while (i < c->count && !is_ours(c->secret[i], client, given->at))
		i++;
	if (i == c->count)
		return COOKIE_INVALID;
	if (i == 0 && age_s <= AGE_FRESH_S)
		memcpy(answer, given->at, COOKIE_LEN);
	return COOKIE_VALID;
}

/* ---- secrets ---- */

/* Negative: it is no digit. */
static int hex_value(char ch)
{
	if (ch <= '9')
		return ch - '0';
	ch = (char)(ch | 32);
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

bool cookie_secret_parse(uint8_t to[COOKIE_SECRET_LEN], const char *text)
{
	if (strlen(text) != 2 * COOKIE_SECRET_LEN)
		return false;
	for (unsigned i = 0; i < COOKIE_SECRET_LEN; i++) {
		int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

char *cookie_secret_print(const uint8_t secret[COOKIE_SECRET_LEN], char to[2 * COOKIE_SECRET_LEN + 1])
{
	for (unsigned i = 0; i < COOKIE_SECRET_LEN; i++)
		snprintf(to + 2 * i, 3, "%02x", secret[i]);
	return to;
}

static bool take_line(struct cookies *c, char *line)
{
	char *at = line + strspn(line, " \t"), *end = at + strcspn(at, " \t\r\n");

	if (at == end || *at == '#')
		return true;
	if (end[strspn(end, " \t\r\n")])
		return false;
	*end = '\0';
	return c->count < COOKIE_SECRETS_MAX && cookie_secret_parse(c->secret[c->count++], at);
}

bool cookies_load(struct cookies *c, const char *path, struct fault *f)
{
	FILE *file = fopen(path, "re");
	char line[256];
	unsigned number = 0;
	bool good = true;

	*c = (struct cookies){ 0 };
	if (!file) {
		fault_set(f, "cannot read '%s': %s", path, strerror(errno));
		return false;
	}
	(void)setvbuf(file, NULL, _IONBF, 0); /* stdio must not keep a copy that is never wiped */
	while (good && fgets(line, sizeof(line), file)) {
		number++;
		good = take_line(c, line);
		if (!good)
			fault_set(f, "%s:%u: expected at most %d lines of 32 hex digits", path,
				  number, COOKIE_SECRETS_MAX);
	}
	if (ferror(file)) {
		good = false;
		fault_set(f, "cannot read '%s': %s", path, strerror(errno));
	}
	fclose(file);
	mem_wipe(line, sizeof(line));
	return good;
}

static bool write_secrets(int fd, const struct cookies *c)
{
	bool good = true;

	for (unsigned i = 0; good && i < c->count; i++) {
		char line[2 * COOKIE_SECRET_LEN + 1];

		cookie_secret_print(c->secret[i], line);
		line[2 * COOKIE_SECRET_LEN] = '\n';
		good = file_write(fd, line, sizeof(line));
		mem_wipe(line, sizeof(line));
	}
	return good;
}

/* The file may be writable where its folder is not. */
static bool write_in_place(const char *path, const struct cookies *c)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool good = fd >= 0 && write_secrets(fd, c) && fsync(fd) == 0;

	if (fd >= 0)
		good = close(fd) == 0 && good;
	return good;
}

bool cookies_save(const struct cookies *c, const char *path, struct fault *f)
{
	struct file_new n;
	bool begun = file_new_begin(&n, path, ".new", S_IRUSR | S_IWUSR);
	bool good = file_new_end(&n, begun && write_secrets(n.fd, c));

	if (!begun)
		good = write_in_place(path, c);
	if (!good)
		fault_set(f, "cannot write '%s': %s", path, strerror(errno));
	return good;
}

static uint8_t own_secret[COOKIE_SECRET_LEN];

static void draw_secret(void)
{
	struct random random;

	random_init(&random);
	random_bytes(&random, own_secret, sizeof(own_secret));
}

/* Inside a chroot the same file has a different path. */
static bool load_configured(struct cookies *c, const struct conf *conf, struct fault *f)
{
	struct fault outside = { 0 }, inside = { 0 };
	char *path = conf_path(conf, conf->server.cookie_secret_file);
	bool good = cookies_load(c, path, &outside);

	mem_free(path);
	if (!good) {
		path = conf_path_inside(conf, conf->server.cookie_secret_file);
		good = cookies_load(c, path, &inside);
		mem_free(path);
	}
	if (!good)
		fault_set(f, "cookie-secret-file: %s", outside.text);
	return good;
}

bool cookies_read(struct cookies *c, const struct conf *conf, struct fault *f)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	*c = (struct cookies){ 0 };
	if (!conf->server.answer_cookie)
		return true;
	if (*conf->server.cookie_secret_file)
		return load_configured(c, conf, f);
	c->count = 1;
	if (*conf->server.cookie_secret)
		return cookie_secret_parse(c->secret[0], conf->server.cookie_secret);
	pthread_once(&once, draw_secret);
	memcpy(c->secret[0], own_secret, sizeof(own_secret));
	return true;
}
