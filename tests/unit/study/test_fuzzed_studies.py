"""Generated studies: an invalid study is refused with its key and in our words, and a valid one is accepted."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from random import Random

import pytest
from hasty_changes import hasty, ready_studies
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scalestudy.errors import UserError
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import make_plan
from study_grammar import Content, studies, without_what_means_nothing
from study_mutations import Malformed, malformed, written

FOREIGN = ("pydantic", "validation error", "value error", "Traceback", "Value error")
OF_A_LIBRARY = re.compile(
    r"[Ii]nput should|[Ff]ield required|is not a valid|[Uu]nable to|valid (integer|number|string|boolean|list)|"
    r"valid (dictionary|tuple)|(String|List|Tuple|Dictionary) should|Extra inputs|\[type=|'ctx'"
)
LONGEST_S = 2.0


def refusal_of(file: Path) -> str:
    """Why a study is refused; '' where it is planned."""
    try:
        make_plan(load_study(file))
    except UserError as error:
        return str(error)
    return ""


def wrong_with(case: Malformed, file: Path) -> str:
    """Return what is wrong with the refusal of a malformed study, or ''. Other errors are raised."""
    file.write_bytes(case.data)
    begin = time.process_time()
    said = refusal_of(file)
    if (passed := time.process_time() - begin) > LONGEST_S:
        return f"took {passed:.1f} s"
    if not said:
        return "accepted"
    if OF_A_LIBRARY.search(said) or any(word in said for word in FOREIGN):
        return f"a library's words: {said}"
    missing = [word for word in case.expected if word not in said and ascii(word)[1:-1] not in said]
    by_place = "for numbers (line " in said  # the text of a number is refused before it belongs to a key
    return f"not named: {missing}: {said}" if missing and not by_place else ""


def fuzz(strategy: st.SearchStrategy, judge, count: int) -> list[str]:
    """A line for each case, of this many, in which `judge` finds a mistake."""
    found: list[str] = []

    @settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def one(case: object) -> None:
        nonlocal made
        made += 1
        if said := judge(case):
            found.append(said)

    made = 0
    one()
    assert made >= count * 0.99
    return found


def judged(file: Path):
    def judge(case: Malformed) -> str:
        said = wrong_with(case, file)
        return said and f"{case.kind} {case.expected}: {said}"

    return judge


def refused_valid(file: Path):
    def judge(study: Content) -> str:
        file.write_bytes(written(study))
        said = refusal_of(file)
        return said and f"{said}\n{json.dumps(study)}"

    return judge


def test_what_was_made_wrong_is_refused(tmp_path: Path) -> None:
    assert fuzz(malformed(), judged(tmp_path / "study.yaml"), 150) == []


def test_what_is_valid_by_construction_is_accepted(tmp_path: Path) -> None:
    assert fuzz(studies(), refused_valid(tmp_path / "study.yaml"), 60) == []


def wrong_with_hasty(seed: int, count: int, file: Path) -> list[str]:
    """A line for each study with hasty changes whose refusal has a library's words. Other errors are raised."""
    choice, ready, found = Random(seed), ready_studies(), []
    for _ in range(count):
        name = choice.choice(list(ready))
        changes, study = hasty(choice, ready[name], list(ready.values()))
        file.write_bytes(written(study))
        said = refusal_of(file)
        if OF_A_LIBRARY.search(said) or any(word in said for word in FOREIGN):
            found.append(f"{name}: {changes}: {said}")
    return found


def test_hasty_changes_are_accepted_or_refused_in_our_words(tmp_path: Path) -> None:
    assert wrong_with_hasty(7, 60, tmp_path / "study.yaml") == []


@pytest.mark.parametrize(
    ("scale", "ranks", "first", "second"),
    [
        ("1x2", 2, {"learning_rate_scaling": "sqrt"}, {}),
        ("1x2", 2, {"weight_decay": 0, "learning_rate": "1e-3"}, {}),
        ("1x1", 1, {"scaling": ["strong", "weak"]}, {}),
    ],
)
def test_workloads_that_become_equal_are_one(
    tmp_path: Path, scale: str, ranks: int, first: Content, second: Content
) -> None:
    """A key that is removed, or has its default, may be all that they differ in."""
    workload = {
        "model": {"type": "mlp"},
        "data": {"type": "synthetic-images", "samples": 640},
        "optimizer": {"type": "adam"},
        "batch_size": 64,
        "epochs": 0,
        "scaling": ["strong"],
    }

    def with_keys(keys: Content) -> Content:
        of_optimizer = {key: value for key, value in keys.items() if key != "scaling"}
        return (
            workload
            | {key: value for key, value in keys.items() if key == "scaling"}
            | {"optimizer": workload["optimizer"] | of_optimizer}
        )

    study: Content = {
        "study": "equal",
        "scales": [scale],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"a": with_keys(first), "b": with_keys(second)},
        "repeats": 3,
        "report": {"overhead_reference": False} if ranks > 1 else {},
    }
    made = without_what_means_nothing(study, [ranks])
    assert list(made["workloads"]) == ["a"]
    assert refused_valid(tmp_path / "study.yaml")(made) == ""


@pytest.mark.slow
def test_2000_malformed_studies_are_refused(tmp_path: Path) -> None:
    assert fuzz(malformed(), judged(tmp_path / "study.yaml"), 2400) == []


@pytest.mark.slow
def test_500_valid_studies_are_accepted(tmp_path: Path) -> None:
    assert fuzz(studies(), refused_valid(tmp_path / "study.yaml"), 600) == []


@pytest.mark.slow
def test_1000_hasty_changes_are_accepted_or_refused_in_our_words(tmp_path: Path) -> None:
    assert wrong_with_hasty(8, 1000, tmp_path / "study.yaml") == []
