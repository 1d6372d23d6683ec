"""Keys of a command that have no effect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.commands import PLACEHOLDERS, placeholders
from scalestudy.study.config.meaning.facts import distributed, scripts, tuned
from scalestudy.study.config.meaning.optimizers import constant_batch
from scalestudy.study.config.study import Study

SHELL = re.compile(r"&&?|\|\|?|;|[12&]?>>?(&[12])?|<")
VARIABLE = re.compile(r"\$(\{\w+\}|[A-Z_][A-Z0-9_]+|\{?[a-z_]+\}?$)")
OPEN = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})(?![\w}}])")


def unused_of_scripts(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key that has no effect, or that the command lacks."""
    arguments = tuple(word for variant in study.variants.values() for word in variant.arguments)
    for name, one in scripts(study).items():
        path, words = f"workloads.{name}", placeholders((*one.command, *arguments))
        if one.learning_rate is not None and "learning_rate" not in words:
            yield (
                f"{path}.learning_rate: {one.learning_rate:g} has no effect, since the command has no"
                " {learning_rate}; put it there, or leave this out"
            )
        if one.learning_rate_scaling != "none" and one.learning_rate is None:
            yield (
                f"{path}.learning_rate_scaling: {one.learning_rate_scaling} has no effect without learning_rate;"
                " set it, or leave this out"
            )
        elif one.learning_rate_scaling != "none" and not tuned(study) and (why := constant_batch(study, one)):
            yield (
                f"{path}.learning_rate_scaling: {one.learning_rate_scaling} has no effect, since {why}; leave"
                " it out"
            )
        if one.epochs and "epochs" not in words:
            yield (
                f"{path}.epochs: {one.epochs} has no effect, since the command has no {{epochs}}; put it there, or"
                " leave this out"
            )
        if one.allow_equal_batches and not distributed(study):
            yield (
                f"{path}.allow_equal_batches: true has no effect, since every variant is one process; leave it out"
            )
        if not one.directory.strip():
            yield (
                f"{path}.directory: '{one.directory}' names no folder; write where the script runs, or leave it"
                " out"
            )
        if one.target_accuracy is not None and not one.run_to_end:
            yield (
                f"{path}.target_accuracy: {one.target_accuracy:g} is not reached, since a run ends when its step"
                " time is known; set run_to_end: true, or leave this out"
            )
        if "epochs" in words and not one.epochs:
            yield f"{path}.epochs: missing; the command has {{epochs}}, which would become 0"
        yield from (f"{path}.command: {line}" for line in _of_a_shell(one.command))
        if one.command[0] == "-m" and one.command[1:2] and one.command[1].endswith(".py"):
            yield (
                f"{path}.command: -m takes the name of a module; write -m {one.command[1][:-3]}, or"
                f" {one.command[1]}"
            )
        if one.command[0] == "-m" and not any(word.strip() for word in one.command[1:2]):
            yield f"{path}.command: -m needs the name of a module, such as -m package.train"


def _of_a_shell(words: tuple[str, ...]) -> Iterator[str]:
    """Words that only a shell would understand, and placeholders that are not closed."""
    for word in words:
        if SHELL.fullmatch(word):
            yield f"{word} is for a shell, and none reads the command; put it into a script"
        elif found := VARIABLE.search(word):
            yield f"{found[0]} is not replaced, since no shell reads the command; write its value"
        elif found := OPEN.search(word):
            yield f"{found[0]} is not closed; write {found[0]}}}"
