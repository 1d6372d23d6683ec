"""Data frames as the text of a table, for the audit."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from scalestudy.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


def text_of_frame(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV, with its index as the first columns, and durations in seconds.

    An index without names is left out, unless it has texts, such as `2 GPUs`: numbers without a name are those of
    the rows. Raises UserError if the data frame is empty, or an index has the name of another column.
    """
    frame = _with_index(frame)
    if not len(frame.columns):
        raise UserError("table: the data frame is empty: it has no columns")
    if not len(frame):
        raise UserError(f"table: the data frame is empty: no rows below {', '.join(map(str, frame.columns))}")
    return frame.apply(_in_seconds).to_csv(index=False)


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    index = frame.index
    if index.nlevels == 1 and index.name is None and index.inferred_type == "string":
        frame = frame.copy()
        frame.insert(0, "", index, allow_duplicates=True)
        return frame
    named = [place for place, name in enumerate(index.names) if name is not None]
    for place in list(named):
        name = index.names[place]
        if index.names.count(name) > 1:
            raise UserError(f"table: two levels of its index are called {name}; rename one of them")
        if name in frame.columns:
            values = index.get_level_values(place)
            if not frame[[name]].eq(values, axis=0).all(axis=None):
                raise UserError(f"table: its index and another column are called {name}; rename one of them")
            named.remove(place)  # `set_index(name, drop=False)` leaves both
    return frame.reset_index(level=named) if named else frame


def _in_seconds(column: pd.Series) -> pd.Series:
    """Return a column with durations as text, such as `400 s`. Any other column is returned as it is."""
    if not any(isinstance(cell, timedelta) for cell in column):  # pandas' Timedelta is one, and its NaT is not
        return column
    return column.map(lambda cell: _seconds(cell) if isinstance(cell, timedelta) else cell).astype(object)


def _seconds(duration: timedelta) -> str:
    """Return a duration with as many decimals as it has: `400.0 s` for 400 s would claim one more."""
    return f"{duration.total_seconds():.9f}".rstrip("0").rstrip(".") + " s"
