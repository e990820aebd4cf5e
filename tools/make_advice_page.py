#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write docs/advice.md from the rules of `hasp advise`; --check compares it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/advice.md"
sys.path.insert(0, str(ROOT / "python"))

from hasp.advisor.measures import measures  # noqa: E402
from hasp.advisor.report import condition_words, consequences  # noqa: E402
from hasp.advisor.rules import Rule, Rules, load  # noqa: E402
from hasp.advisor.words import quantity  # noqa: E402

STAGES = {
    "E0": "Do locks matter?",
    "E1": "More threads than CPUs?",
    "E2": "Frequent calls of the scheduler?",
    "E3": "Very many locks?",
    "E4": "Trylock on hot locks?",
    "E5": "Memory contention elsewhere?",
    "E6": "How contended is each hot lock?",
    "E8": "What is the objective?",
    "E9": "What no other lock would cure",
    "E10": "What can be gained?",
}

HEAD = """\
# The advice: every rule, and where it comes from

Made by `tools/make_advice_page.py` from `python/hasp/advisor/rules.toml`, which
[`hasp advise`](hasp-advise.md) follows.

Sources: **LS** is Guerraoui, Guiroux, Lachaize, Quéma and Trigonakis, "Lock - Unlock:
Is That All?" (ACM TOCS 2019); **RCL** is Lozi, David, Thomas, Lawall and Muller,
"Remote Core Locking" (USENIX ATC 2012, TOCS 2016); **TH** is Guiroux's thesis (2018).
A threshold marked **P** is printed there, for the authors' machine; one marked **H**
is Hasp's own. Each can be changed: `hasp advise --set NAME=VALUE`.

**Waiting threads** are counted per CPU that the holder leaves to others, C - 1, where
C is what the process may use (affinity and quota): on the 64 CPUs of the lock study
this is its "10 of 64" and "40 of 64" within rounding, and on 2 CPUs one thread that
always waits is extreme contention. Their mean is exact: all time waited, per time.

**How the rules combine.** `require` and `exclude` are firm. `prefer` and `avoid`
filter as well, but give way when no lock would be left, in the order {relaxed}; what
gave way is reported. Of the locks that are left, the first in the order of the rules
that fired is recommended. A rule on a measure that a profile does not have (no
performance counters, one number of threads) neither fires nor is refuted, and is
listed as such, with the reason.

Rules marked *hot* are asked only of sites that cost `hot-share` of the threads' time.
When E0 says that locks take little of it, only the other rules are asked: they find
what that share does not show. Rules marked *last* are asked of the sites at which
others found something.

**What another lock can gain at most** (`gain`, E10.bound). Another lock shortens
neither the sections nor the work between them. It can save the CPU time that waiting,
taking and passing on cost, and the time in which the lock was free though somebody
waited. The smallest of three bounds counts (operational analysis: Denning and Buzen,
Computing Surveys 1978), with H standing for that free time, W for the CPU time that the
lock costs, and A for how long a thread that uses it ran or waited:

| bound | speed-up at most |
|---|---|
| CPUs: all do nothing but useful work | 1 / (`ready_share` (1 - W / CPU time)) |
| path: each delay holds the program up | run / (run - H - the most W of a thread) |
| waits: no thread ever waits | A / (A - its waits - its W) |

H is the handovers' mean times the acquisitions that waited, or what the sampler saw of
it; W counts what `operation-cost`, `owner-change-cost` and `sleep-cost` say, set high
so that the bound stays one, but no more in the kernel than all its time. On several
nodes the sections behind one on another node count as well. Below `worthwhile` no other
lock is recommended: keep the one there is, and look at what would help without a lock.
What memory gains when fewer threads run is not covered, so E5 sets the bound aside.

Every lock of Hasp has a trylock that works, so the study's advice to avoid those
without one (CLH, HTicket) does not apply here. A hierarchical lock is never advised
on one node. Hasp puts other locks in place of mutexes only: of reader-writer locks
and spinlocks the rules name the bottleneck and what else would help.
"""


def rule_lines(rule: Rule, rules: Rules) -> list[str]:
    """One rule as a list."""
    hot = " (*hot*)" if rule.hot else " (*last*)" if rule.last else ""
    lines = [f"**{rule.id}**{hot}: {rule.title}. *{rule.source}*", ""]
    for word, conditions in (("if", rule.all), ("and one of", rule.any)):
        lines += [f"- {word} `{condition_words(item, rules)}`" for item in conditions]
    if rule.at_least_nodes > 1:
        lines.append(f"- on {rule.at_least_nodes} NUMA nodes or more")
    if rule.most_nodes:
        lines.append("- on a single node")
    if rule.objective:
        lines.append(f"- with `--objective {rule.objective}`")
    if rule.kinds:
        lines.append(f"- of a {' or '.join(rule.kinds)}")
    lines += [f"- then {item}" for item in consequences(rule)]
    return [*lines, ""]


def page(rules: Rules) -> str:
    """The whole page."""
    lines = [HEAD.format(relaxed=", ".join(rules.relaxed)), "## The rules", ""]
    for stage, title in STAGES.items():
        lines += [f"### {stage}: {title}", ""]
        for rule in rules.rules:
            if rule.stage == stage:
                lines += rule_lines(rule, rules)
        if stage == "E6":
            lines += ["### E7: Combinations", ""]
            for item in rules.combinations:
                what = ", ".join(item.only) or "the advice"
                dropped = ", ".join(item.drops)
                having = " and ".join(item.having)
                lines.append(
                    f"- **{item.id}**: where {having} fired, {what} of {dropped} is "
                    f"set aside: {item.why}. *{item.source}*"
                )
            lines.append("")
    lines += ["## The thresholds", ""]
    lines += [
        "| name | value | basis | what it decides | source |",
        "|---|--:|---|---|---|",
    ]
    for known in rules.thresholds.values():
        value = quantity(known.value, known.unit)
        lines.append(
            f"| `{known.name}` | {value} | {known.basis} | {known.about} "
            f"| {known.source} |"
        )
    lines += ["", "## The measures", "", "| name | of | what |", "|---|---|---|"]
    for name, measure in measures().items():
        words = f"{measure.about} ({measure.unit})" if measure.unit else measure.about
        lines.append(f"| `{name}` | {measure.scope} | {words} |")
    lines += ["", "## The properties", "", "| name | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {text} |" for name, text in rules.properties.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page; with --check say whether it is as the rules have it."""
    text = page(load())
    if sys.argv[1:] == ["--check"]:
        if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE} is not as the rules have it: run tools/make_advice_page.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
