"""Content of a proposal for compute time: two pages, with as many figures as LaTeX finds room for."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd

from scalestudy.publish.documents.figures import Known, placed
from scalestudy.publish.documents.report import latex_facts
from scalestudy.publish.environment import hardware_view
from scalestudy.publish.figures.shown import ShownFigure
from scalestudy.publish.numbers.keys import point_key
from scalestudy.publish.papers import PAPERS
from scalestudy.publish.results import Results
from scalestudy.publish.views.diagnoses import MOST_LISTED, by_series, by_verdict
from scalestudy.publish.views.forecasts import refusals
from scalestudy.publish.words import labels
from scalestudy.publish.words.labels import runs_each
from scalestudy.registry.column import Row
from scalestudy.registry.hardware import IN_SHORT
from scalestudy.registry.tables import VERIFICATION
from scalestudy.study.plan import Plan

MOST_PAGES = 2


def proposal_view(
    plan: Plan,
    results: Results,
    facts: dict[str, Any],
    *,
    tables: Mapping[str, str],
    figures: Sequence[ShownFigure],
) -> dict[str, Any]:
    """Values for report/templates/proposal.tex. tables: name -> path of each table that prints something."""
    summary = results.summary[results.summary["scaling"] != "reference"]
    known: Known = {
        "intervals": bool(summary["speedup_low"].notna().any()),
        "launches": runs_each(summary["launches_ok"]),
    }
    forecasts = [item for item in facts["forecasts"] if item["of"] == "scale"]
    return latex_facts(results, facts) | {
        **known,
        "page": PAPERS["ieee"],  # the widest, to keep a proposal short for every kind of paper
        "most_pages": MOST_PAGES,
        "machine": hardware_view(results.environment.facts, IN_SHORT),
        "table": tables.get("proposal", ""),
        "tried_table": tables.get(VERIFICATION, ""),
        "figures": [
            placed(figure, facts["study"], known)
            for figure in figures
            if figure.entry.name == "speedup_efficiency"
        ],
        "costs": _costs(plan, summary, facts),
        "scale_forecasts": forecasts,
        "refusals": refusals(forecasts),
        "repeats": plan.study.repeats,
    }


def _costs(plan: Plan, summary: pd.DataFrame, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """For each workload: the baseline, and every distributed point with its verdict, cost and memory."""
    shown = {row["key"]: row for row in facts["rows"]}
    diagnoses = {diagnosis["row"]["key"]: diagnosis for diagnosis in facts["diagnoses"]}
    found = []
    for workload in plan.study.workloads:
        rows = [
            _cost(row, shown[point_key(row)]) | {"diagnosis": diagnoses.get(point_key(row))}
            for row in summary[summary["workload"] == workload].to_dict("records")
            if point_key(row) in shown and (row["world_size"] > 1 or row["is_base"])
        ]
        bases = {row["variant"]: row for row in rows if row["is_base"]}
        points = [row for row in rows if not row["is_base"]]
        found.append(
            {
                "workload": workload,
                "bases": list(bases.values()),
                "points": points,
                "series": _series([row for row in points if row["diagnosis"]]),
                "heaviest": _heaviest(rows),
            }
        )
    return found


def _series(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For many points: each variant and kind of scaling, its verdicts by scale, its smallest and largest point.

    Empty for at most MOST_LISTED points.
    """
    if len(points) <= MOST_LISTED:
        return []
    at = {point["diagnosis"]["row"]["key"]: point for point in points}
    return [
        {
            "name": f"{smallest['variant']} {smallest['scaling']}",
            "verdicts": by_verdict([smallest, *larger]),
            "ends": [at[diagnosis["row"]["key"]] for diagnosis in (smallest, *larger[-1:])],
        }
        for smallest, *larger in by_series([point["diagnosis"] for point in points])
    ]


def _heaviest(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The point with the largest memory per rank (on the device if measured there); None without measurements."""
    measured = [row for row in rows if not row["failure"] and not isnan(row["peak_gib"])]
    return max(measured, key=lambda row: row["peak_gib"], default=None)


def _cost(row: Row, shown: dict[str, Any]) -> dict[str, Any]:
    """The row as printed, with its place and peak memory. shown: the row as documents print it."""
    peak_gib = row["peak_resident_gib"] if isnan(row["peak_allocated_gib"]) else row["peak_allocated_gib"]
    return shown | {"where": labels.row(row), "peak_gib": peak_gib}
