# SPDX-License-Identifier: MIT
"""Why the simulator misses what it misses, as far as that is known.

Known means seen in the simulator, by the lines that move or by an experiment; what is
only suspected says so.
"""

from __future__ import annotations

from hasp.lab.simulate.validation.lock_sets import Form

_OWN_QUEUES = (
    "Hasp's queue locks keep the holder's state in the lock itself (so that any thread "
    "may unlock, and a holder may exit), and so move more lines at a contended hand-"
    "over than the published forms"
)
_BARGING = (
    "the mutex here is one that running threads overtake (Jain's index 0.1 with 48 "
    "threads), which costs it no line transfers; and " + _OWN_QUEUES
)
_LOOKS_FIRST = (
    "ticket and clh look at their line before they exchange it: that is two trips to "
    "the line's home instead of one, and no prefetch for writing makes them one, where "
    "atomics run at the home"
)
_SHOWS_HOLDER = (
    "Hasp's ticket lock shows that it is held, and by whom, on the line that its "
    "waiters watch, and tries to take it at once before it draws a number: each "
    "acquisition disturbs all waiters several times instead of once"
)
_ONE_EXCHANGE = (
    "Hasp's form of the lock takes a free lock with one exchange, whatever its "
    "hierarchy, and needs no node for it; the study's takes two locks and a node"
)

# By claim, or by the beginning of its id up to a slash: of the machine's model, which
# runs locks as they were published.
CAUSES: dict[str, str] = {
    "S30": (
        "how soon one line is saturated depends on how long a bank is busy with an "
        "operation; a third of what is frozen gives 8 and 12 cores"
    ),
    "S31": (
        "requests are served first come, first served, so that one compare-and-set of "
        "all that are under way succeeds in a round; real cores bound how many are"
    ),
    "S33": (
        "where a lock looks before it exchanges (ttas), or then looks at a second line "
        "(clh, array), two transfers follow each other, each at the table's price; the "
        "claim has room for one"
    ),
    "S35/niagara": "the in-order core's other instructions are left out",
    "S38/queue": (
        "eight threads of a core share its one pipeline, which is left out: waiters "
        "cost the holder nothing (suspected)"
    ),
    "S38/spin": (
        "an LLC bank that is busy for all of an operation's latency; with a third of "
        "that (0.51 and 0.33) other claims fail"
    ),
    "S42": (
        "the table itself makes a test-and-set and a store cheaper than drawing a "
        "number, looking, and a store"
    ),
    "S27": (
        "without write intent a poll shares the line, and the store that follows asks "
        "all dies: within a die that costs 244 cycles for 83. Real polls may come "
        "too late to share it (suspected)"
    ),
    "S46": (
        "of eleven hand-overs in FIFO order, nine stay on the socket and two cross, "
        "which the table prices at two to three times as much: 1.3 to 1.5 times in all"
    ),
    "S49/niagara": (
        "flag and payload are separate stores and loads, each executed at the bank; a "
        "transfer that they are compared with is only 24 cycles"
    ),
    "S50/niagara": "as S49",
    "S53/inside": (
        "the server looks at one client after the other; real cores have several such "
        "loads under way, which the model leaves out"
    ),
    "S53/remote": "as S53/inside: nine near clients hide the tenth one's distance",
    "S54": (
        "a one-way message is cheaper than one with its answer in every variant tried; "
        "what makes it dearer on the real machines is not modelled"
    ),
    "T42": "it would be two atomic operations and the interposer's mutex: some 100",
    "T43": (
        "the study's interposer takes the program's own mutex, too; without that it is "
        "24 to 29 cycles. The claims T42 fit with it, so these may not be alike"
    ),
    "T44": "as T42/c-bo-mcs",
    "T48/mcs": "the study measured an application, in which fewer threads than 64 wait",
    "T48/spinlock": (
        "hand-overs of a spinlock scatter widely, and the median is here; the study "
        "has a mean (suspected), of an application"
    ),
    "fig7c/mcs/low": (
        "clients that meet hand over by each other's nodes, which is dearer (3,400 "
        "cycles in the slowest hundredth) than to find the lock free soon after"
    ),
}

# Where the cause is another one with Hasp's own locks.
SHIPPED_CAUSES: dict[str, str] = {
    "S3": _BARGING,
    "S25": _SHOWS_HOLDER,
    "S33": (
        "the local acquisition that it is compared with costs 26 to 48 cycles here, "
        "while the code path of the published locks is dearer"
    ),
    "S35/tilera": _LOOKS_FIRST,
    "S37": (
        "the drop is larger: " + _OWN_QUEUES + ", and spin locks collapse as published"
    ),
    "S38": (
        "an LLC bank that is busy for all of an operation's latency; a third of that "
        "gives 0.92 and 0.72 for queue locks, 1.1 and 0.24 for spin locks"
    ),
    "S39": _BARGING,
    "S40": _BARGING,
    "S41/tilera": "both collapse alike: each hand-over is followed by 35 loads in turn",
    "S42": _LOOKS_FIRST,
    "S43": _BARGING,
    "S44": _BARGING,
    "T42": _ONE_EXCHANGE,
    "T42/mcs": "Hasp's mcs needs no node for a free lock, and writes one line only",
    "T44": _ONE_EXCHANGE,
    "T48/mcs": (
        _OWN_QUEUES + "; and the study measured an application, in which fewer threads "
        "than all 64 wait"
    ),
}


def cause_of(identity: str, form: Form) -> str:
    """What is known of the cause; empty if nothing is."""
    causes = CAUSES if form is Form.PUBLISHED else {**CAUSES, **SHIPPED_CAUSES}
    while identity:
        if identity in causes:
            return causes[identity]
        identity = identity.rpartition("/")[0]
    return ""
