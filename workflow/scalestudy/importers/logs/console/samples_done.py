"""Rows that count the samples of an epoch: `Train Epoch: 1 [6400/60000 (11%)]`, as PyTorch's MNIST example prints.

The share is that of the batches. With several ranks, a row has the samples of its rank and the size of the whole
data set, so the share over the ratio of both numbers is the number of ranks.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.console.corrected import Columns, Corrected, time_of_steps
from scalestudy.importers.logs.model import Given

_DONE = re.compile(rb"\[ *(\d{1,12})/(\d{1,12}) *\( *(\d{1,3}(?:\.\d+)?) ?%\) *\]")
LEAST_SHARE = 5.0
"""Per cent of an epoch from which on its rounding does not matter."""
WHOLE = 0.1
"""Relative difference to a whole number up to which a ratio is a number of ranks."""
QUICK_S, SLOW_S = 0.002, 0.05
"""Seconds that a step takes at least and a sample at most, where the batch does not show what rows count."""
MOST_OTHERS = 0.1
"""Share of rows, such as those of the last step of an epoch, that are no multiple of the batch."""


def shares_of(rows: list[bytes]) -> tuple[int, int] | None:
    """Return (the ranks that share the samples that rows count, the samples of an epoch); None without a count."""
    found = [match for row in rows if (match := _DONE.search(row))]
    if len(found) < len(rows):
        return None
    known = [(float(match[3]) / 100, int(match[1]) / int(match[2])) for match in found if int(match[1]) > 0]
    ratios = [share / done for share, done in known if 100 * share >= LEAST_SHARE]
    ratio = float(np.median(ratios)) if ratios else 1.0
    ranks = max(1, round(ratio))
    return ranks if abs(ratio / ranks - 1) < WHOLE else 1, int(found[0][2])


def in_steps(path: Path, columns: Columns, shares: tuple[int, int], given: Given) -> Corrected:
    """Return the columns by steps, if their rows count samples. Raises UserError if the batch is needed for that.

    shares: as shares_of returns.
    """
    ranks, of_epoch = shares
    devices = given.devices or ranks
    batch, quick = given.batch_on(devices), _each_by_the_clock(columns)
    if batch is None and not quick >= SLOW_S:
        option = given.option("batch", path)
        raise UserError(f"{path}: its rows count samples or steps, which the samples of a step show; add {option}")
    if batch is None or not (quick < QUICK_S or _are_multiples(columns["step"], batch, devices)):
        return Corrected(columns)
    before = np.floor(columns["step"] / of_epoch) * of_epoch
    steps = np.maximum(1.0, np.round((before + (columns["step"] - before) * ranks) / batch))
    of_ranks = f", and {ranks} ranks share them" if ranks > 1 else ""
    return Corrected(columns | {"step": steps}, [f"rows count samples, of which a step has {batch}{of_ranks}"])


def _each_by_the_clock(columns: Columns) -> float:
    """The time of what rows count by their time stamps; nan without any."""
    without = columns | {"step_time_s": np.full(len(columns["step"]), np.nan)}
    known = time_of_steps(without)
    known = known[np.isfinite(known)]
    return float(np.median(known)) if len(known) else np.nan


def _are_multiples(done: np.ndarray, batch: int, devices: int) -> bool:
    """Whether rows are multiples of the batch of a device."""
    each = batch // devices if batch % devices == 0 else batch
    return each > 1 and float((done % each != 0).mean()) <= MOST_OTHERS
