"""Faults of a user's own script: of its torchrun, its loader workers, its data, its daemons, its port."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, alive, wait_for
from faulted import SOON_S, memory_left
from own_scripts import command_spec
from scalestudy.launch.leftovers import shared_memory
from scalestudy.record.observation import RunRecord
from scalestudy.record.tables import read_observation
from scalestudy.study.spec import CommandSpec

SCRIPT = """
import os, signal, sys, time, torch
from pathlib import Path
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler
rank, what = int(os.environ["RANK"]), sys.argv[2]
def up(name, pid):
    Path(f"{name}.new").write_text(str(pid))
    Path(f"{name}.new").rename(f"{name}.pid")
up(f"rank{rank}", os.getpid())
up("starter", os.getppid())
if what == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if what == "port" and rank == 0:
    import socket
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("", int(os.environ["MASTER_PORT"])))
    taken.listen()
if what == "daemon" and rank == 0 and os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    up("daemon", os.getpid())
    time.sleep(1000)
torch.distributed.init_process_group("gloo")
class Data(Dataset):
    def __len__(self):
        return 4_000_000
    def __getitem__(self, index):
        if what == "stalled" and rank == 1 and index > 400:
            time.sleep(1000)
        return torch.randn(16), torch.randn(4)
model = DistributedDataParallel(nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = Data()
sampler = DistributedSampler(data, shuffle=False)
loader = DataLoader(data, batch_size=int(sys.argv[1]), num_workers=1, sampler=sampler)
batches = iter(loader)
up(f"worker{rank}", batches._workers[0].pid)
for step in range(60 if what == "daemon" else 1000000):
    inputs, targets = next(batches)
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    if step == 30 and rank == 0:
        up("trained", os.getpid())
"""
TORCHRUN = "-m torch.distributed.run --standalone --nproc-per-node=2 train.py {batch_per_rank}"


def kill(name: str, signum: int) -> Callable[[Path], None]:
    """A fault: a signal to the process that left its id under this name. A stopped process is continued."""

    def hit(folder: Path) -> None:
        pid = int((folder / f"{name}.pid").read_text())
        os.kill(pid, signum)
        if signum == signal.SIGSTOP:
            os.kill(pid, signal.SIGCONT)

    return hit


def nothing(_: Path) -> None:
    """The script itself has the fault."""


def cell(
    what: str, hit: Callable[[Path], None], outcome: str, reason: str, *, told: dict[str, str], **more: Any
) -> Any:
    kept = "a record with the reason" if outcome != "ok" else "the complete run"
    mark = pytest.mark.fault(outcome=outcome, kept=kept, next_call="keeps the record and measures nothing", **told)
    return pytest.param(what, hit, outcome, reason, more, id=told["fault"].replace(" ", "-"), marks=[mark])


TRAINING = "block"
CELLS = [
    cell(
        "torchrun",
        kill("starter", signal.SIGKILL),
        "failed",
        "ended by SIGKILL",
        told={"fault": "SIGKILL to torchrun of a script", "moment": TRAINING},
    ),
    cell(
        "torchrun",
        kill("starter", signal.SIGTERM),
        "failed",
        "SIGTERM",
        told={"fault": "SIGTERM to torchrun of a script", "moment": TRAINING},
    ),
    cell(
        "plain",
        kill("starter", signal.SIGKILL),
        "failed",
        "the process that starts the ranks was ended by SIGKILL",
        told={"fault": "SIGKILL to the process that starts a script's ranks", "moment": TRAINING},
    ),
    cell(
        "plain",
        kill("rank1", signal.SIGKILL),
        "failed",
        "ended by SIGKILL",
        told={"fault": "SIGKILL to a rank of a script", "moment": TRAINING},
    ),
    cell(
        "plain",
        kill("worker1", signal.SIGKILL),
        "failed",
        "rank 1: ",
        told={"fault": "SIGKILL to a loader worker", "moment": TRAINING},
    ),
    cell(
        "stalled",
        nothing,
        "timeout",
        "time limit of",
        limit_min=0.5,
        told={"fault": "a data source that hangs forever", "moment": TRAINING},
    ),
    cell(
        "deaf",
        nothing,
        "timeout",
        "time limit of",
        limit_min=1,  # beside other load a script takes most of half a minute to start
        told={"fault": "a script that ignores SIGTERM, over the time limit", "moment": TRAINING},
    ),
    cell(
        "daemon",
        nothing,
        "ok",
        "",
        told={"fault": "a daemon that a script leaves behind", "moment": "writing"},
    ),
    cell(
        "port",
        nothing,
        "failed",
        "EADDRINUSE",
        told={"fault": "another process takes the port before the rendezvous", "moment": "rendezvous"},
    ),
]


def spec_for(what: str, folder: Path) -> CommandSpec:
    (folder / "train.py").write_text(SCRIPT)
    command = f"{TORCHRUN if what == 'torchrun' else 'train.py {batch_per_rank}'} {what}"
    launcher = "python" if what == "torchrun" else "torchrun"  # with python the command starts its ranks itself
    variants = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "launcher": launcher}}
    return command_spec(command, 2, folder=folder, variants=variants)


def call(spec: CommandSpec, place: Path, temporary: Path, limit_min: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(str(BIN / "scalestudy"), "train", "--spec", spec.to_json(), "--results", str(place / "results")),
            f"--time-limit-min={limit_min}",
        ],
        env=os.environ | {"TMPDIR": str(temporary), "SCALESTUDY_ALLOW_SHARED": "own"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("what", "hit", "outcome", "reason", "more"), CELLS)
def test_a_fault_of_a_script(
    what: str, hit: Callable[[Path], None], outcome: str, reason: str, more: dict[str, Any], tmp_path: Path
) -> None:
    folder, memory = tmp_path / "script", shared_memory()
    folder.mkdir()
    temporary = Path(tempfile.mkdtemp())  # short: a loader worker's socket is in it
    spec = spec_for(what, folder)
    process = call(spec, tmp_path, temporary, more.get("limit_min", 5))
    if hit is not nothing:
        wait_for((folder / "trained.pid").exists)
        hit(folder)
    said = process.communicate(timeout=3 * SOON_S)[0]
    assert process.returncode == 0, said
    pids = {path.stem: int(path.read_text()) for path in folder.glob("*.pid")}
    assert {name for name, pid in pids.items() if alive(pid)} == set(), "before anything was recorded"
    run = tmp_path / "results/runs" / spec.run_id
    record: RunRecord = read_observation(run).record
    assert (record.outcome, reason in record.reason) == (outcome, True), (record.reason, record.log_tail)
    content = (run / "run.json").read_bytes()
    said = call(spec, tmp_path, temporary, 5).communicate(timeout=SOON_S)[0]
    assert ": kept, already measured" in said
    assert (run / "run.json").read_bytes() == content
    assert read_observation(run).record == record, "no rank wrote into it"
    left = [path.name for path in temporary.iterdir() if not path.name.startswith("torchinductor_")]
    assert left == []
    assert list((tmp_path / "results").rglob("*.lock")) == []
    assert memory_left(memory) == set()
