# SPDX-License-Identifier: MIT
"""`hasp doctor` reports on the machine, and on whether a program can be interposed."""

from __future__ import annotations

import ctypes
import errno
import json
import os

import pytest

from hasp.base import host, system_calls
from hasp.doctor import htm, profiling
from hasp.profile.record import files

from .conftest import compile_c

LOCKING = """
#include <pthread.h>
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) { return pthread_mutex_lock(&mutex); }
"""


def findings(cli, *words, status=0):
    finished = cli("doctor", "--json", "--", *words)
    assert finished.returncode == status, finished.stderr
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    assert {line["schema"] for line in lines} == {"hasp.doctor/1"}
    assert {line["level"] for line in lines} <= {"fine", "note", "lack"}
    return {(line["topic"], line["name"]): line for line in lines}


def test_the_machine(cli):
    found = findings(cli)
    names = {name for _, name in found}
    assert names >= {
        *("model", "usable", "cgroup quota", "SMT", "NUMA nodes", "TSX (RTM)"),
        *("governor", "virtualisation", "steal", "load average", "ptrace_scope"),
        *("perf_event_paranoid", "perf hardware events", "RAPL energy", "membarrier"),
        *("rseq", "seccomp", "C library", "Linux", "transparent huge pages"),
        "time-slice extensions",
        *("library", "locks", "parking cost"),
        *("recorder", "time stamp counter", "thread states", "lost wake-ups"),
        *("debug files", "space for traces"),
    }
    assert found["CPUs", "cohorts"]["value"] == "23 by last-level cache"
    assert "some of the 24 caches share one" in found["CPUs", "cohorts"]["words"]
    assert found["kernel", "Linux"]["value"] == os.uname().release
    assert found["Hasp", "parking cost"]["value"] == "4321 ns"


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (0, ""),
        (errno.EINVAL, "Linux 7.0 and later do"),
        (system_calls.ENOTSUPP, "turned off"),
        (errno.ENXIO, "has not registered rseq"),
        (errno.EPERM, "not permitted"),
    ],
)
def test_each_answer_of_the_kernel_about_slice_extensions(monkeypatch, number, reason):
    asked = []

    class Library:
        class prctl:
            def __new__(cls, *words):
                asked.append([word.value for word in words])
                ctypes.set_errno(number)
                return -1 if number else 0

    monkeypatch.setattr(system_calls, "_libc", Library)
    assert reason in system_calls.slice_extension()
    assert asked == [[79, 2, 1, 0, 0], [79, 2, 0, 0, 0]][: 1 if number else 2]


def test_transactions(hasp):
    finished = hasp("doctor", "--htm", "--json")
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    found = {line["name"]: line for line in lines}
    assert {line["topic"] for line in lines} == {"hardware transactions"}
    assert set(found) >= {"RTM", "kernel options", "elide+LOCK"}
    works = found["RTM"]["value"] == "hardware transactions (RTM) work"
    assert ("alone" in found["elide+LOCK"]["value"]) == (not works)


def test_transactions_of_a_machine_that_aborts_all_of_them(monkeypatch):
    probe = {"hardware": "fails", "probes": 1000, "commits": 0, "last_abort": 8}
    monkeypatch.setattr(htm, "probed", lambda: {**probe, "text": "it fails"})
    found = {finding.name: finding for finding in htm.findings()}
    assert found["empty transactions"].value == "0 of 1,000 committed"
    assert "0x8 (capacity)" in found["empty transactions"].words
    assert found["elide+LOCK"].value == "runs LOCK alone"


def test_missing_features_are_explained(cli):
    assert all(
        line["words"] for line in findings(cli).values() if line["level"] == "lack"
    )


def test_the_report_fits_80_columns_unless_a_path_is_longer(cli):
    found = findings(cli, "sh").values()
    words = [word for finding in found for word in finding["value"].split()]
    finished = cli("doctor", "sh")
    assert finished.returncode == 0
    longest = max(map(len, finished.stdout.splitlines()))
    assert longest <= max(80, 24 + max(map(len, words)))
    # Figures such as the load change between the two runs.
    lasting = {word for word in words if not any(map(str.isdigit, word))}
    assert lasting
    assert lasting <= set(finished.stdout.split())


def test_a_program_with_mutexes(cli, tmp_path):
    program = compile_c(LOCKING, tmp_path / "program", "-pthread")
    found = findings(cli, program)
    assert found["program", "can be interposed"]["value"] == "yes"
    assert found["program", "pthread mutexes"]["value"] == "program"


@pytest.mark.parametrize(("option", "known"), [("-g", True), ("-s", False)])
def test_whether_a_profile_can_name_lines(cli, tmp_path, option, known):
    program = compile_c(LOCKING, tmp_path / "program", "-pthread", option)
    line = findings(cli, program)["program", "line numbers"]
    assert (line["value"] == "yes") == known
    assert ("build it with -g" in line["words"]) != known


def test_a_disk_without_room_for_a_trace_is_noted(monkeypatch):
    monkeypatch.setattr(files, "room", lambda folder: 5 << 20)
    line = next(f for f in profiling.findings() if f.name == "space for traces")
    assert (line.value, line.level) == ("5 MiB", "note")
    assert "--limit" in line.words


def test_a_program_without_mutexes(cli, tmp_path):
    program = compile_c("int main(void) { return 0; }", tmp_path / "program")
    found = findings(cli, program)
    assert found["program", "pthread mutexes"]["value"] == "none seen"
    assert "no effect" in found["program", "pthread mutexes"]["words"]


def test_mutexes_of_a_library_count(cli, tmp_path):
    body = LOCKING.replace("main", "use")
    library = compile_c(body, tmp_path / "libuse.so", "-shared", "-fPIC")
    program = compile_c(
        "int use(void); int main(void) { return use(); }",
        *(tmp_path / "program", "-xnone", str(library), f"-Wl,-rpath,{tmp_path}"),
    )
    assert findings(cli, program)["program", "pthread mutexes"]["value"] == "libuse.so"


def test_a_program_that_cannot_be_interposed_is_a_finding(cli, tmp_path):
    program = compile_c(LOCKING, tmp_path / "program", "-static")
    found = findings(cli, program, status=1)
    line = found["program", "can be interposed"]
    assert (line["value"], line["level"]) == ("no", "lack")
    assert "statically linked" in line["words"]
    assert cli("doctor", program).returncode == 1


def test_a_missing_program_is_an_error(cli):
    finished = cli("doctor", "no-such-program")
    assert finished.returncode == 2
    assert "no-such-program" in finished.stderr


def test_a_script_is_judged_by_its_interpreter(cli, script):
    found = findings(cli, script("true"))
    assert found["program", "run by"]["value"].endswith("sh")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("dlmopen(0, 0, 0)", "dlmopen"),
        ('dlopen("x", 1)', "plug-ins"),
        ("syscall(202)", "own futexes"),
        ("pthread_rwlock_rdlock(0)", "other pthread locks"),
        ("sem_wait(0)", "semaphores"),
        ("pthread_mutexattr_setpshared(0, 1)", "special kinds"),
    ],
)
def test_imports_that_need_an_explanation(cli, tmp_path, call, name):
    headers = ("dlfcn.h", "unistd.h", "pthread.h", "semaphore.h")
    includes = "".join(f"#include <{header}>\n" for header in headers)
    source = f"{includes}int main(int n, char **v) {{ return n > 9 ? !!{call} : 0; }}"
    source = (
        source.replace("(0", "((void *)v")
        if "rwlock" in call or "sem" in call
        else source
    )
    source = source.replace("setpshared(0", "setpshared((void *)v")
    program = compile_c(source, tmp_path / "program", "-D_GNU_SOURCE", "-w")
    assert ("program", name) in findings(cli, program)


def test_languages_with_locks_of_their_own(cli, tmp_path):
    source = 'const char *mark = "%s"; int main(void) { return *mark == 1; }'
    for text, language in (("/rustc/0123", "Rust"), ("\\xff Go buildinf:", "Go")):
        program = compile_c(source % text, tmp_path / language)
        line = findings(cli, program)["program", "language"]
        assert line["value"] == language
        assert "invisible" in line["words"]


def test_openmp_is_reported(cli, tmp_path):
    program = compile_c(
        "int main(void) {\n#pragma omp parallel\n{\n#pragma omp critical\n;\n}\n}",
        *(tmp_path / "program", "-fopenmp"),
    )
    line = findings(cli, program)["program", "library"]
    assert line["value"].startswith("libgomp")
    assert "invisible" in line["words"]


def test_json_before_the_program_does_not_overwrite_it(cli, tmp_path):
    program = compile_c(LOCKING, tmp_path / "program")
    before = program.read_bytes()
    finished = cli("doctor", "--json", program)
    assert finished.returncode == 0
    assert '"can be interposed"' in finished.stdout
    assert program.read_bytes() == before


@pytest.mark.parametrize(
    ("cgroup", "files", "quota"),
    [
        ("0::/a/b\n", {"cpu.max": "max 100000", "a/b/cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b\n", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}, 0.5),
        ("0::/gone\n", {"cpu.max": "200000 100000"}, 2.0),
        ("0::/\n", {"cpu.max": "max 100000"}, None),
        (
            "4:cpu,cpuacct:/x\n0::/\n",
            {"cpu/x/cpu.cfs_quota_us": "25000", "cpu/x/cpu.cfs_period_us": "50000"},
            0.5,
        ),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1"}, None),
    ],
)
def test_the_cpu_quota(monkeypatch, tmp_path, cgroup, files, quota):
    root = tmp_path / "cgroup"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "a/b").mkdir(parents=True, exist_ok=True)
    real = host.read_text
    monkeypatch.setattr(host, "CGROUP", root)
    monkeypatch.setattr(
        host, "read_text", lambda p: cgroup if p == "/proc/self/cgroup" else real(p)
    )
    assert host.cpu_quota() == quota
