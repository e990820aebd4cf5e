# SPDX-License-Identifier: MIT
"""What is said when a recorded program has ended: what there is, or why nothing is."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from hasp.output import complain, note
from hasp.recording import files
from hasp.recording.family import Family
from hasp.recording.target import Target


def tell(target: Target, family: Family, *, with_report: bool) -> None:
    """The last lines, on stderr."""
    traces = files.of_session(target.trace, target.session)
    if not traces:
        complain(family.why_no_trace())
        return
    for trace in traces:
        note(f"recorded process {trace.pid} in {shown(trace.path)}")
    running = [str(trace.pid) for trace in traces if trace.running]
    if running:
        note(f"still running and recording: {', '.join(running)}")


def shown(path: Path) -> str:
    """The path as it would be typed here."""
    relative = os.path.relpath(path)
    return shlex.quote(str(path) if relative.startswith("..") else relative)
