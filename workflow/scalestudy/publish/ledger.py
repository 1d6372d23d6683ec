"""numbers.json: every number that a document prints, by key, with its unit, its limits and the runs behind it.

    {"schema_version": 1, "study": ..., "scalestudy": "0.1.0", "confidence": 0.95,
     "points": {POINT: where it was measured, its base case, its runs},
     "runs": {RUN: outcome, checksum of its record, commit, dirty or clean},
     "aliases": {shorter key of a point: POINT},
     "numbers": {KEY: value, low, high, unit, shown, limits, what, point}}

`shown` is what documents print: [value, low, high] as text, without limits [value]. A forecast is of no
point that was measured: `from` has those that it rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.publish.diagnoses import PREDICTED, evidence_shown
from scalestudy.publish.effort import effort_numbers
from scalestudy.publish.forecasts import points_behind
from scalestudy.publish.keys import (
    aliases,
    evidence_keys,
    factor_key,
    forecast_key,
    key_of,
    law_key,
    point_key,
    prediction_key,
    share_key,
)
from scalestudy.publish.quantities import HEADLINE, QUANTITIES
from scalestudy.publish.results import Results, failure_word
from scalestudy.publish.rounding import DASH, Shown, show, show_count
from scalestudy.publish.traces import trace_numbers
from scalestudy.publish.words.factors import MEANINGS
from scalestudy.publish.words.intervals import METHODS
from scalestudy.publish.words.laws import law_percents
from scalestudy.registry.words.outcomes import outcomes
from scalestudy.study.plan import Plan

SCHEMA_VERSION = 1
RUN_COLUMNS = ("outcome", "record_sha256", "fingerprint", "commit", "dirty", "started_at")

Entry = tuple[str, dict[str, Any]]


def make_numbers(plan: Plan, results: Results) -> dict[str, Any]:
    """The content of numbers.json."""
    points = _points(plan, results.summary)
    entries = [
        *_of_points(results.summary),
        *_of_forecasts(results.forecasts, points),
        *_of_factors(results.factors),
        *_of_findings(results),
        *_of_traces(results),
        *_of_effort(results),
    ]
    numbers = dict(entries)
    assert len(numbers) == len(entries), "two numbers with one key"
    confidence = plan.study.report.confidence
    words = {"interval": f"{confidence:.0%} confidence", "range": "range of launches", "none": "none"}
    for number in numbers.values():
        number["limits"] = words[number["limits"]]
    return {
        "schema_version": SCHEMA_VERSION,
        "study": plan.study.name,
        "scalestudy": __version__,
        "confidence": confidence,
        "points": points,
        "runs": {
            row["run_id"]: {name: _plain(row[name]) for name in RUN_COLUMNS if name in row}
            for row in results.runs.to_dict("records")
        },
        "aliases": aliases(plan.points),
        "numbers": numbers,
    }


def find(numbers: dict[str, Any], key: str) -> tuple[str, dict[str, Any]] | None:
    """(full key, number) for a key or a shorter one; None where there is none such."""
    if key in numbers["numbers"]:
        return key, numbers["numbers"][key]
    for short, point in numbers["aliases"].items():
        full = f"{point}{key.removeprefix(short)}"
        if key.startswith(f"{short}.") and full in numbers["numbers"]:
            return full, numbers["numbers"][full]
    return None


def _points(plan: Plan, summary: pd.DataFrame) -> dict[str, dict[str, Any]]:
    rows = {point_key(row): row for row in summary.to_dict("records")}
    at = {point.runs: key_of(point) for point in reversed(plan.points)}
    found = {}
    for point in plan.points:
        row = rows[key_of(point)]
        found[key_of(point)] = {
            name: _plain(row[name])
            for name in (
                *("workload", "variant", "scaling", "nodes", "devices_per_node", "world_size"),
                *("batch_per_rank", "global_batch"),
            )
        } | {
            "outcomes": outcomes(row),
            "interval": METHODS[row["interval"]],
            "base": at.get(point.base),
            "runs": list(point.runs),
            "base_runs": list(point.base),
        }
    return found


def _of_points(summary: pd.DataFrame) -> Iterator[Entry]:
    """All quantities of every point; where a point has none, the outcome stands for the headline."""
    for row in summary.to_dict("records"):
        point, failed = point_key(row), failure_word(row)
        for name, quantity in QUANTITIES.items():
            text = quantity.shown(row)
            if text.value == DASH and not (failed and name in HEADLINE):
                continue
            text = Shown(failed) if text.value == DASH else text
            limits = quantity.of(row)
            yield _entry(f"{point}.{name}", text, limits, quantity.unit, quantity.what, quantity.limits, point)


def _of_forecasts(forecasts: pd.DataFrame, points: dict[str, dict[str, Any]]) -> Iterator[Entry]:
    """Each with the points that it rests on."""
    for row in forecasts.to_dict("records"):
        behind = {"from": points_behind(row, points)}
        for name in HEADLINE:
            quantity = QUANTITIES[name]
            if (text := quantity.shown(row)).value != DASH:
                key, what = f"{forecast_key(row)}.{name}", f"forecast: {quantity.what}"
                _, number = _entry(key, text, quantity.of(row), quantity.unit, what, "interval", None)
                yield key, number | behind
        for law, percent in law_percents(row).items():
            key, what = law_key(row, law), f"weight of the law of overhead: {law}"
            _, number = _entry(key, show_count(percent), (percent, None, None), "%", what, "none", None)
            yield key, number | behind


def _of_factors(factors: pd.DataFrame) -> Iterator[Entry]:
    for row in factors.to_dict("records"):
        point = point_key(row)
        limits = tuple(row[name] * 100 for name in ("share", "share_low", "share_high"))
        key, what = factor_key(row), f"factor of efficiency: {MEANINGS[row['factor']]}"
        yield _entry(key, show(*limits), limits, "%", what, "interval", point)


def _of_findings(results: Results) -> Iterator[Entry]:
    for diagnosis in results.findings:
        point = point_key(diagnosis)
        for kind, share in diagnosis["bottleneck"]["shares"].items():
            value = (share * 100, None, None)
            key, what = share_key(point, kind), f"share of {kind} in a step"
            yield _entry(key, Shown(f"{share:.0%}".removesuffix("%")), value, "%", what, "none", point)
        for finding in diagnosis["findings"]:
            for key, item in zip(evidence_keys(point, finding), finding["evidence"], strict=True):
                limits = (item["value"], item["low"], item["high"])
                what = f"evidence for {finding['cause']}: {item['name']}"
                yield _entry(key, evidence_shown(item), limits, item["unit"], what, "interval", point)
        for index, item in enumerate(diagnosis["recommendations"], start=1):
            for name, quantity in PREDICTED.items():
                text, limits = quantity.of(item["prediction"])
                if text.value != DASH:
                    key = prediction_key(point, index, name)
                    what = f"prediction for: {item['change']}"
                    yield _entry(key, text, limits, quantity.unit, what, "interval", point)


def _of_traces(results: Results) -> Iterator[Entry]:
    for trace in results.traces:
        for name, text, value, unit, what in trace_numbers(trace):
            yield _entry(f"trace.{trace['run_id']}.{name}", text, (value, None, None), unit, what, "none", None)


def _of_effort(results: Results) -> Iterator[Entry]:
    for key, text, value, unit, what in effort_numbers(results.runs):
        yield _entry(key, text, (value, None, None), unit, what, "none", None)


def _entry(key: str, text: Shown, limits: tuple, unit: str, what: str, kind: str, point: str | None) -> Entry:
    value, low, high = (_plain(number) for number in limits)
    return key, {
        "value": value,
        "low": low if text.low else None,
        "high": high if text.low else None,
        "unit": unit,
        "shown": [text.value, text.low, text.high] if text.low else [text.value],
        "limits": kind if text.low else "none",
        "what": what,
        "point": point,
    }


def _plain(value: Any) -> Any:
    """As JSON has it: what is not finite becomes None."""
    if isinstance(value, float) and not isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
