# SPDX-License-Identifier: MIT
"""The `hasp` command: find the verb, parse its options, report errors."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol, cast

from hasp.base.errors import EXIT_INTERRUPTED, EXIT_REFUSED, HaspError, Interrupted
from hasp.base.extras import explain_missing
from hasp.base.output import complain
from hasp.base.suggestion import did_you_mean

# The verbs, grouped and ordered as in `hasp --help` and the README. Each names a module
# of this package, imported only when used, because `hasp run` must start quickly.
GROUPS = {
    "find the lock that hurts": ("profile", "top", "report", "diff"),
    "fix it": ("advise", "tune", "run", "elide", "adopt", "delegate"),
    "compare lock algorithms": ("compare", "list", "bench", "check"),
    "research": ("study", "machine", "simulate", "predict"),
    "set up": ("doctor", "config", "completion"),
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)

USAGE = "hasp VERB [options] [-- COMMAND...]"
ABOUT = (
    "Finds the lock that slows down a pthread program, and runs the program under\n"
    "any other lock algorithm."
)
EXAMPLES = """
examples:
  hasp profile -- ./server -p 8080           find the lock that hurts
  hasp advise -- ./server --self-test        what to do about it, with proof
  hasp tune -- ./server --self-test          find the best lock algorithm for it
  hasp run --lock mcs -- ./server -p 8080    run it under one of them
  hasp list                                  the lock algorithms
  hasp doctor ./server                       check whether Hasp can interpose it

`hasp VERB --help` lists the options of each verb. Exit status: 0 success,
1 a finding, 2 usage error or refusal; `hasp run` exits with the program's own
status."""

SIGPIPE_STATUS = 128 + 13


class Verb(Protocol):
    """The interface of a module that implements a verb."""

    NAME: str
    HELP: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser that explains usage errors.

    It also reports when its help cannot be written, which argparse ignores.
    """

    def error(self, message: str) -> NoReturn:
        problem, _, words = message.partition(": ")
        offer = ""
        if problem == "unrecognized arguments" and words.startswith("-"):
            word = words.split()[0].partition("=")[0]
            offer = did_you_mean(word, self._option_string_actions)
        self.print_usage(sys.stderr)
        self.exit(
            EXIT_REFUSED,
            f"{self.prog}: error: {message}\n"
            f"      {offer}`{self.prog} --help` lists the options\n",
        )

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            (file or sys.stderr).write(message)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Fits the prose after the options to the terminal; examples stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            paragraph if "\n  " in paragraph else textwrap.fill(paragraph, width)
            for paragraph in text.split("\n\n")
        )


def load(name: str) -> Verb:
    """Return the module of a verb."""
    return cast(Verb, importlib.import_module(f"hasp.cli.{name}"))


def overview() -> str:
    """Return the text of `hasp --help`."""
    lines = [f"usage: {USAGE}", "", ABOUT]
    for heading, verbs in GROUPS.items():
        lines += ["", f"{heading}:"]
        lines += [f"  {name:10} {load(name).HELP}" for name in verbs]
    return "\n".join(lines) + "\n" + EXAMPLES


def parser_of(verb: Verb) -> argparse.ArgumentParser:
    """Return the parser of a verb's options."""
    parser = Parser(prog=f"hasp {verb.NAME}", **_appearance(verb))
    verb.configure(parser)
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser for all verbs: the source of completions and manual pages."""
    parser = Parser(prog="hasp", usage=USAGE, description=ABOUT)
    parser.add_argument("--version", action="version", help="print the version")
    verbs = parser.add_subparsers(
        title="verbs", dest="verb", metavar="VERB", required=True
    )
    for name in VERBS:
        verb = load(name)
        verb.configure(verbs.add_parser(name, help=verb.HELP, **_appearance(verb)))
    return parser


def _appearance(verb: Verb) -> dict[str, Any]:
    return {
        "description": verb.HELP[0].upper() + verb.HELP[1:] + ".",
        "formatter_class": HelpFormatter,
        "allow_abbrev": False,
    }


def parse(verb: Verb, words: Sequence[str]) -> argparse.Namespace:
    """Parse the options of a verb; `command` receives the command to run, unchanged.

    The command begins after the first `--`, or at the first word that is neither an
    option nor the value of one.
    """
    parser = parser_of(verb)
    takes_command = any(action.dest == "command" for action in parser._actions)
    if "--" not in words or not takes_command:
        return parser.parse_args(words)
    separator = list(words).index("--")
    arguments = parser.parse_args(words[:separator])
    # If a word before the `--` has begun the command, the `--` belongs to the command.
    begun: list[str] = [*arguments.command, "--"] if arguments.command else []
    arguments.command = [*begun, *words[separator + 1 :]]
    return arguments


def dispatch(words: Sequence[str]) -> int:
    """Run the verb named by the first of `words`; return the exit status."""
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
    """Return the error for a word that is not a verb."""
    import difflib

    near = difflib.get_close_matches(word, VERBS, n=1)
    offer = f"did you mean `hasp {near[0]}`? " if near else ""
    return HaspError(
        f"there is no verb {word!r}", f"{offer}`hasp --help` lists the verbs"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Run a command line, print errors on stderr, and return the exit status."""
    open_standard_streams()
    try:
        status = _dispatch(sys.argv[1:] if words is None else words)
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
        # The reader of our output has exited, as `head` does; this is not an error.
        _drop_output()
        return SIGPIPE_STATUS
    except MemoryError:
        return _refuse(out_of_memory())
    except SystemError as problem:
        if not lost_an_error(problem):
            raise
        return _refuse(out_of_memory())
    except (OSError, ImportError) as problem:
        return _refuse(explain(problem))


def _dispatch(words: Sequence[str]) -> int:
    try:
        return dispatch(words)
    except SystemExit as leaving:  # argparse has printed the help or a usage error
        return leaving.code if isinstance(leaving.code, int) else EXIT_REFUSED


def open_standard_streams() -> None:
    """Replace standard streams that the caller closed, and set safe encodings.

    /dev/null occupies each closed descriptor, so that no later file gets its number;
    programs that Hasp starts still find it closed. Writing to a closed stdout fails;
    output to a closed stderr is lost.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            mode = os.O_WRONLY if descriptor == 2 else os.O_RDONLY
            os.open(os.devnull, mode | os.O_CLOEXEC)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names may contain characters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")


def explain(problem: OSError | ImportError) -> HaspError:
    """Return an error for an operating system failure that no verb has handled."""
    if isinstance(problem, ImportError):
        missing = explain_missing(problem)
        if missing:
            return missing
        # The message of the dynamic linker when mmap fails.
        if "failed to map" in str(problem) or "cannot allocate" in str(problem).lower():
            return out_of_memory()
        raise problem
    if problem.errno == errno.ENOMEM:
        return out_of_memory()
    if problem.errno == errno.EBADF and problem.filename is None:
        return HaspError("standard output is closed", "redirect it to a file instead")
    where = problem.filename or "cannot write the output"
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    return HaspError(
        f"{where}: {problem.strerror or problem}",
        "free some space there" if full else "check that it can be read and written",
    )


def lost_an_error(problem: SystemError) -> bool:
    """Return true if C code of Python failed without an exception.

    Some of its paths do that when an allocation fails, instead of raising MemoryError.
    """
    text = str(problem)
    return "without exception set" in text or "without setting an exception" in text


def out_of_memory() -> HaspError:
    """Return the error for memory that the system did not grant."""
    return HaspError("not enough memory", "raise the limit: see `ulimit -v`")


def _refuse(error: HaspError) -> int:
    complain(error)
    _flush_or_drop()
    return EXIT_REFUSED


def _flush_or_drop() -> None:
    """Flush stdout; if that fails, keep Python from trying again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()


def _drop_output() -> None:
    """Redirect the unwritten buffer of stdout to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    sys.exit(main())
