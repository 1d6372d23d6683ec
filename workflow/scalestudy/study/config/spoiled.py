"""From which reading of its host on a launch counts as spoiled: the key `report.spoiled`."""

from __future__ import annotations

from pydantic import Field

from scalestudy.study.config.entry import Entry


class SpoiledFrom(Entry):
    """Readings of the host over the training of a launch from which the launch counts as spoiled."""

    others_share: float = Field(0.05, gt=0, le=1)
    """Share of the time of the ranks' CPUs that other processes took; also a quarter of a core, where that is
    less: a rank that shares its core slows all the others."""
    stolen_share: float = Field(0.02, gt=0, le=1)
    """Share of the time of these CPUs that a hypervisor gave to other machines."""
    throttled_share: float = Field(0.05, gt=0, le=1)
    """Share of the time in which heat held back a CPU, or of the readings in which heat or the hardware held back
    a GPU."""
    swapped_mib_per_s: float = Field(1.0, gt=0)
    """Memory that the host swapped in and out, in MiB a second."""
    memory_stall_share: float = Field(0.05, gt=0, le=1)
    """Share of the time in which all tasks of the host waited for memory (pressure stall information)."""
    clock_jump_s: float = Field(0.1, gt=0)
    """Seconds by which the clock of the day was set while the launch ran."""
    leave_out: bool = True
    """Leave spoiled launches out of every number while at least two others are left. `false` keeps them in,
    marked all the same."""
