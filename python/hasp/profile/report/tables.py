# SPDX-License-Identifier: MIT
"""Write the sites as CSV with every figure, or the first screen as Markdown."""

from __future__ import annotations

import csv
import io

from hasp.profile.model.profile import Profile
from hasp.profile.report.figures import METRICS, Metric, rows
from hasp.profile.report.findings import Names, findings, frame_words, inversions
from hasp.profile.report.headline import verdict
from hasp.profile.report.text import (
    HEADINGS,
    cells,
    headline,
    overhead_words,
)


def csv_text(profile: Profile) -> str:
    """Return a row for each site:

    times in ns, shares as fractions, empty if unknown.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    suffix = {"ns": "_ns", "share": "", "count": ""}
    names = [one.name.replace(".", "_") + suffix[one.unit] for one in METRICS.values()]
    writer.writerow(["number", "name", "site", "expression", "kind", *names])
    for row in rows(profile):
        site = row.site
        figures = [_plain(row.value(one)) for one in METRICS.values()]
        writer.writerow(
            [
                *(site.number, site.name, site.place, site.expression or ""),
                *(site.kind.value, *figures),
            ]
        )
    return text.getvalue()


def _plain(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def markdown(profile: Profile, by: Metric, top: int | None) -> str:
    """Return the first screen for an issue or a wiki."""
    names = Names(profile)
    said = verdict(profile)
    command, recorded = headline(profile)
    parts = [f"**{_cell(said.sentence)}**"]
    if said.evidence:
        parts.append("\n".join(f"- {_cell(line)}" for line in said.evidence))
    parts.append(f"`{command}`\n{recorded}")
    found = rows(profile, by)
    if found:
        heads = [heading.replace("-\n", "").replace("\n", " ") for heading in HEADINGS]
        lines = [_line(heads), _line([":--"] + ["--:"] * (len(heads) - 1))]
        lines += [_line(cells(row)) for row in found[:top]]
        parts.append("\n".join(lines))
        if len(found) > len(lines) - 2:
            parts.append(f"and {len(found) - len(lines) + 2:,} more sites")
    for finding in (*findings(profile, names), *inversions(profile, names)):
        lines = [f"- {_cell(finding.words)}"]
        for trace in finding.traces:
            frames = "; ".join(f"`{frame_words(frame)}`" for frame in trace.stack[:4])
            lines.append(f"  - {_cell(trace.words)}: {frames}")
        parts.append("\n".join(lines))
    parts.append(overhead_words(profile.overhead))
    parts += [f"- warning: {_cell(warning)}" for warning in profile.warnings]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    for character in "|*_`":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ").replace("<", "&lt;")


def _line(texts: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_cell, texts))} |"
