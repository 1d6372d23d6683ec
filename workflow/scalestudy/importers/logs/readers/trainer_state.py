"""The Hugging Face Trainer: `trainer_state.json` (transformers.TrainerState) or its `log_history` alone,
`train_results.json` or `all_results.json`, and the line `{'train_runtime': ...}` of its console.

`log_history` has a row per `logging_steps`: step, epoch and loss, and no time. The last row has the means of the
whole training: `train_runtime`, `train_samples_per_second`, `train_steps_per_second`, of all devices. So a run is
one mean, with its start, its evaluations and its checkpoints.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.stated import OF_A_DEVICE
from scalestudy.importers.logs.tabular.json_stream import members

KIND, RESULTS, CONSOLE = (
    "Hugging Face trainer_state.json",
    "Hugging Face train_results.json",
    "console log of the Hugging Face Trainer",
)
MARK = re.compile(rb"['\"]train_runtime['\"]: *['\"]?[\d.]")
_MEMBER = re.compile(rb"['\"](train_\w+|epoch)['\"]: *['\"]?([\d.]+(?:e[+-]?\d+)?)")
_STEPS = re.compile(rb"TrainOutput\(global_step=(\d{1,12})|Total optimization steps = ([\d,]{1,15})")
WHOLE = 0.02
"""Relative difference to a whole number up to which a ratio of batches is a number of devices."""
_HEAD = re.compile(
    rb'"(log_history|best_metric|best_model_checkpoint|best_global_step|is_world_process_zero)"\s*:'
)


LARGEST_RESULTS = 10_000
_OF_A_ROW = (b'"learning_rate"', b'"epoch"', b'"step"')


def recognise(head: bytes) -> str:
    """Return the kind of a state or of a list of its rows; '' for other files."""
    start = head.lstrip()
    if start.startswith(b"["):
        return KIND if b'"train_runtime"' in head or all(name in head for name in _OF_A_ROW) else ""
    if start.startswith(b"{") and not _HEAD.search(head):
        return RESULTS if b'"train_runtime"' in head and len(head) < LARGEST_RESULTS else ""
    return KIND if start.startswith(b"{") else ""


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the run. Raises UserError if the training has not ended, since the means are written at its end."""
    if kind == RESULTS:
        return [_of_means(path, kind, 1, {name: value for name, _, value in members(path, "")}, {}, [])]
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
    remarks = [f"{len(ends)} trainings end in this file; the last one counts"] if len(ends) > 1 else []
    return [_of_means(path, kind, *ends[-1], state, remarks)]


def read_console(path: Path, given: Given) -> list[Log]:
    """Return the run whose means the console has. Raises UserError if it has none."""
    state: dict[str, object] = {}
    ends: list[tuple[int, dict[str, Any]]] = []
    sizes: list[int] = []
    for number, line in numbered_lines(path, whole=False):
        if b"train_runtime" in line and MARK.search(line):
            ends.append((number, {name.decode(): float(value) for name, value in _MEMBER.findall(line)}))
        if b"global_step=" in line or b"optimization steps" in line:
            if steps := _STEPS.search(line):
                state["global_step"] = int((steps[1] or steps[2]).replace(b",", b""))
        elif b" = " in line:
            sizes += [int(value) for value in OF_A_DEVICE.findall(line)]
    if not ends:
        raise UserError(f"{path}: no line with train_runtime, which the Trainer prints when the training ends")
    means = {number for number, end in ends if end == ends[-1][1]}
    remarks = [f"{len(ends)} trainings end in this file; the last one counts"] if len(means) < len(ends) else []
    if len(sizes) == 2:
        state |= {"train_batch_size": sizes[0] * sizes[1], "accumulation": True}
    return [_of_means(path, CONSOLE, *ends[-1], state, remarks)]


def _of_means(
    path: Path, kind: str, line: int, end: dict[str, Any], state: dict[str, object], remarks: list[str]
) -> Log:
    """The run with these means. state: what else is known of it."""
    steps = state.get("global_step") or end.get("step")
    runtime, per_s, samples = (
        end.get(f"train_{name}") for name in ("runtime", "steps_per_second", "samples_per_second")
    )
    if not steps and isinstance(runtime, (int, float)) and isinstance(per_s, (int, float)):
        steps = max(1, round(runtime * per_s))
    if not (isinstance(steps, int) and steps > 0 and isinstance(runtime, (int, float)) and runtime > 0):
        raise UserError(f"{path}, line {line}: train_runtime {runtime!r} of {steps!r} steps: not a training")
    time_s = runtime / steps
    if isinstance(per_s, (int, float)) and per_s > 0 and abs(per_s * time_s - 1) > 0.02 + 0.001 / per_s:
        done = round(per_s * runtime)
        remarks.append(
            f"global_step is {steps}, and {per_s:g} steps per second over {runtime:g} s are {done}: training was"
            " resumed, and its last part counts"
        )
        time_s = 1 / per_s
    batch = round(samples * time_s) if isinstance(samples, (int, float)) and samples > 0 else None
    found = Rows(path)
    loss = end.get("train_loss")
    found.add(line, steps, step_time_s=time_s, loss=loss if isinstance(loss, (int, float)) else float("nan"))
    each = state.get("train_batch_size")
    devices = 1 if batch is not None and batch == each else None
    if batch and isinstance(each, int) and each > 0:
        ratio = batch / each
        whole = state.get("accumulation") and round(ratio) > 0 and abs(ratio / round(ratio) - 1) < WHOLE
        devices = round(ratio) if whole else devices
        times = "" if whole else " times accumulation"
        on = "1 device" if ratio == 1 else f"{ratio:g} devices"
        remarks.append(f"{batch} samples per step, {each} per device: {on}{times}")
    return Log(
        path=path,
        kind=kind,
        columns=found.columns(),
        facts=Facts(devices=devices, global_batch=batch or None),
        unit="samples",
        whole_run=True,
        remarks=remarks,
    )
