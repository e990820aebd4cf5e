# SPDX-License-Identifier: MIT
"""Carries out `hasp elide`: predicts from a trace or a command, or measures."""

from __future__ import annotations

import sys
from pathlib import Path

from hasp.base.errors import EXIT_FINDING, EXIT_FINE, Interrupted
from hasp.base.output import STDOUT, check_writable, json_line, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.compare.settings import Settings
from hasp.elide.document import PREDICTION, document, interrupted
from hasp.elide.hardware import Transactions, transactions
from hasp.elide.options import Options
from hasp.elide.predict import predict, refuse
from hasp.elide.report import show
from hasp.profile.model.profile import Profile
from hasp.profile.report.source import open_profile


def elide_trace(options: Options) -> int:
    """Predict from a recorded run; returns the exit status."""
    if options.json:
        check_writable(options.json)
    return elide_profile(options, open_profile(Path(options.trace), options.process))


def elide_profile(options: Options, profile: Profile) -> int:
    """Predict from a profile, and print or write the answer."""
    try:
        prediction = predict(options, profile)
    except Interrupted:
        _append_interrupted(PREDICTION, options.json)
        raise
    if options.json:
        write_json([document(options, profile, prediction)], options.json)
    if options.json != STDOUT:
        show(options, profile, prediction)
    if prediction.ending:
        raise prediction.ending
    return EXIT_FINE


def elide_command(options: Options, settings: Settings, *, predict_only: bool) -> int:
    """Measure a command if this machine has transactions, else record and predict."""
    if options.json:
        check_writable(options.json)
    found = transactions()
    if found.works and not predict_only:
        return _measured(options, settings, found)
    if not predict_only:
        note(f"{found.words}, so this is a prediction from one recorded run")
    refuse(options)  # before the run, which may take long
    # Recording a command needs the extra `study`; a prediction from a trace does not.
    from hasp.compare.recorded_run import recorded

    interrupt_on_signals()
    try:
        profile = recorded(settings, settings.threads[-1], options.trace, sample=False)
    except Interrupted:
        _append_interrupted(PREDICTION, options.json)
        raise
    return elide_profile(options, profile)


def _measured(options: Options, settings: Settings, found: Transactions) -> int:
    # Comparisons need the extra `study`; a prediction from a trace does not.
    from hasp.elide.measure import measure
    from hasp.elide.measured_report import document as measured_document
    from hasp.elide.measured_report import show as show_measured

    try:
        made = measure(settings, options.lock, options.budget_s, found, options.json)
    except Interrupted:
        _append_interrupted(found.measures, options.json)
        raise
    if options.json:
        _append(measured_document(made), options.json)
    if options.json != STDOUT:
        show_measured(made)
    if made.ending:
        raise made.ending
    return EXIT_FINDING if made.failed else EXIT_FINE


def _append_interrupted(kind: str, destination: str | None) -> None:
    if destination:
        _append(interrupted(kind), destination)


def _append(record: dict[str, object], destination: str) -> None:
    line = f"{json_line(record)}\n"
    if destination == STDOUT:
        sys.stdout.write(line)
    else:
        with Path(destination).open("a", encoding="utf-8") as file:
            file.write(line)
