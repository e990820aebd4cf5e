# SPDX-License-Identifier: MIT
"""Programs of which Debian has the sources: fetched, built, and recorded for tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = """\
Types: deb-src
URIs: {mirror}
Suites: {suites}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


def fetch(package: str, folder: Path) -> Path:
    """Return the unpacked upstream source of a package, below a folder.

    Skips the test where apt has no such source: on other systems, or offline.
    """
    for tool in ("apt-get", "bear"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    folder.mkdir(parents=True)
    (folder / "lists/partial").mkdir(parents=True)
    listing = folder / "debian.sources"
    listing.write_text(_sources())
    options = [
        *("-q", "-o", f"Dir::Etc::sourcelist={listing}"),
        *("-o", "Dir::Etc::sourceparts=/dev/null", "-o", "APT::Sandbox::User=root"),
        *("-o", f"Dir::State::lists={folder / 'lists'}"),
    ]
    for words in (["update"], ["source", "--download-only", "--tar-only", package]):
        done = subprocess.run(
            ["apt-get", *options, *words], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"apt-get cannot fetch {package}: {done.stderr.strip()[-200:]}")
    archive = next(folder.glob(f"{package}_*.orig.tar.*"))
    (folder / "source").mkdir()
    words = ["tar", "-xf", archive, "-C", folder / "source", "--strip-components=1"]
    subprocess.run(words, check=True)
    return folder / "source"


def _sources() -> str:
    """Return what apt reads, for the mirror and the release of this machine."""
    known = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)"],
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    pairs = sorted({tuple(line.split()) for line in known if len(line.split()) == 2})
    if not pairs:
        pytest.skip("apt-get has no package lists here")
    return "\n".join(
        SOURCES.format(mirror=mirror, suites=release) for mirror, release in pairs
    )


def run(words: list[str], folder: Path, **more: str) -> str:
    """Return what a command prints. Fails the test with it if the command fails."""
    done = subprocess.run(
        [*words, *(f"{name}={value}" for name, value in more.items())],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=900,
    )
    assert done.returncode == 0, f"{words}:\n{done.stdout[-3000:]}"
    return done.stdout
