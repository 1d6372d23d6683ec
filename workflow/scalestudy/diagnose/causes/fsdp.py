"""Causes of the choice between DDP and FSDP: one is slower in the same study, or one does not fit."""

from math import isnan

import pandas as pd

from scalestudy.analyse.statistics.intervals import Interval, less
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import as_measured, peak_memory_gib
from scalestudy.diagnose.support import beyond, is_possible


@cause("fsdp-overhead", Stage.STRUCTURE, refuted_by="DDP running out of memory in longer training")
def fsdp_overhead(case: Case) -> Seen | None:
    """FSDP's step takes longer than DDP's at the same scale and batch, where DDP fits: the lower limit of the
    difference is above 0."""
    if case.point["strategy"] != "fsdp" or (fits := _that_fit(case, "ddp")).empty:
        return None
    ddp = fits.iloc[fits["step_time_s"].argmin()]
    mine, theirs = case.interval("step_time_s"), Interval.of(ddp, "step_time_s")
    longer_s = less(mine, theirs)
    found = (longer_s.value if isnan(longer_s.low) else longer_s.low) > 0
    support = beyond(case, longer_s, 0.0)
    if not (found or is_possible(support)):
        return None
    advice = [
        Recommendation(
            id="use_ddp",
            change=f"Use {ddp['variant']}: the model fits without sharding.",
            prediction=as_measured(case, ddp),
            variant=str(ddp["variant"]),
            warning="A larger model or batch may not fit with DDP; then FSDP is needed.",
        )
    ]
    if case.knobs.fsdp.sharding == "full":
        advice.append(
            Recommendation(
                id="shard_gradients",
                change="Or shard gradients and optimizer states only: parameters are then gathered once per step.",
                patch=case.variant_patch({"fsdp": {"sharding": "gradients"}}),
                unpredicted="one third fewer bytes are sent, but every rank keeps all parameters.",
            )
        )
    evidence = (
        Evidence.of("step_of_fsdp", "step time of FSDP", mine, "ms"),
        Evidence.of("step_of_ddp", f"step time of {ddp['variant']}", theirs, "ms"),
        *_peaks(case.point, "fsdp", "FSDP"),
        *_peaks(ddp, "ddp", ddp["variant"]),
    )
    return Seen(
        "FSDP gathers parameters that would fit on every rank: DDP completes at the same scale and batch, with"
        " faster steps.",
        evidence,
        tuple(advice),
        longer_s,
        support=support,
        found=found,
    )


@cause(
    "ddp-oom",
    Stage.STRUCTURE,
    refuted_by="a run that fits with a smaller batch: then the activations are too large",
)
def ddp_oom(case: Case) -> Seen | None:
    """Every run ends out of memory (outcome oom)."""
    point = case.point
    if point["strategy"] != "ddp" or point["launches_ok"] or not point["launches_oom"]:
        return None
    evidence = [Evidence.of("runs_out_of_memory", "runs out of memory", point["launches"], "", "all of them")]
    fits = _that_fit(case, "fsdp")
    for _, row in fits.iterrows():
        evidence += _peaks(row, row["variant"], f"{row['variant']}, which fits")
    if len(fits):
        best = fits.iloc[fits["step_time_s"].argmin()]
        shard = Recommendation(
            id="use_fsdp",
            change=f"Use {best['variant']}, which fits.",
            prediction=as_measured(case, best),
        )
    else:
        shown = {"strategy": "fsdp"} | ({"base": case.base["variant"]} if len(case.study.variants) > 1 else {})
        shard = Recommendation(
            id="use_fsdp",
            change="Shard the model (FSDP): each rank then keeps only a part of the parameters, gradients and"
            " optimizer states.",
            patch={"variants": {"fsdp": shown}},
            unpredicted=f"each rank keeps about 1/{case.ranks} of the model's state; activations are unchanged.",
        )
    smaller = Recommendation(
        id="more_micro_batches",
        change="Or split the batch into more micro-batches: activations then need less memory at the same global"
        " batch.",
        patch=case.variant_patch({"accumulation_steps": 2 * case.knobs.accumulation_steps}),
        unpredicted="the memory of the activations was not measured.",
    )
    return Seen(
        "DDP keeps the whole model, its gradients and the optimizer states on every rank, and they do not fit.",
        tuple(evidence),
        (shard, smaller),
    )


def _that_fit(case: Case, strategy: str) -> pd.DataFrame:
    """Rows of the variants of this strategy at the same scale and batch that completed."""
    fits: pd.DataFrame = case.peers[(case.peers["strategy"] == strategy) & case.peers["step_time_s"].notna()]
    return fits


def _peaks(row: pd.Series, key: str, name: str) -> list[Evidence]:
    peak = peak_memory_gib(row)
    return [] if isnan(peak) else [Evidence.of(f"peak_memory_of_{key}", f"peak memory of {name}", peak, "GiB")]
