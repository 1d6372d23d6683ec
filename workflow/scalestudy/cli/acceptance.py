"""The stages of an acceptance: runs tiny trainings and passes their records to the checks."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from scalestudy import __version__
from scalestudy.accept import checks, links, nccl_tests
from scalestudy.accept.disturbed import marks_of, marks_of_load
from scalestudy.accept.model import (
    CANNOT_TELL,
    NAMES,
    AcceptanceFile,
    Check,
    Impossible,
    Stage,
    Word,
    check,
    unproven,
)
from scalestudy.accept.options import OPTIONS, cost_s, refusals, words_of
from scalestudy.accept.page import FILE, page_text
from scalestudy.accept.pairs import Covering, cover
from scalestudy.accept.studies import BLOCK, FAULT_LIMITS, LIMITS, STALL_S, Launches
from scalestudy.launch.beside.own import OwnProcesses
from scalestudy.launch.beside.watch import Watch, reading
from scalestudy.launch.family import end_with_parent
from scalestudy.launch.guards.host import look
from scalestudy.launch.guards.moment import better_moment_s, look_when_quiet
from scalestudy.launch.place import set_aside
from scalestudy.launch.process import raise_on_signals
from scalestudy.launch.run import measure_run
from scalestudy.launch.starters import host_lock
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.record.host.environment import hardware_facts, host_environment
from scalestudy.record.lock import exclusive
from scalestudy.record.say import say
from scalestudy.record.tables import Observation, read_observation
from scalestudy.registry.results import DATA
from scalestudy.study.limits import Limits
from scalestudy.study.spec import RunSpec

PAGE = "acceptance.md"
CLOCK = "scalestudy.train.acceptance.clock"
LOOP = "accept_loop"
SHORT_ROWS = 6
"""Combinations of the short form: the first uncompiled ones, which cover most pairs."""
COMPILERS = ("g++", "clang++", "c++")
TRIES = 3
"""Largest number of runs; one of them must have the bandwidth of a plain loop."""
KEPT = BLOCK * 3
"""Steps that each rank must have recorded after a fault in its fourth block."""
FAULTS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "allocation": ("OOM on one rank", "oom", (-1,)),
    "nan": ("NaN on one rank", "diverged", (-1,)),
    "hang": ("a hang on one rank", "failed", (-1,)),
    "terminated": ("SIGTERM in a block", "failed", ()),
    "probe": ("OOM in a probe", "ok", ()),
}
"""Fault -> its description, the expected outcome, and the ranks to blame, -1 for the last."""
END = partial(end_with_parent, signal.SIGKILL)
"""Called in a process that is started: it ends with this one, however that ends."""
SHORT_FAULTS = ("allocation", "nan")


@dataclass
class Acceptance:
    """Runs stages on this machine. device: `cpu` or `cuda`.

    shared: there is one CUDA device. Stages 1 and 3 then have one rank, and two ranks share it in stages 4 and 5.
    """

    device: str
    devices: int
    folder: Path
    short: bool = False
    shared: bool = False
    launched: int = 0
    rows: list[Impossible] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.launches = Launches(self.device, self.devices)
        self.pair = Launches(self.device, 2, shared=True) if self.shared else self.launches

    def run(self, numbers: Sequence[int]) -> AcceptanceFile:
        """Run the stages, also after failed ones, and write both files. Raises Interrupted."""
        made = {1: self.identity, 2: self.clocks, 3: self.combinations, 4: self.bandwidth, 5: self.faults}
        stages = [self._stage(number, made[number]) for number in sorted(set(numbers))]
        environment = host_environment()
        found = AcceptanceFile(
            scalestudy=__version__,
            commit=environment["commit"],
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            device="cuda" if self.device == "cuda" else "cpu",
            devices=self.devices,
            shared=self.shared,
            short=self.short,
            machine=machine_facts(environment),
            stages=tuple(stages),
            impossible=tuple(self.rows),
        )
        write_text(self.folder / PAGE, page_text(found))
        write_document(self.folder / FILE, found)
        return found

    def _stage(self, number: int, make: Callable[[], list[Check]]) -> Stage:
        begin, before = time.monotonic(), self.launched
        print(f"stage {number}: {NAMES[number]}", flush=True)
        try:
            found = make()
        except Exception as error:  # a defect in a stage is a finding, and the other stages continue
            said = " ".join(f"{type(error).__name__}: {error}".split())
            found = [check("the stage itself", False, said, "no error")]
        stage = Stage(
            number=number,
            name=NAMES[number],
            launches=self.launched - before,
            seconds=round(time.monotonic() - begin, 1),
            checks=tuple(found),
        )
        for one in stage.checks:
            if one.word in ("red", CANNOT_TELL):
                print(f"  {one.word}: {one.name}: {one.found}; expected: {one.expected}", flush=True)
        words = [one.word for one in stage.checks]
        counted = ", ".join(f"{words.count(word)} {word}" for word in get_args(Word))
        print(f"  {stage.word}: {counted}; {stage.launches} runs, {stage.seconds:.0f} s", flush=True)
        return stage

    def launch(self, spec: RunSpec, limits: Limits = LIMITS, *, timed: bool = False) -> Observation:
        """Measure a run and return its observation, whatever its outcome.

        timed: its times are checked. If something else disturbed it, it is set aside and repeated once.
        """
        found = self._launch(spec, limits)
        if not (timed and marks_of(found)):
            return found
        set_aside(self.folder / "runs" / spec.run_id, self.folder)
        return self._launch(spec, replace(limits, quiet_within_s=better_moment_s()))

    def _launch(self, spec: RunSpec, limits: Limits) -> Observation:
        record, _ = measure_run(spec, self.folder, limits=limits, data=DATA)
        raise_on_signals()
        self.launched += 1
        return read_observation(self.folder / "runs" / record.run_id)

    def identity(self) -> list[Check]:
        """Run stage 1."""
        record = self.launch(self.launches.plain()).record
        return checks.identity_checks(record, device=self.device, devices=self.devices)

    def clocks(self) -> list[Check]:
        """Run stage 2, in a separate process and with no other measurement on the host."""
        done, marks = self._watched([sys.executable, "-m", CLOCK, self.device], limit_s=120)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
            return [check("clocks", False, f"exit code {done.returncode}: {last}", "exit code 0")]
        return checks.clock_checks(json.loads(done.stdout.strip().splitlines()[-1]), marks)

    def _watched(self, command: list[str], *, limit_s: float) -> tuple[subprocess.CompletedProcess[str], str]:
        """Run a program with no other measurement on the host, and once more if something else disturbed it.

        Returns what it printed, and how the last one was disturbed, as codes. Raises OSError and TimeoutExpired.
        """
        cpus = sorted(os.sched_getaffinity(0))
        with exclusive(host_lock(), waiting=lambda: say("waiting: another measurement has this host")):
            for quiet_s in (0.0, better_moment_s()):
                if quiet_s:
                    look_when_quiet(partial(look, self.launches.plain(), os.environ), quiet_s)
                watch = Watch(cpus, OwnProcesses())
                watch.take()
                done = subprocess.run(  # in a session of its own, by which its processor time is found
                    command,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=limit_s,
                    preexec_fn=END,
                    start_new_session=True,
                )
                watch.take()
                if not (marks := marks_of_load(reading(watch.samples, cpus=len(cpus)))):
                    break
        return done, marks

    def combinations(self) -> list[Check]:
        """Run stage 3."""
        covering = self.covering()
        self.rows = [Impossible(options=pair, reason=why) for pair, why in covering.impossible.items()]
        plain = self.launch(self.launches.plain())
        reference = checks.early_losses(plain) if plain.record.outcome == "ok" else None
        rows = list(covering.rows)
        if self.short:
            rows = [row for row in rows if row["compile"] == "no"][:SHORT_ROWS]
        found: list[Check] = []
        for number, row in enumerate(rows, start=1):
            observation = self.launch(self.launches.combination(row, number))
            found += checks.combination_checks(words_of(row), row, observation, reference, device=self.device)
        if self.short:
            left = len(covering.rows) - len(rows)
            return [*found, unproven(f"{left} more combinations", "the short form leaves them out")]
        if self.devices == 1:
            return [*found, unproven("FSDP's peak below DDP's", "one rank has nothing to shard")]
        found.append(checks.memory_check(*(self.launch(self.launches.large(s)).record for s in ("ddp", "fsdp"))))
        return found

    def covering(self) -> Covering:
        """Return the combinations of options that this machine can run."""
        compiler = any(map(shutil.which, COMPILERS))
        return cover(OPTIONS, partial(refusals, cuda=self.device == "cuda", compiler=compiler), cost_s)

    def bandwidth(self) -> list[Check]:
        """Run stage 4."""
        if self.pair.devices == 1:
            return [unproven("whole stage", "a single process does not communicate")]
        for number in range(1, TRIES + 1):
            observation = self.launch(self.pair.probed(number), timed=True)
            loop = observation.record.environment.get(LOOP)
            found = [*checks.probe_checks(observation), checks.bandwidth_check(observation, loop)]
            if not any(one.word == "red" for one in found):
                break  # chance can change a few milliseconds, so a single red try is not an error
        if self.device == "cpu" or self.devices < 2:
            return [
                *found,
                *(unproven(name, "no links between GPUs here") for name in (nccl_tests.NAME, links.NAME)),
            ]
        return [*found, self.nccl_tests(observation), self.without_links()]

    def nccl_tests(self, observation: Observation) -> Check:
        """Run all_reduce_perf at the probe's largest message, with no other measurement on the host."""
        program = nccl_tests.find_program(os.environ, shutil.which)
        size, _ = nccl_tests.largest_message(observation)
        if program is None or not size:
            missing = f"{nccl_tests.PROGRAM} is neither in {nccl_tests.HOME} nor on PATH"
            return unproven(nccl_tests.NAME, missing if program is None else "no all-reduce was measured")
        command = nccl_tests.command(program, size, self.devices)
        try:
            done, marks = self._watched(command, limit_s=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            return unproven(nccl_tests.NAME, " ".join(str(error).split()))
        return nccl_tests.nccl_tests_check(observation, done.returncode, done.stdout or done.stderr, marks)

    def without_links(self) -> Check:
        """Run a small study in which NCCL may not use the links, and check its analysis."""
        plan = self.launches.without_links()
        return links.transport_check(plan, [self.launch(spec, timed=True) for spec in plan.runs.values()])

    def faults(self) -> list[Check]:
        """Run stage 5."""
        found: list[Check] = []
        for fails, (name, outcome, blamed) in FAULTS.items():
            if self.short and fails not in SHORT_FAULTS:
                found.append(unproven(name, "the short form leaves it out"))
                continue
            judge = partial(
                checks.fault_checks,
                name,
                outcome=outcome,
                blamed=[rank % self.pair.devices for rank in blamed],
                kept_steps=KEPT,
                stall_s=STALL_S,
            )
            judged = judge(self.launch(self.pair.failing(fails), FAULT_LIMITS))
            if any(one.word == CANNOT_TELL for one in judged):  # it took too long under other load
                judged = judge(self.launch(self.pair.failing(fails), FAULT_LIMITS, timed=True))
            found += judged
        return found


def machine_facts(environment: dict[str, Any]) -> dict[str, Any]:
    """Return a description of the machine, without names of hosts, jobs and devices."""
    named = ("python", "packages", "system", "cpu", "cpu_cores", "cores_available", "memory_gib")
    hardware = hardware_facts(os.environ)
    gpu = hardware["gpu"]
    devices = [{key: value for key, value in one.items() if key != "uuid"} for one in gpu["devices"]]
    return {name: environment[name] for name in named} | {"gpu": {"devices": devices, "links": gpu["links"]}}
