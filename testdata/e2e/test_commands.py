"""Every command of the control channel, by both clients, at resolverd and at Debian's unbound.

Each row is a claim about form and exit code; what unbound knows, too, must fulfil the same claim.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re
import shutil
import subprocess
import time

import pytest

from lab import ADDRESS, free_port

OK = r"ok\n"
NAME = r"\S+\."
NUMBER = r"-?\d+"
RECORD = r"\S+\.?\t\d+\tIN\t\S+\t.*\n"
SET = r"(;rrset( nsec_apex)?( \d+){5,6}\n(%s)+)" % RECORD
REMOVED = r"ok removed \d+ rrsets, \d+ messages and \d+ key entries\n"
SERVER = r"(127\.[\d.]+|198\.[\d.]+|192\.[\d.]+)"
STATS = r"([a-z0-9.A-Z_+-]+=[\d.]+\n)+"
NO_ARGUMENTS = r"error command \w+ takes no arguments, have 'x'\n"
SECRET = "000102030405060708090a0b0c0d0e0f"

# What resolverd adds to Unbound, or does better on purpose: unbound is not held to it.
OURS = "ours"
# command, input, the form of the whole reply, exit code, whose
COMMANDS = [
    ("status", None, r"version: .*\nverbosity: \d+\nthreads: 1\nmodules: 2 \[ respip iterator \]\nuptime: \d+ seconds\n"
                     r"options: reuseport control\S*\n\S+ \(pid \d+\) is running\.\.\.\n", 0, None),
    ("verbosity 1", None, OK, 0, None),
    ("verbosity x", None, r"error in verbosity number syntax: .*\n", 1, None),
    ("log_reopen", None, OK, 0, None),
    ("stats", None, STATS, 0, None),
    ("stats_noreset", None, STATS, 0, None),
    ("flush_stats", None, OK, 0, None),
    ("local_zone held.example static", None, OK, 0, None),
    ("local_zone free.example nodefault", None, OK, 0, None),
    ("local_zone held.example nonsense", None, r"error not a zone type\. nonsense\n", 1, None),
    ("local_zone held.example", None, r"error could not find next argument after held\.example\n", 1, None),
    ("local_data a.held.example 60 IN A 192.0.2.1", None, OK, 0, None),
    ("local_data a.held.example 60 IN A nonsense", None, r"error.*\n(.*\n)*", 1, None),
    ("list_local_data", None, r"(%s\n)+" % RECORD, 0, None),
    ("list_local_zones", None, r"(%s [a-z_]+\n)+" % r"\S+", 0, None),
    ("local_data_remove a.held.example", None, OK, 0, None),
    ("local_zone_remove held.example", None, OK, 0, None),
    ("local_zone_remove never.was.example", None, OK, 0, None),
    ("local_zones", "one.example static\ntwo.example refuse\n", r"added 2 zones\n", 0, None),
    ("local_zones_remove", "one.example\ntwo.example\n", r"removed 2 zones\n", 0, None),
    ("local_datas", "x.three.example A 192.0.2.3\ny.three.example A 192.0.2.4\n", r"added 2 datas\n", 0, None),
    ("local_datas_remove", "x.three.example\ny.three.example\n", r"removed 2 datas\n", 0, None),
    ("view_list_local_zones lan", None, r"(\S+ [a-z_]+\n)*", 0, None),
    ("view_local_data_remove bare held.example", None, OK, 0, None),
    ("view_local_zone_remove bare held.example", None, OK, 0, None),
    ("view_local_datas_remove bare", "held.example\n", r"removed 0 datas\n", 0, OURS),
    ("view_list_local_zones bare", None, r"", 0, None),
    ("view_local_zone lan in.example static", None, OK, 0, None),
    ("view_list_local_data no-such-view", None, r"error no view with name: no-such-view\n", 1, OURS),
    ("view_local_data no-such-view a.in.example A 192.0.2.5", None, r"error.*\n(.*\n)*", 1, OURS),
    ("local_data_remove", None, r"error.*\n(.*\n)*", 1, OURS),
    ("local_zone_remove", None, r"error.*\n(.*\n)*", 1, OURS),
    ("flush", None, r"error.*\n", 1, OURS),
    ("flush_zone a..b", None, r"error.*\n", 1, OURS),
    ("lookup", None, r"error.*\n", 1, OURS),
    ("stub_add", None, r"error.*\n(.*\n)*", 1, OURS),
    ("insecure_add a..b", None, r"error.*\n", 1, OURS),
    ("set_option", None, r"error.*\n", 1, OURS),
    ("set_option num-threads: 7", None, r"error.*\n", 1, OURS),
    ("set_option local-data-ptr: 192.0.2.7 host.example", None, r"error setting option: .*: local-data-ptr\n", 1, OURS),
    ("get_option", None, r"error.*\n", 1, OURS),
    ("reload +x", None, r"error.*\n", 1, OURS),
    ("view_local_data lan a.in.example A 192.0.2.5", None, OK, 0, None),
    ("view_list_local_data lan", None, r"(%s\n)+" % RECORD, 0, None),
    ("view_local_data_remove lan a.in.example", None, OK, 0, None),
    ("view_local_zone_remove lan in.example", None, OK, 0, None),
    ("view_local_datas lan", "b.in.example A 192.0.2.6\n", r"added 1 datas\n", 0, None),
    ("view_local_datas_remove lan", "b.in.example\n", r"removed 1 datas\n", 0, None),
    ("dump_cache", None, r"START_RRSET_CACHE\n%s*END_RRSET_CACHE\nSTART_MSG_CACHE\n(.*\n)*END_MSG_CACHE\nEOF\n" % SET,
     0, None),
    ("load_cache", "START_RRSET_CACHE\nEND_RRSET_CACHE\nSTART_MSG_CACHE\nEND_MSG_CACHE\nEOF\n", OK, 0, None),
    ("cache_lookup chain.mini", None, r"%s+(msg \S+ IN \S+ qr( [a-z]+)* \S+( -?\d+){8} .*\n(%s)*\n)+" % (SET, RECORD),
     0, OURS),
    ("why target.chain.mini", None, r"the message cache has an answer: .*\n( .*\n)*answer: NOERROR.*\n(%s)+" % RECORD,
     0, OURS),
    ("why", None, r"error.*\n", 1, OURS),
    ("cache_lookup mini", None, r"error name too short: 'mini\.'\..*\n", 1, None),
    ("lookup target.chain.mini", None,
     r"The following name servers are used for lookup of target\.chain\.mini\.\n(.*\n)+", 0, None),
    ("dump_infra", None, r"(%s(@\d+)? \S+ ttl .*\n)+" % SERVER, 0, None),
    ("cache_save", None, r"error there is no cache-file\n", 1, OURS),
    ("list_queries 1", None, r"\S+Z 127\.0\.0\.1 udp target\.chain\.mini\. A NOERROR \S+ \d+\.\d{3} ms.*\n", 0, OURS),
    ("list_queries nonsense", None, r"error.*\n", 1, OURS),
    ("top names", None, r"\d+ target\.chain\.mini\.\n", 0, OURS),
    ("top nonsense", None, r"error.*\n", 1, OURS),
    ("local_data alias.chain.example CNAME target.chain.mini", None, OK, 0, None),
    ("why alias.chain.example", None, r"(.*\n)*.*decided by .*\n(.*\n)*answer: NOERROR.*\n(%s)+" % RECORD, 0, OURS),
    ("flush target.chain.mini", None, OK, 0, None),
    ("flush_type target.chain.mini A", None, OK, 0, None),
    ("flush_type target.chain.mini NONSENSE", None, r"error.*\n", 1, OURS),
    ("flush_zone chain.mini", None, REMOVED, 0, None),
    ("flush_bogus", None, REMOVED, 0, None),
    ("flush_negative", None, REMOVED, 0, None),
    ("flush_requestlist", None, OK, 0, None),
    ("dump_requestlist", None, r"thread #0\n#   type cl name    seconds    module status\n( *\d+ .*\n)*", 0, None),
    ("flush_infra 192.0.2.1", None, OK, 0, None),
    ("flush_infra nonsense", None, r"error parsing ip addr: 'nonsense'\n", 1, None),
    ("flush_infra all", None, OK, 0, None),
    ("get_option num-threads", None, r"1\n", 0, None),
    ("get_option no-such-option", None, r"error unknown option\n", 1, None),
    ("set_option prefetch: yes", None, OK, 0, None),
    ("set_option no-such-option: yes", None, r"error setting option\n", 1, None),
    ("list_stubs", None, r"(\S+ IN stub .*\n)*", 0, None),
    ("list_forwards", None, r"(\S+ IN forward .*\n)*", 0, None),
    ("forward_add f.example 192.0.2.1", None, OK, 0, None),
    ("forward_add", None, r"error.*\n(.*\n)*", 1, None),
    ("forward_remove f.example", None, OK, 0, None),
    ("stub_add s.example 192.0.2.1", None, OK, 0, None),
    ("stub_remove s.example", None, OK, 0, None),
    ("forward 192.0.2.1", None, OK, 0, None),
    ("forward", None, r".*192\.0\.2\.1.*\n", 0, None),
    ("forward off", None, OK, 0, None),
    ("forward_add +i wrong.example 192.0.2.1@x", None, r"error.*\n", 1, OURS),
    ("stub_add +i wrong.example 192.0.2.1 192.0.2.2@x", None, r"error.*\n", 1, OURS),
    ("list_insecure", None, r"(?!(\S+\n)*wrong\.example)(\S+\n)*", 0, None),
    ("list_anchors", None, r"(\S+ \d+ \S+.*\n)*", 0, OURS),
    ("insecure_add i.example", None, OK, 0, None),
    ("insecure_remove i.example", None, OK, 0, None),
    ("ratelimit_list", None, r"(\S+ \d+ limit \d+\n)*", 0, None),
    ("ip_ratelimit_list +a", None, r"(\S+ \d+ limit \d+\n)*", 0, None),
    ("list_auth_zones", None, r"(\S+\t.*\n)*", 0, None),
    ("auth_zone_reload held.zone", None, OK, 0, None),
    ("auth_zone_reload no.zone", None, r"error no auth-zone no\.zone\n", 1, None),
    ("auth_zone_transfer no.zone", None, r"error zone xfr task not found no\.zone\n", 1, None),
    ("auth_zone_transfer Held.zone", None, r"error zone xfr task not found Held\.zone\n", 1, None),
    ("rpz_enable Held.zone", None, r"error auth-zone Held\.zone not RPZ\n", 1, None),
    ("rpz_enable no.zone", None, r"error no auth-zone no\.zone\n", 1, None),
    ("rpz_disable no.zone", None, r"error no auth-zone no\.zone\n", 1, None),
    ("add_cookie_secret nonsense", None, r"error invalid cookie secret.*\n(.*\n)*", 1, OURS),
    ("add_cookie_secret " + SECRET, None, OK, 0, None),
    ("print_cookie_secrets", None, r"(active|staging *)\s*: [0-9a-f]{32}\n(staging.*\n)*", 0, None),
    ("add_cookie_secret " + SECRET[::-1], None, OK, 0, None),
    ("activate_cookie_secret", None, OK, 0, None),
    ("drop_cookie_secret", None, OK, 0, None),
    ("fast_reload", None, OK, 0, None),
    ("fast_reload +vp", None, r"start fast_reload\n(.*\n)+total time +\d+\.\d{6}s\nok\n", 0, None),
    ("fast_reload +x", None, r"error: unknown option '?\+?x'?\n", 1, None),
    ("list_upstreams", None, r"(.*\n)*", 0, OURS),
    ("blocklist_status", None, r"ads: 1 names .*\n(  file .*\n)*", 0, OURS),
    ("blocklist_test ad.example", None, r"list ads blocks it .*\n(.*\n)*ad\.example\. is blocked\n", 0, OURS),
    ("blocklist_allow ad.example", None, OK, 0, OURS),
    ("blocklist_deny other.example", None, OK, 0, OURS),
    ("blocklist_forget ad.example", None, OK, 0, OURS),
    ("blocklist_pause 10", None, OK, 0, OURS),
    ("blocklist_pause 90s", None, OK, 0, OURS),
    ("blocklist_pause 1h", None, OK, 0, OURS),
    ("blocklist_pause 365d", None, OK, 0, OURS),
    ("blocklist_pause 366d", None, r"error.*\n", 1, OURS),
    ("blocklist_pause 49711d", None, r"error.*\n", 1, OURS),  # 2^32 seconds and a few
    ("blocklist_pause 1w", None, r"error.*\n", 1, OURS),
    ("blocklist_pause 0", None, r"error.*\n", 1, OURS),
    ("blocklist_pause x", None, r"error.*\n", 1, OURS),
    ("blocklist_resume", None, OK, 0, OURS),
    ("blocklist_reload", None, OK, 0, OURS),
    ("blocklist_reload none", None, r"error there is no blocklist none\n", 1, OURS),
    ("list_changes", None, r"error: keep-changes is no.*\n", 1, OURS),
    ("changes_export", None, r"error: keep-changes is no.*\n", 1, OURS),
    ("change_undo 1", None, r"error: keep-changes is no.*\n", 1, OURS),
    ("list_leases", None, r"(\S+\t\d+\tIN\t\S+\t\S+\tends .*\n)*", 0, OURS),
    ("lease_status", None, r"(.*\n)*", 0, OURS),
    ("reload", None, OK, 0, None),
    ("reload_keep_cache", None, OK, 0, None),
    ("no_such_command", None, r"error unknown command 'no_such_command'\n", 1, None),
    ("local_zones x", "", r"(%s)?" % NO_ARGUMENTS, 1, OURS),
    ("stop", None, OK, 0, None),
]


def find(program):
    return shutil.which(program, path="/usr/sbin:/usr/local/sbin:/usr/bin")


class Server:
    """One of the two daemons, over a unix socket."""

    def __init__(self, program, folder, net):
        self.folder = str(folder)
        self.socket = self.folder + "/control.sock"
        self.port = free_port()
        with open(self.folder + "/held.zone", "w", encoding="ascii") as f:
            f.write("held.zone. 60 IN SOA ns.held.zone. h.held.zone. 1 2 3 4 5\nheld.zone. 60 IN NS ns.held.zone.\n")
        self.conf = self.folder + "/daemon.conf"
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write('server:\n    interface: 127.0.0.1\n    port: %d\n    username: ""\n    chroot: ""\n'
                    '    directory: "%s"\n    pidfile: ""\n    use-syslog: no\n    module-config: "respip iterator"\n'
                    '    do-daemonize: no\n    do-not-query-localhost: no\n    root-hints: "%s/root.hints"\n'
                    '    cookie-secret-file: "%s/cookies"\n    answer-cookie: yes\n    local-zone: first.example static\n'
                    '    define-tag: "guests"\n    local-zone-tag: first.example guests\n'
                    '    local-data: "a.first.example A 192.0.2.9"\n'
                    'view:\n    name: "lan"\n    local-zone: lan.example static\n'
                    'view:\n    name: "bare"\n'
                    'auth-zone:\n    name: held.zone\n    zonefile: "%s/held.zone"\n'
                    'remote-control:\n    control-enable: yes\n    control-interface: "%s"\n'
                    % (self.port, self.folder, os.path.abspath(net), self.folder, self.folder, self.socket))
        open(self.folder + "/cookies", "w", encoding="ascii").close()
        with open(self.folder + "/list.txt", "w", encoding="ascii") as f:
            f.write("ad.example\n")
        with open(self.conf, encoding="utf-8") as f:
            text = f.read()
        # Unbound 1.17 has no file for cookies, and no Unbound has lists: it would not start.
        if "unbound" in program:
            text = re.sub(r"    (cookie-secret-file|answer-cookie).*\n", "", text)
        else:
            text = text.replace("server:\n", "server:\n    query-ring: 100\n    top-lists: 10\n", 1)
            text += 'blocklist:\n    name: ads\n    file: "%s/list.txt"\n' % self.folder
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(text)
        self.process = subprocess.Popen([program, "-d", "-c", self.conf], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, client, command, stdin=None):
        p = subprocess.run([client, "-c", self.conf, *command.split(" ")], input=stdin, text=True,
                           capture_output=True, timeout=30, check=False)
        return p.returncode, p.stdout

    def wait(self, client):
        deadline = time.monotonic() + 15
        while self.run(client, "status")[0] != 0:
            assert time.monotonic() < deadline, "it does not come up"
            time.sleep(0.1)

    def ask(self):
        subprocess.run([find("dig"), "+time=3", "+tries=3", "-p", str(self.port), "@" + ADDRESS, "target.chain.mini"],
                       capture_output=True, check=True)

    def end(self):
        self.process.kill()
        self.process.wait()


def play(server, client, held_to):
    """Runs every command in turn; what does not fit its claim."""
    wrong = []
    server.wait(client)
    server.ask()
    for command, stdin, form, code, whose in COMMANDS:
        got, out = server.run(client, command, stdin)
        if not held_to(out, whose):
            continue
        if not re.fullmatch(form, out) or code not in (got, None):
            wrong.append((command, got, out[:400]))
    return wrong


@pytest.mark.parametrize("client", ["resolver-control", "unbound-control"])
def test_every_command_has_its_form_and_exit_code(bin_dir, net, tmp_path, client):
    server = Server(os.path.join(bin_dir, "resolverd"), tmp_path, net)
    client = os.path.join(bin_dir, client) if client.startswith("resolver") else find(client)
    # The older client refuses a configuration with options it does not know.
    if "unbound" in client:
        conf = str(tmp_path / "client.conf")
        with open(conf, "w", encoding="utf-8") as f:
            f.write('remote-control:\n    control-enable: yes\n    control-interface: "%s"\n' % server.socket)
        server.conf = conf
    try:
        wrong = play(server, client, lambda out, whose: True)
        assert not wrong, "\n".join(map(str, wrong))
        assert server.process.wait(10) == 0
    finally:
        server.end()


def test_what_refuses_input_is_told_though_the_input_was_not_taken(bin_dir, net, tmp_path):
    """Whether the daemon has closed by the time the input is sent is a matter of chance."""
    server = Server(os.path.join(bin_dir, "resolverd"), tmp_path, net)
    client = os.path.join(bin_dir, "resolver-control")
    try:
        server.wait(client)
        for command in ("local_zones x", "view_local_datas no-such-view"):
            for lines in (0, 5000):
                code, out = server.run(client, command, "a.example. A 192.0.2.1\n" * lines)
                assert code == 1 and out.startswith("error "), (command, lines, code, out)
    finally:
        server.end()


def test_unbound_fulfils_the_same_claims(bin_dir, net, tmp_path):
    server = Server(find("unbound"), tmp_path, net)

    def held_to(out, whose):
        return whose != OURS and not out.startswith("error unknown command")
    try:
        wrong = play(server, os.path.join(bin_dir, "resolver-control"), held_to)
        assert not wrong, "\n".join(map(str, wrong))
    finally:
        server.end()


def test_the_table_of_this_test_is_whole(bin_dir):
    usage = subprocess.run([os.path.join(bin_dir, "resolver-control"), "-h"], capture_output=True, text=True,
                           check=False).stdout
    known = set(re.findall(r"(?m)^  ([a-z_]+)", usage.split("Commands:")[1])) - {"start"}
    assert known - {row[0].split(" ")[0] for row in COMMANDS} == set()
