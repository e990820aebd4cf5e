# SPDX-License-Identifier: MIT
"""The text of an outlined section: a context, a function, and the call of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hasp.delegate.c_types import (
    copy_declaration,
    declaration,
    element_declaration,
    pointer_declaration,
)
from hasp.delegate.captures import (
    Capture,
    Passing,
    Result,
    captures_in,
    locals_of,
    results_of,
)
from hasp.delegate.conditions import under
from hasp.delegate.edits import Edits, line_directive
from hasp.delegate.refusal import Refusal
from hasp.delegate.scope import is_hidden_by, names_its_function, scope_problems
from hasp.delegate.section import Exit, Section
from hasp.delegate.tokens import indentation, line_of, line_start

TAB = "    "
COLUMNS = 88


@dataclass
class Outline:
    """A section with everything that its outlined form needs."""

    section: Section
    name: str  # of the outlined function and of its context's structure
    captures: list[Capture]
    results: list[Result]
    lines: bool  # write #line
    is_nested: bool = False  # in another section
    tails: dict[int, str] = field(default_factory=dict)  # by number of the exit

    @property
    def context(self) -> str:
        """The variable that the function of the section has its context in."""
        return f"hasp_{self.name}" if self.is_nested else "hasp_context"


def outline(
    views: Sequence[Section], name: str, lines: bool
) -> tuple[Outline, list[Refusal]]:
    """Return the outline of a section, and why it would not mean the same."""
    section = views[0]
    captures = captures_in(views)
    refusals = [each for view in views for each in scope_problems(view, captures)]
    for capture in captures:
        hidden = is_hidden_by(section, capture)
        if hidden and capture.passing is Passing.ADDRESS:
            refusals.append(
                section.lock.node.refusal(
                    f"{capture.name} is passed by address, and {hidden}",
                    "rename the variable",
                )
            )
    result = Outline(section, name, captures, results_of(section), lines)
    return result, refusals


def move_exits(made: Outline, leaving: Exit, edits: Edits) -> None:
    """Replace an exit, and keep for the caller what follows its unlock."""
    source = made.section.source
    text = edits.text(source, leaving.start, leaving.end)
    made.tails[leaving.number] = leaving.unlock.kept + text
    edits.wrap(source, leaving.unlock.start, leaving.end, _leave(made, leaving))


def move_section(made: Outline, place: int, edits: Edits) -> None:
    """Move a section, with its exits replaced, into a function at `place`."""
    section = made.section
    function = function_text(made, edits)
    edits.wrap(section.source, section.lock.node.start, section.end, call_text(made))
    edits.insert(section.source, place, function)


def function_text(made: Outline, edits: Edits) -> str:
    """Return the context's structure and the outlined function."""
    macros = [each.name for each in made.captures if each.passing is Passing.ADDRESS]
    names = names_its_function(made.section)
    before = "".join(_loaded(each) for each in made.captures)
    defines = "".join(f"#define {name} (*hasp_context->{name})\n" for name in macros)
    function = made.section.function.name
    defines += "".join(f'#define {name} "{function}"\n' for name in names)
    undefines = "".join(f"#undef {name}\n" for name in (*macros, *names))
    after = "".join(
        under(each.conditions, f"{TAB}*hasp_context->{each.name} = {each.name};\n")
        for each in made.captures
        if each.passing is Passing.COPY and each.is_written
    )
    label = "hasp_done:\n" if made.section.exits else ""
    return (
        f"/* A section of {function}(), which an executor calls. */\n"
        f"struct {made.name} {{\n{_members(made)}}};\n\n"
        f"static {_inline(made)}void *{made.name}(void *hasp_argument)\n{{\n"
        f"{TAB}struct {made.name} *hasp_context = {_cast(made)}hasp_argument;\n"
        f"{TAB}const int hasp_errno = errno;\n"
        f"{before}"
        f"{TAB}errno = hasp_context->hasp_error;\n"
        f"{defines}{TAB}{{\n{_body(made, edits)}{TAB}}}\n{undefines}{label}{after}"
        f"{TAB}hasp_context->hasp_error = errno;\n"
        f"{TAB}errno = hasp_errno;\n"
        f"{TAB}return NULL;\n}}\n\n"
    )


def _cast(made: Outline) -> str:
    """Return the cast that a compiler wants that warns of what C++ lacks."""
    words = made.section.source.unit.command.arguments
    return f"(struct {made.name} *)" if "-Wc++-compat" in words else ""


def _inline(made: Outline) -> str:
    is_header = made.section.source.path != made.section.source.unit.command.file
    return "inline " if is_header else ""


def _members(made: Outline) -> str:
    text = ""
    for each in made.captures:
        if each.passing is Passing.VALUE:
            line = declaration(each.kind, each.name)
        elif each.passing is Passing.ELEMENTS:
            line = element_declaration(each.kind, each.name)
        else:
            line = pointer_declaration(each.kind, each.name)
        text += under(each.conditions, f"{TAB}{line};\n")
    lines = [
        declaration(each.kind, name)
        for each, name in zip(made.results, result_names(made), strict=True)
    ]
    if made.section.exits:
        lines.append("int hasp_exit")
    lines.append("int hasp_error")
    return text + "".join(f"{TAB}{line};\n" for line in lines)


def result_names(made: Outline) -> list[str]:
    """Return the members of the context for the results; names may repeat."""
    taken = {each.name for each in made.captures}
    names = []
    for each in made.results:
        name = each.name
        while name in taken:
            name = f"later_{name}"
        taken.add(name)
        names.append(name)
    return names


def _loaded(capture: Capture) -> str:
    if capture.passing is Passing.ADDRESS:
        return ""
    name, kind = capture.name, capture.kind
    if capture.passing is Passing.ELEMENTS:
        text = element_declaration(kind, name)
    else:
        text = copy_declaration(kind, name)
    star = "*" if capture.passing is Passing.COPY else ""
    used = "" if capture.everywhere else f"{TAB}(void){name};\n"
    line = f"{TAB}{text} = {star}hasp_context->{name};\n{used}"
    return under(capture.conditions, line)


def _body(made: Outline, edits: Edits) -> str:
    """Return the text of the section, byte for byte but for its exits."""
    section = made.section
    text = section.source.text
    start, end = section.start, section.end_of_text
    newline = text.find(b"\n", start, end)
    if newline >= 0 and not text[start:newline].strip():
        start = newline + 1
    body = _line(made, section.start) + edits.text(section.source, start, end)
    body = body.rstrip(" \t")
    if not body.endswith("\n"):
        body += "\n"
    if any(node.kind == "LABEL_STMT" for node in section.nodes):
        body += f"{TAB};\n"
    return body + _stored(made, 0, TAB * 2)


def _line(made: Outline, offset: int) -> str:
    """Return a #line for the text at `offset`, and the blanks up to it."""
    source = made.section.source
    text = source.text
    end = text.find(b"\n", offset)
    at_line_end = end >= 0 and not text[offset:end].strip()
    first = end + 1 if at_line_end else offset
    blanks = "" if at_line_end else " " * (offset - line_start(text, offset))
    if not made.lines:
        return "" if at_line_end else TAB
    return _mark(made, first) + blanks


def _mark(made: Outline, offset: int) -> str:
    """Return a #line for the text at `offset`, if they are wanted."""
    source = made.section.source
    number = line_of(source.text, offset)
    return f"{line_directive(source, number)}\n" if made.lines else ""


def _leave(made: Outline, leaving: Exit) -> str:
    blanks = indentation(made.section.source.text, leaving.unlock.start)
    stored = _stored(made, leaving.number, "").replace("\n", f"\n{blanks}")
    return (
        f"{stored}hasp_context->hasp_exit = {leaving.number};\n"
        f"{blanks}goto hasp_done;\n"
        f"{_mark(made, leaving.end)}{blanks.removesuffix(TAB)}"
    )


def _stored(made: Outline, number: int, blanks: str) -> str:
    """Return the statements that store the results that an exit uses."""
    if number == 0 and not made.section.ends_open:
        return ""
    text = ""
    for each, name in zip(made.results, result_names(made), strict=True):
        if _is_needed(made, each, number):
            text += f"{blanks}hasp_context->{name} = {each.name};\n"
    return text


def _is_needed(made: Outline, result: Result, number: int) -> bool:
    # If no path reaches the end, the code after the section follows the exits.
    falls = 0 in result.exits and not made.section.ends_open
    return number in result.exits or falls


def call_text(made: Outline) -> str:
    """Return what replaces the section in its function."""
    section = made.section
    text = section.source.text
    blanks = indentation(text, section.lock.node.start)
    outer = [
        (each, name)
        for each, name in zip(made.results, result_names(made), strict=True)
        if _is_outer(section, each)
    ]
    inner = blanks if outer else blanks + TAB
    context = made.context if not outer else f"hasp_{made.name}"
    lines = [
        *_variable(made, context, inner),
        f"hasp_delegate_run_sized({section.lock_text}, {made.name}, &{context},",
        f"                        sizeof {context});",
        f"errno = {context}.hasp_error;",
    ]
    lines += [f"{_fresh(each, f'{context}.{name}')};" for each, name in outer]
    code = "".join(f"{inner}{line}\n" for line in lines)
    for leaving in section.exits:
        code += _dispatch(made, leaving, context, inner)
    # A declaration must not follow a label.
    label = section.lock.outer is not section.lock.node
    kept = f"{section.lock.kept}\n{blanks}" if section.lock.kept else ""
    if outer:
        code = f"{kept};\n{code}" if label else kept + code.removeprefix(blanks)
    else:
        code = f"{kept}{{\n{code}{blanks}}}\n"
    code = code.rstrip("\n")
    if section.unlock and section.unlock.kept:
        code += f"\n{_mark(made, section.unlock.start)}{blanks}{section.unlock.kept}"
    if made.lines:
        code += _resume(made, section.end)
    return code


def _is_outer(section: Section, result: Result) -> bool:
    """Return true if a result is declared in the block of the section itself."""
    declared = locals_of(section.function).declarations[result.usr]
    return declared.within(("COMPOUND_STMT",)) is section.block


def _fresh(result: Result, value: str) -> str:
    return f"{copy_declaration(result.kind, result.name)} = {value}"


def _variable(made: Outline, context: str, blanks: str) -> list[str]:
    """Return the lines that declare a context; one for each member if they are long."""
    declared = f"struct {made.name} {context} = {{"
    members = [_initialiser(each) for each in made.captures]
    members.append(".hasp_error = errno")
    line = f"{declared}{', '.join(members)}}};"
    conditional = any(each.conditions for each in made.captures)
    if len(blanks) + len(line) <= COLUMNS and not conditional:
        return [line]
    lines = [declared]
    for each in made.captures:
        text = under(each.conditions, f"{TAB}{_initialiser(each)},\n")
        lines += text.splitlines()
    return [*lines, f"{TAB}{members[-1]},", "};"]


def _initialiser(capture: Capture) -> str:
    plain = capture.passing in (Passing.VALUE, Passing.ELEMENTS)
    return f".{capture.name} = {'' if plain else '&'}{capture.name}"


def _dispatch(made: Outline, leaving: Exit, context: str, blanks: str) -> str:
    """Return what the caller does after an exit: the text after the unlock."""
    text = made.tails[leaving.number]
    if not text.strip(" \t\r\n;"):
        return ""
    fresh = "".join(
        f"{blanks}{TAB}{_fresh(each, f'{context}.{name}')};\n"
        for each, name in zip(made.results, result_names(made), strict=True)
        if leaving.number in each.exits and not _is_outer(made.section, each)
    )
    text = text.rstrip(" \t")
    first = leaving.unlock.start if leaving.unlock.kept else leaving.start
    newline = text.find("\n")
    if newline >= 0 and not text[:newline].strip():
        first += len(text[: newline + 1].encode(errors="surrogateescape"))
        text = text[newline + 1 :]
    else:
        text = f"{blanks}{TAB}{text.lstrip()}"
    if not text.endswith("\n"):
        text += "\n"
    return (
        f"{blanks}if ({context}.hasp_exit == {leaving.number}) {{\n{fresh}"
        f"{_mark(made, first)}{text}"
        f"{blanks}}}\n"
    )


def _resume(made: Outline, offset: int) -> str:
    """Return a #line for what follows the call, on a new line."""
    source = made.section.source
    end = source.text.find(b"\n", offset)
    rest = source.text[offset : end if end >= 0 else len(source.text)].strip()
    number = line_of(source.text, offset)
    if rest:
        return f"\n{line_directive(source, number)}\n"
    return f"\n{line_directive(source, number + 1)}"
