# SPDX-License-Identifier: MIT
"""Carries out `hasp list`: selects locks, and prints a table, details or JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from hasp.base import output
from hasp.base.errors import EXIT_FINE, HaspError
from hasp.locks import native
from hasp.locks.kinds import BARRIER, EXECUTOR, LISTED_KINDS, MUTEX, Kind, kind_of
from hasp.locks.native import DELEGATE, ELISION, WRAPPER, LockInfo
from hasp.locks.selection import (
    PREFIX,
    PROPERTIES,
    families,
    family_word,
    option_of,
    select,
)

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
ELISION_SUMMARY = "any other lock, elided where the machine has transactions"
DELEGATE_SUMMARY = "the releasing thread runs waiters' sections; never by default"

# With more locks than this, only general remarks are printed.
LOCKS_REMARKED_ONE_BY_ONE = 12

# Fields that do not apply to executors.
OF_LOCKS = {
    *("fifo", "bypasses", "bypass_bound", "bypass_each", "trylock_hardened", "light"),
    *("numa", "outside_bytes", "node_bytes"),
}
# Kinds without an order in which threads acquire.
UNORDERED = (BARRIER, EXECUTOR)

# All algorithms with such a prefix share a page.
WRAPPER_PAGES = {"gcr+": "gcr+LOCK", "bravo+": "bravo+LOCK", "mutex:": "mutex-LOCK"}


@dataclass(frozen=True)
class Options:
    """The options of `hasp list`."""

    words: str  # names, properties and families, separated by commas
    kind: str | None = None  # None: all kinds
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
        print_tables(chosen)
    return EXIT_FINE


def choose(options: Options) -> list[LockInfo]:
    """Return the locks that the options select."""
    kinds = [kind for kind in LISTED_KINDS if native.locks(kind)]
    if options.kind is not None:
        kinds = [kind_of(options.kind, LISTED_KINDS)]
    chosen = selected(options.words, kinds)
    words = [option_of(name) for name in options.properties]
    if options.category is not None:
        family = family_word(options.category.strip().lower())
        known = dict.fromkeys(one for kind in kinds for one in families(kind))
        if family not in known:
            raise HaspError(
                f"unknown category {options.category!r}",
                f"categories: {', '.join(known)}",
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


def selected(text: str, kinds: Sequence[Kind]) -> list[LockInfo]:
    """Return the algorithms of these kinds that a comma-separated list selects.

    Raises HaspError for a word that means nothing for any of them.
    """
    chosen: dict[tuple[str, str], LockInfo] = {}
    for word in text.split(","):
        found: dict[tuple[str, str], LockInfo] = {}
        refusal = None
        for kind in kinds:
            try:
                found |= {(kind.name, lock.name): lock for lock in select(word, kind)}
            except HaspError as problem:
                refusal = refusal or problem
        if refusal and not found:
            raise refusal
        chosen.update(found)
    names = [kind.name for kind in kinds]
    return sorted(
        chosen.values(), key=lambda lock: (names.index(lock.kind), lock.index)
    )


def record_of(lock: LockInfo) -> dict[str, object]:
    """Return a lock as a JSON object."""
    record = {**asdict(lock), "collapses_oversubscribed": lock.collapses}
    if lock.kind == EXECUTOR.name:
        return {name: record[name] for name in record if name not in OF_LOCKS}
    return record


def by_family(chosen: list[LockInfo]) -> list[tuple[str, list[LockInfo]]]:
    """Group the locks by family, in the order of FAMILIES."""

    others = list(dict.fromkeys(lock.category for lock in chosen))
    order = [*FAMILIES, *(name for name in others if name not in FAMILIES)]

    def rank(lock: LockInfo) -> int:
        return order.index(lock.category)

    ordered = sorted(chosen, key=rank)
    groups = groupby(ordered, key=lambda lock: lock.category)
    return [(family, list(locks)) for family, locks in groups]


def print_tables(chosen: list[LockInfo]) -> None:
    """Print a table for each kind of locks, followed by remarks."""
    console = output.console()
    groups = [
        (listed_kind(name), list(locks)) for name, locks in groupby(chosen, kind_name)
    ]
    for number, (kind, locks) in enumerate(groups):
        if number:
            console.print()
        if len(groups) > 1 or kind is not MUTEX:
            console.print(f"{kind.nouns} ({kind.option})", style="bold")
            console.print()
        print_table(kind, locks)


def kind_name(lock: LockInfo) -> str:
    """Return the name of the lock's kind."""
    return lock.kind


def listed_kind(name: str) -> Kind:
    """Return the kind with this name, which may be that of executors."""
    return kind_of(name, LISTED_KINDS)


def print_table(kind: Kind, chosen: list[LockInfo]) -> None:
    """Print algorithms of one kind as a table of 80 columns, followed by remarks."""
    console = output.console()
    table = output.table()
    table.add_column(kind.name if kind in UNORDERED else "lock", no_wrap=True)
    table.add_column("waiting", no_wrap=True)
    queued = kind not in UNORDERED
    if queued:
        table.add_column("overtaken", no_wrap=True)
    table.add_column("what it is")
    for family, locks in by_family(chosen):
        table.add_row(f"{family}:", style="bold")
        for lock in locks:
            name = f"  {lock.name}{' *' if lock.default else ''}"
            order = [overtaken(lock)] if queued else []
            table.add_row(name, lock.waiting, *order, lock.summary)
        if family == "load control" and not locks[0].is_wrapped:
            table.add_row(
                f"  {WRAPPER}LOCK", "restricted", "any number", WRAPPER_SUMMARY
            )
            table.add_row(f"  {ELISION}LOCK", "LOCK's", "any number", ELISION_SUMMARY)
            table.add_row(
                f"  {DELEGATE}", "spin-then-park", "any number", DELEGATE_SUMMARY
            )
    wrappers = wrappers_of(kind) if kind is not MUTEX else {}
    if wrappers and len(chosen) == len(native.locks(kind)):
        table.add_row("wrapped:", style="bold")
        for prefix, lock in wrappers.items():
            table.add_row(f"  {prefix}LOCK", "LOCK's", "LOCK's", lock.summary)
    console.print(table)
    console.print()
    for sentence in remarks(kind, chosen):
        console.print(sentence)


def wrappers_of(kind: Kind) -> dict[str, LockInfo]:
    """Return the prefixes of wrapped algorithms, each with the first that has it."""
    found: dict[str, LockInfo] = {}
    for lock in native.composed_locks(kind):
        prefix = PREFIX.match(lock.name)
        if prefix and len(re.findall("[+:]", prefix[0])) == 1:
            found.setdefault(prefix[0], lock)
    return found


def overtaken(lock: LockInfo) -> str:
    """Describe how often later arrivals may overtake a waiter."""
    if lock.bypass_bound < 0:
        return "any number"
    if lock.bypass_each:
        return f"{lock.bypass_bound} by each"
    return f"{lock.bypass_bound} at most" if lock.bypass_bound else "never"


def remarks(kind: Kind, chosen: list[LockInfo]) -> list[str]:
    """Return sentences about the columns and about weaknesses of these locks."""
    said = []
    default = [lock.name for lock in chosen if lock.default]
    if len(chosen) == len(native.locks(kind)):
        default = [native.default_lock(kind).name]  # may be a wrapped one
    if default:
        said.append(f"* the default {default_of(kind)}: {default[0]}.")
    each = ""
    if any(lock.bypass_each for lock in chosen):
        each = "; `by each`: by each other thread"
    if kind not in UNORDERED:
        said.append(
            "overtaken: how often later arrivals may get the lock before a waiter; "
            f"`never` is strict FIFO{each}."
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


def default_of(kind: Kind) -> str:
    """Return the words after "the default": the command or call that uses it."""
    if kind is EXECUTOR:
        return "of `hasp_delegate_init(object, NULL)`"
    if kind is MUTEX:
        return "lock of `hasp run`"
    return f"of `hasp run --only {kind.plural}`"


def other_names(lock: LockInfo) -> list[str]:
    """Return the other names that options accept for this lock."""
    return [alias for alias in lock.aliases if alias != lock.name]


def print_details(chosen: list[LockInfo]) -> None:
    """Print the details of each lock, one block of lines per lock."""
    console = output.console()
    for number, lock in enumerate(chosen):
        if number:
            console.print()
        kind = listed_kind(lock.kind)
        which = "" if kind is MUTEX else f" ({kind.noun})"
        console.print(f"{lock.name}{which}: {lock.summary}", style="bold")
        table = output.table()
        table.show_header = False
        table.box = None
        table.add_column(no_wrap=True)
        table.add_column()
        for heading, words in facts(lock):
            table.add_row(f"  {heading}", words)
        console.print(table)


def page_of(lock: LockInfo) -> str:
    """Return the path of a lock's page. Wrapped ones share one."""
    if lock.is_elided:
        return "docs/elision.md"
    if lock.is_delegate:
        return "docs/transparent-delegation.md"
    folder = "locks" if lock.kind == MUTEX.name else listed_kind(lock.kind).plural
    name = lock.name
    for prefix, page in WRAPPER_PAGES.items():
        if name.startswith(prefix):
            name = page
    return f"docs/{folder}/{name}.md"


def facts(lock: LockInfo) -> list[tuple[str, str]]:
    """Return the lines of the details, each a heading and a text."""
    where = lock.kind
    order = overtaken(lock)
    if listed_kind(lock.kind) in UNORDERED:
        order = ""
    elif lock.fifo:
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
            (lock.light, f"light: needs nothing outside the {where}"),
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
    rest = ", plus word and owner" if lock.kind == MUTEX.name else ""
    lines = [
        ("family", lock.category),
        ("waiting", lock.waiting),
        ("a waiter is overtaken", order),
        ("also", "; ".join(kinds)),
        (f"in the {where}", f"{lock.bytes} bytes of state{rest}"),
        ("each waiting thread", f"{lock.waiter_bytes} bytes"),
        (f"outside the {where}", outside),
        ("weaknesses", "; ".join(weaknesses)),
        ("source", lock.source),
        ("aliases", ", ".join(other_names(lock))),
        ("page", page_of(lock)),
    ]
    if lock.is_reference:  # these rows describe Hasp's memory
        memory = (f"in the {where}", "each waiting thread", f"outside the {where}")
        lines = [line for line in lines if line[0] not in memory]
    return [(heading, words) for heading, words in lines if words]
