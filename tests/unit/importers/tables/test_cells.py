"""Cells of tables as people print them: every form that a reader understands has its value and its last digit."""

from __future__ import annotations

import pytest
from scalestudy.importers.counts.cells import Count, read_count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import Printed, has_decimal_commas, is_blank, plain, read_cell


@pytest.mark.parametrize(
    ("text", "value", "last", "unit"),
    [
        ("**2.16×** (108 %)", 2.16, 0.01, "x"),
        ("~1,600 tok/s", 1600, 80, "tok/s"),
        ("22 297", 22297, 1, ""),
        ("12k", 12000, 1000, ""),
        ("(41.20, 0.35)", 41.2, 0.01, ""),
        ("x3.8", 3.8, 0.1, "x"),
        ("2.5M tok/s", 2.5e6, 1e5, "tok/s"),
        ("1,7", 1.7, 0.1, ""),
        ("1.460,8", 1460.8, 0.1, ""),
        ("0,923", 0.923, 0.001, ""),
        ("93.8 ± 0.4", 93.8, 0.1, ""),
        ("3.37×10⁵", 3.37e5, 1e3, ""),
        ("446 min", 446, 1, "min"),
        ("5\u2019551.2", 5551.2, 0.1, ""),
        ("1.2 k tok/s", 1200, 100, "tok/s"),
        ("1.47 x 10^-1", 0.147, 0.001, ""),
        (r"$1.7 \times 10^{1}$", 17, 1, ""),
        ("3.2\u00d710\u207b\u00b9", 0.32, 0.01, ""),
        (r"$\sim$12", 12, 1, ""),
        ("approx. `12.1`", 12.1, 0.605, ""),
        ("12 - baseline", 12, 1, ""),
        ("12, best", 12, 1, ""),
        ("2.1-fold", 2.1, 0.1, "x"),
        ("12 (ms)", 12, 1, "ms"),
        ("12 ^a^", 12, 1, ""),
        ("12\u1d43", 12, 1, ""),
        ("_12_", 12, 1, ""),
        ("[12](https://a.b/c_(d))", 12, 1, ""),
        ("[12][log]", 12, 1, ""),
        ("\u23f1\ufe0f 12 s", 12, 1, "s"),
        ("[7.60](#results)", 7.6, 0.01, ""),
    ],
)
def test_a_number_is_read_with_its_last_digit_and_unit(text: str, value: float, last: float, unit: str) -> None:
    cell = read_cell(text)
    assert (cell.printed, cell.unit) == (Printed(pytest.approx(value), pytest.approx(last)), unit)


@pytest.mark.parametrize(
    "text",
    [
        "inf",
        "fast",
        "45-60",
        "45 - 60",
        "12 - slower",
        "45 to 60",
        ">3",
        "1 / 2 / 4",
        "1e400",
        "٣",
        "",
        "n/a",
        "1.2.3",
    ],
)
def test_what_is_not_one_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        read_cell(text)


@pytest.mark.parametrize("text", ["", "-", "—", "N/A (baseline)", "nan", "OOM", "<N/A>", "TODO", "**-**"])
def test_blank_is_what_says_so(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}1")


def test_decimal_commas_are_decided_by_the_column() -> None:
    assert has_decimal_commas(["1,000", "1,92"]) is True
    assert has_decimal_commas(["1,000", "12,369.5"]) is False
    assert has_decimal_commas(["1,000", "2,000"]) is None
    assert read_cell("1,923", comma=True).printed == Printed(1.923, pytest.approx(0.001))
    assert read_cell("1,923").printed == Printed(1923, 1)


@pytest.mark.parametrize(("text", "seconds"), [("1h 40m", 6000), ("02:35:00", 9300), ("52m 10s", 3130)])
def test_durations(text: str, seconds: float) -> None:
    found = read_duration(text)
    assert found is not None
    assert found.value == seconds


def test_a_cell_cannot_take_long() -> None:
    """Only its beginning is read, without markup."""
    assert len(plain("[" * 10**6)) <= 400
    assert plain("<sup>1</sup>**a**<br>`b`") == "a b"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("8", Count(8)),
        ("8 (2 nodes)", Count(8, 2)),
        ("8x A100 (40GB)", Count(8, None, "A100 (40GB)")),
        ("2 nodes x 8 GPUs", Count(16, 2)),
        ("V100 x 8", Count(8, None, "V100")),
        ("2x g4dn.xlarge (DDP)", Count(2, None, "g4dn.xlarge", "DDP")),
        ("2 GPUs (NVLink)", Count(2, comment="NVLink")),
        ("4 nodes (32 GPUs)", Count(32, 4)),
        ("1,024", Count(1024)),
        ("8x 4090", Count(8, hardware="4090")),
        ("4x 3080 Ti", Count(4, None, "3080 Ti")),
        ("GPU\u00d78", Count(8)),
        ("8 [1 node]", Count(8, 1)),
        ("8 [2]", Count(8)),
        ("16 (2x8)", Count(16, 2)),
        ("2N x 8G", Count(16, 2)),
        ("2 nodes, 16 GPUs total", Count(16, 2)),
        ("A100-80G * 8", Count(8, None, "A100-80G")),
    ],
)
def test_devices_of_a_cell(text: str, count: Count) -> None:
    assert read_count(text) == count


@pytest.mark.parametrize("text", ["0", "1.5", "CPU", "1 / 2 / 4", "9" * 400])
def test_what_is_no_number_of_devices(text: str) -> None:
    with pytest.raises(ValueError, match="number"):
        read_count(text)


def test_devices_of_a_header() -> None:
    assert count_of_header("8 GPU training time") == (Count(8), "training time")
    assert count_of_header("Throughput (4 GPUs)") == (Count(4), "throughput")
    assert count_of_header("DP (4 GPU)") == (Count(4), "dp")
    assert count_of_header("2x 4090") == (Count(2, hardware="4090"), "")
    assert count_of_header("GPUs") is None


@pytest.mark.parametrize("text", ["DDP (1 GPU)", "DDP@1", "DDP[1]", "FSDP/1"])
def test_one_device_in_words(text: str) -> None:
    assert count_in_words(text).gpus == 1
