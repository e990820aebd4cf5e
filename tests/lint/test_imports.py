# SPDX-License-Identifier: MIT
"""The import contracts of pyproject.toml hold, and break when a violation is seeded."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hasp.base.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
LINT = (
    "import sys; from importlinter.cli import lint_imports_command as c; "
    "sys.exit(c(['--no-cache']))"
)


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "python"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )


def test_the_sources_keep_the_contracts() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        # The import is inside a function, where a reader may overlook it.
        ("base/errors.py", "def f():\n    import hasp.cli.main", "import downward"),
        ("profile/trace/format.py", "import hasp.profile.report.text", "the trace up"),
        ("lab/simulate/job.py", "import hasp.lab.bench.rows", "one way only"),
        ("statistics/ratio.py", "import hasp.statistics.interval", "in a circle"),
        ("new_package/__init__.py", "", "import downward"),
    ],
)
def test_a_seeded_import_breaks_its_contract(
    tmp_path: Path, module: str, line: str, contract: str
) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "python", tmp_path / "python", ignore=ignored)
    path = tmp_path / "python/hasp" / module
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    verdicts = [text for text in done.stdout.splitlines() if contract in text]
    assert "BROKEN" in verdicts[0] or "new_package" in done.stdout


OPTIONAL = {module.partition(".")[0] for some in EXTRAS.values() for module in some}


def unexplained(source: str) -> Iterator[int]:
    """Yield the lines of imports in functions without a comment that says why.

    Modules of extras need none: they may not be installed.
    """
    lines = source.splitlines()
    functions = (
        one
        for one in ast.walk(ast.parse(source))
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    for one in {each for function in functions for each in ast.walk(function)}:
        if isinstance(one, ast.Import):
            module = one.names[0].name
        elif isinstance(one, ast.ImportFrom):
            module = one.module or ""
        else:
            continue
        above = one.lineno - 2
        while lines[above].strip().startswith(("import ", "from ", ")")):
            above -= 1
        explained = lines[above].strip().startswith("#")
        if not explained and module.partition(".")[0] not in OPTIONAL:
            yield one.lineno


def test_imports_in_functions_have_a_reason() -> None:
    """Those of cli/ have one in common, in the package's docstring."""
    package = ROOT / "python/hasp"
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(package.rglob("*.py"))
        if not path.is_relative_to(package / "cli")
        for line in unexplained(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("import json", [2]),
        ("# Slow.\n    import json\n    import csv", []),
        ("import polars", []),
        ("x = 1\n    from hasp.base import output", [3]),
    ],
)
def test_an_unexplained_import_is_found(body: str, lines: list[int]) -> None:
    assert list(unexplained(f"def f():\n    {body}\n")) == lines
