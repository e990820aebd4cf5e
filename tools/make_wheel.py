#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build wheels that install without a compiler.

make_wheel.py FOLDER: a wheel for this machine, and one for aarch64 where Debian's cross
compiler is installed. Hasp has no extension modules, only programs and libraries to
preload, so that one wheel serves every version of Python: its tag is py3-none-PLATFORM.
auditwheel finds the oldest manylinux platform on which the binaries run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = "hasp/_native"
LIBRARY = "_library/lib/libhasp-sync.so"  # for programs that use the headers
CROSS_FILE = ROOT / "tools/cross/aarch64.ini"
CROSS_PREFIX = "aarch64-linux-gnu-"
X86_ONLY = ("libhasp-delegate.so",)  # borrowing a thread needs its registers
MOST_BYTES = 5_000_000


def run(*command: str | Path) -> str:
    """Run a command with the tools of this environment; return its stdout."""
    tools = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"make_wheel: {' '.join(map(str, command))} failed\n{done.stdout}")
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel of this machine; return it unpacked and stripped."""
    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation")
    settings = f"--config-settings=build-dir={ROOT / 'build-wheel'}"
    run(*pip, "--no-deps", settings, "-w", folder, ROOT)
    (wheel,) = folder.glob("hasp-*.whl")
    run("wheel", "unpack", "--dest", folder / "native", wheel)
    (tree,) = (folder / "native").iterdir()
    strip(tree, "")
    return tree


def build_aarch64(native: Path, folder: Path) -> Path:
    """Copy an unpacked wheel, replacing its binaries with those of a cross build."""
    tree = folder / "aarch64" / native.name
    shutil.copytree(native, tree)
    build_folder = ROOT / "build-wheel-aarch64"
    if not (build_folder / "build.ninja").exists():
        options = ("-Dpython=false", "-Dtests=false", "-Ddeveloper_tools=false")
        cross = (f"--cross-file={CROSS_FILE}", "-Dlibrary=package")
        run("meson", "setup", build_folder, ROOT, *cross, *options)
    run("ninja", "-C", build_folder, "-j", os.environ.get("JOBS", "2"))
    stage = folder / "stage"
    run("meson", "install", "-C", build_folder, "--no-rebuild", f"--destdir={stage}")
    (made,) = stage.rglob("libexec/hasp")
    for name in X86_ONLY:
        (tree / NATIVE / name).unlink()
    wanted = {path.name for path in (tree / NATIVE).iterdir()}
    if differing := wanted ^ {path.name for path in made.iterdir()}:
        names = ", ".join(sorted(differing))
        sys.exit(f"make_wheel: only one of the two builds has {names}")
    for name in wanted:
        shutil.copy2(made / name, tree / NATIVE / name)
    shutil.copy2(made.parent / LIBRARY, tree / "hasp" / LIBRARY)
    strip(tree, CROSS_PREFIX)
    return tree


def strip(tree: Path, prefix: str) -> None:
    """Remove debug information but keep symbols, for the backtraces of programs."""
    for path in [*(tree / NATIVE).iterdir(), tree / "hasp" / LIBRARY]:
        if path.suffix == ".json":
            continue
        run(f"{prefix}strip", "--strip-debug", path)


def set_tag(tree: Path, platform: str) -> None:
    """Write the wheel's tag into its metadata."""
    (metadata,) = tree.glob("*.dist-info/WHEEL")
    text = re.sub(r"^Tag: .*\n", "", metadata.read_text(), flags=re.MULTILINE)
    metadata.write_text(f"{text.rstrip()}\nTag: py3-none-{platform}\n")


def pack(tree: Path, machine: str, folder: Path) -> Path:
    """Pack a wheel with the tag of the oldest platform that it runs on."""
    draft = folder / f"draft-{machine}"
    draft.mkdir()
    set_tag(tree, f"linux_{machine}")
    run("wheel", "pack", "--dest-dir", draft, tree)
    (wheel,) = draft.iterdir()
    found = run("auditwheel", "show", "--json", wheel)
    platform = json.loads(found)["overall_tag"]
    if not re.fullmatch(rf"manylinux_\d+_\d+_{machine}", platform):
        sys.exit(f"make_wheel: the wheel fits no manylinux platform, only {platform}")
    set_tag(tree, platform)
    run("wheel", "pack", "--dest-dir", folder, tree)
    (packed,) = folder.glob(f"hasp-*-py3-none-{platform}.whl")
    if packed.stat().st_size > MOST_BYTES:
        sys.exit(f"make_wheel: {packed.name} is larger than {MOST_BYTES} bytes")
    return packed


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hasp-wheel-") as name:
        folder = Path(name)
        native = build(folder)
        trees = {os.uname().machine: native}
        if "aarch64" not in trees and shutil.which(f"{CROSS_PREFIX}gcc"):
            trees["aarch64"] = build_aarch64(native, folder)
        for machine, tree in trees.items():
            made = folder / f"made-{machine}"
            made.mkdir()
            wheel = shutil.copy2(pack(tree, machine, made), target)
            print(f"{wheel}: {Path(wheel).stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
