"""Sorts the events of a trace into computation, collectives, and other work.

On the CPU, in traces of torch 2.13 with gloo (two ranks, DDP and FSDP):

- Operators are `cpu_op`, nested on their thread. A collective leaves two events: `c10d::allreduce_` (`cpu_op`, on
  the thread that issues it, often tens of microseconds) and `gloo:all_reduce` (`user_annotation`) on one of gloo's
  two threads `pt_gloo_runloop`, from when it is taken from the queue (pytorch#61342) to its end. Only the second
  is counted; neither has a size in bytes. Collectives of a backend without such a range are counted by the first.
- Backward runs in `autograd::engine::evaluate_function: X` around `X`; the time of these outside the operators
  inside them is not computation. FSDP waits for its collectives there.
- Ranges such as `Optimizer.step#SGD.step` or `FSDP::pre_forward` have no work of their own.

On CUDA: `kernel`, `gpu_memcpy` and `gpu_memset`, with `device`, `stream` and `correlation` in their arguments. A
collective is the kernel `ncclDevKernel_...`; the `nccl:`, `record_param_comms` and `c10d::` events about it are
the host's, or copies of the host's, and are ignored. Its arguments have the number and type of elements
(pytorch/kineto, libkineto/src/output_json.cpp).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from scalestudy.analyse.trace.spans import Spans, contains, difference, union
from scalestudy.record.traces import MESSAGE_SIZES

DEVICE_KINDS = ("kernel", "gpu_memcpy", "gpu_memset")
LAUNCH_KINDS = ("cuda_runtime", "cuda_driver")
COLLECTIVE_KERNEL = re.compile(r"[nr]ccl", re.IGNORECASE)
COLLECTIVE_RANGE = re.compile(r"(gloo|nccl|mpi|ucc|xccl):")
COLLECTIVE_CALL = re.compile(r"_?c10d(_functional)?::")

# Bytes of an element, by the names of c10/core/ScalarType.h; the 8-bit floats have longer names.
ELEMENT_BYTES = {
    **dict.fromkeys(("Byte", "Char", "Bool"), 1),
    **dict.fromkeys(("Short", "Half", "BFloat16"), 2),
    **dict.fromkeys(("Int", "Float", "ComplexHalf"), 4),
    **dict.fromkeys(("Long", "Double", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}


class Event(NamedTuple):
    """An event with a duration; times in microseconds."""

    name: str
    kind: str
    lane: tuple[Any, Any]
    """Process and thread; on CUDA device and stream."""
    begin: float
    end: float
    correlation: int | None
    """Identifier that a launch on the host and its work on the device have in common."""
    bytes: float | None

    @property
    def span(self) -> tuple[float, float]:
        """Returns the time in which it runs."""
        return self.begin, self.end


@dataclass(frozen=True)
class Work:
    """A trace sorted by kinds of work."""

    operators: list[Event]
    """Work that is listed by name: everything except collectives."""
    pieces: list[Event]
    """Their own time: the intervals in which an operator runs but none that it called."""
    collectives: list[Event]
    computation: Spans
    running: Spans
    """All intervals in which anything runs."""


def read_events(events: Iterable[Mapping[str, Any]]) -> list[Event]:
    """Returns the complete events ("ph": "X") of a trace."""
    found = []
    for event in events:
        if event.get("ph") != "X" or "dur" not in event:
            continue
        arguments = event.get("args", {})
        found.append(
            Event(
                name=event["name"],
                kind=event.get("cat", "").lower(),
                lane=(event.get("pid"), event.get("tid")),
                begin=event["ts"],
                end=event["ts"] + event["dur"],
                correlation=arguments.get("correlation"),
                bytes=_message_bytes(arguments),
            )
        )
    return found


def device_work(events: list[Event]) -> Work | None:
    """Returns the work of the trace's GPU; None if it has none."""
    on_device = [event for event in events if event.kind in DEVICE_KINDS]
    if not on_device:
        return None
    collectives, operators = [], []
    for event in on_device:
        if event.kind == "kernel" and COLLECTIVE_KERNEL.search(event.name):
            collectives.append(event._replace(name=event.name.split("(")[0]))
        else:
            operators.append(event)
    return Work(
        operators=operators,
        pieces=operators,
        collectives=collectives,
        computation=union(event.span for event in operators if event.kind == "kernel"),
        running=union(event.span for event in on_device),
    )


def device_span(events: list[Event], steps: Spans) -> Spans:
    """Returns one span, from the first beginning to the last end of device work launched in these steps of the
    host.

    One span and not one per step: the edges between steps cancel in a mean. The steps themselves, if the trace
    does not link launches to their work.
    """
    launched = {
        event.correlation
        for event in events
        if event.kind in LAUNCH_KINDS and event.correlation is not None and contains(steps, event.begin)
    }
    caused = [event for event in events if event.kind in DEVICE_KINDS and event.correlation in launched]
    if not caused:
        return steps
    return [(min(event.begin for event in caused), max(event.end for event in caused))]


def host_work(events: list[Event]) -> Work:
    """Returns the work of the trace's CPU threads."""
    operators = [event for event in events if event.kind == "cpu_op"]
    collectives = [event for event in events if COLLECTIVE_RANGE.match(event.name)]
    if not collectives:
        collectives = [event for event in operators if COLLECTIVE_CALL.match(event.name)]
    counted = set(collectives)
    lanes, busy = defaultdict(list), defaultdict(list)
    for event in operators:
        lanes[event.lane].append(event)
    for event in collectives:
        busy[event.lane].append(event.span)
    pieces, computing = [], []
    for lane, nested in lanes.items():
        own, computation = _own_time(nested)
        pieces += own
        computing += difference(union(computation), union(busy[lane]))  # a collective's own copies are part of it
    names = {event.name for event in counted}
    return Work(
        operators=[event for event in operators if event not in counted],
        pieces=[piece for piece in pieces if piece.name not in names],
        collectives=_outermost(collectives),
        computation=union(computing),
        running=union(event.span for event in [*operators, *collectives]),
    )


def _own_time(nested: list[Event]) -> tuple[list[Event], list[tuple[float, float]]]:
    """Returns (intervals of the operators of one thread, those among them that are computation).

    Computation is the own time of library operators ("aten::mm"), and of anything that calls nothing else. The
    autograd engine, its functions around operators, and calls that issue a collective are not computation.
    """
    pieces: list[tuple[int, float, float]] = []
    parents = set()
    ends: list[tuple[int, float]] = []  # the operators now open, the innermost last
    ordered = sorted(nested, key=lambda event: (event.begin, -event.end))
    now = 0.0

    def run_until(time: float) -> None:
        nonlocal now
        while ends and ends[-1][1] <= time:
            index, end = ends.pop()
            pieces.append((index, now, end))
            now = max(now, end)
        if ends:
            pieces.append((ends[-1][0], now, time))
        now = max(now, time)

    for index, event in enumerate(ordered):
        run_until(event.begin)
        if ends:
            parents.add(ends[-1][0])
        ends.append((index, min(event.end, ends[-1][1]) if ends else event.end))
    run_until(float("inf"))
    pieces = [piece for piece in pieces if piece[1] < piece[2]]
    computing = {i for i, event in enumerate(ordered) if _computes(event.name, leaf=i not in parents)}
    return (
        [ordered[index]._replace(begin=begin, end=end) for index, begin, end in pieces],
        [(begin, end) for index, begin, end in pieces if index in computing],
    )


def _computes(name: str, *, leaf: bool) -> bool:
    if COLLECTIVE_CALL.match(name) or name.startswith("autograd::engine::"):
        return False
    return leaf or "::" in name


def _outermost(events: list[Event]) -> list[Event]:
    """Returns events that are not inside another one on the same thread: one collective is counted once."""
    kept: dict[tuple[Any, Any], Event] = {}
    found = []
    for event in sorted(events, key=lambda event: (event.begin, -event.end)):
        outer = kept.get(event.lane)
        if outer is None or event.end > outer.end:
            kept[event.lane] = event
            found.append(event)
    return found


def _message_bytes(arguments: Mapping[str, Any]) -> float | None:
    sizes = [arguments[name] for name in MESSAGE_SIZES if arguments.get(name) is not None]
    kind = str(arguments.get("dtype"))
    element_bytes = 1 if kind.startswith("Float8") else ELEMENT_BYTES.get(kind)
    if element_bytes is None or len(sizes) < 2:
        return None
    return float(max(sizes)) * element_bytes
