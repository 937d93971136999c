"""The sandbox of a running daemon: what its kernel says of it, and what a reload can name.

SPDX-License-Identifier: BSD-3-Clause

Every other test runs in it, too (`sandbox: strict`, see lab.py): whatever a feature needs and does not get
ends the daemon.
"""

import os
import shutil
import tempfile

import pytest

from lab import texts


@pytest.fixture
def elsewhere():
    """A folder that is in no sandbox unless it is named."""
    folder = tempfile.mkdtemp(prefix="rd-e2e-elsewhere-", dir="/tmp")
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def status(d):
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        return {k: v.strip() for k, v in (line.split(":", 1) for line in f if ":" in line)}


@pytest.fixture(scope="module")
def guarded(daemon):
    """Whether this build and this kernel have all of it; sanitizers do without."""
    with daemon("verbosity: 4", "sandbox: yes") as d:
        return status(d).get("Seccomp") == "2" and "no Landlock" not in d.log()


@pytest.mark.parametrize("option, limited", [("yes", True), ("strict", True), ("no", False)])
def test_what_the_kernel_says_of_every_thread(daemon, guarded, option, limited):
    with daemon("num-threads: 2", "sandbox: %s" % option) as d:
        for thread in os.listdir("/proc/%d/task" % d.process.pid):
            with open("/proc/%d/task/%s/status" % (d.process.pid, thread), encoding="ascii") as f:
                said = dict(line.split(":", 1) for line in f if ":" in line)
            assert (said["Seccomp"].strip() == "2") == (limited and guarded), thread
            assert (said["NoNewPrivs"].strip() == "1") == (limited and guarded), thread


@pytest.mark.parametrize("line, file, word", [
    ('hosts-file: "%s/hosts"', "hosts", "read"), ('logfile: "%s/log"', None, "written"),
    ('root-hints: "%s/hints"', "hints", "read"),
])
def test_a_reload_that_names_other_folders_is_refused_and_changes_nothing(daemon, guarded, elsewhere, line, file,
                                                                          word):
    if not guarded:
        pytest.skip("nothing guards files here")
    if file:
        with open(os.path.join(elsewhere, file), "w", encoding="ascii") as f:
            f.write(". 3600 IN NS a.\na. 3600 IN A 127.0.0.1\n" if file == "hints" else "192.0.2.7 one.lan\n")
    with daemon() as d:
        d.configure([line % elsewhere])
        said = d.control("reload", code=1)
        assert "outside of the sandbox" in said and "cannot be %s" % word in said and elsewhere in said
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        d.configure()
        assert "ok" in d.control("reload")


def test_folders_of_the_configuration_and_sandbox_path_are_open_to_a_reload(daemon, elsewhere):
    with open(os.path.join(elsewhere, "hosts"), "w", encoding="ascii") as f:
        f.write("192.0.2.7 one.lan\n")
    with daemon('sandbox-path: "%s"' % elsewhere) as d:
        d.configure(['sandbox-path: "%s"' % elsewhere, 'hosts-file: "%s/hosts"' % elsewhere,
                     'logfile: "%s/log"' % elsewhere])
        assert "ok" in d.control("reload")
        assert texts(d.ask("one.lan.")) == ["192.0.2.7"]
        assert "reloaded" in open(os.path.join(elsewhere, "log"), encoding="utf-8").read()


@pytest.mark.parametrize("option, files", [("no", "0"), ("yes", None)])
def test_cores_are_written_only_when_asked_for(daemon, guarded, option, files):
    with daemon("core-dumps: %s" % option) as d:
        with open("/proc/%d/limits" % d.process.pid, encoding="ascii") as f:
            limit = next(line.split()[4] for line in f if line.startswith("Max core file size"))
        assert files is None or limit == files or not guarded
