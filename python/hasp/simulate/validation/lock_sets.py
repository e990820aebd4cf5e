# SPDX-License-Identifier: MIT
"""Which of Hasp's locks stand for those of the studies, on which machine.

The multi-sockets run the variants of libslock: prefetch for writing, back-off in
proportion to the distance. SSYNC's authors found that back-off harmful on the Niagara,
and neither single-socket has such a prefetch: these run the plain ones.
"""

from __future__ import annotations

from hasp.simulate.validation.places import MULTI_SOCKETS

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


def locks_of(machine: str) -> dict[str, str]:
    """SSYNC's names of the locks that it ran on a machine, and ours for them."""
    if machine in MULTI_SOCKETS:
        return LIBSLOCK
    return {name: lock for name, lock in PLAIN.items() if name not in HIERARCHICAL}
