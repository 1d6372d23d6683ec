"""What an import prints: names of files, units of points, and points that are compared with nothing."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import derive
from scalestudy.publish.imported import names_of, point_lines, run_lines


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/x.json", "b/y.json"], ["x.json", "y.json"]),
        (["n1/state.json", "n8/state.json"], ["n1/state.json", "n8/state.json"]),
        (["r/a/n1/s.json", "r/b/n1/s.json", "r/a/n2/s.json"], ["a/n1/s.json", "b/n1/s.json", "n2/s.json"]),
        (["s.json", "a/s.json"], ["s.json", "a/s.json"]),
    ],
)
def test_files_of_one_name_have_the_folders_that_tell_them_apart(files: list[str], names: list[str]) -> None:
    assert names_of(map(Path, files)) == dict(zip(map(Path, files), names, strict=True))


def row(variant: str, devices: int, rate: float, *, is_base: bool, speedup: float) -> dict[str, object]:
    return {
        "variant": variant,
        "scaling": "weak",
        "world_size": devices,
        "throughput_samples_per_s": rate,
        "speedup": speedup,
        "speedup_low": float("nan"),
        "speedup_high": float("nan"),
        "efficiency": speedup / devices,
        "is_base": is_base,
    }


def test_points_have_their_unit() -> None:
    rows = [row("single", 1, 9999.7, is_base=True, speedup=1), row("ddp", 4, 30000, is_base=False, speedup=3)]
    assert point_lines(pd.DataFrame(rows), "tokens")[2:] == [
        "  single weak 1: 10000 tokens/s, 1, 100.0 % (baseline)",
        "  ddp weak 4: 30000 tokens/s, 3, 75.0 %",
    ]


@pytest.mark.parametrize("devices", [1, 4])
def test_a_point_that_is_compared_with_no_other_has_no_speedup(devices: int) -> None:
    alone = row("ddp", devices, 100, is_base=True, speedup=devices)
    assert point_lines(pd.DataFrame([alone]), "samples")[2:] == [
        f"  ddp {devices}: 100 samples/s (the only number of devices, so no speedup)"
    ]


def test_one_step_is_a_step(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("step,step_time_ms\n5,100\n")
    given = Given(devices=1, batch=8)
    (run,) = [derive(log, given) for log in read_log(path, given)]
    assert run_lines(run)[2].endswith("from 1 step")
