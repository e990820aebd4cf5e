# SPDX-License-Identifier: MIT
"""`hasp simulate --validate`: tests every claim, and reports how many agree."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from hasp.base import output
from hasp.base.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.base.output import STDOUT, check_writable, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.pool import Pool, PoolDisplay
from hasp.lab.simulate.validation.claim import KINDS, Claim, Verdict, judge
from hasp.lab.simulate.validation.distances import short_name
from hasp.lab.simulate.validation.lab import Lab, Unanswered
from hasp.lab.simulate.validation.lock_sets import Form
from hasp.lab.simulate.validation.scope import (
    CLAIMS,
    OUT_OF_SCOPE,
    Score,
    as_shipped,
    scores,
)
from hasp.lab.simulate.validation.verdicts import record, why

# Claims share runs and mostly wait for them; the pool bounds the number of runs at a
# time.
CLAIMS_AT_A_TIME = 24


def chosen(machines: Sequence[str]) -> list[Claim]:
    """Return the claims about the named machines, or all. Raises HaspError if none."""
    found = [claim for claim in CLAIMS if not machines or claim.machine in machines]
    if not found:
        known = dict.fromkeys(claim.machine for claim in CLAIMS)
        raise HaspError(
            f"there are no claims about {', '.join(machines)}",
            f"choose one of {', '.join(known)}",
        )
    return found


def validate(machine: str | None, jobs: int | None, destination: str | None) -> int:
    """Test the claims and report. Returns the exit status: 1 if a level is missed."""
    if destination:
        check_writable(destination)
    claims = chosen([machine] if machine else [])
    verdicts: dict[Claim, Verdict] = {}
    interrupt_on_signals()
    with tempfile.TemporaryDirectory(prefix="hasp-validate-") as folder:
        lab = Lab(Path(folder), Pool(jobs), Form.PUBLISHED)
        executor = ThreadPoolExecutor(CLAIMS_AT_A_TIME)
        try:
            futures: dict[Future[Verdict], Claim] = {
                executor.submit(answer, claim, lab): claim for claim in claims
            }
            with PoolDisplay(len(claims)) as progress:
                for future in as_completed(futures):
                    claim = futures[future]
                    verdicts[claim] = future.result()
                    progress.add(1, f"{len(verdicts)} of {len(claims)} claims")
        except Interrupted:
            note(f"interrupted after {len(verdicts)} of {len(claims)} claims")
            report(
                [verdicts[claim] for claim in claims if claim in verdicts], destination
            )
            raise
        finally:
            lab.pool.stop()
            executor.shutdown(wait=False, cancel_futures=True)
    return report([verdicts[claim] for claim in claims], destination)


def answer(claim: Claim, lab: Lab) -> Verdict:
    """Return the verdict on a claim; claims about locks are tested with both forms."""
    verdict = _measured(claim, lab)
    if not claim.of_locks:
        return verdict
    return replace(verdict, shipped=_measured(claim, lab.with_shipped_locks()))


def _measured(claim: Claim, lab: Lab) -> Verdict:
    """Return the verdict with one form; a claim without an answer counts as a miss."""
    try:
        return judge(claim, claim.measure(lab))
    except Unanswered as problem:
        return Verdict(claim, "no answer", False, str(problem))


def report(verdicts: Sequence[Verdict], destination: str | None) -> int:
    """Write the records and print the verdicts and the levels reached."""
    found = scores(verdicts)
    if destination:
        write_json([record(verdict) for verdict in verdicts], destination)
    if destination != STDOUT:
        print_verdicts(verdicts)
        print_scores("levels, with locks as published:", found)
        print_scores("with Hasp's own locks:", scores(as_shipped(verdicts)))
    missed = any(score.reached == "missed" for score in found)
    return EXIT_FINDING if missed else 0


WORDS = {True: "yes", False: "no", None: "tie"}


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Print the claims by kind, then the cause of each miss."""
    console = output.console()
    for kind in KINDS:
        own = [verdict for verdict in verdicts if verdict.claim.kind == kind]
        if not own:
            continue
        table = output.table(title=f"{kind}:")
        for heading in ("CLAIM", "PAPER", "PUBLISHED FORM", "", "HASP'S LOCK", ""):
            table.add_column(heading)
        for verdict in own:
            claim, shipped = verdict.claim, verdict.shipped
            table.add_row(
                f"{claim.id} {short_name(claim.machine)}",
                claim.paper,
                verdict.simulated,
                WORDS[verdict.agrees],
                shipped.simulated if shipped else "",
                WORDS[shipped.agrees] if shipped else "",
            )
        console.print(table)
        console.print()
    _print_misses("misses with published forms:", verdicts, Form.PUBLISHED)
    shipped_only = [verdict.shipped for verdict in verdicts if verdict.shipped]
    _print_misses("\nmisses with Hasp's own locks:", shipped_only, Form.SHIPPED)
    console.print("\nnot tested:", style="bold")
    for identity, reason in OUT_OF_SCOPE.items():
        console.print(f"  {identity}: {reason}")
    console.print()


def _print_misses(title: str, verdicts: Sequence[Verdict], form: Form) -> None:
    console = output.console()
    console.print(title, style="bold")
    for verdict in verdicts:
        if verdict.agrees is False:
            console.print(f"  {verdict.claim.id}: {why(verdict, form)}")


def print_scores(title: str, found: Sequence[Score]) -> None:
    """Print how many claims agree, by level."""
    table = output.table(title=title)
    for heading in ("", "AGREE", "OF", "TIES", "SHARE", "MUST", "GOAL", "REACHED"):
        table.add_column(heading, justify="right" if heading else "left")
    for score in found:
        table.add_row(
            score.level.name,
            str(score.agree),
            str(score.agree + score.disagree),
            str(score.ties),
            f"{score.share:.0%}",
            f"{score.level.must:.0%}",
            f"{score.level.goal:.0%}",
            score.reached,
        )
    output.console().print(table)
