"""Times in cells in other languages, with their units in English: `1시간 35분` is 1h 35m."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.languages import simplified
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_UNITS = {
    "ms": r"毫秒|밀리초|мс",
    "h": r"시간|小时|个小时|时间|час(?:ов|а)?|ч|std|stunden?|giờ",
    "min": r"분|分钟|分|мин(?:ут[аы]?)?|min(?:uten|(?=\.))|phút",
    "s": r"초|秒钟|秒|сек(?:унд[аы]?)?|с|sek(?:unden?)?|giây",
    "d": r"일|天|日|дн(?:ей|я)|день|tagen?|jours?|días?|dias?|ngày",
}
_FORMS = [
    (
        re.compile(rf"(?<=\d) ?(?:{words})\.?(?![^\W\d_])(?! ?/ ?\d)|(?<=\d) ?(?:{words})(?= ?\d)", re.IGNORECASE),
        unit,
    )
    for unit, words in _UNITS.items()
]
_TIME = re.compile(r"[~\u2248<>(]*(?:\u7ea6|\uc57d|ca\.)? ?\d[^|]*")
_ABOUT = re.compile(r"^(?:\u7ea6|\uc57d|ca\.) ?")
_DATE = re.compile(r"[\u5e74\u6708\ub144\uc6d4]")
"""The signs of a year and of a month."""


def with_times_in_english(table: RawTable) -> RawTable:
    """Return a table whose cells that begin with a time have its units in English."""
    rows = tuple((line, tuple(map(_in_english, cells))) for line, cells in table.rows)
    return table if rows == table.rows else replace(table, rows=rows)


def _in_english(cell: str) -> str:
    printed = text = simplified(plain(cell))
    if not _TIME.fullmatch(text) or _DATE.search(text):
        return cell
    for form, unit in _FORMS:
        text = form.sub(f"{unit} ", text)
    return re.sub(r" (?=[/,;)])", "", _ABOUT.sub("~", " ".join(text.split()))) if text != printed else cell
