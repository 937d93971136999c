/* Configuration of a scenario: a preamble, then its own lines or the equivalent of its keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/config.h"

#include <stdio.h>
#include <string.h>

#include "daemon/replay/knot_policy.h"
#include "daemon/replay/scenario.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

static const char preamble[] =
	"server:\n"
	"\tdirectory: \"\"\n\tchroot: \"\"\n\tusername: \"\"\n\tpidfile: \"\"\n"
	"\tuse-syslog: no\n\tval-log-level: 2\n\tlog-servfail: yes\n"
	/* our defaults that differ from Unbound's, for which the scenarios are written */
	"\tlocal-data-follow-cname: no\n\tprefetch-key: no\n\tprefetch-popular: no\n\tval-sha1: all\n"
	/* nor does it trust what it was not told to */
	"\tauto-trust-anchor-file: \"\"\n"
	/* the simulated clock is always right */
	"\tval-clock-tolerance: no\n"
	"remote-control:\n\tcontrol-enable: no\n";

/* Prefixes of options that only tune what others switch on: having no effect yet is harmless. */
static const char *const harmless[] = {
	"val-", "fake-", "trust-anchor-signaling:", "root-key-sentinel:", "aggressive-nsec:",
	"harden-dnssec-stripped:", "harden-algo-downgrade:", "domain-insecure:", "key-cache-",
	"neg-cache-", "prefetch-key:", "prefetch-popular:", "disable-dnssec-lame-check:", "ignore-cd-flag:",
	"trust-anchor-file: \"\"", "num-threads:", "verbosity:", "log-", "local-zone-tag:",
	"harden-referral-path:", "del-holddown:", "add-holddown:", "keep-missing:",
};

static bool is_harmless(const char *text)
{
	for (size_t i = 0; i < COUNT(harmless); i++)
		if (strncmp(text, harmless[i], strlen(harmless[i])) == 0)
			return true;
	return false;
}

/* Whether an option that matters has no effect yet, or is of a part that was left out; `skip` names the first. */
static bool needs_more(const struct conf_report *report, char *skip, size_t skip_len)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct conf_remark *r = &report->remarks[i];

		if (r->weight == CONF_ERROR && strstr(r->text, "this program was built without ")) {
			snprintf(skip, skip_len, "%s", r->text);
			return true;
		}
		if (r->weight == CONF_NOTICE && strstr(r->text, "has no effect yet") &&
		    !is_harmless(r->text)) {
			snprintf(skip, skip_len, "%.*s is for a later issue",
				 (int)strcspn(r->text, ":"), r->text);
			return true;
		}
	}
	return false;
}

/* Whether a canned answer tells the root's servers. */
static bool tells_root(const struct scenario *s)
{
	static const uint8_t question[] = { 0, 0, TYPE_NS };
	const size_t header = 12;

	for (const struct range *r = s->ranges; r; r = r->next)
		for (const struct entry *e = r->entries; e; e = e->next)
			if (e->matched.len >= header + sizeof(question) &&
			    memcmp(e->matched.at + header, question, sizeof(question)) == 0)
				return true;
	return false;
}

/* Scenarios of policies have a recursor for a root server now and then, which Knot does not mind. */
static bool has_recursor(const struct scenario *s)
{
	return s->deckard_config.policy_count && !tells_root(s);
}

/* `*foreign`: what of it only another program knows, or NULL. */
static char *deckard_text(const struct scenario *s, int minimise, struct arena *a, const char **foreign)
{
	const struct deckard_config *c = &s->deckard_config;
	const char *policies = knot_policies_text(a, c->policies, c->policy_count, foreign);
	char *t = arena_textf(a,
			      "server:\n\tdo-ip4: %s\n\tdo-ip6: %s\n\tqname-minimisation: %s\n"
			      "\tharden-glue: %s\n\tdo-not-query-localhost: %s\n",
			      c->do_ip4 ? "yes" : "no", c->do_ip6 ? "yes" : "no",
			      minimise == 1 ? "yes" : "no", c->harden_glue ? "yes" : "no",
			      c->no_query_localhost ? "yes" : "no");

	t = arena_textf(a, "%s\tval-sig-skew-min: 0\n\tval-sig-skew-max: 0\n"
			   "\ttarget-fetch-policy: \"0 0 0 0 0\"\n"
			   /* as large as their own OPT says, which `edns` compares with */
			   "\tmax-udp-size: 4096\n\tedns-buffer-size: 4096\n"
			   /* scenarios have real servers for the reserved test. names */
			   "\tlocal-zone: test. nodefault\n", t);
	if (c->min_ttl)
		t = arena_textf(a, "%s\tcache-min-ttl: %s\n", t, c->min_ttl);
	if (c->max_ttl)
		t = arena_textf(a, "%s\tcache-max-ttl: %s\n", t, c->max_ttl);
	if (c->dns64_prefix)
		t = arena_textf(a, "%s\tmodule-config: \"dns64 validator iterator\"\n\tdns64-prefix: %s/96\n", t,
				c->dns64_prefix);
	if (c->hint_name && c->hint_addr)
		t = arena_textf(a, "%s\tlocal-data: \"%s %s %s\"\n", t, c->hint_name,
				strchr(c->hint_addr, ':') ? "AAAA" : "A", c->hint_addr);
	for (size_t i = 0; i < c->anchor_count; i++)
		t = arena_textf(a, "%s\ttrust-anchor: \"%s\"\n", t, c->anchors[i]);
	for (size_t i = 0; i < c->insecure_count; i++)
		t = arena_textf(a, "%s\tdomain-insecure: \"%s\"\n", t, c->insecure[i]);
	if (c->forward_addr || (c->stub_addr && has_recursor(s)))
		t = arena_textf(a, "%sforward-zone:\n\tname: \".\"\n\tforward-addr: %s\n", t,
				c->forward_addr ? c->forward_addr : c->stub_addr);
	else if (c->stub_addr)
		t = arena_textf(a, "%sstub-zone:\n\tname: \".\"\n\tstub-addr: %s\n", t,
				c->stub_addr);
	if (c->foreign)
		*foreign = c->foreign;
	return arena_textf(a, "%s%s", t, policies ? policies : "");
}

struct conf *replay_config(const struct scenario *s, int minimise, char *skip, size_t skip_len,
			   struct fault *f)
{
	const struct conf_how how = { .no_files = true, .test_switches = true };
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();
	struct arena a;
	const char *text, *foreign = NULL;
	bool good;

	*skip = '\0';
	arena_init(&a);
	text = s->deckard ? deckard_text(s, minimise, &a, &foreign) : s->config;
	if (foreign)
		snprintf(skip, skip_len, "%.80s is another program's own", foreign);
	good = !*skip && conf_load_text(conf, "preamble", preamble, strlen(preamble), &how, &report) &&
	       conf_load_text(conf, "scenario", text, strlen(text), &how, &report) &&
	       conf_check(conf, &how, &report);
	if (!*skip && needs_more(&report, skip, skip_len))
		good = false;
	if (!*skip && !good)
		conf_report_fault(&report, f);
	conf_report_clear(&report);
	arena_clear(&a);
	if (good)
		return conf;
	conf_free(conf);
	return NULL;
}
