# SPDX-License-Identifier: MIT
"""The `hasp` command and `python -m hasp`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line and return its exit status.

    While Python imports and finalises, Ctrl-C ends the process without a traceback.
    """
    catches = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if catches:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        # Imported here so that Ctrl-C and a lack of memory are handled meanwhile.
        from hasp.cli import main as command_line
    # CPython's own classes turn some failed allocations into SystemError.
    except (MemoryError, SystemError, ImportError) as problem:
        if isinstance(problem, ImportError) and "failed to map" not in str(problem):
            raise
        print("hasp: not enough memory: see `ulimit -v`", file=sys.stderr)
        return 2
    try:
        if catches:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return command_line.main()
    finally:
        if catches:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
