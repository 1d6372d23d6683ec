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


RATES = [410.0, 790.0, 1460.0]
GPUS = [1, 2, 4]


def devices_of(found: ss.Audit) -> list[list[int]]:
    return [case.points["devices"].tolist() for case in found.cases]


def test_headers_of_a_data_frame_may_be_numbers() -> None:
    frame = pd.DataFrame(list(zip(GPUS, RATES, strict=True)))
    found = ss.audit(frame, columns={0: "gpus", 1: "throughput"})
    assert devices_of(found) == [GPUS]
    assert found.cases[0].points["throughput"].tolist() == pytest.approx(RATES)


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(GPUS, name="GPUs"),
        pd.Index(["1 GPU", "2 GPUs", "4 GPUs"]),
        pd.MultiIndex.from_arrays([["ViT"] * 3, GPUS], names=["Model", "GPUs"]),
        pd.MultiIndex.from_arrays([[7, 8, 9], GPUS], names=[None, "GPUs"]),
    ],
)
def test_an_index_with_a_name_or_with_texts_is_a_column(index: pd.Index) -> None:
    frame = pd.DataFrame({"images/s": RATES}, index=index)
    before = frame.copy()
    assert devices_of(ss.audit(frame)) == [GPUS]
    pd.testing.assert_frame_equal(frame, before)


def test_an_index_that_numbers_the_rows_is_not_a_column() -> None:
    frame = pd.DataFrame({"GPUs": GPUS, "images/s": RATES}, index=[3, 5, 9])
    assert ss.audit(frame).read == ss.audit(frame.reset_index(drop=True)).read
    both = frame.set_index("GPUs", drop=False)
    assert devices_of(ss.audit(both)) == [GPUS], "set_index(drop=False) leaves the same numbers twice"
    both.index = pd.Index([2, 4, 8], name="GPUs")
    with pytest.raises(ss.UserError, match="its index and another column are called GPUs; rename one of them"):
        ss.audit(both)


@pytest.mark.parametrize("kind", ["timedelta64[ns]", "timedelta64[s]", "duration[ns][pyarrow]", object])
def test_durations_are_read_as_seconds(kind: str) -> None:
    times = pd.Series(pd.to_timedelta([400, 210, 110], unit="s")).astype(kind)
    found = ss.audit(pd.DataFrame({"GPUs": GPUS, "Epoch time": times}))
    written = ss.audit(pd.DataFrame({"GPUs": GPUS, "Epoch time (s)": [400, 210, 110]}))
    assert found.remarks == ()
    pd.testing.assert_frame_equal(found.cases[0].points, written.cases[0].points)


def test_durations_keep_their_fractions_and_gaps() -> None:
    times = [*pd.to_timedelta([400.5, 210, 110.25], unit="ms"), pd.NaT]
    found = ss.audit(pd.DataFrame({"GPUs": [*GPUS, 8], "Step time": times}), scaling="strong")
    assert found.cases[0].points["speedup"].tolist() == pytest.approx([1, 400.5 / 210, 400.5 / 110.25])


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), {}, "no column of devices"),
        (TABLE, {"scaling": "linear"}, "scaling: 'linear'; must be 'weak' or 'strong'"),
        (TABLE, {"columns": {"Speedup": "nonsense"}}, "no such kind of column"),
        (TABLE, {"columns": {"Elsewhere": "throughput"}}, "has no such column"),
        (TABLE, {"columns": {"Speedup": 3}}, "columns: 'Speedup': 3; must be a kind of column"),
        (TABLE, {"columns": {7: "throughput"}}, "has no such column"),
        (pd.DataFrame(), {}, "table: the data frame is empty: it has no columns"),
        (TABLE.iloc[:0], {}, "table: the data frame is empty: no rows below GPUs, images/s, Speedup"),
        (TABLE[["GPUs"]], {}, "no column of a throughput"),
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
