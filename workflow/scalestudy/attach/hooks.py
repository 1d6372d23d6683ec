"""The places of torch that are looked at. Nothing is changed in what they do, and no device is waited for.

Each wrapper calls what it wraps with the same arguments and hands back what it returns. An error of our own is
noted once and ends the looking; it never reaches the script. `rank` is a Rank (rank.py), or what stands for the
one of this process.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable
from typing import Any

from .batches import fingerprint
from .steps import CHECKPOINT, EVALUATION

FINGERPRINTS = 3
"""First batches of a rank by which it is seen whether another reads the same."""


def wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put make(original) in the place of an attribute, with the name and documentation of the original."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "_scalestudy", False):
        return
    wrapper: Any = functools.wraps(original)(make(original))
    wrapper._scalestudy = True
    setattr(owner, name, wrapper)


def hook_torch(torch: Any, rank: Any) -> None:
    """Called once, as soon as torch was imported."""
    _optimizers(torch, rank)
    _scalers(torch, rank)
    _backward(torch, rank)
    _loaders(torch, rank)
    _evaluation_and_checkpoints(torch, rank)
    _wrappers(torch, rank)
    hook_groups(torch, rank)


def _optimizers(torch: Any, rank: Any) -> None:
    """torch's own hooks around Optimizer.step, of every optimizer there is."""
    from torch.optim import optimizer as module

    without: set[int] = set()

    def before(optimizer: Any, _arguments: Any, _named: Any) -> None:
        rank.see(lambda: rank.optimizer(optimizer))
        if not has_gradients(optimizer):
            without.add(id(optimizer))  # a closure may make them
        rank.see(lambda: rank.steps.update_begins(id(optimizer)))

    def after(optimizer: Any, _arguments: Any, _named: Any) -> None:
        lacked = id(optimizer) in without
        without.discard(id(optimizer))
        if lacked and not has_gradients(optimizer):
            rank.see(lambda: rank.steps.update_failed(id(optimizer)))
            return
        rank.see(lambda: rank.updates_made(1))
        rank.see(lambda: rank.steps.update_ends(id(optimizer)))
        rank.see(rank.updated)

    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def has_gradients(optimizer: Any) -> bool:
    """Whether any parameter has a gradient: without one, an optimizer's step updates nothing."""
    return any(parameter.grad is not None for group in optimizer.param_groups for parameter in group["params"])


def _scalers(torch: Any, rank: Any) -> None:
    """An update that is left out for an overflow is one that the optimizer's own hooks do not see."""

    def around(step: Any) -> Any:
        def scaled(self: Any, optimizer: Any, *arguments: Any, **named: Any) -> Any:
            rank.see(lambda: rank.steps.update_begins(id(optimizer)))
            made = rank.updates
            try:
                found = step(self, optimizer, *arguments, **named)
            except BaseException:
                rank.see(lambda: rank.steps.update_failed(id(optimizer)))
                raise
            rank.see(lambda: rank.steps.update_ends(id(optimizer), skipped=rank.updates == made))
            rank.see(rank.updated)
            return found

        return scaled

    wrap(torch.amp.GradScaler, "step", around)


def _backward(torch: Any, rank: Any) -> None:
    """What Tensor.backward calls."""

    def around(backward: Any) -> Any:
        def passed(*arguments: Any, **named: Any) -> Any:
            rank.see(rank.steps.backward_begins)
            try:
                return backward(*arguments, **named)
            finally:
                rank.see(rank.steps.backward_ends)

        return passed

    wrap(torch.autograd, "backward", around)


def _loaders(torch: Any, rank: Any) -> None:
    """The iterators of DataLoader, whatever is wrapped around them."""
    from torch.utils.data import dataloader

    def made(init: Any) -> Any:
        def initialise(self: Any, loader: Any, *arguments: Any, **named: Any) -> None:
            rank.see(lambda: rank.steps.loader_begins(id(loader.dataset)))
            init(self, loader, *arguments, **named)
            self._scalestudy = id(loader.dataset)
            rank.see(lambda: rank.loader(loader))

        return initialise

    def around(following: Any) -> Any:
        def fetched(self: Any) -> Any:
            rank.see(rank.steps.fetch_begins)
            try:
                batch = following(self)
            except StopIteration:
                rank.see(lambda: rank.steps.fetch_ends(self._scalestudy, None))
                raise
            except BaseException:
                rank.see(rank.steps.fetch_failed)
                raise
            rank.see(lambda: rank.steps.fetch_ends(self._scalestudy, rank.samples(self._scalestudy, batch)))
            if len(rank.fingerprints) < FINGERPRINTS:
                rank.see(lambda: rank.fingerprints.append(fingerprint(batch, torch)))
            return batch

        return fetched

    wrap(dataloader._BaseDataLoaderIter, "__init__", made)
    wrap(dataloader._BaseDataLoaderIter, "__next__", around)


def _evaluation_and_checkpoints(torch: Any, rank: Any) -> None:
    """Module.eval(), and torch.save."""

    def evaluated(evaluate: Any) -> Any:
        def switched(self: Any) -> Any:
            rank.see(lambda: rank.steps.happens(EVALUATION))
            return evaluate(self)

        return switched

    def saved(save: Any) -> Any:
        def timed(*arguments: Any, **named: Any) -> Any:
            rank.see(lambda: rank.steps.happens(CHECKPOINT))
            begin = time.perf_counter()
            try:
                return save(*arguments, **named)
            finally:
                rank.see(lambda: rank.steps.saved(time.perf_counter() - begin))

        return timed

    wrap(torch.nn.Module, "eval", evaluated)
    wrap(torch, "save", saved)


def _wrappers(torch: Any, rank: Any) -> None:
    """DistributedDataParallel, and FSDP where it is imported (begin.py calls hook_fsdp then)."""

    def made(init: Any) -> Any:
        def initialise(self: Any, module: Any, *arguments: Any, **named: Any) -> None:
            init(self, module, *arguments, **named)
            rank.see(lambda: rank.wrapped(weakref.ref(self), "ddp"))

        return initialise

    wrap(torch.nn.parallel.DistributedDataParallel, "__init__", made)


def hook_fsdp(fsdp: Any, rank: Any) -> None:
    """fully_shard, and the class of FSDP1. Called once, when torch.distributed.fsdp was imported."""

    def sharding(shard: Any) -> Any:
        def sharded(module: Any, *arguments: Any, **named: Any) -> Any:
            found = shard(module, *arguments, **named)
            rank.see(lambda: rank.wrapped(weakref.ref(module), "fsdp"))
            return found

        return sharded

    def made(init: Any) -> Any:
        def initialise(self: Any, module: Any, *arguments: Any, **named: Any) -> None:
            init(self, module, *arguments, **named)
            rank.see(lambda: rank.wrapped(weakref.ref(self), "fsdp"))

        return initialise

    wrap(fsdp, "fully_shard", sharding)
    if getattr(fsdp, "FullyShardedDataParallel", None) is not None:
        wrap(fsdp.FullyShardedDataParallel, "__init__", made)


def hook_groups(torch: Any, rank: Any) -> None:
    """The process group of the script: who we are in it, and its end, before which a rank has to have reported."""
    distributed = torch.distributed
    if not distributed.is_available():
        return

    def made(init: Any) -> Any:
        def initialise(*arguments: Any, **named: Any) -> Any:
            found = init(*arguments, **named)
            rank.see(rank.joined)
            return found

        return initialise

    def ended(destroy: Any) -> Any:
        def destroyed(*arguments: Any, **named: Any) -> Any:
            rank.see(rank.write)
            return destroy(*arguments, **named)

        return destroyed

    for module in (distributed, distributed.distributed_c10d):
        wrap(module, "init_process_group", made)
        wrap(module, "destroy_process_group", ended)
