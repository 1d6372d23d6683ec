"""Whether compared runs were close together: in one job, on one node, on one day.

Effects that the runs of a repeat have in common cancel in their differences. A job on another node, or on another
day, may be slower or faster for other reasons. This does not cancel, and if several repeats share the same two
jobs the interval does not include it either.
"""

from math import isnan

import pandas as pd

APART = ("repeats_in_other_jobs", "repeats_on_other_nodes", "repeats_days_apart")
"""Ways in which two runs may be apart."""
DAY = pd.Timedelta(days=1)
NOTHING_APART = dict.fromkeys(("repeats_apart", *APART), 0)


def apart_columns(mine: pd.DataFrame, base: pd.DataFrame) -> dict[str, int]:
    """Returns the number of repeats whose runs were apart, among those with both runs; by column of the summary.

    mine, base: good runs, of runs.csv. Runs outside of SLURM have no job, so jobs do not distinguish them.
    """
    seen = ["repeat", "slurm_job", "node_names", "started_at"]
    pairs = mine[seen].merge(base[seen], on="repeat", suffixes=("", "_base"))
    jobs = pairs["slurm_job"].map(_text), pairs["slurm_job_base"].map(_text)
    nodes = zip(pairs["node_names"], pairs["node_names_base"], strict=True)
    first, second = (pd.to_datetime(pairs[name], utc=True) for name in ("started_at", "started_at_base"))
    found = pd.DataFrame(
        {
            "repeats_in_other_jobs": (jobs[0] != jobs[1]) & (jobs[0] != "") & (jobs[1] != ""),
            "repeats_on_other_nodes": [_no_node_in_common(*pair) for pair in nodes],
            "repeats_days_apart": (first - second).abs() > DAY,
        },
        index=pairs.index,
        dtype=bool,
    )
    counts = {name: int(found[name].sum()) for name in APART}
    return {"repeats_apart": int(found.any(axis=1).sum())} | counts


def _text(job: object) -> str:
    """Returns the id of a job, which a CSV may have converted to a number or an empty value."""
    if isinstance(job, float):
        return "" if isnan(job) else f"{job:.0f}"
    return str(job)


def _no_node_in_common(mine: object, base: object) -> bool:
    """Compares names separated by blanks; False if either is unknown."""
    nodes = [set(names.split()) if isinstance(names, str) else set() for names in (mine, base)]
    return all(nodes) and not nodes[0] & nodes[1]
