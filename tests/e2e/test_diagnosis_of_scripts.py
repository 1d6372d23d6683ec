"""Scripts with a fault, measured and diagnosed: the right cause first, or what would show it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import diagnosed, printed_of, results_of
from faulty_scripts import FAULTS, measured, study_of_script
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.registry.codes import Verdict

ABSTAINS = ("unexplained",)
"""More repeats are requested: on a busy host an interval may include the target, whatever the fault."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", list(FAULTS))
def test_the_right_cause_is_named_first_or_none(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    plan, runs = measured(study_of_script(fault, tmp_path / "script"), tmp_path / "results")
    assert set(runs["outcome"]) == {"ok"}, runs["reason"].tolist()
    summary = summary_frame(plan, runs)
    (diagnosis,) = diagnosed(plan, summary)
    first = diagnosis.findings[0]
    undecided = diagnosis.verdict == Verdict.UNDECIDED
    # Beside other load a script without a fault may have the symptoms of one. Its runs are then all marked.
    loaded = name == "clean" and (runs["spoiled"] != "").all()
    assert loaded or first.cause in (*fault.first, *(ABSTAINS if undecided else ())), (diagnosis.verdict, first)
    if fault.line:
        assert any(fault.line in item.shown_by for item in diagnosis.not_judged), diagnosis.not_judged
    report = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results_of(plan, runs, summary)))
    assert first.cause in report
    assert not diagnosis.not_judged or "Not judged, because the script gave no data on it:" in report
