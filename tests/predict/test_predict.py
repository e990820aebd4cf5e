# SPDX-License-Identifier: MIT
"""`hasp predict` from a trace to its answer."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from predict_samples import SMALL, pool, synthetic
from trace_samples import SECOND
from waiting import wait_until

from hasp.profile.trace.format import ChunkKind

FEW = ("--machine", "epyc-2x64", "--locks", "mcs", "--threads", "1,16")


def test_the_answer_comes_first(hasp, trace: Path) -> None:
    status, out, err = hasp("predict", trace, *FEW)
    assert (status, err) == (0, "")
    first = " ".join(out.split("\n\n")[0].split())
    assert first.startswith(
        "On 16 CPUs of epyc-2x64 (simulated), server+0x100 saturates at "
    )
    assert "threads reach" in first
    assert "halving its sections gives" in first
    assert "Simulated, not measured" in out


def test_the_document_has_the_load_and_every_range(hasp, trace: Path) -> None:
    status, out, _ = hasp("predict", trace, *FEW, "--json")
    assert status == 0
    document = json.loads(out)
    assert document["schema"] == "hasp.predict/1"
    assert document["simulated"] is True
    assert document["reference"] == "futex"
    # Sections of 1 us every 10 us saturate the lock at about ten threads.
    assert 7 <= document["saturated"]["threads"] <= 12
    assert document["recorded"]["threads"] == 3
    assert {(row["lock"], row["threads"]) for row in document["throughput"]} == {
        (lock, threads) for lock in ("futex", "mcs") for threads in (1, 16)
    }
    for row in (*document["throughput"], *document["changes"]):
        assert row["low"] <= row["median"] <= row["high"]
    assert document["baseline"]["median"] == pytest.approx(1, abs=0.2)
    assert [site["site"] for site in document["load"]["sites"]] == [
        "server+0x100",
        "server+0x200",
    ]


def test_the_same_trace_gives_the_same_answer(hasp, trace: Path) -> None:
    words = ("predict", trace, *FEW, "--json")
    assert hasp(*words) == hasp(*words, "--jobs", 1)


def test_a_change_is_simulated_with_all_threads(hasp, trace: Path) -> None:
    _, out, _ = hasp("predict", trace, *FEW, "--what-if", "server+0x100 remove")
    assert "remove" in out.split("If server+0x100 changes")[1]
    # Then only the lock inside is left: 400 ns in half of the sections.
    words = " ".join(out.split())
    assert "'server+0x100 remove' gives" in words
    assert "times, and then no lock saturates." in words


def test_far_more_threads_than_cpus_are_refused(hasp, trace: Path) -> None:
    status, out, err = hasp("predict", trace, *FEW[:2], "--threads", 1025)
    assert (status, out) == (2, "")
    assert "epyc-2x64 has 128 CPUs, too few for 1025 threads" in err


def test_more_threads_than_cpus_are_named_as_such(
    hasp, trace: Path, tmp_path: Path
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    status, out, err = hasp(
        "predict",
        *(trace, "--machine", "./small.toml", "--locks", "mcs", "--threads", "1,4"),
    )
    assert (status, err) == (0, "")
    first = " ".join(out.split("\n\n")[0].split())
    assert first.startswith("With 4 threads on the 2 CPUs of small (simulated), ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no machine to simulate is named"),
        (("--machine", "epyc-2x46"), "did you mean epyc-2x64"),
        ((*FEW, "--what-if", "server+0x100 wait x0.5"), "waits are the result"),
        ((*FEW, "--what-if", "nothing remove"), "no lock matches 'nothing'"),
        ((*FEW, "--rwlock", "mcs"), "mcs"),
    ],
)
def test_wrong_usage_is_explained(hasp, trace: Path, words, message: str) -> None:
    status, out, err = hasp("predict", trace, *words)
    assert (status, out) == (2, "")
    assert message in err


def test_a_trace_without_hold_times_is_refused(hasp, tmp_path: Path) -> None:
    made = synthetic()
    for record in made.records:
        for part in made.records[record]:
            names = part.dtype.names or ()
            for name in ("hold_ticks", "timed"):
                if name in names and "hold" in names:
                    part[name] = 0
            if "hold" in names:
                part["hold"]["bucket"] = 0
    path = made.write(tmp_path / "hasp.trace")
    status, _, err = hasp("predict", path, *FEW)
    assert status == 2
    assert "the trace has no hold times of this lock" in err
    assert "hasp profile -- COMMAND" in err


def test_times_without_a_cpu_raise_a_doubt(hasp, tmp_path: Path) -> None:
    path = synthetic(cpu=500_000_000).write(tmp_path / "hasp.trace")
    _, out, _ = hasp("predict", path, *FEW, "--json")
    assert any("had a CPU only 50 %" in said for said in json.loads(out)["doubts"])


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""


def test_ctrl_c_ends_it_with_what_is_known(trace: Path) -> None:
    """The signal arrives while simulations run: there are far too many of them."""
    words = [sys.executable, "-m", "hasp", "predict", str(trace), *FEW[:2]]
    with subprocess.Popen(
        [*words, "--seeds", "100", "--threads", "1,128"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        tasks = Path(f"/proc/{process.pid}/task")

        def simulates() -> bool:
            texts = [each.read_text() for each in tasks.glob("*/children")]
            children = [Path(f"/proc/{pid}/comm") for pid in " ".join(texts).split()]
            return any("simulate" in _text(child) for child in children)

        wait_until(simulates)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=50)
    assert process.returncode == 130
    assert re.search(r"interrupted after \d+ of at least \d+ simulations", err)


def test_the_split_of_a_lock_names_the_lock_that_saturates_next(
    hasp, trace: Path
) -> None:
    words = ("--machine", "epyc-2x64", "--locks", "mcs", "--threads", "1,64")
    _, out, _ = hasp("predict", trace, *words, "--json", "--html", "page.html")
    document = json.loads(out)
    (after,) = {
        (row["then"]["site"], row["then"]["threads"])
        for row in document["changes"]
        if row["change"] == "split 4"
    }
    # Four locks instead of one: four times as many threads, about.
    assert after[0] == "server+0x100"
    assert 25 <= after[1] <= 55
    busy = {row["threads"]: row["median"] for row in document["busy"][::2]}
    assert busy[1] < 0.3
    assert 0.95 < busy[64] <= 1
    page = Path("page.html").read_text()
    assert "How far to trust it" in page
    assert f"saturates at {document['saturated']['threads']} threads" in page


def test_a_figure_is_drawn(hasp, trace: Path) -> None:
    status, _, _ = hasp("predict", trace, *FEW, "--plot", "out.svg")
    assert status == 0
    drawn = Path("out.svg").read_text()
    assert "times the recorded throughput" in drawn
    assert "server+0x100" in drawn


def test_an_unknown_format_of_a_figure_is_refused_at_once(hasp, trace: Path) -> None:
    status, out, err = hasp("predict", trace, *FEW, "--plot", "out.gif")
    assert (status, out) == (2, "")
    assert "unknown format" in err


def test_threads_that_wait_for_work_raise_a_doubt(hasp, tmp_path: Path) -> None:
    path = pool(SECOND * 6 // 10).write(tmp_path / "hasp.trace")

    def said(*more: str) -> list[str]:
        _, out, _ = hasp("predict", path, *FEW, "--json", *more)
        return [one for one in json.loads(out)["doubts"] if "waited for work" in one]

    (doubt,) = said()
    assert "60 % of the time" in doubt
    assert said("--busy") == []


def test_threads_that_wait_for_locks_raise_a_doubt(hasp, tmp_path: Path) -> None:
    made = synthetic(cpu=SECOND // 2)
    for thread in made.records[ChunkKind.THREADS][1:]:
        thread["wait_ticks"] = SECOND // 2
    _, out, _ = hasp("predict", made.write(tmp_path / "hasp.trace"), *FEW, "--json")
    assert any("waited for locks 50 %" in said for said in json.loads(out)["doubts"])
