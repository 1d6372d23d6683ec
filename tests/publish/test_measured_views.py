"""Measurements besides the step time: views agree with the frame, and both documents show or omit them."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import (
    WALL_TIME,
    declared,
    diagnosed,
    page_of,
    printed_of,
    results_of,
    rows_book,
    study_of,
    traces_book,
)
from scalestudy.analyse.forecast.forecasts import forecasts_frame
from scalestudy.analyse.point.derived import with_derived
from scalestudy.analyse.point.efficiency_tree import factors_frame
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.study.floors import floors_frame
from scalestudy.analyse.trace.summary import CollectiveTime, OperatorTime, Trace, TracesFile, TraceSummary
from scalestudy.cli.main import main
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.publish.numbers.rounding import show_percent
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.traces import NAME_WIDTH, traces_view
from scalestudy.publish.views.parts import COMMUNICATION, communication_view, parts_view
from scalestudy.publish.views.rows import notes_view, rows_view, spread_view
from scalestudy.publish.words import labels
from scalestudy.record.document import write_document
from scalestudy.registry.points import QUANTITIES
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

TIMES = {
    ("mlp", 1, 32): [0.0010, 0.0011],
    ("mlp", 1, 16): [0.0006, 0.0006],
    ("mlp", 2, 16): [0.0040, 0.0042],
    ("mlp", 2, 32): [0.0041, 0.0041],
}
# ms a step: value, low, high. Backward takes half of 4.1 ms; 1.2 of it are exposed.
PROBED = {
    "differential": (1.5, 1.3, 1.7),
    "exposed_span": (1.2, 1.1, 1.3),
    "interference": (0.2, 0.0, 0.4),
    "remainder": (0.1, -0.2, 0.4),
    "imbalance": (0.05, 0.04, 0.06),
    "hook_cost": (0.1, -0.1, 0.3),
    "exposed_hook": (1.25, 1.15, 1.35),
    "wait_time": (0.45, 0.35, 0.55),
    "transfer_time": (0.8, 0.7, 0.9),
}
TWO_MODES = {
    "launches_unsteady": 1,
    "steadiness": "two_modes",
    "fast_mode_s": 0.0031,
    "slow_mode_s": 0.0056,
    "slow_mode_share": 0.38,
}
GROWING = {
    "launches_growing": 1,
    "memory_growth_kind": "resident",
    "memory_growth_rank": 1.0,
    "memory_growth_gib_per_1000_steps": 0.012,
    "memory_growth_gib_per_1000_steps_low": 0.011,
    "memory_growth_gib_per_1000_steps_high": 0.013,
}
DISAGREE = {
    "methods": "disagree",
    "hook_difference_s": 0.0004,
    "hook_difference_s_low": 0.0003,
    "hook_difference_s_high": 0.0005,
}
NOTES = {
    **TWO_MODES,
    **GROWING,
    **DISAGREE,
    "late_rank": 1.0,
    "late_share": 0.9,
    "lateness_s": 0.001,
    "allocation_retries": 3.0,
}
KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::clamp>(int)"
TRACE = Trace(
    run_id="mlp-ddp-b16-n1g2-r1-abcdef",
    workload="mlp",
    variant="ddp",
    nodes=1,
    world_size=2,
    batch_per_rank=16,
    summary=TraceSummary(
        device="cuda",
        steps=5,
        step_time_s=0.010,
        computation_time_s=0.006,
        collective_time_s=0.004,
        overlap_time_s=0.002,
        hidden_share=0.5,
        other_time_s=0.001,
        idle_time_s=0.001,
        operators=(
            OperatorTime(name="aten::mm", calls_per_step=9.0, time_s=0.0042, share=0.42),
            OperatorTime(name=KERNEL, calls_per_step=1234.3333, time_s=1.234, share=0.0001),
        ),
        collectives=(CollectiveTime(name="gloo:all_reduce", calls_per_step=2.0, time_s=0.0051, bytes=None),),
    ),
)


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    content["workloads"]["mlp"]["target_accuracy"] = 0.8
    return make_plan(parse_study(content, source="x"))


@pytest.fixture
def summary(plan: Plan) -> pd.DataFrame:
    return summary_frame(plan, study_of(plan, TIMES))


def strong(summary: pd.DataFrame) -> int:
    """Index of the row that tests change: two ranks, strong."""
    return summary.index[(summary["world_size"] == 2) & (summary["scaling"] == "strong")][0]


def given(summary: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    changed = summary.copy()
    for column, value in columns.items():
        if isinstance(value, str):
            changed[column] = changed[column].astype(object)
        changed.loc[strong(summary), column] = value
    return with_derived(changed)


def probed(summary: pd.DataFrame) -> pd.DataFrame:
    columns = {
        f"{name}_s{limit}": ms / 1e3
        for name, values in PROBED.items()
        for limit, ms in zip(("", "_low", "_high"), values, strict=True)
    }
    backward = summary.loc[strong(summary), "backward_time_s"]
    return given(
        summary,
        methods="agree",
        backward_compute_time_s=backward - columns["exposed_span_s"],
        all_reduce_bus_gib_per_s=1.25,
        all_reduce_latency_s=137e-6,
        **columns,
    )


def without_accuracy(summary: pd.DataFrame) -> pd.DataFrame:
    """As a study without epochs has it: no run was ever validated."""
    columns = [name for name in summary if name.startswith(("validation_accuracy", "accuracy_difference"))]
    changed = summary.assign(**dict.fromkeys(columns, float("nan")))
    changed.loc[changed["accuracy_kept"] != "none", "accuracy_kept"] = "not_shown"
    return changed


def only_row(plan: Plan, summary: pd.DataFrame) -> dict[str, Any]:
    return next(
        row
        for row in rows_view(plan, summary, rows_book(summary))
        if row["ranks"] == 2 and row["scaling"] == "strong"
    )


POINT = "mlp.ddp.strong.n2"
Documents = Callable[..., tuple[str, str]]


@pytest.fixture
def documents(plan: Plan) -> Documents:
    def make(summary: pd.DataFrame, traces: list[dict[str, Any]] | None = None) -> tuple[str, str]:
        """(text report, page without its style) of a summary; neither is too wide nor prints a nan."""
        runs = pd.DataFrame({"outcome": ["ok"] * 8, "run_id": "x", "reason": "", "protocol": 1, "strategy": "ddp"})
        runs = runs.assign(workload="mlp", variant="ddp", world_size=2, **WALL_TIME)
        results = results_of(
            plan,
            runs,
            summary,
            traces=traces or [],
            environment=StudyEnvironment(facts={"hardware cpu model": ("a processor",)}),
        )
        text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
        page = page_of(plan, results)
        assert max(map(len, text.splitlines())) <= 80
        assert not any(line.endswith(" ") for line in text.splitlines())
        page = page.split("</style>")[1]
        for document in (text, page):
            assert not re.search(r"\bnan\b", document, flags=re.IGNORECASE)
        return text, page

    return make


class Tables(HTMLParser):
    """Every table of a page: its caption and its rows, each a list of cells as text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.unclosed: list[str] = []
        self._into: list[str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("img", "col", "br", "meta"):
            self.unclosed.append(tag)
        if self._into is not None and tag not in ("a", "b"):
            self._into.append(" ")  # it begins what stands apart
        if tag == "table":
            self.tables.append(("", []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th", "caption"):
            self._into = []
        if tag == "th":
            assert dict(attrs).get("scope") in ("col", "row", "rowgroup"), "a header says what it heads"

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag or tag in ("body", "html"), f"</{tag}> closes something else"
        if self._into is None or tag not in ("td", "th", "caption"):
            return
        cell, self._into = " ".join("".join(self._into).split()), None
        if tag == "caption":
            self.tables[-1] = (cell, self.tables[-1][1])
        else:
            self.tables[-1][1][-1].append(cell)

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)


def tables(page: str) -> list[tuple[str, list[list[str]]]]:
    # The style and its head were cut off; what they opened is closed after the body.
    return Tables("<html>" + page.split("</head>")[1]).tables


def section(text: str, title: str) -> str:
    """A section of the text report."""
    return re.split(r"\n\n(?=[A-Z' ]+\n-+\n)", text.split(f"\n{title}\n{'-' * len(title)}\n", 1)[1])[0]


def flat(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def read(page: str) -> str:
    """Return the visible text of a page."""
    return flat(unescape(re.sub(r"</?[a-z][^>]*>", "", page)))


# The views.


def test_parts_of_a_row_without_probes_add_up_and_show_the_backward_pass_whole(summary: pd.DataFrame) -> None:
    row = summary.loc[strong(summary)]
    parts = {part["name"]: part for part in parts_view(rows_book(summary), POINT)}
    assert list(parts) == ["data wait", "forward", "backward", "optimizer"], "what takes no time is left out"
    assert float(parts["backward"]["ms"]) == pytest.approx(1e3 * row["backward_time_s"], rel=0.005)
    assert (parts["backward"]["share"], parts["backward"]["bar"]) == ("50.0 %", 50)
    assert sum(float(part["share"].rstrip("%")) for part in parts.values()) == pytest.approx(100)
    assert communication_view(rows_book(summary), POINT) == []


def test_parts_of_a_probed_row_show_the_backward_pass_as_its_two_parts(plan: Plan, summary: pd.DataFrame) -> None:
    frame = probed(summary)
    row = frame.loc[strong(frame)]
    parts = {part["name"]: float(part["ms"]) for part in parts_view(rows_book(frame), POINT)}
    assert "backward" not in parts
    assert parts["exposed communication"] == pytest.approx(1.2)
    assert parts["backward computation"] + 1.2 == pytest.approx(1e3 * row["backward_time_s"], rel=0.005)
    assert sum(parts.values()) == pytest.approx(float(only_row(plan, frame)["parts_ms"].value), rel=0.005)


def test_a_bar_has_a_length_that_a_browser_can_draw(summary: pd.DataFrame) -> None:
    book = rows_book(given(probed(summary), backward_compute_time_s=-1e-4))
    part = next(part for part in parts_view(book, POINT) if part["name"] == "backward computation")
    assert part["ms"].startswith("-")
    assert part["bar"] == 0


def test_communication_has_value_limits_and_flags_what_may_be_nothing(summary: pd.DataFrame) -> None:
    lines = communication_view(rows_book(probed(summary)), POINT)
    assert len(lines) == len(PROBED)
    by_column = {QUANTITIES[name].name: line for (name, _, _), line in zip(COMMUNICATION, lines, strict=True)}
    for name, (value, low, high) in PROBED.items():
        shown = by_column[f"{name}_s"]
        assert [float(shown["ms"].value), float(shown["ms"].low), float(shown["ms"].high)] == pytest.approx(
            [value, low, high]
        )
        assert bool(shown["nothing"]) == (low <= 0 <= high)
        assert shown["how"]


def test_a_quantity_that_was_not_probed_has_no_line(summary: pd.DataFrame) -> None:
    frame = given(probed(summary), exposed_hook_s=float("nan"), wait_time_s=float("nan"))
    names = [line["name"] for line in communication_view(rows_book(frame), POINT)]
    assert "exposed communication, second method" not in names
    assert "total cost of synchronisation" in names


def test_one_round_of_probes_has_values_without_limits_or_flags(summary: pd.DataFrame) -> None:
    limits = {f"{name}_s_{limit}": float("nan") for name in PROBED for limit in ("low", "high")}
    lines = communication_view(rows_book(given(probed(summary), **limits)), POINT)
    assert len(lines) == len(PROBED)
    assert not any(line["ms"].limits or line["nothing"] for line in lines)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (TWO_MODES, "1 of 2 runs: two modes: 3.1 ms and 5.6 ms .38 % of the steps"),
        (GROWING, "resident memory of rank 1 grows by 0.012 GiB .0.011, 0.013. per 1000 steps"),
        (DISAGREE, "methods of measuring communication disagree: exposed span .* differ by 0.4 ms .0.3, 0.5."),
        ({"late_rank": 1.0, "late_share": 0.9, "lateness_s": 0.001}, "rank 1 is late: .*90 % .* 1.00 ms"),
        ({"allocation_retries": 3.0}, "retry 3 times"),
        (
            {"repeats_apart": 2, "repeats_in_other_jobs": 2, "repeats_on_other_nodes": 1},
            "in 2 of 2 repeats .* were in different SLURM jobs, on different nodes .1.; drift .* does not cancel",
        ),
    ],
    ids=["unsteady", "memory grows", "methods disagree", "late rank", "allocator", "two jobs"],
)
def test_each_thing_to_mind_is_one_note(summary: pd.DataFrame, columns: dict[str, Any], says: str) -> None:
    frame = given(summary, **columns)
    (note,) = notes_view(rows_book(frame), POINT, frame.loc[strong(frame)])
    assert re.search(says, note)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"late_rank": 0.0, "late_share": 0.6, "lateness_s": 0.001},
        {"late_rank": 0.0, "late_share": 1.0, "lateness_s": 0.0001},
        {"late_rank": 0.0, "late_share": 0.9, "lateness_s": 0.001, "lateness_s_low": -0.001},
        {"methods": "agree"},
        {"allocation_retries": 0.0},
    ],
    ids=["nothing", "not often late", "not late by much", "late in some launches", "methods agree", "no retry"],
)
def test_what_is_in_order_gives_no_note(summary: pd.DataFrame, columns: dict[str, Any]) -> None:
    frame = given(summary, **columns)
    assert notes_view(rows_book(frame), POINT, frame.loc[strong(frame)]) == []


def test_scatter_that_rounds_to_nothing_is_not_called_none(summary: pd.DataFrame) -> None:
    frame = given(summary, step_time_cv=0.123, launch_cv=0.0002)
    assert spread_view(rows_book(frame), POINT) == "steps 12.3 % around their mean, runs <0.1 %"
    frame = given(summary, step_time_cv=0.123, launch_cv=float("nan"))
    assert spread_view(rows_book(frame), POINT) == "steps 12.3 % around their mean"
    assert [show_percent(share).value for share in (0, 0.04, 0.06, 100)] == ["0.0", "<0.1", "0.1", "100.0"]


def test_a_trace_says_where_all_of_its_step_went() -> None:
    (view,) = traces_view([TRACE], traces_book([TRACE]))
    assert view["of"] == "mlp, ddp, 2 ranks, batch 16 per rank"
    for words in ("5 traced steps of 10.0 ms", "computation 60 %", "other work 10 %", "nothing running 10 %"):
        assert words in view["step"]
    assert view["step"].endswith("collectives 40 %, 50 % of it hidden behind computation")
    first, second = view["operators"]
    assert [first[key] for key in ("name", "calls", "ms", "share")] == ["aten::mm", "9", "4.20", "42.0 %"]
    assert len(second["name"]) == NAME_WIDTH
    assert second["full_name"] == KERNEL
    assert [second[key] for key in ("calls", "ms", "share")] == ["1234.3", "1230", "<0.1 %"]
    assert view["collectives"][0]["share"] == "", "collectives run beside the rest"


def test_a_trace_without_a_collective_says_so() -> None:
    none = {"hidden_share": None, "collective_time_s": 0.0, "collectives": ()}
    trace = TRACE.model_copy(update={"summary": TRACE.summary.model_copy(update=none)})
    assert traces_view([trace], traces_book([trace]))[0]["step"].endswith("; no collectives")


@pytest.mark.parametrize(
    ("margin", "words"), [(0.01, "1 point"), (0.02, "2 points"), (0.005, "0.5 points"), (0.07, "7 points")]
)
def test_points_are_counted_in_good_english(margin: float, words: str) -> None:
    assert labels.points(margin) == words


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([3, 3, 3], "3 runs"),
        ([3, 6, 0], "3 to 6 runs"),
        ([1, 0], "one run"),
        ([0], "no run"),
        ([1, 2], "1 to 2 runs"),
    ],
)
def test_the_number_of_runs_is_that_of_runs_that_were_made(counts: list[int], said: str) -> None:
    assert labels.runs_each(counts) == said


def test_accuracy_without_a_base_case_of_equal_seed_is_not_called_lost(plan: Plan, summary: pd.DataFrame) -> None:
    frame = given(summary, accuracy_kept="not_shown", accuracy_difference=float("nan"))
    assert only_row(plan, frame)["accuracy_kept"].startswith("not compared")


# Both documents.


def printed_rows(plan: Plan, summary: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of both documents. Strong and weak scaling have the same baseline here, which is one row."""
    rows = rows_view(plan, summary, rows_book(summary))
    assert [row["scalings"] for row in rows if row["is_base"]] == ["strong and weak"]
    return rows


def test_a_row_without_probes_has_parts_and_no_communication(documents: Documents, summary: pd.DataFrame) -> None:
    text, page = documents(summary)
    for document in (text.lower(), page.lower()):
        assert "where a step's time goes" in document
    assert "\nCOMMUNICATION\n" not in text
    assert ">Communication</h2>" not in page
    assert "\nTRACES\n" not in text
    assert ">Traces</h2>" not in page
    assert "NOTE" not in text
    assert "<b>Note:</b>" not in page
    assert len(re.findall(r"^  backward {2,}", text, flags=re.MULTILINE)) == 3, (
        "the baseline of both kinds of scaling is shown once"
    )


def test_the_breakdown_is_the_same_in_both_documents(
    documents: Documents, plan: Plan, summary: pd.DataFrame
) -> None:
    frame = probed(summary)
    row = only_row(plan, frame)
    text, page = documents(frame)
    block = section(text, "WHERE A STEP'S TIME GOES").split(f"mlp, {row['point']}\n")[1].split("\n\n")[0]
    in_text = [re.split(r"\s{2,}", line.strip().replace(" ms", "", 1)) for line in block.splitlines()]
    found = next(rows for caption, rows in tables(page) if caption == f"mlp, {row['point']}")
    assert found[0] == ["Part", "ms", "Share of the step"]
    assert found[1:-1] == [[part["name"], part["ms"], part["share"], ""] for part in row["parts"]]
    assert [cells[:3] for cells in found[1:-1]] == in_text[:-1]
    assert found[-1][:2] == [*in_text[-1]] == ["all parts", row["parts_ms"].value]
    bars = [int(width) for width in re.findall(r'<i class="w(\d+)">', page)]
    assert len(bars) == sum(len(view["parts"]) for view in printed_rows(plan, frame))
    assert all(0 <= bar <= 100 for bar in bars)


def test_communication_is_the_same_in_both_documents(
    documents: Documents, plan: Plan, summary: pd.DataFrame
) -> None:
    frame = probed(summary)
    row = only_row(plan, frame)
    text, page = documents(frame)
    found = next(
        rows for _, rows in tables(page) if rows[0] == ["Quantity", "ms", "95 % interval", "How measured"]
    )
    assert len(found) == 1 + len(PROBED)
    block = section(text, "COMMUNICATION")
    for line, cells in zip(row["communication"], found[1:], strict=True):
        how = "; ".join(part for part in (line["how"], line["nothing"]) if part)
        assert cells[:3] == [line["name"], line["ms"].value, line["ms"].limits]
        assert cells[3].replace(" ;", ";") == how
        assert f"  {line['name']:<38} {line['shown']}\n      {how}\n" in block
    for document in (flat(block), read(page)):
        assert "agree within their intervals." in document
        assert f"{row['network']}." in document
    assert "1.25 GiB/s" in row["network"]
    assert "latency 137 us" in row["network"]


def test_notes_stand_with_their_row_in_both_documents(
    documents: Documents, plan: Plan, summary: pd.DataFrame
) -> None:
    frame = given(probed(summary), **NOTES)
    notes = only_row(plan, frame)["notes"]
    assert len(notes) == 5
    text, page = documents(frame)
    start = text.index("\n  ddp, strong, 2 ranks")
    mine = text[start : text.index("\n  ddp, weak", start)]
    assert text.count("\n      NOTE: ") == mine.count("\n      NOTE: ") == len(notes)
    points = tables(page)[0][1]
    at = next(n for n, cells in enumerate(points) if cells[0].startswith("ddp, strong, 2 ranks"))
    for note in notes:
        assert f"NOTE: {note}" in flat(mine)
        assert f"Note: {note}." in points[at + 1][0]
        assert page.count("<b>Note:</b>") == len(notes)
    assert "Methods disagree: " in read(page)
    assert "Methods: disagree: " in flat(text)


def test_the_page_has_scatter_memory_and_why_there_are_no_more_launches(
    documents: Documents, plan: Plan, summary: pd.DataFrame
) -> None:
    _, page = documents(summary)
    facts = [cells[0] for cells in tables(page)[0][1] if cells[0].startswith(("Runs", "Accuracy", "To 80 %"))]
    rows = printed_rows(plan, summary)
    assert len(facts) == len(rows)
    for row, said in zip(rows, facts, strict=True):
        assert f"Scatter: {row['spread']}." in said
        assert f"Memory: {row['memory']}." in said
        assert f"Runs: {row['outcomes']}." in said
        assert f"Repeats: {row['stopped_because']}." in said
        assert row["stopped_because"]


def test_where_accuracy_was_measured_both_documents_have_it(
    documents: Documents, plan: Plan, summary: pd.DataFrame
) -> None:
    text, page = documents(summary)
    assert text.count("% on held-out data") == 3, "two points, and the baseline of both once"
    assert "Accuracy (%)" in page
    assert "data:,accuracy" in page
    assert "by less than 1 point;" in flat(text)


def test_where_accuracy_was_not_measured_no_document_speaks_of_it(
    documents: Documents, summary: pd.DataFrame
) -> None:
    text, page = documents(without_accuracy(summary))
    rows = section(text, "MEASUREMENTS")
    for words in ("accuracy", "inconclusive", "points", "to 80 %", "--"):
        assert words not in rows
    table = " ".join(" ".join(cells) for cells in tables(page)[0][1])
    for words in ("Accuracy", "inconclusive", "points", "To 80 %", "--"):
        assert words not in table


def test_one_row_without_accuracy_leaves_its_cell_empty(
    documents: Documents, plan: Plan, summary: pd.DataFrame
) -> None:
    lost = {f"validation_accuracy{limit}": float("nan") for limit in ("", "_min", "_max")}
    text, page = documents(given(summary, accuracy_kept="not_shown", **lost))
    assert text.count("% on held-out data") == 2
    header, *rows = tables(page)[0][1]
    row = next(cells for cells in rows if cells[0].startswith("ddp, strong, 2 ranks"))
    assert row[header.index("Accuracy (%)")] == ""
    assert "inconclusive at a margin" not in text + page


def test_an_unknown_overhead_is_not_printed(documents: Documents, summary: pd.DataFrame) -> None:
    text, page = documents(summary)
    assert re.search(r"overhead +\d.* ms = [\d.]+ % of the step", text)
    assert "Overhead (ms)" in page
    unknown = [f"overhead_s{limit}" for limit in ("", "_low", "_high")] + ["overhead_share"]
    text, page = documents(summary.assign(**dict.fromkeys(unknown, float("nan"))))
    assert "overhead  " not in section(text, "MEASUREMENTS")
    assert "Overhead (ms)" not in page


def test_numbers_of_the_page_are_those_of_the_frame(documents: Documents, summary: pd.DataFrame) -> None:
    _, page = documents(summary)
    header, *rows = tables(page)[0][1]
    cells = next(row for row in rows if row[0].startswith("ddp, strong, 2 ranks"))
    row = summary.loc[strong(summary)]
    for name, column, factor in (
        ("Step time (ms)", "step_time_s", 1e3),
        ("Throughput (samples/s)", "throughput_samples_per_s", 1),
        ("Speedup", "speedup", 1),
        ("Efficiency (%)", "efficiency", 100),
        ("Overhead (ms)", "overhead_s", 1e3),
    ):
        shown = [float(number) for number in re.findall(r"-?[\d.]+", cells[header.index(name)])]
        expected = [factor * row[f"{column}{limit}"] for limit in ("", "_low", "_high")]
        resolution = (expected[2] - expected[1]) / 2 * 0.06
        assert shown == pytest.approx(expected, abs=resolution), name


def test_traces_are_in_both_documents(documents: Documents, summary: pd.DataFrame) -> None:
    text, page = documents(summary, [TRACE])
    (view,) = traces_view([TRACE], traces_book([TRACE]))
    block = section(text, "TRACES")
    found = next(rows for caption, rows in tables(page) if caption == view["of"])
    assert found[0] == ["Operator or kernel", "Calls", "ms", "Share"]
    for item in view["operators"] + view["collectives"]:
        assert [item[key] for key in ("name", "calls", "ms", "share")] in found
        assert re.search(rf"  {re.escape(item['name'])} +{item['calls']} x +{item['ms']} ms", block)
    assert ["Collectives"] in found
    for document in (flat(block), read(page)):
        assert f"{view['step']}." in document
        assert f"runs/{TRACE.run_id}" in document
    assert "&lt;4, at::native" in page, "the whole name, escaped"


def test_a_point_without_a_good_launch_has_its_row_and_nothing_else(documents: Documents, plan: Plan) -> None:
    summary = summary_frame(plan, study_of(plan, TIMES | {("mlp", 2, 16): ["oom", "oom"]}))
    text, page = documents(summary)
    assert "      not measured: OOM (runs: 2 oom)\n" in text
    points = tables(page)[0][1]
    at = next(n for n, cells in enumerate(points) if cells[0].startswith("ddp, strong, 2 ranks"))
    assert points[at][1:] == ["Not measured: OOM"]
    assert points[at + 1] == ["Runs: 2 oom."]
    assert "mlp, ddp strong, 2 ranks, batch 16 per rank" not in [caption for caption, _ in tables(page)]
    assert "--&times;" not in page


def test_a_summary_that_was_a_file_shows_the_same(plan: Plan, summary: pd.DataFrame, tmp_path: Path) -> None:
    """Empty text comes back from a CSV as nan; the commands see only that."""
    frame = given(probed(summary), **NOTES)
    frame.to_csv(tmp_path / "comprehensive_summary.csv", index=False)
    declared(study_of(plan, TIMES), "runs.csv").to_csv(tmp_path / "runs.csv", index=False)
    (tmp_path / "plan.json").write_text(plan.model_dump_json())
    forecasts_frame(plan.study, frame).to_csv(tmp_path / "forecasts.csv", index=False)
    factors_frame(frame).to_csv(tmp_path / "efficiency_factors.csv", index=False)
    floors_frame(plan, frame).to_csv(tmp_path / "floors.csv", index=False)
    read = pd.read_csv(tmp_path / "comprehensive_summary.csv")
    for name, content in (
        ("findings", FindingsFile(study="x", diagnoses=tuple(diagnosed(plan, frame)))),
        ("environment", StudyEnvironment(facts={"device": ("cpu",)})),
        ("traces", TracesFile(traces=(TRACE,))),
        ("numbers", rows_book(read)),
    ):
        write_document(tmp_path / f"{name}.json", content)
    assert main(["stage", "text", f"--results={tmp_path}"]) == 0
    text = (tmp_path / "performance_report.txt").read_text(encoding="utf-8")
    assert text.count("NOTE: ") == 5
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\bnan\b", text)
    for title in ("COMMUNICATION", "TRACES", "FORECASTS", "WHERE EFFICIENCY IS LOST", "WHERE A STEP'S TIME GOES"):
        assert f"\n{title}\n---" in text
