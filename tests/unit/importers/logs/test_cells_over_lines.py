"""CSV logs with cells that go over several lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.tabular import csv_log

HEAD = "# a comment\nstep,note,step_time_ms\n"


def read(tmp_path: Path, text: str) -> Log:
    path = tmp_path / "log.csv"
    path.write_text(text)
    (log,) = read_log(path, Given(devices=8))
    return log


@pytest.mark.parametrize("by_arrow", [True, False])
def test_rows_have_the_numbers_of_their_first_lines(
    by_arrow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways of reading. A number in the cell is no number of the row."""
    if not by_arrow:
        monkeypatch.setattr(csv_log, "read_regular", lambda *_, **__: None)
    rows = [
        f'{step},"of ""two"" lines,\n{step},7,9\n",{100 + step}\n{step}.5,short,100\n' for step in range(1, 400)
    ]
    log = read(tmp_path, HEAD + "".join(rows))
    assert len(log.columns["step"]) == 2 * 399
    np.testing.assert_allclose(log.columns["step"][:4], [1, 1.5, 2, 2.5])
    np.testing.assert_allclose(log.columns["step_time_s"][:4], [0.101, 0.1, 0.102, 0.1])
    assert log.columns["line"][:4].tolist() == [3, 6, 7, 10]
    assert not any("left out" in remark for remark in log.remarks)


def test_a_cell_that_is_not_a_number_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [f'{step},"a\nb",{100 if step != 5 else "none of it"}\n' for step in range(1, 40)]
    assert any(
        "line 11, step_time_ms: 'none of it'" in remark for remark in read(tmp_path, HEAD + "".join(rows)).remarks
    )


def test_a_quote_that_does_not_end_takes_no_other_rows(tmp_path: Path) -> None:
    rows = [f"{step},{'a 5' if step != 5 else chr(34) + 'open'},100\n" for step in range(1, 400)]
    log = read(tmp_path, HEAD + "".join(rows))
    assert len(log.columns["step"]) >= 398
