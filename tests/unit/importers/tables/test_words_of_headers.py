"""Words of headers and sentences that say what numbers are: short forms, other languages, `per GPU`."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from test_plain_tables import read, series


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Thput", "throughput"),
        ("Throughtput (img/s)", "throughput"),
        ("tput [MB/s]", "throughput"),
        ("SU", "printed_speedup"),
        ("Effiency", "printed_efficiency"),
        ("Parallel effeciency", "printed_efficiency"),
        ("Output", "ignore"),
        ("Sufficiency", "ignore"),
        ("Deficiency", "ignore"),
    ],
)
def test_abbreviations_and_typing_errors_are_what_they_mean(header: str, role: str) -> None:
    assert meaning_of(header).role == role


@pytest.mark.parametrize(
    ("header", "role", "unit"),
    [
        ("mean [ms]", "time_s", "ms"),
        ("Median (s)", "time_s", "s"),
        ("std [s]", "ignore", ""),
        ("s/mday", "time_s", "s"),
        ("min/simulated year", "time_s", "min"),
        ("Thời gian (s)", "time_s", "s"),
        ("Số tiến trình (P)", "gpus", ""),
        ("Waktu (detik)", "time_s", "s"),
        ("Percepatan", "printed_speedup", ""),
        ("PE", "gpus", ""),
        ("Tokens/s (training time of 1T tokens)", "throughput", "tokens/s"),
        ("second_epoch_time", "total_time_s", ""),
        ("elapsed time (miliseconds)", "total_time_s", "ms"),
        ("T_total (s)", "total_time_s", "s"),
        ("T_comm (s)", "ignore", ""),
        ("Tmax (C)", "ignore", ""),
        ("TGS", "throughput_per_gpu", "tok/s"),
        ("Without CP TFLOPS / GPU", "throughput_per_gpu", "tflop/s"),
        ("Speedup with CP / without CP", "ignore", ""),
        ("Linear scaling (min)", "ignore", ""),
        ("Eff. BS", "global_batch", ""),
        ("img_s", "throughput", "img/s"),
        ("tokens_sec", "throughput", "tokens/s"),
        ("epoch_s", "total_time_s", "s"),
    ],
)
def test_what_a_header_is_of(header: str, role: str, unit: str) -> None:
    assert (meaning_of(header).role, meaning_of(header).unit) == (role, unit)


@pytest.mark.parametrize(
    "sentence",
    [
        "Samples/s are per GPU.",
        "All throughputs (samples per second) are given per GPU.",
        "Throughput numbers here are measured per device",
    ],
)
@pytest.mark.parametrize("below", [True, False])
def test_a_sentence_beside_a_table_says_whose_its_throughputs_are(
    tmp_path: Path, sentence: str, *, below: bool
) -> None:
    rows = "| GPUs | Samples/s |\n|---|---|\n| 1 | 389 |\n| 4 | 381 |\n| 8 | 377 |\n"
    text = f"{rows}\n{sentence}\n" if below else f"{sentence}\n\n{rows}"
    (audit,), asked, notes = read(tmp_path, text)
    assert not asked
    assert series([audit]) == {"table": [(1, 1.0), (4, 3.92), (8, 7.75)]}
    assert "per device, as stated beside the table" in notes


def test_a_batch_per_gpu_beside_a_table_says_nothing_of_its_throughputs(tmp_path: Path) -> None:
    rows = "| GPUs | Samples/s |\n|---|---|\n| 1 | 389 |\n| 4 | 1520 |\n"
    text = f"Throughput of training, batch size 32 per GPU\n\n{rows}"
    (audit,), _, notes = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (4, 3.91)]}
    assert not notes


def test_factors_below_strategies_are_speedups_if_they_grow(tmp_path: Path) -> None:
    text = """
| | DDP | FSDP |
|---|---|---|
| 2 GPUs | 1.9x | 1.7x |
| 4 GPUs | 3.7x | 3.2x |
| 8 GPUs | 7.2x | 6.1x |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"ddp": [(2, 1.9), (4, 3.7), (8, 7.2)], "fsdp": [(2, 1.7), (4, 3.2), (8, 6.1)]}
    falling = ("3.7x", "1.8x"), ("7.2x", "1.9x"), ("3.2x", "1.6x"), ("6.1x", "1.7x")
    for printed, other in falling:
        text = text.replace(printed, other)
    with pytest.raises(UserError, match="give --column again for each further column"):
        read(tmp_path, text)


def test_a_baseline_beside_several_devices_is_on_one(tmp_path: Path) -> None:
    text = """
| | Baseline | 2-GPU DP | 2-GPU DDP | 4-GPU DDP |
|---|---|---|---|---|
| Epoch time | 4m 12s | 3m 20s | 2m 14s | 1m 12s |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"dp": [(1, 1.0), (2, 1.26)], "ddp": [(1, 1.0), (2, 1.88), (4, 3.5)]}


def test_durations_in_days_and_about(tmp_path: Path) -> None:
    text = """
| Hardware | Training time |
|---|---|
| 1x V100 | ~ 2 d 4 h |
| 4x V100 | about 14.5 h |
| 8x V100 | 7 hours, 45 minutes |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (4, 3.59), (8, 6.71)]}


def test_a_time_that_the_user_names_has_the_unit_of_its_header(tmp_path: Path) -> None:
    text = "| GPUs | A (ms) |\n|---|---|\n| 1 | 412 |\n| 2 | 210 |\n"
    (audit,), _, _ = read(tmp_path, text, **{"A (ms)": "time_s"})
    assert audit.settled.series[0].rows[0].gpus == 1
    assert not audit.source.unknown_units


@pytest.mark.parametrize(
    ("header", "role", "factor"),
    [
        ("seconds / 100 iters", "step_time_s", 0.01),
        ("s/1k iters", "step_time_s", 0.001),
        ("1,000 steps (s)", "step_time_s", 0.001),
        ("s/it", "step_time_s", 1.0),
    ],
)
def test_the_time_of_several_steps_is_shared_among_them(header: str, role: str, factor: float) -> None:
    assert (meaning_of(header).role, meaning_of(header).factor) == (role, factor)


@pytest.mark.parametrize("outer", ['{"threads": INNER}', '{"host": "a", "runs": {"threads": INNER}}'])
def test_json_with_an_object_for_each_number_of_devices(tmp_path: Path, outer: str) -> None:
    inner = '{"1": {"time_s": 4.0}, "2": {"time_s": 2.1}, "4": {"time_s": 1.2}}'
    (audit,), _, _ = read(tmp_path, outer.replace("INNER", inner))
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.9), (4, 3.33)]}


def test_json_whose_keys_name_devices(tmp_path: Path) -> None:
    text = '{"model": "x", "runs": {"1gpu": {"img_s": 402}, "2gpu": {"img_s": 790}, "4gpu": {"img_s": 1500}}}'
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.97), (4, 3.73)]}


def test_json_whose_keys_may_be_anything_is_asked_about(tmp_path: Path) -> None:
    text = '{"results": {"16": {"img_s": 402}, "32": {"img_s": 790}}}'
    with pytest.raises(UserError, match="--column 'results=gpus'"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("headers", "roles"),
    [
        ("Numero di processi|Tempo (s)|Accelerazione|Efficienza", "gpus time_s S E"),
        ("Aantal processen|Looptijd (s)|Versnelling|Efficiëntie", "gpus time_s S E"),
        ("Αριθμός νημάτων|Χρόνος εκτέλεσης (s)|Επιτάχυνση|Αποδοτικότητα", "gpus time_s S E"),
        ("Liczba rdzeni|Czas wykonania [s]|Przyśpieszenie|Efektywność", "gpus time_s S E"),
        ("Počet jader|Čas běhu [s]|Zrychlení|Efektivita", "gpus time_s S E"),
        ("Antal trådar|Körtid (s)|Uppsnabbning|Effektivitet", "gpus time_s S E"),
        ("Antal kerner|Kørselstid (s)|Speedup|Effektivitet", "gpus time_s S E"),
        ("Szálak száma|Futási idő (s)|Gyorsulás|Hatékonyság", "gpus time_s S E"),
        ("Număr de nuclee|Timp de execuție (s)|Accelerare|Eficiență", "gpus time_s S E"),
        ("Кількість потоків|Час виконання, с|Прискорення|Ефективність", "gpus time_s S E"),
        ("Число процессоров|Время (час)|Ускорение|Энергоэффективность", "gpus time_s S ignore"),
        ("Liczba węzłów|tid|Energieeffizienz|trader", "nodes ignore ignore ignore"),
    ],
)
def test_headers_in_other_languages(headers: str, roles: str) -> None:
    short = {"S": "printed_speedup", "E": "printed_efficiency"}
    assert [meaning_of(one).role for one in headers.split("|")] == [short.get(one, one) for one in roles.split()]


@pytest.mark.parametrize(
    ("header", "printed"), [("Αριθμός νημάτων", "Αριθμός νημάτων"), ("Time (μs)", "Time (us)"), ("10 µs", "10 us")]
)
def test_the_factor_of_a_unit_is_no_letter_of_a_greek_word(header: str, printed: str) -> None:
    assert plain(header) == printed


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("# of A100s", "gpus"),
        ("No. of RTX 4090s", "gpus"),
        ("Dask workers (1 per GPU)", "gpus"),
        ("Ray workers", "gpus"),
        ("# of BF16", "ignore"),
        ("Number of P99", "ignore"),
    ],
)
def test_numbers_of_kinds_of_devices(header: str, role: str) -> None:
    assert meaning_of(header).role == role
