"""Causes that stand in the config: work that the wrapper does and need not do.

What each costs is measured anew.
"""

from __future__ import annotations

from math import ceil, isnan, nan

from scalestudy.analyse.costs.buckets import BUCKET_CAP_MIB, FIRST_BUCKET_BYTES, MIB
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.causes.transport import SHARE
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving

# accum-no-nosync


def _synchronised_each_time(case: Case) -> Seen | None:
    knobs = case.knobs
    if not (knobs.accumulation_sync and knobs.accumulation_steps > 1):
        return None
    parts = knobs.accumulation_steps
    spared = case.interval("overhead_s").scaled(1 - 1 / parts)
    evidence = (
        Evidence.of("synchronisations", "synchronisations of an optimizer step", parts, "", "> 1"),
        *case.overhead_evidence(),
    )
    return Seen(evidence, spared)


def _spare(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    known = seen.loss_s.value > 0
    return (
        Recommendation(
            id="synchronise_once",
            change="Synchronise gradients with the last micro-batch only.",
            patch=case.variant_patch({"accumulation_sync": False}),
            prediction=saving(case, seen.loss_s, "if the overhead is synchronisation") if known else None,
            unpredicted="" if known else "the overhead was not measured.",
        ),
    )


ACCUM_NO_NOSYNC = Cause(
    id="accum-no-nosync",
    stage=Stage.STRUCTURE,
    threshold="more than one synchronisation of gradients in an optimizer step",
    look=_synchronised_each_time,
    explanation=lambda case, seen: (
        f"Gradients are synchronised after each of {case.knobs.accumulation_steps} micro-batches; only the sum"
        " after the"
        " last is used."
    ),
    refuted_by="the same step time with no_sync on all micro-batches but the last",
    recommend=_spare,
)


# unused-params


def _walks_the_graph(case: Case) -> Seen | None:
    if not case.knobs.ddp.find_unused_parameters or case.point["unused_parameter_bytes"] != 0:
        return None
    return Seen(
        (Evidence.of("unused_parameters", "parameters without a gradient", 0, "bytes", "0: nothing to look for"),)
    )


UNUSED_PARAMS = Cause(
    id="unused-params",
    stage=Stage.STRUCTURE,
    threshold="find_unused_parameters on, and no parameter without a gradient",
    look=_walks_the_graph,
    explanation=lambda case, seen: (
        "DDP looks through the graph at every step for parameters without a gradient, and there are none; until"
        " it has"
        " looked it cannot begin to synchronise."
    ),
    refuted_by="an error of DDP about parameters that were not used",
    recommend=lambda case, seen: (
        Recommendation(
            id="find_unused_off",
            change="Leave find_unused_parameters off.",
            patch=case.variant_patch({"ddp": {"find_unused_parameters": False}}),
            unpredicted="what the walk costs depends on the graph. It cannot be slower.",
        ),
    ),
)


# bucket-size

MANY = 2.0  # latencies of all buckets over the time their bytes take


def _latencies_s(case: Case) -> float:
    """Of all buckets of a step, as on the idle network."""
    return float(case.point["buckets"] * case.point["all_reduce_latency_s"])


def _buckets(case: Case) -> Seen | None:
    """Many that are small, so that their latency rules; or one that holds everything, so that nothing overlaps."""
    point, cap = case.point, case.knobs.ddp.bucket_cap_mb
    count, whole = point["buckets"], point["gradient_bytes"]
    if isnan(count) or isnan(whole) or cap == BUCKET_CAP_MIB:
        return None
    latency_s = _latencies_s(case)
    bytes_s = whole / (point["all_reduce_gib_per_s"] * 2**30)
    usual = 1 + ceil(max(0.0, whole - FIRST_BUCKET_BYTES) / MIB / BUCKET_CAP_MIB)
    size = Evidence.of("bucket_cap_mb", "bucket_cap_mb", cap, "MiB", f"torch's own: {BUCKET_CAP_MIB:g}")
    if cap < BUCKET_CAP_MIB and count > 2 * usual:
        lost_s = case.interval("all_reduce_latency_s").scaled(count - usual)
        if latency_s > MANY * bytes_s or lost_s.value >= SHARE * point["step_time_s"]:
            return Seen(
                (
                    size,
                    Evidence.of("buckets", "buckets a step", count, "", f"{usual} at torch's own size"),
                    Evidence.of("bucket_latencies", "their latencies", latency_s, "ms"),
                    Evidence.of("bucket_bytes", "their bytes on the idle network", bytes_s, "ms"),
                ),
                lost_s,
            )
    if cap > BUCKET_CAP_MIB and count == 1 and usual > 1:
        return Seen(
            (
                size,
                Evidence.of("buckets", "buckets a step", count, "", f"{usual} at torch's own size"),
                Evidence.of(
                    "exposed_communication", "exposed communication", case.interval("exposed_span_s"), "ms"
                ),
            ),
            Interval(nan),
        )
    return None


BUCKET_SIZE = Cause(
    id="bucket-size",
    stage=Stage.STRUCTURE,
    threshold="latencies of the buckets above twice the time of their bytes, or >= 10 % of the step lost by those"
    " of more buckets than torch's own; or one where torch has several",
    look=_buckets,
    explanation=lambda case, seen: (
        f"Gradients travel in {case.point['buckets']:.0f} buckets: "
        + (
            f"so many that their latencies add up to {_latencies_s(case) * 1e3:.3g} ms a step."
            if case.knobs.ddp.bucket_cap_mb < BUCKET_CAP_MIB
            else "nothing is sent before the whole backward pass is over, and nothing overlaps."
        )
    ),
    refuted_by="the same step time at torch's own bucket size",
    recommend=lambda case, seen: (
        Recommendation(
            id="default_buckets",
            change="Take torch's own bucket size, or sweep it.",
            patch=case.variant_patch({"ddp": {"bucket_cap_mb": BUCKET_CAP_MIB}}),
            prediction=(
                None
                if isnan(seen.loss_s.value)
                else saving(case, seen.loss_s, "if each bucket that is then not sent costs its latency")
            ),
            unpredicted="what overlaps then is not known before it is measured.",
        ),
    ),
)
