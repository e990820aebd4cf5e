# SPDX-License-Identifier: MIT
"""Optional dependencies, and the extra of Hasp that installs each."""

from __future__ import annotations

from importlib.util import find_spec

from hasp.base.errors import HaspError

# The optional modules of each extra in pyproject.toml, imported only where needed.
EXTRAS = {
    "report": ("matplotlib", "jinja2", "plotly", "google.protobuf"),
    "top": ("textual",),
    "study": ("scipy", "psutil", "polars"),
    "slurm": ("submitit",),
    "delegate": ("clang",),
}


def require(extra: str) -> None:
    """Raise HaspError if a module of `extra` is not installed."""
    for module in EXTRAS[extra]:
        if find_spec(module.partition(".")[0]) is None:
            raise missing_extra(extra, module)


def explain_missing(problem: ImportError) -> HaspError | None:
    """Return the error for a missing module of an extra, None for any other failure."""
    if not isinstance(problem, ModuleNotFoundError):
        return None
    wanted = (problem.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        for module in modules:
            if module.partition(".")[0] == wanted:
                return missing_extra(extra, module)
    return None


def missing_extra(extra: str, module: str) -> HaspError:
    """Return the error for a module that is not installed."""
    return HaspError(
        f"the Python package {module} is not installed",
        f"install what this needs: pip install 'hasp[{extra}]'",
    )
