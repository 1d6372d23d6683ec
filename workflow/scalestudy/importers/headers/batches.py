"""Headers of batches: of a device, of all devices, or of a micro-batch."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import OF_ALL, PER_DEVICE


def batch_of(bare: str) -> str:
    """Return the role of a header of a batch without its precisions."""
    if PER_DEVICE.search(bare) or is_of_micro_batches(bare) or "local" in bare or bare.startswith("device batch"):
        return "batch_per_gpu"
    return "global_batch" if OF_ALL.search(bare) or re.search(r"\bgbs\b|\beff\b", bare) else "batch"


def is_of_micro_batches(header: str) -> bool:
    """Return whether a batch is that of a micro-batch, several of which may be accumulated: MBS."""
    return re.search(r"micro|\bmbs\b", header.lower()) is not None
