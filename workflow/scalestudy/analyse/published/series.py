"""Which rows of a published table belong together: equal in all labels, and in one kind of batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose

from scalestudy.analyse.published.batches import by_batch, unsaid_batch, with_accumulation
from scalestudy.importers.columns.batch_in_labels import name_of_strategy
from scalestudy.importers.columns.labels import is_of_others, is_other_work, is_size_of_work
from scalestudy.importers.devices.degrees import is_degree
from scalestudy.importers.devices.listed import PLACEMENT
from scalestudy.importers.devices.serial_rows import names_serial_run
from scalestudy.importers.published import FOOTNOTE, OF_COLUMNS, STATED, PublishedRow, PublishedTable
from scalestudy.importers.shape.variants import additions, is_distributed

KINDS_OF_SETUP = ("precision", "strategy", "model", "hardware", "framework")
"""Labels that change what is measured."""
_CLOSE = 0.1
"""Relative difference up to which a printed ratio may be over a row. Wider than rounding."""
UNITS = ("throughput_unit", "scaling", OF_COLUMNS)
"""Labels that do not tell configurations apart."""
PLAIN = (
    "",
    "single",
    "none",
    "-",
    "baseline",
    "base",
    "basic",
    "vanilla",
    "no",
    "serial",
    "single gpu",
    "single-gpu",
    "1 gpu",
    *("single device", "one device", "1 device", "one gpu"),
    "plain",
    "n/a",
    "\u2013",
    "\u2014",
    "no ddp",
    "without ddp",
)
"""Strategies of one process, which may be the baseline of any other."""
_RATIOS = ("printed_speedup", "printed_efficiency")
REMARKS = ("comment", PLACEMENT, FOOTNOTE)
"""Labels of some rows only. A row without one is that of all."""
NAMED_BASE = "baseline"
BASES = ("single", "baseline", "base", "serial", "single gpu", "single-gpu", "1 gpu")
"""Labels of any column for the run that the others are compared with."""


@dataclass(frozen=True)
class Series:
    """Rows that differ in their number of devices."""

    name: str
    rows: tuple[PublishedRow, ...]


def is_undistributed(strategy: str) -> bool:
    """Return whether a strategy is that of one process."""
    return name_of_strategy(strategy) in PLAIN or names_serial_run(strategy)


def without_serial(rows: Sequence[PublishedRow]) -> list[PublishedRow]:
    """Return rows without those of a serial program, if others are on as many devices: these were scaled."""
    serial = [row for row in rows if any(map(names_serial_run, row.labels.values()))]
    others = [row for row in rows if row not in serial]
    return others if {row.gpus for row in serial} <= {row.gpus for row in others} else list(rows)


def is_of_one_setup(rows: Sequence[PublishedRow]) -> bool:
    """Return whether rows have one model, hardware, framework and precision, and one strategy of distribution."""
    for what in KINDS_OF_SETUP:
        values = {row.label(what) for row in rows}
        values = {value for value in values if what != "strategy" or not is_undistributed(value)}
        if len(values) > 1:
            return False
    return True


def series_of(table: PublishedTable) -> list[Series]:
    """Return the series of a table. A column `case` alone says what belongs together, if there is one."""
    of_others = [row for row in table.rows if is_of_others(row.label("comment"))]
    rows = [row for row in table.rows if row not in of_others] or of_others
    if table.by_case:
        cases = dict.fromkeys(row.label("case") for row in rows)
        parts = _with_base([(case, [row for row in rows if row.label("case") == case]) for case in cases])
        return [Series(case, tuple(with_accumulation(unsaid_batch(part)))) for case, part in parts]
    names = [name for row in rows for name in row.labels if name not in UNITS]
    groups: list[tuple[str, list[PublishedRow]]] = [("", rows)]
    for name in sorted(dict.fromkeys(names), key="strategy".__eq__):  # one baseline may be that of all strategies
        compared = _compared(rows, name)
        groups = [part for said, group in groups for part in _by_label(said, group, name, compared)]
    groups = [part for said, group in groups for part in _by_placement(said, group)]
    groups += [(row.label("comment"), [row]) for row in of_others if row not in rows]
    settled = [(said, with_accumulation(unsaid_batch(group))) for said, group in groups]
    found = [part for said, group in settled for part in by_batch(said, group, table.scaling)]
    return [Series(said, tuple(group)) for said, group in found]


def _with_base(parts: list[tuple[str, list[PublishedRow]]]) -> list[tuple[str, list[PublishedRow]]]:
    """The cases, with a case of one row that is named as the baseline in front of all others."""
    bases = [part for case, part in parts if case.lower() in BASES and len(part) == 1]
    others = [(case, part) for case, part in parts if part not in bases]
    if len(bases) != 1 or any(row.gpus <= bases[0][0].gpus for _, part in others for row in part):
        return parts
    return [(case, [*bases[0], *part]) for case, part in others]


def _is_base(value: str, name: str) -> bool:
    """Whether a value of a label is that of one process, which may be the baseline of the others."""
    if name in KINDS_OF_SETUP and name not in ("strategy", "framework"):
        return False
    if name == "strategy":
        return is_undistributed(value)
    return (name != "framework" and value in BASES) or names_serial_run(value)


_Key = tuple[int, tuple[tuple[str, str], ...]]


def _key(row: PublishedRow, name: str) -> _Key:
    """The devices of a row and its labels but one."""
    return row.gpus, tuple(sorted((other, value) for other, value in row.labels.items() if other != name))


def _compared(rows: list[PublishedRow], name: str) -> dict[frozenset[str], set[_Key]]:
    """Values of a label that differ in rows of the same devices and other labels -> where they do.

    They are settings, which do not follow from the number of devices.
    """
    values: dict[_Key, set[str]] = {}
    for row in rows:
        if row.label(name) and not _is_base(row.label(name).lower(), name):
            values.setdefault(_key(row, name), set()).add(row.label(name))
    found: dict[frozenset[str], set[_Key]] = {}
    for key, several in values.items():
        if len(several) > 1:
            found.setdefault(frozenset(several), set()).add(key)
    return found


def _by_label(
    said: str, rows: list[PublishedRow], name: str, compared: Mapping[frozenset[str], set[_Key]]
) -> list[tuple[str, list[PublishedRow]]]:
    """Splits rows by a label if two of its values were measured on the same number of devices; else keeps them.

    compared: values that differ on the same devices anywhere in the table, and where; here only other rows count.
    """
    values = list(dict.fromkeys(row.label(name) for row in rows))
    plain = tuple(value.lower() for value in values if _is_base(value.lower(), name))
    if not _was_scaled_too(rows, name, plain):
        values = [value for value in values if value.lower() not in plain] or values
    parts = {value: [row for row in rows if row.label(name) == value] for value in values}
    free = [row for row in rows if row.label(name).lower() in plain and row.label(name) not in values]
    sizes = {row.gpus for row in rows if not row.label(name)}
    if name in REMARKS and sizes.isdisjoint(row.gpus for row in rows if row.label(name)):
        free = parts.pop("", [])  # rows without a comment are those of all
        values = list(parts)
    fewest = [row for row in rows if row.gpus == min(other.gpus for other in rows)]
    if name in REMARKS and not free and len(fewest) == 1 and not fewest[0].label(name) and len(values) > 1:
        free = fewest  # so is the one on the fewest devices
        parts = _without(parts, free)
        values = list(parts)
    single = [row for row in rows if row.gpus == 1] if is_degree(name) else []
    if single and all(row.label(name) in ("1", "") for row in single):
        free = single  # on one device each degree is 1
        parts = _without(parts, free)
        values = list(parts)
    one = len(fewest) == 1 and len(parts.get(fewest[0].label(name), ())) == 1
    of_any = name not in ("hardware", "model") or {*values} <= {"", "CPU", "GPU"}  # a serial run beside both
    none = fewest[0].label(name) == "" and of_any  # as the backend of one process
    of_work = is_size_of_work(name) or is_other_work(name)
    keys = {_key(row, name) for row in rows} if compared else set()
    others = [
        own for found, where in compared.items() if len(own := found.intersection(values)) > 1 and where - keys
    ]
    clashing = set().union(*others)
    of_all = (none or name not in KINDS_OF_SETUP) and fewest[0].label(name) not in clashing
    if one and of_all and not free and not of_work:
        free = fewest
        values.remove(fewest[0].label(name))
    scales = {value: {row.gpus for row in parts[value]} for value in values}
    count = sum(len(found) for found in scales.values())
    one_scale_each = all(len(found | {row.gpus for row in free}) < 2 for found in scales.values())
    several = count > len(set().union(*scales.values()))
    stated = any(role in row.numbers for row in rows for role in STATED)  # which are one series
    stated = stated and not (name == "model" and _are_of_each(rows, name))
    units = [any(1 in map(row.number, _RATIOS) for row in parts[value]) for value in values]
    several |= all(units) and all(len(found) > 1 for found in scales.values())  # each with a baseline of its own
    known = name == "model" or is_size_of_work(name) or (name == "hardware" and all(values))
    several |= known and not stated and any(len(found) > 1 for found in scales.values())
    elsewhere = bool(clashing) and not stated
    several |= elsewhere
    of_models = name == "model" and not stated  # each of which has its own work
    of_kinds = name == "hardware" and not stated and all(values)
    if len(values) < 2 or not several or (one_scale_each and not (of_work or of_models or elsewhere or of_kinds)):
        return [(said, rows)]
    parts = {value: parts[value] for value in values}
    own_base = name == "strategy" or name not in KINDS_OF_SETUP
    alone = [value for value in values if name == "strategy" or 1 not in scales[value]]
    bases = {value: _bases_with_addition(value, rows, name) for value in alone} if own_base else {}
    return [
        (
            " ".join(filter(None, (said, _named(name, value)))),
            [*(bases.get(value) or free), *part],
        )
        for value, part in parts.items()
    ]


def _are_of_each(rows: list[PublishedRow], name: str) -> bool:
    """Whether no printed ratio of a row with another label than the row on the fewest devices is over that row."""
    base = min(rows, key=lambda row: row.gpus)
    others = [row for row in rows if row.label(name) != base.label(name)]
    pairs = [(row, row.number("throughput"), base.number("throughput")) for row in others]
    known = [(row, rate / first) for row, rate, first in pairs if rate and first]
    for row, growth in known:
        speedup, efficiency = row.number("printed_speedup"), row.number("printed_efficiency")
        if speedup is not None and isclose(growth, speedup, rel_tol=_CLOSE):
            return False
        if efficiency is not None and isclose(growth, efficiency * row.gpus / base.gpus, rel_tol=_CLOSE):
            return False
    return bool(known)


def _was_scaled_too(rows: list[PublishedRow], name: str, plain: tuple[str, ...]) -> bool:
    """Whether the baseline was scaled like the others: a value that may be that of one process is on several.

    An empty label, as in front of `+ AMP`, has to have been on all numbers of devices that the others were on.
    """
    sizes: dict[str, set[int]] = {}
    for row in rows:
        sizes.setdefault(row.label(name), set()).add(row.gpus)
    alike = len({frozenset(found) for found in sizes.values()}) == 1
    return len(sizes) > 1 and any(
        value.lower() in plain and len(found) > 1 and (value != "" or alike) for value, found in sizes.items()
    )


def _bases_with_addition(setup: str, rows: list[PublishedRow], name: str) -> list[PublishedRow]:
    """The rows of one process that have the additions of a setup: `1 GPU + AMP` for `DDP + AMP`.

    name: of the label.
    """
    own = additions(setup) - {*PLAIN}
    labels = [(row, row.label(name)) for row in rows if row.gpus == 1]
    found = [row for row, label in labels if label != setup and not is_distributed(label)]
    found = [row for row in found if own and additions(row.label(name)) - {*PLAIN} == own]
    return [replace(row, labels={**row.labels, name: "single"}) for row in found]


def _without(parts: dict[str, list[PublishedRow]], free: list[PublishedRow]) -> dict[str, list[PublishedRow]]:
    """The rows of each value that are not those of all; values without such rows are left out."""
    return {value: rest for value, part in parts.items() if (rest := [row for row in part if row not in free])}


def _by_placement(said: str, rows: list[PublishedRow]) -> list[tuple[str, list[PublishedRow]]]:
    """Splits rows by the devices on each node, if as many devices were measured on other numbers of nodes."""
    each = [row.gpus / nodes if (nodes := row.number("nodes")) else 1.0 if row.gpus == 1 else None for row in rows]
    placed = {(row.gpus, share) for row, share in zip(rows, each, strict=True)}
    alone = [row for row in rows if row.gpus == 1]
    alike = {tuple(sorted(row.labels.items())) for row in rows if len(alone) > 1 or row not in alone}
    if None in each or len(placed) == len({row.gpus for row in rows}) or len(alike) > 1:
        return [(said, rows)]
    parts: dict[float, list[PublishedRow]] = {}
    for row, share in zip(rows, each, strict=True):
        parts.setdefault(share or 0.0, []).append(row)
    single = [row for row in rows if row.gpus == 1]
    if len(single) == 1:  # it is the baseline of all
        others = {share: [row for row in part if row not in single] for share, part in parts.items()}
        parts = {share: [*single, *part] for share, part in others.items() if part}
    return [(f"{said} {share:g} on a node".strip(), part) for share, part in parts.items()]


def _named(name: str, value: str) -> str:
    return value if name in KINDS_OF_SETUP or not value.isascii() or not _is_number(value) else f"{name} {value}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
