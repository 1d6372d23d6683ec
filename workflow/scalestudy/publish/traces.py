"""Summaries of traces as text: the table a reader looks at before opening the trace itself."""

from __future__ import annotations

from typing import Any

from scalestudy.publish import labels
from scalestudy.publish.numbers import show, show_share

NAME_WIDTH = 44  # kernels have names of hundreds of characters


def traces_view(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each trace: what it is of, a sentence on its step, and its operators and collectives as rows of text."""
    return [
        {
            "of": f"{trace['workload']}, {trace['variant']}, {labels.ranks(trace['world_size'], trace['nodes'])},"
            f" batch {trace['batch_per_rank']} per rank",
            "run_id": trace["run_id"],
            "step": _step(trace["summary"]),
            "operators": [_operator(item) for item in trace["summary"]["operators"]],
            "collectives": [_operator(item) for item in trace["summary"]["collectives"]],
        }
        for trace in traces
    ]


def _step(summary: dict[str, Any]) -> str:
    share = {
        key: f"{summary[f'{key}_time_s'] / summary['step_time_s']:.0%}" for key in ("computation", "other", "idle")
    }
    text = (
        f"{summary['steps']} traced steps of {show(summary['step_time_s'], factor=1e3)} ms (the profiler slows"
        f" them): computation {share['computation']}, other work {share['other']}, nothing running {share['idle']}"
    )
    if summary["hidden_share"] is None:
        return f"{text}; no collective"
    collective = summary["collective_time_s"] / summary["step_time_s"]
    return f"{text}, collectives {collective:.0%}, {summary['hidden_share']:.0%} of which behind computation"


def _operator(item: dict[str, Any]) -> dict[str, str]:
    name = item["name"] if len(item["name"]) <= NAME_WIDTH else item["name"][: NAME_WIDTH - 3] + "..."
    return {
        "name": name,
        "full_name": item["name"],
        "calls": f"{round(item['calls_per_step'], 1):g}",
        "ms": str(show(item["time_s"], factor=1e3)),
        "share": show_share(item["share"]) if "share" in item else "",
    }
