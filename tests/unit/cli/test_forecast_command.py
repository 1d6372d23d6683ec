"""`scalestudy forecast`: a table is read as in an audit, and its series are continued with limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scalestudy.cli.main import main

TABLE = "GPUs,Throughput (images/s)\n1,410\n2,790\n4,1460\n"
NODES = "nodes,gpus,images/sec\n1,8,2600\n2,16,5000\n4,32,9700\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """(exit status, stdout in single spaces, stderr)."""
    status = main(["forecast", *map(str, words)])
    out, err = capsys.readouterr()
    return status, " ".join(out.split()), err


def limits_of(out: str, gpus: int) -> list[float]:
    """Speedup of a forecast, with its limits."""
    found = re.search(rf" {gpus}\* \S+ \[[^]]+\] (\S+) \[(\S+), (\S+)\]", out)
    assert found, out
    return [float(number) for number in found.groups()]


def test_the_next_sizes_have_limits_and_a_note(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = said(capsys, table)
    assert (status, err) == (0, "")
    assert out.startswith("The table at line 1 was read as follows. GPUs: number of devices")
    assert "a node has 8 devices (assumed; otherwise add --node N)" in out
    assert "weak scaling: constant batch per device (assumed; otherwise add --scaling strong)" in out
    assert "Baseline: 1 device, 410 images/s" in out
    value, low, high = limits_of(out, 8)
    assert 4 < low < value < high <= 8
    assert "No forecast for 16 devices: no scale with 8 devices on each of several nodes was measured" in out
    assert "Note: a forecast cannot see a resource that saturates only beyond the measured sizes" in out


def test_several_nodes_are_forecast_once_two_were_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text(NODES)
    status, out, _ = said(capsys, path, "--to", "128")
    assert status == 0
    near, far = limits_of(out, 64), limits_of(out, 128)
    assert near[2] / near[1] < far[2] / far[1]
    assert "a node has 8 devices." in out


def test_a_size_beyond_what_can_be_told_ends_with_3(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, table, "--at", "32", "--node", "64")
    assert status == 3
    assert "No forecast for 32 devices: 32 ranks are 8 times the largest measured size" in out


def test_several_sizes_behind_one_option(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, "--at", "6", "8", table, "--node", "8")
    assert status == 0
    assert limits_of(out, 6) < limits_of(out, 8)


def test_a_size_between_others_is_in_its_place_and_its_limits_include_the_error_of_a_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{TABLE}8,2640\n")
    _, out, _ = said(capsys, path, "--at", "6", "--node", "8")
    value, low, high = limits_of(out, 6)
    assert low < 0.97 * value
    assert high > 1.03 * value
    assert out.index(" 6* ") < out.index(" 8 2640 ")


def test_rows_that_are_taken_together_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        "GPUs,Batch per GPU,Throughput\n1,64,410 img/s\n2,64,790 img/s\n2,64,800 img/s\n4,64,1460 img/s\n"
    )
    _, out, _ = said(capsys, path)
    together = "Taken together: lines 3 and 4 are one configuration by all columns that were read"
    assert f"{together}; their geometric mean is used." in out


def test_more_than_linear_scaling_is_not_forecast_without_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("GPUs,Throughput (images/s)\n1,100\n2,206\n4,420\n")
    _, out, _ = said(capsys, path)
    assert "Note: an efficiency above 100 % only continues the measured ones" in out
    path.write_text(TABLE)
    _, out, _ = said(capsys, path)
    assert "only continues" not in out


def test_a_measured_size_is_not_forecast_and_that_is_said(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, table, "--at", "4")
    assert status == 0
    assert "No forecast for 4 devices: measured, in the table above." in out


def test_limits_grow_with_confidence(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, narrow, _ = said(capsys, table, "--at", "8", "--confidence", "0.5")
    _, wide, _ = said(capsys, table, "--at", "8", "--confidence", "0.95")
    assert limits_of(wide, 8)[1] < limits_of(narrow, 8)[1] < limits_of(narrow, 8)[2] < limits_of(wide, 8)[2]


def test_a_column_can_be_corrected_as_in_an_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("gpus,whatever\n1,410\n2,790\n4,1460\n")
    status, _, err = said(capsys, path)
    assert status == 2
    assert "--column 'whatever=throughput'" in err
    assert said(capsys, path, "--column", "whatever=throughput")[0] == 0


def test_strong_scaling_is_read_from_the_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "strong.csv"
    path.write_text("gpus,batch_per_gpu,images/s\n1,64,410\n2,32,790\n4,16,1460\n")
    _, out, _ = said(capsys, path)
    assert "Read as: strong scaling: the global batch is constant. " in out


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_figure_has_the_format_of_its_name(
    table: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"made.{suffix}"
    assert said(capsys, table, "--figure", path)[0] == 0
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(begin)
    if suffix == "svg":
        ElementTree.parse(path)
        again = path.read_bytes()
        said(capsys, table, "--figure", path)
        assert path.read_bytes() == again, "equal data give equal bytes"


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (TABLE, ["--figure", "x.gif"], "--figure x.gif: must end in .svg, .png or .pdf"),
        ("gpus,throughput\n4,10\n", [], "no series has a throughput or a time at two sizes"),
        ("gpus,speedup\n1,1\n2,1.9\n", [], "no series has a throughput or a time at two sizes"),
        (TABLE, ["--at", "0"], "0 is not in the range"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, text: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    status, _, err = said(capsys, path, *words)
    assert status == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_it_reads_well_in_eighty_columns(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forecast", str(table), "--node", "16"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.isascii()


def test_a_further_row_on_as_many_devices_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("GPUs,batch size,images/s\n1,64,410\n2,,790\n4,64,1460\n4,32,1300\n8,64,2700\n")
    status, out, err = said(capsys, path, "--at", "16", "--node", "16")
    assert (status, err) == (0, "")
    assert "Left out, since an earlier row has as many devices: 4 devices." in out


@pytest.mark.parametrize(
    ("header", "times", "options", "shown", "base", "work"),
    [
        ("epoch time (min)", (80, 45, 26), (), "time (s)", "time 4800 s", lambda devices: 4800.0),
        ("time", (100, 52, 28), (), "time", "time 100.0", lambda devices: 100.0),
        ("step time (ms)", (100, 108, 125), ("--scaling", "weak"), "step time (s)", "step time 0.100 s", None),
    ],
)
def test_a_table_of_times_has_forecasts_of_times(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    header: str,
    times: tuple[float, ...],
    options: tuple[str, ...],
    shown: str,
    base: str,
    work: Callable[[int], float] | None,
) -> None:
    """Time and speedup of a forecast agree: of constant work, or of work that grows with the devices."""
    path = tmp_path / "times.csv"
    path.write_text(f"GPUs,{header}\n" + "".join(f"{2**at},{time}\n" for at, time in enumerate(times)))
    _, out, _ = said(capsys, path, "--at", "8", *options)
    assert f" devices {shown} speedup efficiency %" in out
    assert f"Baseline: 1 device, {base} devices" in out
    found = re.search(r" 8\* (\S+) \[(\S+), (\S+)\] ", out)
    assert found
    value, low, high = map(float, found.groups())
    speedup, slowest, fastest = limits_of(out, 8)
    whole = work(8) if work else 0.1 * 8
    for time, times_as_fast in ((value, speedup), (low, fastest), (high, slowest)):
        assert time == pytest.approx(whole / times_as_fast, rel=0.03)


def test_an_audit_shows_the_times_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rows of one configuration have their geometric mean."""
    path = tmp_path / "times.csv"
    path.write_text("GPUs,Time (s)\n1,100\n2,50\n2,72\n4,30\n")
    main(["audit", str(path)])
    out = " ".join(capsys.readouterr().out.split())
    assert "GPUs time (s) speedup" in out
    assert "1 100 1.00 100.0" in out
    assert "2 60 1.67 83.3" in out
    assert "4 30 3.33 83.3" in out
