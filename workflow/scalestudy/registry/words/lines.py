"""Wraps text without a break between a number and its unit."""

import re
from textwrap import fill
from typing import Any

_UNIT = r"(?:%|[mun]?s|min|h|[kMGT]i?B|[kMGT]?(?:bit|B)/s|[a-z]+/s)"
_GAP = re.compile(rf"(?<=[\d\])]) (?={_UNIT}(?![\w-]))")
_KEPT = "\N{NO-BREAK SPACE}"


def filled(text: str, width: int, **settings: Any) -> str:
    """Return a text wrapped at a width. settings: of textwrap.fill."""
    kept = _GAP.sub(_KEPT, text)
    return fill(kept, width, break_on_hyphens=False, **settings).replace(_KEPT, " ")
