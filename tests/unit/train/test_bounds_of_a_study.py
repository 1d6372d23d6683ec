"""What a study is refused for before it runs is never more than what its networks really need."""

from __future__ import annotations

from typing import Any

import pytest
from scalestudy.analyse.costs.buckets import FIRST_BUCKET_BYTES
from scalestudy.study.config.meaning.buckets import FIRST_MIB, _gradients
from scalestudy.study.config.meaning.networks import operations, parameters
from scalestudy.study.config.meaning.steps import TRIAL_STEPS
from scalestudy.study.config.workloads import Workload
from scalestudy.train.flops import flops_per_sample
from scalestudy.train.step.branch_point import FEWEST_STEPS, TIMES
from scalestudy.train.workloads import build_model

SHAPE = {"d_model": 16, "heads": 2, "num_layers": 3, "feedforward_dim": 40}
TOKENS = {"type": "synthetic-tokens", "sequence_length": 12, "vocabulary": 50, "classes": 3}
IMAGES = {"type": "synthetic-images", "channels": 3, "size": 6, "classes": 5}
NETWORKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mlp": ({"type": "mlp", "widths": [32, 16]}, {"type": "synthetic-vectors", "features": 40}),
    "convnet": ({"type": "convnet", "channels": 8, "num_layers": 3, "norm": "batch"}, IMAGES),
    "text-classifier": ({"type": "text-classifier", **SHAPE}, TOKENS),
    "language-model": ({"type": "language-model", **SHAPE}, TOKENS | {"classes": 2}),
}


@pytest.mark.parametrize("network", NETWORKS)
def test_parameters_and_operations_are_not_overestimated(network: str) -> None:
    model, data = NETWORKS[network]
    workload = Workload.model_validate(
        {"model": model, "data": data | {"samples": 8}, "optimizer": {"type": "sgd"}, "batch_size": 4, "epochs": 0}
    )
    built = build_model(workload.model, workload.data)
    counted = sum(one.numel() for one in built.parameters())
    assert 0.4 * counted < parameters(workload) <= counted
    assert counted <= _gradients(workload) <= 1.1 * counted
    forward_and_backward = flops_per_sample(workload.model, workload.data)
    assert 0.7 * forward_and_backward < operations(workload) <= forward_and_backward


def test_a_trial_of_larger_batches_has_as_many_steps_as_a_study_is_told() -> None:
    assert FEWEST_STEPS * TIMES[-1] == TRIAL_STEPS


def test_the_first_bucket_of_ddp_is_the_one_of_the_analysis() -> None:
    assert FIRST_MIB * 2**20 == FIRST_BUCKET_BYTES
