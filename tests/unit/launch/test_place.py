"""Whatever is in the directory of a run, a new record is not lost, and the old content is kept and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import handlers_kept
from scalestudy.errors import UserError
from scalestudy.launch import place
from scalestudy.launch import run as launching
from scalestudy.launch.attempt import Earlier
from scalestudy.launch.process import Interrupted
from scalestudy.launch.unmade import not_made
from scalestudy.record.observation import RunRecord, read_record
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    return next(iter(make_plan(parse_study(content, source="x")).runs.values()))


def record(spec: RunSpec, results: Path, meanwhile: Any = None) -> tuple[RunRecord, bool]:
    """Record a run that is not needed; `meanwhile` is done while it would have run."""

    def make(partial: Path, code: str, _: Earlier) -> RunRecord:
        made = not_made(spec, partial, code, "unneeded", "enough")
        if meanwhile:
            meanwhile()
        return made

    with handlers_kept():
        return launching._keep_or_record(spec, results, make)


def superseded(results: Path) -> list[Path]:
    return sorted((results / "superseded").glob("*"))


@pytest.mark.fault(
    fault="a file at the path of a run",
    moment="preparing",
    outcome="ok",
    kept="the file, under superseded/",
    next_call="keeps the record and measures nothing",
)
def test_a_file_in_the_place_of_a_run_is_set_aside(
    spec: RunSpec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    final = tmp_path / "runs" / spec.run_id
    final.parent.mkdir()
    final.write_text("mine")
    record(spec, tmp_path)
    assert read_record(final).reason == "enough"
    (kept,) = superseded(tmp_path)
    assert kept.read_text() == "mine"
    assert f"{final} is not a run; it was moved to {kept}" in capsys.readouterr().err


@pytest.mark.fault(
    fault="a dangling link at the path of a run",
    moment="preparing",
    outcome="not recorded",
    kept="the link",
    next_call="measures the run once the link is gone, or keeps the run once it leads somewhere",
)
def test_a_link_to_nothing_is_named_before_a_launch(spec: RunSpec, tmp_path: Path) -> None:
    """A disk may be missing that has the run: it is not measured again unasked."""
    final = tmp_path / "runs" / spec.run_id
    final.parent.mkdir()
    final.symlink_to("/nowhere/run")
    with pytest.raises(UserError, match=r"is a link to /nowhere/run, which does not exist\. Restore that"):
        record(spec, tmp_path, meanwhile=lambda: pytest.fail("it must not be launched"))


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(
            what,
            marks=pytest.mark.fault(
                fault=f"a {what} appears at the path of a run",
                moment="publishing",
                outcome="ok",
                kept=f"the run, and the {what} under superseded/",
                next_call="keeps the record and measures nothing",
            ),
        )
        for what in ("file", "link", "directory")
    ],
)
def test_what_comes_into_the_way_meanwhile_costs_no_measurement(
    spec: RunSpec, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    final = tmp_path / "runs" / spec.run_id

    def obstruct() -> None:
        if what == "file":
            final.write_text("mine")
        elif what == "link":
            final.symlink_to("/nowhere/run")
        else:
            (final / "run.json").mkdir(parents=True)

    record(spec, tmp_path, obstruct)
    assert read_record(final).reason == "enough"
    assert len(superseded(tmp_path)) == 1
    if what != "directory":
        assert "was in the way of the run; it was moved to" in capsys.readouterr().err


@pytest.mark.fault(
    fault="no new run can be created in the results folder",
    moment="publishing",
    outcome="not recorded yet",
    kept="the complete record, in .partial/",
    next_call="moves the record to its place and measures nothing",
)
def test_a_record_that_cannot_be_put_in_its_place_is_taken_by_the_next_call(
    spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    final = tmp_path / "runs" / spec.run_id
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if target == final:
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refuse)
        with pytest.raises(
            UserError, match=r"its record cannot be moved here \(permission denied\)\. The record is complete in"
        ):
            record(spec, tmp_path)
    assert not final.exists()
    kept, measured_now = record(spec, tmp_path, meanwhile=lambda: pytest.fail("it must not be launched again"))
    assert (kept.reason, measured_now) == ("enough", False)
    assert list((tmp_path / "runs/.partial").iterdir()) == []


GARBLED = {
    "empty": b"",
    "truncated": b'{"started_at": "2026-',
    "another document": b"[1, 2]",
    "wrong types": b'{"started_at": 3, "host": null, "slurm_job_id": 4, "earlier": {}}',
    "wrong entries": b'{"started_at": "x", "host": "h", "slurm_job_id": null, "earlier": [1]}',
    "not text": bytes(range(256)),
    "deeply nested": b"[" * 100_000,
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.fault(
                fault=f"attempt.json of an earlier attempt is unreadable: {name}",
                moment="preparing",
                outcome="ok",
                kept="the files of that attempt, under superseded/",
                next_call="keeps the record and measures nothing",
            ),
        )
        for name in (*GARBLED, "directory")
    ],
)
def test_an_attempt_that_cannot_be_read_is_kept_and_does_not_block_its_run(
    spec: RunSpec, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = tmp_path / "runs/.partial" / spec.run_id
    partial.mkdir(parents=True)
    if name == "directory":
        (partial / "attempt.json").mkdir()
    else:
        (partial / "attempt.json").write_bytes(GARBLED[name])
    record(spec, tmp_path)
    assert read_record(tmp_path / "runs" / spec.run_id).reason == "enough"
    (kept,) = superseded(tmp_path)
    assert (kept / "attempt.json").exists()
    said = capsys.readouterr().err
    assert f"{partial / 'attempt.json'}: not a valid note of an earlier attempt to measure the run" in said
    assert str(kept) in said


@pytest.mark.parametrize("what", ["file", "link"])
def test_what_is_no_directory_in_the_place_of_an_attempt_is_kept(spec: RunSpec, tmp_path: Path, what: str) -> None:
    partial = tmp_path / "runs/.partial" / spec.run_id
    partial.parent.mkdir(parents=True)
    partial.write_text("mine") if what == "file" else partial.symlink_to("/nowhere")
    record(spec, tmp_path)
    assert read_record(tmp_path / "runs" / spec.run_id).reason == "enough"
    (kept,) = superseded(tmp_path)
    assert kept.is_symlink() == (what == "link")


@pytest.mark.fault(
    fault="SIGKILL to the launcher, just before the rename",
    moment="publishing",
    outcome="ok",
    kept="the complete record, in .partial/",
    next_call="moves the record to its place and measures nothing",
)
def test_a_whole_record_of_a_killed_launcher_is_put_in_its_place(spec: RunSpec, tmp_path: Path) -> None:
    """It was killed between the record and the rename."""
    final, partial = tmp_path / "runs" / spec.run_id, tmp_path / "runs/.partial" / spec.run_id
    first, _ = record(spec, tmp_path)
    final.rename(partial)
    assert place.is_whole(partial)
    again, measured_now = record(spec, tmp_path, meanwhile=lambda: pytest.fail("it must not be launched again"))
    assert (again, measured_now) == (first, False)
    final.rename(partial)
    (partial / "log.txt").write_text("changed")
    record(spec, tmp_path)
    (kept,) = superseded(tmp_path)
    assert (kept / "log.txt").read_text() == "changed", "what is not whole is no record, and is kept"
    assert list((tmp_path / "runs/.partial").iterdir()) == []


@pytest.mark.parametrize(
    ("error", "kept"),
    [(ValueError("a mistake of ours"), True), (UserError("the disk is full"), False), (Interrupted(2), False)],
    ids=["ours", "user", "signal"],
)
def test_what_ranks_wrote_outlives_an_error_of_our_own(
    spec: RunSpec, tmp_path: Path, capsys: pytest.CaptureFixture[str], error: BaseException, kept: bool
) -> None:
    partial = tmp_path / "runs" / ".partial" / spec.run_id

    def fail() -> None:
        (partial / "steps-0.parquet").write_text("a night's work")
        raise error

    with pytest.raises(type(error)):
        record(spec, tmp_path, meanwhile=fail)
    assert not partial.exists()
    assert [(path / "steps-0.parquet").read_text() for path in superseded(tmp_path)] == ["a night's work"] * kept
    assert ("what the ranks wrote was moved to" in capsys.readouterr().err) == kept
