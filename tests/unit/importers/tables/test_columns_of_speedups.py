"""Several columns of speedups without times, which the caption names."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from test_printed_habits import audited, table

CAPTIONS = ("Speedup over the sequential Fortran program (61.3 s)", "Speedup")


@pytest.mark.parametrize("caption", CAPTIONS)
@pytest.mark.parametrize("rows", [["1;0.74;0.97;0.93", "2;1.45;1.92;1.84", "4;2.81;3.69;3.61"]])
def test_speedups_below_one_on_one_core_are_all_speedups(tmp_path: Path, caption: str, rows: list[str]) -> None:
    found = audited(tmp_path, f"{caption}\n\n{table('Cores;Kokkos;OpenMP;MPI', *rows)}")
    assert [(one.source.name, one.settled.rate) for one in found] == [("kokkos", ""), ("openmp", ""), ("mpi", "")]
    assert [{remark.kind for remark in one.remarks} for one in found] == [{"no base case"}] * 3


@pytest.mark.parametrize("caption", ["Weak scaling", "Speedup"])
def test_rates_below_one_on_one_device_are_no_ratios(tmp_path: Path, caption: str) -> None:
    with pytest.raises(UserError, match="no column of a throughput"):
        audited(tmp_path, f"{caption}\n\n{table('GPUs;A;B', '1;0.31;0.59', '2;0.57;1.07', '4;1.12;1.55')}")


@pytest.mark.parametrize("shares", [("0.02", "0.06", "0.15"), ("0.80", "0.81", "0.82")])
def test_shares_below_a_caption_of_speedups_are_none(tmp_path: Path, shares: tuple[str, ...]) -> None:
    rows = [f"{row};{share}" for row, share in zip(("1;1.00", "2;1.92", "4;3.69"), shares, strict=True)]
    (found,) = audited(tmp_path, f"Speedup\n\n{table('Cores;OpenMP;Idle', *rows)}")
    assert (found.source.unread, found.checked.speedups) == (("Idle",), 0)
