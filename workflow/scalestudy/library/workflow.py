"""The workflow as a module of another one."""

from __future__ import annotations


def snakefile() -> str:
    """Return the path of the workflow's Snakefile, for `module` of another workflow (docs/library.md)."""
    from scalestudy.project import root

    return str(root() / "workflow/Snakefile")
