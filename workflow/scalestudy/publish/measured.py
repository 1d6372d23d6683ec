"""What was measured of a point beyond its step time, as text: parts of a step, communication, what to mind."""

from __future__ import annotations

from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import waits_for_one
from scalestudy.publish.phrases import Phrase, phrase
from scalestudy.publish.quantities import PARTS, QUANTITIES, SPLIT, WHOLE, shown
from scalestudy.publish.results import as_text
from scalestudy.publish.rounding import DASH, Shown

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


def parts_view(row: pd.Series) -> list[dict[str, str]]:
    """name, what its quantities begin with, ms, share and bar of each part of a step; without those of no time."""
    probed = not isnan(row["exposed_span_s"])
    hidden = (WHOLE,) if probed else SPLIT
    found = []
    for part, name in PARTS.items():
        time, share = QUANTITIES[f"{part}_ms"].of(row)[0], QUANTITIES[f"{part}_share_percent"].of(row)[0]
        if part in hidden or time == 0 or isnan(time):
            continue
        found.append(
            {
                "name": name,
                "part": part,
                "ms": shown(row, f"{part}_ms").value,
                "share": f"{shown(row, f'{part}_share_percent')}%",
                # A difference of two measurements, such as backward computation, may come out below zero.
                "bar": f"{min(max(share, 0), 100):.1f}%",
            }
        )
    return found


def parts_sum_view(row: pd.Series) -> str:
    """What the parts of a step add up to, in ms."""
    return shown(row, "parts_ms").value


def communication_view(row: pd.Series) -> list[dict[str, Any]]:
    """name, quantity, ms with limits, how it was measured, and whether it is there at all, of what was probed."""
    lines = []
    for quantity, name, how in COMMUNICATION:
        value, low, high = QUANTITIES[quantity].of(row)
        if isnan(value):
            continue
        lines.append(
            {
                "name": name,
                "quantity": quantity,
                "ms": shown(row, quantity),
                "how": how,
                "nothing": "not distinguishable from zero" if low <= 0 <= high else "",
            }
        )
    return lines


def memory_view(row: pd.Series) -> Phrase:
    """Memory of the rank that has most: on the device where it counts its own, and resident on the host."""
    resident = "{peak_resident_gib} GiB resident at the most, {mean_resident_gib} on average, one rank"
    if isnan(row["peak_allocated_gib"]):
        return phrase(row, resident)
    allocated = "{peak_allocated_gib} GiB allocated at the most, {mean_allocated_gib} on average"
    return phrase(row, f"{allocated}; {{peak_reserved_gib}} reserved; {resident}")


def spread_view(row: pd.Series) -> Phrase:
    """How much steps and launches scatter, as coefficients of variation."""
    launches = "" if isnan(row["launch_cv"]) else ", launches {launch_cv_percent}%"
    return phrase(row, f"steps {{step_time_cv_percent}}% around their mean{launches}")


def network_view(row: pd.Series) -> Phrase:
    """The all-reduce on the idle network, in a sentence; '' where it was not measured."""
    if isnan(row["all_reduce_bus_gib_per_s"]):
        return Phrase()
    fitted = "" if shown(row, "all_reduce_latency_us").value == DASH else ", latency {all_reduce_latency_us} us"
    bandwidth = "bus bandwidth {all_reduce_bus_gib_per_s} GiB/s at the largest message"
    return phrase(row, f"All-reduce on the idle network: {bandwidth}{fitted}")


def notes_view(row: pd.Series) -> list[Phrase]:
    """What a reader of this row has to mind: sentences, perhaps none."""
    notes = [Phrase(text) for text in (as_text(row["unsteady"]), as_text(row["memory_grows"])) if text]
    if row["launches_left_out"]:
        older = f"{int(row['launches_left_out'])} runs of older measurement protocols are left out"
        notes.append(Phrase(f"{older}: they are not comparable with protocol {int(row['protocol'])}"))
    if waits_for_one(row):
        late = row["lateness_s"] / row["step_time_s"]
        notes.append(
            phrase(
                row,
                f"rank {int(row['late_rank'])} is late: its gradients came last in {row['late_share']:.0%} of the"
                f" buckets, on average {{lateness_ms}} ms ({late:.0%} of a step) after those of the other ranks",
            )
        )
    if as_text(row["methods"]).startswith("disagree"):
        notes.append(Phrase(f"methods of measuring communication {row['methods']}"))
    if row["allocation_retries"] > 0:
        retries = f"the CUDA allocator had to retry {int(row['allocation_retries'])} times"
        notes.append(Phrase(f"{retries}: memory is short"))
    return notes


def work_view(row: pd.Series) -> str:
    """What a step has to do: parameters, arithmetic and how fast it was done, bytes that a rank sends."""
    said = []
    if not isnan(row["parameters"]):
        said.append(f"{shown(row, 'parameters')} parameters")
    if not isnan(row["flops_per_sample"]):
        rate = shown(row, "flop_per_s_per_rank")
        done = "" if rate.value == DASH else f", {_joined(rate, 'FLOP/s')} a rank"
        said.append(f"{_joined(shown(row, 'flop_per_sample'), 'FLOP')} a sample{done}")
    if row["bytes_sent_per_step"] > 0:
        said.append(f"each rank sends {shown(row, 'sent_mib_per_step')} MiB a step")
    return "; ".join(said)


def _joined(number: Shown, unit: str) -> str:
    """'1.28 GFLOP', '12 FLOP'."""
    return f"{number}{unit}" if number.value[-1].isalpha() else f"{number} {unit}"
