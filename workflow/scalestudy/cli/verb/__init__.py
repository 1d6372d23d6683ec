"""What people type: a function a verb; heavy imports wait until it is called."""

from __future__ import annotations

MODULES = {
    "new": "new",
    "plan": "run",
    "run": "run",
    "summary": "results",
    "number": "results",
    "compare": "compare",
    "estimate": "without_runs",
    "audit": "without_runs",
    "find-batch": "find_batch",
    "demo": "demo",
    "retry": "run",
}
COMMANDS = {name: f"{__name__}.{module}:{name.replace('-', '_')}" for name, module in MODULES.items()}
