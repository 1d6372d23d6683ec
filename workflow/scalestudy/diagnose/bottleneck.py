"""What most of a step's time goes to: one word a point, with the shares that it rests on."""

from __future__ import annotations

import contextlib
from math import isnan

from scalestudy.analyse.forecast.batches import step_model
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.point.rows import last_often
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Bottleneck


def find_bottleneck(case: Case) -> Bottleneck:
    """`input`, `bookkeeping` (logging and checkpoints), `straggler`, `communication`, `launch` or `compute`.

    `launch` is what a step of one process takes however small its batch is, `compute` what is left. Communication
    is what the probes found of synchronisation, less waiting for a late rank; without probes the whole overhead.
    `memory` where no launch came to its end for want of it.
    """
    point = case.point
    if not point["launches_ok"]:
        return Bottleneck(kind="memory" if point["launches_oom"] else "", shares={})
    step_s = point["step_time_s"]
    together_s = point["overhead_s"] if isnan(point["differential_s"]) else point["differential_s"]
    if isnan(step_s) or isnan(together_s):
        return Bottleneck(kind="", shares={})
    late_s, often = point["lateness_s"], point["late_share"] >= last_often(case.ranks)
    seconds = {
        "input": point[["data_time_s", "h2d_time_s"]].sum(),
        "bookkeeping": point[["logging_time_s", "checkpoint_time_s"]].sum(),
        "straggler": late_s if late_s > 0 and often else 0.0,
    }
    seconds["communication"] = together_s - seconds["straggler"]
    with contextlib.suppress(NoFitError):  # then it is part of what is computed
        seconds["launch"] = step_model(case.alone).fixed_s - seconds["input"]
    left_s = step_s
    shares = {}
    for kind, wanted_s in seconds.items():
        taken_s = min(max(0.0, wanted_s), left_s)  # what was measured at different times may be more than the step
        left_s -= taken_s
        shares[kind] = taken_s / step_s
    shares["compute"] = left_s / step_s
    return Bottleneck(kind=max(shares, key=shares.__getitem__), shares=shares)
