"""Training scripts with typical faults, and the cause that must be reported first for each.

`first` was written before any of them was measured. UNTOLD: only more repeats may be requested, and `line` of the
script or of the study would show the fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
from builders import runs_of
from own_scripts import launched_script
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import CommandSpec

HEAD = """
import os, sys, time, torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

batch, ranks, rank = int(sys.argv[1]), int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
if ranks > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(1)

class Data(Dataset):
    def __init__(self, seconds=0.0):
        self.inputs, self.targets, self.seconds = torch.randn(4096, FEATURES), torch.randn(4096, 4), seconds
    def __len__(self):
        return len(self.inputs)
    def __getitem__(self, index):
        if self.seconds:
            time.sleep(self.seconds)
        return self.inputs[index], self.targets[index]

def build(width=WIDTH, layers=3, **options):
    inner = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), *inner, nn.Linear(width, 4))
    return DistributedDataParallel(model, **options) if ranks > 1 else model

def batches(data):
    sampler = DistributedSampler(data) if ranks > 1 else None
    return DataLoader(data, batch_size=batch, sampler=sampler, drop_last=True)

def forever(loader):
    while True:
        yield from loader
"""
LOOP = """
model = build(OPTIONS)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for step, (inputs, targets) in enumerate(forever(batches(Data(SECONDS)))):
    BEFORE
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    AFTER
"""
ACCUMULATING = """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for step, (inputs, targets) in enumerate(forever(batches(Data()))):
    (nn.functional.mse_loss(model(inputs), targets) / 4).backward()
    if step % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
"""
UNTOLD = ("unexplained", "healthy", "comm-bound")
"""Accepted causes if no line of the script shows the fault: there must be no confident wrong answer."""


class Fault(NamedTuple):
    """A script, and the cause that must be found first."""

    body: str
    first: tuple[str, ...]
    changes: Mapping[str, str] = MappingProxyType({})
    """Placeholder in capitals -> its replacement in the script."""
    workload: Mapping[str, Any] = MappingProxyType({})
    line: str = ""
    """Text that the report must contain if the cause cannot be identified without it."""

    @property
    def script(self) -> str:
        words = {"OPTIONS": "", "SECONDS": "", "BEFORE": "pass", "AFTER": "pass", "WIDTH": "512", "FEATURES": "64"}
        text = HEAD + self.body
        for word, value in (words | self.changes).items():
            text = text.replace(word, value)
        return text


SLOW_LOG = """if step % 1 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True); time.sleep(0.004)"""
FAULTS = {
    "slow-loader": Fault(LOOP, ("input-bound",), {"SECONDS": "0.0005"}),
    "slow-rank": Fault(LOOP, ("straggler",), {"BEFORE": "time.sleep(0.02 if rank == 1 else 0)"}),
    "unused-parameters": Fault(LOOP, ("unused-params",), {"OPTIONS": "find_unused_parameters=True"}),
    "tiny-batch": Fault(LOOP, ("comm-bound",), {"WIDTH": "1024"}, {"batch_size": 2}),
    "frequent-checkpoints": Fault(
        LOOP,
        ("checkpointing",),
        {"AFTER": 'if step % 3 == 2 and rank == 0: torch.save(model.state_dict(), sys.argv[2] + ".pt")'},
    ),
    "slow-log": Fault(LOOP, UNTOLD, {"AFTER": SLOW_LOG}, line='with rec.part("logging"):'),
    "slow-log-that-is-named": Fault(
        LOOP,
        ("sync-logging",),
        {
            "model = build()": "import scalestudy\nrec = scalestudy.Recorder()\nmodel = build()",
            "AFTER": 'with rec.part("logging"):\n        ' + SLOW_LOG.split("\n        ")[1],
        },
    ),
    "no-no-sync": Fault(ACCUMULATING, ("accum-no-nosync",), {}, {"batch_size": 32, "batches_per_step": 4}),
    "clean": Fault(LOOP, ("healthy", "unexplained"), {}, {"batch_size": 1024}),
}


def study_of_script(fault: Fault, folder: Path, **changes: Any) -> dict[str, Any]:
    """Write the script, and return its study: one process, and two ranks."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(fault.script, encoding="utf-8")
    workload = {"command": "train.py {batch_per_rank} {out}/model", "directory": str(folder), "batch_size": 16}
    return {
        "study": "faulty",
        "scales": ["1x2"],
        "repeats": 3,
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "measure": {"min_steps": 60, "max_steps": 120, "warmup_steps": 5, "probe_rounds": 3, "probe_steps": 8},
        "host": {"device": "cpu", "pin": True},
        "workloads": {"own": {**workload, "scaling": ["weak"], **fault.workload}},
        **changes,
    }


def measured(content: dict[str, Any], results: Path) -> tuple[Plan, pd.DataFrame]:
    """Return the plan, and runs.csv of all its runs."""
    plan = make_plan(parse_study(content, source="x"))
    found = [launched_script(spec, results) for spec in plan.runs.values() if isinstance(spec, CommandSpec)]
    return plan, runs_of(plan.study, found)
