/* The only file that names every module.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/modules.h"

#include <string.h>

#include "iterator/iterator.h"
#include "services/cachedb/cachedb.h"
#include "services/dns64/dns64.h"
#include "services/mesh/subnet_group.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/conf/options.h"
#include "util/net/tls.h"
#include "validator/clock.h"
#include "validator/trust.h"
#include "validator/validator.h"

const struct module *const modules[] = { &dns64_module, &cachedb_module, &subnetcache_module,
					 &validator_module, &iterator_module, NULL };

static const struct module *module_named(const char *name, size_t len)
{
	for (size_t i = 0; modules[i]; i++)
		if (strlen(modules[i]->name) == len && memcmp(modules[i]->name, name, len) == 0)
			return modules[i];
	return NULL;
}

bool modules_chain(const struct module *chain[QUERY_MODULES + 1], const struct conf *conf,
		   struct fault *f)
{
	const char *at = conf->server.module_config;
	unsigned count = 0;

	while (*(at += strspn(at, " \t"))) {
		size_t len = strcspn(at, " \t");
		const struct module *m = module_named(at, len);

		if (m && count == QUERY_MODULES) {
			fault_set(f, "module-config: \"%s\" names more than %d modules that have work to do",
				  conf->server.module_config, QUERY_MODULES);
			return false;
		}
		if (m)
			chain[count++] = m;
		at += len;
	}
	chain[count] = NULL;
	if (count)
		return true;
	fault_set(f, "module-config: \"%s\" names no module that finds answers",
		  conf->server.module_config);
	return false;
}

static bool chain_has(const struct module *const *chain, const struct module *m)
{
	while (*chain && *chain != m)
		chain++;
	return *chain;
}

struct snapshot *modules_snapshot(struct conf *conf, struct fault *f)
{
	const struct module *chain[QUERY_MODULES + 1];
	struct trust_store *trust = NULL;
	struct snapshot *s;

	if (!modules_chain(chain, conf, f))
		return NULL;
	if (chain_has(chain, &validator_module) && !(trust = trust_new(conf, f)))
		return NULL;
	if (trust && anchors_count(trust->anchors) == 0 &&
	    anchors_rolling_count(trust->anchors) == 0) {
		/* no trust anchor: nothing can be proven, so skip validation altogether */
		trust_free(trust);
		trust = NULL;
	}
	s = snapshot_new(conf, f);
	if (!s) {
		trust_free(trust);
		return NULL;
	}
	snapshot_entrust(s, trust, trust_free);
	tls_client_doubt_clock(s->tls_client, clock_floor(conf, trust));
	return s;
}
