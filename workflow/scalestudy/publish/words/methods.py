"""What methods of measuring communication say of each other."""

from __future__ import annotations

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import Methods
from scalestudy.registry.column import Row

WORDS = {
    Methods.NONE: "",
    Methods.AGREE: "agree within their intervals",
    Methods.NOT_COMPARED_FSDP: "not compared: FSDP's reduce-scatter can be left out, but nothing else tells of it",
    Methods.NOT_COMPARED_ONE_ROUND: "not compared: one round or launch has no interval",
}
CHECKS = {
    "remainder_s": "differential and exposed span + interference",
    "hook_difference_s": "exposed span by hook and by logger",
}


def methods(row: Row) -> str:
    """'disagree: ... differ by 1.2 ms [0.9, 1.5]'; '' where nothing was probed."""
    if row["methods"] != Methods.DISAGREE:
        return WORDS[row["methods"]]
    found = {name: Interval.of(row, column) for column, name in CHECKS.items()}
    said = [f"{name} differ by {_ms(interval)}" for name, interval in found.items() if interval.leaves_out(0)]
    return f"disagree: {'; '.join(said)}"


def _ms(interval: Interval) -> str:
    return f"{interval.value * 1e3:.2g} ms [{interval.low * 1e3:.2g}, {interval.high * 1e3:.2g}]"
