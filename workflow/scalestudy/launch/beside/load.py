"""The entry of a run's record about other load on its host: `host_load` of `environment` in run.json."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalestudy.launch.beside.gpus import GpuOthers
from scalestudy.launch.beside.own import OwnProcesses
from scalestudy.launch.beside.watch import Sample, Watch, between, reading
from scalestudy.launch.family import PARENT
from scalestudy.launch.forked import client
from scalestudy.launch.process import POLL_S
from scalestudy.record.host.counters import Counters
from scalestudy.record.host.load import KEY, MEASURED
from scalestudy.study.spec import RunSpec

FILES = "load-*.jsonl"


class LaunchWatch:
    """Watches the host during a run that this process starts here."""

    def __init__(
        self, spec: RunSpec, cpus: Sequence[int], command: Sequence[str], surroundings: Mapping[str, str]
    ):
        forked = client.__file__ in command
        marks = (PARENT.decode(), command[command.index("--key") + 1]) if forked else ()
        self._gpus = GpuOthers(spec, surroundings)
        self.watch = Watch(cpus, OwnProcesses(marks), gpu_others=self._gpus.count)
        self.watch.take()

    def close(self) -> None:
        """Take the last sample, after all ranks have ended."""
        self.watch.take()
        self._gpus.close()

    def loads(self, measured: Mapping[str, Any] | None) -> dict[str, Any]:
        """`host_load` for the environment of the run. measured: when rank 0 measured, as it recorded."""
        return _loads([("", self.watch.cpus, self.watch.samples)], measured)


def watch_node(spec: RunSpec, cpus: Sequence[int], environment: Mapping[str, str], path: Path) -> None:
    """Start a process that watches this node as long as the calling process lives, which becomes the ranks.

    It writes a line for each sample, since it may be killed together with the ranks.
    """
    root = os.getpid()
    if os.fork():
        return
    try:
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)
        silent = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        with path.open("w", encoding="utf-8") as file, contextlib.closing(GpuOthers(spec, environment)) as gpus:
            file.write(json.dumps({"host": platform.node(), "cpus": list(cpus)}) + "\n")
            watch, written = Watch(cpus, OwnProcesses(root=root), gpu_others=gpus.count), 0
            while os.getppid() == root:
                watch.check()
                for sample in watch.samples[written:]:
                    file.write(json.dumps(dataclasses.asdict(sample)) + "\n")
                file.flush()
                written = len(watch.samples)
                time.sleep(POLL_S)
    finally:
        os._exit(0)


def loads_of_nodes(directory: Path, measured: Mapping[str, Any] | None) -> dict[str, Any]:
    """`host_load` of a run whose nodes were each watched by their own process; empty where none was watched."""
    found = []
    for path in sorted(directory.glob(FILES)):
        head, *lines = path.read_text(encoding="utf-8").splitlines() or ["{}"]
        try:
            facts, samples = json.loads(head), []
        except ValueError:
            continue  # the disk was full
        for line in lines:
            with contextlib.suppress(ValueError, TypeError):  # the last one may be cut short
                content = json.loads(line)
                samples.append(Sample(**content | {"host": Counters(**content["host"])}))
        found.append((facts.get("host", ""), facts.get("cpus", ()), samples))
    return _loads(found, measured)


def _loads(
    nodes: Sequence[tuple[str, Sequence[int], Sequence[Sample]]], measured: Mapping[str, Any] | None
) -> dict[str, Any]:
    """`training` and `after` it, each with the readings of each node.

    Where the time of the measurement is not known, all readings count as `training`.
    """
    parts: dict[str, list[dict[str, Any]]] = {}
    for host, cpus, samples in nodes:
        spans: dict[str, Sequence[Sample]] = {"training": samples}
        if measured:
            elsewhere = bool(host) and host != measured["host"]
            moments = [moment + (measured["wall_ahead_s"] if elsewhere else 0) for moment in measured["moments_s"]]
            names = ("training", "after")
            spans = {
                name: between(samples, moments[at], moments[at + 1], wall=elsewhere)
                for at, name in enumerate(names[: len(moments) - 1])
            }
        for name, span in spans.items():
            if (said := reading(span, cpus=len(cpus))) is not None:
                parts.setdefault(name, []).append(said)
    return {KEY: parts} if parts else {}


def measured_of(environment: dict[str, Any]) -> Mapping[str, Any] | None:
    """When rank 0 measured, removed from its record: these times have no meaning after the host has restarted."""
    found: Mapping[str, Any] | None = environment.pop(MEASURED, None)
    return found
