"""A training script of your own as a workload: its command line, and the values of the words in braces."""

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
from scalestudy.study.config.scripts import is_python_script

PLACEHOLDERS = ("batch_per_rank", "global_batch", "ranks", "seed", "learning_rate", "epochs", "out")
"""Words that a command may have in braces."""
BATCH = ("batch_per_rank", "global_batch")
_BRACES = re.compile(r"\{\{([A-Za-z_]+)\}\}|\{([A-Za-z_]+)\}")
"""A word in braces. In two pairs of braces it is text of the script's own: `{{epoch}}` becomes `{epoch}`."""
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "srun", "mpirun", "mpiexec")


def _words(value: object) -> object:
    """The words of a command, split like in a shell; a list is returned unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"not a command line: {error}; close every quote") from None


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
    """A training script of your own. It runs unchanged; its steps are timed through torch's own calls."""

    command: Words = Field(min_length=1)
    """The script and its arguments, without a launcher: `train.py --batch-size {batch_per_rank}`, `-m
    package.train ...`, or the path of an installed command of Python. Ranks are started as `torchrun` starts
    them. Words in braces are replaced by their value: `batch_per_rank`, `global_batch`, `ranks`, `seed`,
    `learning_rate`, `epochs`, and `out`, a separate folder for each run. `{{word}}` becomes `{word}`."""
    directory: str = "."
    """Working directory of the script, relative to the one where the study is run."""
    environment: Environment = Field(default_factory=dict)
    """Environment variables of the script, on top of `host.environment`."""
    batch_size: int = Field(ge=1)
    """Samples per optimizer step of the baseline, that is, of one process. A run fails if its script reads batches
    of another size; the reason has both numbers."""
    batches_per_step: int = Field(1, ge=1)
    """Batches that the script accumulates for one optimizer step. `{batch_per_rank}` and `{global_batch}` are the
    samples of a step divided by this number."""
    epochs: int = Field(0, ge=0)
    """Value of `{epochs}`; 0 if the command has no such word."""
    run_to_end: bool = False
    """Let the script run to its own end. Otherwise a run ends when its step time is known (`measure`): the script
    gets a SystemExit after the same step on every rank, so that its `finally` blocks run."""
    learning_rate: float | None = Field(None, gt=0)
    """Value of `{learning_rate}` in the baseline."""
    learning_rate_scaling: Literal["none", "linear", "sqrt"] = "none"
    """How the learning rate grows with the global batch: with its ratio to `batch_size`, with the square root of
    that ratio, or not at all."""
    target_accuracy: float | None = Field(None, gt=0, le=1)
    """Target validation accuracy, if the script reports its accuracy."""
    scaling: tuple[Literal["strong", "weak"], ...] = Field(("strong",), min_length=1)
    """`strong` (global batch fixed), `weak` (batch per rank fixed), or both."""
    allow_equal_batches: bool = False
    """Accept ranks that read identical samples. Otherwise such a run fails, since the usual cause is a missing
    DistributedSampler."""
    allow_shared: bool = False
    """Accept runs that share files outside `{out}`. Otherwise no second run starts if the first one left a
    checkpoint or output that the second would read, overwrite or append to."""

    @property
    def known_train_samples(self) -> None:
        """None: the data of a script are not known beforehand."""
        return None

    @property
    def follows_batch(self) -> bool:
        """Whether the command has a word for its batch."""
        return bool(placeholders(self.command) & set(BATCH))

    def learning_rate_at(self, growth: float) -> float | None:
        """Learning rate of a run whose global batch is `growth` times the baseline's."""
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
        elif first != "-m" and not is_python_script(first):
            yield (
                f"command: {first} is not a Python script; begin with a file that ends in .py, the path of an"
                " installed command of Python, or -m"
            )
        if "learning_rate" in placeholders(self.command) and self.learning_rate is None:
            yield "learning_rate: missing; the command has {learning_rate}"
        if len(self.scaling) > 1 and not self.follows_batch:
            yield "scaling: a command without {batch_per_rank} or {global_batch} scales in one way only; name one"
