# SPDX-License-Identifier: MIT
"""Choose the lock algorithms that satisfy the advice for a site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hasp.locks.native import LockInfo
from hasp.profile.diagnosis.evaluate import Fired
from hasp.profile.diagnosis.rules import Advice, Combination, Rules

# Rank the remaining algorithms: by policy first, then by family (E7).
RANKING = ("E8", "E1", "E2", "E4", "E3", "E5", "E6", "E9")


@dataclass(frozen=True)
class Choice:
    """The outcome of the selection for one site."""

    advice: tuple[tuple[str, Advice], ...]  # with the id of its rule
    applied: tuple[Combination, ...]
    # advice that was dropped because no algorithm satisfies all
    conflicts: tuple[tuple[str, Advice], ...]
    locks: tuple[LockInfo, ...]  # the best first, without the reference


def has(lock: LockInfo, quality: str, rules: Rules) -> bool:
    """Return true if the lock list or the study gives the algorithm a property."""
    if lock.name in rules.members.get(quality, ()):
        return True
    if quality == "small":
        return not (lock.waiter_bytes or lock.outside_bytes or lock.node_bytes)
    if quality == "throttles":
        return False
    return bool(getattr(lock, quality))


def satisfies(lock: LockInfo, advice: Advice, rules: Rules) -> bool:
    """Return true if an algorithm follows one piece of advice."""
    return has(lock, advice.quality, rules) == advice.wanted


def _replaceable(rules: Rules, locks: Sequence[LockInfo]) -> list[LockInfo]:
    return [
        lock for lock in locks if not (lock.is_reference or lock.name in rules.never)
    ]


def fitting(
    fired: Sequence[Fired], rules: Rules, locks: Sequence[LockInfo]
) -> list[LockInfo]:
    """Return the algorithms that no firm advice of any site forbids."""
    ids = {item.rule.id for item in fired}
    applied = [item for item in rules.combinations if set(item.having) <= ids]
    firm = [advice for _, advice in _advice(fired, applied) if advice.firm]
    return [
        lock
        for lock in _replaceable(rules, locks)
        if all(satisfies(lock, advice, rules) for advice in firm)
    ]


def choose(fired: Sequence[Fired], rules: Rules, locks: Sequence[LockInfo]) -> Choice:
    """Filter and rank the algorithms by the rules that fired for a site.

    Firm advice is applied first, then the rest, beginning with the last to give way.
    Advice that would exclude every algorithm is reported as a conflict instead.
    """
    ids = {item.rule.id for item in fired}
    applied = [item for item in rules.combinations if set(item.having) <= ids]
    # Silent advice (about a single node) may give way without a conflict.
    advice = _advice(fired, applied)
    left = [
        lock for lock in locks if not (lock.is_reference or lock.name in rules.never)
    ]
    conflicts = []
    for source, item in sorted(advice, key=lambda pair: _firmness(pair, rules)):
        kept = [lock for lock in left if satisfies(lock, item, rules)]
        if kept:
            left = kept
        else:
            conflicts.append((source, item))
    orders = _orders(fired, applied)
    return Choice(
        advice=tuple(pair for pair in advice if pair not in conflicts),
        applied=tuple(item for item in applied if _changes(item, ids)),
        conflicts=tuple(conflicts),
        locks=tuple(sorted(left, key=lambda lock: _rank(lock, orders, rules))),
    )


def _changes(combination: Combination, ids: set[str]) -> bool:
    stages = {name.partition(".")[0] for name in ids}
    return any(name in ids or name in stages for name in combination.drops)


def _dropped(item: Fired, combination: Combination) -> bool:
    return item.rule.id in combination.drops or item.rule.stage in combination.drops


def _advice(
    fired: Sequence[Fired], applied: Sequence[Combination]
) -> list[tuple[str, Advice]]:
    found: list[tuple[str, Advice]] = []
    for item in fired:
        for advice in item.rule.advice:
            if not any(
                _dropped(item, combination)
                and (not combination.only or advice.words in combination.only)
                for combination in applied
            ):
                found.append((item.rule.id, advice))
    return found


def _firmness(pair: tuple[str, Advice], rules: Rules) -> int:
    """Return the sort key of advice: firm first, the first to give way last."""
    source, advice = pair
    if advice.firm:
        return 0
    stage = source.partition(".")[0]
    order = rules.relaxed
    return len(order) - order.index(stage) if stage in order else 1


def _orders(
    fired: Sequence[Fired], applied: Sequence[Combination]
) -> list[tuple[str, ...]]:
    standing = [
        item.rule
        for item in fired
        if item.rule.order
        and not any(_dropped(item, other) and not other.only for other in applied)
    ]
    standing.sort(key=lambda rule: RANKING.index(rule.stage))
    return [rule.order for rule in standing]


def _rank(
    lock: LockInfo, orders: Sequence[tuple[str, ...]], rules: Rules
) -> tuple[int, ...]:
    places = [
        order.index(lock.name) if lock.name in order else len(order)
        for order in (*orders, rules.order)
    ]
    return (*places, lock.index)
