"""The places of torch that are looked at. Nothing is changed in what they do, and no device is waited for.

Each wrapper calls what it wraps with the same arguments and hands back what it returns. An error of our own is
noted once and ends the looking; it never reaches the script. `here.rank` is the Rank (rank.py) of this process,
which a fork replaces. A step passes six of these places, so each of them makes one call.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable
from typing import Any

from .steps import CHECKPOINT, EVALUATION


def wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put make(original) in the place of an attribute, with the name and documentation of the original."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "_scalestudy", False):
        return
    wrapper: Any = functools.wraps(original)(make(original))
    wrapper._scalestudy = True
    setattr(owner, name, wrapper)


def hook_torch(torch: Any, here: Any) -> None:
    """Called once, as soon as torch was imported."""
    _optimizers(torch, here)
    _scalers(torch, here)
    _backward(torch, here)
    _loaders(torch, here)
    _evaluation_and_checkpoints(torch, here)
    _wrappers(torch, here)
    hook_groups(torch, here)


def _optimizers(torch: Any, here: Any) -> None:
    """torch's own hooks around Optimizer.step, of every optimizer there is."""
    from torch.optim import optimizer as module

    def before(optimizer: Any, _arguments: Any, _named: Any) -> None:
        rank = here.rank
        rank.see(rank.before_update, optimizer)

    def after(optimizer: Any, _arguments: Any, _named: Any) -> None:
        rank = here.rank
        rank.see(rank.after_update, optimizer)

    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def _scalers(torch: Any, here: Any) -> None:
    """An update that is left out for an overflow is one that the optimizer's own hooks do not see."""

    def around(step: Any) -> Any:
        def scaled(self: Any, optimizer: Any, *arguments: Any, **named: Any) -> Any:
            rank = here.rank
            rank.see(rank.steps.update_begins, id(optimizer))
            made = rank.updates
            try:
                found = step(self, optimizer, *arguments, **named)
            except BaseException:
                rank.see(rank.steps.update_failed, id(optimizer))
                raise
            rank.see(rank.steps.update_ends, id(optimizer), skipped=rank.updates == made)
            rank.see(rank.updated)
            return found

        return scaled

    wrap(torch.amp.GradScaler, "step", around)


def _backward(torch: Any, here: Any) -> None:
    """What Tensor.backward calls."""

    def around(backward: Any) -> Any:
        def passed(*arguments: Any, **named: Any) -> Any:
            rank = here.rank
            rank.see(rank.steps.backward_begins)
            try:
                return backward(*arguments, **named)
            finally:
                rank.see(rank.steps.backward_ends)

        return passed

    wrap(torch.autograd, "backward", around)


def _loaders(torch: Any, here: Any) -> None:
    """The iterators of DataLoader, whatever is wrapped around them."""
    from torch.utils.data import dataloader

    def made(init: Any) -> Any:
        def initialise(self: Any, loader: Any, *arguments: Any, **named: Any) -> None:
            rank = here.rank
            rank.see(rank.steps.loader_begins, id(loader.dataset))
            init(self, loader, *arguments, **named)
            self._scalestudy = id(loader.dataset)
            rank.see(rank.loader, loader)

        return initialise

    def around(following: Any) -> Any:
        def fetched(self: Any) -> Any:
            rank = here.rank
            rank.see(rank.steps.fetch_begins)
            try:
                batch = following(self)
            except StopIteration:
                rank.see(rank.steps.fetch_ends, self._scalestudy, None)
                raise
            except BaseException:
                rank.see(rank.steps.fetch_failed)
                raise
            rank.see(rank.fetched, self._scalestudy, batch)
            return batch

        return fetched

    wrap(dataloader._BaseDataLoaderIter, "__init__", made)
    wrap(dataloader._BaseDataLoaderIter, "__next__", around)


def _evaluation_and_checkpoints(torch: Any, here: Any) -> None:
    """Module.eval(), and torch.save."""

    def evaluated(evaluate: Any) -> Any:
        def switched(self: Any) -> Any:
            rank = here.rank
            rank.see(rank.steps.happens, EVALUATION)
            return evaluate(self)

        return switched

    def saved(save: Any) -> Any:
        def timed(*arguments: Any, **named: Any) -> Any:
            rank = here.rank
            rank.see(rank.steps.happens, CHECKPOINT)
            begin = time.perf_counter()
            try:
                return save(*arguments, **named)
            finally:
                rank.see(rank.steps.saved, time.perf_counter() - begin)

        return timed

    wrap(torch.nn.Module, "eval", evaluated)
    wrap(torch, "save", saved)


def _wrappers(torch: Any, here: Any) -> None:
    """DistributedDataParallel, and FSDP where it is imported (begin.py calls hook_fsdp then)."""

    def made(init: Any) -> Any:
        def initialise(self: Any, module: Any, *arguments: Any, **named: Any) -> None:
            rank = here.rank
            init(self, module, *arguments, **named)
            rank.see(rank.wrapped, weakref.ref(self), "ddp")

        return initialise

    wrap(torch.nn.parallel.DistributedDataParallel, "__init__", made)


def hook_fsdp(fsdp: Any, here: Any) -> None:
    """fully_shard, and the class of FSDP1. Called once, when torch.distributed.fsdp was imported."""

    def sharding(shard: Any) -> Any:
        def sharded(module: Any, *arguments: Any, **named: Any) -> Any:
            rank = here.rank
            found = shard(module, *arguments, **named)
            rank.see(rank.wrapped, weakref.ref(module), "fsdp")
            return found

        return sharded

    def made(init: Any) -> Any:
        def initialise(self: Any, module: Any, *arguments: Any, **named: Any) -> None:
            rank = here.rank
            init(self, module, *arguments, **named)
            rank.see(rank.wrapped, weakref.ref(self), "fsdp")

        return initialise

    wrap(fsdp, "fully_shard", sharding)
    if getattr(fsdp, "FullyShardedDataParallel", None) is not None:
        wrap(fsdp.FullyShardedDataParallel, "__init__", made)


def hook_groups(torch: Any, here: Any) -> None:
    """The process group of the script: who we are in it, and its end, before which a rank has to have reported."""
    distributed = torch.distributed
    if not distributed.is_available():
        return

    def made(init: Any) -> Any:
        def initialise(*arguments: Any, **named: Any) -> Any:
            rank = here.rank
            found = init(*arguments, **named)
            rank.see(rank.joined)
            return found

        return initialise

    def ended(destroy: Any) -> Any:
        def destroyed(*arguments: Any, **named: Any) -> Any:
            rank = here.rank
            rank.see(rank.write)
            return destroy(*arguments, **named)

        return destroyed

    for module in (distributed, distributed.distributed_c10d):
        wrap(module, "init_process_group", made)
        wrap(module, "destroy_process_group", ended)
