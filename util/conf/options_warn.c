/* Warnings about what a configuration may say, but probably should not.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/names/trie.h"
#include "util/net/addr.h"

#define TINY_CACHE       (64 * 1024)
#define LONG_MIN_TTL_S   3600
#define WIDE_BITS_4      4 /* shorter is the world's */
#define WIDE_BITS_6      4

struct warner {
	const struct conf *conf;
	const struct conf_how *how;
	struct conf_report *report;
};

static const struct conf_origin *origin_of(const struct warner *w, enum conf_clause clause, const char *name)
{
	const struct option *o = conf_find_option(clause, name, strlen(name));

	return &w->conf->own->given[o - conf_options];
}

static bool was_given(const struct warner *w, enum conf_clause clause, const char *name)
{
	return origin_of(w, clause, name)->file;
}

/* Warn about an option of a clause that appears once, at its place in the file. */
static void warn_option(const struct warner *w, enum conf_clause clause, const char *name, const char *text)
{
	const struct conf_origin *origin = origin_of(w, clause, name);

	conf_remark(w->report, CONF_WARNING, origin->file ? origin->file : "", origin->line, "%s: %s", name,
		    text);
}

static void warn_item(const struct warner *w, const char *name, const struct conf_item *item, const char *text)
{
	conf_remark(w->report, CONF_WARNING, item->file, item->line, "%s: %.80s: %s", name, item->text, text);
}

/* ---- addresses ---- */

/* Addresses that nobody far away can reach. */
static bool is_near(const struct addr *a)
{
	static const char *const nets[] = { "127.0.0.0/8", "10.0.0.0/8",     "172.16.0.0/12", "192.168.0.0/16",
					    "100.64.0.0/10", "169.254.0.0/16", "::1",           "fc00::/7",
					    "fe80::/10" };

	for (size_t i = 0; i < COUNT(nets); i++) {
		struct netblock n;

		if (netblock_parse(&n, nets[i], NULL) && netblock_holds(&n, a))
			return true;
	}
	return false;
}

enum reach { REACH_HOST, REACH_SITE, REACH_WORLD };

/* From how far away an interface can be queried. What a name stands for is not known before
 * startup: one other than loopback counts as the site's. */
static enum reach reach_of(const char *interface)
{
	struct addr a;

	if (interface[0] == '/')
		return REACH_HOST;
	if (!addr_parse(&a, interface, 0, NULL))
		return strncmp(interface, "lo", 2) == 0 ? REACH_HOST : REACH_SITE;
	if (addr_is_loopback(&a))
		return REACH_HOST;
	return is_near(&a) ? REACH_SITE : REACH_WORLD;
}

static enum reach reach_of_all(const struct conf_list *interfaces)
{
	enum reach most = REACH_HOST;

	for (size_t i = 0; i < interfaces->count; i++)
		most = MAX(most, reach_of(interfaces->items[i].text));
	return most;
}

/* ---- who may query ---- */

static bool admits_everybody(const struct conf_item *item)
{
	char block[ADDR_TEXT];
	struct netblock n;
	size_t len = strcspn(item->text, " ");
	const char *action = item->text + len + strspn(item->text + len, " ");

	if (len >= sizeof(block) || strncmp(action, "allow", 5) != 0 || strcmp(action, "allow_cookie") == 0)
		return false;
	memcpy(block, item->text, len);
	block[len] = '\0';
	return netblock_parse(&n, block, NULL) && n.bits < (n.net.family == 4 ? WIDE_BITS_4 : WIDE_BITS_6);
}

static void warn_open_resolver(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;

	if (s->ip_ratelimit || (!s->interface_automatic && reach_of_all(&s->interface) != REACH_WORLD))
		return;
	for (size_t i = 0; i < s->access_control.count; i++) {
		if (!admits_everybody(&s->access_control.items[i]))
			continue;
		warn_item(w, "access-control", &s->access_control.items[i],
			  "whoever reaches this server may ask as often as they like, under anybody's address; "
			  "allow your own netblocks only, or set ip-ratelimit:");
		return;
	}
}

static void warn_proxy(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;

	if (s->proxy_protocol_port.count && !s->proxy_protocol_from.count &&
	    (s->interface_automatic || reach_of_all(&s->interface) != REACH_HOST))
		warn_item(w, "proxy-protocol-port", &s->proxy_protocol_port.items[0],
			  "who reaches this port can claim any address; say in proxy-protocol-from: who may");
}

static void warn_clear_http(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;

	if (s->http_notls_downstream && (s->interface_automatic || reach_of_all(&s->interface) == REACH_WORLD))
		warn_option(w, CLAUSE_server, "http-notls-downstream",
			    "HTTP without encryption is meant for a proxy on this host, and there is an interface "
			    "others can reach");
}

/* ---- control and metrics ---- */

static void warn_control(const struct warner *w)
{
	const struct conf_remote_control *r = &w->conf->remote_control;
	const struct conf_list *l = &r->control_interface;
	bool clear = !r->control_use_cert || (l->count && l->items[0].text[0] == '/');

	for (size_t i = 0; r->control_enable && clear && i < l->count; i++)
		if (reach_of(l->items[i].text) != REACH_HOST)
			warn_item(w, "control-interface", &l->items[i],
				  r->control_use_cert ?
					  "the first control-interface: is a path, so that there is no TLS here "
					  "either: who reaches this address commands the daemon" :
					  "with control-use-cert: no, who reaches this address commands the daemon");
}

static void warn_metrics(const struct warner *w)
{
	const struct conf_list *l = &w->conf->metrics.metrics_interface;

	for (size_t i = 0; w->conf->metrics.metrics_enable && i < l->count; i++)
		if (reach_of(l->items[i].text) == REACH_WORLD)
			warn_item(w, "metrics-interface", &l->items[i],
				  "there is neither encryption nor access control here; an address of the own "
				  "network, or a firewall, keeps strangers out");
}

/* ---- caches ---- */

static void warn_sizes(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;
	const struct {
		const char *name;
		uint64_t size;
	} rows[] = { { "msg-cache-size", s->msg_cache_size },
		     { "rrset-cache-size", s->rrset_cache_size },
		     { "key-cache-size", s->key_cache_size } };

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].size < TINY_CACHE && was_given(w, CLAUSE_server, rows[i].name))
			warn_option(w, CLAUSE_server, rows[i].name,
				    rows[i].size < 4096 ? "these are bytes; is a k, m or g missing?" :
							  "so small that most is forgotten before it is used again");
	if (s->cache_min_ttl > LONG_MIN_TTL_S)
		warn_option(w, CLAUSE_server, "cache-min-ttl",
			    "more than an hour: who moves to another address is not found for so long");
}

/* ---- validation ---- */

static void warn_validation(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;
	bool anchors = s->auto_trust_anchor_file.count || s->trust_anchor_file.count || s->trust_anchor.count ||
		       s->trusted_keys_file.count;
	bool validates = conf_has_module(w->conf, "validator");

	if (!validates && anchors)
		warn_option(w, CLAUSE_server, "module-config",
			    "there are trust anchors, but without validator nothing is validated");
	if (validates && !anchors && !conf_default_anchor(w->conf) && was_given(w, CLAUSE_server, "module-config"))
		warn_option(w, CLAUSE_server, "module-config",
			    "validator has no trust anchor, so nothing is validated; see auto-trust-anchor-file: "
			    "and resolver-anchor");
	if (!validates || !anchors)
		return;
	if (s->val_permissive_mode)
		warn_option(w, CLAUSE_server, "val-permissive-mode", "forged answers are found out and given all the same");
	if (strcmp(s->val_override_date, "-1") == 0)
		warn_option(w, CLAUSE_server, "val-override-date",
			    "-1: signatures are believed however old they are; val-clock-tolerance: yes helps a "
			    "clock that is not set yet");
	else if (strcmp(s->val_override_date, "0") != 0 && *s->val_override_date)
		warn_option(w, CLAUSE_server, "val-override-date", "the time stands still for signatures");
	if (!s->harden_dnssec_stripped)
		warn_option(w, CLAUSE_server, "harden-dnssec-stripped",
			    "who takes the signatures away is believed");
	if (s->disable_edns_do)
		warn_option(w, CLAUSE_server, "disable-edns-do", "without signatures all signed zones are bogus");
	for (size_t i = 0; i < s->domain_insecure.count; i++)
		if (strcmp(s->domain_insecure.items[i].text, ".") == 0)
			warn_item(w, "domain-insecure", &s->domain_insecure.items[i], "nothing at all is validated");
}

/* ---- other servers ---- */

/* Stub and forward zones alike: what they have in common. */
struct servers {
	const char *option; /* stub-addr, forward-addr */
	const struct conf_list *addresses;
	const char *first_option;
	const char *zone, *file;
	unsigned line;
	bool tls, first, https;
};

static void warn_server(const struct warner *w, const struct servers *z, const struct conf_item *item)
{
	size_t len = strcspn(item->text, "#");
	const char *name = item->text[len] ? item->text + len + 1 : NULL;
	char text[ADDR_TEXT];
	struct addr a;

	if (name && *name && strspn(name, "0123456789") == strlen(name)) /* dnsmasq's way */
		warn_item(w, z->option, item, "what follows # is the name in a certificate; a port follows @");
	if (len >= sizeof(text))
		return;
	memcpy(text, item->text, len);
	text[len] = '\0';
	if (w->conf->server.do_not_query_localhost && addr_parse(&a, text, 53, NULL) && addr_is_loopback(&a))
		warn_item(w, z->option, item, "is never asked while do-not-query-localhost: is yes");
	if ((z->tls || z->https) && !strchr(item->text, '#'))
		warn_item(w, z->option, item,
			  "without #name, the name in its certificate, whoever answers there is believed");
}

static void warn_zone(const struct warner *w, const struct servers *z)
{
	for (size_t i = 0; i < z->addresses->count; i++)
		warn_server(w, z, &z->addresses->items[i]);
	if (z->first && (z->tls || z->https) && !w->conf->server.tls_upstream)
		conf_remark(w->report, CONF_WARNING, z->file, z->line,
			    "%s: for '%s' names are asked for in clear where the encrypted way fails", z->first_option,
			    z->zone);
}

static void warn_servers(const struct warner *w)
{
	bool all_tls = w->conf->server.tls_upstream;

	for (size_t i = 0; i < w->conf->forward_zone_count; i++) {
		const struct conf_forward_zone *z = &w->conf->forward_zones[i];

		warn_zone(w, &(struct servers){ .option = "forward-addr",
						.addresses = &z->forward_addr,
						.first_option = "forward-first",
						.zone = z->name,
						.file = z->from_file,
						.line = z->from_line,
						.tls = z->forward_tls_upstream || all_tls,
						.https = z->forward_https_upstream,
						.first = z->forward_first });
	}
	for (size_t i = 0; i < w->conf->stub_zone_count; i++) {
		const struct conf_stub_zone *z = &w->conf->stub_zones[i];

		warn_zone(w, &(struct servers){ .option = "stub-addr",
						.addresses = &z->stub_addr,
						.first_option = "stub-first",
						.zone = z->name,
						.file = z->from_file,
						.line = z->from_line,
						.tls = z->stub_tls_upstream || all_tls,
						.first = z->stub_first });
	}
	if (!w->conf->server.harden_glue)
		warn_option(w, CLAUSE_server, "harden-glue", "a server may then say where others' zones are found");
}

/* ---- local zones ---- */

#define MOST_TWICE 10 /* more would hide the other warnings */

static bool read_zone_name(const struct conf_item *item, uint8_t *name)
{
	char word[DNAME_TEXT];
	size_t len = strcspn(item->text, " ");

	if (len >= sizeof(word) || strcmp(item->text + len, " nodefault") == 0)
		return false;
	memcpy(word, item->text, len);
	word[len] = '\0';
	return dname_parse(name, word, NULL) != 0;
}

/* Of packed lists, services/local/build.c tells. */
static void warn_twice(const struct warner *w, const struct conf_list *zones)
{
	struct trie *seen = zones->names ? NULL : trie_new();
	uint8_t name[DNAME_MAX];
	size_t found = 0;

	for (size_t i = 0; seen && i < zones->count; i++) {
		const struct conf_item *item = &zones->items[i], *before;

		if (!read_zone_name(item, name))
			continue;
		before = trie_put(seen, name, (void *)(uintptr_t)item);
		if (before && found++ < MOST_TWICE)
			conf_remark(w->report, CONF_WARNING, item->file, item->line,
				    "local-zone: %.200s: the zone is there already ('%.200s' at %s:%u); this line counts",
				    item->text, before->text, before->file, before->line);
	}
	if (found > MOST_TWICE)
		conf_remark(w->report, CONF_WARNING, "", 0, "local-zone: %zu more lines name a zone that is there already",
			    found - MOST_TWICE);
	trie_free(seen, NULL);
}

static void warn_local_zones(const struct warner *w)
{
	warn_twice(w, &w->conf->server.local_zone);
	for (size_t i = 0; i < w->conf->view_count; i++)
		warn_twice(w, &w->conf->views[i].local_zone);
}

/* ---- files ---- */

static void warn_secret_file(const struct warner *w, const char *option, const char *name, const char *file,
			     unsigned line)
{
	char *path = w->how->chroot ? conf_path_inside(w->conf, name) : conf_path(w->conf, name);
	struct stat st;

	if (*name && stat(path, &st) == 0 && (st.st_mode & (S_IROTH | S_IWOTH)))
		conf_remark(w->report, CONF_WARNING, file ? file : "", line,
			    "%s: everybody on this host may %s '%s'; chmod o-rwx helps", option,
			    st.st_mode & S_IWOTH ? "change" : "read", path);
	mem_free(path);
}

static void warn_secret_option(const struct warner *w, enum conf_clause clause, const char *option,
			       const char *value)
{
	const struct conf_origin *origin = origin_of(w, clause, option);

	warn_secret_file(w, option, value, origin->file, origin->line);
}

static void warn_secret_files(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;
	const struct conf_remote_control *r = &w->conf->remote_control;

	warn_secret_option(w, CLAUSE_server, "tls-service-key", s->tls_service_key);
	warn_secret_option(w, CLAUSE_server, "cookie-secret-file", s->cookie_secret_file);
	if (r->control_enable && r->control_use_cert) {
		warn_secret_option(w, CLAUSE_remote_control, "server-key-file", r->server_key_file);
		warn_secret_option(w, CLAUSE_remote_control, "control-key-file", r->control_key_file);
	}
	warn_secret_option(w, CLAUSE_dnstap, "dnstap-tls-client-key-file", w->conf->dnstap.dnstap_tls_client_key_file);
	for (size_t i = 0; i < s->tls_session_ticket_keys.count; i++)
		warn_secret_file(w, "tls-session-ticket-keys", s->tls_session_ticket_keys.items[i].text,
				 s->tls_session_ticket_keys.items[i].file, s->tls_session_ticket_keys.items[i].line);
	for (size_t i = 0; i < w->conf->dnscrypt.dnscrypt_secret_key.count; i++)
		warn_secret_file(w, "dnscrypt-secret-key", w->conf->dnscrypt.dnscrypt_secret_key.items[i].text,
				 w->conf->dnscrypt.dnscrypt_secret_key.items[i].file,
				 w->conf->dnscrypt.dnscrypt_secret_key.items[i].line);
}

/* Secrets in the configuration text itself. */
static void warn_secret_texts(const struct warner *w)
{
	const struct conf_origin *cookie = origin_of(w, CLAUSE_server, "cookie-secret");
	struct stat st;

	if (cookie->file && *w->conf->server.cookie_secret && stat(cookie->file, &st) == 0 && (st.st_mode & S_IROTH))
		conf_remark(w->report, CONF_WARNING, cookie->file, cookie->line,
			    "cookie-secret: everybody on this host may read this file");
	for (size_t i = 0; i < w->conf->key_count; i++) {
		const struct conf_key *k = &w->conf->keys[i];

		if (stat(k->from_file, &st) == 0 && (st.st_mode & S_IROTH))
			conf_remark(w->report, CONF_WARNING, k->from_file, k->from_line,
				    "key: '%s': everybody on this host may read the secret", k->name);
	}
}

static void warn_writable(const struct warner *w)
{
	struct stat st;

	for (size_t i = 0; i < w->conf->own->file_count; i++)
		if (stat(w->conf->own->files[i], &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & S_IWOTH))
			conf_remark(w->report, CONF_WARNING, w->conf->own->files[i], 0,
				    "everybody on this host may change this file");
}

/* What the file leaves to defaults that this host does not have, be it that nothing has been installed yet: a start
 * would fail. Inside a chroot there is no user database to consult. */
static void notice_defaults(const struct warner *w)
{
	const struct conf_server *s = &w->conf->server;
	struct stat st;

	if (w->how->serves || w->how->chroot)
		return;
	if (geteuid() == 0 && !was_given(w, CLAUSE_server, "username") && *s->username && !getpwnam(s->username))
		conf_remark(w->report, CONF_NOTICE, "", 0,
			    "username: there is no user '%s', the default: root cannot start the daemon; name another, or \"\"",
			    s->username);
	if (!was_given(w, CLAUSE_server, "directory") && *s->directory && stat(s->directory, &st) != 0)
		conf_remark(w->report, CONF_NOTICE, "", 0, "directory: the default, '%s', cannot be used: %s", s->directory,
			    strerror(errno));
}

void conf_warnings(const struct conf *conf, const struct conf_how *how, struct conf_report *report)
{
	static const struct conf_how usual = { 0 };
	struct warner w = { .conf = conf, .how = how ? how : &usual, .report = report };

	warn_open_resolver(&w);
	warn_proxy(&w);
	warn_clear_http(&w);
	warn_control(&w);
	warn_metrics(&w);
	warn_sizes(&w);
	warn_validation(&w);
	warn_servers(&w);
	warn_local_zones(&w);
	if (w.how->no_files)
		return;
	warn_secret_files(&w);
	warn_secret_texts(&w);
	warn_writable(&w);
	notice_defaults(&w);
}
