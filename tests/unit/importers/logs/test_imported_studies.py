"""Imported runs as a study: its points and baselines, what it may claim, and the further runs that would
decide."""

from __future__ import annotations

import random
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import small_content
from scalestudy.analyse.study.further import MOST, further_runs
from scalestudy.analyse.study.questions import question_differences
from scalestudy.cli.main import main
from scalestudy.cli.results.imported import import_files
from scalestudy.cli.results.inputs import plan_of, table_of
from scalestudy.diagnose.study import diagnose_study
from scalestudy.errors import UserError
from scalestudy.importers.logs.given import given_for
from scalestudy.importers.logs.model import Given
from scalestudy.record.files import write_json
from scalestudy.record.observation import IMPORTED
from scalestudy.record.tables import read_observation
from scalestudy.registry.codes import IntervalMethod, Refused, Stopped, Verdict
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan


def write_log(
    folder: Path, name: str, *, devices: int, step_ms: float, batch: int, steps: int = 60, seed: int = 0
) -> Path:
    """A log of single steps with 2 % scatter, whose first step is slow."""
    chance = random.Random(seed)
    path = folder / name
    times = [step_ms * (3 if step == 1 else 1) * chance.lognormvariate(0, 0.02) for step in range(1, steps + 1)]
    rows = [f"{step},{time:.4f},{devices},{batch}" for step, time in enumerate(times, 1)]
    path.write_text("step,step_time_ms,gpus,global_batch\n" + "\n".join(rows) + "\n")
    return path


def imported(folder: Path, files: list[Path], **options: list[str]) -> tuple[Path, pd.DataFrame]:
    results = folder / "results"
    given = given_for(files, {name.replace("_", "-"): words for name, words in options.items()})
    import_files(given, "logs", results, scaling=None, form=None, documents=False)
    return results, table_of(results, "summary")


def test_beyond_a_whole_node_nothing_is_forecast_as_from_a_table(tmp_path: Path) -> None:
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=100 + n, batch=32 * n) for n in (1, 4, 8)]
    results, summary = imported(tmp_path, files)
    forecasts = table_of(results, "forecasts")
    (wider,) = forecasts[forecasts["forecast_of"] == "scale"].to_dict("records")
    assert (wider["nodes"], wider["devices_per_node"]) == (2, 8)
    assert wider["refused"] == Refused.NETWORK_NOT_MEASURED
    found = diagnose_study(plan_of(results).study, summary, forecasts)
    (advice,) = [item for one in found if one.world_size == 8 for _, item in one.recommendations]
    assert advice.prediction is None
    assert "the cost of the network between nodes is not known" in advice.unpredicted


def test_weak_scaling_with_repeats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        write_log(
            tmp_path,
            f"{n}-{run}.csv",
            devices=n,
            step_ms=100 * (1 + 0.05 * (n > 1)) * (1 + 0.01 * run),
            batch=32 * n,
            seed=8 * n + run,
        )
        for n in (1, 4)
        for run in range(3)
    ]
    results, summary = imported(tmp_path, files)
    base, point = (row for _, row in summary.iterrows())
    assert (base["is_base"], base["world_size"], point["scaling"], point["world_size"]) == (True, 1, "weak", 4)
    assert point["speedup"] == pytest.approx(4 / 1.05, rel=0.01)
    assert point["speedup_low"] < point["speedup"] < point["speedup_high"]
    assert point["interval"] == IntervalMethod.WELCH, "nobody ran them in repeats"
    assert point["repeats_apart"] == 0
    assert point["limits"] == "imported"
    assert point["stopped_because"] == Stopped.NONE
    assert isnan(point["data_time_s"])
    assert isnan(point["remainder_time_s"])
    assert point["step_time_p95_s"] > point["step_time_p50_s"]
    plan = plan_of(results)
    assert plan.study.imported
    assert {spec.command[0] for spec in plan.runs.values()} == {"imported"}  # type: ignore[union-attr]
    out = capsys.readouterr().out
    assert "1-0.csv (1 32): CSV log\n  1 device, 32 samples per step\n" in out
    assert "Every verdict is decided; no further run is needed." in out


def test_the_import_prints_the_step_time_of_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first steps are slow: the tables leave them out as warm-up, and the import says so."""
    times_ms = [300.0] + [150.0] * 5 + [100.0 + step % 3 for step in range(54)]
    rows = "".join(f"{step},{time},1,32\n" for step, time in enumerate(times_ms, 1))
    (tmp_path / "slow.csv").write_text(f"step,step_time_ms,gpus,global_batch\n{rows}")
    results, _ = imported(tmp_path, [tmp_path / "slow.csv"])
    run = table_of(results, "runs").iloc[0]
    assert run["steady_steps"] == 54
    assert (
        f"  {run['step_time_s'] * 1e3:.4g} ms per step, {run['throughput_samples_per_s']:.4g} samples/s on all"
        " devices, from 54 steps after 5 of warm-up\n" in capsys.readouterr().out
    )


def test_a_setting_that_one_log_does_not_say_is_no_difference(tmp_path: Path) -> None:
    """Neither between a point and its baseline nor between two studies."""
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=100, batch=32 * n) for n in (1, 4)]
    results, summary = imported(tmp_path, files)
    plan, forecasts = plan_of(results), table_of(results, "forecasts")
    said = summary.assign(precision=[None, "bf16"], torch=[None, "2.9.0"])
    (diagnosis,) = diagnose_study(plan.study, said, forecasts)
    assert diagnosis.verdict != Verdict.CONFOUNDED
    (diagnosis,) = diagnose_study(plan.study, said.assign(precision=["fp32", "bf16"]), forecasts)
    assert diagnosis.verdict == Verdict.CONFOUNDED
    runs = {run: spec.model_copy(update={"precision": "bf16"}) for run, spec in plan.runs.items()}
    others = plan.model_copy(update={"runs": runs})
    point = plan.points[-1]
    assert not question_differences((plan, point), (others, point))


def test_one_run_of_each_has_no_interval_and_the_fewest_further_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=1000, batch=32 * n, steps=3600) for n in (1, 4)]
    results, summary = imported(tmp_path, files)
    point = summary[~summary["is_base"]].iloc[0]
    assert isnan(point["speedup_low"])
    assert point["interval"] == IntervalMethod.NONE
    plan = plan_of(results)
    found = further_runs(plan, summary, table_of(results, "runs"))
    assert found.assumed
    assert [(place.point.world_size, place.more) for place in found.places] == [(1, 1), (4, 1)]
    assert found.device_hours == pytest.approx(1 + 4, rel=0.02), "an hour on each device"
    assert (
        "2 further runs would decide the verdicts (5 device-hours); no point has two runs, so a spread of 3 %"
        in " ".join(capsys.readouterr().out.split())
    )
    (diagnosis,) = diagnose_study(plan.study, summary, table_of(results, "forecasts"))
    assert diagnosis.verdict == Verdict.HEALTHY
    assert "only one run, so there is no interval" in diagnosis.sentence
    assert len(diagnosis.not_judged) == 1
    assert "the logs have step times only" in diagnosis.not_judged[0].unseen
    assert all(advice.patch is None for finding in diagnosis.findings for advice in finding.recommendations)


def test_step_times_alone_identify_no_cause(tmp_path: Path) -> None:
    """The overhead may be communication, data or another program: the advice is to measure the parts."""
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=100 * n, batch=32 * n) for n in (1, 4)]
    results, summary = imported(tmp_path, files)
    (diagnosis,) = diagnose_study(plan_of(results).study, summary, table_of(results, "forecasts"))
    (finding,) = diagnosis.findings
    assert finding.cause == "unexplained"
    assert finding.recommendations[-1].id == "parts_of_step"
    assert "`scalestudy run --scales 1x4 -- train.py`" in finding.recommendations[-1].change
    assert "comm-bound" in diagnosis.not_judged[0].causes


def test_a_run_on_one_device_at_another_batch_is_a_reference(tmp_path: Path) -> None:
    """Strong scaling, with one device at the batch of each of eight: it is what the overhead is relative to."""
    sizes = {(1, 512): 2000, (1, 64): 300, (2, 512): 1100, (8, 512): 350}
    files = [
        write_log(tmp_path, f"{devices}-{batch}.csv", devices=devices, step_ms=step_ms, batch=batch)
        for (devices, batch), step_ms in sizes.items()
    ]
    _, summary = imported(tmp_path, files, variant=["ddp"])
    rows = summary[["scaling", "world_size", "global_batch"]].to_dict("split")["data"]
    assert rows == [["strong", 1, 512], ["reference", 1, 64], ["strong", 2, 512], ["strong", 8, 512]]
    assert summary.iloc[3]["overhead_s"] == pytest.approx(0.05, rel=0.05), "350 - 300 ms"


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_several_batches_on_the_same_devices_are_variants(tmp_path: Path, kind: str) -> None:
    sizes = [(2, 64), (2, 128), (4, 128), (4, 256)] if kind == "weak" else [(2, 64), (2, 128), (4, 64), (4, 128)]
    files = [
        write_log(tmp_path, f"{devices}-{batch}.csv", devices=devices, step_ms=100, batch=batch)
        for devices, batch in sizes
    ]
    _, summary = imported(tmp_path, files, variant=["ddp"])
    names = (
        ["ddp-batch-per-device-32", "ddp-batch-per-device-64"]
        if kind == "weak"
        else ["ddp-batch-64", "ddp-batch-128"]
    )
    assert [(row["variant"], row["world_size"]) for _, row in summary.iterrows()] == [
        (name, devices) for devices in (2, 4) for name in names
    ]
    assert set(summary["scaling"]) == {kind}


@pytest.mark.parametrize(("distance", "reachable"), [(0.10, True), (0.0, False)])
def test_further_runs_depend_on_the_distance_to_the_target(
    tmp_path: Path, distance: float, reachable: bool
) -> None:
    """Near the target no number of runs decides, unless it is within the margin; further away a few do."""
    files = [write_log(tmp_path, "1.csv", devices=1, step_ms=100, batch=32)]
    files += [
        write_log(
            tmp_path,
            f"2-{run}.csv",
            devices=2,
            step_ms=100 / (0.75 + distance) * (1 + 0.2 * run),
            batch=64,
            seed=int(2 * run) + 1,
        )
        for run in (-0.5, 0.5)
    ]
    results, summary = imported(tmp_path, files)
    found = further_runs(plan_of(results), summary, table_of(results, "runs"))
    place = found.places[-1]
    assert not found.assumed
    assert found.spread == pytest.approx(0.14, abs=0.02)
    assert place.reachable == reachable
    assert (0 < place.more <= MOST) == reachable


def test_a_baseline_of_several_devices(tmp_path: Path) -> None:
    """Speedups are relative to the smallest scale, which counts as its number of devices."""
    files = [
        write_log(tmp_path, f"{n}.csv", devices=n, step_ms=800 / n * (1 + 0.05 * (n > 8)), batch=256)
        for n in (8, 16, 32)
    ]
    results, summary = imported(tmp_path, files)
    assert list(summary["base_world_size"]) == [8, 8, 8]
    assert list(summary["speedup"]) == pytest.approx([8, 16 / 1.05, 32 / 1.05], rel=0.01)
    assert list(summary["efficiency"]) == pytest.approx([1, 1 / 1.05, 1 / 1.05], rel=0.01)
    assert summary["per_doubling_efficiency"].iloc[2] == pytest.approx(1.05**-0.5, rel=0.01), "two doublings"
    assert summary["karp_flatt"].isna().all()
    found = diagnose_study(plan_of(results).study, summary, table_of(results, "forecasts"))
    assert [one.world_size for one in found] == [16, 32], "the baseline is no point of its own"
    assert "of the target of 75 %" in found[0].sentence or "the target of 75 %" in found[0].sentence
    assert "the target of 56 %" in found[1].sentence
    assert "as fast as the 8 ranks of the baseline" in found[1].findings[0].explanation


def test_averages_say_so_and_show_no_single_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for devices in (1, 2):
        path = tmp_path / f"{devices}.csv"
        path.write_text(
            "step,step_time_ms\n" + "".join(f"{step},{100 + step % 3}\n" for step in range(50, 3000, 50))
        )
    results, summary = imported(
        tmp_path,
        [tmp_path / "1.csv", tmp_path / "2.csv"],
        gpus=["1.csv=1", "2.csv=2"],
        batch=["1.csv=8", "2.csv=16"],
    )
    assert set(summary["limits"]) == {"imported averaged"}
    assert summary[["step_time_p95_s", "step_time_cv"]].isna().all(axis=None)
    runs = table_of(results, "runs")
    assert (runs["steady_steps"] >= 50 * 40).all()
    assert (runs["steps"] == 2950).all()
    assert len(pd.read_csv(results / "step_quantiles.csv")) == 0
    observation = read_observation(results / "runs" / runs["run_id"].iloc[0])
    assert observation.record.environment[IMPORTED]["steps_per_row"] == 50
    assert observation.record.ranks == ()


def test_units_that_differ_need_a_sequence_length(tmp_path: Path) -> None:
    first = tmp_path / "samples.csv"
    first.write_text("step,step_time_s,gpus,global_batch\n" + "".join(f"{step},1.0,1,4\n" for step in range(20)))
    second = tmp_path / "tokens.csv"
    second.write_text("step,tokens/s/gpu,gpus\n" + "".join(f"{step},8192,2\n" for step in range(20)))
    with pytest.raises(
        ValueError, match=r"samples.csv, run 1 4: other logs count tokens; add --sequence-length N"
    ):
        imported(tmp_path, [first, second], batch=["tokens.csv=16384"])
    _, summary = imported(tmp_path, [first, second], batch=["tokens.csv=16384"], sequence_length=["2048"])
    assert set(summary["limits"]) == {"imported tokens"}
    assert list(summary["throughput_samples_per_s"]) == pytest.approx([8192, 16384])


def test_model_parallel_batches_are_counted_in_tokens(tmp_path: Path) -> None:
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=8000 / n, batch=16) for n in (32, 64)]
    with pytest.raises(ValueError, match=r"16 samples do not divide among 32 devices; add --sequence-length N"):
        imported(tmp_path, files)
    _, summary = imported(tmp_path, files, sequence_length=["4096"])
    assert list(summary["global_batch"]) == [16 * 4096] * 2
    assert set(summary["scaling"]) == {"strong"}


def test_a_throughput_that_hardly_changes_asks_whether_it_is_per_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in (1, 8):
        (tmp_path / f"{n}.csv").write_text(
            "step,samples/s,gpus,global_batch\n"
            + "".join(f"{step},{410 - n},{n},{32 * n}\n" for step in range(20))
        )
    imported(tmp_path, [tmp_path / "1.csv", tmp_path / "8.csv"], per=["all"])
    assert (
        "throughput hardly changes from 1 to 8 devices (409 and 402 samples/s): is this per device?"
        in capsys.readouterr().out
    )


def test_variants_have_their_own_baselines(tmp_path: Path) -> None:
    files = [
        write_log(
            tmp_path, f"{variant}-{n}.csv", devices=n, step_ms=100 + 10 * (variant == "fsdp") + n, batch=32 * n
        )
        for variant in ("ddp", "fsdp")
        for n in (1, 2)
    ]
    _, summary = imported(tmp_path, files, variant=["ddp*=ddp", "fsdp*=fsdp"])
    points = summary[~summary["is_base"]]
    assert list(points["base_variant"]) == ["ddp", "fsdp"]
    assert list(points["speedup"]) == pytest.approx([2 * 101 / 102, 2 * 111 / 112], rel=0.01)
    assert set(points["strategy"]) == {"ddp", "fsdp"}
    assert set(points["wrapper"]) == {"ddp", "fsdp"}


def test_the_same_file_twice_is_refused_and_a_second_import_replaces_the_first(tmp_path: Path) -> None:
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=100, batch=32 * n) for n in (1, 2, 4)]
    copy = tmp_path / "copy.csv"
    copy.write_bytes(files[0].read_bytes())
    with pytest.raises(
        ValueError, match=r"copy.csv, run 1 32: the same file as .*1.csv, run 1 32; a run counts once"
    ):
        imported(tmp_path, [*files, copy])
    results, _ = imported(tmp_path, files)
    before = {path.name: path.stat().st_mtime_ns for path in (results / "runs").glob("*/run.json")}
    imported(tmp_path, files[:2])
    assert len([path for path in (results / "runs").iterdir() if path.name != ".partial"]) == 2
    assert len(list((results / "superseded").iterdir())) == 1
    after = {path.name: path.stat().st_mtime_ns for path in (results / "runs").glob("*/run.json")}
    assert after == {name: before[name] for name in after}


def test_a_study_that_was_run_is_not_replaced(tmp_path: Path) -> None:
    plan = make_plan(parse_study(small_content(), source="test"))
    write_json(tmp_path / "results" / "plan.json", plan.model_dump(mode="json"))
    with pytest.raises(ValueError, match="has a study that was run, not imported; use another --study"):
        imported(tmp_path, [write_log(tmp_path, "1.csv", devices=1, step_ms=100, batch=32)])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gpus": ["eight"]}, "--gpus eight: a whole number from 1 is expected"),
        ({"gpus": ["b.csv=8"]}, "--gpus b.csv=8: no file matches b.csv; the files are a.csv"),
        ({"per": ["gpu"]}, "--per gpu: one of device, all is expected"),
        ({"time": ["hours"]}, "--time hours: one of"),
    ],
)
def test_options_that_are_refused(options: dict[str, list[str]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        given_for([Path("a.csv")], options)


def test_a_value_for_a_file_overrides_one_for_all() -> None:
    files = [Path("runs/n1.log"), Path("runs/n8.log")]
    found = given_for(files, {"gpus": ["*n8*=8", "1"], "batch": ["n1.log=32", "runs/n8.log=256"]})
    assert found == {files[0]: Given(devices=1, batch=32), files[1]: Given(devices=8, batch=256)}


def test_names_that_a_study_cannot_have(tmp_path: Path) -> None:
    """The name of the study is refused; that of a variant, which a file may have, is changed."""
    files = [write_log(tmp_path, f"{n}.csv", devices=n, step_ms=100, batch=32 * n) for n in (1, 2)]
    for name in ("../other", "a b", "Gpt", "", "x" * 61):
        with pytest.raises(ValueError, match=r"--study .*: a name has lower-case letters, digits and hyphens"):
            import_files(given_for(files, {}), name, tmp_path / "r", scaling=None, form=None, documents=False)
    assert not (tmp_path / "r").exists()
    _, summary = imported(tmp_path, files, variant=["2.csv=PyTorch DDP <b>(ZeRO-1)</b>"])
    assert list(summary["variant"]) == ["single", "pytorch-ddp-b-zero-1-b"]


CLUSTERS = (("old", 90), ("new", 60))
"""Name of an imported study, and its step time in milliseconds."""


def on_a_cluster(folder: Path, name: str, *, step_ms: float, **options: Any) -> Path:
    """The results of logs on 2 and 4 devices, imported as a study of this name."""
    (folder / name).mkdir()
    files = [
        write_log(folder / name, f"{n}-{run}.csv", devices=n, step_ms=step_ms * (1 + 0.01 * run), batch=32 * n)
        for n in (2, 4)
        for run in range(2)
    ]
    results = folder / name / "results"
    import_files(given_for(files, {}), name, results, scaling=None, form=None, documents=False, **options)
    return results


def test_two_imports_of_one_training_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (
        on_a_cluster(tmp_path, name, step_ms=ms, workload="gpt") for name, ms in (("old", 90), ("new", 60))
    )
    assert main(["compare", str(old), str(new), "--out", str(tmp_path / "compared")]) == 0
    assert "gpt: new (B) is 1.5" in capsys.readouterr().out
    text = " ".join((tmp_path / "compared/comparison.txt").read_text().split())
    assert "* B: imported from logs, so hardware, software and hosts are not recorded." in text


def test_imports_of_other_names_are_refused_with_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (on_a_cluster(tmp_path, name, step_ms=ms) for name, ms in CLUSTERS)
    assert main(["compare", str(old), str(new), "--out", str(tmp_path / "compared")]) == 2
    assert "import logs of one training with the same --workload NAME" in capsys.readouterr().err


def test_the_name_of_a_training_is_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--workload My model: a name has lower-case letters"):
        on_a_cluster(tmp_path, "old", step_ms=90, workload="My model")


@pytest.mark.parametrize("name", ["2024", "007", "1e5", "true", "9" * 30])
def test_a_name_that_looks_like_a_number_stays_a_name(tmp_path: Path, name: str) -> None:
    """Tables are CSV files, whose reader would make a number of it, and the study has no workload 2024.0."""
    files = [
        write_log(tmp_path, "1.csv", devices=1, step_ms=80, batch=32),
        write_log(tmp_path, "2.csv", devices=2, step_ms=42, batch=32),
    ]
    results = tmp_path / "results"
    import_files(given_for(files, {}), name, results, scaling=None, form=None, documents=False)
    assert set(table_of(results, "summary")["workload"]) == {name}
    assert set(table_of(results, "runs")["workload"]) == {name}
