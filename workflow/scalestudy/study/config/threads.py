"""The variables by which libraries learn how many threads to start, and what a study may set them to."""

from __future__ import annotations

from collections.abc import Mapping

# Every library that starts threads of its own. Snakemake exports a rule's `threads` into all of them and torchrun
# keeps what is set, so each is set by the launcher, to what one rank is meant to have.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "GOTO_NUM_THREADS",
)


def refuse_threads(environment: Mapping[str, str], *, cores_per_rank: int, pin: bool) -> str | None:
    """What is wrong with the thread variables of `host.environment`, with its key path; None where nothing is.

    A rank that is bound to its cores gains nothing from more threads: they take turns on them.
    """
    for name in THREAD_VARIABLES:
        if name not in environment:
            continue
        path, value = f"host.environment.{name}", environment[name]
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            return f"{path}: '{value}' is no number of threads; a whole number of 1 or more would do"
        if pin and int(value) > cores_per_rank:
            return (
                f"{path}: {value} threads are more than the cores that a rank is bound to"
                f" (host.cores_per_rank: {cores_per_rank}); {cores_per_rank} or less would do, or"
                f" host.cores_per_rank: {value}"
            )
    return None


def threads_per_rank(environment: Mapping[str, str], *, cores_per_rank: int) -> int:
    """The most threads that one pool of a rank has: torch's own, or a library's that the study set higher."""
    return max(cores_per_rank, *(int(environment.get(name, 1)) for name in THREAD_VARIABLES))
