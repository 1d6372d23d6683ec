"""Snakemake's temporary folder goes with a call that ends, and with the call after one that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import Checkout, wait_for
from scalestudy.chain import temporary
from scalestudy.chain.temporary import MARK, OF_FONTS, mark_temporary, remove_dead_temporary
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


@pytest.mark.fault(
    fault="SIGKILL while figures are drawn",
    moment="publishing",
    outcome="not recorded",
    kept="every run",
    next_call="removes the temporary folder of the font, and draws the figures",
)
def test_the_font_of_a_killed_process_goes_with_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 17 of test_chaos.py found such a folder."""
    monkeypatch.setattr(temporary.tempfile, "tempdir", str(tmp_path))
    code = (
        "import sys; from scalestudy.publish.figures.font import families; families(('DejaVu Sans',));"
        "print('drawn', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        assert process.stdout is not None and process.stdout.readline() == b"drawn\n"
        remove_dead_temporary()
        assert len(list(tmp_path.glob(f"{OF_FONTS}*"))) == 1, "it is in use"
        process.kill()
    assert len(list(tmp_path.glob(f"{OF_FONTS}*"))) == 1
    remove_dead_temporary()
    assert not list(tmp_path.glob(f"{OF_FONTS}*"))


def test_this_process_marks_its_own(tmp_path: Path) -> None:
    mark_temporary(SimpleNamespace(_snakemake_tmp_dir=SimpleNamespace(name=str(tmp_path))))
    assert (tmp_path / MARK).exists()
    mark_temporary(SimpleNamespace())


def test_the_files_of_the_schedulers_solver_are_in_the_marked_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from scalestudy.chain.temporary import solve_in;"
        "solve_in(Path(sys.argv[1])); import pulp;"
        "found = [pulp.LpSolverDefault, *(pulp.getSolver(name) for name in ('PULP_CBC_CMD', 'COIN_CMD'))];"
        "print(*{solver.tmpDir for solver in found})"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(tmp_path)]
