# SPDX-License-Identifier: MIT
"""Download of the runs that the lock study's authors published, into a store.

The data sets of "Lock - Unlock: Is That All?" (ACM TOCS 2019) are in the public
repository of LiTL, under the MIT licence. The commit and the checksums are fixed, so
anybody can reproduce the tables made from them.
"""

from __future__ import annotations

import hashlib
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.study.importing import import_csv
from hasp.study.samples import Store

COMMIT = "916469ca797ee299a4ae674b41c4fac9ac4ae21b"
FOLDER = "paper/journal/datasets"
SOURCE = f"https://raw.githubusercontent.com/multicore-locks/litl/{COMMIT}/{FOLDER}"
SHOWN = f"https://github.com/multicore-locks/litl/tree/{COMMIT}/{FOLDER}"
TIMEOUT = 60.0  # seconds without any data
LARGEST = 64 << 20  # bytes; the largest file has 2 MiB


@dataclass(frozen=True)
class Published:
    """One published file: the machine it was measured on, and its checksum."""

    machine: str
    file: str
    sha256: str


PUBLISHED = (
    Published(
        "A-64",
        "A64.csv",
        "40564158f603eaa463fcbbbf89d6db31e634de3ed2011654f754b76683c1bdea",
    ),
    Published(
        "A-64-pinned",
        "A64-pinning.csv",
        "b2a73411ef1a44cbc2bbf4552e67b549a4af85472266a34135ba90c8fbb106b5",
    ),
    Published(
        "A-64-latency",
        "A64-latency.csv",
        "e073ce788c454c0a202b907df278a261af6cba8be4c409d73e2bbb8a23ad58c9",
    ),
    Published(
        "A-48",
        "A48.csv",
        "64c9f98300f27f8dd1bc7b2683abfef82b22cc6cc22060b8140b95cfffd2123a",
    ),
    Published(
        "I-48",
        "I48.csv",
        "611e30f74594e5ba9acd0530ef41f311fab88653f5f6659cdacc2a33a804d28f",
    ),
    Published(
        "I-20",
        "I20.csv",
        "722a18f5ade41fd00a196021f9a7bccbda1b1ece67e0853bf68fc703c8984797",
    ),
)


def chosen(machines: Sequence[str]) -> list[Published]:
    """Return the files of these machines, or all files; an unknown name is an error."""
    known = {one.machine: one for one in PUBLISHED}
    for name in machines:
        if name not in known:
            raise HaspError(
                f"there are no published runs of a machine {name!r}",
                f"choose from {', '.join(known)}",
            )
    return [known[name] for name in machines or known]


def fetch(
    store: Store, wanted: Sequence[Published], source: str
) -> list[dict[str, Any]]:
    """Add the files to the store; returns the provenance of what was added.

    `source` is the address of a folder, or a local folder or file. Files that the store
    already has are left out. A file with another checksum is an error.
    """
    there = {batch.get("sha256") for batch in store.batches()}
    added = []
    with tempfile.TemporaryDirectory(prefix="hasp-fetch-") as folder:
        for one in wanted:
            if one.sha256 in there:
                continue
            content = _content(one, source)
            digest = hashlib.sha256(content).hexdigest()
            if digest != one.sha256:
                raise HaspError(
                    f"{one.file} from {source} is not the published file: its SHA-256 "
                    f"is {digest}, not {one.sha256}",
                    f"take it from {SHOWN}",
                )
            path = Path(folder) / one.file
            path.write_bytes(content)
            added.append(import_csv(store, one.machine, path))
    return added


def _content(one: Published, source: str) -> bytes:
    if "://" in source:
        return _download(f"{source.rstrip('/')}/{one.file}")
    path = Path(source)
    if path.is_dir():
        path /= one.file
    try:
        return path.read_bytes()
    except OSError as problem:
        raise HaspError(
            f"{path}: {problem.strerror}",
            f"name a folder with the files of {SHOWN}, or one of them with --machine",
        ) from None


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as reply:
            content: bytes = reply.read(LARGEST)
            return content
    except (OSError, ValueError) as problem:
        failed = isinstance(problem, urllib.error.HTTPError)  # with a status
        reason = problem if failed else getattr(problem, "reason", problem)
        raise HaspError(
            f"{address} cannot be downloaded: {reason}",
            f"without a network, copy the files of {SHOWN} here by other means and "
            "repeat the command with --from DIR",
        ) from None
