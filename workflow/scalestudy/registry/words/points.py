"""Texts about a point for findings and documents; `row` is a row of comprehensive_summary.csv."""

import json
from collections.abc import Mapping

from scalestudy.registry.codes import LAUNCH_ENDS, IntervalMethod, Spoiled, Steadiness, Wrapper
from scalestudy.registry.column import Row
from scalestudy.registry.words.percent import percent

BASES = {
    Wrapper.NONE: "the plain model in one process",
    Wrapper.DDP: "one process, which includes the DDP wrapper",
    Wrapper.FSDP: "one process, which includes the FSDP wrapper",
}
"""Description of a baseline, by the wrapper of its model."""
WORDS = {"too_short": "ok but too short"}
"""Words for the outcome of a run that differ from the name of its column."""


def ends(row: Row) -> dict[str, int]:
    """Number of runs by the word for their outcome, without outcomes that did not occur."""
    return {WORDS.get(end, end): int(row[f"launches_{end}"]) for end in LAUNCH_ENDS if row[f"launches_{end}"]}


def outcomes(row: Row) -> str:
    """'3 ok', or '2 ok, 1 oom': covers every run."""
    return counted_ends(ends(row))


def counted_ends(found: Mapping[str, int]) -> str:
    """The same, from numbers of runs by the word for their outcome."""
    return ", ".join(f"{count} {word}" for word, count in found.items())


def steadiness(row: Row) -> str:
    """'two modes: 3 ms and 6 ms (40 % of the steps)'; '' if the steps are steady, or there are no steps."""
    if row["steadiness"] == Steadiness.LEVEL_CHANGE:
        steps = int(row["level_changed_after_steps"])
        change = percent(row["level_change"], signed=True)
        return f"no steady state: the step time changed by {change} after {steps} steady steps"
    if row["steadiness"] == Steadiness.TWO_MODES:
        fast, slow = row["fast_mode_s"] * 1e3, row["slow_mode_s"] * 1e3
        return f"two modes: {fast:.3g} ms and {slow:.3g} ms ({percent(row['slow_mode_share'])} of the steps)"
    return ""


def unsteady(row: Row) -> str:
    """The number of unsteady runs, and what was observed in the first of them; '' if all are steady."""
    if not row["launches_unsteady"]:
        return ""
    return f"{int(row['launches_unsteady'])} of {int(row['launches_ok'])} runs: {steadiness(row)}"


SPOILED = {
    Spoiled.OTHER_LOAD: "under other load on the host",
    Spoiled.STOLEN_TIME: "while a hypervisor took CPU time away",
    Spoiled.THROTTLED: "with throttled clocks",
    Spoiled.SWAPPED: "while the host swapped",
    Spoiled.CLOCK_SET: "while the clock was set",
    Spoiled.SHARED_GPU: "on a GPU shared with others",
}
"""How a disturbed run was measured, by code."""


def spoiled_by(codes: object) -> str:
    """'under other load on the host or with throttled clocks', from codes separated by blanks."""
    known = [SPOILED[Spoiled(code)] for code in str(codes).split() if code in SPOILED]
    return " or ".join(known) or SPOILED[Spoiled.OTHER_LOAD]


def counted(row: Row, name: str) -> int:
    """A count of a row; 0 if a table of an earlier release lacks the column."""
    found = row.get(name, 0)
    return 0 if found != found else int(found)


def spoiled(row: Row) -> str:
    """'3 of 6 repeats were measured under other load on the host and are left out'; '' if none was disturbed.

    For a single process, runs are counted instead of repeats.
    """
    count, word = counted(row, "repeats_spoiled"), "repeats"
    of_all = count + counted(row, "repeats_clean")
    if row["world_size"] == 1:
        count, of_all, word = counted(row, "launches_spoiled"), int(row["launches_ok"]), "runs"
    if not count:
        return ""
    was, counts = ("was", "counts") if count == 1 else ("were", "count")
    if count == of_all and not row["spoiled_left_out"]:
        which = f"the only {word[:-1]}" if count == 1 else f"all {count} {word}"
        return f"{which} {was} measured {spoiled_by(row['spoiled_by'])} and still {counts}, since no others remain"
    left_out = f"{'is' if count == 1 else 'are'} left out"
    few = ", since too few others remain" if of_all - count < 2 else ""
    end = left_out if row["spoiled_left_out"] else f"still {counts}{few}"
    if row.get("interval", "") == IntervalMethod.WELCH:
        end = f"{left_out}; the undisturbed runs of {'this repeat' if count == 1 else 'these repeats'} count"
    return f"{count} of {of_all} {word} {was} measured {spoiled_by(row['spoiled_by'])} and {end}"


def memory_growth(row: Row) -> str:
    """The growth of memory in the first run that has one; '' if no run has one."""
    if not row["launches_growing"]:
        return ""
    slope, low, high = (row[f"memory_growth_gib_per_1000_steps{end}"] for end in ("", "_low", "_high"))
    rank = f"{row['memory_growth_kind']} memory of rank {int(row['memory_growth_rank'])}"
    return f"{rank} grows by {slope:.2g} GiB [{low:.2g}, {high:.2g}] per 1000 steps"


def numa_ranks(row: Row) -> str:
    """'rank 0, 3': the ranks with cores on several NUMA nodes; empty if there are none."""
    ranks = json.loads(row["numa_ranks"])
    return f"rank {', '.join(map(str, ranks))}" if ranks else ""


def far_ranks(row: Row) -> str:
    """'rank 3 on GPU 3 runs on socket 0, its GPU is attached to socket 1; ...'; empty if there are none.

    Tables of earlier releases lack the column.
    """
    known = row.get("far_ranks", None)
    return "; ".join(
        f"rank {rank} on GPU {gpu} runs on socket {here}, its GPU is attached to socket {there}"
        for rank, gpu, here, there in json.loads(known if isinstance(known, str) else "[]")
    )
