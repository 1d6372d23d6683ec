"""One rank from start to end: place it, train, and write its part of the observation whatever happens."""

import faulthandler
import math
import os
import platform
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import torch.distributed as dist

from scalestudy.errors import UserError, whole_with_type, with_type
from scalestudy.record.host.environment import host_environment
from scalestudy.record.host.load import MEASURED, measured_between
from scalestudy.record.observation import Outcome, RankReport
from scalestudy.record.probes_failed import probes_failed, say_failed
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.study.spec import TrainSpec
from scalestudy.study.traffic import bytes_sent
from scalestudy.train.flops import flops_per_sample
from scalestudy.train.gauges import Gauges
from scalestudy.train.loop import DivergedError, StoppedError, Trainer
from scalestudy.train.place.device_work import asks_stream
from scalestudy.train.place.memory_limit import is_out_of_memory, lift_limit, limit_memory
from scalestudy.train.place.nccl_log import log_transports
from scalestudy.train.place.own_device import refuse_shared_gpu
from scalestudy.train.place.placement import Placement, PlacementError, place_rank
from scalestudy.train.place.watchdog import Watchdog
from scalestudy.train.place.world import meet
from scalestudy.train.probes import run_probes
from scalestudy.train.probes.synchronisation import unused_parameter_bytes
from scalestudy.train.strategies import make_strategy
from scalestudy.train.strategies.base import group_timeout_s, lost_peer
from scalestudy.train.strategies.sync_batch_norm import synchronised_norms

LEAVING_S = 30
"""Most seconds that a rank waits for the destruction of its process group after it has written its report."""
_KEPT: list[Trainer] = []
"""Keeps the model of a rank until its process ends by `os._exit`. In torch 2.13, freeing a DDP model after its
gloo group was destroyed can block forever: the reducer's destructor holds Python's lock and joins a thread that
waits for that lock."""
_TRAINED: dict[str, int] = {}
"""Numbers of steps and blocks recorded when the probes began; empty before that."""
_TOLD: list[int] = []
"""Signals that came before the rank could report anything."""
OTHERS_S = 3.0
"""Seconds that a rank waits after it gave up: the others give up at about the same time and must still write."""


def run_rank(spec: TrainSpec, out: Path, *, data: Path | None = None, stall_limit_s: float = math.inf) -> Outcome:
    """Train one rank of a run and write its part into `out`. Returns the outcome, which is also in its report.

    data: directory of prepared data. stall_limit_s: seconds without progress after which the rank gives up.
    """
    signal.signal(signal.SIGTERM, _remember)
    environment = host_environment()  # before this rank is bound to some of the host's cores
    try:
        place = place_rank(spec.host)
    except PlacementError as error:
        print(f"rank could not be placed: {error}", file=sys.stderr, flush=True)
        (out / "refused.txt").write_text(f"{error}\n", encoding="utf-8")
        return "failed"
    if place.rank == 0:
        print(place.choice, flush=True)
        print(
            f"{place.world_size} rank(s), {place.threads} core(s) each,"
            f" {spec.batch_per_rank} samples per rank and step, {spec.precision}",
            flush=True,
        )
    recorder, gauges = RankRecorder(out, rank=place.rank), Gauges(place)
    facts: dict[str, Any] = {}

    writing = threading.Lock()

    def write(
        outcome: Outcome, reason: str, *, waited: bool, begun: int | None = None, stalled_s: float | None = None
    ) -> None:
        # Never released: the first report counts. A rank that gave up may lose its peers a moment later. Its main
        # thread would then overwrite the files, and the end of the process would truncate them.
        writing.acquire()
        if reason:
            print(f"rank {place.rank}: {outcome}: {reason}", file=sys.stderr, flush=True)
        report = RankReport(
            rank=place.rank,
            host=platform.node(),
            node=place.node,
            device=place.device_name,
            cores=place.cores,
            threads=place.threads,
            outcome=outcome,
            reason=reason,
            waited=waited,
            steps=recorder.steps,
            memory=gauges.memory(),
            begun=begun,
            stalled_s=stalled_s,
        )
        stopping = facts.pop("stopping", None)
        recorder.write(report, environment | place.environment() | facts, stopping)

    def give_up(where: str, waiting: bool, told: bool) -> None:
        """Report where the main thread is blocked, save what was measured, and end the process."""
        faulthandler.dump_traceback(all_threads=True)
        if _TRAINED and told:
            say_failed(out, f"rank {place.rank}: stopped by SIGTERM in {where}")
        if _TRAINED and probes_failed(out):  # on another rank, for which this one waits; or at the time limit
            recorder.forget_probes(**_TRAINED)
            write("ok", "", waited=False)
            os._exit(1)
        if told:  # another rank failed, or the time limit was reached
            write("timeout", f"stopped by SIGTERM in {where}", waited=waiting)
            os._exit(1)
        if own := _stopped_as_a_whole(place, watchdog):  # the ranks that waited for it have exited
            waiting = False
        else:
            limit = f"{stall_limit_s:g} s (stall_limit_s)"
            own = f"rank {place.rank} on {place.node} made no progress for {limit}; it was in {where}"
        reason = f"no answer for {stall_limit_s:g} s (stall_limit_s), in {where}" if waiting else own
        begun = watchdog.steps() if watchdog.busy else None
        write("failed", reason, waited=waiting, begun=begun, stalled_s=stall_limit_s)
        time.sleep(OTHERS_S)
        os._exit(1)

    watchdog = Watchdog(stall_limit_s, give_up)
    watchdog.start()
    try:
        outcome, reason, waited = _train(spec, place, recorder, gauges, facts, data, watchdog)
    except StoppedError as error:  # while another error was handled
        outcome, reason, waited = "timeout", str(error), False
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # even if another rank failed, this one first writes its part
    watchdog.stop()
    write(outcome, reason, waited=waited)
    if outcome == "ok" and not probes_failed(out):
        _take_leave()
    return outcome


def _take_leave() -> None:
    """Destroy the process group, after the report was written.

    NCCL can block here forever if another rank is in a kernel or has exited. SIGALRM then ends the process; it
    does not need a thread of ours. A rank that failed does not destroy its group.
    """
    for signum in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(signum, signal.SIG_DFL)
    signal.alarm(LEAVING_S)
    for trainer in _KEPT:
        trainer.strategy.close()
    signal.alarm(0)


def _train(
    spec: TrainSpec,
    place: Placement,
    recorder: RankRecorder,
    gauges: Gauges,
    facts: dict[str, Any],
    data: Path | None,
    watchdog: Watchdog,
) -> tuple[Outcome, str, bool]:
    """Train and probe. Returns (outcome, reason, whether it failed only because another rank was missing).

    Facts about the model and the measurement are added to `facts`.
    """
    try:
        signal.signal(signal.SIGTERM, _stop)
        if _TOLD:
            _stop(_TOLD[0], None)
        if place.world_size != spec.world_size:
            raise PlacementError(f"{place.world_size} ranks started; {spec.world_size} were planned")
        # Before the limit: the memory of what it loads does not belong to the training.
        watchdog.busy = asks_stream(place.device)
        refuse_shared_gpu(place, timeout_s=group_timeout_s(watchdog.limit_s))
        log_transports(place, recorder.directory)
        strategy = make_strategy(spec, place, stall_limit_s=watchdog.limit_s)
        limit_memory(spec.host.memory_limit_gib, place)
        meet(spec, place, recorder.directory)
        if place.rank == 0:  # the number is the same on all ranks
            facts["flops_per_sample"] = flops_per_sample(spec.model, spec.data)
        trainer = Trainer(spec, place, strategy, recorder, gauges, data=data)
        _KEPT.append(trainer)
        watchdog.steps = lambda: trainer.stepper.steps
        facts["data_sha256"] = trainer.split.checksums.get("train-inputs")
        facts["parameters"] = trainer.parameters
        facts["gradient_bytes"] = None if spec.strategy == "single" else trainer.gradient_bytes
        facts["bytes_sent_per_step"] = bytes_sent(
            spec, trainer.parameters, outside_blocks=strategy.outside_blocks(trainer.plain)
        )
        begin = time.monotonic()
        facts["stopping"] = trainer.train()
        ended = time.monotonic()
        facts["training_wall_time_s"] = ended - begin
        facts[MEASURED] = measured_between((begin, ended))
        gauges.end_training()
        facts["buffer_bytes"] = trainer.buffer_bytes
        facts["synchronised_norms"] = synchronised_norms(trainer.plain)
        facts["unused_parameter_bytes"] = unused_parameter_bytes(trainer)
        begin_probes = time.monotonic()
        _probe(trainer, facts)
        facts["probe_wall_time_s"] = time.monotonic() - begin_probes
        facts[MEASURED] = measured_between((begin, ended, time.monotonic()))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # all is measured
    except (UserError, PlacementError) as error:
        return "failed", str(error), False
    except DivergedError as error:
        return "diverged", str(error), False
    except StoppedError as error:
        return "timeout", str(error), False
    except Exception as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the reason comes first
        lift_limit()
        # A rank may fail in any way that user code can. The failure must be reported, with its traceback.
        traceback.print_exc()
        if is_out_of_memory(error):
            return "oom", _out_of_memory(spec, place, gauges), False
        why = whole_with_type(error) if isinstance(error, dist.DistError) else with_type(error)
        if trouble := gauges.trouble():  # first: NCCL's errors for a broken GPU look as if a peer were gone
            return "failed", f"rank {place.rank}: {why}; {trouble}", False
        if lost_peer(error) and (own := _stopped_as_a_whole(place, watchdog)):
            return "failed", own, False  # the other rank exited because it waited for this one
        return "failed", f"rank {place.rank}: {why}", lost_peer(error)
    return "ok", "", False


def _probe(trainer: Trainer, facts: dict[str, Any]) -> None:
    """Run the probes. If they fail or are stopped, the run is still valid: the training was measured before.

    Raises the error if this rank lost a peer and no rank's probes failed: then the peer failed elsewhere.
    """
    recorder, place = trainer.recorder, trainer.place
    _TRAINED.update(steps=recorder.steps, blocks=recorder.blocks)
    try:
        facts |= run_probes(trainer)
    except Exception as error:  # whatever a device or a user's network raises in the probes
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        lift_limit()
        if isinstance(error, StoppedError):
            say_failed(recorder.directory, f"rank {place.rank}: {error}")
        elif not lost_peer(error):
            traceback.print_exc()
            why = "out of memory" if is_out_of_memory(error) else with_type(error)
            say_failed(recorder.directory, f"rank {place.rank}: {why}")
        if not probes_failed(recorder.directory):
            raise
        recorder.forget_probes(**_TRAINED)


def _stopped_as_a_whole(place: Placement, watchdog: Watchdog) -> str:
    """Return the reason if the whole process of this rank was stopped for a while; else ''."""
    if not (stopped_s := watchdog.stopped_s):
        return ""
    return (
        f"rank {place.rank} on {place.node}: its process was stopped for {stopped_s:.0f} s;"
        " the others waited for it"
    )


def _out_of_memory(spec: TrainSpec, place: Placement, gauges: Gauges) -> str:
    """Return the reason of a rank that ran out of memory: rank, batch, and peak memory."""
    memory, limit = gauges.memory(), spec.host.memory_limit_gib
    kind, peak = "resident", memory.peak_resident_gib
    if memory.peak_allocated_gib is not None:
        kind, peak = "allocated", memory.peak_allocated_gib
    return (
        f"rank {place.rank}: out of memory with {spec.micro_batch} samples per pass; peak {kind} {peak:.2f} GiB"
        + (f" of {limit:g} GiB" if limit else "")
    )


def _remember(signum: int, _frame: object) -> None:
    _TOLD.append(signum)


def _stop(signum: int, _frame: object) -> None:
    signal.signal(signum, signal.SIG_IGN)  # only once: the rank must still write its part
    raise StoppedError(f"stopped by {signal.Signals(signum).name}")
