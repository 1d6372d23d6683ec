"""A training script of one's own as a workload: its command line, and what is put in for the words in braces."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.environment import Environment
from scalestudy.study.config.optimizers import FACTORS

PLACEHOLDERS = ("batch_per_rank", "global_batch", "ranks", "seed", "learning_rate", "epochs", "out")
"""Words in braces that a command may have."""
BATCH = ("batch_per_rank", "global_batch")
_BRACES = re.compile(r"\{\{([A-Za-z_]+)\}\}|\{([A-Za-z_]+)\}")
"""A word in braces. In two pairs of braces it is text of the script's own: `{{epoch}}` becomes `{epoch}`."""
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "srun", "mpirun", "mpiexec")


def _words(value: object) -> object:
    """A command as the shell splits it; a list is taken as it is."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"no command line: {error}; quotes come in pairs") from None


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
"""Words of a command line; in a study a string as in a shell, or a list."""


def placeholders(words: tuple[str, ...]) -> set[str]:
    """The words in braces of a command."""
    return {name for word in words for _, name in _BRACES.findall(word) if name}


def filled(words: tuple[str, ...], values: Mapping[str, object], *, last: bool = True) -> tuple[str, ...]:
    """The command with values in the place of the words in braces; a word without a value is kept.

    last: whether nothing is filled in after this, so that `{{epoch}}` becomes `{epoch}`.
    """

    def value(found: re.Match[str]) -> str:
        if found[1]:
            return f"{{{found[1]}}}" if last else found[0]
        return str(values.get(found[2], found[0]))

    return tuple(_BRACES.sub(value, word) for word in words)


def unknown_placeholder(name: str) -> str:
    """What is wrong with a word in braces that is no placeholder."""
    known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
    return (
        f"{{{name}}} is not a placeholder; known are {known}. Write {{{{{name}}}}} for braces of the script's own"
    )


class CommandWorkload(Entry):
    """A training script of your own. It runs as it is; what its steps take is read off torch while it runs."""

    command: Words = Field(min_length=1)
    """The script and its arguments: `train.py --batch-size {batch_per_rank}`, or `-m package.train ...`. Put in
    for words in braces: `batch_per_rank`, `global_batch`, `ranks`, `seed`, `learning_rate`, `epochs`, and `out`, a
    folder of its own for each run; `{{word}}` becomes `{word}`. Without a launcher: ranks are started as
    `torchrun` starts them."""
    directory: str = "."
    """Working directory of the script, from where the study is run."""
    environment: Environment = Field(default_factory=dict)
    """Environment variables of the script, on top of `host.environment`."""
    batch_size: int = Field(ge=1)
    """Samples per optimizer step of the base case, that is of one process. A run whose script reads batches of
    another size fails, with both numbers."""
    batches_per_step: int = Field(1, ge=1)
    """Batches that the script accumulates for one optimizer step. `{batch_per_rank}` and `{global_batch}` are the
    samples of a step divided by it."""
    epochs: int = Field(0, ge=0)
    """What is put in for `{epochs}`; 0 for none."""
    run_to_end: bool = False
    """Let the script run to its own end. Unless set, a run ends when its step time is known (`measure`): the
    script leaves by SystemExit after the same step on every rank, so that its `finally` blocks run."""
    learning_rate: float | None = Field(None, gt=0)
    """What is put in for `{learning_rate}` in the base case."""
    learning_rate_scaling: Literal["none", "linear", "sqrt"] = "none"
    """How it grows with the global batch: by its ratio to `batch_size`, by the root of that, or not at all."""
    target_accuracy: float | None = Field(None, gt=0, le=1)
    """Validation accuracy to be reached, where the script reports it."""
    scaling: tuple[Literal["strong", "weak"], ...] = Field(("strong",), min_length=1)
    """`strong` (global batch fixed), `weak` (batch per rank fixed), or both."""
    allow_equal_batches: bool = False
    """Let ranks read identical samples. Unless set, a run of that kind fails: the usual cause is a forgotten
    DistributedSampler."""
    allow_shared: bool = False
    """Let runs share files outside `{out}`. Unless set, no second run starts where the first one left a checkpoint
    or output that the second would read, overwrite or append to."""

    @property
    def known_train_samples(self) -> None:
        """What a script reads is not known beforehand."""
        return None

    @property
    def follows_batch(self) -> bool:
        """Whether the command is told its batch."""
        return bool(placeholders(self.command) & set(BATCH))

    def learning_rate_at(self, growth: float) -> float | None:
        """Of a run whose global batch is `growth` times that of the base case."""
        factor = FACTORS[self.learning_rate_scaling](growth)
        return None if self.learning_rate is None else self.learning_rate * factor

    @model_validator(mode="after")
    def _command(self) -> CommandWorkload:
        refuse(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if unknown := placeholders(self.command) - set(PLACEHOLDERS):
            yield f"command: {unknown_placeholder(min(unknown))}"
        first = self.command[0]
        if PurePath(first).name in LAUNCHERS:
            yield f"command: leave out {first} and its options; ranks are started for each scale of the study"
        elif first != "-m" and not first.endswith((".py", ".pyc")):
            yield f"command: {first} is not a Python script; begin with a file that ends in .py, or with -m"
        if "learning_rate" in placeholders(self.command) and self.learning_rate is None:
            yield "learning_rate: missing; the command has {learning_rate}"
        if len(self.scaling) > 1 and not self.follows_batch:
            yield "scaling: a command without {batch_per_rank} or {global_batch} scales in one way only; name one"
