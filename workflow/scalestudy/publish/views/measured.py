"""What was measured of a point beyond its step time, as text: parts of a step, communication, what to mind."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import waits_for_one
from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.words.phrases import Phrase
from scalestudy.publish.words.points import methods
from scalestudy.registry.codes import Methods
from scalestudy.registry.points import PARTS, SPLIT, WHOLE
from scalestudy.registry.words.points import memory_growth, unsteady

COMMUNICATION = (
    ("differential_ms", "synchronisation, all told", "blocks with it against blocks without"),
    ("exposed_span_ms", "of it exposed communication", "DDP's logger"),
    ("interference_ms", "of it interference", "backward computation slowed meanwhile"),
    ("synchronisation_remainder_ms", "remainder", "what the two leave unexplained"),
    ("exposed_hook_ms", "exposed communication again", "stamps of every gradient bucket"),
    ("wait_time_ms", "of it waiting", "until the latest rank is ready"),
    ("transfer_time_ms", "of it transfer", "from then to the end of the last bucket"),
    ("imbalance_ms", "imbalance of the ranks' own work", "slowest less mean, without synchronisation"),
    ("hook_cost_ms", "price of the stamps", "the differential with them less without"),
)


def parts_view(numbers: NumbersFile, point: str) -> list[dict[str, str]]:
    """name, what its quantities begin with, ms, share and bar of each part of a step; without those of no time."""
    hidden = (WHOLE,) if numbers.number(f"{point}.exposed_span_ms") else SPLIT
    found = []
    for part, (name, _) in PARTS.items():
        time, share = (numbers.number(f"{point}.{part}_{unit}") for unit in ("ms", "share_percent"))
        if part not in hidden and time and share and time.value:
            # A difference of two measurements, such as backward computation, may be below zero.
            bar = f"{min(max(share.value, 0), 100):.1f}%"
            shown = {"ms": time.shown.value, "share": f"{share.shown}%", "bar": bar}
            found.append({"name": name, "part": part, **shown})
    return found


def communication_view(numbers: NumbersFile, point: str) -> list[dict[str, Any]]:
    """name, quantity, ms with limits, how it was measured, whether it differs from 0, of what was probed."""
    lines = []
    for quantity, name, how in COMMUNICATION:
        number = numbers.number(f"{point}.{quantity}")
        if number:
            nothing = "not distinguishable from zero" if number.low <= 0 <= number.high else ""
            lines.append({"name": name, "quantity": quantity, "ms": number.shown, "how": how, "nothing": nothing})
    return lines


def memory_view(numbers: NumbersFile, point: str) -> Phrase:
    """Memory of the rank that has most: on the device where it counts its own, and resident on the host."""
    said = "{peak_resident_gib} GiB resident at the most, {mean_resident_gib} on average, one rank"
    if numbers.number(f"{point}.peak_allocated_gib"):
        allocated = "{peak_allocated_gib} GiB allocated at the most, {mean_allocated_gib} on average"
        said = f"{allocated}; {{peak_reserved_gib}} reserved; {said}"
    return numbers.phrase(point, said)


def spread_view(numbers: NumbersFile, point: str) -> Phrase:
    """How much steps and launches scatter, as coefficients of variation."""
    launches = ", launches {launch_cv_percent}%" if numbers.number(f"{point}.launch_cv_percent") else ""
    return numbers.phrase(point, f"steps {{step_time_cv_percent}}% around their mean{launches}")


def network_view(numbers: NumbersFile, point: str) -> Phrase:
    """The all-reduce on the idle network, in a sentence; '' where it was not measured."""
    if not numbers.number(f"{point}.all_reduce_bus_gib_per_s"):
        return Phrase()
    fitted = numbers.number(f"{point}.all_reduce_latency_us")
    latency = ", latency {all_reduce_latency_us} us" if fitted else ""
    bandwidth = "bus bandwidth {all_reduce_bus_gib_per_s} GiB/s at the largest message"
    return numbers.phrase(point, f"All-reduce on the idle network: {bandwidth}{latency}")


def notes_view(numbers: NumbersFile, point: str, row: pd.Series) -> list[Phrase]:
    """What a reader of this row has to mind: sentences, perhaps none."""
    notes = [Phrase(text) for text in (unsteady(row), memory_growth(row)) if text]
    if row["launches_left_out"]:
        older = f"{int(row['launches_left_out'])} runs of older measurement protocols are left out"
        notes.append(Phrase(f"{older}: they are not comparable with protocol {int(row['protocol'])}"))
    if waits_for_one(row):
        late = (
            f"rank {int(row['late_rank'])} is late: its gradients came last in {{late_share_percent}}% of the"
            " buckets, on average {lateness_ms} ms ({lateness_share_percent}% of a step) after those of the other"
            " ranks"
        )
        notes.append(numbers.phrase(point, late))
    if row["methods"] == Methods.DISAGREE:
        notes.append(Phrase(f"methods of measuring communication {methods(row)}"))
    if row["allocation_retries"] > 0:
        retries = f"the CUDA allocator had to retry {int(row['allocation_retries'])} times"
        notes.append(Phrase(f"{retries}: memory is short"))
    return notes


def work_view(numbers: NumbersFile, point: str) -> str:
    """What a step has to do: parameters, arithmetic and how fast it was done, bytes that a rank sends."""
    names = ("parameters", "flop_per_sample", "flop_per_s_per_rank", "sent_mib_per_step")
    parameters, flop, rate, sent = (numbers.number(f"{point}.{name}") for name in names)
    said = []
    if parameters:
        said.append(f"{parameters.shown} parameters")
    if flop:
        done = f", {_joined(rate, 'FLOP/s')} a rank" if rate else ""
        said.append(f"{_joined(flop, 'FLOP')} a sample{done}")
    if sent and sent.value > 0:
        said.append(f"each rank sends {sent.shown} MiB a step")
    return "; ".join(said)


def _joined(number: Number, unit: str) -> str:
    """'1.28 GFLOP', '12 FLOP': from 1000 on it has a prefix."""
    return f"{number.shown}{'' if number.value >= 1000 else ' '}{unit}"
