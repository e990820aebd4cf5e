# SPDX-License-Identifier: MIT
"""Provides a small campaign for tests, and access to its journal."""

from __future__ import annotations

import json

from hasp.cli.main import main

PLAN = """\
schema = 1
title = "small"

[defaults]
locks = "glibc,futex"
threads = [1, 2]
least_runs = 2
most_runs = 2
noisy_runs = 0

[[program]]
name = "speed"
command = "sh -c 'echo speed {threads}00'"
[program.metrics]
throughput = "speed ([0-9]+)"
latency = { pattern = "speed ([0-9]+)", unit = "us", lower_is_better = true }
"""
SECOND = """
[[program]]
name = "second"
command = "echo 1"
threads = [1]
locks = "glibc"
"""


def entries(store):
    (path,) = (store / "journals").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def study(*words):
    return main(["study", *map(str, words)])
