"""DDP or FSDP: what a study that has both measured of them says, and what to do where one does not fit."""

from __future__ import annotations

from math import isnan

import pandas as pd

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import as_measured, peak_memory_gib


def _fastest_ddp(case: Case) -> pd.Series | None:
    """The fastest DDP variant at the same scale and batch; None where none came to its end."""
    peers = case.peers
    ddp = peers[(peers["strategy"] == "ddp") & peers["step_time_s"].notna()]
    return None if ddp.empty else ddp.iloc[ddp["step_time_s"].argmin()]


def _slower_than_ddp(case: Case) -> Seen | None:
    if case.point["strategy"] != "fsdp":
        return None
    ddp = _fastest_ddp(case)
    if ddp is None:
        return None
    mine, theirs = case.interval("step_time_s"), Interval.of(ddp, "step_time_s")
    sure = not (isnan(mine.low) or isnan(theirs.high))
    if (mine.low <= theirs.high) if sure else (mine.value <= theirs.value):
        return None
    return Seen(
        (
            Evidence.of("step_of_fsdp", "step of FSDP", mine, "ms"),
            Evidence.of("step_of_ddp", f"step of {ddp['variant']}", theirs, "ms"),
            *_peaks(case.point, "fsdp", "FSDP"),
            *_peaks(ddp, "ddp", ddp["variant"]),
        ),
        Interval(mine.value - theirs.value, mine.low - theirs.high, mine.high - theirs.low),
    )


def _peaks(row: pd.Series, key: str, name: str) -> list[Evidence]:
    peak = peak_memory_gib(row)
    return [] if isnan(peak) else [Evidence.of(f"peak_memory_of_{key}", f"peak memory of {name}", peak, "GiB")]


def _use_ddp(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    ddp = _fastest_ddp(case)
    assert ddp is not None
    found = [
        Recommendation(
            id="use_ddp",
            change=f"Use {ddp['variant']}: the model fits without sharding.",
            prediction=as_measured(case, ddp),
            warning="A larger model or batch may not fit; then FSDP is what is left.",
        )
    ]
    if case.knobs.fsdp.sharding == "full":
        found.append(
            Recommendation(
                id="shard_gradients",
                change="Or shard gradients and optimizer states only: parameters are then gathered once a step.",
                patch=case.variant_patch({"fsdp": {"sharding": "gradients"}}),
                unpredicted="a third of the bytes less; the parameters stay on every rank.",
            )
        )
    return tuple(found)


FSDP_OVERHEAD = Cause(
    id="fsdp-overhead",
    stage=Stage.STRUCTURE,
    threshold="step time above DDP's at the same scale and batch with its whole interval, where DDP fits",
    look=_slower_than_ddp,
    explanation=lambda case, seen: (
        "FSDP gathers parameters that would have fitted: DDP came to its end at the same scale and batch, and"
        " its steps"
        " are faster."
    ),
    refuted_by="a DDP that runs out of memory in longer training",
    recommend=_use_ddp,
)


def _out_of_memory(case: Case) -> Seen | None:
    if case.point["strategy"] != "ddp" or case.point["launches_ok"] or not case.point["launches_oom"]:
        return None
    fits = case.peers[(case.peers["strategy"] == "fsdp") & case.peers["step_time_s"].notna()]
    evidence = [
        Evidence.of("runs_out_of_memory", "launches out of memory", case.point["launches"], "", "all of them")
    ]
    for _, row in fits.iterrows():
        evidence += _peaks(row, row["variant"], f"{row['variant']}, which fits")
    return Seen(tuple(evidence))


def _shard(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    fits = case.peers[(case.peers["strategy"] == "fsdp") & case.peers["step_time_s"].notna()]
    parts = 2 * case.knobs.accumulation_steps
    smaller = Recommendation(
        id="more_micro_batches",
        change="Or pass the batch in more micro-batches: less memory for activations at the same global batch.",
        patch=case.variant_patch({"accumulation_steps": parts}),
        unpredicted="how much of the memory is activations was not measured.",
    )
    if len(fits):
        best = fits.iloc[fits["step_time_s"].argmin()]
        first = Recommendation(
            id="use_fsdp",
            change=f"Use {best['variant']}, which fits.",
            prediction=as_measured(case, best),
        )
    else:
        shown = {"strategy": "fsdp"} | ({"base": case.base["variant"]} if len(case.study.variants) > 1 else {})
        first = Recommendation(
            id="use_fsdp",
            change="Shard the model (FSDP): ranks share parameters, gradients and optimizer states.",
            patch={"variants": {"fsdp": shown}},
            unpredicted=f"about 1/{case.ranks} of the model's state is left on a rank; activations stay.",
        )
    return first, smaller


DDP_OOM = Cause(
    id="ddp-oom",
    stage=Stage.STRUCTURE,
    threshold="outcome oom of every launch",
    look=_out_of_memory,
    explanation=lambda case, seen: (
        "DDP keeps the whole model, its gradients and its optimizer's states on every rank, and they do not fit."
    ),
    refuted_by="a launch that fits with a smaller batch: then it is the activations",
    recommend=_shard,
)
