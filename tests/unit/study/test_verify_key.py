"""The key `verify`: nothing is tried without a request, and every trial has a budget."""

from __future__ import annotations

from typing import Any

import pytest
from scalestudy.errors import RefusedStudyError
from scalestudy.study.config.load import parse_study


def test_no_advice_is_tried_unless_the_study_says_so(content: dict[str, Any]) -> None:
    verify = parse_study(content, source="x").verify
    assert (verify.automatic, verify.most, verify.budget_device_hours) == (False, 3, None)


def test_an_automatic_trial_needs_a_budget(content: dict[str, Any]) -> None:
    with pytest.raises(RefusedStudyError, match=r"verify.*budget_device_hours: missing"):
        parse_study(content | {"verify": {"mode": "auto"}}, source="x")
    auto = parse_study(content | {"verify": {"mode": "auto", "most": 1, "budget_device_hours": 0}}, source="x")
    assert auto.verify.automatic
