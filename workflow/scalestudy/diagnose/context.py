"""What is usual elsewhere: printed beside a measurement, never instead of one; no verdict rests on it."""

from __future__ import annotations

from math import isnan

from scalestudy.diagnose.case import Case

EFFICIENCY = ((2, "85-95 %"), (4, "75-90 %"), (8, "65-85 %"))
"""Of data-parallel training on GPUs, up to so many ranks; rules of thumb that circulate without a source."""
MANY = "50-75 %"
COMMUNICATION = ((10e6, "50-80 %"), (100e6, "20-50 %"))
"""Share of a step below so many parameters; likewise."""
LARGE = "5-20 %"


def usual(case: Case) -> tuple[str, ...]:
    """Sentences; parameters and ranks decide which."""
    ranks, parameters = case.ranks, case.point["parameters"]
    efficiency = next((text for most, text in EFFICIENCY if ranks <= most), MANY)
    said = [f"on {ranks} GPUs an efficiency of {efficiency} is usual"]
    if not isnan(parameters):
        share = next((text for below, text in COMMUNICATION if parameters < below), LARGE)
        size = f"{parameters / 1e6:.3g} M" if parameters >= 1e5 else f"{parameters:.0f}"
        said.append(f"at {size} parameters {share} of a step is communication")
    return tuple(said)
