"""Keys of a command that have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.commands import placeholders
from scalestudy.study.config.meaning.facts import scripts
from scalestudy.study.config.study import Study


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
        if "epochs" in words and not one.epochs:
            yield f"{path}.epochs: missing; the command has {{epochs}}, which would become 0"
        if one.command[0] == "-m" and not any(word.strip() for word in one.command[1:2]):
            yield f"{path}.command: -m needs the name of a module, such as -m package.train"
