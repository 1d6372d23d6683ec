"""The environment of a script's run, with the facts seen of its model, its loaders, and the time between steps."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from scalestudy.launch.foreign.files import Process
from scalestudy.record.host.environment import host_environment
from scalestudy.record.observation import SEEN
from scalestudy.study.spec import CommandSpec
from scalestudy.study.traffic import bytes_sent

OF_THE_MODEL = ("buffer_bytes", "synchronised_norms", "unused_parameter_bytes")
"""Totals of a run, with their names in attach/facts.py."""
OF_THE_WRAPPER = ("ddp", "buckets", "passes", "synchronised_passes", "compiled")


def environment_of(spec: CommandSpec, facts: dict[str, Any], processes: Sequence[Process]) -> dict[str, Any]:
    """Versions and device of the ranks, facts of the model, and events between ordinary steps."""
    environment = host_environment()
    device = facts.get("device") or "cpu"
    alone = spec.world_size == 1
    steps, every = processes[0].own_steps, processes[0].steps
    environment["python"] = facts["python"]
    environment["packages"] = environment["packages"] | {"torch": facts["torch"]}
    # FSDP1, and ranks without a wrapper such as DeepSpeed's, may give the optimizer a share of the parameters.
    whole = alone or (facts["strategies"] and not facts["flattened"])
    parameters = facts["parameters"] or None if whole else None
    sent = bytes_sent(spec, parameters) if parameters else None
    return environment | {
        "device_type": device,
        "device": facts.get("device_name") or device,
        "device_choice": f"device: {device}, chosen by the script",
        "backend": facts.get("backend"),
        "threads_per_rank": facts["threads"],
        "interconnect": "none: one process"
        if alone
        else f"the script's own process group ({facts.get('backend')})",
        "cuda": None,
        "nccl": None,
        "data_sha256": None,
        "parameters": parameters,
        "gradient_bytes": None if alone or not whole else facts["gradient_bytes"] or None,
        "bytes_sent_per_step": 0.0 if alone else sent,
        **{name: facts.get(name) for name in OF_THE_MODEL},
        "training_wall_time_s": steps[-1].begin_s + steps[-1].time_s if steps else 0.0,
        "probe_wall_time_s": sum(step.time_s for step in every[len(steps) :]),
        SEEN: {
            "strategies": facts["strategies"],
            **{name: facts.get(name) for name in OF_THE_WRAPPER},
            "optimizers": facts.get("optimizers", []),
            "skipped_updates": facts["skipped"],
            "metrics": facts.get("metrics", {}),
            "loaders": facts["loaders"],
            "training_loaders": sorted(processes[0].training_loaders),
            "other_time_s": _other_time_s(processes[0]),
        },
    }


def _other_time_s(process: Process) -> dict[str, float]:
    """Seconds of rank 0 per kind of event between steps: the excess of these steps over a median ordinary step."""
    plain = [step.time_s for step in process.own_steps if process.is_ordinary(step)]
    usual = median(plain) if plain else 0.0
    found: dict[str, float] = {}
    for step in process.own_steps:
        if process.is_ordinary(step):
            continue
        what = next((kind for kind in ("checkpoint", "evaluation", "loader") if kind in step.extra), "evaluation")
        found[what] = found.get(what, 0.0) + max(0.0, step.time_s - usual)
    return found
