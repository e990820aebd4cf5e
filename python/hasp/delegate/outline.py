# SPDX-License-Identifier: MIT
"""The text of an outlined section: a context, a function, and the call of it."""

from __future__ import annotations

from dataclasses import dataclass

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
    captures_of,
    locals_of,
    results_of,
)
from hasp.delegate.edits import line_directive
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


def outline(section: Section, name: str, lines: bool) -> tuple[Outline, list[Refusal]]:
    """Return the outline of a section, and why it would not mean the same."""
    captures = captures_of(section)
    refusals = list(scope_problems(section, captures))
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


def function_text(made: Outline) -> str:
    """Return the context's structure and the outlined function."""
    macros = [each.name for each in made.captures if each.passing is Passing.ADDRESS]
    names = names_its_function(made.section)
    before = "".join(_loaded(each) for each in made.captures)
    defines = "".join(f"#define {name} (*hasp_context->{name})\n" for name in macros)
    function = made.section.function.name
    defines += "".join(f'#define {name} "{function}"\n' for name in names)
    undefines = "".join(f"#undef {name}\n" for name in (*macros, *names))
    after = "".join(
        f"{TAB}*hasp_context->{each.name} = {each.name};\n"
        for each in made.captures
        if each.passing is Passing.COPY and each.is_written
    )
    label = "hasp_done:\n" if made.section.exits else ""
    return (
        f"/* A section of {function}(), which an executor calls. */\n"
        f"struct {made.name} {{\n{_members(made)}}};\n\n"
        f"static {_inline(made)}void *{made.name}(void *hasp_argument)\n{{\n"
        f"{TAB}struct {made.name} *hasp_context = hasp_argument;\n"
        f"{TAB}const int hasp_errno = errno;\n"
        f"{before}"
        f"{TAB}errno = hasp_context->hasp_error;\n"
        f"{defines}{TAB}{{\n{_body(made)}{TAB}}}\n{undefines}{label}{after}"
        f"{TAB}hasp_context->hasp_error = errno;\n"
        f"{TAB}errno = hasp_errno;\n"
        f"{TAB}return NULL;\n}}\n\n"
    )


def _inline(made: Outline) -> str:
    is_header = made.section.source.path != made.section.source.unit.command.file
    return "inline " if is_header else ""


def _members(made: Outline) -> str:
    lines = []
    for each in made.captures:
        if each.passing is Passing.VALUE:
            lines.append(declaration(each.kind, each.name))
        elif each.passing is Passing.ELEMENTS:
            lines.append(element_declaration(each.kind, each.name))
        else:
            lines.append(pointer_declaration(each.kind, each.name))
    lines += [
        declaration(each.kind, name)
        for each, name in zip(made.results, result_names(made), strict=True)
    ]
    if made.section.exits:
        lines.append("int hasp_exit")
    lines.append("int hasp_error")
    return "".join(f"{TAB}{line};\n" for line in lines)


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
    return f"{TAB}{text} = {star}hasp_context->{name};\n"


def _body(made: Outline) -> str:
    """Return the text of the section, byte for byte but for its exits."""
    section = made.section
    parts = [_line(made, section.start)]
    offset = section.start
    for leaving in section.exits:
        parts.append(_text(section, offset, leaving.unlock.start))
        parts.append(_leave(made, leaving))
        offset = leaving.end
    parts.append(_text(section, offset, section.end_of_text))
    body = "".join(parts).rstrip(" \t")
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


def _text(section: Section, start: int, end: int) -> str:
    text = section.source.text
    if start == section.start:
        newline = text.find(b"\n", start, end)
        if newline >= 0 and not text[start:newline].strip():
            start = newline + 1
    return text[start:end].decode(errors="surrogateescape")


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
    context = "hasp_context" if not outer else f"hasp_{made.name}"
    lines = [
        *_variable(made, context, inner),
        f"hasp_delegate_run({section.lock_text}, {made.name}, &{context});",
        f"errno = {context}.hasp_error;",
    ]
    lines += [f"{_fresh(each, f'{context}.{name}')};" for each, name in outer]
    code = "".join(f"{inner}{line}\n" for line in lines)
    for leaving in section.exits:
        code += _dispatch(made, leaving, context, inner)
    if outer:
        # A declaration must not follow a label.
        label = section.lock.outer is not section.lock.node
        code = f";\n{code}" if label else code.removeprefix(blanks)
    else:
        code = f"{{\n{code}{blanks}}}\n"
    code = code.rstrip("\n")
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
    members = _initialisers(made)
    line = f"{declared}{', '.join(members)}}};"
    if len(blanks) + len(line) <= COLUMNS:
        return [line]
    return [declared, *(f"{TAB}{member}," for member in members), "};"]


def _initialisers(made: Outline) -> list[str]:
    words = []
    for each in made.captures:
        plain = each.passing in (Passing.VALUE, Passing.ELEMENTS)
        words.append(f".{each.name} = {'' if plain else '&'}{each.name}")
    words.append(".hasp_error = errno")
    return words


def _dispatch(made: Outline, leaving: Exit, context: str, blanks: str) -> str:
    """Return what the caller does after an exit: the text after the unlock."""
    section = made.section
    tail = section.source.text[leaving.start : leaving.end]
    if not tail.strip(b" \t\r\n;"):
        return ""
    fresh = "".join(
        f"{blanks}{TAB}{_fresh(each, f'{context}.{name}')};\n"
        for each, name in zip(made.results, result_names(made), strict=True)
        if leaving.number in each.exits and not _is_outer(section, each)
    )
    text = tail.decode(errors="surrogateescape").rstrip(" \t")
    first = leaving.start
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
