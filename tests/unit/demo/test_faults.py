"""The faults of `scalestudy demo`: each is a valid study, and the specs of its ranks name the fault."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from scalestudy.cli.main import main
from scalestudy.cli.verb.demo import shaped_network
from scalestudy.demo.faults import ALL, CONTROLS, FAULT, FAULTS
from scalestudy.diagnose.causes import CAUSES
from scalestudy.diagnose.causes.fsdp import ddp_oom
from scalestudy.launch import run
from scalestudy.launch.command import rank_command
from scalestudy.launch.process import Interrupted
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import WORKER, RunSpec


@pytest.mark.parametrize("name", list(ALL))
def test_every_fault_is_a_study_that_can_be_run(name: str) -> None:
    fault = ALL[name]
    plan = make_plan(parse_study(fault.study(), source=name))
    assert {spec.world_size for spec in plan.runs.values()} == {1, 2}
    assert fault.variant in {spec.variant for spec in plan.runs.values()}
    for spec in plan.runs.values():
        injected = spec.host.environment.get(FAULT) == name
        assert injected == fault.injected
        module = "scalestudy.demo.rank" if injected else "scalestudy.train"
        assert module in rank_command(spec, Path("out"), Path("data"))
        assert (WORKER in spec.host.environment) == injected


def test_there_are_faults_and_controls_enough_and_each_has_a_cause_that_exists() -> None:
    assert len(FAULTS) >= 12
    assert len(CONTROLS) >= 5
    known = {cause.id for cause in CAUSES} | {ddp_oom.id, "confounded"}
    assert {fault.cause for fault in FAULTS} <= known
    assert len(ALL) == len(FAULTS) + len(CONTROLS)


def test_without_a_name_the_faults_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(ALL)


def test_a_link_that_cannot_be_throttled_is_done_to_the_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without tc there is no slow network; the spec of the study that is run instead names the fault."""
    measured: list[RunSpec] = []
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(run, "measure_run", lambda spec, *_, **__: measured.append(spec) or stop())
    assert shaped_network("240mbit") is None
    assert main(["demo", "--fault", "slow-link", "--results", str(tmp_path / "out")]) == 128 + signal.SIGINT
    assert "a communication hook waits as long" in capsys.readouterr().out
    (spec,) = measured
    assert spec.host.environment[FAULT] == "slow-link"
    assert spec.host.environment[WORKER] == "scalestudy.demo.rank"


def stop() -> None:
    raise Interrupted(signal.SIGINT)
