/* resolver-host: looks up a name, validates the answer itself, and reports its security status.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/tools/host_words.h"
#include "daemon/worker/caches.h"
#include "daemon/worker/modules.h"
#include "daemon/worker/worker.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "validator/anchors.h"

enum { EXIT_GOOD = 0, EXIT_NO_ANSWER = 1, EXIT_BOGUS = 2 };

#define TYPES_MOST 8

struct asking {
	struct worker *worker;
	uint8_t name[DNAME_MAX];
	uint16_t types[TYPES_MOST];
	size_t type_count, at;
	bool brief;             /* default types: after the first, types with no data are skipped */
	bool as_unbound;        /* called unbound-host: in its words, … */
	bool tells;             /* … with security status (-v) */
	const char *said;       /* the name, as unbound-host prints it */
	int status;
};

static const char *program;

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: %s [options] NAME\n"
		"Looks up NAME, from the root down, and validates the answer. An address is looked up by its reverse name.\n"
		"  -t TYPE     record type; default A, AAAA and MX\n"
		"  -C FILE     use servers, trust anchors and limits of this configuration of resolverd\n"
		"  -s ADDRESS  ask this resolver instead of the root's servers; may be repeated\n"
		"  -r          ask the resolvers in /etc/resolv.conf\n"
		"  -f FILE     trust anchors, as DS or DNSKEY records\n"
		"  -F FILE     trust anchors in BIND's format\n"
		"  -y RECORD   one such record\n"
		"  -4, -6      only over IPv4, or IPv6\n"
		"  -v          show what is done; more with each -v\n"
		"  -V          print the version\n"
		"  -h          print this\n"
		"As in unbound-host, -D (validate, which is always done) and -c IN are accepted.\n"
		"Without trust anchors, the root's keys this program was built with are used.\n"
		"Exit code: 0: there is an answer; 1: there is none; 2: it is bogus.\n",
		program);
}

/* ---- output ---- */

static void print_line(const char *line, void *arg)
{
	(void)arg;
	printf("%s\n", line);
}

static void print_sets(const struct message *m, uint32_t now_s)
{
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		struct rrset *bare = mem_copy(m->sets[i], m->sets[i]->size);

		bare->sig_count = 0;
		text_rrset_print(bare, now_s, print_line, NULL);
		mem_free(bare);
	}
}

static const char *why(const struct message *m)
{
	return m->reason_text && *m->reason_text ? m->reason_text : reason_text(m->reason);
}

static void print_security(const struct message *m)
{
	const char *text = why(m);

	switch ((enum security)m->security) {
	case SECURITY_SECURE:
		printf("This is secure: every signature holds, from the trust anchor down.\n");
		break;
	case SECURITY_BOGUS:
		printf("This is bogus, and a resolver that validates would not give it to you: %s.\n",
		       text);
		break;
	case SECURITY_INSECURE:
		printf("This is insecure: it is proven that nothing is signed there%s%s.\n",
		       *text ? "; " : "", text);
		break;
	default:
		printf("Nothing is known of its truth: no trust anchor stands above it.\n");
		break;
	}
}

static bool has_answer(const struct asking *a, const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++)
		if (sets[i]->type == a->types[a->at] || a->types[a->at] == TYPE_ANY)
			return true;
	return false;
}

static void print_reply(struct asking *a, const struct message *m)
{
	char name[DNAME_TEXT], buf[16];
	const char *type = rr_type_name(a->types[a->at], buf);
	bool failed = m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN;

	dname_print(a->name, name);
	print_sets(m, a->worker->env.time->now_s);
	if (failed)
		printf("There is no answer for %s %s: %s.\n", name, type, why(m));
	else if (m->rcode == RCODE_NXDOMAIN)
		printf("%s does not exist.\n", name);
	else if (!has_answer(a, m))
		printf("%s has no record of type %s.\n", name, type);
	if (!failed)
		print_security(m);
}

/* ---- asking ---- */

static void ask(struct asking *a);

static void answered(void *arg, const struct message *m)
{
	struct asking *a = arg;
	bool failed = m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN;

	if (m->security == SECURITY_BOGUS)
		a->status = EXIT_BOGUS;
	else if (failed && a->status == EXIT_GOOD)
		a->status = EXIT_NO_ANSWER;
	if (a->as_unbound)
		host_words_print(a->said, a->types[a->at], m, a->worker->env.time->now_s, a->tells);
	else if (!a->brief || a->at == 0 || failed || has_answer(a, m))
		print_reply(a, m);
	a->at++;
	if (m->rcode == RCODE_NXDOMAIN || failed || a->at == a->type_count)
		loop_stop(a->worker->env.loop);
	else
		ask(a);
}

static void ask(struct asking *a)
{
	struct question q = { .name = a->name, .name_len = (uint16_t)dname_len(a->name),
			      .type = a->types[a->at], .class_ = CLASS_IN };

	mesh_resolve(a->worker->env.mesh, &q, 0, answered, a);
}

static void begin(void *arg)
{
	ask(arg);
}

static bool run(struct asking *a, struct conf *conf, struct fault *f)
{
	struct snapshot *s = modules_snapshot(conf, f);
	struct caches caches;

	if (!s)
		return false;
	rcu_thread_join();
	caches_init(&caches, conf);
	rcu_turn_begin();
	/* not worker 0, the leader, so that no trust anchor files are written */
	a->worker = worker_new(&(struct worker_how){ .number = 1, .snapshot = s, .caches = &caches },
			       f);
	rcu_turn_end();
	if (a->worker) {
		loop_post(a->worker->env.loop, begin, a);
		loop_run(a->worker->env.loop);
		rcu_turn_begin();
		worker_free(a->worker);
		rcu_turn_end();
	}
	snapshot_unpin(s);
	rcu_flush();
	caches_clear(&caches);
	rcu_thread_leave();
	return a->worker;
}

/* ---- the command line ---- */

static bool set(struct conf *conf, const char *option, const char *value, struct fault *f)
{
	char *line = mem_textf("%s: \"%s\"", option, value);
	bool good = conf_set_option(conf, line, f);

	mem_free(line);
	return good;
}

/* If no trust anchors are configured, use the built-in ones. */
static bool give_anchors(struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;
	const char *const *lines;
	size_t count = anchors_built_in(&lines);

	if (s->trust_anchor.count || s->trust_anchor_file.count || s->trusted_keys_file.count ||
	    s->auto_trust_anchor_file.count)
		return true;
	for (size_t i = 0; i < count; i++)
		if (!set(conf, "trust-anchor", lines[i], f))
			return false;
	return true;
}

static bool forward_to(struct conf *conf, const char *address, struct fault *f)
{
	struct conf_report report = { 0 };
	const struct conf_how how = { 0 };
	char *text = mem_textf("forward-zone:\n\tname: \".\"\n\tforward-addr: %s\n", address);
	bool good = conf_load_text(conf, "-s", text, strlen(text), &how, &report);

	if (!good)
		conf_report_fault(&report, f);
	conf_report_clear(&report);
	mem_free(text);
	return good;
}

static bool read_file(struct conf *conf, const char *path, struct fault *f)
{
	struct conf_report report = { 0 };
	const struct conf_how how = { 0 };
	bool good = conf_load_file(conf, path, &how, &report);

	if (!good)
		conf_report_fault(&report, f);
	conf_report_clear(&report);
	return good;
}

static int complain(const struct fault *f)
{
	fprintf(stderr, "%s: %s\n", program, f->text);
	return EXIT_NO_ANSWER;
}

static bool take_type(struct asking *a, const char *word, struct fault *f)
{
	if (a->type_count < TYPES_MOST && rr_type_parse(word, &a->types[a->type_count])) {
		a->type_count++;
		return true;
	}
	fault_set(f, "'%s' is no type of record", word);
	return false;
}

static void default_types(struct asking *a)
{
	static const uint16_t types[] = { TYPE_A, TYPE_AAAA, TYPE_MX };

	memcpy(a->types, types, sizeof(types));
	a->type_count = COUNT(types);
	a->brief = true;
}

/* Append an address to a list as forward_to takes it. Frees `servers`; returns the new list. */
static char *add_server(char *servers, const char *address, size_t len)
{
	char *more = mem_textf("%s%s%.*s", servers, *servers ? "\n\tforward-addr: " : "", (int)len,
			       address);

	mem_free(servers);
	return more;
}

static char *add_system_servers(char *servers, struct fault *f)
{
	static const char path[] = "/etc/resolv.conf", word[] = "nameserver";
	FILE *file = fopen(path, "re");
	char line[512];

	while (file && fgets(line, sizeof line, file)) {
		const char *at = line + strspn(line, " \t");

		if (strncmp(at, word, strlen(word)) != 0 || !strchr(" \t", at[strlen(word)]))
			continue;
		at += strlen(word);
		at += strspn(at, " \t");
		servers = add_server(servers, at, strcspn(at, " \t\r\n#;"));
	}
	if (file)
		fclose(file);
	if (!*servers)
		fault_set(f, "%s names no resolver", path);
	return servers;
}

static bool take_options(struct asking *a, struct conf *conf, int argc, char **argv, int *verbose,
			 struct fault *f)
{
	char *servers = mem_text("");
	bool good = true;
	int c;

	while (good && (c = getopt_long(argc, argv, "c:t:C:s:f:F:y:rD46vdVh", program_long_options, NULL)) != -1) {
		switch (c) {
		case 'c':
			good = strcasecmp(optarg, "IN") == 0;
			if (!good)
				fault_set(f, "only class IN is looked up, not '%s'", optarg);
			break;
		case 't':
			good = take_type(a, optarg, f);
			break;
		case 'C':
			good = read_file(conf, optarg, f);
			break;
		case 's':
			servers = add_server(servers, optarg, strlen(optarg));
			break;
		case 'r':
			servers = add_system_servers(servers, f);
			good = *servers != '\0';
			break;
		case 'D':
			break;
		case 'f':
			good = set(conf, "trust-anchor-file", optarg, f);
			break;
		case 'F':
			good = set(conf, "trusted-keys-file", optarg, f);
			break;
		case 'y':
			good = set(conf, "trust-anchor", optarg, f);
			break;
		case '4':
			good = set(conf, "do-ip6", "no", f);
			break;
		case '6':
			good = set(conf, "do-ip4", "no", f);
			break;
		case 'v':
			a->tells = true;
			*verbose += !a->as_unbound;
			break;
		case 'd':
			++*verbose;
			break;
		case 'V':
			exit(program_print_version() ? EXIT_GOOD : EXIT_NO_ANSWER);
		case 'h':
			print_usage(stdout);
			exit(EXIT_GOOD);
		default:
			print_usage(stderr);
			exit(EXIT_NO_ANSWER);
		}
	}
	good = good && (!*servers || (set(conf, "do-not-query-localhost", "no", f) &&
				      forward_to(conf, servers, f))) && give_anchors(conf, f);
	mem_free(servers);
	return good;
}

int main(int argc, char **argv)
{
	struct asking a = { .status = EXIT_GOOD };
	struct conf *conf = conf_new();
	struct fault f = { 0 };
	char reverse[80];
	int verbose = 0;

	program = program_name(argv, "resolver-host");
	a.as_unbound = strcmp(program, "unbound-host") == 0;
	if (!take_options(&a, conf, argc, argv, &verbose, &f)) {
		conf_free(conf);
		return complain(&f);
	}
	if (optind + 1 != argc) {
		conf_free(conf);
		print_usage(stderr);
		return EXIT_NO_ANSWER;
	}
	a.said = argv[optind];
	if (host_words_reverse(a.said, reverse)) {
		a.said = reverse;
		if (!a.type_count)
			a.types[a.type_count++] = TYPE_PTR;
	}
	if (!a.type_count)
		default_types(&a);
	hash_start(false);
	(void)log_start(&(struct log_how){ .ident = program });
	atomic_store(&log_verbosity, verbose);
	if (!dname_parse(a.name, a.said, &f) || !run(&a, conf, &f))
		return complain(&f);
	return a.status;
}
