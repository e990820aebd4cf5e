# SPDX-License-Identifier: MIT
"""The `hasp` command: finds the verb, parses its options, says errors in words."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from hasp.errors import EXIT_INTERRUPTED, EXIT_REFUSED, HaspError, Interrupted
from hasp.output import complain

# The one list of verbs, in the order of `hasp --help`. Each is the module of that name
# in this package, imported only when it is asked for, so that `hasp run` starts fast.
VERBS = (
    *("profile", "report", "top", "diff", "advise", "compare", "run", "list"),
    *("doctor", "bench", "check", "study", "machine", "simulate"),
)

USAGE = "usage: hasp VERB [options] [-- COMMAND...]"


class Verb(Protocol):
    """What a module of this package must have to be a verb."""

    NAME: str
    HELP: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def load(name: str) -> Verb:
    """The module of a verb."""
    return cast(Verb, importlib.import_module(f"hasp.cli.{name}"))


def overview() -> str:
    """The text of `hasp --help`."""
    lines = [
        USAGE,
        "",
        "Says which lock of a pthread program hurts, and runs it under any other.",
        "",
        "verbs:",
    ]
    lines += [f"  {name:9} {load(name).HELP}" for name in VERBS]
    lines += [
        "",
        "examples:",
        "  hasp profile -- ./server -p 8080           which of its locks hurts",
        "  hasp advise -- ./server --self-test        what to do about it, proven",
        "  hasp compare -- ./server --self-test       which lock serves it best",
        "  hasp run --lock mcs -- ./server -p 8080    run it under one of them",
        "  hasp list                                  which locks there are",
        "  hasp doctor ./server                       can it be interposed at all",
        "",
        "`hasp VERB --help` has the options of each. Exit status: 0 fine, 1 a finding,",
        "2 usage or refusal; `hasp run` ends with the program's own.",
    ]
    return "\n".join(lines)


def parse(verb: Verb, words: Sequence[str]) -> argparse.Namespace:
    """The options of a verb; the command to run lands untouched in `command`.

    The command begins after the first `--`, or at the first word that is neither an
    option nor the value of one.
    """
    parser = argparse.ArgumentParser(
        prog=f"hasp {verb.NAME}",
        description=verb.HELP[0].upper() + verb.HELP[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.configure(parser)
    takes_command = any(action.dest == "command" for action in parser._actions)
    if "--" not in words or not takes_command:
        return parser.parse_args(words)
    place = list(words).index("--")
    arguments = parser.parse_args(words[:place])
    # A word before the `--` has begun the command, and the `--` belongs to it.
    begun: list[str] = [*arguments.command, "--"] if arguments.command else []
    arguments.command = [*begun, *words[place + 1 :]]
    return arguments


def dispatch(words: Sequence[str]) -> int:
    """Run the verb that `words` name."""
    if not words:
        print(overview(), file=sys.stderr)
        return EXIT_REFUSED
    first = words[0]
    if first in ("-h", "--help", "help"):
        if first == "help" and len(words) > 1 and words[1] in VERBS:
            return dispatch([words[1], "--help"])
        print(overview())
        return 0
    if first in ("-V", "--version", "version"):
        from hasp import version

        print(f"hasp {version()}")
        return 0
    if first not in VERBS:
        raise unknown_verb(first)
    verb = load(first)
    return verb.run(parse(verb, words[1:]))


def unknown_verb(word: str) -> HaspError:
    """The error for a word that is no verb."""
    import difflib

    near = difflib.get_close_matches(word, VERBS, n=1)
    offer = f"did you mean `hasp {near[0]}`? " if near else ""
    return HaspError(
        f"there is no verb {word!r}", f"{offer}`hasp --help` lists the verbs"
    )


def main(words: Sequence[str] | None = None) -> int:
    """The entry point: the exit status of the verb, with errors said in words."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names may hold bytes that the terminal's encoding does not know.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = dispatch(sys.argv[1:] if words is None else words)
        sys.stdout.flush()
        return status
    except HaspError as error:
        complain(error)
        return EXIT_REFUSED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Interrupted as interruption:
        return interruption.exit_status
    except BrokenPipeError:
        # The reader of our output has gone; that is its business, as for any filter.
        _drop_output()
        return 128 + 13
    except OSError as problem:
        # What no verb has put into words: a full disk below the output, mostly.
        complain(_in_words(problem))
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        return EXIT_REFUSED


def _in_words(problem: OSError) -> HaspError:
    where = f"{problem.filename}: " if problem.filename else ""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    return HaspError(
        f"{where}{problem.strerror or problem}",
        "make room there" if full else "see whether it can be read and written",
    )


def _drop_output() -> None:
    """Nothing more goes to stdout, not even what is still in its buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    sys.exit(main())
