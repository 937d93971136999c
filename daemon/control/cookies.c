/* Commands about DNS cookie secrets (RFC 7873): they change the file and have it read again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/process/daemon.h"
#include "services/access/cookies.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

static bool has_file(struct call *c)
{
	if (*call_snapshot(c)->conf->server.cookie_secret_file)
		return true;
	call_say(c, "error: no cookie secret file configured\n");
	return false;
}

/* Write the secrets to the file, and start using them. Completes the reply. */
static void keep(struct call *c, const struct cookies *secrets)
{
	struct daemon *d = c->daemon;
	struct conf *conf = conf_copy(d->snapshot->conf);
	const char *file = conf->server.cookie_secret_file;
	char *path = d->locked_in ? conf_path_inside(conf, file) : conf_path(conf, file);
	struct fault f = { 0 };

	if (cookies_save(secrets, path, &f) && daemon_reconfigure(d, conf, &f)) {
		call_ok(c);
	} else {
		call_say(c, "error: %s\n", f.text);
		conf_free(conf);
	}
	mem_free(path);
}

/* Read the file, whether or not cookies are in use. False with the error in the reply. */
static bool load(struct call *c, struct cookies *secrets)
{
	const struct daemon *d = c->daemon;
	const struct conf *conf = d->snapshot->conf;
	const char *file = conf->server.cookie_secret_file;
	char *path = d->locked_in ? conf_path_inside(conf, file) : conf_path(conf, file);
	struct fault f = { 0 };
	bool good = cookies_load(secrets, path, &f);

	if (!good)
		call_say(c, "error: %s\n", f.text);
	mem_free(path);
	return good;
}

void control_add_cookie_secret(struct call *c, struct worker *w)
{
	struct cookies secrets;
	uint8_t fresh[COOKIE_SECRET_LEN];
	char *word;

	(void)w;
	if (!has_file(c))
		return;
	word = control_word(&c->args);
	if (!word) {
		call_say(c, "error: missing argument (cookie_secret)\n");
		return;
	}
	if (!cookie_secret_parse(fresh, word)) {
		call_say(c, "error invalid cookie secret: %zu characters, not %d hex digits\n",
			 strlen(word), 2 * COOKIE_SECRET_LEN);
		call_say(c, "please provide a 128bit hex encoded secret\n");
		return;
	}
	if (!load(c, &secrets))
		return;
	secrets.count = secrets.count ? 2 : 1;
	memcpy(secrets.secret[secrets.count - 1], fresh, sizeof fresh);
	mem_wipe(fresh, sizeof fresh);
	keep(c, &secrets);
	mem_wipe(&secrets, sizeof secrets);
}

void control_activate_cookie_secret(struct call *c, struct worker *w)
{
	struct cookies secrets;
	uint8_t staged[COOKIE_SECRET_LEN];

	(void)w;
	if (!has_file(c) || !load(c, &secrets))
		return;
	if (secrets.count < 2) {
		call_say(c, "error: no staging cookie secret to activate\n");
		return;
	}
	memcpy(staged, secrets.secret[1], sizeof staged);
	memcpy(secrets.secret[1], secrets.secret[0], sizeof staged);
	memcpy(secrets.secret[0], staged, sizeof staged);
	mem_wipe(staged, sizeof staged);
	keep(c, &secrets);
	mem_wipe(&secrets, sizeof secrets);
}

void control_drop_cookie_secret(struct call *c, struct worker *w)
{
	struct cookies secrets;

	(void)w;
	if (!has_file(c) || !load(c, &secrets))
		return;
	if (secrets.count == 0) {
		call_say(c, "error: there are no cookie_secrets.");
		return;
	}
	if (secrets.count == 1) {
		call_say(c, "error: can not drop the currently active cookie secret\n");
		return;
	}
	secrets.count = 1;
	memset(secrets.secret[1], 0, sizeof secrets.secret[1]);
	keep(c, &secrets);
	mem_wipe(&secrets, sizeof secrets);
}

void control_print_cookie_secrets(struct call *c, struct worker *w)
{
	static const char *const names[COOKIE_SECRETS_MAX] = { "active ", "staging" };
	static const char *const members[COOKIE_SECRETS_MAX] = { "active", "staging" };
	const struct cookies *secrets = &call_snapshot(c)->cookies;
	char text[2 * COOKIE_SECRET_LEN + 1];

	struct json *j = call_object(c);

	(void)w;
	for (unsigned i = 0; i < secrets->count; i++)
		if (j)
			json_text(j, members[i], cookie_secret_print(secrets->secret[i], text));
		else
			call_say(c, "%s: %s\n", names[i], cookie_secret_print(secrets->secret[i], text));
}
