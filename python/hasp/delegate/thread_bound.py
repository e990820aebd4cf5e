# SPDX-License-Identifier: MIT
"""Statements and functions that depend on the thread that executes them."""

from __future__ import annotations

from typing import Any

from hasp.delegate.syntax import Node

FUNCTIONS = {
    **dict.fromkeys(
        (
            *("pthread_self", "gettid", "pthread_getspecific", "pthread_setspecific"),
            *("thrd_current", "tss_get", "tss_set", "pthread_getattr_np"),
            *("sched_getcpu", "pthread_setname_np", "pthread_setcancelstate"),
            "pthread_setcanceltype",
        ),
        "belongs to the thread: another one may execute the section",
    ),
    **dict.fromkeys(
        ("pthread_sigmask", "sigprocmask", "sigaltstack", "sigwait", "setpriority"),
        "changes or uses the signals or the priority of the thread",
    ),
    **dict.fromkeys(
        ("pthread_exit", "thrd_exit", "pthread_testcancel"),
        "may end the thread inside the section",
    ),
    **dict.fromkeys(
        ("__pthread_register_cancel", "pthread_cleanup_push", "_pthread_cleanup_push"),
        "pushes a clean-up handler of the thread",
    ),
    **dict.fromkeys(
        ("setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "__builtin_setjmp"),
        "saves the place to return to",
    ),
    **dict.fromkeys(
        ("longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"),
        "leaves the section by longjmp()",
    ),
    **dict.fromkeys(
        ("alloca", "__builtin_alloca", "__builtin_alloca_with_align"),
        "allocates on the stack of the function, which the section leaves",
    ),
    **dict.fromkeys(
        ("fork", "vfork", "_Fork", "clone", "daemon"),
        "duplicates the thread that executes it",
    ),
    **dict.fromkeys(
        ("__builtin_va_start", "__builtin_va_end", "__builtin_va_copy"),
        "uses the variable arguments of the function",
    ),
    **dict.fromkeys(
        ("__builtin_return_address", "__builtin_frame_address", "__builtin_apply"),
        "looks at the caller's frame",
    ),
    **dict.fromkeys(
        ("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait"),
        "waits on a condition variable, which executors cannot do",
    ),
}
KINDS = {
    "ASM_STMT": "has inline assembly",
    "MS_ASM_STMT": "has inline assembly",
    "ADDR_LABEL_EXPR": "takes the address of a label",
    "INDIRECT_GOTO_STMT": "has a computed goto",
}
# What a function may do without being a part of a section.
HARMLESS_IN_FUNCTIONS = (
    *("__builtin_va_start", "__builtin_va_end", "__builtin_va_copy", "alloca"),
    *("__builtin_alloca", "__builtin_alloca_with_align"),
)


def problem_of(node: Node, in_section: bool = True) -> str:
    """Return why another thread must not execute a node; "" if it may.

    In the functions that a section calls, their own stack and arguments do no harm.
    """
    calls = node.name if node.kind == "CALL_EXPR" else ""
    if calls in FUNCTIONS and (in_section or calls not in HARMLESS_IN_FUNCTIONS):
        return f"{calls}() {FUNCTIONS[calls]}" if in_section else f"calls {calls}()"
    if node.kind == "DECL_REF_EXPR" and _is_thread_local(node):
        return f"uses the thread-local variable {node.name}"
    if in_section and node.kind in KINDS:
        return KINDS[node.kind]
    if in_section and node.kind == "VAR_DECL" and is_variable_length(node.cursor.type):
        return f"{node.name} is an array of variable length"
    return ""


def _is_thread_local(node: Node) -> bool:
    declaration = node.referenced
    if declaration is None or declaration.kind.name != "VAR_DECL":
        return False
    return bool(declaration.tls_kind.name != "NONE")


def is_variable_length(kind: Any) -> bool:
    """Return true if a type has an array of variable length in it."""
    kind = kind.get_canonical()
    while kind.kind.name in ("POINTER", "CONSTANTARRAY", "INCOMPLETEARRAY"):
        pointer = kind.kind.name == "POINTER"
        kind = kind.get_pointee() if pointer else kind.element_type
        kind = kind.get_canonical()
    return bool(kind.kind.name == "VARIABLEARRAY")
