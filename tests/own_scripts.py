"""Launches of scripts that are not ours, for tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from launches import handlers_kept
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import Observation, read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import CommandSpec

SCRIPTS = Path(__file__).parent / "scripts"


def scripts_in(folder: Path) -> Path:
    """A copy of the scripts, which write checkpoints and logs where they are run."""
    wanted = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(SCRIPTS, folder / "scripts", ignore=wanted))


def command_spec(command: str, ranks: int, *, folder: Path, **changes: Any) -> CommandSpec:
    """Of a script on so many ranks. changes: keys of the workload, or of the study where it has them."""
    study = {
        "study": "own",
        "repeats": 1,
        "scales": [f"1x{max(2, ranks)}"],
        "variants": changes.pop("variants", {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}}),
        "host": {"device": "cpu"} | changes.pop("host", {}),
        "measure": changes.pop("measure", {"min_steps": 20, "max_steps": 40, "probe_rounds": 0}),
        "workloads": {
            "own": {
                "command": command,
                "directory": str(folder),
                "batch_size": 8,
                "scaling": ["weak"],
                "run_to_end": True,
                **changes,
            }
        },
    }
    runs = make_plan(parse_study(study, source="test")).runs.values()
    return next(spec for spec in runs if isinstance(spec, CommandSpec) and spec.world_size == ranks)


def launched_script(spec: CommandSpec, results: Path, *, time_limit_min: float = 3) -> Observation:
    """What a launch of a script leaves."""
    with handlers_kept():
        record, _ = measure_run(spec, results, limits=Limits(time_limit_min=time_limit_min))
    return read_observation(results / "runs" / record.run_id)
