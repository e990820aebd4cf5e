# SPDX-License-Identifier: MIT
"""Carries out `hasp list`: selects locks, and prints a table, details or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from hasp.base import output
from hasp.base.errors import EXIT_FINE, HaspError
from hasp.locks.native import WRAPPER, LockInfo
from hasp.locks.selection import PROPERTIES, families, family_word, option_of, select

SCHEMA = "hasp.list/1"

# The order of families in tables; all others come last.
FAMILIES = (
    "system",
    "competitive",
    "direct handoff",
    "hierarchical",
    "load control",
    "usage fairness",
)
WRAPPER_SUMMARY = "any other lock, with few threads waiting in it and the others asleep"

# With more locks than this, only general remarks are printed.
LOCKS_REMARKED_ONE_BY_ONE = 12


@dataclass(frozen=True)
class Options:
    """The options of `hasp list`."""

    words: str  # names, properties and families, separated by commas
    properties: Sequence[str] = ()
    category: str | None = None
    details: bool = False
    json: str | None = None


def list_locks(options: Options) -> int:
    """Print the locks that the options select; return the exit status."""
    chosen = choose(options)
    if options.json:
        records = ({"schema": SCHEMA, **record_of(lock)} for lock in chosen)
        output.write_json(records, options.json)
    elif options.details or len(chosen) == 1:
        print_details(chosen)
    else:
        print_table(chosen)
    return EXIT_FINE


def choose(options: Options) -> list[LockInfo]:
    """Return the locks that the options select."""
    chosen = select(options.words)
    words = [option_of(name) for name in options.properties]
    if options.category is not None:
        family = family_word(options.category.strip().lower())
        if family not in families():
            raise HaspError(
                f"unknown category {options.category!r}",
                f"categories: {', '.join(families())}",
            )
        chosen = [lock for lock in chosen if family_word(lock.category) == family]
        words.append(f"--category {family}")
    predicates = [PROPERTIES[name][0] for name in options.properties]
    chosen = [lock for lock in chosen if all(holds(lock) for holds in predicates)]
    if not chosen:
        raise HaspError(
            f"no lock matches all of {' '.join(words)}",
            "remove one of them; `hasp list --wide` prints the properties of each lock",
        )
    return chosen


def record_of(lock: LockInfo) -> dict[str, object]:
    """Return a lock as a JSON object."""
    return {**asdict(lock), "collapses_oversubscribed": lock.collapses}


def by_family(chosen: list[LockInfo]) -> list[tuple[str, list[LockInfo]]]:
    """Group the locks by family, in the order of FAMILIES."""

    def rank(lock: LockInfo) -> tuple[int, str]:
        known = lock.category in FAMILIES
        return (
            FAMILIES.index(lock.category) if known else len(FAMILIES),
            lock.category,
        )

    ordered = sorted(chosen, key=rank)
    groups = groupby(ordered, key=lambda lock: lock.category)
    return [(family, list(locks)) for family, locks in groups]


def print_table(chosen: list[LockInfo]) -> None:
    """Print the locks as a table of 80 columns, followed by remarks."""
    console = output.console()
    table = output.table()
    table.add_column("lock", no_wrap=True)
    table.add_column("waiting", no_wrap=True)
    table.add_column("overtaken", no_wrap=True)
    table.add_column("what it is")
    for family, locks in by_family(chosen):
        table.add_row(f"{family}:", style="bold")
        for lock in locks:
            name = f"  {lock.name}{' *' if lock.default else ''}"
            table.add_row(name, lock.waiting, overtaken(lock), lock.summary)
        if family == "load control" and not locks[0].is_wrapped:
            table.add_row(
                f"  {WRAPPER}LOCK", "restricted", "any number", WRAPPER_SUMMARY
            )
    console.print(table)
    console.print()
    for sentence in remarks(chosen):
        console.print(sentence)


def overtaken(lock: LockInfo) -> str:
    """Describe how often later arrivals may overtake a waiter."""
    if lock.bypass_bound < 0:
        return "any number"
    if lock.bypass_each:
        return f"{lock.bypass_bound} by each"
    return f"{lock.bypass_bound} at most" if lock.bypass_bound else "never"


def remarks(chosen: list[LockInfo]) -> list[str]:
    """Return sentences about the columns and about weaknesses of these locks."""
    said = []
    default = [lock.name for lock in chosen if lock.default]
    if default:
        said.append(f"* the default lock of `hasp run`: {default[0]}.")
    each = "; `by each`: by each other thread"
    said.append(
        "overtaken: how often later arrivals may get the lock before a waiter; `never` "
        f"is strict FIFO{each if any(lock.bypass_each for lock in chosen) else ''}."
    )
    collapsing = [lock.name for lock in chosen if lock.collapses]
    if collapsing:
        said.append(
            f"Collapse when oversubscribed (more runnable threads than CPUs), because "
            f"their waiters only spin: {', '.join(collapsing)}."
        )
    numa = [lock.name for lock in chosen if lock.numa]
    if numa:
        said.append(f"Prefer waiters on the holder's NUMA node: {', '.join(numa)}.")
    if len(chosen) > LOCKS_REMARKED_ONE_BY_ONE:
        said.append(
            "`hasp list NAME` prints the bytes, source, aliases and weaknesses of a "
            "lock. `hasp list --help` explains filters such as `--fifo --parks`."
        )
        return said
    cautions: dict[str, list[str]] = {}
    for lock in chosen:
        if lock.caution:
            cautions.setdefault(lock.caution, []).append(lock.name)
    said += [f"{', '.join(names)}: {words}." for words, names in cautions.items()]
    aliases = [
        f"{alias} = {lock.name}" for lock in chosen for alias in other_names(lock)
    ]
    if aliases:
        said.append(f"Aliases: {', '.join(aliases)}.")
    return said


def other_names(lock: LockInfo) -> list[str]:
    """Return the other names that options accept for this lock."""
    return [alias for alias in lock.aliases if alias != lock.name]


def print_details(chosen: list[LockInfo]) -> None:
    """Print the details of each lock, one block of lines per lock."""
    console = output.console()
    for number, lock in enumerate(chosen):
        if number:
            console.print()
        console.print(f"{lock.name}: {lock.summary}", style="bold")
        table = output.table()
        table.show_header = False
        table.box = None
        table.add_column(no_wrap=True)
        table.add_column()
        for heading, words in facts(lock):
            table.add_row(f"  {heading}", words)
        console.print(table)


def page_of(lock: LockInfo) -> str:
    """Return the name of a lock's page in the catalogue; wrapped locks share one."""
    return "gcr+LOCK" if lock.is_wrapped else lock.name


def facts(lock: LockInfo) -> list[tuple[str, str]]:
    """Return the lines of the details, each a heading and a text."""
    order = overtaken(lock)
    if lock.fifo:
        order = "never: strict FIFO"
    elif lock.bypass_bound < 0:
        order = "any number of times"
    elif lock.bypass_bound:
        who = " by each other thread" if lock.bypass_each else ""
        times = "once" if lock.bypass_bound == 1 else f"{lock.bypass_bound} times"
        order = f"at most {times}{who}, once it is queued"
    kinds = [
        words
        for holds, words in (
            (lock.numa, "prefers waiters on the holder's NUMA node"),
            (lock.light, "light: needs nothing outside the mutex"),
            (lock.trylock_hardened, "a failing trylock does not disturb the holder"),
        )
        if holds
    ]
    outside = "none"
    if lock.outside_bytes or lock.node_bytes:
        outside = f"{lock.outside_bytes} bytes once contended"
        if lock.node_bytes:
            outside += f", plus {lock.node_bytes} per NUMA node"
    weaknesses = [lock.caution] if lock.caution else []
    if lock.collapses:
        weaknesses.insert(0, "its waiters only spin")
    lines = [
        ("family", lock.category),
        ("waiting", lock.waiting),
        ("a waiter is overtaken", order),
        ("also", "; ".join(kinds)),
        ("in the mutex", f"{lock.bytes} bytes of state, plus word and owner"),
        ("each waiting thread", f"{lock.waiter_bytes} bytes"),
        ("outside the mutex", outside),
        ("weaknesses", "; ".join(weaknesses)),
        ("source", lock.source),
        ("aliases", ", ".join(other_names(lock))),
        ("page", f"docs/locks/{page_of(lock)}.md"),
    ]
    if lock.is_reference:  # these rows describe Hasp's memory
        memory = ("in the mutex", "each waiting thread", "outside the mutex")
        lines = [line for line in lines if line[0] not in memory]
    return [(heading, words) for heading, words in lines if words]
