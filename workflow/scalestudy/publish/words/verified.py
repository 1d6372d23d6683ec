"""Texts about advice that was tried."""

from scalestudy.registry.codes import AccuracyKept, Tried
from scalestudy.registry.words.percent import percent
from scalestudy.verify.model import Place

VERDICTS = {
    Tried.CONFIRMED: "confirmed",
    Tried.PARTLY: "partly confirmed",
    Tried.REFUTED: "refuted",
    Tried.UNDECIDED: "undecided",
}
KEPT = {
    AccuracyKept.EQUIVALENT: "Accuracy is kept",
    AccuracyKept.LOWER: "Accuracy is lower with the change",
    AccuracyKept.HIGHER: "Accuracy is higher with the change",
    AccuracyKept.NOT_SHOWN: "The comparison of accuracy is inconclusive",
}
"""By the comparison of runs of both sides in the same repeats."""
NOT_MEASURED = "Accuracy was not measured"
NOT_COMPARED = "Accuracy was not compared: no repeat has it both before and after the change"
ONE_LAUNCH = {
    (
        "before",
        "after",
    ): "Only one run before and one run after the change completed, so their values have no limits.",
    ("before",): "Only one run before the change completed, so its values have no limits.",
    ("after",): "Only one run after the change completed, so its values have no limits.",
}
"""By the sides that have a single run."""
IS_BASE = {
    "before": "The point before the change is the baseline, whose speedup is 1 by definition.",
    "after": "The point after the change is the baseline, whose speedup is 1 by definition.",
}
QUANTITIES = {
    "step_time_ms": ("step time", "ms"),
    "speedup": ("speedup", ""),
    "efficiency_percent": ("efficiency", "%"),
    "epoch_time_s": ("epoch time", "s"),
    "time_to_accuracy_s": ("time to {target}", "s"),
    "accuracy_percent": ("accuracy", "%"),
}
"""Key of a quantity -> its name and its unit. target: the target accuracy."""
BROUGHT = "It gave {gain} times the throughput"
PREDICTED = "{predicted.gain} was predicted"
NOT_PREDICTED = "nothing was predicted"


def where(at: Place) -> str:
    """'digits-mlp, ddp strong scaling, 1x2'."""
    return f"{at.workload}, {at.variant} {at.scaling} scaling, {_scale(at)}"


def place(at: Place) -> str:
    """'digits-mlp, ddp strong, 1x2': for places with little room."""
    return f"{at.workload}, {at.variant} {at.scaling}, {_scale(at)}"


def _scale(at: Place) -> str:
    return f"{at.nodes}x{at.devices_per_node}"


def quantity(name: str, target: float | None) -> tuple[str, str]:
    """(name of a quantity, its unit). target: the target accuracy, if any."""
    words, unit = QUANTITIES[name]
    return words.format(target="accuracy" if target is None else percent(target)), unit
