"""One module a figure: frames in, Figure out. Saving, size and style are the same for all (style.py, save.py).

A figure's module loads when it is drawn: a document that shows it needs its name alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The file name each figure of a workload gets, after the workload's own name, and the module that draws it.
FIGURES = {
    "epoch_time_detailed": "epoch_time",
    "speedup_efficiency": "speedup",
    "throughput": "throughput",
    "accuracy": "accuracy",
    "step_breakdown": "breakdown",
    "memory": "memory",
    "communication": "communication",
    "step_time_distribution": "distribution",
    "measured_forecast": "held_out",
}

# Of the study as a whole.
STUDY_FIGURES = {"ddp_fsdp_crossover": "crossover"}


def drawing(name: str) -> Callable[..., Figure]:
    """What draws a figure: from plan, workload and frames; one of the study as a whole, from plan and frames."""
    return importlib.import_module(f"{__name__}.{(FIGURES | STUDY_FIGURES)[name]}").draw


def study_figures(plan: Plan) -> list[str]:
    """The figures of STUDY_FIGURES that a study is about."""
    return ["ddp_fsdp_crossover"] if plan.compares("ddp", "fsdp") else []
