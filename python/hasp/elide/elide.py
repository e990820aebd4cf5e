# SPDX-License-Identifier: MIT
"""Carries out `hasp elide`: predicts from a trace, or records a command first."""

from __future__ import annotations

from pathlib import Path

from hasp.base.output import STDOUT, check_writable, write_json
from hasp.elide.document import document
from hasp.elide.options import Options
from hasp.elide.predict import predict
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
    prediction = predict(options, profile)
    if options.json:
        write_json([document(options, profile, prediction)], options.json)
    if options.json != STDOUT:
        show(options, profile, prediction)
    return 0
