# SPDX-License-Identifier: MIT
"""`hasp profile -p PID`: sample a running process, and report."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import dataclass
from types import FrameType

from hasp.base.output import note, write_json
from hasp.profile.attach.naming import Names
from hasp.profile.attach.process import Process
from hasp.profile.attach.report import document, print_report
from hasp.profile.attach.sampling import Sampler

SECONDS = 10.0


@dataclass(frozen=True)
class Options:
    """The settings of `hasp profile -p`."""

    pid: int
    seconds: float = SECONDS
    json: str | None = None  # FILE or `-`; None: text


def attach(options: Options) -> None:
    """Sample the process and print the report; raises HaspError if not permitted."""
    stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True

    began = time.time()
    previous = {n: signal.signal(n, stop) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        process = Process(options.pid)
        sampler = Sampler(process)
        if sys.stderr.isatty():
            note(
                f"sampling process {options.pid} for {options.seconds:g} s; "
                "Ctrl-C ends it early"
            )
        # The process may end while it is sampled, and its mappings with it.
        names = Names(process, sampler.result, began)
        samples = sampler.run(options.seconds, lambda: stopped)
        if not samples.ended:
            names = Names(process, samples, began)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if options.json is not None:
        write_json([document(process, samples, names)], options.json)
    else:
        print_report(process, samples, names)
    process.close()
