"""What a study took: launches, their wall time, and the hours of the devices that they held."""

import pandas as pd

PARTS = ("training_wall_time_s", "probe_wall_time_s")
USED = ("run_id", "workload", "variant", "world_size", "held_devices", "wall_time_s", *PARTS)


def device_time_s(runs: pd.DataFrame) -> pd.Series:
    """Device-seconds of launches, of runs.csv: from start to end, on all devices that were held for each.

    In a job of a cluster these are all devices of the job, idle ones included; elsewhere as many as it has ranks.
    """
    held: pd.Series = runs["held_devices"].astype(float).fillna(runs["world_size"])
    return runs["wall_time_s"] * held


def effort_frame(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every workload and variant of runs.csv: launches, timed, seconds of them and of the devices held.

    Start-up, warm-up and validation are in wall_time_s. idle_time_s is the part of device_time_s in which a job of
    a cluster held devices that its launch did not use. `timed` counts the launches whose wall time is known; those
    in reserve that were not made are left out. Parts of the wall time are nan unless they are known of every
    launch, which those of release 0.2 are not.
    """
    made = runs.loc[runs["outcome"] != "unneeded", list(USED)]
    device_s = device_time_s(made)
    held = made.assign(device_time_s=device_s, idle_time_s=device_s - made["wall_time_s"] * made["world_size"])
    together = held.groupby(["workload", "variant"], sort=False)
    parts = {name: (name, lambda seconds: seconds.sum(skipna=False)) for name in PARTS}
    return together.agg(
        **parts,
        launches=("run_id", "size"),
        timed=("wall_time_s", "count"),
        wall_time_s=("wall_time_s", "sum"),
        device_time_s=("device_time_s", "sum"),
        idle_time_s=("idle_time_s", "sum"),
    ).reset_index()
