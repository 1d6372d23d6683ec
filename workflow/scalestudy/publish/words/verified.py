"""What documents say of advice that was tried."""

from scalestudy.registry.codes import AccuracyKept, Tried
from scalestudy.verify.model import Place

VERDICTS = {
    Tried.CONFIRMED: "confirmed",
    Tried.PARTLY: "partly confirmed",
    Tried.REFUTED: "refuted",
    Tried.UNDECIDED: "undecided",
}
KEPT = {
    AccuracyKept.EQUIVALENT: "Accuracy is kept",
    AccuracyKept.LOWER: "Accuracy is lower after it",
    AccuracyKept.HIGHER: "Accuracy is higher after it",
    AccuracyKept.NOT_SHOWN: "Accuracy is not shown to be kept",
}
"""By what launches of both sides in the same repeats show."""
NOT_MEASURED = "Accuracy was not measured"
NOT_COMPARED = "Accuracy was not compared: no repeat has it both before and after"
ONE_LAUNCH = {
    (
        "before",
        "after",
    ): "One launch before and one after the advice came to their end: their values have no limits.",
    ("before",): "One launch before the advice came to its end: its values have no limits.",
    ("after",): "One launch after the advice came to its end: its values have no limits.",
}
"""By the sides that have a single launch."""
IS_BASE = {
    "before": "Before the advice it is the base case, whose speedup is 1 by definition.",
    "after": "After the advice it is the base case, whose speedup is 1 by definition.",
}
QUANTITIES = {
    "step_time_ms": ("step time", "ms"),
    "speedup": ("speedup", ""),
    "efficiency_percent": ("efficiency", "%"),
    "epoch_time_s": ("epoch time", "s"),
    "time_to_accuracy_s": ("time to {target}", "s"),
    "accuracy_percent": ("accuracy", "%"),
}
"""Printed name of a quantity -> what it is called, and its unit. target: the accuracy that is to be reached."""
BROUGHT = "It brought {gain} times the throughput"
PREDICTED = "{predicted.gain} was predicted"
NOT_PREDICTED = "nothing was predicted"


def where(at: Place) -> str:
    """'digits-mlp, ddp strong scaling, 1x2'."""
    return f"{at.workload}, {at.variant} {at.scaling} scaling, {_scale(at)}"


def place(at: Place) -> str:
    """'digits-mlp, ddp strong, 1x2': where there is little room."""
    return f"{at.workload}, {at.variant} {at.scaling}, {_scale(at)}"


def _scale(at: Place) -> str:
    return f"{at.nodes}x{at.devices_per_node}"


def quantity(name: str, target: float | None) -> tuple[str, str]:
    """(what a quantity is called, its unit). target: the accuracy that is to be reached, if any."""
    words, unit = QUANTITIES[name]
    return words.format(target="accuracy" if target is None else f"{target:.0%}"), unit
