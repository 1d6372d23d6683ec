"""Readings of its host from which a run counts as disturbed: the key `report.spoiled`."""

from __future__ import annotations

from pydantic import Field

from scalestudy.study.config.entry import Entry


class SpoiledFrom(Entry):
    """Readings of the host during the training of a run, from which the run counts as disturbed."""

    others_share: float = Field(0.05, gt=0, le=1)
    """Share of the time of the ranks' CPUs that other processes used. The threshold is 1/4 of a core where that is
    less, since a rank that shares its core slows all the others."""
    stolen_share: float = Field(0.02, gt=0, le=1)
    """Share of the time of these CPUs that a hypervisor gave to other virtual machines."""
    throttled_share: float = Field(0.05, gt=0, le=1)
    """Share of the time in which a CPU was throttled by heat, or of the readings in which a GPU was throttled by
    heat or by the hardware."""
    swapped_mib_per_s: float = Field(1.0, gt=0)
    """Memory that the host swapped in and out, in MiB per second."""
    memory_stall_share: float = Field(0.05, gt=0, le=1)
    """Share of the time in which all tasks of the host waited for memory (pressure stall information)."""
    clock_jump_s: float = Field(0.1, gt=0)
    """Seconds by which the system clock was set during the run."""
    leave_out: bool = True
    """Leave disturbed runs out of every number if at least two others remain. `false` keeps them in, and they are
    still marked."""
