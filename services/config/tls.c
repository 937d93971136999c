/* Builds TLS contexts from the configuration.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/config/tls.h"

#include <string.h>

#include "services/forward/forward.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/net/tls.h"

static struct tls_manner manner_of(const struct conf_server *c)
{
	return (struct tls_manner){ .protocols = c->tls_protocols,
				    .ciphers = c->tls_ciphers,
				    .suites = c->tls_ciphersuites };
}

/* The file, and its path inside the chroot. */
static struct tls_file file_of(const struct conf *conf, const char *name)
{
	if (!*name)
		return (struct tls_file){ NULL, NULL };
	return (struct tls_file){ conf_path(conf, name), conf_path_inside(conf, name) };
}

static void file_done(const struct tls_file *file)
{
	mem_free((void *)(uintptr_t)file->path);
	mem_free((void *)(uintptr_t)file->inside);
}

static bool look_for_tls(const struct forward_zone *z, void *needs)
{
	*(bool *)needs |= transport_is_private(z->transport);
	return true;
}

static void look_in_view(const struct forwards *t, void *needs)
{
	forwards_each(t, look_for_tls, needs);
}

/* Zones held here may be fetched over TLS: "primary: 192.0.2.1#name". */
static bool names_tls(const struct conf_list *primaries)
{
	for (size_t i = 0; i < primaries->count; i++)
		if (strchr(primaries->items[i].text, '#'))
			return true;
	return false;
}

static bool zones_need_tls(const struct conf *conf)
{
	bool needs = false;

	for (size_t i = 0; i < conf->auth_zone_count; i++)
		needs |= names_tls(&conf->auth_zones[i].primary);
	for (size_t i = 0; i < conf->rpz_count; i++)
		needs |= names_tls(&conf->rpzs[i].primary);
	return needs;
}

static bool tls_client_from(struct snapshot *s, const struct forwards *forwards, struct fault *f)
{
	const struct conf_server *c = &s->conf->server;
	struct tls_file bundle = file_of(s->conf, c->tls_cert_bundle);
	/* Once in a chroot the files may be out of reach. */
	bool needs = c->tls_upstream || *c->chroot || zones_need_tls(s->conf);

	s->tls_client = tls_client_new(&(struct tls_client_how){ .manner = manner_of(c),
								 .bundle = bundle,
								 .system = c->tls_win_cert,
								 .sni = c->tls_use_sni },
				       f);
	file_done(&bundle);
	if (!s->tls_client)
		return false;
	forwards_each(forwards, look_for_tls, &needs);
	views_each_forwards(s->policy->views, look_in_view, &needs);
	return !needs || tls_client_load(s->tls_client, f);
}

static bool tls_server_from(struct snapshot *s, struct fault *f)
{
	const struct conf_server *c = &s->conf->server;
	struct tls_server_how how = { .manner = manner_of(c) };

	if (!*c->tls_service_key || !*c->tls_service_pem)
		return true;
	how.key = file_of(s->conf, c->tls_service_key);
	how.pem = file_of(s->conf, c->tls_service_pem);
	for (size_t i = 0; i < c->tls_session_ticket_keys.count; i++) {
		const char *name = c->tls_session_ticket_keys.items[i].text;

		if (*name && how.ticket_key_count < COUNT(how.ticket_keys))
			how.ticket_keys[how.ticket_key_count++] = file_of(s->conf, name);
	}
	s->tls_server = tls_server_new(&how, f);
	file_done(&how.key);
	file_done(&how.pem);
	for (size_t i = 0; i < how.ticket_key_count; i++)
		file_done(&how.ticket_keys[i]);
	return s->tls_server;
}

/* dnstap's collector has its own CA bundle, or the usual one. */
static bool dnstap_from(struct snapshot *s, struct fault *f)
{
	const struct conf_server *c = &s->conf->server;
	const struct conf_dnstap *tap = &s->conf->dnstap;
	struct tls_client_how how = { .manner = manner_of(c),
				      .system = c->tls_win_cert,
				      .sni = c->tls_use_sni };

	if (!tap->dnstap_enable || !*tap->dnstap_ip || !tap->dnstap_tls)
		return true;
	how.bundle = file_of(s->conf, *tap->dnstap_tls_cert_bundle ? tap->dnstap_tls_cert_bundle
								   : c->tls_cert_bundle);
	how.key = file_of(s->conf, tap->dnstap_tls_client_key_file);
	how.pem = file_of(s->conf, tap->dnstap_tls_client_cert_file);
	s->dnstap_tls = tls_client_new(&how, f);
	file_done(&how.bundle);
	file_done(&how.key);
	file_done(&how.pem);
	return s->dnstap_tls && tls_client_load(s->dnstap_tls, f);
}

bool tls_conf_read(struct snapshot *s, const struct forwards *forwards, struct fault *f)
{
	return tls_client_from(s, forwards, f) && dnstap_from(s, f) && tls_server_from(s, f);
}

void tls_conf_prepare(struct snapshot *s)
{
	struct fault f = { 0 };
	bool needs = false;

	forwards_each(s->forwards, look_for_tls, &needs);
	if (needs && s->tls_client && !tls_client_load(s->tls_client, &f))
		log_error("%s: no queries over TLS upstream", f.text);
}

static void refresh(bool (*again)(void *of, struct fault *f), void *of, const char *what)
{
	struct fault f = { 0 };

	if (!of || !again(of, &f))
		return;
	if (f.set)
		log_error("%s changed, but cannot be loaded, old one stays in use: %s", what,
			  f.text);
	else
		log_notice("%s changed: reloaded", what);
}

static bool client_again(void *client, struct fault *f)
{
	return tls_client_refresh(client, f);
}

static bool server_again(void *server, struct fault *f)
{
	return tls_server_refresh(server, f);
}

void tls_conf_refresh(const struct snapshot *s, uint64_t now_s)
{
	tls_tickets_renew(now_s);
	refresh(client_again, s->tls_client, "tls-cert-bundle");
	refresh(client_again, s->dnstap_tls, "a file of dnstap-tls");
	refresh(server_again, s->tls_server, "tls-service-key or tls-service-pem");
}

/* ---- the control channel ---- */

bool tls_conf_control(const struct conf *conf)
{
	const struct conf_remote_control *c = &conf->remote_control;

	return c->control_enable && c->control_use_cert &&
	       (c->control_interface.count == 0 || c->control_interface.items[0].text[0] != '/');
}

struct tls_server *tls_conf_control_server(const struct conf *conf, struct fault *f)
{
	const struct conf_remote_control *c = &conf->remote_control;
	struct tls_server_how how = { .manner = manner_of(&conf->server) };
	struct tls_server *server;

	how.key = file_of(conf, c->server_key_file);
	how.pem = file_of(conf, c->server_cert_file);
	how.clients = how.pem;
	server = tls_server_new(&how, f);
	file_done(&how.key);
	file_done(&how.pem);
	return server;
}

struct tls_client *tls_conf_control_client(const struct conf *conf, struct fault *f)
{
	const struct conf_remote_control *c = &conf->remote_control;
	struct tls_client_how how = { .manner = manner_of(&conf->server) };
	struct tls_client *client;

	how.key = file_of(conf, c->control_key_file);
	how.pem = file_of(conf, c->control_cert_file);
	how.bundle = file_of(conf, c->server_cert_file);
	client = tls_client_new(&how, f);
	if (client && !tls_client_load(client, f)) {
		tls_client_unpin(client);
		client = NULL;
	}
	file_done(&how.key);
	file_done(&how.pem);
	file_done(&how.bundle);
	return client;
}
