/* Host names from lease and hosts files, published as local data.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A host gets an A or AAAA record for each address, and each address a PTR record. A DHCP client is
 * not trusted: its name is one label of letters, digits and hyphens, below the domain of its file;
 * it must not be a name by which clients find a service (wpad, isatap, localhost), nor one the
 * operator has configured. What hosts files say is the operator's own word.
 *
 * Only differences from what was published before are applied, additions first, so that a host
 * whose address changes is never without one. Main thread only. */
#ifndef SERVICES_LEASES_HOSTNAMES_H
#define SERVICES_LEASES_HOSTNAMES_H

#include "services/leases/file.h"
#include "util/base/list.h"

#define HOST_ADDRESSES 16 /* most of a name, of each family */

struct fault;
struct localzones;

struct hostnames;

struct hostnames *hostnames_new(void) MUST_USE;
void hostnames_free(struct hostnames *h); /* NULL is fine; the records stay where they are */

/* Publish in `z` from now on. Takes a pin. If `z` is another one, everything will be published
 * again; records in the previous zones stay and go with them. */
void hostnames_attach(struct hostnames *h, struct localzones *z);

struct host_source_how {
	const char *path;   /* for messages */
	const char *domain; /* of leases; as configured */
	uint32_t ttl_s;
	bool of_leases; /* names are not trusted */
};

/* One file's hosts. */
struct host_source;

/* Starts without hosts. NULL with a sentence in `f` when `domain` is no name. Earlier ones win. */
struct host_source *hostnames_add(struct hostnames *h, const struct host_source_how *how,
				  struct fault *f) MUST_USE;
/* Move it behind all others. */
void hostnames_last(struct hostnames *h, struct host_source *s);
void hostnames_drop(struct hostnames *h, struct host_source *s);
/* Replace its hosts by those of `f`, which are copied. */
void host_source_take(struct host_source *s, const struct leasefile *f);
const char *host_source_path(const struct host_source *s);

struct hosts_change {
	size_t put, removed; /* records */
	int64_t next_s;      /* when the next lease ends; LEASE_FOREVER: none does */
};

/* Bring the zones up to date. Leases that end by `wall_s` are gone. */
struct hosts_change hostnames_publish(struct hostnames *h, int64_t wall_s);

/* ---- looking ---- */

struct host_report {
	const char *path;
	enum lease_format format;
	size_t hosts; /* with valid names, including expired ones */
	size_t nameless;
	size_t records;               /* published */
	struct lease_remarks remarks; /* of its lines and names */
};

void host_source_report(const struct hostnames *h, const struct host_source *s,
			struct host_report *r);

struct host_record {
	const uint8_t *owner;
	const uint8_t *rdata;
	const struct host_source *source;
	int64_t ends_s;
	uint32_t ttl_s;
	unsigned line;
	uint32_t rank; /* the lowest wins */
	uint16_t type;
	uint8_t owner_len, rdata_len;
};

/* Call `fn` for each published record, grouped by name. */
void hostnames_each(const struct hostnames *h, void (*fn)(const struct host_record *r, void *arg),
		    void *arg);
size_t hostnames_count(const struct hostnames *h); /* records */

#endif
