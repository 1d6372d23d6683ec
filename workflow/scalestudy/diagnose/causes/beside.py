"""What is worth knowing beside the speed: memory that grows or is short, accuracy that was lost."""

from __future__ import annotations

from math import isnan
from typing import Any

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.words.growth import memory_growth

FRAGMENTED = 1.3  # reserved over allocated memory, peaks of both


def _grows(case: Case) -> Seen | None:
    if not in_most_launches(case.point, "launches_growing"):
        return None
    growing, launches = case.point["launches_growing"], case.point["launches_ok"]
    return Seen(
        (
            Evidence.of("growing_runs", "launches that grow", growing, "", f"more than half of {int(launches)}"),
            Evidence.of("peak_resident_memory", "peak of resident memory", case.point["peak_resident_gib"], "GiB"),
        )
    )


MEMORY_GROWTH = Cause(
    id="memory-growth",
    stage=Stage.BESIDE,
    threshold="a slope over steady steps whose lower limit adds up to 1 % of the memory, in most launches",
    look=_grows,
    explanation=lambda case, seen: (
        f"Memory grows while training is steady: {memory_growth(case.point)}. A list of losses that keeps"
        " their graphs is the usual reason."
    ),
    refuted_by="memory that stops growing in a longer run",
    recommend=lambda case, seen: (
        Recommendation(
            id="keep_numbers",
            change="Keep numbers, not tensors: loss.item(), or loss.detach() where it is to stay on the device.",
            unpredicted="a run that is long enough ends out of memory.",
        ),
    ),
)


def _retries(case: Case) -> Seen | None:
    retries = case.point["allocation_retries"]
    if isnan(retries) or not retries > 0:
        return None
    return Seen((Evidence.of("allocation_retries", "retries of the CUDA allocator", retries, "", "> 0"),))


def _smaller(case: Case) -> dict[str, Any]:
    parts = 2 * case.knobs.accumulation_steps
    return case.variant_patch({"accumulation_steps": parts})


MEMORY_PRESSURE = Cause(
    id="memory-pressure",
    stage=Stage.BESIDE,
    threshold="retries of the allocator > 0 (PyTorch's memory statistics)",
    look=_retries,
    explanation=lambda case, seen: (
        "The allocator had to give memory back and ask again, which waits for the device: steps jitter where"
        " memory is"
        " short."
    ),
    refuted_by="the same jitter with half the batch",
    recommend=lambda case, seen: (
        Recommendation(
            id="more_micro_batches",
            change="Pass the batch in more micro-batches.",
            patch=_smaller(case),
            unpredicted="about half the memory of activations goes, and a step has more and smaller kernels.",
        ),
    ),
)


def _fragmented(case: Case) -> Seen | None:
    reserved, allocated = case.point["peak_reserved_gib"], case.point["peak_allocated_gib"]
    if isnan(reserved) or isnan(allocated) or reserved < FRAGMENTED * allocated:
        return None
    if not case.point["allocation_retries"] > 0:
        return None  # memory that nobody else wants is no loss
    return Seen(
        (
            Evidence.of(
                "reserved_memory", "reserved memory", reserved, "GiB", f">= {FRAGMENTED:g} times what is allocated"
            ),
            Evidence.of("allocated_memory", "allocated memory", allocated, "GiB"),
        )
    )


FRAGMENTATION = Cause(
    id="fragmentation",
    stage=Stage.BESIDE,
    threshold="reserved memory 1.3 times what is allocated, and retries",
    look=_fragmented,
    explanation=lambda case, seen: "Memory is reserved in pieces that do not fit what is asked for.",
    refuted_by="the same retries with expandable segments",
    recommend=lambda case, seen: (
        Recommendation(
            id="expandable_segments",
            change="Let segments of the allocator grow.",
            patch=case.variant_patch({"environment": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}}),
            unpredicted="up to the difference of the two.",
        ),
    ),
)


def _less_accurate(case: Case) -> Seen | None:
    if case.point["accuracy_kept"] != "lower":
        return None
    margin = case.study.report.accuracy_margin
    return Seen(
        (
            Evidence.of(
                "accuracy_difference",
                "accuracy against the base case",
                case.interval("accuracy_difference"),
                "points",
                f"within {margin * 100:g} points",
            ),
            Evidence.of(
                "global_batch",
                "global batch",
                case.point["global_batch"],
                f"(base case {case.base['global_batch']:g})",
            ),
        )
    )


LARGE_BATCH = Cause(
    id="large-batch",
    stage=Stage.BESIDE,
    threshold="accuracy not equivalent to the base case's and lower (two one-sided tests)",
    look=_less_accurate,
    explanation=lambda case, seen: (
        "Training is less accurate than the base case at equal epochs: the global batch has grown, and with it"
        " each"
        " step has to do more than this learning rate lets it."
        if case.point["global_batch"] > case.base["global_batch"]
        else "Training is less accurate than the base case at an equal global batch: something in it differs."
    ),
    refuted_by="equal accuracy at a learning rate that follows the batch",
    recommend=lambda case, seen: (
        Recommendation(
            id="scale_learning_rate",
            change="Let the learning rate follow the global batch, with warm-up.",
            patch={
                "workloads": {
                    case.point["workload"]: {"optimizer": {"learning_rate_scaling": "linear", "warmup_steps": 100}}
                }
            },
            unpredicted="what a batch costs in epochs is the workload's own. Look at the time to an"
            " accuracy, not at samples a second.",
        ),
    ),
)
