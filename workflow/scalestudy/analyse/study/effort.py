"""What a study took: launches, their wall time, and the hours of the devices that they held."""

import pandas as pd

PARTS = ("training_wall_time_s", "probe_wall_time_s")
USED = ("run_id", "workload", "variant", "world_size", "wall_time_s", *PARTS)


def effort_frame(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every workload and variant of runs.csv: launches, timed, wall_time_s, its parts, device_time_s.

    A launch holds as many devices as it has ranks, from its start to its end: start-up, warm-up and validation are
    in it. `timed` counts the launches whose wall time is known; those in reserve that were not made are left out.
    Parts are nan unless they are known of every launch, which those of release 0.2 are not.
    """
    made = runs.loc[runs["outcome"] != "unneeded", list(USED)]
    held = made.assign(device_time_s=made["wall_time_s"] * made["world_size"])
    together = held.groupby(["workload", "variant"], sort=False)
    parts = {name: (name, lambda seconds: seconds.sum(skipna=False)) for name in PARTS}
    return together.agg(
        **parts,
        launches=("run_id", "size"),
        timed=("wall_time_s", "count"),
        wall_time_s=("wall_time_s", "sum"),
        device_time_s=("device_time_s", "sum"),
    ).reset_index()
