# SPDX-License-Identifier: MIT
"""The generator of the public headers renames every internal name, and only those."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tree import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from internal_names import Names, rename

MAKE = ROOT / "tools/make_public_headers.py"


def renamed(*headers: str, text: str | None = None) -> str:
    names = Names()
    for header in headers:
        names.add(header)
    return rename(text or headers[-1], names)


@pytest.mark.parametrize(
    ("header", "result"),
    [
        ("static inline int park(int x)\n{\n}\n", "hasp_in_park(int x)"),
        ("extern struct pool waiters[3] ATTR;", "hasp_in_waiters[3]"),
        ("struct lock {\n    int word;\n};", "struct hasp_in_lock {\n    int word;"),
        ("enum { FREE = 1, HELD };", "{ HASP_IN_FREE = 1, HASP_IN_HELD }"),
        ("typedef bool wake(int);", "hasp_in_wake(int)"),
        ("#define likely(x) (x)\n", "#define hasp_in_likely(x)"),
        ("enum { LONG = 2 }; /* LONG */", "HASP_IN_LONG = 2 }; /* LONG */"),
        ('enum { A }; char *text = "A";', '*hasp_in_text = "A"'),
        ("int hasp_public(void);", "int hasp_public(void)"),
    ],
)
def test_names_of_file_level_get_the_prefix(header: str, result: str) -> None:
    assert result in renamed(header)


def test_pasted_names_follow() -> None:
    macro = "#define MAKE(prefix) static int prefix##_fast(void) { return 0; }\n"
    text = renamed(macro, macro + "MAKE(mcs)\nint mcs_fast(void);\n")
    assert "HASP_IN_MAKE(hasp_in_mcs)" in text
    assert "int hasp_in_mcs_fast(void)" in text


def test_fragments_in_front_follow() -> None:
    macros = "enum { OWN };\n#define DO_OWN 1\n#define DO(word) DO_##word\n"
    text = renamed(macros, macros + "int x = DO(OWN);\n")
    assert "#define HASP_IN_DO_HASP_IN_OWN 1" in text
    assert "HASP_IN_DO_##word" in text


def make(tmp_path: Path, kind: str, header: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "include/hasp").mkdir(parents=True)
    (tmp_path / "src/part").mkdir(parents=True)
    public = tmp_path / "include/hasp/x.h"
    public.write_text(header)
    inner = "#include <time.h>\nstruct park {\n    int at;\n};\n"
    (tmp_path / "src/part/inner.h").write_text(inner)
    command = [sys.executable, MAKE, "--root", tmp_path, "--kind", kind]
    command += ["--output", tmp_path / "out", public]
    return subprocess.run(command, capture_output=True, text=True)


def test_internal_headers_become_one(tmp_path: Path) -> None:
    header = '#include "part/inner.h"\nstruct hasp_x {\n    struct park park;\n};\n'
    assert make(tmp_path, "internal", header).returncode == 0
    text = (tmp_path / "out/x.h").read_text()
    assert text.index("#include <time.h>") < text.index('extern "C"')
    assert "struct hasp_in_park {" in text


def test_a_clash_of_names_is_refused(tmp_path: Path) -> None:
    header = '#include "part/inner.h"\nint hasp_in_park(void);\n'
    done = make(tmp_path, "public", header)
    assert done.returncode == 1
    assert "hasp_in_park is also what the internal name park becomes" in done.stderr


def test_a_missing_header_is_named(tmp_path: Path) -> None:
    done = make(tmp_path, "public", '#include "part/none.h"\n')
    assert done.returncode == 1
    assert 'include/hasp/x.h: cannot find "part/none.h"' in done.stderr


# A function whose parameter and whose member have the name of an internal type.
FUNCTION = """
static inline int hasp_wait(struct hasp_x *park, int (*probe)(struct park *), int n)
{
    return probe(&park->park) + park_at(park) + (struct park){.park = n}.at;
}
int hasp_declared(int park);
int park;
"""


def test_parameters_keep_their_names(tmp_path: Path) -> None:
    done = make(tmp_path, "public", f'#include "part/inner.h"\n{FUNCTION}')
    assert done.returncode == 0
    text = (tmp_path / "out/x.h").read_text()
    assert "hasp_wait(struct hasp_x *park, int (*probe)(struct hasp_in_park *)," in text
    assert "probe(&park->hasp_in_park) + park_at(park)" in text
    assert "(struct hasp_in_park){.hasp_in_park = n}" in text
    assert "int hasp_declared(int park);\nint hasp_in_park;" in text


def test_a_member_must_not_be_called_as_an_internal_name(tmp_path: Path) -> None:
    header = (
        '#include "part/inner.h"\nstruct hasp_x {\n    int y;\n    long park;\n};\n'
    )
    done = make(tmp_path, "public", header)
    assert done.returncode == 1
    assert "x.h: the member `long park` would be called hasp_in_park" in done.stderr
