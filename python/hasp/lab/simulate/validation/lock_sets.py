# SPDX-License-Identifier: MIT
"""The locks that represent those of the studies, by machine.

Claims are about locks as published. Each is therefore tested with the published form
(src/bench/published), which validates the machine model, and with Hasp's own lock of
that name, which may differ in layout or policy and then need not agree.

The multi-socket machines run libslock's variants: back-off in proportion to the
distance, and prefetch for writing. SSYNC's authors found that back-off harmful on the
Niagara, and neither single-socket machine has such a prefetch, so these run the plain
locks. In libslock itself only the Opteron uses that prefetch.
"""

from __future__ import annotations

import enum

from hasp.lab.simulate.validation.distances import MULTI_SOCKETS, OPTERON


class Form(enum.Enum):
    """The implementation of a lock: as published, or Hasp's own."""

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


# The lock study's locks that claims are about; the published forms are interposed.
INTERPOSED = (
    *("spinlock", "ttas", "backoff", "ticket", "mcs"),
    *("c-tkt-tkt", "c-ptl-tkt", "c-bo-mcs", "hmcs"),
)


def study_lock(form: Form, name: str) -> str:
    """Return the lock that represents one of INTERPOSED."""
    return name if form is Form.SHIPPED else f"litl-{name}"


def locks_of(form: Form, machine: str) -> dict[str, str]:
    """Return the locks that SSYNC ran on a machine: its names, mapped to Hasp's."""
    if machine not in MULTI_SOCKETS:
        return {name: lock for name, lock in PLAIN.items() if name not in HIERARCHICAL}
    if form is Form.SHIPPED:
        return LIBSLOCK
    return PUBLISHED_OPTERON if machine == OPTERON else PUBLISHED_XEON
