"""Outcomes of runs of a user's own script: its end, its probes, its faults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scalestudy
from own_scripts import HEAD, command_spec, ended, launched_script
from own_scripts import run_script as run
from scalestudy.launch.foreign import watch
from scalestudy.record.observation import TRAINING_PHASES
from scalestudy.record.tables import Observation

CORES = sorted(os.sched_getaffinity(0))[:2]
MEASURE = {"min_steps": 30, "max_steps": 30, "warmup_steps": 5, "probe_rounds": 3, "probe_steps": 4}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Observation, str]:
    """(observation, log) of two ranks that print the sum of their parameters at every step, and how they end."""
    body = """
        import atexit
        atexit.register(lambda: print("atexit ran", flush=True))
        plain = model.module
        told = lambda step: f"sum {step} {float(plain[0].weight.sum())}{os.linesep}"
        try:
            train(after=lambda step: os.write(1, told(step).encode()))  # a line in one write: ranks share the log
        finally:
            print("finally ran", flush=True)
    """
    folder = tmp_path_factory.mktemp("left")
    found = run(folder, body, ranks=2, measure=MEASURE, samples=65536)
    assert ended(found) == ("ok", "")
    return found, (next((folder / "results/runs").glob("own-*")) / "log.txt").read_text()


def test_all_ranks_leave_after_the_same_step_and_say_why(left: tuple[Observation, str]) -> None:
    found, log = left
    assert found.record.stopping is not None
    assert found.record.stopping.reason.startswith(("goal reached", "stopped at the limit of 30 steady steps"))
    last = found.steps.groupby("rank")["step"].max()
    assert last[0] == last[1]
    assert log.count("finally ran") == 2
    assert log.count("atexit ran") == 2


def test_communication_is_probed_after_the_script_s_own_steps(left: tuple[Observation, str]) -> None:
    found, _ = left
    counts = found.steps[found.steps["rank"] == 0]["phase"].value_counts()
    for phase in ("probe-sync", "probe-no-sync", "probe-logger"):
        assert counts[phase] == 12
    own = found.steps["phase"].isin(TRAINING_PHASES)
    assert found.steps[own]["step"].max() < found.steps[~own]["step"].min()
    logger = found.steps[found.steps["phase"] == "probe-logger"]
    assert (logger.groupby(["rank", "block"])["communication_span_s"].count() >= 3).all()
    assert set(found.collectives["collective"]) == {"all-reduce", "all-gather", "reduce-scatter"}
    assert [rank.cores for rank in found.record.ranks] == [(core,) for core in CORES], "each has its own"
    assert found.record.totals.gradient_bytes == 4 * found.record.totals.parameters


@pytest.mark.parametrize(
    "wrapped",
    [
        pytest.param("model", marks=pytest.mark.slow),
        "FullyShardedDataParallel(model, device_id=torch.device('cpu'))",
    ],
)
def test_the_size_of_a_model_is_not_taken_from_a_share_of_it(wrapped: str, tmp_path: Path) -> None:
    """The optimizer of a rank may have a share of it: with FSDP1, or without a wrapper, as with DeepSpeed."""
    head = HEAD.replace("DistributedDataParallel(model)", wrapped)
    head = "from torch.distributed.fsdp import FullyShardedDataParallel\n" + head
    found = run(tmp_path, "train()", ranks=2, head=head, measure=MEASURE)
    assert ended(found) == ("ok", "")
    assert found.record.totals.parameters is None
    assert found.record.totals.gradient_bytes is None


def test_parameters_stay_equal_on_all_ranks_until_the_probes_begin(left: tuple[Observation, str]) -> None:
    found, log = left
    own = found.steps[found.steps["phase"].isin(TRAINING_PHASES)]["step"].max()
    sums: dict[int, list[str]] = {}
    for line in log.splitlines():
        if line.startswith("sum "):
            _, step, value = line.split()
            sums.setdefault(int(step), []).append(value)
    assert set(range(1, own + 1)) <= set(sums)
    assert all(len(values) == 2 and len(set(values)) == 1 for step, values in sums.items() if step <= own)


def test_an_exit_that_is_swallowed_ends_the_process_all_the_same(tmp_path: Path) -> None:
    body = """
        while True:
            try:
                train()
            except BaseException as error:
                print("swallowed", type(error).__name__, flush=True)
    """
    found = run(tmp_path, body, measure=MEASURE)
    assert ended(found) == ("ok", "")


@pytest.mark.slow  # test_own_scripts.py has such scripts too
def test_a_script_that_ends_by_itself_is_measured_whole(tmp_path: Path) -> None:
    found = run(tmp_path, "train(epochs=1)", run_to_end=True)
    assert ended(found) == ("ok", "")
    assert found.record.stopping is not None
    assert found.record.stopping.reason == "the script ended by itself"
    assert found.record.totals.steps == 4096 / 8
    assert found.record.totals.samples == 4096


FAULTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "an error, with the script's own line": (
        "train(after=lambda step: [][1] if step == 20 else None)",
        {},
        r"rank 0: IndexError: list index out of range (.*train.py:LAST)",
    ),
    "an exit code": ("train(epochs=1); sys.exit(3)", {"run_to_end": True}, "exit code 3"),
    "no step": ("print('nothing')", {}, "no training step was seen"),
    "a signal": ("train(after=lambda step: os.kill(os.getpid(), 9) if step == 20 else None)", {}, "SIGKILL"),
    "another batch": (
        "train()",
        {"argument": "32"},
        "rank 0 trained on 32 samples per step (batch_size of its DataLoader: 32), but the study specifies 8.",
    ),
}


QUICK = ("an error, with the script's own line", "another batch")


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=[] if fault in QUICK else pytest.mark.slow) for fault in FAULTS]
)
def test_a_fault_is_an_outcome_with_its_reason(fault: str, tmp_path: Path) -> None:
    body, changes, reason = FAULTS[fault]
    outcome, said = ended(run(tmp_path, body, **changes))
    assert outcome == "failed"
    for part in reason.split(".*"):
        assert part.replace("LAST", str(len(HEAD.splitlines()) + 1)) in said


def test_a_batch_that_only_its_shape_tells_is_warned_of(tmp_path: Path) -> None:
    """The loader has no batch_size: it gives ready batches. What its first dimension is may be anything."""
    body = """
        data = TensorDataset(torch.randn(256, 12, 16), torch.randn(256, 12, 4))
        loader = DataLoader(data, batch_size=None)
        train()
    """
    found = run(tmp_path, body)
    assert ended(found) == ("ok", "")
    (warning,) = [one for one in found.record.environment["warnings"] if one["kind"] == "other batch"]
    assert "12 samples per step, but the study specifies 8." in warning["text"]


@pytest.mark.slow
def test_out_of_memory_is_told_as_such(tmp_path: Path) -> None:
    body = "train(after=lambda step: torch.empty(2**60) if step == 20 else None)"
    outcome, reason = ended(run(tmp_path, body))
    assert outcome == "oom"
    assert "train.py" in reason


def test_an_error_of_one_rank_is_told_and_not_that_of_those_who_wait(tmp_path: Path) -> None:
    body = "train(after=lambda step: 1 / 0 if step == 20 and os.environ['RANK'] == '1' else None)"
    outcome, reason = ended(run(tmp_path, body, ranks=2))
    assert outcome == "failed"
    assert reason.startswith("rank 1: ZeroDivisionError: division by zero")


@pytest.mark.slow  # test_live_guard.py has such ranks too
def test_ranks_that_read_the_same_samples_are_refused(tmp_path: Path) -> None:
    body = """
        loader = DataLoader(data, batch_size=batch)
        train()
    """
    outcome, reason = ended(run(tmp_path, body, ranks=2))
    assert outcome == "failed"
    assert reason.startswith("ranks 0 and 1 read identical samples in their first 3 batches")


@pytest.mark.slow
def test_ranks_that_train_each_by_itself_are_refused(tmp_path: Path) -> None:
    head = HEAD.replace('int(os.environ.get("WORLD_SIZE", 1))', "1")
    outcome, reason = ended(run(tmp_path, "train()", ranks=2, head=head, allow_equal_batches=True))
    assert outcome == "failed"
    assert reason.startswith("2 ranks were started, but none joined a process group")


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    spec = command_spec("absent.py", 1, folder=tmp_path)
    outcome, reason = ended(launched_script(spec, tmp_path / "results"))
    assert outcome == "failed"
    assert "absent.py does not exist" in reason


def test_a_process_that_has_reported_and_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where gloo waits forever while a model is freed."""
    monkeypatch.setattr(watch, "TEARDOWN_S", 1.0)
    head = "import atexit, time\natexit.register(time.sleep, 600)\n" + HEAD
    found = run(tmp_path, "train(epochs=1)", head=head, run_to_end=True)
    assert ended(found) == ("ok", "")
    assert found.record.totals.steps == 4096 / 8


def test_step_times_are_those_of_the_script_s_own_stopwatch(tmp_path: Path) -> None:
    """The script reads the clock right after each update. Only our own hook runs between the two timestamps."""
    body = """
        stamps = []
        train(epochs=1, after=lambda step: stamps.append(time.perf_counter()))
        print("stopwatch", *stamps, flush=True)
    """
    head = HEAD.replace("nn.Linear(16, 64)", "nn.Linear(16, 4096)").replace(
        "nn.Linear(64, 4)", "nn.Linear(4096, 4)"
    )
    found = run(tmp_path, body, head=head, run_to_end=True)
    assert ended(found) == ("ok", "")
    log = (next((tmp_path / "results/runs").glob("own-*")) / "log.txt").read_text()
    line = next(line for line in log.splitlines() if line.startswith("stopwatch"))
    own = np.diff([float(word) for word in line.split()[1:]])
    ours = found.steps.sort_values("step")["step_time_s"].to_numpy()[1:]
    assert len(own) == len(ours)
    assert np.median(abs(ours / own - 1)) < 0.01
    # Other load may stop the script between the two timestamps of a step, so a drift is sought over many steps.
    apart = np.cumsum(ours) - np.cumsum(own)
    assert abs(np.median(apart[-50:]) - np.median(apart[:50])) < 0.01 * own.sum()


def test_the_recorder_says_what_cannot_be_seen(tmp_path: Path) -> None:
    """A script with data and updates of its own: no DataLoader, no optimizer."""
    body = """
        import scalestudy
        rec = scalestudy.Recorder()
        assert rec.active
        weights = torch.zeros(16, 4, requires_grad=True)
        for epoch in range(3):
            for first in rec.steps(range(0, 512, 8)):
                inputs, targets = data[first:first + 8]
                rec.samples(8)
                with rec.part("forward"):
                    loss = nn.functional.mse_loss(inputs @ weights, targets)
                loss.backward()
                with torch.no_grad():
                    weights -= 0.1 * weights.grad
                    weights.grad = None
            rec.epoch(validation_accuracy=0.25 * (epoch + 1))
        rec.metric("final_loss", loss)
    """
    found = run(tmp_path, body, run_to_end=True)
    assert ended(found) == ("ok", "")
    assert found.record.totals.steps == 3 * 64
    assert found.record.totals.samples == 3 * 512
    assert found.epochs["validation_accuracy"].tolist() == [0.25, 0.5, 0.75]
    assert found.epochs["samples"].tolist() == [512, 512, 512]
    assert (found.steps["forward_time_s"] > 0).all()
    assert found.steps["optimizer_time_s"].isna().all(), "not seen is missing, and not zero"
    assert "final_loss" in found.record.environment["seen"]["metrics"]


def test_the_script_has_the_pythonpath_of_its_study(tmp_path: Path) -> None:
    """Also where it is relative to the folder of the script, as people have it in their shell history."""
    (tmp_path / "a folder with ünicode" / "src").mkdir(parents=True)
    (tmp_path / "a folder with ünicode" / "src" / "own_module.py").write_text("EPOCHS = 1\n")
    body = """
        import own_module
        train(own_module.EPOCHS)
    """
    found = run(tmp_path, body, run_to_end=True, environment={"PYTHONPATH": "src"})
    assert ended(found) == ("ok", "")


def test_the_recorder_does_nothing_outside_a_study() -> None:
    rec = scalestudy.Recorder()
    assert not rec.active
    assert list(rec.steps([1, 2])) == [1, 2]
    rec.samples(3)
    with rec.part("forward"):
        pass
    rec.epoch(validation_accuracy=0.5)
    rec.metric("loss", 1.0)
    wrong = r"'forwards' is not a part of a step; the parts are data, h2d, forward"
    with pytest.raises(ValueError, match=wrong), rec.part("forwards"):
        pass
    with pytest.raises(ValueError, match="unknown value 'accuracy'"):
        rec.epoch(accuracy=0.5)
