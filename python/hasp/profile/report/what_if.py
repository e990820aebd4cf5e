# SPDX-License-Identifier: MIT
"""`hasp report --what-if`: predictions as a table or as JSON."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.output import console, write_json
from hasp.profile.diagnosis.what_if.change import Change, change
from hasp.profile.diagnosis.what_if.prediction import Answer, Prediction, predict
from hasp.profile.model.profile import Profile, Site
from hasp.profile.report.figures import chosen, rows
from hasp.profile.report.layout import print_table, shortened
from hasp.profile.report.text import say
from hasp.profile.report.words import plural, short_time

SCHEMA = "hasp.what-if/1"
HEADINGS = ("change", "throughput", "range", "mean wait", "then limited by")
LIMIT = 24  # characters of a name
# difference of simulated and recorded throughput above which nothing is predicted
USELESS = 0.5
OFFERED = 3  # names of sites in an error message


def changes_of(texts: Sequence[str]) -> list[Change]:
    """Return the changes; raises HaspError for the first one that makes no sense."""
    return [change(text) for text in texts]


def answer(profile: Profile, changes: Sequence[Change]) -> Answer:
    """Predict the changes; raises HaspError for a site that was not recorded."""
    found = predict(profile, [(site_of(profile, one.site), one) for one in changes])
    if found is None:
        raise HaspError(
            "the profile has too few acquisitions of these locks for a prediction",
            "record the program under load",
        )
    return found


def site_of(profile: Profile, name: str) -> Site:
    """Return the one site of that name; raises HaspError for none or several."""
    every = rows(profile)
    found = chosen(every, name)
    if len(found) == 1:
        return found[0].site
    if found:
        several = ", ".join(f"{row.site.number}: {row.name}" for row in found[:OFFERED])
        raise HaspError(
            f"--what-if: {len(found)} locks match {name!r}: {several}",
            "give the number, or more of the name",
        )
    near = _nearest(name, [row.site for row in every])
    raise HaspError(
        f"--what-if: no lock matches {name!r}",
        f"did you mean {' or '.join(near)}?" if near else "the profile has no locks",
    )


def _nearest(name: str, sites: Sequence[Site]) -> list[str]:
    """Return the names that are most alike; the busiest sites if none is."""
    parts = {
        part: site.name
        for site in reversed(sites)
        for part in (site.name, site.place, site.expression or site.name)
    }
    near = difflib.get_close_matches(name, parts, n=OFFERED, cutoff=0.4)
    names = [parts[part] for part in near] or [site.name for site in sites[:OFFERED]]
    return [repr(one) for one in dict.fromkeys(names)]


def document(profile: Profile, said: Answer) -> dict[str, Any]:
    """Return the answer as an object of the schema hasp.what-if/1."""
    useless = abs(said.error) > USELESS
    return {
        "schema": SCHEMA,
        "command": list(profile.command),
        "threads": said.threads,
        "cpus": said.cpus,
        "model_error": said.error,
        "doubts": list(said.doubts),
        "predictions": [
            {
                "site": one.site or None,
                "change": one.words,
                "throughput": None if useless else one.throughput,
                "low": None if useless else one.low,
                "high": None if useless else one.high,
                "is_bound": one.is_bound,
                "wait_before_ns": one.wait_before_ns,
                "wait_after_ns": one.wait_after_ns,
                "limit": one.limit,
            }
            for one in said.predictions
        ],
    }


def show(profile: Profile, changes: Sequence[Change], json: str | None) -> None:
    """Print the predictions, or write them as JSON to `json`."""
    said = answer(profile, changes)
    if json is not None:
        write_json([document(profile, said)], json)
        return
    out = console()
    if abs(said.error) > USELESS:
        for doubt in said.doubts:
            say(out, doubt, "doubt: ")
        say(out, "So the simulation predicts no gain for this program.")
        return
    sites = {one.site for one in said.predictions if one.site}
    if len(sites) == 1:
        say(out, f"What if {sites.pop()} ...", style="bold")
        print()
    cells = [_cells(one, with_site=bool(sites)) for one in said.predictions]
    print_table(out, HEADINGS, cells)
    print()
    say(
        out,
        f"Predicted, not measured: a simulation of {plural(said.threads, 'thread')} "
        f"with the recorded holds, handovers and times between acquisitions, limited "
        f"by {plural(said.cpus, 'CPU')}. Idle time and the mix of work stay as they "
        f"were. Without a change it differs from the recorded throughput by "
        f"{said.error:+.0%}.",
    )
    for doubt in said.doubts:
        say(out, doubt, "doubt: ")


def _cells(one: Prediction, *, with_site: bool) -> tuple[str, ...]:
    exactly = f"x{one.throughput:.2f}"
    return (
        f"{one.site} {one.words}".strip() if with_site else one.words,
        f"at most {exactly}" if one.is_bound else exactly,
        "" if one.is_bound else f"{one.low:.2f} to {one.high:.2f}",
        f"{short_time(one.wait_before_ns)} -> {short_time(one.wait_after_ns)}",
        shortened(one.limit, LIMIT),
    )
