"""A study is a program: its commands are printed before the first run, and again when they change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import small_content
from scalestudy.cli.first_run import SHOWN, say_what_runs
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


def plan_of(**changes: Any) -> Plan:
    return make_plan(parse_study(small_content(**changes), source="x"))


def script(command: list[str]) -> dict[str, Any]:
    return {"theirs": {"command": command, "batch_size": 4, "scaling": ["strong"]}}


def test_commands_and_variables_are_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text("")
    variables = {"host": {"environment": {"LD_PRELOAD": "/tmp/x y.so"}}}
    plan = plan_of(workloads=script(["train.py", "--run", "$(touch x)"]), **variables)
    say_what_runs(plan, tmp_path, remember=False)
    first = capsys.readouterr()
    assert first.out == "", "stdout is for what came out of it"
    assert "small runs this with your permissions (shown once, and again after a change):" in first.err
    assert "train.py --run '$(touch x)'  (workload theirs, in " in first.err
    assert "LD_PRELOAD='/tmp/x y.so'" in first.err
    say_what_runs(plan, tmp_path, remember=True)
    assert capsys.readouterr().err == first.err, "a dry run does not count"
    say_what_runs(plan, tmp_path, remember=True)
    assert capsys.readouterr().err == ""
    say_what_runs(plan_of(workloads=script(["train.py"]), **variables), tmp_path, remember=True)
    assert "  train.py  (workload theirs" in capsys.readouterr().err
    say_what_runs(
        plan_of(workloads=script(["train.py"]), description="other", **variables), tmp_path, remember=True
    )
    assert capsys.readouterr().err == "", "another description runs nothing else"


def test_nothing_is_said_of_our_own_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say_what_runs(plan_of(), tmp_path, remember=True)
    assert capsys.readouterr().err == ""
    assert not (tmp_path / SHOWN).exists()
