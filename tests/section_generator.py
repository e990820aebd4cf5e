# SPDX-License-Identifier: MIT
"""Random C functions with sections, to be rewritten and compared with themselves."""

from __future__ import annotations

import random

PROLOGUE = """\
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LOCK(s) do { pthread_mutex_lock(&(s)->mu); } while (0)
#define UNLOCK(s) do { pthread_mutex_unlock(&(s)->mu); } while (0)
#define TWICE(v) ((v) + (v))

struct pair { long first, second; long next[3]; };
struct shard { pthread_mutex_t mu; long count; struct pair pair; long cells[8]; };
static struct shard shards[4];

static long mix(long a, long b) { return (a * 31 + b) % 9973; }
static void bump(long *value, long by) { *value = mix(*value, by); }
static void swap(struct pair *pair) {
    long first = pair->first; pair->first = pair->second; pair->second = first;
}
"""
NUMBERS = ("x", "y", "a", "b", "c")


class FunctionWriter:
    """Writes one function whose behaviour depends on its arguments only."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.random = random.Random(seed)
        self.shard = self.random.choice(["s", "s", "(&shards[1])"])
        self.macro = self.random.random() < 0.3
        self.inner: list[str] = []  # variables of the section in scope
        self.depth = 0
        self.loops = 0
        self.labels = self.random.random() < 0.25  # goto out, in front of the unlock

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def lock(self) -> str:
        if self.macro:
            return f"LOCK({self.shard});"
        return f"pthread_mutex_lock(&{self.shard}->mu);"

    def unlock(self) -> str:
        if self.macro:
            return f"UNLOCK({self.shard});"
        return f"pthread_mutex_unlock(&{self.shard}->mu);"

    def value(self) -> str:
        pick = self.random.choice
        return pick(
            [
                pick(NUMBERS),
                pick(NUMBERS),
                *self.inner,
                str(self.random.randrange(9)),
                f"{self.shard}->cells[{self.random.randrange(8)}]",
                f"{self.shard}->count",
                f"row[{self.random.randrange(4)}]",
                "p.first",
                "p.next[1]",
                f"TWICE({pick(NUMBERS)})",
                f"mix({pick(NUMBERS)}, {pick(NUMBERS)})",
                "*through",
            ]
        )

    def target(self) -> str:
        pick = self.random.choice
        return pick(
            [
                "a",
                "b",
                "c",
                "y",
                *self.inner,
                f"{self.shard}->cells[{self.random.randrange(8)}]",
                f"{self.shard}->count",
                f"row[{self.random.randrange(4)}]",
                "p.second",
                f"{self.shard}->pair.next[{self.random.randrange(3)}]",
                "*through",
            ]
        )

    def condition(self) -> str:
        return f"({self.value()} + {self.value()}) % {self.random.randrange(2, 5)} == 0"

    def simple(self) -> str:
        kind = self.random.randrange(8)
        if kind == 0:
            return f"{self.target()} += {self.value()} % 100;"
        if kind == 1:
            return f"bump(&{self.random.choice(['b', 'p.first'])}, {self.value()});"
        if kind == 2:
            return "swap(&p);"
        if kind == 3:
            return f"{self.random.choice(['a', 'c'])}++;"
        if kind == 4:
            return "memset(row, 0, sizeof row);" if self.chance(0.5) else "again = p;"
        if kind == 5:
            return f"{self.shard}->pair = p; p.first = again.second % 1000;"
        return f"{self.target()} = mix({self.value()}, {self.value()});"

    def block(self, indent: str, inside: bool) -> list[str]:
        """Return statements; `inside` the section, some of them leave it."""
        kept = list(self.inner)
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(indent, inside)
        self.inner = kept
        return lines

    def statement(self, indent: str, inside: bool) -> list[str]:
        if self.depth >= 3 or self.chance(0.5):
            return [indent + self.simple()]
        self.depth += 1
        kind = self.random.randrange(5)
        lines: list[str]
        if kind == 0 and inside:
            lines = self.leaving(indent)
        elif kind == 1:
            lines = [f"{indent}if ({self.condition()}) {{"]
            lines += self.block(indent + "    ", inside)
            lines += [f"{indent}}} else {{", *self.block(indent + "    ", inside)]
            lines += [f"{indent}}}"]
        elif kind == 2:
            lines = self.loop(indent, inside)
        elif kind == 3:
            name = f"v{len(self.inner)}{self.depth}"
            lines = [f"{indent}{{", f"{indent}    long {name} = {self.value()};"]
            self.inner.append(name)
            lines += [*self.block(indent + "    ", inside), f"{indent}}}"]
            self.inner.remove(name)
        else:
            lines = self.switch(indent)
        self.depth -= 1
        return lines

    def loop(self, indent: str, inside: bool) -> list[str]:
        name = f"i{self.depth}"
        lines = [f"{indent}for (long {name} = 0; {name} < 4; {name}++) {{"]
        # A break after an unlock must leave the loop around the section.
        around, self.loops = self.loops, 0
        lines += self.block(indent + "    ", inside)
        self.loops = around
        word = self.random.choice(["break", "continue"])
        lines += [f"{indent}    if ({self.condition()}) {word};"]
        lines += [f"{indent}    a += {name};", f"{indent}}}"]
        return lines

    def switch(self, indent: str) -> list[str]:
        return [
            f"{indent}switch ({self.value()} % 3) {{",
            f"{indent}case 0:",
            f"{indent}    {self.simple()}",
            f"{indent}    break;",
            f"{indent}default:",
            f"{indent}    {self.simple()}",
            f"{indent}}}",
        ]

    def leaving(self, indent: str) -> list[str]:
        """Return a way out of the section."""
        ways = ["return", "return", *(["break", "continue"] if self.loops else [])]
        ways += ["goto end"] + (["goto out"] if self.labels else [])
        way = self.random.choice(ways)
        lines = [f"{indent}if ({self.condition()}) {{"]
        if self.chance(0.5):
            lines.append(f"{indent}    {self.simple()}")
        if way == "goto out":
            return [*lines, f"{indent}    goto out;", f"{indent}}}"]
        lines.append(f"{indent}    {self.unlock()}")
        if self.chance(0.5):
            lines.append(f"{indent}    {self.simple()}")
        value = f" mix({self.value()}, {self.value()})" if way == "return" else ""
        if way == "continue":
            lines.append(f"{indent}    turns++;")
        return [*lines, f"{indent}    {way}{value};", f"{indent}}}"]

    def section(self, indent: str) -> list[str]:
        lines = [indent + self.lock()]
        declared: list[str] = []
        labels = self.labels
        for number in range(self.random.randrange(3)):
            # A jump over an initialiser would leave a value that is not determined.
            if labels:
                break
            name = f"late{number}"
            lines.append(f"{indent}long {name} = {self.value()};")
            self.inner.append(name)
            declared.append(name)
        for _ in range(self.random.randrange(1, 5)):
            lines += self.statement(indent, inside=True)
        if self.chance(0.2) and not labels:
            lines += self.both_branches(indent)
        elif labels:
            lines += ["out:", indent + self.unlock()]
        else:
            lines.append(indent + self.unlock())
        for name in declared:
            if self.chance(0.5):
                lines.append(f"{indent}a = mix(a, {name});")
        self.inner = [each for each in self.inner if each not in declared]
        return lines

    def both_branches(self, indent: str) -> list[str]:
        return [
            f"{indent}if ({self.condition()}) {{",
            f"{indent}    {self.simple()}",
            f"{indent}    {self.unlock()}",
            f"{indent}    {self.simple()}",
            f"{indent}}} else {{",
            f"{indent}    {self.unlock()}",
            f"{indent}}}",
        ]

    def text(self) -> str:
        """Return the function."""
        lines = [
            f"static long {self.name}(struct shard *s, long x, long y)",
            "{",
            "    long a = x, b = y * 3, c, row[4] = {x, y, 1, 2}, turns = 0;",
            "    struct pair p = {x, y, {1, 2, 3}}, again = {y, x, {4, 5, 6}};",
            "    long *through = &b;",
            "    c = x + y;",
        ]
        if self.chance(0.4):
            self.loops = 1
            self.labels = False
            lines.append("    for (; turns < 3; turns++) {")
            lines += self.section("        ")
            lines += [f"        {self.simple()}", "    }"]
        else:
            lines += self.section("    ")
        lines += [f"    {self.simple()}", "end:"]
        lines += [
            "    for (turns = 0; turns < 4; turns++) a = mix(a, row[turns]);",
            "    a = mix(a, p.first) + mix(p.second, again.first);",
            "    return mix(mix(a, b), mix(c, y)) + p.next[1] + (s == 0);",
            "}",
        ]
        return "\n".join(lines) + "\n"


def program(first_seed: int, count: int) -> str:
    """Return a program that calls `count` functions, and prints what each one does."""
    functions = [
        FunctionWriter(f"f{number}", first_seed + number).text()
        for number in range(count)
    ]
    calls = "".join(f"    check({number}, f{number});\n" for number in range(count))
    return (
        PROLOGUE
        + "\n".join(functions)
        + """
static void check(int number, long function(struct shard *, long, long))
{
    for (long x = 0; x < 4; x++) {
        for (long y = 0; y < 3; y++) {
            long sum = 0;
            for (int i = 0; i < 4; i++) {
                sum += function(&shards[i], x * 5 + i, y);
            }
            for (int i = 0; i < 4; i++) {
                sum = mix(sum, shards[i].count % 100000);
                for (int k = 0; k < 8; k++)
                    sum = mix(sum, shards[i].cells[k] % 100000);
                sum = mix(sum, shards[i].pair.first + shards[i].pair.next[2]);
            }
            printf("%d %ld\\n", number, sum);
        }
    }
}

int main(void)
{
    for (int i = 0; i < 4; i++)
        pthread_mutex_init(&shards[i].mu, NULL);
"""
        + calls
        + "    return 0;\n}\n"
    )
