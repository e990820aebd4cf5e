# SPDX-License-Identifier: MIT
"""Options shared by the actions of `hasp study`."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_store_option(parser: argparse.ArgumentParser) -> None:
    """Add --store."""
    parser.add_argument("--store", required=True, type=Path, metavar="DIR")


def add_campaign_options(parser: argparse.ArgumentParser) -> None:
    """Add the campaign's file, the machine's name and the store."""
    parser.add_argument("campaign", type=Path, metavar="CAMPAIGN.toml")
    parser.add_argument("--machine", help="name in the store (default: the host's)")
    add_store_option(parser)
