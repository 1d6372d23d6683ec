"""What the columns of a published table leave open is decided by its own numbers, or asked for.

A throughput may be per device or of all devices, a time that of a step or of a whole training, "weak scaling" a
speedup or an efficiency. The reading that explains most of the printed speedups and efficiencies is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log

from scalestudy.analyse.published.alike import NEAR, alike
from scalestudy.analyse.published.batches import global_batch
from scalestudy.analyse.published.explained import (
    CLOSE,
    Rate,
    Way,
    are_below_one,
    best_explained,
    constant_work,
    explained_by,
    explains_all,
    is_beyond_its_devices,
    ratios_of,
    shows_constant_work,
)
from scalestudy.analyse.published.growth import FALLS, HARDLY, falls, gain, hardly, in_order, time_grows
from scalestudy.analyse.published.series import Series, is_of_one_setup, without_serial
from scalestudy.analyse.published.work_shown import (
    WHOLE_TIMES,
    is_of_constant_batches,
    is_of_constant_work,
    is_of_growing_work,
)
from scalestudy.importers.headers.units import is_of_a_simulation
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import (
    BY_SIZE,
    BY_USER,
    MEASURED,
    OF_STEPS,
    RATES,
    PublishedRow,
    PublishedTable,
)

PER_DEVICE, TOGETHER, WEAK, STRONG, TOTAL = "per device", "together", "weak", "strong", "total"
TIMES = WHOLE_TIMES
FALLING = {"time_s": TOTAL, "total_time_s": TOTAL, "step_time_s": STRONG}
"""How a time is read that falls as devices are added: the work that it is for is constant."""
_ANSWERED = {WEAK: (WEAK,), STRONG: (TOTAL, STRONG)}
"""Kind of scaling that the user says -> readings of a time."""
_CLEARLY = 0.85
"""Share of the first number below which the last one is said to fall."""
EPOCH = "epoch"
"""Word of a header of times that states the work: one pass over the data."""


@dataclass(frozen=True)
class Question:
    """What a table does not say and its numbers do not show. `kind` is a role of a column."""

    kind: str
    header: str
    fewest: int
    most: int
    first: float
    last: float

    @property
    def course(self) -> str:
        """How the numbers change, in words."""
        return "falls" if self.last < self.first * _CLEARLY else "hardly changes"


@dataclass(frozen=True)
class Settled:
    """The series of a table with their numbers in one form: a throughput of all devices, or work over time."""

    series: tuple[Series, ...]
    rate: str
    """Column that the throughputs are from: one of importers.published.MEASURED; empty if there is none."""
    whose: str
    """PER_DEVICE, TOGETHER, WEAK, STRONG or TOTAL."""
    stated: str
    """'speedup' or 'efficiency': what a column of scaling ratios is; empty if there is none."""
    by_numbers: bool
    """Whether the table's numbers decided it, not its words."""
    outside: tuple[PublishedRow, ...] = ()
    """The rows on no device in the same form."""

    @property
    def given(self) -> str:
        """What the ratios are recomputed from, in words."""
        return f"{self.each}s"

    @property
    def each(self) -> str:
        """What a row has of it, in words."""
        return "time" if self.rate in ("step_time_s", *TIMES) else "throughput"


def settle(table: PublishedTable, series: Sequence[Series], *, answer: str = "") -> Settled | Question:
    """Return the series in one form, or the question that has to be answered before.

    answer: PER_DEVICE, TOGETHER, WEAK or STRONG, if the user says it; without effect on a table that says more.
    """
    rows = [row for one in series for row in one.rows]
    rates = [way for role in _measured(rows) for way in _ways(table, rows, role)] or [("", "", lambda row: None)]
    whole = [
        way for way in rates if way[0] in TIMES and len({row.gpus for row in rows if way[0] in row.numbers}) > 1
    ]
    if rates[0][0] in OF_STEPS and rates[0][1] in (WEAK, STRONG) and whole and not table.scaling and not answer:
        rates = best_explained(series, rates, whole)
    printed = sum(ratios_of(one.rows) for one in series)
    rated = rates[0][0] in RATES and bool(whole) and not explains_all(series, rates, printed)
    if rated and explains_all(series, whole, printed):
        rates = whole
    first = rates[0][0]
    rates = [way for way in rates if way[0] == first]
    constant = first == "step_time_s" and rates[0][1] == "" and shows_constant_work(series, rates[0][2], printed)
    if constant:
        rates = [(first, STRONG, constant_work)]
    if table.scaling == WEAK and is_of_growing_work(table, rows):
        rates = [way for way in rates if way[1] == WEAK] or rates
    rates = [way for way in rates if way[1] == answer] or rates
    if table.scaling_by == BY_USER:
        rates = [way for way in rates if way[1] in _ANSWERED.get(table.scaling, ())] or rates
    ratios = ("speedup", "efficiency") if any("scaling_ratio" in row.numbers for row in rows) else ("",)
    scores = {
        (whose, stated): explained_by(series, rate, stated) for (_, whose, rate), stated in product(rates, ratios)
    }
    whose, stated = max(scores, key=lambda way: scores[way])
    weak = [way[2] for way in rates if way[1] == WEAK]
    if whose == WEAK and len(rates) > 1 and any(is_beyond_its_devices(series, rate) for rate in weak):
        rates = [way for way in rates if way[1] != WEAK]
        scores = {way: score for way, score in scores.items() if way[0] != WEAK}
        whose, stated = max(scores, key=lambda way: scores[way])
    best = scores[whose, stated]
    rivals = {one for one, _ in scores if one != whose and any(scores[one, kind] == best for kind in ratios)}
    undecided = bool(rivals) or best <= printed / 2
    if undecided and len(rates) > 1:
        found = _without_ratios(table, series, first, rates)
        if isinstance(found, Question) and not (printed and found.kind in TIMES):
            return found
        whose = TOTAL if isinstance(found, Question) else found  # a speedup of times is one of constant work
        stated = max(ratios, key=lambda kind: scores[whose, kind])
    stated = "efficiency" if not best and len(ratios) > 1 and are_below_one(series) else stated
    formed = tuple(
        replace(one, rows=tuple(_formed(row, first, whose, stated) for row in one.rows)) for one in series
    )
    outside = tuple(_formed(row, first, whose, stated) for row in table.outside)
    by_numbers = constant or (len(rates) > 1 and not undecided)
    return Settled(formed, first, whose, stated, by_numbers, outside)


def _measured(rows: Sequence[PublishedRow]) -> list[str]:
    """Columns to compute from, the best first: those that two scales have, then those that one has."""
    scales = {role: {row.gpus for row in rows if role in row.numbers} for role in MEASURED}
    known = [role for role in MEASURED if scales[role]]
    return sorted(known, key=lambda role: len(scales[role]) < 2)


def _ways(table: PublishedTable, rows: Sequence[PublishedRow], role: str) -> Iterator[Way]:
    """The possible readings of a column, the most usual first. rows: of all series, with their settled batches."""
    column = table.column(role)

    def value(row: PublishedRow) -> float | None:
        number = row.number(role)
        return number if number is not None and number > 0 else None

    def over(work: Callable[[PublishedRow], float | None]) -> Rate:
        def rate(row: PublishedRow) -> float | None:
            time, done = value(row), work(row)
            return None if time is None or done is None else done / time

        return rate

    def times(work: Callable[[PublishedRow], float | None]) -> Rate:
        return lambda row: None if (each := value(row)) is None or (done := work(row)) is None else each * done

    rows = [row for row in rows if role in row.numbers]
    batches = all(global_batch(row) is not None for row in rows)
    if role == "throughput":
        yield role, TOGETHER, value
        if (column is None or column.per != "all") and not any(row.label("throughput_unit") for row in rows):
            yield role, PER_DEVICE, times(lambda row: row.gpus)
    elif role == "throughput_per_gpu":
        yield role, PER_DEVICE, times(lambda row: row.gpus)
    elif role in OF_STEPS:
        by = over if role == "step_time_s" else times
        if batches:
            yield role, "", by(global_batch)
        else:
            yield role, WEAK, by(lambda row: row.gpus)
            yield role, STRONG, by(lambda row: 1.0)
    else:
        yield role, TOTAL, over(lambda row: 1.0)
        if role == "time_s" or table.scaling or time_grows(rows, role, CLOSE):
            yield role, WEAK, over(lambda row: row.gpus)


def _by_utilization(rows: Sequence[PublishedRow]) -> str:
    """WEAK or STRONG if the share of the peak times the step time, the work of a device, shows it; else ''."""
    known = [(row.number("utilization") or 0.0, row.number("step_time_s") or 0.0, row.gpus) for row in rows]
    if len({gpus for *_, gpus in known}) < 2 or not all(used > 0 for used, *_ in known):
        return ""
    each, all_ = ([used * time * gpus**power for used, time, gpus in known] for power in (0, 1))
    return WEAK if alike(each, CLOSE) else STRONG if alike(all_, CLOSE) else ""


def _without_ratios(
    table: PublishedTable, series: Sequence[Series], role: str, rates: Sequence[Way]
) -> str | Question:
    """Decides a reading without printed speedups: by batch and step time, by its growth, or by a question."""
    rows = [row for one in series for row in one.rows if (row.number(role) or 0) > 0]
    if role == "throughput":
        together = per_device = 0
        for row in rows:
            batch, time = global_batch(row), row.number("step_time_s")
            if batch and time and "step_time_s" not in table.unknown_units:
                ratio = batch / time / (row.number(role) or 1)
                together += abs(log(ratio)) < CLOSE
                per_device += abs(log(ratio / row.gpus)) < CLOSE and row.gpus > 1
        both = [(row, row.number("throughput_per_gpu")) for row in rows]
        shares = [((row.number(role) or 0) / each, row.gpus) for row, each in both if each]
        if len({gpus for _, gpus in shares}) > 1:
            # Proportional to a rate per device, such as TFLOP/s beside tokens/s.
            per_device += alike([ratio for ratio, _ in shares], NEAR)
            together += alike([ratio / gpus for ratio, gpus in shares], CLOSE)
        for one in series:
            together += is_of_constant_work(one.rows, role) or is_of_constant_batches(one.rows, role)
        if together or per_device:
            return PER_DEVICE if per_device > together else TOGETHER
    if role in OF_STEPS and table.scaling:
        return table.scaling
    if role == "step_time_s" and (kind := _by_utilization(rows)):
        return kind
    if role in TIMES and not table.scaling and len({global_batch(row) or id(row) for row in rows}) == 1:
        return TOTAL
    column = table.column(role)
    if role == "throughput" and column and is_of_a_simulation(column.unit, column.header):
        # the rate of one simulation, whose work may grow with the devices
        return PER_DEVICE if table.scaling == WEAK else TOGETHER
    grown = [known for one in series if len(known := in_order(without_serial(one.rows), role)) > 1]
    grown = [known for known in grown if is_of_one_setup(known)] or grown  # else another setup may be faster
    below = HARDLY[0] if table.scaling == WEAK else FALLS
    other_work = role in OF_STEPS and len({row.number("batch") for row in rows}) > 1
    if role in TIMES and table.scaling == WEAK and table.scaling_by == BY_SIZE:
        return WEAK  # the work of each device is printed, so that less time does not show constant work
    fallen = [known for known in grown if falls(known, role, below)]
    # one of several parts of the work that falls a little may be noise
    enough = 2 * len(fallen) >= len(grown) > 0 or any(falls(known, role, HARDLY[0]) for known in fallen)
    if role in FALLING and not other_work and enough and (table.scaling or not table.growing_size):
        return FALLING[role]
    if role == "steps_per_s" and not other_work and any(gain(known, role) > hardly(known) for known in grown):
        return STRONG  # steps of more samples would not get faster
    if role == "throughput" and any(gain(known, role) > hardly(known) for known in grown):
        return TOGETHER  # one column has one meaning, so a series that grows shows it for the others
    for known in grown:
        few, many = known[0], known[-1]
        change = gain(known, role)
        if role in TIMES and table.scaling:
            return WEAK if table.scaling == WEAK else TOTAL
        if role == "total_time_s" and (change <= 1 + CLOSE or (column and EPOCH in column.header.lower())):
            return TOTAL
        first, rates_of = few.number(role) or 1.0, [(row.number(role) or 0.0, row.gpus) for row in known]
        never = change < HARDLY[0] and all(rate <= first for rate, _ in rates_of)
        less = never and any(rate * gpus > first * few.gpus for rate, gpus in rates_of)  # per device
        if role == "throughput" and column and column.per == "all":
            continue
        if role != "throughput" or less or HARDLY[0] <= change <= hardly(known):
            return Question(role, column.header if column else role, few.gpus, many.gpus, first, rates_of[-1][0])
    return rates[0][1]


def _formed(row: PublishedRow, role: str, whose: str, stated: str) -> PublishedRow:
    """The row with a throughput of all devices, or with the work that its time is for."""
    ratio = row.numbers.get("scaling_ratio")
    if ratio is not None:
        row = row.having(**{"scaling_ratio": None, f"printed_{stated or 'speedup'}": ratio})
    per_gpu = row.numbers.get("throughput_per_gpu")
    if role == "throughput" and whose == PER_DEVICE:
        row = row.having(throughput=row.throughput.times(row.gpus) if row.throughput else None)
    elif role == "throughput_per_gpu" and per_gpu is not None:
        row = row.having(throughput=per_gpu.times(row.gpus), throughput_per_gpu=None)
    elif role == "steps_per_s" and "steps_per_s" in row.numbers:
        work = {WEAK: float(row.gpus), STRONG: 1.0}.get(whose, global_batch(row) or 0.0)
        row = row.having(throughput=row.numbers["steps_per_s"].times(work) if work > 0 else None)
    elif role in ("step_time_s", "total_time_s", "time_s"):
        done = {WEAK: float(row.gpus), STRONG: 1.0, TOTAL: 1.0}.get(whose)
        time = row.numbers.get(role)
        if role != "step_time_s":
            row = row.having(whole_time_s=time)
        row = row.having(work=Printed(done) if done is not None else None, throughput=None)
    return row
