# SPDX-License-Identifier: MIT
"""Makes Debian root file systems with little in them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

RELEASES = ("bookworm", "trixie")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
MOUNTS = ((("-t", "proc"), "proc"), (("--bind",), "sys"), (("--rbind",), "dev"))
Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@contextmanager
def bare_root(root: Path, release: str, packages: str) -> Iterator[Shell]:
    """Make a root file system with these packages, separated by commas, in a folder.

    Yields shell(line), which runs a line of sh in its /root. Skips the test where that
    is not possible. pip has the same configuration there as on this host.
    """
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("debootstrap is missing, or the user is not root")
    make = ["debootstrap", "--variant=minbase", f"--include={packages}"]
    done = subprocess.run([*make, release, root], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"debootstrap failed: {done.stdout[-300:]}")
    for file in (CERTIFICATES, "/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        if Path(file).exists() and (root / file[1:]).parent.exists():
            shutil.copy(file, root / file[1:])
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    pip.pop("PIP_FIND_LINKS", None)
    environment = {
        **pip,
        "PATH": "/root/.local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
    }

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["chroot", root, "sh", "-c", f"cd /root && {line}"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    try:
        for how, name in MOUNTS:
            command = ["mount", *how, f"/{name}", root / name]
            if subprocess.run(command, capture_output=True).returncode != 0:
                pytest.skip("mounting is not permitted")
        subprocess.run(["mount", "--make-rslave", root / "dev"], check=True)
        yield run
    finally:
        for _, name in MOUNTS:
            subprocess.run(["umount", "-R", "-l", root / name], capture_output=True)
