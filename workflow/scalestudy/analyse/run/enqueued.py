"""Whether the host keeps up with the device: its time to queue a step over the time of a step on the device."""

from math import nan

import numpy as np

from scalestudy.analyse.run.grid import Columns

QUEUED = "enqueue_first_step_s"


def enqueue_share(blocks: Columns, steps: Columns) -> float:
    """Returns the host's time to queue the first step of a measured block, divided by the time of a step.

    Both are means over the measured blocks; the share is the maximum over ranks. Well below 1 the device is the
    limit, near 1 the host is: it queues as slowly as the device works. Only the first step is used, since the
    driver's queue is empty then. Once it is full, the host waits for the device: on one H200, the blocks of steps
    that kept the device busy for 99 % of their time took the host 96 to 98 % of that time. nan if the host does
    not run ahead of the device, or for older records. blocks, steps: of one run.
    """
    if not (blocks and blocks.has(QUEUED)):
        return nan
    measured = blocks.among("phase", ("measured",)) & ~np.isnan(blocks[QUEUED].astype(float))
    shares = []
    for rank in np.unique(blocks["rank"][measured]):
        mine = measured & (blocks["rank"] == rank)
        of_blocks = (steps["rank"] == rank) & np.isin(steps["block"], blocks["block"][mine])
        shares.append(blocks[QUEUED][mine].mean() / steps["step_time_s"][of_blocks].mean())
    return float(max(shares, default=nan))
