"""Says which rows of a published series are of other setups or batches than the baseline."""

from collections.abc import Iterator, Sequence
from math import isclose

from scalestudy.analyse.published.batches import batch_per_gpu, global_batch
from scalestudy.analyse.published.series import BASES, KINDS_OF_SETUP, REMARKS, UNITS, is_undistributed
from scalestudy.analyse.published.table import Table
from scalestudy.diagnose.remark import Remark
from scalestudy.importers.columns.labels import are_advice, are_names, framework_of, is_length, is_other_work
from scalestudy.importers.counts.labels import name_without_devices, says_how_many
from scalestudy.importers.devices.degrees import is_degree
from scalestudy.importers.devices.hardware import hardware_of
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import FOOTNOTE, MEASURED, STATED, PublishedRow, PublishedTable
from scalestudy.importers.shape.variants import faster_settings

_OF_DEVICES = ("gpus", "nodes", "gpus_per_node")
"""Roles of labels that change with the devices since they are factors of them."""
_ALIKE = 0.1
"""Relative difference between the growth of the work and that of the devices."""

_NEARLY = 1.05
"""Ratio of two batches that are meant to be one: 2016 on 144 devices beside 2048 on 256."""


def other_setups(table: Table) -> Iterator[Remark]:
    """Return remarks on rows that differ in their model, hardware, framework, strategy or precision."""
    rows = [scale.row for scale in table.scales]
    lengths = [name for name in dict.fromkeys(name for row in rows for name in row.labels) if is_length(name)]
    for what in (*KINDS_OF_SETUP, *lengths):
        values = [row.label(what) for row in rows]
        if len({_distinct(what, value) for value in values} - {""}) > 1:
            yield _changes("sequence length" if what in lengths else what, rows, values)
    works = [name for name in dict.fromkeys(name for row in rows for name in row.labels) if is_other_work(name)]
    for what in works:
        values = [row.label(what) for row in rows]
        if len(set(values)) == len(values) > 1 and are_names(values):
            yield _changes(what, rows, values)


def settings_of_some(table: Table, printed: Sequence[PublishedRow]) -> Iterator[Remark]:
    """Return remarks on a footnote of some rows, and on a precision or a compiler that the baseline has not.

    `DDP + AMP` beside `1 GPU` is an example. Ratios are checked nevertheless.

    printed: the rows of the table with their own labels, which a baseline of several series may not have.
    """
    rows = [scale.row for scale in table.scales]
    if len(notes := {row.label(FOOTNOTE) for row in rows}) > 1:
        text = " and ".join(f"'{note}'" for note in sorted(notes - {""}))
        of = ", ".join(str(row.gpus) for row in rows if row.label(FOOTNOTE))
        yield Remark(
            "confounded", None, f"a footnote is of some rows only ({text} on {of}), so they may differ in it"
        )
    base = table.base or min(rows, key=lambda row: row.gpus, default=None)
    if base is None:
        return
    yield from _other_setting_of_the_base(base, [row for row in rows if row is not base])
    same = [row for row in printed if row.gpus == base.gpus and row.line == base.line and _is_same(row, base)]
    own = _faster(base).union(*map(_faster, same))
    more = {
        scale.row.gpus: added for scale in table.scales if (added := ", ".join(sorted(_faster(scale.row) - own)))
    }
    if more:
        pairs = ", ".join(f"{added} on {gpus}" for gpus, added in more.items())
        text = (
            f"some rows have a setting that the baseline has not ({pairs}), so their ratio is not of devices alone"
        )
        yield Remark("confounded", None, text)


def other_names(table: Table) -> Iterator[Remark]:
    """Return remarks on a label that names each row of a series otherwise, and not only by its devices.

    They are for series whose ratios the table does not print: who prints them compares the rows.
    """
    rows = [scale.row for scale in table.scales]
    for what in dict.fromkeys(name for row in rows for name in row.labels):
        if what in (*KINDS_OF_SETUP, *UNITS, *REMARKS) or is_length(what) or is_degree(what):
            continue
        values = [row.label(what) for row in rows]
        bare = set(map(name_without_devices, values)) - {""}
        based = are_advice(values) or bool({*map(str.lower, values)} & {*BASES})
        if len(set(values)) == len(values) and len(bare) > 1 and not based:
            pairs = ", ".join(f"{value} on {row.gpus}" for row, value in zip(rows, values, strict=True))
            text = f"the rows differ in {what} ({pairs}), so their ratio is of devices alone only if it"
            text += " changes nothing else"
            yield Remark("confounded", None, text)


def _other_setting_of_the_base(base: PublishedRow, others: Sequence[PublishedRow]) -> Iterator[Remark]:
    """Return remarks on a number that the rows of a series have in common, and the baseline of all series not."""
    for name, own in base.labels.items():
        values = {row.label(name) for row in others}
        of_devices = is_degree(name) or meaning_of(name).role in _OF_DEVICES
        if of_devices or len(values) != 1 or own in values or not all(map(_is_number, (own, *values))):
            continue
        text = f"the {name} is {own} on {base.gpus} and {values.pop()} on more devices, so the work may differ"
        yield Remark("confounded", None, text)


def _is_number(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _is_same(row: PublishedRow, other: PublishedRow) -> bool:
    """Whether two rows have a measurement in common."""
    kinds = (*MEASURED, *STATED)
    return any(row.numbers.get(role) == number for role, number in other.numbers.items() if role in kinds)


def _faster(row: PublishedRow) -> set[str]:
    """The settings of a row that make any number of devices faster."""
    return faster_settings(", ".join(row.labels.values()))


def as_the_base(table: Table) -> list[PublishedRow]:
    """Return the rows of one setup with the baseline, if they are on several numbers of devices; else none."""
    if table.base is None:
        return []
    base = table.base
    own = [
        scale.row
        for scale in table.scales
        if all(scale.row.label(what) == base.label(what) for what in KINDS_OF_SETUP)
    ]
    return own if len({row.gpus for row in own}) > 1 else []


def _distinct(what: str, value: str) -> str:
    """What of a label makes a setup another one; '' for nothing, such as the strategy of one process."""
    if what == "hardware":
        return hardware_of(value)
    if what == "framework":
        return framework_of(value)
    return "" if what == "strategy" and (is_undistributed(value) or says_how_many(value)) else value


def other_batches(table: Table) -> Iterator[Remark]:
    """Return remarks on rows in which neither the batch per device nor the global batch is constant."""
    rows = [scale.row for scale in table.scales]
    unsaid = [batch for row in rows if (batch := row.number("batch")) is not None]
    per_gpu, whole = [batch_per_gpu(row) for row in rows], [global_batch(row) for row in rows]
    of_neither = len(unsaid) == len(rows)
    if of_neither and None in per_gpu:  # whichever of the two it is
        per_gpu = [*unsaid]
        whole = [batch / row.gpus for batch, row in zip(unsaid, rows, strict=True)]
    if any(None in batches or _are_constant([*filter(None, batches)]) for batches in (per_gpu, whole)):
        return
    what, values = ("batch", unsaid) if of_neither else ("batch per device", per_gpu)
    yield _changes(what, rows, [f"{batch:g}" for batch in values])


def _are_constant(batches: Sequence[float]) -> bool:
    """Whether batches are one but for what a number of devices that does not divide it leaves over."""
    return not batches or max(batches) <= min(batches) * _NEARLY


def _changes(what: str, rows: Sequence[PublishedRow], values: Sequence[str]) -> Remark:
    pairs = ", ".join(f"{value or 'not stated'} on {row.gpus}" for row, value in zip(rows, values, strict=True))
    text = f"the {what} changes between rows ({pairs}), so their ratio is not a speedup"
    return Remark("confounded", None, text)


def _work_grows(rows: Sequence[PublishedRow]) -> bool:
    """Whether throughput times time, the work of a run, grows as the devices do."""
    work = [
        (row.gpus, rate * seconds)
        for row in rows
        if (rate := row.number("throughput")) and (seconds := row.number("total_time_s") or row.number("time_s"))
    ]
    least, first = min(work, default=(1, 1.0))
    return len({gpus for gpus, _ in work}) > 1 and all(
        isclose(done / first, gpus / least, rel_tol=_ALIKE) for gpus, done in work
    )


def labelled(table: Table, called: set[str], source: PublishedTable) -> Iterator[Remark]:
    """Return remarks on tables called strong with constant work of each device, or weak with a global batch."""
    rows = [scale.row for scale in table.scales]
    if called == {"weak"} and (odd := source.odd_size):
        text = f"{plain(odd.header)} is {odd.size:g}, {odd.size / odd.gpus:g} for each device, but {odd.usual:g}"
        yield Remark("work", odd.gpus, f"{text} in all other rows of this weak scaling")
    if called == {"strong"} and _work_grows(rows):
        text = "called strong, but throughput times time, the work of a run, grows with the devices: this is weak"
        yield Remark("label", None, f"{text} scaling")
        return
    if called == {"strong"} and source.grows_as_devices:
        size = plain(source.growing_size)
        yield Remark("label", None, f"called strong, but {size} grows as the devices do: this is weak scaling")
        return
    per_gpu = {batch_per_gpu(row) for row in rows}
    if len({row.gpus for row in rows}) < 2 or None in per_gpu:
        return
    kind, held = ("weak", "batch per device") if len(per_gpu) == 1 else ("strong", "global batch")
    if called & {"weak", "strong"} and called != {kind}:
        text = f"called {' and '.join(sorted(called))}, but the {held} is constant: this is {kind} scaling"
        if kind == "weak" and all(row.number("accumulation") is None for row in rows):
            text += ", unless gradients are accumulated, which the table does not say"
        yield Remark("label", None, text)
