"""Runs of users' own scripts, for tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

from launches import handlers_kept
from scalestudy.launch.run import measure_run
from scalestudy.record.observation import Outcome
from scalestudy.record.tables import Observation, read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import CommandSpec

SCRIPTS = Path(__file__).parent / "scripts"


def scripts_in(folder: Path) -> Path:
    """Copy the scripts, which write checkpoints and logs to the folder in which they run."""
    wanted = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(SCRIPTS, folder / "scripts", ignore=wanted))


def command_spec(command: str, ranks: int, *, folder: Path, **changes: Any) -> CommandSpec:
    """Return the spec of a script on `ranks` ranks. changes: keys of the workload or of the study."""
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
    """Run a script and return its observation."""
    with handlers_kept():
        record, _ = measure_run(spec, results, limits=Limits(time_limit_min=time_limit_min))
    return read_observation(results / "runs" / record.run_id)


HEAD = """
import os, sys, time, torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
batch = int(sys.argv[1]) if len(sys.argv) > 1 else 8
ranks = int(os.environ.get("WORLD_SIZE", 1))
if ranks > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(1)
data = TensorDataset(torch.randn(SAMPLES, 16), torch.randn(SAMPLES, 4))
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
if ranks > 1:
    model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
sampler = DistributedSampler(data) if ranks > 1 else None
loader = DataLoader(data, batch_size=batch, sampler=sampler)
def train(epochs=1000, after=lambda step: None):
    step = 0
    for epoch in range(epochs):
        for inputs, targets in loader:
            loss = nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            step += 1
            after(step)
"""


def run_script(
    tmp_path: Path,
    body: str,
    *,
    ranks: int = 1,
    argument: str = "{batch_per_rank}",
    head: str = HEAD,
    samples: int = 4096,
    **changes: Any,
) -> Observation:
    """Run a script that ends with these lines."""
    folder = tmp_path / "a folder with ünicode"
    folder.mkdir(exist_ok=True)
    text = head.replace("SAMPLES", str(samples)) + dedent(body)
    (folder / "train.py").write_text(text, encoding="utf-8")
    changes = {"run_to_end": False, "epochs": 0} | changes
    spec = command_spec(f"train.py {argument}", ranks, folder=folder, **changes)
    return launched_script(spec, tmp_path / "results")


def ended(found: Observation) -> tuple[Outcome, str]:
    return found.record.outcome, found.record.reason


EQUAL_BATCHES = """
    import os, sys, torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model, data = torch.nn.Linear(4, 4), TensorDataset(torch.randn(640, 4))
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        for (batch,) in DataLoader(data, int(sys.argv[1])):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
"""
