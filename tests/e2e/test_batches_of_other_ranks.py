"""Ranks that get their batches from another rank are measured, and leave together."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from textwrap import dedent

import pytest
from own_scripts import command_spec, launched_script

SENT = """
    import sys
    import torch
    from torch import distributed, nn
    from torch.utils.data import DataLoader

    distributed.init_process_group("gloo")
    rank, ranks, batch = distributed.get_rank(), distributed.get_world_size(), int(sys.argv[1])
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(torch.randn(100_000, 4), ranks * batch)) if rank == 0 else None
    while True:
        whole = next(batches) if batches else torch.empty(ranks * batch, 4)
        distributed.broadcast(whole, 0)
        optimizer.zero_grad()
        model(whole[rank * batch :][:batch]).square().mean().backward()
        optimizer.step()
        loss = torch.zeros(1)
        distributed.all_reduce(loss)
"""
STREAMED = """
    import sys
    import torch
    from accelerate import Accelerator
    from torch.utils.data import DataLoader, IterableDataset

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(torch.randn(100_000, 4))

    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model, optimizer, batches = accelerator.prepare(model, optimizer, DataLoader(Stream(), int(sys.argv[1])))
    for batch in batches:
        optimizer.zero_grad()
        accelerator.backward(model(batch).square().mean())
        optimizer.step()
"""


@pytest.mark.parametrize("script", ["sent", pytest.param("streamed", marks=pytest.mark.slow)])
def test_each_rank_trains_on_its_share_of_the_batches_of_the_first(script: str, tmp_path: Path) -> None:
    if script == "streamed" and importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed")
    text = {"sent": SENT, "streamed": STREAMED}[script]
    (tmp_path / "train.py").write_text(dedent(text), encoding="utf-8")
    spec = command_spec(
        "train.py {batch_per_rank}",
        2,
        folder=tmp_path,
        measure={"min_steps": 40, "max_steps": 60, "probe_rounds": 1},
        run_to_end=False,
    )
    found = launched_script(spec, tmp_path)
    assert found.record.outcome == "ok", (found.record.reason, found.record.log_tail)
    assert found.record.stopping.reason != "the script ended by itself"
    measured = found.steps[found.steps["phase"] == "measured"]
    assert {rank: set(steps["samples"]) for rank, steps in measured.groupby("rank")} == {0: {8}, 1: {8}}
    assert measured.groupby("rank").size().min() >= 40
    assert "Traceback" not in "".join(found.record.log_tail)
