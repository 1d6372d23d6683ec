"""The Hugging Face Trainer: `trainer_state.json` (transformers.TrainerState) or its `log_history` alone,
`train_results.json` or `all_results.json`, and the line `{'train_runtime': ...}` of its console.

`log_history` has a row per `logging_steps`: step, epoch and loss, and no time. The last row has the means of the
whole training: `train_runtime`, `train_samples_per_second`, `train_steps_per_second`, of all devices. So a run is
one mean, with its start, its evaluations and its checkpoints.

`train_runtime` is that of one call of `train()`, so only of the steps since the checkpoint that it continued from.
Before transformers 5 the rates are the planned steps (`max_steps`) over it, also if the training stopped early or
was continued. So steps and time are taken from the state, and of the rates only their ratio, the batch.
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
_DONE = re.compile(rb"TrainOutput\(global_step=(\d{1,12})")
_PLANNED = re.compile(rb"Total optimization steps = ([\d,]{1,15})")
_OF_AN_EPOCH = re.compile(rb"(?:Num examples|Total train batch size)[^=]*= ([\d,]{1,15})")
_CONTINUED = re.compile(rb"(?:from|and) global step (\d{1,12})")
WHOLE = 0.02
"""Relative difference up to which a ratio of batches is a number of devices, and steps are those of a rate."""
_START = "start"
"""Step that a training was continued from, among the members of its state; 0 if its log shows that it was not."""
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
    before = ends[-2][1].get("step") if len(ends) > 1 else None
    if isinstance(before, int) and 0 < before < (_whole(ends[-1][1].get("step")) or 0):
        state[_START] = before
    return [_of_means(path, kind, *ends[-1], state, remarks)]


def read_console(path: Path, given: Given) -> list[Log]:
    """Return the run whose means the console has. Raises UserError if it has none."""
    state: dict[str, object] = {}
    ends: list[tuple[int, dict[str, Any]]] = []
    sizes: list[int] = []
    of_an_epoch: list[int] = []
    for number, line in numbered_lines(path, whole=False):
        if b"train_runtime" in line and MARK.search(line):
            ends.append((number, {name.decode(): float(value) for name, value in _MEMBER.findall(line)}))
        if done := b"global_step=" in line and _DONE.search(line):
            state["global_step"] = int(done[1])
        elif planned := b"optimization steps" in line and _PLANNED.search(line):
            state |= {"max_steps": int(planned[1].replace(b",", b"")), _START: 0}
            state.pop("global_step", None)
        elif continued := b"global step" in line and _CONTINUED.search(line):
            state[_START] = int(continued[1])
        elif b" = " in line:
            of_an_epoch += [int(value.replace(b",", b"")) for value in _OF_AN_EPOCH.findall(line)]
            sizes += [int(value) for value in OF_A_DEVICE.findall(line)]
    if not ends:
        raise UserError(f"{path}: no line with train_runtime, which the Trainer prints when the training ends")
    means = {number for number, end in ends if end == ends[-1][1]}
    remarks = [f"{len(ends)} trainings end in this file; the last one counts"] if len(means) < len(ends) else []
    if len(sizes) == 2:
        state |= {"train_batch_size": sizes[0] * sizes[1], "accumulation": True}
    if len(of_an_epoch) == 2 and "global_step" not in state:
        _by_epochs(ends[-1][1], state, -(-of_an_epoch[0] // max(1, of_an_epoch[1])), remarks)
    return [_of_means(path, CONSOLE, *ends[-1], state, remarks)]


def _by_epochs(end: dict[str, Any], state: dict[str, object], in_an_epoch: int, remarks: list[str]) -> None:
    """Put the steps done into the state if the epochs done are clearly fewer than the planned ones."""
    done, planned = round(_positive(end.get("epoch")) * in_an_epoch), _whole(state.get("max_steps"))
    if planned and 0 < done < (1 - WHOLE) * planned:
        state["global_step"] = done
        remarks.append(f"{end['epoch']:g} epochs of {in_an_epoch} steps were done, so {done} steps")


def _of_means(
    path: Path, kind: str, line: int, end: dict[str, Any], state: dict[str, object], remarks: list[str]
) -> Log:
    """The run with these means. state: what else is known of it."""
    runtime, samples = (_positive(end.get(f"train_{name}")) for name in ("runtime", "samples_per_second"))
    steps, divided = _steps_of(end, state, remarks)
    if not (steps and runtime):
        told = end.get("train_runtime")
        raise UserError(f"{path}, line {line}: train_runtime {told!r} of {steps!r} steps: not a training")
    time_s = runtime / steps
    batch = round(samples * runtime / divided) if samples else None
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


def _steps_of(end: dict[str, Any], state: dict[str, object], remarks: list[str]) -> tuple[int, float]:
    """(steps that took `train_runtime`, steps that the rates divide by it); (0, 0) if unknown.

    By the version of transformers, the rates are of the planned steps or of those that were done.
    """
    runtime, per_s = (_positive(end.get(f"train_{name}")) for name in ("runtime", "steps_per_second"))
    rated = runtime * per_s
    done = _whole(state.get("global_step")) or _whole(end.get("step"))
    planned, start = _whole(state.get("max_steps")), _whole(state.get(_START)) or 0

    def is_rated(steps: int | None) -> bool:
        return bool(rated and steps and abs(rated / steps - 1) <= WHOLE + 0.001 / per_s)

    if not done:
        steps = planned if is_rated(planned) or not rated else max(1, round(rated))
        if steps and (planned is None or steps > start > 0):
            remarks.append(
                f"the steps done are not in this file: {steps} follow from train_steps_per_second, which are the"
                " planned ones if the training stopped early; trainer_state.json has those that were done"
            )
        done = steps
    if not done:
        return 0, 0.0
    steps = done - start if start < done else done
    divided = next((one for one in (steps, planned, done) if is_rated(one)), None) or rated or steps
    if steps < done:
        remarks.append(f"continued from step {start}: train_runtime is of the {steps} steps since then")
    elif rated and not is_rated(done) and rated < done:
        steps = max(1, round(rated))
        remarks.append(
            f"global_step is {done}, and {per_s:g} steps per second over {runtime:g} s are {steps}: training was"
            " resumed, and its last part counts"
        )
    elif _START not in state and not (is_rated(done) and planned and not is_rated(planned)):
        remarks.append(
            f"train_runtime is taken as that of all {done} steps. If the training was continued from a checkpoint,"
            " it is of the last part only, and the step time is too short"
        )
    if divided > 1.02 * done:
        remarks.append(
            f"the training stopped at step {done} of {divided:.0f}; train_samples_per_second and"
            " train_steps_per_second are of the planned steps, and not read"
        )
    return steps, divided


def _positive(value: object) -> float:
    """A positive number; 0 for anything else."""
    return float(value) if isinstance(value, (int, float)) and value > 0 else 0.0


def _whole(value: object) -> int | None:
    """A positive whole number; None for anything else."""
    return value if isinstance(value, int) and value > 0 else None
