"""Keys that are valid one by one and mean nothing together are refused by name; studies of our own are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import small_content
from scalestudy.errors import RefusedStudyError
from scalestudy.study.config.load import load_study, parse_study
from scalestudy.study.plan import make_plan
from study_mutations import MEANINGLESS, written


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is planned here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", MEANINGLESS)
def test_a_study_that_means_nothing_is_refused(kind: str, tmp_path: Path) -> None:
    changes, expected = MEANINGLESS[kind]
    (tmp_path / "study.yaml").write_bytes(written(small_content() | changes))
    with pytest.raises(RefusedStudyError) as refused:
        load_study("study.yaml")
    assert len(refused.value.problems) == 1, refused.value.problems
    assert refused.value.problems[0].startswith(expected)
    parse_study(small_content() | changes, source="a study of our own")


@pytest.mark.parametrize(
    "changes", [{}, {"measure": {"until": "precise"}, "max_repeats": 5}, {"time_limit_min": 2}]
)
def test_what_means_something_is_not(changes: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(small_content() | changes))
    load_study("study.yaml")


def test_a_study_that_an_earlier_release_planned_goes_on(tmp_path: Path) -> None:
    content = small_content() | MEANINGLESS["scales that nothing runs at"][0]
    (tmp_path / "study.yaml").write_bytes(written(content))
    plan = make_plan(parse_study(content, source="x"))
    folder = tmp_path / "results/small"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(plan.model_dump_json())
    assert load_study("study.yaml") == plan.study
    (tmp_path / "study.yaml").write_bytes(written(content | {"seed": 8}))
    with pytest.raises(RefusedStudyError, match="scales: nothing runs at 2x4"):
        load_study("study.yaml")


def test_all_wrong_sweeps_are_named(tmp_path: Path) -> None:
    content = small_content()
    content["variants"]["ddp"]["sweep"] = 1
    content["workloads"]["mlp"]["sweep"] = {}
    (tmp_path / "study.yaml").write_bytes(written(content))
    with pytest.raises(RefusedStudyError) as refused:
        load_study("study.yaml")
    named = [line.partition(":")[0] for line in refused.value.problems]
    assert named == ["variants.ddp.sweep", "workloads.mlp.sweep"]
