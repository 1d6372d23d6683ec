"""One module a figure: frames in, Figure out. Saving, size and style are the same for all (style.py, save.py)."""

from __future__ import annotations

from scalestudy.publish.figures import (
    accuracy,
    breakdown,
    communication,
    crossover,
    distribution,
    epoch_time,
    held_out,
    memory,
    speedup,
    throughput,
)
from scalestudy.study.plan import Plan

# The file name each figure of a workload gets, after the workload's own name.
FIGURES = {
    "epoch_time_detailed": epoch_time.draw,
    "speedup_efficiency": speedup.draw,
    "throughput": throughput.draw,
    "accuracy": accuracy.draw,
    "step_breakdown": breakdown.draw,
    "memory": memory.draw,
    "communication": communication.draw,
    "step_time_distribution": distribution.draw,
    "measured_forecast": held_out.draw,
}

# Of the study as a whole.
STUDY_FIGURES = {"ddp_fsdp_crossover": crossover.draw}


def study_figures(plan: Plan) -> list[str]:
    """The figures of STUDY_FIGURES that a study is about."""
    return ["ddp_fsdp_crossover"] if plan.compares("ddp", "fsdp") else []
