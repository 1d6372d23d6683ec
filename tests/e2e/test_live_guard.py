"""`scalestudy guard` on a script that trains: slower by a sleep, and equal to itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import handlers_kept
from own_scripts import EQUAL_BATCHES, HEAD
from scalestudy.analyse.guard.pairs import GuardFile
from scalestudy.cli.main import main
from scalestudy.record.document import read_document
from scalestudy.record.observation import read_record
from scalestudy.registry.codes import Guarded

SCRIPT = (
    HEAD.replace("SAMPLES", "4096")
    + """
pause = float(sys.argv[2])
train(after=lambda step: time.sleep(pause))
"""
)
STEP, SLOWER = "0.010", "0.013"
"""Seconds that a step sleeps: most of it, so that a host that is a little busy changes little."""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def guarded(folder: Path, before: str, after: str, *more: str) -> tuple[int, GuardFile]:
    """(exit status, the records) of 4 pairs with these seconds of sleep in a step."""
    words = ["--fail-if", "step_time > +3%", "--launches", "4", "--batch-size", "8", "--device", "cpu"]
    words += ["--results", "guarded", "--against-command", f"train.py 8 {before}", *more]
    with handlers_kept():
        status = main(["guard", *words, "--", "train.py", "8", after])
    return status, read_document(folder / "guarded" / "guard.json", GuardFile)


@pytest.mark.slow
@pytest.mark.alone
def test_a_slower_script_ends_with_1(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = guarded(script, STEP, SLOWER)
    said = capsys.readouterr().out
    (check,) = found.checks
    assert " ".join(said.split()).endswith(found.sentence)
    disturbed = [bool(pair.spoiled) for pair in found.pairs]
    if sum(disturbed) > 2:  # another program used the host
        assert (status, check.answer) == (3, Guarded.CANNOT_TELL), said
        assert "measured under other load on the host, so they show nothing" in found.sentence
    elif any(disturbed):
        assert status in (1, 3), said
    else:
        assert (status, check.answer) == (1, Guarded.WORSE), said
        assert found.sentence.startswith("Worse: step time of train.py")
        assert 0.15 < check.change < 0.45 and check.change_low > 0.03
    assert found.answer == check.answer
    assert [pair.first for pair in found.pairs] == ["before", "after", "after", "before"]
    records = [
        read_record(script / "guarded" / "runs" / run) for pair in found.pairs for run in (pair.before, pair.after)
    ]
    assert {record.outcome for record in records} == {"ok"} and len(records) == 8, "all that was measured is kept"


@pytest.mark.slow
def test_a_script_against_itself_does_not_end_with_1(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = guarded(script, STEP, STEP)
    assert status in (0, 3), capsys.readouterr().out
    assert status == {Guarded.WITHIN: 0, Guarded.CANNOT_TELL: 3}[found.checks[0].answer]


def test_a_script_that_fails_is_a_mistake(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with handlers_kept():
        words = ["--fail-if", "step_time > +3%", "--batch-size", "8", "--device", "cpu", "--results", "guarded"]
        assert main(["guard", *words, "--against-command", "train.py 8", "--", "train.py", "8", "0"]) == 2
    said = capsys.readouterr().err
    assert "(before the change): run " in said and "ended as failed" in said and "log.txt" in said


def test_ranks_with_equal_batches_are_refused_before_they_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(dedent(EQUAL_BATCHES))
    words = ["guard", "--fail-if", "step_time > +300%", "--launches", "2", "--device", "cpu", "--scale", "1x2"]
    words += ["--results", "guarded", "--against-command", "train.py 8"]
    with handlers_kept():
        assert main([*words, "--", "train.py", "8"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "the script was tried before the change: ranks 0 and 1 read identical samples" in said
    assert said.endswith("accept this with --allow-equal-batches") and not (tmp_path / "guarded").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="no git; apt-get install git")
@pytest.mark.alone
def test_a_slower_working_tree_ends_with_1(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change is in a package that is found by a path of the working tree, as an editable install is."""
    package = script / "src" / "paces" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text(f"PAUSE = {STEP}\n")
    text = SCRIPT.replace("pause = float(sys.argv[2])", "from paces import PAUSE as pause")
    (script / "train.py").write_text(text)
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *person, *words], check=True)
    package.write_text(f"PAUSE = {SLOWER}\n")
    monkeypatch.setenv("PYTHONPATH", str(script / "src"))
    words = ["--fail-if", "step_time > +3%", "--launches", "4", "--batch-size", "8", "--device", "cpu"]
    with handlers_kept():
        assert main(["guard", *words, "--results", "guarded", "--against", "HEAD", "--", "train.py", "8"]) == 1
    found = read_document(script / "guarded" / "guard.json", GuardFile)
    assert 0.15 < found.checks[0].change < 0.45
    assert found.before.startswith("train.py 8 in HEAD (") and found.after == "train.py 8 in working tree"
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1
