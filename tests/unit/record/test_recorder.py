"""One recorder writes the rows of our own ranks and of scripts, without pandas."""

from __future__ import annotations

import subprocess
import sys
from math import isnan, nan

import numpy as np
import pytest
from scalestudy.record.observation import PART_COLUMNS, TABLES
from scalestudy.record.recorder import Recorder

PARTS = np.array([[0.1, nan, 0.2, 0.3, 0.3, nan, nan, 0.05], [0.1, nan, 0.2, 0.3, 0.4, nan, nan, 0.05]])

WITHOUT_PANDAS = """
import sys
import numpy as np
import scalestudy.launch.foreign.gather
import scalestudy.train.rank
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.record.observation import Memory, RankReport

recorder = RankRecorder(sys.argv[1], rank=0)
recorder.add_block(epoch=1, phases=["measured"], times_s=np.ones((1, 8)), samples=4, losses=[1.0], state={})
memory = Memory(**dict.fromkeys(Memory.model_fields) | {"peak_resident_gib": 1.0})
told = {"host": "h", "node": "n", "device": "cpu", "cores": (0,), "threads": 1, "outcome": "ok", "reason": ""}
recorder.write(RankReport(rank=0, waited=False, steps=1, memory=memory, **told), {})
print("pandas" in sys.modules)
"""


def test_parts_that_were_not_seen_leave_the_step_as_it_was_timed() -> None:
    recorder = Recorder(rank=3)
    recorder.add_block(
        epoch=2,
        phases=["warmup", "measured"],
        times_s=PARTS,
        step_times_s=np.array([1.0, 1.2]),
        samples=8,
        losses=None,
        state={"resident_gib": 0.5},
    )
    tables = recorder.tables()
    steps = tables["steps"].to_pydict()
    assert steps["step_time_s"] == [1.0, 1.2]
    assert [steps[name] for name in ("rank", "epoch", "step", "samples")] == [[3, 3], [2, 2], [0, 1], [8, 8]]
    assert [name for name in PART_COLUMNS if isnan(steps[name][0])] == [
        "h2d_time_s",
        "logging_time_s",
        "checkpoint_time_s",
    ]
    assert all(map(isnan, steps["loss"]))
    (block,) = tables["blocks"].to_pylist()
    assert (block["phase"], block["steps"], block["resident_gib"]) == ("measured", 2, 0.5)
    assert isnan(block["gpu_power_w"])


def test_where_all_parts_are_known_their_sum_is_the_step() -> None:
    recorder = Recorder(rank=0)
    times = np.random.default_rng(1).random((4, 8))
    recorder.add_block(epoch=1, phases=["measured"] * 4, times_s=times, samples=8, losses=[1.0] * 4, state={})
    assert recorder.tables()["steps"]["step_time_s"].to_pylist() == times.sum(axis=1).tolist()


def test_words_of_any_script_and_whole_numbers_stay_what_they_are() -> None:
    recorder = Recorder(rank=1)
    rows = [
        {"collective": "größe", "bytes": 2**40, "call": 0, "time_s": 0.5},
        {"collective": "", "bytes": 1, "call": 1},
    ]
    recorder.add_rows("collectives", rows)
    read = recorder.tables()["collectives"].to_pylist()
    assert [(row["collective"], row["bytes"], row["rank"]) for row in read] == [("größe", 2**40, 1), ("", 1, 1)]
    assert isnan(read[1]["time_s"])


def test_a_rank_without_a_step_has_every_column_and_no_row() -> None:
    tables = Recorder(rank=0).tables()
    assert {name: tuple(table.column_names) for name, table in tables.items()} == TABLES
    assert not any(table.num_rows for table in tables.values())


def test_a_rank_and_the_gathering_of_a_script_load_no_pandas(tmp_path: object) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS, str(tmp_path)], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_a_row_of_an_unknown_column_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError):
        Recorder(rank=0).add_rows("blocks", [{"temperature": 3.0}])
