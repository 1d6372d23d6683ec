"""The gradient noise scale of one process against the gradient of every sample; what its probe leaves alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from gradient_truth import NO_LIMIT_S, estimate_of, true_scale
from launches import spec_of, trainer_of
from scalestudy.record.gradient_noise import KEY, GradientNoise
from scalestudy.record.observation import TRAINING_PHASES
from scalestudy.train.loop import StoppedError, Trainer
from scalestudy.train.probes import gradient_noise, gradient_steps, run_probes
from scalestudy.train.probes.gradient_noise import (
    FEWEST_ROWS,
    LIMIT_S,
    MOST_STEPS,
    ROWS,
    is_wanted,
    keep_parameters,
    probe_gradient_noise,
    rows_for,
)
from scalestudy.train.probes.sketch import Sketch

SINGLE: dict[str, Any] = {"strategy": "single"}
CONVNET: dict[str, Any] = {
    "model": {"type": "convnet", "channels": 12, "num_layers": 2},
    "optimizer": {"type": "adam", "learning_rate": 0.01},
}
NORMED: dict[str, Any] = {"model": {"type": "convnet", "channels": 4, "num_layers": 2, "norm": "batch"}}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As a rank has it: small steps on more threads than there are free cores take many times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed gives the same estimate, however fast the host is."""
    monkeypatch.setattr(gradient_noise, "LIMIT_S", NO_LIMIT_S)


def trained(
    directory: Path,
    workload: dict[str, Any] | None = None,
    *,
    variant: dict[str, Any] = SINGLE,
    probes: int = 2,
    epochs: int = 1,
) -> Trainer:
    spec = spec_of(variant, (workload or {}) | {"epochs": epochs}, scale="1x1", measure={"probe_rounds": probes})
    trainer = trainer_of(spec, directory)
    trainer.train()
    return trainer


def within_limits(trainer: Trainer) -> bool:
    """Whether the interval covers; fails where the estimate is off by 30 % or more."""
    true = true_scale(trainer.plain, trainer.split)
    found = estimate_of(probe_gradient_noise(trainer, None))
    print(f"true {true:.1f}, estimate {found.value:.1f} [{found.low:.1f}, {found.high:.1f}]")
    assert found.value == pytest.approx(true, rel=0.3)
    return found.low <= true <= found.high


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("epochs", [1, *(pytest.param(epochs, marks=pytest.mark.slow) for epochs in (5, 20))])
def test_an_early_a_middle_and_a_late_mlp(tmp_path: Path, epochs: int) -> None:
    assert within_limits(trained(tmp_path, epochs=epochs))


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("epochs", [1, *(pytest.param(epochs, marks=pytest.mark.slow) for epochs in (5, 20))])
def test_an_early_a_middle_and_a_late_convnet(tmp_path: Path, epochs: int) -> None:
    assert within_limits(trained(tmp_path, CONVNET, epochs=epochs))


@pytest.mark.usefixtures("unhurried")
def test_a_sketch_gives_the_same_estimate_within_its_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 466 parameters in 1 000 values."""
    monkeypatch.setattr(gradient_noise, "Sketch", lambda parameters: Sketch(parameters, size=1000))
    assert within_limits(trained(tmp_path))


def test_the_probe_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """Parameters, running statistics, modes, gradients and random numbers."""
    trainer = trained(tmp_path, NORMED)
    state = {name: value.clone() for name, value in trainer.plain.state_dict().items()}
    random, modes = torch.get_rng_state(), [module.training for module in trainer.plain.modules()]
    noise = probe_gradient_noise(trainer, None)
    assert not noise.failed
    assert FEWEST_ROWS <= len(noise.squares) == len(noise.products) <= ROWS
    assert all(torch.equal(value, state[name]) for name, value in trainer.plain.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())
    assert modes == [module.training for module in trainer.plain.modules()]
    assert all(parameter.grad is None for parameter in trainer.plain.parameters())


def test_a_launch_trains_as_without_the_probe_and_records_no_step_of_it(tmp_path: Path) -> None:
    tables = []
    for probes in (0, 2):
        trainer = trained(tmp_path, probes=probes, epochs=2)
        before = trainer.recorder.steps
        facts = run_probes(trainer)
        assert (KEY in facts) == bool(probes)
        assert trainer.recorder.steps == before
        steps = trainer.recorder.tables()["steps"].to_pandas()
        assert set(steps["phase"]) <= set(TRAINING_PHASES)
        tables.append(steps)
    assert tables[0]["loss"].tolist() == tables[1]["loss"].tolist()


def test_parameters_are_put_back_after_other_probes(tmp_path: Path) -> None:
    trainer = trained(tmp_path)
    kept = tmp_path / "kept.pt"
    torch.save(trainer.plain.state_dict(), kept)
    trained_to = [parameter.detach().clone() for parameter in trainer.plain.parameters()]
    with torch.no_grad():
        for parameter in trainer.plain.parameters():
            parameter.add_(1)
    assert not probe_gradient_noise(trainer, kept).failed
    assert all(map(torch.equal, trained_to, trainer.plain.parameters()))
    assert not kept.exists()


def test_one_process_writes_its_parameters_only_where_a_trace_trains_them(tmp_path: Path) -> None:
    trainer = trained(tmp_path)
    assert keep_parameters(trainer) is None
    trainer.spec = trainer.spec.model_copy(update={"profile_steps": 2})
    kept = keep_parameters(trainer)
    assert kept is not None
    assert kept.stat().st_size > 0


def test_parameters_that_could_not_be_written_are_no_failure_of_the_launch(tmp_path: Path) -> None:
    noise = probe_gradient_noise(trained(tmp_path), tmp_path / "nowhere.pt")
    assert "No such file" in noise.failed
    assert not noise.squares


@pytest.mark.parametrize(
    ("raised", "said"),
    [(ValueError("no such\nthing"), "ValueError: no such"), (torch.OutOfMemoryError("too much"), "too much")],
)
def test_what_fails_in_the_probe_fails_no_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, said: str
) -> None:
    trainer = trained(tmp_path)
    monkeypatch.setattr(gradient_steps, "loss_of", raising(raised))
    content = run_probes(trainer)[KEY]
    assert said in content["failed"]
    assert GradientNoise.model_validate(content).squares == ()


def test_a_launch_that_is_to_end_ends_in_the_probe_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = trained(tmp_path)
    monkeypatch.setattr(gradient_steps, "loss_of", raising(StoppedError("stopped by SIGTERM")))
    with pytest.raises(StoppedError):
        run_probes(trainer)


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_gradients_that_are_not_finite_are_not_recorded(tmp_path: Path) -> None:
    trainer = trained(tmp_path)
    with torch.no_grad():
        next(iter(trainer.plain.parameters())).fill_(torch.nan)
    assert "not finite" in probe_gradient_noise(trainer, None).failed


@pytest.mark.usefixtures("unhurried")
def test_gradients_have_no_scale_of_the_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with fp16, whose losses are multiplied by 65 536."""
    trainer = trained(tmp_path)
    plain = probe_gradient_noise(trainer, None)
    monkeypatch.setattr(type(trainer.stepper.update), "loss_scale", 2.0**16)
    scaled = probe_gradient_noise(trainer, None)
    assert scaled.squares == pytest.approx(plain.squares, rel=1e-4)
    assert scaled.products == pytest.approx(plain.products, rel=1e-3, abs=1e-6)


def test_gradients_are_of_micro_batches_or_of_parts(tmp_path: Path) -> None:
    for index, (variant, batch, samples) in enumerate(
        [({}, 64, 16), ({}, 6, 3), ({}, 7, 7), ({"accumulation_steps": 2}, 64, 32)]
    ):
        directory = tmp_path / str(index)
        directory.mkdir()
        trainer = trained(directory, {"batch_size": batch}, variant=SINGLE | variant)
        assert probe_gradient_noise(trainer, None).samples == samples


def test_who_measures_it() -> None:
    with_probes = {"probe_rounds": 1}
    assert is_wanted(spec_of(SINGLE, scale="1x1", measure=with_probes))
    assert is_wanted(spec_of({"strategy": "ddp"}, measure=with_probes))
    assert not is_wanted(spec_of({"strategy": "fsdp"}, measure=with_probes))
    assert not is_wanted(spec_of(SINGLE, scale="1x1"))


@pytest.mark.parametrize("step_s", [1e-4, 0.01, 0.1, 1, 60])
def test_rows_take_a_limited_time(step_s: float) -> None:
    rows, steps = rows_for(step_s)
    assert FEWEST_ROWS <= rows <= ROWS
    assert 1 <= steps <= MOST_STEPS
    assert rows * steps * step_s <= max(LIMIT_S, FEWEST_ROWS * step_s) * 1.001
    assert step_s > 1e-3 or (rows, steps) == (ROWS, MOST_STEPS)


def test_products_of_sketches_are_those_of_the_gradients() -> None:
    random = torch.Generator().manual_seed(1)
    sizes = [7000, 11, 40_000, 1]
    sketch = Sketch([torch.empty(size) for size in sizes], size=2**12)
    gradients = [[torch.randn(size, generator=random) + 0.3 for size in sizes] for _ in range(2)]
    sketches = [torch.zeros(sketch.size) for _ in gradients]
    for gradient, into in zip(gradients, sketches, strict=True):
        sketch.add(gradient, into)
    first, second = (torch.cat(gradient) for gradient in gradients)
    error = float(sketches[0] @ sketches[1] - first @ second)
    assert abs(error) < 4 * (2 / sketch.size) ** 0.5 * float(first.norm() * second.norm())


def test_a_short_gradient_is_kept_as_it_is_and_one_that_is_missing_is_zeros() -> None:
    sketch = Sketch([torch.empty(2, 2), torch.empty(3), torch.empty(1)])
    into = torch.zeros(sketch.size)
    sketch.add([torch.arange(4.0).reshape(2, 2), None, torch.tensor([9.0])], into)
    assert into.tolist() == [0, 1, 2, 3, 0, 0, 0, 9]
