# SPDX-License-Identifier: MIT
"""Installs the wheel in a Debian root with Python and pipx, but without a compiler."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import RELEASES, Shell, bare_root

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PACKAGES = "ca-certificates,pigz,pipx"


@pytest.fixture(scope="module", params=RELEASES)
def shell(
    request: pytest.FixtureRequest,
    wheel: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shell]:
    """Return a shell in a new root file system that has the wheel."""
    root = tmp_path_factory.mktemp("root")
    with bare_root(root, request.param, PACKAGES) as run:
        shutil.copy(wheel, root / "root")
        yield run


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
