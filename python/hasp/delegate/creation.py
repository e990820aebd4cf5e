# SPDX-License-Identifier: MIT
"""The code that creates an object of hasp/delegate.h before main()."""

from __future__ import annotations

OBJECT = "struct hasp_delegate"
HEADER = "#include <hasp/delegate.h>\n"


def static_object(name: str, executor: str) -> str:
    """Return the declaration of a static object, and the function that creates it."""
    return f"static {OBJECT} {name};\n{constructor(name, '', executor)}\n"


def constructor(name: str, index: str, executor: str) -> str:
    """Return a function that is executed before main(), and creates an object.

    `index` is "" or the indices that the function counts, for an array: "[i0][i1]".
    """
    loops, blanks = "", "    "
    for number in range(index.count("[")):
        below = name + "[0]" * number
        loops += (
            f"{blanks}for (unsigned long i{number} = 0; "
            f"i{number} < sizeof {below} / sizeof {below}[0]; i{number}++)\n"
        )
        blanks += "    "
    return (
        "\n__attribute__((constructor(101))) "
        f"static void {name.replace('.', '_')}_create(void)\n{{\n"
        f'{loops}{blanks}if (hasp_delegate_init(&{name}{index}, "{executor}"))\n'
        f"{blanks}    __builtin_abort();\n}}\n"
    )
