"""The gradient noise scale from the gradient of every training sample, by torch.func.

As a script, `[torchrun] gradient_truth.py DIRECTORY...` runs trainings with their probes, one after another in the
same processes. Each directory has a spec.json; rank 0 writes to it the parameters at the end of the training, the
facts of the probes and the losses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from scalestudy.analyse.run.noise import pseudo_values
from scalestudy.analyse.statistics.fieller import ratio_of_means
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.record.gradient_noise import KEY, GradientNoise
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.study.spec import TrainSpec, parse_spec
from scalestudy.train.data import Split, load_split
from scalestudy.train.gauges import Gauges
from scalestudy.train.loop import Trainer
from scalestudy.train.place.placement import place_rank
from scalestudy.train.probes import gradient_noise, run_probes
from scalestudy.train.strategies import make_strategy
from scalestudy.train.workloads import build_model
from scalestudy.train.workloads.task import loss_of
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

AT_ONCE = 200
NO_LIMIT_S = 1e6
"""With these, rows and steps do not depend on the speed of the host, and a seed always gives the same estimate."""


def true_scale(model: nn.Module, split: Split) -> float:
    """Return tr(Sigma) / |G|^2, in samples, over all training samples.

    Not for batch normalisation, with which a sample has no gradient of its own.
    """
    model.train()
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], sample: Tensor, target: Tensor) -> Tensor:
        return loss_of(functional_call(model, parameters, (sample[None],)), target[None])

    of_samples = vmap(grad(loss), in_dims=(None, 0, 0))
    gradients = []
    for begin in range(0, split.train_samples, AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        found = of_samples(parameters, split.train_inputs[part], split.train_targets[part])
        gradients.append(torch.cat([value.flatten(1) for value in found.values()], dim=1).double())
    together = torch.cat(gradients)
    mean = together.mean(dim=0)
    square = float(mean @ mean)
    return (float(together.square().sum(dim=1).mean()) - square) / square


def true_scale_after(directory: Path, spec: TrainSpec) -> float:
    """Return the same at the parameters that the script saved."""
    model = build_model(spec.model, spec.data)
    model.load_state_dict(torch.load(directory / "final.pt"))
    return true_scale(model, load_split(spec.data, spec.model, directory=None, device=torch.device("cpu")))


def estimate_of(noise: GradientNoise) -> Interval:
    """Return the noise scale of a run with its 95 % interval."""
    assert not noise.failed
    return ratio_of_means(*pseudo_values(noise), confidence=0.95)


def noise_left_in(directory: Path) -> GradientNoise:
    """Return what the script found."""
    return GradientNoise.model_validate(json.loads((directory / "facts.json").read_text())[KEY])


def main() -> None:
    gradient_noise.LIMIT_S = NO_LIMIT_S
    directories = [Path(name) for name in sys.argv[1:]]
    place = place_rank(parse_spec((directories[0] / "spec.json").read_text()).host)
    if place.world_size > 1:
        dist.init_process_group("gloo")
        dist.init_process_group = lambda *_, **__: None  # each strategy would initialise it again
    for directory in directories:
        spec = parse_spec((directory / "spec.json").read_text())
        assert isinstance(spec, TrainSpec)
        recorder = RankRecorder(directory, rank=place.rank)
        trainer = Trainer(spec, place, make_strategy(spec, place), recorder, Gauges(place))
        trainer.train()
        trained = {name: value.clone() for name, value in trainer.plain.state_dict().items()}
        facts = run_probes(trainer)
        if place.rank == 0:
            torch.save(trained, directory / "final.pt")
            (directory / "facts.json").write_text(json.dumps(facts))
            losses = recorder.tables()["steps"].to_pandas()
            losses[losses["epoch"] > 0]["loss"].to_csv(directory / "losses.csv", index=False)
        if KEY in facts:
            after = trainer.plain.state_dict()
            assert all(torch.equal(value, after[name]) for name, value in trained.items())
            assert all(parameter.grad is None for parameter in trainer.plain.parameters())
    if place.world_size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
