"""The work of a step of a published row: its unit, and whether its time and its throughput give it."""

from __future__ import annotations

from dataclasses import dataclass

from scalestudy.analyse.published.batches import global_batch
from scalestudy.importers.headers.batches import tokens_of_one
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.throughputs import SAME
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import PublishedRow, PublishedTable


@dataclass(frozen=True)
class StepWork:
    """What a step of all devices does."""

    batch: int | None
    """In samples, or in tokens if `in_tokens`; None if it is not known."""
    unit: str
    """Unit of the throughput; `tokens` also without one if the batch counts tokens; '' if nothing says it."""
    in_tokens: bool
    missing: tuple[str, ...] = ()
    """What has to be added, as one question."""
    remarks: tuple[str, ...] = ()


def work_of_step(table: PublishedTable, row: PublishedRow, unit: str, given: Given, *, rated: bool) -> StepWork:
    """Return the work of a step of a row. A batch that the user gives is in the unit of the throughput.

    unit: of the throughput; '' if nothing says it. rated: whether the measurement is a throughput.
    """
    of_all = global_batch(row)
    column = next(
        (one for role in ("global_batch", "batch_per_gpu", "batch") if (one := table.column(role))), None
    )
    name = column.header if column else "its batch"
    tokens = tokens_of_one(name)
    printed = 0 if of_all is None else round(of_all * (tokens or 1.0))
    batch = given.batch_on(row.gpus)
    if batch is not None:
        in_tokens = unit == "tokens"
        differs = printed not in (0, batch) and in_tokens == (tokens is not None)
        instead = f"Caution: a step is {batch}, as the options say, and not {printed}, as {name} says"
        return StepWork(batch, unit, in_tokens, remarks=(instead,) if differs else ())
    if not printed:
        return StepWork(None, unit, in_tokens=False)
    if tokens is not None and (unit == "tokens" or not rated):
        return StepWork(printed, "tokens", in_tokens=True)
    length = given.sequence_length
    if tokens is not None and unit == "samples":
        why = f"{name} counts tokens, and the throughput samples; add --sequence-length N"
        return StepWork(round(printed / length) if length else None, unit, False, () if length else (why,))
    if unit == "tokens" and length is None:
        why = (
            f"its throughput counts tokens, and {name} perhaps samples; add --sequence-length N, or"
            f" --sequence-length 1 if {name} counts tokens"
        )
        return StepWork(printed, unit, False, (why,))
    return StepWork(printed, unit, in_tokens=False)


def contradiction(
    table: PublishedTable, row: PublishedRow, role: str, rate: float, work: StepWork, given: Given
) -> str:
    """Return why the throughput of a row times its step time is not the work of its step; '' if it is, or if the
    row does not show it.

    role: of the throughput. rate: that of all devices, per second.
    """
    length = 1 if work.in_tokens or work.unit != "tokens" else given.sequence_length
    kind = next((kind for kind in ("step_time_s", "steps_per_s") if kind in row.numbers), "")
    quantiles = any(table.is_of_a_quantile(one) for one in (role, kind))
    if work.batch is None or length is None or not kind or quantiles or work.unit not in ("samples", "tokens"):
        return ""
    printed, done = row.numbers[kind], work.batch * length
    if kind in table.unknown_units or not printed.value > 0:
        return ""
    time_s = printed.value if kind == "step_time_s" else 1 / printed.value
    by_both = rate * time_s
    rounding = _rounding(printed) + (_rounding(shown) if (shown := row.numbers.get(role)) else 0.0)
    if abs(by_both / done - 1) <= SAME + rounding:
        return ""
    time, rates = (table.column(one) for one in (kind, role))
    names = [column.header for column in (rates, time) if column]
    return (
        f"{rate:.4g} {work.unit}/s on all devices times {time_s * 1e3:.4g} ms per step are {by_both:.4g}"
        f" {work.unit}, and a step is {done}: a number is wrong, or is of something else. Correct it, or leave out"
        f" {' or '.join(names)} with --column '{names[-1]}=ignore'"
    )


def _rounding(number: Printed) -> float:
    """Largest relative error of a number by its printed digits."""
    return number.last / 2 / number.value if number.value else 0.0
