# SPDX-License-Identifier: MIT
"""Functions of the program that do nothing but call one function of pthreads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hasp.delegate.libclang import ASSIGN, binary_operator, value_of
from hasp.delegate.refusal import Refused
from hasp.delegate.statements import statement_of
from hasp.delegate.success import value_after
from hasp.delegate.syntax import Node, Unit

LOCK, UNLOCK = "pthread_mutex_lock", "pthread_mutex_unlock"
INIT, DESTROY = "pthread_mutex_init", "pthread_mutex_destroy"
MOST_STATEMENTS = 5


@dataclass(frozen=True)
class Forward:
    """A function that passes one of its parameters on to a function of pthreads."""

    does: str  # LOCK, UNLOCK, INIT or DESTROY
    position: int  # of the parameter


@dataclass
class Wrapper:
    """A function that only locks or unlocks a lock that its callers do not pass."""

    does: str  # LOCK or UNLOCK
    name: str
    usr: str
    call: Node  # of pthreads, or of another wrapper
    definitions: list[Node]  # that do this
    empty: list[Node]  # definitions without a statement, in other programs
    prototypes: list[Node]

    @property
    def object_name(self) -> str:
        """The name of the function that replaces it, and returns the lock."""
        return f"{self.name}_object"


def functions_of(usr: str, name: str, units: Sequence[Unit]) -> Iterator[Node]:
    """Yield the declarations of a function, each once."""
    seen = set()
    for unit in units:
        for node in unit.named(name):
            declares = node.kind == "FUNCTION_DECL" and node.cursor.get_usr() == usr
            if declares and node.place not in seen:
                seen.add(node.place)
                yield node


def parameters_of(function: Node) -> list[Node]:
    """Return the parameters of a function."""
    return [each for each in function.children if each.kind == "PARM_DECL"]


def body_of(function: Node) -> list[Node]:
    """Return the statements of a function's body; none for a prototype."""
    if not function.cursor.is_definition():
        return []
    statements = function.children[-1].children
    return [each for each in statements if each.kind != "NULL_STMT"]


def only_calls(function: Node, call: Node) -> bool:
    """Return true if a function only makes this call, and returns nothing or 0."""
    statements = body_of(function)
    if not 0 < len(statements) <= MOST_STATEMENTS:
        return False
    try:
        own = statement_of(call, "lock").outer
    except Refused:
        return False
    if own not in statements:
        return False
    zero = _assigned(own)
    returned = own.kind != "RETURN_STMT" or _is_zero(own, call, zero)
    return returned and all(
        _does_nothing(each, call, zero) for each in statements if each is not own
    )


def _assigned(statement: Node) -> str:
    """Return the usr of the variable that gets the result; "" if there is none."""
    for node in statement.walk():
        if node.kind == "VAR_DECL":
            return str(node.cursor.get_usr())
        if node.kind == "BINARY_OPERATOR" and binary_operator(node.cursor) == ASSIGN:
            return node.children[0].plain().usr
    return ""


def _is_zero(statement: Node, call: Node, variable: str) -> bool:
    if not statement.children:
        return True
    value = statement.children[0].plain()
    if variable and value.kind == "DECL_REF_EXPR":
        return value.usr == variable
    return value_after(value, call) == 0


def _does_nothing(statement: Node, call: Node, zero: str) -> bool:
    if statement.kind == "RETURN_STMT":
        return _is_zero(statement, call, zero)
    if statement.kind == "IF_STMT" and len(statement.children) == 2:
        tested = statement.children[0].plain()
        return bool(zero) and tested.kind == "DECL_REF_EXPR" and tested.usr == zero
    return statement.kind == "DECL_STMT" and not any(
        node.kind == "CALL_EXPR" for node in statement.walk()
    )


def forward_of(usr: str, name: str, units: Sequence[Unit]) -> Forward | None:
    """Return how a function passes a lock on; None if it does anything else."""
    found = {_forward(each) for each in functions_of(usr, name, units) if body_of(each)}
    return found.pop() if len(found) == 1 else None


def _forward(function: Node) -> Forward | None:
    calls = [
        node
        for node in function.walk()
        if node.kind == "CALL_EXPR" and node.name in (LOCK, UNLOCK, INIT, DESTROY)
    ]
    if len(calls) != 1 or len(calls[0].children) < 2:
        return None
    call = calls[0]
    passed = call.children[1].plain()
    usrs = [each.cursor.get_usr() for each in parameters_of(function)]
    if passed.kind != "DECL_REF_EXPR" or passed.usr not in usrs:
        return None
    if not only_calls(function, call) or (
        call.name == INIT and not is_null(call.children[2])
    ):
        return None
    return Forward(call.name, usrs.index(passed.usr))


def is_null(node: Node) -> bool:
    """Return true for a null pointer constant."""
    leaves = [each for each in node.walk() if not each.children]
    return len(leaves) == 1 and (
        leaves[0].kind == "GNU_NULL_EXPR" or value_of(leaves[0].cursor) == 0
    )
