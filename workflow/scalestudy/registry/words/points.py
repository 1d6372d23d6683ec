"""What is said of a point in findings and documents alike; `row` is one of comprehensive_summary.csv."""

import json
from collections.abc import Mapping

from scalestudy.registry.codes import LAUNCH_ENDS, Spoiled, Steadiness, Wrapper
from scalestudy.registry.column import Row

BASES = {
    Wrapper.NONE: "the plain model in one process",
    Wrapper.DDP: "one process, which includes the DDP wrapper",
    Wrapper.FSDP: "one process, which includes the FSDP wrapper",
}
"""What a base case is, by what is around its model."""
WORDS = {"too_short": "ok but too short"}
"""Where an end of a launch is not called as its column is."""


def ends(row: Row) -> dict[str, int]:
    """Launches by the word for their end, those that there are."""
    return {WORDS.get(end, end): int(row[f"launches_{end}"]) for end in LAUNCH_ENDS if row[f"launches_{end}"]}


def outcomes(row: Row) -> str:
    """'3 ok', or '2 ok, 1 oom': every launch is accounted for."""
    return counted_ends(ends(row))


def counted_ends(found: Mapping[str, int]) -> str:
    """The same of launches by the word for their end."""
    return ", ".join(f"{count} {word}" for word, count in found.items())


def steadiness(row: Row) -> str:
    """'two modes: 3 ms and 6 ms (40% of the steps)'; '' where the steps are steady, or there are none."""
    if row["steadiness"] == Steadiness.LEVEL_CHANGE:
        steps = int(row["level_changed_after_steps"])
        return f"no steady state: the step time changed by {row['level_change']:+.0%} after {steps} steady steps"
    if row["steadiness"] == Steadiness.TWO_MODES:
        fast, slow = row["fast_mode_s"] * 1e3, row["slow_mode_s"] * 1e3
        return f"two modes: {fast:.3g} ms and {slow:.3g} ms ({row['slow_mode_share']:.0%} of the steps)"
    return ""


def unsteady(row: Row) -> str:
    """Of how many launches that holds, and what was seen in the first of them."""
    if not row["launches_unsteady"]:
        return ""
    return f"{int(row['launches_unsteady'])} of {int(row['launches_ok'])} launches: {steadiness(row)}"


SPOILED = {
    Spoiled.OTHER_LOAD: "beside other load on the host",
    Spoiled.STOLEN_TIME: "while a hypervisor took CPU time away",
    Spoiled.THROTTLED: "with throttled clocks",
    Spoiled.SWAPPED: "while the host swapped",
    Spoiled.CLOCK_SET: "while the clock was set",
    Spoiled.SHARED_GPU: "on a GPU shared with others",
}
"""How launches were measured that something else spoiled, by code."""


def spoiled_by(codes: object) -> str:
    """'beside other load on the host or with throttled clocks', of codes separated by blanks."""
    known = [SPOILED[Spoiled(code)] for code in str(codes).split() if code in SPOILED]
    return " or ".join(known) or SPOILED[Spoiled.OTHER_LOAD]


def counted(row: Row, name: str) -> int:
    """A count of a row; 0 where a table of an earlier release lacks the column."""
    found = row.get(name, 0)
    return 0 if found != found else int(found)


def spoiled(row: Row) -> str:
    """'3 of 6 repeats were measured beside other load on the host and are left out'; '' where none was spoiled.

    Of a point that is compared with nothing, its launches are counted.
    """
    count, word = counted(row, "repeats_spoiled"), "repeats"
    of_all = count + counted(row, "repeats_clean")
    if row["world_size"] == 1:
        count, of_all, word = counted(row, "launches_spoiled"), int(row["launches_ok"]), "launches"
    if not count:
        return ""
    was, counts = ("was", "counts") if count == 1 else ("were", "count")
    left_out = f"{'is' if count == 1 else 'are'} left out"
    few = ", since too few others are left" if of_all - count < 2 else ""
    end = left_out if row["spoiled_left_out"] else f"{counts} all the same{few}"
    return f"{count} of {of_all} {word} {was} measured {spoiled_by(row['spoiled_by'])} and {end}"


def memory_growth(row: Row) -> str:
    """Of the first launch whose memory grows; '' where none does."""
    if not row["launches_growing"]:
        return ""
    slope, low, high = (row[f"memory_growth_gib_per_1000_steps{end}"] for end in ("", "_low", "_high"))
    rank = f"{row['memory_growth_kind']} memory of rank {int(row['memory_growth_rank'])}"
    return f"{rank} grows by {slope:.2g} GiB [{low:.2g}, {high:.2g}] in 1000 steps"


def numa_ranks(row: Row) -> str:
    """'rank 0, 3': those with cores on several memory nodes; empty for none."""
    ranks = json.loads(row["numa_ranks"])
    return f"rank {', '.join(map(str, ranks))}" if ranks else ""


def far_ranks(row: Row) -> str:
    """'rank 3 on GPU 3 runs on socket 0, its GPU is attached to socket 1; ...'; empty for none.

    Tables of earlier releases lack the column.
    """
    known = row.get("far_ranks", None)
    return "; ".join(
        f"rank {rank} on GPU {gpu} runs on socket {here}, its GPU is attached to socket {there}"
        for rank, gpu, here, there in json.loads(known if isinstance(known, str) else "[]")
    )
