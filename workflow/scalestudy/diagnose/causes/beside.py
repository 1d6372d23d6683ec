"""Findings that do not concern the speed: memory that grows or is short, accuracy that was lost."""

from math import isnan

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.words.points import memory_growth

FRAGMENTED = 1.3  # peak reserved over peak allocated memory


@cause("memory-growth", Stage.BESIDE, refuted_by="memory that stops growing in a longer run")
def memory_grows(case: Case) -> Seen | None:
    """Memory grows over the steady steps by at least 1 % (lower limit of the slope), in most runs."""
    point = case.point
    if not in_most_launches(point, "launches_growing"):
        return None
    most = f"more than half of {int(point['launches_ok'])}"
    advice = Recommendation(
        id="keep_numbers",
        change="Keep numbers, not tensors: loss.item(), or loss.detach() if the loss should stay on the device.",
        unpredicted="the gain is not speed: without this change, a long enough run ends out of memory.",
    )
    return Seen(
        f"Memory grows while training is steady: {memory_growth(point)}. The usual reason is a list of losses"
        " that keeps their graphs alive.",
        (
            Evidence.of("growing_runs", "runs with growing memory", point["launches_growing"], "", most),
            Evidence.of("peak_resident_memory", "peak resident memory", point["peak_resident_gib"], "GiB"),
        ),
        (advice,),
    )


@cause("memory-pressure", Stage.BESIDE, refuted_by="the same jitter with half the batch")
def memory_pressure(case: Case) -> Seen | None:
    """Retries of the allocator > 0 (PyTorch's memory statistics)."""
    retries = case.point["allocation_retries"]
    if not retries > 0:
        return None
    advice = Recommendation(
        id="more_micro_batches",
        change="Split the batch into more micro-batches.",
        patch=case.variant_patch({"accumulation_steps": 2 * case.knobs.accumulation_steps}),
        unpredicted="activations need about half the memory, but a step has more and smaller kernels.",
    )
    return Seen(
        "The CUDA allocator had to free cached memory and retry, which waits for the device. Step times jitter"
        " when memory is short.",
        (Evidence.of("allocation_retries", "retries of the CUDA allocator", retries, "", "> 0"),),
        (advice,),
    )


@cause("fragmentation", Stage.BESIDE, refuted_by="the same retries with expandable segments")
def fragmentation(case: Case) -> Seen | None:
    """Reserved memory >= 1.3 times the allocated memory, and retries: without retries, reserving costs nothing."""
    reserved, allocated = case.point["peak_reserved_gib"], case.point["peak_allocated_gib"]
    if isnan(reserved) or isnan(allocated) or reserved < FRAGMENTED * allocated:
        return None
    if not case.point["allocation_retries"] > 0:
        return None
    much = f">= {FRAGMENTED:g} times the allocated memory"
    advice = Recommendation(
        id="expandable_segments",
        change="Let the allocator use expandable segments.",
        patch=case.variant_patch({"environment": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}}),
        unpredicted="it can free at most the difference between reserved and allocated memory.",
    )
    return Seen(
        "Memory is fragmented: it is reserved in pieces that do not fit the requests.",
        (
            Evidence.of("reserved_memory", "reserved memory", reserved, "GiB", much),
            Evidence.of("allocated_memory", "allocated memory", allocated, "GiB"),
        ),
        (advice,),
    )


@cause("large-batch", Stage.BESIDE, refuted_by="equal accuracy at a learning rate that follows the batch")
def large_batch(case: Case) -> Seen | None:
    """Accuracy lower than the baseline's and not equivalent to it (two one-sided tests)."""
    if case.point["accuracy_kept"] != "lower":
        return None
    batch, of_base = case.point["global_batch"], case.base["global_batch"]
    difference, margin = case.interval("accuracy_difference"), case.study.report.accuracy_margin
    within = f"within {margin * 100:g} points"
    if batch > of_base:
        explanation = (
            "Accuracy is lower than the baseline's after equal epochs. The global batch is larger, so there are"
            " fewer steps, and the learning rate is too small for them."
        )
    else:
        explanation = (
            "Accuracy is lower than the baseline's at an equal global batch, so the training itself differs."
        )
    following = {"learning_rate_scaling": "linear", "warmup_steps": 100}
    advice = Recommendation(
        id="scale_learning_rate",
        change="Scale the learning rate with the global batch, with warm-up.",
        patch={"workloads": {case.point["workload"]: {"optimizer": following}}},
        unpredicted="how many more epochs a larger batch needs depends on the workload. Compare the time to a"
        " target accuracy, not samples per second.",
    )
    evidence = (
        Evidence.of("accuracy_difference", "accuracy minus the baseline's", difference, "points", within),
        Evidence.of("global_batch", "global batch", batch, f"(baseline {of_base:g})"),
    )
    return Seen(explanation, evidence, (advice,))
