"""One process of a run, as the hooks see it: its rank, its steps, what it trains, and its end."""

from __future__ import annotations

import os
import platform
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from .batches import Samples, fingerprint
from .clock import DeviceClock, HostClock
from .ending import Ending
from .facts import at_the_end, bucket_bytes, has_gradients, of_first_step, of_loader, of_model, place_of, tried
from .failure import told_of
from .journal import LATE_S, Journal
from .portions import pin
from .probes import Probes, block_steps, phases_of, time_collectives
from .report import Report
from .row import Row
from .steps import Steps

FINGERPRINTS = 3
"""Number of a rank's first batches that are compared with those of other ranks."""
MESSAGES = [2**20, 25 * 2**20]
"""Sizes in bytes at which collectives are timed without DDP, whose buckets give the sizes. Same on all ranks."""


class Rank:
    """This process. asked: settings from the launcher (launch/foreign)."""

    def __init__(self, folder: str, asked: dict[str, Any], torch: Any, *, direct: bool, journal: Journal) -> None:
        self.torch = torch
        self.asked = asked
        self.journal = journal
        self.direct = direct
        """Whether the launcher itself started this process, which then reports even without a step."""
        self.steps = Steps(self._ended)
        self.report = Report(folder)
        self.ending = Ending(folder, several_nodes=asked["nodes"] > 1)
        self.ending.comes, self.ending.is_current = journal.read_at_once, lambda: journal.is_current
        self.ending.step_time_s = lambda: self.report.step_time_s
        self.ending.alike = lambda: self.steps.alike
        self.fingerprints: list[list[float]] = []
        self.updates = 0
        """Number of steps of optimizers."""
        self.rank, self.world_size = place_of(os.environ)
        self.group = False
        self.optimizers: set[int] = set()
        self._parameters: set[int] = set()
        self._loaders: dict[int, dict[str, Any]] = {}
        self._samples = Samples(torch)
        self.without: set[int] = set()
        """Optimizers whose current step began without gradients."""
        self._blind = False
        """Whether recording has ended."""
        self._reading = False
        self._reading_s = 0.0
        """Time for reading the journal in the current step."""
        self._over = False
        self._wrapped: list[Any] = []
        self._probes: Probes | None = None
        self.ending.probe_steps, self.ending.announced = self._probe_steps, self._announced
        self.report.facts.update(
            host=platform.node(),
            python=platform.python_version(),
            torch=str(torch.__version__),
            direct=direct,
            parameters=0,
            gradient_bytes=0,
            flattened=False,  # whether a parameter is the share that a rank has of FSDP1's flat parameters
            strategies=[],
        )

    @property
    def fetching(self) -> bool:
        """Whether a batch is being fetched now."""
        last = self.journal.last
        return last == "fetch_begins" if last else self.steps.fetching

    def see(self, act: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Run our own code within the script. An error of it never reaches the script."""
        if self._blind:
            return
        try:
            act(*arguments, **named)
        except Exception:  # which Enough is not
            self.broke()

    def broke(self) -> None:
        """Note an error of our own, and end the recording."""
        self._blind = True
        self.report.facts["broken"] = traceback.format_exc()

    def tell(self, what: str, *arguments: Any) -> None:
        """Note an event where speed does not matter. what: a method of Steps."""
        try:
            self.journal.events.extend((what, self.journal.now(), arguments))
        except Exception:
            self.broke()
        if self.journal.at_once or time.perf_counter() > self.journal.read_at + LATE_S:
            self.read_if_due()

    def read_if_due(self) -> None:
        """Read the journal if it is due. Raises Enough after the last requested step."""
        if time.perf_counter() > self.journal.read_at:
            if self._blind:
                self.journal.take()  # events are dropped
            self.see(self.read)

    def read(self, *, at_the_end: bool = False) -> None:
        """Convert the journal's events to steps. Only the training thread does this, except at the end."""
        if self._reading or not (at_the_end or self.steps.thread in (0, threading.get_ident())):
            return
        self._reading = True
        begin = time.perf_counter()
        try:
            for what, mark, arguments in self.journal.take():
                getattr(self.steps, what)(mark, *arguments)
        finally:
            self._reading = False
        if isinstance(self.steps.clock, HostClock):  # a device continues meanwhile
            self._reading_s += time.perf_counter() - begin

    def still_without(self, optimizer: Any) -> bool:
        """Whether an optimizer that has stepped still has no gradients, so that it has updated nothing."""
        self.without.discard(id(optimizer))
        return not has_gradients(optimizer)

    def updated(self) -> None:
        """After an update, which may be the last of a step. Raises Enough as `read_if_due` does."""
        self.read_if_due()
        if self._probes is not None and not self.steps.busy:
            self.see(self._probes.step_ends, self.report.steps + 1)
        at_once, step = self.journal.at_once, self.report.steps + 1
        if at_once and self.steps.is_complete and self.ending.is_last(step, at_update=True):
            self.see(self.steps.finish)

    def samples(self, iterator: Any, batch: Any) -> int:
        """Training samples of the batch that an iterator of a DataLoader returned."""
        if len(self.fingerprints) < FINGERPRINTS:
            self.fingerprints.append(fingerprint(batch, self.torch))
        return self._samples.of(iterator, batch)

    def meet(self, optimizer: Any) -> None:
        """Note what a new optimizer updates."""
        self.optimizers.add(id(optimizer))
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) not in self._parameters:
                    self._parameters.add(id(parameter))
                    self.report.facts["parameters"] += parameter.numel()
                    self.report.facts["gradient_bytes"] += parameter.numel() * parameter.element_size()
                    self.report.facts.setdefault("device", parameter.device.type)
                    self.report.facts["flattened"] |= getattr(parameter, "_fsdp_flattened", False)
        if self.report.facts.get("device") == "cuda" and isinstance(self.steps.clock, HostClock):
            self.read()  # events with times of the host
            self.steps.use_clock(DeviceClock(self.torch))  # the script's device is known only now
            self.journal.now = self.steps.clock.now
            self.report.allocated = self.torch.cuda.memory_allocated
        self.report.facts.setdefault("optimizers", []).append(type(optimizer).__name__)

    def loader(self, loader: Any) -> None:
        """Note the options of a DataLoader that creates an iterator."""
        self._loaders[id(loader.dataset)] = tried(of_loader, loader)

    def wrapped(self, module: Any, strategy: str) -> None:
        """Note a model that was wrapped. module: a weak reference to it."""
        facts = self.report.facts
        self._wrapped.append((strategy, module))
        if strategy not in facts["strategies"]:
            facts["strategies"].append(strategy)
        facts.update(tried(of_model, module(), strategy, self.torch))

    def joined(self) -> None:
        """Note the process group of the script."""
        distributed = self.torch.distributed
        self.rank, self.world_size = distributed.get_rank(), distributed.get_world_size()
        self.group = True
        self.report.facts["backend"] = str(distributed.get_backend())
        if self.asked["pin"] and self.asked["starts_ranks"] and self.asked["ranks"] > 1:
            pin(self.rank % self.asked["devices_per_node"])
        self.ending.listen(self.rank, self.world_size, lambda: self.report.steps)

    def _probe_steps(self, step_time_s: float) -> int:
        """Steps per block of probes; 0 where the script's steps cannot be made without communication."""
        asked = self.asked["probe_rounds"] and len(self.optimizers) == 1 and self.steps.backward_passes == 1
        return block_steps(self.asked["probe_steps"], step_time_s) if asked and self._ddp is not None else 0

    @property
    def _ddp(self) -> Any:
        """The only wrapped model, if it is a DistributedDataParallel; else None."""
        strategy, module = self._wrapped[0] if len(self._wrapped) == 1 else ("", lambda: None)
        return module() if strategy == "ddp" else None

    def _announced(self, last: int, steps: int) -> int:
        """Schedule the probes after the script's own last step. Returns the last step including the probes."""
        ddp = self._ddp if steps else None
        if ddp is None:
            return last
        phases = phases_of(self.asked["probe_rounds"], steps, self.asked["seed"])
        probes = Probes(ddp)
        probes.schedule(last + 1, phases)
        self._probes = probes
        return last + len(phases)

    def _time_collectives(self) -> None:
        """Time the collectives, after the last step, which is the same on all ranks."""
        if self.asked["probe_rounds"] and self.group and self.world_size > 1:
            ddp, sizes, buffers = self._ddp, MESSAGES, 0
            if ddp is not None:
                sizes = bucket_bytes(ddp)
                buffers = self.report.facts.get("buffer_bytes", 0) if ddp.broadcast_buffers else 0
            time_collectives(self.torch, self.report.path("collectives"), sizes, broadcast_bytes=buffers)

    def _ended(self, row: Row) -> None:
        """Handle the end of a step. Raises Enough after the last requested step."""
        first = self.report.steps == 0
        probes = self._probes
        row.reading_s, self._reading_s = self._reading_s, 0.0
        self.report.add(
            row,
            self.steps,
            phase=probes.phase_of(self.report.steps + 1) if probes else "",
            logged=probes.logged if probes else (),
        )
        if first:
            self.journal.at_once = False
            if not self.group:
                self.ending.listen(self.rank, self.world_size, lambda: self.report.steps)
            passes = self.steps.backward_passes
            self.report.facts.update(tried(of_first_step, self._ddp, passes, passes + self.steps.open_passes))
            self.write(final=False)
        if self._over:
            return  # the process is ending: there is nothing left to end
        if self.ending.is_last(self.report.steps):
            self.write(enough=True)
            self.see(self._time_collectives)
            self.ending.leave()

    def failed(self, error: BaseException) -> None:
        """Note the error that ends the script, even if recording has ended.

        A signal handler may raise an exception meanwhile, as torch's does when a loader worker was killed.
        """
        for _ in range(2):
            try:
                self.report.facts.update(told_of(error))
                return
            except Exception:
                self.report.facts["broken"] = traceback.format_exc()

    def write(self, *, final: bool = True, enough: bool = False) -> None:
        """Write the current report. final: the script may not call our hooks again."""
        if final:
            self.see(self.read, at_the_end=True)
            self.steps.clock.settle()
            self.steps.finish()
            self.report.facts.update(tried(at_the_end, self._ddp))
        if not (self.direct or self.report.steps or self.group):
            return
        self.report.flush(self.steps)
        cuda = self.torch.cuda
        memory: dict[str, Any] = {"peak_resident_gib": self.report.peak_resident_gib}
        memory["mean_resident_gib"] = self.report.mean_resident_gib
        if cuda.is_available() and cuda.is_initialized():
            self.report.facts["device_name"] = cuda.get_device_name()
            memory["peak_allocated_gib"] = cuda.max_memory_allocated() / 2**30
            memory["peak_reserved_gib"] = cuda.max_memory_reserved() / 2**30
            memory["allocation_retries"] = cuda.memory_stats().get("num_alloc_retries", 0)
        self.report.facts["loaders"] = self._loaders
        self.report.write(
            self.steps,
            rank=self.rank,
            world_size=self.world_size,
            threads=self.torch.get_num_threads(),
            cores=sorted(os.sched_getaffinity(0)),
            memory=memory,
            fingerprints=self.fingerprints,
            final=final,
            ended_at=time.time(),
            enough=enough or self.report.facts.get("enough", False),
        )

    def close(self) -> None:
        """The process is about to end."""
        if not self._over:
            self._over, self._blind = True, False
            self.report.facts["closed"] = True
            self.see(self.write)
            self._blind = True
