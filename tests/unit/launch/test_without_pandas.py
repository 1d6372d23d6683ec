"""What a run does between two measurements goes without pandas, whose import takes longer than all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from scalestudy.analyse.study.decision_file import DecisionFile
from scalestudy.record.observation import read_record
from scalestudy.record.tables import read_observation
from scalestudy.registry.results import DECISIONS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

CODE = """
import sys
from pyarrow import parquet
from scalestudy.cli.main import main
from scalestudy.record.parts import Parts, summarise

assert main(sys.argv[2:]) == 0
steps = parquet.ParquetFile(sys.argv[1]).read()
parts = Parts(reports=(), environment={}, stopping=None, tables={"steps": steps}, epochs=[])
totals = summarise(parts, wall_time_s=5.0)
assert (totals.steps, totals.samples, totals.train_time_s, totals.wall_time_s) == (2, 16, 4.5, 5.0), totals
print({"pandas", "torch", "scipy"} & set(sys.modules))
"""
STEPS = {
    "phase": ["warmup", "measured", "probe-sync"] * 2,
    "rank": [0] * 3 + [1] * 3,
    "step": [0, 1, 2] * 2,
    "step_time_s": [1.0, 2.0, 7.0, 2.0, 2.5, 7.0],
    "samples": [4] * 6,
}


def test_a_launch_that_is_not_needed_and_totals_of_one_that_was_load_no_pandas(
    content: dict[str, Any], tmp_path: Path
) -> None:
    content |= {"repeats": 2, "max_repeats": 3}
    spec = next(spec for spec in make_plan(parse_study(content, source="x")).runs.values() if spec.repeat == 3)
    decision = DecisionFile(
        study="small",
        after_repeats=2,
        comparisons=(),
        needed=(),
        budget_device_hours=None,
        budget_ends_after=None,
    )
    path = tmp_path / DECISIONS.format(repeats=2)
    path.parent.mkdir(parents=True)
    path.write_text(decision.model_dump_json())
    steps = tmp_path / "steps.parquet"
    pd.DataFrame(STEPS).to_parquet(steps)
    command = [str(steps), "train", "--spec", spec.to_json(), "--after", "2", "--results", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", CODE, *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "set()"
    directory = tmp_path / "runs" / spec.run_id
    record = read_record(directory)
    assert (record.outcome, record.reason) == ("unneeded", "no comparison needs more runs after 2 repeats")
    assert read_observation(directory).steps.empty
