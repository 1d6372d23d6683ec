"""Makes the spec of one run from the study: of the built-in training, or of a script."""

from collections.abc import Mapping
from typing import Any

from scalestudy.study.alternation import alternation_of
from scalestudy.study.config.commands import BATCH, CommandWorkload, filled, placeholders
from scalestudy.study.config.scales import nodes_and_devices, world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Knobs, Variant
from scalestudy.study.spec import CommandSpec, TrainSpec


def make_spec(
    study: Study, name: str, variant_name: str, scale: str, batch_per_rank: int, repeat: int
) -> TrainSpec | CommandSpec:
    """The spec of one repeat of a variant of a workload at a scale, `NODESxDEVICES`, and a batch per rank."""
    workload, variant = study.workloads[name], study.variants[variant_name]
    nodes, devices = nodes_and_devices(scale)
    growth = batch_per_rank * world_size(scale) / workload.batch_size
    common: dict[str, Any] = {
        **{knob: getattr(variant, knob) for knob in Knobs.model_fields},
        "workload": name,
        "variant": variant_name,
        "epochs": workload.epochs,
        "nodes": nodes,
        "devices_per_node": devices,
        "batch_per_rank": batch_per_rank,
        "repeat": repeat,
        "seed": study.seed + repeat,
        "host": study.host_of(variant_name),
        "measure": study.measure.of_a_launch(),
        "alternation": alternation_of(study, name, variant_name),
        "profile_steps": study.measure.profile_steps if study.profile and repeat == 1 else 0,
    }
    if isinstance(workload, CommandWorkload):
        return CommandSpec(**common | _of_a_command(workload, variant, common, growth))
    return TrainSpec(
        **common,
        model=workload.model,
        data=workload.data,
        optimizer=workload.optimizer,
        learning_rate_factor=workload.optimizer.scale(growth),
    )


def _of_a_command(
    workload: CommandWorkload, variant: Variant, common: Mapping[str, Any], growth: float
) -> dict[str, Any]:
    """The part of the spec that only commands have. The folder of a run, {out}, is filled in when it starts."""
    ranks = common["nodes"] * common["devices_per_node"]
    batch = common["batch_per_rank"] // workload.batches_per_step
    values = {"batch_per_rank": batch, "global_batch": batch * ranks, "ranks": ranks}
    values |= {name: common[name] for name in ("seed", "epochs")}
    values |= {"learning_rate": workload.learning_rate_at(growth)}
    launcher = variant.launcher or ("python" if variant.strategy == "single" else "torchrun")
    return {
        "command": filled((*workload.command, *variant.arguments), values, last=False),
        "directory": workload.directory,
        "environment": workload.environment,
        "starts_ranks": launcher == "python",
        "run_to_end": workload.run_to_end,
        "follows_batch": bool(placeholders((*workload.command, *variant.arguments)) & set(BATCH)),
        "allow_equal_batches": workload.allow_equal_batches,
        "profile_steps": 0,
    }
