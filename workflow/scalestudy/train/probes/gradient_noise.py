"""How much the gradients of batches scatter, at the parameters that the training ended with.

The squares of a gradient g of b samples have the expectation |G|^2 + tr(Sigma) / b, where G is the gradient of the
mean loss and Sigma the covariance of the gradients of single samples. The product of two gradients of different
batches has the expectation |G|^2. With DDP a gradient is that of a rank, which a communication hook sees before
the all-reduce; in a single process it is that of a part of the batch. With accumulation it is that of a
micro-batch. Squares and products are kept for rows of steps; the analysis makes the noise scale of them. Sources:
McCandlish et al. (2018), An Empirical Model of Large-Batch Training, arXiv:1812.06162, appendix A.1; Qiao et al.
(2021), Pollux, OSDI.

No parameter changes in the probe, so all rows are of one network. It comes after everything that is timed: the
parameters are kept when the training ends, and put back for it. Batches are drawn with replacement, so that rows
do not depend on each other. Layers of batch normalisation take their running statistics: with those of the batch,
the gradient of a sample would depend on the others.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from scalestudy.errors import first_line
from scalestudy.record.gradient_noise import GradientNoise
from scalestudy.study.spec import TrainSpec
from scalestudy.train.loop import StoppedError, Trainer
from scalestudy.train.probes.gradient_steps import (
    Gradients,
    Step,
    announce,
    parts_of_step,
    step_alone,
    step_of_ranks,
)
from scalestudy.train.probes.rounds import largest_over_ranks
from scalestudy.train.probes.sketch import Sketch

LIMIT_S = 2.0
"""Seconds that the rows may take where steps are short; long steps are made all the same for FEWEST_ROWS."""
ROWS, FEWEST_ROWS = 32, 8
MOST_STEPS = 16
"""Of a row."""
SETTLE_STEPS = 2
"""DDP orders its buckets again after the first step. The faster of the two says how long a step is."""


def is_wanted(spec: TrainSpec) -> bool:
    """Whether a launch measures it: the first of each point, since it takes as long as the other probes together.

    FSDP does not: a rank never has the whole of its own gradient.
    """
    return spec.repeat == 1 and spec.measure.probe_rounds > 0 and spec.strategy != "fsdp"


def keep_parameters(trainer: Trainer) -> Path | None:
    """Rank 0 writes parameters and buffers into a file of the launch, where another probe will train them.

    A file and no copy: a rank may have no memory for one. None where nothing trains them; a path without a file
    where it could not be written.
    """
    spec = trainer.spec
    trains = spec.strategy != "single" or spec.alternation or spec.profile_steps
    if not is_wanted(spec) or not trains or trainer.place.rank:
        return None
    path = trainer.recorder.directory / "end-of-training.pt"
    try:
        with path.open("wb") as file:
            torch.save(trainer.plain.state_dict(), file)
            file.flush()
            os.fsync(file.fileno())  # the disk is to be idle when the next probe begins
    except StoppedError:
        raise
    except (OSError, RuntimeError):  # what is not there cannot be put back, and the probe says so
        with contextlib.suppress(OSError):
            path.unlink()
    return path


def probe_gradient_noise(trainer: Trainer, kept: Path | None) -> GradientNoise:
    """The rows of this launch; kept: from keep_parameters. What fails in it is told, and fails no launch.

    Raises StoppedError.
    """
    begin = time.monotonic()
    try:
        return _measure(trainer, kept, begin)
    except StoppedError:
        raise
    except Exception as error:  # whatever a user's network or device does: the launch itself has been measured
        what = (str(error).splitlines() or [""])[0]
        return GradientNoise(samples=_samples(trainer.spec), gradients=1, failed=f"{type(error).__name__}: {what}")
    finally:
        if kept:
            kept.unlink(missing_ok=True)


def _measure(trainer: Trainer, kept: Path | None, begin: float) -> GradientNoise:
    """Raises RuntimeError on all ranks where one of them cannot begin: in a collective it would be too late."""
    spec, place = trainer.spec, trainer.place
    parameters = [p for p in trainer.plain.parameters() if p.requires_grad]
    problem, sketch, sums = "", Sketch(parameters), torch.empty(0)
    try:
        if kept:
            trainer.plain.load_state_dict(torch.load(kept, map_location="cpu", weights_only=True))
        sums = torch.zeros(ROWS, sketch.size, device=place.device)
    except StoppedError:
        raise
    except Exception as error:  # of torch, of pickle, of the disk
        problem = first_line(error)
    if largest_over_ranks(trainer, float(bool(problem))):
        raise RuntimeError(problem or "another rank could not begin")
    devices = [place.device] if place.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        make = step_of_ranks(trainer) if spec.strategy == "ddp" else step_alone(trainer)
        modes = {module: module.training for module in trainer.plain.modules()}
        trainer.stepper.model.train()
        for module in trainer.plain.modules():
            if isinstance(module, _BatchNorm):
                module.eval()
        try:
            rows, steps, squares = _rows(trainer, make, sketch, sums)
        finally:
            for module, training in modes.items():
                module.training = training
            for parameter in parameters:
                parameter.grad = None
    gradients = steps * parts_of_step(spec) * place.world_size
    scale = trainer.stepper.update.loss_scale**2
    own = trainer.strategy.all_reduce_sum(squares[:rows]) / gradients / scale
    products = _products(sums[:rows] / steps) / scale
    found = [own.tolist(), products.tolist()]
    if not all(map(math.isfinite, [*found[0], *found[1]])):
        raise FloatingPointError("gradients are not finite")
    return GradientNoise(
        samples=_samples(spec),
        gradients=gradients,
        squares=found[0],
        products=found[1],
        seconds=time.monotonic() - begin,
    )


def _samples(spec: TrainSpec) -> int:
    """Of a gradient."""
    return spec.batch_per_rank // parts_of_step(spec)


def _rows(trainer: Trainer, make: Step, sketch: Sketch, sums: Tensor) -> tuple[int, int, Tensor]:
    """(rows, steps of each, sum of |g|^2 of this rank for each row); adds the gradients of each row to `sums`."""
    place = trainer.place
    squares = torch.zeros(ROWS, dtype=torch.float64, device=place.device)
    random = torch.Generator().manual_seed(trainer.spec.seed * 100_003 + 7919 * (place.rank + 1))

    def steps(count: int) -> Iterator[tuple[Tensor, Gradients]]:
        batches = announce(trainer, random, count)
        for parts in batches:
            trainer.stepper.steps += 1  # the watchdog counts them
            yield make(parts)

    times = []
    opened = steps(SETTLE_STEPS)
    for _ in range(SETTLE_STEPS):
        begin = time.perf_counter()
        square, gradients = next(opened)
        sketch.add(gradients, sums[0])
        square.item(), sums[0, 0].item()  # waits for the device
        times.append(time.perf_counter() - begin)
    sums.zero_()
    rows, of_row = rows_for(largest_over_ranks(trainer, min(times)))
    for index, (square, gradients) in enumerate(steps(rows * of_row)):
        row = index // of_row
        squares[row] += square
        sketch.add(gradients, sums[row])
    return rows, of_row, squares


def rows_for(step_s: float) -> tuple[int, int]:
    """(rows, steps of each) for steps of so many seconds."""
    rows = min(ROWS, max(FEWEST_ROWS, int(LIMIT_S / step_s)))
    return rows, min(MOST_STEPS, max(1, int(LIMIT_S / step_s / rows)))


def _products(rows: Tensor) -> Tensor:
    """Each row times the mean of all others, float64: (rows, size) -> (rows,)."""
    total = rows.sum(dim=0, dtype=torch.float64)
    return torch.stack([row.double() @ (total - row.double()) for row in rows]) / (len(rows) - 1)
