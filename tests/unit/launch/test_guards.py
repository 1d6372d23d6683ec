"""Checks just before a run: what cannot be right is refused, what may change the numbers is a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pynvml
import pytest
from conftest import handlers_kept
from machines import Machine, machine
from nvml import Board, FakeNvml
from scalestudy.launch import run as launch_run
from scalestudy.launch import starters
from scalestudy.launch.command import rank_environment
from scalestudy.launch.guards.gpu import check_gpus
from scalestudy.launch.guards.host import (
    Guard,
    busy_host,
    far_cores,
    free_memory_gib,
    little_memory,
    look,
    others_cores,
    shared_cores,
    tight_quota,
    too_many_threads,
)
from scalestudy.launch.run import measure_run
from scalestudy.record.host.affinity import Portions
from scalestudy.record.host.portions import tell, told
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

ONE, TWO = Board("GPU-1111-aaaa"), Board("GPU-2222-bbbb")


@pytest.fixture
def dgx(tmp_path: Path) -> Machine:
    """2 x 56 cores with two threads each and 8 GPUs, four on each socket."""
    return machine(tmp_path, sockets=2, cores=56, gpus=[0] * 4 + [1] * 4)


def spec_of(content: dict[str, Any], **host: Any) -> RunSpec:
    """The 2-rank run of the small study with these settings of its host."""
    study = parse_study(content | {"host": host}, source="x")
    return next(spec for spec in make_plan(study).runs.values() if spec.world_size == 2)


@pytest.mark.parametrize(
    ("visible", "count"),
    [
        (None, 2),
        ("0,1", 2),
        ("1", 1),
        ("", 0),
        ("-1", 0),
        ("0,7,1", 1),
        ("0,0", 0),
        ("GPU-2222-bbbb,GPU-1111-aaaa", 2),
        ("GPU-2", 1),
        ("GPU-", 0),
        ("none", 0),
    ],
)
def test_too_few_visible_devices_are_refused_with_what_would_be_right(
    content: dict[str, Any], visible: str | None, count: int
) -> None:
    spec = spec_of(content, device="cuda")
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    refused, _ = check_gpus(spec, environment, FakeNvml(ONE, TWO), cores=8)
    if count == 2:
        assert refused is None
        return
    assert refused is not None
    assert f"2 rank(s) need 2 CUDA device(s) on this host, but {count} are visible" in refused
    assert f"through CUDA_VISIBLE_DEVICES='{visible}'" in refused
    assert refused.endswith("Request more devices, use a smaller scale, or set host.device: cpu")


SLICED = replace(ONE, instances=["MIG-aaaa", "MIG-bbbb"])


@pytest.mark.parametrize(
    ("visible", "count"),
    [
        ("MIG-aaaa,MIG-bbbb", 2),
        ("MIG-bbbb,GPU-1111-aaaa", 2),
        ("MIG-aaaa", 1),
        ("MIG-cccc,MIG-aaaa", 0),
        ("MIG-aaaa,MIG-aaaa", 0),
        ("MIG-a", 0),
    ],
)
def test_slices_of_a_gpu_are_named_by_their_whole_uuid(content: dict[str, Any], visible: str, count: int) -> None:
    spec, nvml = spec_of(content, device="cuda"), FakeNvml(SLICED, TWO)
    refused, warnings = check_gpus(spec, {"CUDA_VISIBLE_DEVICES": visible}, nvml, cores=8)
    assert (refused is None) == (count == 2)
    if refused:
        assert f"{count} are visible through CUDA_VISIBLE_DEVICES='{visible}'" in refused
    unlike = [one["text"] for one in warnings if one["kind"] == "unlike GPUs"]
    assert bool(unlike) == ("GPU-" in visible)


def test_only_a_study_that_insists_on_cuda_is_refused(content: dict[str, Any]) -> None:
    """With `auto`, torch decides whether CUDA can be used."""
    assert check_gpus(spec_of(content, device="auto"), {}, FakeNvml(ONE), cores=8) == (None, [])
    occupied = FakeNvml(Board("GPU-1", pids=[7]))
    assert check_gpus(spec_of(content, device="cpu"), {}, occupied, cores=8) == (None, [])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "NVML Shared Library Not Found"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "Driver Not Loaded"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "Insufficient Permissions"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "RM has detected an NVML/RM version mismatch."),
    ],
)
def test_without_nvml_the_ranks_decide_and_the_record_says_so(
    content: dict[str, Any], error: int, said: str
) -> None:
    broken = FakeNvml(failing=error)
    refused, (warning,) = check_gpus(spec_of(content, device="cuda"), {}, broken, cores=8)
    assert refused is None
    assert warning["kind"] == "GPUs not checked"
    assert warning["text"].endswith(f"NVML does not answer: {said}")
    assert check_gpus(spec_of(content, device="auto"), {}, broken, cores=8) == (None, [])


def test_an_occupied_device_is_named_with_what_is_used_and_by_whom(content: dict[str, Any]) -> None:
    nvml = FakeNvml(ONE, Board("GPU-2", used_gib=12.34, pids=[4711, 4712]), Board("GPU-3", pids=[1]))
    refused, warnings = check_gpus(spec_of(content, device="cuda"), {}, nvml, cores=8)
    assert refused is None
    assert warnings == [
        {
            "kind": "GPU in use",
            "text": "GPU 1 (NVIDIA H100 80GB HBM3) was in use just before this run: 12.3 GiB of its memory,"
            " by pid 4711, 4712",
        }
    ], "the third device is no rank's"
    hidden = FakeNvml(ONE, Board("GPU-2", used_gib=3.0))
    _, (warning,) = check_gpus(spec_of(content), {}, hidden, cores=8)
    assert "GPU 1 (NVIDIA H100 80GB HBM3) had 3.0 GiB" in warning["text"]
    assert nvml.running == hidden.running == 0


def test_the_driver_s_own_memory_is_nobody_s(content: dict[str, Any]) -> None:
    roomy = [Board("GPU-1", reserved_gib=1.5), Board("GPU-2", reserved_gib=1.5)]
    assert check_gpus(spec_of(content), {}, FakeNvml(*roomy), cores=8) == (None, [])


def test_ranks_on_unlike_gpus_are_warned_of(content: dict[str, Any]) -> None:
    _, (warning,) = check_gpus(spec_of(content), {}, FakeNvml(ONE, Board("GPU-2", name="NVIDIA A100")), cores=8)
    assert warning["text"].endswith("different models: NVIDIA A100, NVIDIA H100 80GB HBM3")


def test_fewer_than_four_cores_for_a_gpu_are_warned_of(content: dict[str, Any]) -> None:
    spec, nvml = spec_of(content, device="cuda"), FakeNvml(ONE, TWO)
    refused, (warning,) = check_gpus(spec, {}, nvml, cores=3)
    assert refused is None
    assert warning["kind"] == "few cores for a GPU"
    assert warning["text"].startswith("every rank on a GPU is bound to 3 core(s); with fewer than 4, ")
    assert check_gpus(spec_of(content, device="auto"), {}, nvml, cores=3) == (None, [warning])
    assert check_gpus(spec, {}, nvml, cores=4) == (None, [])
    assert check_gpus(spec_of(content, device="cuda", pin=False), {}, nvml, cores=3) == (None, []), "not bound"
    assert check_gpus(spec_of(content, device="cpu"), {}, nvml, cores=3) == (None, [])
    assert check_gpus(spec_of(content), {"CUDA_VISIBLE_DEVICES": ""}, nvml, cores=3) == (None, [])
    denied = FakeNvml(failing=pynvml.NVML_ERROR_NO_PERMISSION)
    assert check_gpus(spec_of(content), {}, denied, cores=3) == (None, [])


def test_a_look_counts_physical_cores_as_the_ranks_are_bound(content: dict[str, Any], dgx: Machine) -> None:
    """Eight threads of four cores are four cores; six are three."""
    for threads, warned in ((8, False), (6, True)):
        half = [cpu for core in range(threads // 2) for cpu in (core, core + 112)]
        placed = dgx.placed(1, visible="0", usable=half, cores_per_rank=threads)
        assert placed.cpus == (tuple(sorted(half)),)
        kinds = [warning["kind"] for warning in looked_at(content, dgx, placed)]
        assert ("few cores for a GPU" in kinds) == warned


def test_a_rank_far_from_its_gpu_is_warned_of(content: dict[str, Any], dgx: Machine) -> None:
    placed = dgx.placed(2, visible="0,4", usable=range(56))
    assert {"kind": "cores far from their GPU", "text": far_cores(placed)} in looked_at(content, dgx, placed)
    assert far_cores(placed).startswith("cores of rank 1 are on socket 0, but its GPU is attached to socket 1: ")
    assert far_cores(dgx.placed(8)) == ""


def looked_at(content: dict[str, Any], there: Machine, placed: Portions) -> list[dict[str, str]]:
    """Warnings of a run whose ranks have assigned CPUs."""
    guard = look(spec_of(content, device="cuda"), tell(placed), nvml=there.nvml, system=there.root / "system")
    return guard.environment["warnings"]


def test_a_core_that_somebody_uses_is_seen() -> None:
    cpu = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, [{cpu}]); print(flush=True)\nwhile True: pass"
    busy = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert busy.stdout is not None
        busy.stdout.readline()
        cores = others_cores([cpu])
    finally:
        busy.kill()
        busy.communicate()
    assert 0.8 < cores <= 1.0
    warning = busy_host(cores)
    assert warning.startswith("the host is busy: ")
    assert warning.endswith(" cores just before this run")


def test_a_quiet_host_is_not_warned_of(content: dict[str, Any]) -> None:
    assert busy_host(0.2) == ""
    assert little_memory(spec_of(content), 4.0) == ""
    assert tight_quota(None, [0, 1]) == tight_quota(2.0, [0, 1]) == ""
    assert 0 < free_memory_gib() < 10_000


def test_little_memory_and_a_tight_quota_are_warned_of(content: dict[str, Any]) -> None:
    memory = little_memory(spec_of(content), 1.24)
    assert memory == "only 1.2 GiB of memory were free for 2 rank(s) just before this run"
    quota = tight_quota(1.5, [0, 1])
    assert "the CPU quota is 1.5 cores" in quota


def test_the_look_and_the_ranks_use_what_was_decided_once(content: dict[str, Any], dgx: Machine) -> None:
    """The launcher decides; ranks, scripts and guards read it from the environment."""
    placed = dgx.placed(2, visible="0,4")
    environment = tell(placed)
    code = (
        "import json; from scalestudy.attach.portions import portion; print(json.dumps([portion(0), portion(1)]))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, check=True
    )
    assert tuple(map(tuple, json.loads(said.stdout))) == placed.cpus
    host = rank_environment(spec_of(content, device="cuda"), dgx.nvml)
    decided = told(host)
    assert decided is not None
    assert len(decided.cpus) == 2
    assert host["OMP_NUM_THREADS"] == str(decided.cores_per_rank)


def test_two_ranks_on_threads_of_one_core_are_warned_of() -> None:
    threads = {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}
    warning = shared_cores([(0,), (1,)], threads)
    assert warning == (
        "ranks share 1 physical core(s): CPUs 0 and 1 of rank 0 and rank 1 are threads of the same core"
    )
    assert shared_cores([(0, 1), (2, 3)], threads) == "", "both threads of a core are one rank's"
    assert shared_cores([(0,), (2,)], threads) == ""
    assert shared_cores([(0, 1), (0, 1)], threads) == "", "not bound"
    assert shared_cores([(0,), (1,)], {}) == "", "the kernel does not say"


def test_more_threads_than_cores_are_warned_of_where_ranks_are_not_bound(content: dict[str, Any]) -> None:
    warning = too_many_threads(spec_of(content, pin=False), 4, range(4))
    assert warning.startswith("2 ranks x 4 threads are 8 threads on 4 cores. Set host.cores_per_rank: 2")
    environment = {"OMP_NUM_THREADS": "3"}
    warning = too_many_threads(spec_of(content, pin=False, environment=environment), 1, range(4))
    assert warning.startswith("2 ranks x 3 threads are 6 threads on 4 cores")
    assert too_many_threads(spec_of(content, pin=False), 2, range(4)) == ""
    assert too_many_threads(spec_of(content), 4, range(4)) == ""


def test_more_threads_than_the_cores_that_a_node_counted_are_warned_of(content: dict[str, Any]) -> None:
    """The study accepts them, since a rank on a GPU may get eight cores."""
    spec = spec_of(content, environment={"OMP_NUM_THREADS": "4"})
    assert too_many_threads(spec, 2, range(8)) == (
        "each rank has 4 threads (host.environment) on the 2 cores that it is bound to; set"
        " host.cores_per_rank: 4, or 2 threads"
    )
    assert too_many_threads(spec, 4, range(8)) == ""


def test_a_look_at_this_host_gives_hardware_and_warnings_by_kind(content: dict[str, Any]) -> None:
    guard = look(spec_of(content, device="cpu"), os.environ)
    assert guard.refused is None
    assert set(guard.environment) == {"hardware", "warnings"}
    assert all(set(warning) == {"kind", "text"} for warning in guard.environment["warnings"])


def test_a_refused_launch_is_a_whole_record_and_starts_nothing(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec_of(content, device="cuda")
    warned = {"kind": "busy host", "text": "the host is busy"}
    guard = Guard("no device does", (0,), {"hardware": {"cpu": {"sockets": 1}}, "warnings": [warned]})
    monkeypatch.setattr(starters, "look", lambda *_: guard)
    monkeypatch.setattr(launch_run, "run_group", lambda *_, **__: pytest.fail("nothing may be started"))
    with handlers_kept():
        record, measured = measure_run(spec, tmp_path)
    assert measured
    assert (record.outcome, record.reason) == ("failed", "no device does")
    assert record.environment["hardware"] == {"cpu": {"sockets": 1}}
    assert record.environment["warnings"] == [warned]
    assert record.environment["host"], "the rest of the environment is there too"
    assert (tmp_path / "runs" / record.run_id / "log.txt").read_text() == "no device does\n"
    assert "warning: the host is busy" in capsys.readouterr().err
