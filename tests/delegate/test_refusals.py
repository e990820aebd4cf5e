# SPDX-License-Identifier: MIT
"""Each section that cannot be rewritten safely is refused, with its line and reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from delegate_samples import PROLOGUE, SITE, delegate, write_program

pytest.importorskip("clang.cindex")

LOCK, UNLOCK = "pthread_mutex_lock(&mu);", "pthread_mutex_unlock(&mu);"


def function(*lines: str, head: str = "void f(long n)", before: str = "") -> str:
    """Return a function whose first statement is in line 9, or later after `before`."""
    return f"{before}{head}\n{{\n" + "\n".join(lines) + "\n    (void)n;\n}\n"


def section(*lines: str, before: str = "", first: str = "") -> str:
    """Return a function with a section: its first line is 10."""
    return function(first + LOCK, *lines, UNLOCK, before=before)


WRAPPERS = (
    "void lock_it(void) { pthread_mutex_lock(&mu); } "
    "void unlock_it(void) { pthread_mutex_unlock(&mu); } "
)

# name -> (source, line of the refusal, part of the reason)
REFUSED = {
    "unlocked-by-function": (
        function(
            LOCK,
            "count++;",
            "end();",
            before=f"static void end(void) {{ count = 1; {UNLOCK} }} ",
        ),
        7,
        "end() releases its callers' lock, and does more (leave only the unlock",
    ),
    "declared-together": (
        function(
            "lock_it();",
            "count++;",
            "unlock_it();",
            before=f"void lock_it(void), unlock_it(void); {WRAPPERS}",
        ),
        7,
        "lock_it() is declared together with something else",
    ),
    "locked-if": (
        function("n && pthread_mutex_lock(&mu);", "count++;", UNLOCK),
        9,
        "the result of the lock is used",
    ),
    "locked-then": (
        function("pthread_mutex_lock(&mu) || count++;", UNLOCK),
        9,
        "the result of the lock is used",
    ),
    "thread-local": (section("tl++;", before="static __thread long tl;"), 10, "tl"),
    "thread-local-in-callee": (
        section("g();", before="static __thread long tl; static void g(void) {tl++;} "),
        10,
        "calls g(), which uses the thread-local variable tl",
    ),
    "callee-of-callee": (
        section(
            "h();",
            before="static void g(void) { pthread_exit(NULL); } "
            "static void h(void) { g(); } ",
        ),
        10,
        "calls h(), which calls g(), which calls pthread_exit()",
    ),
    "thread-id": (section("count = (long)pthread_self();"), 10, "pthread_self()"),
    "thread-specific": (
        section("pthread_setspecific(key, &count);", before="pthread_key_t key; "),
        10,
        "pthread_setspecific()",
    ),
    "signal-mask": (
        section(
            "pthread_sigmask(0, 0, 0);",
            before="int pthread_sigmask(int, const void *, void *); ",
        ),
        10,
        "pthread_sigmask()",
    ),
    "setjmp": (
        section(
            "if (_setjmp(b)) n++;", before="int _setjmp(long *); static long b[40]; "
        ),
        10,
        "_setjmp()",
    ),
    "setjmp-in-function": (
        function(
            LOCK,
            "count++;",
            UNLOCK,
            "if (_setjmp(b)) n++;",
            before="int _setjmp(long *); static long b[40]; ",
        ),
        12,
        "_setjmp() is in the function of a section",
    ),
    "longjmp": (
        section(
            "longjmp(b, 1);", before="void longjmp(long *, int); static long b[9]; "
        ),
        10,
        "leaves the section by longjmp()",
    ),
    "alloca": (section("count = (long)__builtin_alloca(9);"), 10, "alloca()"),
    "array-of-variable-length": (
        section("char a[n]; count = sizeof a;"),
        10,
        "a is an array of variable length",
    ),
    "captured-array-of-variable-length": (
        function("char a[n];", LOCK, "a[0] = 1;", UNLOCK),
        10,
        "a has a type of variable length",
    ),
    "computed-goto": (
        section("void *p = &&there; goto *p; there: count++;"),
        10,
        "computed jumps",
    ),
    "jump-into-the-section": (
        section("in:", "count++;", first="if (n) goto in; "),
        9,
        "goto in jumps into the section",
    ),
    "case-in-the-section": (
        function("switch (n) {", "case 1:", LOCK, "case 2:", "count++;", UNLOCK, "}"),
        12,
        "a case of a switch jumps into the section",
    ),
    "return-with-the-lock": (
        section("if (n) return;"),
        10,
        "returns without releasing",
    ),
    "goto-with-the-lock": (
        function(LOCK, "if (n) goto end;", UNLOCK, "end:"),
        10,
        "goto end leaves the section with the lock",
    ),
    "break-with-the-lock": (
        function("while (n--) {", LOCK, "if (n) break;", UNLOCK, "}"),
        11,
        "break leaves the section with the lock (unlock in front of the break",
    ),
    "break-to-the-section": (
        section("while (n) {", "if (count) {", UNLOCK, "break;", "}", "n--;", "}"),
        13,
        "break goes on inside the section",
    ),
    "locked-in-another-function": (
        f"void f(void)\n{{\n{LOCK}\n}}\nvoid g(void)\n{{\n{UNLOCK}\n}}\n",
        9,
        "not released in the block",
    ),
    "conditional-lock": (
        function(f"if (n) {LOCK}", "count++;", f"if (n) {UNLOCK}"),
        9,
        "the lock depends on a condition",
    ),
    "conditional-lock-in-a-macro": (
        function(
            "L(n)",
            "count++;",
            UNLOCK,
            before="#define L(c) if (c) pthread_mutex_lock(&mu);\n",
        ),
        10,
        "depend on a condition",
    ),
    "macro-that-does-more": (
        function(
            "L()",
            "count++;",
            UNLOCK,
            before="#define L() do { count++; pthread_mutex_lock(&mu); } while (0);\n",
        ),
        10,
        "the macro L() does more than lock",
    ),
    "released-on-one-path": (
        section("if (n) {", UNLOCK, "}"),
        11,
        "released on this path only",
    ),
    "released-twice-in-a-block": (
        section("if (n) {", UNLOCK, UNLOCK, "return;", "}"),
        12,
        "released twice",
    ),
    "released-and-taken-again": (
        section("if (n) {", UNLOCK, "count++;", LOCK, "}"),
        13,
        "the lock is taken here again, inside the section of line 9",
    ),
    "recursion": (section(LOCK, "count++;", UNLOCK), 10, "taken here again"),
    "result-of-the-lock": (
        function("count += pthread_mutex_lock(&mu);", UNLOCK),
        9,
        "the result of the lock is used",
    ),
    "trylock": (
        function("if (!pthread_mutex_trylock(&mu)) {", "count++;", UNLOCK, "}"),
        9,
        "tries the lock",
    ),
    "condition-wait": (
        section(
            "pthread_cond_wait(&c, &mu);",
            before="static pthread_cond_t c = PTHREAD_COND_INITIALIZER;",
        ),
        10,
        "waits on a condition variable",
    ),
    "address-of-the-lock": (
        section("count++;", before="void *all = &mu; "),
        7,
        "all keeps the lock as another type",
    ),
    "pointer-from-elsewhere": (
        section(
            "count++;",
            before="pthread_mutex_t *g(void); pthread_mutex_t *p = &mu; "
            "void h(void) { p = g(); } ",
        ),
        7,
        "points to a lock that cannot be seen here",
    ),
    "pointer-to-a-locking-function": (
        f"static void l(void) {{ {LOCK} }} static void u(void) {{ {UNLOCK} }}\n"
        "void (*p)(void) = l;\nvoid f(void) { l(); count++; u(); }\n",
        8,
        "the address of l() is taken",
    ),
    "another-lock-kept-by-a-function": (
        section(
            "a();",
            before="static pthread_mutex_t o; static void a(void) "
            "{ pthread_mutex_lock(&o); } ",
        ),
        10,
        "acquires a lock that is still held at the end of the section",
    ),
    "success-of-the-lock": (
        function("if (pthread_mutex_lock(&mu) == 0) n++;", "count++;", UNLOCK),
        9,
        "its result is used",
    ),
    "lock-passed-on": (
        section(
            "count++;", before="void g(pthread_mutex_t *); void h(void) { g(&mu); } "
        ),
        7,
        "passes mu to g()",
    ),
    "inline-assembly": (section('__asm__("nop");'), 10, "inline assembly"),
    "variable-arguments": (
        function(
            "__builtin_va_list a;",
            "__builtin_va_start(a, n);",
            LOCK,
            "vprintf(s, a);",
            UNLOCK,
            "__builtin_va_end(a);",
            head="void f(long n, ...)",
            before="int vprintf(const char *, __builtin_va_list); static char s[9]; ",
        ),
        11,
        "a holds variable arguments",
    ),
    "address-of-a-local": (
        section("long v = 1; p = &v;", before="static long *p;"),
        10,
        "a pointer to v",
    ),
    "array-used-after": (
        function(LOCK, "long v[2] = {count};", UNLOCK, "count = v[0];"),
        10,
        "v is declared in the section, is an array, and is used after it, in line 12",
    ),
    "local-type": (
        function("struct local { long v; } l = {1};", LOCK, "count += l.v;", UNLOCK),
        10,
        "the type of l is declared inside the function",
    ),
    "nameless-type": (
        function("struct { long v; } l = {1};", LOCK, "count += l.v;", UNLOCK),
        10,
        "the type of l",
    ),
    "name-is-also-a-member": (
        function(
            "struct node next = {0}; g(&next);",
            LOCK,
            "next.next = &next;",
            UNLOCK,
            before="struct node { struct node *next; }; void g(struct node *); ",
        ),
        10,
        "next is passed by address",
    ),
    "fork": (section("fork();", before="int fork(void); "), 10, "fork()"),
    "cancellation": (
        section("count++;", before="void g(pthread_t t) { pthread_cancel(t); } "),
        7,
        "cancels a thread",
    ),
    "another-lock-released": (
        section(
            "pthread_mutex_unlock(&other);",
            before="static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;",
        ),
        10,
        "releases a lock that was acquired outside",
    ),
    "another-lock-kept": (
        section(
            "pthread_mutex_lock(&other);",
            before="static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;",
        ),
        10,
        "still held at the end",
    ),
    "directive-across-the-unlock": (
        function(LOCK, "#ifdef linux", "count++;", UNLOCK, "#else", UNLOCK, "#endif"),
        9,
        "preprocessor directives",
    ),
    "directive-without-a-blank-across-the-unlock": (
        function(LOCK, "#if(1)", "count++;", UNLOCK, "#else", "n--;", "#endif"),
        9,
        "preprocessor directives",
    ),
    "left-out-by-the-preprocessor": (
        function(LOCK, "count++;", UNLOCK, "#ifdef NEVER", LOCK, "#endif"),
        13,
        "where the preprocessor leaves code out",
    ),
    "recursive-mutex": (
        PROLOGUE.replace(" = PTHREAD_MUTEX_INITIALIZER", "")
        + "static pthread_mutexattr_t recursive;\nvoid g(void)\n{\n"
        "pthread_mutex_init(&mu, &recursive);\n}\n" + section("count++;"),
        10,
        "the lock gets attributes",
    ),
    "recursive-initialiser": (
        PROLOGUE.replace("R;", "R_NP;").replace("PTHREAD_", "PTHREAD_RECURSIVE_")
        + section("count++;"),
        5,
        "the initialiser is not PTHREAD_MUTEX_INITIALIZER",
    ),
    "declared-with-another": (
        PROLOGUE.replace("R;", "R, other;") + section("count++;"),
        5,
        "the declaration also declares something else",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_section_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, line, reason = REFUSED[name]
    write_program(tmp_path, db=source)
    before = (tmp_path / "db.c").read_text()
    site = f"{SITE} &mu"
    assert delegate(tmp_path, "--in-place", "--no-compile", lock=site) == 2
    printed = capsys.readouterr().err
    lines = [each for each in printed.splitlines() if f"db.c:{line}: " in each]
    assert any(reason in each for each in lines), printed
    assert (tmp_path / "db.c").read_text() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_all_reasons_are_listed_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(
        tmp_path,
        db=section("if (n) return;", "fork();", before="int fork(void); ")
        + "void g(void) { pthread_mutex_trylock(&mu); }\n",
    )
    assert delegate(tmp_path) == 2
    printed = capsys.readouterr().err
    assert "for 2 reasons" in printed
    assert "db.c:10: returns without" in printed
    assert "db.c:15: tries the lock" in printed
