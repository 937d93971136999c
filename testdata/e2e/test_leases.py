"""Names of hosts from lease and hosts files, followed as the files change.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import threading
import time

import dns.rcode
import pytest

from lab import texts, until

NOW = int(time.time())
LATER = NOW + 3600
CLAUSE = 'dhcp-leases:\n    file: "%s"\n    domain: "%s"\n    ttl: 30\n'


def dnsmasq(*hosts, ends=LATER):
    return "".join("%d 02:00:00:00:00:01 %s %s *\n" % (ends, address, name) for name, address in hosts)


def isc(*hosts, ends=LATER):
    when = time.strftime("%w %Y/%m/%d %H:%M:%S", time.gmtime(ends))
    return "authoring-byte-order little-endian;\n" + "".join(
        "lease %s {\n  starts 4 2020/01/01 00:00:00;\n  ends %s;\n  binding state active;\n"
        "  client-hostname \"%s\";\n}\n" % (address, when, name) for name, address in hosts)


def kea(*hosts, ends=LATER):
    return ("address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n"
            + "".join("%s,02:00:00:00:00:01,,3600,%d,1,0,0,%s,0,\n" % (address, ends, name) for name, address in hosts))


def odhcpd(*hosts, ends=LATER):
    return "".join("# br-lan 020000000001 ipv4 %s %d 7 32 %s/32\n%s\t%s.lan\n" % (name, ends, address, address, name)
                   for name, address in hosts)


def hosts_file(*hosts):
    return "".join("%s %s\n" % (address, name) for name, address in hosts)


def replace(path, text):
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(text)
    os.rename(path + ".new", path)


def rewrite(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def addresses(d, name, rrtype="A"):
    return texts(d.ask(name, rrtype), rrtype)


@pytest.fixture
def d(daemon, tmp_path):
    leases = str(tmp_path / "leases")
    with daemon("hosts-file: \"%s\"" % (tmp_path / "hosts"), 'local-data: "nas.home.arpa. A 192.0.2.200"',
                more=CLAUSE % (leases, "home.arpa")) as it:
        it.leases, it.hosts = leases, str(tmp_path / "hosts")
        yield it


@pytest.mark.parametrize("write", [replace, rewrite])
@pytest.mark.parametrize("server", [dnsmasq, isc, kea, odhcpd])
def test_a_file_is_followed(d, server, write):
    assert addresses(d, "pc.home.arpa") == []
    write(d.leases, server(("pc", "192.168.7.2"), ("tv", "192.168.7.3"), ("wpad", "192.168.7.4"),
                           ("nas", "192.168.7.5")))
    until(lambda: addresses(d, "pc.home.arpa") == ["192.168.7.2"])
    assert texts(d.ask("2.7.168.192.in-addr.arpa", "PTR"), "PTR") == ["pc.home.arpa."]
    assert d.ask("wpad.home.arpa").rcode() == dns.rcode.NXDOMAIN
    assert addresses(d, "nas.home.arpa") == ["192.0.2.200"]
    assert d.ask("5.7.168.192.in-addr.arpa", "PTR").rcode() == dns.rcode.NXDOMAIN
    write(d.leases, server(("pc", "192.168.7.9")))
    until(lambda: addresses(d, "pc.home.arpa") == ["192.168.7.9"])
    assert d.ask("tv.home.arpa").rcode() == dns.rcode.NXDOMAIN
    assert d.ask("2.7.168.192.in-addr.arpa", "PTR").rcode() == dns.rcode.NXDOMAIN


def test_a_journal_is_followed_line_by_line(d):
    rewrite(d.leases, kea(("pc", "192.168.7.2")))
    until(lambda: addresses(d, "pc.home.arpa") == ["192.168.7.2"])
    with open(d.leases, "a", encoding="ascii") as f:
        f.write(kea(("tv", "192.168.7.3")).split("\n")[1] + "\n")
        f.flush()
        until(lambda: addresses(d, "tv.home.arpa") == ["192.168.7.3"])
        f.write("192.168.7.2,02:00:00:00:00:01,,0,%d,1,0,0,pc,0,\n" % LATER)
        f.flush()
        until(lambda: addresses(d, "pc.home.arpa") == [])
    # Kea clears up: what was there goes aside, a new journal begins
    os.rename(d.leases, d.leases + ".1")
    rewrite(d.leases, kea(("phone", "192.168.7.4")))
    until(lambda: addresses(d, "phone.home.arpa") == ["192.168.7.4"])
    assert addresses(d, "tv.home.arpa") == ["192.168.7.3"]
    rewrite(d.leases + ".completed", kea(("tv", "192.168.7.3")))
    os.unlink(d.leases + ".1")
    os.rename(d.leases + ".completed", d.leases + ".2")
    time.sleep(0.3)
    assert addresses(d, "tv.home.arpa") == ["192.168.7.3"]


def test_a_lease_ends_in_time(d):
    rewrite(d.leases, dnsmasq(("pc", "192.168.7.2"), ends=int(time.time()) + 2) + dnsmasq(("tv", "192.168.7.3")))
    until(lambda: addresses(d, "pc.home.arpa"))
    until(lambda: d.ask("pc.home.arpa").rcode() == dns.rcode.NXDOMAIN)
    assert addresses(d, "tv.home.arpa") == ["192.168.7.3"]


def test_what_a_file_said_stays_when_it_goes(d):
    rewrite(d.leases, dnsmasq(("pc", "192.168.7.2")))
    until(lambda: addresses(d, "pc.home.arpa"))
    rewrite(d.leases, "<html>no leases here</html>\n")
    until(lambda: "no lease or hosts file" in d.control("lease_status"))
    assert addresses(d, "pc.home.arpa") == ["192.168.7.2"]
    os.unlink(d.leases)
    until(lambda: "No such file" in d.control("lease_status"))
    assert addresses(d, "pc.home.arpa") == ["192.168.7.2"]
    replace(d.leases, "")
    until(lambda: addresses(d, "pc.home.arpa") == [])


def test_leases_survive_a_reload(d):
    rewrite(d.leases, dnsmasq(("pc", "192.168.7.2")))
    rewrite(d.hosts, "192.168.7.9 printer.example printer\n")
    until(lambda: addresses(d, "pc.home.arpa") and addresses(d, "printer"))
    os.unlink(d.leases)
    assert d.control("reload") == "ok\n"
    assert addresses(d, "pc.home.arpa") == ["192.168.7.2"]
    assert addresses(d, "printer") == ["192.168.7.9"]
    assert d.control("set_option", "verbosity:", "1") == "ok\n"
    assert addresses(d, "pc.home.arpa") == ["192.168.7.2"]
    rewrite(d.hosts + ".more", "192.168.7.10 scanner\n")
    assert d.control("set_option", "hosts-file:", d.hosts + ".more") == "ok\n"
    assert addresses(d, "scanner") == ["192.168.7.10"] and addresses(d, "printer") == ["192.168.7.9"]
    d.configure([])
    assert d.control("reload") == "ok\n"
    assert addresses(d, "pc.home.arpa") == []
    assert d.control("list_leases") == ""


def test_control_shows_them(d):
    rewrite(d.leases, dnsmasq(("pc", "192.168.7.2"), ("wpad", "192.168.7.3"), ("nas", "192.168.7.4")))
    rewrite(d.hosts, "192.168.7.9 printer.example printer\nnonsense\n")
    until(lambda: "printer" in d.control("list_leases") and "pc" in d.control("list_leases"))
    listed = d.control("list_leases").splitlines()
    assert "pc.home.arpa.\t30\tIN\tA\t192.168.7.2\tends %d\t%s:1" % (LATER, d.leases) in listed
    assert "printer.example.\t60\tIN\tA\t192.168.7.9\tends never\t%s:1" % d.hosts in listed
    status = d.control("lease_status")
    assert "%s\tformat dnsmasq\thosts 2\tnameless 0\trecords 2\tleft out 2\t" % d.leases in status
    assert "\tline 2: 'wpad': reserved name\n" in status
    assert "\tline 3: 'nas.home.arpa.': the name is in the configuration\n" in status
    assert "\tline 2: 'nonsense': malformed line\n" in status
    d.control("set_option", "extended-statistics:", "yes")
    stats = d.control("stats_noreset")
    assert "hosts.files=2\n" in stats and "hosts.records=5\n" in stats and "hosts.left_out=3\n" in stats


def test_what_control_writes_down_is_the_operators(d):
    rewrite(d.leases, dnsmasq(("pc", "192.168.7.2")))
    until(lambda: addresses(d, "pc.home.arpa"))
    d.control("local_data", "pc.home.arpa.", "A", "192.0.2.9")
    until(lambda: addresses(d, "pc.home.arpa") == ["192.0.2.9"])
    d.control("local_data_remove", "pc.home.arpa.")
    until(lambda: addresses(d, "pc.home.arpa") == ["192.168.7.2"])


def test_leases_are_swapped_under_load(daemon, tmp_path):
    """A hundred times all leases change: no question is lost or answered wrongly, and none takes longer than
    20 ms that would not have without. A busy machine makes some wait anyway, so spells of changing and of
    rest take turns, and are compared."""
    path = str(tmp_path / "leases")
    count = 300

    def all_of(turn):
        return dnsmasq(*[("h%d" % i, "10.%d.%d.%d" % (turn % 2, i // 250, i % 250 + 1)) for i in range(count)])

    replace(path, all_of(0))
    with daemon("num-threads: 2", 'local-data: "still.example. A 192.0.2.1"', more=CLAUSE % (path, "lan")) as d:
        until(lambda: addresses(d, "h0.lan"))
        over, changing, wrong = threading.Event(), threading.Event(), []
        asked, slow = {True: 0, False: 0}, {True: 0, False: 0}

        def swap():
            for turn in range(1, 101):
                if turn % 10 == 1:
                    changing.clear()
                    time.sleep(0.3)
                    changing.set()
                replace(path, all_of(turn))
                time.sleep(0.03)
            over.set()

        swapper = threading.Thread(target=swap)
        swapper.start()
        while not over.is_set():
            for name in ("still.example", "h%d.lan" % (asked[True] % count)):
                spell, begun = changing.is_set(), time.monotonic()
                got = addresses(d, name)
                asked[spell] += 1
                slow[spell] += time.monotonic() - begun > 0.02
                good = got == ["192.0.2.1"] if name == "still.example" else (
                    got and all(a.startswith(("10.0.", "10.1.")) for a in got))
                if not good:
                    wrong.append((name, got))
        swapper.join()
        assert not wrong, wrong[:5]
        assert min(asked.values()) > 50
        share = {spell: slow[spell] / asked[spell] for spell in asked}
        assert share[True] <= 3 * share[False] + 0.05, (slow, asked)
        until(lambda: addresses(d, "h0.lan") == ["10.0.0.1"])
