"""Audits of the library: the same as those of the command, for files and data frames."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import scalestudy as ss

TABLE = pd.DataFrame({"GPUs": [1, 2, 4, 8], "images/s": [410, 790, 1460, 2610], "Speedup": [1.0, 1.93, 3.56, 6.7]})


def test_a_data_frame_and_its_file_have_the_same_audit(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "table.md").write_text(
        "| GPUs | images/s | Speedup |\n|---|---|---|\n"
        + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in TABLE.itertuples(index=False))
    )
    audits = [ss.audit(TABLE), ss.audit(tmp_path / "table.csv"), ss.audit(str(tmp_path / "table.md"))]
    for found in audits:
        (remark,) = found.remarks
        assert (remark.kind, remark.gpus) == ("speedup", 8)
        assert "printed 6.7, but the throughputs give 6.37" in remark.sentence
        (case,) = found.cases
        assert case.points["speedup"].tolist() == pytest.approx([1, 790 / 410, 1460 / 410, 2610 / 410])
        assert case.points["devices"].tolist() == [1, 2, 4, 8]
        assert (case.points["speedup_low"] <= case.points["speedup"]).all()
        assert found.read["line 1"]["GPUs"] == "number of devices"


def test_columns_and_scaling_are_what_the_caller_says() -> None:
    per_device = pd.DataFrame({"GPUs": [1, 8], "images/sec": [329, 307], "Notes": ["a", "b"]})
    with pytest.raises(ss.UserError, match="Is this per device"):
        ss.audit(per_device)
    found = ss.audit(per_device, columns={"images/sec": "throughput_per_gpu"})
    assert found.cases[0].points["speedup"].iloc[1] == pytest.approx(8 * 307 / 329)
    times = pd.DataFrame({"GPUs": [1, 8], "ms/step": [100, 110]})
    assert ss.audit(times, scaling="weak").cases[0].points["speedup"].iloc[1] == pytest.approx(8 / 1.1)
    assert ss.audit(times, scaling="strong").cases[0].points["speedup"].iloc[1] == pytest.approx(1 / 1.1)


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), {}, "no column of devices"),
        (TABLE, {"scaling": "linear"}, "scaling: 'linear'; must be 'weak' or 'strong'"),
        (TABLE, {"columns": {"Speedup": "nonsense"}}, "no such kind of column"),
        (TABLE, {"columns": {"Elsewhere": "throughput"}}, "has no such column"),
        (pd.DataFrame(), {}, "table"),
        ("no such file.csv", {}, "no such file.csv: no such file"),
        (17, {}, "table: 17; must be a path or a data frame"),
        (TABLE, {"columns": ["Speedup"]}, "columns: ['Speedup']; must be a dictionary"),
    ],
)
def test_wrong_input_is_refused_by_name(table: object, options: dict, said: str) -> None:
    with pytest.raises(ss.UserError) as error:
        ss.audit(table, **options)  # type: ignore[arg-type]
    assert said in str(error.value)
    assert len(str(error.value)) < 600
