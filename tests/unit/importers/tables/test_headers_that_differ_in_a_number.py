"""Devices across: headers that differ in one number only, with the words, letters and units that people write."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from test_plain_tables import read, series

TIMES = """
    Time p={n}
    Time (p={n})
    p={n} time
    P = {n} (s)
    np={n} (s)
    Time {n}T
    {n}T (s)
    {n} t (s)
    {n} thr (ms)
    ms ({n} thr)
    x{n} (s)
    {n}x (s)
    {n}w (s)
    {n}C (s)
    {n} nodes (s)
    Time ({n} nodes)
    Runtime on {n} nodes
    Run with {n} processes (s)
    using {n} GPUs (s)
    Wall time {n} ranks (s)
    workers={n} (s)
    OMP {n} (s)
    OpenMP ({n}) s
    MPI {n} (s)
    Parallel ({n}) ms
    {n}-way parallel (s)
    GPU x{n} (s)
    gpu{n}_time
    time_{n}_gpus_s
    -j{n} (s)
    #{n} (s)
    {n} dev (s)
    {n} hilos (s)
    {n} потоков, с
    T({n})
    T_{n}
    T{n} (s)
    t({n}) [s]
    {n} (s)
    sec @{n}
"""
RATES = """
    Throughput {n} GPUs (img/s)
    Throughput @{n}
    Throughput ({n})
    throughput_{n}
    {n}gpu_imgs_per_sec
    GPUx{n} FPS
    GPU*{n} FPS
    {n}x A100 (tok/s)
    {n} V100 (img/s)
    V100 x {n} img/s
    DDP x{n} (img/s)
    DDP-{n} (img/s)
    FSDP {n} (tok/s)
    DP={n} (tok/s)
    #GPU={n} (img/s)
    samples/sec {n}g
    1n{n}g (img/s)
"""
SIZES = (1, 2, 4, 8)


def _table(template: str, rows: list[tuple[str, ...]], numbers: tuple[int, ...] = SIZES) -> str:
    header = "|".join(["Model", *(template.replace("{n}", str(number)) for number in numbers)])
    return (
        "\n".join([f"|{header}|", "|---" * (len(numbers) + 1) + "|", *(f"|{'|'.join(row)}|" for row in rows)])
        + "\n"
    )


def _forms(text: str) -> list[str]:
    return [*filter(None, map(str.strip, text.splitlines()))]


@pytest.mark.parametrize("template", _forms(TIMES))
def test_times_below_numbers_of_devices(template: str, tmp_path: Path) -> None:
    rows = [("ResNet-50", "100", "52", "27", "14.5"), ("VGG-16", "210", "109", "56", "30")]
    audits, _, _ = read(tmp_path, _table(template, rows))
    assert list(series(audits).values()) == [
        [(1, 1.0), (2, 1.92), (4, 3.7), (8, 6.9)],
        [(1, 1.0), (2, 1.93), (4, 3.75), (8, 7.0)],
    ]


@pytest.mark.parametrize("template", _forms(RATES))
def test_rates_below_numbers_of_devices(template: str, tmp_path: Path) -> None:
    rows = [("ResNet-50", "100", "190", "370", "690"), ("VGG-16", "52", "101", "195", "371")]
    audits, _, _ = read(tmp_path, _table(template, rows))
    assert [found[-1] for found in series(audits).values()] == [(8, 6.9), (8, 7.13)]


SPEEDUPS = """
    Speedup ({n})
    Speedup x{n}
    Speedup@{n}
    Speedup {n}T
    {n}T speedup
    {n}x speedup
    speedup_{n}
    Speedup p={n}
    S({n})
    S_{n}
"""
EFFICIENCIES = """
    Efficiency ({n})
    Eff@{n}
    Eff. {n}T
    efficiency_{n}
    {n} ranks efficiency
    E({n})
"""


@pytest.mark.parametrize(
    ("template", "role", "cells"),
    [
        *((one, "printed_speedup", ("1.92", "3.7", "6.9")) for one in _forms(SPEEDUPS)),
        *((one, "printed_efficiency", ("0.96", "0.93", "0.86")) for one in _forms(EFFICIENCIES)),
    ],
)
def test_ratios_below_numbers_of_devices(template: str, role: str, cells: tuple[str, ...], tmp_path: Path) -> None:
    audits, _, _ = read(tmp_path, _table(template, [("A", *cells), ("B", *cells)], (2, 4, 8)))
    found = [[(scale.row.gpus, scale.row.number(role)) for scale in audit.table.scales] for audit in audits]
    assert found == [list(zip((2, 4, 8), map(float, cells), strict=True))] * 2


def test_numbers_that_are_no_speedups_on_such_devices_are_no_devices(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, _table("S{n}", [("A", "12", "37", "69"), ("B", "13", "38", "70")], (2, 4, 8)))


def test_a_note_says_where_only_the_numbers_show_what_they_are(tmp_path: Path) -> None:
    rows = [("ResNet-50", "100", "52", "27", "14.5"), ("VGG-16", "210", "109", "56", "30")]
    _, _, notes = read(tmp_path, _table("{n} (s)", rows))
    assert "the numbers in headers such as 1 (s) and 2 (s) are read as numbers of devices" in notes
    _, _, notes = read(tmp_path, _table("OMP {n} (s)", rows))
    assert "numbers in headers" not in notes


@pytest.mark.parametrize(
    ("template", "numbers"),
    [
        ("k={n} time (s)", SIZES),
        ("size {n} (s)", SIZES),
        ("batch {n} (s)", SIZES),
        ("seq {n} (s)", (128, 256, 512)),
        ("{n} MB (s)", SIZES),
        ("p{n} (ms)", (50, 95, 99)),
        ("epoch {n} (s)", SIZES),
        ("T{n} (s)", (1, 2, 3)),
        ("P{n} (s)", (1, 2, 3)),
        ("{n} W (s)", (100, 200, 400)),
        ("{n} (s)", (100, 200, 400)),
    ],
)
def test_numbers_of_other_things_are_no_devices(template: str, numbers: tuple[int, ...], tmp_path: Path) -> None:
    rows = [("A", *("100", "52", "27", "14")[: len(numbers)]), ("B", *("210", "109", "56", "30")[: len(numbers)])]
    with pytest.raises(UserError):
        read(tmp_path, _table(template, rows, numbers))


def test_numbers_without_a_unit_are_asked_about(tmp_path: Path) -> None:
    rows = [("A", "100", "52", "27", "14"), ("B", "210", "109", "56", "30")]
    with pytest.raises(UserError, match="what are the numbers below the devices"):
        read(tmp_path, _table("{n}p", rows))


def test_numbers_that_do_not_change_with_the_header_show_nothing(tmp_path: Path) -> None:
    rows = [("A", "100", "152", "207", "314"), ("B", "210", "309", "456", "630")]
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, _table("{n} (s)", rows))


LABELS = """
    {n}T
    T{n}
    {n}p
    {n}c
    {n}w
    {n} thr
    OpenMP ({n})
    MPI ({n})
    Parallel ({n})
    par{n}
    {n} tasks
    {n} jobs
    {n}-way
    make -j {n}
    #{n}
    strong_{n}
    scaling-{n}
"""


def _rows_of(label: str) -> list[str]:
    times = zip(SIZES, (100, 52, 27, 14.5), strict=True)
    return [f"| {label.replace('{n}', str(size))} | {time} |" for size, time in times]


@pytest.mark.parametrize("label", _forms(LABELS))
def test_labels_with_numbers_of_devices(label: str, tmp_path: Path) -> None:
    rows = _rows_of(label)
    audits, _, notes = read(tmp_path, "\n".join(["| Setup | Time (s) |", "|---|---|", *rows, ""]))
    assert list(series(audits).values()) == [[(1, 1.0), (2, 1.92), (4, 3.7), (8, 6.9)]]
    assert "are read as numbers of devices" in notes


def test_the_serial_run_among_them_is_one_device(tmp_path: Path) -> None:
    text = "| Version | Time (s) |\n|---|---|\n| Serial | 100 |\n| 2T | 52 |\n| 4T | 27 |\n| 8T | 14.5 |\n"
    audits, _, _ = read(tmp_path, text)
    assert list(series(audits).values()) == [[(1, 1.0), (2, 1.92), (4, 3.7), (8, 6.9)]]


@pytest.mark.parametrize(
    "label", ["size={n}", "k={n}", "batch={n}", "bs{n}", "dim {n}", "run-{n}", "bench_{n}", "test[{n}]"]
)
def test_labels_with_other_numbers_are_no_devices(label: str, tmp_path: Path) -> None:
    rows = _rows_of(label)
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, "\n".join(["| Setup | Time (s) |", "|---|---|", *rows, ""]))


def test_tokens_in_labels_whose_times_grow_are_no_devices(tmp_path: Path) -> None:
    text = "| Tokens | Time (h) |\n|---|---|\n| 1T | 100 |\n| 2T | 203 |\n| 4T | 406 |\n"
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, text)


def _of_quantities(corner: str, template: str) -> str:
    header = " | ".join(template.replace("{n}", str(size)) for size in SIZES)
    return f"""
| {corner} | {header} |
|---|---|---|---|---|
| Time (s) | 100 | 52 | 27 | 14.5 |
| Speedup | 1.00 | 1.92 | 3.70 | 6.90 |
| Efficiency | 100% | 96% | 93% | 86% |
"""


@pytest.mark.parametrize(
    "template", ["{n}T", "T{n}", "x{n}", "#{n}", "-j{n}", "N{n}", "w={n}", "{n} (1 node)", "{n}"]
)
@pytest.mark.parametrize("corner", ["Metric", "", "Threads"])
def test_rows_of_quantities_below_such_headers(corner: str, template: str, tmp_path: Path) -> None:
    audits, _, _ = read(tmp_path, _of_quantities(corner, template))
    assert list(series(audits).values()) == [[(1, 1.0), (2, 1.92), (4, 3.7), (8, 6.9)]]
    assert audits[0].checked.speedups == 4 and not audits[0].remarks


def test_numbered_runs_are_no_devices(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, _of_quantities("Metric", "run {n}"))


def test_bare_numbers_need_speedups_that_follow(tmp_path: Path) -> None:
    text = "| Metric | 1 | 2 | 4 |\n|---|---|---|---|\n| Time (s) | 100 | 52 | 27 |\n"
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, text)


def _of_two_names(form: str, names: tuple[str, str]) -> str:
    times = {names[0]: (100, 52, 27), names[1]: (110, 60, 32)}
    rows = [
        f"| {form.replace('{s}', name).replace('{n}', str(size))} | {time} |"
        for name, found in times.items()
        for size, time in zip((1, 2, 4), found, strict=True)
    ]
    return "\n".join(["| Configuration | Time (s) |", "|---|---|", *rows, ""])


@pytest.mark.parametrize(
    "form", ["{s}-{n}", "{s} ({n})", "{s} / {n}", "{s}_{n}", "{s} {n}T", "{s} {n}", "{n} x A100 {s}"]
)
@pytest.mark.parametrize(
    "names", [("DDP", "FSDP"), ("ResNet-50", "VGG-16"), ("OpenMP", "pthreads"), ("Ours", "PyTorch")]
)
def test_labels_of_several_names_with_numbers_of_devices(
    form: str, names: tuple[str, str], tmp_path: Path
) -> None:
    audits, _, _ = read(tmp_path, _of_two_names(form, names))
    assert list(series(audits).values()) == [[(1, 1.0), (2, 1.92), (4, 3.7)], [(1, 1.0), (2, 1.83), (4, 3.44)]]
    assert not any(audit.remarks for audit in audits)


@pytest.mark.parametrize("form", ["{s} bs{n}", "{s} size {n}", "{s}, batch {n}"])
def test_labels_of_several_names_with_other_numbers_are_no_devices(form: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, _of_two_names(form, ("FP16", "INT8")))
