"""Scripts as people write them, none of them changed: their steps, their samples and their end.

tests/scripts/ and what is expected of each were written without knowledge of the hooks (expected.json). Frameworks
that are not installed here may be in another environment: SCALESTUDY_PYTHON names its Python.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from own_scripts import SCRIPTS, command_spec, launched_script, scripts_in
from scalestudy.launch.foreign.start import PYTHON
from scalestudy.record.observation import TRAINING_PHASES

EXPECTED: list[dict[str, Any]] = json.loads((SCRIPTS / "expected.json").read_text(encoding="utf-8"))
ACCUMULATED = {"lucidrains_cycle.py": 4, "hf_trainer.py": 2, "accelerate_loop.py": 2}
"""Batches of a step of scripts whose arguments do not give the number."""
READ_AHEAD = {"prefetcher.py": 40 * 8}
"""Samples that another thread may have read when training ends."""
SEEN_OTHERWISE = {
    # Without a DataLoader a step ends where the same optimizer begins again: the actor's update belongs to the
    # last of the critic's.
    "actor_critic.py": Fraction(150, 180),
}


def samples_of_a_step(entry: dict[str, Any]) -> int:
    """Samples of an optimizer step of one rank, from the arguments of a script."""
    words = [*entry["args"], "--batch-size", "8", "--accum", "1"]
    batch = int(words[1 + next(at for at, word in enumerate(words) if word in ("--batch-size", "-b"))])
    return batch * int(words[words.index("--accum") + 1]) * ACCUMULATED.get(entry["script"], 1)


def name_of(entry: dict[str, Any]) -> str:
    return f"{entry['script']}-{entry['ranks']}"


QUICK = ("iterable_stream.py-2", "ddp_tutorial.py-1")
"""One of two ranks and one of one; the others take minutes more."""


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=[] if name_of(entry) in QUICK else pytest.mark.slow, id=name_of(entry))
        for entry in EXPECTED
    ],
)
def test_steps_and_samples_are_counted_as_a_human_does(entry: dict[str, Any], tmp_path: Path) -> None:
    if entry["needs"] and PYTHON not in os.environ and importlib.util.find_spec(entry["needs"]) is None:
        pytest.skip(f"{entry['needs']} is not installed")
    arguments = " ".join(entry["args"])
    launcher = "torchrun" if entry["start"] == "torchrun" else "python"
    variants = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "launcher": launcher}}
    if entry["ranks"] == 1:
        variants["single"]["launcher"] = launcher
    spec = command_spec(
        f"{entry['script']} {arguments}",
        entry["ranks"],
        folder=scripts_in(tmp_path),
        batch_size=samples_of_a_step(entry),
        variants=variants,
        allow_equal_batches=True,
    )
    found = launched_script(spec, tmp_path)
    assert found.record.outcome == ("ok" if entry["exit_code"] == 0 and entry["seen"] else "failed"), (
        found.record.reason
    )
    if not entry["seen"]:
        assert found.record.reason.startswith(("no training step was seen", "not attached")), found.record.reason
        return
    steps = found.steps[found.steps["phase"].isin(TRAINING_PHASES)]
    counted = Counter(steps["rank"])
    if isinstance(entry["steps"], list):  # ranks with more data continue alone; what all of them did is kept
        assert counted == dict.fromkeys(range(entry["ranks"]), min(entry["steps"]))
        return
    assert counted == dict.fromkeys(range(entry["ranks"]), entry["steps"] * SEEN_OTHERWISE.get(entry["script"], 1))
    if entry["samples"] is not None:
        samples = steps.groupby("rank")["samples"].sum().to_dict()
        ahead = READ_AHEAD.get(entry["script"], 0)
        assert list(samples) == list(range(entry["ranks"]))
        assert all(entry["samples"] <= count <= entry["samples"] + ahead for count in samples.values())
