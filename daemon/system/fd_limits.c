/* File descriptors: how many the configuration may need, and how to share out fewer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/fd_limits.h"

#include <sys/resource.h>
#include <string.h>

#include "util/base/log.h"
#include "util/conf/options.h"

enum {
	FOR_THE_PROCESS = 48, /* log, control, pages, zone and list files, what libraries open */
	FOR_A_WORKER = 8,     /* its loop and mailbox */
	PORTS_LEAST = 4,
	CLIENTS_LEAST = 2,
	SERVERS_LEAST = 1,
};

static uint64_t listeners_of(const struct conf_server *s)
{
	return 2 * (uint64_t)s->num_threads * MAX(s->interface.count, (size_t)1);
}

static uint64_t always(const struct conf_server *s)
{
	return FOR_THE_PROCESS + FOR_A_WORKER * (uint64_t)s->num_threads + listeners_of(s);
}

/* Ports lingering for late answers and connections sending their last bytes count against these
 * limits. */
static uint64_t wanted_by_worker(const struct conf_server *s)
{
	return (uint64_t)s->outgoing_range + s->outgoing_num_tcp + s->incoming_num_tcp;
}

uint64_t fd_limits_needed(const struct conf *conf)
{
	const struct conf_server *s = &conf->server;

	return always(s) + s->num_threads * wanted_by_worker(s);
}

struct fd_limits_share fd_limits_divide(const struct conf *conf, uint64_t limit)
{
	const struct conf_server *s = &conf->server;
	uint64_t each, clients, ports, servers;

	if (limit >= fd_limits_needed(conf))
		return (struct fd_limits_share){ s->incoming_num_tcp, s->outgoing_range, s->outgoing_num_tcp };
	each = limit > always(s) ? (limit - always(s)) / s->num_threads : 0;
	/* Clients get at most half, connections to upstreams a quarter, ports the rest. */
	clients = MIN(MAX(each / 2, CLIENTS_LEAST), s->incoming_num_tcp);
	servers = MIN(MAX(each / 4, SERVERS_LEAST), s->outgoing_num_tcp);
	ports = each > clients + servers ? each - clients - servers : 0;
	return (struct fd_limits_share){ (uint32_t)clients,
				     (uint32_t)MIN(MAX(ports, PORTS_LEAST), s->outgoing_range),
				     (uint32_t)servers };
}

static uint64_t limit_now(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return (uint64_t)r.rlim_cur;
}

static void raise_to(uint64_t needed)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || (uint64_t)r.rlim_cur >= needed)
		return;
	/* Raise the hard limit too, if privileged. */
	if (r.rlim_max != RLIM_INFINITY && (uint64_t)r.rlim_max < needed) {
		struct rlimit more = { (rlim_t)needed, (rlim_t)needed };

		if (setrlimit(RLIMIT_NOFILE, &more) == 0)
			return;
		needed = (uint64_t)r.rlim_max;
	}
	r.rlim_cur = (rlim_t)needed;
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

void fd_limits_raise(const struct conf *conf)
{
	uint64_t needed = fd_limits_needed(conf), limit;
	struct fd_limits_share share;

	raise_to(needed);
	limit = limit_now();
	if (limit >= needed)
		return;
	share = fd_limits_divide(conf, limit);
	log_warn("the system lets this process open %llu files where the configuration may need "
		 "%llu: each thread takes at most %u connections of clients and asks from at most "
		 "%u ports at once (raise the limit, LimitNOFILE= in systemd, or lower "
		 "outgoing-range or incoming-num-tcp)",
		 (unsigned long long)limit, (unsigned long long)needed, (unsigned)share.clients,
		 (unsigned)share.ports);
}

struct fd_limits_share fd_limits_share(const struct conf *conf)
{
	return fd_limits_divide(conf, limit_now());
}
