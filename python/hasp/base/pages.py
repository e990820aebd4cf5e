# SPDX-License-Identifier: MIT
"""The HTML pages of all reports: each is one file that works offline.

templates/ contains the shared parts: the head, the style, and the script for the theme
and for tables that can be sorted and filtered by any column. A report adds page.html,
page.css and page.js in its own templates/. Plotly draws the figures. Python computes
all data and embeds them as JSON, so that the scripts only select and arrange.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hasp import version


def render(package: str, title: str, data: Mapping[str, Any], **values: Any) -> str:
    """Return the page of the report in `package`; its template may use the `values`."""
    from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    folders = {"base": PackageLoader("hasp.base"), "page": PackageLoader(package)}
    environment = Environment(
        loader=PrefixLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page/page.html").render(
        title=title,
        version=version(),
        data=embedded(data),
        plotly=get_plotlyjs(),
        **values,
    )


def embedded(data: Mapping[str, Any]) -> str:
    """Return JSON without `<`, which could end the script element around it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
