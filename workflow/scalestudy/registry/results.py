"""Names of the files in the results folder of a study, by content; rules and commands share them."""

from pathlib import Path

RESULTS = {
    "plan": "plan.json",
    "runs": "runs.csv",
    "epochs": "epochs.csv",
    "collectives": "collectives.csv",
    "quantiles": "step_quantiles.csv",
    "summary": "comprehensive_summary.csv",
    "factors": "efficiency_factors.csv",
    "floors": "floors.csv",
    "forecasts": "forecasts.csv",
    "held_out": "held_out_forecasts.csv",
    "checksums": "checksums.json",
    "environment": "environment.json",
    "traces": "traces.json",
    "findings": "findings.json",
    "verification": "verification.json",
    "verified": "verification.csv",
    "numbers": "numbers.json",
    "numbers_tex": "numbers.tex",
    "text": "performance_report.txt",
    "page": "report.html",
    "command": "command.txt",
}

DOCUMENTED = ("plan", "summary", "runs", "floors", "forecasts", "factors", "findings", "environment", "traces")
"""The inputs of every document: text report, page, numbers and LaTeX documents."""

TRIALS = "verification"
"""Folder of the studies that try the advice of a study."""

DECISIONS = "decisions/after_{repeats}.json"
"""The runs that follow after this number of repeats, with `measure.until: decided`."""

DATA = Path("resources/data")
"""Default folder of prepared data."""
