"""Whether the host keeps up with the device: time to queue the steps of a block over their time there."""

from math import nan

import numpy as np

from scalestudy.analyse.run.grid import Columns


def enqueue_share(blocks: Columns, steps: Columns) -> float:
    """Returns the host's time to queue the measured blocks, divided by their time on the device, maximum over
    ranks.

    Well below 1 the device is the limit, near 1 the host is: it queues as slowly as the device works. nan if the
    host does not run ahead of the device, or for older records. blocks, steps: of one run.
    """
    if not (blocks and blocks.has("enqueue_time_s")):
        return nan
    measured = blocks.among("phase", ("measured",)) & ~np.isnan(blocks["enqueue_time_s"].astype(float))
    shares = []
    for rank in np.unique(blocks["rank"][measured]):
        mine = measured & (blocks["rank"] == rank)
        of_blocks = (steps["rank"] == rank) & np.isin(steps["block"], blocks["block"][mine])
        shares.append(blocks["enqueue_time_s"][mine].sum() / steps["step_time_s"][of_blocks].sum())
    return float(max(shares, default=nan))
