"""What to change in a script, or its command, that was tried and could not train: from its error message."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

RELATIVE_IMPORT = "attempted relative import"
"""Words in the error message of Python for a module that was started as a file."""
OTHER_RANKS = (
    *("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NODEID"),
    *("OMPI_COMM_WORLD_", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_"),
)
"""Variables, or their beginnings, from which scripts read their rank under other launchers."""
LOCAL_RANK = ("required: --local_rank", "required: --local-rank")
"""Words in the error message of a parser whose option torchrun does not give."""


def hint(problem: str, log: str, command: Sequence[str]) -> str:
    """The change that lets the script train; empty if it is not known. log: the last lines of its output."""
    if RELATIVE_IMPORT in problem:
        module = ".".join(Path(command[0]).with_suffix("").parts)
        return f"It is part of a package, so start it as a module: `-- -m {module}`"
    if any(name in problem for name in OTHER_RANKS):
        return (
            "The script reads its rank from variables of another launcher. scalestudy starts ranks as torchrun"
            " does: let the script read RANK, LOCAL_RANK and WORLD_SIZE"
        )
    if any(words in log for words in LOCAL_RANK):
        return (
            "Ranks are started as torchrun starts them, without this option: let the script read LOCAL_RANK from"
            " its environment"
        )
    return ""
