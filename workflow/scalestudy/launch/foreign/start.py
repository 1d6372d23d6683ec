"""The command line and the environment of a script's ranks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scalestudy.launch.foreign.files import ASKED
from scalestudy.record.fingerprint import PACKAGE
from scalestudy.study.config.commands import filled
from scalestudy.study.spec import CommandSpec

PYTHON = "SCALESTUDY_PYTHON"
"""Variable: the Python that runs scripts, whose environment may differ from ours."""
SITE = PACKAGE / "attach" / "site"
ATTACHED, OUT = "attached", "out"
"""Folders of a run: for the files that its processes leave for us, and for `{out}`."""
OFFLINE = {
    "WANDB_MODE": "offline",
    "COMET_MODE": "disabled",
    "NEPTUNE_MODE": "offline",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Experiment trackers write to the run's folder, or nothing, unless the study sets these variables."""


def script_python() -> str:
    """The Python that runs scripts."""
    return os.environ.get(PYTHON) or sys.executable


def script_command(spec: CommandSpec, directory: Path, *, rendezvous: Sequence[str] = ()) -> list[str]:
    """The command that starts the script on one node.

    directory: of the run, absolute. rendezvous: torchrun's arguments for the rendezvous of several nodes.
    """
    script = filled(spec.command, {"out": directory / OUT})
    if spec.starts_ranks:
        return [script_python(), "-u", *script]
    if rendezvous:
        nproc = f"--nproc_per_node={spec.devices_per_node}"
        module = ["-m", *script[1:]] if script[0] == "-m" else list(script)
        return [script_python(), "-m", "torch.distributed.run", *rendezvous, nproc, *module]
    cold = [sys.executable, "-m", "scalestudy.launch.cold", "--python", script_python()]
    return [*cold, str(spec.devices_per_node), *script]


def script_environment(spec: CommandSpec, directory: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the script: the ranks' environment, its own, and the variables that attach us to it.

    directory: of the run, absolute. environment: of the ranks, from rank_environment.
    """
    attached = directory / ATTACHED
    own_path = spec.environment.get("PYTHONPATH", environment.get("PYTHONPATH", ""))
    path = [str(SITE), *filter(None, [own_path])]
    trackers = {"WANDB_DIR": str(directory / OUT), "MLFLOW_TRACKING_URI": (directory / OUT / "mlruns").as_uri()}
    return {
        **OFFLINE,
        **trackers,
        **environment,
        **spec.environment,
        "PYTHONPATH": os.pathsep.join(path),
        "SCALESTUDY_ATTACH": str(attached),
        "SCALESTUDY_DIRECT": "1",
    }


def prepare(spec: CommandSpec, directory: Path) -> None:
    """Make the folders of a run, and write the settings that its processes need."""
    (directory / OUT).mkdir(exist_ok=True)
    attached = directory / ATTACHED
    attached.mkdir(exist_ok=True)
    asked = {
        "pin": spec.host.pin,
        "nodes": spec.nodes,
        "devices_per_node": spec.devices_per_node,
        "ranks": spec.world_size,
        "starts_ranks": spec.starts_ranks,
        "probe_rounds": 0 if spec.run_to_end else spec.measure.probe_rounds,
        "probe_steps": spec.measure.probe_steps,
        "seed": spec.seed,
    }
    (attached / ASKED).write_text(json.dumps(asked), encoding="utf-8")


def refusal(spec: CommandSpec) -> str | None:
    """Why the script cannot be started; None where it can."""
    folder = Path(spec.directory)
    if not folder.is_dir():
        return f"workloads.{spec.workload}.directory: {spec.directory} is not a folder"
    script = spec.command[0]
    if script != "-m" and not (folder / script).is_file():
        return (
            f"workloads.{spec.workload}.command: {folder / script} does not exist; the current directory is"
            f" {Path.cwd()}"
        )
    return None
