# SPDX-License-Identifier: MIT
"""Every use of the lock in the program, by what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hasp.delegate import pointers
from hasp.delegate.expression import argument_text, key, written
from hasp.delegate.lock import Lock, is_lock, is_pointer, lock_of
from hasp.delegate.refusal import Refusal
from hasp.delegate.syntax import DECLARATIONS, SIZE, TRANSPARENT, Node, Unit
from hasp.delegate.wrappers import (
    DESTROY,
    INIT,
    LOCK,
    UNLOCK,
    Forward,
    Wrapper,
    body_of,
    forward_of,
    functions_of,
    only_calls,
    parameters_of,
)

WAITS = ("pthread_cond_wait", "pthread_cond_timedwait")

REASONS = {
    "pthread_mutex_trylock": "tries the lock, which a section that is executed "
    "elsewhere cannot do",
    "pthread_mutex_timedlock": "waits for the lock with a time limit, which executors "
    "do not have",
    "pthread_mutex_clocklock": "waits for the lock with a time limit, which executors "
    "do not have",
    "pthread_cond_clockwait": "waits on a condition variable by a clock of the call, "
    "which executors cannot do",
}


@dataclass
class Uses:
    """The uses of a lock, each once even if several files include it."""

    locks: list[Lock] = field(default_factory=list)  # and what points to it
    declarations: list[Node] = field(default_factory=list)
    calls: dict[str, list[Node]] = field(default_factory=dict)  # by what they do
    refusals: set[Refusal] = field(default_factory=set)
    mentions: dict[Path, set[str]] = field(default_factory=dict)  # names by file
    created: list[Node] = field(default_factory=list)  # .mu = INITIALISER
    sizes: list[Node] = field(default_factory=list)  # the type of allocated locks
    wrappers: dict[str, Wrapper] = field(default_factory=dict)  # by usr
    forwards: dict[str, Forward] = field(default_factory=dict)
    waits: list[Node] = field(default_factory=list)  # calls, on condition variables
    names: dict[str, str] = field(default_factory=dict)  # new ones, by usr

    def of(self, function: str) -> list[Node]:
        """Return the calls that do what a function of pthreads does."""
        return self.calls.get(function, [])

    def operands(self, call: Node) -> list[Node]:
        """Return the arguments of a call that choose the lock."""
        if call.usr in self.wrappers:
            return call.children[1:]
        known = self.forwards.get(call.usr)
        return [call.children[1 + (known.position if known else 0)]]

    def key(self, call: Node, given: Mapping[str, str] | None = None) -> str:
        """Return a text that is the same for calls with the same lock.

        `given` are the keys of a function's arguments, by the usr of the parameter.
        Raises Refused if its expression cannot be compared.
        """
        operands = self.operands(call)
        wrapper = self.wrappers.get(call.usr)
        if wrapper is None:
            return key(operands[0], given)
        parameters = parameters_of(wrapper.definitions[0])
        passed = {
            parameter.cursor.get_usr(): key(operand, given)
            for parameter, operand in zip(parameters, operands, strict=False)
        }
        return self.key(wrapper.call, passed)

    def text(self, call: Node) -> str:
        """Return C for the address of the lock of a call."""
        operands = self.operands(call)
        wrapper = self.wrappers.get(call.usr)
        if wrapper:
            words = ", ".join(map(written, operands))
            return f"{wrapper.object_name}({words})"
        renamed = [e for e in operands[0].walk() if e.usr in self.names]
        if renamed:
            return written(operands[0], self.names)
        position = call.children.index(operands[0]) - 1
        return argument_text(call, operands[0], position)


def uses_of(lock: Lock, units: Sequence[Unit]) -> Uses:
    """Return the uses of a lock in all units, also by its pointers and wrappers."""
    result = Uses([lock])
    for each in result.locks:  # which the reader extends
        _Reader(result, units).read(each)
    _find_wrappers(result, units)
    return result


class _Reader:
    """Reads the uses of one declared lock."""

    def __init__(self, result: Uses, units: Sequence[Unit]) -> None:
        self.result = result
        self.units = units

    def read(self, lock: Lock) -> None:
        seen: set[tuple[Path, int, str, int]] = set()
        for unit in self.units:
            # A macro may name the lock several times at the same place.
            repeated: Counter[tuple[Path, int, str]] = Counter()
            for node in unit.named(lock.name):
                declares = node.kind in DECLARATIONS
                if (node.cursor.get_usr() if declares else node.usr) != lock.usr:
                    continue
                if not declares and node.within((SIZE,)):
                    continue  # never executed; assert() has such a copy
                where = (node.source.path, node.offset, node.kind)
                repeated[where] += 1
                if (*where, repeated[where]) not in seen:
                    seen.add((*where, repeated[where]))
                    path = node.source.path
                    self.result.mentions.setdefault(path, set()).add(lock.name)
                    self._classify(node, unit)

    def _refuse(self, node: Node, reason: str) -> None:
        self.result.refusals.add(node.refusal(reason))

    def _classify(self, node: Node, unit: Unit) -> None:
        if not unit.is_c:
            self._refuse(node, "C++ is not rewritten, only C")
        if node.kind in DECLARATIONS:
            self.result.declarations.append(node)
            self._rename(node)
            if node.kind == "PARM_DECL":
                self._parameter(node)
            elif node.kind == "VAR_DECL" and is_pointer(node.cursor):
                value = pointers.initialiser(node)
                if value:
                    self._flows_from(value)
            return
        use = pointers.use_of(node)
        if use.kind == "call":
            self._call(node, use.parent, use.position)
        elif use.kind == "to":
            self._points(use.parent)
        elif use.kind == "from":
            self._flows_from(use.parent)
        elif use.kind == "created":
            self.result.created.append(use.parent)
        elif use.kind != "none":
            self._refuse(
                node,
                f"{node.name} is used other than as the argument of a function of "
                "pthreads: the sections that it leads to cannot be seen",
            )

    def _rename(self, node: Node) -> None:
        """Name a static lock of a function as a variable of the file."""
        function = node.within(("FUNCTION_DECL",))
        static = node.cursor.storage_class.name == "STATIC"
        if function and static and not is_pointer(node.cursor):
            name, words = f"{function.name}_{node.name}", node.source.words
            while name.encode() in words or name in self.result.names.values():
                name += "_"
            self.result.names[node.cursor.get_usr()] = name

    def _call(self, node: Node, call: Node, position: int) -> None:
        name = call.name
        does = name if name in (LOCK, UNLOCK, INIT, DESTROY) else ""
        if not does and name not in REASONS and call.usr:
            forward = forward_of(call.usr, name, self.units)
            if forward and forward.position == position:
                self.result.forwards[call.usr] = forward
                does, position = forward.does, 0
        if does and position == 0:
            calls = self.result.calls.setdefault(does, [])
            if call not in calls:
                calls.append(call)
        elif name in WAITS and position == 1:
            self.result.waits.append(call)
        elif name == "free" and is_pointer(node.referenced):
            return
        elif name in REASONS:
            self.result.refusals.add(call.refusal(REASONS[name]))
        else:
            self._passed(node, call, position)

    def _passed(self, node: Node, call: Node, position: int) -> None:
        """Follow the lock into the parameter of a function of the program."""
        for function in functions_of(call.usr, call.name, self.units):
            parameters = parameters_of(function)
            if body_of(function) and position < len(parameters):
                self._add(parameters[position])
                return
        self._refuse(
            call,
            f"passes {node.name} to {call.name or 'a function'}(): the sections that "
            "this leads to cannot be seen",
        )

    def _parameter(self, node: Node) -> None:
        """Follow the arguments of all calls of a function with the lock's pointer."""
        function = node.parent
        if function is None or function.kind != "FUNCTION_DECL":
            self._refuse(node, "the lock is a parameter of a function's type")
            return
        position = parameters_of(function).index(node)
        for call, reference in calls_of(function, self.units):
            if call is None:
                self._refuse(
                    reference,
                    f"the address of {function.name}() is taken, which gets the lock: "
                    "its calls cannot be seen",
                )
            elif position + 1 < len(call.children):
                self._flows_from(call.children[position + 1])

    def _flows_from(self, value: Node) -> None:
        origin = pointers.origin_of(value)
        if origin.kind == "declared":
            self._points(origin.node)
        elif origin.kind == "allocated":
            self.result.sizes += origin.sizes
        elif origin.kind != "null":
            self._refuse(
                value, "points to a lock that cannot be seen here, or to several"
            )

    def _points(self, node: Node) -> None:
        """Add what a reference names, or a declaration, to the locks."""
        if node.kind in DECLARATIONS:
            self._add(node)
        elif not is_lock(node.referenced):
            self._refuse(node, f"{node.name} keeps the lock as another type")
        else:
            self._include(lock_of(node.referenced, node))

    def _add(self, declared: Node) -> None:
        if not is_lock(declared.cursor):
            self._refuse(declared, f"{declared.name} keeps the lock as another type")
            return
        self._include(lock_of(declared.cursor, declared))

    def _include(self, lock: Lock) -> None:
        if all(lock.usr != each.usr for each in self.result.locks):
            self.result.locks.append(lock)


def calls_of(function: Node, units: Sequence[Unit]) -> list[tuple[Node | None, Node]]:
    """Return the references to a function, each with its call.

    The call is None if the reference takes the address.
    """
    found: dict[tuple[Path, int, int], tuple[Node | None, Node]] = {}
    usr = function.cursor.get_usr()
    for unit in units:
        repeated: Counter[tuple[Path, int]] = Counter()
        for node in unit.named(function.name):
            if node.kind == "DECL_REF_EXPR" and node.usr == usr:
                place = (node.source.path, node.offset)
                repeated[place] += 1
                parent = node.parent
                while parent and parent.kind in TRANSPARENT:
                    parent = parent.parent
                if parent and parent.kind == SIZE:
                    continue
                called = parent and parent.kind == "CALL_EXPR" and parent.usr == usr
                found.setdefault(
                    (*place, repeated[place]), (parent if called else None, node)
                )
    return list(found.values())


def _find_wrappers(result: Uses, units: Sequence[Unit]) -> None:
    """Replace the calls in functions that only lock or unlock by the calls of those."""
    for does in (LOCK, UNLOCK):
        todo = list(result.of(does))
        while todo:
            call = todo.pop()
            function = call.within(("FUNCTION_DECL",))
            if function is None or not only_calls(function, call):
                continue
            callers = calls_of(function, units)
            if not callers:  # The rest of the program may be elsewhere.
                continue
            result.calls[does].remove(call)
            usr = function.cursor.get_usr()
            if usr in result.wrappers:
                result.wrappers[usr].definitions.append(function)
                continue
            made = _wrapper(does, function, call, units, result)
            result.wrappers[usr] = made
            for caller, reference in callers:
                path = reference.source.path
                result.mentions.setdefault(path, set()).add(made.name)
                if caller is None:
                    result.refusals.add(
                        reference.refusal(
                            f"the address of {made.name}() is taken, which does the "
                            "locking: its calls cannot be seen"
                        )
                    )
                elif caller not in result.calls[does]:
                    result.calls[does].append(caller)
                    todo.append(caller)


def _wrapper(
    does: str, function: Node, call: Node, units: Sequence[Unit], result: Uses
) -> Wrapper:
    usr = function.cursor.get_usr()
    made = Wrapper(does, function.name, usr, call, [function], [], [])
    for each in functions_of(usr, made.name, units):
        result.mentions.setdefault(each.source.path, set()).add(made.name)
        if not each.cursor.is_definition():
            made.prototypes.append(each)
        elif not body_of(each):
            made.empty.append(each)
        elif each.place != function.place:
            result.refusals.add(
                each.refusal(
                    f"another definition of {made.name}(), which does not only "
                    f"{'lock' if does == LOCK else 'unlock'}"
                )
            )
    return made
