# SPDX-License-Identifier: MIT
"""Real programs with rewritten sections: Debian's memcached, MAFFT and HMMER 2.

A form of a program is its original, or the name of the executor of its sections.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from debian_source import UnavailableError, fetch, run
from hasp.locks import native
from hasp.locks.kinds import EXECUTOR
from hasp.locks.library import settings

ORIGINAL = "original"
OWN_THREAD = "lock:futex"
THREADS = 4
LIMIT_S = 60
# Memcached: each connection stores its own items, many without an answer, then asks.
SECONDS, ITEMS = 2.0, 500
# MAFFT: sequences made from those of its sample by changing one letter in five.
SEQUENCES, SEED, EACH = 600, 1, 5
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
# HMMER: a model of the first columns of its sample, calibrated by short sequences.
COLUMNS, SCORED, LENGTH = 24, 300_000, 20


@dataclass(frozen=True)
class Program:
    """A package, and how its sections are rewritten, built and run."""

    package: str
    lock: str  # as for --lock
    unit: str  # of its rate
    folder: str  # of the build, in the source
    configure: tuple[str, ...]
    targets: tuple[str, ...]
    # Lines and files that are never compiled, given the source.
    ignored: Callable[[Path], list[str]]
    libraries: str  # besides Hasp's
    flags: str  # make's variable for the compiler's options; {} are those
    product: str  # in the folder of the build
    # A file of another package that the build needs.
    needs: str
    patched: bool  # the source is as Debian builds it, not upstream's
    # Runs the built program, given the source and an empty folder, and returns its
    # rate. Raises RuntimeError if its output is wrong.
    load: Callable[[Path, Path, Path], float]


def forms() -> list[str]:
    """Return the original, a lock, and all executors."""
    names = [executor.name for executor in native.locks(EXECUTOR)]
    return [ORIGINAL, OWN_THREAD, *names]


def build(program: Program, folder: Path, wanted: list[str]) -> Path:
    """Fetch and build a program in a new folder; return the source.

    For each form, FOLDER/FORM/NAME is the product then. Sections are rewritten once:
    for another executor, only its name in the source is another one. All targets are
    built unchanged and with the last form, otherwise only the product.
    """
    if program.needs and not Path(program.needs).exists():
        raise UnavailableError(f"needs {program.needs}")
    source = fetch(program.package, folder, program.patched)
    work = source / program.folder
    if program.configure:
        run(list(program.configure), work)
    run(["bear", "--", "make", "-j2", *program.targets], work)
    _keep(program, work, folder / ORIGINAL)
    changed = folder / "changed"
    _rewrite(program, work, changed)
    texts = {path: path.read_text() for path in changed.rglob("*.[ch]")}
    known = settings()
    variables = [
        program.flags.format(known["cflags"]),
        f"LIBS={program.libraries} {known['libs']}",
    ]
    for form in wanted:
        if form == ORIGINAL:
            continue
        for path, text in texts.items():
            target = work / path.relative_to(changed)
            new = text.replace('"adaptive"', f'"{form}"')
            if target.read_text() != new:
                target.write_text(new)
        everything = form == wanted[-1]
        targets = program.targets if everything else (Path(program.product).name,)
        run(["make", "-j2", *targets, *variables], work)
        _keep(program, work, folder / form)
    return source


def _rewrite(program: Program, work: Path, out: Path) -> None:
    """Write what `hasp delegate` changes below another folder."""
    words = [sys.executable, "-m", "hasp", "delegate", "--lock", program.lock]
    words += ["-p", str(work), "--executor", "adaptive", "--out", str(out)]
    for path in program.ignored(work):
        words += ["--ignore", str(work / path)]
    run(words, work)


def _keep(program: Program, work: Path, place: Path) -> None:
    place.mkdir()
    shutil.copy(work / program.product, place / Path(program.product).name)


def _stats_ignored(work: Path) -> list[str]:
    """Return what memcached compiles only with TLS, or never."""
    lines = (work / "memcached.c").read_text().split("\n")
    return [
        "tls.c",
        *(
            f"memcached.c:{number}"
            for number, text in enumerate(lines, 1)
            if "STATS_" in text and "LOCK();" in text and text.startswith(" " * 28)
        ),
    ]


def _memcached(product: Path, source: Path, folder: Path) -> float:
    """Store items over several connections; return the millions stored in a second."""
    del source, folder
    with _server(product) as port:
        stored = [0] * THREADS
        end = time.monotonic() + SECONDS
        clients = [
            threading.Thread(target=_store, args=(port, client, end, stored))
            for client in range(THREADS)
        ]
        begun = time.monotonic()
        for client in clients:
            client.start()
        for client in clients:
            client.join(LIMIT_S)
        seconds = time.monotonic() - begun
        counted = _ask(port, b"stats\r\n", b"END\r\n").decode().split()
    found = [int(counted[counted.index(name) + 1]) for name in ("total_items",)]
    found.append(int(counted[counted.index("curr_items") + 1]))
    if found != [sum(stored), THREADS * ITEMS]:
        raise RuntimeError(f"{product} counts {found}, {sum(stored)} were stored")
    return sum(stored) / seconds / 1e6


@contextmanager
def _server(product: Path) -> Iterator[int]:
    """Start memcached and yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = [str(product), "-u", "root", "-l", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen([*words, "-U", "0", "-m", "256", "-t", str(THREADS)])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if server.poll() is not None:
                    raise RuntimeError(f"{product} ended") from None
                time.sleep(0.01)
        yield port
        server.terminate()
        if server.wait(LIMIT_S):
            raise RuntimeError(f"{product} ended with status {server.returncode}")
    finally:
        server.kill()


def _ask(port: int, request: bytes, end: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), LIMIT_S) as connection:
        connection.sendall(request)
        return _until(connection, end)


def _until(connection: socket.socket, end: bytes) -> bytes:
    answer = b""
    while not answer.endswith(end):
        more = connection.recv(1 << 16)
        if not more:
            raise RuntimeError("memcached has closed a connection")
        answer += more
    return answer


def _store(port: int, client: int, end: float, stored: list[int]) -> None:
    items = b"".join(
        b"set %d-%d 0 0 8 noreply\r\n%08d\r\n" % (client, item, item)
        for item in range(ITEMS)
    )
    with socket.create_connection(("127.0.0.1", port), LIMIT_S) as connection:
        while time.monotonic() < end:
            connection.sendall(items + b"mn\r\n")
            _until(connection, b"MN\r\n")
            stored[client] += ITEMS


def _sequences(sample: Path) -> str:
    """Return sequences in FASTA, the same at each call."""
    source = random.Random(SEED)
    known = [
        "".join(part.split("\n")[1:]) for part in sample.read_text().split(">")[1:]
    ]
    lines = []
    for number in range(SEQUENCES):
        letters = list(source.choice(known))
        for _ in range(len(letters) // EACH):
            letters[source.randrange(len(letters))] = source.choice(LETTERS)
        lines.append(f">{number}\n{''.join(letters)}\n")
    return "".join(lines)


def _mafft(product: Path, source: Path, folder: Path) -> float:
    """Align sequences; return how many are aligned in a second."""
    binaries = folder / "binaries"
    shutil.copytree(source / "binaries", binaries)
    shutil.copy(product, binaries / product.name)
    given, expected = source / "given.fa", source / "expected.fa"
    if not given.exists():
        given.write_text(_sequences(source / "test/sample"))
    begun = time.monotonic()
    words = ["bash", str(source / "core/mafft"), "--thread", str(THREADS)]
    done = subprocess.run(
        [*words, "--retree", "1", str(given)],
        env={**os.environ, "MAFFT_BINARIES": str(binaries)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    seconds = time.monotonic() - begun
    if done.returncode or done.stdout.count(">") != SEQUENCES:
        raise RuntimeError(f"{product} failed: {done.stderr[-500:]}")
    if not expected.exists():
        expected.write_text(done.stdout)  # by the original, which runs first
    if done.stdout != expected.read_text():
        raise RuntimeError(f"{product} aligns otherwise than the original")
    return SEQUENCES / seconds


def _motif(source: Path) -> Path:
    """Return a model of the first columns of HMMER's sample."""
    model = source / "motif.hmm"
    if not model.exists():
        rows = (source / "tutorial/rrm.sto").read_text().split("\n")
        first = {
            row.split()[0]: row.split()[1][:COLUMNS]
            for row in reversed(rows)
            if row and row[0] not in "#/"
        }
        lines = ["# STOCKHOLM 1.0", "", *(" ".join(row) for row in first.items())]
        (source / "motif.sto").write_text("\n".join([*lines, "//", ""]))
        run(["src/hmmbuild", "motif.hmm", "motif.sto"], source)
    return model


def _hmmcalibrate(product: Path, source: Path, folder: Path) -> float:
    """Calibrate a model; return the millions of sequences scored in a second."""
    shutil.copy(_motif(source), folder / "motif.hmm")  # which it changes
    words = [str(product), "--cpu", str(THREADS), "--seed", str(SEED)]
    words += ["--num", str(SCORED), "--fixed", str(LENGTH), "motif.hmm"]
    begun = time.monotonic()
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S
    )
    seconds = time.monotonic() - begun
    if done.returncode:
        raise RuntimeError(f"{product} failed: {done.stderr[-500:]}")
    found = [line for line in done.stdout.split("\n") if " : " in line]
    expected = source / "expected.json"
    if not expected.exists():
        expected.write_text(json.dumps(found))  # by the original, which runs first
    if not found or found != json.loads(expected.read_text()):
        raise RuntimeError(f"{product} calibrates otherwise than the original")
    return SCORED / seconds / 1e6


PROGRAMS = (
    Program(
        "memcached",
        lock="stats_lock",
        unit="million items a second",
        folder=".",
        configure=("./configure", "CFLAGS=-g -O2 -Wno-error"),
        targets=("memcached", "testapp", "timedrun"),
        ignored=_stats_ignored,
        libraries="-levent",
        flags="CPPFLAGS={}",
        product="memcached",
        needs="/usr/include/event.h",
        patched=False,
        load=_memcached,
    ),
    Program(
        "mafft",
        lock="disttbfast.c:3986",
        unit="sequences a second",
        folder="core",
        configure=(),
        targets=(),
        ignored=lambda _: [f"disttbfast.c:{line}" for line in (1264, 1276, 1284)],
        libraries="-lm",
        flags="CC=gcc {}",
        product="disttbfast",
        needs="",
        patched=False,
        load=_mafft,
    ),
    Program(
        "hmmer2",
        lock="hmmcalibrate.c:110",
        unit="million sequences a second",
        folder="src",
        configure=("sh", "-c", "cd .. && ./configure --enable-threads"),
        targets=("hmmcalibrate", "hmmbuild"),
        ignored=lambda _: [],
        libraries="-lm",
        flags="CPPFLAGS={}",
        product="hmmcalibrate",
        needs="/usr/include/biosquid/squid.h",
        patched=True,
        load=_hmmcalibrate,
    ),
)
