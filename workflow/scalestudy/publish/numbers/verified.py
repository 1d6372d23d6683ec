"""The numbers of tried advice: before, predicted and after, and the runs behind them."""

from collections.abc import Iterator
from math import isnan

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.publish.numbers import keys
from scalestudy.publish.numbers.model import Number, PointSource, RunSource
from scalestudy.publish.numbers.rounding import printed_of, shown_as
from scalestudy.registry.column import Column
from scalestudy.registry.verified import ACCURACY_DIFFERENCE, GAIN, SIDES, TRIED
from scalestudy.registry.words.points import counted_ends
from scalestudy.verify.model import VerificationFile, Verified

MEASURED = ("before", "after")
"""Sides with runs."""


def verified_numbers(found: VerificationFile | None) -> Iterator[tuple[str, Number]]:
    """Key and number of everything measured or predicted for tried advice."""
    for one in found.verified if found else ():
        key, point = key_of(one), _point(one)
        for column in TRIED:
            for side, said in SIDES.items():
                where = f"{key}.{side}" if side in MEASURED else point
                value = getattr(one.quantities[column.name], side)
                yield from _entry(f"{key}.{side}", column, value, f"{column.meaning}; {said}", where)
        predicted = NOTHING if one.trial.predicted is None else one.trial.predicted.gain
        advice = f"of advice: {one.trial.change}"
        yield from _entry(f"{key}.predicted", GAIN, predicted, f"predicted gain {advice}", point)
        yield from _entry(key, GAIN, one.gain, f"measured gain {advice}", f"{key}.after")
        yield from _entry(
            key, ACCURACY_DIFFERENCE, one.accuracy_difference, ACCURACY_DIFFERENCE.meaning, f"{key}.after"
        )


def verified_points(found: VerificationFile | None) -> dict[str, PointSource]:
    """The points of the trials, `before` and `after`, by key, with the study's name of the workload."""
    points = {}
    for one in found.verified if found else ():
        key, trial = key_of(one), one.trial
        for name, place, side in (("before", trial.before, one.before), ("after", trial.after, one.after)):
            points[f"{key}.{name}"] = PointSource(
                **place.model_dump() | {"workload": trial.before.workload},
                **side.model_dump(exclude={"ends"}),
                outcomes=counted_ends(side.ends),
                base=None,
            )
    return points


def verified_runs(found: VerificationFile | None) -> dict[str, RunSource]:
    """The runs of the trials by id."""
    return {run: RunSource(**vars(made)) for run, made in found.runs.items()} if found else {}


def key_of(one: Verified) -> str:
    """The beginning of the keys of the advice's numbers."""
    return keys.verified_key(_point(one), one.trial.cause, one.trial.advice)


def _point(one: Verified) -> str:
    """Key of the study's point that the advice is for."""
    return keys.point_key(vars(one.trial.before) | {"world_size": one.before.world_size})


def _entry(key: str, column: Column, value: Interval, what: str, point: str) -> Iterator[tuple[str, Number]]:
    """The number of a column in the printed unit; nothing for nan."""
    printed = printed_of(column)
    values = tuple(number * printed.factor for number in vars(value).values())
    if not isnan(values[0]):
        limits = "interval" if column.limits == "none" else column.limits
        text = shown_as(column, values)
        yield f"{key}.{printed.name}", Number.of(text, values, printed.unit, what, limits=limits, point=point)
