# SPDX-License-Identifier: MIT
"""Measures the steps of a benchmark and shows its progress on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterable

from hasp.base import output
from hasp.base.errors import EXIT_FINE, Interrupted
from hasp.base.progress import Display
from hasp.base.signals import interrupt_on_signals
from hasp.lab.bench.schedule import Step


def carry_out(steps: Iterable[Step]) -> int:
    """Make all steps; return 0, or the exit status of an interruption."""
    interrupt_on_signals()
    began = time.monotonic()
    try:
        with Display() as progress:
            for step in steps:
                where = f"round {step.round_number} of {step.rounds}"
                words = f"{where}: {step.case.name} {step.subject}"
                elapsed = time.monotonic() - began
                progress.show_time(words, elapsed, step.seconds_left)
    except Interrupted as interruption:
        output.note("interrupted; the results so far follow")
        return interruption.exit_status
    return EXIT_FINE
