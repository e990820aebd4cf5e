# SPDX-License-Identifier: MIT
"""The servers of tests/programs: each lock is rewritten and compiles, or is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from delegate_samples import WARNINGS, delegate
from tree import ROOT

pytest.importorskip("clang.cindex")

SERVERS = ROOT / "tests/programs/servers"
DECLARATION = re.compile(r"^\s*(static )?pthread_mutex_t \w+")
# The second one: two mutexes are declared in one line.
REFUSALS = ("are not rewritten, for", "may be any of")
# Locks whose sections have exits, results, arrays and indices.
QUICK = ("access_log.c:12", "cart_shards.c:12")


def rewrite(server: Path, line: int, folder: Path) -> int:
    """Rewrite a lock of a server; the result compiles without a new warning."""
    words = ["gcc", "-O1", *WARNINGS, "-c", str(server)]
    entry = {"directory": str(SERVERS), "file": str(server), "arguments": words}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    ignored = [f"--ignore={path}" for path in SERVERS.rglob("*.c") if path != server]
    lock, out = f"{server.name}:{line}", str(folder / "out")
    return delegate(folder, "--out", out, *ignored, lock=lock, compiles=True)


@pytest.mark.parametrize("site", QUICK)
def test_a_server_is_rewritten(site: str, tmp_path: Path) -> None:
    name, line = site.split(":")
    assert rewrite(SERVERS / name, int(line), tmp_path) == 0
    made = next((tmp_path / "out").rglob(name)).read_text()
    assert "hasp_delegate_run_sized(" in made


@pytest.mark.slow
@pytest.mark.timeout(300)  # some servers have a dozen locks
@pytest.mark.parametrize(
    "server", sorted(SERVERS.glob("*.c")), ids=lambda one: one.stem
)
def test_each_lock_of_a_server_is_rewritten_or_refused(
    server: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate(server.read_text().splitlines(), 1):
        if DECLARATION.match(text):
            status = rewrite(server, number, tmp_path)
            printed = capsys.readouterr().err
            if "'omp.h' file not found" in printed:
                pytest.skip("libclang has no omp.h: apt-get install libomp-dev")
            refused = any(words in printed for words in REFUSALS)
            assert status == 0 or refused, printed
