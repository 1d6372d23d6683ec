"""Studies and observations that tests share. Everything is small and real; nothing here pretends to measure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def content() -> dict[str, Any]:
    """A small study as a user would write it: one workload, strong and weak, 1 and 2 ranks."""
    return {
        "study": "small",
        "seed": 7,
        "repeats": 2,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {
            "mlp": {
                "model": {"type": "mlp", "hidden_dim": 16, "num_layers": 1},
                "data": {"type": "digits"},
                "optimizer": {"type": "sgd", "learning_rate": 0.05},
                "batch_size": 32,
                "epochs": 2,
                "scaling": ["strong", "weak"],
            }
        },
    }
