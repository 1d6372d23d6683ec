"""Checks that a run in which NCCL may use neither peer-to-peer nor host memory is diagnosed as `transport`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from scalestudy.accept.checks import without_names
from scalestudy.accept.disturbed import marks_of, unless_disturbed
from scalestudy.accept.model import Check, check
from scalestudy.analyse.forecast.forecasts import forecasts_frame
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.reduce import reduce_run
from scalestudy.diagnose.study import diagnose_study
from scalestudy.record.observation import NCCL_TRANSPORT
from scalestudy.record.tables import Observation
from scalestudy.study.plan import Plan

NAME = "NCCL without P2P and shared memory gives transport"
CAUSE = "transport"


def transport_check(plan: Plan, observations: Sequence[Observation]) -> Check:
    """Analyse the runs of a plan like any study's, and check the cause found at its distributed point."""
    for observation in observations:
        record = observation.record
        if record.outcome != "ok":
            said = f"{record.outcome}: {without_names(record)}"
            return check(NAME, False, said, CAUSE, run_id=record.run_id)
    runs = pd.DataFrame([reduce_run(plan.study, observation).row for observation in observations])
    summary = summary_frame(plan, runs)
    diagnoses = diagnose_study(plan.study, summary, forecasts_frame(plan.study, summary))
    causes = [finding.cause for diagnosis in diagnoses for finding in diagnosis.findings]
    said_by_nccl = {one.record.environment.get(NCCL_TRANSPORT) for one in observations} - {None}
    took = f"; NCCL used {', '.join(sorted(map(str, said_by_nccl)))}" if said_by_nccl else ""
    bandwidth = summary["all_reduce_bus_gib_per_s"].max()
    found = f"{', '.join(causes) or 'no cause'}{took}; {bandwidth:.3g} GiB/s"
    marks = " ".join(filter(None, map(marks_of, observations)))
    return unless_disturbed(check(NAME, CAUSE in causes, found, CAUSE), marks)
