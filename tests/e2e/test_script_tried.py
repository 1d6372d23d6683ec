"""What `scalestudy run -- train.py` says of a script that does not train: the first cause, and what to change."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from own_scripts import EQUAL_BATCHES
from scalestudy.cli.main import main
from scalestudy.cli.own.study import Wishes, make_study_of

PARSER = """
    import argparse, torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--bs", type=int)
    parser.parse_args()
"""
LEGACY = """
    import argparse, torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, required=True)
    parser.add_argument("--bs", type=int)
    parser.parse_args()
"""
SAME_BATCH = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        for (batch,) in DataLoader(TensorDataset(torch.randn(160, 4)), 16):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
"""
OWN_ALL_REDUCE = """
    import os, sys, torch
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
    model, data = torch.nn.Linear(4, 4), TensorDataset(torch.randn(640, 4))
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
    sampler = DistributedSampler(data) if ranks > 1 else None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        for (batch,) in DataLoader(data, int(sys.argv[1]), sampler=sampler):
            optimizer.zero_grad()
            model(batch).sum().backward()
            for parameter in model.parameters() if ranks > 1 else ():
                torch.distributed.all_reduce(parameter.grad)
            optimizer.step()
"""
REFUSED = {
    "equal batches on all ranks": (
        {"train.py": EQUAL_BATCHES},
        "train.py {batch_per_rank}",
        "the script was tried on 2 ranks: ranks 0 and 1 read identical samples in their first 3 batches. Is a"
        " DistributedSampler missing?",
    ),
    "a batch that does not follow its command": (
        {"train.py": SAME_BATCH},
        "train.py {batch_per_rank}",
        "the script trains on 16 samples per step on one process, but --batch-size is 8. Put {batch_per_rank}",
    ),
    "other arguments": (
        {"train.py": PARSER},
        "train.py --batch-size {batch_per_rank}",
        "tried on one process: it ended with exit status 2 before its first training step",
    ),
    "the rank of SLURM": (
        {"train.py": "import os, torch\nrank = int(os.environ['SLURM_PROCID'])\n"},
        "train.py {batch_per_rank}",
        "train.py:2). The script reads its rank from variables of another launcher. scalestudy starts ranks as"
        " torchrun does: let the script read RANK, LOCAL_RANK and WORLD_SIZE",
    ),
    "an option of an earlier launcher": (
        {"train.py": LEGACY},
        "train.py --bs {batch_per_rank}",
        "without this option: let the script read LOCAL_RANK from its environment",
    ),
    "a module of a package": (
        {"pkg/train.py": "from .model import net\n", "pkg/model.py": "net = 1\n"},
        "pkg/train.py {batch_per_rank}",
        "It is part of a package, so start it as a module: `-- -m pkg.train`",
    ),
    "an unknown placeholder": (
        {},
        "train.py {batch_size} {batch_per_rank}",
        "train.yaml (not written): the study",
    ),
}


SLOW = ("equal batches on all ranks", "the rank of SLURM")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case in SLOW else []) for case in REFUSED]
)
def test_a_script_that_does_not_train_is_refused_with_the_cause(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, command, message = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    assert (
        main(["run", "--scales", "1x2", "--batch-size", "8", "--cores-per-rank", "1", "--", *command.split()]) == 2
    )
    assert message in capsys.readouterr().err
    assert not Path("train.yaml").exists()


def test_ranks_without_a_wrapper_have_another_strategy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that averages its gradients itself uses neither DDP nor FSDP. No row may say so."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(dedent(OWN_ALL_REDUCE))
    wishes = {"name": None, "repeats": 2, "device": "cpu", "epochs": 0, "run_to_end": False, "scaling": ()}
    asked = Wishes(
        scales=("1x2",), batch_size=8, cores_per_rank=1, allow_shared=False, allow_equal_batches=False, **wishes
    )
    make_study_of(["train.py", "{batch_per_rank}"], asked, elsewhere=False)
    assert "neither DDP nor FSDP (strategy: other)" in capsys.readouterr().out
    variants = yaml.safe_load(Path("train.yaml").read_text())["variants"]
    assert variants == {"single": {"strategy": "single"}, "distributed": {"strategy": "other"}}
