# SPDX-License-Identifier: MIT
"""tools/install_requirements.py finds packages where pip is told to look."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lock_list import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import install_requirements


def test_settings_of_pip_become_those_of_uv(tmp_path: Path) -> None:
    listed = f"""\
:env:.disable-pip-version-check='1'
:env:.find-links='{tmp_path} {tmp_path}/missing https://mirror/wheels'
global.cert='/etc/ssl/ours.crt'
global.index-url='https://mirror/simple'
list.format='columns'
"""
    assert install_requirements.uv_environment(listed) == {
        "UV_FIND_LINKS": f"{tmp_path},https://mirror/wheels",
        "SSL_CERT_FILE": "/etc/ssl/ours.crt",
        "UV_DEFAULT_INDEX": "https://mirror/simple",
    }


@pytest.mark.parametrize("setting", ["no-index='true'", "constraint='versions.txt'"])
def test_settings_that_uv_lacks_leave_it_to_pip(setting: str) -> None:
    assert install_requirements.uv_environment(f"global.{setting}\n") is None
