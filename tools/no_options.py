# SPDX-License-Identifier: MIT
"""The command line of a tool that has no options."""

from __future__ import annotations

import argparse


def no_options(description: str | None) -> None:
    """Answer --help, and refuse anything else, before the tool overwrites data."""
    argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
