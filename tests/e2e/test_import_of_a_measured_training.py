"""The log of another tool, of a training that our recorder measured too: throughputs agree within 2 %."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_scripts import command_spec, launched_script
from scalestudy.importers.logs.derive import derive
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given

SCRIPT = """
import os, sys, time, torch
from lightning.fabric.loggers import CSVLogger
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

batch, out = int(sys.argv[1]), sys.argv[2]
rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
if ranks > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(1)
data = TensorDataset(torch.randn(batch * ranks * 700, 128), torch.randn(batch * ranks * 700, 8))
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8))
if ranks > 1:
    model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
sampler = DistributedSampler(data) if ranks > 1 else None
logger = CSVLogger(out, name="", version="", flush_logs_every_n_steps=10) if rank == 0 else None
last = time.perf_counter()
for step, (inputs, targets) in enumerate(DataLoader(data, batch_size=batch, sampler=sampler), 1):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        now = time.perf_counter()
        if rank == 0:
            logger.log_metrics({"samples_per_second": 10 * batch * ranks / (now - last)}, step)
        last = now
if rank == 0:
    logger.save()
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_lightnings_csv_logger(tmp_path: Path, ranks: int) -> None:
    pytest.importorskip("lightning")
    folder, out = tmp_path / "script", tmp_path / "out"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    spec = command_spec(
        f"train.py {{batch_per_rank}} {out}", ranks, folder=folder, batch_size=64, allow_shared=True
    )
    found = launched_script(spec, tmp_path / "results")
    assert found.record.outcome == "ok", found.record.reason
    of_rank_0 = found.steps[found.steps["rank"] == 0].sort_values("step")["step_time_s"]
    ours = 64 * ranks / of_rank_0.iloc[10:].mean()  # rank 0 logs, and its first window does not count
    (file,) = out.rglob("metrics.csv")
    given = Given(devices=ranks, batch=64 * ranks, per="all")
    (log,) = read_log(file, given)
    run = derive(log, given)
    assert run.counts.sum() == 69
    assert run.throughput == pytest.approx(ours, rel=0.02)
