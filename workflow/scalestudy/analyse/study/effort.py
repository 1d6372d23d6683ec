"""What a study took: launches, their wall time, and the hours of the devices that they held."""

import pandas as pd

USED = ("run_id", "workload", "variant", "world_size", "wall_time_s")


def effort_frame(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every workload and variant of runs.csv: launches, timed, wall_time_s and device_time_s.

    A launch holds as many devices as it has ranks, from its start to its end: start-up, warm-up and validation are
    in it. `timed` counts the launches whose wall time is known; those in reserve that were not made are left out.
    """
    made = runs.loc[runs["outcome"] != "unneeded", list(USED)]
    held = made.assign(device_time_s=made["wall_time_s"] * made["world_size"])
    together = held.groupby(["workload", "variant"], sort=False)
    return together.agg(
        launches=("run_id", "size"),
        timed=("wall_time_s", "count"),
        wall_time_s=("wall_time_s", "sum"),
        device_time_s=("device_time_s", "sum"),
    ).reset_index()
