"""The hardware block: of this host, and of a simulated GPU."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import psutil
import pynvml
import pytest
from nvml import Board, FakeNvml
from scalestudy.record.host import sensors as sensors_module
from scalestudy.record.host.cgroup import cpu_quota_cores, memory_left_of_cgroup_gib, memory_limit_gib
from scalestudy.record.host.cpus import core_threads, cpu_clock_mhz, cpu_facts, cpu_list
from scalestudy.record.host.environment import hardware_facts, host_environment
from scalestudy.record.host.gpus import gpu_facts
from scalestudy.record.host.sensors import Sensors
from scalestudy.record.observation import BLOCK_COLUMNS

ABSENT = FakeNvml(failing=pynvml.NVML_ERROR_DRIVER_NOT_LOADED)


def files(root: Path, content: dict[str, str]) -> Path:
    """A simulated tree of the kernel's small files."""
    for name, text in content.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


def test_this_host_describes_itself() -> None:
    facts = hardware_facts(os.environ, ABSENT)
    assert json.loads(json.dumps(facts)) == facts
    cpu = facts["cpu"]
    assert cpu["model"]
    assert facts["memory"]["total_gib"] == pytest.approx(psutil.virtual_memory().total / 2**30, abs=0.1)
    threads = core_threads()
    if threads:
        assert set(threads) >= os.sched_getaffinity(0)
        assert all(number in siblings for number, siblings in threads.items())
        assert cpu["physical_cores"] * cpu["threads_per_core"] >= len(threads)
    nodes = [number for cpus in cpu["numa_nodes"].values() for number in cpu_list(cpus)]
    assert len(nodes) == len(set(nodes))
    assert facts["gpu"]["note"] == "NVML does not answer: Driver Not Loaded"


def test_a_host_of_two_sockets_with_hyperthreads(tmp_path: Path) -> None:
    tree = {}
    for cpu in range(8):
        folder = f"cpu/cpu{cpu}"
        tree[f"{folder}/topology/physical_package_id"] = str(cpu % 4 // 2)
        tree[f"{folder}/topology/thread_siblings_list"] = f"{cpu % 4},{cpu % 4 + 4}"
        tree[f"{folder}/cpufreq/scaling_cur_freq"] = str(2_000_000 + 1000 * cpu)
        tree[f"{folder}/cpufreq/cpuinfo_max_freq"] = "3700000"
        tree[f"{folder}/cpufreq/scaling_governor"] = "performance"
    tree |= {"node/node0/cpulist": "0-1,4-5", "node/node1/cpulist": "2-3,6-7", "cpu/cpufreq/boost": "1"}
    facts = cpu_facts(files(tmp_path, tree))
    assert (facts["sockets"], facts["physical_cores"], facts["threads_per_core"]) == (2, 4, 2)
    assert facts["numa_nodes"] == {"0": "0-1,4-5", "1": "2-3,6-7"}
    assert (facts["max_clock_mhz"], facts["governor"]) == (3700.0, "performance")
    assert cpu_clock_mhz([0, 2], tmp_path) == 2001.0
    assert core_threads(tmp_path)[6] == (2, 6)


def test_variables_of_the_fabric_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"FI_PROVIDER": "efa", "UCX_TLS": "rc", "NVIDIA_TF32_OVERRIDE": "0", "NCCL_DEBUG": "INFO"}
    for name, value in (given | {"NVIDIA_VISIBLE_DEVICES": "all"}).items():
        monkeypatch.setenv(name, value)
    variables = host_environment()["variables"]
    assert variables.items() >= given.items()
    assert "NVIDIA_VISIBLE_DEVICES" not in variables


def test_a_kernel_that_says_nothing_is_not_guessed(tmp_path: Path) -> None:
    facts = cpu_facts(tmp_path)
    assert facts["model"]
    assert {facts[key] for key in ("sockets", "physical_cores", "threads_per_core", "governor")} == {None}
    assert core_threads(tmp_path) == {}


@pytest.mark.parametrize(
    ("membership", "tree", "quota", "limit"),
    [
        ("0::/", {"cpu.max": "max 100000", "memory.max": "max"}, None, None),
        ("0::/a/b", {"cpu.max": "300000 100000", "a/cpu.max": "150000 100000", "a/b/cpu.max": "max 1"}, 1.5, None),
        ("0::/gone", {"cpu.max": "200000 100000", "memory.max": str(2**32)}, 2.0, 4.0),
        (
            "3:cpu,cpuacct:/\n2:memory:/",
            {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"},
            0.5,
            None,
        ),
        (
            "3:cpu:/\n2:memory:/job",
            {"cpu/cpu.cfs_quota_us": "-1", "memory/job/memory.limit_in_bytes": str(3 * 2**30)},
            None,
            3.0,
        ),
        ("2:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None, None),
        ("", {}, None, None),
    ],
)
def test_quota_and_limit_of_a_container(
    tmp_path: Path, membership: str, tree: dict[str, str], quota: float | None, limit: float | None
) -> None:
    mount = files(tmp_path / "cgroup", tree)
    of = files(tmp_path, {"self": membership}) / "self"
    assert (cpu_quota_cores(mount, of), memory_limit_gib(mount, of)) == (quota, limit)


GIB = 2**30


@pytest.mark.parametrize(
    ("membership", "tree", "left_gib"),
    [
        ("0::/", {"memory.max": "max", "memory.current": "7"}, None),
        ("0::/", {"memory.max": str(4 * GIB), "memory.current": str(3 * GIB)}, 1.0),
        (
            "0::/a",
            {
                "a/memory.max": str(4 * GIB),
                "a/memory.current": str(3 * GIB),
                "a/memory.stat": f"anon {GIB}\ninactive_file {GIB // 2}\nactive_file 9",
                "memory.max": str(8 * GIB),
                "memory.current": str(4 * GIB),
            },
            1.5,
        ),
        ("0::/", {"memory.max": str(GIB), "memory.current": str(GIB + 1)}, 0.0),
        (
            "2:memory:/job",
            {
                "memory/job/memory.limit_in_bytes": str(3 * GIB),
                "memory/job/memory.usage_in_bytes": str(2 * GIB),
                "memory/job/memory.stat": f"inactive_file 0\ntotal_inactive_file {GIB}",
            },
            2.0,
        ),
        ("2:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None),
    ],
)
def test_what_the_limit_of_a_container_leaves(
    tmp_path: Path, membership: str, tree: dict[str, str], left_gib: float | None
) -> None:
    of = files(tmp_path, {"self": membership}) / "self"
    assert memory_left_of_cgroup_gib(files(tmp_path / "cgroup", tree), of) == left_gib


def test_gpus_are_described_with_their_links() -> None:
    boards = [
        Board("GPU-0", bus=1, nvlinks=[2, 2, 2, 2]),
        Board("GPU-1", bus=2, nvlinks=[1, 1, 1, 1]),
        Board("GPU-2", bus=3, answers={"nvmlDeviceGetNvLinkVersion": None}),
    ]
    facts = gpu_facts({}, FakeNvml(*boards))
    assert json.loads(json.dumps(facts)) == facts
    assert facts["note"] == ""
    assert facts["links"] == {"0-1": "NV4 (NVLink 4.0)", "0-2": "SYS", "1-2": "SYS"}
    first = facts["devices"][0]
    assert (first["name"], first["driver"]) == ("NVIDIA H100 80GB HBM3", "570.124.06")
    assert (first["memory_gib"], first["power_limit_w"], first["compute_capability"]) == (80.0, 700.0, "9.0")
    assert (first["pcie_generation"], first["current_pcie_generation"], first["pcie_width"]) == (5, 1, 16)
    assert (first["max_sm_clock_mhz"], first["current_sm_clock_mhz"]) == (1980, 345)
    assert (first["persistence_mode"], first["ecc_mode"], first["mig_mode"]) == ("on", "on", None)


def test_gpus_behind_a_switch_are_linked_to_one_another() -> None:
    boards = [Board(f"GPU-{number}", bus=number + 1, nvlinks=[None] * 18) for number in range(2)]
    assert gpu_facts({}, FakeNvml(*boards))["links"] == {"0-1": "NV18 (NVLink 4.0)"}


@pytest.mark.parametrize(
    ("ancestor", "word"),
    [
        (pynvml.NVML_TOPOLOGY_SINGLE, "PIX"),
        (pynvml.NVML_TOPOLOGY_MULTIPLE, "PXB"),
        (pynvml.NVML_TOPOLOGY_HOSTBRIDGE, "PHB"),
        (pynvml.NVML_TOPOLOGY_NODE, "NODE"),
        (999, "could not be read"),
    ],
)
def test_gpus_without_nvlink_are_joined_as_nvidia_smi_says(ancestor: int, word: str) -> None:
    nvml = FakeNvml(Board("GPU-0", bus=1), Board("GPU-1", bus=2), ancestor=ancestor)
    assert gpu_facts({}, nvml)["links"] == {"0-1": word}


def test_only_visible_gpus_are_described_in_the_order_of_the_ranks() -> None:
    nvml = FakeNvml(Board("GPU-0"), Board("GPU-1"), Board("GPU-2"))
    devices = gpu_facts({"CUDA_VISIBLE_DEVICES": "2,0"}, nvml)["devices"]
    assert [device["uuid"] for device in devices] == ["GPU-2", "GPU-0"]
    assert gpu_facts({"CUDA_VISIBLE_DEVICES": ""}, nvml)["note"] == "no GPU is visible"
    assert nvml.running == 0


def test_sensors_read_the_gpu_of_the_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    warm = {"nvmlDeviceGetTemperature": {pynvml.NVML_TEMPERATURE_GPU: 64}}
    readings = Sensors(0, nvml=FakeNvml(Board("GPU-0"), Board("GPU-1", answers=warm))).read()
    assert tuple(readings) == BLOCK_COLUMNS[-len(readings) :]
    assert readings["gpu_power_w"] == 71.5
    assert (readings["gpu_sm_clock_mhz"], readings["gpu_temperature_c"]) == (345.0, 64.0)


def test_sensors_never_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    lost = FakeNvml(Board("GPU-0"))
    sensors = Sensors(0, nvml=lost)
    lost.running = 0
    absent = [Sensors(None), Sensors(0, nvml=ABSENT), Sensors(5, nvml=FakeNvml(Board("GPU-0")))]
    for broken in (sensors, *absent, Sensors(0, nvml=None)):
        readings = broken.read()
        assert {value for name, value in readings.items() if name.startswith("gpu")} == {None}
    monkeypatch.setattr(sensors_module, "SYSTEM", Path("/nowhere"))
    monkeypatch.setattr(sensors_module, "cpuinfo_mhz", lambda: None)
    assert Sensors(None).read()["cpu_clock_mhz"] is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            pynvml.NVML_ERROR_GPU_IS_LOST,
            "NVML reports for its GPU: GPU is lost. It has fallen off the bus. The kernel's log",
        ),
        (pynvml.NVML_ERROR_RESET_REQUIRED, "NVML reports for its GPU: GPU requires restart. Reset it (nvidia-smi"),
        (pynvml.NVML_ERROR_NOT_SUPPORTED, ""),
        (pynvml.NVML_ERROR_UNKNOWN, ""),
    ],
)
def test_a_gpu_that_is_lost_while_training_has_no_readings_and_says_what_to_do(
    error: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    gone = pynvml.NVMLError(error)
    names = ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature")
    sensors = Sensors(0, nvml=FakeNvml(Board("GPU-0", answers=dict.fromkeys(names, gone))))
    assert sensors.trouble().startswith(said)
    assert bool(sensors.trouble()) == bool(said)
    assert {value for name, value in sensors.read().items() if name.startswith("gpu")} == {None}


def test_a_gpu_that_answers_is_in_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    broken = Sensors(0, nvml=FakeNvml(Board("GPU-0")))
    broken._nvml = None
    for sensors in (Sensors(0, nvml=FakeNvml(Board("GPU-0"))), Sensors(None), Sensors(0, nvml=ABSENT), broken):
        assert sensors.trouble() == ""


def test_sensors_are_quick_enough_for_the_edge_of_a_block() -> None:
    sensors = Sensors(None)
    took_s = []
    for _ in range(200):
        begin = time.perf_counter()
        sensors.read()
        took_s.append(time.perf_counter() - begin)
    assert sorted(took_s)[100] < 200e-6
