"""Columns of a point from a user's script; for our own training their values are those of nothing detected."""

from math import nan
from typing import Any

import pandas as pd

from scalestudy.analyse.communication.links import LINK, NO_RING, NO_TRANSPORT, TRANSPORT
from scalestudy.analyse.communication.probes import HOOK_DIFFERENCE, LIMITS, QUANTITIES, communication_row
from scalestudy.analyse.point.launches import first_of, launches_of
from scalestudy.analyse.statistics.intervals import mean
from scalestudy.registry.codes import LateBy, Methods, NcclTransport, SlowestLink, Wrapper
from scalestudy.study.config.study import Study

WRAPPER = "wrapper_time_s"


def script_row(good: pd.DataFrame, study: Study) -> dict[str, Any]:
    """Returns wrapper, seen, late_by, checkpoint_apart_s, launches_memory_read. good: rows of runs.csv."""
    return {
        **first_of(good, good["wrapper"] != Wrapper.NONE, {"wrapper": Wrapper.NONE}),
        **first_of(good, good["seen"] != "{}", {"seen": "{}"}),
        **first_of(good, good["late_by"] != LateBy.NONE, {"late_by": LateBy.NONE}),
        **mean(launches_of(good, "checkpoint_apart_s", study), confidence=study.level).columns(
            "checkpoint_apart_s"
        ),
        "launches_memory_read": int(good["memory_growth_gib_per_1000_steps"].notna().sum()),
    }


def probed_row(good: pd.DataFrame, *, ranks: int, confidence: float) -> dict[str, Any]:
    """Returns the probes of a point. In a single process, the difference of its blocks is the wrapper."""
    columns = communication_row(good, confidence=confidence)
    wrapper: dict[str, Any] = {f"{WRAPPER}{end}": nan for end in LIMITS}
    if ranks == 1:
        wrapper = {f"{WRAPPER}{end}": columns[f"differential_s{end}"] for end in LIMITS}
        for name in (*QUANTITIES, HOOK_DIFFERENCE):
            columns |= {f"{name}_s{end}": nan for end in LIMITS}
        columns["methods"] = Methods.NONE
    links = first_of(good, good[LINK] != SlowestLink.NONE, NO_RING)
    links |= first_of(good, good[TRANSPORT] != NcclTransport.NONE, NO_TRANSPORT)
    return columns | wrapper | links
