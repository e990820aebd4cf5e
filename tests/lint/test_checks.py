# SPDX-License-Identifier: MIT
"""Each developer check fails on a small wrong tree, with the expected message.

Meson runs each check on this tree as a test of the suite `lint`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SPDX = "/* SPDX-License-Identifier: MIT */\n"
Tree = Callable[[dict[str, str]], Path]


def check(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / f"check_{name}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a source tree that is correct except for the given files."""

    def make(wrong: dict[str, str]) -> Path:
        right = {
            "src/platform/platform.h": SPDX + "#include <stdint.h>\n",
            "src/locks/lock.h": SPDX + '#include "platform/platform.h"\n',
            "src/preload/mutex.c": SPDX + '#include "locks/lock.h"\nint x;\n',
            "python/hasp/__init__.py": "# SPDX-License-Identifier: MIT\n",
        }
        for name, text in {**right, **wrong}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def test_checks_pass_on_a_right_tree(tree: Tree) -> None:
    root = tree({})
    for name in ("layers", "sizes"):
        done = check(name, root)
        assert (done.returncode, done.stderr) == (0, "")
    assert check("format", "--root", root).returncode == 0
    assert check("headers", "--root", root, "--", "cc").returncode == 0


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        (
            "src/platform/park.h",
            '#include "locks/lock.h"\n',
            "src/platform/park.h:2: error: platform may not include locks",
        ),
        (
            "src/locks/algorithms/mcs.h",
            '#include "preload/mutex.h"\n',
            'write "preload/mutex.h" from src/',
        ),
        ("src/locks/algorithms/mcs.h", '#include "lock.h"\n', 'as in "locks/lock.h"'),
        (
            "src/locks/memory/pool.h",
            '#include "locks/algorithms/mcs.h"\n',
            "locks/memory may not include locks/algorithms, which is above it",
        ),
        (
            "src/bench/locks.c",
            '#include "preload/mutex.c"\n',
            "bench may not include preload",
        ),
        (
            "src/locks/algorithms/mcs.h",
            "#ifdef __x86_64__\n#endif\n",
            "#ifdef __x86_64__",
        ),
        ("src/preload/cond.c", "#if 1\n#else\n#endif\n", "src/preload/cond.c:3"),
        (
            "src/locks/algorithms/mcs.h",
            "#ifndef A_H\n#define A_H\n#ifndef B\n#endif\n#endif\n",
            "src/locks/algorithms/mcs.h:4: error: #ifndef B",
        ),
        (
            "include/hasp/mutex.h",
            '#include "preload/mutex.c"\n',
            "include/hasp/mutex.h:2: error: include may not include preload",
        ),
        ("src/extra/thing.c", "int x;\n", "src/extra is not in the table"),
    ],
)
def test_layers_refuses(tree: Tree, path: str, text: str, complaint: str) -> None:
    done = check("layers", tree({path: SPDX + text}))
    assert done.returncode == 1
    assert complaint in done.stderr


def test_layers_allows_guards_and_conditionals_of_the_platform(tree: Tree) -> None:
    guarded = SPDX + "#ifndef HASP_A_H\n#define HASP_A_H\nint a;\n#endif\n"
    root = tree(
        {
            "src/locks/algorithms/mcs.h": guarded,
            "src/platform/native/backend.h": SPDX + "#if defined(__x86_64__)\n#endif\n",
            "include/hasp/mutex.hpp": guarded + "#ifdef __cpp_exceptions\n#endif\n",
        }
    )
    done = check("layers", root)
    assert (done.returncode, done.stderr) == (0, "")


LOCK = "static inline bool mcs_trylock(struct lock *lock);\n"


def test_sizes_refuses_a_long_lock(tree: Tree) -> None:
    done = check(
        "sizes", tree({"src/locks/algorithms/mcs.h": SPDX + LOCK + "int x;\n" * 249})
    )
    assert done.returncode == 1
    assert "src/locks/algorithms/mcs.h:251: error" in done.stderr


def test_sizes_warns_of_a_lock_without_its_idea(tree: Tree) -> None:
    done = check("sizes", tree({"src/locks/algorithms/mcs.h": SPDX + LOCK}))
    assert done.returncode == 0
    assert "warning" in done.stderr


@pytest.mark.parametrize(("lines", "status"), [(400, 0), (401, 1)])
def test_sizes_of_other_files(tree: Tree, lines: int, status: int) -> None:
    done = check("sizes", tree({"src/preload/cond.c": "int x;\n" * lines}))
    assert done.returncode == status
    assert ("error" in done.stderr) == (lines > 400)


C_FUNCTION = "int f(void)\n{{\n{}}}\n"
C_MACRO = "#define M \\\n{}    x\n"
PYTHON_FUNCTION = "def f():\n{}"


@pytest.mark.parametrize(
    ("path", "form", "line", "fits"),
    [
        ("src/preload/cond.c", C_FUNCTION, "    x++;\n", 57),
        ("src/preload/cond.h", C_MACRO, "    x \\\n", 58),
        ("python/hasp/a.py", PYTHON_FUNCTION, "    x = 1\n", 59),
    ],
)
def test_sizes_refuses_a_long_function(
    tree: Tree, path: str, form: str, line: str, fits: int
) -> None:
    assert check("sizes", tree({path: form.format(fits * line)})).returncode == 0
    done = check("sizes", tree({path: form.format((fits + 1) * line)}))
    assert done.returncode == 1
    assert f"{path}:1: error" in done.stderr and "has 61 lines" in done.stderr


def test_layers_refuses_an_include_cycle_of_four_modules(tree: Tree) -> None:
    names = ("a", "b", "c", "d")
    ring = {
        f"src/profiler/{name}.h": f'{SPDX}#include "profiler/{other}.h"\n'
        for name, other in zip(names, (*names[1:], names[0]), strict=True)
    }
    # A source file closes the cycle just as a header does.
    ring["src/profiler/d.c"] = ring.pop("src/profiler/d.h")
    done = check("layers", tree({**ring, "src/profiler/d.h": SPDX}))
    assert done.returncode == 1
    assert "4 modules include each other (at most 3)" in done.stderr
    ring["src/profiler/c.h"] = f'{SPDX}#include "profiler/a.h"\n'
    assert check("layers", tree({**ring, "src/profiler/d.h": SPDX})).returncode == 0


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("src/locks/algorithms/mcs.h", SPDX + "\tint x;\n", "a tab"),
        ("src/locks/algorithms/mcs.h", SPDX + "int x; \n", "blanks at the end"),
        ("src/locks/algorithms/mcs.h", SPDX + "int x;", "no newline at the end"),
        ("src/locks/algorithms/mcs.h", SPDX + f"/* {'x' * 90} */\n", "96 columns"),
        ("src/locks/algorithms/mcs.h", "int x;\n", "no SPDX-License-Identifier"),
        (
            "python/hasp/a.py",
            "# SPDX-License-Identifier: MIT\nx = 'a'\n",
            "would be reformatted",
        ),
    ],
)
def test_format_refuses(tree: Tree, path: str, text: str, complaint: str) -> None:
    done = check("format", "--root", tree({path: text}))
    assert done.returncode == 1
    assert complaint in done.stdout + done.stderr


def test_headers_refuses_one_that_needs_another(tree: Tree) -> None:
    root = tree({"src/locks/algorithms/mcs.h": SPDX + "static uint32_t tail;\n"})
    done = check("headers", "--root", root, "--", "cc")
    assert done.returncode == 1
    assert "src/locks/algorithms/mcs.h:1: error: does not compile alone" in done.stderr
