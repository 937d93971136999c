/* Any bytes at all as a lease or hosts file: what is taken lies in them and is bounded, and the
 * names that are published are names of hosts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/leases/hostnames.h"
#include "services/local/zones.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct localzones *zones(void)
{
	static struct conf *conf;
	struct fault f = { 0 };

	if (!conf)
		conf = conf_new();
	return localzones_new(&(struct localzones_how){ .zones = &conf->server.local_zone,
							.data = &conf->server.local_data,
							.ptrs = &conf->server.local_data_ptr,
							.conf = conf,
							.defaults = false },
			      &f);
}

static void check_file(const struct leasefile *f, const char *text, size_t len)
{
	PROMISE(f->count <= LEASES_MOST && f->remarks.count <= LEASE_REMARKS);
	for (size_t i = 0; i < f->count; i++) {
		const struct lease *l = &f->leases[i];

		PROMISE(l->addr.family == 4 || l->addr.family == 6);
		PROMISE(l->name_len == 0 ||
			(l->name >= text && l->name + l->name_len <= text + len));
	}
	for (unsigned i = 0; i < f->remarks.count; i++)
		PROMISE(strlen(f->remarks.first[i].text) < LEASE_REMARK_TEXT);
}

struct domain {
	const uint8_t *name;
};

static void check_record(const struct host_record *r, void *arg)
{
	static const uint8_t arpa[] = "\4arpa";
	const struct domain *d = arg;
	const uint8_t *name = r->type == TYPE_PTR ? r->rdata : r->owner;

	PROMISE(dname_len(r->owner) == r->owner_len);
	PROMISE(r->type != TYPE_PTR || dname_is_under(r->owner, arpa));
	PROMISE(!d->name || dname_equals(dname_parent(name), d->name));
	for (unsigned i = 1; i <= *name; i++)
		PROMISE(name[i] == '-' || (name[i] == '_' && !d->name) ||
			(name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'z'));
}

static void check_names(const struct leasefile *f, bool of_leases)
{
	static const uint8_t lan[] = "\3lan";
	struct hostnames *h = hostnames_new();
	struct host_source_how how = {
		.path = "file", .domain = "lan", .ttl_s = 60, .of_leases = of_leases
	};
	struct domain d = { of_leases ? lan : NULL };
	struct localzones *z = zones();
	struct fault why = { 0 };
	struct host_source *s = hostnames_add(h, &how, &why);

	PROMISE(z && s);
	hostnames_attach(h, z);
	host_source_take(s, f);
	PROMISE(hostnames_publish(h, 1000).put == hostnames_count(h));
	hostnames_each(h, check_record, &d);
	hostnames_drop(h, s);
	hostnames_publish(h, 1000);
	PROMISE(hostnames_count(h) == 0);
	hostnames_free(h);
	localzones_unpin(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;

	for (unsigned format = 0; format < LEASE_FORMAT_COUNT; format++) {
		struct leasefile f = { .format = (enum lease_format)format };
		bool good = leasefile_read(&f, text, len);

		PROMISE(good || (format == LEASES_AUTO && f.count == 0));
		check_file(&f, text, len);
		if (f.count && f.count < 100) {
			check_names(&f, true);
			check_names(&f, false);
		}
		leasefile_clear(&f);
	}
	return 0;
}
