"""Which metric of a framework is which number of an epoch."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scalestudy.adapters.metrics import Metrics

USUAL = {
    "validation_accuracy": ("val_acc", "val_accuracy"),
    "validation_loss": ("val_loss",),
    "train_loss": ("loss",),
}


def metrics(accuracy: str | None = None, loss: str | None = None) -> Metrics:
    return Metrics("Callback", USUAL, accuracy=accuracy, loss=loss, train_loss=None)


def test_usual_names_are_found_in_their_order() -> None:
    values = {"val_accuracy": 0.5, "val_loss": 2, "epoch": 3, "lr": "0.1"}
    assert metrics().of(values) == {"validation_accuracy": 0.5, "validation_loss": 2.0}
    assert metrics().of(values | {"val_acc": 0.25})["validation_accuracy"] == 0.25


def test_a_name_that_is_given_is_the_only_one() -> None:
    values = {"val_acc": 0.5, "val_f1": 0.75}
    assert metrics(accuracy="val_f1").of(values) == {"validation_accuracy": 0.75}
    assert metrics(accuracy="top1").of(values) == {}


def test_a_given_name_that_never_came_is_refused() -> None:
    found = metrics(accuracy="top1")
    found.of({"val_acc": 0.5})
    found.of({"val_loss": 1})
    with pytest.raises(ValueError, match=r"Callback: accuracy='top1' is not .*: val_acc, val_loss$"):
        found.refuse_missing("accuracy", "loss")
    found.of({"top1": 0.5})
    found.refuse_missing("accuracy", "loss")
    metrics().refuse_missing("accuracy", "loss")


@pytest.mark.parametrize("value", [87.5, -0.1])
def test_a_percentage_is_no_accuracy(value: float) -> None:
    with pytest.raises(ValueError, match="number from 0 to 1"):
        metrics().of({"val_acc": value})
    assert metrics().of({"val_acc": float("nan")})["validation_accuracy"] != 0


@pytest.mark.parametrize(
    "framework",
    ["accelerate", *(pytest.param(one, marks=pytest.mark.slow) for one in ("huggingface", "lightning"))],
)
def test_an_adapter_imports_nothing_else_of_ours(framework: str) -> None:
    """A script has an environment of its own, where only the package without its extras may be installed."""
    code = (
        f"import sys, scalestudy.adapters.{framework}\n"
        "ours = {name for name in sys.modules if name.split('.')[0] == 'scalestudy'}\n"
        "print(*sorted(ours))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = {"scalestudy", "scalestudy.adapters", "scalestudy.adapters.metrics", "scalestudy.recorder"}
    assert set(done.stdout.split()) == expected | {f"scalestudy.adapters.{framework}"}
