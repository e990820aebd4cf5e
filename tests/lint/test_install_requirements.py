# SPDX-License-Identifier: MIT
"""tools/install_requirements.py finds packages where pip is told to look."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from lock_list import ROOT

SPEC = importlib.util.spec_from_file_location(
    "install_requirements", ROOT / "tools" / "install_requirements.py"
)
assert SPEC and SPEC.loader
installer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(installer)


def test_settings_of_pip_become_those_of_uv(tmp_path: Path) -> None:
    listed = f"""\
:env:.disable-pip-version-check='1'
:env:.find-links='{tmp_path} {tmp_path}/missing https://mirror/wheels'
global.cert='/etc/ssl/ours.crt'
global.index-url='https://mirror/simple'
list.format='columns'
"""
    assert installer.uv_environment(listed) == {
        "UV_FIND_LINKS": f"{tmp_path},https://mirror/wheels",
        "SSL_CERT_FILE": "/etc/ssl/ours.crt",
        "UV_DEFAULT_INDEX": "https://mirror/simple",
    }


@pytest.mark.parametrize("setting", ["no-index='true'", "constraint='versions.txt'"])
def test_settings_that_uv_lacks_leave_it_to_pip(setting: str) -> None:
    assert installer.uv_environment(f"global.{setting}\n") is None
