# SPDX-License-Identifier: MIT
"""The answer of `hasp predict` as an HTML page, and the data that the page shows."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from hasp.base import pages as page
from hasp.predict.answer import Answer
from hasp.predict.document import document
from hasp.predict.options import Options
from hasp.predict.report import assumptions, sentences
from hasp.predict.saturation import SATURATED
from hasp.profile.model.profile import Profile


def render(
    options: Options, profile: Profile, answer: Answer, doubts: Sequence[str]
) -> str:
    """Return the page, with the JSON document of the answer embedded."""
    machine = options.machine
    data: dict[str, Any] = {
        **document(options, profile, answer, doubts),
        "sentences": list(sentences(machine.name, answer)),
        "assumptions": assumptions(options, profile, answer),
        "full": SATURATED,
    }
    command = shlex.join(profile.command)
    title = f"{command} on {machine.name}, predicted"
    return page.render("hasp.predict", title, data, machine=machine.title)
