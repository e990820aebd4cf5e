# SPDX-License-Identifier: MIT
"""`hasp list`: prints the lock algorithms and their properties."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from itertools import groupby

from hasp.base.errors import HaspError
from hasp.base.output import add_json_option
from hasp.locks.native import WRAPPER, LockInfo
from hasp.locks.selection import PROPERTIES, add_locks_option

NAME = "list"
HELP = "list the lock algorithms and their properties"
SCHEMA = "hasp.list/1"

# Property -> option, where the option is not `--` plus the property.
FILTERS = {"trylock": "--trylock-hardened"}

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

EXAMPLES = """\
examples:
  hasp list
  hasp list --fifo --parks          the locks with both properties
  hasp list --category hierarchical
  hasp list mcs-park clh-park       the details of two locks
  hasp list --locks fifo,numa       the locks with one of these properties
  hasp list gcr+mcs                 a lock wrapped for concurrency restriction
  hasp list --json                  JSON lines
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp list`."""
    parser.usage = "hasp list [NAME...] [options]"
    parser.epilog = EXAMPLES
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="locks to show in detail"
    )
    filters = parser.add_argument_group("filters (locks must pass all of them)")
    for name, (_, words) in PROPERTIES.items():
        filters.add_argument(
            FILTERS.get(name, f"--{name}"),
            dest="properties",
            action="append_const",
            const=name,
            help=words,
        )
    filters.add_argument(
        "--category", metavar="NAME", help="one family, such as direct-handoff"
    )
    add_locks_option(parser)
    parser.add_argument(
        "--wide", action="store_true", help="print the details of each lock"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, the details, or the JSON lines."""
    from hasp.base import output

    chosen = choose(arguments)
    if arguments.json:
        records = ({"schema": SCHEMA, **record_of(lock)} for lock in chosen)
        output.write_json(records, arguments.json)
    elif arguments.wide or arguments.names or len(chosen) == 1:
        print_details(chosen)
    else:
        print_table(chosen)
    return 0


def choose(arguments: argparse.Namespace) -> list[LockInfo]:
    """Return the locks that the options select."""
    from hasp.locks.selection import families, family_word, select

    chosen = select(",".join(arguments.names) or arguments.locks)
    wanted: list[str] = arguments.properties or []
    words = [FILTERS.get(name, f"--{name}") for name in wanted]
    if arguments.category is not None:
        family = family_word(arguments.category.strip().lower())
        if family not in families():
            raise HaspError(
                f"unknown category {arguments.category!r}",
                f"categories: {', '.join(families())}",
            )
        chosen = [lock for lock in chosen if family_word(lock.category) == family]
        words.append(f"--category {family}")
    chosen = [
        lock for lock in chosen if all(PROPERTIES[name][0](lock) for name in wanted)
    ]
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
    from hasp.base import output

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
    from hasp.base import output

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
