/* What the options*.c files share: the option table, clauses, and checks of values.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CONF_OPTIONS_PRIVATE_H
#define UTIL_CONF_OPTIONS_PRIVATE_H

#include <string.h>

#include "util/base/fault.h"
#include "util/conf/options.h"

/* ---- words: what a single word of a value must be (options_check.c) ---- */

/* X(kind, what is reported as expected when a word does not match) */
#define CONF_WORDS(X) \
	X(any, "anything") \
	X(none, "nothing") \
	X(nonempty, "a text that is not empty") \
	X(text255, "a text of at most 255 letters") \
	X(number, "a number") \
	X(limit, "a number, or -1 for no limit") \
	X(power_of_2, "a power of two such as 4, or 0 to choose by the number of threads") \
	X(port, "a port from 1 to 65535") \
	X(ports, "ports from 1 to 65535 with blanks between them") \
	X(port_range, "a port, or two with a dash between them such as 1024-2047") \
	X(netblock, "an address, or a netblock such as 10.0.0.0/8 or 2001:db8::/32") \
	X(prefix64, "an IPv6 netblock of length 32, 40, 48, 56, 64 or 96") \
	X(interface, "an address or the name of an interface, with @port if wanted") \
	X(outgoing, "an address, an IPv6 netblock or the name of an interface") \
	X(control_interface, "an address, the name of an interface, or an absolute path") \
	X(server_address, "an address, with @port and #name if wanted") \
	X(server_host, "the name of a host, with @port and #name if wanted") \
	X(server, "an address or the name of a host, with @port and #name if wanted") \
	X(notifier, "an address, a netblock or the name of a host") \
	X(domain, "a domain name: labels of at most 63 bytes, 255 in all") \
	X(action, "deny, refuse, allow, allow_setrd, allow_snoop, allow_cookie, deny_non_local " \
		  "or refuse_non_local") \
	X(zone_type, "static, deny, refuse, redirect, transparent, typetransparent, nodefault, " \
		     "inform, inform_deny, inform_redirect, always_transparent, always_refuse, " \
		     "always_nxdomain, always_nodata, always_deny, always_null, block_a, " \
		     "block_aaaa, block_a_wdata, block_aaaa_wdata, noview, truncate or ipset") \
	X(ip_action, "deny, redirect, inform, inform_deny, always_transparent, always_refuse, " \
		     "always_nxdomain or always_nodata") \
	X(rpz_action, "nxdomain, nodata, passthru, drop, cname or disabled") \
	X(strategy, "fastest, ordered, spread, or race and a number from 2 to 8") \
	X(list_action, "nxdomain, nodata, null, refuse, drop, or address and one or two addresses") \
	X(list_ede, "blocked, censored, filtered or none") \
	X(client_privacy, "full, network or hide") \
	X(sha1_trust, "none, digest or all") \
	X(sandbox, "yes, no or strict") \
	X(log_format, "text or json") \
	X(key_algorithm, "hmac-sha256, hmac-sha384, hmac-sha512, hmac-sha224 or hmac-sha1") \
	X(base64, "base64") \
	X(backend, "redis or testframe") \
	X(view_dnssec, "yes, permissive or no") \
	X(lease_format, "auto, hosts, dnsmasq, isc, kea or odhcpd") \
	X(tags, "names of tags with blanks between them") \
	X(record, "a record such as \"host.example. 3600 IN A 192.0.2.1\"") \
	X(record_data, "the type and data of a record such as \"A 192.0.2.1\"") \
	X(ptr_record, "an address and a name such as \"192.0.2.1 host.example.\", a TTL between " \
		      "them if wanted") \
	X(anchor, "a DS or DNSKEY record such as \". IN DS 20326 8 2 E06D44B8...\"") \
	X(modules, "names of modules, of which the last is iterator: validator, iterator, respip, " \
		   "dns64, subnetcache, cachedb, python, dynlib, ipsecmod, ipset") \
	X(fetch_policy, "numbers from -1 up with blanks between them, at least one") \
	X(date, "14 digits YYYYMMDDhhmmss, a number of seconds, 0 or -1") \
	X(nsec3_pairs, "pairs of numbers with blanks between them, the first of each pair rising") \
	X(cookie_secret, "32 hex digits") \
	X(nsid, "an even number of hex digits, or ascii_ and a text") \
	X(url, "a URL that begins with http:// or https://") \
	X(zone_url, "a URL that begins with https:// (which may be left out) or http://") \
	X(endpoint, "the path of a URL") \
	X(tls_protocols, "TLSv1.2, TLSv1.3 or both with a blank between them")

/* ---- checks: the words a value consists of ---- */

/* X(check, first word, second, third) */
#define CONF_CHECKS(X) \
	X(ANY, any, none, none) \
	X(NONEMPTY, nonempty, none, none) \
	X(TEXT255, text255, none, none) \
	X(CLAMP, any, none, none)               /* beyond a limit: the limit, with a warning */ \
	X(EMPTY_IS_0, any, none, none) \
	X(ELSE_NO, any, none, none)             /* anything but yes is no, with a warning */ \
	X(POWER_OF_2, power_of_2, none, none) \
	X(PORT, port, none, none) \
	X(PORTS, ports, none, none) \
	X(PORT_RANGE, port_range, none, none) \
	X(NETBLOCK, netblock, none, none) \
	X(NETBLOCK_NUMBER, netblock, number, none) \
	X(NETBLOCK_LIMIT, netblock, limit, none) \
	X(NETBLOCK_ACTION, netblock, action, none) \
	X(NETBLOCK_TAGS, netblock, tags, none) \
	X(NETBLOCK_TAG_TYPE, netblock, nonempty, zone_type) \
	X(NETBLOCK_TAG_DATA, netblock, nonempty, record_data) \
	X(NETBLOCK_VIEW, netblock, nonempty, none) \
	X(NETBLOCK_TEXT, netblock, nonempty, none) \
	X(NETBLOCK_IP_ACTION, netblock, ip_action, none) \
	X(NETBLOCK_DATA, netblock, record_data, none) \
	X(PREFIX64, prefix64, none, none) \
	X(INTERFACE, interface, none, none) \
	X(INTERFACE_ACTION, interface, action, none) \
	X(INTERFACE_TAGS, interface, tags, none) \
	X(INTERFACE_TAG_TYPE, interface, nonempty, zone_type) \
	X(INTERFACE_TAG_DATA, interface, nonempty, record_data) \
	X(INTERFACE_VIEW, interface, nonempty, none) \
	X(OUTGOING, outgoing, none, none) \
	X(CONTROL_INTERFACE, control_interface, none, none) \
	X(SERVER_ADDRESS, server_address, none, none) \
	X(SERVER_ADDRESS_OR_EMPTY, server_address, none, none) \
	X(SERVER_HOST, server_host, none, none) \
	X(SERVER, server, none, none) \
	X(NOTIFIER, notifier, none, none) \
	X(DOMAIN, domain, none, none) \
	X(DOMAIN_NUMBER, domain, number, none) \
	X(DOMAIN_TAGS, domain, tags, none) \
	X(ZONE_TYPE, domain, zone_type, none) \
	X(ZONE_NETBLOCK_TYPE, domain, netblock, zone_type) \
	X(RECORD, record, none, none) \
	X(PTR_RECORD, ptr_record, none, none) \
	X(ANCHOR, anchor, none, none) \
	X(TAGS, tags, none, none) \
	X(MODULES, modules, none, none) \
	X(FETCH_POLICY, fetch_policy, none, none) \
	X(DATE, date, none, none) \
	X(NSEC3_PAIRS, nsec3_pairs, none, none) \
	X(COOKIE_SECRET, cookie_secret, none, none) \
	X(NSID, nsid, none, none) \
	X(URL, url, none, none) \
	X(ZONE_URL, zone_url, none, none)       /* a missing https:// is added */ \
	X(ENDPOINT, endpoint, none, none)       /* a missing leading slash is added */ \
	X(TLS_PROTOCOLS, tls_protocols, none, none) \
	X(RPZ_ACTION, rpz_action, none, none) \
	X(LIST_FILES, nonempty, none, none) \
	X(LIST_ACTION, list_action, none, none) /* may be several words on the line */ \
	X(LIST_EDE, list_ede, none, none) \
	X(CLIENT_PRIVACY, client_privacy, none, none) \
	X(STRATEGY, strategy, none, none)       /* to the end of the line */ \
	X(SHA1_TRUST, sha1_trust, none, none) \
	X(SANDBOX, sandbox, none, none) \
	X(LOG_FORMAT, log_format, none, none) \
	X(KEY_ALGORITHM, key_algorithm, none, none) \
	X(BASE64, base64, none, none) \
	X(BACKEND, backend, none, none) \
	X(VIEW_DNSSEC, view_dnssec, none, none) \
	X(LEASE_FORMAT, lease_format, none, none) \
	/* What these name is checked by conf_check. */ \
	X(USER, any, none, none) \
	X(FOLDER, any, none, none)              /* must exist */ \
	X(READABLE, any, none, none)            /* a file that must exist */ \
	X(READABLE_GLOB, any, none, none) \
	X(FOLLOWED, nonempty, none, none)       /* a file that may come later; folder must exist */ \
	X(ANCHOR_FILE, any, none, none) \
	X(WRITABLE, any, none, none)            /* the file's folder must exist */ \
	X(PIPE, any, none, none)                /* a named pipe, or nothing yet in a folder */ \
	X(CONTROL_FILE, any, none, none)        /* as READABLE, if the control channel uses TLS */

enum conf_check {
#define X(name, first, second, third) CHECK_##name,
	CONF_CHECKS(X)
#undef X
	CHECK_COUNT,
};

#define CONF_MOST_WORDS 3

/* Hash of all its values in order, those dropped by conf_list_clear included; 0: none. */
uint64_t conf_list_hash(const struct conf_list *list);
/* How many words a value has. */
unsigned conf_word_count(enum conf_check check) PURE;
/* NULL when word `n` (from 0) of a value is good; otherwise what was expected. */
const char *conf_word_expected(enum conf_check check, unsigned n, const char *word);
/* For such a word: "; is ... meant?" and the like, or "". */
void conf_word_meant(enum conf_check check, unsigned n, const char *option, const char *word, char *meant, size_t room);
/* What word `n` (from 0) of a value is called in descriptions ("netblock"), and what it must be;
 * NULL: there is no such word. */
const char *conf_word_kind(enum conf_check check, unsigned n);
const char *conf_word_meaning(enum conf_check check, unsigned n);
/* An unsigned decimal number; false beyond 64 bits. */
bool conf_read_digits(const char *text, size_t len, uint64_t *out);
/* Is the host part of "address@port#name" an address? */
bool conf_is_address(const char *text, size_t len);

/* ---- clauses ---- */

enum conf_clause {
#define X(clause, ...) CLAUSE_##clause,
	CONF_CLAUSES(X, X)
#undef X
	CLAUSE_COUNT,
	CLAUSE_none = CLAUSE_COUNT,
};

struct conf_clause_info {
	const char *name;       /* with '_' for '-' */
	bool many;
	size_t at;              /* offset in struct conf: of the struct, or of the array pointer */
	size_t count_at;        /* offset of the array's count */
	size_t size;            /* of the struct */
	size_t file_at, line_at;        /* in a MANY clause's struct: where it began */
};

extern const struct conf_clause_info conf_clauses[CLAUSE_COUNT];

/* ---- rows ---- */

enum conf_type {
	CONF_FLAG_T, CONF_NUMBER_T, CONF_SECONDS_T, CONF_MS_T, CONF_SIZE_T,
	CONF_STRING_T, CONF_FILE_T, CONF_DOMAIN_T, CONF_WORD_T, CONF_LIST_T,
};

enum conf_status { CONF_WORKS, CONF_PLANNED, CONF_NONE, CONF_TEST_ONLY };

/* An alias has only a name and a text; a heading, which begins a chapter, only the text. */
enum conf_row { ROW_OPTION, ROW_ALIAS, ROW_HEADING };

struct option {
	enum conf_row row : 2;
	enum conf_clause clause : 6;
	enum conf_type type : 6;
	enum conf_check check : 8;
	enum conf_status status : 4;
	enum conf_acts acts : 4; /* of a change */
	unsigned at;            /* offset of the field in the clause's struct */
	const char *name;       /* with '_' for '-', like all names here */
	const char *text;       /* the heading; the option an alias stands for; why one is CONF_NONE */
	const char *dflt;
	const char *limits;     /* two texts: the least and the most */
};

static inline const char *conf_option_least(const struct option *o)
{
	return o->limits;
}

static inline const char *conf_option_most(const struct option *o)
{
	return o->limits + strlen(o->limits) + 1;
}

extern const struct option conf_options[];
extern const size_t conf_option_count;

/* Does the name of a row read as `text`, with '-' for its '_'? */
bool conf_name_is(const char *name, const char *text, size_t len) PURE;
/* What it is for; "" for a heading or an alias. */
const char *conf_option_help(const struct option *o) PURE;
/* A row's name as users write it. Returns `buf`. */
#define CONF_NAME 64
const char *conf_name_print(const char *name, char buf[CONF_NAME]);
/* NULL when there is none. For an alias, the option it stands for. */
const struct option *conf_find_option(enum conf_clause clause, const char *text, size_t len);
/* The same in whichever of the clauses that appear once has it first. */
const struct option *conf_find_single(const char *text, size_t len);
enum conf_clause conf_find_clause(const char *text, size_t len);
const char *conf_status_name(enum conf_status status);

/* The default with $confdir, $rundir and $user replaced: for the example file by
 * what most systems have, otherwise by what this program was built with. The caller
 * owns it. */
char *conf_default(const struct option *o, bool for_example) MUST_USE;

/* Pass each value of an option in `base`, as text, to `write`. */
void conf_write_values(const struct option *o, const void *base,
		       void (*write)(void *arg, const char *text), void *arg);

/* The headings and options that the example and the manual show, in order. `first`: the heading
 * begins its clause. */
void conf_walk_shown(FILE *out, void (*heading)(FILE *out, const struct option *o, bool first),
		     void (*option)(FILE *out, const struct option *o));

/* How many structs a clause has, and number `i` of them (from 0). */
size_t conf_clause_size(const struct conf *conf, enum conf_clause clause);
void *conf_clause_get(const struct conf *conf, enum conf_clause clause, size_t i);

/* Where an option of a ONE clause was last set; `file` is NULL when it was not. */
struct conf_origin {
	const char *file;
	unsigned line;
};

struct conf_private {
	char **files;           /* names of all files; others point to them */
	size_t file_count;
	unsigned order;         /* of the next item */
	struct conf_origin *given;      /* indexed by row */
};

/* Where a value was written, and where to report about it. */
struct conf_place {
	const char *name;       /* of the option, as written */
	const char *file;
	unsigned line;
	struct conf_report *report;     /* NULL: nowhere */
	bool packs;             /* from conf_how */
};

/* Pack a local-zone: line, whose words have been checked. False, and it is not packed, when there
 * are not many of them yet or it is not of a kind that can be. */
bool conf_pack_zone(struct conf_list *list, const char *const *words);

/* Check the words of a value and put it into its field in `base`, the clause's
 * struct. False, with a remark, when they are invalid. */
bool conf_put_value(struct conf *conf, const struct option *o, void *base,
		    const char *const *words, const struct conf_place *p) MUST_USE;
/* Add a struct to a MANY clause, with its defaults. */
void *conf_add_clause(struct conf *conf, enum conf_clause clause, const char *file, unsigned line);
/* A copy of the name that lives as long as the configuration. */
const char *conf_keep_file(struct conf *conf, const char *file);

void conf_remark(struct conf_report *report, enum conf_weight weight, const char *file,
		 unsigned line, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* ---- the modules that module-config may name ---- */

struct conf_module {
	const char *name;
	enum conf_status status;
	const char *why;
};

extern const struct conf_module conf_modules[];
extern const size_t conf_module_count;

/* Errors for what needs parts that are not here (options_parts.c). */
void conf_check_parts(const struct conf *conf, struct conf_report *report);

/* ---- scripts of others (options_scripts.c) ---- */

/* A blocklist: clause for each python-script: whose lists can be read, unless there is one. */
void conf_add_lists_of_scripts(struct conf *conf, struct conf_report *report);

#endif
