"""A row that reads, logs or writes checkpoints unlike its baseline says so, in the text and on the page."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from builders import page_of, printed_of, results_of, study_of, summary_of
from conftest import small_content
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.views.facts import study_view
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0104, 0.0097],
    ("mlp", 1, 16): [0.0061, 0.0060, 0.0062],
    ("mlp", 2, 16): [0.0053, 0.0057, 0.0050],
    ("mlp", 2, 32): [0.0131, 0.0139, 0.0132],
}
LOADER = {"loader": "dataloader", "workers": 2}


def documents(**variants: Any) -> list[str]:
    """Text report and page of a study with these settings of `single` and `ddp`, in one line each."""
    content = small_content(repeats=3)
    for name, settings in variants.items():
        content["variants"][name] |= settings
    plan = make_plan(parse_study(content, source="x"))
    results = results_of(plan, study_of(plan, TIMES))
    text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    page = re.sub(r"<[^>]+>", "", page_of(plan, results))
    return [" ".join(each.split()) for each in (text, html.unescape(page))]


@pytest.mark.parametrize(
    ("of_single", "of_ddp", "fields"),
    [
        pytest.param(
            {},
            {"input": LOADER},
            "input.loader is dataloader, direct for the baseline; input.workers is 2, 0 for the baseline",
            id="loader",
        ),
        pytest.param({}, {"log_every_steps": 1}, "log_every_steps is 1, unset for the baseline", id="logging"),
        pytest.param(
            {"checkpoint_every_steps": 5},
            {},
            "checkpoint_every_steps is unset, 5 for the baseline",
            id="checkpoints-of-the-baseline",
        ),
        pytest.param(
            {"input": LOADER},
            {"input": LOADER | {"pin_memory": True}},
            "input.pin_memory is true, false for the baseline",
            id="part-of-the-loader",
        ),
    ],
)
def test_other_work_than_that_of_the_baseline_is_named(
    of_single: dict[str, Any], of_ddp: dict[str, Any], fields: str
) -> None:
    said = f"the speedup includes the effect of other settings than the number of ranks: {fields}"
    for document in documents(single=of_single, ddp=of_ddp):
        assert said in document


@pytest.mark.parametrize("settings", [{}, {"input": LOADER, "log_every_steps": 2}])
def test_equal_settings_have_no_note(settings: dict[str, Any]) -> None:
    for document in documents(single=settings, ddp=settings | {"ddp": {"bucket_cap_mb": 50}}):
        assert "other settings than the number of ranks" not in document


@pytest.mark.parametrize(
    ("launcher", "base"), [("torchrun", "one process of the script"), ("python", "the plain")]
)
def test_a_rank_of_a_script_is_not_called_a_plain_model(launcher: str, base: str) -> None:
    """A script with DeepSpeed needs torchrun's variables also on one rank, where DeepSpeed has its model."""
    content = small_content(repeats=3)
    content["variants"] = {
        "single": {"strategy": "single", "launcher": launcher},
        "distributed": {"strategy": "other"},
    }
    content["workloads"] = {"mlp": {"command": "train.py {batch_per_rank}", "batch_size": 32}}
    plan = make_plan(parse_study(content, source="x"))
    assert study_view(plan, summary_of(plan, TIMES))["base"].startswith(base)
