"""The scatter of the gradients of batches, at the final parameters of the training.

For a gradient g of b samples, |g|^2 has the expectation |G|^2 + tr(Sigma) / b, where G is the gradient of the mean
loss and Sigma the covariance of the gradients of single samples. The product of two gradients of different batches
has the expectation |G|^2. With DDP, g is the gradient of a rank, which a communication hook reads before the
all-reduce; in a single process, of a part of the batch; with accumulation, of a micro-batch. Squares and products
are recorded for rows, which are groups of steps; the analysis computes the noise scale from them. Sources:
McCandlish et al. (2018), An Empirical Model of Large-Batch Training, arXiv:1812.06162, appendix A.1; Qiao et al.
(2021), Pollux, OSDI.

The probe changes no parameter, so all rows belong to one network. It comes after everything that is timed: the
parameters are saved when the training ends, and restored for the probe. Batches are drawn with replacement, so
that rows are independent. Batch normalisation uses its running statistics: with the statistics of the batch, the
gradient of a sample would depend on the other samples.
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
"""Seconds for all rows. If steps are long, FEWEST_ROWS rows are measured even if this takes longer."""
ROWS, FEWEST_ROWS = 32, 8
MOST_STEPS = 16
"""Most steps of a row."""
SETTLE_STEPS = 2
"""Steps before the rows. DDP rebuilds its buckets after the first; the faster one gives the length of a step."""


def is_wanted(spec: TrainSpec) -> bool:
    """Return whether a run measures this: the first run of each point, since it takes as long as all other probes.

    FSDP runs do not: a rank never has its own complete gradient.
    """
    return spec.repeat == 1 and spec.measure.probe_rounds > 0 and spec.strategy != "fsdp"


def keep_parameters(trainer: Trainer) -> Path | None:
    """Save parameters and buffers to a file of the run, on rank 0, if a probe before this one trains them.

    A file is used since a rank may have no memory for a copy. Returns its path; None if no probe trains them. The
    file does not exist if it could not be written.
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
            os.fsync(file.fileno())  # the disk must be idle when the next probe begins
    except StoppedError:
        raise
    except (OSError, RuntimeError):  # the probe will report that it cannot restore the parameters
        with contextlib.suppress(OSError):
            path.unlink()
    return path


def probe_gradient_noise(trainer: Trainer, kept: Path | None) -> GradientNoise:
    """Return the rows of this run. kept: from keep_parameters. A failure is recorded and not raised.

    Raises StoppedError.
    """
    begin = time.monotonic()
    try:
        return _measure(trainer, kept, begin)
    except StoppedError:
        raise
    except Exception as error:  # whatever a user's network or device raises: the training has been measured
        what = (str(error).splitlines() or [""])[0]
        return GradientNoise(samples=_samples(trainer.spec), gradients=1, failed=f"{type(error).__name__}: {what}")
    finally:
        if kept:
            kept.unlink(missing_ok=True)


def _measure(trainer: Trainer, kept: Path | None, begin: float) -> GradientNoise:
    """Measure the rows.

    Raises RuntimeError on all ranks if one of them cannot begin, before any rank is in a collective.
    """
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
    """Return the number of samples of a gradient."""
    return spec.batch_per_rank // parts_of_step(spec)


def _rows(trainer: Trainer, make: Step, sketch: Sketch, sums: Tensor) -> tuple[int, int, Tensor]:
    """Return (rows, steps per row, sum of |g|^2 of this rank per row); add the gradients of each row to `sums`."""
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
    """Return (rows, steps per row) for steps of `step_s` seconds."""
    rows = min(ROWS, max(FEWEST_ROWS, int(LIMIT_S / step_s)))
    return rows, min(MOST_STEPS, max(1, int(LIMIT_S / step_s / rows)))


def _products(rows: Tensor) -> Tensor:
    """Return the product of each row and the mean of all others, float64: (rows, size) -> (rows,)."""
    total = rows.sum(dim=0, dtype=torch.float64)
    return torch.stack([row.double() @ (total - row.double()) for row in rows]) / (len(rows) - 1)
