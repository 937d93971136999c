"""The control channel among those who mean no good, or stand still: whoever has something to say is heard, and told.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import time

import pytest

from certificates import Authority
from lab import ADDRESS, Daemon, free_port, texts, until
from test_process import frozen


def open_connection(d, said=b""):
    s = socket.socket(socket.AF_UNIX)
    s.connect(d.socket)
    s.settimeout(20)
    s.sendall(said)
    return s


def rest_of(s):
    return b"".join(iter(lambda: s.recv(65536), b"")).decode()


# -- crowds -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("said", [b"", b"UBCT1 sta", b"UBCT1 local_datas\nhere.lan. A 192.0.2.1\nb."],
                         ids=["say nothing", "begin a word", "begin a body"])
def test_five_hundred_who_are_silent_lock_nobody_out(daemon, said):
    """Who has been idle longest makes room. What a body has brought counts, and who makes use of the channel stays."""
    with daemon("local-zone: lan. static", hints=False) as d, contextlib.ExitStack() as stack:
        files = d.files()
        active = stack.enter_context(open_connection(d, b"UBCT1 local_datas\n"))
        for i in range(500):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # some are out before they have said all
                stack.enter_context(open_connection(d, said))
            if i % 10 == 0:
                active.sendall(b"n%d.lan. A 192.0.2.2\n" % i)
                with open_connection(d, b"UBCT1 get_option num-threads\n") as s:  # so that it keeps up with us
                    assert rest_of(s) == "1\n"
            if i % 100 == 99:
                began = time.monotonic()
                assert "is running" in d.control("status")
                assert time.monotonic() - began < 5
        assert d.files() - files < 40
        if said.endswith(b"b."):  # among equals the one that is not silent stays
            active.sendall(b"\n")
            assert rest_of(active) == "added 50 datas\n"
            until(lambda: texts(d.ask("here.lan.")) == ["192.0.2.1"])


# -- a thread that stands still -----------------------------------------------------------------------

def test_a_command_does_not_wait_for_ever_for_a_thread_that_stands_still(daemon):
    with daemon("num-threads: 2", "sandbox: no", 'local-data: "here.lan. A 192.0.2.1"', hints=False) as d:
        with frozen(d, "worker 1"):
            lines = [b"stats_noreset", b"flush_stats", b"forward_add f.example 192.0.2.1", b"flush_requestlist"]
            waiting = [open_connection(d, b"UBCT1 %s\n" % line) for line in lines]
            began = time.monotonic()
            assert d.control("get_option", "num-threads") == "2\n"
            for s in waiting:
                said = rest_of(s)
                assert re.fullmatch(r"error thread 1 has not responded for more than 5 s: .*\n", said), said
                s.close()
            assert 5 < time.monotonic() - began < 15
            assert "control: stats_noreset: thread 1 has not responded for more than 5 s" in d.log()
        # It goes on, and so does what was begun.
        until(lambda: "f.example. IN forward 192.0.2.1" in d.control("list_forwards"))
        assert d.stats()["total.num.queries"] >= 0
        assert texts(d.ask("here.lan.")) == ["192.0.2.1"]


# -- certificates -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def served(bin_dir, net, tmp_path_factory):
    keys = tmp_path_factory.mktemp("keys")
    subprocess.run([os.path.join(bin_dir, "resolver-control-setup"), "-d", str(keys)], check=True, capture_output=True,
                   timeout=60)
    port = free_port()
    clause = "remote-control:\n    control-enable: yes\n    control-interface: 127.0.0.1\n    control-port: %d\n" % port + "".join(
        '    %s: "%s/resolver_%s"\n' % (option, keys, name) for option, name in (
            ("server-key-file", "server.key"), ("server-cert-file", "server.pem"),
            ("control-key-file", "control.key"), ("control-cert-file", "control.pem")))
    d = Daemon(bin_dir, net, control=False, more=clause, hints=False)
    d.control_port, d.keys, d.clause = port, str(keys), clause
    with open(d.client_conf, "w", encoding="utf-8") as f:
        f.write(clause)
    with d:
        yield d


def expired(keys, folder):
    """One by the authority of the channel itself, which was good until yesterday."""
    key, csr, pem = (os.path.join(folder, "expired" + end) for end in (".key", ".csr", ".pem"))
    ours = [os.path.join(keys, "resolver_server." + end) for end in ("pem", "key")]
    for words in (["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=unbound-control",
                   "-keyout", key, "-out", csr],
                  ["x509", "-req", "-in", csr, "-CA", ours[0], "-CAkey", ours[1], "-set_serial", "7", "-days", "-1",
                   "-out", pem]):
        subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)
    return pem, key


def try_to_speak(d, pair):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    if pair:
        c.load_cert_chain(*pair)
    with socket.create_connection((ADDRESS, d.control_port), 10) as raw:
        at = "127.0.0.1@%d" % raw.getsockname()[1]
        try:
            with c.wrap_socket(raw) as s:
                s.sendall(b"UBCT1 status\n")
                return at, rest_of(s)
        except (ssl.SSLError, ConnectionError):
            return at, ""


@pytest.mark.parametrize("who, why", [
    ("nobody", "no client certificate|did not return a certificate"), ("expired", "certificate has expired"),
    ("stranger", "unable to get local issuer certificate"), ("plain", "wrong version number|http request")])
def test_who_is_not_let_in_is_told_of_with_its_address(served, tmp_path, who, why):
    with Authority() as other:
        if who == "stranger":
            pair = other.issue("stranger")
        else:
            pair = expired(served.keys, str(tmp_path)) if who == "expired" else None
        if who == "plain":
            with socket.create_connection((ADDRESS, served.control_port), 10) as s:
                at = "127.0.0.1@%d" % s.getsockname()[1]
                s.sendall(b"UBCT1 status\n" * 3)
                with contextlib.suppress(ConnectionError):
                    assert b"running" not in s.recv(4096)
        else:
            at, said = try_to_speak(served, pair)
            assert said == ""
    until(lambda: re.search(r"notice: control: connection from %s rejected: .*(%s)" % (at, why), served.log()), why=served.log)
    assert "is running" in served.control("status")


def test_a_client_does_not_speak_to_one_it_does_not_know(served, tmp_path):
    """The name in the server's certificate is another, or its authority is: the client says so, and says nothing else."""
    with Authority() as other:
        pem, _ = other.issue("impostor", "DNS:unbound")
        conf = tmp_path / "client.conf"
        for cert, why in ((pem, "verif|certificate"), (served.keys + "/resolver_control.pem", "verif|certificate|name")):
            conf.write_text(re.sub(r'server-cert-file: ".*"', 'server-cert-file: "%s"' % cert, served.clause), encoding="utf-8")
            p = subprocess.run([served.program("resolver-control"), "-c", str(conf), "status"], capture_output=True, text=True,
                               timeout=20, check=False)
            assert p.returncode == 1 and "is running" not in p.stdout and re.search(why, p.stderr + p.stdout, re.I), p
