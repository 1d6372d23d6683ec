"""What came of advice, as lines of text and as a table."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import pandas as pd

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.publish.numbers.rounding import show
from scalestudy.publish.words.labels import counted
from scalestudy.registry.codes import AccuracyKept, Tried
from scalestudy.verify.model import LeftOut, Place, VerificationFile, Verified

WIDTH = 80
KEPT = {
    AccuracyKept.EQUIVALENT: "kept",
    AccuracyKept.LOWER: "lower",
    AccuracyKept.HIGHER: "higher",
    AccuracyKept.NOT_SHOWN: "not shown to be kept",
}
COUNTED = {
    Tried.CONFIRMED: "confirmed",
    Tried.PARTLY: "partly confirmed",
    Tried.REFUTED: "refuted",
    Tried.UNDECIDED: "undecided",
}


def verification_lines(found: VerificationFile) -> list[str]:
    """The verdict on each piece of advice, and the numbers behind it; at most 80 columns."""
    counts = [
        f"{sum(one.verdict == verdict for one in found.verified)} {word}" for verdict, word in COUNTED.items()
    ]
    pieces = f"{counted(len(found.verified), 'piece')} of advice tried"
    lines = _wrapped(f"study {found.study}: {pieces}: {', '.join(counts)}", "", "  ")
    for one in found.verified:
        lines += ["", *_wrapped(f"{where(one.trial.before)}: {one.trial.change} ({one.trial.cause})", "", "  ")]
        lines += _wrapped(f"{COUNTED[one.verdict].upper()}: {one.reason}", "  ", "    ")
        lines += _numbers(one)
    if found.left_out:
        lines += ["", "Not tried:"]
        lines += [line for item in found.left_out for line in _left_out(item)]
    return lines


def where(place: Place) -> str:
    """'digits-mlp, ddp strong scaling, 1x2'."""
    scale = f"{place.nodes}x{place.devices_per_node}"
    return f"{place.workload}, {place.variant} {place.scaling} scaling, {scale}"


def _numbers(one: Verified) -> list[str]:
    predicted = one.trial.predicted
    rows = {
        "gain": [
            f"predicted {_text(predicted.gain)} x" if predicted else "not predicted",
            f"measured {_text(one.gain)} x",
        ],
        "step time": [
            f"before {_text(one.step_time_before_s, 1e3)} ms",
            f"after {_text(one.step_time_after_s, 1e3)} ms",
        ],
        "speedup": [f"before {_text(one.speedup_before)}", f"after {_text(one.speedup_after)}"],
    }
    if one.accuracy_kept != AccuracyKept.NONE:
        before, after = (show(value, factor=100) for value in (one.accuracy_before, one.accuracy_after))
        rows["accuracy"] = [f"before {before} %", f"after {after} %", KEPT[one.accuracy_kept]]
    return [
        line for name, said in rows.items() for line in _wrapped(", ".join(said), f"    {name:<10} ", " " * 15)
    ]


def _text(found: Interval, factor: float = 1) -> str:
    return str(show(*vars(found).values(), factor=factor))


def _left_out(item: LeftOut) -> list[str]:
    return _wrapped(f"{where(item.at)}: {item.change} {item.why[:1].upper()}{item.why[1:]}.", "* ", "  ")


def _wrapped(text: str, first: str, other: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=other, break_on_hyphens=False)


def verification_frame(verified: Sequence[Verified]) -> pd.DataFrame:
    """A row for each piece of advice: what it is, before, predicted and after with limits, and the verdict."""
    return pd.DataFrame([_row(one) for one in verified])


def _row(one: Verified) -> dict[str, Any]:
    trial = one.trial
    predicted = NOTHING if trial.predicted is None else trial.predicted.gain
    return {
        **trial.before.model_dump(),
        "cause": trial.cause,
        "advice": trial.advice,
        "change": trial.change,
        "verdict": one.verdict,
        **predicted.columns("predicted_gain"),
        **one.gain.columns("measured_gain"),
        **one.step_time_before_s.columns("step_time_before_s"),
        **one.step_time_after_s.columns("step_time_after_s"),
        **one.speedup_before.columns("speedup_before"),
        **one.speedup_after.columns("speedup_after"),
        "accuracy_before": one.accuracy_before,
        "accuracy_after": one.accuracy_after,
        **one.accuracy_difference.columns("accuracy_difference"),
        "accuracy_kept": one.accuracy_kept,
        "trial": trial.id,
    }
