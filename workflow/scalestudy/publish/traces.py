"""Summaries of traces as text: the table a reader looks at before opening the trace itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scalestudy.analyse.trace.summary import OperatorTime, TimeOf, Trace, TraceSummary
from scalestudy.publish.numbers.keys import operator_key
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.rounding import Shown, show, show_count, show_percent
from scalestudy.publish.words import labels

NAME_WIDTH = 44  # kernels have names of hundreds of characters


def trace_numbers(trace: Trace) -> Iterator[tuple[str, Shown, float, str, str]]:
    """(name, as a reader sees it, value, unit, what it is) of every number that traces_view prints of a trace."""
    summary, step_s = trace.summary, trace.summary.step_time_s
    yield "step_time_ms", show(step_s, factor=1e3), step_s * 1e3, "ms", "traced step"
    yield "steps", show_count(summary.steps), summary.steps, "", "traced steps"
    for kind, share in _shares(summary).items():
        yield f"{kind}_percent", Shown(f"{share * 100:.0f}"), share * 100, "%", f"{kind} of a traced step"
    if summary.hidden_share is not None:
        share = summary.collective_time_s / step_s * 100
        yield "collectives_percent", Shown(f"{share:.0f}"), share, "%", "collectives of a traced step"
        hidden = summary.hidden_share * 100
        yield "hidden_percent", Shown(f"{hidden:.0f}"), hidden, "%", "of the collectives, behind computation"
    for item in (*summary.operators, *summary.collectives):
        name = _key(item)
        yield f"{name}.time_ms", show(item.time_s, factor=1e3), item.time_s * 1e3, "ms", item.name
        yield f"{name}.calls", _calls(item), item.calls_per_step, "", f"calls a step of {item.name}"
        if isinstance(item, OperatorTime):
            share = item.share * 100
            yield f"{name}.share_percent", show_percent(share), share, "%", f"share of {item.name}"


def traces_view(traces: Sequence[Trace], book: NumbersFile) -> list[dict[str, Any]]:
    """Each trace: what it is of, a sentence on its step, and its operators and collectives as rows of text."""
    found = []
    for trace in traces:
        where = labels.ranks(trace.world_size, trace.nodes)
        rows = [_row(book, f"trace.{trace.run_id}", item) for item in trace.summary.operators]
        collectives = [_row(book, f"trace.{trace.run_id}", item) for item in trace.summary.collectives]
        of = f"{trace.workload}, {trace.variant}, {where}, batch {trace.batch_per_rank} per rank"
        step = _step(book, f"trace.{trace.run_id}")
        found.append(
            {"of": of, "run_id": trace.run_id, "step": step, "operators": rows, "collectives": collectives}
        )
    return found


def _shares(summary: TraceSummary) -> dict[str, float]:
    """Of a step, what adds up to it but for collectives that nothing overlaps with."""
    seconds = {
        "computation": summary.computation_time_s,
        "other": summary.other_time_s,
        "idle": summary.idle_time_s,
    }
    return {kind: time_s / summary.step_time_s for kind, time_s in seconds.items()}


def _step(book: NumbersFile, trace: str) -> str:
    text = (
        "{steps} traced steps of {step_time_ms} ms (the profiler slows them): computation {computation_percent}%,"
        " other work {other_percent}%, nothing running {idle_percent}%"
    )
    if book.number(f"{trace}.hidden_percent"):
        text += ", collectives {collectives_percent}%, {hidden_percent}% of which behind computation"
        return book.phrase(trace, text)
    return book.phrase(trace, f"{text}; no collective")


def _row(book: NumbersFile, trace: str, item: TimeOf) -> dict[str, Any]:
    name = item.name if len(item.name) <= NAME_WIDTH else item.name[: NAME_WIDTH - 3] + "..."
    key = f"{trace}.{_key(item)}"
    share = book.number(f"{key}.share_percent")
    return {
        "name": name,
        "full_name": item.name,
        "calls": book.shown(f"{key}.calls").value,
        "ms": book.shown(f"{key}.time_ms").value,
        "share": f"{share.shown.value}%" if share else "",
    }


def _key(item: TimeOf) -> str:
    return operator_key("operator" if isinstance(item, OperatorTime) else "collective", item.name)


def _calls(item: TimeOf) -> Shown:
    return Shown(f"{round(item.calls_per_step, 1):g}")
