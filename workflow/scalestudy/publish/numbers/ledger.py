"""The content of numbers.json, from the results of a study."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.forecast.fit import LAWS
from scalestudy.analyse.study.effort import effort_frame
from scalestudy.analyse.trace.summary import Trace
from scalestudy.diagnose.findings import Diagnosis, Evidence
from scalestudy.publish.numbers import keys
from scalestudy.publish.numbers.model import Number, NumbersFile, PointSource
from scalestudy.publish.numbers.payback import payback_numbers
from scalestudy.publish.numbers.provenance import run_sources
from scalestudy.publish.numbers.renamed import renamed_keys
from scalestudy.publish.numbers.rounding import (
    DASH,
    Shown,
    Values,
    printed_of,
    show,
    show_count,
    show_weight,
    shown_as,
    values_of,
)
from scalestudy.publish.numbers.verified import verified_numbers, verified_points, verified_runs
from scalestudy.publish.numbers.withheld import evidence_is_resolved
from scalestudy.publish.results import Results
from scalestudy.publish.traces import trace_numbers
from scalestudy.publish.words.goals import WORTH
from scalestudy.publish.words.points import FACTORS, PREDICTED, failure_word
from scalestudy.registry.codes import IntervalMethod, OverheadModel
from scalestudy.registry.column import Column, Row
from scalestudy.registry.estimates import BY_DIFFERENCE, communication_column, unresolved
from scalestudy.registry.points import FLOOR_QUANTITIES, HEADLINE, QUANTITIES
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan
from scalestudy.study.twins import twin_name

Entry = tuple[str, Number]

EFFORT = {
    "launches": ("launches", "", "number of runs", 1.0),
    "wall_time_min": ("wall_time_s", "min", "total wall time of the runs", 1 / 60),
    "waiting_min": ("waiting_time_s", "min", "time before the runs in which nothing was measured", 1 / 60),
    "device_hours": ("device_time_s", "h", "hours of all devices held, including idle ones", 1 / 3600),
    "idle_device_hours": ("idle_time_s", "h", "hours of devices that a job left idle", 1 / 3600),
}
"""Name in a key -> (column of the effort's frame, unit, meaning, factor from the column's unit to that unit)."""
EFFORT_SHARES = {
    "training_percent": ("training_wall_time_s", "share of training and validation in the wall time"),
    "probe_percent": ("probe_wall_time_s", "share of probes and traces in the wall time"),
}
"""Name in a key -> (column of the effort's frame, meaning)."""
LEAST_WEIGHT = 0.005
"""Smallest printed weight of a growth model: less would read as 0 %."""


def make_numbers(plan: Plan, results: Results) -> NumbersFile:
    """The content of numbers.json."""
    points = _points(plan, results.summary)
    points |= _twins(plan, results.runs, points)
    points |= verified_points(results.verification)
    entries = [
        *point_numbers(results.summary),
        *_of_forecasts(results.forecasts, points),
        *_of_factors(results.factors),
        *floor_numbers(results.floors),
        *_of_findings(results.findings, results.summary),
        *verified_numbers(results.verification),
        *numbers_of_traces(results.traces),
        *_of_effort(results.runs),
    ]
    numbers = dict(entries)
    assert len(numbers) == len(entries), "two numbers with one key"
    confidence = plan.study.report.confidence
    words = {"interval": f"{percent(confidence)} confidence", "range": "range over runs", "none": "none"}
    return NumbersFile(
        study=plan.study.name,
        scalestudy=__version__,
        confidence=confidence,
        points=points,
        runs=run_sources(results.runs) | verified_runs(results.verification),
        aliases=keys.aliases(plan.points),
        numbers={
            key: number.model_copy(update={"limits": words[number.limits]}) for key, number in numbers.items()
        },
        renamed={old: new for old, new in renamed_keys(results).items() if new in numbers},
    )


def _points(plan: Plan, summary: pd.DataFrame) -> dict[str, PointSource]:
    rows = {keys.point_key(row): row for row in summary.to_dict("records")}
    at = {point.runs: keys.key_of(point) for point in reversed(plan.points)}
    return {
        (key := keys.key_of(point)): PointSource(
            **point.model_dump(exclude={"runs", "base", "equal_batch"}),
            world_size=point.world_size,
            outcomes=outcomes(rows[key]),
            interval=rows[key]["interval"],
            base=at.get(point.base),
            runs=point.runs,
            base_runs=point.base,
        )
        for point in plan.points
    }


def _twins(plan: Plan, runs: pd.DataFrame, points: Mapping[str, PointSource]) -> dict[str, PointSource]:
    """The sources of the numbers in floors.csv: the second runs of a baseline, compared with the first ones."""
    bases = {point.runs: (key, point) for key, point in reversed([*points.items()])}
    made = runs[runs["outcome"] != "unneeded"].set_index("run_id")["outcome"]
    found = {}
    for twin in plan.twins:
        key, base = bases[twin.base]
        ends = made[made.index.isin(twin.runs)].value_counts()
        found[keys.floor_key(vars(twin))] = base.model_copy(
            update={
                "variant": twin_name(twin.variant),
                "scaling": "reference",
                "outcomes": ", ".join(f"{count} {end}" for end, count in ends.items()),
                "interval": IntervalMethod.T_WITHIN_REPEATS,
                "base": key,
                "runs": twin.runs,
                "base_runs": twin.base,
            }
        )
    return found


def floor_numbers(floors: pd.DataFrame) -> Iterator[Entry]:
    """All quantities of every row of floors.csv."""
    for row in floors.to_dict("records"):
        point = keys.floor_key(row)
        for name, column in FLOOR_QUANTITIES.items():
            text, values, unit, what = _read(row, column)
            if text.value != DASH:
                yield f"{point}.{name}", Number.of(text, values, unit, what, limits=column.limits, point=point)


def point_numbers(summary: pd.DataFrame) -> Iterator[Entry]:
    """All quantities of every point. A failed point has its outcome instead of the headline quantities."""
    for row in summary.to_dict("records"):
        point, failed, withheld = keys.point_key(row), failure_word(row), unresolved(row)
        for name, column in QUANTITIES.items():
            text, values, unit, what = _read(row, column)
            if text.value == DASH and failed and name in HEADLINE:
                text = Shown(failed)
            if text.value != DASH:
                number = Number.of(text, values, unit, what, limits=column.limits, point=point)
                yield (
                    f"{point}.{name}",
                    number.withheld(withheld[column.name]) if column.name in withheld else number,
                )


def _of_forecasts(forecasts: pd.DataFrame, points: Mapping[str, PointSource]) -> Iterator[Entry]:
    """The numbers of every forecast, each with the points on which it is based."""
    for row in forecasts.to_dict("records"):
        behind = tuple(_points_behind(row, points))
        for name in HEADLINE:
            text, values, unit, what = _read(row, QUANTITIES[name])
            if text.value != DASH:
                number = Number.of(text, values, unit, f"forecast: {what}", rests_on=behind)
                yield f"{keys.forecast_key(row)}.{name}", number
        for law, weight in law_percents(row).items():
            what = f"weight of the growth model of the overhead: {law}"
            yield keys.law_key(row, law), Number.of(show_count(weight), weight, "%", what, rests_on=behind)


def _points_behind(row: Row, points: Mapping[str, PointSource]) -> list[str]:
    """Keys of the points behind a forecast: baseline and series, or for another batch, one process by batch."""
    mine = {key: point for key, point in points.items() if point.workload == row["workload"]}
    named = (row["variant"], row["scaling"])
    series = [key for key, point in mine.items() if (point.variant, point.scaling) == named]
    bases = dict.fromkeys(base for key in series if (base := mine[key].base))
    if row["forecast_of"] == "scale":
        return [*(key for key in bases if key not in series), *series]
    here = [key for key in series if key == keys.point_key(row)]
    variants = {mine[key].variant for key in bases}
    alone = [key for key, point in mine.items() if point.world_size == 1 and point.variant in variants]
    return [*alone, *here]


def law_weights(row: Row) -> dict[str, float]:
    """The weight of every growth model of the overhead in a forecast, largest first."""
    found = {law: row[f"law_{law}_weight"] for law in LAWS}
    return dict(sorted(((law, w) for law, w in found.items() if not isnan(w)), key=lambda item: -item[1]))


def law_percents(row: Row) -> dict[str, int]:
    """The weights in rounded per cent; empty if the forecast has no weights."""
    if row["overhead_model"] != OverheadModel.LAWS:
        return {}
    return {law: round(100 * weight) for law, weight in law_weights(row).items() if weight >= LEAST_WEIGHT}


def _of_factors(factors: pd.DataFrame) -> Iterator[Entry]:
    for row in factors.to_dict("records"):
        limits = row["share"] * 100, row["share_low"] * 100, row["share_high"] * 100
        what = f"factor of efficiency: {FACTORS[row['factor']]}"
        number = Number.of(show(*limits), limits, "%", what, point=keys.point_key(row))
        yield keys.factor_key(row), number if row["resolved"] else number.withheld(row["repeats_to_resolve"])


def _of_findings(diagnoses: Sequence[Diagnosis], summary: pd.DataFrame) -> Iterator[Entry]:
    rows = {keys.point_key(row): row for row in summary.to_dict("records")}
    for diagnosis in diagnoses:
        point = keys.point_key(vars(diagnosis))
        row = rows[point]
        unknown = BY_DIFFERENCE if communication_column(row) in unresolved(row) else ()
        for kind, share in diagnosis.bottleneck.shares.items():
            what = f"share of {kind} in a step"
            number = Number.of(show_count(100 * share), 100 * share, "%", what, point=point)
            yield keys.share_key(point, kind), number.withheld() if kind in unknown else number
        for cause, weight in diagnosis.weights.items():
            number = Number.of(show_weight(weight), weight, "", f"weight of {cause}", point=point)
            yield keys.weight_key(point, cause), number
        for finding in diagnosis.named:
            for item in finding.evidence:
                what = f"evidence for {finding.cause}: {item.name}"
                limits = (item.value, item.low, item.high)
                number = Number.of(_evidence_shown(item), limits, item.unit, what, point=point)
                resolved = evidence_is_resolved(item, row["step_time_s"])
                yield keys.evidence_key(point, finding.cause, item.id), number if resolved else number.withheld()
        for cause, advice in (*diagnosis.recommendations, *diagnosis.uncertain):
            brings, what = keys.recommendation_key(point, cause, advice.id), f"prediction for: {advice.change}"
            for name, quantity in PREDICTED.items():
                found = quantity.of(advice.prediction)
                if not isnan(found.value):
                    limits = (found.value, found.low, found.high)
                    number = Number.of(show(*limits), limits, quantity.unit, what, point=point)
                    yield f"{brings}.{name}", number
            if diagnosis.goal in WORTH and not isnan(advice.worth.value):
                limits, of = tuple(vars(advice.worth).values()), f"worth of: {advice.change}"
                yield f"{brings}.worth", Number.of(show(*limits), limits, "", of, point=point)
            yield from payback_numbers(advice, brings, point)


def _evidence_shown(item: Evidence) -> Shown:
    """The text of a number of evidence; a count is printed in full."""
    counted = isnan(item.low) and not item.unit and (item.value or 0.5).is_integer()
    return show_count(item.value) if counted else show(item.value, item.low, item.high)


def numbers_of_traces(traces: Sequence[Trace]) -> Iterator[Entry]:
    """All numbers of the summaries of traces."""
    for trace in traces:
        for name, text, value, unit, what in trace_numbers(trace):
            yield f"trace.{trace.run_id}.{name}", Number.of(text, value, unit, what)


def _of_effort(runs: pd.DataFrame) -> Iterator[Entry]:
    """The cost of all runs, of each workload's runs, and of each variant's runs."""
    frame = effort_frame(runs)
    portions: dict[tuple[str, ...], pd.DataFrame] = {(): frame}
    for workload, mine in frame.groupby("workload", sort=False):
        portions[str(workload),] = mine
        for variant, part in mine.groupby("variant", sort=False):
            portions[str(workload), str(variant)] = part
    for words, part in portions.items():
        for name, (column, unit, what, factor) in EFFORT.items():
            value = float(part[column].sum()) * factor
            text = show(value) if unit else show_count(value)
            yield keys.effort_key(*words, name), Number.of(text, value, unit, what)
        for name, (column, what) in EFFORT_SHARES.items():
            share = 100 * float(part[column].sum(skipna=False) / part["wall_time_s"].sum())
            if not isnan(share):
                yield keys.effort_key(*words, name), Number.of(show_count(share), share, "%", what)


def _read(row: Row, column: Column) -> tuple[Shown, Values, str, str]:
    """(text, value and limits, unit, meaning) of a column."""
    values = values_of(row, column)
    return shown_as(column, values), values, printed_of(column).unit, column.meaning
