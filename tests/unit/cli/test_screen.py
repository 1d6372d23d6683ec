"""The screen of a study: which lines follow from the events of Snakemake and the files of a study."""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import small_content, wait_for
from scalestudy.analyse.study.decision_file import Comparison, DecisionFile, that_counts
from scalestudy.cli.screen import painter as painters
from scalestudy.cli.screen import study as studies
from scalestudy.cli.screen.events import DOCUMENTS, Jobs, stage_of
from scalestudy.cli.screen.painter import Lines, is_live
from scalestudy.cli.screen.study import WatchedStudy
from scalestudy.cli.screen.view import StudyScreen
from scalestudy.cli.screen.words import decision_lines, duration, run_name
from scalestudy.errors import UserError
from scalestudy.registry.codes import Settled, Verdict
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry


def event(
    event: LogEvent | None = None, level: int = logging.INFO, message: str | None = None, **said: Any
) -> Any:
    """A record as Snakemake logs it."""
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    record.__dict__.update({"event": event} | said)
    return record


def job(number: int, rule: str, **wildcards: str) -> Any:
    return event(LogEvent.JOB_INFO, jobid=number, rule_name=rule, wildcards=wildcards, log=[f"logs/{rule}.log"])


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def screen(tmp_path: Path, said: io.StringIO) -> Iterator[StudyScreen]:
    shown = StudyScreen(tmp_path / "results/none", summary=False, stream=said)
    yield shown
    shown.close()


def test_snakemake_finds_the_plug_in_and_its_settings() -> None:
    import snakemake.cli  # noqa: F401  # it collects plug-ins

    assert LoggerPluginRegistry().is_installed("scalestudy")


def test_a_plug_in_without_results_is_refused() -> None:
    from snakemake_interface_common.exceptions import WorkflowError
    from snakemake_logger_plugin_scalestudy import LogHandler, LogHandlerSettings

    with pytest.raises(WorkflowError, match="--logger-scalestudy-results"):
        LogHandler(None, LogHandlerSettings())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "stage"),
    [
        ("train_distributed_reserve", "measuring"),
        ("plan_study", "planning"),
        ("diagnose_study", "analysing"),
        ("write_page", DOCUMENTS),
        ("a_rule_of_a_later_release", DOCUMENTS),
    ],
)
def test_every_rule_has_a_stage(rule: str, stage: str) -> None:
    assert stage_of(rule) == stage


def test_the_stage_is_the_earliest_of_the_jobs_under_way() -> None:
    jobs = Jobs()
    for number, rule in enumerate(("write_page", "train_baseline")):
        jobs.saw(job(number, rule, run="x"))
    assert jobs.stage == "measuring"
    finished, failed = jobs.saw(event(LogEvent.JOB_FINISHED, job_id=1))
    assert finished is not None and finished.run == "x" and failed is None
    assert jobs.stage == DOCUMENTS


def test_a_job_that_fails_is_named_with_its_log(screen: StudyScreen, said: io.StringIO) -> None:
    screen.take(event(LogEvent.JOB_ERROR, logging.ERROR, "x", jobid=3, rule_name="write_page", log=["logs/a.log"]))
    assert said.getvalue() == "failed: write_page; its log: logs/a.log\n"
    assert screen.failed


def test_the_command_of_a_job_that_fails_is_in_its_log_and_not_on_the_screen(
    screen: StudyScreen, said: io.StringIO
) -> None:
    command = "RuleException:\nCalledProcessError in file train.smk\nCommand 'scalestudy train' returned 2."
    screen.study._plan = plan = make_plan(parse_study(small_content(), source="x"))
    run = next(iter(plan.runs))
    screen.take(job(3, "train_baseline", run=run))
    screen.take(event(LogEvent.ERROR, logging.ERROR, command, exception="RuleException"))
    failed = event(LogEvent.JOB_ERROR, logging.ERROR, "x", jobid=3, rule_name="train_baseline", log=["logs/a.log"])
    screen.take(failed)
    screen.close()
    assert said.getvalue() == f"failed: {run_name(plan.runs[run])}; its log: logs/a.log\n"


def test_the_command_of_a_job_without_a_log_is_printed(screen: StudyScreen, said: io.StringIO) -> None:
    screen.take(event(LogEvent.ERROR, logging.ERROR, "RuleException:\nCommand x", exception="RuleException"))
    screen.close()
    assert said.getvalue() == "RuleException:\nCommand x\n"


def test_errors_and_warnings_of_snakemake_are_printed_and_its_chatter_is_not(
    screen: StudyScreen, said: io.StringIO
) -> None:
    screen.take(event(None, message="Building DAG of jobs..."))
    screen.take(event(LogEvent.RUN_INFO, message="Job stats: ...", stats={}))
    screen.take(event(None, logging.WARNING, "a lock was removed"))
    screen.take(event(LogEvent.ERROR, logging.ERROR, "WorkflowError:\nscales: ['x'] is wrong", exception="x"))
    assert said.getvalue() == "a lock was removed\nWorkflowError:\nscales: ['x'] is wrong\n"


def test_a_screen_that_fails_says_so_once(screen: StudyScreen, said: io.StringIO) -> None:
    for _ in range(3):
        screen.fail(ValueError("no such thing"))
    assert said.getvalue().count("this screen failed (ValueError: no such thing), the study goes on") == 1


def comparison(settled: Settled, **of: Any) -> Comparison:
    place = {"workload": "mlp", "variant": "ddp", "scaling": "strong", "world_size": 2, "batch_per_rank": 16}
    speedup = {"speedup": 1.5, "speedup_low": 1.2, "speedup_high": 1.9, "repeats_compared": 3}
    return Comparison(**place, **speedup, verdict=Verdict.UNDECIDED, settled=settled, **of)


def decision(*comparisons: Comparison, needed: tuple[str, ...] = (), after: int = 3) -> DecisionFile:
    return DecisionFile(
        study="x",
        after_repeats=after,
        comparisons=comparisons,
        needed=needed,
        budget_device_hours=None,
        budget_ends_after=None,
    )


def test_a_decision_says_what_is_known_and_how_many_runs_follow() -> None:
    undecided = comparison(Settled.NO)
    assert decision_lines(decision(undecided, needed=("a", "b"))) == [
        "after 3 repeats: 0 of 1 verdict decided; 2 runs more",
        "  mlp ddp strong on 2 ranks: speedup 1.50 [1.20, 1.90], not decided",
    ]
    assert len(decision_lines(decision(*[undecided] * 9))) == 1, "of many comparisons only the count is given"


def test_a_decision_after_runs_that_were_not_needed_is_not_shown() -> None:
    """The workflow decides after 5 repeats too, but only 3 were made."""
    decided = comparison(Settled.DECIDED)
    first, second, third = (
        decision(decided, needed=needed, after=after) for needed, after in ((("a",), 2), ((), 3), ((), 5))
    )
    assert that_counts([first, second, third]) is second
    assert that_counts([first]) is first


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (62, "1:02"), (3661, "1:01:01"), (-1, "0:00")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_study_without_files_is_a_study_without_runs(tmp_path: Path) -> None:
    study = WatchedStudy(tmp_path / "nowhere")
    assert (study.plan, study.planned(), study.done(), study.current(), study.left_s()) == (None, [], [], [], None)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"done": 1}', '{"done": "x", "total": 2}'])
def test_progress_that_is_being_written_is_a_run_that_starts(tmp_path: Path, content: str) -> None:
    partial = tmp_path / "runs/.partial/mlp-1"
    partial.mkdir(parents=True)
    (partial / "attempt.json").write_text("{}")
    (partial / "progress.json").write_text(content)
    (current,) = WatchedStudy(tmp_path).current()
    assert (current.run_id, current.total) == ("mlp-1", 0)


def test_nobody_to_read_the_lines_is_no_error() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    lines = Lines(Closed(), lambda: "measuring", quiet_s=0.01)
    lines.say(["x"])
    lines.close()


def test_a_long_silence_ends_with_what_is_under_way_and_each_next_one_lasts_twice_as_long(
    said: io.StringIO,
) -> None:
    asked: list[float] = []

    def under_way() -> str:
        asked.append(time.monotonic())
        return "trying the advice (2:13)"

    lines = Lines(said, under_way, quiet_s=0.1)
    wait_for(lambda: len(asked) >= 3)
    lines.close()
    assert said.getvalue().splitlines() == ["trying the advice (2:13)"] * len(asked)
    assert asked[1] - asked[0] >= 0.2 and asked[2] - asked[1] >= 0.4


def test_lines_that_come_leave_no_silence(said: io.StringIO) -> None:
    lines = Lines(said, lambda: "measuring", quiet_s=3600)
    lines.say(["[1/3] mlp: 32 steps, 1 s"])
    lines.close()
    assert said.getvalue() == "[1/3] mlp: 32 steps, 1 s\n"


def test_what_is_under_way_is_the_stage_the_runs_done_and_the_current_run(
    screen: StudyScreen, tmp_path: Path
) -> None:
    assert screen.under_way().startswith("starting (0:0")
    screen.take(job(1, "train_distributed", run="mlp-1"))
    partial = tmp_path / "results/none/runs/.partial/mlp-1"
    partial.mkdir(parents=True)
    (partial / "attempt.json").write_text("{}")
    (partial / "progress.json").write_text('{"done": 40, "total": 352}')
    assert screen.under_way().endswith("0 of 0 runs, now: mlp-1: step 40 of at most 352")


def test_a_screen_that_cannot_say_what_is_under_way_says_so(
    screen: StudyScreen, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen.study, "current", lambda **_: 1 / 0)
    assert screen.under_way() == ""
    assert "this screen failed (ZeroDivisionError" in said.getvalue()


@pytest.mark.parametrize(
    ("term", "terminal", "live"), [("xterm", True, True), ("dumb", True, False), ("xterm", False, False)]
)
def test_where_lines_can_be_painted_again(
    monkeypatch: pytest.MonkeyPatch, term: str, terminal: bool, live: bool
) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    monkeypatch.setenv("TERM", term)
    assert is_live(Stream()) is live
    assert painters.CalmConsole(file=Stream()).show_cursor(False) is False


def test_a_paint_reads_no_records_until_a_job_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is painted every second on the host that measures."""
    read: list[Path] = []

    def reads(path: Path) -> None:
        read.append(path)
        raise UserError("not there")

    monkeypatch.setattr(studies, "read_record", reads)
    study = WatchedStudy(tmp_path, make_plan(parse_study(small_content(), source="x")))
    for _ in range(3):
        assert study.done() == []
    assert len(read) == len(study.planned())
    study.changed(study.planned()[0])
    study.done()
    assert len(read) == 2 * len(study.planned())
