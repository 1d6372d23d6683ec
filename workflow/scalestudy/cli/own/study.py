"""`scalestudy run -- train.py ...`: tries the script on one process and on several, and writes its study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy.cli.own.script import (
    cores_or_unset,
    name_of,
    refuse_other_study,
    study_text,
    without_launcher,
    write_study,
)
from scalestudy.cli.own.tried import (
    LOOK_LIMIT_S,
    NO_DATALOADER,
    follows_batch,
    needs_torchrun,
    refuse_equal_batches,
    refuse_failed_trial,
)
from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.launch.foreign.look import Seen
    from scalestudy.study.config.study import Study
    from scalestudy.study.spec import CommandSpec

UNSEEN_BATCH = (
    "Note: no DataLoader was seen, so it is not known whether the script trains on {batch} samples per step on one"
    " process. Call rec.samples(len(batch)) in each step of the script to record it (docs/your-own.md)"
)
OTHER_BATCH = (
    "the script trains on {seen} samples per step on one process, but --batch-size is {asked}. Put"
    " {{batch_per_rank}} where its command takes the batch size of a process, or give --batch-size {seen}"
)
FOUND = (
    "strategy",
    "launcher",
    "batch_size",
    "batches_per_step",
    "scaling",
    "allow_shared",
    "allow_equal_batches",
)
"""Keys of the study file that depend on the trial of the script."""


@dataclass(frozen=True)
class Wishes:
    """Options of the command line; None or () where an option was not given."""

    scales: tuple[str, ...]
    batch_size: int | None
    scaling: tuple[str, ...]
    name: str | None
    repeats: int | None
    device: str
    cores_per_rank: int | None
    epochs: int
    run_to_end: bool
    allow_shared: bool
    allow_equal_batches: bool


def make_study_of(
    words: Sequence[str],
    wishes: Wishes,
    *,
    elsewhere: bool,
    cores: int | None = None,
    passed: Sequence[str] = (),
) -> Path:
    """Write the study file into the current folder and return its path. Prints what was found. Raises UserError.

    elsewhere: the script runs on another machine than this, so it is not tried here first.
    cores: of this host, for all ranks; None if they are not limited. passed: arguments that Snakemake gets.
    """
    from scalestudy.chain.launches import refuse_what_does_not_fit
    from scalestudy.study.config.load import parse_study
    from scalestudy.study.config.scales import check_scale
    from scalestudy.study.plan import make_plan

    asked = without_launcher(words)
    if asked.launcher:
        print(f"`{asked.launcher}` is left out: scalestudy starts the ranks for each scale of the study")
    unknown = (
        f". `{' '.join(passed)}` is not an option of scalestudy and would be passed to Snakemake" if passed else ""
    )
    scales = wishes.scales or ((asked.scale,) if asked.scale not in ("", "1x1") else ())
    scales = tuple(scale for scale in scales if scale != "1x1")
    if not scales and wishes.scales:
        raise UserError(
            "--scales 1x1: the study of a script compares larger scales with one process; name one, such as"
            " --scales 1x2"
        )
    if not scales:
        raise UserError(f"--scales: missing; give the scales to measure, such as --scales 1x2 1x4{unknown}")
    for scale in scales:
        try:
            check_scale(scale)
        except ValueError as error:
            raise UserError(f"--scales {scale}: {error}") from None
    follows = follows_batch(asked.command, wishes.batch_size)
    name = wishes.name or name_of(asked.command)
    most = max(int(scale.partition("x")[2]) for scale in scales)

    def text(**found: Any) -> str:
        known: dict[str, Any] = {
            "name": name,
            "command": asked.command,
            "batch_size": wishes.batch_size or 1,
            "batches_per_step": 1,
            "scaling": wishes.scaling or ("weak",),
            "scales": scales,
            "strategy": "ddp",
            "base_launcher": "python",
            "repeats": wishes.repeats,
            "device": wishes.device,
            "cores_per_rank": wishes.cores_per_rank
            or cores_or_unset(most, device=wishes.device, elsewhere=elsewhere),
            "run_to_end": wishes.run_to_end,
            "epochs": wishes.epochs,
            "environment": asked.environment,
            "allow_shared": wishes.allow_shared,
            "allow_equal_batches": wishes.allow_equal_batches,
        }
        return study_text(**known | found)

    def study(**found: Any) -> Study:
        import yaml

        return parse_study(yaml.safe_load(text(**found)), source=f"{name}.yaml (not written)")

    if elsewhere and not (wishes.batch_size and (follows or wishes.scaling)):
        raise UserError(
            "--batch-size, --scaling: needed because with --profile the script is not tried on this machine first;"
            " give the samples per step on one process, and strong or weak scaling"
        )
    path = Path(f"{name}.yaml")
    found: dict[str, Any] = {}
    if not elsewhere:
        refuse_what_does_not_fit(make_plan(study()), cores=cores, gpus=None)
        refuse_other_study(path, text(), except_for=FOUND)
        found = _look(study, follows=follows, wishes=wishes)
    write_study(path, text(**found))
    print(f"study file: {path}; to continue the study: scalestudy run --study {path}")
    return path


def _look(study: Any, *, follows: bool, wishes: Wishes) -> dict[str, Any]:
    """Try the script on one process and on several, and return the facts found, as arguments of study_text."""
    from scalestudy.launch.foreign.look import look

    found: dict[str, Any] = {}
    spec = _spec(study(), ranks=1)
    alone = look(spec, time_limit_s=LOOK_LIMIT_S)
    if needs_torchrun(alone):
        found["base_launcher"] = "torchrun"
        print("the script needs torchrun's variables: its baseline is one rank, with any wrapper around its model")
        alone = look(_spec(study(**found), ranks=1), time_limit_s=LOOK_LIMIT_S)
    _refuse(alone, "on one process", spec=spec, wishes=wishes)
    if alone.batches > 1 and alone.samples:
        print(f"the script accumulates {alone.batches} batches per step, {alone.samples} samples in total")
        found |= {"batches_per_step": alone.batches, "batch_size": alone.samples}
    elif follows and alone.samples and alone.samples != wishes.batch_size:
        other = OTHER_BATCH.format(seen=alone.samples, asked=wishes.batch_size)
        if alone.stated:
            raise UserError(other)
        print(f"Note: {other}")
    elif not follows:
        found["batch_size"] = wishes.batch_size or alone.samples
    if not found.get("batch_size", wishes.batch_size):
        raise UserError(NO_DATALOADER)
    print(f"on one process: {_said(alone)}")
    larger = _spec(study(**found), ranks=0)
    several = look(larger, time_limit_s=LOOK_LIMIT_S)
    _refuse(several, f"on {several.ranks} ranks", spec=spec, wishes=wishes)
    print(f"on {several.ranks} ranks: {_said(several)}")
    divides = several.samples * several.ranks == larger.batch_per_rank
    if follows and (several.stated or divides) and several.samples != larger.batch_per_rank:
        raise UserError(_other_batch_of_ranks(several, larger))
    if not alone.samples:
        batch = found.get("batch_size", wishes.batch_size)
        print(UNSEEN_BATCH.format(batch=batch))
    found["strategy"] = "fsdp" if "fsdp" in several.strategies else "ddp" if several.strategies else "other"
    if not wishes.scaling:
        found["scaling"] = ("strong", "weak") if follows else (scaling_of(alone, several),)
    return found


def _other_batch_of_ranks(several: Seen, spec: CommandSpec) -> str:
    """The reason why ranks that read another batch than the command requests are refused."""
    instead = "put {{{}}} into its command in place of {{{}}}".format
    if several.samples * several.ranks == spec.batch_per_rank:
        advice = f"It divides its batch size among the ranks: {instead('global_batch', 'batch_per_rank')}"
    elif several.samples == spec.batch_per_rank * several.ranks:
        advice = f"It does not divide its batch size among the ranks: {instead('batch_per_rank', 'global_batch')}"
    else:
        advice = (
            "Put {batch_per_rank} where it takes the batch size of a process, or {global_batch} where it takes the"
            " total batch size"
        )
    return (
        f"the script trains on {several.samples} samples per step on each of {several.ranks} ranks, but its"
        f" command requests {spec.batch_per_rank}. {advice}"
    )


def _spec(study: Study, *, ranks: int) -> Any:
    """Return the first run of the study on one process (ranks=1), or else on several."""
    from scalestudy.study.plan import make_plan

    runs = make_plan(study).runs.values()
    return next(spec for spec in runs if (spec.world_size == 1) == (ranks == 1))


def _refuse(seen: Seen, where: str, *, spec: CommandSpec, wishes: Wishes) -> None:
    refuse_failed_trial(seen, where, spec.command)
    refuse_equal_batches(seen, where, allowed=wishes.allow_equal_batches)
    if seen.shared and not wishes.allow_shared:
        from scalestudy.launch.foreign.shared import refusal

        raise UserError(refusal(spec.workload, seen.shared, run="", command=spec.command, results=None))


def _said(seen: Seen) -> str:
    samples = f"{seen.samples} samples per step" if seen.samples else "no DataLoader seen"
    unwrapped = ", neither DDP nor FSDP (strategy: other)" if seen.ranks > 1 else ""
    wrapper = f", {' and '.join(seen.strategies).upper()}" if seen.strategies else unwrapped
    each = " on each" if seen.ranks > 1 and seen.samples else ""
    return f"{samples}{each}, about {seen.step_time_s * 1e3:.3g} ms per step{wrapper}"


def scaling_of(alone: Seen, several: Seen) -> str:
    """Return the scaling of a command without a placeholder for its batch, from the batches seen in two tries."""
    if not (alone.samples and several.samples):
        raise UserError(
            "--scaling: needed because no DataLoader was seen; give strong (global batch fixed) or weak (batch per"
            " rank fixed)"
        )
    if several.samples == alone.samples:
        return "weak"
    if several.samples * several.ranks == alone.samples:
        return "strong"
    raise UserError(
        f"the script trains on {alone.samples} samples per step alone and on {several.samples} on each of"
        f" {several.ranks} ranks, which is neither strong nor weak scaling. Put {{batch_per_rank}} or"
        " {global_batch} in its command"
    )
