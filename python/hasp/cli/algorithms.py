# SPDX-License-Identifier: MIT
"""Options that choose the algorithms of a program, of `run`, `profile` and `top`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.locks.kinds import KINDS, MUTEX, Kind, kind_of
from hasp.locks.site_plan.name import PREFIX

if TYPE_CHECKING:
    from hasp.locks.given import Algorithms
    from hasp.locks.native import LockInfo

# Replaced by `hasp run` without options.
USUAL = (MUTEX,)


def add_algorithm_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Add an option for each kind, and `--plan`; `default` is what runs without."""
    for kind in KINDS:
        short = ["-l"] if kind is MUTEX else []
        parser.add_argument(
            *[*short, kind.option],
            metavar="LOCK" if kind is MUTEX else "ALGORITHM",
            help=f"algorithm of {kind.nouns}, from `hasp list` (default: {default})"
            if kind is MUTEX
            else f"algorithm of {kind.nouns}, from `hasp list --kind {kind.name}` "
            "(default: glibc's)",
        )
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="an algorithm for each site, from a plan as written by `hasp advise`",
    )


def named_algorithms(arguments: argparse.Namespace) -> dict[Kind, LockInfo]:
    """Return the algorithms that the options name, glibc's included.

    `--lock plan:FILE` becomes `--plan FILE`.
    """
    from hasp.locks import native

    given = {kind: getattr(arguments, kind.option[2:]) for kind in KINDS}
    if (given[MUTEX] or "").startswith(PREFIX):
        arguments.plan, given[MUTEX] = given[MUTEX].removeprefix(PREFIX), None
    return {
        kind: native.lock(name, kind)
        for kind, name in given.items()
        if name is not None
    }


def chosen_algorithms(arguments: argparse.Namespace) -> Algorithms:
    """Return what the options choose, by default glibc's algorithms.

    Raises HaspError for an unknown algorithm, one of another kind, and for a plan
    beside algorithms.
    """
    return combined(named_algorithms(arguments), arguments.plan)


def combined(named: dict[Kind, LockInfo], plan: str | None) -> Algorithms:
    """Return the named algorithms, or the plan of this file.

    Raises HaspError for a plan beside algorithms.
    """
    from hasp.locks.given import algorithms, given_plan, of_plan

    if not plan:
        return algorithms(named.values())
    for kind in named:
        key = "default" if kind is MUTEX else f"default_{kind.name}"
        raise HaspError(
            f"{kind.option} and --plan cannot be combined",
            f"a plan names its default: {key} = ...",
        )
    return of_plan(given_plan(plan))


def only(text: str, named: dict[Kind, LockInfo]) -> Algorithms:
    """Return the algorithms of the kinds in `--only`: the named ones, else defaults.

    Raises HaspError for an unknown kind, and for an algorithm of a kind left out.
    """
    from hasp.locks import native
    from hasp.locks.given import algorithms

    kinds = [kind_of(word.strip()) for word in text.split(",") if word.strip()]
    for kind, lock in named.items():
        if kind not in kinds:
            raise HaspError(
                f"--only {text} keeps glibc's {kind.nouns}, but {kind.option} "
                f"{lock.name} replaces them",
                f"leave out one of them, or write --only {text},{kind.plural}",
            )
    return algorithms(named.get(kind) or native.default_lock(kind) for kind in kinds)
