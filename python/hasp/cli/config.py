# SPDX-License-Identifier: MIT
"""`hasp config`: where the library is that programs link."""

from __future__ import annotations

import argparse

from hasp.base.output import add_json_option

NAME = "config"
HELP = "print how to compile and link a program that uses Hasp's headers"

EXAMPLES = """\
examples:
  cc $(hasp config --cflags) server.c $(hasp config --libs) -o server
  PKG_CONFIG_PATH="$(hasp config --pkg-config-dir)" pkg-config --libs hasp
  cmake -Dhasp_DIR="$(hasp config --cmake-dir)" ..
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp config`."""
    parser.usage = "hasp config [options]"
    parser.epilog = EXAMPLES
    for option, words in (
        ("--cflags", "the options for the compiler"),
        ("--libs", "the options for the linker"),
        ("--include-dir", "the folder with hasp/mutex.h"),
        ("--library-dir", "the folder with libhasp-sync.so"),
        ("--pkg-config-dir", "the folder with hasp.pc"),
        ("--cmake-dir", "the folder with haspConfig.cmake"),
    ):
        parser.add_argument(
            option, dest="wanted", action="append_const", const=option[2:], help=words
        )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what is asked for on one line, or everything."""
    from hasp.locks.library import Options, print_config

    return print_config(Options(tuple(arguments.wanted or ()), arguments.json))
