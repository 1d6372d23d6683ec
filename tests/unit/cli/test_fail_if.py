"""`scalestudy compare --fail-if`: which limits are valid, and the exit status."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import study_of
from conftest import small_content
from scalestudy.analyse.guard.limits import QUANTITIES
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.cli.guard.fail_if import parse_limits
from scalestudy.cli.main import main
from scalestudy.errors import UserError
from scalestudy.record.document import write_document
from scalestudy.registry.files import FILES
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

CONTENT = small_content(repeats=4, scales=["1x2"])


@pytest.mark.parametrize(
    ("text", "quantity", "change"),
    [
        ("step_time > +3%", "step_time", 0.03),
        ("step time>3 %", "step_time", 0.03),
        ("throughput < -2.5%", "throughput", -0.025),
        ("peak-memory >= +10%", "peak_memory", 0.1),
        ("accuracy < -0.5 points", "accuracy", -0.005),
        ("speedup < -0%", "speedup", 0.0),
        ("throughput < 0%", "throughput", 0.0),
    ],
)
def test_a_limit_is_a_quantity_and_how_much_worse_it_may_be(text: str, quantity: str, change: float) -> None:
    (limit,) = parse_limits([text])
    assert (limit.quantity, limit.change) == (quantity, pytest.approx(change))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a limit; write QUANTITY > +X%"),
        ("slower", "not a limit; write QUANTITY > +X%"),
        ("step_time > 1e-2%", "not a limit"),
        ("steptime > +3%", "unknown quantity steptime; did you mean step_time?"),
        ("colour > +3%", f"unknown quantity colour; the quantities are {', '.join(QUANTITIES)}"),
        ("step_time < -3%", "a smaller step_time is not a failure; write 'step_time > +3%'"),
        ("throughput > +3%", "a larger throughput is not a failure; write 'throughput < -3%'"),
        ("step_time > -3%", "the limit has the wrong sign; write 'step_time > +3%'"),
        ("throughput < 3%", "the limit has the wrong sign; write 'throughput < -3%'"),
        ("step_time > +3", "the limit of step_time is a change in percent; write 'step_time > +3%'"),
        ("accuracy < -1%", "the limit of accuracy is a difference in points; write 'accuracy < -1 points'"),
        ("throughput < -100%", "throughput cannot fall by 100 or more; write less, such as 'throughput < -3%'"),
    ],
)
def test_what_is_no_limit_is_told_what_would_be(text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        parse_limits([text])
    assert str(error.value).startswith(f"--fail-if {text!r}: {said}")


def test_one_limit_for_each_quantity() -> None:
    with pytest.raises(UserError, match="step_time has two limits"):
        parse_limits(["step_time > +3%", "step_time > +5%"])
    with pytest.raises(UserError, match="speedup needs runs of the baseline"):
        parse_limits(["speedup < -3%"], live=True)


def write_results(folder: Path, *, slower: float = 1.0, scatter: float = 0.003, **changes: Any) -> Path:
    """A finished study. slower: its distributed step times over those of the others."""
    plan = make_plan(parse_study(CONTENT | changes, source="x"))
    random = np.random.default_rng(len(folder.name) + int(1000 * slower))
    keys = {(spec.workload, spec.world_size, spec.batch_per_rank) for spec in plan.runs.values()}
    times = {
        key: list(0.01 * (slower if key[1] > 1 else 1) * np.exp(random.normal(0, scatter, plan.study.repeats)))
        for key in sorted(keys)
    }
    runs = study_of(plan, times)
    runs["record_sha256"] = [f"{folder.name}{index}" for index in range(len(runs))]
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(plan.model_dump_json(), encoding="utf-8")
    runs.to_csv(folder / "runs.csv", index=False)
    summary_frame(plan, runs).to_csv(folder / "comprehensive_summary.csv", index=False)
    write_document(folder / "environment.json", StudyEnvironment(facts={}))
    return folder


def ended(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """(exit status, the closing sentence, all) of `scalestudy compare`; wrapped sentences are joined."""
    status = main(["compare", *map(str, words)])
    printed = capsys.readouterr()
    text = re.sub(r"\n {2}(?=\S)", " ", printed.out + printed.err)
    return status, text.splitlines()[-1], text


def test_the_exit_status_is_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write_results(tmp_path / "old")
    limit = ("--fail-if", "step_time > +3%")
    status, said, text = ended(capsys, old, write_results(tmp_path / "slow", slower=1.1), *limit)
    assert status == 1
    assert said.startswith("Worse: step time of mlp, ddp ") and "the limit is +3 %" in said
    assert "single, one process, batch 32: +" in text or "single, one process, batch 32: -" in text
    status, said, _ = ended(capsys, old, write_results(tmp_path / "equal"), *limit)
    assert (status, said.split(".")[0]) == (0, "Within all limits")
    unsure = write_results(tmp_path / "unsure", slower=1.02, scatter=0.03)
    status, said, _ = ended(capsys, old, unsure, *limit)
    assert status == 3
    assert said.startswith("Cannot tell: step time of ") and "more run" in said
    status, said, _ = ended(capsys, tmp_path / "slow", old, *limit)
    assert status == 0, "faster is no failure"


def test_limits_of_several_quantities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, slow = write_results(tmp_path / "old"), write_results(tmp_path / "slow", slower=1.1)
    for quantity in ("throughput", "speedup", "efficiency"):
        status, said, text = ended(capsys, old, slow, "--fail-if", f"{quantity} < -3%")
        assert status == 1 and said.startswith(f"Worse: {quantity} of mlp, ddp "), text
        assert ("one process" in text) == (quantity == "throughput"), "a base case has no speedup"
    status, said, _ = ended(
        capsys, old, slow, "--fail-if", "step_time > +20%", "--fail-if", "peak_memory > +1%", "--fail-if",
        "accuracy < -1 points",
    )  # fmt: skip
    assert status == 0, said


def test_one_launch_of_each_cannot_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (write_results(tmp_path / name, repeats=1) for name in ("old", "new"))
    status, said, _ = ended(capsys, old, new, "--fail-if", "step_time > +3%")
    assert status == 3 and said.endswith("each side needs at least 2 good runs.")


def test_epoch_times_are_those_of_epochs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [write_results(tmp_path / name) for name in ("old", "new")]
    for folder, seconds in zip(folders, (10.0, 11.0), strict=True):
        runs = pd.read_csv(folder / "runs.csv")["run_id"]
        names = [name for column in FILES["epochs.csv"].columns for name in column.names]
        rows = [dict.fromkeys(names, 1.0) | {"run_id": run, "epoch_time_s": seconds} for run in runs]
        pd.DataFrame(rows).to_csv(folder / "epochs.csv", index=False)
    assert ended(capsys, *folders, "--fail-if", "epoch_time > +3%")[0] == 1
    assert ended(capsys, *folders, "--fail-if", "epoch_time > +13%")[0] == 0


def test_mistakes_end_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = write_results(tmp_path / "old"), write_results(tmp_path / "new")
    other = write_results(tmp_path / "other", workloads={"net": CONTENT["workloads"]["mlp"]})
    for words, said in (
        ((old, new), "--out: missing"),
        ((old, new, "--fail-if", "step_time"), "not a limit"),
        ((old, other, "--fail-if", "step_time > +3%"), "the studies have no point in common"),
    ):
        status, _, text = ended(capsys, *words)
        assert (status, said in text) == (2, True), text


def test_points_of_one_study_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write_results(tmp_path / "old", scales=["1x2", "1x4"])
    _, _, text = ended(capsys, old, write_results(tmp_path / "new"), "--fail-if", "step_time > +3%")
    assert "not judged: mlp, only in A: " in text and "4 ranks" in text


@pytest.mark.slow
def test_documents_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    old, new = write_results(tmp_path / "old"), write_results(tmp_path / "new")
    out = tmp_path / "both"
    assert main(["compare", str(old), str(new), "--fail-if", "step_time > +3%", "--out", str(out)]) == 0
    assert (out / "comparison.txt").exists()


def test_what_failed_in_both_is_named_and_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If a point failed in only one study, the answer is undecided, since the change may be the cause."""
    folders = [write_results(tmp_path / name, scales=["1x2", "1x4"]) for name in ("old", "new")]

    def without_memory(folder: Path) -> None:
        plan = make_plan(parse_study(CONTENT | {"scales": ["1x2", "1x4"]}, source="x"))
        random = np.random.default_rng(1)
        keys = {(spec.workload, spec.world_size, spec.batch_per_rank) for spec in plan.runs.values()}
        times = {
            key: ["oom"] * 4 if key[1] == 4 else list(0.01 * np.exp(random.normal(0, 0.003, 4))) for key in keys
        }
        runs = study_of(plan, times)
        runs["record_sha256"] = [f"{folder.name}{index}" for index in range(len(runs))]
        runs.to_csv(folder / "runs.csv", index=False)
        summary_frame(plan, runs).to_csv(folder / "comprehensive_summary.csv", index=False)

    without_memory(folders[1])
    status, said, _ = ended(capsys, *folders, "--fail-if", "step_time > +3%")
    assert (status, "was not measured on both sides" in said) == (3, True)
    without_memory(folders[0])
    status, _, text = ended(capsys, *folders, "--fail-if", "step_time > +3%")
    assert status == 0
    assert "4 ranks, batch 8 per rank: no value on either side" in text


def test_an_error_of_our_own_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = write_results(tmp_path / "old"), write_results(tmp_path / "new")

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("scalestudy.analyse.study.compare.compare_studies", broken)
    assert main(["compare", str(old), str(new), "--fail-if", "step_time > +3%"]) == 70
    assert "a fault" in capsys.readouterr().err
