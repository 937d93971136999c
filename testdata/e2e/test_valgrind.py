"""A short session under valgrind: nothing is read that was not written, and nothing is lost in the end.

SPDX-License-Identifier: BSD-3-Clause
"""

import shutil
import time

import pytest

from lab import rcode, texts

# jemalloc is linked in: this is how valgrind finds it.
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite",
            "--soname-synonyms=somalloc=NONE"]


def is_for_valgrind(program):
    """Sanitizers have an allocator of their own."""
    with open(program, "rb") as f:
        said = f.read()
    return b"__asan_init" not in said and b"__tsan_init" not in said


def until(claim, seconds=60):
    deadline = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(1)
    return True


@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind here")
def test_a_session_under_valgrind(daemon):
    d = daemon("sandbox: no", "num-threads: 2")
    try:
        if not is_for_valgrind(d.program("resolverd")):
            pytest.skip("built with sanitizers")
        d.before = VALGRIND
        d.start(wait=False)
        d.wait_ready(60)
        for _ in range(2):
            for tcp in (False, True):
                # It is twenty times slower: what takes too long for one question is there for the next.
                assert until(lambda: texts(d.ask("target.chain.mini.", tcp=tcp, timeout=30)) == ["198.18.0.40"])
                assert until(lambda: rcode(d.ask("no-such-name-here.", tcp=tcp, timeout=30)) == "NXDOMAIN")
            assert "total.num.queries" in d.control("stats_noreset")
            assert "ok" in d.control("reload")
        assert d.control("dump_cache")
        assert d.stop(seconds=60) == 0, d.log()[-6000:]
    finally:
        if d.alive():
            d.process.kill()
        shutil.rmtree(d.dir, ignore_errors=True)
