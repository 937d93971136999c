/* Checking values of options: which words they consist of, and what each must look like.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "util/dns/dname.h"
#include "util/net/addr.h"

/* ---- helpers ---- */

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (*word == **list && strcmp(word, *list) == 0)
			return true;
	return false;
}

/* The next word: its length, 0 at the end; moves *at to its beginning. */
static size_t next_run(const char **at)
{
	*at += strspn(*at, " \t");
	return strcspn(*at, " \t");
}

bool conf_read_digits(const char *text, size_t len, uint64_t *out)
{
	uint64_t n = 0;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*out = n;
	return true;
}

static bool is_number_to(const char *text, size_t len, uint64_t least, uint64_t most)
{
	uint64_t n;

	return conf_read_digits(text, len, &n) && n >= least && n <= most;
}

/* 4 or 6 for an address, possibly with a zone index; 0 for anything else. */
static int address_family(const char *text, size_t len)
{
	char buf[INET6_ADDRSTRLEN + 1];
	const char *zone = memchr(text, '%', len);
	uint8_t ip[16];

	if (zone) {
		if (zone + 1 == text + len)
			return 0;
		len = (size_t)(zone - text);
	}
	if (len >= sizeof(buf))
		return 0;
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (inet_pton(AF_INET6, buf, ip) == 1)
		return 6;
	return !zone && inet_pton(AF_INET, buf, ip) == 1 ? 4 : 0;
}

bool conf_is_address(const char *text, size_t len)
{
	return address_family(text, len) != 0;
}

static bool is_netblock(const char *text, int *family, unsigned *bits)
{
	const char *slash = strchr(text, '/');
	uint64_t n;

	*family = address_family(text, slash ? (size_t)(slash - text) : strlen(text));
	*bits = *family == 4 ? 32 : 128;
	if (*family == 0)
		return false;
	if (!slash)
		return true;
	if (!conf_read_digits(slash + 1, strlen(slash + 1), &n) || n > *bits)
		return false;
	*bits = (unsigned)n;
	return true;
}

/* A domain name as text, with \DDD and \X; the final dot is optional. */
static bool is_domain(const char *text, size_t len)
{
	size_t label = 0, whole = 1;

	if (len == 1 && text[0] == '.')
		return true;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.') {
			if (label == 0)
				return false;
			whole += label + 1;
			label = 0;
			continue;
		}
		if (text[i] == '\\') {
			if (i + 3 < len && isdigit((unsigned char)text[i + 1])) {
				if (!is_number_to(text + i + 1, 3, 0, 255))
					return false;
				i += 3;
			} else if (++i == len) {
				return false;
			}
		}
		if (++label > 63)
			return false;
	}
	if (label)
		whole += label + 1;
	return len > 0 && whole <= 255;
}

/* Only digits and dots, or colons and hex digits: it was meant as an address. */
static bool looks_like_address(const char *text, size_t len)
{
	bool colon = memchr(text, ':', len) != NULL, dot = memchr(text, '.', len) != NULL;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c != '.' && c != ':' && !(colon ? isxdigit(c) : isdigit(c)))
			return false;
	}
	return colon || dot;
}

/* Interface names are at most 15 bytes on every system we know. */
static bool is_interface_name(const char *text, size_t len)
{
	if (len == 0 || len > 15 || looks_like_address(text, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (strchr("/@#[]*", text[i]) || isspace((unsigned char)text[i]))
			return false;
	return true;
}

/* What stands behind '#'. An '@' in it is a port in the wrong place: "192.0.2.1#name@853". */
static bool is_server_name(const char *text)
{
	return text[strcspn(text, "@/")] != '@' && is_domain(text, strlen(text));
}

/* Strip "@port" and, where allowed, "#name" from the end; false when either is invalid. */
static bool split_server(const char *word, size_t *host_len, bool with_name)
{
	const char *name = with_name ? strchr(word, '#') : NULL;
	const char *end = name ? name : word + strlen(word);
	const char *port = memchr(word, '@', (size_t)(end - word));

	if (name && !is_server_name(name + 1))
		return false;
	if (port && !is_number_to(port + 1, (size_t)(end - port - 1), with_name, 65535))
		return false;
	*host_len = (size_t)((port ? port : end) - word);
	return true;
}

/* ---- words ---- */

static bool word_any(const char *w)
{
	(void)w;
	return true;
}

static bool word_none(const char *w)
{
	(void)w;
	return false;
}

static bool word_nonempty(const char *w)
{
	return *w != '\0';
}

static bool word_text255(const char *w)
{
	return strlen(w) <= 255;
}

static bool word_number(const char *w)
{
	return is_number_to(w, strlen(w), 0, UINT32_MAX);
}

static bool word_limit(const char *w)
{
	return strcmp(w, "-1") == 0 || is_number_to(w, strlen(w), 0, INT32_MAX);
}

static bool word_power_of_2(const char *w)
{
	uint64_t n;

	return conf_read_digits(w, strlen(w), &n) && n <= UINT32_MAX && (n & (n - 1)) == 0;
}

static bool word_port(const char *w)
{
	return is_number_to(w, strlen(w), 1, 65535);
}

static bool word_ports(const char *w)
{
	for (size_t len; (len = next_run(&w)) > 0; w += len)
		if (!is_number_to(w, len, 1, 65535))
			return false;
	return true;
}

static bool word_port_range(const char *w)
{
	const char *dash = strchr(w, '-');
	uint64_t low, high;

	if (!dash)
		return is_number_to(w, strlen(w), 0, 65535);
	return conf_read_digits(w, (size_t)(dash - w), &low) &&
	       conf_read_digits(dash + 1, strlen(dash + 1), &high) && low <= high && high <= 65535;
}

static bool word_netblock(const char *w)
{
	int family;
	unsigned bits;

	return is_netblock(w, &family, &bits);
}

static bool word_prefix64(const char *w)
{
	int family;
	unsigned bits;

	if (!is_netblock(w, &family, &bits) || family != 6)
		return false;
	return bits == 96 || (bits >= 32 && bits <= 64 && bits % 8 == 0);
}

static bool word_interface(const char *w)
{
	size_t len;

	return split_server(w, &len, false) && (conf_is_address(w, len) || is_interface_name(w, len));
}

static bool word_outgoing(const char *w)
{
	int family;
	unsigned bits;

	if (strchr(w, '/'))
		return is_netblock(w, &family, &bits) && family == 6;
	return conf_is_address(w, strlen(w)) || is_interface_name(w, strlen(w));
}

static bool word_control_interface(const char *w)
{
	return w[0] == '/' || word_interface(w);
}

static bool word_server_address(const char *w)
{
	size_t len;

	return split_server(w, &len, true) && conf_is_address(w, len);
}

static bool word_server_host(const char *w)
{
	size_t len;

	return split_server(w, &len, true) && !looks_like_address(w, len) && is_domain(w, len);
}

static bool word_server(const char *w)
{
	return word_server_address(w) || word_server_host(w);
}

static bool word_notifier(const char *w)
{
	return word_netblock(w) || word_server(w);
}

static bool word_domain(const char *w)
{
	return is_domain(w, strlen(w));
}

static bool word_action(const char *w)
{
	static const char *const list[] = { "deny",           "refuse",           "allow",
					    "allow_setrd",    "allow_snoop",      "allow_cookie",
					    "deny_non_local", "refuse_non_local", NULL };
	return is_one_of(w, list);
}

static bool word_zone_type(const char *w)
{
	static const char *const list[] = {
		"static", "deny", "refuse", "redirect", "transparent", "typetransparent",
		"nodefault", "inform", "inform_deny", "inform_redirect", "always_transparent",
		"always_refuse", "always_nxdomain", "always_nodata", "always_deny", "always_null",
		"block_a", "block_aaaa", "block_a_wdata", "block_aaaa_wdata", "noview", "truncate",
		"ipset", NULL
	};
	return is_one_of(w, list);
}

static bool word_ip_action(const char *w)
{
	static const char *const list[] = { "deny", "redirect", "inform", "inform_deny",
					    "always_transparent", "always_refuse",
					    "always_nxdomain", "always_nodata", NULL };
	return is_one_of(w, list);
}

/* One address, or one of each family. */
static bool is_address_pair(const char *w)
{
	unsigned count[2] = { 0, 0 };

	for (size_t len; (len = next_run(&w)) > 0; w += len) {
		int family = address_family(w, len);

		if (family == 0 || count[family == 6]++)
			return false;
	}
	return count[0] + count[1] > 0;
}

static bool word_list_action(const char *w)
{
	static const char *const list[] = { "nxdomain", "nodata", "null", "refuse", "drop", NULL };

	if (strncmp(w, "address", 7) == 0 && (w[7] == ' ' || w[7] == '\t'))
		return is_address_pair(w + 7);
	return is_one_of(w, list);
}

static bool word_list_ede(const char *w)
{
	static const char *const list[] = { "blocked", "censored", "filtered", "none", NULL };

	return is_one_of(w, list);
}

static bool word_client_privacy(const char *w)
{
	static const char *const list[] = { "full", "network", "hide", NULL };

	return is_one_of(w, list);
}

static bool word_rpz_action(const char *w)
{
	static const char *const list[] = { "nxdomain", "nodata", "passthru", "drop",
					    "cname",    "disabled", NULL };
	return is_one_of(w, list);
}

static bool word_sha1_trust(const char *w)
{
	static const char *const list[] = { "none", "digest", "all", NULL };

	return is_one_of(w, list);
}

static bool word_sandbox(const char *w)
{
	static const char *const list[] = { "yes", "no", "strict", NULL };

	return is_one_of(w, list);
}

static bool word_log_format(const char *w)
{
	static const char *const list[] = { "text", "json", NULL };

	return is_one_of(w, list);
}

static bool word_key_algorithm(const char *w)
{
	static const char *const list[] = { "hmac-sha256", "hmac-sha384", "hmac-sha512",
					    "hmac-sha224", "hmac-sha1",	  NULL };

	return is_one_of(w, list);
}

static bool word_base64(const char *w)
{
	size_t len = strlen(w), digits = strspn(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
						   "0123456789+/");

	return len && len % 4 == 0 && len - digits <= 2 && strspn(w + digits, "=") == len - digits;
}

static bool word_strategy(const char *w)
{
	static const char *const list[] = { "fastest", "ordered", "spread", NULL };

	return is_one_of(w, list) || (strncmp(w, "race ", 5) == 0 && w[5] >= '2' && w[5] <= '8' && !w[6]);
}

static bool word_view_dnssec(const char *w)
{
	static const char *const list[] = { "yes", "permissive", "no", NULL };

	return is_one_of(w, list);
}

static bool word_lease_format(const char *w)
{
	static const char *const list[] = { "auto", "hosts", "dnsmasq", "isc", "kea", "odhcpd", NULL };

	return is_one_of(w, list);
}

static bool word_backend(const char *w)
{
	static const char *const list[] = { "redis", "testframe", NULL };

	return is_one_of(w, list);
}

static bool word_tags(const char *w)
{
	return next_run(&w) > 0;
}

/* A TTL such as 3600 or 1h30m. */
static bool is_ttl(const char *text, size_t len)
{
	if (!isdigit((unsigned char)text[0]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isdigit((unsigned char)text[i]) && !strchr("sSmMhHdDwW", text[i]))
			return false;
	return true;
}

static bool is_class(const char *text, size_t len)
{
	static const char classes[][3] = { "in", "ch", "hs" };

	for (size_t i = 0; i < COUNT(classes); i++)
		if (len == 2 && tolower((unsigned char)text[0]) == classes[i][0] &&
		    tolower((unsigned char)text[1]) == classes[i][1])
			return true;
	return false;
}

static bool run_is(const char *text, size_t len, const char *upper)
{
	for (size_t i = 0; i < len; i++)
		if (toupper((unsigned char)text[i]) != upper[i])
			return false;
	return upper[len] == '\0';
}

/* The end of a record: nothing, or a comment as in zone files. */
static bool is_end(const char *w)
{
	w += strspn(w, " \t");
	return *w == '\0' || *w == ';';
}

/* "[TTL] [CLASS] TYPE data", the first two in either order; the data of addresses is checked. */
enum record_use { RECORD_LOCAL, RECORD_DATA, RECORD_ANCHOR };

/* What stands behind the address is left out of local data, with a warning, and so is a record without
 * data (util/dns/text.h). */
static bool is_record_rest(const char *w, enum record_use use)
{
	size_t len = next_run(&w), data;
	const char *type;

	for (unsigned i = 0; i < 2 && len && (is_ttl(w, len) || is_class(w, len)); i++) {
		w += len;
		len = next_run(&w);
	}
	if (len == 0 || !isalpha((unsigned char)w[0]))
		return false;
	type = w;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)w[i]) && w[i] != '-')
			return false;
	w += len;
	data = MIN(next_run(&w), strcspn(w, ";"));
	if (data == 0)
		return use == RECORD_LOCAL;
	if (use == RECORD_ANCHOR)
		return run_is(type, len, "DS") || run_is(type, len, "DNSKEY");
	if (run_is(type, len, "A") && w[0] != '\\')
		return address_family(w, data) == 4 && (use == RECORD_LOCAL || is_end(w + data));
	if (run_is(type, len, "AAAA") && w[0] != '\\')
		return address_family(w, data) == 6 && (use == RECORD_LOCAL || is_end(w + data));
	return true;
}

static bool is_record(const char *w, enum record_use use)
{
	size_t len = next_run(&w);

	return is_domain(w, len) && is_record_rest(w + len, use);
}

static bool word_record(const char *w)
{
	return is_record(w, RECORD_LOCAL);
}

static bool word_record_data(const char *w)
{
	return is_record_rest(w, RECORD_DATA);
}

static bool word_anchor(const char *w)
{
	return is_record(w, RECORD_ANCHOR);
}

static bool word_ptr_record(const char *w)
{
	size_t len = next_run(&w);

	if (!conf_is_address(w, len))
		return false;
	w += len;
	len = next_run(&w);
	if (len && is_ttl(w, len) && w[len] != '\0') {
		const char *name = w + len;

		if (next_run(&name) > 0) {
			w = name;
			len = next_run(&w);
		}
	}
	return is_domain(w, len);
}

static bool word_modules(const char *w)
{
	bool iterator_last = false;

	for (size_t len; (len = next_run(&w)) > 0; w += len) {
		bool known = false;

		for (size_t i = 0; i < conf_module_count && !known; i++)
			known = strlen(conf_modules[i].name) == len &&
				memcmp(conf_modules[i].name, w, len) == 0;
		if (!known)
			return false;
		iterator_last = len == 8 && memcmp(w, "iterator", 8) == 0;
	}
	return iterator_last;
}

static bool word_fetch_policy(const char *w)
{
	unsigned count = 0;

	for (size_t len; (len = next_run(&w)) > 0; w += len, count++)
		if (!(len == 2 && memcmp(w, "-1", 2) == 0) && !is_number_to(w, len, 0, INT32_MAX))
			return false;
	return count > 0;
}

static bool word_date(const char *w)
{
	size_t len = strlen(w);

	if (len == 0 || strcmp(w, "-1") == 0)
		return true;
	if (len == 14)
		return is_number_to(w, 14, 0, UINT64_MAX) && is_number_to(w + 4, 2, 1, 12) &&
		       is_number_to(w + 6, 2, 1, 31) && is_number_to(w + 8, 2, 0, 23) &&
		       is_number_to(w + 10, 2, 0, 59) && is_number_to(w + 12, 2, 0, 60);
	return is_number_to(w, len, 0, UINT32_MAX);
}

static bool word_nsec3_pairs(const char *w)
{
	uint64_t n, last = 0;
	unsigned count = 0;

	for (size_t len; (len = next_run(&w)) > 0; w += len, count++) {
		if (!conf_read_digits(w, len, &n) || n > UINT16_MAX)
			return false;
		if (count % 2 == 0) {
			if (count && n <= last)
				return false;
			last = n;
		}
	}
	return count > 0 && count % 2 == 0;
}

static bool is_hex(const char *w)
{
	for (; *w; w++)
		if (!isxdigit((unsigned char)*w))
			return false;
	return true;
}

static bool word_cookie_secret(const char *w)
{
	return strlen(w) == 32 && is_hex(w);
}

static bool word_nsid(const char *w)
{
	return strncmp(w, "ascii_", 6) == 0 || (strlen(w) % 2 == 0 && is_hex(w));
}

static bool word_url(const char *w)
{
	return (strncmp(w, "http://", 7) == 0 && w[7]) || (strncmp(w, "https://", 8) == 0 && w[8]);
}

/* As word_url, or without a scheme, as Unbound takes it: "host.example/zone". */
static bool word_zone_url(const char *w)
{
	return strstr(w, "://") ? word_url(w) : isalnum((unsigned char)*w) || *w == '[';
}

static bool word_endpoint(const char *w)
{
	return !strpbrk(w, " ?#");
}

static bool word_tls_protocols(const char *w)
{
	unsigned count = 0;

	for (size_t len; (len = next_run(&w)) > 0; w += len, count++)
		if (len != 7 || (memcmp(w, "TLSv1.2", 7) != 0 && memcmp(w, "TLSv1.3", 7) != 0))
			return false;
	return count > 0;
}

/* ---- the tables ---- */

enum word_kind {
#define X(kind, expected) WORD_##kind,
	CONF_WORDS(X)
#undef X
};

static const struct {
	bool (*fits)(const char *word);
	const char *kind, *expected;
} words[] = {
#define X(kind_, expected_) \
	[WORD_##kind_] = { .fits = word_##kind_, .kind = #kind_, .expected = expected_ },
	CONF_WORDS(X)
#undef X
};

static const uint8_t checks[][CONF_MOST_WORDS] = {
#define X(name, first, second, third) \
	[CHECK_##name] = { WORD_##first, WORD_##second, WORD_##third },
	CONF_CHECKS(X)
#undef X
};

unsigned conf_word_count(enum conf_check check)
{
	unsigned count = 0;

	while (count < CONF_MOST_WORDS && checks[check][count] != WORD_none)
		count++;
	return count;
}

const char *conf_word_expected(enum conf_check check, unsigned n, const char *word)
{
	uint8_t kind = checks[check][n];

	return words[kind].fits(word) ? NULL : words[kind].expected;
}

/* "192.0.2.1:53" and "[2001:db8::1]:53", as other programs have it: as it is written here. */
static bool has_foreign_port(const char *word, char *meant, size_t room)
{
	const char *colon = strrchr(word, ':'), *begin = word + (*word == '[');
	char address[ADDR_TEXT];
	struct addr a;
	size_t len;

	if (!colon || colon <= begin || !isdigit((unsigned char)colon[1]) || (*word == '[') != (colon[-1] == ']'))
		return false;
	len = (size_t)(colon - begin) - (*word == '[');
	if (len >= sizeof(address))
		return false;
	memcpy(address, begin, len);
	address[len] = '\0';
	if (!addr_parse(&a, address, 0, NULL) || (a.family == 6) != (*word == '['))
		return false;
	snprintf(meant, room, "; is %s@%.40s meant?", address, colon + 1);
	return true;
}

void conf_word_meant(enum conf_check check, unsigned n, const char *option, const char *word, char *meant, size_t room)
{
	uint8_t kind = checks[check][n];
	uint8_t name[DNAME_MAX];
	bool has_port = kind == WORD_server_address || kind == WORD_server || kind == WORD_interface;

	*meant = '\0';
	if ((has_port && has_foreign_port(word, meant, room)) || check != CHECK_SERVER_ADDRESS)
		return;
	if (strspn(word, "0123456789.,:;") < strlen(word) && !strpbrk(word, ":,;") && dname_parse(name, word, NULL))
		snprintf(meant, room, "; the name of a host belongs in %.*s-host:", (int)strcspn(option, "-"), option);
}

const char *conf_word_kind(enum conf_check check, unsigned n)
{
	return n < conf_word_count(check) ? words[checks[check][n]].kind : NULL;
}

const char *conf_word_meaning(enum conf_check check, unsigned n)
{
	return n < conf_word_count(check) ? words[checks[check][n]].expected : NULL;
}
