# SPDX-License-Identifier: MIT
"""Spin accepts the models of the futex protocols, and rejects their seeded bugs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from models.models import (
    Modelled,
    Run,
    bugs,
    c_function,
    digest,
    modelled,
    models,
    runs,
    search,
)

needs_spin = pytest.mark.skipif(
    not shutil.which("spin"), reason="needs Debian's package spin"
)


CORRECT = [run for m in models() for run in runs(m)]
LONG = [run for m in models() for run in runs(m, "Slow")]
SLOW = [pytest.param(run, marks=pytest.mark.slow) for run in LONG]
# Each bug takes a second or two to compile. `make test` runs the first one of each
# model, to show that the model can fail.
BUGS = [
    pytest.param(bug, marks=[pytest.mark.slow] if number else [])
    for m in models()
    for number, bug in enumerate(bugs(m))
]


@needs_spin
@pytest.mark.parametrize("run", CORRECT + SLOW, ids=str)
def test_model_is_free_of_errors(run: Run, tmp_path: Path) -> None:
    verdict = search(run, tmp_path)
    assert verdict.error == "", verdict.output
    assert verdict.complete, verdict.output
    assert verdict.states > 100  # Spin did run


@needs_spin
@pytest.mark.parametrize("run", BUGS, ids=str)
def test_seeded_bug_is_rejected(run: Run, tmp_path: Path) -> None:
    assert search(run, tmp_path).error == run.error


@pytest.mark.parametrize(
    "of",
    [of for m in models() for of in modelled(m)],
    ids=lambda of: f"{of.model.stem}: {of.function}",
)
def test_modelled_code_has_not_changed(of: Modelled) -> None:
    text = c_function(of.file, of.function)
    assert text, (
        f"{of.function}() is not in {of.file} any more: does the model still hold?"
    )
    assert digest(text) == of.digest, (
        f"{of.function}() of {of.file} has changed since {of.model.name} was compared"
        f" with it. Compare them again, then write {of.function}={digest(text)} there."
    )
