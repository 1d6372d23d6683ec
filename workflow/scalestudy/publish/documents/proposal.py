"""What a proposal for compute time has: two pages, as far as a study fits them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

from scalestudy.publish import labels
from scalestudy.publish.documents.artifact import codes_of, dates_of
from scalestudy.publish.documents.layout import Page
from scalestudy.publish.documents.report import launches_each
from scalestudy.publish.forecasts import refusals
from scalestudy.publish.papers import paper_of
from scalestudy.publish.quantities import shown
from scalestudy.publish.results import Results, failure_word
from scalestudy.study.plan import Plan

MOST_PAGES = 2
FULL = 0.9
"""Share of the pages that is counted on: these are estimates, and floats leave gaps."""
FIGURE_PT, CAPTION_PT, TABLE_HEAD_PT, ROW_PT = 196.0, 44.0, 105.0, 9.8
LETTER_PT, LINE_PT = 4.6, 11.0
"""Of prose in \\small."""
PROSE = 3200
"""Letters of what every proposal says."""
POINT_LETTERS, FORECAST_LETTERS = 330, 150
"""Of what is said of a distributed point, and of a forecast."""


def proposal_view(
    plan: Plan, results: Results, facts: dict[str, Any], *, tables: Mapping[str, str], figures: Mapping[str, str]
) -> dict[str, Any]:
    """Values for report/templates/proposal.tex. tables, figures: paths of those that print something, by name."""
    page = Page.of(paper_of(plan))
    summary = results.summary[results.summary["scaling"] != "reference"]
    made = results.runs[results.runs["outcome"] != "unneeded"]
    drawn = {
        workload: figures[f"{workload}_speedup_efficiency"]
        for workload in plan.study.workloads
        if f"{workload}_speedup_efficiency" in figures
    }
    forecasts = [item for item in facts["forecasts"] if item["of"] == "scale"]
    room = room_pt(page, rows=_table_lines(summary), points=_distributed(summary), forecasts=len(forecasts))
    fitting = list(drawn)[: max(int(room // figure_pt(page)), 0)]
    return facts | {
        "page": page,
        "most_pages": MOST_PAGES,
        "dates": dates_of(made),
        "code": codes_of(made),
        "launches_each": launches_each(plan),
        "intervals": bool(summary["speedup_low"].notna().any()),
        "table": tables.get("proposal", ""),
        "figures": [
            {"workload": workload, "path": drawn[workload], "forecast": _is_forecast(workload, facts)}
            for workload in fitting
        ],
        "left_out": [workload for workload in drawn if workload not in fitting],
        "too_long": room < 0,
        "costs": _costs(plan, summary, facts),
        "scale_forecasts": forecasts,
        "refusals": refusals(forecasts),
        "dirty": any("dirty" in code for code in codes_of(made)),
        "repeats": plan.study.repeats,
    }


def room_pt(page: Page, *, rows: int, points: int, forecasts: int) -> float:
    """Height that is left on the pages for figures: TeX's points, below zero where text and table are too much."""
    letters = PROSE + POINT_LETTERS * points + FORECAST_LETTERS * forecasts
    prose = letters * LETTER_PT * LINE_PT / page.width_pt
    stacked = 1 if page.two_columns else 2  # lines of a row
    return FULL * MOST_PAGES * page.height_pt - prose - TABLE_HEAD_PT - ROW_PT * rows * stacked


def figure_pt(page: Page) -> float:
    """Height of a figure with its caption."""
    lines = 1 if page.two_columns else 1.6
    return FIGURE_PT + CAPTION_PT * lines


def _table_lines(summary: pd.DataFrame) -> int:
    """Rows of the table, and the titles of their groups."""
    return len(summary) + 2 * len(summary.drop_duplicates(["workload", "scaling"]))


def _distributed(summary: pd.DataFrame) -> int:
    return int((summary["world_size"] > 1).sum())


def _is_forecast(workload: str, facts: dict[str, Any]) -> bool:
    return any(item["workload"] == workload and not item["refused"] for item in facts["forecasts"])


def _costs(plan: Plan, summary: pd.DataFrame, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """By workload: the base case, and every distributed point with its verdict, cost and memory."""
    memory = {_key(row): row["memory"] for row in facts["rows"]}
    verdicts = {_key(d | {"ranks": d["world_size"]}): d for d in facts["diagnoses"]}
    found = []
    for workload in plan.study.workloads:
        rows = [
            _cost(row, verdicts, memory)
            for row in summary[summary["workload"] == workload].to_dict("records")
            if row["world_size"] > 1 or row["is_base"]
        ]
        bases = {row["variant"]: row for row in rows if row["is_base"]}
        found.append(
            {
                "workload": workload,
                "bases": list(bases.values()),
                "points": [row for row in rows if not row["is_base"]],
                "heaviest": _heaviest(rows),
            }
        )
    return found


def _heaviest(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The point whose ranks need most memory, on the device where it counts its own; None if none was measured."""
    measured = [row for row in rows if not row["failure"] and not isnan(row["peak_gib"])]
    return max(measured, key=lambda row: row["peak_gib"], default=None)


def _key(row: Mapping[str, Any]) -> tuple:
    return tuple(row[name] for name in ("workload", "variant", "scaling", "ranks", "nodes", "batch_per_rank"))


def _where(row: dict[str, Any]) -> str:
    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    scaling = "" if row["world_size"] == 1 else f" {row['scaling']}"
    return f"{row['variant']}{scaling}, {ranks}, batch {int(row['batch_per_rank'])} per rank"


def _cost(row: dict[str, Any], verdicts: Mapping[tuple, Any], memory: Mapping[tuple, str]) -> dict[str, Any]:
    key = _key(row | {"ranks": int(row["world_size"])})
    return {
        "is_base": bool(row["is_base"]),
        "variant": row["variant"],
        "failure": failure_word(row),
        "diagnosis": verdicts.get(key),
        "hours": shown(row, "device_hours_per_million_samples"),
        "per_doubling": shown(row, "per_doubling_efficiency_percent"),
        "where": _where(row),
        "memory": memory[key],
        "peak_gib": row["peak_resident_gib"] if isnan(row["peak_allocated_gib"]) else row["peak_allocated_gib"],
    }
