# SPDX-License-Identifier: MIT
"""The environment that makes a program use a lock algorithm."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hasp.base import user_cache
from hasp.base.errors import HaspError
from hasp.base.process import capture
from hasp.launch.calibration import park_ns
from hasp.launch.executable import Program, examine, find
from hasp.locks import native
from hasp.locks.given import Algorithms
from hasp.locks.kinds import KINDS, MUTEX
from hasp.locks.native import REFERENCE

LIBRARY = "libhasp.so"
DELEGATING_LIBRARY = "libhasp-delegate.so"
PROFILER = "libhasp-profile.so"
TUNABLES = "GLIBC_TUNABLES"
WITHOUT_RSEQ = "glibc.pthread.rseq=0"
TRACE_SETTINGS = (
    *("HASP_TRACE", "HASP_TRACE_SESSION", "HASP_TRACE_MODE"),
    *("HASP_TRACE_LIMIT", "HASP_TRACE_LOCK", "HASP_TRACE_OTHER_LOCKS"),
)
SETTINGS = (
    *(kind.setting for kind in KINDS),
    *("HASP_PARK_NS", "HASP_PLAN", "HASP_PLAN_REPORT"),
    "HASP_ELISION_NOTE",
    *TRACE_SETTINGS,
)
# Sanitizer runtimes must be preloaded first: they then intercept the calls and pass
# them on to Hasp. They report accesses protected by locks that they do not see as
# races.
SANITIZERS = (
    *("libtsan.so", "libasan.so", "libhwasan.so"),
    *("libclang_rt.tsan", "libclang_rt.asan", "libclang_rt.hwasan"),
)
SEPARATORS = re.compile(r"[ :]+")
TRACE_TIME_LIMIT = 20.0  # seconds; takes milliseconds unless the disk is slow


def original_environment() -> dict[str, str]:
    """Return the environment in which Hasp was started.

    In the C locale, Python sets LC_CTYPE for itself and its children (PEP 538), which a
    program under Hasp must not inherit.
    """
    environment = dict(os.environ)
    if "LC_CTYPE" in environment:
        try:
            block = Path("/proc/self/environ").read_bytes()
        except OSError:
            return environment
        if not any(entry.startswith(b"LC_CTYPE=") for entry in block.split(b"\0")):
            del environment["LC_CTYPE"]
    return environment


def environment(
    chosen: Algorithms,
    base: Mapping[str, str],
    command: Sequence[str],
    trace_settings: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the environment that makes `command` use the chosen algorithms.

    Its children use them, too. With `trace_settings` (see TRACE_SETTINGS) the processes
    are also profiled. Raises HaspError for a program that cannot be interposed. With
    the reference and without profiling, the program runs natively, with everything else
    that `base` preloads.
    """
    result = without_hasp(base)
    if chosen.is_reference and trace_settings is None:
        find(command[0], base)
        return result
    program = examine(command[0], base)
    libraries = []
    if trace_settings is not None:
        # Before libhasp.so: it calls the next definition, Hasp's or glibc's.
        libraries.append(native.profiler())
        result.update(trace_settings)
    if not chosen.is_reference:
        libraries.append(_library(chosen, result))
        # Without HASP_LOCK, libhasp.so would replace mutexes by its default.
        replaced = {MUTEX, *(kind for kind in KINDS if chosen.of(kind) != REFERENCE)}
        result.update({kind.setting: chosen.of(kind) for kind in replaced})
        result.update(_park_settings(chosen.used, base))
        if any(lock.is_elided for lock in chosen.used):
            # libhasp.so sets it to 0 once it has printed its message.
            result["HASP_ELISION_NOTE"] = "1"
    if chosen.plan:
        # Imported here because most runs have no plan.
        from hasp.locks.site_plan import apply

        result.update(apply.settings(chosen.plan, files_of(program, result)))
    result["LD_PRELOAD"] = preload(program, result, libraries)
    return result


def _library(chosen: Algorithms, result: dict[str, str]) -> Path:
    """Return the interposer; add to `result` the settings that `delegate` needs."""
    if not any(lock.is_delegate for lock in chosen.used):
        return native.library()
    obstacle = native.delegation_obstacle()
    if obstacle:
        raise HaspError(
            f"delegate cannot run sections of other threads here: {obstacle}",
            "choose another lock of `hasp list`",
        )
    others = [one for one in result.get(TUNABLES, "").split(":") if one]
    kept = [one for one in others if not one.startswith("glibc.pthread.rseq=")]
    result[TUNABLES] = ":".join([*kept, WITHOUT_RSEQ])
    return native.delegating_library()


def _park_settings(
    locks: Sequence[native.LockInfo], base: Mapping[str, str]
) -> dict[str, str]:
    if "HASP_PARK_NS" in base:
        return {"HASP_PARK_NS": base["HASP_PARK_NS"]}
    if any(lock.parks or lock.is_wrapped or lock.is_elided for lock in locks):
        cost = park_ns()
        if cost is not None:
            return {"HASP_PARK_NS": str(cost)}
    return {}


def files_of(program: Program, environment: Mapping[str, str]) -> dict[str, Path]:
    """Return the paths of the program and its libraries, by file name."""
    paths = [program.binary]
    for line in trace(program, environment).splitlines():
        path = line.partition(" => ")[2].partition(" (0x")[0]
        if path.startswith("/"):
            paths.append(Path(path))
    return {path.resolve().name: path for path in paths} | {
        path.name: path for path in paths
    }


def without_hasp(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` without Hasp's libraries and settings, to run programs natively."""
    result = {name: value for name, value in base.items() if name not in SETTINGS}
    if "LD_PRELOAD" in result:
        others = _preloaded(result)
        # Keep the value as it was written unless it has a library of Hasp.
        if any(_is_ours(entry) for entry in _entries(result)):
            result["LD_PRELOAD"] = ":".join(others)
        if not result["LD_PRELOAD"]:
            del result["LD_PRELOAD"]
    return result


def _entries(environment: Mapping[str, str]) -> list[str]:
    return [
        entry for entry in SEPARATORS.split(environment.get("LD_PRELOAD", "")) if entry
    ]


def _preloaded(environment: Mapping[str, str]) -> list[str]:
    return [entry for entry in _entries(environment) if not _is_ours(entry)]


def _is_ours(path: str) -> bool:
    return Path(path).name in (LIBRARY, DELEGATING_LIBRARY, PROFILER)


def _is_sanitizer(path: str) -> bool:
    return Path(path).name.startswith(SANITIZERS)


def preload(
    program: Program, environment: Mapping[str, str], libraries: Sequence[Path]
) -> str:
    """Return the value of LD_PRELOAD for a program.

    `libraries` are Hasp's, in order. Raises HaspError if the loader does not load them.
    """
    ours = [str(preloadable(library)) for library in libraries]
    others = _preloaded(environment)
    first = [entry for entry in others if _is_sanitizer(entry)]
    rest = [entry for entry in others if not _is_sanitizer(entry)]
    loaded = trace(program, {**environment, "LD_PRELOAD": ":".join([*ours, *others])})
    for library in ours:
        _refuse_unless_loaded(program, library, loaded)
    for line in loaded.splitlines():
        name, _, path = line.strip().partition(" => ")
        path = path.partition(" (0x")[0]
        if _is_sanitizer(name) and path.startswith("/"):
            already = {Path(entry).name for entry in first}
            first += [path] if Path(path).name not in already else []
    return ":".join([*first, *ours, *rest])


def trace(program: Program, environment: Mapping[str, str]) -> str:
    """Return what the program's loader would load, one library per line.

    Starts the loader, never the program, so this is safe for programs that interpret
    LD_TRACE_LOADED_OBJECTS themselves. The loader must be glibc's.
    """
    captured = capture(
        # The loader would search the libraries for a name without a slash.
        [str(program.loader), str(program.binary.absolute())],
        {**environment, "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": ""},
        TRACE_TIME_LIMIT,
        with_stderr=True,
    )
    return captured.stdout if captured else ""


def _refuse_unless_loaded(program: Program, ours: str, loaded: str) -> None:
    complaints = [line.strip() for line in loaded.splitlines() if ours in line]
    for line in complaints:
        if "cannot be preloaded" in line or "not found" in line:
            raise HaspError(
                f"the loader of {program.binary} rejects Hasp's library: {line}",
                "install Hasp on the system that the program was built for; its C "
                "library must not be older than the one Hasp was built with",
            )
    if not complaints and program.loader != program.binary:
        raise HaspError(
            f"the loader of {program.binary} does not load Hasp's library",
            f"run `LD_PRELOAD={ours} {program.binary.absolute()}` for its message",
        )


def preloadable(library: Path) -> Path:
    """Return a path for LD_PRELOAD, a link if the library's has a space or colon."""
    if not SEPARATORS.search(str(library)):
        return library
    home = user_cache.folder()
    if home is None or SEPARATORS.search(str(home)):
        raise HaspError(
            f"{library} cannot be preloaded: its path has a space or a colon",
            "install Hasp in another folder, or set XDG_CACHE_HOME to a path without",
        )
    version = library.stat()
    link = home / f"{version.st_dev:x}-{version.st_ino:x}" / library.name
    link.parent.mkdir(mode=0o700, exist_ok=True)
    if not link.is_symlink() or link.readlink() != library:
        temporary = link.with_suffix(f".{os.getpid()}")
        temporary.symlink_to(library)
        temporary.replace(link)
    return link
