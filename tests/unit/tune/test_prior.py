"""What the step-time models predict of settings before they are launched."""

from __future__ import annotations

from math import log, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import summary_of
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.tune.prior import Models, hopeful, largest_batch_in, noise_scale_in, predictions
from scalestudy.tune.space import Space, make_space
from scalestudy.tune.surrogate import Surrogate
from scalestudy.tune.target import Target
from simulated_tuning import simulated_space, true_log

# One process: 0.2 ms and 25 us a sample. Two ranks: 3.4 ms more.
TIMES = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0044}


def measured(content: dict[str, Any], levels: dict[str, list[Any]], **seen: Any) -> tuple[Space, pd.DataFrame]:
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    summary = summary_of(plan, {key: [time * f for f in (1.0, 1.01, 0.99)] for key, time in TIMES.items()})
    for name, value in seen.items():
        summary[name] = value
    workload = next(iter(plan.study.workloads))
    held = {"precision", "batch_size", "accumulation_steps", "ddp.bucket_cap_mb", "input.workers", "sharding"}
    target = Target.of(plan.study, workload, "ddp", "1x2")
    return make_space(target, levels=levels, hold=held - set(levels)), summary


def predicted(space: Space, summary: pd.DataFrame | None, noise_scale: float = nan) -> np.ndarray:
    return predictions(space, Models.of(space.target, summary), noise_scale)


def test_a_larger_batch_is_predicted_by_the_step_model(content: dict[str, Any]) -> None:
    """Each rank has 32 samples in the place of 16: 4.4 ms in the place of 4.0."""
    space, summary = measured(content, {"batch_size": [64]})
    now, larger = predicted(space, summary)
    assert now == 0
    assert larger == pytest.approx(log(2 * 4.0 / 4.4), abs=0.01)


def test_goodput_takes_off_what_a_sample_of_a_larger_batch_is_not_worth(content: dict[str, Any]) -> None:
    space, summary = measured(content, {"batch_size": [64]})
    _, larger = predicted(space, summary, noise_scale=32.0)
    assert larger == pytest.approx(log(2 * 4.0 / 4.4) + log(64 / 96), abs=0.01)


def test_each_micro_batch_costs_the_fixed_part_of_a_step(content: dict[str, Any]) -> None:
    space, summary = measured(content, {"accumulation_steps": [1, 2, 4]})
    by = dict(zip([one["accumulation_steps"] for one in space.settings], predicted(space, summary), strict=True))
    assert by[2] == pytest.approx(log(4.0 / 4.2), abs=0.01)
    assert by[4] == pytest.approx(log(4.0 / 4.6), abs=0.01)


def test_the_pipeline_of_buckets_says_that_one_bucket_hides_nothing(content: dict[str, Any]) -> None:
    probed = {
        "exposed_span_s": 0.001,
        "buckets": 4,
        "gradient_bytes": 4 * 2**20,
        "backward_compute_time_s": 0.002,
        "all_reduce_latency_s": 0.0,
    }
    space, summary = measured(content, {"ddp.bucket_cap_mb": [1, 25, 100]}, **probed)
    by = dict(zip([one["ddp.bucket_cap_mb"] for one in space.settings], predicted(space, summary), strict=True))
    assert by[25] == 0
    assert by[1] > by[100]


def test_waiting_for_data_goes_where_processes_read_ahead(content: dict[str, Any]) -> None:
    space, summary = measured(content, {"input.workers": [0, 1]}, data_time_s=0.001)
    assert predicted(space, summary)[1] == pytest.approx(log(4.0 / 3.0), abs=0.01)


def test_without_results_only_the_order_of_arithmetic_is_left() -> None:
    space = simulated_space()
    found = dict(zip(map(space.index, space.settings), predicted(space, None), strict=True))
    for change in ({"accumulation_steps": 2}, {"sharding": "fsdp-full"}):
        setting = {**space.present, **change}
        if "sharding" in change:
            setting.pop("ddp.bucket_cap_mb")
        assert found[space.index(setting)] < 0
    models = Models.of(space.target, None)
    assert all(hopeful(space, models, predicted(space, None))), "nothing is hopeless where nothing was measured"


def test_what_is_predicted_at_less_than_half_of_the_best_is_not_launched(content: dict[str, Any]) -> None:
    space, summary = measured(content, {"batch_size": [8, 64, 128]})
    models = Models.of(space.target, summary)
    found = dict(
        zip(
            [one["batch_size"] for one in space.settings],
            hopeful(space, models, predicted(space, summary)),
            strict=True,
        )
    )
    assert found == {32: True, 8: False, 64: True, 128: True}


def test_what_a_finished_study_knows_is_taken(content: dict[str, Any]) -> None:
    space, summary = measured(content, {"batch_size": [64]})
    assert noise_scale_in(summary, space.target) is None
    assert largest_batch_in(summary, space.target) == 32
    noise = {
        f"gradient_noise_scale_samples{end}": value for end, value in (("", 90.0), ("_low", 80.0), ("_high", 99.0))
    }
    _, known = measured(content, {"batch_size": [64]}, **noise)
    assert noise_scale_in(known, space.target) == {"value": 90.0, "low": 80.0, "high": 99.0}
    assert noise_scale_in(None, space.target) is None
    assert largest_batch_in(None, space.target) == 0


def test_one_launch_tells_of_settings_that_share_its_levels() -> None:
    """From 24 of 144 settings the surrogate ranks the other 120 nearly in their true order."""
    space = simulated_space()
    truth = np.array([true_log(one) for one in space.settings])
    random = np.random.default_rng(1)
    tried = random.choice(len(truth), 24, replace=False)
    surrogate = Surrogate(space, np.zeros(len(truth)))
    values = truth[tried] + random.normal(0, 0.02, 24)
    found = surrogate.posterior(tried.tolist(), [0] * 24, values.tolist())
    others = np.setdiff1d(np.arange(len(truth)), tried)
    ranks = [pd.Series(of[others]).rank() for of in (found.mean, truth)]
    assert np.corrcoef(*ranks)[0, 1] > 0.85
    assert found.sd[tried].mean() < found.sd[others].mean()


def test_an_offset_of_a_block_is_not_taken_for_an_effect() -> None:
    """The second block is 40 % faster, and has other settings: the present one, in both, tells that apart."""
    space = simulated_space({"input.workers": [0, 1], "precision": ["fp32", "bf16"]})
    plain, fast = 0, 1
    at, blocks = [plain, fast, plain, 2, plain, 3], [0, 0, 1, 1, 1, 1]
    values = [0.0, 0.0, 0.4, 0.4, 0.4, 0.4]
    found = Surrogate(space, np.zeros(4)).posterior(at, blocks, values)
    assert np.ptp(found.mean) < 0.05
