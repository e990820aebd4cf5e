# SPDX-License-Identifier: MIT
"""Installs the wheel in a Debian root with Python and pipx, but without a compiler.

pip has the same configuration there as on this host, so the test works wherever pip
does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PACKAGES = "ca-certificates,pigz,pipx"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def shell(
    request: pytest.FixtureRequest,
    wheel: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shell]:
    """Return shell(line), which runs a line of sh in a new root file system."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("debootstrap is missing, or the user is not root")
    root = tmp_path_factory.mktemp("root")
    make = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
    done = subprocess.run([*make, request.param, root], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"debootstrap failed: {done.stdout[-300:]}")
    if Path(CERTIFICATES).exists():
        shutil.copy(CERTIFICATES, root / CERTIFICATES[1:])
    for file in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        if Path(file).exists():
            shutil.copy(file, root / file[1:])
    shutil.copy(wheel, root / "root")
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

    mounts = [(["-t", "proc"], "proc"), (["--bind"], "sys"), (["--rbind"], "dev")]
    try:
        for how, name in mounts:
            command = ["mount", *how, f"/{name}", root / name]
            if subprocess.run(command, capture_output=True).returncode != 0:
                pytest.skip("mounting is not permitted")
        subprocess.run(["mount", "--make-rslave", root / "dev"], check=True)
        yield run
    finally:
        for _, name in mounts:
            subprocess.run(["umount", "-R", "-l", root / name], capture_output=True)


def test_install_profile_and_uninstall(shell: Shell, wheel: Path) -> None:
    installed = shell(f"pipx install ./{wheel.name}")
    assert installed.returncode == 0, installed.stderr
    assert shell("hasp --version").stdout.startswith("hasp ")
    assert shell("command -v cc gcc make").stdout == ""

    shell("head -c 20000000 /dev/urandom > data")
    profiled = shell("hasp profile -- pigz -k -p 4 data")
    assert profiled.returncode == 0, profiled.stderr
    assert "pigz" in profiled.stderr
    report = shell("hasp report")
    assert report.returncode == 0, report.stderr
    assert "pigz" in report.stdout
    assert shell("hasp run --lock mcs -- pigz -kf -p 4 data").returncode == 0
    lacking = shell("hasp report --html page.html")
    assert (lacking.returncode, "hasp[report]" in lacking.stderr) == (2, True)

    assert shell("pipx uninstall hasp").returncode == 0
    left = shell("find / -xdev -iname '*hasp*' -not -path '/proc/*'").stdout.split()
    home = Path("/root")
    own = tuple(str(home / name) for name in (wheel.name, "hasp.trace", ".cache/hasp"))
    assert [path for path in left if not path.startswith(own)] == []
