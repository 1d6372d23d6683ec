"""One module a figure: frames in, Figure out. Saving, size and style are the same for all (style.py, save.py)."""

from __future__ import annotations

from scalestudy.publish.figures import accuracy, breakdown, communication, epoch_time, memory, speedup, throughput

# The file name each figure of a workload gets, after the workload's own name.
FIGURES = {
    "epoch_time_detailed": epoch_time.draw,
    "speedup_efficiency": speedup.draw,
    "throughput": throughput.draw,
    "accuracy": accuracy.draw,
    "step_breakdown": breakdown.draw,
    "memory": memory.draw,
    "communication": communication.draw,
}
