"""Certificates for tests, by authorities of their own.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import shutil
import subprocess
import tempfile


def openssl(*arguments, cwd, stdin=""):
    subprocess.run(["openssl", *arguments], cwd=cwd, input=stdin, text=True, check=True, capture_output=True, timeout=60)


class Authority:
    """Two miniature authorities, `ca.pem` and `other.pem`, and certificates by either."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="rd-ca-", dir="/tmp")
        for name in ("ca", "other"):
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=%s authority" % name, "-keyout", name + ".key", "-out", name + ".pem", cwd=self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def issue(self, name, sans="DNS:dns.test", by="ca", days=30):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
                "-keyout", name + ".key", "-out", name + ".csr", cwd=self.dir)
        with open(self.path("ext"), "w", encoding="ascii") as f:
            f.write("subjectAltName=%s\n" % sans)
        arguments = ["x509", "-req", "-in", name + ".csr", "-CA", by + ".pem", "-CAkey", by + ".key",
                     "-CAcreateserial", "-extfile", "ext", "-out", name + ".pem"]
        openssl(*arguments, "-days", str(days), cwd=self.dir)
        return self.path(name + ".pem"), self.path(name + ".key")
