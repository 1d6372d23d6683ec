"""Runs of a script that would share files are distinguished from others by the files that the first run touched.

Each script is written as people write them. The verdict beside it was written before the rules were tuned.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from conftest import BIN, planned
from own_scripts import command_spec, launched_script
from scalestudy.errors import UserError
from scalestudy.launch.foreign.shared import ALLOWED, SHARED_FILES, Feeds, shared_files
from scalestudy.launch.foreign.touched import FILE, FilesTouched
from scalestudy.record.document import read_document
from scalestudy.record.tables import Observation

HEAD = """
import csv, glob, json, os, sqlite3, subprocess, sys, tempfile, time
from pathlib import Path
import numpy as np
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset
batch = int(sys.argv[1])
ranks, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
if ranks > 1:
    torch.distributed.init_process_group("gloo")
def data():
    return TensorDataset(torch.randn(256, 16), torch.randn(256, 4))
plain = model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
def train(epochs=1, dataset=None, after=lambda epoch, loss: None, workers=0):
    model = DistributedDataParallel(plain) if ranks > 1 else plain
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    dataset = dataset or data()
    sampler = DistributedSampler(dataset) if ranks > 1 else None
    loader = DataLoader(dataset, batch_size=batch, sampler=sampler, num_workers=workers)
    for epoch in range(epochs):
        for inputs, targets in loader:
            loss = nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad(); loss.backward(); optimizer.step()
        after(epoch, loss.item())
"""

RESUMED, READ, LISTED, APPENDED, OUTPUT = list(Feeds)

SCRIPTS: dict[str, tuple[int, str, dict[str, Feeds]]] = {
    "resumes where a checkpoint is": (
        2,
        """
        if os.path.exists("checkpoint.pt"):
            plain.load_state_dict(torch.load("checkpoint.pt"))
        def save(epoch, loss):
            if rank == 0:
                torch.save(plain.state_dict(), "checkpoint.pt")
        train(2, after=save)
        """,
        {"checkpoint.pt": RESUMED},
    ),
    "saves the best, and reads it at the end": (
        1,
        """
        best = [1e9]
        def save(epoch, loss):
            if loss < best[0]:
                best[0] = loss
                torch.save(plain.state_dict(), "best.pt")
        train(2, after=save)
        plain.load_state_dict(torch.load("best.pt"))
        """,
        {"best.pt": OUTPUT},
    ),
    "downloads its data once": (
        1,
        """
        root = Path("data/raw")
        class Digits(Dataset):
            def __init__(self):
                if not all((root / name).exists() for name in ("images.bin", "labels.bin")):
                    root.mkdir(parents=True, exist_ok=True)
                    for name in ("images.bin", "labels.bin"):
                        with tempfile.NamedTemporaryFile(dir=root, delete=False) as part:
                            part.write(os.urandom(4096))
                        os.replace(part.name, root / name)
                self.images = np.frombuffer((root / "images.bin").read_bytes(), np.uint8)[:4096].reshape(256, 16)
            def __len__(self):
                return 256
            def __getitem__(self, at):
                return torch.from_numpy(self.images[at] / 255).float(), torch.zeros(4)
        train(2, Digits())
        """,
        {},
    ),
    "appends to a table": (
        1,
        """
        def log(epoch, loss):
            new = not os.path.exists("log.csv")
            with open("log.csv", "a", newline="") as file:
                writer = csv.writer(file)
                if new:
                    writer.writerow(["epoch", "loss"])
                writer.writerow([epoch, loss])
        train(2, after=log)
        """,
        {"log.csv": RESUMED},
    ),
    "keeps its log open from the start": (
        1,
        """
        log = open("history.txt", "a", buffering=1)
        print("begin", file=log)
        train(2, after=lambda epoch, loss: print(epoch, loss, file=log))
        """,
        {"history.txt": APPENDED},
    ),
    "events of a board": (
        2,
        """
        if rank == 0:
            folder = Path("runs") / time.strftime("%b%d_%H-%M-%S_host")
            folder.mkdir(parents=True, exist_ok=True)
            board = open(folder / f"events.out.tfevents.{int(time.time())}.host.0", "wb")
        def log(epoch, loss):
            if rank == 0:
                board.write(b"x" * 64); board.flush()
        train(2, after=log)
        """,
        {"runs/": OUTPUT},
    ),
    "numbered checkpoints, the last of which is looked for": (
        1,
        """
        def last(folder):
            found = [name for name in os.listdir(folder) if name.startswith("checkpoint-")]
            return os.path.join(folder, max(found)) if found else None
        os.makedirs("out", exist_ok=True)
        before = last("out")
        if before:
            plain.load_state_dict(torch.load(os.path.join(before, "model.bin")))
        def save(epoch, loss):
            os.makedirs(f"out/checkpoint-{epoch}", exist_ok=True)
            torch.save(plain.state_dict(), f"out/checkpoint-{epoch}/model.bin")
        train(2, after=save)
        """,
        {"out/checkpoint-0/model.bin": LISTED, "out/checkpoint-1/model.bin": LISTED},
    ),
    "a new version for each run": (
        1,
        """
        root = Path("lightning_logs")
        root.mkdir(exist_ok=True)
        versions = [int(path.name.split("_")[1]) for path in root.iterdir() if path.name.startswith("version_")]
        folder = root / f"version_{max(versions, default=-1) + 1}"
        folder.mkdir()
        (folder / "hparams.yaml").write_text("lr: 0.01")
        train(2, after=lambda epoch, loss: (folder / "metrics.csv").write_text(str(loss)))
        """,
        {"lightning_logs/version_0/metrics.csv": LISTED},
    ),
    "sharded checkpoint": (
        2,
        """
        import torch.distributed.checkpoint as dcp
        state = {"model": plain.state_dict()}
        if os.path.isfile("ckpt/.metadata"):
            dcp.load(state, checkpoint_id="ckpt")
        train(1)
        dcp.save({"model": plain.state_dict()}, checkpoint_id="ckpt")
        """,
        {"ckpt/.metadata": RESUMED, "ckpt/": OUTPUT},
    ),
    "a dated folder that it changes to": (
        1,
        """
        os.makedirs("outputs/2026-01-01/12-00-00", exist_ok=True)
        os.chdir("outputs/2026-01-01/12-00-00")
        train(1)
        torch.save(plain.state_dict(), "model.pt")
        """,
        {"outputs/2026-01-01/12-00-00/model.pt": OUTPUT},
    ),
    "a database": (
        1,
        """
        base = sqlite3.connect("trials.db")
        base.execute("create table if not exists trials (loss real)")
        def log(epoch, loss):
            base.execute("insert into trials values (?)", (loss,)); base.commit()
        train(2, after=log)
        """,
        {"trials.db": RESUMED},
    ),
    "tokens that rank 0 maps": (
        2,
        """
        if rank == 0 and not os.path.exists("cache/tokens.bin"):
            os.makedirs("cache", exist_ok=True)
            tokens = np.memmap("cache/tokens.bin", dtype=np.float32, mode="w+", shape=(256, 20))
            tokens[:] = np.random.rand(256, 20)
            tokens.flush()
        if ranks > 1:
            torch.distributed.barrier()
        tokens = torch.from_numpy(np.array(np.memmap("cache/tokens.bin", dtype=np.float32, shape=(256, 20))))
        train(1, TensorDataset(tokens[:, :16], tokens[:, 16:]))
        """,
        {},
    ),
    "a folder of its own": (
        2,
        """
        out = Path(sys.argv[2])
        if (out / "checkpoint.pt").exists():
            raise SystemExit("it was there")
        def save(epoch, loss):
            if rank == 0:
                torch.save(plain.state_dict(), out / "checkpoint.pt")
        train(1, after=save)
        """,
        {},
    ),
    "begins with a model that was there": (
        1,
        """
        plain.load_state_dict(torch.load("pretrained.pt"))
        train(1)
        """,
        {},
    ),
    "goes on with a checkpoint that was there": (
        1,
        """
        plain.load_state_dict(torch.load("pretrained.pt"))
        train(1)
        torch.save(plain.state_dict(), "pretrained.pt.tmp")
        os.replace("pretrained.pt.tmp", "pretrained.pt")
        """,
        {"pretrained.pt": READ},
    ),
    "a program copies the result": (
        1,
        """
        train(1)
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            torch.save(plain.state_dict(), file)
            file.flush()
            subprocess.run(["cp", file.name, "final.pt"], check=True)
        """,
        {"final.pt": OUTPUT},
    ),
    "another Python exports the result": (
        1,
        """
        train(1)
        subprocess.run([sys.executable, "-c", "open('export.json', 'w').write('{}')"], check=True)
        """,
        {"export.json": OUTPUT},
    ),
    "workers keep what they decoded": (
        1,
        """
        class Decoded(Dataset):
            def __len__(self):
                return 256
            def __getitem__(self, at):
                path = f"decoded/{at % 8}.npy"
                if not os.path.exists(path):
                    os.makedirs("decoded", exist_ok=True)
                    np.save(path, np.ones(16, np.float32))
                return torch.from_numpy(np.load(path)), torch.zeros(4)
        train(2, Decoded(), workers=1)
        """,
        {},
    ),
    "keeps what it decoded while it trains": (
        1,
        """
        class Decoded(Dataset):
            def __len__(self):
                return 256
            def __getitem__(self, at):
                path = f"decoded/{at}.npy"
                if not os.path.exists(path):
                    os.makedirs("decoded", exist_ok=True)
                    np.save(path, np.ones(16, np.float32))
                return torch.from_numpy(np.load(path)), torch.zeros(4)
        train(2, Decoded())
        """,
        {},
    ),
    "writes its arguments": (
        1,
        """
        os.makedirs("results", exist_ok=True)
        with open("results/args.json", "w") as file:
            json.dump({"lr": 0.01}, file)
        train(1)
        """,
        {"results/args.json": OUTPUT},
    ),
    "removes what it wrote": (
        1,
        """
        train(1)
        torch.save(plain.state_dict(), "size.tmp")
        print(os.path.getsize("size.tmp"))
        os.remove("size.tmp")
        """,
        {},
    ),
    "writes nothing": (1, "train(1)", {}),
    # From here on the scripts were written after the rules.
    "weights that it fetches once": (
        1,
        """
        if not Path("weights/base.pth").is_file():
            Path("weights").mkdir(exist_ok=True)
            torch.save(plain.state_dict(), "weights/base.pth.part")
            os.rename("weights/base.pth.part", "weights/base.pth")
        plain.load_state_dict(torch.load("weights/base.pth", mmap=True))
        train(1)
        """,
        {},
    ),
    "a log of the logging module": (
        1,
        """
        import logging
        logging.basicConfig(filename="train.log", level=logging.INFO)
        train(2, after=lambda epoch, loss: logging.info("%d %f", epoch, loss))
        """,
        {"train.log": APPENDED},
    ),
    "words that it counts once": (
        1,
        """
        import pickle
        try:
            with open("vocab.pkl", "rb") as file:
                words = pickle.load(file)
        except FileNotFoundError:
            words = {"a": 1}
            with open("vocab.pkl", "wb") as file:
                pickle.dump(words, file)
        train(1)
        """,
        {},
    ),
    "goes on at the epoch that a file says": (
        1,
        """
        state = Path("state.json")
        first = json.loads(state.read_text())["epoch"] if state.exists() else 0
        train(first + 2, after=lambda epoch, loss: state.write_text(json.dumps({"epoch": epoch})))
        """,
        {"state.json": RESUMED},
    ),
    "takes the newest of a pattern": (
        1,
        """
        found = sorted(glob.glob("ckpts/*.pt"))
        if found:
            plain.load_state_dict(torch.load(found[-1]))
        def save(epoch, loss):
            os.makedirs("ckpts", exist_ok=True)
            with open(f"ckpts/epoch{epoch:03}.pt", "wb") as file:
                torch.save(plain.state_dict(), file)
        train(2, after=save)
        """,
        {"ckpts/": LISTED},
    ),
    "a trace that torch writes": (
        1,
        """
        with torch.profiler.profile() as profile:
            train(1)
        profile.export_chrome_trace("trace.json")
        """,
        {"trace.json": OUTPUT},
    ),
    "ranks that it spawns": (
        2,
        """
        import torch.multiprocessing as mp
        def main(rank, ranks):
            os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT="29583")
            torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
            globals().update(ranks=ranks, rank=rank)
            if os.path.exists("model.pt"):
                plain.load_state_dict(torch.load("model.pt"))
            def save(epoch, loss):
                if rank == 0:
                    torch.save(plain.state_dict(), "model.pt")
            train(1, after=save)
            torch.distributed.destroy_process_group()
        if __name__ == "__main__":
            mp.spawn(main, args=(2,), nprocs=2)
        """,
        {"model.pt": RESUMED},
    ),
    "keeps a copy of its code": (
        1,
        """
        import shutil
        shutil.copytree(".", Path(sys.argv[2]) / "code")
        train(1)
        """,
        {},
    ),
    "reads a table that was there": (
        1,
        """
        with open("pretrained.pt", "r+b") as file:
            file.read(16)
        train(1)
        """,
        {},
    ),
    "a link to its newest folder": (
        1,
        """
        train(1)
        torch.save(plain.state_dict(), Path(sys.argv[2]) / "model.pt")
        if os.path.islink("latest.pt"):
            os.remove("latest.pt")
        os.symlink(Path(sys.argv[2]) / "model.pt", "latest.pt")
        """,
        {"latest.pt": RESUMED},
    ),
}
SPAWNS = "ranks that it spawns"
SPAWNING = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "launcher": "python"}}
QUICK = ("a program copies the result",)


def folder_with(script: str, tmp_path: Path) -> Path:
    """A folder with train.py, which has these lines after HEAD, and pretrained.pt."""
    import torch

    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "train.py").write_text(HEAD + dedent(script), encoding="utf-8")
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    torch.save(model.state_dict(), folder / "pretrained.pt")
    os.utime(folder / "pretrained.pt", (1, 1))
    return folder


def launch(folder: Path, ranks: int, **changes: Any) -> Observation:
    command = changes.pop("command", "train.py {batch_per_rank} {out}")
    return launched_script(command_spec(command, ranks, folder=folder, **changes), folder.parent / "results")


def touched_by(found: Observation, folder: Path) -> FilesTouched:
    return read_document(folder.parent / "results/runs" / found.record.run_id / FILE, FilesTouched)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SCRIPTS]
)
def test_what_launches_share_is_seen_after_the_first(name: str, tmp_path: Path) -> None:
    ranks, script, expected = SCRIPTS[name]
    folder = folder_with(script, tmp_path)
    changes = {"variants": SPAWNING} if name == SPAWNS else {}
    found = launch(folder, ranks, **changes)
    assert (found.record.outcome, found.record.reason) == ("ok", "")
    shared = shared_files(touched_by(found, folder))
    seen = {next((name for name in expected if one.name.startswith(name)), one.name): one.how for one in shared}
    assert seen == expected, shared
    warnings = [warning for warning in found.record.environment["warnings"] if warning["kind"] == SHARED_FILES]
    assert len(warnings) == bool(expected)


def shared_warning(found: Observation) -> str:
    """The sentence of the run's warning; empty for none."""
    kept = found.record.environment["warnings"]
    return next((warning["text"] for warning in kept if warning["kind"] == SHARED_FILES), "")


def test_the_second_launch_is_refused_and_leaves_nothing_unless_it_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, runs = folder_with(SCRIPTS["resumes where a checkpoint is"][1], tmp_path), tmp_path / "results/runs"
    first = launch(folder, 1)
    assert first.record.outcome == "ok"
    assert "checkpoint.pt: the script looked for it first" in shared_warning(first)
    with pytest.raises(UserError, match=rf"Run {first.record.run_id} left these .*\n  checkpoint\.pt: "):
        launch(folder, 2)
    assert [path.name for path in runs.glob("*-r1-*")] == [first.record.run_id]
    assert not (tmp_path / "results/superseded").exists()
    assert launch(folder, 1).record.started_at == first.record.started_at, "it is kept"
    monkeypatch.setenv(ALLOWED, "own")
    second = launch(folder, 2)
    assert second.record.outcome == "ok"
    assert f"read checkpoint.pt, which run {first.record.run_id} wrote" in shared_warning(second)


def scalestudy_run(folder: Path, *words: str, status: int = 0) -> str:
    """What `scalestudy run` prints in a folder."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    done = subprocess.run(
        [str(BIN / "scalestudy"), "run", *words],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.mark.slow
def test_a_first_look_that_leaves_a_checkpoint_is_told_before_there_is_a_study(tmp_path: Path) -> None:
    script = """
        if os.path.exists("checkpoint.pt"):
            plain.load_state_dict(torch.load("checkpoint.pt"))
        train(100000, after=lambda epoch, loss: rank or torch.save(plain.state_dict(), "checkpoint.pt"))
    """
    folder = folder_with(script, tmp_path)
    words = ("--scales", "1x2", "--batch-size", "8", "--device", "cpu", "--", "train.py", "{batch_per_rank}")
    said = scalestudy_run(folder, *words, status=2)
    assert "The first look at the script left these outside its own folder ({out}):\n  checkpoint.pt: " in said
    assert "remove the files of this first look, or the first run starts from them: checkpoint.pt" in said
    assert {path.name for path in folder.iterdir()} == {"train.py", "pretrained.pt", "checkpoint.pt"}


def write_study(folder: Path, name: str, command: str, **changes: Any) -> dict[str, Any]:
    workload = {"command": command, "batch_size": 8, "scaling": ["weak"], "run_to_end": True}
    study = {
        "study": name,
        "repeats": 1,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "host": {"device": "cpu"},
        "workloads": {"own": workload | changes},
    }
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(study))
    return study


def records(folder: Path, study: str) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in folder.glob(f"results/{study}/runs/*/run.json")}


@pytest.mark.slow
def test_a_study_stops_after_the_first_launch_and_goes_on_where_it_is_allowed(tmp_path: Path) -> None:
    folder, summary = folder_with(SCRIPTS["resumes where a checkpoint is"][1], tmp_path), "--until=aggregate_runs"
    write_study(folder, "s", "train.py {batch_per_rank}")
    said = scalestudy_run(folder, "--study", "s.yaml", summary, status=2)
    assert "\n[1/" in said, "a run was measured"
    assert said.rstrip().splitlines()[-1].startswith("- or accept this: `scalestudy run` with --allow-shared")
    first = records(folder, "s")
    assert [json.loads(content)["outcome"] for content in first.values()] == ["ok"]

    again = scalestudy_run(folder, "--study", "s.yaml", summary, status=2)
    assert "checkpoint.pt: the script looked for it first" in again
    assert "\n[1/" not in again, "it is known before"
    assert records(folder, "s") == first

    write_study(folder, "s", "train.py {batch_per_rank}", allow_shared=True)
    scalestudy_run(folder, "--study", "s.yaml", summary)
    both = records(folder, "s")
    assert len(both) == 2
    assert first.items() <= both.items()
    found = json.loads((folder / "results/s/environment.json").read_text())["warnings"]
    assert [(one["kind"], one["launches"]) for one in found if one["kind"] == SHARED_FILES] == [(SHARED_FILES, 2)]
    # The key does not cause a new measurement.
    write_study(folder, "s", "train.py {batch_per_rank}")
    for words in ((), ("--allow-shared",)):
        jobs = planned(scalestudy_run(folder, "--study", "s.yaml", summary, "-n", *words))
        assert not {name for name in jobs if name.startswith("train_")}


@pytest.mark.slow
def test_two_studies_of_a_script_run_in_one_folder_at_once(tmp_path: Path) -> None:
    script = """
        out = Path(sys.argv[2])
        assert not (out / "checkpoint.pt").exists()
        train(2, after=lambda epoch, loss: rank or torch.save(plain.state_dict(), out / "checkpoint.pt"))
    """
    folder = folder_with(script, tmp_path)
    running = []
    for name in ("a", "b"):
        write_study(folder, name, "train.py {batch_per_rank} {out}")
        command = [str(BIN / "scalestudy"), "run", "--study", f"{name}.yaml", "--until=aggregate_runs"]
        env = os.environ | {"PATH": os.pathsep.join([str(BIN), os.environ["PATH"]])}
        running.append(
            subprocess.Popen(
                command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        )
    for process in running:
        said, _ = process.communicate(timeout=500)
        assert process.returncode == 0, said
    for name in ("a", "b"):
        kept = [json.loads(content) for content in records(folder, name).values()]
        assert [record["outcome"] for record in kept] == ["ok", "ok"]
        assert not [w for record in kept for w in record["environment"]["warnings"] if w["kind"] == SHARED_FILES]
        assert len(list(folder.glob(f"results/{name}/runs/*/out/checkpoint.pt"))) == 2
