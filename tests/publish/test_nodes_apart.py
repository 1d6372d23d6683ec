"""As many ranks on one node and on two are different points: in rows, labels, verdicts and lines."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, rows_book, study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.figures.points import distributed_series
from scalestudy.publish.views.diagnoses import diagnoses_view
from scalestudy.publish.views.rows import rows_view
from scalestudy.publish.words.labels import places, ranks
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

SCALES = ["1x2", "2x1", "2x2"]


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    """Two ranks on one node and on two, four on two; strong scaling alone."""
    content["workloads"]["mlp"]["scaling"] = ["strong"]
    return make_plan(parse_study(content | {"scales": SCALES}, source="x"))


@pytest.fixture
def summary(plan: Plan) -> pd.DataFrame:
    times = {("mlp", spec.world_size, spec.batch_per_rank): [1e-3, 1.1e-3] for spec in plan.runs.values()}
    return summary_frame(plan, study_of(plan, times))


def test_labels() -> None:
    assert (ranks(1), ranks(2), ranks(4, 2)) == ("1 rank", "2 ranks", "4 ranks on 2 nodes")
    assert places([(8, 2), (2, 1), (4, 1), (4, 2), (16, 4)]) == (
        "2 and 4 ranks, 4 and 8 ranks on 2 nodes, 16 ranks on 4 nodes"
    )
    assert places([(1, 1)]) == "1 rank"


def test_each_verdict_speaks_of_its_own_row(plan: Plan, summary: pd.DataFrame) -> None:
    rows = rows_view(plan, summary, rows_book(summary))
    views = diagnoses_view(diagnosed(plan, summary), rows, rows_book(summary))
    assert [view["ranks"] for view in views] == ["2 ranks", "2 ranks on 2 nodes", "4 ranks on 2 nodes"]
    assert len({id(view["row"]) for view in views}) == 3
    for view in views:
        assert view["row"]["nodes"] == view["nodes"]


def test_one_line_is_one_number_of_nodes_where_ranks_would_coincide(summary: pd.DataFrame) -> None:
    series = dict(distributed_series(summary[summary["scaling"] == "strong"]))
    assert {name: frame["world_size"].tolist() for name, frame in series.items()} == {
        "ddp, strong scaling, one node": [1, 2],
        "ddp, strong scaling, 2 nodes": [1, 2, 4],
    }


def test_a_point_alone_on_its_nodes_is_not_joined_to_one_process(summary: pd.DataFrame) -> None:
    kept = summary[(summary["scaling"] == "strong") & ~((summary["nodes"] == 2) & (summary["world_size"] == 4))]
    series = dict(distributed_series(kept))
    assert {name: frame["world_size"].tolist() for name, frame in series.items()} == {
        "ddp, strong scaling, one node": [1, 2],
        "ddp, strong scaling, 2 nodes": [2],
    }


def test_nodes_that_only_add_ranks_continue_the_line(summary: pd.DataFrame) -> None:
    kept = summary[(summary["scaling"] == "strong") & ~((summary["nodes"] == 2) & (summary["world_size"] == 2))]
    ((name, frame),) = distributed_series(kept)
    assert name == "ddp, strong scaling"
    assert frame["world_size"].tolist() == [1, 2, 4]
