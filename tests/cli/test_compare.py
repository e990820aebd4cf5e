# SPDX-License-Identifier: MIT
"""Tests the runs of `hasp compare`, their order, and their failures.

The programs append to a log, which shows the order.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from hasp.compare.settings import Settings

LOCKS = ["glibc", "ttas", "ticket", "mcs", "mcs-park", "futex"]
# Prints a figure that depends on the lock.
FIGURE = 'case "$HASP_LOCK" in mcs) echo "rate: 50";; *) echo "rate: 100";; esac'


def records(cli, *words, status=0, **extra):
    """Return the JSON objects of a comparison."""
    finished = cli("compare", "--json", "-", *words, **extra)
    assert finished.returncode == status, finished.stderr
    return [json.loads(line) for line in finished.stdout.splitlines()]


def runs_of(lines, **wanted):
    return [
        line
        for line in lines
        if line["kind"] == "run" and all(line[key] == wanted[key] for key in wanted)
    ]


def summaries(lines, measure):
    return {
        line["lock"]: line
        for line in lines
        if line["kind"] == "summary" and line.get("measure") == measure
    }


def test_blocks_are_complete_interleaved_and_shuffled(cli, script, tmp_path):
    log = tmp_path / "log"
    program = script(f'echo "${{HASP_LOCK-glibc}}" >> {log}')
    records(cli, "--runs", 4, "--warmup", 2, "--seed", 5, "--", program)
    order = log.read_text().split()
    blocks = [order[index : index + 6] for index in range(0, len(order), 6)]
    assert len(blocks) == 6
    assert all(sorted(block) == sorted(LOCKS) for block in blocks)
    assert blocks[0][0] == "glibc", (
        "the reference runs first, to show whether the program works at all"
    )
    assert len({tuple(block) for block in blocks}) > 3, "each block has its own order"
    # The settings determine the order, so another seed gives another order.
    plan = Settings((str(program),), tuple(LOCKS), runs=4, warmup=2, seed=5)
    assert [cell.lock for _, block in plan.blocks() for cell in block] == order
    other = dataclasses.replace(plan, seed=6)
    assert list(other.blocks()) != list(plan.blocks())


def test_the_reference_is_added_and_native(cli, script, tmp_path):
    log = tmp_path / "log"
    program = script(f'echo "${{HASP_LOCK-glibc}} ${{LD_PRELOAD-none}}" >> {log}')
    records(cli, "--locks", "mcs", "--runs", 2, "--warmup", 0, "--", program)
    counted = Counter(line.split()[0] for line in log.read_text().splitlines())
    assert counted == {"glibc": 2, "mcs": 2}
    assert "glibc none" in log.read_text()
    assert "mcs none" not in log.read_text()


def test_warm_up_does_not_count(cli, script):
    lines = records(cli, "--locks", "mcs", "--runs", 3, "--warmup", 2, "--", script(""))
    assert len(runs_of(lines, warmup=True)) == 4
    assert len(runs_of(lines, warmup=False)) == 6
    assert summaries(lines, "wall time")["mcs"]["runs"] == 3


def test_threads_are_substituted_everywhere(cli, script, tmp_path):
    log = tmp_path / "log"
    lines = records(
        *(cli, "--locks", "mcs", "--threads", "1,4", "--runs", 1, "--warmup", 0),
        *("--prepare", f"echo prepare {{threads}} >> {log}"),
        *("--check", f"echo check {{threads}} >> {log}"),
        *("--", script(f'echo "run $1 x$2" >> {log}'), "{threads}", "a{threads}b"),
    )
    said = Counter(log.read_text().splitlines())
    for count in (1, 4):
        assert said[f"prepare {count}"] == 2
        assert said[f"run {count} xa{count}b"] == 2
        assert said[f"check {count}"] == 2
    assert {line["threads"] for line in runs_of(lines)} == {1, 4}


def test_figures_and_their_ratio(cli, script):
    lines = records(
        *(cli, "--locks", "mcs,futex", "--runs", 6, "--metric", r"rate: (\d+)"),
        *("--unit", "ops/s", "--", script(FIGURE)),
    )
    found = summaries(lines, "figure")
    assert found["mcs"]["median"] == 50
    assert found["mcs"]["unit"] == "ops/s"
    bounds = [found["mcs"][f"ratio_{name}"] for name in ("to_glibc", "low", "high")]
    assert bounds == pytest.approx([0.5, 0.5, 0.5])
    assert found["mcs"]["verdict"] == "worse"
    assert found["futex"]["verdict"] == "same"
    assert found["glibc"]["verdict"] == "reference"


def test_several_metrics_with_their_own_settings(cli, script):
    body = FIGURE + '; echo "P99: 1,234.5 us" >&2; echo "rate: 7" ; echo "rate: 100"'
    lines = records(
        *(cli, "--locks", "mcs", "--runs", 2, "--metric", r"speed=rate: (\d+)"),
        *("--unit", "ops/s", "--metric", r"p99=P99: ([\d.,]+)", "--unit", "us"),
        *("--lower-is-better", "--", script(body)),
    )
    speed, tail = summaries(lines, "speed")["mcs"], summaries(lines, "p99")["mcs"]
    assert speed["median"] == 100, "the last match wins"
    assert tail["median"] == 1234.5, (
        "stderr is searched too, and commas in numbers are ignored"
    )
    assert (speed["unit"], speed["lower_is_better"]) == ("ops/s", False)
    assert (tail["unit"], tail["lower_is_better"]) == ("us", True)


def test_cpu_time_and_memory_of_the_whole_tree(cli, script):
    # The tree is three levels deep and uses at least 0.3 s of CPU time and 60 MB.
    work = (
        "import resource, time\nblock = bytearray(60 << 20)\n"
        "while time.process_time() < 0.3: pass"
    )
    program = script(f"sh -c \"python3 -c '{work}'; true\"; true")
    lines = records(cli, "--locks", "mcs", "--runs", 1, "--warmup", 0, "--", program)
    for run in runs_of(lines):
        assert run["user_s"] + run["system_s"] >= 0.3
        assert 60 << 20 < run["peak_bytes"] < 120 << 20
        assert run["wall_s"] >= 0.3


def test_small_programs_are_not_charged_for_hasps_memory(cli):
    lines = records(cli, "--locks", "mcs", "--runs", 1, "--", "true")
    assert all(run["peak_bytes"] < 20 << 20 for run in runs_of(lines))


def test_a_lock_under_which_the_program_fails(cli, script):
    program = script('[ "$HASP_LOCK" = mcs ] && { echo "no luck" >&2; exit 3; }; true')
    finished = cli("compare", "--locks", "mcs,futex", "--runs", 5, "--", program)
    assert finished.returncode == 1, "a failing lock is a finding"
    assert "mcs: failed in 2 of 2 runs: exit status 3: no luck" in finished.stdout
    assert "futex" in finished.stdout


def test_a_lock_that_failed_twice_is_not_tried_again(cli, script, tmp_path):
    log = tmp_path / "log"
    program = script(
        f'echo "${{HASP_LOCK-glibc}}" >> {log}\n'
        '[ "$HASP_LOCK" != mcs ] || kill -SEGV $$'
    )
    lines = records(cli, "--runs", 4, "--", program, status=1)
    counted = Counter(log.read_text().split())
    assert counted["mcs"] == 2
    assert counted["futex"] == counted["glibc"] == 5
    assert {run["outcome"] for run in runs_of(lines, lock="mcs")} == {"failed"}
    assert "SIGSEGV" in runs_of(lines, lock="mcs")[0]["detail"]


def test_one_failure_does_not_hide_the_good_runs(cli, script, tmp_path):
    program = script(
        f'[ "$HASP_LOCK" != mcs ] || mkdir {tmp_path}/once 2>/dev/null || exit 0\n'
        f'[ "$HASP_LOCK" != mcs ] || exit 1'
    )
    lines = records(cli, "--locks", "mcs", "--runs", 4, "--", program, status=1)
    assert summaries(lines, "wall time")["mcs"]["runs"] == 4
    assert [line["failures"] for line in lines if "failures" in line] == [{"failed": 1}]


def test_different_output_under_a_lock(cli, script):
    program = script('[ "$HASP_LOCK" = mcs ] && echo wrong || echo right')
    check = 'read word; test "$word" = right && test "$(cat "$HASP_OUTPUT")" = right'
    lines = records(
        *(cli, "--locks", "mcs,futex", "--runs", 2, "--check", check, "--", program),
        status=1,
    )
    assert {run["outcome"] for run in runs_of(lines, lock="mcs")} == {"different"}
    assert {run["outcome"] for run in runs_of(lines, lock="futex")} == {"ok"}


def test_no_figure_under_a_lock(cli, script):
    program = script(f'[ "$HASP_LOCK" = mcs ] && echo hello && exit; {FIGURE}')
    lines = records(
        *(cli, "--locks", "mcs", "--runs", 2, "--metric", r"rate: (\d+)"),
        *("--", program),
        status=1,
    )
    assert {run["outcome"] for run in runs_of(lines, lock="mcs")} == {"no figure"}
    assert "hello" in runs_of(lines, lock="mcs")[0]["detail"]


def alive(marker: str) -> list[str]:
    """Return the command lines of all processes that contain `marker`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if marker in text and "pytest" not in text:
            found.append(text)
    return found


@pytest.mark.parametrize(
    "child",
    [
        pytest.param("sleep {time}", marks=pytest.mark.slow),
        pytest.param("setsid sleep {time}", marks=pytest.mark.slow),
        pytest.param(
            "sh -c 'trap \"\" TERM; sleep {time}; sleep {time}'",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "eval 'trap \"\" TERM; sleep {time}; sleep {time}'", marks=pytest.mark.slow
        ),
        "sh -c 'setsid sh -c \"sleep {time} & sleep {time}\" & sleep {time}'",
    ],
)
def test_a_hung_program_is_ended_with_its_descendants(cli, script, child):
    time = f"77.{os.getpid()}{len(child)}"
    hang = child.replace("{time}", time)
    program = script(f'[ "$HASP_LOCK" = mcs ] && {{ {hang} & {hang}; }}; true')
    lines = records(
        *(cli, "--locks", "mcs", "--runs", 2, "--timeout", "2s", "--", program),
        status=1,
    )
    assert {run["outcome"] for run in runs_of(lines, lock="mcs")} == {"hung"}
    assert len(runs_of(lines, lock="mcs")) == 2
    assert alive(time) == []


def test_leftover_processes_are_ended_and_counted(cli, script):
    time = f"76.{os.getpid()}"
    program = script(f"setsid sleep {time} & sleep {time} & sleep 0.1")
    records(cli, "--locks", "mcs", "--runs", 1, "--warmup", 0, "--", program)
    assert alive(time) == []


def test_a_daemon_of_prepare_is_left_alone(cli, script, tmp_path):
    time = f"75.{os.getpid()}"
    prepare = f"test -e started || {{ setsid sleep {time} & touch started; }}"
    try:
        records(cli, "--locks", "mcs", "--runs", 2, "--prepare", prepare, "--", "true")
        assert len(alive(time)) == 1
    finally:
        import psutil

        for process in psutil.process_iter(["cmdline"]):
            if time in (process.info["cmdline"] or []):
                process.kill()


def test_prepare_runs_before_each_run_and_natively(cli, script, tmp_path):
    log = tmp_path / "log"
    program = script(f"echo run >> {log}")
    prepare = f'echo "prepare ${{HASP_LOCK-native}}" >> {log}'
    records(cli, "--locks", "mcs", "--runs", 2, "--prepare", prepare, "--", program)
    assert log.read_text().splitlines() == ["prepare native", "run"] * 6


REFUSALS = {
    "unknown lock": (["--locks", "msc", "--", "true"], "did you mean mcs"),
    "missing program": (["--", "no-such-program"], "no-such-program"),
    "no command": (["--runs", "3"], "no program to compare"),
    "bad regex": (["--metric", "rate: (", "--", "true"], "not a regular expression"),
    "no group": (["--metric", "rate: [0-9]+", "--", "true"], "no group"),
    "unit alone": (["--unit", "s", "--", "true"], "before any --metric"),
    "same name": (["--metric", "wall time=(.)", "--", "true"], "two measures"),
    "unwritable": (["--csv", "no/where.csv", "--", "true"], "cannot be written"),
    "no files": (["--csv", "/proc/x.csv", "--", "true"], "cannot be written"),
    "unwritable json": (["--json", "no/x.jsonl", "--", "true"], "cannot be written"),
    "plot format": (["--plot", "x.gif", "--", "true"], ".png or .svg"),
    "no threads": (["--", "echo", "{threads}"], "--threads is not given"),
    "no place": (["--threads", "1,2", "--", "true"], "{threads} is not in"),
    "no ready": (["--server", "sleep 9", "--", "true"], "belong together"),
    "bad ready": (
        ["--server", "sleep 9", "--ready", "tcp:x", "--", "true"],
        "is invalid",
    ),
    "bad timeout": (["--timeout", "soon", "--", "true"], "not a duration"),
    "no runs": (["--runs", "0", "--", "true"], "not 1 or more"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused_before_anything_runs(cli, script, tmp_path, name):
    words, reason = REFUSALS[name]
    prepare = ["--prepare", f"touch {tmp_path}/ran"] if name != "no command" else []
    finished = cli("compare", *prepare, *words)
    assert finished.returncode == 2
    assert reason in finished.stderr
    assert "Traceback" not in finished.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "body", "reason"),
    [
        ([], "echo sorry >&2; exit 5", "exit status 5: sorry"),
        (["--timeout", "200ms"], "sleep 20", "did not end within 0.2 s"),
        (["--check", "exit 1"], "", "--check ended with exit status 1"),
        (["--metric", r"rate: (\d+)"], "echo slow", "no match of"),
        (["--metric", r"rate: (\S+)"], "echo rate: -nan", "no match of"),
    ],
)
def test_a_command_that_does_not_work_natively(cli, script, words, body, reason):
    finished = cli("compare", "--locks", "mcs", *words, "--", script(body))
    assert finished.returncode == 2
    assert "does not work without Hasp" in finished.stderr
    assert reason in finished.stderr


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_lock_is_blamed_for_a_command_that_fails_natively(cli, seed):
    finished = cli(
        *("compare", "--locks", "mcs,futex", "--warmup", 0, "--seed", seed, "--"),
        "false",
    )
    assert finished.returncode == 2
    assert "does not work without Hasp: exit status 1" in finished.stderr
    assert "mcs" not in finished.stderr and "futex" not in finished.stderr


def test_a_command_that_also_fails_natively(cli, script, tmp_path):
    program = script(f'[ "$HASP_LOCK" ] || mkdir {tmp_path}/a || mkdir {tmp_path}/b')
    finished = cli("compare", "--locks", "mcs", "--runs", 3, "--", program)
    assert finished.returncode == 1
    words = " ".join(finished.stdout.split())
    assert "the command also failed without Hasp, in 2 of 4 runs" in words


def test_a_prepare_that_fails(cli, script):
    finished = cli("compare", "--prepare", "echo why; exit 4", "--", "true")
    assert finished.returncode == 2
    assert "exit status 4: why" in finished.stderr


def test_runs_before_an_error_are_shown(cli, script, tmp_path):
    prepare = "echo x >> count; [ $(wc -l < count) -lt 6 ] || { echo full; exit 9; }"
    finished = cli(
        *("compare", "--locks", "mcs", "--warmup", 0, "--prepare", prepare),
        *("--csv", "runs.csv", "--", "true"),
    )
    assert finished.returncode == 2
    assert "exit status 9: full" in finished.stderr
    assert "interrupted: these are the runs until then" in finished.stdout
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 6


def test_an_ambiguous_metric(cli, script):
    program = script("echo time=5 ms; echo 9 errors")
    ambiguous = cli("compare", "--metric", "time=([0-9]+)", "--", program)
    assert ambiguous.returncode == 2
    assert "two ways" in ambiguous.stderr
    lines = records(
        *(cli, "--locks", "mcs", "--runs", 1, "--metric", "time=time=([0-9]+)"),
        *("--", program),
    )
    assert summaries(lines, "time")["mcs"]["median"] == 5


def test_relative_paths_are_kept(cli, tmp_path):
    (tmp_path / "job").write_text('#!/bin/sh\ntest "$0" = ./job\n')
    (tmp_path / "job").chmod(0o755)
    records(cli, "--locks", "mcs", "--runs", 1, "--", "./job")


def test_arguments_may_contain_any_bytes(cli, script, environment):
    program = script(r'test "$1" = "$(printf "a\377b")"')
    lines = records(cli, "--locks", "mcs", "--runs", 1, "--", program, "a\udcffb")
    assert {run["outcome"] for run in runs_of(lines)} == {"ok"}
    outputs = ("--markdown", "x.md", "--plot", "x.png", "--csv", "x.csv")
    table = cli(
        *("compare", "--locks", "mcs", "--runs", 1, *outputs),
        *("--", program, "a\udcffb"),
    )
    assert table.returncode == 0
    plain = cli("list", PYTHONIOENCODING="ascii")
    assert plain.returncode == 0


def test_temporary_files_are_removed(cli, script, tmp_path):
    place = tmp_path / "temporary"
    place.mkdir()
    records(cli, "--locks", "mcs", "--runs", 1, "--", "true", TMPDIR=str(place))
    assert list(place.iterdir()) == []
