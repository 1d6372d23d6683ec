"""What a header, a caption or a note says of the numbers in brackets: rates of a device, or ratios."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_printed_habits import ONCE, audited, speedups, table
from test_units_beside_tables import unit_of

OF_EACH = ("16;1,600 (100)", "32;3,040 (95)", "64;5,600 (87.5)")
OF_16 = [(16, 1.0), (32, 1.9), (64, 3.5)]


@pytest.mark.parametrize(
    "text",
    [
        table("GPUs;tokens/s (per GPU)", *OF_EACH),
        "Tokens per second (per GPU in parentheses).\n\n" + table("GPUs;Llama", *OF_EACH),
        "Tokens/s; brackets give tokens/s of each GPU.\n\n" + table("GPUs;Llama", *OF_EACH),
        "Tokens per second (per GPU in brackets).\n\n"
        + table("Model;16 GPUs;32 GPUs;64 GPUs", "Llama;1,600 (100);3,040 (95);5,600 (87.5)"),
    ],
    ids=["header", "caption", "sentence", "across"],
)
def test_rates_of_a_device_in_brackets_behind_those_of_all(text: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, text)
    assert (speedups(found), unit_of(found)) == (OF_16, "tokens/s")
    assert {"throughput", "throughput_per_gpu"} <= {one.role for one in found.source.columns}
    assert not found.remarks


def test_a_rate_in_brackets_that_contradicts_that_of_all(tmp_path: Path) -> None:
    rows = (*OF_EACH[:2], "64;5,600 (78.5)")
    (found,) = audited(tmp_path, table("GPUs;tokens/s (per GPU)", *rows))
    assert [(one.kind, one.gpus) for one in found.remarks] == [("throughput per device", 64)]


def test_brackets_whose_numbers_are_no_rates_of_a_device(tmp_path: Path) -> None:
    rows = ("16;100 (1.00)", "32;95 (0.95)", "64;87.5 (0.88)")
    (found,) = audited(tmp_path, table("GPUs;tokens/s (per GPU)", *rows))
    assert (speedups(found), found.source.column("throughput")) == (OF_16, None)


def test_rates_per_device_with_percentages_in_brackets(tmp_path: Path) -> None:
    words = "Numbers are per GPU TFLOP/s; parentheses give the percentage of the smallest run."
    rows = ("1;100 (100);-", "2;95 (95.0);80 (100)", "4;87.5 (78.5);76 (95.0)")
    first, second = audited(tmp_path, f"{words}\n\n" + table("GPUs;7B;13B", *rows))
    assert (speedups(first), speedups(second)) == (ONCE, [(2, 1.0), (4, 1.9)])
    assert [one.checked.efficiencies for one in (first, second)] == [3, 2]
    assert [(one.kind, one.gpus) for one in first.remarks] == [("efficiency", 4)]


@pytest.mark.parametrize(
    ("words", "unit", "cells"),
    [
        (
            "Samples/s; parentheses give the scaling efficiency.",
            "samples/s",
            ("100 (100%)", "190 (95%)", "350 (88%)"),
        ),
        ("Samples/s, with the efficiency in brackets.", "samples/s", ("100 (1.00)", "190 (0.95)", "350 (0.88)")),
        ("Samples/s. Speedup in parentheses.", "samples/s", ("100 (1.0)", "190 (1.9)", "350 (3.5)")),
        ("Time in seconds (efficiency in parentheses)", "s", ("100 (1.00)", "52.6 (0.95)", "28.57 (0.88)")),
    ],
)
def test_the_text_calls_numbers_in_brackets_ratios(
    words: str, unit: str, cells: tuple[str, ...], tmp_path: Path
) -> None:
    rows = [f"{gpus};{cell};{cell}" for gpus, cell in zip((1, 2, 4), cells, strict=True)]
    found = audited(tmp_path, f"{words}\n\n" + table("GPUs;ViT;Swin (base)", *rows))
    assert [(speedups(one), unit_of(one)) for one in found] == [(ONCE, unit)] * 2
    assert all(one.checked.efficiencies + one.checked.speedups == 3 and not one.remarks for one in found)


@pytest.mark.parametrize("what", ["standard deviation", "percentage of the peak", "number of runs"])
def test_other_numbers_in_brackets_are_no_ratios(what: str, tmp_path: Path) -> None:
    rows = ("1;100 (20);100 (21)", "2;190 (18);190 (19)", "4;350 (16);350 (17)")
    found = audited(tmp_path, f"Samples/s; the {what} is in parentheses.\n\n" + table("GPUs;ViT;Swin", *rows))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    assert not any(one.checked.efficiencies or one.checked.speedups or one.remarks for one in found)


@pytest.mark.parametrize(
    "words", ["Tokens/s, with the MFU in parentheses.", "Tokens/s. Brackets show the GPU utilization."]
)
def test_per_cents_in_brackets_that_a_sentence_calls_no_ratios(words: str, tmp_path: Path) -> None:
    rows = ("1;100 (45%);100 (44%)", "2;190 (44%);190 (43%)", "4;350 (41%);350 (40%)")
    found = audited(tmp_path, f"{words}\n\n" + table("GPUs;7B;13B", *rows))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    assert not any(one.checked.efficiencies or one.remarks for one in found)


def test_ratios_in_brackets_behind_numbers_across_devices(tmp_path: Path) -> None:
    rows = ("ViT;100 (100%);190 (95%);350 (78%)",)
    text = "Samples/s; parentheses give the efficiency.\n\n" + table("Model;1 GPU;2 GPUs;4 GPUs", *rows)
    (found,) = audited(tmp_path, text)
    assert (speedups(found), [(one.kind, one.gpus) for one in found.remarks]) == (ONCE, [("efficiency", 4)])
