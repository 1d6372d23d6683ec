"""Summaries of traces as text: a table to read before opening the trace itself."""

from collections.abc import Iterator, Sequence
from typing import Any

from scalestudy.analyse.trace.summary import OperatorTime, TimeOf, Trace
from scalestudy.publish.numbers.keys import operator_key
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.rounding import Shown, show, show_count, show_percent
from scalestudy.publish.words import labels

NAME_WIDTH = 44  # names of kernels can have hundreds of characters


def trace_numbers(trace: Trace) -> Iterator[tuple[str, Shown, float, str, str]]:
    """(name, printed text, value, unit, meaning) of every number that traces_view prints of a trace."""
    summary, step_s = trace.summary, trace.summary.step_time_s
    yield "step_time_ms", show(step_s, factor=1e3), step_s * 1e3, "ms", "traced step"
    yield "steps", show_count(summary.steps), summary.steps, "", "traced steps"
    yield "computation_percent", *_percent(summary.computation_time_s / step_s), "computation of a traced step"
    yield "other_percent", *_percent(summary.other_time_s / step_s), "other of a traced step"
    yield "idle_percent", *_percent(summary.idle_time_s / step_s), "idle of a traced step"
    if summary.hidden_share is not None:
        yield "collectives_percent", *_percent(summary.collective_time_s / step_s), "collectives of a traced step"
        yield "hidden_percent", *_percent(summary.hidden_share), "share of the collectives that computation hides"
    for item in (*summary.operators, *summary.collectives):
        name = _key(item)
        calls = Shown(f"{round(item.calls_per_step, 1):g}")
        yield f"{name}.time_ms", show(item.time_s, factor=1e3), item.time_s * 1e3, "ms", item.name
        yield f"{name}.calls", calls, item.calls_per_step, "", f"calls of {item.name} per step"
        if isinstance(item, OperatorTime):
            share = item.share * 100
            yield f"{name}.share_percent", show_percent(share), share, "%", f"share of {item.name}"


def traces_view(traces: Sequence[Trace], book: NumbersFile) -> list[dict[str, Any]]:
    """Each trace: its point, a sentence on its step, and its operators and collectives as rows of text."""
    return [_trace(trace, book, f"trace.{trace.run_id}") for trace in traces]


def _trace(trace: Trace, book: NumbersFile, key: str) -> dict[str, Any]:
    return {
        "of": f"{trace.workload}, {trace.variant}, {labels.place(vars(trace))}",
        "run_id": trace.run_id,
        "step": _step(book, key),
        "operators": [_row(book, key, item) for item in trace.summary.operators],
        "collectives": [_row(book, key, item) for item in trace.summary.collectives],
    }


def _percent(share: float) -> tuple[Shown, float, str]:
    return show_count(share * 100), share * 100, "%"


def _step(book: NumbersFile, trace: str) -> str:
    text = (
        "{steps} traced steps of {step_time_ms} ms (the profiler slows them): computation {computation_percent} %,"
        " other work {other_percent} %, nothing running {idle_percent} %"
    )
    if book.number(f"{trace}.hidden_percent"):
        text += ", collectives {collectives_percent} %, {hidden_percent} % of it hidden behind computation"
    else:
        text += "; no collectives"
    return book.phrase(trace, text)


def _row(book: NumbersFile, trace: str, item: TimeOf) -> dict[str, Any]:
    name = item.name if len(item.name) <= NAME_WIDTH else item.name[: NAME_WIDTH - 3] + "..."
    key = f"{trace}.{_key(item)}"
    share = book.number(f"{key}.share_percent")
    return {
        "name": name,
        "full_name": item.name,
        "calls": book.shown(f"{key}.calls").value,
        "ms": book.shown(f"{key}.time_ms").value,
        "share": f"{share.shown.value} %" if share else "",
    }


def _key(item: TimeOf) -> str:
    return operator_key("operator" if isinstance(item, OperatorTime) else "collective", item.name)
