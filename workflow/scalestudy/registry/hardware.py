"""The facts of environment.json that the table of the hardware has, in its order, with their names there."""

from __future__ import annotations

GPU_COUNT = "hardware gpu count"
IN_SHORT = (
    "hardware cpu model",
    "hardware memory total gib",
    GPU_COUNT,
    "hardware gpu name",
    "hardware gpu links",
    "interconnect",
    "backend",
)
"""What a document names that has no room for all."""
HARDWARE_NAMES = {
    "device": "device of the ranks",
    "hardware cpu model": "processor",
    "hardware cpu sockets": "sockets",
    "hardware cpu physical cores": "physical cores",
    "hardware cpu threads per core": "threads per core",
    "hardware cpu numa nodes": "NUMA nodes",
    "hardware cpu cpus of numa nodes": "CPUs of NUMA nodes",
    "hardware cpu max clock mhz": "CPU clock, largest (MHz)",
    "hardware cpu current clock mhz": "CPU clock before launch (MHz)",
    "hardware cpu governor": "CPU governor",
    "hardware cpu quota cores": "CPU quota (cores)",
    "cores_available": "CPUs a launch may use",
    "threads_per_rank": "threads per rank",
    "hardware memory total gib": "memory (GiB)",
    "hardware memory limit gib": "memory limit (GiB)",
    GPU_COUNT: "GPUs visible",
    "hardware gpu name": "GPU",
    "hardware gpu memory gib": "GPU memory (GiB)",
    "hardware gpu compute capability": "GPU compute capability",
    "hardware gpu driver": "GPU driver",
    "hardware gpu links": "links between GPUs",
    "hardware gpu pcie generation": "PCIe generation",
    "hardware gpu pcie width": "PCIe width",
    "hardware gpu power limit w": "GPU power limit (W)",
    "hardware gpu max sm clock mhz": "SM clock, largest (MHz)",
    "hardware gpu max memory clock mhz": "memory clock, largest (MHz)",
    "hardware gpu current sm clock mhz": "SM clock before launch (MHz)",
    "hardware gpu current temperature c": "GPU before launch (°C)",
    "hardware gpu persistence mode": "persistence mode",
    "hardware gpu ecc mode": "ECC",
    "hardware gpu mig mode": "MIG",
    "hardware gpu note": "GPUs",
    "interconnect": "interconnect",
    "backend": "communication backend",
    "system": "operating system",
}
