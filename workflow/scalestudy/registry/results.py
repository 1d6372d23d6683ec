"""Names of the files in the results folder of a study, by what they hold; rules and commands share them."""

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
}

DOCUMENTED = ("plan", "summary", "runs", "floors", "forecasts", "factors", "findings", "environment", "traces")
"""What every document is made from: text report, page, numbers and LaTeX documents."""

TRIALS = "verification"
"""Folder of the studies that try the advice of a study."""

DECISIONS = "decisions/after_{repeats}.json"
"""Which launches are made after so many repeats, with `measure.until: decided`."""

DATA = Path("resources/data")
"""Where prepared data are, unless a command is told otherwise."""
