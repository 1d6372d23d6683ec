"""What a plan asks for is said before it runs."""

from __future__ import annotations

from typing import Any

from scalestudy.cli.cost import plan_lines
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan


def test_cost_is_told_before_anything_runs(content: dict[str, Any]) -> None:
    content["time_limit_min"] = 30
    text = "\n".join(plan_lines(make_plan(parse_study(content, source="x"))))
    # 4 single and 4 two-rank launches of at most half an hour: (4 + 8) / 2 device-hours
    assert "8 launches" in text
    assert "at most 6 device-hours and 4 hours" in text
