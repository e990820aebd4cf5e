# SPDX-License-Identifier: MIT
"""One thread holds the lock nearly always, and takes it again before others wake."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW, MOST
from hasp.profile.diagnosis.causes.preempted_holder import is_starved
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.causes.words import share, time, within
from hasp.profile.model.profile import Kind

# The waits of the other threads, as a multiple of those under a fair lock: there, a
# thread that arrives during a hold waits for half of it on average, and acquires next.
PASSED_OVER = 1.5
# The greedy thread's share of all holding, as a multiple of an equal share.
GREEDY = 0.5


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if others wait for many holds of one thread."""
    if one.site.kind is Kind.RWLOCK or len(one.users) < 2:
        return None
    held = {n: float(one.thread_use(n).hold.total_ns) for n in one.site.threads}
    total = sum(held.values())
    greedy = max(held, key=lambda number: held[number])
    if not total or held[greedy] < total * max(GREEDY, 1.5 / len(held)):
        return None
    if held[greedy] < MOST * one.facts.busy_ns:  # others find it free at times
        return None
    if is_starved(state_of(one)):
        return None  # whoever comes next has no CPU either
    its = one.thread_use(greedy)
    thread = one.facts.threads_by_number.get(greedy)
    if thread and held[greedy] < MOST * thread.cpu_ns:  # it has other work in between
        return None
    idle = one.background
    others = [one.thread_use(n) for n in held if n != greedy and n not in idle]
    waits = sum(use.contended for use in others)
    waited = sum(use.wait.total_ns for use in others)
    hold = its.hold.quantile(0.5) or its.hold.total_ns / max(its.acquisitions, 1)
    fair = waits * hold / 2
    if waits < min(FEW, its.acquisitions) or waited < PASSED_OVER * fair or not waits:
        return None
    return Cause(
        "unfair",
        one.name,
        f"one thread{within(one.holder)} has {share(held[greedy] / total)} of the "
        f"holds and takes it again at once; others wait {time(waited / waits)}",
        ("Use a fair lock, such as hasp run --lock u-scl", "Use a fair lock"),
        one.facts.share(waited),
        (
            f"that thread holds it for {time(hold)} at a time, so others wait for "
            f"{waited / waits / max(hold, 1):.0f} of its holds",
        ),
        one.site.number,
        one.holder,
    )
