"""`trainer_state.json` of the Hugging Face Trainer (transformers.TrainerState), or its `log_history` alone.

`log_history` has a row per `logging_steps`: step, epoch and loss, and no time. The last row has the means of the
whole training: `train_runtime`, `train_samples_per_second`, `train_steps_per_second`, of all devices. So a run is
one mean, with its start, its evaluations and its checkpoints.
"""

from __future__ import annotations

import re
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.json_stream import members
from scalestudy.importers.logs.model import Facts, Given, Log, Rows

KIND = "Hugging Face trainer_state.json"
_HEAD = re.compile(
    rb'"(log_history|best_metric|best_model_checkpoint|best_global_step|is_world_process_zero)"\s*:'
)


_OF_A_ROW = (b'"learning_rate"', b'"epoch"', b'"step"')


def recognise(head: bytes) -> str:
    """Return the kind of a state or of a list of its rows; '' for other files."""
    start = head.lstrip()
    if start.startswith(b"["):
        return KIND if b'"train_runtime"' in head or all(name in head for name in _OF_A_ROW) else ""
    return KIND if start.startswith(b"{") and _HEAD.search(head) else ""


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the run. Raises UserError if the training has not ended, since the means are written at its end."""
    state: dict[str, object] = {}
    ends, rows = [], 0
    for name, line, value in members(path, "log_history"):
        if name != "log_history":
            state[name] = value
            continue
        if not isinstance(value, dict):
            raise UserError(f"{path}, line {line}: log_history: not an object")
        rows += 1
        if "train_runtime" in value:
            ends.append((line, value))
    if not ends:
        raise UserError(
            f"{path}: {rows} rows, none with train_runtime: a row has no time, and the means are written when the"
            " training ends. Save the state after it: trainer.save_state()"
        )
    line, end = ends[-1]
    steps = state.get("global_step") or end.get("step")
    runtime, per_s, samples = (
        end.get(f"train_{name}") for name in ("runtime", "steps_per_second", "samples_per_second")
    )
    if not (isinstance(steps, int) and steps > 0 and isinstance(runtime, (int, float)) and runtime > 0):
        raise UserError(f"{path}, line {line}: train_runtime {runtime!r} of {steps!r} steps: not a training")
    time_s = runtime / steps
    remarks = []
    if isinstance(per_s, (int, float)) and per_s > 0 and abs(per_s * time_s - 1) > 0.02 + 0.001 / per_s:
        done = round(per_s * runtime)
        remarks.append(
            f"global_step is {steps}, and {per_s:g} steps per second over {runtime:g} s are {done}: training was"
            " resumed, and its last part counts"
        )
        time_s = 1 / per_s
    batch = round(samples * time_s) if isinstance(samples, (int, float)) and samples > 0 else None
    if len(ends) > 1:
        remarks.append(f"{len(ends)} trainings end in this file; the last one counts")
    found = Rows(path)
    loss = end.get("train_loss")
    found.add(line, steps, step_time_s=time_s, loss=loss if isinstance(loss, (int, float)) else float("nan"))
    each = state.get("train_batch_size")
    if batch and isinstance(each, int) and each > 0:
        remarks.append(f"{batch} samples per step, {each} per device: {batch / each:g} devices times accumulation")
    return [
        Log(
            path=path,
            kind=kind,
            columns=found.columns(),
            facts=Facts(global_batch=batch or None),
            unit="samples",
            whole_run=True,
            remarks=remarks,
        )
    ]
