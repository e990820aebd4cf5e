# SPDX-License-Identifier: MIT
"""Known causes of the simulator's misses.

Each cause was confirmed in the simulator, by tracing cache-line transfers or by an
experiment; suspected causes are marked as such.
"""

from __future__ import annotations

from hasp.lab.simulate.validation.lock_sets import Form

_BARGING = (
    "running threads overtake waiters of Hasp's mutex (Jain's index 0.1 with 48 "
    "threads), which costs it no line transfers"
)
_LOADS_FIRST = (
    "ticket and clh load their line before they exchange it, which takes two trips to "
    "the line's home instead of one; a prefetch for writing cannot merge them where "
    "atomics execute at the home"
)
_ONE_EXCHANGE = (
    "Hasp's form takes a free lock with one exchange and no node, whatever its "
    "hierarchy; the study's takes two locks and a node"
)

_AHEAD_ARRAY = (
    "Hasp's array lock hands over by one store, to a line that only the next waiter "
    "reads; the published one closes its own slot, too (suspected)"
)
_MANY_STORES = (
    "every store and atomic of this machine goes to a bank of the shared cache, and a "
    "section under Hasp's mcs makes 22 such accesses, under the published one 8"
)

# By claim, or by a prefix of its id that ends at a slash. These causes lie in the model
# of the machine, which runs the published forms of locks.
CAUSES: dict[str, str] = {
    "S30": (
        "the core count that saturates a line depends on how long a bank is busy with "
        "an operation; a third of the frozen constant gives 8 and 12 cores"
    ),
    "S31": (
        "the processor has no FAI; its library's is a loop of compare-and-set, here "
        "it is one operation at the bank. As such a loop it agrees (1.2 to 1.3), but "
        "requests are served in FIFO order, so one of all in flight succeeds per "
        "round: both then reach 1 Mops. What bounds those in flight in real cores is "
        "unknown"
    ),
    "S33": (
        "locks that load a line before they exchange it (ttas), or then load a second "
        "line (clh, array), wait for two transfers in sequence, each at the table's "
        "price; the claim allows for one"
    ),
    "S35/niagara": "other instructions of the in-order core are not modelled",
    "S38/queue": (
        "eight threads of a core share two pipelines, which is not modelled. If the "
        "threads of each divide its issue slots and a bank is busy for a quarter of an "
        "operation, the ratio is 1.76 and that of spin locks 0.56, but ticket beats "
        "the queue locks (S40, S44 fail), and S57 and S58 no longer hold"
    ),
    "S38/spin": (
        "an LLC bank is busy for the whole latency of an operation; with a third of "
        "that the ratios are 0.51 and 0.33, but other claims fail"
    ),
    "S42": (
        "in the table, a test-and-set and a store cost less than drawing a number, a "
        "load and a store"
    ),
    "S27": (
        "without write intent a poll shares the line, and the following store probes "
        "all dies: 244 cycles instead of 83 within a die. Real polls may come too late "
        "to share the line (suspected)"
    ),
    "S46": (
        "of eleven handovers in FIFO order, nine stay on the socket and two cross, at "
        "two to three times the cost in the table: 1.3 to 1.5 times in all"
    ),
    "S49/niagara": (
        "flag and payload are separate stores and loads, each executed at the bank, "
        "while the transfer they are compared with takes only 24 cycles"
    ),
    "S50/niagara": "as S49",
    "S53/inside": (
        "the server's polls overlap, but each takes an empty line away from its "
        "client, which has to fetch it back before it can send (suspected)"
    ),
    "S53/remote": "as S53/inside: nine near clients hide the distance of the tenth",
    "S54": (
        "a one-way message is cheaper than a round trip in every variant tried; what "
        "makes it more expensive on the real machines is not modelled"
    ),
    "T42": (
        "two queues or locks and the interposer's mutex: three atomic operations, at "
        "20 cycles each. At a price that explains the study's figure, the two of "
        "spinlock would cost twice what the study measured"
    ),
    "T43": (
        "the study's interposer also takes the program's own mutex; without that, the "
        "cost is 24 to 29 cycles. Claims T42 agree with it, so the two may differ"
    ),
    "T44": "as T42/c-bo-mcs",
    "T48/mcs": (
        "the interposer's mutex moves, too (344 cycles), and so does a line of the "
        "short section (240). MCS alone takes 808: the link to the successor, on a "
        "line that this one has written (224), a store to the line that the waiter "
        "shares (up to 296), then its load (up to 254)"
    ),
    "T48/spinlock": (
        "handover times of a spinlock vary widely; this is the median, the study has a "
        "mean (suspected), of an application"
    ),
    "fig7c/mcs/low": (
        "clients that meet hand over through each other's nodes, which costs more "
        "(3,400 cycles in the slowest hundredth) than finding the lock free soon after"
    ),
}

# Causes that differ for Hasp's own locks.
SHIPPED_CAUSES: dict[str, str] = {
    "S3": _BARGING,
    "S33": (
        "the local acquisition in the denominator takes 26 to 48 cycles here, and more "
        "in the published locks, whose code path is longer"
    ),
    "S35/tilera": _LOADS_FIRST,
    "S37": ("the drop is larger, because spin locks collapse as published"),
    "S38": (
        "an LLC bank is busy for the whole latency of an operation; a third of that "
        "gives 0.92 and 0.72 for queue locks, 1.1 and 0.24 for spin locks"
    ),
    "S39": _BARGING,
    "S40": _AHEAD_ARRAY,
    "S41/tilera": (
        "both locks collapse alike: each handover is followed by 35 loads in sequence"
    ),
    "S42": _LOADS_FIRST,
    "S43": _BARGING,
    "S44": _BARGING,
    "S60/niagara": _MANY_STORES,
    "fig7c/posix/high": (
        "the claim is about glibc's mutex; waiters of Hasp's spin before they sleep "
        "(suspected)"
    ),
    "S61": _MANY_STORES,
    "T42": _ONE_EXCHANGE,
    "T42/mcs": "Hasp's mcs needs no node for a free lock, and writes one line only",
    "T44": _ONE_EXCHANGE,
    "T48/mcs": (
        "a line of the short section moves, too (224 cycles); the rest is a store to "
        "the line that the waiter shares (up to 296) and its load (up to 254)"
    ),
}


def cause_of(identity: str, form: Form) -> str:
    """Return the known cause of a miss; empty if there is none."""
    causes = CAUSES if form is Form.PUBLISHED else {**CAUSES, **SHIPPED_CAUSES}
    while identity:
        if identity in causes:
            return causes[identity]
        identity = identity.rpartition("/")[0]
    return ""
