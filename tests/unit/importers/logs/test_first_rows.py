"""The first row of a short log counts if it takes about as long as the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import derive


@pytest.mark.parametrize(("first_s", "step_s"), [(2.4, 40.5), (38.0, 39.67), (300.0, 40.5)])
def test_a_first_row_unlike_the_others_does_not_count(tmp_path: Path, first_s: float, step_s: float) -> None:
    path = tmp_path / "a.log"
    times = (first_s, 40.0, 41.0)
    path.write_text(
        "".join(f"Step {10 * at:06d}, loss 0.9, {time} seconds/step\n" for at, time in enumerate(times))
    )
    given = Given(devices=1, batch=8)
    run = derive(read_log(path, given)[0], given)
    assert run.step_s == pytest.approx(step_s, rel=0.01)
