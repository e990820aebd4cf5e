#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write docs/verdicts.md from docs/data/verdicts.json.

That file comes from `tools/verdict_corpus.py --half both`, once with `--state before`
and once with `--state after`, from `tools/verdict_corpus.py --half both --fixes`, and
from the same for `--half real`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from verdict_corpus import DATA, Result, count, read_data, results
from verdict_real import HALF, RealProgram, real_programs
from verdict_truth import FOLDERS, HEALTHY, ROOT, THREADS, Program, programs

PAGE = ROOT / "docs/verdicts.md"
STATES = {"before": "rules", "after": "causes"}
WHAT = ("lock", "cause", "remedy")
SAMPLES = 2000

HEAD = """\
# How often the verdict is right

Of {judged} verdicts on servers that the rules had not seen, {lock} name the right lock,
{cause} the right cause, and {remedy} give the right advice (*set-aside* below).

`tools/make_verdict_page.py` writes this page from [the data](data/verdicts.json).

{number} small servers in C and C++ (`tests/programs/servers`) have one known lock
fault each, or none. Each program has several locks and background work, and ran with 1,
2, 4 and 8 threads on two CPUs, for a second.

- *tuning*: {tuning} servers that the verdict's rules were fitted to. It includes those
  that were set aside in four earlier rounds: their results became known. Their traces
  were judged by the rules of commit 91b6492b, as were those of the real programs.
  28 servers that were written for missed causes were recorded once with the recorder of
  that commit: 111, 108 and 108 of their 112 verdicts are right. 57 others were recorded
  twice, and the page shows the later traces; with the earlier ones, 223, 220 and 216 of
  228 are right. While they were set aside, 193 (lock), 177 (cause) and 177 (remedy) of
  200 were right in the third round, and 191, 174 and 173 in the fourth.
- *set-aside*: {aside} servers that were written by somebody who did not know the rules,
  while these were fitted to the others. Each was recorded once, and the traces were
  judged once, by the rules and the recorder of commit 91b6492b.
- *real*: {real} programs of Debian ([truth and its
  origin](../tests/programs/servers/real/truth.toml)). The rules were changed after
  their verdicts were known. Before, with the rules of commit 7d0cca2, 23 (lock), 22
  (cause) and 20 (remedy) of 26 verdicts on 16 programs were right.

No other program was meant to run meanwhile. The confidence is low in {low} of {after}
verdicts. In the first three rounds, such a run was repeated, at most twice; later, none
was. During the recordings of the present set-aside half, other processes used 0.02 s of
CPU time at the median. The three recordings with more than 0.2 s were repeated before
anything was judged. Five recordings of the fourth round were disturbed (log_pack,
acl_match, quote_server, map_tiles and undo_log with 8 threads).

- **lock**: the verdict names the mutex at fault, or none if no mutex is at fault.
- **cause**: it names the fault, one of {causes} causes, or states that there is none.
  If the fault does not exist with that number of threads (a single thread has no
  contention), only the causes that `truth.toml` lists are right, usually *not-locks*.
- **remedy**: each program has working variants with remedies (`--fix`). The advice is
  right if its variant gains at least 80 % of what the best variant gains, as measured
  below; for faults that cost no throughput, if it is the one that removes the fault.

In the state *before*, the verdict came from the advisor's rules, and its sentence was
mapped to causes and remedies (`tools/verdict_words.py`). In the state *after*, it comes
from the diagnosis by cause.

Five causes are also found on 16 and 64 simulated CPUs, with as many threads as CPUs or
twice as many: *convoy*, *long-section*, *not-locks*, *spinning* and *tiny-section*
(`pytest -m slow tests/verdicts/test_simulated.py`). Simulated runs have no states of
holders, no reader-writer locks and no layout of data in cache lines, so the other
causes are only found on real machines.

    tools/verdict_corpus.py --half both --tries 3  # runs what is missing, and counts
    tools/verdict_corpus.py --half real --tries 3
    tools/verdict_corpus.py --half both --fixes  # the gains
    tools/verdict_corpus.py --half real --fixes
    tools/make_verdict_page.py
"""

MISSES = """\
With a confidence of 95 %, the shares of right verdicts are within

- {intervals}

as samples of the programs show, since the four verdicts on one program are not
independent. The truth about each server was settled before the judgement and has not
been changed since. It was checked by measurements that do not use the verdict: what the
remedy gains (below), what ThreadSanitizer or an error-checking mutex reports, or the
memory that is saved. For mixdown and mesh_weld, one check came only after the
judgement, and it refutes the truth in part. The wrong verdicts, by what seems to be the
reason:

- mixdown and mesh_weld: the truth is mistaken. Threads that use the CPUs were meant to
  take them from the thread that has the mutex, but it mostly keeps its CPU. With a
  mutex for each thread, throughput with 2 threads is the same, so *not-locks* is right
  there. It grows by 9 to 39 % with 4 and 8 threads, for which *long-section* is
  defensible.
- result_table with 4 and 8 threads: the broadcasts that wake thirty threads for one are
  overlooked, because the mutex is free for most of the time. No atomic could replace
  it.
- thumb_future with 1 thread: the only thread waits for a std::future, whose futex is
  taken for a lock that Hasp does not see. The wait is real, but nobody contends.
- night_backup with 4 threads: threads wait 4 % of their time for a rare backup. The
  advice is correct, but gains 2 %.
- mbuf_pool with 2 and 4 threads and quote_spin with 2: fewer threads gain between 66 %
  and 79 % of what a mutex gains.
- tile_claim with 4 and 8 threads: the advice to block is what the program was written
  for, but fewer threads gain more, since a reader-writer lock hands over slowly. This
  was noted before the judgement.

Without mixdown and mesh_weld, 191 (lock), 188 (cause) and 183 (remedy) of 192 verdicts
are right.
"""

COUNTS = "| half | {} | verdicts | lock | cause | remedy |\n|---|---|---|---|---|---|"


def percent(share: float) -> str:
    """Return a share in percent; 100 only if it is the whole."""
    return f"{share:.0%}" if share == 1 or share < 0.995 else f"{share:.1%}"


def counts_row(label: str, judged: Iterable[Result]) -> str:
    """Return a row of a table: the number of verdicts, and of right ones by aspect."""
    counts = count(judged)
    whole = counts["all"]
    cells = [
        f"{counts[name]} ({percent(counts[name] / whole)})" if whole else "-"
        for name in WHAT
    ]
    return f"| {label} | {whole} | {' | '.join(cells)} |"


def summary(data: dict[str, Any]) -> Iterator[str]:
    """Yield the table of both halves and the real programs, before and after."""
    yield "## Right verdicts\n"
    yield COUNTS.format("state")
    for half in (*FOLDERS, HALF):
        for state in STATES:
            judged = [one for one in results(data, state) if one.program.half == half]
            if judged:
                yield counts_row(f"{half} | {state}", judged)
    yield "\nBy number of threads, after:\n"
    yield COUNTS.format("threads")
    for half in FOLDERS:
        for threads in THREADS:
            judged = [
                one
                for one in results(data, "after")
                if one.program.half == half and one.threads == threads
            ]
            yield counts_row(f"{half} | {threads}", judged)
    yield ""


def interval(judged: list[Result], aspect: str) -> str:
    """Return the 95 % interval of the share of right verdicts, by sampling programs."""
    right: dict[str, list[bool]] = {}
    for one in judged:
        found = right.setdefault(one.program.name, [])
        found.append(getattr(one.judgement, aspect))
    shares = [sum(found) / len(found) for found in right.values()]
    source = random.Random(1)
    means = sorted(
        sum(source.choices(shares, k=len(shares))) / len(shares) for _ in range(SAMPLES)
    )
    low, high = means[SAMPLES // 40], means[-SAMPLES // 40]
    return f"{aspect}: {low * 100:.0f} to {high * 100:.0f} %"


def misses(data: dict[str, Any]) -> Iterator[str]:
    """Yield what the wrong verdicts on the set-aside half have in common."""
    judged = [one for one in results(data, "after") if one.program.half == "set-aside"]
    if judged:
        yield "## What was wrong in the set-aside half\n"
        yield MISSES.format(
            intervals="\n- ".join(interval(judged, aspect) for aspect in WHAT)
        )


def cell(found: Result | None) -> str:
    """Return the cell for one verdict in the table of programs."""
    if found is None:
        return "-"
    right = found.judgement
    if right.lock and right.cause and right.remedy:
        return "right"
    wrong = [name for name in WHAT if not getattr(right, name)]
    if "cause" in wrong:
        return f"*{found.verdict.get('cause') or 'no cause'}*"
    return f"wrong {' and '.join(wrong)}"


def by_program(data: dict[str, Any], half: str) -> Iterator[str]:
    """Yield the table of one half: each program's verdicts after the change."""
    found = {(one.program.name, one.threads): one for one in results(data, "after")}
    yield f"## The {half} half, after\n"
    yield "A cause in italics is a wrong one that the verdict named.\n"
    yield "| program | fault | 1 thread | 2 | 4 | 8 |\n|---|---|---|---|---|---|"
    for program in programs():
        if program.half == half:
            cells = [cell(found.get((program.name, threads))) for threads in THREADS]
            yield f"| {program.name} | {program.cause} | {' | '.join(cells)} |"
    yield ""


def real_table(data: dict[str, Any]) -> Iterator[str]:
    """Yield the table of the real programs."""
    yield "## Real programs, after\n"
    yield (
        "The verdicts are those with the numbers of threads on the left. The gain is\n"
        "that of the command without the fault, where there is one, in a run of each.\n"
    )
    yield "| program | fault | threads | verdicts | gain |\n|---|---|---|---|---|"
    found = {(one.program.name, one.threads): one for one in results(data, "after")}
    for program in real_programs():
        yield real_row(data, program, found)
    yield ""


def real_row(
    data: dict[str, Any],
    program: RealProgram,
    found: dict[tuple[str, int], Result],
) -> str:
    """Return the row of one real program."""
    gains = data["gains"].get(program.name, {})
    verdicts, ratios = [], []
    for threads in program.threads:
        verdicts.append(cell(found.get((program.name, threads))))
        ratios += [f"{ratio:.2f}" for ratio in gains.get(str(threads), {}).values()]
    numbers = ", ".join(map(str, program.threads))
    cells = (", ".join(verdicts), ", ".join(ratios) or "-")
    return f"| {program.name} | {program.cause} | {numbers} | {' | '.join(cells)} |"


def gain_row(data: dict[str, Any], program: Program) -> str:
    """Return the row with the gains of a program's variants."""
    gains = data["gains"].get(program.name, {})
    cells = []
    for threads in THREADS:
        ratios = gains.get(str(threads), {})
        listed = [f"{name} {ratio:.2f}" for name, ratio in ratios.items()]
        cells.append(", ".join(listed) or "-")
    return f"| {program.name} | {' | '.join(cells)} |"


def gains_table(data: dict[str, Any]) -> Iterator[str]:
    """Yield the table of the gains."""
    yield "## What the variants gain\n"
    yield (
        "Throughput as a multiple of the faulty variant's, median of interleaved\n"
        "runs, where the fault exists and costs throughput. The gains with four\n"
        "threads also decide which remedies are right with numbers of threads for\n"
        "which there is none. In the set-aside half, each comes from one run of 0.36\n"
        "seconds of each variant; hash_join, ray_caster and night_backup are healthy\n"
        "and show how far such runs scatter. Those of the 28 servers that were\n"
        "recorded last are means of two runs of 0.6 seconds. There, the remedies of\n"
        "stock_level, seat_map and packer do not raise the throughput, so their truth\n"
        "is arguable.\n"
    )
    yield "| program | 1 thread | 2 | 4 | 8 |\n|---|---|---|---|---|"
    for program in programs():
        if program.has_gains():
            yield gain_row(data, program)
    yield ""


def missing(found: int) -> Iterator[str]:
    """Yield a sentence about the runs that are not in the data, if there are any."""
    wanted = len(programs()) * len(THREADS)
    wanted += sum(len(program.threads) for program in real_programs())
    if found < wanted:
        yield f"{wanted - found} of {wanted} runs are missing, which are - below.\n"


def page(data: dict[str, Any]) -> str:
    """Return the whole page."""
    causes = sorted({one.cause for one in programs()} - set(HEALTHY))
    after = list(results(data, "after"))
    low = sum(one.verdict.get("confidence") == "low" for one in after)
    tuning = sum(one.half == "tuning" for one in programs())
    unseen = count(one for one in after if one.program.half == "set-aside")
    head = HEAD.format(
        judged=unseen["all"],
        **{aspect: percent(unseen[aspect] / unseen["all"]) for aspect in WHAT},
        number=len(programs()),
        tuning=tuning,
        aside=len(programs()) - tuning,
        real=len(real_programs()),
        causes=len(causes),
        low=low,
        after=len(after),
    )
    parts = [head, *missing(len(after))]
    parts += summary(data)
    parts += misses(data)
    for half in FOLDERS:
        parts += by_program(data, half)
    parts += real_table(data)
    parts += gains_table(data)
    return "\n".join(parts).rstrip() + "\n"


def main() -> None:
    """Write the page."""
    text = page(read_data(DATA))
    beside = Path(f"{PAGE}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(PAGE)


if __name__ == "__main__":
    main()
