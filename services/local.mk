# services: what queries need, in rooms, those below first; see doc/internals.md.
include services/query/local.mk
include services/net/local.mk
include services/cache/local.mk
include services/local/local.mk
include services/background/local.mk
include services/forward/local.mk
include services/access/local.mk
include services/answer/local.mk
include services/authzone/local.mk
include services/leases/local.mk
include services/stats/local.mk
include services/history/local.mk
include services/dnstap/local.mk
include services/blocklist/local.mk
include services/listen/local.mk
include services/upstream/local.mk
include services/policy/local.mk
include services/mesh/local.mk
include services/config/local.mk
include services/xfer/local.mk
include services/cachedb/local.mk
include services/dns64/local.mk
include services/cachefile/local.mk

EXTRA_DIST += services/tests/conf.h services/tests/made.h

# Built by name only: make contrib/bench/micro contrib/bench/micro_hit contrib/bench/sim testdata/lists/judge
EXTRA_PROGRAMS = contrib/bench/micro contrib/bench/micro_hit contrib/bench/sim testdata/lists/judge
contrib_bench_sim_LDADD = $(LDADD) -lm
CLEANFILES += $(EXTRA_PROGRAMS)
