"""One rank of a launch whose last rank sleeps in every backward pass: a fault that step times cannot tell.

Started by torchrun in the place of `scalestudy.train`, with the same arguments. Everything but the sleep is ours.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from scalestudy.train import loop
from scalestudy.train.__main__ import main
from torch import nn

SLEEP_S = 0.2
build = loop.build_model


def build_slow(config: Any, data: Any) -> nn.Module:
    """The model; on the last rank its output layer, the first in a backward pass, takes SLEEP_S longer."""
    model = build(config, data)
    if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
        model[-1].register_full_backward_hook(lambda *_: time.sleep(SLEEP_S))
    return model


if __name__ == "__main__":
    loop.build_model = build_slow
    sys.exit(main())
