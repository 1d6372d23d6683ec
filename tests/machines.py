"""Simulated machines with GPUs: the kernel's files on their CPUs, and NVML's answers on their boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvml import Board, FakeNvml
from scalestudy.record.host.affinity import Facts, Portions, portions
from scalestudy.record.host.portions import read_facts
from scalestudy.study.config.conditions import Host

CUDA = Host.model_validate({"device": "cuda"})


@dataclass(frozen=True)
class Machine:
    """Sockets of equal size. Threads are numbered as by Linux on x86: all first threads, then all second ones."""

    root: Path
    sockets: int
    cores_of_socket: int
    boards: tuple[Board, ...]
    threads: int = 2

    @property
    def cores(self) -> int:
        """Physical cores."""
        return self.sockets * self.cores_of_socket

    @property
    def cpus(self) -> range:
        """All hardware threads."""
        return range(self.cores * self.threads)

    @property
    def nvml(self) -> FakeNvml:
        """The NVML of the machine."""
        return FakeNvml(*self.boards)

    def socket(self, number: int) -> tuple[int, ...]:
        """Return the hardware threads of a socket."""
        return tuple(cpu for cpu in self.cpus if cpu % self.cores // self.cores_of_socket == number)

    def facts(
        self, *, usable: Sequence[int] | None = None, visible: str | None = None, quota: float | None = None
    ) -> Facts:
        """Return the facts of a job. usable: CPUs of its control group; visible: its CUDA_VISIBLE_DEVICES."""
        environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
        found = read_facts(
            CUDA,
            environment,
            self.nvml,
            usable=usable or self.cpus,
            system=self.root / "system",
            pci=self.root / "pci",
        )
        return Facts(**(vars(found) | {"quota_cores": quota}))

    def placed(self, ranks: int, *, cores_per_rank: int | None = None, **job: Any) -> Portions:
        """Return the CPUs that the ranks of a job are bound to."""
        return portions(self.facts(**job), ranks, cores_per_rank=cores_per_rank, pin=True)

    def sockets_of(self, cpus: Sequence[int]) -> set[int]:
        """Return the sockets of these hardware threads."""
        return {cpu % self.cores // self.cores_of_socket for cpu in cpus}

    def physical(self, cpus: Sequence[int]) -> int:
        """Return the physical cores of these hardware threads."""
        return len({cpu % self.cores for cpu in cpus})


def machine(
    root: Path,
    *,
    sockets: int,
    cores: int,
    gpus: Sequence[int | None],
    threads: int = 2,
    **board: Mapping[str, Any],
) -> Machine:
    """Return a machine of `sockets` x `cores` physical cores. gpus: socket of each; None if unknown to NVML."""
    bare = Machine(root, sockets, cores, (), threads)
    for cpu in bare.cpus:
        siblings = ",".join(str(cpu % bare.cores + bare.cores * thread) for thread in range(threads))
        folder = root / f"system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
        (folder / "physical_package_id").write_text(f"{cpu % bare.cores // cores}\n")
    for number in range(len(gpus)):
        folder = root / f"pci/0000:{number + 1:02x}:00.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text("0x10de\n")
        (folder / "class").write_text("0x030200\n")
    switch = root / "pci/0000:ff:00.0"  # NVSwitch: a bridge of the same vendor
    switch.mkdir()
    (switch / "vendor").write_text("0x10de\n")
    (switch / "class").write_text("0x068000\n")
    boards = tuple(
        Board(f"GPU-{number}", bus=number + 1, cpus=None if at is None else bare.socket(at), **board)
        for number, at in enumerate(gpus)
    )
    return Machine(root, sockets, cores, boards, threads)
