# SPDX-License-Identifier: MIT
"""The pages of all reports: one HTML file each, which works without a network.

templates/ has what they share: the head, the style, and the script with the tables (to
sort, and to filter by any column) and the theme. A report adds page.html, page.css and
page.js in a templates/ of its own. Plotly draws. All data stand in the page as JSON,
computed by Python, so that the scripts only choose and arrange.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hasp import version


def render(package: str, title: str, data: Mapping[str, Any], **values: Any) -> str:
    """The page of the report in `package`; its template may use the `values`."""
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
