"""scalestudy: from the runs of a PyTorch training to the table in a paper.

The names in `__all__` are the library, which is stable; docs/library.md describes it. They are imported when they
are first used, so that this import needs only the standard library and Python 3.9 or newer. All other modules
belong to the command; docs/architecture.md has their layers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scalestudy.errors import UserError
    from scalestudy.library import (
        Audit,
        AuditedCase,
        Efficiency,
        MissingPackageError,
        Results,
        Speedup,
        audit,
        efficiency,
        read,
        snakefile,
        speedup,
    )
    from scalestudy.recorder import Recorder

__all__ = [
    "Audit",
    "AuditedCase",
    "Efficiency",
    "MissingPackageError",
    "Recorder",
    "Results",
    "Speedup",
    "UserError",
    "__version__",
    "audit",
    "efficiency",
    "read",
    "snakefile",
    "speedup",
]
__version__ = "0.2.0"

_ELSEWHERE = {"Recorder": "recorder", "UserError": "errors"}
"""Modules of the names that do not come from scalestudy.library."""


if not TYPE_CHECKING:  # otherwise a type checker would accept any name

    def __getattr__(name):
        """Imports a name of the library when it is first used (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module 'scalestudy' has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(f"scalestudy.{_ELSEWHERE.get(name, 'library')}"), name)
        globals()[name] = found
        return found


def __dir__() -> "list[str]":
    """Lists the names of the library too."""
    return sorted({*globals(), *__all__})
