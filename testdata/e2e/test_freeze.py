"""Fifty clients of the control channel who mean harm, scrapes and reloads: every question has its answer, and
who asks for something at the channel is served.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import http.client
import os
import socket
import ssl
import subprocess

import pytest

from lab import ADDRESS, Daemon, free_port, texts


@pytest.fixture(scope="module")
def d(bin_dir, net, tmp_path_factory):
    keys = tmp_path_factory.mktemp("keys")
    subprocess.run([os.path.join(bin_dir, "resolver-control-setup"), "-d", str(keys)], check=True, capture_output=True,
                   timeout=60)
    port, web = free_port(), free_port()
    clause = ("remote-control:\n    control-enable: yes\n    control-interface: 127.0.0.1\n    control-port: %d\n" % port
              + "".join('    %s: "%s/resolver_%s"\n' % (option, keys, name) for option, name in (
                  ("server-key-file", "server.key"), ("server-cert-file", "server.pem"),
                  ("control-key-file", "control.key"), ("control-cert-file", "control.pem"))))
    it = Daemon(bin_dir, net, ["num-threads: 2", "extended-statistics: yes", "statistics-inhibit-zero: no"],
                more=clause + "metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n" % web,
                control=False)
    it.control_port, it.web, it.keys = port, web, str(keys)
    with open(it.client_conf, "w", encoding="utf-8") as f:
        f.write(clause)
    with it:
        it.ask("target.chain.mini.")
        yield it


def open_connection(d, size=None):
    s = socket.socket()
    if size:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    s.settimeout(5)
    s.connect((ADDRESS, d.control_port))
    return s


def shake_hands(d, s):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    c.load_cert_chain(d.keys + "/resolver_control.pem", d.keys + "/resolver_control.key")
    return c.wrap_socket(s)


def idle(d):
    return open_connection(d)


def half_a_hello(d):
    s = open_connection(d)
    s.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40))
    return s


def half_a_command(d):
    s = shake_hands(d, open_connection(d))
    s.sendall(b"UBCT1 sta")
    return s


def reads_nothing(d):
    s = shake_hands(d, open_connection(d, 2048))
    s.sendall(b"UBCT1 stats_noreset\n")
    return s


def fills_a_list(d):
    s = shake_hands(d, open_connection(d))
    s.sendall(b"UBCT1 local_datas\na.example. A 192.0.2.1\nb.exam")
    return s


HOSTILE = [idle, half_a_hello, half_a_command, reads_nothing, fills_a_list]


def test_answers_control_and_pages_go_on(d):
    crowd = []
    try:
        for i in range(50):
            # some may be thrown out while they still shake hands
            with contextlib.suppress(OSError):
                crowd.append(HOSTILE[i % len(HOSTILE)](d))
        for i in range(200):
            assert texts(d.ask("target.chain.mini.", udp_only=True)) == ["198.18.0.40"]
            if i % 40 == 0:
                assert d.control("get_option", "num-threads") == "2\n"
                assert d.control("reload") == "ok\n"
            if i % 20 == 0:
                c = http.client.HTTPConnection(ADDRESS, d.web, timeout=15)
                c.request("GET", "/metrics")
                r = c.getresponse()
                assert r.status == 200 and b"resolverd_queries_total" in r.read()
    finally:
        for s in crowd:
            s.close()
    assert d.control("status").startswith("version: ")


def test_the_crowd_never_fills_the_channel(d):
    """However many come and stay, the next who has something to say is heard."""
    crowd = []
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                crowd.append(idle(d))
        for _ in range(3):
            assert d.control("get_option", "num-threads") == "2\n"
    finally:
        for s in crowd:
            s.close()
