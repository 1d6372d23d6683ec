"""Snakemake's temporary folder goes with a call that ends, and with the call after one that was killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import Checkout, wait_for
from scalestudy.chain import temporary
from scalestudy.chain.temporary import MARK, mark_temporary, remove_dead_temporary
from scalestudy.record.lock import exclusive


def test_the_folder_of_a_killed_call_goes_with_the_next(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    call = checkout.start("snakemake", "results/tiny/runs.csv")
    wait_for(lambda: list(folder.glob(f"snakemake*/{MARK}")))
    os.killpg(call.pid, signal.SIGKILL)
    call.wait()
    assert list(folder.glob("snakemake*"))
    checkout.run("snakemake", "results/tiny/plan.json")
    assert [path.name for path in folder.iterdir()] == []


def test_folders_of_live_calls_and_of_others_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary.tempfile, "tempdir", str(tmp_path))
    live, foreign, dead = (tmp_path / f"snakemake{name}" for name in ("live", "foreign", "dead"))
    for folder in (live, foreign, dead):
        folder.mkdir()
    (foreign / "other").touch()
    (dead / MARK).touch()
    with exclusive(live / MARK, waiting=lambda: None):
        remove_dead_temporary()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["snakemakeforeign", "snakemakelive"]


def test_this_process_marks_its_own(tmp_path: Path) -> None:
    mark_temporary(SimpleNamespace(_snakemake_tmp_dir=SimpleNamespace(name=str(tmp_path))))
    assert (tmp_path / MARK).exists()
    mark_temporary(SimpleNamespace())
