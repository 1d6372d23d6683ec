"""Causes that cost in the forward pass: what is sent there besides gradients."""

from __future__ import annotations

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving

SHARE = 0.02  # of a step
MESSAGES = 2
"""Of a synchronised normalisation: its statistics forward, their gradients backward."""

# buffers


def _broadcast(case: Case) -> Seen | None:
    """By a broadcast of as many bytes on the idle network; in training it takes as long or longer."""
    sending_s, step_s = case.point["buffer_broadcast_s"], case.point["step_time_s"]
    if not sending_s >= SHARE * step_s:
        return None
    evidence = (
        Evidence.of("buffers", "buffers", case.point["buffer_bytes"] / 2**20, "MiB"),
        Evidence.of("broadcast", "their broadcast on the idle network", sending_s, "ms"),
        case.share_evidence(sending_s, SHARE),
    )
    return Seen(evidence, case.interval("buffer_broadcast_s"))


BUFFERS = Cause(
    id="buffers",
    stage=Stage.STRUCTURE,
    threshold="a broadcast of the model's buffers takes >= 2 % of the step",
    look=_broadcast,
    explanation=lambda case, seen: (
        f"DDP sends {case.point['buffer_bytes'] / 2**20:.3g} MiB of buffers from rank 0 at the start of every"
        " forward pass, and nothing is computed meanwhile."
    ),
    refuted_by="the same step time with broadcast_buffers off",
    recommend=lambda case, seen: (
        Recommendation(
            id="broadcast_buffers_off",
            change="Leave broadcast_buffers off; masks and tables that never change may be no buffers at all.",
            patch=case.variant_patch({"ddp": {"broadcast_buffers": False}}),
            prediction=saving(case, seen.loss_s, "if the broadcast takes what it takes on the idle network"),
            warning="Running statistics of batch normalisation then differ between ranks; those of rank 0 are"
            " what is saved.",
        ),
    ),
)

# sync-bn


def _statistics(case: Case) -> Seen | None:
    """So many small messages, each as long as the smallest all-reduce; without a probe their number alone."""
    point = case.point
    layers, latency_s, step_s = point["synchronised_norms"], point["all_reduce_latency_s"], point["step_time_s"]
    if not layers > 0:
        return None
    count = Evidence.of("synchronised_layers", "layers that take statistics over all ranks", layers, "", "> 0")
    if not latency_s > 0:
        return Seen((count,))
    waiting_s = MESSAGES * layers * latency_s
    if waiting_s < SHARE * step_s:
        return None
    evidence = (
        count,
        Evidence.of("all_reduce_latency", "latency of the all-reduce", latency_s, "us"),
        Evidence.of("message_latencies", f"latencies of {MESSAGES} messages a layer", waiting_s, "ms"),
        case.share_evidence(waiting_s, SHARE),
    )
    return Seen(evidence, case.interval("all_reduce_latency_s").scaled(MESSAGES * layers))


SYNC_BN = Cause(
    id="sync-bn",
    stage=Stage.STRUCTURE,
    threshold="SyncBatchNorm present, and its latencies >= 2 % of the step where they are known",
    look=_statistics,
    explanation=lambda case, seen: (
        f"{case.point['synchronised_norms']:.0f} normalisation layers wait for all ranks, forward and backward:"
        " many tiny messages that nothing overlaps with."
    ),
    refuted_by="the same step time with plain batch normalisation",
    recommend=lambda case, seen: (
        Recommendation(
            id="plain_batch_norm",
            change="Plain batch normalisation, where a rank has samples enough for its own statistics; or"
            " GroupNorm, which needs none.",
            patch=case.variant_patch({"ddp": {"sync_batch_norm": False}}),
            prediction=(
                saving(case, seen.loss_s, "if every message takes the latency of the all-reduce; rather more")
                if seen.loss_s.value > 0
                else None
            ),
            unpredicted="the latency of a message was not measured.",
            warning="With few samples a rank the statistics are noisy: look at accuracy.",
        ),
    ),
)
