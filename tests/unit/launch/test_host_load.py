"""From samples of the host's counters to their record."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pynvml
import pytest
from launches import spec_of
from nvml import Board, FakeNvml
from scalestudy.launch.beside.gpus import GpuOthers
from scalestudy.launch.beside.load import loads_of_nodes
from scalestudy.launch.beside.own import OwnProcesses
from scalestudy.launch.beside.watch import Sample, Watch, between, reading
from scalestudy.record.host.counters import Counters, read_counters
from scalestudy.record.host.load import measured_between

NOTHING = {"busy_s": 0.0, "stolen_s": 0.0, "swapped_mib": 0.0, "memory_stall_s": 0.0, "throttled_s": 0.0}


def sample(at_s: float, *, own_s: float = 0.0, gpu_others: int = 0, **host: float) -> Sample:
    return Sample(Counters(**NOTHING | {"at_s": at_s, "wall_s": 1e9 + at_s} | host), own_s, gpu_others)


def read(*samples: Sample, cpus: int = 2) -> dict[str, Any]:
    found = reading(samples, cpus=cpus)
    assert found is not None
    return found


def test_what_the_launch_takes_itself_is_subtracted() -> None:
    found = read(sample(10, busy_s=100, own_s=5), sample(14, busy_s=107, own_s=10))
    assert (found["span_s"], found["own_cores"], found["others_cores"]) == (4, 1.25, 0.5)
    found = read(sample(10), sample(14, busy_s=4.9, own_s=5))
    assert found["others_cores"] == 0, "ticks round both"


def test_stolen_time_is_a_share_of_all_cpus_and_the_rest_of_the_time() -> None:
    found = read(
        sample(10), sample(12), sample(14, stolen_s=0.8, swapped_mib=3, memory_stall_s=0.4, throttled_s=1)
    )
    assert (found["stolen_share"], found["swapped_mib"]) == (0.1, 3)
    assert (found["memory_stall_share"], found["throttled_share"]) == (0.1, 0.25)


@pytest.mark.parametrize(("moved_s", "jump_s"), [(0, 0), (0.002, 0), (3600, 3600), (-7, 7)])
def test_a_clock_that_is_set_jumps_and_one_that_is_slewed_does_not(moved_s: float, jump_s: float) -> None:
    found = read(sample(10), sample(14, wall_s=1e9 + 14 + moved_s), sample(18, wall_s=1e9 + 18 + moved_s))
    assert found["clock_jump_s"] == pytest.approx(jump_s, abs=0.01)


def test_a_reading_is_of_the_time_that_was_measured() -> None:
    """Half a second before and after it, as samples go; load of the start of a run is not in it."""
    samples = [sample(at / 2, busy_s=0 if at < 4 else at - 3) for at in range(9)]
    assert [one.host.at_s for one in between(samples, 1.2, 2.1)] == [1, 1.5, 2, 2.5]
    assert read(*between(samples, 0.5, 1.5))["others_cores"] == 0
    assert [one.host.at_s for one in between(samples, 3.7, 99)] == [3.5, 4], "the launch ended before a sample"
    assert reading(samples[:1], cpus=2) is None


@pytest.mark.parametrize(
    ("pids", "own", "others"),
    [
        ([11], {11}, 0),
        ([11, 77], {11}, 1),
        ([1011], {11}, 0),
        ([1011, 1077], {11}, 1),
        ([], {11}, 0),
    ],
    ids=["own", "another", "own, numbered elsewhere", "another, numbered elsewhere", "none yet"],
)
def test_another_process_on_a_gpu_is_seen(pids: list[int], own: set[int], others: int) -> None:
    spec = spec_of({"strategy": "single"}, host={"device": "auto"})
    driver = FakeNvml(Board("GPU-1", pids=pids), Board("GPU-2", pids=[5, 6]))
    gpus = GpuOthers(spec, {}, driver)
    assert gpus.count(own) == others, "the second device is no rank's"
    gpus.close()
    assert driver.running == 0
    broken = GpuOthers(spec, {}, FakeNvml(failing=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND))
    assert broken.count(own) == 0


def test_the_counters_of_this_host_grow_with_what_a_process_takes() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    before, begun = read_counters(cpus), time.process_time()
    while time.process_time() < begun + 0.3:
        pass
    after = read_counters(cpus)
    assert after.at_s > before.at_s
    assert after.busy_s - before.busy_s >= 0.3 - 0.05
    assert after.busy_s - before.busy_s <= (after.at_s - before.at_s) * len(cpus) + 0.05


def test_a_neighbour_is_load_of_others() -> None:
    """Real counters, whatever else runs here: the neighbour's own processor time is a lower bound."""
    cpus = sorted(os.sched_getaffinity(0))
    watch = Watch(cpus, OwnProcesses())
    watch.take()
    burning = "import time\nwhile time.process_time() < 0.5: pass\nprint(1, flush=True)\ntime.sleep(60)"
    neighbour = subprocess.Popen([sys.executable, "-c", burning], stdout=subprocess.PIPE)
    try:
        assert neighbour.stdout and neighbour.stdout.readline()
        watch.take()
    finally:
        neighbour.kill()
        neighbour.wait()
    found = reading(watch.samples, cpus=len(cpus))
    assert found and found["others_cores"] * found["span_s"] >= 0.5 - 0.1


def test_samples_come_no_oftener_than_they_are_worth() -> None:
    watch = Watch([0], OwnProcesses())
    for _ in range(5):
        watch.check()
    assert len(watch.samples) == 1


def test_nodes_that_watched_themselves_are_read_and_a_line_that_is_cut_short_is_left_out(tmp_path: Path) -> None:
    here, there = platform.node(), "another"
    told = measured_between((100.0, 102.0, 104.0))
    for index, (host, offset) in enumerate(((here, 0.0), (there, 5000.0))):
        samples = [sample(at + offset, busy_s=at, wall_s=at + told["wall_ahead_s"]) for at in range(99, 106)]
        lines = [json.dumps({"host": host, "cpus": [0, 1]})]
        lines += [json.dumps(dataclasses.asdict(one)) for one in samples]
        (tmp_path / f"load-{index}.jsonl").write_text("\n".join([*lines, '{"host": {"at_']), encoding="utf-8")
    (load,) = loads_of_nodes(tmp_path, told).values()
    assert [one["others_cores"] for one in load["training"]] == [1, 1]
    assert [one["span_s"] for one in load["after"]] == [2, 2], "another host has another monotonic clock"
    assert loads_of_nodes(tmp_path / "none", told) == {}, "not watched is not clean"
    for path in tmp_path.iterdir():
        path.write_text('{"host": "h')
    assert loads_of_nodes(tmp_path, told) == {}, "the disk was full"
