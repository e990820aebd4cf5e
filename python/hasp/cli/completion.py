# SPDX-License-Identifier: MIT
"""`hasp completion`: a script that completes the command line in a shell."""

from __future__ import annotations

import argparse

NAME = "completion"
HELP = "print a script that completes `hasp` in bash, zsh or fish"
SHELLS = ("bash", "zsh", "fish")

EXAMPLES = """\
examples:
  eval "$(hasp completion bash)"          in ~/.bashrc
  eval "$(hasp completion zsh)"           in ~/.zshrc, after compinit
  hasp completion fish > ~/.config/fish/completions/hasp.fish
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp completion`."""
    parser.usage = f"hasp completion {{{','.join(SHELLS)}}}"
    parser.epilog = EXAMPLES
    words = "bash, zsh or fish"
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=words)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from hasp.locks.kinds import EXECUTOR, LISTED_KINDS
    from hasp.locks.native import locks

    names = {
        "LOCK": [lock.name for lock in locks()],
        "EXECUTOR": [executor.name for executor in locks(EXECUTOR)],
        "KIND": [kind.name for kind in LISTED_KINDS],
    }
    print(script(arguments.shell, names))
    return 0


def script(shell: str, names: dict[str, list[str]]) -> str:
    """Return the completion script for one of SHELLS.

    `names` has the words that complete an option, by its placeholder.
    """
    import shtab

    from hasp.cli.main import whole_parser

    parser = whole_parser()
    _complete_values(parser, names)
    return str(shtab.complete(parser, shell=shell))


def _complete_values(
    parser: argparse.ArgumentParser, names: dict[str, list[str]]
) -> None:
    """Attach to each option of `parser` the values that match its placeholder."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                _complete_values(child, names)
        elif action.metavar in names and not action.choices:
            action.choices = names[str(action.metavar)]
        elif action.metavar in ("FILE", "TRACE", "PROGRAM", "COMMAND", "CAMPAIGN.toml"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
