"""confounded: the rows differ in more than the number of ranks, or beat what that number can give."""

from __future__ import annotations

from typing import Any

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation
from scalestudy.record.protocol import comparable

# What has to be the same in a point and its base case; everything else may follow from the number of ranks.
SAME = (
    "precision",
    "compile",
    "activation_checkpointing",
    "accumulation_steps",
    "device",
    "torch",
    "threads_per_rank",
)


def find(case: Case) -> Finding | None:
    """Finding where the comparison is not like for like."""
    point, base = case.point, case.base
    if not comparable(point["protocol"], base["protocol"], "step_time_s"):
        return _of_another_protocol(int(point["protocol"]), int(base["protocol"]))
    differ = [
        f"{name}: {_text(base[name])} at the base, {_text(point[name])} here"
        for name in SAME
        if base[name] != point[name]
    ]
    held = "global_batch" if point["scaling"] == "strong" else "batch_per_rank"
    if base[held] != point[held]:
        differ.append(f"{held}: {base[held]} at the base, {point[held]} here, in {point['scaling']} scaling")
    superlinear = point["speedup_low"] > case.ranks
    if not differ and not superlinear:
        return None
    beyond = f"more than {case.ranks} ranks can give" if superlinear else ""
    reasons = differ or [f"the speedup is above {case.ranks}, the number of ranks, with its whole interval"]
    return Finding(
        cause="confounded",
        explanation="Not the same work: " + "; ".join(reasons) + ".",
        evidence=(Evidence.of("speedup", "speedup", case.interval("speedup"), "x", beyond),),
        refuted_by="rows that differ in the number of ranks alone and give the same ratio",
        recommendations=(
            Recommendation(
                id="same_settings",
                change="Run the base case with the settings of this variant: name a single variant"
                " with the same precision as its base, on the same devices and versions.",
                unpredicted="a ratio of different work predicts nothing.",
            ),
        ),
    )


def _of_another_protocol(mine: int, of_base: int) -> Finding:
    return Finding(
        cause="confounded",
        explanation=f"Step times were measured by protocol {mine} here and by protocol {of_base} at the base,"
        " which are not comparable.",
        evidence=(Evidence.of("protocol", "measurement protocol", mine, "", f"{of_base} at the base"),),
        refuted_by="rows of one protocol",
        recommendations=(
            Recommendation(
                id="measure_again",
                change="Measure the older runs again: `scalestudy retry RESULTS --protocol`,"
                " then `scalestudy run`.",
                unpredicted="there is no ratio yet.",
            ),
        ),
    )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
