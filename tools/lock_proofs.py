# SPDX-License-Identifier: MIT
"""The sections of a lock's page about what was proven: model checks and mutants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lock_data import CHECK, MUTATION, Data, Record
from page_kinds import EXECUTOR, kind_of, label
from page_markdown import paragraph, table

# What the explorer checks, by kind.
CHECKED = {
    "mutex": "mutual exclusion, data races, lost wake-ups and lost handovers",
    "rwlock": "that writers exclude all others, data races and lost wake-ups",
    "spinlock": "mutual exclusion, data races and lost wake-ups",
    "executor": "that sections exclude each other and are executed exactly once, data "
    "races and lost wake-ups",
    "barrier": "that no thread leaves a phase early, data races and lost wake-ups",
}


def proof(lock: dict[str, Any], data: Data) -> Iterator[str]:
    """Yield the section with the clients of the model checker."""
    yield "## Proven\n"
    records = data.check.get(label(lock, lock["name"]), [])
    if not records:
        yield paragraph(f"Not checked yet: `{CHECK}` has no data on this lock.")
        return
    yield paragraph(
        "The model checker explored this code under a weak memory model. It checks "
        f"{CHECKED[kind_of(lock).kind]}."
    )
    rows = [
        (
            str(record.get("client", "?")),
            str(record.get("threads", "?")),
            explored(record),
            _count(record.get("states")),
            _count(record.get("iterations")),
            str(record.get("verdict", "?")),
        )
        for record in records
    ]
    headings = ("client", "threads", "explored", "states", "executions", "verdict")
    yield from table(headings, rows)
    command = records[0]["command"]
    yield f"\nMeasured by `{command}`; see [the clients](../hasp-check.md#clients).\n"


def explored(record: Record) -> str:
    """Return the bound to which a client was explored, as text."""
    if record["complete"]:
        return "all schedules"
    if record["preemptions"] is None:
        return "some schedules"
    if not record["preemptions"]:
        return "all schedules without preemption"
    plural = "" if record["preemptions"] == 1 else "s"
    return f"all schedules with up to {record['preemptions']} preemption{plural}"


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "-"


def mutation(lock: dict[str, Any], data: Data) -> Iterator[str]:
    """Yield the section with the mutation score."""
    yield "## Mutation score\n"
    if kind_of(lock) is EXECUTOR:
        yield paragraph(
            "`tools/mutate_structures.py delegation` weakens each memory order of the "
            "executors in turn, and drops each wake-up. [mutants.toml]"
            "(../../src/delegation/mutants.toml) has the reasons why the checks do not "
            "catch some of them."
        )
        return
    records = data.mutation.get(label(lock, lock["name"]), [])
    if not records:
        yield paragraph(f"Not known: `{MUTATION}` has no data on this lock.")
        return
    noun = "barrier" if kind_of(lock).kind == "barrier" else "lock"
    for record in records:
        reasoned = record["survive_for_a_reason"]
        yield paragraph(
            f"The code of this {noun} has {record['mutants']} mutants (a memory order "
            f"weakened, or a wake-up dropped). The checks catch {record['caught']}, "
            f"{reasoned} survive for a documented reason, and {record['open']} are "
            "open; see [the mutation score](../mutation.md)."
        )
