"""Hooks in torch. They do not change what torch does, and wait for no device.

Each wrapper calls the wrapped function with the same arguments and returns its result. An error of our own is
noted once and ends the recording; it never reaches the script. `here.rank` is the Rank (rank.py) of this process,
which a fork replaces. A step passes six hooks: loader, backward pass and update, each twice. These only note
events (journal.py); their code is written out in place, since each further function call costs time.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from .facts import has_gradients
from .journal import LATE_S
from .steps import CHECKPOINT, EVALUATION


def wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace an attribute by make(original), with the name and documentation of the original."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, "_scalestudy", False):
        return
    wrapper: Any = functools.wraps(original)(make(original))
    wrapper._scalestudy = True
    setattr(owner, name, wrapper)


def hook_torch(torch: Any, here: Any) -> None:
    """Install the hooks in torch. Called once, after torch is imported."""
    _optimizers(torch, here)
    _scalers(torch, here)
    _backward(torch, here)
    _loaders(torch, here)
    _evaluation_and_checkpoints(torch, here)
    _wrappers(torch, here)
    hook_groups(torch, here)


def _optimizers(torch: Any, here: Any) -> None:
    """Register torch's own hooks around Optimizer.step, for every optimizer."""
    from torch.optim import optimizer as module

    journal, note, thread, clock = here.journal, here.journal.events.extend, threading.get_ident, time.perf_counter

    def before(optimizer: Any, _arguments: Any, _named: Any) -> None:
        rank = here.rank
        number = id(optimizer)
        if clock() > journal.read_at:
            rank.read_if_due()
        if number not in rank.optimizers:
            rank.see(rank.meet, optimizer)
        try:
            if not has_gradients(optimizer):
                rank.without.add(number)  # a closure may still compute gradients
            note(("update_begins", journal.now(), (thread(), number)))
        except Exception:
            rank.broke()
        if journal.at_once:
            rank.read_if_due()

    def after(optimizer: Any, _arguments: Any, _named: Any) -> None:
        rank = here.rank
        try:
            if rank.without and id(optimizer) in rank.without and rank.still_without(optimizer):
                note(("update_failed", journal.now(), (id(optimizer),)))
                return
            rank.updates += 1
            note(("update_ends", journal.now(), (id(optimizer),)))
        except Exception:
            rank.broke()
        if journal.at_once:
            rank.updated()

    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def _scalers(torch: Any, here: Any) -> None:
    """Wrap GradScaler.step: the optimizers' own hooks do not see an update that is skipped for an overflow."""

    def around(step: Any) -> Any:
        def scaled(self: Any, optimizer: Any, *arguments: Any, **named: Any) -> Any:
            rank = here.rank
            rank.tell("update_begins", threading.get_ident(), id(optimizer))
            made = rank.updates
            try:
                found = step(self, optimizer, *arguments, **named)
            except BaseException:
                rank.tell("update_failed", id(optimizer))
                raise
            rank.tell("update_skipped" if rank.updates == made else "update_ends", id(optimizer))
            rank.updated()
            return found

        return scaled

    wrap(torch.amp.GradScaler, "step", around)


def _backward(torch: Any, here: Any) -> None:
    """Wrap torch.autograd.backward, which Tensor.backward calls."""
    journal, note, nothing = here.journal, here.journal.events.extend, ()

    def around(backward: Any) -> Any:
        def passed(*arguments: Any, **named: Any) -> Any:
            try:
                note(("backward_begins", journal.now(), nothing))
            except Exception:
                here.rank.broke()
            try:
                return backward(*arguments, **named)
            finally:
                try:
                    note(("backward_ends", journal.now(), nothing))
                except Exception:
                    here.rank.broke()

        return passed

    wrap(torch.autograd, "backward", around)


def _loaders(torch: Any, here: Any) -> None:
    """Wrap the iterators of DataLoader, which are used by everything that wraps a DataLoader."""
    from torch.utils.data import dataloader

    journal, note, thread, clock = here.journal, here.journal.events.extend, threading.get_ident, time.perf_counter

    def made(init: Any) -> Any:
        def initialise(self: Any, loader: Any, *arguments: Any, **named: Any) -> None:
            rank = here.rank
            rank.tell("loader_begins", id(loader.dataset))
            self._scalestudy_drawn = deque()  # numbers of indices of batches that are not fetched yet
            init(self, loader, *arguments, **named)
            self._scalestudy = id(loader.dataset)
            rank.see(rank.loader, loader)

        return initialise

    def restarted(reset: Any) -> Any:
        def begun(self: Any, *arguments: Any, **named: Any) -> None:
            self._scalestudy_drawn.clear()  # of an epoch that the script left early
            reset(self, *arguments, **named)

        return begun

    def drawing(following: Any) -> Any:
        def drawn(self: Any) -> Any:
            indices = following(self)
            self._scalestudy_drawn.append(len(indices) if self._auto_collation else 0)
            return indices

        return drawn

    def around(following: Any) -> Any:
        def fetched(self: Any) -> Any:
            rank = here.rank
            try:
                note(("fetch_begins", journal.now(), (thread(),)))
            except Exception:
                rank.broke()
            if journal.at_once or clock() > journal.read_at + LATE_S:
                rank.read_if_due()
            begin = clock()
            try:
                batch = following(self)
            except StopIteration:
                rank.tell("fetch_ends", thread(), self._scalestudy, None, clock() - begin)
                raise
            except BaseException:
                rank.tell("fetch_failed")
                if self._scalestudy_drawn:
                    self._scalestudy_drawn.popleft()
                raise
            waited = clock() - begin
            try:
                samples = rank.samples(self, batch)
                note(("fetch_ends", journal.now(), (thread(), self._scalestudy, samples, waited)))
            except Exception:
                rank.broke()
            return batch

        return fetched

    wrap(dataloader._BaseDataLoaderIter, "__init__", made)
    wrap(dataloader._BaseDataLoaderIter, "_reset", restarted)
    wrap(dataloader._BaseDataLoaderIter, "_next_index", drawing)
    wrap(dataloader._BaseDataLoaderIter, "__next__", around)


def _evaluation_and_checkpoints(torch: Any, here: Any) -> None:
    """Wrap Module.eval() and torch.save."""

    def evaluated(evaluate: Any) -> Any:
        def switched(self: Any) -> Any:
            rank = here.rank
            rank.tell("happens", EVALUATION)
            return evaluate(self)

        return switched

    def saved(save: Any) -> Any:
        def timed(*arguments: Any, **named: Any) -> Any:
            rank = here.rank
            rank.tell("happens", CHECKPOINT)
            begin = time.perf_counter()
            try:
                return save(*arguments, **named)
            finally:
                rank.tell("saved", time.perf_counter() - begin)

        return timed

    wrap(torch.nn.Module, "eval", evaluated)
    wrap(torch, "save", saved)


def _wrappers(torch: Any, here: Any) -> None:
    """Wrap DistributedDataParallel. For FSDP, begin.py calls hook_fsdp when it is imported."""

    def made(init: Any) -> Any:
        def initialise(self: Any, module: Any, *arguments: Any, **named: Any) -> None:
            rank = here.rank
            init(self, module, *arguments, **named)
            rank.see(rank.wrapped, weakref.ref(self), "ddp")

        return initialise

    wrap(torch.nn.parallel.DistributedDataParallel, "__init__", made)


def hook_fsdp(fsdp: Any, here: Any) -> None:
    """Wrap fully_shard and the class of FSDP1. Called once, after torch.distributed.fsdp is imported."""

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
    """Wrap the creation of the process group, to read the rank, and its end, before which a rank must report."""
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
