"""Whether printed ratios follow from the measurement beside them, relative to the row on the fewest devices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import IN_WORDS, TEXTS, Meaning
from scalestudy.importers.headers.ratios import says_percent
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.raw import RawTable

POWERS = {"printed_speedup": 0, "printed_efficiency": 1}
"""Ratios of measurements -> the power of the devices that they are divided by."""
_SHARE = re.compile(r"%|\bper ?cent\b|\bpct\b", re.IGNORECASE)
_LABELS = tuple(role for role in TEXTS if role not in ("throughput_unit", "scaling"))


def following(
    raw: RawTable,
    meanings: Sequence[Meaning],
    places: tuple[int, int, int],
    *,
    of_times: bool,
    close: float,
    power: int = 0,
) -> list[bool]:
    """Return for each row with more devices than the fewest of its labels whether its ratio follows.

    places: devices, measurement, ratio. of_times: whether the measurement is a time. close: relative difference.
    power: 0 for speedups, 1 for efficiencies. Ratios may be in per cent. The ratio on the fewest devices is the
    unit; it is 1 if none is printed there. A row without a label has the label of the row above.
    """
    labels = [place for place, one in enumerate(meanings) if one.role in _LABELS and place not in places]
    rows = []
    above = [""] * len(labels)
    percent = says_percent(raw.header[places[2]]) if places[2] < len(raw.header) else False
    for _, row in raw.rows:
        own = [plain(row[place]) if place < len(row) else "" for place in labels]
        above = [name or other for name, other in zip(own, above, strict=True)]
        try:
            leading = re.match(r"\d+\.?\d*", plain(row[places[2]]))  # also of `1.000 baseline`
            duration = read_duration(row[places[1]])
            measured = (duration or read_cell(row[places[1]]).printed).value
            count = count_or_none(row[places[0]], alone=meanings[places[0]].per != IN_WORDS)
            if count and measured > 0:
                each = count.gpus if meanings[places[1]].role == "throughput_per_gpu" else 1
                whole = 100 if percent or _SHARE.search(row[places[2]]) else 1
                ratio = float(leading[0] if leading else 0) / whole
                rows.append((tuple(above), (count.gpus, measured * each, ratio)))
        except (ValueError, IndexError):
            continue
    series: dict[tuple[str, ...], list[tuple[int, float, float]]] = defaultdict(list)
    for names, values in rows:
        series[names].append(values)
    if len(series) == len(rows):  # each row has a name of its own
        series = {(): [values for _, values in rows]}
    return [one for values in series.values() for one in _of_a_series(sorted(values), of_times, close, power)]


def _of_a_series(rows: list[tuple[int, float, float]], of_times: bool, close: float, power: int) -> list[bool]:
    if not rows:
        return []
    fewest, first, unit = rows[0]
    result = []
    for gpus, measured, ratio in (row for row in rows if row[0] > fewest and row[2] > 0):
        speedup = first / measured if of_times else measured / first
        result.append(abs(speedup * (fewest / gpus) ** power * (unit or 1.0) / ratio - 1) < close)
    return result
