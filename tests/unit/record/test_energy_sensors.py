"""Counters of energy, reasons of slowdowns, and whose they are: the GPU with the rank's UUID, or nobody's."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pynvml
import pytest
from launches import spec_of, trainer_of
from nvml import Board, FakeNvml
from scalestudy.record.host import sensors as sensors_module
from scalestudy.record.host.rapl import CpuEnergy
from scalestudy.record.host.sensors import Sensors
from scalestudy.train.gauges import Gauges

FIRST, SECOND = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-aaaaaaaaaaaa"
ENERGY, EVENTS = "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetCurrentClocksEventReasons"
THROTTLES = "nvmlDeviceGetCurrentClocksThrottleReasons"
HOT = {ENERGY: 7_250_500, EVENTS: pynvml.nvmlClocksEventReasonSwThermalSlowdown}


def board(uuid: str, **answers: Any) -> Board:
    return Board(f"GPU-{uuid}", answers=answers)


def package(folder: Path, number: str, name: str, energy_uj: int, wraps_uj: int = 1_000_000) -> None:
    """A zone of the kernel's powercap interface."""
    zone = folder / f"intel-rapl:{number}"
    zone.mkdir(parents=True, exist_ok=True)
    (zone / "name").write_text(f"{name}\n")
    (zone / "energy_uj").write_text(f"{energy_uj}\n")
    (zone / "max_energy_range_uj").write_text(f"{wraps_uj}\n")


def test_energy_and_reasons_are_those_of_the_gpu_that_torch_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's device 0 is the fastest GPU; here it is NVML's second."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    nvml = FakeNvml(board(FIRST), board(SECOND, **HOT))
    readings = Sensors(0, uuid=SECOND, nvml=nvml).read()
    assert (readings["gpu_energy_j"], readings["gpu_slowdown_reasons"]) == (7250.5, 0x20)
    assert Sensors(0, nvml=nvml).read()["gpu_energy_j"] is None, "a torch that tells no UUID: by NVML's order"
    assert Sensors(0, uuid=FIRST.replace("1", "0"), nvml=nvml).read()["gpu_power_w"] is None


def test_a_driver_before_2023_tells_reasons_by_the_older_name() -> None:
    nvml = FakeNvml(board(FIRST, **{THROTTLES: pynvml.nvmlClocksThrottleReasonSwPowerCap}))
    assert Sensors(0, uuid=FIRST, nvml=nvml).read()["gpu_slowdown_reasons"] == 0x04
    unknown = Sensors(0, uuid=FIRST, nvml=FakeNvml(board(FIRST))).read()
    assert unknown["gpu_slowdown_reasons"] is None
    assert unknown["gpu_power_w"] == 71.5


@pytest.mark.parametrize("uuid", [SECOND, FIRST, ""])
def test_a_slice_of_a_gpu_has_no_sensors(monkeypatch: pytest.MonkeyPatch, uuid: str) -> None:
    """Whether torch tells the UUID of the slice, that of its board, or none: the board serves others too."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0" if uuid else f"MIG-{SECOND}")
    readings = Sensors(0, uuid=uuid, nvml=FakeNvml(board(FIRST, nvmlDeviceGetMigMode=[1, 1], **HOT))).read()
    assert {value for name, value in readings.items() if name.startswith("gpu")} == {None}


def test_a_gpu_that_could_be_sliced_has_its_sensors() -> None:
    nvml = FakeNvml(board(FIRST, nvmlDeviceGetMigMode=[0, 1], **HOT))
    assert Sensors(0, uuid=FIRST, nvml=nvml).read()["gpu_energy_j"] == 7250.5


def test_packages_are_added_and_wrap_around(tmp_path: Path) -> None:
    package(tmp_path, "0", "package-0", 100_000)
    package(tmp_path, "1", "package-1", 900_000)
    package(tmp_path, "0:0", "core", 50_000)
    package(tmp_path, "2", "psys", 0)
    energy = CpuEnergy(tmp_path)
    assert energy.joules() == 0
    for number, now_uj in (("0", 300_000), ("1", 100_000), ("0:0", 90_000), ("2", 700_000)):
        (tmp_path / f"intel-rapl:{number}/energy_uj").write_text(f"{now_uj}\n")
    assert energy.joules() == pytest.approx(0.2 + 0.2)
    assert energy.joules() == pytest.approx(0.4)


def test_a_package_that_cannot_be_read_leaves_the_sum_unknown(tmp_path: Path) -> None:
    assert CpuEnergy(tmp_path / "none").joules() is None
    assert CpuEnergy(tmp_path).joules() is None
    package(tmp_path, "0", "package-0", 0)
    package(tmp_path, "1", "package-1", 0)
    (tmp_path / "intel-rapl:1/energy_uj").unlink()
    (tmp_path / "intel-rapl:1/energy_uj").mkdir()  # root reads any file; nobody reads a folder as one
    assert CpuEnergy(tmp_path).joules() is None


def test_one_rank_of_a_host_reads_the_energy_of_its_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "0", "package-0", 0)
    monkeypatch.setattr(sensors_module, "POWERCAP", tmp_path)
    trainer = trainer_of(spec_of({"strategy": "single"}), tmp_path)
    (tmp_path / "intel-rapl:0/energy_uj").write_text("250000\n")
    assert trainer.gauges.read()["cpu_energy_j"] == 0.25
    second = type(trainer.place)(**vars(trainer.place) | {"local_rank": 1})
    assert Gauges(second).read()["cpu_energy_j"] is None


def test_energy_and_reasons_take_little_of_the_edge_of_a_block(tmp_path: Path) -> None:
    """Two calls of NVML (10 to 50 us each by a driver) and a file for each package."""
    for number in range(2):
        package(tmp_path, str(number), f"package-{number}", 0)
    energy, took_s = CpuEnergy(tmp_path), []
    for _ in range(200):
        begin = time.perf_counter()
        energy.joules()
        took_s.append(time.perf_counter() - begin)
    assert sorted(took_s)[100] < 50e-6
