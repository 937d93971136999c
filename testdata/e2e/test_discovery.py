"""RFC 9462: who asks _dns.resolver.arpa is told where it is served over TLS and HTTPS, and how to check.

SPDX-License-Identifier: BSD-3-Clause
"""


import pytest

from lab import free_port, rcode, texts

NAME = "_dns.resolver.arpa."


def lines_for(ca, tls, https, cert="named"):
    return ["tls-port: %d" % tls, "https-port: %d" % https, 'tls-service-key: "%s"' % ca.path(cert + ".key"),
            'tls-service-pem: "%s"' % ca.path(cert + ".pem"), "interface: 127.0.0.1@%d" % tls,
            "interface: 127.0.0.1@%d" % https]


@pytest.mark.parametrize("more, want", [
    ([], ['1 dns.test. alpn="dot" port="{tls}" ipv4hint="127.0.0.1"',
          '2 dns.test. alpn="h2" port="{https}" ipv4hint="127.0.0.1" key7="/dns-query{{?dns}}"']),
    (["interface: 127.0.0.2@{tls}", 'designated-resolver-name: "other.test"', 'http-endpoint: "/q"'],
     ['1 other.test. alpn="dot" port="{tls}" ipv4hint="127.0.0.1,127.0.0.2"',
      '2 other.test. alpn="h2" port="{https}" ipv4hint="127.0.0.1" key7="/q{{?dns}}"']),
    (["tls-additional-port: {more}", "interface: 0.0.0.0@{more}", "proxy-protocol-port: {https}"],
     ['1 dns.test. alpn="dot" port="{tls}" ipv4hint="127.0.0.1"', '2 dns.test. alpn="dot" port="{more}"']),
    (["designated-resolver: no"], []),
    (["http-notls-downstream: yes"], ['1 dns.test. alpn="dot" port="{tls}" ipv4hint="127.0.0.1"']),
    (['local-data: "_dns.resolver.arpa. 60 IN SVCB 9 mine.test."'], ["9 mine.test."]),
])
def test_the_records_are_what_is_served(daemon, ca, more, want):
    ports = {"tls": free_port(), "https": free_port(), "more": free_port()}
    with daemon(*lines_for(ca, ports["tls"], ports["https"]), *(line.format(**ports) for line in more)) as d:
        r = d.ask(NAME, "SVCB")
        assert texts(r, "SVCB") == [w.format(**ports) for w in want]
        if want:
            assert rcode(r) == "NOERROR"
            # RFC 9462 6.4: it is never asked elsewhere, and there is nothing else of that name
            assert rcode(d.ask(NAME, "A")) == "NOERROR" and not d.ask(NAME, "A").answer
        assert not d.ask("resolver.arpa.", "SVCB").answer


def test_a_reload_tells_what_is_new(daemon, ca):
    tls, https = free_port(), free_port()
    with daemon(*lines_for(ca, tls, https)) as d:
        assert len(texts(d.ask(NAME, "SVCB"), "SVCB")) == 2
        d.configure(lines_for(ca, tls, https)[:-1])
        for command in ("reload", "fast_reload"):
            d.control(command)
            assert len(texts(d.ask(NAME, "SVCB"), "SVCB")) == 1


@pytest.mark.parametrize("lines, want", [
    (['local-data: "_dns.resolver.arpa. 60 IN SVCB 9 mine.test."'], ["9 mine.test."]),
    (['local-zone: "resolver.arpa." static'], []),
])
def test_the_operators_own_word_outlives_a_set_option(daemon, ca, lines, want):
    with daemon(*lines_for(ca, free_port(), free_port()), *lines) as d:
        for change in (["set_option", "prefetch: yes"], ["insecure_add", "example.test"]):
            assert d.control(*change) == "ok\n"
            assert texts(d.ask(NAME, "SVCB"), "SVCB") == want


def test_without_a_name_nothing_is_told_and_that_is_said(daemon, ca):
    with daemon(*lines_for(ca, free_port(), free_port(), "nameless")) as d:
        assert not d.ask(NAME, "SVCB").answer
        assert "designated-resolver-name" in d.log()


def test_a_daemon_without_tls_has_nothing_to_tell(shared):
    r = shared.ask(NAME, "SVCB")
    assert rcode(r) == "NXDOMAIN" and not r.answer
