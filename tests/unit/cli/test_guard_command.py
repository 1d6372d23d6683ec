"""`scalestudy guard` before anything runs: sides, revisions, and refusals."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from conftest import handlers_kept, small_content
from scalestudy.cli.guard import sides
from scalestudy.cli.guard.revisions import TEMPORARY, Place, checked_out, working_tree
from scalestudy.cli.guard.sides import Wanted, place_study, script_of, side_of_command, sides_of_studies
from scalestudy.cli.main import main
from scalestudy.errors import UserError
from scalestudy.study.config.load import parse_study
from scalestudy.study.spec import CommandSpec

LIMIT = ("--fail-if", "step_time > +3%")
WANTED = Wanted(
    scale=None,
    batch_size=8,
    device="cpu",
    cores_per_rank=1,
    epochs=0,
    run_to_end=False,
    allow_equal_batches=False,
)
UNTOLD = replace(WANTED, batch_size=None)
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git; apt-get install git")


def git(folder: Path, *words: str) -> str:
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *person, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package in src, whose second commit changes the script; the working tree has a third."""
    root = tmp_path / "a repository"
    (root / "src" / "package").mkdir(parents=True)
    (root / "jobs").mkdir()
    git(root, "init", "-q", "-b", "main")
    for number in (1, 2):
        (root / "jobs" / "train.py").write_text(f"print({number})\n")
        (root / "src" / "package" / "__init__.py").write_text("")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", str(number))
    (root / "jobs" / "train.py").write_text("print(3)\n")
    (root / "jobs" / "data").mkdir()
    monkeypatch.chdir(root / "jobs")
    return root


@needs_git
def test_a_revision_is_a_folder_of_its_own_for_a_while(repository: Path) -> None:
    with checked_out("HEAD~1", [Path("data")]) as place:
        assert (place.folder / "train.py").read_text() == "print(1)\n"
        assert (place.folder / "data").resolve() == repository / "jobs" / "data"
        assert place.name.startswith("HEAD~1 (")
        assert working_tree().folder == Path.cwd()
        kept = place.root
    assert not kept.exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert Path("train.py").read_text() == "print(3)\n", "the working tree is as it was"
    assert not Path("data").is_symlink()


@needs_git
def test_a_revision_is_removed_when_something_goes_wrong(repository: Path) -> None:
    with pytest.raises(ZeroDivisionError), checked_out("main") as place:
        kept = place.root
        raise ZeroDivisionError
    assert not kept.exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1


@needs_git
def test_the_folder_of_a_killed_call_is_removed_by_the_next(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a call that still runs is kept: it holds the lock beside it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with checked_out("main") as living:
        pid = os.fork()
        if pid == 0:
            with checked_out("main"):
                os._exit(0)  # as if it were killed
        os.waitpid(pid, 0)
        assert len([path for path in tmp_path.glob(f"{TEMPORARY}*") if path.is_dir()]) == 2
        with checked_out("main") as next_:
            left = {path for path in tmp_path.glob(f"{TEMPORARY}*") if path.is_dir()}
            assert left == {living.root.parent, next_.root.parent}
    assert not list(tmp_path.glob(f"{TEMPORARY}*"))
    assert len(git(repository, "worktree", "list").splitlines()) == 1


@needs_git
@pytest.mark.parametrize(
    ("revision", "links", "said"),
    [
        ("nowhere", [], "nowhere: not a revision of .*; give a branch, tag or commit. In a shallow clone"),
        ("main", ["elsewhere"], "--link elsewhere: not a file or folder in "),
    ],
)
def test_what_cannot_be_checked_out(repository: Path, revision: str, links: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said), checked_out(revision, [Path(link) for link in links]):
        pass


def test_a_place_without_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="git rev-parse"):
        working_tree()


def test_each_side_finds_its_own_packages_first(tmp_path: Path) -> None:
    """A package that is installed in editable mode is a path of the working tree, for both sides."""
    here = tmp_path / "here"
    place = Place(tmp_path / "old", tmp_path / "old", "old")
    (tmp_path / "old" / "src").mkdir(parents=True)
    own = os.pathsep.join([str(here / "libraries"), "/elsewhere"])
    found = place.python_path(here, own).split(os.pathsep)
    assert found == [*(str(tmp_path / "old" / name) for name in (".", "src", "libraries")), "/elsewhere"]


def test_a_side_of_a_command() -> None:
    side = side_of_command(
        "before", "train.py", ["torchrun", "--nproc-per-node", "2", "train.py"], WANTED, None, None
    )
    spec, second = side.spec("train.py", 1), side.spec("train.py", 2)
    assert isinstance(spec, CommandSpec)
    assert (spec.world_size, spec.batch_per_rank, spec.variant) == (2, 8, "distributed-before")
    assert spec.measure.probe_rounds == 0 and spec.alternation is None
    assert spec.run_id != second.run_id and second.seed == spec.seed + 1
    alone = side_of_command("after", "x", ["python", "train.py"], WANTED, None, None).spec("x", 1)
    assert (alone.world_size, alone.variant) == (1, "single-after")
    assert script_of(["python", "-m", "a.b", "--x"]) == "-m a.b"


def test_equal_batches_are_allowed_for_several_ranks() -> None:
    wanted = replace(WANTED, allow_equal_batches=True)
    spec = side_of_command("after", "p", ["train.py"], replace(wanted, scale="1x2"), None, None).spec("p", 1)
    assert isinstance(spec, CommandSpec) and spec.allow_equal_batches
    with pytest.raises(UserError, match=r"--allow-equal-batches: only for several ranks; give their --scale"):
        side_of_command("after", "p", ["train.py"], wanted, None, None)


def test_equal_sides_have_runs_of_their_own() -> None:
    ids = {
        side_of_command(name, "p", ["train.py", "{seed}"], WANTED, None, None).spec("p", repeat).run_id
        for name in ("before", "after")
        for repeat in (1, 2)
    }
    assert len(ids) == 4


def test_a_command_that_is_told_its_batch_needs_one() -> None:
    with pytest.raises(UserError, match="--batch-size: needed because the command has"):
        side_of_command("after", "p", ["train.py", "{global_batch}"], UNTOLD, None, None)


def test_a_batch_is_looked_at_where_it_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "_seen", lambda *_: {"batch_size": 24})
    assert side_of_command("after", "p", ["train.py"], UNTOLD, None, None).spec("p", 1).batch_per_rank == 24


def test_studies_meet_at_the_points_of_both() -> None:
    old = parse_study(small_content(scales=["1x2", "1x4"]), source="x")
    new = parse_study(small_content(scales=["1x2"]), source="x")
    before, after, lone = sides_of_studies(("old", old), ("new", new))
    assert list(before.points) == list(after.points)
    assert any("2 ranks" in name for name in before.points) and not any(
        "4 ranks" in name for name in before.points
    )
    assert all(text.startswith("only before: mlp, ddp ") and "4 ranks" in text for text in lone) and lone
    with pytest.raises(UserError, match="no point in common"):
        content = small_content()
        content["workloads"] = {"other": content["workloads"]["mlp"]}
        sides_of_studies(("old", old), ("new", parse_study(content, source="x")))


def test_a_revision_is_for_commands(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, "old")
    with pytest.raises(UserError, match="workload mlp has no `command`"):
        place_study(parse_study(small_content(), source="x"), place, tmp_path)


def test_an_absolute_path_would_be_the_same_on_both_sides(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, "old")
    with pytest.raises(UserError, match=r"command is the absolute path /a/train\.py, so both sides would"):
        side_of_command("before", "p", ["/a/train.py"], WANTED, place, tmp_path)
    side = side_of_command("before", "p", ["a/train.py", "/data"], WANTED, place, tmp_path)
    spec = side.spec("p", 1)
    assert isinstance(spec, CommandSpec)
    assert spec.directory == str(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--fail-if"),
        ([*LIMIT], "nothing to run; give a script after `--`, or --study FILE"),
        ([*LIMIT, "--", "train.py"], "give exactly one of --against REVISION"),
        ([*LIMIT, "--against", "main", "--against-command", "x.py", "--", "train.py"], "give exactly one of"),
        ([*LIMIT, "--study", "a.yaml", "--against", "main", "--", "train.py"], "leave one of them out"),
        ([*LIMIT, "--study", "a.yaml", "--against-command", "x.py"], "use --against-study for a study"),
        ([*LIMIT, "--against-study", "a.yaml", "--", "train.py"], "use --against-command for a script"),
        ([*LIMIT, "--against-command", "x.py", "--link", "data", "--", "train.py"], "--link: needs --against"),
        ([*LIMIT, "--study", "a.yaml", "--against", "x", "--scale", "1x2"], "--scale: only for a script"),
        ([*LIMIT, "--study", "a.yaml", "--against", "x", "--device", "cpu"], "set host.device in the study file"),
        ([*LIMIT, "--against-command", "'x.py", "--", "train.py"], "--against-command: not a valid command"),
        (["--fail-if", "speedup < -3%", "--against", "x", "--", "t.py"], "speedup needs runs of the baseline"),
    ],
)
def test_mistakes_end_with_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with handlers_kept():
        assert main(["guard", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--allow-shared", "--python=/usr/bin/python3"])
def test_an_option_for_scripts_is_refused_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("SCALESTUDY_PYTHON", "SCALESTUDY_ALLOW_SHARED"):
        monkeypatch.setenv(variable, "")  # restored afterwards
    for name in ("old", "new"):
        Path(f"{name}.yaml").write_text(yaml.safe_dump(small_content(study=name)))
    with handlers_kept():
        assert main(["guard", *LIMIT, "--study", "new.yaml", "--against-study", "old.yaml", option]) == 2
    said = capsys.readouterr().err
    assert f"{option.partition('=')[0]}: only for workloads with a `command`, which this study does not" in said


def test_step_times_of_unequal_batches_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, batch in (("old", 32), ("new", 64)):
        content = small_content(study=name)
        content["workloads"]["mlp"]["batch_size"] = batch
        Path(f"{name}.yaml").write_text(yaml.safe_dump(content))
    with handlers_kept():
        assert main(["guard", *LIMIT, "--study", "new.yaml", "--against-study", "old.yaml"]) == 2
    assert "the studies have no point in common" in capsys.readouterr().err
