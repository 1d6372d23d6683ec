"""A workload whose runs were imported from logs of other tools (`scalestudy import`): nothing of it can be run."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from scalestudy.study.config.commands import CommandWorkload, Words

NOT_RUN = ("imported",)
"""The command of an imported workload. The records of its runs name the format and the file's checksum in
addition."""


class ImportedWorkload(CommandWorkload):
    """A training of which only logs are known. `scalestudy import` writes it. Its other keys are those of a
    script.
    """

    imported: tuple[str, ...] = Field(min_length=1)
    """Formats of the logs."""
    command: Words = NOT_RUN
    """Not run."""
    unit: str = "samples"
    """Unit of work that a batch is counted in: samples or tokens."""

    def _wrong(self) -> Iterator[str]:
        """Nothing: the keys of a command do not apply."""
        return iter(())
