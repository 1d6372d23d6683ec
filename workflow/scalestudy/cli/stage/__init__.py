"""`scalestudy stage STAGE`: what the workflow's rules call; any stage can be run by hand."""

from __future__ import annotations

from scalestudy.cli import verb
from scalestudy.cli.command import LazyGroup

# In the order of the chain.
MODULES = {
    **dict.fromkeys(("plan", "prepare"), "before"),
    "train": "launch",
    **dict.fromkeys(("aggregate", "diagnose"), "analyse"),
    **dict.fromkeys(("plot", "numbers", "tables", "text", "page", "documents", "typeset"), "publish"),
    "settle": "launch",
    "schema": "before",
}
COMMANDS = {name: f"{__name__}.{module}:{name}" for name, module in MODULES.items()}

command = LazyGroup(
    commands=COMMANDS,
    elsewhere={name: f"scalestudy {name}" for name in verb.COMMANDS},
    short_help="run one stage of a study by hand",
    help="Run one stage of a study, as a rule of the workflow does.",
)
