# SPDX-License-Identifier: MIT
"""What the pages of all reports share: data that stand in a page as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def embedded(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element that it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")
