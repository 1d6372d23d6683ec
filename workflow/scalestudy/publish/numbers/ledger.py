"""The content of numbers.json, from the results of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.trace.summary import Trace
from scalestudy.publish.numbers.keys import (
    aliases,
    evidence_key,
    factor_key,
    forecast_key,
    key_of,
    law_key,
    point_key,
    prediction_key,
    share_key,
)
from scalestudy.publish.numbers.model import Number, NumbersFile, PointSource, RunSource
from scalestudy.publish.numbers.quantities import Values, shown_as, values_of
from scalestudy.publish.numbers.renamed import renamed_keys
from scalestudy.publish.numbers.rounding import DASH, Shown, show, show_count
from scalestudy.publish.results import Results, failure_word
from scalestudy.publish.traces import trace_numbers
from scalestudy.publish.views.diagnoses import PREDICTED, evidence_shown
from scalestudy.publish.views.effort import effort_numbers
from scalestudy.publish.views.forecasts import points_behind
from scalestudy.publish.words.laws import law_percents
from scalestudy.publish.words.points import FACTORS
from scalestudy.registry.column import Column, Row
from scalestudy.registry.points import HEADLINE, QUANTITIES
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan

Entry = tuple[str, Number]


def make_numbers(plan: Plan, results: Results) -> NumbersFile:
    """The content of numbers.json."""
    points = _points(plan, results.summary)
    entries = [
        *point_numbers(results.summary),
        *_of_forecasts(results.forecasts, points),
        *_of_factors(results.factors),
        *_of_findings(results),
        *numbers_of_traces(results.traces),
        *_of_effort(results),
    ]
    numbers = dict(entries)
    assert len(numbers) == len(entries), "two numbers with one key"
    confidence = plan.study.report.confidence
    words = {"interval": f"{confidence:.0%} confidence", "range": "range of launches", "none": "none"}
    rows = results.runs.astype(object).where(results.runs.notna(), None).to_dict("records")
    return NumbersFile(
        study=plan.study.name,
        scalestudy=__version__,
        confidence=confidence,
        points=points,
        runs={
            row["run_id"]: RunSource(**{name: row[name] for name in RunSource.model_fields if name in row})
            for row in rows
        },
        aliases=aliases(plan.points),
        numbers={
            key: number.model_copy(update={"limits": words[number.limits]}) for key, number in numbers.items()
        },
        renamed={old: new for old, new in renamed_keys(results).items() if new in numbers},
    )


def _points(plan: Plan, summary: pd.DataFrame) -> dict[str, PointSource]:
    rows = {point_key(row): row for row in summary.to_dict("records")}
    at = {point.runs: key_of(point) for point in reversed(plan.points)}
    return {
        (key := key_of(point)): PointSource(
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


def point_numbers(summary: pd.DataFrame) -> Iterator[Entry]:
    """All quantities of every point; where a point has none, the outcome stands for the headline."""
    for row in summary.to_dict("records"):
        point, failed = point_key(row), failure_word(row)
        for name, column in QUANTITIES.items():
            text, values = _read(row, column)
            if text.value == DASH and failed and name in HEADLINE:
                text = Shown(failed)
            if text.value != DASH:
                yield _entry(f"{point}.{name}", text, values, *_about(column), column.limits, point)


def _of_forecasts(forecasts: pd.DataFrame, points: dict[str, PointSource]) -> Iterator[Entry]:
    """Each with the points that it rests on."""
    for row in forecasts.to_dict("records"):
        behind = tuple(points_behind(row, points))
        for name in HEADLINE:
            (text, values), (unit, what) = _read(row, QUANTITIES[name]), _about(QUANTITIES[name])
            if text.value != DASH:
                key = f"{forecast_key(row)}.{name}"
                yield _entry(key, text, values, unit, f"forecast: {what}", "interval", rests_on=behind)
        for law, percent in law_percents(row).items():
            key, what = law_key(row, law), f"weight of the law of overhead: {law}"
            yield _entry(key, show_count(percent), (percent, nan, nan), "%", what, rests_on=behind)


def _of_factors(factors: pd.DataFrame) -> Iterator[Entry]:
    for row in factors.to_dict("records"):
        point = point_key(row)
        limits = row["share"] * 100, row["share_low"] * 100, row["share_high"] * 100
        key, what = factor_key(row), f"factor of efficiency: {FACTORS[row['factor']]}"
        yield _entry(key, show(*limits), limits, "%", what, "interval", point)


def _of_findings(results: Results) -> Iterator[Entry]:
    for diagnosis in results.findings:
        point = point_key(vars(diagnosis))
        for kind, share in diagnosis.bottleneck.shares.items():
            value = (share * 100, nan, nan)
            key, what = share_key(point, kind), f"share of {kind} in a step"
            yield _entry(key, show_count(100 * share), value, "%", what, point=point)
        for finding in diagnosis.findings:
            for item in finding.evidence:
                key, limits = evidence_key(point, finding.cause, item.id), (item.value, item.low, item.high)
                what = f"evidence for {finding.cause}: {item.name}"
                yield _entry(key, evidence_shown(item), limits, item.unit, what, "interval", point)
        for cause, advice in diagnosis.recommendations:
            for name, quantity in PREDICTED.items():
                found = quantity.of(advice.prediction)
                if not isnan(found.value):
                    limits, what = (found.value, found.low, found.high), f"prediction for: {advice.change}"
                    key = prediction_key(point, cause, advice.id, name)
                    yield _entry(key, show(*limits), limits, quantity.unit, what, "interval", point)


def numbers_of_traces(traces: Sequence[Trace]) -> Iterator[Entry]:
    """All numbers of the summaries of traces."""
    for trace in traces:
        for name, text, value, unit, what in trace_numbers(trace):
            yield _entry(f"trace.{trace.run_id}.{name}", text, (value, nan, nan), unit, what)


def _of_effort(results: Results) -> Iterator[Entry]:
    for key, text, value, unit, what in effort_numbers(results.runs):
        yield _entry(key, text, (value, nan, nan), unit, what)


def _read(row: Row, column: Column) -> tuple[Shown, Values]:
    values = values_of(row, column)
    return shown_as(column, values), values


def _about(column: Column) -> tuple[str, str]:
    """(unit as it is printed, what it is)."""
    assert column.printed is not None, f"{column.name} is not printed"
    return column.printed.unit, column.meaning


def _entry(
    key: str,
    text: Shown,
    limits: Values,
    unit: str,
    what: str,
    kind: str = "none",
    point: str | None = None,
    rests_on: tuple[str, ...] = (),
) -> Entry:
    value, low, high = limits if text.low else (limits[0], nan, nan)
    return key, Number(
        value=value,
        low=low,
        high=high,
        unit=unit,
        shown=text,
        limits=kind if text.low else "none",
        what=what,
        point=point,
        rests_on=rests_on,
    )
