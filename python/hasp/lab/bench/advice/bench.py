# SPDX-License-Identifier: MIT
"""`hasp bench advice`: judges the advice by measured runs, and prints the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.base.errors import EXIT_FINDING, EXIT_FINE
from hasp.base.output import STDOUT, console, note, table, write_json
from hasp.lab.bench.advice import judge as judged
from hasp.lab.bench.advice.cases import HALVES, Case, load
from hasp.lab.bench.advice.judge import Choice, Summary
from hasp.profile.diagnosis.rules import load as load_rules

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA = "hasp.bench.advice/1"
ADVICE = "hasp advise"
COMPARED = "hasp advise -- COMMAND"
ALL = "all"


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench advice`."""

    source: Path
    settings: tuple[str, ...] = ()  # changed thresholds, `name=value`
    check_targets: bool = False
    json: str | None = None
    markdown: str | None = None


def bench_advice(options: Options) -> int:
    """Judge the advice for every case; 1 if --check-targets finds a missed target."""
    rules = load_rules().set(options.settings)
    cases = load(options.source)
    advice = judged.advised(cases, rules)
    compared = judged.compared(cases, rules)
    halves = summaries(cases, advice, compared)
    if options.json:
        write_json(_records(advice, compared, halves), options.json)
    if options.markdown:
        tables = markdown(cases, advice, compared, halves)
        Path(options.markdown).write_text(tables, "utf-8")
        note(f"wrote {options.markdown}")
    if options.json != STDOUT:
        _print(cases, advice, compared, halves, console())
    missed = missed_targets(halves)
    for words in missed if options.check_targets else ():
        note(f"target missed: {words}")
    return EXIT_FINDING if missed and options.check_targets else EXIT_FINE


def summaries(
    cases: Sequence[Case], advice: Sequence[Choice], compared: Sequence[Choice] = ()
) -> dict[str, list[Summary]]:
    """Return the summaries of the advice and the baselines, by half and for all.

    Last, where the comparison was made for every case of a half, what it recommends.
    """
    found = {}
    for half in (*HALVES, ALL):
        mine = [case for case in cases if half in (case.half, ALL)]
        if not mine:
            continue
        own = [one for one in advice if half in (one.case.half, ALL)]
        lock = judged.best_fixed_lock(mine)
        found[half] = [
            judged.summary(ADVICE, own),
            judged.summary("keep glibc's", judged.fixed(mine, judged.GLIBC)),
            judged.summary(f"always {lock}", judged.fixed(mine, lock)),
        ]
        after = [one for one in compared if half in (one.case.half, ALL)]
        if len(after) == len(mine):
            found[half].append(judged.summary(COMPARED, after))
    return found


def missed_targets(halves: dict[str, list[Summary]]) -> list[str]:
    """The targets that the advice misses, in words."""
    found = []
    for half, methods in halves.items():
        for own in methods:
            if own.method in (ADVICE, COMPARED):
                found += _missed(half, own)
    return found


def _missed(half: str, own: Summary) -> list[str]:
    """The targets that one method misses on a half."""
    limits = (
        ("median regret", own.median, judged.MEDIAN_LIMIT),
        ("90th percentile of the regret", own.tail, judged.TAIL_LIMIT),
        ("largest loss against glibc's lock", own.worse_than_glibc, judged.WORSE_LIMIT),
    )
    who = half if own.method == ADVICE else f"{half}, {own.method}"
    found = [
        f"{who}: {name} {_percent(value)}, at most {_percent(limit)} allowed"
        for name, value, limit in limits
        if round(value, 3) > limit
    ]
    if own.unmeasured:
        found.append(f"{who}: {own.unmeasured} recommended locks were not measured")
    return found


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _records(
    advice: Sequence[Choice],
    compared: Sequence[Choice],
    halves: dict[str, list[Summary]],
) -> Iterable[dict[str, Any]]:
    choices = [
        *((ADVICE, one) for one in advice),
        *((COMPARED, one) for one in compared),
    ]
    for name, one in choices:
        yield {
            "schema": SCHEMA,
            "kind": "choice",
            "method": name,
            "program": one.case.program,
            "threads": one.case.threads,
            "half": one.case.half,
            "lock": one.lock,
            "best": judged.best_lock(one.case),
            "regret": one.regret,
            "raw_regret": one.raw_regret,
            "sure_regret": one.sure_regret,
            "to_glibc": asdict(one.to_glibc) if one.to_glibc else None,
        }
    for half, methods in halves.items():
        for method in methods:
            yield {"schema": SCHEMA, "kind": "summary", "half": half, **asdict(method)}


CASE_COLUMNS = (
    *("program", "threads", "half", "advised", "regret", "surely", "to glibc's"),
    *("best", "regret of glibc's", "after comparing", "its regret"),
)
SUMMARY_COLUMNS = (
    *("half", "method", "median", "90 %", "most", "worse than glibc's"),
    *("sure 90 %", "surely"),
)


def _case_rows(
    cases: Sequence[Case], advice: Sequence[Choice], compared: Sequence[Choice]
) -> list[list[str]]:
    """One row for each case and lock that was advised for it."""
    rows = []
    after = {one.case.name: one for one in compared}
    for case in cases:
        last = after.get(case.name)
        mine = [one for one in advice if one.case is case]
        glibc = judged.chosen(case, judged.GLIBC)
        for lock in dict.fromkeys(one.lock for one in mine):
            times = sum(one.lock == lock for one in mine)
            one = next(item for item in mine if item.lock == lock)
            share = "" if times == len(mine) else f" ({times} of {len(mine)})"
            rows.append(
                [
                    case.program,
                    str(case.threads),
                    case.half,
                    lock + share,
                    _percent(one.regret),
                    _percent(one.sure_regret),
                    _interval(one),
                    judged.best_lock(case),
                    _percent(glibc.regret),
                    last.lock if last else "",
                    _percent(last.regret) if last else "",
                ]
            )
    return rows


def _interval(one: Choice) -> str:
    ratio = one.to_glibc
    if ratio is None:
        return "not measured"
    if one.lock == judged.GLIBC:
        return "1"
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _summary_rows(halves: dict[str, list[Summary]]) -> list[list[str]]:
    return [
        [
            half,
            one.method,
            _percent(one.median),
            _percent(one.tail),
            _percent(one.worst),
            _percent(one.worse_than_glibc),
            _percent(one.sure_tail),
            _percent(one.proven_worse),
        ]
        for half, methods in halves.items()
        for one in methods
    ]


def _print(
    cases: Sequence[Case],
    advice: Sequence[Choice],
    compared: Sequence[Choice],
    halves: dict[str, list[Summary]],
    out: Console,
) -> None:
    for title, columns, rows in (
        ("what is advised", CASE_COLUMNS, _case_rows(cases, advice, compared)),
        ("regret", SUMMARY_COLUMNS, _summary_rows(halves)),
    ):
        form = table(title=title)
        for column in columns:
            form.add_column(column)
        for row in rows:
            form.add_row(*row)
        out.print(form)


def markdown(
    cases: Sequence[Case],
    advice: Sequence[Choice],
    compared: Sequence[Choice],
    halves: dict[str, list[Summary]],
) -> str:
    """The two tables as Markdown."""
    return "\n".join(
        [
            *_markdown(SUMMARY_COLUMNS, _summary_rows(halves)),
            "",
            *_markdown(CASE_COLUMNS, _case_rows(cases, advice, compared)),
            "",
        ]
    )


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)
    ]
