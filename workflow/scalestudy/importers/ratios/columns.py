"""Columns of ratios that headers do not explain: relative to the fewest devices, or of two other columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.headers.meaning import Meaning, is_relative, normal, with_role
from scalestudy.importers.headers.ratios import says_percent
from scalestudy.importers.headers.terms import OTHER_RATIO
from scalestudy.importers.numbers.printed import Cell, Printed, is_blank, plain, read_cell
from scalestudy.importers.published import MEASURED, RATES, STATED, TIMES
from scalestudy.importers.raw import RawTable

MOST_COLUMNS = 6
"""Columns that are compared with each other."""
LETTERS = {"S": "printed_speedup", "E": "printed_efficiency"}
"""Letters that stand for the two ratios."""
FEW_ROWS = 3
"""Rows that are needed to exclude that numbers are equal by chance."""
CLOSE = 0.02
"""Relative difference up to which a ratio of two columns is that of a third."""


def relative_columns(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads `Factor` or `Relative` as a ratio to the fewest devices if it is 1 there, or left out."""
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    if devices is None:
        return meanings
    letters = LETTERS if {*LETTERS} <= {plain(one.header) for one in meanings} else {}
    result = []
    for place, meaning in enumerate(meanings):
        unknown = meaning.role == "ignore" and normal(meaning.header) not in said
        if unknown and is_relative(meaning.header) and not OTHER_RATIO.search(normal(meaning.header)):
            found = by_devices(raw, devices, place)
            several = len({gpus for gpus, _ in found}) > 1
            own = normal(meaning.header) == "ratio" and _is_own_quotient(meanings, raw, place)
            if several and starts_at_one(found) and not own:
                role = letters.get(plain(meaning.header))
                meaning = replace(meaning, role=role or "scaling_ratio", rest="" if role else meaning.rest)
        result.append(meaning)
    return result


def by_devices(raw: RawTable, devices: int, place: int) -> list[tuple[int, Printed | None]]:
    """(devices, ratio or None for a blank cell), fewest devices first; nothing if a cell is something else."""
    found: list[tuple[int, Printed | None]] = []
    for _, row in raw.rows:
        try:
            blank = is_blank(row[place]) or row[place].strip().lower().startswith(("base", "ref"))
            gpus = _count(row[devices])
            if blank and not gpus:
                continue  # a mean, or a run that failed
            cell = None if blank else read_cell(row[place])
        except (ValueError, IndexError):
            return []
        if not gpus:
            return []
        percent = cell and (cell.percent or says_percent(raw.header[place]))
        whole = cell and (cell.printed.times(0.01) if percent else cell.printed)
        found.append((gpus, whole or None))
    return sorted(found, key=lambda pair: pair[0])


def _count(cell: str) -> int:
    """The devices of a cell, as a number or in words; 0 if it names none."""
    for read in (read_count, count_in_words):
        with suppress(ValueError):
            return read(cell).gpus
    return 0


def starts_at_one(found: Sequence[tuple[int, Printed | None]]) -> bool:
    fewest = found[0][0]
    first = [ratio for gpus, ratio in found if gpus == fewest]
    return all(ratio is None or ratio.value in (0, 1) for ratio in first) and any(ratio for _, ratio in found)


def repeated_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out ratios with one header in several columns unless each is 1 on the fewest devices, and not on all.

    They may be those of one column over another on as many devices.
    """
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    result = list(meanings)
    for name in {plain(one.header) for one in meanings if one.role in STATED}:
        places = [at for at, one in enumerate(meanings) if plain(one.header) == name and one.role in STATED]
        if devices is None or len(places) < 2 or normal(name) in said:
            continue
        columns = [by_devices(raw, devices, place) for place in places]
        if not all(found and starts_at_one(found) for found in columns) or any(map(_is_constant, columns)):
            result = [replace(one, role="ignore") if at in places else one for at, one in enumerate(result)]
    return result


def _is_constant(found: Sequence[tuple[int, Printed | None]]) -> bool:
    return {ratio.value for _, ratio in found if ratio} <= {1.0}


def is_of_most(raw: RawTable, place: int, meanings: Sequence[Meaning]) -> bool:
    """Whether ratios such as `3.35x` are relative to the most devices or to real time: no speedups."""
    gpus = next((at for at, meaning in enumerate(meanings) if meaning.role == "gpus"), None)
    found: list[tuple[int, float]] = []
    for _, row in raw.rows if gpus is not None else ():
        try:
            found.append((read_count(row[gpus or 0]).gpus, read_cell(row[place]).printed.value))
        except (ValueError, IndexError):
            continue
    if len(found) < 2 or min(found)[0] == max(found)[0]:
        return False
    speeds = min(found)[1] < 1 and "throughput" in {meanings[place].role}  # 0.4x real time
    return speeds or (max(found)[1] == 1 and min(found)[1] > 1)


def ratio_of_columns(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a speedup beside columns of one kind as that of two of them if it is their quotient in most rows."""
    meanings = _of_its_times(meanings, raw, said)
    stated = [place for place, one in enumerate(meanings) if one.role in ("printed_speedup", "scaling_ratio")]
    best = next((role for role in MEASURED if any(one.role == role for one in meanings)), "")
    mine = [place for place, one in enumerate(meanings) if one.role == best][:MOST_COLUMNS]
    varied = [place for place in mine if len(mine) == 2 or len(set(raw.cells(place))) > 1]
    if len(stated) > 1 and len(mine) > len(stated):
        exact = [place for place in stated if any(is_exact(raw, place, pair) for pair in combinations(varied, 2))]
        return without_columns(meanings, exact, said)
    if len(stated) != 1 or len(mine) < 2 or normal(meanings[stated[0]].header) in said:
        return meanings
    for pair in combinations(varied, 2):
        if is_quotient(raw, stated[0], pair):
            gained = any(_is_percent(cell) for cell in raw.cells(stated[0]))
            return with_role(meanings, stated[0], "precision_ratio" if len(mine) == 2 and not gained else "ignore")
    return meanings


def without_quotients(
    meanings: list[Meaning], raw: RawTable, said: set[str], *, fewest: int = FEW_ROWS
) -> list[Meaning]:
    """Leave out a ratio that is in each row the quotient of two columns of unknown numbers: of two variants.

    fewest: rows from which this is asked.
    """
    unknown = [place for place, one in enumerate(meanings) if one.role == "ignore" and varies(raw, place)]
    unknown = unknown[:MOST_COLUMNS]
    if any(one.role in MEASURED for one in meanings) or len(raw.rows) < fewest:
        return meanings
    for place, one in enumerate(meanings):
        known = one.role in STATED and normal(one.header) not in said
        if known and any(is_quotient(raw, place, pair) for pair in combinations(unknown, 2)):
            return with_role(meanings, place, "ignore")
    return meanings


def varies(raw: RawTable, place: int) -> bool:
    """Return whether the numbers of a column differ: the quotient of a constant is no ratio of two variants."""
    values = []
    for cell in raw.cells(place):
        with suppress(ValueError):
            values.append(read_cell(cell).printed.value)
    return bool(values) and max(values) > min(values) + CLOSE * abs(max(values))


def _is_own_quotient(meanings: Sequence[Meaning], raw: RawTable, place: int) -> bool:
    """Whether a column is the quotient of two others of its own row: user / real, or two that both vary: B / A."""
    measured = [at for at, one in enumerate(meanings) if one.role in MEASURED]
    others = [at for at, one in enumerate(meanings) if one.role == "ignore" and at != place]
    varied = [at for at in (*measured, *others)[:MOST_COLUMNS] if varies(raw, at)]
    return any(is_quotient(raw, place, pair) for pair in (*product(measured, others), *combinations(varied, 2)))


def _of_its_times(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a speedup that names nothing as that of the only one of several times that it follows from."""
    stated = [at for at, one in enumerate(meanings) if one.role in ("printed_speedup", "scaling_ratio")]
    times = [at for at, one in enumerate(meanings) if one.role in TIMES]
    if len(stated) != 1 or len(times) < 2 or any(one.role in RATES for one in meanings):
        return meanings
    place = stated[0]
    fits = [at for at in times if follows(raw, place, at)]
    if meanings[place].rest or len(fits) != 1 or normal(meanings[place].header) in said:
        return meanings
    own = replace(meanings[place], rest=meanings[fits[0]].rest)
    return [*meanings[:place], own, *meanings[place + 1 :]]


def follows(raw: RawTable, place: int, time: int) -> bool:
    """Return whether ratios are, to their last digit, those of the first of the times to each of them."""
    try:
        found = [(read_cell(row[time]).printed.value, read_cell(row[place]).printed) for _, row in raw.rows]
    except (ValueError, IndexError):
        return False
    return len(found) > 1 and all(
        own > 0 and abs(found[0][0] / own - ratio.value) <= ratio.last for own, ratio in found
    )


def beside(raw: RawTable, place: int, pair: tuple[int, int]) -> Iterator[tuple[Cell, float, float]]:
    """Yield the ratio of each row and the two numbers of other columns, where all three are numbers."""
    for _, row in raw.rows:
        try:
            ratio = read_cell(row[place])
            first, second = (read_cell(row[at]).printed.value for at in pair)
        except (ValueError, IndexError):
            continue
        yield ratio, first, second


def is_quotient(raw: RawTable, place: int, pair: tuple[int, int]) -> bool:
    """Return whether a column is the quotient of two others in most rows, or their gain: 107% for 2.07."""
    explained = known = 0
    for cell, first, second in beside(raw, place, pair):
        known += 1
        said = cell.printed.value
        ratios = (said / 100, 1 + said / 100) if cell.percent else (said,)
        explained += (
            first > 0
            and second > 0
            and any(abs(ratio * one - 1) < 0.05 for ratio in ratios for one in (first / second, second / first))
        )
    return explained > known / 2


def is_exact(raw: RawTable, place: int, pair: tuple[int, int], *, fewest: int = FEW_ROWS) -> bool:
    """Return whether a column is, to its last digit, the quotient of two others in all rows."""
    known = 0
    for _, row in raw.rows:
        try:
            ratio = read_cell(row[place]).printed
            first, second = (read_cell(row[at]).printed for at in pair)
        except (ValueError, IndexError):
            continue
        if not (first.low > 0 and second.low > 0):
            continue  # a number such as `1`, which may be 0
        known += 1
        quotients = [
            (one.low / other.high, one.high / other.low) for one, other in ((first, second), (second, first))
        ]
        if not any(low <= ratio.high and ratio.low <= high for low, high in quotients):
            return False
    return known >= fewest


def without_columns(meanings: list[Meaning], places: Sequence[int], said: set[str]) -> list[Meaning]:
    """Return the meanings without these columns, except for those whose kind the user says."""
    for place in places:
        if normal(meanings[place].header) not in said:
            meanings = with_role(meanings, place, "ignore")
    return meanings


def _is_percent(cell: str) -> bool:
    """Return whether a cell is a number of per cent."""
    try:
        return read_cell(cell).percent
    except ValueError:
        return False
