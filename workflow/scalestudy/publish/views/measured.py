"""What was measured of a point beyond its step time, as text: parts of a step, communication, what to mind."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import waits_for_one
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.model import Number
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


def parts_view(book: Book, point: str) -> list[dict[str, str]]:
    """name, what its quantities begin with, ms, share and bar of each part of a step; without those of no time."""
    probed = book.number(f"{point}.exposed_span_ms") is not None
    hidden = (WHOLE,) if probed else SPLIT
    found = []
    for part, (name, _) in PARTS.items():
        given = book.given(point, f"{part}_ms", f"{part}_share_percent")
        if part in hidden or len(given) < 2 or not given[f"{part}_ms"].value:
            continue
        share = given[f"{part}_share_percent"]
        # A difference of two measurements, such as backward computation, may be below zero.
        bar = f"{min(max(share.value, 0), 100):.1f}%"
        found.append({"name": name, "part": part, "ms": given[f"{part}_ms"].shown.value, "bar": bar})
        found[-1]["share"] = f"{share.shown}%"
    return found


def communication_view(book: Book, point: str) -> list[dict[str, Any]]:
    """name, quantity, ms with limits, how it was measured, whether it differs from 0, of what was probed."""
    lines = []
    for quantity, name, how in COMMUNICATION:
        number = book.number(f"{point}.{quantity}")
        if number:
            nothing = "not distinguishable from zero" if number.low <= 0 <= number.high else ""
            lines.append({"name": name, "quantity": quantity, "ms": number.shown, "how": how, "nothing": nothing})
    return lines


def memory_view(book: Book, point: str) -> Phrase:
    """Memory of the rank that has most: on the device where it counts its own, and resident on the host."""
    resident = "{peak_resident_gib} GiB resident at the most, {mean_resident_gib} on average, one rank"
    if not book.number(f"{point}.peak_allocated_gib"):
        return book.phrase(point, resident)
    allocated = "{peak_allocated_gib} GiB allocated at the most, {mean_allocated_gib} on average"
    return book.phrase(point, f"{allocated}; {{peak_reserved_gib}} reserved; {resident}")


def spread_view(book: Book, point: str) -> Phrase:
    """How much steps and launches scatter, as coefficients of variation."""
    launches = ", launches {launch_cv_percent}%" if book.number(f"{point}.launch_cv_percent") else ""
    return book.phrase(point, f"steps {{step_time_cv_percent}}% around their mean{launches}")


def network_view(book: Book, point: str) -> Phrase:
    """The all-reduce on the idle network, in a sentence; '' where it was not measured."""
    given = book.given(point, "all_reduce_bus_gib_per_s", "all_reduce_latency_us")
    if not given.get("all_reduce_bus_gib_per_s"):
        return Phrase()
    fitted = ", latency {all_reduce_latency_us} us" if given.get("all_reduce_latency_us") else ""
    bandwidth = "bus bandwidth {all_reduce_bus_gib_per_s} GiB/s at the largest message"
    return book.phrase(point, f"All-reduce on the idle network: {bandwidth}{fitted}")


def notes_view(book: Book, point: str, row: pd.Series) -> list[Phrase]:
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
        notes.append(book.phrase(point, late))
    if row["methods"] == Methods.DISAGREE:
        notes.append(Phrase(f"methods of measuring communication {methods(row)}"))
    if row["allocation_retries"] > 0:
        retries = f"the CUDA allocator had to retry {int(row['allocation_retries'])} times"
        notes.append(Phrase(f"{retries}: memory is short"))
    return notes


def work_view(book: Book, point: str) -> str:
    """What a step has to do: parameters, arithmetic and how fast it was done, bytes that a rank sends."""
    given = book.given(point, "parameters", "flop_per_sample", "flop_per_s_per_rank", "sent_mib_per_step")
    said = []
    if given.get("parameters"):
        said.append(f"{given['parameters'].shown} parameters")
    if given.get("flop_per_sample"):
        rate = given.get("flop_per_s_per_rank")
        done = f", {_joined(rate, 'FLOP/s')} a rank" if rate else ""
        said.append(f"{_joined(given['flop_per_sample'], 'FLOP')} a sample{done}")
    if "sent_mib_per_step" in given and given["sent_mib_per_step"].value > 0:
        said.append(f"each rank sends {given['sent_mib_per_step'].shown} MiB a step")
    return "; ".join(said)


def _joined(number: Number, unit: str) -> str:
    """'1.28 GFLOP', '12 FLOP': from 1000 on it has a prefix."""
    return f"{number.shown}{'' if number.value >= 1000 else ' '}{unit}"
