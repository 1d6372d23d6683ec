"""The contenders: the same model, data and optimizer, trained by six loops, a file each.

`prepare(task)` builds everything once and returns a Contender whose `run(steps)` trains that many optimizer steps.
A module is imported when it is requested, so that our own loop can be measured where no peer is installed.
"""

from __future__ import annotations

# Name in the table -> where its `prepare` is. The second hand-written loop is the control: it differs from the
# first in nothing, so what it shows is what the harness itself cannot distinguish.
LOOPS = {
    "hand-written": "bench.peers.handwritten:prepare",
    "hand-written again": "bench.peers.handwritten:prepare",
    "scalestudy": "bench.peers.ours:prepare",
    "Lightning Fabric": "bench.peers.fabric:prepare",
    "Lightning Trainer": "bench.peers.lightning_trainer:prepare",
    "Accelerate": "bench.peers.accelerate_loop:prepare",
    "transformers Trainer": "bench.peers.hf_trainer:prepare",
    # The two Trainers also with what cannot be switched off in them by argument.
    "Lightning unpatched": "bench.peers.lightning_trainer:prepare_unpatched",
    "transformers unpatched": "bench.peers.hf_trainer:prepare_unpatched",
}
OURS = {name: LOOPS[name] for name in ("hand-written", "hand-written again", "scalestudy")}
