"""Where the programs and the miniature internet are, and the daemon most tests share.

SPDX-License-Identifier: BSD-3-Clause

    mininet run NET /usr/bin/python3 -m pytest testdata/e2e --bin BUILD-FOLDER --net NET
"""

import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from certificates import Authority  # noqa: E402
from lab import Daemon  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--bin", required=True, help="folder with resolverd and its companions")
    parser.addoption("--net", required=True, help="folder of the miniature internet, which is running")


@pytest.fixture(scope="session")
def net(request):
    return os.path.abspath(request.config.getoption("--net"))


@pytest.fixture(scope="session")
def daemon(request, net):
    """A maker of daemons: `with daemon("option: value", more="forward-zone: ...") as d:`"""
    def make(*server, **more):
        return Daemon(request.config.getoption("--bin"), net, server, **more)
    return make


@pytest.fixture
def made(daemon):
    """A maker of daemons that are not started; in the end they stop, and their folders go."""
    every = []

    def make(*server, **more):
        every.append(daemon(*server, **more))
        return every[-1]
    yield make
    for d in every:
        if d.alive():
            d.stop()
        # A disk of its own may lie in there.
        subprocess.run(["umount", "-lq", d.dir], capture_output=True, check=False)
        shutil.rmtree(d.dir, ignore_errors=True)


@pytest.fixture(scope="session")
def ca():
    """`ca.pem` and certificates by it; one of `other.pem`, which nobody trusts."""
    with Authority() as a:
        a.issue("good", "DNS:dns.test,IP:127.0.0.1")
        a.issue("two", "DNS:two.test")
        a.issue("named", "DNS:*.dns.test,IP:127.0.0.1,DNS:dns.test")
        a.issue("nameless", "IP:127.0.0.1")
        a.issue("nsd", "DNS:primary.test,IP:127.0.0.1")
        a.issue("client", "DNS:resolver.test")
        a.issue("expired", days=-1)
        a.issue("stranger", by="other")
        yield a


@pytest.fixture(scope="session")
def shared(daemon):
    """One daemon for all tests that change nothing about it; two threads, as a real one has."""
    with daemon("num-threads: 2", "access-control: 127.99.0.0/16 refuse",
                "access-control: 127.98.0.0/16 deny", 'identity: "lab"', 'version: "1.2.3"') as d:
        yield d


@pytest.fixture(scope="session")
def bin_dir(request):
    """Where the programs are that are tried."""
    return os.path.abspath(request.config.getoption("--bin"))
