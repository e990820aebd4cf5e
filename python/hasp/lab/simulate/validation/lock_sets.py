# SPDX-License-Identifier: MIT
"""Which locks stand for those of the studies, on which machine.

A claim is about a lock as it was published. So it is asked of the published form
(src/bench/published), which tells how good the machine's model is; and of Hasp's own
lock of that name, which may differ in layout or policy, and then need not agree.

The multi-sockets run the variants of libslock: back-off in proportion to the distance,
and prefetch for writing. SSYNC's authors found that back-off harmful on the Niagara,
and neither single-socket has such a prefetch: these run the plain ones. In libslock
itself only the Opteron has that prefetch.
"""

from __future__ import annotations

import enum

from hasp.lab.simulate.validation.places import MULTI_SOCKETS, OPTERON


class Form(enum.Enum):
    """Whose lock it is."""

    PUBLISHED = "published"
    SHIPPED = "shipped"


HIERARCHICAL = ("hticket", "hclh")
TICKET, MUTEX = "ticket", "mutex"
SPIN = ("tas", "ttas", TICKET)
QUEUE = ("array", "mcs", "clh")

LIBSLOCK = {
    "tas": "tas",
    "ttas": "ttas-backoff",
    "ticket": "ticket-backoff",
    "array": "alock",
    "mcs": "mcs-prefetch",
    "clh": "clh-prefetch",
    "mutex": "futex",
    "hticket": "hticket",
    "hclh": "hclh",
}
PLAIN = {**LIBSLOCK, "ticket": "ticket", "mcs": "mcs", "clh": "clh"}
PREFETCHING = {
    name: f"{lock.removesuffix('-prefetch')}-prefetch"
    for name, lock in LIBSLOCK.items()
    if name not in ("tas", MUTEX)
}
PUBLISHED_OPTERON = {**LIBSLOCK, **PREFETCHING}
PUBLISHED_XEON = {**LIBSLOCK, "mcs": "mcs", "clh": "clh"}


# Of the lock study: interposed, as it ran them. Others were not written.
INTERPOSED = ("spinlock", "ttas", "backoff", "ticket", "mcs", "c-tkt-tkt")


def study_lock(form: Form, name: str) -> str:
    """What stands for a lock of the lock study; empty if nothing does."""
    if form is Form.SHIPPED:
        return name
    return f"litl-{name}" if name in INTERPOSED else ""


def locks_of(form: Form, machine: str) -> dict[str, str]:
    """SSYNC's names of the locks that it ran on a machine, and ours for them."""
    if machine not in MULTI_SOCKETS:
        return {name: lock for name, lock in PLAIN.items() if name not in HIERARCHICAL}
    if form is Form.SHIPPED:
        return LIBSLOCK
    return PUBLISHED_OPTERON if machine == OPTERON else PUBLISHED_XEON
