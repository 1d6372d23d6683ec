"""`scalestudy stage STAGE`: what the workflow's rules call, one module a stage; any of them can be run by hand."""

from __future__ import annotations

from scalestudy.cli.command import LazyGroup
from scalestudy.cli.verb import NAMES as VERBS

# In the order of the chain.
MODULES = {
    **{name: f"{__name__}.{name}" for name in ("plan", "prepare", "train", "aggregate", "diagnose")},
    **{
        name: f"{__name__}.publish.{name}"
        for name in ("plot", "numbers", "tables", "text", "page", "documents", "typeset")
    },
    **{name: f"{__name__}.{name}" for name in ("settle", "schema")},
}

command = LazyGroup(
    modules=MODULES,
    elsewhere={name: f"scalestudy {name}" for name in VERBS},
    short_help="run one stage of a study by hand",
    help="Run one stage of a study, as a rule of the workflow does.",
)
