"""How many trials are run: at most so many, within so many device-hours, and finished ones cost nothing."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pytest
from scalestudy.cli.verify import trials
from scalestudy.cli.verify.spent import BOUND
from scalestudy.cli.verify.trials import Budget, pathvars_of, summary_of
from scalestudy.errors import UserError
from scalestudy.registry.results import DATA
from scalestudy.verify.price import Price

STUDY = Path("results/study")
PRICES = {"first": Price(4, 0.5, 1.0), "second": Price(4, 0.5, 1.0), "third": Price(4, 0.1, 0.2)}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def finish(name: str) -> None:
    summary_of(STUDY, name).parent.mkdir(parents=True)
    summary_of(STUDY, name).touch()


def test_what_is_beyond_the_budget_is_named_and_a_cheaper_one_may_follow() -> None:
    names, over = Budget(STUDY, most=3, hours=1.3).within(PRICES)
    assert names == ["first", "third"]
    assert "it may take 1 device-hours, and the budget has 0.3 left" in over["second"]


def test_a_budget_of_nothing_and_a_number_of_none() -> None:
    assert Budget(STUDY, most=3, hours=0).within(PRICES)[0] == []
    names, over = Budget(STUDY, most=0, hours=None).within(PRICES)
    assert not names and set(over) == set(PRICES)
    assert "at most 0 trials may run" in over["first"]
    assert Budget(STUDY, most=1, hours=None).within(PRICES)[0] == ["first"]


def test_what_is_finished_costs_nothing_more() -> None:
    finish("first")
    assert Budget(STUDY, most=3, hours=0.3).within(PRICES)[0] == ["first", "third"]
    assert Budget(STUDY, most=3, hours=0).spent_up("first", PRICES["first"]) == ""


def test_a_price_that_is_not_known_is_within_no_budget() -> None:
    names, over = Budget(STUDY, most=3, hours=5.0).within({"first": Price(4, nan, nan)})
    assert not names
    assert "not known" in over["first"]
    assert Budget(STUDY, most=3, hours=None).within({"first": Price(4, nan, nan)})[0] == ["first"]


def launched(name: str, hours: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the device-hours that the runs of a trial have taken."""
    before = trials._device_hours
    monkeypatch.setattr(
        trials, "_device_hours", lambda results, one: hours if one == name else before(results, one)
    )


def test_what_trials_really_took_ends_the_budget_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(STUDY, most=3, hours=2.2)
    assert budget.within(PRICES)[0] == ["first", "second", "third"]
    assert budget.spent_up("first", PRICES["first"]) == ""
    launched("first", 1.9, monkeypatch)
    assert "it may take 1 device-hours, and the budget has 0.3 left" in budget.spent_up("second", PRICES["second"])
    assert budget.spent_up("third", PRICES["third"]) == ""


def test_a_trial_is_bounded_by_what_those_before_it_left_beyond_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launched("third", 0.7, monkeypatch)  # in an earlier call
    budget = Budget(STUDY, most=3, hours=2.2)
    assert budget.spent_up("first", PRICES["first"]) == ""
    assert float(budget.environment("first")[BOUND]) == pytest.approx(2.2)
    launched("first", 1.9, monkeypatch)
    assert budget.spent_up("third", PRICES["third"]) == ""
    assert float(budget.environment("third")[BOUND]) == pytest.approx(0.7 + 0.3)
    assert budget.why_unfinished("third") == ""
    launched("third", 1.05, monkeypatch)
    assert "the budget was spent before its first repeat was complete" in budget.why_unfinished("third")
    finish("third")
    assert budget.why_unfinished("third") == ""


def test_a_finished_trial_that_is_run_again_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `scalestudy retry`: what it had taken is not of this budget, what it takes now is."""
    finish("first")
    launched("first", 3.0, monkeypatch)
    budget = Budget(STUDY, most=3, hours=0.5)
    assert budget.spent_up("first", PRICES["first"]) == ""
    assert float(budget.environment("first")[BOUND]) == pytest.approx(3.5)


def test_without_a_budget_no_launch_is_bounded() -> None:
    budget = Budget(STUDY, most=3, hours=None)
    assert budget.spent_up("first", PRICES["first"]) == ""
    assert budget.environment("first") == {}


def test_the_results_of_a_trial_are_beside_those_of_its_study(tmp_path: Path) -> None:
    """As with `prefix: "measured"` and with `replace_prefix` in a workflow that uses ours as a module."""
    assert pathvars_of(tmp_path / "results/study", "trial", DATA) == []
    option, moved = pathvars_of(tmp_path / "measured/results/study", "trial", tmp_path / "measured/resources/data")
    assert option == "--config"
    assert moved == 'pathvars={"results": "measured/results/trial", "resources": "measured/resources"}'
    assert (
        '"results": "measured/trial", "resources": "resources"'
        in pathvars_of(tmp_path / "measured/study", "trial", DATA)[1]
    )
    with pytest.raises(UserError, match="is named data"):
        pathvars_of(tmp_path / "results/study", "trial", Path("elsewhere"))
