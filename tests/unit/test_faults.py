"""The faults to order: each is a study that can be run, and what is done to its ranks stands in their specs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scalestudy.cli import demo
from scalestudy.cli.main import main
from scalestudy.diagnose.causes import CAUSES
from scalestudy.diagnose.causes.fsdp import DDP_OOM
from scalestudy.launch.command import rank_command
from scalestudy.study.faults import ALL, CONTROLS, FAULT, FAULTS
from scalestudy.study.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import WORKER


@pytest.mark.parametrize("name", list(ALL))
def test_every_fault_is_a_study_that_can_be_run(name: str) -> None:
    fault = ALL[name]
    plan = make_plan(parse_study(fault.study(), source=name))
    assert {spec.world_size for spec in plan.runs.values()} == {1, 2}
    assert fault.variant in {spec.variant for spec in plan.runs.values()}
    for spec in plan.runs.values():
        injected = spec.host.environment.get(FAULT) == name
        assert injected == fault.injected
        module = "scalestudy.train.faulty" if injected else "scalestudy.train"
        assert module in rank_command(spec, Path("out"), Path("data"))
        assert (WORKER in spec.host.environment) == injected


def test_there_are_faults_and_controls_enough_and_each_has_a_cause_that_exists() -> None:
    assert len(FAULTS) >= 12
    assert len(CONTROLS) >= 5
    known = {cause.id for cause in CAUSES} | {DDP_OOM.id, "confounded"}
    assert {fault.cause for fault in FAULTS} <= known
    assert len(ALL) == len(FAULTS) + len(CONTROLS)


def test_without_a_name_the_faults_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(ALL)


def test_a_link_is_not_throttled_without_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(demo.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert main(["demo", "--fault", "slow-link"]) == 2
    assert "network namespace, and that takes root" in capsys.readouterr().err
