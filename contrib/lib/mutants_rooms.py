"""The rooms in which a mistake is a security matter, for contrib/mutate: a name, and its files; after a colon only these
functions of it. A third column names end-to-end tests that are played where nothing else notices.

SPDX-License-Identifier: BSD-3-Clause
"""
ROOMS = {row.split("|")[0].strip(): (row.split("|")[1].split(), row.split("|")[2].split()) for row in """\
scrub       | iterator/scrub.c iterator/scrub_set.c |
digest      | iterator/digest.c |
classify    | iterator/classify.c |
delegation  | iterator/delegation.c |
select      | iterator/select.c |
judge       | validator/judge.c |
chain       | validator/chain.c |
vouch       | validator/vouch.c validator/keyset.c |
verify      | validator/verify.c validator/crypto.c validator/ledger.c |
denial      | util/denial.c util/type_bitmap.c |
nsec3       | util/nsec3.c |
negative    | services/cache/negative.c services/cache/ranges.c |
rrsets      | services/cache/rrset.c services/cache/hearsay.c |
autotrust   | validator/autotrust.c validator/autotrust_file.c validator/roll.c |
cookies     | services/cookies.c |
acl         | services/acl.c |
limits      | services/ratelimit.c services/waitlimit.c services/zonelimits.c services/connlimit.c |
matching    | services/upstream_wire.c:upstream_write,upstream_judge_echo services/upstream_udp.c:flight_with,was_used,\
port_read,port_strayed,port_hand_over,port_send,port_open,port_find,port_settle,is_too_old,bind_somewhere,on_ready \
services/upstream.c:same_text,same_subnet,same_ask,flags_of,note_stray,on_strayed,edns_is_refused,is_cut,on_arrived,\
turn_from_refusal,may_turn_to_tcp,note_answer |
0x20        | iterator/caps.c services/upstream_wire.c:spell |
tls         | util/tls.c util/tls_context.c util/tls_sessions.c services/tls_conf.c | test_tls.py test_upstreams.py
tsig        | services/tsig.c |
transfers   | services/authzone_xfer.c services/authzone_stream.c services/authzone_transfer.c | test_zones.py
zonemd      | services/zonemd.c |
rpz         | services/rpz.c services/policy_judge.c services/policy.c |
dns64       | services/dns64.c services/nat64.c services/nat64.h |
blocklists  | services/blocklist_name.c services/blocklist_table.c services/blocklist_answer.c services/blocklist_rules.c \
services/blocklist_state.c:list_state_is_paused services/blocklist.c:is_for,ask_own,allows,block,blocklists_block,blocklists_block_alias,blocklists_might_block |
cache-file  | services/cache/file_block.c services/cache/file_read.c services/cache/file_write.c | test_cache_file.py
cachedb     | services/cachedb.c services/cachedb_entry.c services/cachedb_frame.c | test_cachedb.py
proxy       | util/proxy2.c services/listen_udp.c:proxy_of,read_proxy \
services/listen_conn.c:admit,pass_on,may_speak_for,encrypt,read_proxy | test_proxy.py
control     | daemon/control_request.c daemon/control.c:is_stranger,is_admitted,read_more,make_room,connection_open,\
open_all,on_limit,command_of daemon/control_doors.c:clear_path,listen_at_path,open_path,open_address,open_one,close_some,\
control_doors_open \
services/tls_conf.c:tls_conf_control,tls_conf_control_server,tls_conf_control_client | test_control_tls.py test_control.py
sandbox     | daemon/sandbox.c daemon/sandbox_calls.c daemon/sandbox_files.c | test_sandbox.py
""".splitlines()}
