"""What came of advice gets into the documents of a finished study, and nothing is measured again for it."""

from __future__ import annotations

import pytest
import yaml
from conftest import Checkout, planned
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.verify.frame import verification_frame
from scalestudy.verify.model import VerificationFile

DOCUMENTS = {
    "plot_figures",
    "render_tables",
    "write_numbers",
    "write_text_report",
    "write_page",
    "write_documents",
}


def jobs(checkout: Checkout, *arguments: str) -> set[str]:
    return set(planned(checkout.run("snakemake", "-n", *arguments).stdout))


@pytest.mark.slow
def test_documents_are_made_again_when_advice_was_tried_by_hand(edited: Checkout) -> None:
    results = edited.root / "results/tiny"
    write_document(
        results / "verification.json", VerificationFile(study="tiny", verified=(), left_out=(), runs={})
    )
    write_text(results / "verification.csv", verification_frame(()).to_csv(index=False))
    made = jobs(edited)
    assert made >= DOCUMENTS
    assert not {job for job in made if job.startswith("train") or job in ("verify", "aggregate_runs")}
    edited.run("snakemake", "--until", "write_text_report", "render_tables")
    assert "\nBEFORE AND AFTER\n" in (results / "performance_report.txt").read_text()
    assert "0 pieces of advice tried" in (results / "performance_report.txt").read_text()
    assert (results / "tables/verification.tex").exists()
    assert "write_text_report" not in jobs(edited), "it is up to date"


@pytest.mark.parametrize("mode", [pytest.param("asked", marks=pytest.mark.slow), "auto"])
def test_advice_is_tried_before_the_documents_where_the_study_says_so(edited: Checkout, mode: str) -> None:
    file = edited.root / "config/config.yaml"
    content = yaml.safe_load(file.read_text()) | {"verify": {"mode": mode, "budget_device_hours": 0.002}}
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    made = jobs(edited)
    assert not {job for job in made if job.startswith("train")}
    assert ("verify" in made) == (mode == "auto")
    if mode == "asked":
        assert "verify" in jobs(edited, "verify")
        return
    edited.run("snakemake", "--until", "write_text_report")
    said = (edited.root / "results/tiny/logs/verify.log").read_text()
    text = (edited.root / "results/tiny/performance_report.txt").read_text()
    assert "0 pieces of advice tried" in text
    assert "not run, since" in said or "no advice that a study can test" in said
    assert not {"verify", "write_text_report"} & jobs(edited), "they are up to date"
    assert [path.name for path in (edited.root / "results").iterdir()] == ["tiny"], "a budget of seconds"
