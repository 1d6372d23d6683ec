"""The effort of a study is summed over runs, and its parts are reported only if every run has them."""

from __future__ import annotations

from math import isnan, nan

import pandas as pd
from scalestudy.analyse.study.effort import effort_frame, waiting_time_s


def runs(*launches: tuple[str, str, float, float]) -> pd.DataFrame:
    """Launches of two ranks: variant, outcome, seconds, seconds of training. Probes take a second."""
    return pd.DataFrame(
        [
            {
                "run_id": f"run-{number}",
                "workload": "mlp",
                "variant": variant,
                "outcome": outcome,
                "world_size": 2,
                "held_devices": nan,
                "wall_time_s": seconds,
                "training_wall_time_s": training,
                "probe_wall_time_s": 1.0,
                "slurm_job": nan,
                "hosts": "a",
                "started_at": f"2026-01-01T00:00:{number:02}+00:00",
            }
            for number, (variant, outcome, seconds, training) in enumerate(launches)
        ]
    )


def test_launches_and_their_parts_add_up() -> None:
    (row,) = effort_frame(runs(("ddp", "ok", 10.0, 4.0), ("ddp", "oom", 5.0, 1.0))).to_dict("records")
    assert (row["launches"], row["timed"], row["wall_time_s"], row["device_time_s"]) == (2, 2, 15, 30)
    assert (row["training_wall_time_s"], row["probe_wall_time_s"]) == (5, 2)


def test_a_launch_that_was_not_needed_took_nothing() -> None:
    (row,) = effort_frame(runs(("ddp", "ok", 10.0, 4.0), ("ddp", "unneeded", nan, nan))).to_dict("records")
    assert (row["launches"], row["wall_time_s"]) == (1, 10)


def test_a_part_that_one_launch_does_not_tell_is_not_known() -> None:
    frame = effort_frame(runs(("ddp", "ok", 10.0, 4.0), ("ddp", "ok", 5.0, nan), ("single", "ok", 3.0, 2.0)))
    known = frame.set_index("variant")
    assert isnan(known.loc["ddp", "training_wall_time_s"])
    assert known.loc["single", "training_wall_time_s"] == 2
    assert known.loc["ddp", "probe_wall_time_s"] == 2


def test_idle_devices_of_a_job_count() -> None:
    """Two ranks for 10 s in a job of eight devices, and for 5 s without a job around them."""
    made = runs(("ddp", "ok", 10.0, 4.0), ("ddp", "ok", 5.0, 4.0))
    made["held_devices"] = [8, nan]
    (row,) = effort_frame(made).to_dict("records")
    assert (row["wall_time_s"], row["device_time_s"], row["idle_time_s"]) == (15, 90, 60)


def test_time_between_launches_is_waiting_and_a_pause_is_not() -> None:
    """On a host: 2 s, then a night. In a job of a cluster all the time counts, whatever other jobs do."""
    made = runs(*[("ddp", "ok", 10.0, 4.0)] * 6)
    day = "2026-01-01T"
    made["started_at"] = [f"{day}{clock}+00:00" for clock in ("00:00:00", "00:00:12", "09:00:00")] + [
        f"{day}{clock}+00:00" for clock in ("00:00:00", "00:02:10", "00:00:05")
    ]
    made["slurm_job"] = pd.Series([nan, nan, nan, "7", "7", "8"], dtype=object)
    assert waiting_time_s(made).tolist() == [0, 2, 0, 0, 120, 0]
    assert waiting_time_s(made.iloc[::-1]).tolist() == [0, 120, 0, 0, 2, 0]
    (row,) = effort_frame(made).to_dict("records")
    assert row["waiting_time_s"] == 122
