"""Causes in the config: work that the wrapper does and need not do, and what it sends besides gradients."""

from math import isnan

from scalestudy.analyse.costs.buckets import BUCKET_CAP_MIB, MIB, bucket_sizes
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, less
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.causes.transport import SHARE
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible

MANY = 2.0  # latencies of all buckets over the time their bytes take
FORWARD_SHARE = 0.02  # of a step: what is sent in the forward pass
MESSAGES = 2
"""Of a synchronised normalisation: its statistics forward, their gradients backward."""


@cause(
    "accum-no-nosync",
    Stage.STRUCTURE,
    refuted_by="the same step time with no_sync on all micro-batches but the last",
)
def accum_no_nosync(case: Case) -> Seen | None:
    """More than one synchronisation of gradients in an optimizer step."""
    parts = case.knobs.accumulation_steps
    if not (case.knobs.accumulation_sync and parts > 1):
        return None
    spared_s = case.interval("overhead_s").scaled(1 - 1 / parts)
    known = spared_s.value > 0
    advice = Recommendation(
        id="synchronise_once",
        change="Synchronise gradients with the last micro-batch only.",
        patch=case.variant_patch({"accumulation_sync": False}),
        prediction=saving(case, spared_s, "if the overhead is synchronisation") if known else None,
        unpredicted="" if known else "the overhead was not measured.",
    )
    often = Evidence.of("synchronisations", "synchronisations of an optimizer step", parts, "", "> 1")
    return Seen(
        f"Gradients are synchronised after each of {parts} micro-batches; only the sum after the last is used.",
        (often, *case.overhead_evidence()),
        (advice,),
        spared_s,
    )


@cause("unused-params", Stage.STRUCTURE, refuted_by="an error of DDP about parameters that were not used")
def unused_params(case: Case) -> Seen | None:
    """find_unused_parameters on, and no parameter without a gradient."""
    if not case.knobs.ddp.find_unused_parameters or case.point["unused_parameter_bytes"] != 0:
        return None
    advice = Recommendation(
        id="find_unused_off",
        change="Leave find_unused_parameters off.",
        patch=case.variant_patch({"ddp": {"find_unused_parameters": False}}),
        unpredicted="what the walk costs depends on the graph. It cannot be slower.",
    )
    name, nothing = "parameters without a gradient", "0: nothing to look for"
    return Seen(
        "DDP looks through the graph at every step for parameters without a gradient, and there are none; until"
        " it has looked it cannot begin to synchronise.",
        (Evidence.of("unused_parameters", name, 0, "bytes", nothing),),
        (advice,),
    )


@cause("bucket-size", Stage.STRUCTURE, refuted_by="the same step time at torch's own bucket size")
def bucket_size(case: Case) -> Seen | None:
    """So many buckets that their latency rules, or one that holds everything, so that nothing overlaps.

    Latencies of the buckets above twice the time of their bytes, or >= 10 % of the step lost to more buckets than
    torch's own; or one where torch has several. Lost is what of the overhead is not the time of the bytes, in
    proportion to the buckets, and at least their latencies.
    """
    point, cap = case.point, case.knobs.ddp.bucket_cap_mb
    count, whole = point["buckets"], point["gradient_bytes"]
    if isnan(count) or isnan(whole) or cap == BUCKET_CAP_MIB:
        return None
    usual = len(bucket_sizes(whole))
    latency_s = float(count * point["all_reduce_latency_s"])  # of all buckets of a step, as on the idle network
    bytes_s = whole / (point["all_reduce_gib_per_s"] * 2**30)
    evidence = [
        Evidence.of("bucket_cap_mb", "bucket_cap_mb", cap, "MiB", f"torch's own: {BUCKET_CAP_MIB:g}"),
        Evidence.of("buckets", "buckets a step", count, "", f"{usual} at torch's own size"),
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
        why = f"so many that their latencies add up to {latency_s * 1e3:.3g} ms a step."
        evidence += [
            Evidence.of("bucket_latencies", "their latencies", latency_s, "ms"),
            Evidence.of("bucket_bytes", "their bytes on the idle network", bytes_s, "ms"),
            Evidence.of(
                "lost_to_buckets", "what they cost in training", lost_s, "ms", f">= {SHARE:.0%} of the step"
            ),
        ]
    elif cap > BUCKET_CAP_MIB and count == 1 and usual > 1:
        why = "nothing is sent before the whole backward pass is over, and nothing overlaps."
        exposed = case.interval("exposed_span_s")
        evidence.append(Evidence.of("exposed_communication", "exposed communication", exposed, "ms"))
    else:
        return None
    known = not isnan(lost_s.value)
    costs = "if the overhead, less the time of its bytes, is of the buckets; at least each costs its latency"
    advice = Recommendation(
        id="default_buckets",
        change="Take torch's own bucket size, or sweep it.",
        patch=case.variant_patch({"ddp": {"bucket_cap_mb": BUCKET_CAP_MIB}}),
        prediction=saving(case, lost_s, costs) if known else None,
        unpredicted="what overlaps then is not known before it is measured.",
    )
    said = f"Gradients travel in {count:.0f} buckets: {why}"
    return Seen(said, tuple(evidence), (advice,), lost_s, support=support, found=found)


def _spared_by_fewer(case: Case, latencies_s: Interval, bytes_s: float, share: float) -> Interval:
    """Seconds of a step that fewer buckets save: a share of the overhead that is not the time of the bytes.

    In training a bucket costs more than its latency on the idle network: a hook, a copy, and the threads that send
    it take time from what is computed. latencies_s: the least that is saved. share: of the buckets that are then
    not sent. The most that is saved is that share of the whole overhead.
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
    """SyncBatchNorm present, and its latencies >= 2 % of the step where they are known.

    So many small messages, each as long as the smallest all-reduce; without a probe their number alone.
    """
    layers, latency_s = case.point["synchronised_norms"], case.point["all_reduce_latency_s"]
    if not layers > 0:
        return None
    evidence = [
        Evidence.of("synchronised_layers", "layers that take statistics over all ranks", layers, "", "> 0")
    ]
    lost_s, found, support = NOTHING, True, 1.0
    if latency_s > 0:
        waiting_s, least_s = MESSAGES * layers * latency_s, FORWARD_SHARE * case.point["step_time_s"]
        lost_s = case.interval("all_reduce_latency_s").scaled(MESSAGES * layers)
        found, support = waiting_s >= least_s, beyond(case, lost_s, least_s)
        if not (found or is_possible(support)):
            return None
        evidence += [
            Evidence.of("all_reduce_latency", "latency of the all-reduce", latency_s, "us"),
            Evidence.of("message_latencies", f"latencies of {MESSAGES} messages a layer", waiting_s, "ms"),
            case.share_evidence(waiting_s, FORWARD_SHARE),
        ]
    assumes = "if every message takes the latency of the all-reduce; rather more"
    advice = Recommendation(
        id="plain_batch_norm",
        change="Plain batch normalisation, where a rank has samples enough for its own statistics; or"
        " GroupNorm, which needs none.",
        patch=case.variant_patch({"ddp": {"sync_batch_norm": False}}),
        prediction=saving(case, lost_s, assumes) if lost_s.value > 0 else None,
        unpredicted="the latency of a message was not measured.",
        warning="With few samples a rank the statistics are noisy: look at accuracy.",
    )
    return Seen(
        f"{layers:.0f} normalisation layers wait for all ranks, forward and backward: many tiny messages that"
        " nothing overlaps with.",
        tuple(evidence),
        (advice,),
        lost_s,
        support=support,
        found=found,
    )


@cause("buffers", Stage.STRUCTURE, refuted_by="the same step time with broadcast_buffers off")
def buffers(case: Case) -> Seen | None:
    """A broadcast of the model's buffers takes >= 2 % of the step.

    On the idle network; in training it takes as long or longer.
    """
    lost_s, least_s = case.interval("buffer_broadcast_s"), FORWARD_SHARE * case.point["step_time_s"]
    sending_s, size_mib = lost_s.value, case.point["buffer_bytes"] / MIB
    found, support = sending_s >= least_s, beyond(case, lost_s, least_s)
    if not (found or is_possible(support)):
        return None
    advice = Recommendation(
        id="broadcast_buffers_off",
        change="Leave broadcast_buffers off; masks and tables that never change may be no buffers at all.",
        patch=case.variant_patch({"ddp": {"broadcast_buffers": False}}),
        prediction=saving(case, lost_s, "if the broadcast takes what it takes on the idle network"),
        warning="Running statistics of batch normalisation then differ between ranks; those of rank 0 are"
        " what is saved.",
    )
    evidence = (
        Evidence.of("buffers", "buffers", size_mib, "MiB"),
        Evidence.of("broadcast", "their broadcast on the idle network", sending_s, "ms"),
        case.share_evidence(sending_s, FORWARD_SHARE),
    )
    return Seen(
        f"DDP sends {size_mib:.3g} MiB of buffers from rank 0 at the start of every forward pass, and nothing is"
        " computed meanwhile.",
        evidence,
        (advice,),
        lost_s,
        support=support,
        found=found,
    )
