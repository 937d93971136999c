"""The rooms in which a mistake is a security matter, for contrib/mutate: a name, and its files; after a colon only these
functions of it. A third column names end-to-end tests that are played where nothing else notices.

SPDX-License-Identifier: BSD-3-Clause
"""
ROOMS = {row.split("|")[0].strip(): (row.split("|")[1].split(), row.split("|")[2].split()) for row in """\
scrub       | iterator/scrub.c iterator/scrub_set.c |
response    | iterator/response.c |
classify    | iterator/classify.c |
delegation  | iterator/delegation.c |
select      | iterator/select.c iterator/race.c |
choose      | iterator/choose.c iterator/targets.c iterator/qmin.c |
lookup      | iterator/iterator.c iterator/iter.c iterator/hints.c iterator/route.c iterator/route_zone.c |
from_cache  | iterator/from_cache.c iterator/confirm.c iterator/aliases.c iterator/parent_fallback.c |
subnets     | iterator/client_subnet.c services/mesh/subnet_groups.c services/cache/subnet_index.c services/forward/subnets.c util/net/subnet.c |
validator   | validator/validator.c validator/keycache.c validator/rules.c |
answer_validity | validator/answer_validity.c validator/answer_denial.c |
trust_chain | validator/trust_chain.c |
ds_match    | validator/ds_match.c validator/keyset.c |
verify      | validator/verify.c validator/crypto.c validator/checked_sigs.c |
denial      | util/dns/denial.c util/dns/type_bitmap.c |
nsec3       | util/dns/nsec3.c |
aggressive  | services/cache/aggressive.c services/cache/nsec_ranges.c |
rrsets      | services/cache/rrset.c services/cache/referral_ds.c |
stored      | services/cache/msg.c services/mesh/cache_rules.c services/mesh/stale.c services/cache/verified.c |
clock       | validator/clock.c validator/date.c validator/bind_keys.c |
autotrust   | validator/autotrust.c validator/autotrust_file.c validator/roll.c |
anchors     | validator/anchors.c validator/anchors_conf.c |
names       | util/dns/dname.c util/dns/rr.c util/dns/rrset.c util/names/trie.c |
addresses   | util/net/addr.c services/net/addresses.c |
messages    | util/dns/msg_read.c util/dns/edns.c util/dns/msg.c util/dns/msgname.c |
cookies     | services/access/cookies.c |
acl         | services/access/acl.c |
admission   | services/mesh/admit.c daemon/worker/frontend.c daemon/worker/snoop.c daemon/worker/chaos.c |
questions   | daemon/worker/client_query.c daemon/worker/local.c daemon/worker/full_answer.c |
waiters     | services/mesh/waiters.c services/mesh/waiter.c services/net/shares.c |
budgets     | services/mesh/children.c services/mesh/query.c services/query/budget.c |
views       | services/policy/views.c services/policy/response_ip.c services/local/tags.c services/local/zones.c |
limits      | services/access/ratelimit.c services/access/waitlimit.c services/forward/zonelimits.c services/net/connection_limits.c |
forwards    | services/forward/forward.c services/upstream/peer.c services/upstream/unwanted.c |
matching    | services/upstream/wire.c:upstream_write,upstream_check_echo,upstream_refuses_edns services/upstream/question.c services/upstream/udp.c:flight_with,was_used,\
port_read,port_strayed,port_hand_over,port_send,port_open,port_find,port_after_query,is_too_old,bind_somewhere,on_ready \
services/upstream/upstream.c:note_stray,on_strayed,is_cut,on_arrived,\
turn_from_refusal,may_turn_to_tcp,note_answer |
0x20        | iterator/caps.c services/upstream/wire.c:spell |
tls         | util/net/tls.c util/net/tls_context.c util/net/tls_sessions.c services/config/tls.c | test_tls.py test_upstreams.py
tsig        | services/authzone/tsig.c |
transfers   | services/xfer/schedule.c services/authzone/stream.c services/xfer/round.c services/xfer/notify_senders.c | test_zones.py
zonemd      | services/authzone/zonemd.c |
rpz         | services/authzone/rpz.c services/policy/answer_policy.c services/policy/policy.c |
rpz-applied | services/policy/rpz_apply.c services/policy/rpz_match.c |
dns64       | services/dns64/dns64.c services/answer/nat64.c services/answer/nat64.h |
blocklists  | services/blocklist/name.c services/blocklist/table.c services/blocklist/answer.c services/blocklist/rules.c \
services/blocklist/state.c:blocklist_state_is_paused services/blocklist/blocklist.c:is_for,ask_own,allows,block,blocklists_block,blocklists_block_alias,blocklists_might_block |
cache-file  | services/cachefile/block.c services/cachefile/read.c services/cachefile/write.c | test_cache_file.py
cachedb     | services/cachedb/cachedb.c services/cachedb/entry.c services/cachedb/frame.c | test_cachedb.py
proxy       | util/net/proxy2.c services/listen/udp.c:proxy_of,read_proxy \
services/listen/connection.c:admit,pass_on,may_speak_for,encrypt,read_proxy | test_proxy.py
https       | services/listen/doh.c services/listen/http.c util/net/http2_abuse.c services/net/edns_conn.c |
http2       | util/net/http2_server.c util/net/http2_client.c |
control     | daemon/control/request.c daemon/control/control.c:is_stranger,is_admitted,read_more,make_room,connection_open,\
open_all,on_limit,command_of daemon/control/sockets.c:clear_path,listen_at_path,open_path,open_address,open_one,close_some,\
control_sockets_open \
services/config/tls.c:tls_conf_control,tls_conf_control_server,tls_conf_control_client | test_control_tls.py test_control.py
privileges  | daemon/system/privileges.c daemon/system/capabilities.c daemon/system/core_dumps.c | test_sandbox.py
sandbox     | daemon/system/sandbox.c daemon/system/sandbox_calls.c daemon/system/sandbox_files.c | test_sandbox.py
""".splitlines()}
