# SPDX-License-Identifier: MIT
"""The library that programs link: where its headers and its files are."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from hasp.base import output
from hasp.base.errors import EXIT_FINE, HaspError
from hasp.locks import native

SCHEMA = "hasp.config/1"
DESCRIPTION = "library.json"


@dataclass(frozen=True)
class Options:
    """The options of `hasp config`."""

    wanted: tuple[str, ...] = ()  # keys of settings(); (): all of them
    json: str | None = None


@dataclass(frozen=True)
class Folders:
    """The folders of the library; None for what a build folder does not have."""

    include: Path
    library: Path
    pkgconfig: Path | None
    cmake: Path | None


def folders() -> Folders:
    """Return where the library is. Raises HaspError if the installation lacks it."""
    description = native.file(DESCRIPTION)
    try:
        given = json.loads(description.read_text(encoding="utf-8"))
        found = {key: _folder(description, given[key]) for key in given}
        include, library = found["include"], found["library"]
        if include is None or library is None:
            raise ValueError("it names no folders")
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"cannot read {description}: {problem}",
            "install Hasp again (`pip install .` or `meson install`)",
        ) from None
    if not (include / "hasp/mutex.h").is_file():
        raise HaspError(
            f"the headers are not installed: {include}/hasp/mutex.h is missing",
            "install Hasp again, with the `devel` files if your system packages them "
            "separately",
        )
    return Folders(include, library, found.get("pkgconfig"), found.get("cmake"))


def _folder(description: Path, name: str) -> Path | None:
    return (description.parent / name).resolve() if name else None


def settings() -> dict[str, str]:
    """Return what `hasp config` prints, by option; "" for what there is not."""
    place = folders()
    library = shlex.quote(str(place.library))
    return {
        "cflags": f"-I{shlex.quote(str(place.include))} -D_DEFAULT_SOURCE -pthread",
        "libs": f"-L{library} -Wl,-rpath,{library} -lhasp-sync -pthread",
        "include-dir": str(place.include),
        "library-dir": str(place.library),
        "pkg-config-dir": str(place.pkgconfig or ""),
        "cmake-dir": str(place.cmake or ""),
    }


def print_config(options: Options) -> int:
    """Print the settings that the options ask for; return the exit status."""
    known = settings()
    for name in options.wanted:
        if not known[name]:
            raise HaspError(
                f"--{name}: a build folder has no such files",
                "install Hasp, or use --cflags and --libs",
            )
    if options.json:
        record = {key.replace("-", "_"): value or None for key, value in known.items()}
        output.write_json([{"schema": SCHEMA, **record}], options.json)
    elif options.wanted:
        print(" ".join(known[name] for name in options.wanted))
    else:
        for name, value in known.items():
            if value:
                print(f"{name + ':':16}{value}")
    return EXIT_FINE
