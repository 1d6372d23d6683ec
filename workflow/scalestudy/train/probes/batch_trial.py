"""Trial of larger batches: training continues from a checkpoint, and losses are compared at equal sample counts.

The branches use the same samples in the same order, with 1, 2 and 4 times the batch of the run. A larger batch
consists of more micro-batches, so it needs no more memory. Its learning rate is the rate at the checkpoint, raised
as in the advice to use a larger batch (study/config/optimizers.py), and is constant within a branch. The state of
the optimizer is kept. All this comes after everything that is timed.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from scalestudy.errors import first_line, with_type
from scalestudy.record.batch_trial import BatchTrial, Branch
from scalestudy.train.loop import StoppedError, Trainer, block_sizes
from scalestudy.train.optimizers import build_optimizer
from scalestudy.train.probes.rounds import largest_over_ranks
from scalestudy.train.step.branch_point import TIMES

POINTS = 8
"""Number of points at which the loss of a branch is measured, in addition to the checkpoint."""


def try_batches(trainer: Trainer) -> BatchTrial | None:
    """Return the branches of this run; None if it kept no checkpoint. A failure is recorded and not raised.

    Raises StoppedError.
    """
    point, begin = trainer.branch_point, time.monotonic()
    if point.at_samples is None:
        return None
    try:
        trainer.strategy.barrier()  # rank 0 has written it
        trainer.stepper.update.optimizer.state.clear()  # as large as a model, and no longer needed
        branches = tuple(_branch(trainer, times) for times in TIMES)
        return BatchTrial(at_samples=point.at_samples, branches=branches, seconds=time.monotonic() - begin)
    except StoppedError:
        raise
    except Exception as error:  # whatever a user's network or device raises: the training has been measured
        return BatchTrial(at_samples=point.at_samples, failed=with_type(error))
    finally:
        point.forget()


def _read(trainer: Trainer) -> dict[str, Any]:
    """Read the checkpoint on every rank. Raises RuntimeError on all ranks if one of them cannot read it.

    It is read again for each branch: an optimizer adopts the tensors of a loaded state, and changes them.
    """
    problem, state = "", {}
    try:
        state = torch.load(trainer.branch_point.path, map_location="cpu", weights_only=True)
    except StoppedError:
        raise
    except Exception as error:  # of torch, of pickle, of the disk
        problem = first_line(error)
    if largest_over_ranks(trainer, float(bool(problem))):
        raise RuntimeError(problem or "another rank could not read the checkpoint")
    return state


def _branch(trainer: Trainer, times: int) -> Branch:
    spec, made, state = trainer.spec, trainer.stepper.steps, _read(trainer)
    trainer.plain.load_state_dict(state["model"])
    trainer.seed_dropout()
    model = trainer.wrap_anew()
    optimizer = build_optimizer(spec.optimizer, model.parameters())
    optimizer.load_state_dict(state["optimizer"])
    for group in optimizer.param_groups:
        group["lr"] *= spec.optimizer.advised_scale(times)
    bare = {"log_every_steps": None, "checkpoint_every_steps": None}
    larger = spec.model_copy(update={"accumulation_steps": times * spec.accumulation_steps, **bare})
    trainer.stepper = trainer.make_stepper(larger, model, optimizer)
    trainer.stepper.steps = made  # the watchdog counts on
    batches = _batches(trainer, times)
    samples, losses = [0], [trainer.validate()[0]]
    remaining = iter(batches)
    for size in block_sizes(len(batches), math.ceil(len(batches) / POINTS)):
        model.train()
        trainer.stepper.run_block(list(itertools.islice(remaining, size)))
        samples.append(samples[-1] + size * times * spec.global_batch)
        losses.append(trainer.validate()[0])
        if not math.isfinite(losses[-1]):  # the mean over all ranks, so all ranks leave the loop
            losses[-1] = math.nan
            break
    return Branch(times=times, samples=tuple(samples), losses=tuple(losses))


def _batches(trainer: Trainer, times: int) -> list[Tensor]:
    """Return this rank's index batches for a branch, from the samples after those that were trained on."""
    batch = times * trainer.spec.global_batch
    share = replace(trainer.share, global_batch=batch)
    epochs = (share.batches(epoch) for epoch in itertools.count(trainer.spec.epochs + 1))
    steps = trainer.branch_point.samples // batch
    return trainer.announce(list(itertools.islice(itertools.chain.from_iterable(epochs), steps)))
