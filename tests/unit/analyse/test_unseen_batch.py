"""A script whose batches were not seen: its rows have a note that the study's batch was not checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import observation
from own_scripts import command_spec
from scalestudy.analyse.run.imported import limits_of, limits_together
from scalestudy.record.tables import Observation
from scalestudy.registry.words.imported import limits


@pytest.fixture
def script(tmp_path: Path) -> Observation:
    return observation(command_spec("train.py", 1, folder=tmp_path), [[0.010] * 40])


def without_samples(seen: Observation) -> Observation:
    seen.record.totals.__dict__["samples"] = 0
    return seen


def test_a_script_without_samples_has_a_limit_and_a_note(script: Observation) -> None:
    assert limits_of(script) == "none"
    assert limits_of(without_samples(script)) == "batch_unseen"
    assert limits_together(["none", "batch_unseen"]) == "batch_unseen"
    assert "the batch is the study's and was not checked" in limits("batch_unseen")
