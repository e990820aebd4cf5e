# SPDX-License-Identifier: MIT
"""The lock study's locks in their published form, where the simulator has one.

LiTL, the study's library, interposes them and also takes the program's own mutex.
"""

from __future__ import annotations

from collections.abc import Mapping

from hasp.predict.load import Load

# by Hasp's name of the lock
FORMS = {
    "spinlock": "litl-spinlock",
    "ttas": "litl-ttas",
    "backoff": "litl-backoff",
    "ticket": "litl-ticket",
    "mcs": "litl-mcs",
    "c-tkt-tkt": "litl-c-tkt-tkt",
    "c-ptl-tkt": "litl-c-ptl-tkt",
    "c-bo-mcs": "litl-c-bo-mcs",
    "hmcs": "litl-hmcs",
    "futex": "futex",  # glibc's mutex, which is not interposed
}


def forms_for(load: Load, threads: int, cpus: int) -> Mapping[str, str]:
    """Return the published forms that can execute the load.

    With more threads than CPUs there are none: their waiters never yield.
    """
    return {} if threads + load.others > cpus else FORMS
