"""Tables as CSV that is safe in a spreadsheet: text from others stays text and is never run as a formula."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from scalestudy.publish.visible import visible

_FORMULA = re.compile(r"'*[=+\-@]")
"""Beginning of a cell that a spreadsheet takes for a formula, also behind apostrophes that prevent this."""


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front.

    `without_apostrophes` removes it.
    """
    return _changed(frame, _cell).to_csv(index=False)


def without_apostrophes(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame that was read from CSV of `csv_text`, with the original texts."""
    return _changed(frame, _bare)


def _changed(frame: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    """The frame with each value of its text columns changed."""
    texts = [name for name, kind in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    return frame.assign(**{str(name): frame[name].map(change, na_action="ignore") for name in texts})


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if _FORMULA.match(value) and not _is_number(value) else visible(value)


def _bare(value: Any) -> Any:
    """The value without the apostrophe that `_cell` added."""
    return value[1:] if isinstance(value, str) and value[:1] == "'" and _FORMULA.match(value) else value


def _is_number(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return float(text) is not None
    return False
