"""The control channel over TLS: our programs and Unbound's on either side.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import shutil
import socket
import ssl
import subprocess
import time
import warnings

import pytest

from lab import ADDRESS, Daemon, free_port, is_closed

NAMES = ("server-key-file", "server-cert-file", "control-key-file", "control-cert-file")
UNBOUND_FILES = ("unbound_server.key", "unbound_server.pem", "unbound_control.key", "unbound_control.pem")
OUR_FILES = tuple(name.replace("unbound", "resolver") for name in UNBOUND_FILES)


def clause(folder, port, files=OUR_FILES):
    return ("remote-control:\n    control-enable: yes\n    control-interface: 127.0.0.1\n    control-port: %d\n" % port
            + "".join('    %s: "%s/%s"\n' % (name, folder, file) for name, file in zip(NAMES, files)))


def run(*arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=30, check=False,
                          **{"stdin": subprocess.DEVNULL, **more})


def unbound(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not path:
        pytest.skip("there is no " + program)
    return path


@pytest.fixture(scope="module")
def keys(bin_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    p = run(os.path.join(bin_dir, "resolver-control-setup"), "-d", str(folder))
    assert p.returncode == 0, p.stderr
    return folder


def serve(bin_dir, net, folder, files=OUR_FILES, **more):
    port = free_port()
    d = Daemon(bin_dir, net, control=False, more=clause(folder, port, files), **more)
    d.control_port = port
    with open(d.client_conf, "w", encoding="utf-8") as f:
        f.write(clause(folder, port, files))
    return d


@pytest.fixture(scope="module")
def tls(bin_dir, net, keys):
    with serve(bin_dir, net, keys, server=["local-zone: here. static"]) as d:
        yield d


def context(folder, cert=None, version=None):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.load_verify_locations(os.path.join(folder, OUR_FILES[1]))
    if cert:
        c.load_cert_chain(os.path.join(folder, cert + ".pem"), os.path.join(folder, cert + ".key"))
    if version:
        c.minimum_version = c.maximum_version = version
    return c


def converse(d, ctx, pieces, name=None, pause=0):
    """The reply; what breaks the connection is an empty one."""
    with socket.create_connection((ADDRESS, d.control_port), 10) as raw:
        try:
            with ctx.wrap_socket(raw, server_hostname=name) as s:
                for piece in pieces:
                    s.sendall(piece)
                    time.sleep(pause)
                out = b""
                while got := s.recv(65536):
                    out += got
                return out
        except (ssl.SSLError, ConnectionError):
            return b""


# ---- whose certificates ----

def test_setup_keeps_what_is_there_and_renews_when_told(bin_dir, tmp_path):
    def setup(*more):
        p = run(os.path.join(bin_dir, "resolver-control-setup"), "-d", str(tmp_path), *more)
        assert p.returncode == 0, p.stderr
        return [(tmp_path / name).read_bytes() for name in OUR_FILES]
    first = setup()
    assert all(os.stat(tmp_path / name).st_mode & 0o777 == 0o640 for name in OUR_FILES)
    assert sorted(os.listdir(tmp_path)) == sorted(OUR_FILES)
    assert setup() == first
    second = setup("-r")
    assert [second[0], second[2]] == [first[0], first[2]]
    assert second[1] != first[1] and second[3] != first[3]
    # a certificate of another authority is no use
    (tmp_path / OUR_FILES[0]).unlink()
    assert setup()[1] != second[1]
    assert run("openssl", "verify", "-CAfile", OUR_FILES[1], OUR_FILES[3], cwd=tmp_path).returncode == 0
    assert run(os.path.join(bin_dir, "resolver-control-setup"), "-d", "/no/such").returncode == 1


def test_setup_tells_who_is_root_by_name_only_that_the_group_is_another(bin_dir, tmp_path):
    """In a user namespace `id` says 0, and files cannot be given to anybody."""
    tools, keys = tmp_path / "tools", tmp_path / "keys"
    tools.mkdir()
    keys.mkdir()
    for name, does in (("id", "echo 0"), ("chgrp", "exit 1")):
        (tools / name).write_text("#!/bin/sh\n%s\n" % does)
        (tools / name).chmod(0o755)
    p = subprocess.run([os.path.join(bin_dir, "resolver-control-setup"), "-d", str(keys)], capture_output=True, text=True,
                       env=dict(os.environ, PATH="%s:%s" % (tools, os.environ["PATH"])), check=False)
    assert p.returncode == 0 and "group" in p.stderr, p.stderr
    assert all(os.stat(keys / name).st_mode & 0o777 == 0o640 for name in OUR_FILES)


def test_names_in_the_certificates_are_unbounds(keys):
    for file, name in ((OUR_FILES[1], "unbound"), (OUR_FILES[3], "unbound-control")):
        said = run("openssl", "x509", "-in", str(keys / file), "-noout", "-subject", "-ext", "subjectAltName").stdout
        assert "CN = " + name in said or "CN=" + name in said
        assert "DNS:" + name in said


@pytest.mark.parametrize("cert, ok", [("resolver_control", True), ("resolver_server", True), (None, False)])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_who_has_a_certificate_of_ours_is_served(tls, keys, cert, ok, version):
    said = converse(tls, context(keys, cert, version), [b"UBCT1  status\n"])
    assert (b"is running" in said) == ok, said
    if not ok:
        assert said == b""


def test_a_stranger_is_told_nothing(tls, keys, bin_dir, tmp_path):
    assert run(os.path.join(bin_dir, "resolver-control-setup"), "-d", str(tmp_path)).returncode == 0
    ctx = context(keys)
    ctx.load_cert_chain(tmp_path / "resolver_control.pem", tmp_path / "resolver_control.key")
    assert converse(tls, ctx, [b"UBCT1 stop\n"]) == b""
    assert tls.alive()


def test_the_server_can_be_asked_for_its_name(tls, keys):
    ctx = context(keys, "resolver_control")
    ctx.check_hostname = True
    assert b"is running" in converse(tls, ctx, [b"UBCT1 status\n"], name="unbound")
    assert converse(tls, ctx, [b"UBCT1 status\n"], name="example.com") == b""


def test_plain_text_and_old_tls_are_told_nothing(tls, keys):
    with socket.create_connection((ADDRESS, tls.control_port), 5) as s:
        s.sendall(b"UBCT1 status\n" * 3)
        assert is_closed(s, 5)
    ctx = context(keys, "resolver_control")
    ctx.set_ciphers("DEFAULT@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        ctx.minimum_version, ctx.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    assert converse(tls, ctx, [b"UBCT1 status\n"]) == b""


# ---- what travels ----

@pytest.mark.parametrize("pieces", [
    [b"UBCT1  status\n"], [b"UBCT1 status\n"], [b"UB", b"CT1 ", b"sta", b"tus", b"\n"],
    [bytes([b]) for b in b"UBCT1 status\n"],
])
def test_a_request_may_come_in_any_pieces(tls, keys, pieces):
    assert b"control(ssl)" in converse(tls, context(keys, "resolver_control"), pieces, pause=0.01)


def test_a_body_of_any_size_is_taken(tls, keys):
    names = [b"n%d.here. A 192.0.2.1\n" % i for i in range(5000)]
    said = converse(tls, context(keys, "resolver_control"), [b"UBCT1 local_datas\n" + b"".join(names) + b"\x04\n"])
    assert said == b"added 5000 datas\n"
    said = converse(tls, context(keys, "resolver_control"), [b"UBCT1 list_local_data\n"])
    assert said.count(b".here.") == 5000
    p = run(tls.program("resolver-control"), "-c", tls.client_conf, "local_datas_remove", stdin=None,
            input="".join("n%d.here.\n" % i for i in range(5000)))
    assert (p.returncode, p.stdout) == (0, "removed 5000 datas\n")


def test_silent_clients_keep_nobody(tls, keys):
    """Some only connect, some stop in the middle of a word."""
    idle = [socket.create_connection((ADDRESS, tls.control_port), 5) for _ in range(5)]
    ctx = context(keys, "resolver_control")
    half = [ctx.wrap_socket(socket.create_connection((ADDRESS, tls.control_port), 5)) for _ in range(3)]
    for s in half:
        s.sendall(b"UBCT1 sta")
    try:
        begun = time.monotonic()
        tls.control("status")
        for _ in range(20):
            tls.ask("version.bind", "TXT", "CH", timeout=3)
        assert time.monotonic() - begun < 5
    finally:
        for s in idle + half:
            s.close()


# ---- the programs ----

def both(d):
    return [(d.program("resolver-control"), d.client_conf), (unbound("unbound-control"), d.client_conf)]


@pytest.mark.parametrize("which", [0, 1], ids=["resolver-control", "unbound-control"])
def test_either_client_drives_resolverd(tls, which):
    program, conf = both(tls)[which]

    def control(*words, **more):
        p = run(program, "-c", conf, *words, **more)
        return p.returncode, p.stdout
    code, said = control("status")
    assert code == 0 and "control(ssl)" in said and "is running" in said
    assert control("local_data", "a.here. 60 IN A 192.0.2.7") == (0, "ok\n")
    assert tls.ask("a.here.").answer[0][0].to_text() == "192.0.2.7"
    assert control("local_datas", stdin=None, input="b.here. A 192.0.2.8\nc.here. A 192.0.2.9\n") == (
        0, "added 2 datas\n")
    code, said = control("no_such_command")
    assert (code, said) == (1, "error unknown command 'no_such_command'\n")
    assert control("-q", "flush", "a.here.") == (0, "")
    code, said = control("stats_noreset")
    assert code == 0 and "total.num.queries=" in said
    code, said = control("dump_cache")
    assert code == 0 and said.endswith("EOF\n")


@pytest.mark.parametrize("which", [0, 1], ids=["resolver-control", "unbound-control"])
def test_status_of_a_daemon_that_is_not_there(bin_dir, net, keys, which):
    d = serve(bin_dir, net, keys)
    try:
        p = run(both(d)[which][0], "-c", d.client_conf, "status")
        assert p.returncode == 3 and "is stopped" in p.stdout
    finally:
        shutil.rmtree(d.dir)


def test_unbounds_own_files_will_do(bin_dir, net, tmp_path):
    assert run(unbound("unbound-control-setup"), "-d", str(tmp_path)).returncode == 0
    with serve(bin_dir, net, tmp_path, files=UNBOUND_FILES) as d:
        for program, conf in both(d):
            p = run(program, "-c", conf, "status")
            assert p.returncode == 0 and "is running" in p.stdout, p.stderr


def test_resolver_control_drives_unbound(bin_dir, keys, tmp_path):
    port, control = free_port(), free_port()
    conf = tmp_path / "unbound.conf"
    conf.write_text('server:\n    interface: 127.0.0.1\n    port: %d\n    username: ""\n    chroot: ""\n'
                    '    directory: "%s"\n    pidfile: ""\n    use-syslog: no\n    module-config: "iterator"\n'
                    '    do-daemonize: no\n    local-zone: here. static\n' % (port, tmp_path)
                    + clause(keys, control), encoding="utf-8")
    client = tmp_path / "client.conf"
    client.write_text(clause(keys, control), encoding="utf-8")
    daemon = subprocess.Popen([unbound("unbound"), "-d", "-c", str(conf)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ours(*words, **more):
        p = run(os.path.join(bin_dir, "resolver-control"), "-c", str(client), *words, **more)
        return p.returncode, p.stdout
    try:
        deadline = time.monotonic() + 10
        while ours("status")[0] != 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert "control(ssl)" in ours("status")[1]
        assert ours("local_data", "a.here. 60 IN A 192.0.2.7") == (0, "ok\n")
        assert ours("local_datas", stdin=None, input="b.here. A 192.0.2.8\nc.here. A 192.0.2.9\n") == (
            0, "added 2 datas\n")
        assert "c.here." in ours("list_local_data")[1]
        assert ours("no_such_command")[0] == 1
        assert ours("stop") == (0, "ok\n")
        assert daemon.wait(10) == 0
        assert ours("status")[0] == 3
    finally:
        daemon.kill()
        daemon.wait()


# ---- changes ----

def test_new_certificates_count_after_a_reload(bin_dir, net, tmp_path):
    setup = os.path.join(bin_dir, "resolver-control-setup")
    assert run(setup, "-d", str(tmp_path)).returncode == 0
    with serve(bin_dir, net, tmp_path) as d:
        first = context(tmp_path, "resolver_control")
        (tmp_path / OUR_FILES[0]).unlink()
        assert run(setup, "-d", str(tmp_path)).returncode == 0
        d.control("status", code=1)  # our certificates are those of nobody yet
        assert converse(d, first, [b"UBCT1 reload\n"]) == b"ok\n"
        assert "is running" in d.control("status")
        assert converse(d, first, [b"UBCT1 status\n"]) == b""


def test_without_its_files_the_channel_is_an_error(bin_dir, net, tmp_path):
    d = serve(bin_dir, net, tmp_path)
    try:
        p = run(d.program("resolverd"), "-d", "-c", d.conf)
        assert p.returncode == 1
        assert OUR_FILES[0] in p.stderr
    finally:
        shutil.rmtree(d.dir)


def test_unbounds_client_dumps_and_loads(tls):
    control = [unbound("unbound-control"), "-c", tls.client_conf]
    dump = run(*control, "dump_cache").stdout
    assert dump.endswith("EOF\n")
    p = run(*control, "load_cache", stdin=None, input=dump)
    assert (p.returncode, p.stdout) == (0, "ok\n")
    p = run(*control, "load_cache", stdin=None, input=dump.replace("START_MSG", "START_NO"))
    assert p.returncode == 1 and p.stdout.startswith("error")
