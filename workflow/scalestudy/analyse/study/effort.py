"""What a study took: runs, their wall time, and the hours of the devices that they held."""

import pandas as pd

PARTS = ("training_wall_time_s", "probe_wall_time_s")
PLACE = ("slurm_job", "hosts", "started_at")
USED = ("run_id", "workload", "variant", "world_size", "held_devices", "wall_time_s", *PARTS, *PLACE)
PAUSE_S = 60
"""Outside a cluster's job, a longer time between two runs is a pause: the study was continued later."""


def device_time_s(runs: pd.DataFrame) -> pd.Series:
    """Device-seconds of runs, of runs.csv: from start to end, on all devices that were held for each.

    In a job of a cluster these are all devices of the job, idle ones included; elsewhere as many as it has ranks.
    """
    held: pd.Series = runs["held_devices"].astype(float).fillna(runs["world_size"])
    return runs["wall_time_s"] * held


def waiting_time_s(made: pd.DataFrame) -> pd.Series:
    """Seconds from the end of the run before to the start of each, in the same job or on the same hosts.

    made: rows of runs.csv of runs that were made. Nothing is measured then: commands begin and end, records
    are written, others have the host. 0 for the first run, and after a pause.
    """
    started = pd.to_datetime(made["started_at"], utc=True).sort_values(kind="stable")
    in_order = made.loc[started.index]
    in_a_job = in_order["slurm_job"].notna()
    place = in_order["slurm_job"].where(in_a_job, in_order["hosts"])
    ended = started + pd.to_timedelta(in_order["wall_time_s"].fillna(0.0), unit="s")
    passed_s = (started - ended.groupby(place).shift()).dt.total_seconds()
    counts = (passed_s > 0) & (in_a_job | (passed_s <= PAUSE_S))
    return passed_s.where(counts, 0.0).reindex(made.index)


def effort_frame(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every workload and variant of runs.csv: runs, timed, seconds of them and of the devices held.

    Start-up, warm-up and validation are in wall_time_s. idle_time_s is the part of device_time_s in which a job of
    a cluster held devices that its run did not use. `timed` counts the runs whose wall time is known; those
    in reserve that were not made are left out. Parts of the wall time are nan unless they are known of every
    run, which those of release 0.2 are not. waiting_time_s is not in wall_time_s.
    """
    made = runs.loc[runs["outcome"] != "unneeded", list(USED)]
    device_s = device_time_s(made)
    idle_s = device_s - made["wall_time_s"] * made["world_size"]
    held = made.assign(device_time_s=device_s, idle_time_s=idle_s, waiting_time_s=waiting_time_s(made))
    together = held.groupby(["workload", "variant"], sort=False)
    parts = {name: (name, lambda seconds: seconds.sum(skipna=False)) for name in PARTS}
    return together.agg(
        **parts,
        launches=("run_id", "size"),
        timed=("wall_time_s", "count"),
        wall_time_s=("wall_time_s", "sum"),
        device_time_s=("device_time_s", "sum"),
        idle_time_s=("idle_time_s", "sum"),
        waiting_time_s=("waiting_time_s", "sum"),
    ).reset_index()
