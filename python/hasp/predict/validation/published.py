# SPDX-License-Identifier: MIT
"""The lock study's locks in their published form, by Hasp's name of the lock.

LiTL, the study's library, interposes them and also takes a mutex of glibc's, for each
lock and for glibc's own mutexes, too.
"""

from __future__ import annotations

FORMS = {
    name: f"litl-{name}"
    for name in (
        *("spinlock", "tas", "ttas", "ttas-backoff", "backoff"),
        *("mutexee", "futex", "adaptive"),
        *("ticket", "ticket-backoff", "partitioned", "alock"),
        *("mcs", "mcs-park", "mcs-prefetch", "clh", "clh-park", "clh-prefetch"),
        *("c-tkt-tkt", "c-ptl-tkt", "c-bo-mcs", "c-bo-mcs-park"),
        *("hticket", "hmcs", "ahmcs"),
        *("malthusian", "malthusian-park", "mcs-timepub"),
    )
}
