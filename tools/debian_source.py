# SPDX-License-Identifier: MIT
"""Programs of which Debian has the sources: fetched and built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCES = """\
Types: deb-src
URIs: {mirror}
Suites: {suites}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


class UnavailableError(Exception):
    """This machine cannot have the source: another system, or offline."""


def fetch(package: str, folder: Path, patched: bool = False) -> Path:
    """Return the unpacked source of a package, in a new folder.

    It is upstream's, or if `patched` as Debian builds it. Raises UnavailableError where
    apt has no such source.
    """
    for tool in ("apt-get", "bear"):
        if not shutil.which(tool):
            raise UnavailableError(f"needs {tool}")
    folder.mkdir(parents=True)
    (folder / "lists/partial").mkdir(parents=True)
    listing = folder / "debian.sources"
    listing.write_text(_sources())
    options = [
        *("-q", "-o", f"Dir::Etc::sourcelist={listing}"),
        *("-o", "Dir::Etc::sourceparts=/dev/null", "-o", "APT::Sandbox::User=root"),
        *("-o", f"Dir::State::lists={folder / 'lists'}"),
    ]
    kind = [] if patched else ["--tar-only"]
    for words in (["update"], ["source", "--download-only", *kind, package]):
        done = subprocess.run(
            ["apt-get", *options, *words], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            reason = done.stderr.strip()[-200:]
            raise UnavailableError(f"apt-get cannot fetch {package}: {reason}")
    if patched:
        description = next(folder.glob(f"{package}_*.dsc"))
        run(["dpkg-source", "--no-check", "-x", str(description), "source"], folder)
        return folder / "source"
    archive = next(folder.glob(f"{package}_*.orig.tar.*"))
    (folder / "source").mkdir()
    run(
        ["tar", "-xf", str(archive), "-C", "source", "--strip-components=1"],
        folder,
    )
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
        raise UnavailableError("apt-get has no package lists here")
    return "\n".join(
        SOURCES.format(mirror=mirror, suites=release) for mirror, release in pairs
    )


def run(words: list[str], folder: Path, **more: str) -> str:
    """Return what a command prints. Raises RuntimeError if it fails."""
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
    if done.returncode:
        raise RuntimeError(f"{words}:\n{done.stdout[-3000:]}")
    return done.stdout
