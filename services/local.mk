# services: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	services/acl.c services/acl.h \
	services/addresses.c services/addresses.h \
	services/answer.c services/answer.h \
	services/authzone.c services/authzone.h \
	services/authzone_answer.c services/authzone_answer.h \
	services/authzone_changes.c services/authzone_changes.h \
	services/authzone_data.c services/authzone_data.h \
	services/authzone_hosts.c services/authzone_hosts.h \
	services/authzone_job.c services/authzone_job.h \
	services/authzone_primary.c services/authzone_primary.h \
	services/authzone_stream.c services/authzone_stream.h \
	services/authzone_transfer.c \
	services/authzone_xfer.c services/authzone_xfer.h services/authzone_xfer_private.h \
	services/blocklist.c services/blocklist.h \
	services/blocklist_adblock.c services/blocklist_rpz.c \
	services/blocklist_answer.c services/blocklist_answer.h \
	services/blocklist_clause.c services/blocklist_clause.h \
	services/blocklist_json.c services/blocklist_rows.c \
	services/blocklist_line.c services/blocklist_line.h \
	services/blocklist_load.c services/blocklist_load.h services/blocklist_load_private.h \
	services/blocklist_name.c services/blocklist_name.h \
	services/blocklist_policy.c services/blocklist_policy.h \
	services/blocklist_read.c services/blocklist_read.h services/blocklist_private.h \
	services/blocklist_rules.c services/blocklist_rules.h \
	services/blocklist_source.c \
	services/blocklist_special.c services/blocklist_special.h \
	services/blocklist_state.c services/blocklist_state.h \
	services/blocklist_store.c services/blocklist_store.h \
	services/blocklist_table.c services/blocklist_table.h \
	services/budget.c services/budget.h \
	services/cache/families.c services/cache/families.h \
	services/cache/file.h services/cache/file_entry.h \
	services/cache/file_block.c services/cache/file_block.h \
	services/cache/file_zones.c services/cache/file_zones.h \
	services/cache/forget.c services/cache/forget.h \
	services/cache/file_disk.c services/cache/file_read.c services/cache/file_write.c \
	services/cache/hearsay.c services/cache/hearsay.h \
	services/cache/infra.c services/cache/infra.h \
	services/cache/mention.c services/cache/mention.h \
	services/cache/msg.c services/cache/msg.h \
	services/cache/negative.c services/cache/negative.h \
	services/cache/places.c services/cache/places.h \
	services/cache/presence.c services/cache/presence.h \
	services/cache/ranges.c services/cache/ranges.h \
	services/cache/rrset.c services/cache/rrset.h \
	services/cache/slab.c services/cache/slab.h \
	services/cache/store.c services/cache/store.h \
	services/cachedb.c services/cachedb.h \
	services/cachedb_entry.c services/cachedb_entry.h \
	services/cachedb_frame.c services/cachedb_redis.c services/cachedb_store.h \
	services/carrier.def services/carrier.h services/upstream.c services/upstream.h \
	services/connlimit.c services/connlimit.h \
	services/conntable.c services/conntable.h \
	services/cookies.c services/cookies.h \
	services/default_zones.def \
	services/discovery.c services/discovery.h \
	services/dns64.c services/dns64.h \
	services/dnstap.c services/dnstap.h \
	services/dnstap_wire.c services/dnstap_wire.h \
	services/doh.c services/doh.h \
	services/env.h \
	services/fetch.c services/fetch.h \
	services/forward.c services/forward.h \
	services/halls.h \
	services/hints_builtin.def \
	services/hop.c services/hop.h \
	services/hostnames.c services/hostnames.h \
	services/interfaces.c services/interfaces.h \
	services/lead.c services/lead.h \
	services/lease_trouble.def \
	services/leasefile.c services/leasefile.h services/leasefile_private.h \
	services/leasefile_isc.c \
	services/leasefile_line.c \
	services/leasefile_kea.c \
	services/listen.h \
	services/listen_conn.c services/listen_conn.h \
	services/listen_frames.c \
	services/listen_http.c \
	services/listen_listeners.c \
	services/listen_socket.c services/listen_socket.h \
	services/listen_tcp.c services/listen_tcp.h \
	services/listen_udp.c services/listen_udp.h \
	services/loader.c services/loader.h \
	services/localzone.c services/localzone.h services/localzone_private.h \
	services/localzone_batch.c services/localzone_build.c services/localzone_node.c services/localzone_record.c \
	services/mesh.c services/mesh.h services/mesh_private.h \
	services/mesh_admit.c services/mesh_halls.c services/mesh_children.c services/mesh_stale.c services/mesh_waiters.c \
	services/metrics.c services/metrics.h \
	services/module.h \
	services/nat64.c services/nat64.h \
	services/policed.c services/policed.h \
	services/policy.c services/policy.h services/policy_judge.c \
	services/policy_zones.c services/policy_zones.h \
	services/query.c services/query.h \
	services/querylog.c services/querylog.h \
	services/queryring.c services/queryring.h \
	services/ratelimit.c services/ratelimit.h \
	services/record_data.c services/record_data.h \
	services/registered_ports.def \
	services/report.c services/report.h \
	services/resp.c services/resp.h \
	services/response_ip.c services/response_ip.h \
	services/rpz.c services/rpz.h \
	services/server_text.c services/server_text.h \
	services/setfill.c services/setfill.h \
	services/settled.c services/settled.h \
	services/shares.c services/shares.h \
	services/snapshot.c services/snapshot_pin.c services/snapshot.h \
	services/stats.c services/stats.def services/stats.h \
	services/subnets.c services/subnets.h \
	services/tags.c services/tags.h \
	services/tap.c services/tap.h \
	services/tap_message.c services/tap_message.h \
	services/tap_queue.c services/tap_queue.h \
	services/tls_conf.c services/tls_conf.h \
	services/toplist.c services/toplist.h \
	services/trace.c services/trace.h \
	services/tsig.c services/tsig.h \
	services/unwanted.c services/unwanted.h \
	services/upstream_conn.c services/upstream_pool.h \
	services/upstream_dial.c services/upstream_dial.h \
	services/upstream_https.c \
	services/upstream_peer.c services/upstream_peer.h \
	services/upstream_pool.c \
	services/upstream_source.c services/upstream_source.h \
	services/upstream_streams.c \
	services/upstream_tcp.c \
	services/upstream_udp.c \
	services/upstream_wire.c services/upstream_wire.h \
	services/verified.c services/verified.h services/verified_private.h \
	services/views.c services/views.h \
	services/waiter.c services/waiter.h \
	services/waitlimit.c services/waitlimit.h \
	services/witness.c services/witness.h \
	services/zonelimits.c services/zonelimits.h \
	services/zonemd.c services/zonemd.h \
	services/zonetype.def

EXTRA_DIST += services/tests/cachedb_house.h services/tests/cachefile_house.h services/tests/conf.h services/tests/denials.h services/tests/made.h services/tests/mesh_house.h services/tests/protobuf.h services/tests/run.h services/tests/upstream_house.h services/tests/wire.h

if HAVE_CMOCKA
SERVICES_TESTS = \
	services/tests/acl \
	services/tests/answer \
	services/tests/authzone \
	services/tests/authzone_changes \
	services/tests/authzone_stream \
	services/tests/authzone_xfer \
	services/tests/blocklist \
	services/tests/blocklist_answer \
	services/tests/blocklist_name \
	services/tests/blocklist_policy \
	services/tests/blocklist_read \
	services/tests/blocklist_rules \
	services/tests/blocklist_table \
	services/tests/budget \
	services/tests/cachedb \
	services/tests/cachedb_connections \
	services/tests/cachedb_module \
	services/tests/cachefile \
	services/tests/cachefile_damage \
	services/tests/cachefile_blocks \
	services/tests/cachefile_entries \
	services/tests/connlimit \
	services/tests/conntable \
	services/tests/cookies \
	services/tests/dns64 \
	services/tests/doh \
	services/tests/families \
	services/tests/forget \
	services/tests/forward \
	services/tests/hearsay \
	services/tests/hop \
	services/tests/hostnames \
	services/tests/infra \
	services/tests/interfaces \
	services/tests/leasefile \
	services/tests/listen_http \
	services/tests/listen_socket \
	services/tests/listen_tcp \
	services/tests/listen_udp \
	services/tests/loader \
	services/tests/localzone \
	services/tests/mesh \
	services/tests/mesh_halls \
	services/tests/mesh_room \
	services/tests/mesh_stuck \
	services/tests/mesh_time \
	services/tests/metrics \
	services/tests/module_events \
	services/tests/msgcache \
	services/tests/negative \
	services/tests/negative_learn \
	services/tests/places \
	services/tests/policy \
	services/tests/proxied \
	services/tests/policy_judge \
	services/tests/querylog \
	services/tests/queryring \
	services/tests/presence \
	services/tests/ranges \
	services/tests/ratelimit \
	services/tests/record_data \
	services/tests/report \
	services/tests/rpz \
	services/tests/rrsetcache \
	services/tests/shares \
	services/tests/slab \
	services/tests/snapshot \
	services/tests/stats \
	services/tests/store \
	services/tests/subnets \
	services/tests/tap \
	services/tests/tls_conf \
	services/tests/toplist \
	services/tests/tsig \
	services/tests/unwanted \
	services/tests/upstream \
	services/tests/upstream_peer \
	services/tests/upstream_tcp \
	services/tests/upstream_tls \
	services/tests/upstream_udp \
	services/tests/upstream_wait \
	services/tests/upstream_wire \
	services/tests/verified \
	services/tests/views \
	services/tests/waiter \
	services/tests/waitlimit \
	services/tests/zonemd

check_PROGRAMS += $(SERVICES_TESTS)
TESTS += $(SERVICES_TESTS)
endif

EXTRA_DIST += services/tests/xfer_house.h

# Built by name only: make contrib/bench/micro contrib/bench/micro_hit contrib/bench/sim testdata/lists/judge
EXTRA_PROGRAMS = contrib/bench/micro contrib/bench/micro_hit contrib/bench/sim testdata/lists/judge
contrib_bench_sim_LDADD = $(LDADD) -lm
CLEANFILES += $(EXTRA_PROGRAMS)
