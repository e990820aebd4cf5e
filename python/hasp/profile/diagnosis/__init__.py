# SPDX-License-Identifier: MIT
"""From a profile to advice: measures, rules as data, and a verdict in words.

Reports call `advise(profile)` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hasp.profile.diagnosis.rules import Rules
    from hasp.profile.diagnosis.verdict import Verdict
    from hasp.profile.model.profile import Profile


def advise(
    profile: Profile,
    rules: Rules | None = None,
    objective: str = "throughput",
    fewer: Profile | None = None,
    *,
    transactions: bool = False,
) -> Verdict:
    """Return the verdict on a profile; the default rules are those of Hasp.

    `transactions`: the machine that the program is to run on has usable ones.
    """
    # Imported here because the modules of this package are often used without it.
    from hasp.locks import native
    from hasp.profile.diagnosis.judge import judge
    from hasp.profile.diagnosis.measure import features
    from hasp.profile.diagnosis.obstacles import with_transactions
    from hasp.profile.diagnosis.proven import Proven
    from hasp.profile.diagnosis.rules import load

    rules = rules or load()
    measured = features(profile, rules, fewer)
    if transactions:
        measured = with_transactions(measured, profile)
    return judge(measured, rules, native.locks(), objective, Proven(profile.proofs))
