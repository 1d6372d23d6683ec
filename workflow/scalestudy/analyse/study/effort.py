"""The effort of a study: runs, their wall time, and the hours of the devices that they held."""

import pandas as pd

PARTS = ("training_wall_time_s", "probe_wall_time_s")
PLACE = ("slurm_job", "hosts", "started_at")
USED = ("run_id", "workload", "variant", "world_size", "held_devices", "wall_time_s", *PARTS, *PLACE)
PAUSE_S = 60
"""Outside a cluster job, a longer time between two runs is a pause: the study was continued later."""


def device_time_s(runs: pd.DataFrame) -> pd.Series:
    """Returns device-seconds of runs in runs.csv: from start to end, on all devices that were held for each.

    In a cluster job these are all devices of the job, idle ones included; elsewhere the number of ranks.
    """
    held: pd.Series = runs["held_devices"].astype(float).fillna(runs["world_size"])
    return runs["wall_time_s"] * held


def waiting_time_s(made: pd.DataFrame) -> pd.Series:
    """Returns the seconds from the end of the previous run to the start of each, in the same job or on the same
    hosts.

    made: rows of runs.csv of executed runs. Nothing is measured in this time: commands begin and end, records are
    written, and other processes use the host. 0 for the first run, and after a pause.
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
    """Returns a row for every workload and variant of runs.csv: runs, timed, their seconds and device-seconds.

    Start-up, warm-up and validation are in wall_time_s. idle_time_s is the part of device_time_s in which a
    cluster job held devices that its run did not use. `timed` is the number of runs with a known wall time; unused
    reserve runs are left out. Parts of the wall time are nan unless they are known for every run, which is not the
    case for release 0.2. waiting_time_s is not in wall_time_s.
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
