"""Predictions that several causes make in the same words."""

from __future__ import annotations

from math import isnan

from scalestudy.analyse.intervals import Interval
from scalestudy.diagnose.case import Case


def saving(case: Case, saved: Interval, condition: str) -> str:
    """What the step becomes where `saved` seconds of it go; condition: what has to hold for that."""
    step = case.point["step_time_s"]
    faster = Interval(step - saved.value, step - saved.high, step - saved.low)
    limits = "" if isnan(faster.low) else f" [{faster.low * 1e3:.3g}, {faster.high * 1e3:.3g}]"
    return (
        f"A step of {faster.value * 1e3:.3g}{limits} instead of {step * 1e3:.3g} ms,"
        f" {step / faster.value:.2f} times the throughput, {condition}."
    )
