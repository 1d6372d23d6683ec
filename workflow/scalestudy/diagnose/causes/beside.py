"""What is worth knowing beside the speed: memory that grows or is short, accuracy that was lost."""

from math import isnan

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.words.points import memory_growth

FRAGMENTED = 1.3  # reserved over allocated memory, peaks of both


@cause("memory-growth", Stage.BESIDE, refuted_by="memory that stops growing in a longer run")
def memory_grows(case: Case) -> Seen | None:
    """A slope over steady steps whose lower limit adds up to 1 % of the memory, in most launches."""
    point = case.point
    if not in_most_launches(point, "launches_growing"):
        return None
    most = f"more than half of {int(point['launches_ok'])}"
    advice = Recommendation(
        id="keep_numbers",
        change="Keep numbers, not tensors: loss.item(), or loss.detach() where it is to stay on the device.",
        unpredicted="a run that is long enough ends out of memory.",
    )
    return Seen(
        f"Memory grows while training is steady: {memory_growth(point)}. A list of losses that keeps"
        " their graphs is the usual reason.",
        (
            Evidence.of("growing_runs", "launches that grow", point["launches_growing"], "", most),
            Evidence.of("peak_resident_memory", "peak of resident memory", point["peak_resident_gib"], "GiB"),
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
        change="Pass the batch in more micro-batches.",
        patch=case.variant_patch({"accumulation_steps": 2 * case.knobs.accumulation_steps}),
        unpredicted="about half the memory of activations goes, and a step has more and smaller kernels.",
    )
    return Seen(
        "The allocator had to give memory back and ask again, which waits for the device: steps jitter where"
        " memory is short.",
        (Evidence.of("allocation_retries", "retries of the CUDA allocator", retries, "", "> 0"),),
        (advice,),
    )


@cause("fragmentation", Stage.BESIDE, refuted_by="the same retries with expandable segments")
def fragmentation(case: Case) -> Seen | None:
    """Reserved memory 1.3 times what is allocated, and retries: memory that nobody else wants is no loss."""
    reserved, allocated = case.point["peak_reserved_gib"], case.point["peak_allocated_gib"]
    if isnan(reserved) or isnan(allocated) or reserved < FRAGMENTED * allocated:
        return None
    if not case.point["allocation_retries"] > 0:
        return None
    much = f">= {FRAGMENTED:g} times what is allocated"
    advice = Recommendation(
        id="expandable_segments",
        change="Let segments of the allocator grow.",
        patch=case.variant_patch({"environment": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}}),
        unpredicted="up to the difference of the two.",
    )
    return Seen(
        "Memory is reserved in pieces that do not fit what is asked for.",
        (
            Evidence.of("reserved_memory", "reserved memory", reserved, "GiB", much),
            Evidence.of("allocated_memory", "allocated memory", allocated, "GiB"),
        ),
        (advice,),
    )


@cause("large-batch", Stage.BESIDE, refuted_by="equal accuracy at a learning rate that follows the batch")
def large_batch(case: Case) -> Seen | None:
    """Accuracy not equivalent to the base case's and lower (two one-sided tests)."""
    if case.point["accuracy_kept"] != "lower":
        return None
    batch, of_base = case.point["global_batch"], case.base["global_batch"]
    difference, margin = case.interval("accuracy_difference"), case.study.report.accuracy_margin
    within = f"within {margin * 100:g} points"
    if batch > of_base:
        explanation = (
            "Training is less accurate than the base case at equal epochs: the global batch has grown, and with it"
            " each step has to do more than this learning rate lets it."
        )
    else:
        explanation = (
            "Training is less accurate than the base case at an equal global batch: something in it differs."
        )
    following = {"learning_rate_scaling": "linear", "warmup_steps": 100}
    advice = Recommendation(
        id="scale_learning_rate",
        change="Let the learning rate follow the global batch, with warm-up.",
        patch={"workloads": {case.point["workload"]: {"optimizer": following}}},
        unpredicted="what a batch costs in epochs is the workload's own. Look at the time to an"
        " accuracy, not at samples a second.",
    )
    evidence = (
        Evidence.of("accuracy_difference", "accuracy against the base case", difference, "points", within),
        Evidence.of("global_batch", "global batch", batch, f"(base case {of_base:g})"),
    )
    return Seen(explanation, evidence, (advice,))
