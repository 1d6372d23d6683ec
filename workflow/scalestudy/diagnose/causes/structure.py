"""Causes in the configuration: unnecessary work of the wrapper, and messages other than gradients."""

from math import isnan

from scalestudy.analyse.costs.buckets import BUCKET_CAP_MIB, MIB, bucket_sizes
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, less
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.causes.transport import SHARE
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.registry.words.percent import percent

MANY = 2.0  # latencies of all buckets over the transfer time of their bytes
FORWARD_SHARE = 0.02  # of a step: messages in the forward pass
MESSAGES = 2
"""Messages of a synchronised normalisation layer: statistics (forward pass), their gradients (backward pass)."""


@cause(
    "accum-no-nosync",
    Stage.STRUCTURE,
    refuted_by="the same step time with no_sync on all micro-batches but the last",
)
def accum_no_nosync(case: Case) -> Seen | None:
    """More than one synchronisation of gradients per optimizer step."""
    parts = case.knobs.accumulation_steps
    if not (case.knobs.accumulation_sync and parts > 1):
        return None
    spared_s = case.interval("overhead_s").scaled(1 - 1 / parts)
    known = spared_s.value > 0
    advice = Recommendation(
        id="synchronise_once",
        change="Synchronise gradients only after the last micro-batch.",
        patch=case.variant_patch({"accumulation_sync": False}),
        prediction=saving(case, spared_s, "if all of the overhead is synchronisation") if known else None,
        unpredicted="" if known else "the overhead was not measured.",
    )
    often = Evidence.of("synchronisations", "synchronisations per optimizer step", parts, "", "> 1")
    return Seen(
        f"Gradients are synchronised after each of {parts} micro-batches, but only their sum after the last one is"
        " used.",
        (often, *case.overhead_evidence()),
        (advice,),
        spared_s,
    )


@cause("unused-params", Stage.STRUCTURE, refuted_by="a DDP error about unused parameters")
def unused_params(case: Case) -> Seen | None:
    """find_unused_parameters on, and no parameter without a gradient."""
    if not case.knobs.ddp.find_unused_parameters or case.point["unused_parameter_bytes"] != 0:
        return None
    advice = Recommendation(
        id="find_unused_off",
        change="Leave find_unused_parameters off.",
        patch=case.variant_patch({"ddp": {"find_unused_parameters": False}}),
        unpredicted="the cost of the search depends on the graph. Steps cannot become slower.",
    )
    name, nothing = "parameters without a gradient", "0: nothing to find"
    return Seen(
        "At every step, DDP searches the graph for parameters without a gradient, although there are none."
        " Synchronisation cannot start before the search ends.",
        (Evidence.of("unused_parameters", name, 0, "bytes", nothing),),
        (advice,),
    )


@cause("bucket-size", Stage.STRUCTURE, refuted_by="the same step time at PyTorch's default bucket size")
def bucket_size(case: Case) -> Seen | None:
    """Too many buckets, so that latency dominates, or a single bucket, so that nothing overlaps.

    Rule: the latencies of the buckets are above twice the transfer time of their bytes, or >= 10 % of the step is
    lost to buckets that PyTorch's default size would not have; or there is one bucket where the default has
    several. The loss is the overhead minus the transfer time of the bytes, in proportion to the superfluous
    buckets, and at least their latencies.
    """
    point, cap = case.point, case.knobs.ddp.bucket_cap_mb
    count, whole = point["buckets"], point["gradient_bytes"]
    if isnan(count) or isnan(whole) or cap == BUCKET_CAP_MIB:
        return None
    usual = len(bucket_sizes(whole))
    latency_s = float(count * point["all_reduce_latency_s"])  # of all buckets of a step, on the idle network
    bytes_s = whole / (point["all_reduce_gib_per_s"] * 2**30)
    evidence = [
        Evidence.of("bucket_cap_mb", "bucket_cap_mb", cap, "MiB", f"default: {BUCKET_CAP_MIB:g}"),
        Evidence.of("buckets", "buckets per step", count, "", f"{usual} at the default size"),
    ]
    lost_s, found, support = NOTHING, True, 1.0
    if cap < BUCKET_CAP_MIB and count > 2 * usual:
        latency, least_s = case.interval("all_reduce_latency_s"), SHARE * point["step_time_s"]
        lost_s = _spared_by_fewer(case, latency.scaled(count - usual), bytes_s, 1 - usual / count)
        found = bool(latency_s > MANY * bytes_s or lost_s.value >= least_s)
        either = beyond(case, latency.scaled(count), MANY * bytes_s), beyond(case, lost_s, least_s)
        support = max(either)
        if not (found or is_possible(support)):
            return None
        latency_ms = f"{latency_s * 1e3:.3g} ms per step"
        why = f"Gradients are sent in {count:.0f} buckets, whose latencies add up to {latency_ms}."
        lost = "time lost to superfluous buckets"
        evidence += [
            Evidence.of("bucket_latencies", "latencies of all buckets", latency_s, "ms"),
            Evidence.of("bucket_bytes", "transfer time of their bytes on the idle network", bytes_s, "ms"),
            Evidence.of("lost_to_buckets", lost, lost_s, "ms", f">= {percent(SHARE)} of the step"),
        ]
    elif cap > BUCKET_CAP_MIB and count == 1 and usual > 1:
        why = (
            "All gradients are sent in one bucket, so communication starts only after the whole backward pass and"
            " nothing overlaps."
        )
        exposed = case.interval("exposed_span_s")
        evidence.append(Evidence.of("exposed_communication", "exposed communication", exposed, "ms"))
    else:
        return None
    known = not isnan(lost_s.value)
    costs = (
        "if the overhead beyond the transfer time is caused by the buckets; the lower limit counts only their"
        " latencies"
    )
    advice = Recommendation(
        id="default_buckets",
        change="Use PyTorch's default bucket size, or sweep it.",
        patch=case.variant_patch({"ddp": {"bucket_cap_mb": BUCKET_CAP_MIB}}),
        prediction=saving(case, lost_s, costs) if known else None,
        unpredicted="how much communication will overlap must be measured.",
    )
    return Seen(why, tuple(evidence), (advice,), lost_s, support=support, found=found)


def _spared_by_fewer(case: Case, latencies_s: Interval, bytes_s: float, share: float) -> Interval:
    """Seconds of a step that fewer buckets save: a share of the overhead beyond the transfer time of the bytes.

    In training, a bucket costs more than its latency on the idle network: a hook, a copy, and sending threads that
    take time from the computation. latencies_s: lower limit of the saving. share: fraction of the buckets that are
    no longer sent. The upper limit of the saving is this share of the whole overhead.
    """
    overhead_s = case.interval("overhead_s")
    beyond_s = less(overhead_s, Interval(bytes_s, bytes_s, bytes_s))
    value = max(latencies_s.value, share * beyond_s.value)
    if isnan(value):
        return latencies_s
    low = min(value, latencies_s.value if isnan(latencies_s.low) else latencies_s.low)
    most_s = overhead_s.value if isnan(overhead_s.high) else overhead_s.high
    return Interval(value, low, max(value, share * most_s))


@cause("sync-bn", Stage.STRUCTURE, refuted_by="the same step time with plain batch normalisation")
def sync_bn(case: Case) -> Seen | None:
    """SyncBatchNorm is present and, if the latency is known, its messages take >= 2 % of the step.

    Each message counts with the time of the smallest all-reduce. Without a probe, its presence is enough.
    """
    layers, latency_s = case.point["synchronised_norms"], case.point["all_reduce_latency_s"]
    if not layers > 0:
        return None
    evidence = [Evidence.of("synchronised_layers", "layers with statistics over all ranks", layers, "", "> 0")]
    lost_s, found, support = NOTHING, True, 1.0
    if latency_s > 0:
        waiting_s, least_s = MESSAGES * layers * latency_s, FORWARD_SHARE * case.point["step_time_s"]
        lost_s = case.interval("all_reduce_latency_s").scaled(MESSAGES * layers)
        found, support = waiting_s >= least_s, beyond(case, lost_s, least_s)
        if not (found or is_possible(support)):
            return None
        evidence += [
            Evidence.of("all_reduce_latency", "latency of the all-reduce", latency_s, "us"),
            Evidence.of("message_latencies", f"latencies of {MESSAGES} messages per layer", waiting_s, "ms"),
            case.share_evidence(waiting_s, FORWARD_SHARE),
        ]
    assumes = "if every message takes as long as the latency of the all-reduce, and probably longer"
    advice = Recommendation(
        id="plain_batch_norm",
        change="Use plain batch normalisation if a rank has enough samples for its own statistics, or GroupNorm,"
        " which needs none.",
        patch=case.variant_patch({"ddp": {"sync_batch_norm": False}}),
        prediction=saving(case, lost_s, assumes) if lost_s.value > 0 else None,
        unpredicted="the latency of a message was not measured.",
        warning="With few samples per rank the statistics are noisy: check the accuracy.",
    )
    return Seen(
        f"{layers:.0f} normalisation layers wait for all ranks in the forward and the backward pass. They send"
        " many tiny messages that do not overlap with computation.",
        tuple(evidence),
        (advice,),
        lost_s,
        support=support,
        found=found,
    )


@cause("buffers", Stage.STRUCTURE, refuted_by="the same step time with broadcast_buffers off")
def buffers(case: Case) -> Seen | None:
    """A broadcast of the model's buffers takes >= 2 % of the step.

    It is measured on the idle network. In training it takes at least as long.
    """
    lost_s, least_s = case.interval("buffer_broadcast_s"), FORWARD_SHARE * case.point["step_time_s"]
    sending_s, size_mib = lost_s.value, case.point["buffer_bytes"] / MIB
    found, support = sending_s >= least_s, beyond(case, lost_s, least_s)
    if not (found or is_possible(support)):
        return None
    advice = Recommendation(
        id="broadcast_buffers_off",
        change="Leave broadcast_buffers off. Masks and tables that never change need not be buffers.",
        patch=case.variant_patch({"ddp": {"broadcast_buffers": False}}),
        prediction=saving(case, lost_s, "if the broadcast takes as long as on the idle network"),
        warning="The running statistics of batch normalisation then differ between ranks, and checkpoints contain"
        " those of rank 0.",
    )
    evidence = (
        Evidence.of("buffers", "buffers", size_mib, "MiB"),
        Evidence.of("broadcast", "their broadcast on the idle network", sending_s, "ms"),
        case.share_evidence(sending_s, FORWARD_SHARE),
    )
    return Seen(
        f"DDP broadcasts {size_mib:.3g} MiB of buffers from rank 0 at the start of every forward pass. No"
        " computation runs meanwhile.",
        evidence,
        (advice,),
        lost_s,
        support=support,
        found=found,
    )
