"""What the trial of a script says to its user: why it cannot be measured, and what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.launch.foreign.look import Seen

LOOK_LIMIT_S = 600.0
NO_DATALOADER = "--batch-size: needed because no DataLoader was seen; give the samples per step on one process"
NEEDS_RANKS = (
    "environment variable rank",
    "environment variable world_size",
    "environment variable local_rank",
    "'rank'",
    "'local_rank'",
    "'world_size'",
    "no module named 'mpi4py'",
)
"""Words in the error message of a script that needs torchrun's variables. Without them DeepSpeed asks MPI."""


def follows_batch(command: tuple[str, ...], batch_size: int | None) -> bool:
    """Return whether the command is told its batch size. Raises UserError if it is and none is given."""
    from scalestudy.study.config.commands import BATCH, placeholders

    follows = bool(placeholders(command) & set(BATCH))
    if follows and batch_size is None:
        raise UserError(
            "--batch-size: needed because the command has {batch_per_rank} or {global_batch}; give the samples per"
            " step on one process"
        )
    return follows


def needs_torchrun(seen: Seen) -> bool:
    """Return whether a script failed because torchrun's variables were not set."""
    return any(words in seen.problem.lower() for words in NEEDS_RANKS)


def refuse_failed_trial(seen: Seen, where: str, command: Sequence[str]) -> None:
    """Raise UserError if the script failed. where: such as 'on 2 ranks'. command: without a launcher."""
    if seen.problem:
        from scalestudy.launch.foreign.hints import hint

        printed = f"\nIt printed:\n{seen.log}" if seen.log else ""
        advice = hint(seen.problem, seen.log, command)
        raise UserError(f"the script was tried {where}: {seen.problem}{f'. {advice}' if advice else ''}{printed}")


def refuse_equal_batches(seen: Seen, where: str, *, allowed: bool) -> None:
    """Raise UserError if ranks read identical samples, unless that is allowed. where: as above."""
    if seen.equal_batches and not allowed:
        raise UserError(
            f"the script was tried {where}: {seen.equal_batches}. If the ranks train on the same samples on"
            " purpose, such as random ones, accept this with --allow-equal-batches"
        )
