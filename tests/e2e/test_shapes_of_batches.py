"""The samples of a step are counted in batches of any shape: time first, lists of images, packed rows, graphs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from own_scripts import command_spec, launched_script
from scalestudy.cli.main import main
from scalestudy.record.observation import TRAINING_PHASES

BATCH = 6
SCRIPT = """
    import sys
    import torch
    from torch import nn
    from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler

    shape, batch = sys.argv[1], int(sys.argv[2])

    class Rows(Dataset):
        def __len__(self):
            return 96
        def __getitem__(self, at):
            return torch.full((9,), float(at))

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(torch.randn(96, 9))

    def time_first(rows):
        return torch.stack(rows, dim=1)

    def packed(rows):
        return {"row": torch.cat(rows)[None], "ends": torch.arange(len(rows) + 1)}

    def images(rows):
        boxes = tuple({"boxes": row[:4].reshape(2, 2)} for row in rows)
        return tuple(row[: 3 + int(row[0]) % 5] for row in rows), boxes

    def graphs(rows):
        return {"nodes": torch.cat(rows)[:, None], "edges": torch.zeros(2, 40)}

    rows = Rows()
    in_batches = BatchSampler(RandomSampler(rows), batch, True)
    workers = {"num_workers": 2, "persistent_workers": True}
    loader = {
        "time first": lambda: DataLoader(rows, batch, collate_fn=time_first),
        "time first, workers": lambda: DataLoader(rows, batch, collate_fn=time_first, **workers),
        "time first, a stream": lambda: DataLoader(Stream(), batch, collate_fn=time_first),
        "packed": lambda: DataLoader(rows, batch, collate_fn=packed),
        "images": lambda: DataLoader(rows, batch_sampler=in_batches, collate_fn=images),
        "graphs": lambda: DataLoader(rows, batch, collate_fn=graphs),
        "batches of a sampler": lambda: DataLoader(torch.randn(96, 9), batch_size=None, sampler=in_batches),
    }[shape]()

    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)

    def first(found):
        while not isinstance(found, torch.Tensor):
            found = next(iter(found.values() if isinstance(found, dict) else found))
        return found

    for epoch in range(4):
        for at, found in enumerate(loader):
            optimizer.zero_grad()
            model(first(found).reshape(-1, 1)).mean().backward()
            optimizer.step()
            if at == 9:
                break
"""
SHAPES = (
    "time first",
    "time first, workers",
    "time first, a stream",
    "packed",
    "images",
    "graphs",
    "batches of a sampler",
)
QUICK = ("time first", "batches of a sampler")


@pytest.mark.parametrize(
    "shape",
    [pytest.param(shape, marks=[] if shape in QUICK else [pytest.mark.slow]) for shape in SHAPES],
)
def test_samples_are_those_of_the_loader(shape: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(dedent(SCRIPT), encoding="utf-8")
    found = launched_script(
        command_spec(f"train.py '{shape}' {{batch_per_rank}}", 1, folder=tmp_path, batch_size=BATCH), tmp_path
    )
    assert found.record.outcome == "ok", (found.record.reason, found.record.log_tail)
    steps = found.steps[found.steps["phase"].isin(TRAINING_PHASES)]
    assert len(steps) == 40
    assert set(steps["samples"]) == {BATCH}


@pytest.mark.slow
def test_a_batch_that_the_script_divides_among_its_ranks_is_the_global_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        dedent("""
            import os, sys
            import torch
            from torch.utils.data import DataLoader, DistributedSampler
            ranks = int(os.environ.get("WORLD_SIZE", 1))
            data = torch.randn(640, 4)
            if ranks > 1:
                torch.distributed.init_process_group("gloo")
            sampler = DistributedSampler(data) if ranks > 1 else None
            loader = DataLoader(data, int(sys.argv[1]) // ranks, sampler=sampler)
            model = torch.nn.Linear(4, 4)
            if ranks > 1:
                model = torch.nn.parallel.DistributedDataParallel(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(5):
                for batch in loader:
                    optimizer.zero_grad()
                    model(batch).square().mean().backward()
                    optimizer.step()
        """),
        encoding="utf-8",
    )
    command = ["run", "--scales", "1x2", "--batch-size", "8", "--cores-per-rank", "1", "-n", "--", "train.py"]
    assert main([*command, "{batch_per_rank}"]) == 2
    assert (
        "the script trains on 4 samples per step on each of 2 ranks, but its command requests 8. It divides its"
        " batch size among the ranks: put {global_batch} into its command in place of {batch_per_rank}"
    ) in capsys.readouterr().err
    assert not Path("train.yaml").exists()
    advised = [sys.executable, "-m", "scalestudy", *command, "{global_batch}"]  # becomes the process of Snakemake
    assert subprocess.run(advised, capture_output=True, check=False).returncode == 0, "what the message advises"
