"""From what a run touched to what runs share, and whether the next one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from own_scripts import command_spec
from scalestudy.chain.launches import allowing
from scalestudy.errors import UserError
from scalestudy.launch.foreign.shared import (
    ALLOWED,
    Feeds,
    Shared,
    feeds,
    refuse_shared,
    shared_files,
    shared_warnings,
)
from scalestudy.launch.foreign.touched import (
    FILE,
    FilesTouched,
    TouchedPath,
    gather_touched,
    remember,
    script_sha256,
)
from scalestudy.record.document import write_document
from scalestudy.study.config.load import parse_study
from scalestudy.study.spec import CommandSpec


def touched_path(path: str = "checkpoint.pt", **changes: bool) -> TouchedPath:
    """A path that was written in training, and nothing else."""
    nothing = dict.fromkeys(TouchedPath.model_fields, False)
    return TouchedPath(**nothing | {"path": path, "written": True, "in_training": True, "opened": True} | changes)


EARLY = {"in_training": False}
CASES: list[tuple[dict[str, bool], Feeds | None]] = [
    ({}, Feeds.OUTPUT),
    ({"written": False, "read": True}, None),
    ({"written": False, "looked_for": True}, None),
    ({"looked_for": True}, Feeds.RESUMED),
    ({"looked_for": True, "read_again": True}, Feeds.RESUMED),
    ({"read": True}, Feeds.READ),
    ({"read": True, **EARLY}, Feeds.READ),
    ({"listed": True}, Feeds.LISTED),
    ({"read_again": True}, Feeds.OUTPUT),
    ({"folder_looked_for": True}, Feeds.OUTPUT),
    ({"appended": True}, Feeds.APPENDED),
    ({"appended": True, "looked_for": True, **EARLY}, Feeds.RESUMED),
    (EARLY, Feeds.OUTPUT),
    ({"looked_for": True, **EARLY}, None),
    ({"listed": True, **EARLY}, None),
    ({"read_again": True, **EARLY}, None),
    ({"folder_looked_for": True, **EARLY}, None),
    ({"opened": False}, None),
    ({"opened": False, "looked_for": True}, Feeds.RESUMED),
    ({"opened": False, "read_again": True}, Feeds.OUTPUT),
]


@pytest.mark.parametrize(("changes", "how"), CASES)
def test_a_path_goes_to_the_next_launch_or_not(changes: dict[str, bool], how: Feeds | None) -> None:
    assert feeds(touched_path(**changes)) is how


def left_by(spec: CommandSpec, *paths: TouchedPath, **changes: Any) -> FilesTouched:
    known: dict[str, Any] = {
        "run": "own-single-b8-n1g1-r9-000000",
        "workload": spec.workload,
        "command": spec.command,
        "directory": str(Path(spec.directory).resolve()),
        "script_sha256": script_sha256(spec),
        "paths": paths,
    }
    return FilesTouched(**known | changes)


def test_files_of_a_folder_are_named_together_and_those_that_are_read_come_first(tmp_path: Path) -> None:
    paths = [touched_path(f"runs/{at}.bin") for at in range(3)]
    paths += [touched_path("log.csv", appended=True), touched_path(looked_for=True)]
    shared = shared_files(left_by(a_spec(tmp_path), *paths))
    assert shared == [
        Shared("checkpoint.pt", 1, Feeds.RESUMED),
        Shared("log.csv", 1, Feeds.APPENDED),
        Shared("runs/", 3, Feeds.OUTPUT),
    ]
    assert shared[2].sentence == "runs/ (3 files): each run writes there"


def a_spec(folder: Path, command: str = "train.py {batch_per_rank}") -> CommandSpec:
    (folder / "train.py").write_text("print('hello')\n")
    return command_spec(command, 2, folder=folder)


def test_the_second_launch_is_refused_with_what_and_who_and_what_to_do(tmp_path: Path) -> None:
    spec = a_spec(tmp_path)
    left = left_by(spec, touched_path(looked_for=True))
    refuse_shared(spec, tmp_path / "results")
    write_document(tmp_path / "results/runs" / left.run / FILE, left)
    with pytest.raises(UserError) as refused:
        refuse_shared(spec, tmp_path / "results")
    for part in (
        "workloads.own: runs would share files. Run own-single-b8-n1g1-r9-000000 left these",
        "checkpoint.pt: the script looked for it first and wrote it later, so the next run finds it",
        "put {out} into `workloads.own.command` of the study",
        "scalestudy retry",
        "--allow-shared, or `allow_shared: true`",
    ):
        assert part in str(refused.value)


@pytest.mark.parametrize("allowed", ["own", "*", "other,own"])
def test_who_allows_it_is_not_refused(allowed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = a_spec(tmp_path)
    left = left_by(spec, touched_path())
    write_document(tmp_path / "results/runs" / left.run / FILE, left)
    monkeypatch.setenv(ALLOWED, "other")
    with pytest.raises(UserError):
        refuse_shared(spec, tmp_path / "results")
    refuse_shared(spec, tmp_path / "results", allowed=allowed)
    monkeypatch.setenv(ALLOWED, allowed)
    refuse_shared(spec, tmp_path / "results")


def test_a_launch_of_another_script_or_with_another_out_says_nothing(tmp_path: Path) -> None:
    spec = a_spec(tmp_path)
    left = left_by(spec, touched_path())
    for changes in ({"script_sha256": "0"}, {"directory": "/elsewhere"}, {"workload": "owner"}):
        write_document(tmp_path / "results/runs" / left.run / FILE, left_by(spec, touched_path(), **changes))
        refuse_shared(spec, tmp_path / "results")
    write_document(tmp_path / "results/runs" / left.run / FILE, left)
    refuse_shared(a_spec(tmp_path, "train.py {batch_per_rank} --out {out}"), tmp_path / "results")
    with pytest.raises(UserError):
        refuse_shared(a_spec(tmp_path, "train.py {global_batch} --amp"), tmp_path / "results")


def test_a_run_that_read_what_another_wrote_has_a_warning(tmp_path: Path) -> None:
    spec = a_spec(tmp_path)
    first = left_by(spec, touched_path(looked_for=True))
    second = left_by(spec, touched_path(written=False, read=True), run="own-second")
    assert shared_warnings(second, []) == []
    (warning,) = shared_warnings(second, [first])
    assert warning["kind"] == "shared files"
    assert warning["text"].endswith("read checkpoint.pt, which run own-single-b8-n1g1-r9-000000 wrote")


def test_the_key_of_a_workload_allows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALLOWED, raising=False)
    workload = {"command": "train.py", "batch_size": 8}
    content = {"study": "s", "scales": ["1x2"], "variants": {"single": {"strategy": "single"}}}
    content["workloads"] = {"a": workload, "b": workload | {"allow_shared": True}}
    study = parse_study(content, source="test")
    assert allowing(study) == "b"
    monkeypatch.setenv(ALLOWED, "*")
    assert allowing(study) == "*,b"


def test_files_that_no_process_was_seen_to_write_are_found(tmp_path: Path) -> None:
    """Also where the folder of the study lies in that of the script: its own files are not the script's."""
    spec = a_spec(tmp_path)
    results, launch = tmp_path / "results/own", tmp_path / "results/own/runs/.partial/x"
    attached = launch / "attached"
    attached.mkdir(parents=True)
    (tmp_path / "data.bin").write_text("x")
    (attached / "asked.json").write_text("{}")
    remember(spec, launch, results)
    for name in ("final.pt", "results/other.txt", ".hidden", "__pycache__/train.pyc", "env/lib.so", "empty"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("" if name == "empty" else "x")
    (tmp_path / "env/pyvenv.cfg").touch()
    touched = gather_touched(spec, launch, attached, results)
    assert [(path.path, path.written, path.opened) for path in touched.paths] == [("final.pt", True, False)]


def test_a_file_that_nobody_names_is_not_held_against_the_script(tmp_path: Path) -> None:
    """As the log of a shell in the same folder. One that a program was given counts, also in a folder."""
    place, launch = tmp_path / "place", tmp_path / "launch"
    place.mkdir()
    spec = a_spec(place)
    attached = launch / "attached"
    attached.mkdir(parents=True)
    (attached / "asked.json").write_text("{}")
    remember(spec, launch)
    (place / "exported").mkdir()
    for name in ("shell.log", "final.pt", "exported/part.bin"):
        (place / name).write_text("x")
    (attached / "1-a.paths").write_text(f"x t 9.0 {place}/final.pt\nx t 9.0 {place}/exported\nx t 9.0 {place}\n")
    touched = gather_touched(spec, launch, attached)
    assert {path.path: path.opened for path in touched.paths} == {
        "shell.log": False,
        "final.pt": True,
        "exported/part.bin": True,
    }
    assert [one.name for one in shared_files(touched)] == ["exported/part.bin", "final.pt"]


def test_a_renamed_folder_takes_what_was_written_in_it_along(tmp_path: Path) -> None:
    place, launch = tmp_path / "place", tmp_path / "launch"
    place.mkdir()
    spec = a_spec(place)
    attached = launch / "attached"
    attached.mkdir(parents=True)
    (attached / "asked.json").write_text("{}")
    remember(spec, launch)
    (place / "ckpt").mkdir()
    (place / "ckpt/model.pt").write_text("x")
    lines = [f"w t 10.0 {place}/ckpt.tmp/model.pt", f"> t 11.0 {place}/ckpt.tmp\0{place}/ckpt"]
    (attached / "1-a.paths").write_text("\n".join([f"m b 9.0 {place}/ckpt/model.pt", *lines]) + "\n")
    (path,) = gather_touched(spec, launch, attached).paths
    assert (path.path, feeds(path)) == ("ckpt/model.pt", Feeds.RESUMED)
