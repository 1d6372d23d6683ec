"""Breakdown of the time of a traced step: computation, collectives, both at once, neither.

1. The steps are the host's ranges `ProfilerStep#k`. On CUDA, where the host runs ahead, one span replaces them:
   from the first beginning to the last end of the work launched in them (by `correlation`), over their number.
2. Work is split (analyse/trace/work.py) into computation, collectives, and anything else that runs.
3. Each becomes a set of intervals (union; overlaps count once), cut at the edges of the steps.
4. overlap = computation ∩ collectives; hidden share = |overlap| / |collectives|: "time spent in computation while
   communicating / time spent in communication" (Holistic Trace Analysis, Communication Computation Overlap,
   hta.readthedocs.io; facebookresearch/HolisticTraceAnalysis, hta/analyzers/communication_analysis.py).
5. idle = steps − everything that runs; other = everything that runs except these two. Therefore
   step = computation + collectives − overlap + other + idle, all of them means over the steps.
6. Operators are summed by name: self time on the CPU, duration on CUDA. For an event that crosses the edge of a
   step only the part inside counts; a call counts where it begins.

Limits. The profiler slows steps, at worst by more than half (train/profile.py): use the shares, not the speeds. A
collective's time includes waiting for the slowest rank. Gloo shows CPU operators only: "hidden" there means that
another thread computes meanwhile, on cores that both may need; its reduce-scatter appears as an all-reduce,
because it is one (pytorch#118911). On CUDA the host's gap after the last step is not visible, and collectives are
recognised by "nccl" or "rccl" in the names of their kernels: others, such as those of symmetric memory, count as
computation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from scalestudy.analyse.trace.spans import Spans, contains, difference, intersection, length, union
from scalestudy.analyse.trace.work import Event, Work, device_span, device_work, host_work, read_events
from scalestudy.errors import UserError
from scalestudy.record.document import Document, Part

US_PER_S = 1e6  # the trace format counts in microseconds


class TimeOf(Part):
    """Time of one kind of work in a step, by name, means over the steps."""

    name: str
    calls_per_step: float
    time_s: float
    """Seconds per step; two simultaneous collectives count twice."""


class OperatorTime(TimeOf):
    """An operator or kernel."""

    share: float
    """Share of the step; shares of several threads or streams may add up to more than one."""


class CollectiveTime(TimeOf):
    """A collective."""

    bytes: float | None
    """Bytes per step, of the larger of each call's input and output; null if not in the trace (gloo)."""


class TraceSummary(Part):
    """One rank's trace in numbers; times are seconds per step."""

    device: Literal["cpu", "cuda"]
    steps: int
    step_time_s: float
    computation_time_s: float
    collective_time_s: float
    """A collective runs, whether or not anything else does."""
    overlap_time_s: float
    """A collective and computation run at the same time."""
    hidden_share: float | None
    """Overlap divided by collectives; null without a collective."""
    other_time_s: float
    """Something else runs: copies on CUDA; on the CPU the autograd engine and calls that only issue work."""
    idle_time_s: float
    """Nothing runs: on CUDA on no stream, on the CPU no operator on any thread (Python, or all wait)."""
    operators: tuple[OperatorTime, ...]
    """The longest first, without collectives."""
    collectives: tuple[CollectiveTime, ...]


class Trace(Part):
    """A trace of a run, with the run's properties."""

    run_id: str
    workload: str
    variant: str
    nodes: int
    world_size: int
    batch_per_rank: int
    summary: TraceSummary


class TracesFile(Document):
    """traces.json."""

    made_by: ClassVar[str] = "scalestudy stage aggregate"
    schema_version: Literal[2] = 2
    traces: tuple[Trace, ...]


def summarise_trace(events: Iterable[Mapping[str, Any]], *, top: int = 8) -> TraceSummary:
    """Returns a summary of one rank's events with the `top` operators. Raises UserError if no step was traced."""
    found = read_events(events)
    ranges = [e for e in found if e.kind == "user_annotation" and e.name.startswith("ProfilerStep#")]
    if not ranges:
        raise UserError(
            "the trace has no ProfilerStep range: it was not recorded by scalestudy, or it has no step"
        )
    steps = union(event.span for event in ranges)
    work = device_work(found)
    device: Literal["cpu", "cuda"] = "cpu" if work is None else "cuda"
    if work is None:
        work = host_work(found)
    else:
        steps = device_span(found, steps)
    unit = US_PER_S * len(ranges)  # from microseconds in all steps to seconds in one

    computation = intersection(work.computation, steps)
    collectives = intersection(union(event.span for event in work.collectives), steps)
    overlap = length(intersection(computation, collectives))
    running = union([*intersection(work.running, steps), *computation, *collectives])
    return TraceSummary(
        device=device,
        steps=len(ranges),
        step_time_s=length(steps) / unit,
        computation_time_s=length(computation) / unit,
        collective_time_s=length(collectives) / unit,
        overlap_time_s=overlap / unit,
        hidden_share=overlap / length(collectives) if collectives else None,
        other_time_s=length(difference(running, union([*computation, *collectives]))) / unit,
        idle_time_s=length(difference(steps, running)) / unit,
        operators=_operators(work, steps, len(ranges))[:top],
        collectives=_collectives(work.collectives, steps, len(ranges)),
    )


def _operators(work: Work, steps: Spans, count: int) -> tuple[OperatorTime, ...]:
    calls: dict[str, int] = defaultdict(int)
    time_us: dict[str, float] = defaultdict(float)
    for event in work.operators:
        calls[event.name] += contains(steps, event.begin)
    for piece in work.pieces:
        time_us[piece.name] += length(intersection([piece.span], steps))
    total = length(steps)
    operators = [
        OperatorTime(
            name=name,
            calls_per_step=calls[name] / count,
            time_s=time / US_PER_S / count,
            share=time / total,
        )
        for name, time in time_us.items()
        if time > 0
    ]
    return tuple(sorted(operators, key=lambda operator: -operator.time_s))


def _collectives(events: Iterable[Event], steps: Spans, count: int) -> tuple[CollectiveTime, ...]:
    by_name = defaultdict(list)
    for event in events:
        if intersection([event.span], steps):
            by_name[event.name].append(event)
    collectives = []
    for name, group in by_name.items():
        begun = [event for event in group if contains(steps, event.begin)]
        sizes = [event.bytes for event in begun if event.bytes is not None]
        collectives.append(
            CollectiveTime(
                name=name,
                calls_per_step=len(begun) / count,
                time_s=sum(length(intersection([event.span], steps)) for event in group) / US_PER_S / count,
                bytes=sum(sizes) / count if len(sizes) == len(begun) else None,
            )
        )
    return tuple(sorted(collectives, key=lambda collective: -collective.time_s))
